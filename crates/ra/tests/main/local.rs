//! `file://`: what our reporter drives is what Debian's svnserve drives for the same report.

use sylvan_core::{Depth, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::{CheckingEditor, CopyFrom, Editor, ReportEntry, TextFormat, Token};
use sylvan_fs::Tree;
use sylvan_ra::auth::AuthOptions;
use sylvan_ra::{CommitInfo, CommitOptions, Session, UpdateOptions, open};
use sylvan_repos::Repos;
use sylvan_testutil::{Chance, Svnserve, all_paths, random_history};

use crate::dump::{context, context_for};

/// Writes down a drive, call by call; what Subversion takes from a hash table is in any order, so
/// such calls that follow each other are sorted.
#[derive(Default)]
struct Trace {
    lines: Vec<String>,
    /// The calls that are sorted, and of which kind they are.
    loose: (&'static str, Vec<String>),
    names: std::collections::HashMap<Token, String>,
}

impl Trace {
    fn line(&mut self, line: String) -> Result<()> {
        self.settle("");
        self.lines.push(line);
        Ok(())
    }

    fn loose(&mut self, kind: &'static str, line: String) -> Result<()> {
        self.settle(kind);
        self.loose.1.push(line);
        Ok(())
    }

    fn settle(&mut self, kind: &'static str) {
        if self.loose.0 != kind {
            self.loose.1.sort();
            self.lines.append(&mut self.loose.1);
            self.loose.0 = kind;
        }
    }

    fn opened(&mut self, what: &str, path: &RelPath, token: Token) -> Result<()> {
        self.names.insert(token, path.as_str().to_owned());
        self.line(format!("{what} {}", path.as_str()))
    }

    fn prop(&mut self, token: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let path = &self.names[&token];
        let value = value.map(|value| value.escape_ascii().to_string());
        let line = format!("{path}: {name}={value:?}");
        self.loose("prop", line)
    }
}

fn from(copy: Option<&CopyFrom>) -> String {
    copy.map_or(String::new(), |copy| {
        format!(" from {}@{}", copy.path.as_str(), copy.rev)
    })
}

impl Editor for Trace {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.line(format!("target {rev}"))
    }
    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.opened(&format!("root {base:?}"), RelPath::ROOT, root)
    }
    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, _: Token) -> Result<()> {
        self.loose("delete", format!("delete {} {rev:?}", path.as_str()))
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.opened(&format!("add dir{}", from(copy.as_ref())), path, dir)
    }
    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.opened(&format!("open dir {base:?}"), path, dir)
    }
    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(dir, name, value)
    }
    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.line(format!("close {}", self.names[&dir]))
    }
    fn absent_directory(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.line(format!("absent dir {}", path.as_str()))
    }
    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.opened(&format!("add file{}", from(copy.as_ref())), path, file)
    }
    fn open_file(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.opened(&format!("open file {base:?}"), path, file)
    }
    fn apply_text(&mut self, file: Token, _: Option<Md5>, _: TextFormat) -> Result<()> {
        self.line(format!("text {}", self.names[&file]))
    }
    fn text_chunk(&mut self, _: Token, _: bytes::Bytes) -> Result<()> {
        Ok(())
    }
    fn text_end(&mut self, _: Token) -> Result<()> {
        Ok(())
    }
    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(file, name, value)
    }
    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.line(format!("close {} {text:?}", self.names[&file]))
    }
    fn absent_file(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.line(format!("absent file {}", path.as_str()))
    }
    fn close_edit(&mut self) -> Result<()> {
        self.line("close edit".to_owned())
    }
    fn abort_edit(&mut self) -> Result<()> {
        self.line("abort".to_owned())
    }
}

/// What a client asks for.
struct Wish {
    options: UpdateOptions,
    report: Vec<ReportEntry>,
    switch: Option<RelPathBuf>,
    status: bool,
}

