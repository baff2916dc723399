//! Copies a file system while others use it.
//!
//! Packed shards come first, each with the revision properties that are packed with it, and then
//! the rest revision by revision. In a copy that is brought up to date readers may look on: a shard
//! is named in `min-unpacked-rev` when all of it is there, revisions in `current` likewise, and
//! what they replace goes only then. In one that is new, the file `format` is written last, and
//! nobody can open it before.

use std::path::{Path, PathBuf};

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, FileKind, TempFile};

use crate::conf;
use crate::fs::{Current, FileSystem, Options};
use crate::guard::WriteLock;
use crate::layout;
use crate::pack::remove_folder;
use crate::rep_cache;
use crate::revprops::{RevpropManifest, is_missing};

/// Whether a copy that is there is brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HotcopyMode {
    /// The target is not there yet, or an empty folder.
    Full,
    /// What the target has already is not copied again. Without a target, as [`HotcopyMode::Full`].
    Incremental,
}

/// Revisions that were copied: from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopiedRevisions {
    /// The first of them.
    pub start: Revnum,
    /// The last of them.
    pub end: Revnum,
}

/// How often a shard is begun again that others change meanwhile.
const RETRIES: usize = 10;

impl FileSystem {
    /// Copies the file system in the folder `source` to the folder `target`.
    ///
    /// # Errors
    /// [`ErrorCode::UNSUPPORTED_FEATURE`] if the target has another format or layout, or more than
    /// the source; [`ErrorCode::RA_UUID_MISMATCH`] if it is of another repository; what `notify`
    /// returned.
    pub fn hotcopy(
        source: &Path,
        target: &Path,
        mode: HotcopyMode,
        options: Options,
        cancel: &Cancel,
        notify: &mut dyn FnMut(CopiedRevisions) -> Result<()>,
    ) -> Result<()> {
        if source == target {
            return Err(Error::new(
                ErrorCode::INCORRECT_PARAMS,
                "Hotcopy source and destination are equal",
            ));
        }
        let fs_type = crate::fs::read_type(source)?;
        check_target(target, &fs_type)?;
        cancel.check()?;
        let sync = options.flush_to_disk;
        let from = Self::open_with(source, options.clone())?;
        let is_there = file::exists(&target.join(layout::FORMAT))?;
        if mode == HotcopyMode::Incremental && is_there {
            let to = Self::open_with(target, options)?;
            check_preconditions(&from, &to)?;
            let locks = to.lock_all()?;
            let copy = Copy {
                from: &from,
                to: &to,
                lock: &locks.write,
                incremental: true,
                sync,
                cancel,
                notify,
            };
            return copy.run();
        }
        // Nobody looks before the end, so nothing needs to be on the disk before.
        let later = Options {
            flush_to_disk: false,
            ..options
        };
        let to = from.prepare_copy(target, later)?;
        let lock = to.write_lock()?;
        let copy = Copy {
            from: &from,
            to: &to,
            lock: &lock,
            incremental: false,
            sync,
            cancel,
            notify,
        };
        copy.run()
    }

    /// Makes a file system without revisions that nobody else can open yet.
    fn prepare_copy(&self, target: &Path, options: Options) -> Result<Self> {
        let format = *self.format();
        Self::create_tree(target, &format, Some(self.uuid()))?;
        if format.number.has_config() {
            copy_conf(self, target)?;
        }
        Self::open_as(target, format, options)
    }
}

