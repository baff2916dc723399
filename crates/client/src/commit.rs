//! `svn commit`: local changes of working copies become a revision.

use std::collections::{BTreeMap, HashMap, HashSet};

use sylvan_core::props::SVN_MIME_TYPE;
use sylvan_core::{
    Depth, Dirent, Error, ErrorCode, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Timestamp, Url,
};
use sylvan_delta::{CopyFrom, Editor, Token};
use sylvan_io::{Cancel, Category};
use sylvan_ra::{CommitInfo, DeltaFormat};
use sylvan_wc::commit::{
    self, CheckKind, Committed, Finish, Format, Harvest, HarvestOptions, Item, SentText,
    Transmitter,
};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn, State};
use sylvan_wc::{WorkingCopy, external};

use crate::log_message::{AskMessage, Change, CommitItem, with_message};
use crate::path_driver::{self, Place, Tokens, tree_order};
use crate::{Context, disk};

/// How a commit is made.
#[derive(Clone, Debug, Default)]
pub struct CommitOptions {
    /// How deep below the targets; `None` is all.
    pub depth: Option<Depth>,
    /// Whether locks stay.
    pub keep_locks: bool,
    /// Whether nodes stay in their changelists.
    pub keep_changelists: bool,
    /// Only nodes in one of these changelists, if there are any.
    pub changelists: Vec<String>,
    /// Whether externals below the targets are committed too.
    pub include_externals: bool,
    /// More properties of the new revision.
    pub revprops: Props,
}

/// Is told of a revision as soon as it is there.
pub type Told<'a> = dyn FnMut(&CommitInfo) -> Result<()> + 'a;

/// Commits local changes at and below `targets`; `told` hears of the new revision, if there is one.
///
/// # Errors
/// Those of [`commit::harvest`]; `UNSUPPORTED_FEATURE` for targets of several repositories;
/// `CLIENT_DUPLICATE_COMMIT_URL`; out of date, locked and forbidden nodes in the words of the node.
/// All but the first few are wrapped in "Commit failed", or "Commit succeeded, but".
pub fn commit(
    context: &Context,
    targets: &[Dirent],
    options: &CommitOptions,
    ask: &mut AskMessage<'_>,
    told: &mut Told<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let targets: Vec<Dirent> = targets.iter().map(|path| context.absolute(path)).collect();
    let Some(base) = common(&targets) else {
        return Ok(());
    };
    let mut copies = open(context, &targets, options)?;
    let mut run = Run {
        context,
        options,
        prefix: common(&[context.current_dir.clone(), base.clone()]).unwrap_or_default(),
    };
    let mut outcome = run.locked(&mut copies, ask, told, notify);
    if outcome.wrote {
        context.progress.add_files(1);
        context.wait_for_timestamps(&base);
    }
    let mut unlocking = None;
    if outcome.finishing.is_none() {
        for copy in copies {
            if let Some(lock) = copy.lock
                && let Err(error) = lock.release(&copy.wc)
            {
                unlocking = Some(match unlocking.take() {
                    None => error,
                    Some(first) => Error::attach(first, error),
                });
            }
        }
    }
    reconcile(outcome.failed.take(), unlocking, outcome.finishing.take())
}

/// Puts what went wrong into one error, with words about whether there is a revision.
fn reconcile(
    failed: Option<Error>,
    unlocking: Option<Error>,
    finishing: Option<Error>,
) -> Result<()> {
    if failed.is_none() && unlocking.is_none() && finishing.is_none() {
        return Ok(());
    }
    let mut error = match failed {
        Some(error) => error.context("Commit failed (details follow):"),
        None => Error::new(
            ErrorCode::BASE,
            "Commit succeeded, but other errors follow:",
        ),
    };
    if let Some(other) = unlocking {
        error = error.append(other.context("Error unlocking locked dirs (details follow):"));
    }
    if let Some(other) = finishing {
        let words = "Error bumping revisions post-commit (details follow):";
        error = error.append(other.context(words));
    }
    Err(error)
}

/// Returns the folder that all paths are in, or the path itself if there is one.
fn common(paths: &[Dirent]) -> Option<Dirent> {
    let mut common = paths.first()?.clone();
    for path in paths {
        while path.strip_prefix(&common).is_none() && common.dirname() != common {
            common = common.dirname();
        }
    }
    Some(common)
}

