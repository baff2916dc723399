//! Revisions and peg revisions as a user types them.

use std::fmt;

use crate::path::uri_decode;
use crate::time::Clock;
use crate::{Error, ErrorCode, Result, Revnum, Timestamp, Url};

/// A revision as it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RevisionSpec {
    /// None was given.
    #[default]
    Unspecified,
    /// A number.
    Number(Revnum),
    /// `{DATE}`: the youngest revision at that moment.
    Date(Timestamp),
    /// `COMMITTED`: the last revision in which the node changed, at or before BASE.
    Committed,
    /// `PREV`: the revision before COMMITTED.
    Previous,
    /// `BASE`: what the working copy was checked out at.
    Base,
    /// What is in the working copy now.
    Working,
    /// `HEAD`: the youngest in the repository.
    Head,
}

/// Two revisions, `-r START:END`; one alone has an unspecified end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RevisionRange {
    /// Before the colon.
    pub start: RevisionSpec,
    /// After it.
    pub end: RevisionSpec,
}

impl RevisionSpec {
    /// Tells whether no revision was given.
    pub const fn is_unspecified(self) -> bool {
        matches!(self, Self::Unspecified)
    }

    /// Tells whether only a working copy knows what is meant.
    pub const fn needs_working_copy(self) -> bool {
        matches!(
            self,
            Self::Committed | Self::Previous | Self::Base | Self::Working
        )
    }
}

impl fmt::Display for RevisionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Number(rev) => return rev.fmt(f),
            Self::Date(time) => return f.write_str(&time.to_iso()),
            Self::Committed => "committed",
            Self::Previous => "previous",
            Self::Base => "base",
            Self::Working => "working",
            Self::Head => "head",
        })
    }
}

impl RevisionRange {
    /// Reads the argument of `-r`: `N`, `N:M`, with each a number (any `r` before it is dropped),
    /// `{DATE}`, `HEAD`, `BASE`, `COMMITTED` or `PREV` in any case.
    ///
    /// # Errors
    /// [`ErrorCode::CL_ARG_PARSING_ERROR`] for anything else.
    pub fn parse(text: &str, clock: &Clock) -> Result<Self> {
        Self::read(text, clock).ok_or_else(|| {
            Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                format!("Syntax error in revision argument '{text}'"),
            )
        })
    }

    /// As [`RevisionRange::parse`], `None` for what is no revision.
    pub fn read(text: &str, clock: &Clock) -> Option<Self> {
        let (start, rest) = read_revision(text, clock)?;
        let mut range = Self {
            start,
            end: RevisionSpec::Unspecified,
        };
        if let Some(end) = rest.strip_prefix(':') {
            let rest;
            (range.end, rest) = read_revision(end, clock)?;
            return rest.is_empty().then_some(range);
        }
        rest.is_empty().then_some(range)
    }

    /// Reads the argument of `-c`, a list of changes: `N` is `N-1:N`, `-N` is `N:N-1`, `M-N` is
    /// `M-1:N`.
    ///
    /// # Errors
    /// [`ErrorCode::CL_ARG_PARSING_ERROR`] for anything else.
    pub fn parse_changes(text: &str) -> Result<Vec<Self>> {
        text.split([',', ' ', '\n', '\r', '\t', '\x0b'])
            .filter(|change| !change.is_empty())
            .map(parse_change)
            .collect()
    }

    /// Makes a range of two numbers.
    pub const fn of_numbers(start: Revnum, end: Revnum) -> Self {
        Self {
            start: RevisionSpec::Number(start),
            end: RevisionSpec::Number(end),
        }
    }
}

/// Reads the argument of `-r`, see [`RevisionRange::parse`].
///
/// # Errors
/// [`ErrorCode::CL_ARG_PARSING_ERROR`] for what is no revision.
pub fn parse_revision_range(text: &str, clock: &Clock) -> Result<RevisionRange> {
    RevisionRange::parse(text, clock)
}

/// Splits a target into what it names and its peg revision's text, at the last `@` of the last
/// component; `None` if there is no `@`.
///
/// ```
/// use sylvan_core::opt::split_peg_text;
///
/// assert_eq!(split_peg_text("svn://jo@host/a@b@12"), ("svn://jo@host/a@b", Some("12")));
/// assert_eq!(split_peg_text("svn://jo@host/a"), ("svn://jo@host/a", None));
/// assert_eq!(split_peg_text("icon@2x.png@"), ("icon@2x.png", Some("")));
/// ```
pub fn split_peg_text(target: &str) -> (&str, Option<&str>) {
    let name = target.rfind('/').map_or(0, |slash| slash + 1);
    match target[name..].rfind('@') {
        Some(at) => (&target[..name + at], Some(&target[name + at + 1..])),
        None => (target, None),
    }
}

