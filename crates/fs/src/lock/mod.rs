//! Locks on paths.
//!
//! Each path that is locked, and each folder above one, has a file: `locks/abc/abc…`, named after
//! the MD5 digest of the path (`/trunk/a`). It is in the [format of
//! properties](sylvan_core::hash_dump) and has the lock, if the path is locked, and in `children`
//! the digests of the locked paths below, one a line.

mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;

use sylvan_core::{
    Error, ErrorCode, Lock, Md5, Props, RelPath, RelPathBuf, Result, Timestamp, hash_dump,
};
use sylvan_io::file;

use crate::fs::FileSystem;
use crate::layout;
use crate::text::{corrupt, fspath, parse_fspath, put_fspath, shown};

pub use write::{Access, LockRequest, LockTarget};

/// A lock as the file system stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsLock {
    /// The lock.
    pub lock: Lock,
    /// Whether the comment is XML that a DAV client sent.
    pub is_dav_comment: bool,
}

impl FsLock {
    fn from_props(props: &Props, fs: &FileSystem) -> Result<Option<Self>> {
        let text = |name: &str| {
            let value = props.get(name)?;
            String::from_utf8(value.clone()).ok()
        };
        let Some(path) = props.get("path") else {
            return Ok(None);
        };
        let bad = || {
            let (path, db) = (shown(path), fs.path().display());
            corrupt(format!(
                "Corrupt lockfile for path '{path}' in filesystem '{db}'"
            ))
        };
        let time = |text: String| Timestamp::parse_iso(&text);
        Ok(Some(Self {
            lock: Lock {
                path: parse_fspath(path).ok_or_else(bad)?,
                token: text("token").ok_or_else(bad)?,
                owner: text("owner").ok_or_else(bad)?,
                comment: text("comment"),
                created: time(text("creation_date").ok_or_else(bad)?)?,
                expires: text("expiration_date").map(time).transpose()?,
            },
            is_dav_comment: text("is_dav_comment").ok_or_else(bad)?.starts_with('1'),
        }))
    }

    fn to_props(&self) -> Props {
        let lock = &self.lock;
        let mut props = Props::new();
        let mut put = |name: &str, value: String| props.insert(name.to_owned(), value.into());
        put("token", lock.token.clone());
        put("owner", lock.owner.clone());
        if let Some(comment) = &lock.comment {
            put("comment", comment.clone());
        }
        put(
            "is_dav_comment",
            if self.is_dav_comment { "1" } else { "0" }.to_owned(),
        );
        put("creation_date", lock.created.to_iso());
        if let Some(expires) = lock.expires {
            put("expiration_date", expires.to_iso());
        }
        props.insert("path".to_owned(), stored_fspath(&lock.path));
        props
    }

    /// Tells whether the lock has ended.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.lock.expires.is_some_and(|expires| now > expires)
    }
}

/// The content of a file in `locks`.
#[derive(Clone, Debug, Default)]
struct DigestFile {
    lock: Option<FsLock>,
    /// Digests of the locked paths below.
    children: BTreeSet<String>,
}

fn stored_fspath(path: &RelPath) -> Vec<u8> {
    let mut stored = Vec::with_capacity(path.as_str().len() + 1);
    put_fspath(path, &mut stored);
    stored
}

/// Returns the digest that stands for a path.
fn digest(path: &RelPath) -> String {
    Md5::of(&stored_fspath(path)).to_string()
}

impl FileSystem {
    fn digest_path(&self, digest: &str) -> PathBuf {
        let dir = self.layout().file(layout::LOCKS);
        dir.join(&digest[..3]).join(digest)
    }

    fn read_digest_file(&self, digest: &str) -> Result<DigestFile> {
        let path = self.digest_path(digest);
        let Some(text) = file::read_if_exists(&path)? else {
            return Ok(DigestFile::default());
        };
        let props = hash_dump::read(&text).map_err(|error| {
            error.context(format!(
                "Can't parse lock/entries hashfile '{}'",
                path.display()
            ))
        })?;
        let children = props.get("children").map_or(&[][..], Vec::as_slice);
        let children = children.split(|byte| *byte == b'\n');
        // What is no digest would lead elsewhere.
        let children = children.filter_map(|line| std::str::from_utf8(line).ok());
        let children = children.filter(|line| Md5::parse_hex(line).is_ok());
        Ok(DigestFile {
            lock: FsLock::from_props(&props, self)?,
            children: children.map(str::to_owned).collect(),
        })
    }

    /// Returns the lock on a path, if there is one that has not ended.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`] and those of [`hash_dump::read`].
    pub fn lock_on(&self, path: &RelPath, now: Timestamp) -> Result<Option<FsLock>> {
        let found = self.read_digest_file(&digest(path))?.lock;
        Ok(found.filter(|lock| !lock.is_expired(now)))
    }

    /// Returns the locks on a path and below it that have not ended, in order of path.
    ///
    /// # Errors
    /// As [`FileSystem::lock_on`].
    pub fn locks_below(&self, path: &RelPath, now: Timestamp) -> Result<Vec<FsLock>> {
        let file = self.read_digest_file(&digest(path))?;
        let mut locks: Vec<FsLock> = file.lock.into_iter().collect();
        for child in &file.children {
            locks.extend(self.read_digest_file(child)?.lock);
        }
        locks.retain(|lock| !lock.is_expired(now));
        locks.sort_by(|a, b| a.lock.path.cmp(&b.lock.path));
        Ok(locks)
    }

    /// Returns the paths that have a lock, ended or not, with a given digest; for tests and tools.
    #[doc(hidden)]
    pub fn path_of_lock_digest(&self, digest: &str) -> Result<Option<RelPathBuf>> {
        Md5::parse_hex(digest)?;
        Ok(self
            .read_digest_file(digest)?
            .lock
            .map(|lock| lock.lock.path))
    }
}

fn no_such_lock(fs: &FileSystem, path: &RelPath) -> Error {
    let (path, db) = (fspath(path), fs.uuid());
    Error::new(
        ErrorCode::FS_NO_SUCH_LOCK,
        format!("No lock on path '{path}' in filesystem '{db}'"),
    )
}
