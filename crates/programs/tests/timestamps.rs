//! Edits made right after an operation are noticed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::fixture::Fixture;

/// Runs our svn, and returns how long before its end the file was written.
fn age_after(fixture: &Fixture, args: &[&str], file: &Path) -> Duration {
    fixture.pair.run_ours(args).success();
    let now = SystemTime::now();
    let written = fs::metadata(file).unwrap().modified().unwrap();
    now.duration_since(written).unwrap()
}

#[test]
fn operations_end_a_tick_after_the_last_file() {
    const TICK: Duration = Duration::from_millis(10);
    let fixture = Fixture::empty();
    let url = fixture.at("");
    fixture.commit("one", |wc| {
        fs::write(wc.join("f"), "one\n").unwrap();
        fixture.svn(wc, &["add", "-q", "f"]);
    });
    fixture.commit("two", |wc| fs::write(wc.join("f"), "two\n").unwrap());
    let wc = fixture.pair.ours().join("wc");
    let file = wc.join("f");
    for round in 0..3 {
        let age = age_after(&fixture, &["checkout", "-q", "-r1", &url, "wc"], &file);
        assert!(age >= TICK, "checkout: {age:?}");
        // The same size, in the next moment.
        fs::write(&file, "uno\n").unwrap();
        let status = fixture.pair.run_ours(&["status", "wc"]).success();
        assert_eq!(status.stdout, "M       wc/f\n", "round {round}");
        fs::remove_file(&file).unwrap();
        let age = age_after(&fixture, &["update", "-q", "-r1", "wc"], &file);
        assert!(age >= TICK, "update that restores: {age:?}");
        let age = age_after(&fixture, &["update", "-q", "wc"], &file);
        assert!(age >= TICK, "update: {age:?}");
        fs::write(&file, "two\n").unwrap();
        let age = age_after(&fixture, &["cleanup", "wc"], &file);
        assert!(age >= TICK, "cleanup: {age:?}");
        fs::remove_dir_all(&wc).unwrap();
    }
}