/// One working copy of a commit.
struct Copy {
    wc: WorkingCopy,
    /// The targets, and how deep below each.
    targets: Vec<(RelPathBuf, Option<Depth>)>,
    lock: Option<WcLock>,
    found: Harvest,
}

/// Opens the working copies of the targets, and finds out which externals are committed with them.
fn open(context: &Context, targets: &[Dirent], options: &CommitOptions) -> Result<Vec<Copy>> {
    let mut copies: BTreeMap<String, Copy> = BTreeMap::new();
    let mut seen: HashMap<String, HashSet<RelPathBuf>> = HashMap::new();
    let mut add = |path: &Dirent, depth: Option<Depth>| -> Result<()> {
        for (root, copy) in &mut copies {
            let seen = seen.entry(root.clone()).or_default();
            if let Some(at) = copy.wc.holds(path, seen)? {
                copy.targets.push((at, depth));
                return Ok(());
            }
        }
        let (wc, at) = WorkingCopy::open(path, &context.wc)?;
        let root = wc.root().as_str().to_owned();
        let copy = copies.entry(root).or_insert_with(|| Copy {
            wc,
            targets: Vec::new(),
            lock: None,
            found: Harvest::default(),
        });
        copy.targets.push((at, depth));
        Ok(())
    };
    let mut externals = Vec::new();
    for target in targets {
        add(target, options.depth)?;
        if options.include_externals && options.depth != Some(Depth::Empty) {
            externals.extend(committable_externals(context, target, options.depth)?);
        }
    }
    let below = match options.depth {
        None | Some(Depth::Infinity) => options.depth,
        Some(_) => Some(Depth::Empty),
    };
    for path in externals {
        add(&path, below)?;
    }
    Ok(copies.into_values().collect())
}

