-- The WORKING layers: what local operations change. ?1 is always the working copy's id; where a
-- statement is about a node and all below it, "above ?low and below ?high" are the bounds of the
-- paths below the node, see `db::write::below`.

-- name: INSERT_NODE
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, depth,
  kind, changed_revision, changed_date, changed_author, checksum, properties, moved_here, moved_to)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
        (SELECT moved_to FROM nodes
         WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3))

-- name: INSERT_NOT_PRESENT
-- Says that a node of a copied folder was not copied with it.
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, kind)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'not-present', ?8)

-- name: SELECT_MOVED_WITHIN
-- Moves whose source is a node or below it: path, target, op-depth of the deletion, op-depth of
-- the layer below if that was moved here itself.
SELECT local_relpath, moved_to, op_depth,
       (SELECT CASE WHEN r.moved_here THEN r.op_depth END FROM nodes r
        WHERE r.wc_id = ?1 AND r.local_relpath = n.local_relpath AND r.op_depth < n.op_depth
        ORDER BY r.op_depth DESC LIMIT 1)
FROM nodes n
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND moved_to IS NOT NULL AND op_depth >= ?5

-- name: SELECT_MOVED_TO
-- The move whose target is a node, as in SELECT_MOVED_WITHIN.
SELECT local_relpath, op_depth,
       (SELECT CASE WHEN r.moved_here THEN r.op_depth END FROM nodes r
        WHERE r.wc_id = ?1 AND r.local_relpath = n.local_relpath AND r.op_depth < n.op_depth
        ORDER BY r.op_depth DESC LIMIT 1)
FROM nodes n
WHERE wc_id = ?1 AND moved_to = ?2 AND op_depth > 0

-- name: SELECT_MOVED_HERE_BELOW
-- Targets of moves below a node, with their sources.
SELECT moved_to, local_relpath, op_depth FROM nodes
WHERE wc_id = ?1 AND op_depth > 0 AND moved_to > ?2 AND moved_to < ?3

-- name: MOVE_TARGETS_BELOW
-- Targets of moves below ?2/ are below ?4 now. ?5 is the length of ?2 in characters.
UPDATE nodes SET moved_to = ?4 || substr(moved_to, ?5 + 1)
WHERE wc_id = ?1 AND moved_to > ?2 AND moved_to < ?3

-- name: CLEAR_TARGETS_BELOW
UPDATE nodes SET moved_to = NULL
WHERE wc_id = ?1 AND moved_to > ?2 AND moved_to < ?3

-- name: SELECT_SERVER_EXCLUDED_BELOW
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND op_depth = 0 AND presence = 'server-excluded'
LIMIT 1

-- name: SELECT_DELETED_BELOW
-- What users see go when the layers of ?5 and above are deleted below a node.
SELECT local_relpath, kind FROM nodes n
WHERE wc_id = ?1 AND local_relpath > ?3 AND local_relpath < ?4 AND op_depth >= ?2
  AND op_depth = (SELECT MAX(s.op_depth) FROM nodes s
                  WHERE s.wc_id = ?1 AND s.local_relpath = n.local_relpath)
  AND presence NOT IN ('base-deleted', 'not-present', 'excluded', 'server-excluded')
  AND file_external IS NULL
ORDER BY local_relpath

-- name: DELETE_LAYERS
DELETE FROM nodes
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND op_depth >= ?5

-- name: COVER_BY_DELETION
-- The nodes of layer ?5 at and below a node are deleted at op-depth ?6.
INSERT INTO nodes (wc_id, local_relpath, op_depth, parent_relpath, presence, kind)
SELECT wc_id, local_relpath, ?6, parent_relpath, 'base-deleted', kind
FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?5
UNION ALL
SELECT wc_id, local_relpath, ?6, parent_relpath, 'base-deleted', kind
FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?3 AND local_relpath < ?4 AND op_depth = ?5
  AND presence NOT IN ('base-deleted', 'not-present', 'excluded', 'server-excluded')
  AND file_external IS NULL