fn check_target(target: &Path, fs_type: &[u8]) -> Result<()> {
    let Ok(meta) = file::stat(target) else {
        return Ok(());
    };
    let shown = target.display();
    match meta.kind {
        FileKind::Dir => {}
        FileKind::File => {
            let text = format!("'{shown}' already exists and is a file");
            return Err(Error::new(ErrorCode::NODE_UNEXPECTED_KIND, text));
        }
        _ => {
            let text = format!("'{shown}' already exists and has an unknown node kind");
            return Err(Error::new(ErrorCode::NODE_UNEXPECTED_KIND, text));
        }
    }
    if !file::exists(&target.join(layout::FS_TYPE))? {
        return Ok(());
    }
    let found = crate::fs::read_type(target)?;
    if found == fs_type {
        return Ok(());
    }
    let (source, found) = (
        String::from_utf8_lossy(fs_type).into_owned(),
        String::from_utf8_lossy(&found).into_owned(),
    );
    Err(Error::new(
        ErrorCode::ILLEGAL_TARGET,
        format!(
            "The filesystem type of the hotcopy source ('{source}') does not match the filesystem \
             type of the hotcopy destination ('{found}')"
        ),
    ))
}

fn check_preconditions(from: &FileSystem, to: &FileSystem) -> Result<()> {
    let (source, target) = (from.format(), to.format());
    if source.number != target.number {
        return Err(unsupported(format!(
            "The FSFS format ({}) of the hotcopy source does not match the FSFS format ({}) of the \
             hotcopy destination; please upgrade both repositories to the same format",
            source.number.number(),
            target.number.number()
        )));
    }
    if from.uuid() != to.uuid() {
        return Err(Error::new(
            ErrorCode::RA_UUID_MISMATCH,
            "The UUID of the hotcopy source does not match the UUID of the hotcopy destination",
        ));
    }
    if source.shard_size != target.shard_size {
        return Err(unsupported(
            "The sharding layout configuration of the hotcopy source does not match the sharding \
             layout configuration of the hotcopy destination"
                .to_owned(),
        ));
    }
    Ok(())
}

fn unsupported(text: String) -> Error {
    Error::new(ErrorCode::UNSUPPORTED_FEATURE, text)
}

/// Copies `fsfs.conf`, which copies made by Subversion 1.6 may lack.
fn copy_conf(from: &FileSystem, target: &Path) -> Result<()> {
    let path = from.layout().file(conf::FILE_NAME);
    file::copy(&path, &target.join(conf::FILE_NAME), true).map_err(|error| {
        if !is_missing(&error) {
            return error;
        }
        let repository = |db: &Path| {
            let db = std::path::absolute(db).unwrap_or_else(|_| db.to_owned());
            db.parent().map_or_else(|| db.clone(), Path::to_owned)
        };
        error.context(format!(
            "Failed to create hotcopy at '{}'. The file '{}' is missing from the source \
             repository. Please create this file, for instance by running 'svnadmin upgrade {}'",
            repository(target).display(),
            path.display(),
            repository(from.path()).display()
        ))
    })
}

/// Whether something had to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Copied,
    Skipped,
}

impl Done {
    fn and(self, other: Self) -> Self {
        if other == Self::Copied { other } else { self }
    }
}

struct Copy<'a> {
    from: &'a FileSystem,
    to: &'a FileSystem,
    lock: &'a WriteLock,
    /// Whether there may be something in the target.
    incremental: bool,
    /// Whether the end is brought to the disk.
    sync: bool,
    cancel: &'a Cancel,
    notify: &'a mut dyn FnMut(CopiedRevisions) -> Result<()>,
}