/// Lists externals of the same repository that follow its youngest revision, and those in them.
fn committable_externals(
    context: &Context,
    target: &Dirent,
    depth: Option<Depth>,
) -> Result<Vec<Dirent>> {
    let (wc, at) = WorkingCopy::open(target, &context.wc)?;
    let root = sylvan_wc::base::node(&wc, RelPath::ROOT)?;
    let mut found = Vec::new();
    for external in external::list(&wc, RelPath::ROOT)? {
        let is_below = external.path.starts_with(&at) && *external.path != *at;
        let is_near = match depth {
            None | Some(Depth::Infinity) => true,
            Some(Depth::Files) => {
                external.kind == NodeKind::File && external.path.parent() == Some(&*at)
            }
            _ => external.path.parent() == Some(&*at),
        };
        let follows = external.peg.is_none() && external.rev.is_none();
        let same = root
            .as_ref()
            .is_some_and(|root| root.repos_root == external.repos_root);
        if !(is_below && is_near && follows && same) {
            continue;
        }
        let path = wc.local_path(&external.path);
        if disk::kind(&path)? == NodeKind::None {
            continue;
        }
        if external.kind == NodeKind::Dir && matches!(depth, None | Some(Depth::Infinity)) {
            found.push(path.clone());
            found.extend(committable_externals(context, &path, depth)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// How far a commit came.
#[derive(Default)]
struct Outcome {
    /// What kept it from being made.
    failed: Option<Error>,
    /// What went wrong afterwards.
    finishing: Option<Error>,
    /// Whether files of working copies may have been written.
    wrote: bool,
}

struct Run<'a> {
    context: &'a Context,
    options: &'a CommitOptions,
    /// Paths are told relative to it.
    prefix: Dirent,
}

impl Run<'_> {
    fn locked(
        &mut self,
        copies: &mut [Copy],
        ask: &mut AskMessage<'_>,
        told: &mut Told<'_>,
        notify: &mut NotifyFn<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let prepared = self.prepare(copies, ask);
        let prepared = match prepared {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return outcome,
            Err(error) => {
                outcome.failed = Some(error);
                return outcome;
            }
        };
        outcome.wrote = true;
        match self.make(copies, &prepared, notify) {
            Err(error) => outcome.failed = Some(error),
            Ok((info, texts)) => {
                let said = told(&info);
                let finished = self.finish(copies, &texts, &info);
                outcome.finishing = said.and(finished).err();
            }
        }
        outcome
    }

    /// Locks the working copies, finds what is to be committed, and gets the message.
    fn prepare(&self, copies: &mut [Copy], ask: &mut AskMessage<'_>) -> Result<Option<Prepared>> {
        for copy in copies.iter_mut() {
            copy.lock = Some(lock(copy)?);
        }
        let check: &mut CheckKind<'_> = &mut |url, rev| self.kind_at(url, rev);
        for copy in copies.iter_mut() {
            let Copy {
                wc, targets, found, ..
            } = copy;
            for (target, depth) in targets.iter() {
                let options = HarvestOptions {
                    depth: *depth,
                    just_locked: !self.options.keep_locks,
                    changelists: self.options.changelists.clone(),
                    copy_to: None,
                };
                commit::harvest(wc, target, &options, check, &self.context.cancel, found)?;
            }
        }
        for copy in copies.iter_mut() {
            copy.found.complete(&copy.wc, check)?;
        }
        refuse_several(copies)?;
        if !copies
            .iter()
            .any(|copy| copy.found.items.values().any(Item::is_change))
        {
            return Ok(None);
        }
        for copy in copies.iter() {
            commit::check_moves(&copy.wc, &copy.found)?;
        }
        let Some(message) = ask(&items(copies))? else {
            return Ok(None);
        };
        let mut prepared = Prepared::condense(copies)?;
        prepared.revprops = with_message(&self.options.revprops, &message)?;
        Ok(Some(prepared))
    }

    fn kind_at(&self, url: &Url, rev: Revnum) -> Result<NodeKind> {
        let mut session = self.context.sessions.open(url)?;
        let kind = session.check_path(RelPath::ROOT, Some(rev))?;
        session.give_back();
        Ok(kind)
    }

    fn make(
        &self,
        copies: &[Copy],
        prepared: &Prepared,
        notify: &mut NotifyFn<'_>,
    ) -> Result<(CommitInfo, Texts)> {
        let mut session = self.context.sessions.open(&prepared.base)?;
        let mut nodes = prepared.nodes(copies);
        let mut youngest = None;
        for node in &mut nodes {
            let copy = &copies[node.copy];
            if commit::follows_its_source(&copy.wc, &copy.found, &node.item)? {
                let youngest = match youngest {
                    Some(youngest) => youngest,
                    None => *youngest.insert(session.latest_rev()?),
                };
                if let Some((_, rev)) = &mut node.item.copy_from {
                    *rev = (*rev).max(youngest);
                }
            }
        }
        let options = sylvan_ra::CommitOptions {
            revprops: prepared.revprops.clone(),
            lock_tokens: prepared.lock_tokens.clone(),
            keep_locks: self.options.keep_locks,
        };
        let transmitters = copies
            .iter()
            .map(|copy| Transmitter::new(&copy.wc))
            .collect::<Result<Vec<_>>>()?;
        let format = match session.delta_format()? {
            DeltaFormat::Fulltext => Format::Fulltext,
            DeltaFormat::Svndiff { version, level } => Format::Delta { version, level },
        };
        let mut drive = Drive {
            copies,
            transmitters,
            nodes: &nodes,
            base: &prepared.base,
            prefix: &self.prefix,
            format,
            cancel: &self.context.cancel,
            notify,
            texts: Texts::new(),
        };
        let info = session.commit(&options, &mut |editor| drive.run(editor))?;
        let texts = std::mem::take(&mut drive.texts);
        session.give_back();
        Ok((info, texts))
    }

    fn finish(&self, copies: &[Copy], texts: &Texts, info: &CommitInfo) -> Result<()> {
        let date = info.date.as_deref().map(Timestamp::parse_iso).transpose()?;
        let how = Finish {
            rev: info.rev,
            date,
            author: info.author.clone(),
            keep_locks: self.options.keep_locks,
            keep_changelists: self.options.keep_changelists,
        };
        for (index, copy) in copies.iter().enumerate() {
            let committed: Vec<Committed<'_>> = copy
                .found
                .items
                .values()
                .map(|item| Committed {
                    item,
                    text: texts.get(&(index, item.path.clone())),
                })
                .collect();
            // What is in the repository is to be seen here, even if the user wants to stop.
            commit::finish(&copy.wc, &committed, &how, &Cancel::new())?;
        }
        Ok(())
    }
}

/// The texts that were sent, by working copy and path.
type Texts = BTreeMap<(usize, RelPathBuf), SentText>;

/// Locks the folder that all targets in a working copy are in.
fn lock(copy: &Copy) -> Result<WcLock> {
    let mut common = copy.targets[0].0.clone();
    for (target, _) in &copy.targets {
        while !target.starts_with(&common) {
            common = common.parent().unwrap_or(RelPath::ROOT).to_owned();
        }
    }
    let is_target = copy.targets.iter().any(|(target, _)| *target == common);
    let root = match common.parent().filter(|_| is_target) {
        Some(parent) => parent.to_owned(),
        None => common,
    };
    WcLock::acquire(&copy.wc, &root, Anchor::Node)
}

fn refuse_several(copies: &[Copy]) -> Result<()> {
    let mut roots = copies.iter().flat_map(|copy| copy.found.roots());
    let Some(first) = roots.next() else {
        return Ok(());
    };
    if roots.all(|root| root == first) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::UNSUPPORTED_FEATURE,
        "Commit can only commit to a single repository at a time.\n\
         Are all targets part of the same working copy?",
    ))
}

