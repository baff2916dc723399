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
            pair.run_theirs_in(&pair.ours(), &["cleanup", &name])
                .success();
            pair.run_theirs_in(&pair.ours(), &["update", "-q", &name])
                .success();
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
    pair.run_ours(&["checkout", "-q", &trunk, "whole"])
        .success();
    let expected = tree(&pair.ours().join("whole"));
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
            theirs(&["cleanup", "wc"]).success();
            theirs(&["update", "-q", "wc"]).success();
        } else {
            before_birth += 1;
            theirs(&["checkout", "-q", &trunk, "wc"]).success();
        }
        let wc = pair.ours().join("wc");
        // What had no name yet is left, ignored; our next checkout would have taken it away.
        let _ = fs::remove_dir_all(wc.join(".svn-new~"));
        assert_eq!(expected, tree(&wc), "after step {step}");
        assert_eq!(theirs(&["status", "wc"]).success().stdout, "");
        fs::remove_dir_all(wc).unwrap();
    }
    assert!((1..20).contains(&before_birth), "{before_birth}");
}

#[test]
fn a_killed_update_is_finished_by_either_program() {
    let fixture = large();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.run_ours(&["checkout", "-q", &trunk, "whole"])
        .success();
    let expected = tree(&pair.ours().join("whole"));
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
            pair.run_theirs_in(&pair.ours(), &["cleanup", &name])
                .success();
            pair.run_theirs_in(&pair.ours(), &["update", "-q", &name])
                .success();
        }
        let wc = pair.ours().join(&name);
        assert_eq!(expected, tree(&wc), "after {wait:?}");
        fs::remove_dir_all(wc).unwrap();
    }
}
