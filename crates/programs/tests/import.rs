//! `svn import` beside Debian's svn, over `file://`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::twin::{assert_same_repositories, both, pair};

fn plant(folder: &Path) {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("sub/deep/empty")).unwrap();
    fs::create_dir_all(tree.join("sub/.svn/x")).unwrap();
    fs::write(tree.join("a.txt"), "a\nb\n").unwrap();
    fs::write(tree.join("crlf.txt"), "a\r\nb\r\n").unwrap();
    fs::write(tree.join("binary"), b"\0\x01\x02").unwrap();
    fs::write(tree.join("nothing"), "").unwrap();
    fs::write(tree.join("ignored.o"), "o").unwrap();
    fs::write(tree.join("sub/run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(tree.join("sub/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(tree.join("sub/ü b"), vec![b'x'; 700_000]).unwrap();
    fs::write(tree.join("sub/id.c"), "$Id: a b$ $Rev$\n").unwrap();
    symlink("a.txt", tree.join("link")).unwrap();
    symlink("nowhere", tree.join("sub/dangling")).unwrap();
}

#[test]
fn trees_and_files_become_the_same_revisions() {
    let pair = pair();
    pair.each(plant);
    both(
        &pair,
        &["import", "-m", "all", "tree", "URL/trunk/new folder"],
    )
    .success();
    both(
        &pair,
        &["import", "-m", "m\r\nn", "tree/a.txt", "URL/b.txt"],
    )
    .success();
    both(&pair, &["import", "-q", "-m", "", "tree/sub", "URL/quiet"]).success();
    both(
        &pair,
        &[
            "import",
            "--no-ignore",
            "-F",
            "tree/a.txt",
            "tree",
            "URL/all",
        ],
    )
    .success();
    for depth in ["empty", "files", "immediates", "infinity"] {
        let url = format!("URL/{depth}");
        both(&pair, &["import", "-mx", "--depth", depth, "tree", &url]).success();
    }
    both(&pair, &["import", "-mx", "-N", "tree", "URL/N"]).success();
    both(
        &pair,
        &[
            "import",
            "-mx",
            "--with-revprop",
            "a=b",
            "tree",
            "URL/revprop",
        ],
    )
    .success();
    both(&pair, &["import", "-mx", "--depth=empty", "tree", "URL"]).success();
    let rules = "config:auto-props:*.txt=svn:eol-style=native;svn:keywords=Id";
    let on = "config:miscellany:enable-auto-props=yes";
    both(
        &pair,
        &[
            "import",
            "-mx",
            "--config-option",
            rules,
            "--config-option",
            on,
            "--config-option",
            "config:auto-props:*.c=svn:keywords=Id Rev",
            "tree",
            "URL/auto",
        ],
    )
    .success();
    both(
        &pair,
        &[
            "import",
            "-mx",
            "--config-option",
            rules,
            "--config-option",
            on,
            "--no-auto-props",
            "tree",
            "URL/none",
        ],
    )
    .success();
    assert_same_repositories(&pair);
}

#[test]
fn rules_of_the_repository_hold() {
    let pair = pair();
    pair.each(plant);
    pair.each(|folder| {
        let script = "svn checkout -q file://$PWD/repo author
            svn mkdir -q author/trunk
            svn propset -q svn:global-ignores '*.txt' author
            svn propset -q svn:ignore 'sub deep' author/trunk
            svn propset -q svn:auto-props '*.c = svn:keywords=Id;x=y' author
            svn propset -q svn:auto-props '*.c = svn:keywords=Rev' author/trunk
            svn commit -q -m rules author";
        let done = Command::new("sh")
            .args(["-ec", script])
            .current_dir(folder)
            .status();
        assert!(done.unwrap().success());
    });
    both(&pair, &["import", "-mx", "tree", "URL/trunk"]).success();
    both(&pair, &["import", "-mx", "tree", "URL/trunk/new"]).success();
    both(
        &pair,
        &["import", "-mx", "--no-ignore", "tree", "URL/trunk/more"],
    )
    .success();
    assert_same_repositories(&pair);
}

#[test]
fn mistakes_are_told_in_subversions_words() {
    let pair = pair();
    pair.each(plant);
    both(&pair, &["import", "-mx", "tree", "URL/trunk"]).success();
    for args in [
        &["import", "-mx"][..],
        &["import", "-mx", "tree", "URL", "more"],
        &["import", "-mx", "tree", "tree"],
        &["import", "-mx", "URL", "URL"],
        &["import", "-mx", "tree", "URL/trunk/a.txt"],
        &["import", "-mx", "tree/a.txt", "URL"],
        &["import", "-mx", "tree", "URL/trunk"],
        &["import", "-mx", "none", "URL/none"],
        &["import", "-mx", "tree", "URL/.svn"],
        &["import", "-m", "tree", "tree", "URL/message"],
        &["import", "tree", "URL/message"],
        &["import", "-ma\nb\r\n", "tree", "URL/message"],
        &[
            "import",
            "-mx",
            "--with-revprop",
            "svn:date=x",
            "tree",
            "URL/revprop",
        ],
        &["import", "-F", "tree/binary", "tree", "URL/zero"],
        &[
            "import",
            "--force-interactive",
            "--editor-cmd=false",
            "tree",
            "URL/editor",
        ],
        &[
            "import",
            "--force-interactive",
            "--editor-cmd= ",
            "tree",
            "URL/editor",
        ],
    ] {
        let run = both(&pair, args);
        assert_ne!(run.code, 0, "svn {args:?}");
        pair.each(|folder| {
            let _ = fs::remove_file(folder.join("svn-commit.tmp"));
        });
    }
    pair.each(|folder| {
        let made = Command::new("mkfifo")
            .arg(folder.join("tree/fifo"))
            .status();
        assert!(made.unwrap().success());
    });
    assert_ne!(both(&pair, &["import", "-mx", "tree", "URL/fifo"]).code, 0);
    both(&pair, &["import", "-mx", "--force", "tree", "URL/fifo"]).success();
    assert_same_repositories(&pair);
}

#[test]
fn messages_come_from_an_editor() {
    let pair = pair();
    pair.each(plant);
    let keep = "--editor-cmd=cp svn-commit.tmp seen; sed -i '1s/^/from the editor/'";
    both(
        &pair,
        &["import", "--force-interactive", keep, "tree", "URL/one"],
    )
    .success();
    let seen = |folder: &Path| {
        let text = fs::read_to_string(folder.join("seen")).unwrap();
        text.replace(folder.to_str().unwrap(), "[cwd]")
    };
    assert_eq!(seen(&pair.theirs()), seen(&pair.ours()));
    // The file stays when the commit fails.
    let failed = both(
        &pair,
        &["import", "--force-interactive", keep, "tree", "URL/one"],
    );
    assert_ne!(failed.code, 0);
    let left = |folder: &Path| {
        let text = fs::read_to_string(folder.join("svn-commit.tmp")).unwrap();
        text.replace(folder.to_str().unwrap(), "[cwd]")
    };
    assert_eq!(left(&pair.theirs()), left(&pair.ours()));
    assert_same_repositories(&pair);
}
