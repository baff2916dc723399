//! Owner files: who holds a lock, and whether it lives.
//!
//! `docs/locking.md` has the reasons. While a process holds a row of WC_LOCK it holds an `flock` on
//! `.svn/sylvan-lock-TOKEN`, made before the row and removed after it. TOKEN is the row's `rowid`
//! in hexadecimal, so that a file left behind is never taken for the owner of a row that Subversion
//! made later. The file says:
//!
//! ```text
//! host NAME
//! boot ID
//! pid NUMBER
//! path LOCKED-FOLDER
//! ```

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sylvan_core::{Error, RelPath, Result};
use sylvan_io::file;

use crate::WorkingCopy;

/// The file of a lock that is held.
#[derive(Debug)]
pub(super) struct Owner {
    path: PathBuf,
    /// Closed, and with it unlocked, last.
    _file: File,
}

impl Owner {
    /// Makes the file and locks it; `None` if the file system knows no such locks.
    pub(super) fn create(wc: &WorkingCopy, token: i64, root: &RelPath) -> Result<Option<Self>> {
        let path = file_path(wc, token);
        let mut file = file::create_new(&path, file::MODE_FILE)?.into_file();
        let me = Identity::of_this_process();
        let text = format!(
            "host {}\nboot {}\npid {}\npath {root}\n",
            me.host,
            me.boot,
            std::process::id()
        );
        let locked = file.try_lock().is_ok();
        if !locked {
            drop(file);
            file::remove_if_exists(&path)?;
            return Ok(None);
        }
        file.write_all(text.as_bytes()).map_err(|error| {
            Error::io(
                &error,
                format_args!("Can't write to file '{}'", path.display()),
            )
        })?;
        Ok(Some(Self { path, _file: file }))
    }

    /// Removes the file, after the row.
    pub(super) fn remove(self) -> Result<()> {
        file::remove_if_exists(&self.path).map(drop)
    }
}

/// The file of a lock whose holder is dead; locked, so that only one process finds it.
#[derive(Debug)]
pub(super) struct DeadOwner {
    path: PathBuf,
    _file: File,
}

impl DeadOwner {
    /// Removes the file, after its row.
    pub(super) fn remove(self) -> Result<()> {
        file::remove_if_exists(&self.path).map(drop)
    }
}

/// Finds the owner of the row `token` for the folder `root`, if it is certain that it is dead.
pub(super) fn find_dead(wc: &WorkingCopy, token: i64, root: &RelPath) -> Result<Option<DeadOwner>> {
    let path = file_path(wc, token);
    let mut file = match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Error::io(
                &error,
                format_args!("Can't open file '{}'", path.display()),
            ));
        }
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(None),
    }
    let mut text = String::new();
    if (&mut file)
        .take(64 * 1024)
        .read_to_string(&mut text)
        .is_err()
    {
        return Ok(None);
    }
    let Some(identity) = Identity::parse(&text, root) else {
        return Ok(None);
    };
    if identity.boot == Identity::of_this_process().boot && !identity.boot.is_empty()
        || locks_are_seen_everywhere(&path)
    {
        return Ok(Some(DeadOwner { path, _file: file }));
    }
    Ok(None)
}

/// Removes the files that belong to none of these locks, and that nobody has locked.
pub(super) fn remove_stale(wc: &WorkingCopy, tokens: &[i64]) -> Result<()> {
    let adm = wc.adm_path("");
    for (name, _) in file::read_dir(adm.as_path())? {
        let Ok(name) = String::from_utf8(name) else {
            continue;
        };
        let token = name
            .strip_prefix(PREFIX)
            .and_then(|hex| i64::from_str_radix(hex, 16).ok());
        let Some(token) = token.filter(|token| !tokens.contains(token)) else {
            continue;
        };
        let path = file_path(wc, token);
        let held = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .is_ok_and(|file| file.try_lock().is_err());
        if !held {
            file::remove_if_exists(&path)?;
        }
    }
    Ok(())
}

const PREFIX: &str = "sylvan-lock-";

fn file_path(wc: &WorkingCopy, token: i64) -> PathBuf {
    wc.adm_path(&format!("{PREFIX}{token:016x}"))
        .as_path()
        .to_owned()
}

