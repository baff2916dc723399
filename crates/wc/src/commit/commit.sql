-- What a commit asks of the working copy, and how its layers become BASE.

-- name: SELECT_LOCK_TOKENS_BELOW
-- The tokens of locks on BASE nodes below a folder.
SELECT n.repos_id, n.repos_path, l.lock_token
FROM nodes n
JOIN lock l ON l.repos_id = n.repos_id AND l.repos_relpath = n.repos_path
WHERE n.wc_id = ?1 AND n.op_depth = 0 AND n.local_relpath > ?2 AND n.local_relpath < ?3

-- name: SELECT_NOT_PRESENT_BELOW
-- What a copy made at op-depth ?4 has not.
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND op_depth = ?4 AND presence = 'not-present'
ORDER BY local_relpath

-- name: SELECT_NOT_PRESENT_CHILDREN
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2 AND op_depth = 0 AND presence = 'not-present'
ORDER BY local_relpath

-- name: SELECT_MOVED_SOURCES
-- Nodes at and below a node of the layer ?5 that were moved away from there: path, destination.
SELECT n.local_relpath, s.moved_to
FROM nodes n
JOIN nodes s ON s.wc_id = n.wc_id AND s.local_relpath = n.local_relpath
  AND s.op_depth = (SELECT MIN(d.op_depth) FROM nodes d
                    WHERE d.wc_id = ?1 AND d.local_relpath = s.local_relpath
                      AND d.op_depth > ?5)
WHERE n.wc_id = ?1 AND n.op_depth = ?5 AND s.moved_to IS NOT NULL
  AND (n.local_relpath = ?2 OR (n.local_relpath > ?3 AND n.local_relpath < ?4))

-- name: DELETE_ALL_LAYERS
DELETE FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2

-- name: DELETE_SHADOWED
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND (op_depth < ?4 OR (op_depth = ?4 AND presence = 'base-deleted'))

-- name: DESCENDANTS_TO_BASE
-- ?5 is the length in characters of the folder's path with its slash, ?7 its repository path with a
-- slash.
UPDATE nodes SET op_depth = 0, repos_id = ?6,
                 repos_path = ?7 || substr(local_relpath, ?5 + 1),
                 revision = ?8, dav_cache = NULL, moved_here = NULL, moved_to = NULL,
                 presence = CASE presence WHEN 'normal' THEN 'normal'
                                          WHEN 'excluded' THEN 'excluded'
                                          ELSE 'not-present' END
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = ?4

-- name: UPDATE_ORIGIN
-- What was moved from a place that is committed now comes from there. ?5 is the length of the path
-- ?2 in characters.
UPDATE nodes SET repos_id = ?7, repos_path = ?8 || substr(local_relpath, ?5 + 1), revision = ?9
WHERE wc_id = ?1 AND op_depth = ?6
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))

-- name: APPLY_TO_BASE
-- The parent_relpath of the root is NULL. A file external stays one.
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  inherited_props, translated_size, last_mod_time, file_external)
VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
        (SELECT file_external FROM nodes
         WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0))

-- name: KEEP_CHANGELIST
REPLACE INTO actual_node (wc_id, local_relpath, parent_relpath, changelist)
VALUES (?1, ?2, ?3, ?4)

-- name: DELETE_LOCKS_BELOW
DELETE FROM lock
WHERE repos_id = ?1
  AND (repos_relpath = ?2 OR (repos_relpath > ?3 AND repos_relpath < ?4))
