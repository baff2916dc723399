//! Dump streams beside Subversion's: what is dumped, loaded, filtered and verified.

mod faults;
mod histories;
mod mistakes;

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use sylvan_testutil::{Pair, Run};

use crate::{SVN, SVNADMIN, SVNDUMPFILTER};

/// What a call printed, to the byte, and returned.
#[derive(PartialEq, Eq)]
struct Answer {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Answer {
    /// Tells in what another differs.
    fn difference(&self, other: &Self) -> String {
        let mut told = String::new();
        if (self.code, &self.stderr) != (other.code, &other.stderr) {
            for (whose, answer) in [("theirs", self), ("ours", other)] {
                let _ = writeln!(told, "  {whose}: {}\n{}", answer.code, answer.stderr);
            }
        }
        let lines = |answer: &Self| -> Vec<String> {
            let lines = answer.stdout.split(|byte| *byte == b'\n');
            lines.map(|line| line.escape_ascii().to_string()).collect()
        };
        let (theirs, ours) = (lines(self), lines(other));
        let same = theirs.iter().zip(&ours).take_while(|(a, b)| a == b).count();
        if same < theirs.len().max(ours.len()) {
            let _ = writeln!(told, "  from line {} of standard output:", same + 1);
            for (whose, lines) in [("theirs", theirs), ("ours", ours)] {
                let from = same.saturating_sub(2).min(lines.len());
                let shown = &lines[from..(same + 4).min(lines.len())];
                let _ = writeln!(told, "  {whose}: {shown:#?}");
            }
        }
        told
    }

    /// Sorts headers that Subversion's filter writes in an order that changes from run to run.
    fn with_headers_in_order(mut self) -> Self {
        const SORTED: [&[u8]; 4] = [
            b"Text-content-",
            b"Node-copyfrom-",
            b"Text-copy-",
            b"Text-delta",
        ];
        let is_sorted = |line: &&[u8]| {
            let is_length = line.starts_with(b"Text-content-length");
            !is_length && SORTED.iter().any(|name| line.starts_with(name))
        };
        let mut lines: Vec<_> = self.stdout.split_inclusive(|byte| *byte == b'\n').collect();
        for run in lines.chunk_by_mut(|a, b| is_sorted(a) && is_sorted(b)) {
            run.sort_unstable();
        }
        self.stdout = lines.concat();
        self
    }

    fn has_success(self, what: &str) -> Vec<u8> {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{what}");
        self.stdout
    }
}

/// A repository with a history, `r` in the folder that is theirs; `empty` is one without.
struct Scene {
    pair: Pair,
    /// The dump of `r`.
    stream: Vec<u8>,
}

impl Scene {
    /// Makes one by a script.
    fn new(script: &str) -> Self {
        let pair = Pair::new(SVN);
        let scene = Self {
            pair,
            stream: Vec::new(),
        };
        let begin = include_str!("dump/begin.sh");
        scene.shell(&format!("svnadmin create empty\n{begin}\n{script}"));
        let stream = scene.theirs("svnadmin", "dump -q r", None);
        Self {
            stream: stream.has_success("dump -q r"),
            ..scene
        }
    }

    /// Runs a script in the folder that is theirs.
    fn shell(&self, script: &str) {
        let mut shell = self.pair.command(Path::new("sh"), &self.pair.theirs());
        let run = Run::from(shell.args(["-ec", script]).output().unwrap());
        assert_eq!(run.code, 0, "{script}\n{run:?}");
    }

    /// Gives both folders a new repository `name` without a history.
    fn renew(&self, name: &str) {
        for folder in [self.pair.theirs(), self.pair.ours()] {
            self.copy("empty", &folder.join(name));
        }
    }

    /// Copies one of their repositories in place of another.
    fn copy(&self, from: &str, to: &Path) {
        let _ = std::fs::remove_dir_all(to);
        let mut copy = std::process::Command::new("cp");
        let done = copy.arg("-a").arg(self.pair.theirs().join(from)).arg(to);
        assert!(done.status().unwrap().success());
    }

