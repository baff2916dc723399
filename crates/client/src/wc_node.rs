//! One node of a working copy, for operations that go on in the repository.

use std::cell::OnceCell;

use sylvan_core::{
    Checksum, Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result,
    Revnum, Timestamp, Url,
};
use sylvan_wc::db::{Layer, Node, NodeState, Presence};
use sylvan_wc::status::{StatusKind, StatusOptions};
use sylvan_wc::{WorkingCopy, scan};

use crate::Context;

/// A node of a working copy and what its rows say.
pub(crate) struct WcNode {
    wc: WorkingCopy,
    path: RelPathBuf,
    abspath: Dirent,
    node: OnceCell<Option<Node>>,
}

/// Where a node's content came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Its URL; `None` for a plain addition.
    pub(crate) url: Option<Url>,
    /// The revision there.
    pub(crate) rev: Option<Revnum>,
    /// Whether it was copied from there.
    pub(crate) is_copy: bool,
}

/// The last change of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) rev: Option<Revnum>,
    pub(crate) date: Option<Timestamp>,
    pub(crate) author: Option<String>,
}

impl WcNode {
    /// Opens the working copy that `path` is in. Whether the node is versioned is found out later.
    ///
    /// # Errors
    /// `WC_NOT_WORKING_COPY` if it is in none.
    pub(crate) fn open(context: &Context, path: &Dirent) -> Result<Self> {
        let abspath = context.absolute(path);
        let (wc, path) = WorkingCopy::open(&abspath, &context.wc)?;
        Ok(Self {
            wc,
            path,
            abspath,
            node: OnceCell::new(),
        })
    }

    /// Returns the working copy.
    pub(crate) const fn wc(&self) -> &WorkingCopy {
        &self.wc
    }

    /// Returns the path below the working copy's root.
    pub(crate) fn path(&self) -> &RelPath {
        &self.path
    }

    /// Returns the absolute path.
    pub(crate) const fn abspath(&self) -> &Dirent {
        &self.abspath
    }

    fn node(&self) -> Result<Option<&Node>> {
        if self.node.get().is_none() {
            let node = self.wc.db().node(&self.path)?;
            let _ = self.node.set(node);
        }
        Ok(self.node.get().and_then(Option::as_ref))
    }

