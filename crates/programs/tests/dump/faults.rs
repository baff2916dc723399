//! Loads that are broken off, and transactions that were left.

use super::*;

/// Loads with a fault at one durable step, each time `stride` steps later, until the load comes to
/// its end. Each time what is there is whole, and the rest of the stream loads behind it.
/// `SYLVAN_TEST_STRIDE=1` tries all steps.
fn break_loads(scene: &Scene, (kind, error): (&str, &str), stride: usize) {
    let all = std::env::var_os("SYLVAN_TEST_STRIDE").is_some();
    let stride = if all { 1 } else { stride };
    let folder = scene.pair.ours();
    let input = scene.input(&scene.stream);
    let rest = scene.pair.root().join("rest");
    scene.copy("empty", &folder.join("w"));
    let loaded = scene.ours("svnadmin", "load -q w", Some(&input));
    loaded.has_success("an undisturbed load");
    let whole = scene.ours("svnadmin", "dump -q w", None).stdout;
    let mut passed = 0;
    for (round, step) in (1..).step_by(stride).enumerate() {
        scene.copy("empty", &folder.join("w"));
        let mut broken = scene.pair.command(Path::new(SVNADMIN), &folder);
        broken.args(["load", "-q", "w"]);
        broken.stdin(Stdio::from(File::open(&input).unwrap()));
        let broken = broken
            .env("SYLVAN_FAULT", format!("{kind}:{step}{error}"))
            .output();
        let broken = Run::from(broken.unwrap());
        let what = format!("{kind} at step {step}{error}: {broken:?}");
        verify_with_both(scene, &what);
        let current = std::fs::read_to_string(folder.join("w/db/current")).unwrap();
        let youngest: u64 = current.trim().parse().unwrap();
        let next = youngest + 1;
        if youngest < 10 {
            assert_ne!(broken.code, 0, "{what}");
            let (line, stream) = match (youngest, round % 2) {
                (0, _) => ("load -q w".to_owned(), &input),
                (_, 0) => (format!("load -q -r {next}:10 w"), &input),
                _ => {
                    let line = format!("dump -q --incremental --deltas -r {next}:10 r");
                    let dump = scene.theirs("svnadmin", &line, None);
                    std::fs::write(&rest, dump.has_success(&what)).unwrap();
                    ("load -q w".to_owned(), &rest)
                }
            };
            let loaded = scene.ours(SVNADMIN, &line, Some(stream));
            loaded.has_success(&format!("{line} after {what}"));
            verify_with_both(scene, &what);
        }
        let dump = scene.ours("svnadmin", "dump -q w", None);
        assert!(dump.has_success(&what) == whole, "{what}");
        // Some steps may fail, such as one that only saves space.
        passed = if broken.code == 0 { passed + 1 } else { 0 };
        if passed > 4 || passed > 0 && stride > 1 {
            assert!(step > 50, "a load has no steps");
            break;
        }
    }
}

fn verify_with_both(scene: &Scene, what: &str) {
    for program in ["svnadmin", SVNADMIN] {
        let verified = scene.ours(program, "verify -q w", None);
        verified.has_success(what);
    }
}

#[test]
fn a_load_that_is_killed_at_any_step_goes_on_from_there() {
    break_loads(&Scene::new(include_str!("copies.sh")), ("kill", ""), 7);
}

#[test]
fn a_load_that_fails_at_any_step_goes_on_from_there() {
    break_loads(&Scene::new(include_str!("copies.sh")), ("fail", ""), 19);
}

#[test]
fn a_load_that_runs_into_a_full_disk_or_into_an_old_format_goes_on_from_there() {
    let scene = Scene::new(include_str!("copies.sh"));
    break_loads(&scene, ("fail-from", ":ENOSPC"), 37);
    scene.shell("rm -rf empty; svnadmin create --compatible-version 1.5 empty");
    break_loads(&scene, ("kill", ""), 29);
    break_loads(&scene, ("fail-from", ":ENOSPC"), 41);
}

#[test]
fn transactions_are_verified() {
    let scene = Scene::new(include_str!("merges.sh"));
    scene.shell(
        "printf '#!/bin/sh\nkill -9 $PPID\n' > r/hooks/pre-commit; chmod +x r/hooks/pre-commit
        sed -i 's/^9$/nine/' wc/trunk/src/a; svn copy -q wc/trunk wc/branches/z
        svn commit -qm never wc || true
        svnadmin lstxns r > name; sed -i 's/^/verify -t /; s/$/ r/' name
        svn cleanup wc",
    );
    let line = std::fs::read_to_string(scene.pair.theirs().join("name")).unwrap();
    assert!(line.contains('-'), "{line}");
    let line = line.trim();
    let lines = format!("{line}\n{line} -q\n{line} --keep-going\nverify -t none r\n{line} -r 2");
    scene.compare_reading("svnadmin", &lines, None);
    scene.shell("for file in r/db/transactions/*/node.0.0; do echo x > $file; done");
    scene.compare_reading("svnadmin", &lines, None);
}

#[test]
fn repositories_of_old_formats_are_loaded_and_dumped() {
    let scene = Scene::new(include_str!("copies.sh"));
    let input = scene.input(&scene.stream);
    for version in ["1.3", "1.4", "1.6", "1.8"] {
        scene.shell(&format!(
            "rm -rf old; svnadmin create --compatible-version {version} old"
        ));
        for folder in [scene.pair.theirs(), scene.pair.ours()] {
            scene.copy("old", &folder.join("w"));
        }
        let (difference, _) = scene.compare_writing("load w", Some(&input));
        assert!(difference.is_empty(), "{version}: {difference}");
        let lines = "dump -q --deltas w\nverify w\nverify --metadata-only w\ndump -r 3:5 w";
        scene.compare_reading("svnadmin", lines, None);
    }
}
