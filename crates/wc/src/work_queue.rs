//! The work queue: what a transaction has promised to do on disk.
//!
//! An item is a skel, a list of a word and arguments; paths are below the working copy's root.
//! Each can be done twice. They are Subversion's own: it finishes ours, and we finish its.
//!
//! | item | arguments |
//! |---|---|
//! | `file-install` | path, whether it gets the time of its last change, whether size and time are recorded, source (else the pristine text) |
//! | `file-remove` | path |
//! | `dir-install` | path |
//! | `dir-remove` | path, whether all in it too |
//! | `file-move` | from, to |
//! | `file-translate` | path whose properties count, from, to |
//! | `sync-file-flags` | path |
//! | `file-commit` | path |
//! | `prej-install` | path |
//! | `record-fileinfo` | path, time to be set |
//! | `base-remove` | path, revision that stays as not present, unused |
//! | `postupgrade` | |

use std::collections::HashSet;

use rusqlite::params;
use sylvan_core::props::SVN_KEYWORDS;
use sylvan_core::skel::Skel;
use sylvan_core::{
    Dirent, Error, ErrorCode, Props, RelPath, RelPathBuf, Result, TimeZone, Timestamp,
};
use sylvan_io::Cancel;

use crate::db::write as rows;
use crate::db::{Db, Layer, sqlite_error};
use crate::install::{self, Recipe, RecipeInfo, Source};
use crate::site::Site;
use crate::{WorkingCopy, modified, pristine, scan, survey};

/// Makes items.
pub(crate) mod item {
    use sylvan_core::RelPath;
    use sylvan_core::skel::Skel;

    fn one(word: &str, path: &RelPath) -> Vec<u8> {
        Skel::list([Skel::atom(word), Skel::atom(path.as_str())]).to_bytes()
    }

    /// Writes a working file from its pristine text.
    pub(crate) fn file_install(path: &RelPath, use_commit_times: bool, record: bool) -> Vec<u8> {
        Skel::list([
            Skel::atom("file-install"),
            Skel::atom(path.as_str()),
            Skel::number(use_commit_times.into()),
            Skel::number(record.into()),
        ])
        .to_bytes()
    }

    /// Writes a working file from another file, and records nothing of it.
    pub(crate) fn file_install_from(path: &RelPath, from: &RelPath) -> Vec<u8> {
        file_install_with(path, false, from)
    }

    /// As [`file_install_from`]; the file may get the time of its last change.
    pub(crate) fn file_install_with(path: &RelPath, times: bool, from: &RelPath) -> Vec<u8> {
        Skel::list([
            Skel::atom("file-install"),
            Skel::atom(path.as_str()),
            Skel::number(times.into()),
            Skel::number(0),
            Skel::atom(from.as_str()),
        ])
        .to_bytes()
    }

    fn several(word: &str, paths: &[&RelPath]) -> Vec<u8> {
        let paths = paths.iter().map(|path| Skel::atom(path.as_str()));
        Skel::list(std::iter::once(Skel::atom(word)).chain(paths)).to_bytes()
    }

    /// Writes `from` to `to` as it would be in the working copy with the properties of `path`.
    pub(crate) fn file_translate(path: &RelPath, from: &RelPath, to: &RelPath) -> Vec<u8> {
        several("file-translate", &[path, from, to])
    }

    /// Writes the file that tells of property conflicts.
    pub(crate) fn prej_install(path: &RelPath) -> Vec<u8> {
        one("prej-install", path)
    }

    /// Makes a folder.
    pub(crate) fn dir_install(path: &RelPath) -> Vec<u8> {
        one("dir-install", path)
    }

    /// Removes a file.
    pub(crate) fn file_remove(path: &RelPath) -> Vec<u8> {
        one("file-remove", path)
    }

    /// Removes a folder if it is empty.
    pub(crate) fn dir_remove(path: &RelPath) -> Vec<u8> {
        one("dir-remove", path)
    }

    /// Finishes the commit of a file: keywords are expanded anew, its size and time recorded.
    pub(crate) fn file_commit(path: &RelPath) -> Vec<u8> {
        one("file-commit", path)
    }

    /// Removes a folder with all in it.
    pub(crate) fn dir_remove_all(path: &RelPath) -> Vec<u8> {
        Skel::list([
            Skel::atom("dir-remove"),
            Skel::atom(path.as_str()),
            Skel::number(1),
        ])
        .to_bytes()
    }

