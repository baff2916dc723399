use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use sylvan_core::skel::Skel;

/// Two folders with the same content, one for the program under test and one for Debian's svn, in
/// which the same commands are run and must do the same.
pub struct Pair {
    scratch: tempfile::TempDir,
    ours: PathBuf,
}

/// What a command printed and returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The exit code; negative for a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Pair {
    /// Makes two empty folders. `ours` is the `svn` under test.
    pub fn new(ours: impl Into<PathBuf>) -> Self {
        let scratch = tempfile::tempdir().expect("the temp folder is writable");
        for name in ["ours", "theirs", "home"] {
            fs::create_dir(scratch.path().join(name)).expect("a fresh folder is writable");
        }
        Self {
            scratch,
            ours: ours.into(),
        }
    }

    /// Returns the folder of the program under test.
    pub fn ours(&self) -> PathBuf {
        self.scratch.path().join("ours")
    }

    /// Returns the folder of Debian's svn.
    pub fn theirs(&self) -> PathBuf {
        self.scratch.path().join("theirs")
    }

    /// Returns the folder above both, for servers and repositories.
    pub fn root(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs the program under test in its folder.
    pub fn run_ours(&self, args: &[&str]) -> Run {
        self.run(&self.ours, &self.ours(), args)
    }

    /// Runs the program under test in a folder of choice.
    pub fn run_ours_in(&self, folder: &Path, args: &[&str]) -> Run {
        self.run(&self.ours, folder, args)
    }

    /// Runs Debian's svn in its folder.
    pub fn run_theirs(&self, args: &[&str]) -> Run {
        self.run(Path::new("svn"), &self.theirs(), args)
    }

    /// Runs Debian's svn in a folder of choice.
    pub fn run_theirs_in(&self, folder: &Path, args: &[&str]) -> Run {
        self.run(Path::new("svn"), folder, args)
    }

    /// Runs the same in both folders; output and exit code must be equal.
    pub fn both(&self, args: &[&str]) -> Run {
        let theirs = self.run_theirs(args);
        let ours = self.run_ours(args);
        assert_same(&theirs, &ours, args);
        ours
    }

    /// As [`Pair::both`], for output whose lines have no fixed order.
    pub fn both_unordered(&self, args: &[&str]) -> Run {
        let theirs = self.run_theirs(args);
        let ours = self.run_ours(args);
        assert_same(&sorted(&theirs), &sorted(&ours), args);
        ours
    }

    /// As [`Pair::both`], for output with absolute paths in the two folders.
    pub fn both_local(&self, args: &[&str]) -> Run {
        let theirs = self.run_theirs(args).without(&self.theirs());
        let ours = self.run_ours(args).without(&self.ours());
        assert_same(&theirs, &ours, args);
        ours
    }

    /// As [`Pair::both_local`], for output whose lines have no fixed order.
    pub fn both_local_unordered(&self, args: &[&str]) -> Run {
        let theirs = self.run_theirs(args).without(&self.theirs());
        let ours = self.run_ours(args).without(&self.ours());
        assert_same(&sorted(&theirs), &sorted(&ours), args);
        ours
    }

    /// Does the same to both folders.
    pub fn each(&self, change: impl Fn(&Path)) {
        change(&self.ours());
        change(&self.theirs());
    }

    /// Requires the trees below `path` to be equal: names, kinds, modes, contents, symlink targets.
    pub fn assert_same_tree(&self, path: &str) {
        let theirs = tree(&self.theirs().join(path));
        let ours = tree(&self.ours().join(path));
        let only = |some: &[String], others: &[String]| {
            let found = some.iter().filter(|line| !others.contains(line));
            found.cloned().collect::<Vec<_>>().join("\n")
        };
        assert!(
            theirs == ours,
            "the trees below {path} differ\nonly theirs:\n{}\nonly ours:\n{}",
            only(&theirs, &ours),
            only(&ours, &theirs)
        );
    }

    /// Requires the rows of the wc.db of `path` to be equal, but for ids and times.
    pub fn assert_same_db(&self, path: &str) {
        let theirs = wc_rows(&self.theirs().join(path));
        let ours = wc_rows(&self.ours().join(path));
        for (table, rows) in &theirs {
            let only = |some: &[String], others: &[String]| {
                let found = some.iter().filter(|row| !others.contains(row));
                found.cloned().collect::<Vec<_>>().join("\n")
            };
            assert!(
                rows == &ours[table],
                "{table} in {path}\nonly theirs:\n{}\nonly ours:\n{}",
                only(rows, &ours[table]),
                only(&ours[table], rows)
            );
        }
    }

    /// The environment in which both run: own home, fixed locale and time zone.
    pub fn command(&self, program: &Path, folder: &Path) -> Command {
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

    fn run(&self, program: &Path, folder: &Path, args: &[&str]) -> Run {
        let output = self
            .command(program, folder)
            .args(args)
            .output()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        Run::from(output)
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// Replaces a folder's path by a placeholder.
    #[must_use]
    pub fn without(self, folder: &Path) -> Self {
        let hide = |text: String| text.replace(&*folder.to_string_lossy(), "[cwd]");
        Self {
            code: self.code,
            stdout: hide(self.stdout),
            stderr: hide(self.stderr),
        }
    }

    /// Requires success without a word on standard error.
    #[allow(clippy::must_use_candidate, reason = "it asserts")]
    pub fn success(self) -> Self {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (0, ""),
            "{}",
            self.stdout
        );
        self
    }
}

fn assert_same(theirs: &Run, ours: &Run, args: &[&str]) {
    assert_eq!(
        theirs.stdout, ours.stdout,
        "stdout of svn {args:?}\nstderr: {}",
        ours.stderr
    );
    assert_eq!(theirs.stderr, ours.stderr, "stderr of svn {args:?}");
    assert_eq!(theirs.code, ours.code, "exit code of svn {args:?}");
}

fn sorted(run: &Run) -> Run {
    let sort = |text: &str| {
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    Run {
        code: run.code,
        stdout: sort(&run.stdout),
        stderr: sort(&run.stderr),
    }
}

/// Describes a tree without its `.svn` folders: a line for each node.
pub fn tree(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    walk(root, "", &mut lines);
    lines
}

fn walk(folder: &Path, below: &str, lines: &mut Vec<String>) {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").file_name())
        .collect();
    names.sort();
    for name in names {
        if name == ".svn" {
            continue;
        }
        let path = folder.join(&name);
        let shown = format!("{below}/{}", name.to_string_lossy());
        let meta = fs::symlink_metadata(&path).expect("just listed");
        if meta.is_symlink() {
            let target = fs::read_link(&path).expect("a symlink");
            lines.push(format!("{shown} -> {}", target.display()));
        } else if meta.is_dir() {
            lines.push(format!("{shown}/ {:o}", meta.permissions().mode() & 0o777));
            walk(&path, &shown, lines);
        } else {
            let content = fs::read(&path).expect("a readable file");
            lines.push(format!(
                "{shown} {:o} {}",
                meta.permissions().mode() & 0o777,
                summary(&content)
            ));
        }
    }
}

fn summary(content: &[u8]) -> String {
    if content.len() <= 200 {
        return content.escape_ascii().to_string();
    }
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{} bytes, {hash:016x}", content.len())
}

/// The tables compared, with the columns that are left out (ids) or of which only counts whether
/// there is a value (times).
const TABLES: [(&str, &[&str], &[&str]); 9] = [
    ("REPOSITORY", &["id"], &[]),
    ("WCROOT", &["id"], &[]),
    ("PRISTINE", &[], &[]),
    ("ACTUAL_NODE", &[], &[]),
    ("LOCK", &["repos_id"], &[]),
    ("WORK_QUEUE", &["id"], &[]),
    ("WC_LOCK", &[], &[]),
    ("NODES", &["repos_id"], &["last_mod_time"]),
    ("EXTERNALS", &["repos_id"], &[]),
];

/// Columns with properties, whose order is not fixed.
const PROPERTIES: [&str; 2] = ["properties", "dav_cache"];

/// Shows stored properties, `(NAME VALUE …)`, in order of name.
fn sorted_properties(skel: &[u8]) -> String {
    let mut rest = skel.strip_prefix(b"(").unwrap_or_default();
    let mut atoms = Vec::new();
    while let Some((atom, after)) = next_atom(rest) {
        atoms.push(atom.escape_ascii().to_string());
        rest = after;
    }
    let mut pairs: Vec<_> = atoms.chunks(2).map(|pair| pair.join("=")).collect();
    pairs.sort();
    format!("({})", pairs.join(" "))
}

/// Shows inherited properties, `(PATH (NAME VALUE …) PATH (…) …)`, in order of path and name.
fn sorted_inherited(skel: &[u8]) -> String {
    let ends = |rest: &[u8]| rest.trim_ascii_start().starts_with(b")");
    let mut rest = skel.strip_prefix(b"(").unwrap_or_default();
    let mut folders = Vec::new();
    while let Some((path, props)) = next_atom(rest).filter(|_| !ends(rest)) {
        let props = props.trim_ascii_start();
        let mut after = props.strip_prefix(b"(").unwrap_or_default();
        while let Some((_, next)) = next_atom(after).filter(|_| !ends(after)) {
            after = next;
        }
        let shown = sorted_properties(&props[..props.len() - after.len()]);
        folders.push(format!("{}{shown}", path.escape_ascii()));
        rest = after.trim_ascii_start().get(1..).unwrap_or_default();
    }
    folders.sort();
    format!("({})", folders.join(" "))
}

/// Shows a conflict with the names and properties of a property conflict in order; Subversion writes
/// them as its hash tables have them.
fn sorted_conflict(stored: &[u8]) -> String {
    let sorted = |part: &Skel| match part.elements() {
        Some([kind, _, names, _, ..]) if kind.is_atom("prop") && names.elements().is_some() => {
            let parts = part.elements().unwrap_or_default().iter().enumerate();
            Skel::list(parts.map(|(at, list)| sorted_in(list, if at == 2 { 1 } else { 2 })))
        }
        _ => part.clone(),
    };
    let shown = match Skel::parse(stored) {
        Ok(skel) => match skel.elements() {
            Some([operation, conflicts]) => Skel::list([
                operation.clone(),
                Skel::list(conflicts.elements().unwrap_or_default().iter().map(sorted)),
            ])
            .to_bytes(),
            _ => stored.to_vec(),
        },
        Err(_) => stored.to_vec(),
    };
    shown.escape_ascii().to_string()
}

/// Sorts the groups of so many atoms in a list.
fn sorted_in(list: &Skel, size: usize) -> Skel {
    let Some(elements) = list.elements() else {
        return list.clone();
    };
    let mut groups: Vec<_> = elements.chunks(size).collect();
    groups.sort_by_key(|group| group[0].to_bytes());
    Skel::list(groups.concat())
}

/// Takes an atom: a name as it stands, or its length and its bytes.
fn next_atom(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| b" )".contains(byte))?;
    let (word, rest) = text.split_at(end);
    if word.is_empty() {
        return None;
    }
    match std::str::from_utf8(word).ok()?.parse::<usize>() {
        Ok(length) => rest.get(1..)?.split_at_checked(length),
        Err(_) => Some((word, rest)),
    }
}

/// Reads the rows of a working copy's wc.db, by table, as text, sorted, without ids and times.
pub fn wc_rows(wc: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let path = wc.join(".svn/wc.db");
    let db = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    TABLES
        .iter()
        .map(|(table, left_out, presence)| (*table, table_rows(&db, table, left_out, presence)))
        .collect()
}

fn table_rows(db: &Connection, table: &str, left_out: &[&str], presence: &[&str]) -> Vec<String> {
    let mut statement = db
        .prepare(&format!("SELECT * FROM {table}"))
        .expect("a known table");
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut cursor = statement.query([]).expect("a readable table");
    let mut rows = Vec::new();
    while let Some(row) = cursor.next().expect("a readable row") {
        let mut text = String::new();
        for (at, name) in names.iter().enumerate() {
            if left_out.contains(&name.as_str()) {
                continue;
            }
            let value = row.get_ref(at).expect("a column of the row");
            let shown = match value {
                ValueRef::Null => "NULL".to_owned(),
                _ if presence.contains(&name.as_str()) => "(some)".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => number.to_string(),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    if PROPERTIES.contains(&name.as_str()) {
                        sorted_properties(bytes)
                    } else if name == "inherited_props" {
                        sorted_inherited(bytes)
                    } else if name == "conflict_data" {
                        sorted_conflict(bytes)
                    } else {
                        bytes.escape_ascii().to_string()
                    }
                }
            };
            let _ = write!(text, "{name}={shown}|");
        }
        rows.push(text);
    }
    rows.sort();
    rows
}
