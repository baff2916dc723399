//! What operations are about: a URL or a local path, with its peg revision.

use std::fmt;

use sylvan_core::opt::{RevisionSpec, split_peg, split_peg_text};
use sylvan_core::time::Clock;
use sylvan_core::{Dirent, Error, ErrorCode, Result, Url};

/// A URL, or a path of a working copy as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOrUrl {
    /// A canonical URL.
    Url(Url),
    /// A local path in internal style.
    Path(Dirent),
}

impl PathOrUrl {
    /// Returns the URL, if it is one.
    pub const fn as_url(&self) -> Option<&Url> {
        match self {
            Self::Url(url) => Some(url),
            Self::Path(_) => None,
        }
    }

    /// Returns the path, if it is one.
    pub const fn as_path(&self) -> Option<&Dirent> {
        match self {
            Self::Path(path) => Some(path),
            Self::Url(_) => None,
        }
    }

    /// Tells whether it is a URL.
    pub const fn is_url(&self) -> bool {
        matches!(self, Self::Url(_))
    }
}

impl fmt::Display for PathOrUrl {
    /// Writes the URL, or the path in local style.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => url.fmt(f),
            Self::Path(path) => path.fmt(f),
        }
    }
}

/// A target whose peg revision was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where it is in the peg revision.
    pub at: PathOrUrl,
    /// The revision in which it is there; [`RevisionSpec::Unspecified`] if none was named.
    pub peg: RevisionSpec,
}

impl From<Url> for Target {
    fn from(url: Url) -> Self {
        Self {
            at: PathOrUrl::Url(url),
            peg: RevisionSpec::Unspecified,
        }
    }
}

impl From<Dirent> for Target {
    fn from(path: Dirent) -> Self {
        Self {
            at: PathOrUrl::Path(path),
            peg: RevisionSpec::Unspecified,
        }
    }
}

/// A target as the command line has it: canonical, the peg revision not yet looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Where it is.
    pub at: PathOrUrl,
    /// What stood after the last `@`, if there was one (it may be empty).
    pub peg: Option<String>,
}

impl Argument {
    /// Makes an argument canonical. Arguments below the repository root (`^/…`) are no case for
    /// this, see [`crate::arguments`].
    ///
    /// # Errors
    /// `BAD_FILENAME` if there is nothing but a peg revision, `BAD_URL` for a URL that goes up.
    pub fn parse(text: &str) -> Result<Self> {
        let (place, peg) = split_peg_text(text);
        if place.is_empty() && peg.is_some() {
            return Err(Error::new(
                ErrorCode::BAD_FILENAME,
                format!("'{text}' is just a peg revision. Maybe try '{text}@' instead?"),
            ));
        }
        let at = if Url::is_url(place) {
            PathOrUrl::Url(canonical_url(place)?)
        } else {
            PathOrUrl::Path(canonical_path(place))
        };
        Ok(Self {
            at,
            peg: peg.map(str::to_owned),
        })
    }

    /// The current directory, which stands for no argument.
    pub fn current_dir() -> Self {
        Self {
            at: PathOrUrl::Path(Dirent::default()),
            peg: None,
        }
    }

    /// Reads the peg revision.
    ///
    /// # Errors
    /// `CL_ARG_PARSING_ERROR` if it is none.
    pub fn target(&self, clock: &Clock) -> Result<Target> {
        let (_, peg) = split_peg(&self.to_string(), clock)?;
        Ok(Target {
            at: self.at.clone(),
            peg: peg.unwrap_or_default(),
        })
    }

    /// Returns the place, where no peg revision is allowed (an empty one is).
    ///
    /// # Errors
    /// `ILLEGAL_TARGET` if there is one.
    pub fn without_peg(&self) -> Result<&PathOrUrl> {
        match self.peg.as_deref() {
            None | Some("") => Ok(&self.at),
            Some(_) => Err(Error::new(
                ErrorCode::ILLEGAL_TARGET,
                format!("'{self}': a peg revision is not allowed here"),
            )),
        }
    }
}

impl fmt::Display for Argument {
    /// Writes the canonical place with its peg as it was typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            PathOrUrl::Url(url) => f.write_str(url.as_str())?,
            PathOrUrl::Path(path) => f.write_str(path.as_str())?,
        }
        match &self.peg {
            Some(peg) => write!(f, "@{peg}"),
            None => Ok(()),
        }
    }
}

/// Makes a URL that was typed canonical: characters that must be escaped are.
///
/// # Errors
/// `BAD_URL` if it has a component `..`, or is none.
pub fn canonical_url(text: &str) -> Result<Url> {
    if text.split('/').any(|component| component == "..") {
        return Err(Error::new(
            ErrorCode::BAD_URL,
            format!("URL '{}' contains a '..' element", escape_typed(text)),
        ));
    }
    Url::parse(text)
}

/// Makes a local path that was typed canonical: `x/..` goes away, leading `..` stay.
pub fn canonical_path(text: &str) -> Dirent {
    let path = Dirent::new(text);
    if !path.as_str().split('/').any(|component| component == "..") {
        return path;
    }
    let mut kept: Vec<&str> = Vec::new();
    for component in path.as_str().split('/') {
        match (component, kept.last()) {
            ("..", Some(&"")) => {}
            ("..", Some(last)) if *last != ".." => {
                kept.pop();
            }
            _ => kept.push(component),
        }
    }
    let joined = kept.join("/");
    if joined.is_empty() && path.is_absolute() {
        return Dirent::new("/");
    }
    Dirent::new(&joined)
}

/// Escapes what is not ASCII or never stands in a URL, as is done to typed URLs.
fn escape_typed(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte <= b' ' || byte > b'~' || b"\"<>\\^`{|}".contains(&byte) {
            escaped.push_str(&format!("%{byte:02X}"));
        } else {
            escaped.push(char::from(byte));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use sylvan_core::Timestamp;
    use sylvan_core::time::TimeZone;

    use super::*;

    #[test]
    fn arguments_become_canonical() {
        for (typed, canonical) in [
            ("./a//b/@", "a/b@"),
            ("a/../b", "b"),
            ("../a/../b", "../b"),
            ("/a/../../b", "/b"),
            ("a/..", ""),
            ("/..", "/"),
            (".@BASE", "@BASE"),
            ("SVN://Host/a b/ü@3", "svn://host/a%20b/%C3%BC@3"),
        ] {
            assert_eq!(Argument::parse(typed).unwrap().to_string(), canonical);
        }
        let error = Argument::parse("@3").unwrap_err();
        assert_eq!(error.code(), ErrorCode::BAD_FILENAME);
        let error = Argument::parse("svn://h/a/../b").unwrap_err();
        assert_eq!(error.code(), ErrorCode::BAD_URL);
    }

    #[test]
    fn pegs_are_read_late() {
        let clock = Clock {
            now: Timestamp::from_micros(0),
            zone: TimeZone::utc(),
        };
        let argument = Argument::parse("a@nonsense").unwrap();
        assert_eq!(
            argument.target(&clock).unwrap_err().message(),
            "Syntax error parsing peg revision 'nonsense'"
        );
        assert_eq!(
            argument.without_peg().unwrap_err().message(),
            "'a@nonsense': a peg revision is not allowed here"
        );
        let empty = Argument::parse("a@").unwrap();
        assert_eq!(empty.target(&clock).unwrap().peg, RevisionSpec::Unspecified);
        let head = Argument::parse("a@HEAD").unwrap();
        assert_eq!(head.target(&clock).unwrap().peg, RevisionSpec::Head);
    }
}
