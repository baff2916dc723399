//! Which files and folders on disk are added.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::params;
use sylvan_core::props::{SVN_AUTO_PROPS, SVN_GLOBAL_IGNORES, SVN_IGNORE};
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result};
use sylvan_core::{glob, text};
use sylvan_io::Cancel;
use sylvan_io::file::FileKind;

use super::AddOptions;
use crate::auto_props::AutoProps;
use crate::db::{NodeState, path_column, sqlite_error};
use crate::site::Site;
use crate::working::{self, Within};
use crate::{ADM_DIR, WorkingCopy, path_error, props};

/// A file or folder that is added.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub path: RelPathBuf,
    pub on_disk: FileKind,
    /// Which set of [`Rules`] is for it.
    rules: usize,
}

/// The sets of rules for new files, one a versioned folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Vec<AutoProps>);

impl Rules {
    /// Returns the rules for a new file.
    pub(super) fn of(&self, node: &Found) -> &AutoProps {
        &self.0[node.rules]
    }
}

/// What holds for all that is in a folder.
#[derive(Clone, Debug)]
struct Scope {
    rules: usize,
    /// Patterns of ignored names; `None` ignores nothing.
    ignores: Option<Arc<Vec<String>>>,
}

/// What the database has at and below the target.
#[derive(Debug, Default)]
struct Known {
    states: HashMap<RelPathBuf, (NodeState, NodeKind)>,
    conflicts: Vec<RelPathBuf>,
}

pub(super) struct Walker<'a> {
    wc: &'a WorkingCopy,
    site: &'a Site,
    options: &'a AddOptions<'a>,
    cancel: &'a Cancel,
    known: Known,
    /// What is added, folders before what is in them.
    pub found: Vec<Found>,
    /// The rules for new files.
    pub rules: Rules,
}

impl<'a> Walker<'a> {
    pub(super) fn new(
        wc: &'a WorkingCopy,
        site: &'a Site,
        options: &'a AddOptions<'a>,
        cancel: &'a Cancel,
    ) -> Self {
        Self {
            wc,
            site,
            options,
            cancel,
            known: Known::default(),
            found: Vec::new(),
            rules: Rules::default(),
        }
    }

    /// Finds what is to be added at and below the target. After an error what was found before
    /// it is added all the same.
    pub(super) fn target(&mut self, path: &RelPath) -> Result<()> {
        self.known = self.read_known(path)?;
        let local = self.wc.local_path(path);
        let on_disk = match self.site.root.lstat(path)? {
            Some(meta) => meta.kind,
            None => {
                self.check_conflict(path)?;
                return Err(Error::new(
                    ErrorCode::WC_PATH_NOT_FOUND,
                    format!("'{local}' not found"),
                ));
            }
        };
        let added = match on_disk {
            FileKind::Other => {
                return Err(Error::new(
                    ErrorCode::UNSUPPORTED_FEATURE,
                    format!("Unsupported node kind for path '{local}'"),
                ));
            }
            FileKind::Dir => self.folder(path, self.options.depth, None),
            FileKind::File | FileKind::Symlink => self.file(path, on_disk, None),
        };
        match added {
            Err(error) if self.options.force && error.code() == ErrorCode::ENTRY_EXISTS => Ok(()),
            added => added,
        }
    }

    fn read_known(&self, path: &RelPath) -> Result<Known> {
        let db = self.wc.db();
        let mut known = Known::default();
        for node in db.current_within(path)? {
            let state = (node.layer.state(), node.layer.kind);
            if node.actual.conflict.is_some() {
                known.conflicts.push(node.path.clone());
            }
            known.states.insert(node.path, state);
        }
        let within = Within::new(path);
        db.each(
            working::SELECT_LOCAL_WITHIN,
            params![db.wc_id(), path.as_str(), within.low, within.high],
            |row| {
                let conflict: Option<Vec<u8>> = row.get(2).map_err(sqlite_error)?;
                let is_node: bool = row.get(3).map_err(sqlite_error)?;
                if conflict.is_some() && !is_node {
                    known
                        .conflicts
                        .push(path_column(row, 0)?.unwrap_or_default());
                }
                Ok(())
            },
        )?;
        Ok(known)
    }

