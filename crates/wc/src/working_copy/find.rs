//! Finding the working copy that a path is in.

use std::fs::Metadata;
use std::io::{ErrorKind, Read};
use std::path::Path;

use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result};

use super::ADM_DIR;
use crate::Options;
use crate::db::{Db, FORMAT, OpenError};

/// The oldest format that can be upgraded.
const OLDEST: i64 = 4;

/// What `.svn/entries` says in working copies that have a database.
const NON_ENTRIES_FORMAT: i64 = 12;

/// A working copy that was found: its root, and whether it is above where the search began.
struct Found {
    root: Dirent,
    db: Db,
}

pub(super) fn find(path: &Dirent, options: &Options) -> Result<(Dirent, Db, RelPathBuf)> {
    let kind = metadata(path)?.map(|found| found.file_type());
    let start = match kind {
        Some(kind) if kind.is_dir() => path.clone(),
        _ => path.dirname(),
    };
    // What is not there may be in a folder that is not there either, several levels down.
    let found = search(&start, kind.is_none(), path, options);
    if !kind.is_some_and(|kind| kind.is_symlink()) {
        let found = found?;
        let relpath = below(path, &found.root)?;
        return Ok((found.root, found.db, relpath));
    }
    match found {
        Ok(found) => {
            let relpath = below(path, &found.root)?;
            let known = found.db.node(&relpath)?;
            let versioned = known
                .is_some_and(|node| !node.state().is_hidden() || node.actual.conflict.is_some());
            if versioned || !leads_to_folder(path) {
                return Ok((found.root, found.db, relpath));
            }
        }
        Err(error) => {
            let elsewhere = matches!(
                error.code(),
                ErrorCode::WC_NOT_WORKING_COPY
                    | ErrorCode::WC_UNSUPPORTED_FORMAT
                    | ErrorCode::WC_UPGRADE_REQUIRED
            );
            if !elsewhere || !leads_to_folder(path) {
                return Err(error);
            }
        }
    }
    through_link(path, options)
}

/// Searches from the folder that the symlink `path` leads to. If that is a working copy's root, it
/// goes by the link's name.
fn through_link(path: &Dirent, options: &Options) -> Result<(Dirent, Db, RelPathBuf)> {
    let target = std::fs::read_link(path.as_path())
        .map_err(|error| Error::io(&error, format_args!("Can't read contents of link '{path}'")))?;
    let target = target.to_str().ok_or_else(|| {
        Error::new(
            ErrorCode::WC_NOT_SYMLINK,
            format!("The symlink at '{path}' points nowhere"),
        )
    })?;
    let target = Dirent::new(target).absolute(&path.dirname());
    let found = search(&target, false, path, options)?;
    if found.root == target {
        return Ok((path.clone(), found.db, RelPathBuf::root()));
    }
    let relpath = below(&target, &found.root)?;
    Ok((found.root, found.db, relpath))
}

/// Goes up from `start` until a folder has a database. Working copies of old formats have an
/// administrative folder in each folder: they are looked for in `start` only, or `everywhere` above.
fn search(start: &Dirent, everywhere: bool, path: &Dirent, options: &Options) -> Result<Found> {
    let mut dir = start.clone();
    loop {
        let adm = dir.join(ADM_DIR);
        if metadata(&adm)?.is_some_and(|found| found.is_dir()) {
            match open(&dir, &adm, path, options) {
                Ok(db) => return Ok(Found { root: dir, db }),
                Err(OpenError::Failed(error)) => return Err(error),
                Err(OpenError::NoDatabase) => {}
            }
            if everywhere || dir == *start {
                refuse_old(&dir, &adm)?;
            }
        }
        let parent = dir.dirname();
        if parent == dir {
            return Err(Error::new(
                ErrorCode::WC_NOT_WORKING_COPY,
                format!("'{path}' is not a working copy"),
            ));
        }
        dir = parent;
    }
}

fn open(dir: &Dirent, adm: &Dirent, path: &Dirent, options: &Options) -> Result<Db, OpenError> {
    let file = adm.join("wc.db");
    if !metadata(&file)
        .map_err(OpenError::Failed)?
        .is_some_and(|found| found.is_file())
    {
        return Err(OpenError::NoDatabase);
    }
    let db = Db::open(file.as_path(), options).map_err(|error| match error {
        OpenError::Failed(error) if error.code() == ErrorCode::WC_CORRUPT => {
            OpenError::Failed(error.context(format!("Missing a row in WCROOT for '{path}'.")))
        }
        error => error,
    })?;
    check_format(dir, db.format()).map_err(OpenError::Failed)?;
    Ok(db)
}

