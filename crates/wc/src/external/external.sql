-- Externals: their definitions in properties, and the table EXTERNALS of those that are there.

-- name: SELECT_FOLDER_PROPERTIES
SELECT IFNULL((SELECT properties FROM actual_node a
               WHERE a.wc_id = ?1 AND a.local_relpath = n.local_relpath),
              n.properties),
       n.local_relpath, n.depth
FROM nodes n
WHERE n.wc_id = ?1 AND n.local_relpath = ?2
  AND n.kind = 'dir' AND n.presence IN ('normal', 'incomplete')
  AND n.op_depth = (SELECT MAX(o.op_depth) FROM nodes o
                    WHERE o.wc_id = ?1 AND o.local_relpath = n.local_relpath)

-- name: SELECT_FOLDER_PROPERTIES_BELOW
SELECT IFNULL((SELECT properties FROM actual_node a
               WHERE a.wc_id = ?1 AND a.local_relpath = n.local_relpath),
              n.properties) AS props,
       n.local_relpath, n.depth
FROM nodes n
WHERE n.wc_id = ?1 AND n.local_relpath > ?2 AND n.local_relpath < ?3
  AND n.kind = 'dir' AND n.presence IN ('normal', 'incomplete')
  AND n.op_depth = (SELECT MAX(o.op_depth) FROM nodes o
                    WHERE o.wc_id = ?1 AND o.local_relpath = n.local_relpath)
  AND length(props) > 2

-- name: INSERT_EXTERNAL
INSERT OR REPLACE INTO externals (
  wc_id, local_relpath, parent_relpath, presence, kind, def_local_relpath,
  repos_id, def_repos_relpath, def_operational_revision, def_revision)
VALUES (?1, ?2, ?3, 'normal', ?4, ?5, ?6, ?7, ?8, ?9)

-- name: DELETE_EXTERNAL
DELETE FROM externals WHERE wc_id = ?1 AND local_relpath = ?2

-- name: SELECT_REPOSITORY_ID
SELECT id, uuid FROM repository WHERE root = ?1

-- name: INSERT_REPOSITORY
INSERT INTO repository (root, uuid) VALUES (?1, ?2)