/// Where a process runs.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    host: String,
    /// One for each start of a kernel; empty if the system does not tell.
    boot: String,
}

impl Identity {
    fn of_this_process() -> Self {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let name = rustix::system::uname();
        Self {
            host: name.nodename().to_string_lossy().into_owned(),
            boot: boot.trim().to_owned(),
        }
    }

    /// Reads an owner file; `None` if it is not whole, or for another folder.
    fn parse(text: &str, root: &RelPath) -> Option<Self> {
        let rest = text.strip_prefix("host ")?;
        let (host, rest) = rest.split_once("\nboot ")?;
        let (boot, rest) = rest.split_once("\npid ")?;
        let (_, path) = rest.split_once("\npath ")?;
        (path.strip_suffix('\n')? == root.as_str()).then(|| Self {
            host: host.to_owned(),
            boot: boot.to_owned(),
        })
    }
}

/// Tells whether a lock that another machine (or this one before it was started anew) holds on
/// `path` would have been seen: on a local file system there is no other machine, on NFS the server
/// keeps locks unless the mount says otherwise.
fn locks_are_seen_everywhere(path: &Path) -> bool {
    const LOCAL: [u32; 9] = [
        0xef53,      // ext2, ext3, ext4
        0x0102_1994, // tmpfs
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0x794c_7630, // overlay
        0x2fc1_2fc1, // zfs
        0xf2f5_2010, // f2fs
        0x8584_58f6, // ramfs
        0x3153_464a, // jfs
    ];
    const NFS: u32 = 0x6969;
    let Ok(found) = rustix::fs::statfs(path) else {
        return false;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the magic numbers have 32 bits, the type depends on the system"
    )]
    let kind = found.f_type as u32;
    if kind == NFS {
        return nfs_server_keeps_locks(path);
    }
    LOCAL.contains(&kind)
}

fn nfs_server_keeps_locks(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else {
        return false;
    };
    mount_of(&mounts, &path).is_some_and(|(kind, options)| {
        let options: Vec<_> = options.split(',').collect();
        let local = options
            .iter()
            .any(|option| matches!(*option, "nolock" | "local_lock=all" | "local_lock=flock"));
        matches!(kind, "nfs" | "nfs4") && !local
    })
}

/// Finds the mount that `path` is on in the text of `/proc/self/mountinfo`; returns its type and
/// options.
fn mount_of<'a>(mounts: &'a str, path: &Path) -> Option<(&'a str, &'a str)> {
    mounts
        .lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let point = unescape(left.split(' ').nth(4)?);
            let mut right = right.split(' ');
            let (kind, _, options) = (right.next()?, right.next()?, right.next()?);
            path.starts_with(&point)
                .then(|| (point.components().count(), (kind, options)))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, found)| found)
}

/// Undoes the octal escapes of mount points.
fn unescape(point: &str) -> PathBuf {
    let mut text = point.to_owned();
    for (escape, byte) in [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ] {
        text = text.replace(escape, byte);
    }
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_files_are_read_whole_or_not_at_all() {
        let text = "host h\nboot b-1\npid 7\npath a/b c\n";
        let root = RelPath::new("a/b c").unwrap();
        let found = Identity::parse(text, root).unwrap();
        assert_eq!((found.host.as_str(), found.boot.as_str()), ("h", "b-1"));
        assert_eq!(Identity::parse(text, RelPath::ROOT), None);
        for length in 0..text.len() {
            assert_eq!(Identity::parse(&text[..length], root), None, "{length}");
        }
    }

    #[test]
    fn the_longest_mount_point_counts() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda rw\n\
            30 22 0:40 / /home/a\\040b rw,relatime shared:1 - nfs4 srv:/x rw,vers=4.2,local_lock=none\n\
            31 30 0:41 / /home/a\\040b/c rw - nfs srv:/y rw,vers=3,nolock,local_lock=all\n";
        let of = |path| mount_of(mounts, Path::new(path)).unwrap();
        assert_eq!(of("/home/a").0, "ext4");
        assert_eq!(of("/home/a b/x").0, "nfs4");
        assert_eq!(
            of("/home/a b/c/x"),
            ("nfs", "rw,vers=3,nolock,local_lock=all")
        );
    }
}