/// Refuses formats that this program does not work with.
fn check_format(root: &Dirent, format: i64) -> Result<()> {
    if format < OLDEST {
        return Err(Error::new(
            ErrorCode::WC_UNSUPPORTED_FORMAT,
            format!(
                "Working copy format of '{root}' is too old ({format}); please check out your \
                 working copy again"
            ),
        ));
    }
    if format > FORMAT {
        return Err(too_new(root, format));
    }
    if format < FORMAT {
        let version = env!("CARGO_PKG_VERSION");
        return Err(Error::new(
            ErrorCode::WC_UPGRADE_REQUIRED,
            format!(
                "The working copy at '{root}'\nis too old (format {format}) to work with client \
                 version '{version}' (expects format {FORMAT}). You need to upgrade the working \
                 copy first.\n"
            ),
        ));
    }
    Ok(())
}

/// Makes the error for a format that only newer programs work with.
pub(crate) fn too_new(root: &Dirent, format: i64) -> Error {
    Error::new(
        ErrorCode::WC_UNSUPPORTED_FORMAT,
        format!(
            "This client is too old to work with the working copy at\n'{root}' (format \
             {format}).\nYou need to get a newer Subversion client. For more details, see\n  \
             http://subversion.apache.org/faq.html#working-copy-format-change\n"
        ),
    )
}

/// Returns the format of a folder that has an administrative folder without a database.
///
/// # Errors
/// An operating system's error if it cannot be looked at.
pub(crate) fn old_format(dir: &Dirent) -> Result<Option<i64>> {
    let adm = dir.join(ADM_DIR);
    if metadata(&adm.join("wc.db"))?.is_some() {
        return Ok(None);
    }
    let format = match read_format(&adm.join("entries"))? {
        Some(format) => Some(format),
        None if metadata(&adm.join("entries"))?.is_some() => read_format(&adm.join("format"))?,
        None => None,
    };
    Ok(format.filter(|format| *format < NON_ENTRIES_FORMAT))
}

/// Refuses a folder that is a working copy without a database: of an old format, or damaged.
fn refuse_old(dir: &Dirent, adm: &Dirent) -> Result<()> {
    let entries = adm.join("entries");
    let Some(found) = metadata(&entries)? else {
        return Ok(());
    };
    let format = match read_format(&entries) {
        Ok(Some(format)) => format,
        Ok(None) => match read_format(&adm.join("format")) {
            Ok(Some(format)) => format,
            _ => return Ok(()),
        },
        Err(error) => {
            return Err(error.wrap(ErrorCode::WC_MISSING, format!("'{dir}' does not exist")));
        }
    };
    if format == NON_ENTRIES_FORMAT && found.len() == 3 {
        let what = match metadata(&adm.join("wc.db"))? {
            None => "missing",
            Some(_) => "corrupt",
        };
        return Err(Error::new(
            ErrorCode::WC_CORRUPT,
            format!("The working copy database at '{dir}' is {what}."),
        ));
    }
    check_format(dir, format)
}

/// Reads a file that begins with a number and a newline; `None` for anything else.
fn read_format(path: &Dirent) -> Result<Option<i64>> {
    let mut head = [0; 80];
    let mut file = match std::fs::File::open(path.as_path()) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(Error::io(&error, format_args!("Can't open file '{path}'"))),
    };
    let length = file
        .read(&mut head)
        .map_err(|error| Error::io(&error, format_args!("Can't read file '{path}'")))?;
    let line = head[..length].split(|byte| *byte == b'\n').next();
    let ended = head[..length].contains(&b'\n');
    let digits = line.filter(|line| ended && line.iter().all(u8::is_ascii_digit));
    Ok(digits
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok()))
}

fn below(path: &Dirent, root: &Dirent) -> Result<RelPathBuf> {
    RelPathBuf::new(path.strip_prefix(root).unwrap_or_default())
}

fn leads_to_folder(path: &Dirent) -> bool {
    std::fs::metadata(path.as_path()).is_ok_and(|found| found.is_dir())
}

/// Looks at a path without following a symlink; `None` if nothing is there.
fn metadata(path: &Dirent) -> Result<Option<Metadata>> {
    match Path::symlink_metadata(path.as_path()) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(Error::io(&error, format_args!("Can't check path '{path}'"))),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
