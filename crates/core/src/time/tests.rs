use proptest::prelude::*;

use super::*;

/// 2026-01-02T12:00:00Z, a Friday, in Berlin.
fn berlin() -> Clock {
    Clock {
        now: Timestamp::from_micros(1_767_355_200_000_000),
        zone: TimeZone::from_posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
    }
}

#[test]
fn iso_round_trip_and_oddities() {
    for (text, micros) in [
        ("1970-01-01T00:00:00.000000Z", 0),
        ("2001-08-31T04:24:14.966996Z", 999_231_854_966_996),
        ("2000-02-29T23:59:59.000001Z", 951_868_799_000_001),
    ] {
        assert_eq!(Timestamp::parse_iso(text).unwrap().micros(), micros);
        assert_eq!(Timestamp::from_micros(micros).to_iso(), text);
    }
    let read = |text| Timestamp::parse_iso(text).map(Timestamp::to_iso).ok();
    assert_eq!(
        read("2026-1-2T3:4:5.6Zjunk").as_deref(),
        Some("2026-01-02T03:04:05.000006Z")
    );
    assert_eq!(
        read("Tue 3 Oct 2000 07:08:09.500000 (day 277, dst 1, gmt_off -18000)").as_deref(),
        Some("2000-10-03T12:08:09.500000Z")
    );
    for bad in [
        "",
        "2026-01-02",
        "2026-13-02T00:00:00.000000Z",
        "1969-12-31T23:59:59.000000Z",
        "99999999999999999999-01-02T00:00:00.000000Z",
        "2026-01-02T03:04:05.678901",
        "Tue 3 Foo 2000 07:08:09.500000 (day 277, dst 1, gmt_off -18000)",
    ] {
        let error = Timestamp::parse_iso(bad).unwrap_err();
        assert_eq!(error.code(), ErrorCode::BAD_DATE, "{bad}");
    }
}

#[test]
fn human_text_is_local() {
    let time = Timestamp::parse_iso("2026-01-02T03:04:05.678901Z").unwrap();
    assert_eq!(
        time.to_human(&TimeZone::utc()),
        "2026-01-02 03:04:05 +0000 (Fri, 02 Jan 2026)"
    );
    assert_eq!(
        time.to_human(&berlin().zone),
        "2026-01-02 04:04:05 +0100 (Fri, 02 Jan 2026)"
    );
    let newfoundland = TimeZone::from_posix("NST3:30").unwrap();
    assert_eq!(
        time.to_human(&newfoundland),
        "2026-01-01 23:34:05 -0330 (Thu, 01 Jan 2026)"
    );
}