ORDER BY local_relpath

-- name: DELETE_ACTUAL_BUT_CHANGELISTS
-- What is local, except the changelists of files that are still known.
DELETE FROM actual_node
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND (changelist IS NULL
       OR NOT EXISTS (SELECT 1 FROM nodes c
                      WHERE c.wc_id = ?1 AND c.local_relpath = actual_node.local_relpath
                        AND c.kind = 'file'
                        AND c.op_depth = (SELECT MAX(op_depth) FROM nodes m
                                          WHERE m.wc_id = ?1
                                            AND m.local_relpath = c.local_relpath)))

-- name: CLEAR_ACTUAL_BUT_CHANGELISTS
UPDATE actual_node
SET properties = NULL, text_mod = NULL, conflict_data = NULL, tree_conflict_data = NULL,
    older_checksum = NULL, left_checksum = NULL, right_checksum = NULL
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))

-- name: DELETE_ACTUAL_ONE_BUT_CHANGELIST
DELETE FROM actual_node
WHERE wc_id = ?1 AND local_relpath = ?2
  AND (changelist IS NULL
       OR NOT EXISTS (SELECT 1 FROM nodes c
                      WHERE c.wc_id = ?1 AND c.local_relpath = ?2 AND c.kind = 'file'
                        AND c.op_depth = (SELECT MAX(op_depth) FROM nodes m
                                          WHERE m.wc_id = ?1 AND m.local_relpath = ?2)))

-- name: CLEAR_ACTUAL_ONE_BUT_CHANGELIST
UPDATE actual_node
SET properties = NULL, text_mod = NULL, conflict_data = NULL, tree_conflict_data = NULL,
    older_checksum = NULL, left_checksum = NULL, right_checksum = NULL
WHERE wc_id = ?1 AND local_relpath = ?2

-- name: DELETE_ORPHANED_WC_LOCKS
DELETE FROM wc_lock
WHERE wc_id = ?1
  AND (local_dir_relpath = ?2 OR (local_dir_relpath > ?3 AND local_dir_relpath < ?4))
  AND NOT EXISTS (SELECT 1 FROM nodes
                  WHERE nodes.wc_id = ?1
                    AND nodes.local_relpath = wc_lock.local_dir_relpath)

-- name: DELETE_FILE_EXTERNALS_BELOW
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND op_depth = 0 AND file_external IS NOT NULL

-- name: FORGET_EXTERNALS_BELOW
DELETE FROM externals WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3

-- name: FORGET_FILE_EXTERNALS_BELOW
DELETE FROM externals
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND kind != 'dir'

-- name: CLEAR_CHANGELIST
UPDATE actual_node SET changelist = NULL
WHERE wc_id = ?1 AND local_relpath = ?2 AND changelist IS NOT NULL

-- name: FORGET_FILE_INFO
UPDATE nodes SET translated_size = -1, last_mod_time = 0
WHERE wc_id = ?1 AND local_relpath = ?2
  AND op_depth = (SELECT MAX(op_depth) FROM nodes
                  WHERE wc_id = ?1 AND local_relpath = ?2)

-- name: SELECT_LAYERS_WITHIN
-- The layers of op-depth ?5 and above at and below a node, by path, the highest of each last.
SELECT local_relpath, op_depth, repos_id, kind FROM nodes
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND op_depth >= ?5
ORDER BY local_relpath, op_depth

-- name: SELECT_LOCAL_WITHIN
-- What is local at and below a node: path, properties or not, conflict, known node or not.
SELECT local_relpath, properties IS NOT NULL, conflict_data,
       EXISTS (SELECT 1 FROM nodes n
               WHERE n.wc_id = ?1 AND n.local_relpath = a.local_relpath)
FROM actual_node a
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))

