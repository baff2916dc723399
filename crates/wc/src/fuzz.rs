//! Bodies of fuzz targets: whatever the database holds, reading it does not panic.

use sylvan_core::{RelPath, RelPathBuf};

use crate::conflict::Conflict;
use crate::db::{Db, FirstRows};
use crate::{Options, RootNode, props};

/// Reads bytes as a stored conflict.
pub fn conflict(data: &[u8]) {
    let _ = Conflict::parse(data);
}

/// Reads bytes as stored properties, and asks for some by name.
pub fn properties(data: &[u8]) {
    let parsed = props::parse(data);
    let translates = props::may_translate(data);
    for name in ["svn:special", "svn:keywords", "svn:eol-style"] {
        let found = props::has(data, name);
        if let (Ok(parsed), Ok(found)) = (&parsed, found) {
            assert_eq!(parsed.contains_key(name), found);
            assert!(translates || !found);
        }
    }
}

/// Puts bytes into the columns of rows, and reads these.
pub fn rows(data: &[u8]) {
    let Ok(dir) = tempfile_dir() else { return };
    let root = RootNode {
        repos_root: match sylvan_core::Url::parse("svn://h/r") {
            Ok(url) => url,
            Err(_) => return,
        },
        repos_uuid: String::new(),
        repos_path: RelPathBuf::root(),
        revision: sylvan_core::Revnum::ZERO,
        depth: sylvan_core::Depth::Infinity,
    };
    let first = FirstRows {
        repos_root: &root.repos_root,
        repos_uuid: &root.repos_uuid,
        root: Some(&root),
    };
    let (path, options) = (dir.join("wc.db"), Options::default());
    if Db::create(&path, &dir, &options, &first).is_ok()
        && let Ok(db) = Db::open(&path, &options)
    {
        spoil(&db, data);
        for path in [RelPath::ROOT, RelPath::new("a").unwrap_or(RelPath::ROOT)] {
            let _ = db.node(path);
            let _ = db.children(path);
            let _ = db.externals_below(path);
        }
        let _ = (db.locks(), db.wc_locks(), db.repository(1));
    }
    let _ = std::fs::remove_dir_all(dir);
}

/// Reads entries and conflicts of working copies before 1.7.
pub fn old_entries(data: &[u8]) {
    crate::upgrade::parse_old(data);
}

/// Each part of `data`, cut at 0xff, goes into one column, as text or as bytes.
fn spoil(db: &Db, data: &[u8]) {
    let columns = [
        ("nodes", "presence"),
        ("nodes", "kind"),
        ("nodes", "repos_path"),
        ("nodes", "checksum"),
        ("nodes", "changed_date"),
        ("nodes", "translated_size"),
        ("nodes", "properties"),
        ("nodes", "moved_to"),
        ("nodes", "revision"),
        ("nodes", "op_depth"),
        ("nodes", "local_relpath"),
        ("repository", "root"),
    ];
    for (part, (table, column)) in data.split(|byte| *byte == 0xff).zip(columns) {
        let sql = format!("UPDATE {table} SET {column} = ?1");
        let _ = match std::str::from_utf8(part) {
            Ok(text) => db.connection().execute(&sql, [text]),
            Err(_) => db.connection().execute(&sql, [part]),
        };
    }
}

fn tempfile_dir() -> std::io::Result<std::path::PathBuf> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("sylvan-wc-fuzz-{}-{count}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    std::fs::create_dir(&dir)?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_entries_do_not_panic() {
        for whole in [
            &b"10\n\ndir\n3\nfile:///r\nfile:///r\n\x0c\na\\x0ab\nfile\n\n\n\nadd\n\x0c\n"[..],
            b"<wc-entries><entry name=\"\" url=\"file:///r\" revision=\"1\"/></wc-entries>",
            b"(conflict a file update deleted edited (version 0  1 1 0  0 ) (version 0  1 1 0  0 ))",
        ] {
            for at in 0..whole.len() {
                old_entries(&whole[..at]);
                let mut spoiled = whole.to_vec();
                for byte in [0, b'\n', b'9', 0x0c, 0xff] {
                    spoiled[at] = byte;
                    old_entries(&spoiled);
                }
            }
        }
    }

    #[test]
    fn what_is_malformed_does_not_panic() {
        for data in [
            &b""[..],
            b"()",
            b"(",
            b"((6 update ((10 subversion 1 x)) ) ((4 text)))",
            b"((6 update ()) ((4 tree () 99 x)))",
            b"((6 update ()) ((4 prop () () 0  0  0 )))",
            b"(11 svn:special)",
            b"(11 svn:special 1 *)",
            b"(1 a 11 svn:special)",
        ] {
            conflict(data);
            properties(data);
            old_entries(data);
        }
        for data in [
            &b"normal\xffdir\xff../x\xff$sha1$00\xffxx\xff-1\xff((\xff/abs"[..],
            b"gone",
            b"normal\xfffile\xff\xfe\xfe",
            b"base-deleted\xffdir\xff\xff\xff\xff\xff\xff\xff9\xff77\xffa/../b\xffnothing",
        ] {
            rows(data);
        }
    }
}
