//! Random histories, as dump streams that Debian's svnadmin loads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A small random number generator, so that a history is the same each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &'a [String]) -> &'a str {
        &from[self.below(from.len())]
    }
}

type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Writes a dump stream of `revisions` revisions: trees with additions, changes, deletions,
/// replacements, copies from older revisions, properties (with `svn:mergeinfo`), large and empty
/// files.
pub(crate) fn dump(seed: u64, revisions: usize) -> Vec<u8> {
    dump_with(seed, revisions, 5)
}

/// As [`dump`], with up to `changes` changes a revision. With one, no content is replaced in the
/// revision in which it is written.
pub(crate) fn dump_with(seed: u64, revisions: usize, changes: usize) -> Vec<u8> {
    let mut writer = Writer {
        random: Random::new(seed),
        out: b"SVN-fs-dump-format-version: 2\n\n".to_vec(),
        trees: vec![Tree::new()],
        names: 0,
    };
    writer.revision(0);
    writer.trees.push(Tree::new());
    writer.revision(1);
    for path in ["trunk", "branches", "trunk/src"] {
        writer.add_dir(path);
    }
    for revision in 2..=revisions {
        let tree = writer.trees[revision - 1].clone();
        writer.trees.push(tree);
        writer.revision(revision);
        for _ in 0..1 + writer.random.below(changes) {
            writer.change();
        }
    }
    writer.out
}

struct Writer {
    random: Random,
    out: Vec<u8>,
    /// The trees of all revisions; files have content.
    trees: Vec<Tree>,
    names: usize,
}

impl Writer {
    fn tree(&mut self) -> &mut Tree {
        self.trees.last_mut().unwrap()
    }

    fn paths(&self, files: bool) -> Vec<String> {
        let tree = self.trees.last().unwrap();
        let wanted = tree
            .iter()
            .filter(|(_, content)| content.is_some() == files);
        wanted.map(|(path, _)| path.clone()).collect()
    }

    fn revision(&mut self, number: usize) {
        let date = format!(
            "2020-01-01T00:{:02}:{:02}.{:06}Z",
            number / 60 % 60,
            number % 60,
            number
        );
        let mut props = props_text(&[("svn:date", &date)]);
        if number > 0 {
            let log = format!("change {number}\n{}", "x".repeat(number % 40));
            props = props_text(&[("svn:log", &log), ("svn:author", "jo"), ("svn:date", &date)]);
        }
        self.head(&format!("Revision-number: {number}\n"), Some(&props), None);
    }

    fn head(&mut self, lines: &str, props: Option<&str>, text: Option<&[u8]>) {
        let mut head = lines.to_owned();
        if let Some(props) = props {
            let _ = writeln!(head, "Prop-content-length: {}", props.len());
        }
        if let Some(text) = text {
            let _ = writeln!(head, "Text-content-length: {}", text.len());
        }
        let len = props.map_or(0, str::len) + text.map_or(0, <[u8]>::len);
        if props.is_some() || text.is_some() {
            let _ = writeln!(head, "Content-length: {len}");
        }
        head.push('\n');
        self.out.extend_from_slice(head.as_bytes());
        self.out.extend_from_slice(props.unwrap_or("").as_bytes());
        self.out.extend_from_slice(text.unwrap_or(&[]));
        self.out.extend_from_slice(b"\n\n");
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        let suffix = ["", " b", "ü", ".txt", "-x"][self.random.below(5)];
        format!("n{}{suffix}", self.names)
    }

    fn new_path(&mut self) -> String {
        let dirs = self.paths(false);
        let dir = self.random.pick(&dirs).to_owned();
        format!("{dir}/{}", self.new_name())
    }

    fn content(&mut self, before: Option<&[u8]>) -> Vec<u8> {
        let line =
            |random: &mut Random| format!("line {} {}\n", random.below(9), random.below(1000));
        let mut text = match before {
            Some(text) if !self.random.chance(10) => text.to_vec(),
            _ => Vec::new(),
        };
        match self.random.below(12) {
            0 => text.clear(),
            1 => text.extend((0..250_000u64).map(|at| ((at * at) >> 7) as u8)),
            _ => {
                for _ in 0..self.random.below(30) {
                    let at = self.random.below(text.len() + 1);
                    let line = line(&mut self.random);
                    text.splice(at..at, line.bytes());
                }
            }
        }
        text.truncate(600_000);
        text
    }

