-- What is read of a working copy: nodes with their layers, what is local to them, locks,
-- externals. Columns of one table are always selected in one order, see the readers in Rust.

-- name: SELECT_NODE
-- All layers of a node, the highest first.
SELECT local_relpath, op_depth, presence, kind, repos_id, repos_path, revision, depth, checksum,
       changed_revision, changed_date, changed_author, translated_size, last_mod_time, properties,
       moved_here, moved_to, file_external, inherited_props
FROM nodes WHERE wc_id = ?1 AND local_relpath = ?2
ORDER BY op_depth DESC;

-- name: SELECT_BASE_MD5S
-- The checksums of the BASE texts in a folder.
SELECT nodes.checksum, md5_checksum FROM nodes
JOIN pristine ON pristine.checksum = nodes.checksum
WHERE wc_id = ?1 AND parent_relpath = ?2 AND op_depth = 0;

-- name: SELECT_CHILDREN
-- All layers of the children of a folder, by name, the highest layer of each last.
SELECT local_relpath, op_depth, presence, kind, repos_id, repos_path, revision, depth, checksum,
       changed_revision, changed_date, changed_author, translated_size, last_mod_time, properties,
       moved_here, moved_to, file_external, inherited_props
FROM nodes WHERE wc_id = ?1 AND parent_relpath = ?2
ORDER BY local_relpath, op_depth;

-- name: SELECT_BASE_FOLDERS_BELOW
-- BASE folders within a range of paths.
SELECT local_relpath FROM nodes
WHERE wc_id = ?1 AND local_relpath >= ?2 AND local_relpath < ?3 AND op_depth = 0
  AND kind = 'dir' AND presence IN ('normal', 'incomplete');

-- name: SELECT_ACTUAL
SELECT local_relpath, changelist, properties, conflict_data
FROM actual_node WHERE wc_id = ?1 AND local_relpath = ?2;

-- name: SELECT_ACTUAL_CHILDREN
SELECT local_relpath, changelist, properties, conflict_data
FROM actual_node WHERE wc_id = ?1 AND parent_relpath = ?2
ORDER BY local_relpath;

-- name: SELECT_ACTUAL_CONFLICT_BELOW
-- Something below a node is in conflict. '0' follows '/'.
SELECT 1 FROM actual_node
WHERE wc_id = ?1 AND local_relpath > (?2 || '/') AND local_relpath < (?2 || '0')
  AND conflict_data IS NOT NULL
LIMIT 1;

-- name: SELECT_MOVED_FROM
SELECT local_relpath, op_depth FROM nodes
WHERE wc_id = ?1 AND moved_to = ?2 AND op_depth > 0;

-- name: SELECT_REPOSITORY
SELECT root, uuid FROM repository WHERE id = ?1;

-- name: SELECT_LOCKS
SELECT repos_id, repos_relpath, lock_token, lock_owner, lock_comment, lock_date FROM lock;

-- name: SELECT_LOCK
SELECT repos_id, repos_relpath, lock_token, lock_owner, lock_comment, lock_date FROM lock
WHERE repos_id = ?1 AND repos_relpath = ?2;

-- name: SELECT_WC_LOCKS
SELECT local_dir_relpath, locked_levels FROM wc_lock WHERE wc_id = ?1;

-- name: SELECT_EXTERNALS
-- Those defined on a folder or below it.
SELECT local_relpath, def_local_relpath, kind, presence, repos_id, def_repos_relpath,
       def_operational_revision, def_revision
FROM externals
WHERE wc_id = ?1 AND def_local_relpath >= ?2 AND def_local_relpath < ?2 || '0'
  AND (def_local_relpath = ?2 OR def_local_relpath > ?2 || '/')
ORDER BY local_relpath;

-- name: SELECT_ALL_EXTERNALS
SELECT local_relpath, def_local_relpath, kind, presence, repos_id, def_repos_relpath,
       def_operational_revision, def_revision
FROM externals
WHERE wc_id = ?1
ORDER BY local_relpath;

-- name: SELECT_EXTERNAL
SELECT local_relpath, def_local_relpath, kind, presence, repos_id, def_repos_relpath,
       def_operational_revision, def_revision
FROM externals
WHERE wc_id = ?1 AND local_relpath = ?2;

-- name: SELECT_REVISION_RANGE
SELECT min(revision), max(revision), min(changed_revision), max(changed_revision)
FROM nodes
WHERE wc_id = ?1 AND op_depth = 0 AND presence IN ('normal', 'incomplete')
  AND file_external IS NULL
  AND local_relpath >= ?2 AND local_relpath < ?3
  AND (local_relpath = ?2 OR local_relpath > ?4);

-- name: SELECT_SPARSE
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND op_depth = 0 AND file_external IS NULL
  AND local_relpath >= ?2 AND local_relpath < ?3
  AND (local_relpath = ?2 OR local_relpath > ?4)
  AND (presence IN ('server-excluded', 'excluded') OR depth NOT IN ('infinity', 'unknown'))
LIMIT 1;

-- name: SELECT_SWITCHED_BELOW
-- A node below whose repository path is not the one implied by that of the folder. ?5 is the
-- length in characters of the folder's path with its slash, ?6 its repository path with a slash.
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND op_depth = 0 AND file_external IS NULL
  AND presence IN ('normal', 'incomplete')
  AND local_relpath > ?4 AND local_relpath < ?3
  AND repos_path IS NOT (?6 || substr(local_relpath, ?5 + 1))
LIMIT 1;

-- name: SELECT_TREE_CHANGE
SELECT 1 FROM nodes
WHERE wc_id = ?1 AND op_depth > 0
  AND local_relpath >= ?2 AND local_relpath < ?3
  AND (local_relpath = ?2 OR local_relpath > ?4)
LIMIT 1;

-- name: SELECT_PROP_CHANGE
SELECT 1 FROM actual_node
WHERE wc_id = ?1 AND properties IS NOT NULL
  AND local_relpath >= ?2 AND local_relpath < ?3
  AND (local_relpath = ?2 OR local_relpath > ?4)
LIMIT 1;

-- name: SELECT_WORK_ITEM
SELECT 1 FROM work_queue LIMIT 1;
