//! Writing working files from pristine texts: translated, with their final mode.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_core::props::{SVN_EXECUTABLE, SVN_NEEDS_LOCK};
use sylvan_core::translate::{KeywordInfo, Translation, special};
use sylvan_core::{Error, ErrorCode, Props, RelPath, RelPathBuf, Result, TimeZone, Timestamp, Url};
use sylvan_io::file::{self, Creation, Dir, FileKind, MODE_FILE, Meta, NewFile};

use crate::db::write::Changed;

/// The most bytes of a special file: a symlink's target and the word before it.
const MAX_SPECIAL: u64 = 64 * 1024;

/// How a working file is made of its pristine text.
#[derive(Debug)]
pub struct Recipe {
    /// `svn:special`: a symlink.
    pub special: bool,
    /// `svn:executable`.
    pub executable: bool,
    /// `svn:needs-lock` without a lock.
    pub read_only: bool,
    /// Line ends and keywords.
    pub translation: Option<Translation>,
    /// The time that the file gets.
    pub time: Option<Timestamp>,
}

impl Recipe {
    /// Reads what a file's properties ask for.
    pub(crate) fn new(props: &Props, of: &RecipeInfo<'_>) -> Self {
        let changed = of.changed;
        let translation = Translation::is_needed(props).then(|| {
            let url = of.repos_path.map(|path| of.repos_root.join(path));
            let rev = changed.rev.map_or_else(String::new, |rev| rev.to_string());
            let info = KeywordInfo {
                rev: &rev,
                url: url.as_ref(),
                repos_root: Some(of.repos_root),
                author: changed.author.as_deref().unwrap_or_default(),
                date: (changed.date != 0).then(|| Timestamp::from_micros(changed.date)),
                zone: of.zone,
            };
            Translation::from_props(props, &info)
        });
        let special = translation.as_ref().is_some_and(|how| how.special);
        Self {
            special,
            executable: props.contains_key(SVN_EXECUTABLE),
            read_only: props.contains_key(SVN_NEEDS_LOCK) && !of.locked,
            translation: translation.filter(|how| !how.is_identity()),
            time: (of.use_commit_times && changed.date != 0)
                .then(|| Timestamp::from_micros(changed.date)),
        }
    }

    /// The recipe of a file that is just its text.
    pub(crate) const fn plain() -> Self {
        Self {
            special: false,
            executable: false,
            read_only: false,
            translation: None,
            time: None,
        }
    }

    const fn mode(&self) -> u32 {
        let mode = if self.executable { 0o777 } else { 0o666 };
        if self.read_only { mode & !0o222 } else { mode }
    }
}

/// What besides its properties decides how a working file is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecipeInfo<'a> {
    pub repos_root: &'a Url,
    /// Nothing for nodes that are not in the repository.
    pub repos_path: Option<&'a RelPath>,
    pub changed: &'a Changed,
    /// Whether this working copy has a lock on it.
    pub locked: bool,
    pub use_commit_times: bool,
    pub zone: &'a TimeZone,
}

/// Where the text comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Memory.
    Bytes(&'a [u8]),
    /// A file below a folder, mostly in the pristine store.
    File(&'a Dir, &'a RelPath),
}

/// A folder in which temporary files are made: below a handle, which may be the folder itself.
#[derive(Clone, Copy, Debug)]
pub struct TempDir<'a> {
    /// The handle.
    pub dir: &'a Dir,
    /// The folder.
    pub path: &'a RelPath,
}

impl TempDir<'_> {
    /// Returns a name in it that this process has not used.
    fn name(&self) -> Result<RelPathBuf> {
        self.path.child(&temp_name())
    }
}

/// What became of a new working file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// It is there; its size and modification time, which symlinks do not have.
    Done(Option<(i64, i64)>),
    /// Something else is in its place, which was left alone.
    Obstructed,
}

