//! Checkouts and updates that are killed, and then run again.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use sylvan_testutil::tree;

use crate::fixture::Fixture;

/// Many small files, some larger ones.
fn large() -> Fixture {
    let fixture = Fixture::rich();
    fixture.commit("many", |wc| {
        for folder in 0..12 {
            let folder = wc.join(format!("trunk/many/{folder}"));
            fs::create_dir_all(&folder).unwrap();
            for file in 0..25 {
                let text = format!("{file}\n").repeat(1 + file * 40);
                fs::write(folder.join(format!("f{file}")), text).unwrap();
            }
        }
        fixture.svn(wc, &["add", "-q", "trunk/many"]);
    });
    fixture
}

/// Starts our svn and kills it after a while; returns whether it was still running.
fn kill_after(fixture: &Fixture, folder: &Path, args: &[&str], wait: Duration) -> bool {
    let program = Path::new(env!("CARGO_BIN_EXE_svn"));
    let mut child = fixture
        .pair
        .command(program, folder)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(wait);
    let runs = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    runs
}

/// Has Subversion finish what is half done in a working copy.
fn finish_theirs(fixture: &Fixture, wc: &str) {
    let pair = &fixture.pair;
    for args in [["cleanup", "-q", wc], ["update", "-q", wc]] {
        pair.run_theirs_in(&pair.ours(), &args).success();
    }
}

/// Makes an unbroken checkout of the trunk, to compare with.
fn whole(fixture: &Fixture) -> Vec<String> {
    let pair = &fixture.pair;
    pair.run_ours(&["checkout", "-q", &fixture.at("trunk"), "whole"])
        .success();
    tree(&pair.ours().join("whole"))
}

/// Lists administrative folders that did not get their name.
fn unborn(wc: &Path) -> Vec<String> {
    fs::read_dir(wc)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".svn-"))
        .collect()
}

#[test]
fn a_killed_checkout_is_finished_by_either_program() {
    let fixture = large();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.both(&["checkout", "-q", &trunk, "whole"]).success();
    pair.assert_same_db("whole");
    let expected = tree(&pair.ours().join("whole"));
    let mut killed = 0;
    for round in 0..16_u32 {
        let name = format!("wc{round}");
        let args = ["checkout", "-q", &*trunk, &*name];
        let wait = Duration::from_millis(u64::from(4 + round * 7));
        killed += u32::from(kill_after(&fixture, &pair.ours(), &args, wait));
        let wc = pair.ours().join(&name);
        // Before anything is recorded, Subversion does not know that there is a working copy.
        let is_known = pair.run_theirs_in(&pair.ours(), &["info", &name]).code == 0;
        if round % 2 == 0 || !is_known {
            pair.run_ours(&args).success();
        } else {
            finish_theirs(&fixture, &name);
        }
        assert_eq!(expected, tree(&wc), "after {wait:?}");
        let status = pair
            .run_theirs_in(&pair.ours(), &["status", &name])
            .success();
        assert_eq!(status.stdout, "", "after {wait:?}");
        fs::remove_dir_all(wc).unwrap();
    }
    assert!(killed > 0, "no checkout was killed in time");
}

#[test]
fn subversion_goes_on_with_a_checkout_killed_at_any_of_its_first_steps() {
    let fixture = large();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    let expected = whole(&fixture);
    let theirs = |args: &[&str]| pair.run_theirs_in(&pair.ours(), args);
    let mut before_birth = 0;
    for step in 1..=24_u32 {
        let killed = pair
            .command(Path::new(env!("CARGO_BIN_EXE_svn")), &pair.ours())
            .args(["checkout", "-q", &trunk, "wc"])
            .env("SYLVAN_FAULT", format!("kill:{step}"))
            .status()
            .unwrap();
        assert!(!killed.success(), "step {step} is one");
        if theirs(&["info", "wc"]).code == 0 {
            finish_theirs(&fixture, "wc");
        } else {
            before_birth += 1;
            theirs(&["checkout", "-q", &trunk, "wc"]).success();
        }
        let wc = pair.ours().join("wc");
        // What had no name yet is left, ignored; our next checkout would have taken it away.
        for name in unborn(&wc) {
            fs::remove_dir_all(wc.join(name)).unwrap();
        }
        assert_eq!(expected, tree(&wc), "after step {step}");
        assert_eq!(theirs(&["status", "wc"]).success().stdout, "");
        fs::remove_dir_all(wc).unwrap();
    }
    assert!((1..20).contains(&before_birth), "{before_birth}");
}

#[test]
fn a_checkout_takes_away_what_killed_ones_could_not_name() {
    let fixture = large();
    let pair = &fixture.pair;
    let (trunk, expected) = (fixture.at("trunk"), whole(&fixture));
    let wc = pair.ours().join("wc");
    for step in 2..=8_u32 {
        let killed = pair
            .command(Path::new(env!("CARGO_BIN_EXE_svn")), &pair.ours())
            .args(["checkout", "-q", &trunk, "wc"])
            .env("SYLVAN_FAULT", format!("kill:{step}"))
            .status()
            .unwrap();
        assert!(!killed.success() && !wc.join(".svn").exists(), "{step}");
    }
    assert!(unborn(&wc).len() > 3);
    // A folder of the user's own is not taken for one.
    fs::create_dir(wc.join(".svn-new-mine~")).unwrap();
    fs::write(wc.join(".svn-new-mine~/text"), "mine").unwrap();
    pair.run_ours(&["checkout", "-q", "--force", &trunk, "wc"])
        .success();
    assert_eq!(unborn(&wc), [".svn-new-mine~"]);
    fs::remove_dir_all(wc.join(".svn-new-mine~")).unwrap();
    assert_eq!(expected, tree(&wc));
}

#[test]
fn checkouts_at_the_same_time_make_one_working_copy() {
    let fixture = large();
    let pair = &fixture.pair;
    let (trunk, expected) = (fixture.at("trunk"), whole(&fixture));
    for round in 0..4 {
        let start = |_| {
            pair.command(Path::new(env!("CARGO_BIN_EXE_svn")), &pair.ours())
                .args(["checkout", "-q", &trunk, "wc"])
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let running: Vec<_> = (0..5).map(start).collect();
        let done = running
            .into_iter()
            .map(|mut child| u32::from(child.wait().unwrap().success()))
            .sum::<u32>();
        assert!(done > 0, "none got through in round {round}");
        pair.run_ours(&["checkout", "-q", &trunk, "wc"]).success();
        let wc = pair.ours().join("wc");
        assert_eq!(expected, tree(&wc), "round {round}");
        assert!(unborn(&wc).is_empty(), "round {round}");
        let status = pair.run_theirs_in(&pair.ours(), &["status", "wc"]);
        assert_eq!(status.success().stdout, "");
        fs::remove_dir_all(wc).unwrap();
    }
}

#[test]
fn a_killed_update_is_finished_by_either_program() {
    let fixture = large();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    let expected = whole(&fixture);
    for round in 0..8_u32 {
        let name = format!("wc{round}");
        pair.run_ours(&["checkout", "-q", "-r1", &trunk, &name])
            .success();
        let args = ["update", "-q", &*name];
        let wait = Duration::from_millis(u64::from(4 + round * 9));
        kill_after(&fixture, &pair.ours(), &args, wait);
        if round % 2 == 0 {
            pair.run_ours(&args).success();
        } else {
            finish_theirs(&fixture, &name);
        }
        let wc = pair.ours().join(&name);
        assert_eq!(expected, tree(&wc), "after {wait:?}");
        fs::remove_dir_all(wc).unwrap();
    }
}
