//! Finding out who compares what.

use sylvan_core::opt::RevisionSpec;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url,
};
use sylvan_delta::ReportEntry;
use sylvan_ra::{Capability, UpdateOptions};
use sylvan_wc::WorkingCopy;
use sylvan_wc::report::{self, ReportOptions};

use super::change::{Filter, Pipe, Receiver};
use super::nodes::Tree;
use super::repos::ReposEditor;
use super::working::{WorkingEditor, WorkingOptions};
use super::write::{Driver, Writer};
use super::{Comparison, DiffOptions, Format, Output, Summarizer, Summary, arbitrary, local};
use crate::location::url_revision;
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession, resolve};

/// How changes are shown.
pub(super) enum Show<'a> {
    Differences {
        format: &'a Format,
        out: &'a mut dyn Output,
    },
    Summaries(&'a mut (dyn FnMut(&Summary) -> Result<()> + Send)),
}

impl Show<'_> {
    const fn is_summary(&self) -> bool {
        matches!(self, Self::Summaries(_))
    }

    fn receiver<'s>(&'s mut self, context: &'s Context, driver: Driver) -> Box<dyn Receiver + 's> {
        match self {
            Self::Differences { format, out } => {
                Box::new(Writer::new(context, format, driver, &mut **out))
            }
            Self::Summaries(take) => Box::new(Summarizer(&mut **take)),
        }
    }
}

/// A comparison that is under way.
struct Run<'a, 's> {
    context: &'a Context,
    options: &'a DiffOptions,
    show: Show<'s>,
}

/// One side of a comparison.
#[derive(Clone, Copy)]
struct End<'e> {
    at: &'e PathOrUrl,
    rev: RevisionSpec,
}

pub(super) fn compare(
    context: &Context,
    comparison: &Comparison,
    options: &DiffOptions,
    show: Show<'_>,
) -> Result<()> {
    let run = Run {
        context,
        options,
        show,
    };
    match comparison {
        Comparison::Places { old, new } => {
            let (old, new) = (
                End {
                    at: &old.0,
                    rev: old.1,
                },
                End {
                    at: &new.0,
                    rev: new.1,
                },
            );
            run.ends(old, new, None)
        }
        Comparison::Node { at, start, end } => {
            let (old, new) = (
                End {
                    at: &at.at,
                    rev: *start,
                },
                End {
                    at: &at.at,
                    rev: *end,
                },
            );
            run.ends(old, new, Some(at.peg))
        }
    }
}

const fn is_local(rev: RevisionSpec) -> bool {
    matches!(rev, RevisionSpec::Base | RevisionSpec::Working)
}

