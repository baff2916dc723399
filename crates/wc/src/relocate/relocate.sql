-- A repository that is somewhere else now.

-- name: SELECT_ID
SELECT id FROM repository WHERE root = ?1

-- name: INSERT_ROOT
INSERT INTO repository (root, uuid)
SELECT ?1, uuid FROM repository WHERE id = ?2

-- name: MOVE_NODES
UPDATE nodes SET repos_id = ?3, dav_cache = NULL
WHERE wc_id = ?1 AND repos_id = ?2

-- name: MOVE_LOCKS
UPDATE lock SET repos_id = ?2 WHERE repos_id = ?1