/// Describes the nodes of a commit for its message.
fn items(copies: &[Copy]) -> Vec<CommitItem> {
    let mut all = Vec::new();
    for copy in copies {
        for item in copy.found.items.values() {
            all.push(CommitItem {
                path: Some(copy.wc.local_path(&item.path)),
                url: item.url(),
                kind: item.kind,
                change: Change {
                    added: item.added,
                    deleted: item.deleted,
                    text: item.text,
                    props: item.props,
                    copied: item.copy_from.is_some(),
                    locked: item.locked,
                },
            });
        }
    }
    all
}

/// All that is known before a commit begins.
struct Prepared {
    /// The URL that the drive's root is.
    base: Url,
    revprops: Props,
    lock_tokens: BTreeMap<RelPathBuf, String>,
}

/// A node of the drive.
struct Node {
    copy: usize,
    item: Item,
    /// Below the drive's root.
    path: RelPathBuf,
}

impl Prepared {
    /// Finds the folder that all is in, which is not changed itself but for its properties.
    fn condense(copies: &[Copy]) -> Result<Self> {
        let mut all: Vec<(Url, &Item)> = copies
            .iter()
            .flat_map(|copy| copy.found.items.values())
            .map(|item| (item.url(), item))
            .collect();
        all.sort_by(|(_, left), (_, right)| tree_order(&left.repos_path, &right.repos_path));
        let mut base: Option<Url> = None;
        let mut last: Option<&Url> = None;
        for (url, item) in &all {
            if last == Some(url) {
                return Err(Error::new(
                    ErrorCode::CLIENT_DUPLICATE_COMMIT_URL,
                    format!("Cannot commit both '{url}' and '{url}' as they refer to the same URL"),
                ));
            }
            last = Some(url);
            let mut common = match &base {
                None => url.clone(),
                Some(base) => base.common_ancestor(url).unwrap_or_else(|| base.clone()),
            };
            let only_props = item.kind == NodeKind::Dir
                && item.props
                && !(item.added || item.deleted || item.text || item.locked);
            if common == *url && !only_props {
                common = common.parent().unwrap_or(common);
            }
            base = Some(common);
        }
        let base = base.ok_or_else(|| Error::from_code(ErrorCode::INCORRECT_PARAMS))?;
        let mut lock_tokens = BTreeMap::new();
        for (url, token) in copies.iter().flat_map(|copy| &copy.found.lock_tokens) {
            if let Some(path) = Url::parse(url)?.strip_prefix(&base) {
                lock_tokens.insert(path, token.clone());
            }
        }
        Ok(Self {
            base,
            revprops: Props::new(),
            lock_tokens,
        })
    }