impl Run<'_, '_> {
    /// Compares two ends; with `peg` they are the same node.
    fn ends(self, old: End<'_>, new: End<'_>, peg: Option<RevisionSpec>) -> Result<()> {
        if [old.rev, new.rev].contains(&RevisionSpec::Unspecified) {
            return Err(Error::new(
                ErrorCode::CLIENT_BAD_REVISION,
                "Not all required revisions are specified",
            ));
        }
        let is_pegged = peg.is_some_and(|peg| peg != RevisionSpec::Unspecified);
        if is_pegged && is_local(old.rev) && is_local(new.rev) {
            return Err(Error::new(
                ErrorCode::CLIENT_BAD_REVISION,
                "At least one revision must be something other than BASE or WORKING when diffing \
                 a URL",
            ));
        }
        let in_wc = |end: End<'_>| match end.at {
            PathOrUrl::Path(path) if is_local(end.rev) => Some(path.clone()),
            _ => None,
        };
        match (in_wc(old), in_wc(new)) {
            (None, None) => self.repos_repos(old, new, peg),
            (None, Some(path)) => self.repos_working(old, peg, &path, new.rev, false),
            (Some(path), None) => self.repos_working(new, peg, &path, old.rev, true),
            (Some(left), Some(right)) => self.local(old.rev, &left, new.rev, &right),
        }
    }

    fn local(
        mut self,
        old_rev: RevisionSpec,
        old: &Dirent,
        new_rev: RevisionSpec,
        new: &Dirent,
    ) -> Result<()> {
        let targets = [old.as_str().to_owned(), new.as_str().to_owned()];
        let working = RevisionSpec::Working;
        if (old_rev, new_rev) == (working, working) {
            let places = [self.context.absolute(old), self.context.absolute(new)];
            let both_dirs = arbitrary::resolved_kind(&places[0])? == NodeKind::Dir
                && arbitrary::resolved_kind(&places[1])? == NodeKind::Dir;
            let anchor = match both_dirs {
                true => Dirent::default(),
                false => Dirent::new(places[0].basename()),
            };
            let driver = Driver {
                anchor: Some(anchor),
                session_relpath: None,
                targets,
            };
            let mut receiver = self.show.receiver(self.context, driver);
            let mut pipe = Pipe::new(Filter::default(), &mut *receiver);
            let places = [&places[0], &places[1]];
            return arbitrary::compare(self.context, places, self.options.depth, &mut pipe);
        }
        if old != new || (old_rev, new_rev) != (RevisionSpec::Base, working) {
            return Err(Error::new(
                ErrorCode::INCORRECT_PARAMS,
                "A non-URL diff at this time must be either from a path's base to the same path's \
                 working version or between the working versions of two paths",
            )
            .context("Sorry, svn_client_diff7 was called in a way that is not yet supported"));
        }
        self.base_working(old, targets)
    }

    fn base_working(mut self, path: &Dirent, targets: [String; 2]) -> Result<()> {
        let node = WcNode::open(self.context, path)?;
        if node.kind(true)? == NodeKind::Unknown {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("The node '{}' was not found.", node.abspath()),
            ));
        }
        let target = node.path().to_owned();
        let (anchor, prefix) = match target.split() {
            None => (RelPathBuf::root(), None),
            Some((parent, name)) => (parent.to_owned(), Some(RelPathBuf::new(name)?)),
        };
        let driver = Driver {
            anchor: Some(path.clone()),
            session_relpath: None,
            targets,
        };
        let tree = Tree {
            wc: self.open_wc(node.abspath())?.0,
            anchor,
            // Subversion fails here unless the target is the root, where this is the anchor too.
            moves_below: RelPathBuf::root(),
            pristine: false,
            cancel: &self.context.cancel,
        };
        let filter = Filter {
            prefix,
            reverse: false,
            changelists: self.options.changelists.clone(),
        };
        let mut receiver = self.show.receiver(self.context, driver);
        let mut pipe = Pipe::new(filter, &mut *receiver);
        let ignore_ancestry = self.options.ignore_ancestry;
        local::compare(
            &tree,
            &target,
            self.options.depth,
            ignore_ancestry,
            &mut pipe,
        )
    }

    fn open_wc(&self, path: &Dirent) -> Result<(WorkingCopy, RelPathBuf)> {
        WorkingCopy::open(path, &self.context.wc)
    }

    /// Compares two trees of a repository.
    fn repos_repos(mut self, old: End<'_>, new: End<'_>, peg: Option<RevisionSpec>) -> Result<()> {
        let mut pair = Pair::find(self.context, old, new, peg)?;
        let mut filter = Filter::default();
        let paths = [old.at.as_path(), new.at.as_path()];
        let mut anchor = paths[1].or(paths[0]).cloned();
        let any_file = pair.kinds.iter().any(|kind| *kind != NodeKind::Dir);
        if !pair.targets[0].is_empty() && any_file {
            anchor = anchor.map(|anchor| anchor.dirname());
        }
        let root = pair.session.repos_root()?;
        let driver = Driver {
            anchor,
            session_relpath: Some(pair.anchors[0].strip_prefix(&root).unwrap_or_default()),
            targets: [pair.urls[0].to_string(), pair.urls[1].to_string()],
        };
        let no_file = !pair.kinds.contains(&NodeKind::File);
        if pair.kinds[1] == NodeKind::None {
            // A repository can bring in what is new, but not delete everything.
            pair.urls.swap(0, 1);
            pair.revs.swap(0, 1);
            pair.anchors.swap(0, 1);
            pair.targets.swap(0, 1);
            filter.reverse = true;
        }
        if self.show.is_summary() || no_file && !pair.targets[0].is_empty() {
            filter.prefix = Some(RelPathBuf::new(pair.targets[0].clone())?);
        }
        let text_deltas = !self.show.is_summary();
        let (rev, target_rev) = (pair.revs[0], pair.revs[1]);
        pair.session.move_to(&pair.anchors[0])?;
        let mut extra = self.context.sessions.open(&pair.anchors[0])?;
        let options = UpdateOptions {
            rev: Some(target_rev),
            target: pair.targets[0].clone(),
            depth: self.options.depth,
            send_copyfrom_args: false,
            ignore_ancestry: self.options.ignore_ancestry,
        };
        let report = [ReportEntry::SetPath {
            path: RelPathBuf::root(),
            rev,
            depth: Depth::Infinity,
            start_empty: false,
            lock_token: None,
        }];
        let mut receiver = self.show.receiver(self.context, driver);
        let pipe = Pipe::new(filter, &mut *receiver);
        let cancel = &self.context.cancel;
        let mut editor = ReposEditor::new(&mut *extra, rev, text_deltas, cancel, pipe);
        let url = &pair.urls[1];
        pair.session
            .diff(&options, url, text_deltas, &report, &mut editor)?;
        drop(editor);
        extra.give_back();
        pair.session.give_back();
        Ok(())
    }

    /// Compares a tree of a repository with a part of a working copy.
    fn repos_working(
        mut self,
        repos: End<'_>,
        peg: Option<RevisionSpec>,
        path: &Dirent,
        rev: RevisionSpec,
        reverse: bool,
    ) -> Result<()> {
        let node = WcNode::open(self.context, path)?;
        let pristine = rev == RevisionSpec::Base;
        let origin = node.origin(false)?;
        let copied = origin
            .url
            .clone()
            .zip(origin.rev)
            .filter(|_| origin.is_copy && !pristine);
        let target = Target {
            at: repos.at.clone(),
            peg: peg.unwrap_or(repos.rev),
        };
        let (mut session, found) = resolve::open(self.context, &target, repos.rev)?;
        let anchor = match &copied {
            None => Anchor::find(self.context, path)?,
            Some((url, _)) => Anchor::of_copy(self.context, path, url)?,
        };
        session.move_to(&anchor.url)?;
        let repos_url = found.url.to_string();
        let local_url = match anchor.target.as_str() {
            "" => anchor.url.to_string(),
            name => anchor.url.join(RelPath::new(name)?).to_string(),
        };
        let targets = match reverse {
            false => [repos_url, local_url],
            true => [local_url, repos_url],
        };
        let mut filter = Filter {
            reverse,
            changelists: self.options.changelists.clone(),
            prefix: None,
        };
        if self.show.is_summary() {
            filter.prefix = Some(RelPathBuf::new(anchor.target.clone())?);
        }
        let driver = Driver {
            anchor: Some(anchor.path.clone()),
            session_relpath: Some(
                anchor
                    .url
                    .strip_prefix(&found.repos_root)
                    .unwrap_or_default(),
            ),
            targets,
        };
        let report = match &copied {
            Some((url, rev)) => self.report_copy(&anchor, url, *rev)?,
            None => self.report(node.abspath(), session.has_capability(Capability::Depth)?)?,
        };
        let (wc, anchor_path) = self.open_wc(&self.context.absolute(&anchor.path))?;
        let tree = Tree {
            wc,
            moves_below: anchor_path.clone(),
            anchor: anchor_path,
            pristine,
            cancel: &self.context.cancel,
        };
        let working = WorkingOptions {
            target: anchor.target.clone(),
            depth: self.options.depth,
            ignore_ancestry: self.options.ignore_ancestry,
            reverse,
        };
        let options = UpdateOptions {
            rev: Some(found.rev),
            target: anchor.target,
            depth: self.options.depth.filter(|depth| *depth != Depth::Infinity),
            send_copyfrom_args: false,
            ignore_ancestry: self.options.ignore_ancestry,
        };
        let mut receiver = self.show.receiver(self.context, driver);
        let pipe = Pipe::new(filter, &mut *receiver);
        let mut editor = WorkingEditor::new(tree, working, pipe);
        session.diff(&options, &found.url, true, &report, &mut editor)?;
        drop(editor);
        session.give_back();
        Ok(())
    }

    /// Reports a part of a working copy.
    fn report(&self, path: &Dirent, has_depth: bool) -> Result<Vec<ReportEntry>> {
        let how = ReportOptions {
            depth: self.options.depth,
            honor_depth_exclude: true,
            depth_compatibility_trick: !has_depth,
            restore: false,
        };
        let (mut wc, target) = self.open_wc(path)?;
        report::entries(&mut wc, &target, &how, &self.context.cancel, &mut |_| {})
    }

    /// Reports the source of a copy instead of it. As revision 0, all comes as new.
    fn report_copy(&self, anchor: &Anchor, source: &Url, rev: Revnum) -> Result<Vec<ReportEntry>> {
        let rev = match self.options.ignore_ancestry {
            true => Revnum::ZERO,
            false => rev,
        };
        let mut report = vec![ReportEntry::SetPath {
            path: RelPathBuf::root(),
            rev,
            depth: Depth::Infinity,
            start_empty: false,
            lock_token: None,
        }];
        if !anchor.target.is_empty() {
            report.push(ReportEntry::LinkPath {
                path: RelPathBuf::new(anchor.target.clone())?,
                url: source.clone(),
                rev,
                depth: Depth::Infinity,
                start_empty: false,
                lock_token: None,
            });
        }
        Ok(report)
    }
}

