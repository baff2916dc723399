use std::fmt;
use std::sync::Arc;

/// A time zone: the offset from UTC at each moment.
///
/// It is made from data that the caller read, see `sylvan_io::time_zone`.
#[derive(Clone, PartialEq, Eq)]
pub struct TimeZone(Option<Arc<tz::TimeZone>>);

impl TimeZone {
    /// Returns Coordinated Universal Time.
    pub const fn utc() -> Self {
        Self(None)
    }

    /// Reads a compiled zone file, as `/etc/localtime` is; `None` if it is damaged.
    pub fn from_tzif(data: &[u8]) -> Option<Self> {
        tz::TimeZone::from_tz_data(data).ok().map(Self::from_tz)
    }

    /// Reads a POSIX rule, as in `CET-1CEST,M3.5.0,M10.5.0/3`; `None` if it is none.
    pub fn from_posix(rule: &str) -> Option<Self> {
        tz::TimeZone::from_posix_tz(rule).ok().map(Self::from_tz)
    }

    /// Returns the offset at a moment (seconds since the epoch), in seconds east of UTC.
    pub fn offset_at(&self, seconds: i64) -> i32 {
        let local = self
            .0
            .as_ref()
            .map(|zone| zone.find_local_time_type(seconds));
        match local {
            Some(Ok(local)) => local.ut_offset(),
            _ => 0,
        }
    }

    fn from_tz(zone: tz::TimeZone) -> Self {
        Self(Some(Arc::new(zone)))
    }
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "TimeZone" } else { "UTC" })
    }
}
