//! Writing working files from pristine texts: translated, with their final mode.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_core::props::{SVN_EXECUTABLE, SVN_NEEDS_LOCK};
use sylvan_core::translate::{KeywordInfo, Translation, special};
use sylvan_core::{Error, ErrorCode, Props, RelPath, Result, TimeZone, Timestamp, Url};

use crate::db::write::Changed;
use crate::disk;
pub use crate::disk::Create;

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
    /// A file, mostly in the pristine store.
    File(&'a Path),
}

/// What became of a new working file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// It is there; its size and modification time, which symlinks do not have.
    Done(Option<(i64, i64)>),
    /// Something else is in its place, which was left alone.
    Obstructed,
}

/// Writes a working file in place, where nothing is expected to be.
///
/// After an error a part of the file may be there.
pub fn in_place(
    path: &Path,
    source: Source<'_>,
    recipe: &Recipe,
    how: Create,
    settle: bool,
) -> Result<Installed> {
    if recipe.special {
        return special_in_place(path, source);
    }
    let file = match disk::create(path, recipe.mode(), how) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Installed::Obstructed),
        Err(error) => return Err(open_failed(&error, path)),
    };
    fill(&file, path, source, recipe)?;
    if let Some(time) = recipe.time {
        disk::set_time(&file, time, path)?;
    }
    if settle {
        disk::close(file, settle, path)?;
        return stat(path).map(Installed::Done);
    }
    let meta = file
        .metadata()
        .map_err(|error| Error::io(&error, format_args!("Can't stat '{}'", path.display())))?;
    size_and_time(&meta).map(Installed::Done)
}

/// Writes a working file beside its place and moves it there, over what is there.
pub fn by_rename(
    path: &Path,
    source: Source<'_>,
    recipe: &Recipe,
    tmp: &Path,
    settle: bool,
) -> Result<Option<(i64, i64)>> {
    if recipe.special
        && let Some(target) = symlink_target(source)?
    {
        replace_by_symlink(path, &target, tmp)?;
        return Ok(None);
    }
    let (temp, file) = create_temp(tmp, recipe.mode())?;
    let done = fill(&file, &temp, source, recipe)
        .and_then(|()| match recipe.time {
            Some(time) => disk::set_time(&file, time, &temp),
            None => Ok(()),
        })
        .and_then(|()| disk::close(file, settle, &temp))
        .and_then(|()| rename_into(&temp, path));
    if let Err(error) = done {
        return Err(match disk::remove_file(&temp) {
            Ok(()) => error,
            Err(other) => error.attach(other),
        });
    }
    if recipe.special {
        return Ok(None);
    }
    stat(path)
}

/// Moves a complete file into its place, making its folder if that is missing.
fn rename_into(temp: &Path, path: &Path) -> Result<()> {
    match disk::rename(temp, path) {
        Err(error) if error.code().number() == rustix::io::Errno::NOENT.raw_os_error() => {
            if let Some(parent) = path.parent() {
                disk::ensure_dir(parent)?;
            }
            disk::rename(temp, path)
        }
        done => done,
    }
}