-- name: SELECT_MOVED_OUT
-- Moves from a node or below it to somewhere else.
SELECT local_relpath, moved_to, op_depth FROM nodes
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND op_depth >= ?5
  AND moved_to IS NOT NULL AND NOT (moved_to > ?3 AND moved_to < ?4)

-- name: HAS_CHILDREN_ABOVE
-- Children in layers above ?3, present ones in layer ?3, or conflict victims that are no nodes.
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2
  AND (op_depth > ?3 OR (op_depth = ?3 AND presence IN ('normal', 'incomplete')))
UNION ALL
SELECT 1 FROM actual_node a
WHERE wc_id = ?1 AND parent_relpath = ?2
  AND NOT EXISTS (SELECT 1 FROM nodes n
                  WHERE n.wc_id = ?1 AND n.local_relpath = a.local_relpath)
LIMIT 1

-- name: HAS_ACTUAL_CHILDREN
SELECT 1 FROM actual_node WHERE wc_id = ?1 AND parent_relpath = ?2 LIMIT 1

-- name: RAISE_DELETIONS
-- Deletions of layer ?4 below a node belong to its children now.
UPDATE nodes SET op_depth = ?4 + 1
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = ?4

-- name: SELECT_CURRENT_WITHIN
-- The visible layer of each node at and below a node, with what is local: the columns of the
-- node readers, then changelist, local properties and conflict.
SELECT n.local_relpath, op_depth, presence, kind, repos_id, repos_path, revision, depth, checksum,
       changed_revision, changed_date, changed_author, translated_size, last_mod_time,
       n.properties, moved_here, moved_to, file_external, inherited_props,
       a.changelist, a.properties, a.conflict_data
FROM nodes n
LEFT JOIN actual_node a ON a.wc_id = ?1 AND a.local_relpath = n.local_relpath
WHERE n.wc_id = ?1
  AND (n.local_relpath = ?2 OR (n.local_relpath > ?3 AND n.local_relpath < ?4))
  AND op_depth = (SELECT MAX(m.op_depth) FROM nodes m
                  WHERE m.wc_id = ?1 AND m.local_relpath = n.local_relpath)
ORDER BY n.local_relpath

-- name: SELECT_CURRENT_CHILDREN
SELECT n.local_relpath, op_depth, presence, kind, repos_id, repos_path, revision, depth, checksum,
       changed_revision, changed_date, changed_author, translated_size, last_mod_time,
       n.properties, moved_here, moved_to, file_external, inherited_props,
       a.changelist, a.properties, a.conflict_data
FROM nodes n
LEFT JOIN actual_node a ON a.wc_id = ?1 AND a.local_relpath = n.local_relpath
WHERE n.wc_id = ?1 AND n.parent_relpath = ?2
  AND op_depth = (SELECT MAX(m.op_depth) FROM nodes m
                  WHERE m.wc_id = ?1 AND m.local_relpath = n.local_relpath)
ORDER BY n.local_relpath

-- name: SELECT_CURRENT
SELECT n.local_relpath, op_depth, presence, kind, repos_id, repos_path, revision, depth, checksum,
       changed_revision, changed_date, changed_author, translated_size, last_mod_time,
       n.properties, moved_here, moved_to, file_external, inherited_props,
       a.changelist, a.properties, a.conflict_data
FROM nodes n
LEFT JOIN actual_node a ON a.wc_id = ?1 AND a.local_relpath = n.local_relpath
WHERE n.wc_id = ?1 AND n.local_relpath = ?2
ORDER BY op_depth DESC LIMIT 1

-- name: SELECT_DELETED_PROPS
-- The properties of the layer that a deletion covers.
SELECT properties FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth < ?3
ORDER BY op_depth DESC LIMIT 1

-- name: SET_CHANGELIST
UPDATE actual_node SET changelist = ?3 WHERE wc_id = ?1 AND local_relpath = ?2

