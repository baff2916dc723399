//! A file's text on its way to an exported file: small ones in memory, large ones in a temporary
//! file beside their place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use md5::Digest as _;
use sylvan_core::{Error, ErrorCode, Md5, RelPath, Result};
use sylvan_io::file::{Creation, Dir};
use sylvan_wc::install::{self, Installed, Recipe, Source, TempDir};

/// Texts up to this size stay in memory.
const IN_MEMORY: usize = 256 * 1024;

/// Where an exported file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A folder that this export made: nothing is in the way.
    Fresh,
    /// A folder with other things in it; what has the file's name is replaced.
    Shared,
}

/// Takes a text and hashes it.
pub(super) struct Sink {
    folder: PathBuf,
    memory: Vec<u8>,
    spilled: Option<Spilled>,
    hash: md5::Md5,
    size: u64,
}

struct Spilled {
    file: File,
    path: PathBuf,
}

impl Sink {
    /// Makes one for a file in `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            memory: Vec::new(),
            spilled: None,
            hash: md5::Md5::new(),
            size: 0,
        }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        if self.spilled.is_none() && self.memory.len() + bytes.len() > IN_MEMORY {
            self.spill()?;
        }
        match &mut self.spilled {
            Some(spilled) => spilled
                .file
                .write_all(bytes)
                .map_err(|error| write_failed(&error, &spilled.path)),
            None => {
                self.memory.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn spill(&mut self) -> Result<()> {
        let path = self.folder.join(install::temp_name());
        let mut file = File::create_new(&path).map_err(|error| {
            Error::io(
                &error,
                format_args!(
                    "Can't create temporary file from template '{}'",
                    path.display()
                ),
            )
        })?;
        let written = file.write_all(&self.memory);
        self.memory = Vec::new();
        let written = written.map_err(|error| write_failed(&error, &path));
        self.spilled = Some(Spilled { file, path });
        written
    }

    /// Returns how many bytes were taken.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Compares the checksum with the one that the server gave.
    ///
    /// # Errors
    /// `CHECKSUM_MISMATCH`.
    pub(super) fn check(&self, expected: Option<Md5>, path: &Path) -> Result<()> {
        let actual = Md5(self.hash.clone().finalize().into());
        match expected {
            Some(expected) if !expected.allows(actual) => Err(Error::new(
                ErrorCode::CHECKSUM_MISMATCH,
                format!(
                    "Checksum mismatch for '{}':\n   expected:  {expected}\n     actual:  {actual}\n",
                    path.display()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Writes the exported file.
    pub(super) fn install(mut self, path: &Path, recipe: &Recipe, place: Place) -> Result<()> {
        let spilled = self.spilled.take();
        let here = Path::new(".");
        let folder = Some(&*self.folder).filter(|folder| !folder.as_os_str().is_empty());
        let folder = Dir::open(folder.unwrap_or(here))?;
        let name = name(path)?;
        let source = match &spilled {
            Some(spilled) => Source::File(&folder, self::name(&spilled.path)?),
            None => Source::Bytes(&self.memory),
        };
        if place == Place::Fresh {
            match install::in_place(&folder, name, source, recipe, Creation::Fresh) {
                Ok(Installed::Done(_)) => return Ok(()),
                Ok(Installed::Obstructed) => {}
                Err(error) => {
                    let _ = folder.remove_if_exists(name);
                    return Err(error);
                }
            }
        }
        let tmp = TempDir {
            dir: &folder,
            path: RelPath::ROOT,
        };
        install::by_rename(&folder, name, source, recipe, tmp).map(drop)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Spilled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns the last part of a path.
fn name(path: &Path) -> Result<&RelPath> {
    let name = path.file_name().and_then(OsStr::to_str);
    RelPath::new(name.unwrap_or_default())
}

fn write_failed(error: &io::Error, path: &Path) -> Error {
    Error::io(
        error,
        format_args!("Can't write to file '{}'", path.display()),
    )
}
