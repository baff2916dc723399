-- Moves between layers. ?3 and ?4 are mostly the bounds of the paths below a node.

-- name: SELECT_MOVES_OF_LAYER
-- Moves of the nodes that a layer has at and below a path.
SELECT n.local_relpath, d.moved_to, d.op_depth, n.kind
FROM nodes n
JOIN nodes d ON d.wc_id = ?1 AND d.local_relpath = n.local_relpath
 AND d.op_depth = (SELECT MIN(dd.op_depth) FROM nodes dd
                   WHERE dd.wc_id = ?1 AND dd.local_relpath = d.local_relpath
                     AND dd.op_depth > ?5)
WHERE n.wc_id = ?1 AND n.op_depth = ?5 AND d.moved_to IS NOT NULL
  AND (n.local_relpath = ?2 OR n.local_relpath > ?3 AND n.local_relpath < ?4)
ORDER BY n.local_relpath

-- name: HAS_LAYER_BETWEEN
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth > ?3 AND op_depth < ?4

-- name: ANY_MOVE
SELECT 1 FROM nodes WHERE wc_id = ?1 AND moved_to > '' LIMIT 1

-- name: SELECT_LAYER
SELECT local_relpath, kind, presence FROM nodes
WHERE wc_id = ?1 AND op_depth = ?5
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
ORDER BY local_relpath

-- name: COPY_TO_MOVED
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence,
  depth, kind, changed_revision, changed_date, changed_author, checksum, properties,
  translated_size, last_mod_time, symlink_target, moved_here, moved_to)
SELECT s.wc_id, ?4, ?5, ?6, s.repos_id, s.repos_path, s.revision, s.presence, s.depth, s.kind,
  s.changed_revision, s.changed_date, s.changed_author, s.checksum, s.properties,
  CASE WHEN d.checksum = s.checksum THEN d.translated_size END,
  CASE WHEN d.checksum = s.checksum THEN d.last_mod_time END,
  s.symlink_target, 1, d.moved_to
FROM nodes s
LEFT JOIN nodes d ON d.wc_id = ?1 AND d.local_relpath = ?4 AND d.op_depth = ?5
WHERE s.wc_id = ?1 AND s.local_relpath = ?2 AND s.op_depth = ?3

-- name: REPLACE_BY_DELETION
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, kind, moved_to, presence)
SELECT wc_id, local_relpath, op_depth, parent_relpath, kind, moved_to, 'base-deleted'
FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3

-- name: DROP_LAYER
DELETE FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3

-- name: DROP_ACTUAL_BUT_CHANGELIST
-- What is local to a node that goes; a changelist stays.
DELETE FROM actual_node
WHERE wc_id = ?1 AND local_relpath = ?2 AND changelist IS NULL

-- name: CLEAR_ACTUAL_BUT_CHANGELIST
UPDATE actual_node SET properties = NULL, conflict_data = NULL
WHERE wc_id = ?1 AND local_relpath = ?2

-- name: SELECT_BASE_PLACES
SELECT local_relpath, repos_path, revision FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = 0
ORDER BY local_relpath

-- name: HAS_LAYER_ABOVE
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND op_depth > ?5
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
LIMIT 1

-- name: HAS_LOCAL
SELECT 1 FROM actual_node
WHERE wc_id = ?1 AND (properties IS NOT NULL OR conflict_data IS NOT NULL)
  AND (local_relpath = ?2 OR local_relpath > ?3 AND local_relpath < ?4)
LIMIT 1
