//! Changes that are made in a repository directly: folders made, nodes deleted, copied and moved by
//! URL, properties of revisions set.

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::{REVISION_AUTHOR, SVN_MERGEINFO};
use sylvan_core::{
    Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url, text,
};
use sylvan_delta::{CopyFrom, Editor, Token};
use sylvan_ra::{CommitInfo, CommitOptions};
use sylvan_wc::notify::{Action, Notification, NotifyFn};

use crate::log_message::{AskMessage, Change, CommitItem, with_message};
use crate::path_driver::{self, Place, Tokens, tree_order};
use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::{Context, PooledSession};

/// What is done at a path.
enum Step {
    MakeDir,
    Delete,
    Copy {
        from: CopyFrom,
        kind: NodeKind,
        /// Inherited at the source, explicit at the copy.
        mergeinfo: Option<String>,
    },
}

/// Steps below one URL.
struct Plan {
    base: Url,
    steps: Vec<(RelPathBuf, Step)>,
}

impl Plan {
    fn items(&self) -> Vec<CommitItem> {
        let item = |(path, step): &(RelPathBuf, Step)| CommitItem {
            path: None,
            url: self.base.join(path),
            kind: match step {
                Step::Copy { kind, .. } => *kind,
                Step::MakeDir | Step::Delete => NodeKind::Dir,
            },
            change: Change {
                added: !matches!(step, Step::Delete),
                deleted: matches!(step, Step::Delete),
                copied: matches!(step, Step::Copy { .. }),
                ..Change::default()
            },
        };
        self.steps.iter().map(item).collect()
    }

    /// Asks for a message and commits the steps.
    fn commit(
        mut self,
        mut session: PooledSession<'_>,
        revprops: &Props,
        ask: &mut AskMessage<'_>,
        notify: &mut NotifyFn<'_>,
    ) -> Result<Option<CommitInfo>> {
        let Some(message) = ask(&self.items())? else {
            return Ok(None);
        };
        let options = CommitOptions {
            revprops: with_message(revprops, &message)?,
            keep_locks: true,
            ..CommitOptions::default()
        };
        session.move_to(&self.base)?;
        self.steps
            .sort_by(|(left, _), (right, _)| tree_order(left, right));
        let paths: Vec<&RelPath> = self.steps.iter().map(|(path, _)| &**path).collect();
        let info = session.commit(&options, &mut |editor| {
            let mut tokens = Tokens::default();
            path_driver::drive(
                editor,
                None,
                &paths,
                &mut tokens,
                &mut |editor, tokens, place| run(&self.steps[place.index].1, editor, tokens, place),
            )?;
            let mut told = Notification::new(Dirent::default(), Action::CommitFinalizing);
            told.url = Some(self.base.to_string());
            notify(&told);
            editor.close_edit()
        })?;
        session.give_back();
        Ok(Some(info))
    }
}

fn run(
    step: &Step,
    editor: &mut dyn Editor,
    tokens: &mut Tokens,
    place: &Place<'_>,
) -> Result<Option<Token>> {
    let parent = place
        .parent
        .ok_or_else(|| Error::from_code(ErrorCode::INCORRECT_PARAMS))?;
    match step {
        Step::Delete => editor.delete_entry(place.path, None, parent).map(|()| None),
        Step::MakeDir => {
            text::check_path(place.path.as_str())?;
            let dir = tokens.next();
            editor.add_directory(place.path, parent, None, dir)?;
            Ok(Some(dir))
        }
        Step::Copy {
            from,
            kind,
            mergeinfo,
        } => {
            text::check_path(place.path.as_str())?;
            let token = tokens.next();
            let from = Some(from.clone());
            let mergeinfo = mergeinfo.as_ref().map(String::as_bytes);
            if *kind == NodeKind::File {
                editor.add_file(place.path, parent, from, token)?;
                if mergeinfo.is_some() {
                    editor.change_file_prop(token, SVN_MERGEINFO, mergeinfo)?;
                }
                editor.close_file(token, None)?;
                return Ok(None);
            }
            editor.add_directory(place.path, parent, from, token)?;
            if mergeinfo.is_some() {
                editor.change_dir_prop(token, SVN_MERGEINFO, mergeinfo)?;
            }
            Ok(Some(token))
        }
    }
}

