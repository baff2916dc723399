//! Conflicts of texts.

use sylvan_core::{RelPath, RelPathBuf, Result};
use sylvan_diff::{FileSource, Options, Source, merge};
use sylvan_io::Cancel;

use super::{Choice, apply, failure, put, remove_marker, stored, tell};
use crate::WorkingCopy;
use crate::conflict::TextConflict;
use crate::merge::{names, text::named};
use crate::notify::{Action, NotifyFn};
use crate::site::{Site, tmp};
use crate::work_queue::item;

/// Settles the text conflict of a file.
///
/// # Errors
/// `E155027` if the text that is chosen is not there; those of the database and the file system.
pub fn resolve(
    wc: &WorkingCopy,
    path: &RelPath,
    choice: Choice,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let Some(mut conflict) = stored(wc, path)? else {
        return Ok(());
    };
    let Some(text) = conflict.text.take() else {
        return Ok(());
    };
    let site = Site::of(wc)?;
    let mut items = Vec::new();
    let from = match choice {
        Choice::Base => text.old.clone(),
        Choice::TheirsFull => text.theirs.clone(),
        Choice::MineFull => Some(text.mine.clone().unwrap_or_else(|| path.to_owned())),
        Choice::Merged => Some(path.to_owned()),
        Choice::TheirsConflict => Some(chosen(
            wc,
            &site,
            path,
            &text,
            merge::Style::Latest,
            cancel,
        )?),
        Choice::MineConflict => Some(chosen(
            wc,
            &site,
            path,
            &text,
            merge::Style::Modified,
            cancel,
        )?),
    };
    let from = from.ok_or_else(|| {
        failure(format!(
            "Conflict on '{}' could not be resolved because the chosen version of the file is not \
             available.",
            wc.local_path(path)
        ))
    })?;
    items.push(item::file_install_from(path, &from));
    if matches!(choice, Choice::TheirsConflict | Choice::MineConflict) {
        items.push(item::file_remove(&from));
    }
    let mut found = false;
    for marker in [&text.old, &text.theirs, &text.mine] {
        found |= remove_marker(&site, marker.as_ref(), &mut items)?;
    }
    apply(wc, &site, cancel, |db| {
        put(db, path, &conflict)?;
        Ok(items)
    })?;
    if found {
        tell(wc, path, Action::ResolvedText, notify);
    }
    Ok(())
}

/// Merges anew, with one side where both changed something; returns the temporary file.
fn chosen(
    wc: &WorkingCopy,
    site: &Site,
    path: &RelPath,
    text: &TextConflict,
    style: merge::Style,
    cancel: &Cancel,
) -> Result<RelPathBuf> {
    let (Some(old), Some(mine), Some(theirs)) = (&text.old, &text.mine, &text.theirs) else {
        return Err(failure(format!(
            "Conflict on '{}' cannot be resolved to 'theirs-conflict' or 'mine-conflict' because a \
             merged version of the file cannot be created.",
            wc.local_path(path)
        )));
    };
    let open = |path: &RelPathBuf| {
        let (dir, path) = site.locate(path);
        FileSource::new(dir.open_file(path)?, dir.full(path))
    };
    let (old, mine, theirs) = (open(old)?, open(mine)?, open(theirs)?);
    let sources: [&dyn Source; 3] = [&old, &mine, &theirs];
    let diff = sylvan_diff::diff3(sources, &Options::default(), &mut || cancel.check())?;
    let (scratch, file) = names::create(&site.adm, tmp(), &crate::install::temp_name(), ".tmp")?;
    let labels = merge::Labels::new("", "", "");
    let written = merge::write(&diff, sources, &labels, style, &mut |bytes| match bytes {
        [] => Ok(()),
        bytes => file.write_all(bytes),
    });
    if let Err(error) = written.and_then(|()| file.close()) {
        return Err(match site.adm.remove_if_exists(&scratch) {
            Ok(()) => error,
            Err(other) => error.attach(other),
        });
    }
    named(&scratch)
}
