//! Two programs in one working copy: in one folder each step of a random session is done by either
//! program, in its twin by Debian's alone. After each step both must be the same.
//!
//! `SYLVAN_SESSIONS=FIRST:COUNT` plays other sessions than the few of an ordinary run, and
//! `SYLVAN_STEPS` more steps of each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sylvan_testutil::{Chance, Pair, Run};

use crate::{SVN, twin};

const NAMES: [&str; 4] = ["a", "b", "c.txt", "d"];
const VALUES: [&str; 3] = ["one", "two\nlines\n", "three"];
const ACCEPT: [&str; 5] = [
    "working",
    "base",
    "mine-full",
    "theirs-full",
    "mine-conflict",
];

/// What is done in a step.
#[derive(Clone, Debug)]
enum Step {
    /// A call of `svn`.
    Svn(Vec<String>),
    /// A script that changes and commits something in another working copy.
    Other(String),
    /// A line is appended to a file, which is made if there is none.
    Append(String, String),
    /// The first line of a file is replaced.
    Replace(String, String),
    Remove(String),
    MakeDir(String),
}

struct Session {
    pair: Pair,
    chance: Chance,
    log: String,
    number: usize,
}

impl Session {
    fn new(seed: u64) -> Self {
        let pair = twin::pair();
        twin::script(
            &pair,
            "svn co -q $URL wc; cd wc; svn -q mkdir trunk branches trunk/a trunk/b trunk/a/d
            for f in trunk/c.txt trunk/a/c.txt trunk/a/d/c.txt trunk/b/d; do
              for n in 1 2 3 4 5 6 7 8; do echo $n $f; done > $f; done
            svn -q add --force trunk; svn -q ps svn:keywords Rev trunk/c.txt
            svn -q ps svn:eol-style native trunk/b/d; svn -q ci -m one; svn -q up
            svn -q cp $URL/trunk $URL/branches/x -m two; cd ..; rm -rf wc
            svn co -q $URL/trunk wc; svn co -q $URL/trunk other",
        );
        Self {
            pair,
            chance: Chance::new(seed),
            log: format!("session {seed}\n"),
            number: 0,
        }
    }

    fn name(&mut self) -> String {
        (*self.chance.one(&NAMES)).to_owned()
    }