/// Drives a trace; returns it, and how the drive ended.
fn trace(session: &mut dyn Session, root: &Url, wish: &Wish) -> (Vec<String>, String) {
    let mut report = wish.report.clone();
    for entry in &mut report {
        if let ReportEntry::LinkPath { url, .. } = entry {
            *url = root.join(&url.strip_prefix(&placeholder()).unwrap());
        }
    }
    let mut editor = CheckingEditor::new(Trace::default());
    let result = match &wish.switch {
        Some(to) => session.switch(&wish.options, &root.join(to), &report, &mut editor),
        None if wish.status => session.status(&wish.options, &report, &mut editor),
        None => session.update(&wish.options, &report, &mut editor),
    };
    let end = match result {
        Ok(()) => String::new(),
        Err(error) => format!("{error:?}"),
    };
    let mut lines = editor.into_inner().lines;
    if wish.status {
        // Our client of the svn protocol does not tell digests of texts that it asked not to have.
        for line in lines.iter_mut().filter(|line| line.starts_with("close ")) {
            let end = line.find(" Some(").or_else(|| line.find(" None"));
            line.truncate(end.unwrap_or(line.len()));
        }
    }
    (lines, end)
}

/// Tells whether two drives ended alike. Subversion fails where something was reported below what
/// is not gone into: below a folder that a file replaces, or below the depth that is wanted.
fn same_end(theirs: &str, ours: &str, url: &Url, disk: &Url) -> bool {
    let gives_up = |end: &str| end.starts_with("E160013: Working copy path ");
    theirs.replace(url.as_str(), disk.as_str()) == ours
        || gives_up(theirs) && (ours.is_empty() || gives_up(ours))
}

fn placeholder() -> Url {
    Url::parse("file:///placeholder").unwrap()
}

fn revision(chance: &mut Chance, youngest: Revnum) -> Revnum {
    let limit = usize::try_from(youngest.number()).unwrap() + 1;
    Revnum::new(chance.below(limit) as i64).unwrap()
}

const DEPTHS: [Depth; 4] = [
    Depth::Empty,
    Depth::Files,
    Depth::Immediates,
    Depth::Infinity,
];

fn depth(chance: &mut Chance) -> Depth {
    if chance.below(3) == 0 {
        *chance.one(&DEPTHS)
    } else {
        Depth::Infinity
    }
}

/// Makes a wish; not all of them make sense.
fn wish(repos: &Repos, anchor: &RelPath, chance: &mut Chance) -> Wish {
    let youngest = repos.fs().youngest().unwrap();
    let base = revision(chance, youngest);
    let paths_at = |rev: Revnum| {
        let root = repos.fs().revision_root(rev).unwrap();
        all_paths(Tree::from(&root))
    };
    let set = |path: RelPathBuf, rev, chance: &mut Chance| ReportEntry::SetPath {
        path,
        rev,
        depth: depth(chance),
        start_empty: chance.below(8) == 0,
        lock_token: None,
    };
    let mut report = vec![set(RelPathBuf::root(), base, chance)];
    let mut children: Vec<RelPathBuf> = paths_at(base)
        .into_iter()
        .filter_map(|(path, _)| path.strip_prefix(anchor).map(RelPath::to_owned))
        .filter(|path| !path.is_root() && chance.below(5) == 0)
        .collect();
    children.sort_by(|a, b| a.components().cmp(b.components()));
    let mut gone: Option<RelPathBuf> = None;
    for path in children {
        if gone.as_ref().is_some_and(|gone| path.starts_with(gone)) {
            continue;
        }
        match chance.below(4) {
            0 => {
                report.push(ReportEntry::DeletePath { path: path.clone() });
                gone = Some(path);
            }
            1 => {
                let rev = revision(chance, youngest);
                let others = paths_at(rev);
                if others.is_empty() {
                    continue;
                }
                let to = &chance.one(&others).0;
                report.push(ReportEntry::LinkPath {
                    path: path.clone(),
                    url: placeholder().join(to),
                    rev,
                    depth: Depth::Infinity,
                    start_empty: false,
                    lock_token: None,
                });
                gone = Some(path);
            }
            _ => {
                let rev = revision(chance, youngest);
                report.push(set(path, rev, chance));
            }
        }
    }
    let paths = paths_at(youngest);
    let folders: Vec<_> = paths
        .iter()
        .filter(|(_, kind)| *kind == NodeKind::Dir)
        .collect();
    let switches = chance.below(4) == 0 && !folders.is_empty();
    Wish {
        options: UpdateOptions {
            rev: Some(revision(chance, youngest)),
            target: String::new(),
            depth: (chance.below(3) == 0).then(|| *chance.one(&DEPTHS)),
            send_copyfrom_args: chance.below(3) == 0,
            ignore_ancestry: chance.below(3) == 0,
        },
        report,
        switch: switches.then(|| chance.one(&folders).0.clone()),
        status: chance.below(4) == 0,
    }
}

