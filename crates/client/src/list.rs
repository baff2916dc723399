//! `svn list`: the entries of folders of a repository.

use std::collections::BTreeMap;

use sylvan_core::externals::ExternalItem;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Error, ErrorCode, Lock, NodeKind, RelPath, RelPathBuf, Result, Url, fold, glob,
};
use sylvan_ra::{DirEntry, DirEntryFields, Session};

use crate::Context;
use crate::resolve::{self, PathRev};
use crate::target::Target;

/// What is listed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The revision listed; the peg revision by default.
    pub revision: RevisionSpec,
    /// How deep.
    pub depth: Depth,
    /// Globs, folded by [`fold::fold`], one of which the entry's name must match; none: everything.
    pub patterns: Vec<String>,
    /// Which fields the receiver needs.
    pub fields: DirEntryFields,
    /// Whether locks are looked up.
    pub locks: bool,
    /// Whether externals are listed after their parents.
    pub externals: bool,
}

/// An entry of a list.
#[derive(Debug)]
pub struct Item<'a> {
    /// Path below the listed node; empty for itself.
    pub path: &'a RelPath,
    /// What is known of it.
    pub entry: &'a DirEntry,
    /// The lock on it, if locks were asked for.
    pub lock: Option<&'a Lock>,
    /// The listed node's path below the repository root.
    pub base: &'a RelPath,
    /// The external that it belongs to.
    pub external: Option<&'a External>,
}

/// An external that is being listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// URL of the folder that defines it.
    pub parent: Url,
    /// The path it has there.
    pub target: String,
}

/// Receives the entries in order. An external that cannot be listed is told as an error with its
/// target; the list goes on.
pub trait Receiver {
    /// Takes an entry.
    ///
    /// # Errors
    /// Ends the list.
    fn entry(&mut self, item: &Item<'_>) -> Result<()>;

    /// Takes the failure of an external.
    fn external_failed(&mut self, target: &str, error: &Error);
}

/// Lists a target.
///
/// # Errors
/// `FS_NOT_FOUND` if the target is not in the repository, `WC_PATH_NOT_FOUND` if it is not
/// versioned, and what the session gives.
pub fn list(
    context: &Context,
    target: &Target,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    list_node(context, target, options, None, receiver)
}

fn list_node(
    context: &Context,
    target: &Target,
    options: &Options,
    external: Option<&External>,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let (mut session, at) = resolve::open(context, target, options.revision)?;
    let locks = if options.locks {
        read_locks(&mut *session, options.depth)?
    } else {
        Locks::new()
    };
    let base = at.repos_path();
    let mut lister = Lister {
        context,
        options,
        base: &base,
        locks: &locks,
        external,
        receiver,
    };
    if !options.externals {
        match lister.fast(&mut *session, &at) {
            Err(error) if error.has_code(ErrorCode::UNSUPPORTED_FEATURE) => {}
            result => {
                result?;
                session.give_back();
                return Ok(());
            }
        }
    }
    let externals = lister.slow(&mut *session, &at)?;
    session.give_back();
    for (parent, text) in &externals {
        list_externals(context, parent, text, options, receiver)?;
    }
    Ok(())
}

/// Locks by path below the repository root.
type Locks = BTreeMap<RelPathBuf, Lock>;

fn read_locks(session: &mut dyn Session, depth: Depth) -> Result<Locks> {
    match session.locks(RelPath::ROOT, depth) {
        Ok(locks) => Ok(locks
            .into_iter()
            .map(|lock| (lock.path.clone(), lock))
            .collect()),
        Err(error) if error.code() == ErrorCode::RA_NOT_IMPLEMENTED => Ok(Locks::new()),
        Err(error) => Err(error),
    }
}

struct Lister<'a> {
    context: &'a Context,
    options: &'a Options,
    base: &'a RelPath,
    locks: &'a Locks,
    external: Option<&'a External>,
    receiver: &'a mut dyn Receiver,
}