    /// Moves a file or folder, mostly one that was prepared in the administrative folder.
    pub(crate) fn file_move(from: &RelPath, to: &RelPath) -> Vec<u8> {
        Skel::list([
            Skel::atom("file-move"),
            Skel::atom(from.as_str()),
            Skel::atom(to.as_str()),
        ])
        .to_bytes()
    }

    /// Removes what a working copy before Subversion 1.7 has left.
    pub(crate) fn post_upgrade() -> Vec<u8> {
        Skel::list([Skel::atom("postupgrade")]).to_bytes()
    }

    /// Sets the mode bits of a file.
    pub(crate) fn sync_file_flags(path: &RelPath) -> Vec<u8> {
        one("sync-file-flags", path)
    }
}

/// How many items are done before their end is recorded.
const BATCH: usize = 200;

/// Does all that is in the queue.
///
/// # Errors
/// `E155009` with the item and what kept it from being done, which stays in the queue with those
/// after it; `E200015` when cancelled.
pub fn run(wc: &WorkingCopy, cancel: &Cancel) -> Result<()> {
    let site = Site::of(wc)?;
    let runner = Runner {
        db: wc.db(),
        site: &site,
        root: wc.root(),
        zone: &wc.options().time_zone,
        workers: wc.workers(),
    };
    runner.run(None, cancel)
}

fn failed(root: &Dirent, (id, work): &(i64, Vec<u8>), error: Error) -> Error {
    error.wrap(
        ErrorCode::WC_BAD_ADM_LOG,
        format!(
            "Failed to run the WC DB work queue associated with '{root}', work item {id} {}",
            String::from_utf8_lossy(work)
        ),
    )
}

/// A file with its size and modification time.
pub(crate) type FileInfo = (RelPathBuf, i64, i64);

/// Does work items.
pub(crate) struct Runner<'a> {
    pub db: &'a Db,
    pub site: &'a Site,
    /// The working copy's root.
    pub root: &'a Dirent,
    /// For dates in keywords.
    pub zone: &'a TimeZone,
    /// How many threads work on files at once.
    pub workers: usize,
}

/// An item, with what it needs of the database.
struct Loaded {
    id: i64,
    work: Vec<u8>,
    step: Result<Step>,
}

/// What an item comes to.
enum Step {
    /// Work on one file, which needs nothing but the disk.
    File(FileStep),
    /// What needs the database while it is done, or what was done before it.
    Alone,
    /// As [`Step::Alone`]; and it changes rows that later items read.
    ChangesRows,
}

enum FileStep {
    /// Writing a working file from its pristine text.
    Install(Install),
    /// Finishing the commit of a file.
    Commit(Box<Commit>),
    /// Removing a file.
    Remove(RelPathBuf),
}

struct Install {
    path: RelPathBuf,
    text: RelPathBuf,
    recipe: Recipe,
    record: bool,
}

struct Commit {
    path: RelPathBuf,
    layer: Layer,
    recipe: Recipe,
}

impl FileStep {
    /// Returns the file that is written or removed.
    fn path(&self) -> &RelPath {
        match self {
            Self::Install(install) => &install.path,
            Self::Commit(commit) => &commit.path,
            Self::Remove(path) => path,
        }
    }

    /// Tells whether a file is removed: what reads that file cannot be done again then.
    const fn removes(&self) -> bool {
        matches!(self, Self::Remove(_))
    }

    fn perform(&self, site: &Site) -> Result<Option<FileInfo>> {
        match self {
            Self::Install(install) => {
                let source = Source::File(&site.adm, &install.text);
                let Install { path, recipe, .. } = install;
                let recorded = install::by_rename(&site.root, path, source, recipe, site.tmp())?;
                Ok(recorded
                    .filter(|_| install.record)
                    .map(|(size, time)| (path.clone(), size, time)))
            }
            Self::Commit(commit) => finish_commit(site, commit),
            Self::Remove(path) => {
                let (dir, path) = site.locate(path);
                dir.remove_if_exists(path).map(|()| None)
            }
        }
    }
}

impl Loaded {
    const fn file(&self) -> Option<&FileStep> {
        match &self.step {
            Ok(Step::File(step)) => Some(step),
            _ => None,
        }
    }

    fn removes(&self) -> bool {
        self.file().is_some_and(FileStep::removes)
    }
}

