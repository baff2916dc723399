use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use sylvan_io::{fault, file};

/// Tells a run of this test that it is the one to be killed.
const VICTIM: &str = "SYLVAN_TEST_VICTIM";

fn two_files(dir: &std::path::Path) -> sylvan_core::Result<()> {
    let first = file::create_new(&dir.join("first"), file::MODE_FILE)?;
    first.write_all(b"1")?;
    first.finish()?;
    file::write_atomic(&dir.join("second"), b"2", file::MODE_FILE)
}

fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = file::read_dir(dir)
        .unwrap()
        .into_iter()
        .map(|(name, _)| String::from_utf8(name).unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_step_that_is_named_fails_or_kills() {
    if let Ok(dir) = std::env::var(VICTIM) {
        fault::arm(&std::env::var(fault::VARIABLE).unwrap()).unwrap();
        two_files(dir.as_ref()).unwrap();
        return;
    }
    each_step_fails();
    each_step_kills();
    for bad in ["", "fail", "fail:x", "kill:1:EWHAT", "stop:1"] {
        assert!(fault::arm(bad).is_err(), "{bad}");
    }
}

fn each_step_fails() {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        fault::arm(&format!("fail:{step}:ENOSPC")).unwrap();
        let result = two_files(dir.path());
        let steps = fault::steps();
        fault::disarm();
        match result {
            Ok(()) => {
                assert_eq!((step, steps), (7, 6));
                break;
            }
            Err(error) => {
                assert!(
                    error.to_lines("").contains("No space left on device"),
                    "{error:?}"
                );
                // No stray temporary file; a failed removal is tried once only.
                let left = names(dir.path());
                assert!(left.iter().all(|name| name == "first"), "{step} {left:?}");
            }
        }
    }
    fault::arm("fail-from:1:EROFS").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let error = two_files(dir.path()).unwrap_err();
    fault::disarm();
    assert!(
        error.message().ends_with("Read-only file system"),
        "{error}"
    );
}

fn each_step_kills() {
    let left_after = |step: u64| {
        let dir = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fault::the_step_that_is_named_fails_or_kills"])
            .env(VICTIM, dir.path())
            .env(fault::VARIABLE, format!("kill:{step}"))
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        (status.signal(), names(dir.path()))
    };
    let name = |name: &str| name.to_owned();
    assert_eq!(left_after(1), (Some(9), vec![]));
    assert_eq!(left_after(2), (Some(9), vec![name("first")]));
    let (signal, left) = left_after(6);
    assert_eq!((signal, left.len()), (Some(9), 2));
    assert_eq!(left_after(7), (None, vec![name("first"), name("second")]));
}
