use super::Timestamp;

pub(super) const MICROS: i64 = 1_000_000;
pub(super) const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
pub(super) const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The fields of a moment in the proleptic Gregorian calendar, and the zone they are told in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    /// Up to 60.
    pub(super) second: i64,
    pub(super) micros: i64,
    /// Seconds east of UTC.
    pub(super) offset: i64,
}

impl Fields {
    /// Tells a moment `offset` seconds east of UTC.
    pub(super) fn at(time: Timestamp, offset: i32) -> Self {
        let seconds = time.seconds() + i64::from(offset);
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        Self {
            year,
            month,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            micros: time.micros().rem_euclid(MICROS),
            offset: i64::from(offset),
        }
    }

    /// Returns the moment; `None` before 1970 and where the fields are absurd.
    pub(super) fn timestamp(&self) -> Option<Timestamp> {
        if !(1..=12).contains(&self.month) || !(0..=100_000).contains(&self.year) {
            return None;
        }
        let small = |field: i64| (0..1_000_000_000).contains(&field);
        if ![self.day, self.hour, self.minute, self.second, self.micros]
            .into_iter()
            .all(small)
        {
            return None;
        }
        let days = days_from_civil(self.year, self.month, 1) + self.day - 1;
        let local = ((days * 24 + self.hour) * 60 + self.minute) * 60 + self.second;
        if local < 0 {
            return None;
        }
        (local - self.offset)
            .checked_mul(MICROS)?
            .checked_add(self.micros)
            .map(Timestamp)
    }

    /// Returns the day of the week, Sunday is 0.
    pub(super) fn weekday(&self) -> usize {
        let days = days_from_civil(self.year, self.month, self.day);
        usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0)
    }

    /// Returns the month from 0, for tables.
    pub(super) fn month_index(&self) -> usize {
        usize::try_from(self.month - 1).unwrap_or(0).min(11)
    }

    /// Reads `2026-01-02T03:04:05.678901Z`.
    pub(super) fn from_iso(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut field = |end: char| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let value = if digits == 0 {
                0
            } else {
                rest[..digits].parse().ok()?
            };
            rest = rest[digits..].strip_prefix(end)?;
            Some(value)
        };
        Some(Self {
            year: field('-')?,
            month: field('-')?,
            day: field('T')?,
            hour: field(':')?,
            minute: field(':')?,
            second: field('.')?,
            micros: field('Z')?,
            offset: 0,
        })
    }

    /// Reads `Fri 2 Jan 2026 03:04:05.678901 (day 002, dst 0, gmt_off 000000)`.
    pub(super) fn from_old_format(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let weekday = words.next()?;
        DAYS.contains(&weekday).then_some(())?;
        let day = words.next()?.parse().ok()?;
        let month = words.next()?;
        let month = MONTHS.iter().position(|name| *name == month)?;
        let year = words.next()?.parse().ok()?;
        let (time, micros) = words.next()?.split_once('.')?;
        let mut time = time.split(':').map(|field| field.parse().ok());
        let [hour, minute, second] = [time.next()??, time.next()??, time.next()??];
        time.next().is_none().then_some(())?;
        (words.next()? == "(day").then_some(())?;
        let rest: Vec<_> = words.collect();
        let ["dst", _, "gmt_off", offset] = *rest.get(1..)? else {
            return None;
        };
        Some(Self {
            year,
            month: i64::try_from(month).ok()? + 1,
            day,
            hour,
            minute,
            second,
            micros: micros.parse().ok()?,
            offset: i64::from(offset.strip_suffix(')')?.parse::<i32>().ok()?),
        })
    }
}

/// Counts the days of a month.
pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts days from 1970-01-01, with years that begin in March so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year + era * 400 + i64::from(month <= 2), month, day)
}
