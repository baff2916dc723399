//! Reading properties of nodes, in working copies and in repositories.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::{self, PropKind};
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_ra::DirEntryFields;
use sylvan_wc::props::Origin;

use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession, resolve};

/// Which properties are read.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The operative revision.
    pub revision: RevisionSpec,
    /// How deep.
    pub depth: Depth,
    /// Only members of these changelists, if there are any.
    pub changelists: &'a [String],
    /// Inherited properties of the target too.
    pub inherited: bool,
}

/// The properties of a node.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it is: absolute or as the target is named, see [`list`].
    pub at: PathOrUrl,
    /// Its own properties; `None` if only inherited ones are told.
    pub props: Option<Props>,
    /// What it inherits, from the root down: from where (a URL or an absolute path), and what.
    pub inherited: Vec<(PathOrUrl, Props)>,
}

/// Tells the properties of a target and of what is below it. Paths are below the target as it was
/// named.
///
/// # Errors
/// `E200005` for a path that is not under version control, `E150000` for one that the repository
/// does not have in the revision, and what the session gives.
pub fn list(
    context: &Context,
    target: &Target,
    options: &Options<'_>,
    receive: &mut dyn FnMut(Item) -> Result<()>,
) -> Result<()> {
    let default = if target.at.is_url() {
        RevisionSpec::Head
    } else {
        RevisionSpec::Working
    };
    let peg = or(target.peg, default);
    let revision = or(options.revision, peg);
    let is_of_wc = |spec| {
        matches!(
            spec,
            RevisionSpec::Working
                | RevisionSpec::Base
                | RevisionSpec::Committed
                | RevisionSpec::Previous
        )
    };
    if target.at.is_url() && (is_of_wc(peg) || is_of_wc(revision)) {
        return Err(Error::from_code(ErrorCode::CLIENT_VERSIONED_PATH_REQUIRED));
    }
    let is_local = |spec| {
        matches!(
            spec,
            RevisionSpec::Working | RevisionSpec::Base | RevisionSpec::Committed
        )
    };
    let local_props = !target.at.is_url() && is_local(peg) && is_local(revision);
    let local_inherited =
        local_props && peg == RevisionSpec::Working && revision == RevisionSpec::Working;
    if !local_props || (options.inherited && !local_inherited) {
        remote(context, target, options, !local_props, receive)?;
    }
    match &target.at {
        PathOrUrl::Path(path) if local_props => {
            let inherited = options.inherited && local_inherited;
            local(context, path, revision, options, inherited, receive)
        }
        _ => Ok(()),
    }
}

fn or(spec: RevisionSpec, default: RevisionSpec) -> RevisionSpec {
    match spec {
        RevisionSpec::Unspecified => default,
        spec => spec,
    }
}

fn local(
    context: &Context,
    path: &Dirent,
    revision: RevisionSpec,
    options: &Options<'_>,
    inherited: bool,
    receive: &mut dyn FnMut(Item) -> Result<()>,
) -> Result<()> {
    let pristine = revision != RevisionSpec::Working;
    let unversioned = || {
        Error::new(
            ErrorCode::UNVERSIONED_RESOURCE,
            format!("'{}' is not under version control", context.absolute(path)),
        )
    };
    let node = match WcNode::open(context, path) {
        Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => {
            return Err(unversioned());
        }
        opened => opened?,
    };
    let kind = node.kind(pristine)?;
    if matches!(kind, NodeKind::None | NodeKind::Unknown) {
        return Err(unversioned());
    }
    let wc = node.wc();
    let mut above = Vec::new();
    if inherited {
        above = inherited_props(&node)?;
    }
    let depth = if kind == NodeKind::Dir {
        options.depth
    } else {
        Depth::Empty
    };
    let found = sylvan_wc::props::list(wc, node.path(), depth, pristine, options.changelists)?;
    for (below, props) in found {
        context.cancel.check()?;
        let is_target = *below == *node.path();
        if !is_target && !above.is_empty() {
            // The target itself has none; what it inherits comes first all the same.
            receive(Item {
                at: PathOrUrl::Path(path.clone()),
                props: None,
                inherited: std::mem::take(&mut above),
            })?;
        }
        let rest = below.strip_prefix(node.path()).unwrap_or(RelPath::ROOT);
        receive(Item {
            at: PathOrUrl::Path(path.join_relpath(rest)),
            props: Some(props),
            inherited: std::mem::take(&mut above),
        })?;
    }
    if above.is_empty() {
        return Ok(());
    }
    receive(Item {
        at: PathOrUrl::Path(path.clone()),
        props: None,
        inherited: above,
    })
}

