//! The dialect of dates that a user types.
//!
//! | form | example |
//! |---|---|
//! | extended date | `2026-1-2`, `2026-01-02` |
//! | … and time, `T` between, zone `Z`, `+hh`, `+hh:mm`, `+hhmm` | `2026-01-02T03:04:05.67+01:00` |
//! | … and time, blank between, zone after a blank, `+hh`, `+hhmm` | `2026-01-02 3:04 +0100` |
//! | basic date, and time | `20260102`, `20260102T0304`, `20260102T030405,5-0130` |
//! | a time of today | `3:04`, `03:04:05` |
//! | so long ago | `3 days ago`, `twelve minutes ago` |
//!
//! Seconds, their fraction (one to six digits after `.` or `,`) and the zone may be left out, and
//! everything after an hour of one digit.

use super::calendar::{Fields, MICROS, days_in_month};
use super::{Clock, Timestamp};

/// What was read, and whether its zone was told.
type Parsed = (Fields, Zone);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Local,
    Told,
}

pub(super) fn parse(text: &str, clock: &Clock) -> Option<Timestamp> {
    let (mut fields, zone) = date_and_time(text)
        .or_else(|| time_of_today(text, clock))
        .or_else(|| ago(text, clock))?;
    if !is_in_range(&fields) {
        return None;
    }
    if zone == Zone::Local {
        // An hour that comes twice, at the end of summer time, is meant as now is told: the offset
        // is the one that holds at the moment found with the present offset.
        fields.offset = i64::from(clock.zone.offset_at(clock.now.seconds()));
        let candidate = fields.timestamp()?;
        fields.offset = i64::from(clock.zone.offset_at(candidate.seconds()));
    }
    fields.timestamp()
}

fn is_in_range(fields: &Fields) -> bool {
    (1..=12).contains(&fields.month)
        && (1..=days_in_month(fields.year, fields.month)).contains(&fields.day)
        && fields.hour <= 23
        && fields.minute <= 59
        && fields.second <= 60
}

fn date_and_time(text: &str) -> Option<Parsed> {
    extended(text).or_else(|| basic(text))
}

/// Reads a date with hyphens, alone or with a time.
fn extended(text: &str) -> Option<Parsed> {
    let mut at = Cursor(text);
    let mut fields = Fields {
        year: at.digits(4, 4)?,
        ..Fields::default()
    };
    at.one_of("-")?;
    fields.month = at.digits(1, 2)?;
    at.one_of("-")?;
    fields.day = at.digits(1, 2)?;
    if at.is_empty() {
        return Some((fields, Zone::Local));
    }
    let separator = at.one_of("T ")?;
    clock_time(&mut at, &mut fields)?;
    let zone = if at.is_empty() {
        Zone::Local
    } else if separator == ' ' {
        at.one_of(" ")?;
        offset(&mut at, &mut fields, false)?
    } else {
        utc_or_offset(&mut at, &mut fields, true)?
    };
    Some((fields, zone))
}

/// Reads a date of eight digits, alone or with a time of four or six.
fn basic(text: &str) -> Option<Parsed> {
    let mut at = Cursor(text);
    let mut fields = Fields {
        year: at.digits(4, 4)?,
        month: at.digits(2, 2)?,
        day: at.digits(2, 2)?,
        ..Fields::default()
    };
    if at.is_empty() {
        return Some((fields, Zone::Local));
    }
    at.one_of("T")?;
    fields.hour = at.digits(2, 2)?;
    fields.minute = at.digits(2, 2)?;
    if at.is_at_digit() {
        fields.second = at.digits(2, 2)?;
        fields.micros = fraction(&mut at)?;
    }
    if at.is_empty() {
        return Some((fields, Zone::Local));
    }
    let zone = utc_or_offset(&mut at, &mut fields, false)?;
    Some((fields, zone))
}

fn time_of_today(text: &str, clock: &Clock) -> Option<Parsed> {
    let offset = clock.zone.offset_at(clock.now.seconds());
    let today = Fields::at(clock.now, offset);
    let mut fields = Fields {
        hour: 0,
        minute: 0,
        second: 0,
        micros: 0,
        ..today
    };
    let mut at = Cursor(text);
    clock_time(&mut at, &mut fields)?;
    at.is_empty().then_some((fields, Zone::Local))
}