/// Makes a repository of a format, and its URLs at a server and on the disk.
fn repository(server: &Svnserve, name: &str, version: &str, seed: u64) -> (Repos, Url, Url) {
    let path = server.repository_path(name);
    let made = std::process::Command::new("svnadmin")
        .args(["create", "--compatible-version", version])
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let repos = Repos::open(&path).unwrap();
    random_history(repos.fs(), seed, 30);
    let url = format!("svn://127.0.0.1:{}/{name}", server.port());
    let disk = format!("file://{}", path.display());
    (repos, Url::parse(&url).unwrap(), Url::parse(&disk).unwrap())
}

fn assert_same(theirs: &[String], ours: &[String], what: &str) {
    let pairs = theirs.iter().zip(ours);
    let same = pairs.take_while(|(theirs, ours)| theirs == ours).count();
    let part = |lines: &[String]| {
        let from = same.saturating_sub(3);
        lines[from..lines.len().min(from + 12)].join("\n")
    };
    assert!(
        theirs == ours,
        "{what}\nsvnserve:\n{}\nours:\n{}",
        part(theirs),
        part(ours)
    );
}

#[test]
fn reports_drive_as_those_of_subversion() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let context = context(&[]);
    for (name, version, seed) in [("new", "1.14", 7), ("old", "1.5", 11)] {
        let (repos, url, disk) = repository(&server, name, version, seed);
        let mut theirs = open(&url, &context).unwrap();
        let mut ours = open(&disk, &context).unwrap();
        let mut chance = Chance::new(seed);
        let (mut good, mut bad) = (0, 0);
        for number in 0..400 {
            let wish = wish(&repos, RelPath::ROOT, &mut chance);
            let (expected, end) = trace(&mut *theirs, &url, &wish);
            let (lines, our_end) = trace(&mut *ours, &disk, &wish);
            let what = format!("{name} {number}: {:?} {:?}", wish.options, wish.report);
            assert!(
                same_end(&end, &our_end, &url, &disk),
                "{end}\n{our_end}\n{what}"
            );
            if end.is_empty() {
                good += 1;
                assert_same(&expected, &lines, &what);
            } else {
                bad += 1;
            }
        }
        assert!(good > 100 && bad > 5, "{good} {bad}");
    }
}