/// Finds the folder that all URLs are in, none of them itself.
fn common_folder(urls: &[&Url]) -> Result<Url> {
    let first = urls
        .first()
        .ok_or_else(|| Error::from_code(ErrorCode::INCORRECT_PARAMS))?;
    let mut common = (*first).clone();
    for url in urls {
        common = common.common_ancestor(url).ok_or_else(|| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{url}' is not in the repository of '{first}'"),
            )
        })?;
    }
    if urls.iter().any(|url| **url == common) {
        common = common.parent().ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_TARGET,
                format!("There is no valid URI above '{common}'"),
            )
        })?;
    }
    Ok(common)
}

/// Makes folders.
///
/// # Errors
/// Those of a commit.
pub fn mkdir(
    context: &Context,
    urls: &[Url],
    parents: bool,
    revprops: &Props,
    ask: &mut AskMessage<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<CommitInfo>> {
    let mut all: Vec<Url> = Vec::new();
    if parents {
        let Some(first) = urls.first() else {
            return Ok(None);
        };
        let mut session = context.sessions.open(first)?;
        for url in urls {
            missing_folders(&mut session, url, &mut all)?;
        }
        session.give_back();
    } else {
        all.extend_from_slice(urls);
        all.dedup();
    }
    let base = common_folder(&all.iter().collect::<Vec<_>>())?;
    let session = context.sessions.open(&base)?;
    let steps = all.iter().map(|url| {
        let path = url.strip_prefix(&base).unwrap_or_default();
        (path, Step::MakeDir)
    });
    let plan = Plan {
        steps: steps.collect(),
        base,
    };
    plan.commit(session, revprops, ask, notify)
}

/// Adds a URL to `all`, after those of the folders above it that do not exist.
fn missing_folders(session: &mut PooledSession<'_>, url: &Url, all: &mut Vec<Url>) -> Result<()> {
    if all.contains(url) {
        return Ok(());
    }
    if let Some(parent) = url.parent() {
        session.move_to(&parent)?;
        if session.check_path(RelPath::ROOT, None)? == NodeKind::None {
            missing_folders(session, &parent, all)?;
        }
    }
    all.push(url.clone());
    Ok(())
}

/// Deletes nodes, with one commit for each repository; `told` hears of each.
///
/// # Errors
/// `FS_NOT_FOUND` if one does not exist, and those of a commit.
pub fn delete(
    context: &Context,
    urls: &[Url],
    revprops: &Props,
    ask: &mut AskMessage<'_>,
    told: &mut dyn FnMut(&CommitInfo) -> Result<()>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let mut repositories: Vec<(Url, Vec<Url>)> = Vec::new();
    for url in urls {
        let known = repositories
            .iter()
            .position(|(root, _)| url.strip_prefix(root).is_some());
        let mut session = context.sessions.open(url)?;
        let root = session.repos_root()?;
        if *url == root {
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{url}' not within a repository"),
            ));
        }
        if session.check_path(RelPath::ROOT, None)? == NodeKind::None {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!("URL '{url}' does not exist"),
            ));
        }
        session.give_back();
        match known {
            Some(at) => repositories[at].1.push(url.clone()),
            None => repositories.push((root, vec![url.clone()])),
        }
    }
    for (_, urls) in repositories {
        let outer: Vec<&Url> = urls
            .iter()
            .enumerate()
            .filter(|(at, url)| {
                !urls.iter().enumerate().any(|(other, above)| {
                    let below = url.strip_prefix(above);
                    below.is_some_and(|below| !below.is_root() || other < *at)
                })
            })
            .map(|(_, url)| url)
            .collect();
        let base = common_folder(&outer)?;
        let session = context.sessions.open(&base)?;
        let steps = outer.iter().map(|url| {
            let path = url.strip_prefix(&base).unwrap_or_default();
            (path, Step::Delete)
        });
        let plan = Plan {
            steps: steps.collect(),
            base,
        };
        if let Some(info) = plan.commit(session, revprops, ask, notify)? {
            told(&info)?;
        }
    }
    Ok(())
}

/// How nodes are copied by URL.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// The sources go.
    pub is_move: bool,
    /// Make missing folders above the target.
    pub parents: bool,
    /// The revision of the sources; their peg revisions by default.
    pub revision: RevisionSpec,
    /// More properties of the new revision.
    pub revprops: Props,
}

