-- Raising the format of a working copy.

-- name: INSERT_NODE
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path, revision, presence, kind,
  depth, checksum, changed_revision, changed_date, changed_author, translated_size, last_mod_time,
  file_external, inherited_props)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)

-- name: INSERT_ACTUAL
INSERT OR REPLACE INTO actual_node (wc_id, local_relpath, parent_relpath, changelist, conflict_data)
VALUES (?1, ?2, ?3, ?4, ?5)

-- name: INSERT_TEXT
INSERT OR IGNORE INTO pristine (checksum, md5_checksum, size, refcount) VALUES (?1, ?2, ?3, 0)

-- name: INSERT_LOCK
INSERT OR REPLACE INTO lock (repos_id, repos_relpath, lock_token, lock_owner, lock_comment, lock_date)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)

-- name: SELECT_LAYERS
SELECT op_depth, presence FROM nodes
WHERE wc_id = ?1 AND local_relpath = ?2
ORDER BY op_depth DESC

-- name: UPDATE_PROPERTIES
UPDATE nodes SET properties = ?4
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = ?3

-- name: SET_LOCAL_PROPERTIES
INSERT INTO actual_node (wc_id, local_relpath, parent_relpath, properties)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (wc_id, local_relpath) DO UPDATE SET properties = ?4

-- name: SELECT_FILES
SELECT DISTINCT local_relpath FROM nodes
WHERE wc_id = ?1 AND parent_relpath = ?2 AND kind = 'file'

-- name: UPDATE_DAV_CACHE
UPDATE nodes SET dav_cache = ?3
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: SELECT_OLD_CONFLICTS
SELECT wc_id, local_relpath, conflict_old, conflict_working, conflict_new, prop_reject,
       tree_conflict_data
FROM actual_node
WHERE conflict_old IS NOT NULL OR conflict_working IS NOT NULL OR conflict_new IS NOT NULL
   OR prop_reject IS NOT NULL OR tree_conflict_data IS NOT NULL

-- name: SET_CONFLICT
UPDATE actual_node
SET conflict_data = ?3, conflict_old = NULL, conflict_working = NULL, conflict_new = NULL,
    prop_reject = NULL, tree_conflict_data = NULL
WHERE wc_id = ?1 AND local_relpath = ?2

-- name: TO_30
CREATE UNIQUE INDEX IF NOT EXISTS I_NODES_MOVED ON NODES (wc_id, moved_to, op_depth);
CREATE INDEX IF NOT EXISTS I_PRISTINE_MD5 ON PRISTINE (md5_checksum);
UPDATE nodes SET presence = 'server-excluded' WHERE presence = 'absent';
UPDATE nodes SET file_external = 1 WHERE file_external IS NOT NULL;

-- name: TO_31
ALTER TABLE NODES ADD COLUMN inherited_props BLOB;
DROP INDEX IF EXISTS I_ACTUAL_CHANGELIST;
DROP INDEX IF EXISTS I_EXTERNALS_PARENT;
DROP INDEX I_NODES_PARENT;
CREATE UNIQUE INDEX I_NODES_PARENT ON NODES (wc_id, parent_relpath,
                                             local_relpath, op_depth);
DROP INDEX I_ACTUAL_PARENT;
CREATE UNIQUE INDEX I_ACTUAL_PARENT ON ACTUAL_NODE (wc_id, parent_relpath,
                                                    local_relpath);
-- The root and what is switched, unless it is the repository's root, has properties to inherit
-- that are not known yet.
UPDATE nodes AS l SET inherited_props = x'2829'
WHERE l.op_depth = 0 AND l.repos_path != ''
  AND NOT EXISTS (
    SELECT 1 FROM nodes AS r
    WHERE r.wc_id = l.wc_id AND r.local_relpath = l.parent_relpath AND r.op_depth = 0
      AND r.repos_id = l.repos_id
      AND l.repos_path =
        CASE r.repos_path WHEN '' THEN '' ELSE r.repos_path || '/' END
        || CASE r.local_relpath WHEN '' THEN l.local_relpath
           ELSE substr(l.local_relpath, length(r.local_relpath) + 2) END);
PRAGMA user_version = 31;
