use std::fmt;

/// A revision number: zero or more. "No revision" is `Option::<Revnum>::None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revnum(i64);

impl Revnum {
    /// The empty revision with which every repository begins.
    pub const ZERO: Self = Self(0);

    /// Makes a revision number; `None` if `number` is negative, as "no revision" is on disk and on
    /// the wire.
    pub const fn new(number: i64) -> Option<Self> {
        if number < 0 { None } else { Some(Self(number)) }
    }

    /// Parses decimal digits; `None` if there is anything else or the number is too large.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        text.parse().ok().map(Self)
    }

    /// Returns the number.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Returns the revision before this one, if there is one.
    pub const fn previous(self) -> Option<Self> {
        Self::new(self.0 - 1)
    }

    /// Returns the revision after this one.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revnum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