/// Copies or moves nodes from URL to URL; several, or one if the target exists, become children of
/// it.
///
/// # Errors
/// `FS_NOT_FOUND` for a source that is not there, `FS_ALREADY_EXISTS` for a target that is,
/// `UNSUPPORTED_FEATURE` for other repositories and for a source above its target, and those of a
/// commit.
pub fn copy(
    context: &Context,
    sources: &[Target],
    target: &Url,
    options: &CopyOptions,
    ask: &mut AskMessage<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<CommitInfo>> {
    let into = || -> Result<Vec<(Target, Url)>> {
        let pairs = sources.iter().map(|source| {
            let name = match &source.at {
                PathOrUrl::Url(url) => url.basename(),
                PathOrUrl::Path(path) => context.absolute(path).basename().to_owned(),
            };
            Ok((source.clone(), target.join(RelPath::new(&name)?)))
        });
        pairs.collect()
    };
    let [source] = sources else {
        return copy_pairs(context, &into()?, options, ask, notify);
    };
    let pair = (source.clone(), target.clone());
    match copy_pairs(context, &[pair], options, ask, notify) {
        Err(error)
            if [ErrorCode::ENTRY_EXISTS, ErrorCode::FS_ALREADY_EXISTS].contains(&error.code()) =>
        {
            copy_pairs(context, &into()?, options, ask, notify)
        }
        done => done,
    }
}

/// A source as it was found, and where it goes.
struct Pair {
    from: PathRev,
    to: Url,
    kind: NodeKind,
    mergeinfo: Option<String>,
}

fn copy_pairs(
    context: &Context,
    pairs: &[(Target, Url)],
    options: &CopyOptions,
    ask: &mut AskMessage<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<CommitInfo>> {
    check_pairs(pairs, options)?;
    let mut found = Vec::new();
    let mut root: Option<Url> = None;
    for (source, to) in pairs {
        let (mut session, from) = resolve::open(context, source, options.revision)?;
        let root = root.get_or_insert_with(|| from.repos_root.clone());
        if from.repos_root != *root || to.strip_prefix(root).is_none() {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                "Source and destination URLs appear not to point to the same repository.",
            ));
        }
        let kind = session.check_path(RelPath::ROOT, Some(from.rev))?;
        if kind == NodeKind::None {
            return Err(Error::new(
                ErrorCode::FS_NOT_FOUND,
                format!(
                    "Path '{}' does not exist in revision {}",
                    from.url, from.rev
                ),
            ));
        }
        let mergeinfo = inherited_mergeinfo(&mut session, from.rev, kind)?;
        session.give_back();
        found.push(Pair {
            from,
            to: to.clone(),
            kind,
            mergeinfo,
        });
    }
    let mut touched: Vec<&Url> = found.iter().map(|pair| &pair.to).collect();
    if options.is_move {
        touched.extend(found.iter().map(|pair| &pair.from.url));
    }
    let mut base = common_folder(&touched)?;
    let mut session = context.sessions.open(&base)?;
    let mut steps = Vec::new();
    if options.parents {
        let mut missing = Vec::new();
        if let Some(folder) = found.first().and_then(|pair| pair.to.parent()) {
            session.move_to(&folder)?;
            if session.check_path(RelPath::ROOT, None)? == NodeKind::None {
                missing_folders(&mut session, &folder, &mut missing)?;
            }
        }
        if let Some(top) = missing.first() {
            let above = top.parent().unwrap_or_else(|| top.clone());
            base = base.common_ancestor(&above).unwrap_or(above);
        }
        for folder in missing {
            let path = folder.strip_prefix(&base).unwrap_or_default();
            steps.push((path, Step::MakeDir));
        }
    }
    session.move_to(&base)?;
    for pair in found {
        let path = pair.to.strip_prefix(&base).unwrap_or_default();
        if session.check_path(&path, None)? != NodeKind::None {
            return Err(Error::new(
                ErrorCode::FS_ALREADY_EXISTS,
                format!("Path '{}' already exists", pair.to),
            ));
        }
        let from = CopyFrom {
            path: pair.from.repos_path(),
            rev: pair.from.rev,
        };
        steps.push((
            path,
            Step::Copy {
                from,
                kind: pair.kind,
                mergeinfo: pair.mergeinfo,
            },
        ));
        if options.is_move {
            let path = pair.from.url.strip_prefix(&base).unwrap_or_default();
            steps.push((path, Step::Delete));
        }
    }
    Plan { base, steps }.commit(session, &options.revprops, ask, notify)
}