/// Counts the items at the beginning of `items` that can be done in any order: of one kind, each
/// for a file of its own.
fn alike(items: &[Loaded]) -> usize {
    let Some(first) = items.first() else { return 0 };
    let mut paths = HashSet::new();
    let same = items.iter().take_while(|item| {
        item.removes() == first.removes()
            && item.file().is_some_and(|step| paths.insert(step.path()))
    });
    same.count().max(1)
}

impl Runner<'_> {
    /// Does the items of these numbers, in order, or all.
    pub(crate) fn run(&self, only: Option<&[i64]>, cancel: &Cancel) -> Result<()> {
        let mut done = Vec::new();
        let mut recorded = Vec::new();
        let mut todo = Todo { last: 0, only };
        let outcome = loop {
            let loaded = match self.db.read(|| self.load(&mut todo)) {
                Ok(loaded) if loaded.is_empty() => break Ok(()),
                Ok(loaded) => loaded,
                Err(error) => break Err(error),
            };
            if let Err(error) = self.run_loaded(loaded, &mut done, &mut recorded, cancel) {
                break Err(error);
            }
        };
        let retired = self.retire(&mut done, &mut recorded);
        outcome.and(retired)
    }

    /// Does items; those that are alike at once.
    fn run_loaded(
        &self,
        mut loaded: Vec<Loaded>,
        done: &mut Vec<(i64, bool)>,
        recorded: &mut Vec<FileInfo>,
        cancel: &Cancel,
    ) -> Result<()> {
        while !loaded.is_empty() {
            cancel.check()?;
            let rest = loaded.split_off(alike(&loaded));
            let items = std::mem::replace(&mut loaded, rest);
            let removes = items.iter().any(Loaded::removes);
            if removes && done.iter().any(|(_, removes)| !removes) || done.len() >= BATCH {
                self.retire(done, recorded)?;
            }
            let results = match &*items {
                [item] => vec![self.perform(item)],
                _ => {
                    let steps: Vec<_> = items.iter().filter_map(Loaded::file).collect();
                    let threads = self.workers.min(steps.len().div_ceil(2));
                    let site = self.site;
                    survey::map(&steps, threads, cancel, |step| Ok(step.perform(site)))?
                }
            };
            let mut outcome = Ok(());
            for (item, result) in items.into_iter().zip(results) {
                match result {
                    Ok(file) => {
                        recorded.extend(file);
                        done.push((item.id, removes));
                    }
                    Err(error) if outcome.is_ok() => {
                        outcome = Err(failed(self.root, &(item.id, item.work), error));
                    }
                    Err(_) => {}
                }
            }
            outcome?;
        }
        Ok(())
    }

    /// Reads the next items, and what they need to be done.
    fn load(&self, todo: &mut Todo<'_>) -> Result<Vec<Loaded>> {
        let mut loaded = Vec::new();
        while loaded.len() < BATCH
            && let Some(after) = todo.next()
            && let Some((id, work)) = self.next(after)?
        {
            todo.last = id;
            let step = self.prepare(&work);
            let changes_rows = matches!(step, Ok(Step::ChangesRows));
            loaded.push(Loaded { id, work, step });
            if changes_rows {
                break;
            }
        }
        Ok(loaded)
    }

    fn next(&self, after: i64) -> Result<Option<(i64, Vec<u8>)>> {
        self.db.row(rows::NEXT_WORK_ITEM, [after], |row| {
            Ok((row.get(0).map_err(sqlite_error)?, work(row)?))
        })
    }

    fn prepare(&self, work: &[u8]) -> Result<Step> {
        let skel = Skel::parse(work)?;
        let Some(args) = skel.elements().map(Args) else {
            return Ok(Step::Alone);
        };
        let step = match args.word(0) {
            Some("file-install") if !args.has(4) => {
                let path = args.path(1)?;
                let (layer, recipe) = self.recipe(&path, args.number(2) != 0)?;
                let Some(sha1) = layer.sha1()? else {
                    return Err(self.no_text(&path));
                };
                FileStep::Install(Install {
                    text: pristine::path(&sha1)?,
                    record: args.number(3) != 0,
                    path,
                    recipe,
                })
            }
            Some("file-commit") => {
                let path = args.path(1)?;
                let (layer, recipe) = self.recipe(&path, false)?;
                FileStep::Commit(Box::new(Commit {
                    path,
                    layer,
                    recipe,
                }))
            }
            Some("file-remove") => FileStep::Remove(args.path(1)?),
            Some("base-remove") => return Ok(Step::ChangesRows),
            _ => return Ok(Step::Alone),
        };
        Ok(Step::File(step))
    }

    fn no_text(&self, path: &RelPath) -> Error {
        Error::new(
            ErrorCode::WC_CORRUPT_TEXT_BASE,
            format!(
                "Can't install '{}' from pristine store, because no checksum is recorded for this \
                 file",
                self.local(path)
            ),
        )
    }

    fn perform(&self, item: &Loaded) -> Result<Option<FileInfo>> {
        match &item.step {
            Ok(Step::File(step)) => step.perform(self.site),
            Ok(Step::Alone | Step::ChangesRows) => self.dispatch(&item.work),
            Err(error) => Err(error.clone()),
        }
    }

    fn retire(&self, done: &mut Vec<(i64, bool)>, recorded: &mut Vec<FileInfo>) -> Result<()> {
        if done.is_empty() {
            return Ok(());
        }
        self.db.write(|| {
            record_files(self.db, &std::mem::take(recorded))?;
            let done = std::mem::take(done);
            self.db
                .delete_work_items(done.into_iter().map(|(item, _)| item).collect())
        })
    }

    fn dispatch(&self, work: &[u8]) -> Result<Option<FileInfo>> {
        let skel = Skel::parse(work)?;
        let unknown = || {
            Error::new(
                ErrorCode::WC_BAD_ADM_LOG,
                "Unrecognized work item in the queue",
            )
        };
        let args = Args(skel.elements().ok_or_else(unknown)?);
        match args.word(0).ok_or_else(unknown)? {
            "file-install" => self.install_from(&args).map(|()| None),
            "dir-install" => self.site.root.make_dir_all(&args.path(1)?).map(|()| None),
            "dir-remove" => self.dir_remove(&args).map(|()| None),
            "file-move" => self.file_move(&args).map(|()| None),
            "file-translate" => self.file_translate(&args).map(|()| None),
            "sync-file-flags" => self.sync_file_flags(&args.path(1)?).map(|()| None),
            "record-fileinfo" => self.record_file_info(&args),
            "base-remove" => self.base_remove(&args).map(|()| None),
            "postupgrade" => self.post_upgrade().map(|()| None),
            "prej-install" => crate::prej::install(self, &args.path(1)?).map(|()| None),
            _ => Err(unknown()),
        }
    }

    /// Returns the highest layer of a node, and its local properties.
    fn top(&self, path: &RelPath) -> Result<(Layer, Props)> {
        let node = self.db.node(path)?;
        let mut node = node.filter(|node| !node.layers.is_empty()).ok_or_else(|| {
            Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("The node '{}' was not found.", self.local(path)),
            )
        })?;
        let layer = node.layers.swap_remove(0);
        let props = match &node.actual.properties {
            Some(stored) => sylvan_core::props::from_skel(stored)?,
            None => layer.props()?,
        };
        Ok((layer, props))
    }

    /// Returns the path that users see.
    pub(crate) fn local(&self, path: &RelPath) -> Dirent {
        self.root.join_relpath(path)
    }

    fn recipe(&self, path: &RelPath, use_commit_times: bool) -> Result<(Layer, Recipe)> {
        let (layer, props) = self.top(path)?;
        // Keywords tell where an added node would be committed.
        let place = if layer.op_depth > 0 && props.contains_key(SVN_KEYWORDS) {
            let place = scan::added(self.db, self.root, path)?;
            Some((place.repos_id, place.path))
        } else {
            place_in_base(&layer)
        };
        let recipe = recipe_in(self.db, self.zone, &layer, place, &props, use_commit_times)?;
        Ok((layer, recipe))
    }

    /// Writes a working file from a file that is not its pristine text.
    fn install_from(&self, args: &Args<'_>) -> Result<()> {
        let path = args.path(1)?;
        let (_, recipe) = self.recipe(&path, args.number(2) != 0)?;
        let source = args.path(4)?;
        let (dir, source) = self.site.locate(&source);
        if self.is_gone(dir, source)? {
            return Ok(());
        }
        let (root, tmp) = (&self.site.root, self.site.tmp());
        install::by_rename(root, &path, Source::File(dir, source), &recipe, tmp).map(drop)
    }

    /// Tells whether a temporary file is not there any more: the item that reads it was done before,
    /// and so was the one after it that removes the file.
    fn is_gone(&self, dir: &sylvan_io::file::Dir, path: &RelPath) -> Result<bool> {
        let is_temp = dir.path() == self.site.adm.path() && path.starts_with(crate::site::tmp());
        Ok(is_temp && dir.lstat(path)?.is_none())
    }

    fn dir_remove(&self, args: &Args<'_>) -> Result<()> {
        let path = args.path(1)?;
        if args.number(2) != 0 {
            self.site.root.remove_tree(&path, &Cancel::new())
        } else {
            self.site.root.remove_dir_if_empty(&path)
        }
    }

    fn file_move(&self, args: &Args<'_>) -> Result<()> {
        let (from, to) = (args.path(1)?, args.path(2)?);
        let (from_dir, from) = self.site.locate(&from);
        let (to_dir, to) = self.site.locate(&to);
        if from_dir.lstat(from)?.is_none() {
            return Ok(());
        }
        from_dir.rename_to(from, to_dir, to)
    }

    fn file_translate(&self, args: &Args<'_>) -> Result<()> {
        let (from, to) = (args.path(2)?, args.path(3)?);
        let (from_dir, from) = self.site.locate(&from);
        let (to_dir, to) = self.site.locate(&to);
        if self.is_gone(from_dir, from)? {
            return Ok(());
        }
        let (_, recipe) = self.recipe(&args.path(1)?, false)?;
        let plain = Recipe {
            executable: false,
            read_only: false,
            ..recipe
        };
        let source = Source::File(from_dir, from);
        install::by_rename(to_dir, to, source, &plain, self.site.tmp())?;
        if plain.translation.is_some()
            && let Some(meta) = from_dir.lstat(from)?
        {
            // What is translated keeps the mode of its source.
            to_dir.set_mode(to, meta.mode)?;
        }
        Ok(())
    }

    fn sync_file_flags(&self, path: &RelPath) -> Result<()> {
        let Some(current) = self.db.current(path)? else {
            return Ok(());
        };
        // The user's properties count, not the pristine ones.
        let layer = &current.layer;
        let place = place_in_base(layer);
        let mut recipe = recipe_in(self.db, self.zone, layer, place, &current.props()?, false)?;
        // But a file is made read-only when that is committed, not before.
        recipe.read_only &= current
            .pristine_props()?
            .contains_key(sylvan_core::props::SVN_NEEDS_LOCK);
        if recipe.special {
            return Ok(());
        }
        install::sync_flags(&self.site.root, path, &recipe)
    }

    fn record_file_info(&self, args: &Args<'_>) -> Result<Option<FileInfo>> {
        let path = args.path(1)?;
        let root = &self.site.root;
        if root.lstat(&path)?.is_none_or(|meta| !meta.is_file()) {
            return Ok(None);
        }
        let time = args.number(2);
        if time != 0 {
            root.set_time(&path, Timestamp::from_micros(time))?;
        }
        Ok(install::stat(root, &path)?.map(|(size, time)| (path, size, time)))
    }

    fn base_remove(&self, args: &Args<'_>) -> Result<()> {
        let path = args.path(1)?;
        let keep = if args.has(3) { args.number(2) } else { -1 };
        let delete = crate::update::Removal {
            path,
            keep: sylvan_core::Revnum::new(keep).map(|rev| (crate::db::Presence::NotPresent, rev)),
            on_disk: true,
        };
        let items = self
            .db
            .write(|| crate::update::remove_rows(self.db, &delete))?;
        // What was added now is done when its turn comes.
        drop(items);
        Ok(())
    }

    fn post_upgrade(&self) -> Result<()> {
        crate::upgrade::wipe(self.root, &self.site.root, &Cancel::new())?;
        for name in ["format", "entries"] {
            let path = RelPath::new(name)?;
            let old_client = Source::Bytes(b"12\n");
            let (adm, tmp) = (&self.site.adm, self.site.tmp());
            install::by_rename(adm, path, old_client, &Recipe::plain(), tmp)?;
        }
        Ok(())
    }
}