#[test]
fn one_child_of_the_anchor_is_driven_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let context = context(&[]);
    let (repos, url, disk) = repository(&server, "r", "1.14", 3);
    let mut theirs = open(&url, &context).unwrap();
    let mut ours = open(&disk, &context).unwrap();
    let youngest = repos.fs().youngest().unwrap();
    let mut chance = Chance::new(5);
    for number in 0..200 {
        let from = revision(&mut chance, youngest);
        let root = repos.fs().revision_root(from).unwrap();
        let names = root.root_node().unwrap().entries().unwrap();
        let Some(entry) = (!names.entries().is_empty()).then(|| chance.one(names.entries())) else {
            continue;
        };
        let mut wish = wish(&repos, RelPath::new(&entry.name).unwrap(), &mut chance);
        wish.options.target = entry.name.clone();
        if let Some(ReportEntry::SetPath { rev, .. }) = wish.report.first_mut() {
            *rev = from;
        }
        let (expected, end) = trace(&mut *theirs, &url, &wish);
        let (lines, our_end) = trace(&mut *ours, &disk, &wish);
        let what = format!("{number}: {:?} {:?}", wish.options, wish.report);
        assert!(
            same_end(&end, &our_end, &url, &disk),
            "{end}\n{our_end}\n{what}"
        );
        if end.is_empty() {
            assert_same(&expected, &lines, &what);
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let server = Svnserve::start(scratch.path());
    let context = context(&[]);
    let (_, _, disk) = repository(&server, "r", "1.14", 3);
    let mut session = open(&disk, &context).unwrap();
    let set = |path: &str, rev| ReportEntry::SetPath {
        path: RelPathBuf::new(path).unwrap(),
        rev: Revnum::new(rev).unwrap(),
        depth: Depth::Infinity,
        start_empty: false,
        lock_token: None,
    };
    let gone = |path: &str| ReportEntry::DeletePath {
        path: RelPathBuf::new(path).unwrap(),
    };
    for (report, message) in [
        (
            vec![],
            "E165004: Invalid report for top level of working copy",
        ),
        (
            vec![set("a", 1)],
            "E165004: Invalid report for top level of working copy",
        ),
        (
            vec![gone("")],
            "E165004: Invalid report for top level of working copy",
        ),
        (
            vec![set("", 1), set("", 1)],
            "E165004: Two top-level reports with no target",
        ),
        (
            vec![set("", 1), set("none", 1)],
            "E160013: Working copy path 'none' does not exist in repository",
        ),
        (vec![set("", 99)], "E160006: No such revision 99"),
    ] {
        let wish = Wish {
            options: UpdateOptions {
                rev: None,
                target: String::new(),
                depth: None,
                send_copyfrom_args: false,
                ignore_ancestry: false,
            },
            report,
            switch: None,
            status: false,
        };
        let (lines, end) = trace(&mut *session, &disk, &wish);
        assert_eq!(end, message);
        assert_eq!(lines.last().map(String::as_str), Some("abort"));
    }
}

/// Commits a file's new text.
fn commit_text(
    session: &mut dyn Session,
    path: &str,
    text: &'static [u8],
    options: &CommitOptions,
) -> Result<CommitInfo> {
    let path = RelPath::new(path)?;
    session.commit(options, &mut |editor| {
        editor.open_root(None, Token(0))?;
        editor.open_file(path, Token(0), None, Token(1))?;
        editor.apply_text(Token(1), None, TextFormat::Fulltext)?;
        editor.text_chunk(Token(1), bytes::Bytes::from_static(text))?;
        editor.text_end(Token(1))?;
        editor.close_file(Token(1), Some(Md5::of(text)))?;
        editor.close_directory(Token(0))?;
        editor.close_edit()
    })
}

#[test]
fn commits_need_the_tokens_of_locks_and_release_them() {
    let scratch = tempfile::tempdir().unwrap();
    let shell = |script: &str| {
        let output = std::process::Command::new("sh")
            .args(["-ec", script])
            .current_dir(scratch.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {error}");
        String::from_utf8(output.stdout).unwrap()
    };
    shell(
        "svnadmin create r; mkdir -p tree/d; echo one > tree/d/f
         svn import -q -m new --config-dir c tree file://$PWD/r
         svn lock -q --config-dir c --username jo file://$PWD/r/d/f",
    );
    let url = format!("file://{}/r/d", scratch.path().display());
    let jo = AuthOptions {
        username: Some("jo".to_owned()),
        ..AuthOptions::default()
    };
    let mut session = open(&Url::parse(&url).unwrap(), &context_for(&[], jo)).unwrap();
    let path = RelPathBuf::new("f").unwrap();
    let mut options = CommitOptions {
        revprops: Props::from([("svn:log".to_owned(), b"why".to_vec())]),
        ..CommitOptions::default()
    };
    let error = commit_text(&mut *session, "f", b"two\n", &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E160037: Cannot verify lock on path '/d/f'; no matching lock-token available"
    );
    let token = session.lock(&path).unwrap().unwrap().token;
    options.lock_tokens.insert(path.clone(), token);
    options.keep_locks = true;
    let told = commit_text(&mut *session, "f", b"two\n", &options).unwrap();
    assert_eq!((told.rev.number(), told.author.as_deref()), (2, Some("jo")));
    assert!(session.lock(&path).unwrap().is_some());
    options.keep_locks = false;
    commit_text(&mut *session, "f", b"three\n", &options).unwrap();
    assert!(session.lock(&path).unwrap().is_none());
    assert_eq!(shell("svn cat --config-dir c file://$PWD/r/d/f"), "three\n");
    assert_eq!(
        shell(
            "svnlook author r; svnlook log r; svnlook changed r; svnlook propget r --revprop -r3 svn:author"
        ),
        "jo\nwhy\nU   d/f\njo"
    );
    let log = shell("svnlook proplist --revprop r | sort");
    assert_eq!(log, "  svn:author\n  svn:date\n  svn:log\n");
    assert_eq!(shell("svnadmin lstxns r; svnadmin verify -q r"), "");
}
