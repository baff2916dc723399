//! Names that nothing has yet.

use std::io::ErrorKind;

use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result};
use sylvan_io::file::{self, Creation, Dir, MODE_FILE, NewFile};

/// The most names that are tried.
const TRIES: u32 = 99_999;

/// Makes an empty file beside others: `NAME` and `SUFFIX`, with a number between them where that is
/// taken.
pub(crate) fn create(
    tree: &Dir,
    folder: &RelPath,
    name: &str,
    suffix: &str,
) -> Result<(RelPathBuf, NewFile)> {
    for number in 1..=TRIES {
        let path = folder.child(&match number {
            1 => format!("{name}{suffix}"),
            number => format!("{name}.{number}{suffix}"),
        })?;
        match tree.create(&path, MODE_FILE, Creation::Exclusive) {
            Ok(file) => return Ok((path, file)),
            Err(error) if file::error_kind(&error) == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(
        ErrorCode::IO_UNIQUE_NAMES_EXHAUSTED,
        format!(
            "Unable to make name for '{}'",
            tree.full(folder).join(name).display()
        ),
    ))
}

/// As [`create`]; the file is there, and closed.
pub(crate) fn reserve(
    tree: &Dir,
    folder: &RelPath,
    name: &str,
    suffix: &str,
) -> Result<RelPathBuf> {
    let (path, file) = create(tree, folder, name, suffix)?;
    file.close()?;
    Ok(path)
}