/// Where the runner is in the queue.
struct Todo<'a> {
    last: i64,
    only: Option<&'a [i64]>,
}

impl Todo<'_> {
    /// Returns the number that the next item's is above.
    fn next(&mut self) -> Option<i64> {
        let Some(items) = &mut self.only else {
            return Some(self.last);
        };
        let (first, rest) = items.split_first()?;
        *items = rest;
        Some(first - 1)
    }
}

/// After a commit: the working file is written anew if translation makes it differ, and its size and
/// time are recorded if it is what was committed.
fn finish_commit(site: &Site, commit: &Commit) -> Result<Option<FileInfo>> {
    let Commit {
        path,
        layer,
        recipe,
    } = commit;
    let root = &site.root;
    if !recipe.special
        && let Some(translation) = &recipe.translation
        && modified::would_translate(root, path, translation)?
    {
        let source = Source::File(root, path);
        install::by_rename(root, path, source, recipe, site.tmp())?;
    }
    if !recipe.special {
        install::sync_flags(root, path, recipe)?;
    }
    if modified::differs(root, path, layer, || Ok(recipe.translation.clone()))? {
        return Ok(None);
    }
    Ok(install::stat(root, path)?.map(|(size, time)| (path.clone(), size, time)))
}

/// Reads the skel in the second column; Subversion reads text as well as blobs.
pub(crate) fn work(row: &rusqlite::Row<'_>) -> Result<Vec<u8>> {
    let value = row.get_ref(1).map_err(sqlite_error)?;
    value
        .as_bytes()
        .map(<[u8]>::to_vec)
        .map_err(|error| crate::db::corrupt(error.to_string()))
}

