//! `svn diff`: what differs between trees, in the working copy, in the repository or both.
//!
//! Who finds differences (`local`, `arbitrary`, `repos`, `working`) tells of them as [`Change`]s,
//! one a node; who shows them (`write`, [`summarize`]) takes them one by one. A filter between the
//! two restricts them to what was asked for, and turns them round if need be.

mod arbitrary;
mod change;
pub mod external;
mod git;
mod local;
mod nodes;
mod order;
mod repos;
mod run;
pub mod text;
mod working;
mod write;

use std::ffi::OsString;

use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::PropKind;
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Props, RelPathBuf, Result, props};
use sylvan_diff::props::MergeinfoStyle;
use sylvan_io::{Category, Config};

use crate::Context;
use crate::target::{PathOrUrl, Target};
use change::Receiver;
pub use change::{Change, Copied, Side};
use run::Show;

/// What is compared.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// Two places, each at a revision of its own.
    Places {
        /// What was there before.
        old: (PathOrUrl, RevisionSpec),
        /// What is there after.
        new: (PathOrUrl, RevisionSpec),
    },
    /// One node at two revisions.
    Node {
        /// The node, by where it is in the peg revision.
        at: Target,
        /// The revision before.
        start: RevisionSpec,
        /// The revision after.
        end: RevisionSpec,
    },
}

/// What of it is compared.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// How deep; `None` as deep as it is.
    pub depth: Option<Depth>,
    /// Whether nodes that are not related are compared with each other.
    pub ignore_ancestry: bool,
    /// Only members of these changelists, if there are any.
    pub changelists: Vec<String>,
}

/// Who compares texts.
#[derive(Clone, Debug)]
pub enum Program {
    /// This program.
    Internal(sylvan_diff::Options),
    /// Another one, which is given these words.
    External(OsString, Vec<String>),
}

impl Program {
    /// Reads from the configuration who compares texts; `extensions` are the words of `-x`.
    ///
    /// # Errors
    /// Those of [`sylvan_diff::Options::parse`].
    pub fn from_config(config: &Config, extensions: Option<&str>) -> Result<Self> {
        let option = |name| config.get(Category::Config, "helpers", name);
        let words = extensions.or_else(|| option("diff-extensions"));
        let words: Vec<String> = words
            .unwrap_or_default()
            .split([' ', '\t', '\n', '\r'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        match option("diff-cmd").filter(|program| !program.is_empty()) {
            Some(program) => Ok(Self::External(program.into(), words)),
            None => sylvan_diff::Options::parse(&words).map(Self::Internal),
        }
    }
}

/// How differences are shown.
#[derive(Clone, Debug)]
pub struct Format {
    /// Who compares texts.
    pub program: Program,
    /// Whether files are compared that are marked as binary.
    pub force: bool,
    /// Whether properties are left out.
    pub ignore_properties: bool,
    /// Whether all but properties is left out.
    pub properties_only: bool,
    /// Whether headers are those of Git.
    pub git: bool,
    /// Whether added files are only named.
    pub no_added: bool,
    /// Whether deleted files are only named.
    pub no_deleted: bool,
    /// Whether copies are shown as if they were new.
    pub copies_as_adds: bool,
    /// How `svn:mergeinfo` is shown.
    pub mergeinfo: MergeinfoStyle,
}

/// Where differences are shown.
pub trait Output: Send {
    /// Takes bytes.
    ///
    /// # Errors
    /// Ends the operation.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Passes on what was taken, since another program is about to print.
    ///
    /// # Errors
    /// Ends the operation.
    fn flush(&mut self) -> Result<()>;
}

/// Shows what differs.
///
/// # Errors
/// `INCORRECT_PARAMS` for what cannot be compared, `CLIENT_BAD_REVISION` for revisions that make no
/// sense, `FS_NOT_FOUND` if there is nothing on either side; those of the repository, the working
/// copy and of `out`.
pub fn diff(
    context: &Context,
    comparison: &Comparison,
    options: &DiffOptions,
    format: &Format,
    out: &mut dyn Output,
) -> Result<()> {
    if format.ignore_properties && format.properties_only {
        return Err(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            "Cannot ignore properties and show only properties at the same time",
        ));
    }
    let options = DiffOptions {
        ignore_ancestry: options.ignore_ancestry && !format.copies_as_adds && !format.git,
        ..options.clone()
    };
    let show = Show::Differences { format, out };
    run::compare(context, comparison, &options, show)
}

/// What of a node differs, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The path below what is compared.
    pub path: RelPathBuf,
    /// What it is.
    pub kind: NodeKind,
    /// What happened to it.
    pub item: Item,
    /// Whether properties differ, of what both sides have.
    pub props: bool,
}

/// What happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Nothing, but for properties.
    Normal,
    /// Its text changed.
    Modified,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
}

/// Tells in short what differs.
///
/// # Errors
/// As [`diff`].
pub fn summarize(
    context: &Context,
    comparison: &Comparison,
    options: &DiffOptions,
    take: &mut (dyn FnMut(&Summary) -> Result<()> + Send),
) -> Result<()> {
    run::compare(context, comparison, options, Show::Summaries(take))
}

/// Takes changes as summaries.
struct Summarizer<'a>(&'a mut (dyn FnMut(&Summary) -> Result<()> + Send));

impl Receiver for Summarizer<'_> {
    fn wants_texts(&self) -> bool {
        false
    }

    fn take(&mut self, change: Change) -> Result<()> {
        let (item, props) = match (&change.left, &change.right) {
            (None, _) => (Item::Added, false),
            (_, None) => (Item::Deleted, false),
            _ if change.kind == NodeKind::Dir => (Item::Normal, true),
            (Some(left), Some(right)) => {
                let item = if change.text {
                    Item::Modified
                } else {
                    Item::Normal
                };
                (item, differ(&left.props, &right.props))
            }
        };
        (self.0)(&Summary {
            path: change.path,
            kind: change.kind,
            item,
            props,
        })
    }
}

fn differ(left: &Props, right: &Props) -> bool {
    props::diff(left, right)
        .keys()
        .any(|name| PropKind::of(name) == PropKind::Regular)
}