/// Two nodes of a repository, and the folders whose children they are.
struct Pair<'a> {
    session: PooledSession<'a>,
    urls: [Url; 2],
    revs: [Revnum; 2],
    kinds: [NodeKind; 2],
    anchors: [Url; 2],
    targets: [String; 2],
}

impl<'a> Pair<'a> {
    fn find(
        context: &'a Context,
        old: End<'_>,
        new: End<'_>,
        peg: Option<RevisionSpec>,
    ) -> Result<Self> {
        let node = |end: End<'_>| {
            let path = end.at.as_path();
            path.map(|path| WcNode::open(context, path)).transpose()
        };
        let nodes = [node(old)?, node(new)?];
        let own_url = |end: End<'_>, node: &Option<WcNode>| match (end.at, node) {
            (PathOrUrl::Url(url), _) => Ok(url.clone()),
            (PathOrUrl::Path(path), Some(node)) => {
                node.url()?.ok_or_else(|| resolve::missing_url(path))
            }
            (PathOrUrl::Path(path), None) => Err(resolve::missing_url(path)),
        };
        let first = own_url(new, &nodes[1])?;
        let mut session = context.sessions.open_following(&first, &mut |_| Ok(()))?;
        let peg_rev = peg.unwrap_or_default();
        let mut find = |end: End<'_>, node: &Option<WcNode>| {
            if peg.is_none() && end.at.is_url() {
                return Ok(None);
            }
            let start = end.at.as_url().unwrap_or(&first);
            session.move_to(start)?;
            let node = node.as_ref();
            match resolve::locate(context, &mut session, end.at, node, peg_rev, end.rev) {
                Ok(found) => Ok(Some((found.url, found.rev))),
                Err(error)
                    if [
                        ErrorCode::CLIENT_UNRELATED_RESOURCES,
                        ErrorCode::FS_NOT_FOUND,
                    ]
                    .contains(&error.code()) =>
                {
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        };
        let found_new = find(new, &nodes[1])?;
        let found_old = find(old, &nodes[0])?;
        let mut complete = |found: &Option<(Url, Revnum)>,
                            other: &Option<(Url, Revnum)>,
                            end: End<'_>,
                            node: &Option<WcNode>|
         -> Result<(Url, Revnum)> {
            if let Some(found) = found {
                return Ok(found.clone());
            }
            let url = match other {
                Some((url, _)) if peg.is_some() => url.clone(),
                _ => own_url(end, node)?,
            };
            let rev = match node {
                Some(_) => resolve::revision(&mut *session, node.as_ref(), end.rev, &mut None)?,
                None => url_revision(&mut *session, end.rev, &mut None)?,
            };
            Ok((url, rev))
        };
        let (old_url, old_rev) = complete(&found_old, &found_new, old, &nodes[0])?;
        let (new_url, new_rev) = complete(&found_new, &found_old, new, &nodes[1])?;
        let urls = [old_url, new_url];
        let revs = [old_rev, new_rev];
        session.move_to(&urls[1])?;
        let new_kind = session.check_path(RelPath::ROOT, Some(revs[1]))?;
        session.move_to(&urls[0])?;
        let old_kind = session.check_path(RelPath::ROOT, Some(revs[0]))?;
        let mut pair = Self {
            session,
            anchors: urls.clone(),
            urls,
            revs,
            kinds: [old_kind, new_kind],
            targets: [String::new(), String::new()],
        };
        pair.check()?;
        pair.choose_anchors()?;
        Ok(pair)
    }

    /// Requires at least one to be there, and where one is missing that it is at least in the
    /// other revision.
    fn check(&mut self) -> Result<()> {
        let [old, new] = &self.urls;
        let [old_rev, new_rev] = self.revs;
        let missing = |text: String| Err(Error::new(ErrorCode::FS_NOT_FOUND, text));
        match self.kinds {
            [NodeKind::None, NodeKind::None] if old == new => missing(format!(
                "Diff target '{old}' was not found in the repository at revisions '{old_rev}' and \
                 '{new_rev}'"
            )),
            [NodeKind::None, NodeKind::None] => missing(format!(
                "Diff targets '{old}' and '{new}' were not found in the repository at revisions \
                 '{old_rev}' and '{new_rev}'"
            )),
            [NodeKind::None, _] => self.check_target(0, new_rev, old_rev),
            [_, NodeKind::None] => self.check_target(1, old_rev, new_rev),
            _ => Ok(()),
        }
    }

    fn check_target(&mut self, side: usize, rev: Revnum, other: Revnum) -> Result<()> {
        let url = self.urls[side].clone();
        self.session.move_to(&url)?;
        if self.session.check_path(RelPath::ROOT, Some(rev))? != NodeKind::None {
            return Ok(());
        }
        let revs = match rev == other {
            true => format!("'{rev}'"),
            false => format!("'{rev}' or '{other}'"),
        };
        Err(Error::new(
            ErrorCode::FS_NOT_FOUND,
            format!("Diff target '{url}' was not found in the repository at revision {revs}"),
        ))
    }

    /// Takes the folders above as anchors where that is possible, so that a target may be replaced.
    fn choose_anchors(&mut self) -> Result<()> {
        let root = self.session.repos_root()?;
        if self.urls.contains(&root) {
            return self.session.move_to(&self.anchors[0]);
        }
        let (Some(old), Some(new)) = (self.urls[0].parent(), self.urls[1].parent()) else {
            return self.session.move_to(&self.anchors[0]);
        };
        self.session.move_to(&old)?;
        match self.session.check_path(RelPath::ROOT, Some(self.revs[0])) {
            Err(error)
                if [ErrorCode::RA_DAV_FORBIDDEN, ErrorCode::RA_NOT_AUTHORIZED]
                    .contains(&error.code()) =>
            {
                return self.session.move_to(&self.anchors[0]);
            }
            found => drop(found?),
        }
        self.targets = [self.urls[0].basename(), self.urls[1].basename()];
        self.anchors = [old, new];
        Ok(())
    }
}