    /// Returns the paths below a working copy that are there, without the administrative folder.
    fn present(&self, wc: &str) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        let root = self.pair.theirs().join(wc);
        while let Some(folder) = folders.pop() {
            let mut names: Vec<_> = fs::read_dir(root.join(&folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            for name in names.iter().filter(|name| *name != ".svn") {
                let path = folder.join(name);
                let is_dir = root.join(&path).is_dir();
                found.push((path.to_str().unwrap().to_owned(), is_dir));
                if is_dir {
                    folders.push(path);
                }
            }
        }
        found
    }

    fn path(&mut self, wc: &str, wanted: Option<bool>) -> String {
        let found: Vec<_> = self
            .present(wc)
            .into_iter()
            .filter(|(_, is_dir)| wanted.is_none_or(|wanted| wanted == *is_dir))
            .collect();
        match found.is_empty() {
            true => self.name(),
            false => self.chance.one(&found).0.clone(),
        }
    }

    /// Returns a path in a folder that is there, of a depth that is not large.
    fn new_path(&mut self, wc: &str) -> String {
        let folder = match self.chance.below(3) {
            0 => String::new(),
            _ => self.path(wc, Some(true)),
        };
        let name = self.name();
        match folder.is_empty() || folder.matches('/').count() > 2 {
            true => name,
            false => format!("{folder}/{name}"),
        }
    }

    fn step(&mut self) -> Step {
        let number = self.number;
        let words =
            |words: &[&str]| Step::Svn(words.iter().map(|word| (*word).to_owned()).collect());
        match self.chance.below(30) {
            0 | 1 => Step::Append(self.path("wc", Some(false)), format!("step {number}\n")),
            2 => Step::Replace(self.path("wc", Some(false)), format!("first {number}\n")),
            3 => Step::Append(self.new_path("wc"), format!("made in step {number}\n")),
            4 => words(&["add", "--force", &self.path("wc", None)]),
            5 => words(&["mkdir", &self.new_path("wc")]),
            6 => words(&["delete", &self.path("wc", None)]),
            7 => words(&["delete", "--force", &self.path("wc", None)]),
            // Not of folders: Subversion removes what was kept in one when its deletion comes in.
            8 => words(&["delete", "--keep-local", &self.path("wc", Some(false))]),
            9 | 10 => words(&["copy", &self.path("wc", None), &self.new_path("wc")]),
            11 | 12 => words(&["move", &self.path("wc", None), &self.new_path("wc")]),
            13 => words(&[
                "propset",
                "color",
                VALUES[number % VALUES.len()],
                &self.path("wc", None),
            ]),
            14 => words(&["propdel", "color", &self.path("wc", None)]),
            15 => words(&["revert", &self.path("wc", None)]),
            16 => words(&["revert", "-R", &self.path("wc", Some(true))]),
            17 => words(&["update", "--accept", "postpone"]),
            18 => {
                let rev = format!("-r{}", 2 + self.chance.below(6 + number / 4));
                let path = self.path("wc", None);
                words(&["update", "--accept", "postpone", &rev, &path])
            }
            19 => {
                let to = *self.chance.one(&["^/trunk", "^/branches/x"]);
                words(&["switch", "--accept", "postpone", to])
            }
            20 | 21 => words(&["commit", "-m", &format!("step {number}")]),
            22 => words(&[
                "commit",
                "-m",
                &format!("step {number}"),
                &self.path("wc", None),
            ]),
            23 => {
                let accept = *self.chance.one(&ACCEPT);
                words(&["resolve", "-R", "--accept", accept, "."])
            }
            24 => words(&["changelist", "list", &self.path("wc", Some(false))]),
            25 => Step::Remove(self.path("wc", None)),
            26 => Step::MakeDir(self.new_path("wc")),
            _ => self.other(),
        }
    }

    /// A change and its commit in the other working copy.
    fn other(&mut self) -> Step {
        let number = self.number;
        let any = self.path("other", None);
        let file = self.path("other", Some(false));
        let new = self.new_path("other");
        let words = match self.chance.below(6) {
            0 => format!("svn -q rm {any}"),
            1 => format!("svn -q mv {any} {new}"),
            2 => format!("svn -q ps color incoming{number} {any}"),
            3 => format!("svn -q mkdir {new}"),
            4 => format!("sed -i '1s/.*/incoming {number}/' {file}"),
            _ => format!("echo incoming {number} >> {file}"),
        };
        let script = format!(
            "cd other; svn -q up; {words}; svn -q ci -m other{number} || svn -q revert -R .; \
             svn -q up --accept theirs-full"
        );
        Step::Other(script)
    }

    fn run(&self, folder: &Path, program: &Path, args: &[String]) -> Run {
        let wc = folder.join("wc");
        let output = self.pair.command(program, &wc).args(args).output().unwrap();
        let run = Run::from(output).without(folder);
        Run {
            stdout: normal(&run.stdout),
            stderr: normal(&run.stderr),
            ..run
        }
    }

    fn play(&mut self) {
        self.number += 1;
        let step = self.step();
        let ours_does = self.chance.below(2) == 0;
        let program = if ours_does { SVN } else { "svn" };
        let who = if ours_does { "ours" } else { "Debian's" };
        let _ = writeln!(self.log, "{}: {who}: {step:?}", self.number);
        match &step {
            Step::Svn(args) => {
                let mut theirs = self.run(&self.pair.theirs(), Path::new("svn"), args);
                let mut ours = self.run(&self.pair.ours(), Path::new(program), args);
                if ["update", "switch", "revert"].contains(&&*args[0]) {
                    // In which order changes come in depends on where they are in the repository.
                    sort_lines(&mut theirs.stdout);
                    sort_lines(&mut ours.stdout);
                }
                assert_eq!(theirs, ours, "what is told differs\n{}", self.log);
            }
            Step::Other(script) => {
                self.pair.each(|folder| {
                    let mut shell = self.pair.command(Path::new("sh"), folder);
                    shell.args(["-c", script]).output().unwrap();
                });
            }
            Step::Append(path, text) => self.edit(path, |old| format!("{old}{text}")),
            Step::Replace(path, text) => self.edit(path, |old| {
                let rest = old.split_once('\n').map_or("", |(_, rest)| rest);
                format!("{text}{rest}")
            }),
            Step::Remove(path) => self.each(|wc| {
                let path = wc.join(path);
                let _ = match path.is_dir() {
                    true => fs::remove_dir_all(path),
                    false => fs::remove_file(path),
                };
            }),
            Step::MakeDir(path) => self.each(|wc| {
                let _ = fs::create_dir(wc.join(path));
            }),
        }
        self.compare(if ours_does { "svn" } else { SVN });
    }

    fn each(&self, change: impl Fn(&Path)) {
        self.pair.each(|folder| change(&folder.join("wc")));
    }

    fn edit(&self, path: &str, change: impl Fn(&str) -> String) {
        self.each(|wc| {
            let path = wc.join(path);
            if path.is_dir() {
                return;
            }
            let old = fs::read_to_string(&path).unwrap_or_default();
            // Where there is no folder any more, nothing is written.
            let _ = fs::write(path, change(&old));
        });
    }

    /// Compares the working copies, as seen by a program on our side and by Debian's on the other.
    fn compare(&self, program: &str) {
        for args in [["status", "-v", "--xml"], ["info", "-R", "--xml"]] {
            let args = args.map(str::to_owned);
            let theirs = self.run(&self.pair.theirs(), Path::new("svn"), &args);
            let ours = self.run(&self.pair.ours(), Path::new(program), &args);
            let (theirs, ours) = (timeless(&theirs), timeless(&ours));
            assert!(
                theirs == ours,
                "svn {args:?} of {program} differs\n{}\n{}",
                difference(&theirs, &ours),
                self.log
            );
        }
        let [theirs, ours] =
            [self.pair.theirs(), self.pair.ours()].map(|at| sylvan_testutil::tree(&at.join("wc")));
        assert!(
            theirs == ours,
            "the trees differ\n{}\n{}",
            difference(&theirs, &ours),
            self.log
        );
    }
}

fn sort_lines(text: &mut String) {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    *text = lines.join("\n");
}

/// Leaves out what differs between two runs of the same program.
fn normal(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("Checking r") && !line.starts_with("Searching tree conflict"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Returns the lines of XML but for times, each tag on one, with its attributes in order: Subversion
/// writes them as its hash tables have them, which is another order in each run.
fn timeless(run: &Run) -> Vec<String> {
    const TIMES: [&str; 3] = ["<date>", "<text-updated>", "<prop-updated>"];
    let mut lines = Vec::new();
    let mut tag: Option<Vec<&str>> = None;
    for line in run.stdout.lines() {
        if let Some(mut attributes) = tag.take() {
            let end = line.ends_with('>');
            attributes.push(line.trim().trim_end_matches(['>', '/']));
            if !end {
                tag = Some(attributes);
                continue;
            }
            attributes[1..].sort_unstable();
            lines.push(attributes.join(" "));
        } else if line.starts_with('<') && !line.contains('>') {
            tag = Some(vec![line]);
        } else if !TIMES.iter().any(|time| line.starts_with(time)) {
            lines.push(line.to_owned());
        }
    }
    lines.push(format!("{} {}", run.code, run.stderr));
    lines
}

fn difference(theirs: &[String], ours: &[String]) -> String {
    let only = |these: &[String], others: &[String]| -> String {
        let others: BTreeSet<_> = others.iter().collect();
        let found = these.iter().filter(|line| !others.contains(line));
        found.map(|line| format!("{line}\n")).collect()
    };
    format!(
        "only theirs:\n{}only ours:\n{}",
        only(theirs, ours),
        only(ours, theirs)
    )
}

fn setting(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

#[test]
fn sessions_of_two_programs_are_as_of_one() {
    let sessions = setting("SYLVAN_SESSIONS").unwrap_or_else(|| "1:4".to_owned());
    let (first, count) = sessions.split_once(':').expect("FIRST:COUNT");
    let first: u64 = first.parse().unwrap();
    let count: u64 = count.parse().unwrap();
    let steps = setting("SYLVAN_STEPS").map_or(25, |steps| steps.parse().unwrap());
    let mut failed = Vec::new();
    for seed in first..first + count {
        let played = std::panic::catch_unwind(|| {
            let mut session = Session::new(seed);
            for _ in 0..steps {
                session.play();
            }
        });
        if played.is_err() {
            failed.push(seed);
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count} failed: {failed:?}",
        failed.len()
    );
}
