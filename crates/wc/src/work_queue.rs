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

use rusqlite::params;
use sylvan_core::skel::Skel;
use sylvan_core::{
    Dirent, Error, ErrorCode, Props, RelPath, RelPathBuf, Result, TimeZone, Timestamp,
};
use sylvan_io::Cancel;

use crate::db::write as rows;
use crate::db::{Db, Layer, sqlite_error};
use crate::install::{self, Recipe, RecipeInfo, Source};
use crate::site::Site;
use crate::{WorkingCopy, modified, pristine};

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
}

impl Runner<'_> {
    /// Does the items of these numbers, in order, or all.
    pub(crate) fn run(&self, only: Option<&[i64]>, cancel: &Cancel) -> Result<()> {
        let mut done = Vec::new();
        let mut recorded = Vec::new();
        let mut last = 0;
        let mut only = only.map(|items| items.iter());
        let outcome = loop {
            if let Err(error) = cancel.check() {
                break Err(error);
            }
            let after = match &mut only {
                None => last,
                Some(items) => match items.next() {
                    Some(item) => item - 1,
                    None => break Ok(()),
                },
            };
            let next = match self.next(after) {
                Ok(Some(next)) => next,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            // What reads a file cannot be done again when that file is removed.
            let removes =
                next.1.starts_with(b"(file-remove ") || next.1.starts_with(b"(11 file-remove ");
            let is_due = removes && done.iter().any(|(_, removes)| !removes) || done.len() >= BATCH;
            if is_due && let Err(error) = self.retire(&mut done, &mut recorded) {
                break Err(error);
            }
            match self.dispatch(&next.1) {
                Ok(file) => recorded.extend(file),
                Err(error) => break Err(failed(self.root, &next, error)),
            }
            last = next.0;
            done.push((last, removes));
        };
        let retired = self.retire(&mut done, &mut recorded);
        outcome.and(retired)
    }

    fn next(&self, after: i64) -> Result<Option<(i64, Vec<u8>)>> {
        self.db.row(rows::NEXT_WORK_ITEM, [after], |row| {
            Ok((row.get(0).map_err(sqlite_error)?, work(row)?))
        })
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
            "file-install" => self.file_install(&args),
            "file-remove" => {
                let path = args.path(1)?;
                let (dir, path) = self.site.locate(&path);
                dir.remove_if_exists(path).map(|()| None)
            }
            "dir-install" => self.site.root.make_dir_all(&args.path(1)?).map(|()| None),
            "dir-remove" => self.dir_remove(&args).map(|()| None),
            "file-move" => self.file_move(&args).map(|()| None),
            "file-translate" => self.file_translate(&args).map(|()| None),
            "sync-file-flags" => self.sync_file_flags(&args.path(1)?).map(|()| None),
            "file-commit" => self.file_commit(&args),
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
        let recipe = recipe_in(self.db, self.zone, &layer, &props, use_commit_times)?;
        Ok((layer, recipe))
    }

    fn file_install(&self, args: &Args<'_>) -> Result<Option<FileInfo>> {
        let path = args.path(1)?;
        let record = args.number(3) != 0;
        let (layer, recipe) = self.recipe(&path, args.number(2) != 0)?;
        let text;
        let (dir, source) = match (args.has(4), layer.sha1()?) {
            (true, _) => {
                text = args.path(4)?;
                let (dir, source) = self.site.locate(&text);
                if self.is_gone(dir, source)? {
                    return Ok(None);
                }
                (dir, source)
            }
            (false, Some(sha1)) => {
                text = pristine::path(&sha1)?;
                (&*self.site.adm, &*text)
            }
            (false, None) => {
                return Err(Error::new(
                    ErrorCode::WC_CORRUPT_TEXT_BASE,
                    format!(
                        "Can't install '{}' from pristine store, because no checksum is recorded \
                         for this file",
                        self.local(&path)
                    ),
                ));
            }
        };
        let recorded = install::by_rename(
            &self.site.root,
            &path,
            Source::File(dir, source),
            &recipe,
            self.site.tmp(),
        )?;
        Ok(recorded
            .filter(|_| record)
            .map(|(size, time)| (path, size, time)))
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
        let mut recipe = recipe_in(self.db, self.zone, &current.layer, &current.props()?, false)?;
        // But a file is made read-only when that is committed, not before.
        recipe.read_only &= current
            .pristine_props()?
            .contains_key(sylvan_core::props::SVN_NEEDS_LOCK);
        if recipe.special {
            return Ok(());
        }
        install::sync_flags(&self.site.root, path, &recipe)
    }

    /// After a commit: the working file is written anew if translation makes it differ, and its
    /// size and time are recorded if it is what was committed.
    fn file_commit(&self, args: &Args<'_>) -> Result<Option<FileInfo>> {
        let path = args.path(1)?;
        let (layer, recipe) = self.recipe(&path, false)?;
        let root = &self.site.root;
        if !recipe.special
            && let Some(translation) = &recipe.translation
            && modified::would_translate(root, &path, translation)?
        {
            let source = Source::File(root, &path);
            install::by_rename(root, &path, source, &recipe, self.site.tmp())?;
        }
        if !recipe.special {
            install::sync_flags(root, &path, &recipe)?;
        }
        if modified::differs(root, &path, &layer, || Ok(recipe.translation.clone()))? {
            return Ok(None);
        }
        Ok(install::stat(root, &path)?.map(|(size, time)| (path, size, time)))
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
    let zone = &wc.options().time_zone;
    recipe_in(wc.db(), zone, layer, props, use_commit_times)
}

/// As [`recipe_with`], for who has but the database.
pub(crate) fn recipe_in(
    db: &Db,
    zone: &TimeZone,
    layer: &Layer,
    props: &Props,
    use_commit_times: bool,
) -> Result<Recipe> {
    let repos = match layer.repos_id {
        Some(id) => Some(db.repository(id)?),
        None => None,
    };
    let locked = match (layer.repos_id, &layer.repos_path, layer.op_depth) {
        (Some(id), Some(path), 0) => db.lock(id, path)?.is_some(),
        // What is not in the repository yet can be written.
        _ => layer.op_depth > 0,
    };
    let nowhere = sylvan_core::Url::parse("file:///")?;
    Ok(Recipe::new(
        props,
        &RecipeInfo {
            repos_root: repos.as_ref().map_or(&nowhere, |repos| &repos.root),
            repos_path: layer.repos_path.as_deref().filter(|_| layer.op_depth == 0),
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
