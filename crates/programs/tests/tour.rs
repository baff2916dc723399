//! A tour: some hundred commands of `list`, `cat`, `log`, `info` and `status` over a repository and
//! working copies in many states. What our `svn` prints (both streams) and its exit code must be
//! those of Debian's, byte for byte.
//!
//! Where Subversion's own output differs from run to run, its parts are sorted before they are
//! compared: attributes of an XML tag, changelists, properties in conflict, and the order of
//! `status --show-updates` and of `info --x-viewspec`.
//!
//! `tour/scenes.sh` makes the scenes, `tour/commands.txt` has the commands.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sylvan_testutil::{Run, Svnserve};

const SCENES: &str = include_str!("tour/scenes.sh");
const COMMANDS: &str = include_str!("tour/commands.txt");

#[test]
fn every_command_prints_what_subversion_prints() {
    let tour = Tour::prepare();
    let stops = stops();
    assert!(stops.len() >= 200);
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(stop) = stops.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(difference) = tour.difference(stop) {
                        differences.lock().unwrap().push(difference);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(
        differences.is_empty(),
        "{} of {} commands differ:\n{}",
        differences.len(),
        stops.len(),
        differences.concat()
    );
}

/// One command: where it is run, and its arguments.
struct Stop {
    folder: &'static str,
    args: Vec<String>,
}

fn stops() -> Vec<Stop> {
    COMMANDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (folder, args) = line.split_once(" | ").expect("a bar after the folder");
            Stop {
                folder,
                args: words(args),
            }
        })
        .collect()
}

/// Splits at blanks, but not within single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words
}

struct Tour {
    scratch: tempfile::TempDir,
    server: Svnserve,
}

impl Tour {
    fn prepare() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        std::fs::create_dir(root.join("home")).unwrap();
        std::fs::create_dir(root.join("scenes")).unwrap();
        let scenes = root.join("scenes");
        std::fs::write(scenes.join("passwd"), "[users]\njo = secret\n").unwrap();
        let config = "[general]\nanon-access = read\nauth-access = write\n\
                      password-db = passwd\nrealm = tour\n";
        let server = Svnserve::start_with(&scenes, config);
        server.create_repository("repo");
        let tour = Self { scratch, server };
        let script = tour.root().join("scenes.sh");
        std::fs::write(&script, SCENES).unwrap();
        let made = tour
            .command(Path::new("sh"), &scenes)
            .arg(&script)
            .env("ROOT", &scenes)
            .env("URL", tour.server.url("repo"))
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        tour
    }

    fn root(&self) -> &Path {
        self.scratch.path()
    }

    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root().join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, program: &str, stop: &Stop) -> Run {
        let scenes = self.root().join("scenes");
        let args = stop.args.iter().map(|arg| {
            arg.replace("$URL", &self.server.url("repo"))
                .replace("$ROOT", scenes.to_str().expect("temp paths are UTF-8"))
        });
        let output = self
            .command(Path::new(program), &scenes.join(stop.folder))
            .args(args)
            .output()
            .unwrap();
        let mut run = Run::from(output);
        run.stdout = normal(stop, &run.stdout);
        run
    }

    /// Runs the command with both programs; describes the first lines that differ.
    fn difference(&self, stop: &Stop) -> Option<String> {
        let theirs = self.run("svn", stop);
        let ours = self.run(crate::SVN, stop);
        if theirs == ours {
            return None;
        }
        let mut text = format!("\n== {}: svn {}\n", stop.folder, stop.args.join(" "));
        if theirs.code != ours.code {
            let _ = writeln!(text, "exit code {} becomes {}", theirs.code, ours.code);
        }
        for (name, theirs, ours) in [
            ("stdout", &theirs.stdout, &ours.stdout),
            ("stderr", &theirs.stderr, &ours.stderr),
        ] {
            let pairs = theirs.lines().zip(ours.lines());
            let same = pairs.take_while(|(theirs, ours)| theirs == ours).count();
            if theirs != ours {
                let _ = writeln!(text, "{name} from line {}:", same + 1);
                for (mark, side) in [('-', theirs), ('+', ours)] {
                    for line in side.lines().skip(same).take(6) {
                        let _ = writeln!(text, "{mark}{line}");
                    }
                }
            }
        }
        Some(text)
    }
}