/// Writes a working file below `tree` in place, where nothing is expected to be.
///
/// After an error a part of the file may be there.
///
/// # Errors
/// Those of the file system; one of them if there is a symlink on the way to `path`.
pub fn in_place(
    tree: &Dir,
    path: &RelPath,
    source: Source<'_>,
    recipe: &Recipe,
    how: Creation,
) -> Result<Installed> {
    if recipe.special {
        return special_in_place(tree, path, source);
    }
    let file = match tree.create(path, recipe.mode(), how) {
        Ok(file) => file,
        Err(error) if is_taken(&error) => return Ok(Installed::Obstructed),
        Err(error) => return Err(error),
    };
    fill(&file, source, recipe)?;
    if let Some(time) = recipe.time {
        file.set_time(time)?;
    }
    size_and_time(file.finish()?).map(Installed::Done)
}

fn is_taken(error: &Error) -> bool {
    file::error_kind(error) == ErrorKind::AlreadyExists
}

/// Writes a working file beside its place below `tree` and moves it there, over what is there.
///
/// # Errors
/// As [`in_place`]; nothing has changed then.
pub fn by_rename(
    tree: &Dir,
    path: &RelPath,
    source: Source<'_>,
    recipe: &Recipe,
    tmp: TempDir<'_>,
) -> Result<Option<(i64, i64)>> {
    if recipe.special
        && let Some(target) = symlink_target(source)?
    {
        replace_by_symlink(tree, path, &target, tmp)?;
        return Ok(None);
    }
    let (temp, file) = create_temp(tmp, recipe.mode())?;
    let done =
        write_temp(file, source, recipe).and_then(|()| rename_into(tmp.dir, &temp, tree, path));
    if let Err(error) = done {
        return Err(match tmp.dir.remove_if_exists(&temp) {
            Ok(()) => error,
            Err(other) => error.attach(other),
        });
    }
    if recipe.special {
        return Ok(None);
    }
    stat(tree, path)
}

fn write_temp(file: NewFile, source: Source<'_>, recipe: &Recipe) -> Result<()> {
    fill(&file, source, recipe)?;
    if let Some(time) = recipe.time {
        file.set_time(time)?;
    }
    file.close()
}

/// Moves a complete file into its place, making its folder if that is missing.
fn rename_into(from: &Dir, temp: &RelPath, tree: &Dir, path: &RelPath) -> Result<()> {
    match from.rename_to(temp, tree, path) {
        Err(error) if file::error_kind(&error) == ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                tree.make_dir_all(parent)?;
            }
            from.rename_to(temp, tree, path)
        }
        done => done,
    }
}