    fn props(&mut self) -> String {
        let number = self.random.below(50).to_string();
        let merged = "/branches/b:1";
        let long = "value ".repeat(self.random.below(60));
        match self.random.below(5) {
            0 => props_text(&[]),
            1 => props_text(&[("svn:mergeinfo", merged), ("a", &number)]),
            2 => props_text(&[("long", &long), ("number", &number)]),
            _ => props_text(&[("color", "red"), ("number", &number)]),
        }
    }

    fn add_dir(&mut self, path: &str) {
        let props = self.props();
        self.tree().insert(path.to_owned(), None);
        let lines = format!("Node-path: {path}\nNode-kind: dir\nNode-action: add\n");
        self.head(&lines, Some(&props), None);
    }

    fn add_file(&mut self, path: &str) {
        let (props, text) = (self.props(), self.content(None));
        self.tree().insert(path.to_owned(), Some(text.clone()));
        let lines = format!("Node-path: {path}\nNode-kind: file\nNode-action: add\n");
        self.head(&lines, Some(&props), Some(&text));
    }

    fn change(&mut self) {
        let files = self.paths(true);
        match self.random.below(10) {
            0 | 1 => {
                let path = self.new_path();
                self.add_file(&path);
            }
            2 => {
                let path = self.new_path();
                self.add_dir(&path);
            }
            3 | 4 => self.copy(),
            5 => self.delete(),
            6 => {
                let dirs = self.paths(false);
                let (path, props) = (self.random.pick(&dirs).to_owned(), self.props());
                let lines = format!("Node-path: {path}\nNode-kind: dir\nNode-action: change\n");
                self.head(&lines, Some(&props), None);
            }
            _ if files.is_empty() => {}
            _ => self.change_file(&files),
        }
    }

    fn change_file(&mut self, files: &[String]) {
        let path = self.random.pick(files).to_owned();
        let props = self.random.chance(40).then(|| self.props());
        let before = self.tree()[&path].clone();
        let text = self.content(before.as_deref());
        self.tree().insert(path.clone(), Some(text.clone()));
        let lines = format!("Node-path: {path}\nNode-kind: file\nNode-action: change\n");
        self.head(&lines, props.as_deref(), Some(&text));
    }

    fn copy(&mut self) {
        let youngest = self.trees.len() - 2;
        if youngest == 0 {
            return;
        }
        let revision = youngest - self.random.below(youngest.min(20));
        let sources: Vec<String> = self.trees[revision].keys().cloned().collect();
        let source = self.random.pick(&sources).to_owned();
        let path = self.new_path();
        // No copy into itself that grows without end.
        if self.trees.last().unwrap().len() > 400 {
            return;
        }
        let below = |path: &str| path.strip_prefix(&source).map(str::to_owned);
        let copied: Vec<_> = self.trees[revision]
            .iter()
            .filter_map(|(from, content)| {
                let rest = below(from).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
                Some((format!("{path}{rest}"), content.clone()))
            })
            .collect();
        let is_file = copied[0].1.is_some();
        self.tree().extend(copied);
        let kind = if is_file { "file" } else { "dir" };
        let lines = format!(
            "Node-path: {path}\nNode-kind: {kind}\nNode-action: add\nNode-copyfrom-rev: {revision}\n\
             Node-copyfrom-path: {source}\n"
        );
        if is_file && self.random.chance(50) {
            let before = self.tree()[&path].clone();
            let text = self.content(before.as_deref());
            self.tree().insert(path, Some(text.clone()));
            self.head(&lines, None, Some(&text));
        } else {
            self.head(&lines, None, None);
        }
    }

    fn delete(&mut self) {
        let paths: Vec<String> = self.trees.last().unwrap().keys().cloned().collect();
        let path = self.random.pick(&paths).to_owned();
        if matches!(path.as_str(), "trunk" | "branches") {
            return;
        }
        let prefix = format!("{path}/");
        self.tree()
            .retain(|other, _| *other != path && !other.starts_with(&prefix));
        let lines = format!("Node-path: {path}\nNode-action: delete\n");
        self.head(&lines, None, None);
        if self.random.chance(30) {
            self.add_file(&path);
        }
    }
}

fn props_text(props: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in props {
        let _ = write!(
            text,
            "K {}\n{name}\nV {}\n{value}\n",
            name.len(),
            value.len()
        );
    }
    text + "PROPS-END\n"
}