/// Records size and time of files that are known to be unmodified.
pub(crate) fn record_files(db: &Db, files: &[FileInfo]) -> Result<()> {
    db.write(|| {
        for (path, size, time) in files {
            db.execute(
                rows::RECORD_FILE_INFO,
                params![db.wc_id(), path.as_str(), size, time],
            )?;
        }
        Ok(())
    })
}

/// Reads how the working file of a layer is made.
pub(crate) fn recipe_of(wc: &WorkingCopy, layer: &Layer, use_commit_times: bool) -> Result<Recipe> {
    recipe_with(wc, layer, &layer.props()?, use_commit_times)
}

/// As [`recipe_of`], with other properties than the pristine ones.
pub(crate) fn recipe_with(
    wc: &WorkingCopy,
    layer: &Layer,
    props: &Props,
    use_commit_times: bool,
) -> Result<Recipe> {
    let (zone, place) = (&wc.options().time_zone, place_in_base(layer));
    recipe_in(wc.db(), zone, layer, place, props, use_commit_times)
}

/// Returns the repository and the path of a BASE node. That of a layer above is its source's.
fn place_in_base(layer: &Layer) -> Option<(i64, RelPathBuf)> {
    let place = layer.repos_id.zip(layer.repos_path.clone());
    place.filter(|_| layer.op_depth == 0)
}

