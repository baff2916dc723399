//! Checkouts and updates beside Subversion's: output, tree, and rows of wc.db.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use sylvan_testutil::{Pair, Svnserve, tree};

use crate::SVN;

/// Six revisions with every kind of change: text, properties, deletions, replacements, changes of
/// kind, symlinks, names that need care.
const HISTORY: &str = r#"set -e; export LC_ALL=C.UTF-8
svn checkout -q URL make; cd make
mkdir -p trunk/d1/d2/d3 trunk/empty 'trunk/sp ace'; svn add -q trunk
for i in 1 2 3 4 5; do echo "file $i" > trunk/f$i; echo "x $i \$Id\$ \$Rev\$" > trunk/d1/k$i; done
: > trunk/zero; printf 'a\nb\n' > trunk/d1/eol; ln -s ../f1 trunk/d1/lnk
echo '#!/bin/sh' > trunk/run; echo deep > trunk/d1/d2/d3/deep; echo nl > trunk/nl
printf 'u\n' > 'trunk/sp ace/ünï-cödé@x'; head -c 700000 /dev/zero > trunk/big
svn add -q --force trunk; svn propset -q svn:keywords 'Id Rev' trunk/d1/k*
svn propset -q svn:eol-style CRLF trunk/d1/eol; svn propset -q svn:executable ON trunk/run
svn propset -q svn:needs-lock x trunk/nl; svn propset -q p1 v1 trunk/d1; svn commit -q -m 1
echo changed >> trunk/f1; echo more >> trunk/d1/k1; svn rm -q trunk/f2
svn propset -q svn:executable ON trunk/f3; svn propset -q p2 v2 trunk/d1
svn propdel -q p1 trunk/d1; printf 'a\nb\nc\n' > trunk/d1/eol; echo tail >> trunk/big
svn commit -q -m 2; svn update -q
svn rm -q trunk/d1/d2; svn commit -q -m 3; svn update -q
svn mkdir -q trunk/d1/d2; echo new > trunk/d1/d2/new; svn add -q trunk/d1/d2/new
svn rm -q trunk/f4 trunk/empty; svn commit -q -m 4; svn update -q
mkdir trunk/f4; echo in > trunk/f4/in; svn add -q trunk/f4; ln -s f1 trunk/empty
svn add -q trunk/empty; svn propdel -q svn:needs-lock trunk/nl
svn propdel -q svn:keywords trunk/d1/k2; svn commit -q -m 5; svn update -q
svn rm -q trunk/d1/lnk; svn commit -q -m 6"#;

struct Scene {
    _served: tempfile::TempDir,
    _server: Svnserve,
    url: String,
    pair: Pair,
}

impl Scene {
    fn new() -> Self {
        let served = tempfile::tempdir().unwrap();
        let server = Svnserve::start(served.path());
        let url = server.create_repository("r");
        let made = Command::new("sh")
            .args(["-c", &HISTORY.replace("URL", &url)])
            .current_dir(served.path())
            .status();
        assert!(made.unwrap().success());
        Self {
            url: format!("{url}/trunk"),
            _served: served,
            _server: server,
            pair: Pair::new(SVN),
        }
    }

    fn both(&self, args: &[&str]) {
        self.pair.both_unordered(args);
        self.pair.assert_same_tree("wc");
        self.pair.assert_same_db("wc");
    }