-- name: INSERT_CHANGELIST
INSERT INTO actual_node (wc_id, local_relpath, parent_relpath, changelist)
VALUES (?1, ?2, ?3, ?4)

-- name: COPY_LAYER
-- Layer ?8 of ?2 becomes layer ?4 of ?3, with presence ?6; what a move recorded there stays.
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, depth,
  moved_here, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target, moved_to)
SELECT wc_id, ?3, ?4, ?5, repos_id, repos_path, revision, ?6, depth, ?7, kind, changed_revision,
       changed_date, changed_author, checksum, properties, translated_size, last_mod_time,
       symlink_target,
       (SELECT d.moved_to FROM nodes d
        WHERE d.wc_id = ?1 AND d.local_relpath = ?3 AND d.op_depth = ?4)
FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?8

-- name: COPY_ACTUAL
-- Changelist and local properties go along, conflicts do not.
INSERT OR REPLACE INTO actual_node (wc_id, local_relpath, parent_relpath, properties, changelist)
SELECT wc_id, ?3, ?4, properties, changelist FROM actual_node
WHERE wc_id = ?1 AND local_relpath = ?2 AND (properties IS NOT NULL OR changelist IS NOT NULL)

-- name: SELECT_LAYER_CHILDREN
-- The children that belong to one layer of a folder.
SELECT local_relpath, kind FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2 AND op_depth = ?3
  AND presence != 'base-deleted' AND file_external IS NULL
ORDER BY local_relpath

-- name: INSERT_INCOMPLETE
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, kind,
  moved_to)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'incomplete', 'unknown',
        (SELECT moved_to FROM nodes
         WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth > 0
         ORDER BY op_depth DESC LIMIT 1))

-- name: SELECT_MOVED_BACK
-- Pairs of layers ?5 and ?6 at and below a node that was moved back to where it came from.
SELECT u.presence, u.repos_id, u.repos_path, u.revision,
       l.presence, l.repos_id, l.repos_path, l.revision
FROM nodes u
LEFT JOIN nodes l ON l.wc_id = ?1 AND l.local_relpath = u.local_relpath AND l.op_depth = ?5
WHERE u.wc_id = ?1
  AND (u.local_relpath = ?2 OR (u.local_relpath > ?3 AND u.local_relpath < ?4))
  AND u.op_depth = ?6

-- name: DELETE_LAYER_WITHIN
DELETE FROM nodes
WHERE wc_id = ?1
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))
  AND op_depth = ?5

-- name: ADOPT_PRISTINES
INSERT OR IGNORE INTO pristine (checksum, compression, size, refcount, md5_checksum)
SELECT checksum, compression, size, 0, md5_checksum FROM source.pristine;

-- name: ADOPT_NODES
-- BASE of a checkout becomes layer ?3 at and below ?2.
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, depth,
  kind, changed_revision, changed_date, changed_author, checksum, properties, symlink_target,
  moved_to)
SELECT ?1, CASE s.local_relpath WHEN '' THEN ?2 ELSE ?2 || '/' || s.local_relpath END, ?3,
       CASE WHEN s.local_relpath = '' THEN ?4 WHEN s.parent_relpath = '' THEN ?2
            ELSE ?2 || '/' || s.parent_relpath END,
       ?5, repos_path, revision, presence, depth, kind, changed_revision, changed_date,
       changed_author, checksum, properties, symlink_target,
       (SELECT d.moved_to FROM nodes d
        WHERE d.wc_id = ?1 AND d.op_depth = ?3
          AND d.local_relpath
            = CASE s.local_relpath WHEN '' THEN ?2 ELSE ?2 || '/' || s.local_relpath END)
FROM source.nodes s
WHERE s.op_depth = 0 AND s.file_external IS NULL
ORDER BY s.local_relpath

-- name: SELECT_ADOPTED
SELECT local_relpath, kind FROM source.nodes
WHERE op_depth = 0 AND file_external IS NULL AND presence IN ('normal', 'incomplete')
