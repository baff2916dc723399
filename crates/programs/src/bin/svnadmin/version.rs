//! Versions of Subversion that a repository is to be compatible with.

use sylvan_cmdline::number::parse_i32;
use sylvan_cmdline::version;
use sylvan_core::{Error, ErrorCode, Result};

/// A version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: i32,
    minor: i32,
    patch: i32,
    /// Whether it is the release itself, not something before it (`1.8.0-dev`).
    is_release: bool,
}

impl Version {
    /// Makes the version `1.MINOR.0`.
    pub(crate) const fn of_minor(minor: i32) -> Self {
        Self {
            major: 1,
            minor,
            patch: 0,
            is_release: true,
        }
    }

    /// Returns the second number.
    pub(crate) const fn minor(self) -> i32 {
        self.minor
    }

    /// Reads the argument of `--compatible-version`.
    ///
    /// # Errors
    /// `MALFORMED_VERSION_STRING`; `UNSUPPORTED_FEATURE` for what no repository can be made for.
    pub(crate) fn compatible(text: &str) -> Result<Self> {
        let unsupported = |text: String| Err(Error::new(ErrorCode::UNSUPPORTED_FEATURE, text));
        let version = Self::parse(text)?;
        if version < Self::of_minor(0) {
            return unsupported("Cannot create pre-1.0-compatible repositories".to_owned());
        }
        let latest = Self::parse(version::COMPATIBLE)?;
        let release = Self {
            is_release: true,
            ..version
        };
        if release > latest {
            let latest = version::COMPATIBLE;
            return unsupported(format!(
                "Cannot guarantee compatibility beyond the current running version ({latest})"
            ));
        }
        Ok(version)
    }

    fn parse(text: &str) -> Result<Self> {
        let malformed = || {
            Error::new(
                ErrorCode::MALFORMED_VERSION_STRING,
                format!("Failed to parse version number string '{text}'"),
            )
        };
        let pieces: Vec<&str> = text.split('.').filter(|piece| !piece.is_empty()).collect();
        if !(2..=3).contains(&pieces.len()) {
            return Err(malformed());
        }
        let number = |piece: &str| {
            parse_i32(piece).map_err(|error| {
                let outer = malformed();
                error.wrap(outer.code(), outer.message())
            })
        };
        let last = pieces.get(2).copied().unwrap_or("0");
        let (patch, tag) = last.split_once('-').unwrap_or((last, ""));
        let version = Self {
            major: number(pieces[0])?,
            minor: number(pieces[1])?,
            patch: number(patch)?,
            is_release: tag.is_empty(),
        };
        if version.major < 0 || version.minor < 0 || version.patch < 0 {
            return Err(malformed());
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (text, message) in [
            ("1", "E200037: Failed to parse version number string '1'"),
            (
                "1.2.3.4",
                "E200037: Failed to parse version number string '1.2.3.4'",
            ),
            (
                "a.b",
                "E200037: Failed to parse version number string 'a.b'",
            ),
            (
                "1.-2",
                "E200037: Failed to parse version number string '1.-2'",
            ),
            (
                "0.9",
                "E200007: Cannot create pre-1.0-compatible repositories",
            ),
            (
                "1.0.0-dev",
                "E200007: Cannot create pre-1.0-compatible repositories",
            ),
            (
                "1.15",
                "E200007: Cannot guarantee compatibility beyond the current running version \
                 (1.14.2)",
            ),
        ] {
            assert_eq!(Version::compatible(text).unwrap_err().to_string(), message);
        }
        for (text, minor) in [("1.4", 4), ("1.14.2", 14), ("1.8.0-beta", 8), (".1.6.", 6)] {
            assert_eq!(Version::compatible(text).unwrap().minor(), minor, "{text}");
        }
        assert!(Version::compatible("1.8.0-dev").unwrap() < Version::of_minor(8));
        assert!(Version::compatible("1.8").unwrap() >= Version::of_minor(8));
    }
}