fn inherited_props(node: &WcNode) -> Result<Vec<(PathOrUrl, Props)>> {
    let wc = node.wc();
    let (inherited, _) = sylvan_wc::props::inherited(wc, node.path())?;
    let root = node.repos_root()?;
    inherited
        .into_iter()
        .map(|(from, props)| {
            let from = match from {
                Origin::Folder(path) => PathOrUrl::Path(wc.local_path(&path)),
                Origin::Above(text) if Url::is_url(&text) => PathOrUrl::Url(Url::parse(&text)?),
                Origin::Above(text) => {
                    let path = RelPathBuf::new(text)?;
                    match &root {
                        Some(root) => PathOrUrl::Url(root.join(&path)),
                        None => PathOrUrl::Path(Dirent::new(path.as_str())),
                    }
                }
            };
            Ok((from, props))
        })
        .collect()
}

fn remote(
    context: &Context,
    target: &Target,
    options: &Options<'_>,
    own: bool,
    receive: &mut dyn FnMut(Item) -> Result<()>,
) -> Result<()> {
    if !own
        && let PathOrUrl::Path(path) = &target.at
        && WcNode::open(context, path)?.origin(false)?.url.is_none()
    {
        // What is not in the repository inherits nothing there.
        return Ok(());
    }
    let (mut session, at) = resolve::open(context, target, options.revision)?;
    let kind = session.check_path(RelPath::ROOT, Some(at.rev))?;
    let mut inherited = Vec::new();
    if options.inherited && kind != NodeKind::None {
        for found in session.inherited_props(RelPath::ROOT, at.rev)? {
            let from = PathOrUrl::Url(at.repos_root.join(&found.path));
            inherited.push((from, regular(&found.props)));
        }
    }
    let mut reader = Reader {
        context,
        session: &mut session,
        url: at.url,
        rev: at.rev,
        own,
        receive,
    };
    reader.node(RelPath::ROOT, kind, options.depth, inherited)?;
    session.give_back();
    Ok(())
}

struct Reader<'a, 's> {
    context: &'a Context,
    session: &'a mut PooledSession<'s>,
    url: Url,
    rev: Revnum,
    /// Whether own properties are told.
    own: bool,
    receive: &'a mut dyn FnMut(Item) -> Result<()>,
}

impl Reader<'_, '_> {
    fn node(
        &mut self,
        path: &RelPath,
        kind: NodeKind,
        depth: Depth,
        inherited: Vec<(PathOrUrl, Props)>,
    ) -> Result<()> {
        self.context.cancel.check()?;
        let url = self.url.join(path);
        let descends = kind == NodeKind::Dir && depth >= Depth::Files;
        let (props, children) = match kind {
            NodeKind::Dir => {
                let fields = descends.then_some(DirEntryFields {
                    kind: true,
                    size: false,
                    has_props: false,
                    created_rev: false,
                    time: false,
                    last_author: false,
                });
                let dir = self.session.read_dir(path, Some(self.rev), fields)?;
                (dir.props, dir.entries)
            }
            NodeKind::File => {
                let (_, props) = self.session.read_file(path, Some(self.rev), None)?;
                (props, Default::default())
            }
            NodeKind::None => {
                return Err(Error::new(
                    ErrorCode::ENTRY_NOT_FOUND,
                    format!("'{url}' does not exist in revision {}", self.rev),
                ));
            }
            NodeKind::Unknown => {
                return Err(Error::new(
                    ErrorCode::NODE_UNKNOWN_KIND,
                    format!("Unknown node kind for '{url}'"),
                ));
            }
        };
        let props = regular(&props);
        if !inherited.is_empty() || (self.own && !props.is_empty()) {
            (self.receive)(Item {
                at: PathOrUrl::Url(url),
                props: self.own.then_some(props),
                inherited,
            })?;
        }
        if !self.own {
            return Ok(());
        }
        for (name, entry) in children {
            if depth == Depth::Files && entry.kind == NodeKind::Dir {
                continue;
            }
            let below = if depth == Depth::Infinity {
                depth
            } else {
                Depth::Empty
            };
            let child = path.child(&name)?;
            self.node(&child, entry.kind, below, Vec::new())?;
        }
        Ok(())
    }
}

fn regular(all: &Props) -> Props {
    props::of_kind(all, PropKind::Regular)
}

/// Returns the URL of a repository for operations on revision properties.
///
/// # Errors
/// `E200005` if a path has no URL.
pub fn revprop_url(context: &Context, at: &PathOrUrl) -> Result<Url> {
    match at {
        PathOrUrl::Url(url) => Ok(url.clone()),
        PathOrUrl::Path(path) => WcNode::open(context, path)?.url()?.ok_or_else(|| {
            Error::new(
                ErrorCode::UNVERSIONED_RESOURCE,
                "Either a URL or versioned item is required",
            )
        }),
    }
}

/// Reads the properties of a revision; returns its number too.
///
/// # Errors
/// What the session gives.
pub fn revprops(context: &Context, url: &Url, revision: RevisionSpec) -> Result<(Revnum, Props)> {
    let mut session = context.sessions.open_following(url, &mut |_| Ok(()))?;
    let rev = match revision {
        RevisionSpec::Number(rev) => rev,
        RevisionSpec::Date(time) => session.dated_rev(time)?,
        _ => session.latest_rev()?,
    };
    let props = session.rev_proplist(rev)?;
    session.give_back();
    Ok((rev, props))
}