fn create_temp(tmp: &Path, mode: u32) -> Result<(PathBuf, File)> {
    loop {
        let temp = temp_name(tmp);
        match disk::create(&temp, mode, Create::New) {
            Ok(file) => return Ok((temp, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == ErrorKind::NotFound && !tmp.exists() => {
                disk::ensure_dir(tmp)?;
            }
            Err(error) => return Err(open_failed(&error, &temp)),
        }
    }
}

/// Returns a name in the folder for temporary files that this process has not used.
pub fn temp_name(tmp: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    tmp.join(format!("sylvan-{}-f{number}", std::process::id()))
}

fn fill(file: &File, path: &Path, source: Source<'_>, recipe: &Recipe) -> Result<()> {
    let Some(translation) = &recipe.translation else {
        return copy(file, path, source, |bytes, out| out(bytes));
    };
    let mut translator = translation.to_working();
    let mut translated = Vec::new();
    copy(file, path, source, |bytes, out| {
        translated.clear();
        translator.push(bytes, &mut translated)?;
        out(&translated)
    })?;
    translated.clear();
    translator.finish(&mut translated)?;
    if translated.is_empty() {
        return Ok(());
    }
    disk::write(file, &translated, path)
}

fn copy(
    file: &File,
    path: &Path,
    source: Source<'_>,
    mut through: impl FnMut(&[u8], &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut out = |bytes: &[u8]| {
        if bytes.is_empty() {
            return Ok(());
        }
        disk::write(file, bytes, path)
    };
    match source {
        Source::Bytes(bytes) => through(bytes, &mut out),
        Source::File(from) => {
            let mut input = File::open(from).map_err(|error| open_failed(&error, from))?;
            let mut buffer = vec![0; 256 * 1024];
            loop {
                let count = input.read(&mut buffer).map_err(|error| {
                    Error::io(&error, format_args!("Can't read file '{}'", from.display()))
                })?;
                if count == 0 {
                    return Ok(());
                }
                through(&buffer[..count], &mut out)?;
            }
        }
    }
}

/// Makes what a file with `svn:special` stands for: a symlink, or, when its text is no link, a
/// plain file with that text.
fn special_in_place(path: &Path, source: Source<'_>) -> Result<Installed> {
    let made = match symlink_target(source)? {
        Some(target) => disk::symlink(Path::new(std::ffi::OsStr::from_bytes(&target)), path),
        None => match disk::create(path, 0o666, Create::New) {
            Ok(file) => {
                copy(&file, path, source, |bytes, out| out(bytes))?;
                Ok(())
            }
            Err(error) => Err(error),
        },
    };
    match made {
        Ok(()) => Ok(Installed::Done(None)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Installed::Obstructed),
        Err(error) => Err(Error::io(
            &error,
            format_args!("Can't create symbolic link '{}'", path.display()),
        )),
    }
}

fn replace_by_symlink(path: &Path, target: &[u8], tmp: &Path) -> Result<()> {
    let target = Path::new(std::ffi::OsStr::from_bytes(target));
    let temp = loop {
        let temp = temp_name(tmp);
        match disk::symlink(target, &temp) {
            Ok(()) => break temp,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(Error::io(
                    &error,
                    format_args!("Can't create symbolic link '{}'", temp.display()),
                ));
            }
        }
    };
    rename_into(&temp, path).inspect_err(|_| {
        let _ = disk::remove_file(&temp);
    })
}

/// Reads `link TARGET`, the text of a symlink.
fn symlink_target(source: Source<'_>) -> Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    match source {
        Source::Bytes(bytes) => text.extend_from_slice(bytes),
        Source::File(path) => {
            File::open(path)
                .map_err(|error| open_failed(&error, path))?
                .take(MAX_SPECIAL)
                .read_to_end(&mut text)
                .map_err(|error| {
                    Error::io(&error, format_args!("Can't read file '{}'", path.display()))
                })?;
        }
    }
    Ok(special::link_target(&text)
        .filter(|target| !target.is_empty())
        .map(<[u8]>::to_vec))
}

/// Gives a working file the mode bits that its properties ask for, as far as it has not them.
pub(crate) fn sync_flags(path: &Path, recipe: &Recipe) -> Result<()> {
    let disk::Found::File { mode, .. } = disk::look(path)? else {
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
    if wanted & 0o7777 != mode & 0o7777 {
        disk::set_mode(path, wanted & 0o7777)?;
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
pub(crate) fn stat(path: &Path) -> Result<Option<(i64, i64)>> {
    let meta = std::fs::symlink_metadata(path)
        .map_err(|error| Error::io(&error, format_args!("Can't stat '{}'", path.display())))?;
    size_and_time(&meta)
}

fn size_and_time(meta: &std::fs::Metadata) -> Result<Option<(i64, i64)>> {
    let size = i64::try_from(meta.len())
        .map_err(|_| Error::new(ErrorCode::WC_CORRUPT, "A file is too large"))?;
    Ok(Some((size, disk::mtime_micros(meta))))
}

fn open_failed(error: &std::io::Error, path: &Path) -> Error {
    Error::io(error, format_args!("Can't open file '{}'", path.display()))
}