    fn check_conflict(&self, path: &RelPath) -> Result<()> {
        if self.known.conflicts.iter().any(|victim| **victim == *path) {
            return Err(Error::new(
                ErrorCode::WC_FOUND_CONFLICT,
                format!(
                    "'{}' is an existing item in conflict; please mark the conflict as resolved \
                     before adding a new item here",
                    self.wc.local_path(path)
                ),
            ));
        }
        Ok(())
    }

    /// Checks that a node of this name may be added here.
    fn check_node(&self, path: &RelPath) -> Result<()> {
        let local = self.wc.local_path(path);
        if path.basename() == ADM_DIR {
            return Err(Error::new(
                ErrorCode::ENTRY_FORBIDDEN,
                format!("Can't create an entry with a reserved name while trying to add '{local}'"),
            ));
        }
        text::check_path(local.as_str())?;
        self.check_conflict(path)?;
        match self.known.states.get(path) {
            None | Some((NodeState::NotPresent | NodeState::Deleted, _)) if !path.is_root() => {
                Ok(())
            }
            _ => Err(Error::new(
                ErrorCode::ENTRY_EXISTS,
                format!("'{local}' is already under version control"),
            )),
        }
    }

    /// Checks that something may be added to the folder that a target is in.
    fn check_parent(&self, path: &RelPath) -> Result<()> {
        let Some(parent) = path.parent() else {
            return Ok(());
        };
        let local = self.wc.local_path(path);
        let node = self.wc.db().versioned(parent)?;
        let state = node.as_ref().map(crate::db::Node::state);
        match state {
            None
            | Some(NodeState::NotPresent | NodeState::Excluded | NodeState::ServerExcluded) => {
                let message =
                    format!("Can't find parent directory's node while trying to add '{local}'");
                Err(match state {
                    None => {
                        crate::not_found(self.wc, parent).wrap(ErrorCode::ENTRY_NOT_FOUND, message)
                    }
                    Some(_) => Error::new(ErrorCode::ENTRY_NOT_FOUND, message),
                })
            }
            Some(NodeState::Deleted) => Err(Error::new(
                ErrorCode::WC_SCHEDULE_CONFLICT,
                format!("Can't add '{local}' to a parent directory scheduled for deletion"),
            )),
            Some(_) => {
                let is_dir = node
                    .as_ref()
                    .and_then(crate::db::Node::top)
                    .is_some_and(|top| top.kind == NodeKind::Dir);
                if is_dir {
                    return Ok(());
                }
                Err(Error::new(
                    ErrorCode::NODE_UNEXPECTED_KIND,
                    format!("Can't schedule an addition of '{local}' below a not-directory node"),
                ))
            }
        }
    }