    /// Puts bytes into a file that calls read.
    fn input(&self, bytes: &[u8]) -> PathBuf {
        let path = self.pair.root().join("input");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs a line in a folder; `^` stands for a blank.
    fn call(&self, program: &str, folder: &Path, line: &str, input: Option<&Path>) -> Answer {
        let mut command = self.pair.command(Path::new(program), folder);
        command.args(line.split_whitespace().map(|word| word.replace('^', " ")));
        if let Some(path) = input {
            command.stdin(Stdio::from(File::open(path).unwrap()));
        }
        let output = command.output().unwrap();
        Answer {
            code: output.status.code().unwrap_or(-1),
            stderr: String::from_utf8_lossy(&output.stderr)
                .replace(&*folder.to_string_lossy(), "[cwd]"),
            stdout: output.stdout,
        }
    }

    fn theirs(&self, program: &str, line: &str, input: Option<&Path>) -> Answer {
        self.call(program, &self.pair.theirs(), line, input)
    }

    fn ours(&self, program: &str, line: &str, input: Option<&Path>) -> Answer {
        self.call(program, &self.pair.ours(), line, input)
    }

    /// Compares calls that only read, in the folder that is theirs.
    fn compare_reading(&self, program: &str, lines: &str, input: Option<&Path>) {
        let mut told = String::new();
        let lines = lines.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            let theirs = self.theirs(program, line, input);
            let ours = self.call(under_test(program), &self.pair.theirs(), line, input);
            let [theirs, ours] = [theirs, ours].map(|answer| match program {
                "svndumpfilter" => answer.with_headers_in_order(),
                _ => answer,
            });
            if theirs != ours {
                let _ = writeln!(told, "{program} {line}\n{}", theirs.difference(&ours));
            }
        }
        assert!(told.is_empty(), "\n{told}");
    }

    /// Compares a call that writes to `w`, in both folders, and then the repositories. Returns
    /// the difference and what `w` has in the end.
    fn compare_writing(&self, line: &str, input: Option<&Path>) -> (String, Vec<u8>) {
        let theirs = self.theirs("svnadmin", line, input);
        let ours = self.ours(SVNADMIN, line, input);
        let mut told = theirs.difference(&ours);
        let verified = self.ours("svnadmin", "verify -q w", None);
        if (verified.code, verified.stderr.as_str()) != (0, "") {
            let _ = writeln!(told, "  damaged: {}", verified.stderr);
        }
        let theirs = self.theirs("svnadmin", "dump -q w", None);
        let ours = self.ours("svnadmin", "dump -q w", None);
        let dump = theirs.stdout.clone();
        let dates = line.contains("--ignore-dates");
        let [theirs, ours] = [theirs, ours].map(|answer| Answer {
            stdout: without_changing(&answer.stdout, dates),
            ..answer
        });
        told.push_str(&theirs.difference(&ours));
        if !told.is_empty() {
            told = format!("svnadmin {line}\n{told}");
        }
        (told, dump)
    }
}

fn under_test(program: &str) -> &'static str {
    match program {
        "svnadmin" => SVNADMIN,
        "svndumpfilter" => SVNDUMPFILTER,
        other => panic!("{other} is not tested here"),
    }
}

/// Replaces dates, if they are not the same twice.
fn without_changing(dump: &[u8], dates: bool) -> Vec<u8> {
    if !dates {
        return dump.to_vec();
    }
    let is_date = |line: &[u8]| line.len() == 27 && line.ends_with(b"Z") && line[10] == b'T';
    let mut kept = Vec::with_capacity(dump.len());
    for line in dump.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        kept.extend_from_slice(if is_date(text) { b"DATE\n" } else { line });
    }
    kept
}

/// Makes a stream with `new` in place of the first `old`.
fn replaced(stream: &[u8], old: &str, new: &str) -> Vec<u8> {
    let at = stream
        .windows(old.len())
        .position(|window| window == old.as_bytes())
        .unwrap_or_else(|| panic!("{old} is not there"));
    [&stream[..at], new.as_bytes(), &stream[at + old.len()..]].concat()
}