fn create_temp(tmp: TempDir<'_>, mode: u32) -> Result<(RelPathBuf, NewFile)> {
    loop {
        let temp = tmp.name()?;
        match tmp.dir.create(&temp, mode, Creation::Exclusive) {
            Ok(file) => return Ok((temp, file)),
            Err(error) if is_taken(&error) => {}
            Err(error)
                if file::error_kind(&error) == ErrorKind::NotFound
                    && tmp.dir.lstat(tmp.path)?.is_none() =>
            {
                tmp.dir.make_dir_all(tmp.path)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns a name for a temporary file that this process has not used.
pub fn temp_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("sylvan-{}-f{number}", std::process::id())
}

fn fill(file: &NewFile, source: Source<'_>, recipe: &Recipe) -> Result<()> {
    let Some(translation) = &recipe.translation else {
        return copy(file, source, |bytes, out| out(bytes));
    };
    let mut translator = translation.to_working();
    let mut translated = Vec::new();
    copy(file, source, |bytes, out| {
        translated.clear();
        translator.push(bytes, &mut translated)?;
        out(&translated)
    })?;
    translated.clear();
    translator.finish(&mut translated)?;
    if translated.is_empty() {
        return Ok(());
    }
    file.write_all(&translated)
}

/// Copies a file as it is.
pub(crate) fn copy_plain(file: &NewFile, source: Source<'_>) -> Result<()> {
    copy(file, source, |bytes, out| out(bytes))
}

fn copy(
    file: &NewFile,
    source: Source<'_>,
    mut through: impl FnMut(&[u8], &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut out = |bytes: &[u8]| {
        if bytes.is_empty() {
            return Ok(());
        }
        file.write_all(bytes)
    };
    match source {
        Source::Bytes(bytes) => through(bytes, &mut out),
        Source::File(dir, from) => {
            let mut input = dir.open_file(from)?;
            let mut buffer = vec![0; 256 * 1024];
            loop {
                let count = input
                    .read(&mut buffer)
                    .map_err(|error| read_failed(&error, dir, from))?;
                if count == 0 {
                    return Ok(());
                }
                through(&buffer[..count], &mut out)?;
            }
        }
    }
}

fn read_failed(error: &std::io::Error, dir: &Dir, path: &RelPath) -> Error {
    let path = dir.full(path);
    Error::io(error, format_args!("Can't read file '{}'", path.display()))
}

/// Makes what a file with `svn:special` stands for: a symlink, or, when its text is no link, a
/// plain file with that text.
fn special_in_place(tree: &Dir, path: &RelPath, source: Source<'_>) -> Result<Installed> {
    let made = match symlink_target(source)? {
        Some(target) => tree.make_symlink(OsStr::from_bytes(&target), path),
        None => tree
            .create(path, MODE_FILE, Creation::Exclusive)
            .and_then(|file| copy(&file, source, |bytes, out| out(bytes))),
    };
    match made {
        Ok(()) => Ok(Installed::Done(None)),
        Err(error) if is_taken(&error) => Ok(Installed::Obstructed),
        Err(error) => Err(error),
    }
}

fn replace_by_symlink(tree: &Dir, path: &RelPath, target: &[u8], tmp: TempDir<'_>) -> Result<()> {
    let temp = loop {
        let temp = tmp.name()?;
        match tmp.dir.make_symlink(OsStr::from_bytes(target), &temp) {
            Ok(()) => break temp,
            Err(error) if is_taken(&error) => {}
            Err(error) => return Err(error),
        }
    };
    rename_into(tmp.dir, &temp, tree, path).inspect_err(|_| {
        let _ = tmp.dir.remove_if_exists(&temp);
    })
}

/// Reads `link TARGET`, the text of a symlink.
fn symlink_target(source: Source<'_>) -> Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    match source {
        Source::Bytes(bytes) => text.extend_from_slice(bytes),
        Source::File(dir, path) => {
            dir.open_file(path)?
                .take(MAX_SPECIAL)
                .read_to_end(&mut text)
                .map_err(|error| read_failed(&error, dir, path))?;
        }
    }
    Ok(special::link_target(&text)
        .filter(|target| !target.is_empty())
        .map(<[u8]>::to_vec))
}

/// Gives a working file the mode bits that its properties ask for, as far as it has not them.
pub(crate) fn sync_flags(tree: &Dir, path: &RelPath, recipe: &Recipe) -> Result<()> {
    let Some(Meta {
        kind: FileKind::File,
        mode,
        ..
    }) = tree.lstat(path)?
    else {
        return Ok(());
    };
    let readers = (mode & 0o444) >> 2;
    let mut wanted = if recipe.executable {
        mode | readers
    } else {
        mode & !0o111
    };
    if recipe.read_only {
        wanted &= !0o222;
    } else if wanted & 0o222 == 0 {
        wanted |= 0o200 | (0o222 & !umask());
    }
    if wanted != mode {
        tree.set_mode(path, wanted)?;
    }
    Ok(())
}

/// Returns the process's umask. Asking the system for it would set it, for a moment and for all
/// threads.
fn umask() -> u32 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(line.trim(), 8).ok()
        })
        .unwrap_or(0o022)
}

/// Returns size and modification time of a working file.
pub(crate) fn stat(tree: &Dir, path: &RelPath) -> Result<Option<(i64, i64)>> {
    let meta = tree.lstat(path)?.ok_or_else(|| {
        let path = tree.full(path);
        Error::io(
            &rustix::io::Errno::NOENT.into(),
            format_args!("Can't stat '{}'", path.display()),
        )
    })?;
    size_and_time(meta)
}

fn size_and_time(meta: Meta) -> Result<Option<(i64, i64)>> {
    let size = i64::try_from(meta.size)
        .map_err(|_| Error::new(ErrorCode::WC_CORRUPT, "A file is too large"))?;
    Ok(Some((size, meta.mtime.micros())))
}