    /// Adds a folder and what is in it. `scope` is what holds in the new folder that it is in.
    fn folder(&mut self, path: &RelPath, depth: Depth, scope: Option<&Scope>) -> Result<()> {
        self.cancel.check()?;
        let checked = self.check_node(path).and_then(|()| match scope {
            None => self.check_parent(path),
            Some(_) => Ok(()),
        });
        let exists = match checked {
            Err(error) if self.options.force && error.code() == ErrorCode::ENTRY_EXISTS => true,
            checked => {
                checked?;
                false
            }
        };
        let scope = match scope {
            Some(scope) if !exists => scope.clone(),
            _ if exists => self.scope(path, path)?,
            _ => self.scope(path, path.parent().unwrap_or(RelPath::ROOT))?,
        };
        if exists {
            if !path.is_root() && self.is_other_root(path)? {
                return Ok(());
            }
        } else {
            self.found.push(Found {
                path: path.to_owned(),
                on_disk: FileKind::Dir,
                rules: scope.rules,
            });
        }
        if depth == Depth::Empty {
            return Ok(());
        }
        let mut names = self.site.root.read_dir(path)?;
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in names {
            self.cancel.check()?;
            if name == ADM_DIR.as_bytes() {
                continue;
            }
            self.entry(path, &name, kind, depth, exists, &scope)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &RelPath,
        name: &[u8],
        kind: Option<FileKind>,
        depth: Depth,
        is_versioned: bool,
        scope: &Scope,
    ) -> Result<()> {
        let Ok(name) = std::str::from_utf8(name) else {
            return Err(path_error::not_utf8(&self.site.root.full(folder), name));
        };
        let is_ignored = |patterns: &Arc<Vec<String>>| {
            patterns.iter().any(|pattern| glob::matches(pattern, name))
        };
        if scope.ignores.as_ref().is_some_and(is_ignored) {
            return Ok(());
        }
        let path = folder.child(name)?;
        let kind = match kind {
            Some(kind) => kind,
            None => match self.site.root.lstat(&path)? {
                Some(meta) => meta.kind,
                None => return Ok(()),
            },
        };
        match kind {
            FileKind::Dir if depth >= Depth::Immediates => {
                let below = if depth == Depth::Immediates {
                    Depth::Empty
                } else {
                    depth
                };
                if !self.known.states.contains_key(&path) && self.is_other_root(&path)? {
                    if self.options.force {
                        return Ok(());
                    }
                    return Err(Error::new(
                        ErrorCode::ENTRY_EXISTS,
                        format!(
                            "'{}' is already under version control",
                            self.wc.local_path(&path)
                        ),
                    ));
                }
                self.folder(&path, below, (!is_versioned).then_some(scope))
            }
            FileKind::File | FileKind::Symlink if depth >= Depth::Files => {
                match self.file(&path, kind, Some(scope)) {
                    Err(error) if self.options.force && error.code() == ErrorCode::ENTRY_EXISTS => {
                        Ok(())
                    }
                    added => added,
                }
            }
            _ => Ok(()),
        }
    }

    /// Tells whether a folder is another working copy.
    fn is_other_root(&self, path: &RelPath) -> Result<bool> {
        let adm = self.site.root.lstat(&path.child(ADM_DIR)?)?;
        Ok(adm.is_some_and(|meta| meta.is_dir()))
    }

    fn file(&mut self, path: &RelPath, kind: FileKind, scope: Option<&Scope>) -> Result<()> {
        self.check_node(path)?;
        let rules = match scope {
            Some(scope) => scope.rules,
            None => {
                self.check_parent(path)?;
                let parent = path.parent().unwrap_or(RelPath::ROOT);
                self.scope(path, parent)?.rules
            }
        };
        self.found.push(Found {
            path: path.to_owned(),
            on_disk: kind,
            rules,
        });
        Ok(())
    }

    /// Reads what holds in `folder`: a versioned folder itself, or a new one in the versioned
    /// folder `versioned`.
    fn scope(&mut self, folder: &RelPath, versioned: &RelPath) -> Result<Scope> {
        let Ok(nearest) = super::existing_parent(self.wc, versioned) else {
            // There will be an error about the folder itself.
            return Ok(self.plain_scope());
        };
        let (inherited, own) = match props::inherited(self.wc, &nearest) {
            Err(error) if error.code() == ErrorCode::WC_PATH_UNEXPECTED_STATUS => {
                return Ok(self.plain_scope());
            }
            read => read?,
        };
        let mut all: Vec<&Props> = inherited.iter().map(|(_, props)| props).collect();
        all.push(&own);
        let ignores = self.options.ignores.map(|config| {
            let mut patterns = config.to_vec();
            for props in &all {
                patterns.extend(lines(props, SVN_GLOBAL_IGNORES));
            }
            if *nearest == *folder {
                patterns.extend(lines(&own, SVN_IGNORE));
            }
            Arc::new(patterns)
        });
        let mut rules = AutoProps::default();
        if let Some(config) = self.options.auto_props {
            rules = config.clone();
            for props in &all {
                if let Some(value) = props.get(SVN_AUTO_PROPS) {
                    rules.add_property(value);
                }
            }
        }
        Ok(Scope {
            rules: self.put_rules(rules),
            ignores,
        })
    }

    fn plain_scope(&mut self) -> Scope {
        let rules = self.options.auto_props.cloned().unwrap_or_default();
        Scope {
            rules: self.put_rules(rules),
            ignores: self.options.ignores.map(|config| Arc::new(config.to_vec())),
        }
    }

    fn put_rules(&mut self, rules: AutoProps) -> usize {
        match self.rules.0.iter().rposition(|known| *known == rules) {
            Some(at) => at,
            None => {
                self.rules.0.push(rules);
                self.rules.0.len() - 1
            }
        }
    }
}

fn lines(props: &Props, name: &str) -> Vec<String> {
    let Some(value) = props.get(name) else {
        return Vec::new();
    };
    let value = String::from_utf8_lossy(value);
    let lines = value.split(['\n', '\r']).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}