/// Sorts what has no fixed order in Subversion's output.
fn normal(stop: &Stop, stdout: &str) -> String {
    let has = |option: &str| stop.args.iter().any(|arg| arg == option);
    let is_status = stop.args[0] == "status";
    // Its order is that of a hash table whose seed is chance, but for `svn://`.
    let is_recursive_info = stop.args[0] == "info"
        && (has("-R") || has("--depth"))
        && std::env::var_os(sylvan_testutil::FILE_URLS).is_some();
    let with_updates = stop.args.iter().any(|arg| arg.starts_with("-u"));
    let sorted = if has("--xml") {
        let text = sort_attributes(stdout);
        match (is_status, with_updates) {
            (true, true) => sort_parts(
                &text,
                &[
                    "<entry\n",
                    "</target>",
                    "<against\n",
                    "<changelist\n",
                    "</changelist>",
                ],
            ),
            (true, false) => sort_from(&text, "<changelist\n"),
            _ if is_recursive_info => sort_parts(&text, &["<entry\n", "</info>"]),
            _ => text,
        }
    } else if is_recursive_info && !has("--show-item") {
        sort_parts(stdout, &["Path: "])
    } else if has("--x-viewspec") || is_recursive_info {
        sort_lines(stdout)
    } else if is_status && with_updates {
        let text = sort_from(stdout, "\n--- Changelist ");
        sort_lines(&text)
    } else if is_status {
        sort_from(stdout, "\n--- Changelist ")
    } else {
        stdout.to_owned()
    };
    sorted
        .lines()
        .map(|line| match line.strip_prefix("Conflicted Properties: ") {
            Some(names) => {
                let mut names: Vec<_> = names.split(' ').collect();
                names.sort_unstable();
                format!("Conflicted Properties: {}\n", names.join(" "))
            }
            None => format!("{line}\n"),
        })
        .collect()
}

/// Sorts the attributes of each tag; each stands on a line of its own.
fn sort_attributes(text: &str) -> String {
    let mut sorted = String::new();
    let mut attributes: Vec<String> = Vec::new();
    for line in text.lines() {
        let is_attribute = line.starts_with("   ") && line.contains("=\"");
        if !is_attribute {
            sorted.push_str(line);
            sorted.push('\n');
            continue;
        }
        let body = line.trim_end_matches(['>', '/']);
        if let Some(end) = line
            .strip_prefix(body)
            .filter(|_| line.ends_with('>') && body.ends_with('"'))
        {
            attributes.push(body.to_owned());
            attributes.sort();
            sorted.push_str(&attributes.join("\n"));
            sorted.push_str(end);
            sorted.push('\n');
            attributes.clear();
        } else if line.ends_with('"') {
            attributes.push(line.to_owned());
        } else {
            // Text follows the tag.
            let at = line.find("\">").map_or(line.len(), |at| at + 1);
            attributes.push(line[..at].to_owned());
            attributes.sort();
            sorted.push_str(&attributes.join("\n"));
            sorted.push_str(&line[at..]);
            sorted.push('\n');
            attributes.clear();
        }
    }
    sorted
}

/// Cuts text before each of the marks and sorts the parts.
fn sort_parts(text: &str, marks: &[&str]) -> String {
    let mut parts = vec![text];
    for mark in marks {
        parts = parts
            .into_iter()
            .flat_map(|part| cut_before(part, mark))
            .collect();
    }
    parts.sort_unstable();
    parts.concat()
}

/// Sorts the sections that begin with a mark (the last one ends where the text does).
fn sort_from(text: &str, mark: &str) -> String {
    let Some(first) = text.find(mark) else {
        return text.to_owned();
    };
    let end = ["\n</status>", "\nSummary of conflicts:"]
        .iter()
        .filter_map(|tail| text.rfind(tail))
        .next()
        .map_or(text.len(), |at| at + 1);
    let mut sections = cut_before(&text[first..end], mark);
    sections.sort_unstable();
    format!("{}{}{}", &text[..first], sections.concat(), &text[end..])
}

fn cut_before<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(mark) {
        parts.push(&text[start..at]);
        start = at;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Sorts lines; what is said of a node on more lines stays with it.
fn sort_lines(text: &str) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        let is_more = line.starts_with("      >   ") || line.starts_with("        > ");
        match items.last_mut() {
            Some(item) if is_more => {
                item.push('\n');
                item.push_str(line);
            }
            _ => items.push(line.to_owned()),
        }
    }
    items.sort();
    items.join("\n")
}
