//! What the properties of an exported file ask for.

use sylvan_core::translate::{Eol, EolStyle, KeywordInfo, Keywords, Translation};
use sylvan_core::{Result, Revnum, TimeZone, Timestamp, Url, props};
use sylvan_wc::install::Recipe;

/// The properties that matter for an exported file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileProps {
    eol_style: Option<Vec<u8>>,
    keywords: Option<Vec<u8>>,
    executable: bool,
    special: bool,
    rev: Option<Revnum>,
    date: Option<Timestamp>,
    author: Option<String>,
    is_changed: bool,
}

/// What else decides how a file is written.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// Whether keywords stay as they are.
    pub(super) ignore_keywords: bool,
    /// What native line ends become.
    pub(super) native_eol: Option<Eol>,
    /// The zone in which dates are shown.
    pub(super) zone: TimeZone,
}

impl FileProps {
    /// Takes one property, versioned or entry property.
    ///
    /// # Errors
    /// `E125003` for a date that cannot be read.
    pub(super) fn take(&mut self, name: &str, value: &[u8]) -> Result<()> {
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            props::SVN_EOL_STYLE => self.eol_style = Some(value.to_owned()),
            props::SVN_KEYWORDS => self.keywords = Some(value.to_owned()),
            props::SVN_EXECUTABLE => self.executable = true,
            props::SVN_SPECIAL => self.special = true,
            props::ENTRY_COMMITTED_REV => self.rev = Revnum::parse(&text()),
            props::ENTRY_COMMITTED_DATE => self.date = Some(Timestamp::parse_iso(&text())?),
            props::ENTRY_LAST_AUTHOR => self.author = Some(text()),
            _ => {}
        }
        Ok(())
    }

    /// Takes what a working copy knows of a file; a changed one is shown as such.
    pub(super) fn of_working_copy(
        &mut self,
        rev: Option<Revnum>,
        author: Option<&str>,
        date: Option<Timestamp>,
        is_changed: bool,
    ) {
        self.rev = rev;
        self.date = date;
        self.is_changed = is_changed;
        self.author = if is_changed {
            Some("(local)".to_owned())
        } else {
            author.map(str::to_owned)
        };
    }

    /// Says how the file is written.
    pub(super) fn recipe(
        &self,
        url: Option<&Url>,
        repos_root: Option<&Url>,
        style: &Style,
    ) -> Recipe {
        let eol = match EolStyle::from_prop(self.eol_style.as_deref()) {
            EolStyle::Is(Eol::Native) => EolStyle::Is(style.native_eol.unwrap_or(Eol::Native)),
            other => other,
        };
        let suffix = if self.is_changed { "M" } else { "" };
        let rev = match self.rev {
            Some(rev) => format!("{rev}{suffix}"),
            None if self.is_changed => "-1M".to_owned(),
            None => String::new(),
        };
        let keywords = self.keywords.as_ref().filter(|_| !style.ignore_keywords);
        let keywords = keywords.map(|value| {
            let info = KeywordInfo {
                rev: &rev,
                url,
                repos_root,
                author: self.author.as_deref().unwrap_or_default(),
                date: self.date,
                zone: &style.zone,
            };
            Keywords::from_prop(value, &info)
        });
        let translation = Translation {
            eol,
            keywords: keywords.and_then(Into::into),
            special: false,
        };
        Recipe {
            special: self.special,
            executable: self.executable && !self.special,
            read_only: false,
            translation: Some(translation).filter(|how| !how.is_identity() && !self.special),
            time: self.date.filter(|_| !self.special),
        }
    }
}
