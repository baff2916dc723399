-- Changes of the BASE tree that others lie over, and what is local to nodes. ?3 and ?4 are mostly
-- the bounds of the paths below a node.

-- name: LOWEST_WORKING
-- The lowest layer above ?3.
SELECT op_depth, presence, moved_to FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth > ?3
ORDER BY op_depth LIMIT 1

-- name: INSERT_DELETION
-- A layer may be there whose lower ones were deleted by another operation.
INSERT INTO nodes (wc_id, local_relpath, op_depth, parent_relpath, presence, kind)
VALUES (?1, ?2, ?3, ?4, 'base-deleted', ?5)

-- name: INSERT_DELETIONS_OF_BASE
INSERT INTO nodes (wc_id, local_relpath, op_depth, parent_relpath, presence, kind)
SELECT wc_id, local_relpath, ?5, parent_relpath, 'base-deleted', kind
FROM nodes
WHERE wc_id = ?1 AND op_depth = 0
  AND (local_relpath = ?2
       OR local_relpath > ?3 AND local_relpath < ?4
          AND presence IN ('normal', 'incomplete') AND file_external IS NULL)

-- name: DELETE_LAYER
DELETE FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3

-- name: DELETE_TOP_WORKING
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2
  AND op_depth = (SELECT MAX(op_depth) FROM nodes
                  WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth > 0)

-- name: CLEAR_MOVED_HERE
UPDATE nodes SET moved_here = NULL
WHERE wc_id = ?1 AND op_depth = ?5
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)

-- name: SELECT_MOVED_OUT
-- Moves out of a tree.
SELECT moved_to FROM nodes
WHERE wc_id = ?1 AND op_depth >= ?5 AND moved_to IS NOT NULL
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
  AND NOT (moved_to > ?3 AND moved_to < ?4)

-- name: SELECT_MOVED_OF_BASE
-- Moves of nodes of the BASE tree.
SELECT s.op_depth, n.local_relpath, s.moved_to
FROM nodes n
JOIN nodes s ON s.wc_id = n.wc_id AND s.local_relpath = n.local_relpath
 AND s.op_depth = (SELECT MIN(d.op_depth) FROM nodes d
                   WHERE d.wc_id = ?1 AND d.local_relpath = s.local_relpath AND d.op_depth > 0)
WHERE n.wc_id = ?1 AND n.op_depth = 0 AND s.moved_to IS NOT NULL
  AND (n.local_relpath = ?2 OR n.local_relpath > ?3 AND n.local_relpath < ?4)

-- name: SELECT_CURRENT_BELOW
-- What is on disk below a node, the deepest first.
SELECT local_relpath, kind FROM nodes n
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND presence IN ('normal', 'incomplete')
  AND op_depth = (SELECT MAX(op_depth) FROM nodes w
                  WHERE w.wc_id = ?1 AND w.local_relpath = n.local_relpath)
ORDER BY local_relpath DESC

-- name: DELETE_DELETIONS_BELOW
-- Deletions of the layers up to ?4 below a node.
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND presence = 'base-deleted' AND op_depth > ?4
  AND op_depth = (SELECT MIN(op_depth) FROM nodes n
                  WHERE n.wc_id = ?1 AND n.local_relpath = nodes.local_relpath
                    AND op_depth > ?4)

-- name: DELETE_DELETION
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND presence = 'base-deleted' AND op_depth > ?3
  AND op_depth = (SELECT MIN(op_depth) FROM nodes n
                  WHERE n.wc_id = ?1 AND n.local_relpath = nodes.local_relpath
                    AND op_depth > ?3)

-- name: DELETE_WORKING_BELOW
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth > 0

-- name: DELETE_ACTUAL_OF_BASE_BELOW
-- What is local to nodes of the BASE tree, and not to those of a layer above.
DELETE FROM actual_node
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND EXISTS (SELECT 1 FROM nodes b
              WHERE b.wc_id = ?1 AND b.local_relpath = actual_node.local_relpath
                AND op_depth = 0)
  AND NOT EXISTS (SELECT 1 FROM nodes w
                  WHERE w.wc_id = ?1 AND w.local_relpath = actual_node.local_relpath
                    AND op_depth > 0
                    AND presence IN ('normal', 'incomplete', 'not-present'))

-- name: SELECT_BASE_CHILDREN
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2 AND op_depth = 0 AND file_external IS NULL
ORDER BY local_relpath

-- name: COPY_BASE
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target, moved_to)
SELECT wc_id, local_relpath, ?3, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target,
  (SELECT moved_to FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3)
FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: COPY_LAYER
INSERT INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target)
SELECT wc_id, local_relpath, ?6, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target
FROM nodes
WHERE wc_id = ?1 AND op_depth = ?5
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)

-- name: INSERT_NOT_PRESENT
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, kind)
SELECT wc_id, local_relpath, ?3, parent_relpath, repos_id, repos_path, revision, 'not-present',
  kind
FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: SET_MOVED_TO
UPDATE nodes SET moved_to = ?4
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3

-- name: HAS_SERVER_EXCLUDED
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND op_depth = 0 AND presence = 'server-excluded'
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
LIMIT 1

-- name: CLEAR_MOVE_TO
-- The move whose target is ?2 is a deletion.
UPDATE nodes SET moved_to = NULL WHERE wc_id = ?1 AND moved_to = ?2

-- name: UPDATE_ACTUAL_PROPS
UPDATE actual_node SET properties = ?3 WHERE wc_id = ?1 AND local_relpath = ?2

-- name: INSERT_ACTUAL_PROPS
INSERT INTO actual_node (wc_id, local_relpath, properties, parent_relpath)
VALUES (?1, ?2, ?3, ?4)

-- name: UPDATE_ACTUAL_CONFLICT
UPDATE actual_node SET conflict_data = ?3 WHERE wc_id = ?1 AND local_relpath = ?2

-- name: INSERT_ACTUAL_CONFLICT
INSERT INTO actual_node (wc_id, local_relpath, conflict_data, parent_relpath)
VALUES (?1, ?2, ?3, ?4)

-- name: DELETE_ACTUAL_IF_EMPTY
DELETE FROM actual_node
WHERE wc_id = ?1 AND local_relpath = ?2
  AND properties IS NULL AND conflict_data IS NULL AND changelist IS NULL AND text_mod IS NULL
  AND older_checksum IS NULL AND right_checksum IS NULL AND left_checksum IS NULL

-- name: SELECT_CONFLICTS
SELECT local_relpath FROM actual_node
WHERE wc_id = ?1 AND conflict_data IS NOT NULL
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
