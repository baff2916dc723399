//! Whether a working file differs from its pristine text.

use std::io::Read as _;

use sha1::Digest as _;
use sylvan_core::props::SVN_SPECIAL;
use sylvan_core::translate::{Translation, special};
use sylvan_core::{Error, RelPath, Result, Sha1};
use sylvan_io::file::{Dir, FileKind};

use crate::db::Layer;
use crate::site::Site;
use crate::{WorkingCopy, work_queue};

/// Tells whether a working file is modified. One that is missing is not.
pub(crate) fn is_modified(
    wc: &WorkingCopy,
    site: &Site,
    path: &RelPath,
    layer: &Layer,
) -> Result<bool> {
    differs(&site.root, path, layer, || {
        Ok(work_queue::recipe_of(wc, layer, false)?.translation)
    })
}

/// As [`is_modified`], where the translation is got only if it is needed.
pub(crate) fn differs(
    tree: &Dir,
    path: &RelPath,
    layer: &Layer,
    translation: impl FnOnce() -> Result<Option<Translation>>,
) -> Result<bool> {
    let is_special = layer.props()?.contains_key(SVN_SPECIAL);
    differs_from(tree, path, layer, is_special, translation)
}

/// As [`differs`] for a file whose local properties decide whether it is a symlink.
pub(crate) fn differs_from(
    tree: &Dir,
    path: &RelPath,
    layer: &Layer,
    is_special: bool,
    translation: impl FnOnce() -> Result<Option<Translation>>,
) -> Result<bool> {
    let Some(expected) = layer.sha1()? else {
        return Ok(true);
    };
    let Some(meta) = tree.lstat(path)? else {
        return Ok(false);
    };
    match meta.kind {
        FileKind::Dir => Ok(false),
        FileKind::Symlink if is_special => {
            let text = special::link_content(&tree.read_link(path)?);
            Ok(Sha1::of(&text) != expected)
        }
        FileKind::Symlink | FileKind::Other => Ok(true),
        FileKind::File => {
            let size = i64::try_from(meta.size).unwrap_or(-1);
            if layer.recorded() == Some((size, meta.mtime.micros())) {
                return Ok(false);
            }
            let translation = translation()?.filter(|how| !how.special);
            Ok(normal_sha1(tree, path, translation.as_ref())? != expected)
        }
    }
}

/// Digests a working file as it would be in the repository.
fn normal_sha1(tree: &Dir, path: &RelPath, translation: Option<&Translation>) -> Result<Sha1> {
    let mut digest = sha1::Sha1::new();
    let mut translator = translation.map(|how| how.to_normal(true)).transpose()?;
    let mut out = Vec::new();
    read_through(tree, path, |bytes| {
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
pub(crate) fn would_translate(
    tree: &Dir,
    path: &RelPath,
    translation: &Translation,
) -> Result<bool> {
    let (mut before, mut after) = (sha1::Sha1::new(), sha1::Sha1::new());
    let mut translator = translation.to_working();
    let mut out = Vec::new();
    read_through(tree, path, |bytes| {
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

pub(crate) fn read_through(
    tree: &Dir,
    path: &RelPath,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let failed = |error: &std::io::Error| {
        let path = tree.full(path);
        Error::io(error, format_args!("Can't read file '{}'", path.display()))
    };
    let mut file = tree.open_file(path)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer).map_err(|error| failed(&error))? {
            0 => return Ok(()),
            count => take(&buffer[..count])?,
        }
    }
}

/// Tells whether a working file is not what installing its pristine text would write.
///
/// # Errors
/// Those of reading the files.
pub(crate) fn differs_as_installed(
    (tree, path, meta): (&Dir, &RelPath, sylvan_io::file::Meta),
    (adm, pristine, expected): (&Dir, &RelPath, Sha1),
    recipe: &crate::install::Recipe,
) -> Result<bool> {
    if meta.kind == FileKind::Symlink {
        return Ok(Sha1::of(&special::link_content(&tree.read_link(path)?)) != expected);
    }
    if recipe.special {
        return Ok(true);
    }
    let Some(translation) = &recipe.translation else {
        return Ok(normal_sha1(tree, path, None)? != expected);
    };
    let mut installed = sha1::Sha1::new();
    let mut translator = translation.to_working();
    let mut out = Vec::new();
    read_through(adm, pristine, |bytes| {
        out.clear();
        translator.push(bytes, &mut out)?;
        installed.update(&out);
        Ok(())
    })?;
    out.clear();
    translator.finish(&mut out)?;
    installed.update(&out);
    Ok(normal_sha1(tree, path, None)? != Sha1(installed.finalize().into()))
}
