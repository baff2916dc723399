use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use sylvan_core::TimeZone;
use sylvan_io::config::{Category, Config};
use sylvan_io::{FsType, fs_type};

/// How working copies are opened and written: what the `[working-copy]` and `[miscellany]`
/// sections of the user's config say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Keep wc.db locked against other processes from first use to close
    /// (`exclusive-locking`, or this program is named in `exclusive-locking-clients`). Its journal
    /// is then deleted after each transaction rather than truncated.
    pub exclusive_locking: bool,
    /// How long to wait for another process that has wc.db locked (`busy-timeout`, milliseconds).
    pub busy_timeout: Duration,
    /// How many threads work on files; `None` chooses by the file system.
    pub workers: Option<NonZero<usize>>,
    /// Give working files the time of their last commit (`use-commit-times`).
    pub use_commit_times: bool,
    /// The time zone of dates in keywords; the caller sets it.
    pub time_zone: TimeZone,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            exclusive_locking: false,
            busy_timeout: Self::BUSY_TIMEOUT,
            workers: None,
            use_commit_times: false,
            time_zone: TimeZone::utc(),
        }
    }
}

impl Options {
    /// The wait for a locked wc.db where the config says nothing.
    pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

    /// Reads the options that `config` has for the program `client` (`svn`). Values that make no
    /// sense count as not set, as they do for Subversion when it opens a working copy.
    pub fn from_config(config: &Config, client: &str) -> Self {
        let text = |section, option| config.get(Category::Config, section, option);
        let flag = |section, option| {
            config
                .get_bool(Category::Config, section, option, false)
                .unwrap_or(false)
        };
        let number = |section, option| {
            let number = config.get_i64(Category::Config, section, option, 0).ok()?;
            i32::try_from(number)
                .ok()?
                .try_into()
                .ok()
                .filter(|number| *number > 0)
        };
        let named = text("working-copy", "exclusive-locking-clients")
            .is_some_and(|clients| clients.split([' ', ',']).any(|named| named == client));
        Self {
            exclusive_locking: named || flag("working-copy", "exclusive-locking"),
            busy_timeout: number("working-copy", "busy-timeout")
                .map_or(Self::BUSY_TIMEOUT, Duration::from_millis),
            workers: number("working-copy", "workers")
                .and_then(|workers: u64| NonZero::new(usize::try_from(workers).ok()?)),
            use_commit_times: flag("miscellany", "use-commit-times"),
            time_zone: TimeZone::utc(),
        }
    }
}

impl Options {
    /// Returns how many threads should work on the files below `path`.
    pub fn workers_at(&self, path: &Path) -> usize {
        self.workers
            .map_or_else(|| fs_type(path).workers(), NonZero::get)
    }

    /// Tells whether each step on files below `path` is likely to be a round trip: on a network file
    /// system, or where the user wants more threads than a local disk has use for.
    pub fn is_far(&self, path: &Path) -> bool {
        match self.workers {
            Some(workers) => workers.get() > FsType::MOST_LOCAL_WORKERS,
            None => fs_type(path).is_network(),
        }
    }
}

#[cfg(test)]
mod tests {
    use sylvan_io::config::ConfigOption;

    use super::*;

    #[test]
    fn config_says_how_to_lock() {
        let of = |options: &[&str]| {
            let mut config = Config::default();
            for option in options {
                let (option, _) = ConfigOption::parse(option).unwrap();
                config.apply(&[option], "--config-option");
            }
            Options::from_config(&config, "svn")
        };
        assert_eq!(of(&[]), Options::default());
        assert!(of(&["config:working-copy:exclusive-locking=yes"]).exclusive_locking);
        assert!(of(&["config:working-copy:exclusive-locking-clients=x, svn"]).exclusive_locking);
        assert!(!of(&["config:working-copy:exclusive-locking-clients=svnx"]).exclusive_locking);
        let timeout =
            |value| of(&[&format!("config:working-copy:busy-timeout={value}")]).busy_timeout;
        assert_eq!(timeout("250"), Duration::from_millis(250));
        assert_eq!(timeout("-1"), Options::BUSY_TIMEOUT);
        assert_eq!(timeout("0"), Options::BUSY_TIMEOUT);
        assert_eq!(
            of(&["config:working-copy:workers=7"]).workers,
            NonZero::new(7)
        );
    }
}
