//! Moments, time zones and their texts.
//!
//! Subversion writes a moment in two ways: `2026-01-02T03:04:05.678901Z` on disk, on the wire and in
//! XML, and `2026-01-02 03:04:05 +0000 (Fri, 02 Jan 2026)` for people, in local time. What a user
//! may type between braces (`-r {2026-01-02}`) is a dialect of its own, see
//! [`Timestamp::parse_date`].

mod calendar;
mod date;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, ErrorCode, Result};
use calendar::{DAYS, Fields, MONTHS};
pub use zone::TimeZone;

/// A moment, in microseconds since 1970-01-01T00:00:00Z, as Subversion counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// What a date relative to now needs to know: the present and the user's time zone.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The present moment.
    pub now: Timestamp,
    /// The time zone of dates without one.
    pub zone: TimeZone,
}

impl Timestamp {
    /// Makes a moment from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(calendar::MICROS)
    }

    /// Reads `2026-01-02T03:04:05.678901Z`, and the format that Subversion wrote before its
    /// version 1.0: `Fri 2 Jan 2026 03:04:05.678901 (day 002, dst 0, gmt_off 000000)`.
    ///
    /// The digits after the point count microseconds, however many there are. What follows the
    /// `Z` is ignored.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_DATE`] for anything else, and for moments before 1970.
    pub fn parse_iso(text: &str) -> Result<Self> {
        Fields::from_iso(text)
            .or_else(|| Fields::from_old_format(text))
            .and_then(|fields| fields.timestamp())
            .ok_or_else(|| Error::from_code(ErrorCode::BAD_DATE))
    }

    /// Formats for disk, wire and XML: `2026-01-02T03:04:05.678901Z`.
    pub fn to_iso(self) -> String {
        let at = Fields::at(self, 0);
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
            at.year, at.month, at.day, at.hour, at.minute, at.second, at.micros
        )
    }

    /// Formats for people: `2026-01-02 04:04:05 +0100 (Fri, 02 Jan 2026)`.
    pub fn to_human(self, zone: &TimeZone) -> String {
        let offset = zone.offset_at(self.seconds());
        let at = Fields::at(self, offset);
        let (day, month) = (at.day, MONTHS[at.month_index()]);
        // The sign is that of the whole hours, so -00:30 shows as +0030: Subversion's way.
        format!(
            "{:04}-{:02}-{day:02} {:02}:{:02}:{:02} {:+03}{:02} ({}, {day:02} {month} {:04})",
            at.year,
            at.month,
            at.hour,
            at.minute,
            at.second,
            offset / 3600,
            offset.abs() / 60 % 60,
            DAYS[at.weekday()],
            at.year,
        )
    }

    /// Reads what stands between the braces of `-r {…}`; `None` if it is no date.
    ///
    /// Accepted are ISO 8601 in its extended and basic form, the format of `svn log`, a time of
    /// today, and phrases like `3 days ago`. Without a zone, local time is meant.
    ///
    /// ```
    /// use sylvan_core::time::{Clock, TimeZone, Timestamp};
    ///
    /// let clock = Clock { now: Timestamp::parse_iso("2026-01-02T12:00:00.0Z")?, zone: TimeZone::utc() };
    /// let read = |text| Timestamp::parse_date(text, &clock).map(Timestamp::to_iso);
    /// assert_eq!(read("20260101T1530Z").as_deref(), Some("2026-01-01T15:30:00.000000Z"));
    /// assert_eq!(read("two hours ago").as_deref(), Some("2026-01-02T10:00:00.000000Z"));
    /// assert_eq!(read("yesterday"), None);
    /// # Ok::<(), sylvan_core::Error>(())
    /// ```
    pub fn parse_date(text: &str, clock: &Clock) -> Option<Self> {
        date::parse(text, clock)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
            }
        };
        Self(micros)
    }
}

#[cfg(test)]
mod tests;
