-- Locks in the repository whose tokens the working copy keeps.

-- name: INSERT_LOCK
INSERT OR REPLACE INTO lock
  (repos_id, repos_relpath, lock_token, lock_owner, lock_comment, lock_date)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