impl Lister<'_> {
    /// Lets the server walk and filter.
    fn fast(&mut self, session: &mut dyn Session, at: &PathRev) -> Result<()> {
        let options = self.options;
        let patterns = (!options.patterns.is_empty()).then_some(options.patterns.as_slice());
        session.list(
            RelPath::ROOT,
            Some(at.rev),
            patterns,
            options.depth,
            options.fields,
            &mut |path, entry| {
                self.context.cancel.check()?;
                self.send(path, entry)
            },
        )
    }

    /// Walks folder by folder; returns the values of `svn:externals` met, by the folder's URL.
    fn slow(&mut self, session: &mut dyn Session, at: &PathRev) -> Result<BTreeMap<Url, String>> {
        let Some(entry) = session.stat(RelPath::ROOT, Some(at.rev))? else {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!("URL '{}' non-existent in revision {}", at.url, at.rev),
            ));
        };
        if self.matches(self.base.basename()) {
            self.send(RelPath::ROOT, &entry)?;
        }
        let mut externals = BTreeMap::new();
        if entry.kind == NodeKind::Dir {
            self.folder(session, at, RelPath::ROOT, &mut externals)?;
        }
        Ok(externals)
    }

    fn folder(
        &mut self,
        session: &mut dyn Session,
        at: &PathRev,
        dir: &RelPath,
        externals: &mut BTreeMap<Url, String>,
    ) -> Result<()> {
        let depth = self.options.depth;
        if depth <= Depth::Empty {
            return Ok(());
        }
        let read = match session.read_dir(dir, Some(at.rev), Some(self.options.fields)) {
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::RA_NOT_AUTHORIZED | ErrorCode::RA_DAV_FORBIDDEN
                ) =>
            {
                return Ok(());
            }
            result => result?,
        };
        if self.options.externals
            && let Some(value) = read.props.get("svn:externals")
        {
            externals.insert(
                at.url.join(dir),
                String::from_utf8_lossy(value).into_owned(),
            );
        }
        self.context.cancel.check()?;
        for (name, entry) in &read.entries {
            let path = dir.child(name)?;
            let wanted = entry.kind == NodeKind::File || depth >= Depth::Immediates;
            if wanted && self.matches(name) {
                self.send(&path, entry)?;
            }
            if depth == Depth::Infinity && entry.kind == NodeKind::Dir {
                self.folder(session, at, &path, externals)?;
            }
        }
        Ok(())
    }

    fn matches(&self, name: &str) -> bool {
        let patterns = &self.options.patterns;
        if patterns.is_empty() {
            return true;
        }
        let name = fold::fold(name);
        patterns.iter().any(|pattern| glob::matches(pattern, &name))
    }

    fn send(&mut self, path: &RelPath, entry: &DirEntry) -> Result<()> {
        let lock = if self.locks.is_empty() {
            None
        } else {
            self.locks.get(&self.base.join(path))
        };
        self.receiver.entry(&Item {
            path,
            entry,
            lock,
            base: self.base,
            external: self.external,
        })
    }
}

fn list_externals(
    context: &Context,
    parent: &Url,
    text: &str,
    options: &Options,
    receiver: &mut dyn Receiver,
) -> Result<()> {
    let items = sylvan_core::externals::parse(parent.as_str(), text, &context.clock)?;
    if items.is_empty() {
        return Ok(());
    }
    let root = resolve::repos_root(context, parent)?;
    for item in &items {
        let external = External {
            parent: parent.clone(),
            target: item.target.clone(),
        };
        let listed = external_target(item, parent, &root).and_then(|target| {
            let options = Options {
                revision: item.revision,
                ..options.clone()
            };
            list_node(context, &target, &options, Some(&external), receiver)
        });
        match listed {
            Err(error) if error.code() == ErrorCode::CANCELLED => return Err(error),
            Err(error) => receiver.external_failed(&external.target, &error),
            Ok(()) => {}
        }
    }
    Ok(())
}

fn external_target(item: &ExternalItem, parent: &Url, root: &Url) -> Result<Target> {
    let url = item.resolve_url(root, parent)?;
    Ok(Target {
        peg: item.peg,
        ..Target::from(url)
    })
}
