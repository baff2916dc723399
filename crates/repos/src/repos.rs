use std::path::{Path, PathBuf};

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_fs::{FileSystem, Options};
use sylvan_io::file;

/// The format of repositories since Subversion 1.4, written to the file `format`.
pub(crate) const FORMAT: u32 = 5;
/// The format before; the same but for Berkeley DB.
pub(crate) const FORMAT_BEFORE_1_4: u32 = 3;

/// An open repository. Clones share it.
#[derive(Clone, Debug)]
pub struct Repos {
    path: PathBuf,
    format: u32,
    fs: FileSystem,
    /// The file with the environments of hooks; `None` if those are empty.
    pub(crate) hooks_env: Option<PathBuf>,
}

impl Repos {
    /// Opens the repository whose root folder is `path`.
    ///
    /// # Errors
    /// As [`Repos::open_with`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Options::default())
    }

    /// Opens the repository whose root folder is `path`.
    ///
    /// # Errors
    /// `REPOS_UNSUPPORTED_VERSION` for another format than Subversion's, those of
    /// [`FileSystem::open_with`], and if a file cannot be read.
    pub fn open_with(path: &Path, options: Options) -> Result<Self> {
        let format = read_format(path)?;
        let fs = FileSystem::open_with(&path.join("db"), options)?;
        Ok(Self {
            path: path.to_owned(),
            format,
            fs,
            hooks_env: None,
        })
    }

    /// Returns the root of the repository that `path` is in or is, if it is in one.
    pub fn find_root(path: &Path) -> Option<PathBuf> {
        path.ancestors()
            .find(|candidate| looks_like_repository(candidate))
            .map(Path::to_owned)
    }

    /// Returns the root folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of its format: 5, or 3 before Subversion 1.4.
    pub const fn format(&self) -> u32 {
        self.format
    }

    /// Returns the minor number of the oldest Subversion 1 that can use it.
    pub fn minor_version(&self) -> u32 {
        let own = if self.format == FORMAT { 4 } else { 0 };
        self.fs.format().number.minor_version().max(own)
    }

    /// Returns what clients may ask of it.
    pub fn capabilities(&self) -> &'static [&'static str] {
        if self.fs.format().number.has_mergeinfo() {
            &["mergeinfo"]
        } else {
            &[]
        }
    }

    /// Returns the folder of the hooks.
    pub fn hooks_path(&self) -> PathBuf {
        self.path.join("hooks")
    }

    /// Returns the folder of the configuration.
    pub fn conf_path(&self) -> PathBuf {
        self.path.join("conf")
    }

    /// Returns the file system.
    pub fn fs(&self) -> &FileSystem {
        &self.fs
    }
}

/// A file `format` and a folder `db` (or a symlink to one) make a folder look like a repository;
/// so does what cannot be looked at.
fn looks_like_repository(path: &Path) -> bool {
    let is = |found: std::io::Result<bool>| match found {
        Ok(is) => is,
        Err(error) => !matches!(
            error.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ),
    };
    is(std::fs::symlink_metadata(path.join("format")).map(|meta| meta.is_file()))
        && is(std::fs::metadata(path.join("db")).map(|meta| meta.is_dir()))
}

/// Reads the format of the repository whose root folder is `root`.
pub(crate) fn read_format(root: &Path) -> Result<u32> {
    let path = root.join("format");
    let text = file::read(&path)?;
    let shown = path.display();
    if text.is_empty() {
        let text = format!("Reading '{shown}'");
        return Err(Error::new(ErrorCode::STREAM_UNEXPECTED_EOF, text));
    }
    let line = text.split(|&byte| matches!(byte, b'\r' | b'\n')).next();
    let line = line.unwrap_or_default();
    if line.is_empty() || line.len() > 80 || !line.iter().all(u8::is_ascii_digit) {
        let text = format!("First line of '{shown}' contains non-digit");
        return Err(Error::new(ErrorCode::BAD_VERSION_FILE_FORMAT, text));
    }
    let line = String::from_utf8_lossy(line);
    match line.parse::<u32>() {
        Ok(format @ (FORMAT | FORMAT_BEFORE_1_4)) => Ok(format),
        _ => Err(Error::new(
            ErrorCode::REPOS_UNSUPPORTED_VERSION,
            format!(
                "Expected repository format '{FORMAT_BEFORE_1_4}' or '{FORMAT}'; found format \
                 '{line}'"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use sylvan_core::Timestamp;
    use sylvan_fs::CreateOptions;

    use super::*;

    fn made() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let (create, options) = (CreateOptions::default(), Options::default());
        let now = Timestamp::from_micros(0);
        FileSystem::create(&dir.path().join("db"), &create, options, now).unwrap();
        std::fs::write(dir.path().join("format"), "5\n").unwrap();
        dir
    }

    #[test]
    fn a_repository_is_found_from_below_and_opened() {
        let dir = made();
        let below = dir.path().join("no/such");
        assert_eq!(Repos::find_root(&below).as_deref(), Some(dir.path()));
        assert_eq!(Repos::find_root(dir.path().parent().unwrap()), None);
        let repos = Repos::open(dir.path()).unwrap();
        assert_eq!(repos.fs().youngest().unwrap(), sylvan_core::Revnum::ZERO);
    }

    #[test]
    fn other_formats_are_refused() {
        for (text, code) in [
            ("", ErrorCode::STREAM_UNEXPECTED_EOF),
            ("4\n", ErrorCode::REPOS_UNSUPPORTED_VERSION),
            ("99999999999\n", ErrorCode::REPOS_UNSUPPORTED_VERSION),
            ("x5\n", ErrorCode::BAD_VERSION_FILE_FORMAT),
            ("\n5\n", ErrorCode::BAD_VERSION_FILE_FORMAT),
        ] {
            let dir = made();
            std::fs::write(dir.path().join("format"), text).unwrap();
            assert_eq!(
                Repos::open(dir.path()).unwrap_err().code(),
                code,
                "{text:?}"
            );
        }
    }
}
