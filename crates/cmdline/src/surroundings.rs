//! What programs take from their surroundings: time, zone, folders.

use std::path::PathBuf;
use std::time::SystemTime;

use sylvan_core::time::{Clock, TimeZone};
use sylvan_core::{Dirent, Error, Result};
use sylvan_io::config::Directories;

/// Returns the clock of this machine, in the user's time zone.
pub fn clock() -> Clock {
    sylvan_io::clock(std::env::var_os("TZ").as_deref())
}

/// Returns the clock of this machine in UTC; reads no file.
pub fn utc_clock() -> Clock {
    Clock {
        now: SystemTime::now().into(),
        zone: TimeZone::utc(),
    }
}

/// Returns the user's time zone.
pub fn local_zone() -> TimeZone {
    sylvan_io::time_zone(std::env::var_os("TZ").as_deref())
}

/// Returns the user's home folder.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Returns where the configuration is: in the folder given by `--config-dir`, or in the usual ones.
pub fn config_directories(config_dir: Option<&str>) -> Directories {
    match config_dir {
        Some(dir) => Directories::only(if dir.is_empty() { "." } else { dir }),
        None => Directories::standard(home().as_deref()),
    }
}

/// Returns the folder that relative paths are below.
///
/// # Errors
/// The system's, and `E000022` for a name that is not UTF-8.
pub fn current_dir() -> Result<Dirent> {
    let dir = std::env::current_dir()
        .map_err(|error| Error::io(&error, "Can't get working directory"))?;
    Ok(Dirent::new(crate::utf8::os_text(dir.as_os_str())?))
}
