//! Makes revisions of a dump stream.

mod mergeinfo;
mod node;
mod revprops;

use std::collections::BTreeMap;
use std::io::Read;

use sylvan_core::{Error, ErrorCode, Props, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_fs::Txn;
use sylvan_fs::lock::Access;
use sylvan_io::Cancel;

use crate::dumpstream::{self, Body, Deltas, Headers, Sink, header};
use crate::notice::{Notice, Notify};
use crate::repos::Repos;
use crate::revprops::{check_prop, normalized_prop};

use node::Node;

pub use revprops::LoadRevpropsOptions;

/// What becomes of the UUID in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UuidAction {
    /// An empty repository takes it.
    #[default]
    IfEmpty,
    /// It is ignored.
    Ignore,
    /// The repository takes it.
    Force,
}

/// How a stream is loaded.
pub struct LoadOptions<'o> {
    /// The revisions of the stream that are wanted, the last one among them.
    pub range: Option<(Revnum, Revnum)>,
    /// What becomes of the UUID.
    pub uuid: UuidAction,
    /// The folder below which everything is loaded.
    pub parent: Option<RelPathBuf>,
    /// Whether the hook `pre-commit` runs.
    pub pre_commit_hook: bool,
    /// Whether the hook `post-commit` runs.
    pub post_commit_hook: bool,
    /// Whether properties must be such as clients may set.
    pub validate_props: bool,
    /// Whether the dates in the stream do not count.
    pub ignore_dates: bool,
    /// Whether line ends of text properties are made LF.
    pub normalize_props: bool,
    /// Tells the time.
    pub now: &'o dyn Fn() -> Timestamp,
}

impl Repos {
    /// Commits the revisions of a dump stream.
    ///
    /// What comes before an error is committed.
    ///
    /// # Errors
    /// Those of [`dumpstream::parse`]; [`ErrorCode::FS_NO_SUCH_REVISION`] and
    /// [`ErrorCode::FS_NOT_FOUND`] if the stream does not fit the repository;
    /// [`ErrorCode::CHECKSUM_MISMATCH`]; [`ErrorCode::BAD_PROPERTY_VALUE`];
    /// [`ErrorCode::REPOS_HOOK_FAILURE`]; and those of commits.
    pub fn load(
        &self,
        stream: &mut dyn Read,
        options: &LoadOptions<'_>,
        cancel: &Cancel,
        notify: Notify<'_>,
    ) -> Result<()> {
        let mut loader = Loader {
            repos: self,
            options,
            notify,
            map: RevisionMap::default(),
            revision: None,
        };
        dumpstream::parse(stream, &mut loader, Deltas::Deltas, cancel)
    }
}

/// Which revision of the stream became which.
#[derive(Debug, Default)]
struct RevisionMap {
    committed: BTreeMap<Revnum, Revnum>,
    /// The last revision of the stream that was committed.
    last: Option<Revnum>,
    /// The first of the stream that was begun.
    oldest: Option<Revnum>,
}

impl RevisionMap {
    fn insert(&mut self, old: Revnum, new: Revnum) {
        self.committed.insert(old, new);
        self.last = Some(old);
    }

    /// Finds what a revision became. One that the stream leaves out has the number of the one
    /// before it, in the stream, as Subversion has it.
    fn get(&self, old: Revnum) -> Option<Revnum> {
        if let Some(new) = self.committed.get(&old) {
            return Some(*new);
        }
        let (before, _) = self.committed.range(..old).next_back()?;
        (old < self.last?).then_some(*before)
    }
}

struct Loader<'l> {
    repos: &'l Repos,
    options: &'l LoadOptions<'l>,
    notify: Notify<'l>,
    map: RevisionMap,
    revision: Option<Revision>,
}

/// A revision of the stream that is being read.
struct Revision {
    number: Revnum,
    /// How much its number is larger than that of the revision it would become.
    offset: i64,
    skipped: bool,
    /// `None` for revision 0 and what is skipped.
    txn: Option<Txn>,
    props: Vec<(String, Vec<u8>)>,
    has_date: bool,
    node: Option<Node>,
}

