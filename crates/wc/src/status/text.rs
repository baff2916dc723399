//! Whether a working file's text differs from its pristine text.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha1::Digest as _;
use sylvan_core::translate::{Translation, special};
use sylvan_core::{Checksum, Error, Result, Sha1};

use crate::db::Node;
use crate::props;

/// Compares a file (a symlink if `is_link`) that has `size` bytes with the pristine text of `node`,
/// by its SHA-1 where sizes do not tell. A file that is gone is not modified.
///
/// # Errors
/// An operating system's error if the file cannot be read, but for missing rights: such a file
/// counts as modified.
pub(super) fn is_modified(
    path: &Path,
    size: u64,
    node: &Node,
    is_link: bool,
    pristine: &Path,
) -> Result<bool> {
    let Some(top) = node.top() else {
        return Ok(true);
    };
    let Some(Checksum::Sha1(expected)) = top.checksum else {
        return Ok(true);
    };
    let translation = translation(node)?;
    if !translation.special && is_link {
        return Ok(true);
    }
    let plain = translation.is_identity();
    if plain {
        let known = top
            .recorded_size
            .or_else(|| pristine_size(pristine, expected));
        if known.is_some_and(|known| known != size) {
            return Ok(true);
        }
    }
    let found = if is_link {
        read_link(path)
    } else {
        hash_file(path, &translation)
    };
    match found {
        Ok(Some(found)) => Ok(found != expected),
        Ok(None) => Ok(false),
        Err(Failed::Denied) => Ok(true),
        Err(Failed::Other(error)) => Err(error),
    }
}

enum Failed {
    Denied,
    Other(Error),
}

fn translation(node: &Node) -> Result<Translation> {
    let stored = node
        .actual
        .properties
        .as_deref()
        .or_else(|| node.top().and_then(|top| top.properties.as_deref()));
    match stored {
        Some(stored) if props::may_translate(stored) => {
            Ok(Translation::for_normalization(&props::parse(stored)?))
        }
        _ => Ok(Translation::default()),
    }
}

fn pristine_size(pristine: &Path, checksum: Sha1) -> Option<u64> {
    let hex = checksum.to_string();
    let path = pristine.join(&hex[..2]).join(format!("{hex}.svn-base"));
    std::fs::metadata(path).ok().map(|found| found.len())
}

fn read_link(path: &Path) -> Result<Option<Sha1>, Failed> {
    match std::fs::read_link(path) {
        Ok(target) => Ok(Some(Sha1::of(&special::link_content(
            target.as_os_str().as_bytes(),
        )))),
        Err(error) => failed(&error, path, "Can't read contents of link"),
    }
}

/// Digests the file's content in the form that the repository has it.
fn hash_file(path: &Path, translation: &Translation) -> Result<Option<Sha1>, Failed> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return failed(&error, path, "Can't open file"),
    };
    let mut translator = if translation.is_identity() {
        None
    } else {
        Some(translation.to_normal(true).map_err(Failed::Other)?)
    };
    let mut digest = sha1::Sha1::new();
    let mut buffer = vec![0; BUFFER];
    let mut normal = Vec::new();
    loop {
        let length = match file.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return failed(&error, path, "Can't read file"),
        };
        match &mut translator {
            None => digest.update(&buffer[..length]),
            Some(translator) => {
                normal.clear();
                let done = if length == 0 {
                    translator.finish(&mut normal)
                } else {
                    translator.push(&buffer[..length], &mut normal)
                };
                done.map_err(Failed::Other)?;
                digest.update(&normal);
            }
        }
        if length == 0 {
            return Ok(Some(Sha1(digest.finalize().into())));
        }
    }
}

const BUFFER: usize = 128 * 1024;

fn failed<T>(error: &std::io::Error, path: &Path, action: &str) -> Result<Option<T>, Failed> {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
        ErrorKind::PermissionDenied => Err(Failed::Denied),
        _ => Err(Failed::Other(Error::io(
            error,
            format_args!("{action} '{}'", path.display()),
        ))),
    }
}