/// Splits a target into what it names and its peg revision; an `@` with nothing after it gives
/// [`RevisionSpec::Unspecified`].
///
/// # Errors
/// [`ErrorCode::CL_ARG_PARSING_ERROR`] if what follows the `@` is no revision.
pub fn split_peg<'a>(target: &'a str, clock: &Clock) -> Result<(&'a str, Option<RevisionSpec>)> {
    let (path, peg) = split_peg_text(target);
    let Some(peg) = peg else {
        return Ok((path, None));
    };
    if peg.is_empty() {
        return Ok((path, Some(RevisionSpec::Unspecified)));
    }
    let text = if Url::is_url(target) && is_escaped_date(peg) {
        String::from_utf8_lossy(&uri_decode(peg)).into_owned()
    } else {
        peg.to_owned()
    };
    match RevisionRange::read(&text, clock) {
        Some(range) if range.end.is_unspecified() => Ok((path, Some(range.start))),
        _ => Err(bad_peg(target, peg)),
    }
}

fn bad_peg(target: &str, peg: &str) -> Error {
    let is_only_user = target.starts_with("svn+ssh://") && target.matches('@').count() == 1;
    let hint = if is_only_user {
        format!("; did you mean '{target}@'?")
    } else {
        String::new()
    };
    Error::new(
        ErrorCode::CL_ARG_PARSING_ERROR,
        format!("Syntax error parsing peg revision '{peg}'{hint}"),
    )
}

/// Tells whether a peg revision is a date whose braces are escaped, as they are in a URL.
fn is_escaped_date(peg: &str) -> bool {
    let ends_so = |part: Option<&str>, escape: &str| {
        part.is_some_and(|part| part.eq_ignore_ascii_case(escape))
    };
    peg.len() > 6 && ends_so(peg.get(..3), "%7b") && ends_so(peg.get(peg.len() - 3..), "%7d")
}

/// Reads one revision at the start of `text` and returns what follows it.
fn read_revision<'a>(text: &'a str, clock: &Clock) -> Option<(RevisionSpec, &'a str)> {
    let text = text.trim_start_matches('r');
    if let Some(date) = text.strip_prefix('{') {
        let (date, rest) = date.split_once('}')?;
        return Some((
            RevisionSpec::Date(Timestamp::parse_date(date, clock)?),
            rest,
        ));
    }
    let split = |is: fn(&char) -> bool| {
        let end = text.find(|c: char| !is(&c)).unwrap_or(text.len());
        text.split_at(end)
    };
    let (digits, rest) = split(char::is_ascii_digit);
    if !digits.is_empty() {
        // As many digits as one likes; what does not fit is the greatest number.
        let number = digits.parse().unwrap_or(i64::MAX);
        return Some((RevisionSpec::Number(Revnum::new(number)?), rest));
    }
    let (word, rest) = split(char::is_ascii_alphabetic);
    let spec = match word.to_ascii_lowercase().as_str() {
        "head" => RevisionSpec::Head,
        "prev" => RevisionSpec::Previous,
        "base" => RevisionSpec::Base,
        "committed" => RevisionSpec::Committed,
        _ => return None,
    };
    Some((spec, rest))
}

fn parse_change(change: &str) -> Result<RevisionRange> {
    let error = |text: String| Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text);
    let not_numeric = || {
        error(format!(
            "Non-numeric change argument ({change}) given to -c"
        ))
    };
    let negative_range = || {
        error(format!(
            "Negative number in range ({change}) not supported with -c"
        ))
    };
    let (is_negative, text) = match change.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, change),
    };
    let digits = text.trim_start_matches('r');
    let (first, rest) = match digits {
        // Nothing but a sign or an `r` counts as zero.
        "" => (0, ""),
        _ => read_long(digits).ok_or_else(not_numeric)?,
    };
    let (mut start, mut end) = (first, first);
    let mut rest = rest;
    if let Some(second) = rest.strip_prefix('-') {
        if first < 0 || is_negative {
            return Err(negative_range());
        }
        (end, rest) = read_long(second.trim_start_matches('r')).ok_or_else(not_numeric)?;
        if end < 0 {
            return Err(negative_range());
        }
    }
    if !rest.is_empty() {
        return Err(not_numeric());
    }
    if start == 0 || end == 0 {
        return Err(error("There is no change 0".to_owned()));
    }
    if start < 0 && is_negative {
        return Err(not_numeric());
    }
    if start < 0 || is_negative {
        start = start.checked_abs().ok_or_else(not_numeric)?;
        end = start - 1;
    } else if start <= end {
        start -= 1;
    } else {
        end -= 1;
    }
    match (Revnum::new(start), Revnum::new(end)) {
        (Some(start), Some(end)) => Ok(RevisionRange::of_numbers(start, end)),
        _ => Err(not_numeric()),
    }
}

