use sylvan_core::time::Clock;
use sylvan_core::{TimeZone, Timestamp};

use crate::sandbox::{Sandbox, ZONE};

/// Dates of every form, good and bad.
fn dates() -> Vec<String> {
    let mut texts: Vec<String> = [
        "5",
        "05",
        "5:",
        "15:30",
        "15:30:05",
        "15:30:05.123",
        "15:30Z",
        "2013",
        "2013-5",
        "2013-05-1",
        "2013-05-31",
        "2013-06-31",
        "2012-02-29",
        "2013-02-29",
        "2000-02-29",
        "1900-02-29",
        "1969-12-31",
        "2013-00-10",
        "2013-10-00",
        "2013-13-01",
        "20130501",
        "2013051",
        "201305011",
        "x",
        "",
        " ",
        "2013-05-01T",
        "2013-05-01 ",
        "2013-03-31 02:30",
        "2013-10-27 02:30",
        "2013-10-27T02:30Z",
        "1 day",
        "one day back",
        "-1 days ago",
        "9999-12-31",
        "2013-05-01T24:00",
        "2013-05-01T12:60",
        "2013-05-01T12:59:60",
        "2013-05-01T12:59:61",
    ]
    .map(str::to_owned)
    .to_vec();
    for (day, separator) in [
        ("2013-05-01", "T"),
        ("2013-5-1", " "),
        ("20130501", "T"),
        ("20130501", " "),
    ] {
        for time in [
            "1",
            "12",
            "1:05",
            "12:05",
            "12:5",
            "12:05:07.5",
            "12:05:07,123456",
            "12:05:07.1234567",
            "1205",
            "120507",
            "12050",
            "120507.25",
        ] {
            for zone in [
                "", "Z", "-02", "+0130", "+01:30", " +0130", " Z", "+2", "+2400",
            ] {
                texts.push(format!("{day}{separator}{time}{zone}"));
            }
        }
    }
    texts
}

#[test]
#[ignore = "needs svn"]
fn dates_as_svn() {
    let sandbox = Sandbox::new();
    for i in 1..=3 {
        let url = format!("{}/{i}", sandbox.root_url());
        sandbox.svn(["mkdir", "-q", "-m", "", &url]);
    }
    let set_date = |rev: &str, micros: i64| {
        sandbox.write("date", Timestamp::from_micros(micros).to_iso());
        sandbox.run(
            "svnadmin",
            ["setrevprop", "-r", rev, "repos dir", "svn:date", "date"],
        );
    };
    set_date("0", 0);
    set_date("1", 0);
    let zone = TimeZone::from_posix(ZONE).unwrap();
    let url = sandbox.root_url();
    for text in dates() {
        // At midnight, today of both would differ.
        let now = Timestamp::from(std::time::SystemTime::now());
        let clock = Clock {
            now,
            zone: zone.clone(),
        };
        let range = format!("-r{{{text}}}");
        let Some(time) = Timestamp::parse_date(&text, &clock) else {
            let result = sandbox.try_svn(["log", "-q", &range, &url]);
            let refused = result
                .as_ref()
                .is_err_and(|error| error.contains("E205000"));
            assert!(refused, "{text}: {result:?}");
            continue;
        };
        set_date("2", time.micros());
        set_date("3", time.micros() + 1);
        let log = sandbox.svn(["log", "-q", &range, &url]);
        assert!(log.contains("\nr2 | "), "{text} {}: {log}", time.to_iso());
        let human = time.to_human(&zone);
        assert!(log.contains(&human), "{human}: {log}");
    }
}
