-- What operations with a repository ask of the BASE tree besides single nodes.

-- name: SELECT_INHERITING
SELECT local_relpath, repos_path, repos_id FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0
  AND inherited_props IS NOT NULL

-- name: SELECT_INHERITING_CHILDREN
SELECT local_relpath, repos_path, repos_id FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2 AND op_depth = 0
  AND inherited_props IS NOT NULL

-- name: SELECT_INHERITING_BELOW
SELECT local_relpath, repos_path, repos_id FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND op_depth = 0 AND inherited_props IS NOT NULL
