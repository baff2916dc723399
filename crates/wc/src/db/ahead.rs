//! Reading the database file ahead.
//!
//! SQLite reads one page at a time, and on a network file system each is a round trip: 146 of them
//! for a tree of 1,900 files. Whoever is going to read all of it has the system fetch the file in
//! large pieces first.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Advice, fadvise};

/// A larger file is not read ahead.
const LARGEST: u64 = 64 << 20;
/// So many files are read ahead at most.
const MOST: usize = 64;

/// The files, by device and inode. They stay open as long as the process runs, since closing one
/// would give up the locks that SQLite holds on the same file.
static OPEN: Mutex<Vec<(u64, u64, File)>> = Mutex::new(Vec::new());

/// Has the system fetch the database file `path`. It is called in a read transaction: taking a lock
/// makes a network file system forget what it has. It is no error if the file cannot be read so.
pub(super) fn read_ahead(path: &Path) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(meta) = std::fs::metadata(path) else {
        return;
    };
    if meta.len() > LARGEST {
        return;
    }
    let place = (meta.dev(), meta.ino());
    let known = open.iter().position(|(dev, ino, _)| (*dev, *ino) == place);
    let at = match known {
        Some(at) => at,
        None if open.len() < MOST => match File::open(path) {
            Ok(file) => {
                open.push((place.0, place.1, file));
                open.len() - 1
            }
            Err(_) => return,
        },
        None => return,
    };
    // An advice that is not taken costs only time.
    let _ = fadvise(&open[at].2, 0, None, Advice::WillNeed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_once_and_stays_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("wc.db");
        std::fs::write(&path, "pages").unwrap();
        let place = std::fs::metadata(&path).unwrap();
        read_ahead(&path);
        read_ahead(&path);
        read_ahead(&dir.path().join("none"));
        let open = OPEN.lock().unwrap();
        let same = |(dev, ino, _): &&(u64, u64, File)| (*dev, *ino) == (place.dev(), place.ino());
        assert_eq!(open.iter().filter(same).count(), 1);
    }
}