#[test]
fn date_dialect() {
    let clock = berlin();
    for (text, expected) in [
        // Extended.
        ("2026-1-2", "2026-01-01T23:00:00.000000Z"),
        ("2026-07-02", "2026-07-01T22:00:00.000000Z"),
        ("2013-05-01T12:30", "2013-05-01T10:30:00.000000Z"),
        ("2013-05-01T12:30Z", "2013-05-01T12:30:00.000000Z"),
        ("2013-05-01T2:30:05.5Z", "2013-05-01T02:30:05.500000Z"),
        ("2013-05-01T12:30:05,123456Z", "2013-05-01T12:30:05.123456Z"),
        ("2013-05-01T12:30+02", "2013-05-01T10:30:00.000000Z"),
        ("2013-05-01T12:30:05-02:30", "2013-05-01T15:00:05.000000Z"),
        ("2013-05-01T12:30:05-0230", "2013-05-01T15:00:05.000000Z"),
        ("2013-05-01T3", "2013-05-01T01:00:00.000000Z"),
        ("2013-05-01T12:30:60Z", "2013-05-01T12:31:00.000000Z"),
        // Basic.
        ("20130501", "2013-04-30T22:00:00.000000Z"),
        ("20130501T1230", "2013-05-01T10:30:00.000000Z"),
        ("20130501T123005Z", "2013-05-01T12:30:05.000000Z"),
        ("20130501T1230Z", "2013-05-01T12:30:00.000000Z"),
        ("20130501T1230+0145", "2013-05-01T10:45:00.000000Z"),
        ("20130501T123005.25-01", "2013-05-01T13:30:05.250000Z"),
        // As `svn log` prints.
        ("2013-05-01 12:30", "2013-05-01T10:30:00.000000Z"),
        ("2013-05-01 12:30:05 +0000", "2013-05-01T12:30:05.000000Z"),
        ("2013-5-1 1:30:05.1 -01", "2013-05-01T02:30:05.100000Z"),
        // Today.
        ("5", "2026-01-02T04:00:00.000000Z"),
        ("13:15", "2026-01-02T12:15:00.000000Z"),
        ("13:15:20.000001", "2026-01-02T12:15:20.000001Z"),
        // Ago.
        ("1 day ago", "2026-01-01T12:00:00.000000Z"),
        ("  twelve   minutes ago ", "2026-01-02T11:48:00.000000Z"),
        ("two months ago", "2025-11-03T12:00:00.000000Z"),
        ("3 yearlings ago", "2023-01-03T12:00:00.000000Z"),
        ("0 mins ago", "2026-01-02T12:00:00.000000Z"),
        // The leap day.
        ("2024-02-29T00:00Z", "2024-02-29T00:00:00.000000Z"),
    ] {
        let read = Timestamp::parse_date(text, &clock).map(Timestamp::to_iso);
        assert_eq!(read.as_deref(), Some(expected), "{text}");
    }
    for bad in [
        "",
        "2026-02-29",
        "2100-02-29",
        "2026-04-31",
        "2026-00-01",
        "2026-01-00",
        "2026-01",
        "26-01-02",
        "2026-01-02T",
        "2026-01-02T12",
        "2026-01-02T24:00",
        "2026-01-02T12:60",
        "2026-01-02T12:30:61",
        "2026-01-02T12:30 +0100",
        "2026-01-02 12:30+0100",
        "2026-01-02 12:30 +01:00",
        "2026-01-02 12:30Z",
        "2026-01-02T12:30+24",
        "2026-01-02T12:30:05.1234567Z",
        "20260102 1230",
        "20260102T12",
        "20260102T1230+01:00",
        "1969-12-31",
        "12",
        "12:30Z",
        "a day ago",
        "-1 days ago",
        "1 days",
        "1 second ago",
        "2000000000 years ago",
        "Two days ago",
        "yesterday",
    ] {
        assert_eq!(Timestamp::parse_date(bad, &clock), None, "{bad}");
    }
}

#[test]
fn hour_that_comes_twice_is_told_as_now() {
    let mut clock = berlin();
    let read =
        |clock: &Clock| Timestamp::parse_date("2025-10-26 02:30", clock).map(Timestamp::to_iso);
    assert_eq!(read(&clock).as_deref(), Some("2025-10-26T01:30:00.000000Z"));
    clock.now = Timestamp::parse_iso("2025-07-01T00:00:00.000000Z").unwrap();
    assert_eq!(read(&clock).as_deref(), Some("2025-10-26T00:30:00.000000Z"));
}

proptest! {
    #[test]
    fn iso_is_read_back(micros in 0..253_402_300_799_999_999_i64) {
        let time = Timestamp::from_micros(micros);
        prop_assert_eq!(Timestamp::parse_iso(&time.to_iso()).unwrap(), time);
    }

    #[test]
    fn human_text_is_a_date(seconds in 0..4_000_000_000_i64) {
        let clock = berlin();
        let time = Timestamp::from_micros(seconds * 1_000_000);
        let text = time.to_human(&clock.zone);
        let read = Timestamp::parse_date(text.split(" (").next().unwrap(), &clock);
        prop_assert_eq!(read, Some(time));
    }
}
