//! Line ends and keywords: what differs between a file in the repository and in the working copy.
//!
//! [`Translation`] tells what a file's properties ask for, [`Translator`] does it to a stream, in
//! chunks of any size and with bounded memory.
//!
//! ```
//! use sylvan_core::translate::{KeywordInfo, Keywords, Translation};
//! use sylvan_core::{TimeZone, Url};
//!
//! let url = Url::parse("http://host/repos/trunk/a")?;
//! let info = KeywordInfo { rev: "12", url: Some(&url), repos_root: None, author: "jo", date: None, zone: &TimeZone::utc() };
//! let translation = Translation {
//!     keywords: Keywords::from_prop(b"Rev Author", &info).into(),
//!     ..Translation::default()
//! };
//! let mut out = Vec::new();
//! let mut translator = translation.to_working();
//! translator.push(b"by $Author$ in $R", &mut out)?;
//! translator.push(b"ev:$", &mut out)?;
//! translator.finish(&mut out)?;
//! assert_eq!(out, b"by $Author: jo $ in $Rev: 12 $");
//! # Ok::<(), sylvan_core::Error>(())
//! ```

mod keywords;
pub mod special;
mod stream;

use std::sync::Arc;

use crate::props::{SVN_EOL_STYLE, SVN_KEYWORDS, SVN_SPECIAL};
use crate::{Error, ErrorCode, Props, Result};
pub use keywords::{KeywordInfo, Keywords};
pub use stream::Translator;

/// A style of line ends that `svn:eol-style` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eol {
    /// The system's own in the working copy, LF in the repository.
    Native,
    /// LF everywhere.
    Lf,
    /// CR everywhere.
    Cr,
    /// CR and LF everywhere.
    Crlf,
}

impl Eol {
    /// Reads the value of `svn:eol-style`; `None` for any that is not known.
    pub fn from_prop(value: &[u8]) -> Option<Self> {
        match value {
            b"native" => Some(Self::Native),
            b"LF" => Some(Self::Lf),
            b"CR" => Some(Self::Cr),
            b"CRLF" => Some(Self::Crlf),
            _ => None,
        }
    }

    /// Returns the bytes at the end of a line in the working copy.
    pub const fn in_working_copy(self) -> &'static [u8] {
        match self {
            Self::Native if cfg!(windows) => b"\r\n",
            Self::Native | Self::Lf => b"\n",
            Self::Cr => b"\r",
            Self::Crlf => b"\r\n",
        }
    }

    /// Returns the bytes at the end of a line in the repository.
    pub const fn in_repository(self) -> &'static [u8] {
        match self {
            Self::Native => b"\n",
            fixed => fixed.in_working_copy(),
        }
    }
}

/// What `svn:eol-style` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EolStyle {
    /// There is no property.
    #[default]
    None,
    /// There is one with a value that is not known.
    Unknown,
    /// The line ends are of this style.
    Is(Eol),
}

impl EolStyle {
    /// Reads the property, if there is one.
    pub fn from_prop(value: Option<&[u8]>) -> Self {
        value.map_or(Self::None, |value| {
            Eol::from_prop(value).map_or(Self::Unknown, Self::Is)
        })
    }

    fn eol(self) -> Option<Eol> {
        match self {
            Self::Is(eol) => Some(eol),
            Self::None | Self::Unknown => None,
        }
    }
}

/// How the content of a file differs between repository and working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The line ends.
    pub eol: EolStyle,
    /// The keywords; `None` if there are none, which an empty set becomes.
    pub keywords: Option<Arc<Keywords>>,
    /// Whether the file stands for a symlink, see [`special`].
    pub special: bool,
}

impl Translation {
    /// Reads a file's properties; `info` has the values of keywords.
    pub fn from_props(props: &Props, info: &KeywordInfo<'_>) -> Self {
        let prop = |name: &str| props.get(name).map(Vec::as_slice);
        Self {
            eol: EolStyle::from_prop(prop(SVN_EOL_STYLE)),
            keywords: prop(SVN_KEYWORDS)
                .map(|value| Keywords::from_prop(value, info))
                .and_then(Into::into),
            special: props.contains_key(SVN_SPECIAL),
        }
    }

    /// As [`Translation::from_props`] where no values are at hand: enough for
    /// [`Translation::to_normal`].
    pub fn for_normalization(props: &Props) -> Self {
        Self::from_props(props, &KeywordInfo::empty())
    }

    /// Tells whether any of the properties that matter is there, without reading them.
    pub fn is_needed(props: &Props) -> bool {
        [SVN_EOL_STYLE, SVN_KEYWORDS, SVN_SPECIAL]
            .iter()
            .any(|name| props.contains_key(*name))
    }

    /// Tells whether the content is the same in repository and working copy.
    pub fn is_identity(&self) -> bool {
        self.eol.eol().is_none() && self.keywords.is_none() && !self.special
    }

    /// Returns what makes repository content into working copy content: keywords are expanded, line
    /// ends become those asked for, whatever they were.
    pub fn to_working(&self) -> Translator {
        let eol = self.eol.eol().map(Eol::in_working_copy);
        Translator::new(eol, true, self.keywords.clone(), true)
    }

    /// Returns what makes working copy content into repository content: keywords are contracted,
    /// native line ends become LF. Where they are mixed, `repair` says whether that is an error; a
    /// fixed style is always repaired.
    ///
    /// # Errors
    /// [`ErrorCode::IO_UNKNOWN_EOL`] if the style is not known.
    pub fn to_normal(&self, repair: bool) -> Result<Translator> {
        let repair = match self.eol {
            EolStyle::Unknown => return Err(Error::from_code(ErrorCode::IO_UNKNOWN_EOL)),
            EolStyle::None | EolStyle::Is(Eol::Native) => repair,
            EolStyle::Is(Eol::Lf | Eol::Cr | Eol::Crlf) => true,
        };
        let eol = self.eol.eol().map(Eol::in_repository);
        Ok(Translator::new(eol, repair, self.keywords.clone(), false))
    }
}

#[cfg(test)]
mod tests;