    fn nodes(&self, copies: &[Copy]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (index, copy) in copies.iter().enumerate() {
            for item in copy.found.items.values() {
                let path = item.url().strip_prefix(&self.base);
                nodes.push(Node {
                    copy: index,
                    item: item.clone(),
                    path: path.unwrap_or_default(),
                });
            }
        }
        nodes.sort_by(|left, right| tree_order(&left.path, &right.path));
        nodes
    }
}

struct Drive<'a, 'n> {
    copies: &'a [Copy],
    transmitters: Vec<Transmitter<'a>>,
    nodes: &'a [Node],
    base: &'a Url,
    prefix: &'a Dirent,
    format: Format,
    cancel: &'a Cancel,
    notify: &'a mut NotifyFn<'n>,
    texts: Texts,
}

impl Drive<'_, '_> {
    fn run(&mut self, editor: &mut dyn Editor) -> Result<()> {
        let nodes = self.nodes;
        let paths: Vec<&RelPath> = nodes.iter().map(|node| &*node.path).collect();
        let mut files: Vec<(usize, Token)> = Vec::new();
        let mut tokens = Tokens::default();
        path_driver::drive(
            editor,
            None,
            &paths,
            &mut tokens,
            &mut |editor, tokens, place| {
                self.cancel.check()?;
                let node = &nodes[place.index];
                self.tell(node)?;
                let sent = self.node(editor, tokens, node, place, &mut files);
                sent.map_err(|error| self.explain(node, error))
            },
        )?;
        for (index, file) in files {
            self.cancel.check()?;
            let node = &nodes[index];
            let mut what = self.about(node, Action::CommitText);
            what.kind = NodeKind::File;
            (self.notify)(&what);
            let is_new = node.item.added && node.item.copy_from.is_none();
            let sent = self.transmitters[node.copy].text(
                &node.item.path,
                is_new,
                self.format,
                editor,
                file,
                self.cancel,
            );
            let sent = sent.map_err(|error| self.explain(node, error))?;
            self.texts.insert((node.copy, node.item.path.clone()), sent);
        }
        let mut what = Notification::new(Dirent::default(), Action::CommitFinalizing);
        what.url = Some(self.base.to_string());
        (self.notify)(&what);
        editor.close_edit()
    }

    fn about(&self, node: &Node, action: Action) -> Notification {
        let local = self.copies[node.copy].wc.local_path(&node.item.path);
        let mut what = Notification::new(local, action).kind(node.item.kind);
        what.prefix = Some(self.prefix.clone());
        what
    }

    fn tell(&mut self, node: &Node) -> Result<()> {
        let item = &node.item;
        let action = match (item.deleted, item.added) {
            (true, true) => Action::CommitReplaced,
            (true, false) => Action::CommitDeleted,
            (false, true) if item.copy_from.is_some() => Action::CommitCopied,
            (false, true) => Action::CommitAdded,
            (false, false) if item.text || item.props => Action::CommitModified,
            (false, false) => return Ok(()),
        };
        let mut what = self.about(node, action);
        let state = |changed| {
            if changed {
                State::Changed
            } else {
                State::Unchanged
            }
        };
        match action {
            Action::CommitModified => {
                what = what.states(state(item.text), state(item.props));
            }
            Action::CommitAdded | Action::CommitCopied if item.kind == NodeKind::File => {
                let mime_type = self.transmitters[node.copy].prop(&item.path, SVN_MIME_TYPE)?;
                what.mime_type =
                    mime_type.map(|value| String::from_utf8_lossy(&value).into_owned());
            }
            _ => {}
        }
        (self.notify)(&what);
        Ok(())
    }

