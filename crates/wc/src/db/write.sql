-- What the writer of a working copy changes.

-- A taken name fails before anything is written. With ABORT, which is the default, SQLite would
-- save each page that the trigger may change, to be able to undo it.
-- name: INSERT_BASE
INSERT OR FAIL INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path,
  revision, presence, depth, kind, changed_revision, changed_date,
  changed_author, checksum, properties, translated_size, last_mod_time,
  dav_cache, file_external, inherited_props)
VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
        ?16, ?17, ?18, ?19)

-- name: REPLACE_BASE
INSERT OR REPLACE INTO nodes (
  wc_id, local_relpath, op_depth, parent_relpath, repos_id, repos_path,
  revision, presence, depth, kind, changed_revision, changed_date,
  changed_author, checksum, properties, translated_size, last_mod_time,
  dav_cache, file_external, inherited_props)
VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
        ?16, ?17, ?18, ?19)

-- name: FINISH_BASE_DIRECTORY
UPDATE nodes
SET repos_id = ?3, repos_path = ?4, revision = ?5, presence = 'normal',
    depth = ?6, changed_revision = ?7, changed_date = ?8, changed_author = ?9,
    properties = ?10, dav_cache = ?11, inherited_props = ?12
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: START_DIRECTORY_UPDATE
UPDATE nodes SET presence = 'incomplete', revision = ?3, repos_path = ?4
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: END_DIRECTORY_UPDATE
UPDATE nodes SET presence = 'normal'
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0
  AND presence = 'incomplete'

-- name: INSERT_PRISTINE
INSERT OR IGNORE INTO pristine (checksum, md5_checksum, size, refcount)
VALUES (?1, ?2, ?3, ?4)

-- name: SELECT_PRISTINE
SELECT md5_checksum, size FROM pristine WHERE checksum = ?1

-- name: LAST_PRISTINE
SELECT MAX(rowid) FROM pristine

-- name: SELECT_PRISTINES
SELECT checksum FROM pristine

-- name: ANY_PRISTINE
SELECT 1 FROM pristine LIMIT 1

-- name: SELECT_UNREFERENCED_PRISTINES
SELECT checksum FROM pristine WHERE refcount = 0

-- name: DELETE_PRISTINE_IF_UNREFERENCED
DELETE FROM pristine WHERE checksum = ?1 AND refcount = 0

-- name: INSERT_WORK_ITEM
INSERT INTO work_queue (work) VALUES (?1)

-- name: DELETE_WORK_ITEMS
DELETE FROM work_queue WHERE id BETWEEN ?1 AND ?2

-- name: RECORD_BASE_FILE_INFO
UPDATE nodes SET translated_size = ?3, last_mod_time = ?4
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: RECORD_FILE_INFO
UPDATE nodes SET translated_size = ?3, last_mod_time = ?4
WHERE wc_id = ?1 AND local_relpath = ?2
  AND op_depth = (SELECT MAX(op_depth) FROM nodes
                  WHERE wc_id = ?1 AND local_relpath = ?2)

-- name: HAS_WORKING_BELOW
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth > 0 LIMIT 1

-- name: SELECT_PRESENT_BELOW
SELECT local_relpath, kind, checksum, translated_size, last_mod_time,
       properties
FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = 0
  AND presence IN ('normal', 'incomplete')
ORDER BY local_relpath DESC

-- name: DELETE_BASE
DELETE FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: DELETE_BASE_BELOW
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = 0

-- name: DELETE_ACTUAL
DELETE FROM actual_node WHERE wc_id = ?1 AND local_relpath = ?2

-- name: DELETE_ACTUAL_BELOW
DELETE FROM actual_node
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3

-- name: HAS_ACTUAL_BELOW
SELECT 1 FROM actual_node
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND (properties IS NOT NULL OR conflict_data IS NOT NULL) LIMIT 1

-- name: BUMP_REVISION
UPDATE nodes SET revision = ?3
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: BUMP_PATH
UPDATE nodes SET repos_id = ?3, repos_path = ?4, dav_cache = NULL
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: BUMP_INHERITED_PROPS
UPDATE nodes SET inherited_props = ?3
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0

-- name: BUMP_REVISION_BELOW
UPDATE nodes SET revision = ?4
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND op_depth = 0 AND revision <> ?4 AND file_external IS NULL

-- name: DELETE_LOCK
DELETE FROM lock WHERE repos_id = ?1 AND repos_relpath = ?2

-- name: CLEAR_DAV_CACHE
UPDATE nodes SET dav_cache = NULL
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0
  AND dav_cache IS NOT NULL

-- name: CLEAR_DAV_CACHE_BELOW
UPDATE nodes SET dav_cache = NULL
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = 0 AND dav_cache IS NOT NULL

-- name: VACUUM
VACUUM

-- name: INSERT_WC_LOCK
INSERT INTO wc_lock (rowid, wc_id, local_dir_relpath, locked_levels)
VALUES (?1, ?2, ?3, -1)

-- name: DELETE_WC_LOCK
DELETE FROM wc_lock WHERE rowid = ?1 AND wc_id = ?2 AND local_dir_relpath = ?3

-- name: DELETE_WC_LOCK_BY_PATH
DELETE FROM wc_lock WHERE wc_id = ?1 AND local_dir_relpath = ?2

-- name: NEXT_WORK_ITEM
SELECT id, work FROM work_queue WHERE id > ?1 ORDER BY id LIMIT 1

-- name: WC_LOCK_ROWS
SELECT rowid, local_dir_relpath, locked_levels FROM wc_lock WHERE wc_id = ?1

-- name: DELETE_GONE_BELOW
DELETE FROM nodes
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3 AND op_depth = 0
  AND file_external IS NULL
  AND (presence = 'not-present'
       OR presence = 'server-excluded' AND revision <> ?4)

-- name: SELECT_RECORDED_BELOW
SELECT local_relpath, translated_size, last_mod_time
FROM nodes n
WHERE wc_id = ?1 AND local_relpath > ?2 AND local_relpath < ?3
  AND kind = 'file' AND presence = 'normal'
  AND op_depth = (SELECT MAX(op_depth) FROM nodes w
                  WHERE w.wc_id = ?1 AND w.local_relpath = n.local_relpath)

-- name: SET_BASE_DEPTH
UPDATE nodes SET depth = ?3
WHERE wc_id = ?1 AND local_relpath = ?2 AND op_depth = 0 AND kind = 'dir'

-- name: DELETE_WORKING
DELETE FROM nodes
WHERE wc_id = ?1 AND op_depth > 0
  AND (local_relpath = ?2 OR (local_relpath > ?3 AND local_relpath < ?4))

-- name: SELECT_FILES_WITH_PROPS
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND op_depth = 0 AND kind = 'file' AND presence = 'normal'
  AND file_external IS NULL AND length(properties) > 2
  AND (local_relpath = ?4 OR (local_relpath > ?2 AND local_relpath < ?3))

-- name: USE_LARGE_CACHE
PRAGMA cache_size = -8192

-- name: RECORD_ROW_FILE_INFO
UPDATE nodes SET translated_size = ?3, last_mod_time = ?4
WHERE rowid = ?1 AND local_relpath = ?2