/// Reads a decimal number with a sign, as C's `strtol` does.
fn read_long(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let number = digits.parse().unwrap_or(i64::MAX);
    Some((sign * number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::TimeZone;

    fn clock() -> Clock {
        Clock {
            now: Timestamp::from_micros(1_767_355_200_000_000),
            zone: TimeZone::utc(),
        }
    }

    fn number(rev: i64) -> RevisionSpec {
        RevisionSpec::Number(Revnum::new(rev).unwrap())
    }

    #[test]
    fn revision_ranges() {
        let date = RevisionSpec::Date(Timestamp::parse_iso("2013-05-01T00:00:00.0Z").unwrap());
        let none = RevisionSpec::Unspecified;
        for (text, start, end) in [
            ("5", number(5), none),
            ("rr5:r10", number(5), number(10)),
            ("head", RevisionSpec::Head, none),
            (
                "PREV:Committed",
                RevisionSpec::Previous,
                RevisionSpec::Committed,
            ),
            ("base:{2013-05-01}", RevisionSpec::Base, date),
            ("r{2013-05-01}:0", date, number(0)),
            ("99999999999999999999", number(i64::MAX), none),
        ] {
            let range = RevisionRange::parse(text, &clock()).unwrap();
            assert_eq!(range, RevisionRange { start, end }, "{text}");
        }
        for bad in [
            "",
            "r",
            "5:",
            ":5",
            "5:6:7",
            "-5",
            "working",
            "{yesterday}",
            "{2013",
            "5x",
            "5 ",
        ] {
            let error = RevisionRange::parse(bad, &clock()).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("E205000: Syntax error in revision argument '{bad}'")
            );
        }
    }

    #[test]
    fn changes() {
        let range = |start, end| RevisionRange {
            start: number(start),
            end: number(end),
        };
        for (text, expected) in [
            ("5", vec![range(4, 5)]),
            ("r5,-5 -r7", vec![range(4, 5), range(5, 4), range(7, 6)]),
            ("r-5", vec![range(5, 4)]),
            ("3-6", vec![range(2, 6)]),
            ("r6-r3", vec![range(6, 2)]),
            ("", vec![]),
        ] {
            assert_eq!(
                RevisionRange::parse_changes(text).unwrap(),
                expected,
                "{text}"
            );
        }
        for (bad, message) in [
            ("x", "Non-numeric change argument (x) given to -c"),
            ("5x", "Non-numeric change argument (5x) given to -c"),
            ("--5", "Non-numeric change argument (--5) given to -c"),
            ("0", "There is no change 0"),
            ("5-0", "There is no change 0"),
            (
                "-3-5",
                "Negative number in range (-3-5) not supported with -c",
            ),
            (
                "3--5",
                "Negative number in range (3--5) not supported with -c",
            ),
        ] {
            let error = RevisionRange::parse_changes(bad).unwrap_err();
            assert_eq!(error.message(), message);
        }
    }

    #[test]
    fn pegs() {
        let none = RevisionSpec::Unspecified;
        for (target, path, peg) in [
            ("a", "a", None),
            ("a@", "a", Some(none)),
            ("a@@", "a@", Some(none)),
            ("a@5", "a", Some(number(5))),
            ("x@y/a@HEAD", "x@y/a", Some(RevisionSpec::Head)),
            ("@", "", Some(none)),
        ] {
            assert_eq!(
                split_peg(target, &clock()).unwrap(),
                (path, peg),
                "{target}"
            );
        }
        let date = Timestamp::parse_iso("2013-05-01T00:00:00.0Z").unwrap();
        assert_eq!(
            split_peg("http://h/a@%7B2013-05-01%7d", &clock()).unwrap(),
            ("http://h/a", Some(RevisionSpec::Date(date)))
        );
        for (target, message) in [
            ("a@b", "Syntax error parsing peg revision 'b'"),
            ("a@1:2", "Syntax error parsing peg revision '1:2'"),
            (
                "svn+ssh://jo@host",
                "Syntax error parsing peg revision 'host'; did you mean 'svn+ssh://jo@host@'?",
            ),
        ] {
            assert_eq!(split_peg(target, &clock()).unwrap_err().message(), message);
        }
    }
}