/// As [`recipe_with`], for who has but the database; `place` is where the node is, or is to be.
fn recipe_in(
    db: &Db,
    zone: &TimeZone,
    layer: &Layer,
    place: Option<(i64, RelPathBuf)>,
    props: &Props,
    use_commit_times: bool,
) -> Result<Recipe> {
    let repos = match place.as_ref().map_or(layer.repos_id, |(id, _)| Some(*id)) {
        Some(id) => Some(db.repository(id)?),
        None => None,
    };
    let locked = match (&place, layer.op_depth) {
        (Some((id, path)), 0) => db.lock(*id, path)?.is_some(),
        // What is not in the repository yet can be written.
        _ => layer.op_depth > 0,
    };
    let nowhere = sylvan_core::Url::parse("file:///")?;
    Ok(Recipe::new(
        props,
        &RecipeInfo {
            repos_root: repos.as_ref().map_or(&nowhere, |repos| &repos.root),
            repos_path: place.as_ref().map(|(_, path)| &**path),
            changed: &layer.changed(),
            locked,
            use_commit_times,
            zone,
        },
    ))
}

struct Args<'a>(&'a [Skel]);

impl Args<'_> {
    fn has(&self, at: usize) -> bool {
        self.0.len() > at
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.0.get(at)?.as_str()
    }

    fn number(&self, at: usize) -> i64 {
        self.0.get(at).and_then(Skel::as_number).unwrap_or(0)
    }

    fn path(&self, at: usize) -> Result<RelPathBuf> {
        let text = self
            .word(at)
            .ok_or_else(|| Error::new(ErrorCode::WC_BAD_ADM_LOG, "A work item has no path"))?;
        RelPathBuf::new(text)
    }
}