impl Loader<'_> {
    /// The revision that is being read.
    fn current(&mut self) -> Result<&mut Revision> {
        self.revision.as_mut().ok_or_else(|| {
            Error::new(
                ErrorCode::STREAM_MALFORMED_DATA,
                "Dumpstream data appears to be malformed",
            )
        })
    }

    fn begin(&mut self, headers: &Headers) -> Result<Revision> {
        let number = headers.revision(header::REVISION_NUMBER);
        // Subversion takes what is no number for 0.
        let number = number.unwrap_or(Revnum::ZERO);
        let range = self.options.range;
        let skipped = range.is_some_and(|(first, last)| number < first || number > last);
        let head = self.repos.fs().youngest()?;
        let txn = if number > Revnum::ZERO && !skipped {
            let mut txn = Txn::begin(self.repos.fs(), head, (self.options.now)())?;
            if !self.options.ignore_dates {
                txn.keep_date();
                txn.set_prop("svn:date", None);
            }
            (self.notify)(Notice::LoadStarted(number))?;
            self.map.oldest.get_or_insert(number);
            Some(txn)
        } else {
            None
        };
        if skipped {
            (self.notify)(Notice::LoadSkipped(number))?;
        }
        Ok(Revision {
            number,
            offset: number.number() - head.number() - 1,
            skipped,
            txn,
            props: Vec::new(),
            has_date: false,
            node: None,
        })
    }

    /// Sets the properties of revision 0, in a repository that has no other.
    fn set_first_props(&self, wanted: Vec<(String, Vec<u8>)>) -> Result<()> {
        if self.repos.fs().youngest()? != Revnum::ZERO {
            return Ok(());
        }
        revprops::replace(self.repos, Revnum::ZERO, wanted, self.options.checks())
    }

    fn commit(&mut self, mut revision: Revision, txn: &mut Txn) -> Result<Revnum> {
        for (name, value) in std::mem::take(&mut revision.props) {
            let value = self.options.checks().accept(&name, value)?;
            txn.set_prop(&name, Some(value));
        }
        let options = self.options;
        let hooks = if options.pre_commit_hook || options.post_commit_hook {
            Some(self.repos.hooks()?)
        } else {
            None
        };
        if let Some(hooks) = hooks.as_ref().filter(|_| options.pre_commit_hook) {
            hooks.pre_commit(txn, &Access::default())?;
        }
        // What fails after the revision was made is no reason to stop.
        let committed = txn.commit(&Access::default(), (options.now)())?.revision;
        if let Some(hooks) = hooks.filter(|_| options.post_commit_hook) {
            let name = txn.id().to_string();
            hooks.post_commit(committed, &name).map_err(|error| {
                error.wrap(
                    ErrorCode::REPOS_POST_COMMIT_HOOK_FAILED,
                    "Commit succeeded, but post-commit hook failed",
                )
            })?;
        }
        Ok(committed)
    }
}

impl LoadOptions<'_> {
    fn checks(&self) -> PropChecks {
        PropChecks {
            validate: self.validate_props,
            normalize: self.normalize_props,
        }
    }
}

/// What is asked of properties.
#[derive(Clone, Copy)]
pub(crate) struct PropChecks {
    validate: bool,
    normalize: bool,
}

impl PropChecks {
    /// Returns the value that is stored.
    fn accept(self, name: &str, value: Vec<u8>) -> Result<Vec<u8>> {
        let value = if self.normalize {
            normalized_prop(name, &value).into_owned()
        } else {
            value
        };
        if self.validate {
            check_prop(name, Some(&value))?;
        }
        Ok(value)
    }
}

impl Sink for Loader<'_> {
    fn uuid(&mut self, uuid: &[u8]) -> Result<()> {
        let fs = self.repos.fs();
        let takes = match self.options.uuid {
            UuidAction::Ignore => false,
            UuidAction::Force => true,
            UuidAction::IfEmpty => fs.youngest()? == Revnum::ZERO,
        };
        if takes {
            fs.set_uuid(Some(sylvan_core::text::check_utf8(uuid)?), None)?;
        }
        Ok(())
    }

    fn revision(&mut self, headers: &Headers) -> Result<()> {
        self.revision = Some(self.begin(headers)?);
        Ok(())
    }

    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let is_date = name == "svn:date";
        let ignores = is_date && self.options.ignore_dates;
        let revision = self.current()?;
        if !revision.skipped && !ignores {
            revision.props.push((name.to_owned(), value));
            revision.has_date |= is_date;
        }
        Ok(())
    }

    fn node(&mut self, headers: &Headers) -> Result<()> {
        self.begin_node(headers)
    }

    fn remove_node_props(&mut self) -> Result<()> {
        self.clear_node_props()
    }

    fn node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        self.set_node_prop(name, value)
    }

    fn delete_node_prop(&mut self, name: &str) -> Result<()> {
        self.remove_node_prop(name)
    }

    fn text(&mut self, is_delta: bool, body: &mut Body<'_>) -> Result<()> {
        self.set_text(is_delta, body)
    }

    fn end_node(&mut self) -> Result<()> {
        if self.current()?.node.take().is_some() {
            (self.notify)(Notice::LoadNodeDone)?;
        }
        Ok(())
    }

    fn end_revision(&mut self) -> Result<()> {
        let Some(mut revision) = self.revision.take().filter(|revision| !revision.skipped) else {
            return Ok(());
        };
        let old = revision.number;
        let Some(mut txn) = revision.txn.take() else {
            return self.set_first_props(revision.props);
        };
        // A transaction that is dropped takes back all that was done.
        let new = self.commit(revision, &mut txn)?;
        self.map.insert(old, new);
        (self.notify)(Notice::LoadCommitted {
            new,
            old: (new != old).then_some(old),
        })
    }
}

/// The properties of a list; of two of one name the later.
pub(crate) fn to_props(list: Vec<(String, Vec<u8>)>) -> Props {
    list.into_iter().collect()
}
