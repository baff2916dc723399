//! Local changes beside Subversion's: output, tree and rows of the database after each step.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use sylvan_testutil::{Pair, Run};

use crate::SVN;

/// Makes the repository that every scene begins with.
const BEGINNING: &str = r#"set -e
svnadmin create repos; U=file://$PWD/repos
svn -q mkdir $U/trunk $U/branches -m one; svn -q co $U/trunk make; cd make
mkdir -p A/B/E A/B/F A/D/G A/D/H A/C
for f in iota A/mu A/B/lambda A/B/E/alpha A/B/E/beta A/D/gamma A/D/G/pi A/D/G/rho A/D/H/chi; do
  echo "This is the file '$f'." > $f
done
svn -q add iota A; svn -q ps color red A/D; svn -q ps svn:eol-style native A/B/lambda; svn -q ci -m two
echo more >> A/D/gamma; svn -q ps color blue A/D/G/pi; svn -q ci -m three
"#;

/// Runs a line of a shell in which `svn` is `program`.
fn run(pair: &Pair, folder: &Path, program: &str, line: &str) -> Run {
    let shell = format!("svn() {{ '{program}' \"$@\"; }}\n{line}\n");
    let output = pair
        .command(Path::new("sh"), folder)
        .args(["-c", &shell])
        .output()
        .unwrap();
    let above = folder.parent().unwrap();
    let mut run = Run::from(output).without(above);
    for text in [&mut run.stdout, &mut run.stderr] {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        *text = lines.join("\n");
    }
    run
}

fn scene(name: &str) {
    static BASE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let base = BASE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("sh")
            .args(["-c", BEGINNING])
            .env("LC_ALL", "C.UTF-8")
            .current_dir(folder.path())
            .output();
        assert!(made.unwrap().status.success());
        folder
    });
    let scenes = include_str!("local/steps.txt");
    let steps = scenes
        .split("\n== ")
        .find_map(|scene| scene.strip_prefix(name)?.strip_prefix('\n'))
        .unwrap_or_else(|| panic!("no scene '{name}'"));
    let pair = Pair::new(SVN);
    let repos = base.path().join("repos");
    pair.each(|folder| {
        let wc = folder.join("wc");
        let url = format!("file://{}/trunk", repos.display());
        let made = Command::new("svn")
            .args(["checkout", "-q", &url])
            .arg(&wc)
            .status();
        assert!(made.unwrap().success());
    });
    let mut step = String::new();
    for line in steps.lines() {
        step.push_str(line);
        // A quoted value may go over several lines.
        if step.matches('\'').count() % 2 == 1 {
            step.push('\n');
            continue;
        }
        let line = std::mem::take(&mut step);
        if line.is_empty() {
            continue;
        }
        let theirs = run(
            &pair,
            &pair.theirs().join("wc"),
            "svn",
            &line.replace("svn ", "command svn "),
        );
        let ours = run(&pair, &pair.ours().join("wc"), SVN, &line);
        assert_eq!(
            theirs.stdout, ours.stdout,
            "stdout of {line}\n{}",
            ours.stderr
        );
        assert_eq!(theirs.stderr, ours.stderr, "stderr of {line}");
        assert_eq!(theirs.code, ours.code, "exit code of {line}");
        pair.assert_same_tree("wc");
        pair.assert_same_db("wc");
    }
}

macro_rules! scenes {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            scene($name);
        })*

        #[test]
        fn every_scene_is_tested() {
            let scenes = include_str!("local/steps.txt");
            let names: Vec<_> = scenes
                .split("\n== ")
                .skip(1)
                .filter_map(|scene| scene.lines().next())
                .collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

scenes!(
    add: "add files and folders",
    add_after_delete: "add after delete",
    auto_props: "auto-props and ignores",
    mkdir: "mkdir",
    delete: "delete",
    delete_added: "delete in added and copied trees",
    revert: "revert",
    revert_copies: "revert copies and replacements",
    revert_depth: "revert by depth and changelist",
    revert_remove_added: "revert --remove-added",
    revert_moves: "revert moves",
    propset: "propset",
    propget: "propget and proplist",
    changelist: "changelist",
    copy: "copy",
    copy_mixed: "copy mixed revisions",
    rename: "move",
    move_back: "move back and within copies",
    move_mixed: "move mixed revisions",
    move_changes: "move with changes",
    copy_url: "copy from the repository",
    revert_met: "revert of a deletion that an update met",
);