/// The folder in which a part of a working copy is compared.
struct Anchor {
    path: Dirent,
    url: Url,
    /// The one child that is compared, or empty.
    target: String,
}

impl Anchor {
    fn find(context: &Context, path: &Dirent) -> Result<Self> {
        let node = WcNode::open(context, path)?;
        let name = path.basename();
        let stays = name.is_empty() || name == "..";
        let is_anchor = match node.kind(false)? {
            NodeKind::File => false,
            _ => node.path().is_root() || is_switched(&node)?,
        };
        let (path, target) = match is_anchor || stays {
            true => (path.clone(), String::new()),
            false => (path.dirname(), name.to_owned()),
        };
        let node = WcNode::open(context, &path)?;
        let url = node.url()?.ok_or_else(|| resolve::missing_url(&path))?;
        Ok(Self { path, url, target })
    }

    /// A copy is compared as the child of its source's folder.
    fn of_copy(context: &Context, path: &Dirent, source: &Url) -> Result<Self> {
        let abspath = context.absolute(path);
        let above = match path.basename() {
            "" | ".." => abspath.dirname(),
            _ => path.dirname(),
        };
        Ok(Self {
            path: above,
            url: source.parent().unwrap_or_else(|| source.clone()),
            target: abspath.basename().to_owned(),
        })
    }
}

/// Tells whether a folder of BASE comes from elsewhere than the folder above it implies.
fn is_switched(node: &WcNode) -> Result<bool> {
    let db = node.wc().db();
    let Some((parent, name)) = node.path().split() else {
        return Ok(false);
    };
    let repos_path = |path: &RelPath| -> Result<Option<RelPathBuf>> {
        let node = db.node(path)?;
        let top = node.as_ref().and_then(|node| node.top());
        Ok(top
            .filter(|top| top.op_depth == 0)
            .and_then(|top| top.repos_path.clone()))
    };
    Ok(match (repos_path(node.path())?, repos_path(parent)?) {
        (Some(own), Some(parent)) => own != parent.child(name)?,
        _ => false,
    })
}