    fn known(&self) -> Result<&Node> {
        self.node()?.ok_or_else(|| {
            Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("The node '{}' was not found.", self.abspath),
            )
        })
    }

    /// Returns the URL that the node has or will have.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if it is not versioned.
    pub(crate) fn url(&self) -> Result<Option<Url>> {
        Ok(match self.location()? {
            None => None,
            Some(location) => {
                let repository = self.wc.db().repository(location.repos_id)?;
                Some(repository.root.join(&location.path))
            }
        })
    }

    /// Returns the root of its repository.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if it is not versioned.
    pub(crate) fn repos_root(&self) -> Result<Option<Url>> {
        Ok(match self.location()? {
            None => None,
            Some(location) => Some(self.wc.db().repository(location.repos_id)?.root.clone()),
        })
    }

    fn location(&self) -> Result<Option<scan::Location>> {
        let node = self.known()?;
        if node.layers.is_empty() {
            return Ok(None);
        }
        scan::location(&self.wc, node).map(Some)
    }

    /// Returns where the node's content came from. A deleted node has no origin, unless
    /// `see_deleted`.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if it is not versioned.
    pub(crate) fn origin(&self, see_deleted: bool) -> Result<Origin> {
        let node = self.known()?;
        let Some(top) = node.top() else {
            return Ok(Origin::default());
        };
        let source = match node.state() {
            NodeState::Deleted if top.op_depth > 0 => {
                if !see_deleted {
                    return Ok(Origin::default());
                }
                node.layers
                    .iter()
                    .find(|layer| layer.presence != Presence::BaseDeleted && has_source(layer))
            }
            _ => Some(top),
        };
        let Some(source) = source.filter(|layer| has_source(layer)) else {
            return Ok(Origin::default());
        };
        Ok(Origin {
            url: source_url(&self.wc, source)?,
            rev: source.revision,
            is_copy: source.op_depth > 0,
        })
    }

    /// Returns the last change, as the highest layer knows it.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if the node is not versioned.
    pub(crate) fn changed(&self) -> Result<Changed> {
        Ok(match self.known()?.top() {
            None => Changed::default(),
            Some(top) => Changed {
                rev: top.changed_rev,
                date: top.changed_date,
                author: top.changed_author.clone(),
            },
        })
    }

    /// Returns what BASE and WORKING mean as a revision: that of the origin.
    ///
    /// # Errors
    /// `ENTRY_NOT_FOUND` if the node is not versioned, `CLIENT_BAD_REVISION` if it is only added.
    pub(crate) fn base_revision(&self) -> Result<Revnum> {
        let origin = self.origin(true).map_err(|error| {
            if error.code() != ErrorCode::WC_PATH_NOT_FOUND {
                return error;
            }
            Error::new(
                ErrorCode::ENTRY_NOT_FOUND,
                format!("'{}' is not under version control", self.abspath),
            )
        })?;
        origin.rev.ok_or_else(|| self.no_committed_revision())
    }

    /// Returns what COMMITTED means.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if the node is not versioned, `CLIENT_BAD_REVISION` if it was never
    /// committed.
    pub(crate) fn committed_revision(&self) -> Result<Revnum> {
        self.changed()?
            .rev
            .ok_or_else(|| self.no_committed_revision())
    }

    /// Returns what PREV means.
    ///
    /// # Errors
    /// As [`WcNode::committed_revision`], and if there is none before.
    pub(crate) fn previous_revision(&self) -> Result<Revnum> {
        self.committed_revision()?.previous().ok_or_else(|| {
            Error::new(
                ErrorCode::CLIENT_BAD_REVISION,
                format!("Path '{}' has no previous revision", self.abspath),
            )
        })
    }

    fn no_committed_revision(&self) -> Error {
        Error::new(
            ErrorCode::CLIENT_BAD_REVISION,
            format!("Path '{}' has no committed revision", self.abspath),
        )
    }

    /// Returns the node's kind, `None` if it is hidden, or deleted and not `see_deleted`, and
    /// `Unknown` if it is not versioned.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) fn kind(&self, see_deleted: bool) -> Result<NodeKind> {
        let Some(node) = self.node()? else {
            return Ok(NodeKind::Unknown);
        };
        let Some(top) = node.top() else {
            return Ok(NodeKind::Unknown);
        };
        Ok(match node.state() {
            NodeState::NotPresent | NodeState::Excluded | NodeState::ServerExcluded => {
                NodeKind::None
            }
            NodeState::Deleted if !see_deleted => NodeKind::None,
            _ => top.kind,
        })
    }

    /// Tells whether the node is added (or copied, or moved here).
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND` if it is not versioned.
    pub(crate) fn is_added(&self) -> Result<bool> {
        Ok(self.known()?.state() == NodeState::Added)
    }

    /// Tells whether the file on disk is as it was checked out.
    ///
    /// # Errors
    /// Those of the status.
    pub(crate) fn is_unmodified(&self, context: &Context) -> Result<bool> {
        let mut unmodified = false;
        let options = StatusOptions {
            depth: Some(Depth::Empty),
            all: true,
            no_ignore: true,
            global_ignores: Vec::new(),
        };
        sylvan_wc::status::walk(
            &self.wc,
            &self.path,
            &options,
            &context.cancel,
            &mut |_, status| {
                unmodified = status.node == StatusKind::Normal;
                Ok(())
            },
        )?;
        Ok(unmodified)
    }

    /// The layer whose content is the pristine one.
    fn pristine(&self) -> Result<Option<&Layer>> {
        Ok(self
            .known()?
            .layers
            .iter()
            .find(|layer| layer.presence != Presence::BaseDeleted))
    }

    /// Returns the file of the pristine text; `None` if it is only added.
    ///
    /// # Errors
    /// `WC_PATH_NOT_FOUND`, `WC_PATH_UNEXPECTED_STATUS` where there is no such text.
    pub(crate) fn pristine_file(&self) -> Result<Option<Dirent>> {
        let Some(layer) = self.pristine()? else {
            return Ok(None);
        };
        match layer.presence {
            Presence::NotPresent => Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!(
                    "Cannot get the pristine contents of '{}' because its delete is already \
                     committed",
                    self.abspath
                ),
            )),
            Presence::Excluded | Presence::ServerExcluded | Presence::Incomplete => {
                Err(Error::new(
                    ErrorCode::WC_PATH_UNEXPECTED_STATUS,
                    format!(
                        "Cannot get the pristine contents of '{}' because it has an unexpected \
                         status",
                        self.abspath
                    ),
                ))
            }
            Presence::Normal | Presence::BaseDeleted => match layer.checksum {
                None => Ok(None),
                Some(checksum) => Ok(Some(self.pristine_path(checksum))),
            },
        }
    }

    fn pristine_path(&self, checksum: Checksum) -> Dirent {
        let hex = checksum.to_string();
        self.wc
            .adm_path(&format!("pristine/{}/{hex}.svn-base", &hex[..2]))
    }

    /// Returns the pristine properties.
    ///
    /// # Errors
    /// `WC_CORRUPT` if they cannot be read.
    pub(crate) fn pristine_props(&self) -> Result<Props> {
        let stored = self
            .pristine()?
            .and_then(|layer| layer.properties.as_deref());
        stored.map_or_else(|| Ok(Props::new()), sylvan_wc::props::parse)
    }

    /// Returns the properties with local changes.
    ///
    /// # Errors
    /// As [`WcNode::pristine_props`].
    pub(crate) fn working_props(&self) -> Result<Props> {
        match self.known()?.actual.properties.as_deref() {
            Some(stored) => sylvan_wc::props::parse(stored),
            None => self.pristine_props(),
        }
    }
}

fn has_source(layer: &Layer) -> bool {
    layer.repos_path.is_some()
}

fn source_url(wc: &WorkingCopy, layer: &Layer) -> Result<Option<Url>> {
    match (layer.repos_id, &layer.repos_path) {
        (Some(id), Some(path)) => Ok(Some(wc.db().repository(id)?.root.join(path))),
        _ => Ok(None),
    }
}