fn check_pairs(pairs: &[(Target, Url)], options: &CopyOptions) -> Result<()> {
    for (source, to) in pairs {
        let PathOrUrl::Url(from) = &source.at else {
            continue;
        };
        if !options.is_move {
            continue;
        }
        match to.strip_prefix(from) {
            Some(below) if below.is_root() => {
                return Err(Error::new(
                    ErrorCode::UNSUPPORTED_FEATURE,
                    format!("Cannot move URL '{from}' into itself"),
                ));
            }
            Some(_) => {
                return Err(Error::new(
                    ErrorCode::UNSUPPORTED_FEATURE,
                    format!("Cannot move URL '{from}' into its own child '{to}'"),
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// Returns the mergeinfo that a node has from above, if it has none of its own; a copy elsewhere
/// would lose it.
fn inherited_mergeinfo(
    session: &mut PooledSession<'_>,
    rev: Revnum,
    kind: NodeKind,
) -> Result<Option<String>> {
    let inherited = session.inherited_props(RelPath::ROOT, rev)?;
    let has = |props: &Props| props.contains_key(SVN_MERGEINFO);
    let Some(nearest) = inherited.iter().rev().find(|item| has(&item.props)) else {
        return Ok(None);
    };
    let own = match kind {
        NodeKind::File => session.read_file(RelPath::ROOT, Some(rev), None)?.1,
        _ => session.read_dir(RelPath::ROOT, Some(rev), None)?.props,
    };
    if has(&own) {
        return Ok(None);
    }
    let root = session.repos_root()?;
    let at = session.url().strip_prefix(&root).unwrap_or_default();
    let below = at.strip_prefix(&nearest.path).unwrap_or(RelPath::ROOT);
    let value = nearest.props.get(SVN_MERGEINFO).map(Vec::as_slice);
    let Ok(mergeinfo) = Mergeinfo::parse(value.unwrap_or_default()) else {
        return Ok(None);
    };
    let own = mergeinfo.inheritable().for_child(below);
    if own.is_empty() {
        return Ok(None);
    }
    own.to_text().map(Some)
}

/// Sets (`Some`) or deletes a property of a revision; returns its number. With `expected`, only if it
/// has that value before, where the server can tell.
///
/// # Errors
/// `CLIENT_REVISION_AUTHOR_CONTAINS_NEWLINE` unless forced, and what the session gives.
#[expect(clippy::too_many_arguments, reason = "the parts of one change")]
pub fn set_revprop(
    context: &Context,
    url: &Url,
    revision: RevisionSpec,
    name: &str,
    value: Option<&[u8]>,
    expected: Option<Option<&[u8]>>,
    force: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<Revnum> {
    let has_newline = value.is_some_and(|value| value.contains(&b'\n'));
    if name == REVISION_AUTHOR && has_newline && !force {
        return Err(Error::new(
            ErrorCode::CLIENT_REVISION_AUTHOR_CONTAINS_NEWLINE,
            "Author name should not contain a newline; value will not be set unless forced",
        ));
    }
    let mut session = context.sessions.open(url)?;
    let rev = match revision {
        RevisionSpec::Number(rev) => rev,
        RevisionSpec::Date(time) => session.dated_rev(time)?,
        _ => session.latest_rev()?,
    };
    let atomic = session.has_capability(sylvan_ra::Capability::AtomicRevprops)?;
    session.change_rev_prop(rev, name, expected.filter(|_| atomic), value)?;
    session.give_back();
    let action = match value {
        Some(_) => Action::RevpropSet,
        None => Action::RevpropDeleted,
    };
    let mut told = Notification::new(Dirent::default(), action);
    told.url = Some(url.to_string());
    told.rev = Some(rev);
    told.prop_name = Some(name.to_owned());
    notify(&told);
    Ok(rev)
}

/// The URLs of targets that are all URLs.
pub fn urls(targets: &[PathOrUrl]) -> Vec<Url> {
    let urls = targets.iter().filter_map(PathOrUrl::as_url);
    urls.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_urls() {
        let url = |path: &str| Url::parse(&format!("http://h/r{path}")).expect("a URL");
        let (a, b, c) = (url("/a"), url("/a/b"), url("/c"));
        let folder = |urls: &[&Url]| common_folder(urls).expect("a folder").to_string();
        assert_eq!(folder(&[&a]), "http://h/r");
        assert_eq!(folder(&[&a, &b]), "http://h/r");
        assert_eq!(folder(&[&b, &c]), "http://h/r");
    }
}