impl Copy<'_> {
    fn run(mut self) -> Result<()> {
        if self.incremental && self.from.format().number.has_config() {
            copy_conf(self.from, self.to.path())?;
        }
        let current = self.from.read_current()?;
        self.from.note_youngest(current.youngest);
        let mut before = Revnum::ZERO;
        if self.incremental {
            before = self.to.youngest()?;
            self.check_order(current.youngest, before)?;
        }
        self.copy_revisions(current.youngest, before)?;
        let counters = if self.from.format().number.has_no_global_ids() {
            Current {
                next_node: 0,
                next_copy: 0,
                ..current
            }
        } else {
            current
        };
        self.to.write_current(self.lock, counters)?;
        self.copy_locks()?;
        self.copy_node_origins()?;
        self.copy_rep_cache(current.youngest)?;
        if self.to.format().number.has_txn_current() {
            self.copy_anew(layout::TXN_CURRENT)?;
        }
        self.finish()
    }

    /// Refuses a target that knows more than the source.
    fn check_order(&self, source: Revnum, target: Revnum) -> Result<()> {
        if source < target {
            return Err(unsupported(format!(
                "The hotcopy destination already contains more revisions ({target}) than the \
                 hotcopy source contains ({source}); are source and destination swapped?"
            )));
        }
        if !self.from.format().number.has_packing() {
            return Ok(());
        }
        let (source, target) = (self.from.min_unpacked_rev()?, self.to.min_unpacked_rev()?);
        if source >= target {
            return Ok(());
        }
        Err(unsupported(format!(
            "The hotcopy destination already contains more packed revisions ({}) than the hotcopy \
             source contains ({})",
            target.number() - 1,
            source.number().wrapping_sub(1).cast_unsigned()
        )))
    }

    /// Copies all revisions; begins again where the source is packed meanwhile.
    fn copy_revisions(&mut self, youngest: Revnum, before: Revnum) -> Result<()> {
        let mut next = Revnum::ZERO;
        loop {
            let packed = match self.from.format().number.has_packing() {
                true => self.from.min_unpacked_rev()?,
                false => Revnum::ZERO,
            };
            while next < packed {
                next = self.copy_shard(next, before)?;
            }
            match self.copy_unpacked(next, youngest, before) {
                Err(error) if is_missing(&error) && self.from.min_unpacked_rev()? > packed => {}
                done => return done,
            }
        }
    }

    /// Copies a packed shard, and returns the first revision after it.
    fn copy_shard(&mut self, first: Revnum, before: Revnum) -> Result<Revnum> {
        self.cancel.check()?;
        let size = self.from.shard_size().cast_signed();
        let next = Revnum::new(first.number() + size).unwrap_or_default();
        let mut done = self.copy_pack(first)?;
        let packs_revprops = self.from.format().number.has_packed_revprops();
        if !packs_revprops || first == Revnum::ZERO {
            self.make_shard_dir(&self.to.layout().revprops_dir(first), layout::REVPROPS)?;
        }
        if packs_revprops {
            if first == Revnum::ZERO {
                done = done.and(self.copy_revprops(first)?);
            }
            done = done.and(self.copy_revprop_pack(first)?);
        } else {
            for number in first.number()..next.number() {
                done = done.and(self.copy_revprops(Revnum::new(number).unwrap_or_default())?);
            }
        }
        // The copy may have a part of the shard only, so between these two files readers find
        // either no revision that `current` names, or Subversion's verification packed ones that it
        // does not name yet. The latter fails where nobody but verification looks.
        if self.to.min_unpacked() < next {
            self.to.write_min_unpacked(self.lock, next)?;
        }
        let last = next.previous().unwrap_or_default();
        if last > before && self.incremental {
            self.write_youngest(last)?;
        }
        if done == Done::Copied {
            (self.notify)(CopiedRevisions {
                start: first,
                end: last,
            })?;
        }
        remove_folder(&self.to.layout().rev_dir(first), self.cancel)?;
        if packs_revprops && (self.incremental || first != Revnum::ZERO) {
            self.to.remove_packed_revprops(first, self.cancel)?;
        }
        Ok(next)
    }

    fn write_youngest(&self, youngest: Revnum) -> Result<()> {
        let current = Current {
            youngest,
            next_node: 0,
            next_copy: 0,
        };
        self.to.write_current(self.lock, current)
    }

    fn copy_pack(&self, first: Revnum) -> Result<Done> {
        let dir = self.to.layout().rev_packed_dir(first);
        file::make_dir_all(&dir)?;
        let mut done = Done::Skipped;
        for name in [layout::PACK, layout::MANIFEST] {
            if name == layout::MANIFEST && self.from.format().is_logical() {
                continue;
            }
            let (from, to) = (
                self.from.layout().rev_packed(first, name),
                self.to.layout().rev_packed(first, name),
            );
            done = done.and(self.copy_file(&from, &to)?);
        }
        Ok(done)
    }

    /// Copies packed revision properties: first the files, then the manifest that names them.
    fn copy_revprop_pack(&self, first: Revnum) -> Result<Done> {
        let from = self.from.layout().revprops_packed_dir(first);
        let to = self.to.layout().revprops_packed_dir(first);
        file::make_dir_all(&to)?;
        let mut attempts = 1;
        loop {
            match self.copy_revprop_files(first, &from, &to) {
                // Somebody changed properties, and files have other names now.
                Err(error) if is_missing(&error) && attempts < RETRIES => attempts += 1,
                done => return done,
            }
        }
    }

    fn copy_revprop_files(&self, first: Revnum, from: &Path, to: &Path) -> Result<Done> {
        let size = self.from.format().shard_size.unwrap_or(1);
        let text = file::read(&from.join(layout::MANIFEST))?;
        let mut names = Vec::new();
        // The first shard may have none, if it has but revision 0.
        if !text.is_empty() {
            names = RevpropManifest::parse(&text, first, size)?.names;
        }
        names.dedup();
        let mut done = Done::Skipped;
        for name in &names {
            done = done.and(self.copy_file(&from.join(name), &to.join(name))?);
        }
        let manifest = to.join(layout::MANIFEST);
        let known = match self.incremental {
            true => file::read_if_exists(&manifest)?,
            false => None,
        };
        if known.as_ref() == Some(&text) {
            return Ok(done);
        }
        let mode = file::stat(&from.join(layout::MANIFEST))?.mode;
        replace(&manifest, &text, mode, self.to.options().flush_to_disk)?;
        if known.is_some() {
            self.remove_others(to, &names)?;
        }
        Ok(Done::Copied)
    }

    /// Removes packed files that the manifest does not name any more.
    fn remove_others(&self, dir: &Path, names: &[String]) -> Result<()> {
        for (name, _) in file::read_dir(dir)? {
            let is_named = names.iter().any(|known| known.as_bytes() == name);
            if !is_named && name != layout::MANIFEST.as_bytes() {
                let name = String::from_utf8_lossy(&name).into_owned();
                file::remove_if_exists(&dir.join(name))?;
            }
        }
        Ok(())
    }

    fn copy_unpacked(&mut self, first: Revnum, youngest: Revnum, before: Revnum) -> Result<()> {
        for number in first.number()..=youngest.number() {
            self.cancel.check()?;
            let revision = Revnum::new(number).unwrap_or_default();
            let begins_shard = match self.to.format().shard_size {
                Some(size) => number % i64::from(size) == 0,
                None => false,
            };
            if begins_shard {
                self.make_shard_dir(&self.to.layout().rev_dir(revision), layout::REVS)?;
                let dir = self.to.layout().revprops_dir(revision);
                self.make_shard_dir(&dir, layout::REVPROPS)?;
            }
            let (from, to) = (
                self.from.layout().rev(revision),
                self.to.layout().rev(revision),
            );
            // Recovery takes what is there for a revision, and wants its properties.
            let done = self.copy_revprops(revision)?;
            let done = done.and(self.copy_file(&from, &to)?);
            if begins_shard && revision > before && self.incremental {
                self.write_youngest(revision)?;
            }
            if done == Done::Copied {
                (self.notify)(CopiedRevisions {
                    start: revision,
                    end: revision,
                })?;
            }
        }
        Ok(())
    }

    /// Makes a folder of revisions or their properties, with the permissions of the one above.
    fn make_shard_dir(&self, dir: &Path, above: &str) -> Result<()> {
        file::make_dir_all(dir)?;
        let mode = file::stat(&self.to.layout().file(above))?.mode;
        if file::stat(dir)?.mode == mode {
            return Ok(());
        }
        file::set_mode(dir, mode)
    }

    fn copy_revprops(&self, revision: Revnum) -> Result<Done> {
        let (from, to) = (
            self.from.layout().revprops(revision),
            self.to.layout().revprops(revision),
        );
        self.copy_file(&from, &to)
    }

    /// Copies a file, unless the target has it already; atomically, where others may look on.
    fn copy_file(&self, from: &Path, to: &Path) -> Result<Done> {
        if !self.incremental {
            file::copy_new(from, to)?;
            return Ok(Done::Copied);
        }
        if let Some(there) = file::lstat_if_exists(to)? {
            let source = file::stat(from)?;
            let same = source.kind == there.kind && source.size == there.size;
            if same && source.mtime <= there.mtime {
                return Ok(Done::Skipped);
            }
        }
        file::copy(from, to, true)?;
        Ok(Done::Copied)
    }

    /// Copies a file of the folder itself.
    fn copy_anew(&self, name: &str) -> Result<()> {
        file::copy(
            &self.from.layout().file(name),
            &self.to.layout().file(name),
            true,
        )
    }

    /// Replaces all locks.
    fn copy_locks(&self) -> Result<()> {
        let (from, to) = (
            self.from.layout().file(layout::LOCKS),
            self.to.layout().file(layout::LOCKS),
        );
        remove_folder(&to, self.cancel)?;
        if file::lstat_if_exists(&from)?.is_some_and(|meta| meta.is_dir()) {
            self.copy_tree(&from, &to)?;
        }
        Ok(())
    }

    fn copy_node_origins(&self) -> Result<()> {
        let from = self.from.layout().file(layout::NODE_ORIGINS);
        if file::lstat_if_exists(&from)?.is_some_and(|meta| meta.is_dir()) {
            let to = self.to.layout().file(layout::NODE_ORIGINS);
            self.copy_tree(&from, &to)?;
        }
        Ok(())
    }

    /// Copies a folder of files that others may remove meanwhile.
    fn copy_tree(&self, from: &Path, to: &Path) -> Result<()> {
        file::make_dir_all(to)?;
        let mode = file::stat(from)?.mode;
        file::set_mode(to, mode)?;
        for (name, kind) in file::read_dir(from)? {
            self.cancel.check()?;
            let name = PathBuf::from(
                <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(name),
            );
            let (source, target) = (from.join(&name), to.join(&name));
            let kind = match kind {
                Some(kind) => kind,
                None => file::lstat(&source)?.kind,
            };
            let done = match kind {
                FileKind::Dir => self.copy_tree(&source, &target),
                FileKind::File => self.copy_file(&source, &target).map(drop),
                _ => Ok(()),
            };
            match done {
                Err(error) if is_missing(&error) => {}
                done => done?,
            }
        }
        Ok(())
    }

    fn copy_rep_cache(&self, youngest: Revnum) -> Result<()> {
        if !self.to.format().number.has_rep_sharing() {
            return Ok(());
        }
        let from = self.from.layout().file(layout::REP_CACHE);
        if !file::lstat_if_exists(&from)?.is_some_and(|meta| meta.is_file()) {
            return Ok(());
        }
        rep_cache::hotcopy(
            &from,
            &self.to.layout().file(layout::REP_CACHE),
            self.cancel,
        )?;
        self.to
            .with_rep_cache(|cache| cache.remove_younger_than(youngest))
    }

    /// Writes the files that say what this is; with the last one, all can open it.
    fn finish(&self) -> Result<()> {
        let db = self.to.path();
        let put = |name: &str, bytes: &[u8], mode| replace(&db.join(name), bytes, mode, self.sync);
        put(layout::FS_TYPE, b"fsfs\n", file::MODE_FILE)?;
        let text = self.to.format().to_text();
        put(layout::FORMAT, text.as_bytes(), file::MODE_READ_ONLY)?;
        if self.sync {
            file::sync_dir(db)
        } else {
            Ok(())
        }
    }
}

/// Writes a file atomically; the umask counts.
fn replace(path: &Path, bytes: &[u8], mode: u32, sync: bool) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut temp = TempFile::with_mode(dir, mode)?;
    temp.write_all(bytes)?;
    if let Some(file) = temp.file().filter(|_| sync) {
        file.sync()?;
    }
    temp.persist(path)
}