    fn node(
        &mut self,
        editor: &mut dyn Editor,
        tokens: &mut Tokens,
        node: &Node,
        place: &Place<'_>,
        files: &mut Vec<(usize, Token)>,
    ) -> Result<Option<Token>> {
        let item = &node.item;
        let (path, is_file) = (place.path, item.kind == NodeKind::File);
        let no_parent = || Error::from_code(ErrorCode::INCORRECT_PARAMS);
        let parent = || place.parent.ok_or_else(no_parent);
        let mut open = None;
        if item.deleted {
            editor.delete_entry(path, item.revision, parent()?)?;
        }
        if item.added {
            let token = tokens.next();
            let from = item.copy_from.clone();
            let from = from.map(|(path, rev)| CopyFrom { path, rev });
            match is_file {
                true => editor.add_file(path, parent()?, from, token)?,
                false => editor.add_directory(path, parent()?, from, token)?,
            }
            open = Some(token);
        }
        if open.is_none() && (item.props || item.text) {
            let token = tokens.next();
            match (is_file, place.parent) {
                (true, _) => editor.open_file(path, parent()?, item.revision, token)?,
                (false, Some(parent)) => {
                    editor.open_directory(path, parent, item.revision, token)?;
                }
                (false, None) => editor.open_root(item.revision, token)?,
            }
            open = Some(token);
        }
        let Some(token) = open else {
            return Ok(None);
        };
        if item.props {
            for (name, value) in self.transmitters[node.copy].prop_changes(&item.path)? {
                match is_file {
                    true => editor.change_file_prop(token, &name, value.as_deref())?,
                    false => editor.change_dir_prop(token, &name, value.as_deref())?,
                }
            }
        }
        if !is_file {
            return Ok(Some(token));
        }
        if item.text {
            files.push((place.index, token));
        } else {
            editor.close_file(token, None)?;
        }
        Ok(None)
    }

    fn explain(&self, node: &Node, error: Error) -> Error {
        let local = self.copies[node.copy].wc.local_path(&node.item.path);
        explain(error, node.item.kind, local.local_style())
    }
}

/// Says in words of the node why it cannot be committed, where that is known.
pub(crate) fn explain(error: Error, kind: NodeKind, shown: &str) -> Error {
    const OUT_OF_DATE: [ErrorCode; 7] = [
        ErrorCode::FS_NOT_FOUND,
        ErrorCode::FS_CONFLICT,
        ErrorCode::FS_ALREADY_EXISTS,
        ErrorCode::FS_TXN_OUT_OF_DATE,
        ErrorCode::RA_DAV_PATH_NOT_FOUND,
        ErrorCode::RA_DAV_ALREADY_EXISTS,
        ErrorCode::RA_DAV_PRECONDITION_FAILED,
    ];
    const LOCKED: [ErrorCode; 3] = [
        ErrorCode::FS_LOCK_OWNER_MISMATCH,
        ErrorCode::FS_BAD_LOCK_TOKEN,
        ErrorCode::RA_NOT_LOCKED,
    ];
    let is_dir = kind == NodeKind::Dir;
    let what = if is_dir { "Directory" } else { "File" };
    let code = error.code();
    if OUT_OF_DATE.contains(&code) || error.has_code(ErrorCode::RA_OUT_OF_DATE) {
        return error.wrap(
            ErrorCode::WC_NOT_UP_TO_DATE,
            format!("{what} '{shown}' is out of date"),
        );
    }
    if LOCKED.contains(&code) || error.has_code(ErrorCode::FS_NO_LOCK_TOKEN) {
        return error.wrap(
            ErrorCode::CLIENT_NO_LOCK_TOKEN,
            format!("{what} '{shown}' is locked in another working copy"),
        );
    }
    if code == ErrorCode::AUTHZ_UNWRITABLE || error.has_code(ErrorCode::RA_DAV_FORBIDDEN) {
        let what = if is_dir { "directory" } else { "file" };
        return error.wrap(
            ErrorCode::CLIENT_FORBIDDEN_BY_SERVER,
            format!("Changing {what} '{shown}' is forbidden by the server"),
        );
    }
    error
}

/// Returns the folder to which a message's paths are relative: that of all targets, or the folder
/// of the only one.
pub fn message_base(context: &Context, targets: &[Dirent]) -> Option<Dirent> {
    let targets: Vec<Dirent> = targets.iter().map(|path| context.absolute(path)).collect();
    let base = common(&targets)?;
    if !targets.contains(&base) {
        return Some(base);
    }
    match WorkingCopy::open(&base, &context.wc) {
        Ok((_, at)) if !at.is_root() => Some(base.dirname()),
        _ => Some(base),
    }
}

/// Reads from the configuration whether locks stay.
///
/// # Errors
/// If the option makes no sense.
pub fn keeps_locks(context: &Context) -> Result<bool> {
    let (section, option) = ("miscellany", "no-unlock");
    context
        .config
        .get_bool(Category::Config, section, option, false)
}
