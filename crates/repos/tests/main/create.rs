//! New repositories, compared with what Debian's svnadmin makes.

use sylvan_core::{Dirent, Result, Timestamp};
use sylvan_fs::Options;
use sylvan_repos::{CreateOptions, Repos};
use sylvan_testutil::Sandbox;

fn create(sandbox: &Sandbox, name: &str, create: &CreateOptions) -> Result<Repos> {
    let current_dir = Dirent::new(sandbox.path().to_str().unwrap());
    let path = current_dir.join(name);
    let now = Timestamp::from_micros(0);
    Repos::create(&path, &current_dir, create, Options::default(), now)
}

/// Lists names and permissions, and shows the file `format`.
fn layout(sandbox: &Sandbox, name: &str) -> String {
    sandbox.sh(&format!(
        "cd {name}; find . -printf '%P %y %m\\n' | LC_ALL=C sort; cat format"
    ))
}

#[test]
fn a_new_repository_is_laid_out_as_debians() {
    let sandbox = Sandbox::new();
    for minor in [1, 3, 4, 5, 6, 8, 9, 14] {
        let (ours, theirs) = (format!("ours{minor}"), format!("theirs{minor}"));
        sandbox.sh(&format!(
            "svnadmin create --compatible-version 1.{minor} {theirs}"
        ));
        let options = CreateOptions::compatible_with(minor).unwrap();
        let repos = create(&sandbox, &ours, &options).unwrap();
        let theirs = layout(&sandbox, &theirs).replace("db/rep-cache.db f 644\n", "");
        assert_eq!(layout(&sandbox, &ours), theirs, "1.{minor}");
        sandbox.sh(&format!("svnadmin verify -q {ours}"));
        // 1.7 has the format of 1.6, and those since 1.10 have one.
        let expected = match minor {
            1 | 3 => 1,
            _ => minor.min(10),
        };
        assert_eq!(repos.minor_version(), expected);
    }
}

#[test]
fn what_is_there_is_not_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir empty full; touch full/x file");
    let said = |name: &str| {
        let error = create(&sandbox, name, &CreateOptions::default()).unwrap_err();
        let root = format!("{}/", sandbox.path().display());
        error.to_lines("").replace(&root, "")
    };
    assert_eq!(said("repo"), "E165002: 'repo' is an existing repository\n");
    assert_eq!(
        said("repo/a/../b"),
        "E165002: 'repo/b' is a subdirectory of an existing repository rooted at 'repo'\n"
    );
    assert_eq!(
        said("full"),
        "E200011: Repository creation failed\nE200011: Could not create top-level directory\n\
         E200011: 'full' exists and is non-empty\n"
    );
    assert_eq!(
        said("file"),
        "E000020: Repository creation failed\nE000020: Could not create top-level directory\n\
         E000020: Can't check directory 'file': Not a directory\n"
    );
    create(&sandbox, "empty", &CreateOptions::default()).unwrap();
    for (kind, message) in [
        ("bdb", "E160033: Failed to load module for FS type 'bdb'"),
        ("x", "E160033: Unknown FS type 'x'"),
    ] {
        let options = CreateOptions {
            fs_type: kind.to_owned(),
            ..CreateOptions::default()
        };
        let error = create(&sandbox, "new", &options).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!sandbox.join("new").exists());
    }
    assert!(CreateOptions::compatible_with(0).is_err());
}
