//! Whether a working file differs from its pristine text.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sha1::Digest as _;
use sylvan_core::translate::{Translation, special};
use sylvan_core::{Error, RelPath, Result, Sha1};

use crate::db::Layer;
use crate::disk::{self, Found};
use crate::{WorkingCopy, work_queue};

/// Tells whether a working file is modified. One that is missing is not.
pub(crate) fn is_modified(wc: &WorkingCopy, path: &RelPath, layer: &Layer) -> Result<bool> {
    let local = wc.local_path(path);
    differs(local.as_path(), layer, || {
        Ok(work_queue::recipe_of(wc, layer, false)?.translation)
    })
}

/// As [`is_modified`], where the translation is got only if it is needed.
pub(crate) fn differs(
    local: &Path,
    layer: &Layer,
    translation: impl FnOnce() -> Result<Option<Translation>>,
) -> Result<bool> {
    let props = layer.props()?;
    let is_special = props.contains_key(sylvan_core::props::SVN_SPECIAL);
    let Some(expected) = layer.sha1()? else {
        return Ok(true);
    };
    match disk::look(local)? {
        Found::Nothing | Found::Dir => Ok(false),
        Found::Symlink if is_special => {
            let target = std::fs::read_link(local).map_err(|error| {
                Error::io(
                    &error,
                    format_args!("Can't read link '{}'", local.display()),
                )
            })?;
            let text = special::link_content(target.as_os_str().as_encoded_bytes());
            Ok(Sha1::of(&text) != expected)
        }
        Found::Symlink | Found::Other => Ok(true),
        Found::File { size, mtime, .. } => {
            if layer.recorded() == Some((i64::try_from(size).unwrap_or(-1), mtime)) {
                return Ok(false);
            }
            let translation = translation()?.filter(|how| !how.special);
            Ok(normal_sha1(local, translation.as_ref())? != expected)
        }
    }
}

/// Digests a working file as it would be in the repository.
fn normal_sha1(local: &Path, translation: Option<&Translation>) -> Result<Sha1> {
    let mut digest = sha1::Sha1::new();
    let mut translator = translation.map(|how| how.to_normal(true)).transpose()?;
    let mut out = Vec::new();
    read_through(local, |bytes| {
        match &mut translator {
            Some(translator) => {
                out.clear();
                translator.push(bytes, &mut out)?;
                digest.update(&out);
            }
            None => digest.update(bytes),
        }
        Ok(())
    })?;
    if let Some(translator) = &mut translator {
        out.clear();
        translator.finish(&mut out)?;
        digest.update(&out);
    }
    Ok(Sha1(digest.finalize().into()))
}

/// Tells whether expanding keywords and line ends in a working file would change it.
pub(crate) fn would_translate(local: &Path, translation: &Translation) -> Result<bool> {
    let (mut before, mut after) = (sha1::Sha1::new(), sha1::Sha1::new());
    let mut translator = translation.to_working();
    let mut out = Vec::new();
    read_through(local, |bytes| {
        before.update(bytes);
        out.clear();
        translator.push(bytes, &mut out)?;
        after.update(&out);
        Ok(())
    })?;
    out.clear();
    translator.finish(&mut out)?;
    after.update(&out);
    Ok(before.finalize() != after.finalize())
}

fn read_through(local: &Path, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let failed = |error: &std::io::Error| {
        Error::io(error, format_args!("Can't read file '{}'", local.display()))
    };
    let mut file = File::open(local).map_err(|error| {
        Error::io(
            &error,
            format_args!("Can't open file '{}'", local.display()),
        )
    })?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer).map_err(|error| failed(&error))? {
            0 => return Ok(()),
            count => take(&buffer[..count])?,
        }
    }
}