/// Reads `h[h]:mm[:ss[.u…]]`, or a lone digit at the end.
fn clock_time(at: &mut Cursor<'_>, fields: &mut Fields) -> Option<()> {
    let before = at.0.len();
    fields.hour = at.digits(1, 2)?;
    if at.is_empty() && before == 1 {
        return Some(());
    }
    at.one_of(":")?;
    fields.minute = at.digits(2, 2)?;
    if at.one_of(":").is_some() {
        fields.second = at.digits(2, 2)?;
        fields.micros = fraction(at)?;
    }
    Some(())
}

fn fraction(at: &mut Cursor<'_>) -> Option<i64> {
    if at.one_of(".,").is_none() {
        return Some(0);
    }
    let before = at.0.len();
    let digits = at.digits(1, 6)?;
    let missing = 6 - (before - at.0.len());
    Some((0..missing).fold(digits, |micros, _| micros * 10))
}

fn utc_or_offset(at: &mut Cursor<'_>, fields: &mut Fields, colon: bool) -> Option<Zone> {
    if at.one_of("Z").is_some() {
        return at.is_empty().then_some(Zone::Told);
    }
    offset(at, fields, colon)
}

/// Reads `+hh` or `+hhmm`, where `colon` allows it `+hh:mm` too, up to the end.
fn offset(at: &mut Cursor<'_>, fields: &mut Fields, colon: bool) -> Option<Zone> {
    let sign = if at.one_of("+-")? == '-' { -1 } else { 1 };
    let hours = at.digits(2, 2)?;
    let minutes = if at.is_empty() {
        0
    } else {
        if colon {
            at.one_of(":");
        }
        at.digits(2, 2)?
    };
    fields.offset = sign * (hours * 3600 + minutes * 60);
    (at.is_empty() && hours <= 23 && minutes <= 59).then_some(Zone::Told)
}

/// Reads `<number> <unit> ago`.
fn ago(text: &str, clock: &Clock) -> Option<Parsed> {
    const MINUTE: i64 = 60 * MICROS;
    const DAY: i64 = 24 * 60 * MINUTE;
    /// Any word that begins so is the unit.
    const UNITS: [(&str, i64); 7] = [
        ("year", 365 * DAY),
        ("month", 30 * DAY),
        ("week", 7 * DAY),
        ("day", DAY),
        ("hour", 60 * MINUTE),
        ("minute", MINUTE),
        ("min", MINUTE),
    ];
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let words: Vec<_> = text
        .split(' ')
        .map(str::trim_ascii)
        .filter(|word| !word.is_empty())
        .collect();
    let [number, unit, "ago"] = words[..] else {
        return None;
    };
    let count = match NUMBERS.iter().position(|word| *word == number) {
        Some(count) => i64::try_from(count).ok()?,
        None => i64::from(number.parse::<i32>().ok().filter(|count| *count >= 0)?),
    };
    let (_, micros) = UNITS.iter().find(|(prefix, _)| unit.starts_with(prefix))?;
    let time = clock
        .now
        .micros()
        .checked_sub(count.checked_mul(*micros)?)?;
    let time = Timestamp::from_micros(time);
    (time.micros() >= 0).then_some(())?;
    let offset = clock.zone.offset_at(time.seconds());
    Some((Fields::at(time, offset), Zone::Local))
}

/// What is left to read.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_at_digit(&self) -> bool {
        self.0.starts_with(|c: char| c.is_ascii_digit())
    }

    fn one_of(&mut self, chars: &str) -> Option<char> {
        let next = self.0.chars().next().filter(|c| chars.contains(*c))?;
        self.0 = &self.0[next.len_utf8()..];
        Some(next)
    }

    /// Reads as many digits as there are, up to `most`.
    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let run = self.0.bytes().take(most).take_while(u8::is_ascii_digit);
        let count = run.count();
        if count < least {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        digits.parse().ok()
    }
}
