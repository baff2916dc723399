//! Sets the properties of revisions to those in a dump stream.

use std::io::Read;

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;

use super::{PropChecks, to_props};
use crate::dumpstream::{self, Deltas, Headers, Sink, header};
use crate::notice::{Notice, Notify};
use crate::repos::Repos;

/// How the revision properties of a stream are loaded.
#[derive(Clone, Copy, Debug)]
pub struct LoadRevpropsOptions {
    /// The revisions of the stream that are wanted, the last one among them.
    pub range: Option<(Revnum, Revnum)>,
    /// Whether properties must be such as clients may set.
    pub validate_props: bool,
    /// Whether the dates in the stream do not count.
    pub ignore_dates: bool,
    /// Whether line ends of text properties are made LF.
    pub normalize_props: bool,
}

impl Repos {
    /// Gives revisions the properties that they have in a dump stream, and no others.
    ///
    /// # Errors
    /// Those of [`dumpstream::parse`]; [`ErrorCode::FS_NO_SUCH_REVISION`];
    /// [`ErrorCode::BAD_PROPERTY_VALUE`].
    pub fn load_revprops(
        &self,
        stream: &mut dyn Read,
        options: &LoadRevpropsOptions,
        cancel: &Cancel,
        notify: Notify<'_>,
    ) -> Result<()> {
        let mut loader = RevpropLoader {
            repos: self,
            options,
            notify,
            revision: None,
        };
        dumpstream::parse(stream, &mut loader, Deltas::Texts, cancel)
    }
}

/// Gives a revision these properties and no others.
pub(super) fn replace(
    repos: &Repos,
    revision: Revnum,
    wanted: Vec<(String, Vec<u8>)>,
    checks: PropChecks,
) -> Result<()> {
    let lock = repos.fs().write_lock()?;
    let old = repos.fs().revprops(revision)?;
    let mut new = to_props(wanted);
    for (name, value) in &mut new {
        // What a revision has already is not looked at.
        if old.get(name) != Some(value) {
            *value = checks.accept(name, std::mem::take(value))?;
        }
    }
    if new == old {
        return Ok(());
    }
    repos.fs().set_revprops(&lock, revision, &new)
}

struct RevpropLoader<'l> {
    repos: &'l Repos,
    options: &'l LoadRevpropsOptions,
    notify: Notify<'l>,
    revision: Option<Revision>,
}

struct Revision {
    number: Revnum,
    skipped: bool,
    props: Vec<(String, Vec<u8>)>,
}

impl Sink for RevpropLoader<'_> {
    fn revision(&mut self, headers: &Headers) -> Result<()> {
        let number = headers.revision(header::REVISION_NUMBER);
        let number = number.unwrap_or(Revnum::ZERO);
        let range = self.options.range;
        let skipped = range.is_some_and(|(first, last)| number < first || number > last);
        if skipped {
            (self.notify)(Notice::LoadSkipped(number))?;
        }
        self.revision = Some(Revision {
            number,
            skipped,
            props: Vec::new(),
        });
        Ok(())
    }

    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let ignores = name == "svn:date" && self.options.ignore_dates;
        let revision = self.revision.as_mut().ok_or_else(|| {
            Error::new(
                ErrorCode::STREAM_MALFORMED_DATA,
                "Dumpstream data appears to be malformed",
            )
        })?;
        if !revision.skipped && !ignores {
            revision.props.push((name.to_owned(), value));
        }
        Ok(())
    }

    fn end_revision(&mut self) -> Result<()> {
        let Some(revision) = self.revision.take().filter(|revision| !revision.skipped) else {
            return Ok(());
        };
        let checks = PropChecks {
            validate: self.options.validate_props,
            normalize: self.options.normalize_props,
        };
        replace(self.repos, revision.number, revision.props, checks)?;
        (self.notify)(Notice::LoadRevprops(revision.number))
    }
}