    fn checkout(&self, args: &[&str]) {
        let args: Vec<_> = ["checkout", &self.url, "wc"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        self.both(&args);
    }

    fn forget(&self) {
        self.pair
            .each(|folder| fs::remove_dir_all(folder.join("wc")).unwrap());
    }
}

#[test]
fn every_revision_becomes_every_other() {
    let scene = Scene::new();
    for from in ["1", "2", "3", "4", "5", "6"] {
        scene.checkout(&["-r", from]);
        for to in ["1", "6", "2", "5", "3", "4"] {
            scene.both(&["update", "-r", to, "wc"]);
        }
        scene.forget();
    }
}

#[test]
fn depths_grow_and_shrink() {
    let scene = Scene::new();
    for depth in ["empty", "files", "immediates"] {
        scene.checkout(&["--depth", depth]);
        scene.both(&["update", "wc"]);
        scene.both(&["update", "--set-depth", "infinity", "wc"]);
        scene.both(&["update", "-r1", "--depth", depth, "wc"]);
        scene.both(&["update", "--set-depth", depth, "wc"]);
        scene.forget();
    }
    scene.checkout(&[]);
    scene.both(&["update", "--set-depth", "exclude", "wc/d1"]);
    scene.both(&["update", "wc"]);
    scene.both(&["update", "--set-depth", "infinity", "wc/d1"]);
}

#[test]
fn parts_are_updated_alone_and_missing_ones_made_again() {
    let scene = Scene::new();
    scene.checkout(&[]);
    for target in ["wc/d1", "wc/f1", "wc/f4", "wc/empty", "wc/f2"] {
        scene.both(&["update", "-r1", target]);
    }
    scene.pair.each(|folder| {
        fs::remove_file(folder.join("wc/f1")).unwrap();
        fs::remove_dir_all(folder.join("wc/d1/d2")).unwrap();
    });
    scene.both(&["update", "wc"]);
}

#[test]
fn unversioned_nodes_are_taken_over_by_force() {
    let scene = Scene::new();
    scene.pair.each(|folder| {
        fs::create_dir_all(folder.join("wc/d1")).unwrap();
        fs::write(folder.join("wc/f1"), "mine\n").unwrap();
        fs::write(folder.join("wc/f3"), "file 3\n").unwrap();
        fs::write(folder.join("wc/d1/other"), "").unwrap();
    });
    scene.checkout(&["--force"]);
}

#[test]
fn an_interrupted_checkout_of_subversion_is_finished() {
    let scene = Scene::new();
    scene.checkout(&["-r2", "--depth", "files"]);
    // As when it was killed: the root is incomplete and locked, and a file was still to be made.
    let url = &scene.url;
    scene.pair.each(|folder| {
        let wc = folder.join("wc");
        let db = wc.join(".svn/wc.db");
        sql(
            &db,
            "UPDATE nodes SET presence = 'incomplete', depth = 'infinity' WHERE local_relpath = '';
             INSERT INTO work_queue (work) VALUES ('(file-install 2 f1 1 0 1 1)');
             UPDATE nodes SET translated_size = NULL, last_mod_time = NULL
              WHERE local_relpath = 'f1';",
        );
        fs::remove_file(wc.join("f1")).unwrap();
    });
    let theirs = scene.pair.run_theirs(&["cleanup", "wc"]);
    assert_eq!(theirs.code, 0);
    assert_eq!(
        scene
            .pair
            .run_ours(&["checkout", "-q", "-r6", url, "wc"])
            .code,
        0
    );
    assert_eq!(
        scene
            .pair
            .run_theirs(&["checkout", "-q", "-r6", url, "wc"])
            .code,
        0
    );
    scene.pair.assert_same_tree("wc");
    scene.pair.assert_same_db("wc");
}

#[test]
fn nothing_is_written_through_a_symlink_in_place_of_a_folder() {
    let scene = Scene::new();
    let pair = &scene.pair;
    let wc = pair.ours().join("wc");
    let outside = pair.ours().join("outside");
    let ours = |args: &[&str]| pair.run_ours(args);
    ours(&["checkout", "-q", "-r1", &scene.url, "wc"]).success();
    fs::rename(wc.join("d1"), &outside).unwrap();
    // What is missing there must not be made again either.
    fs::remove_file(outside.join("k1")).unwrap();
    fs::remove_dir_all(outside.join("d2")).unwrap();
    symlink(&outside, wc.join("d1")).unwrap();
    let before = tree(&outside);
    for target in [
        "wc",
        "wc/d1",
        "wc/d1/k1",
        "wc/d1/k2",
        "wc/d1/d2",
        "wc/d1/d2/d3",
    ] {
        for rev in ["-r2", "-r3", "-r5", "-r6", "-r1"] {
            for more in [&[][..], &["--force"], &["--set-depth=infinity"]] {
                let mut args = vec!["update", "-q", rev, target];
                args.extend(more);
                let run = ours(&args);
                assert_eq!(tree(&outside), before, "{args:?}: {run:?}");
            }
        }
    }
    let refused = ours(&["update", "-r6", "wc"]);
    assert_eq!(refused.code, 1);
    let place = "d1': something else is in its place";
    assert!(
        refused.stderr.contains("E155000") && refused.stderr.contains(place),
        "{refused:?}"
    );
    ours(&["cleanup", "--remove-unversioned", "--remove-ignored", "wc"]).success();
    ours(&["cleanup", "--vacuum-pristines", "wc"]).success();
    assert_eq!(tree(&outside), before);
    // With the folder back, the update is finished.
    fs::remove_file(wc.join("d1")).unwrap();
    ours(&["update", "-q", "-r6", "wc"]).success();
    pair.run_theirs(&["checkout", "-q", "-r6", &scene.url, "wc"])
        .success();
    pair.assert_same_tree("wc");
}

fn sql(db: &Path, script: &str) {
    let run = Command::new("sqlite3").arg(db).arg(script).status();
    assert!(run.unwrap().success());
}

/// Files that may not be read are left alone. (Permissions do not bind root, who becomes nobody.)
#[test]
fn unreadable_files_are_skipped() {
    let pair = crate::twin::pair();
    let said = crate::twin::script(
        &pair,
        r#"as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --clear-groups "$@"; else "$@"; fi; }
           svn checkout -q "$URL" wc; cd wc; mkdir d; echo 1 > f; echo 1 > d/g; echo 1 > h
           svn add -q f d h; svn commit -qm1; for n in f d/g h; do echo 2 > $n; done; svn commit -qm2
           svn update -qr1; touch -d 2020-01-01 f d/g; chmod 000 f d/g; cd ..
           if [ "$(id -u)" = 0 ]; then chmod 755 . ..; chown -R 65534 wc repo; fi
           export HOME=$PWD/wc/d; as $S update wc --config-dir wc/none | sort; as svn status -v wc --config-dir wc/none | cut -c1-36
           chmod 644 wc/f wc/d/g; as $S update wc --config-dir wc/none | sort"#,
    );
    assert!(said.contains("Skipped 'wc/f' -- Access denied"), "{said}");
}
