//! Two folders, each with a repository, in which the same is done by our program and by Debian's.

use std::path::Path;
use std::process::{Command, Output};

use sylvan_testutil::{Pair, Run};

/// Two folders, each with an empty repository `repo`.
pub(crate) fn pair() -> Pair {
    let pair = Pair::new(env!("CARGO_BIN_EXE_svn"));
    pair.each(|folder| {
        let repo = folder.join("repo");
        let uuid = "d3ad3e1b-4ea8-4cc5-9ac6-6a9c5d0f0001";
        done(Command::new("svnadmin").arg("create").arg(&repo));
        done(Command::new("svnadmin").arg("setuuid").arg(&repo).arg(uuid));
    });
    pair
}

fn done(command: &mut Command) -> Output {
    let output = command.output().expect("the program is installed");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn url(folder: &Path) -> String {
    format!("file://{}/repo", folder.display())
}

/// Runs the same in both folders, `URL` standing for that of the repository there.
pub(crate) fn both(pair: &Pair, args: &[&str]) -> Run {
    let of = |folder: &Path| -> Vec<String> {
        let url = url(folder);
        args.iter().map(|arg| arg.replace("URL", &url)).collect()
    };
    let words = of(&pair.theirs());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let theirs = pair.run_theirs(&words).without(&pair.theirs());
    let words = of(&pair.ours());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ours = pair.run_ours(&words).without(&pair.ours());
    assert_eq!(theirs, ours, "svn {args:?}");
    ours
}

/// Runs a script of `sh` in both folders: `$S` is the program under test in one, Debian's in the
/// other; `svn` is Debian's. What the script prints must be the same, and is returned.
pub(crate) fn script(pair: &Pair, script: &str) -> String {
    let run = |folder: &Path, program: &Path| {
        let output = pair
            .command(Path::new("sh"), folder)
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .env("S", program)
            .env("URL", url(folder))
            .output()
            .expect("there is a shell");
        Run::from(output).without(folder).stdout
    };
    let theirs = run(&pair.theirs(), Path::new("svn"));
    let ours = run(&pair.ours(), Path::new(env!("CARGO_BIN_EXE_svn")));
    assert_eq!(theirs, ours, "{script}");
    ours
}

/// Requires both repositories to be sound and to hold the same, but for dates.
pub(crate) fn assert_same_repositories(pair: &Pair) {
    let dump = |folder: &Path| {
        let repo = folder.join("repo");
        done(Command::new("svnadmin").args(["verify", "-q"]).arg(&repo));
        let dump = done(Command::new("svnadmin").args(["dump", "-q"]).arg(&repo));
        let text = String::from_utf8_lossy(&dump.stdout).into_owned();
        let is_time = |line: &&str| line.len() == 27 && line.ends_with('Z') && line.contains('T');
        let kept = text.lines().filter(|line| !is_time(line));
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(dump(&pair.theirs()), dump(&pair.ours()));
}

/// Requires the working copy `path` to be the same in both folders.
pub(crate) fn assert_same_wc(pair: &Pair, path: &str) {
    pair.assert_same_tree(path);
    let (theirs, ours) = (
        rows(&pair.theirs().join(path)),
        rows(&pair.ours().join(path)),
    );
    let only = |some: &[String], others: &[String]| {
        let found = some.iter().filter(|row| !others.contains(row));
        found.cloned().collect::<Vec<_>>().join("\n")
    };
    assert!(
        theirs == ours,
        "rows of {path}\nonly theirs:\n{}\nonly ours:\n{}",
        only(&theirs, &ours),
        only(&ours, &theirs)
    );
    let status = |folder: &Path| {
        let run = pair.run_theirs_in(folder, &["status", "-v", path]);
        run.without(folder)
    };
    assert_eq!(status(&pair.theirs()), status(&pair.ours()));
}

/// Returns the rows of a database, without what depends on time and place.
fn rows(wc: &Path) -> Vec<String> {
    const TIMES: [&str; 4] = ["changed_date=", "lock_date=", "lock_token=", "root="];
    let mut all = Vec::new();
    for (table, rows) in sylvan_testutil::wc_rows(wc) {
        for row in rows {
            let kept = row.split('|').map(|column| {
                let time = TIMES.iter().find(|time| column.starts_with(**time));
                time.copied().unwrap_or(column)
            });
            all.push(format!("{table}: {}", kept.collect::<Vec<_>>().join("|")));
        }
    }
    all
}
