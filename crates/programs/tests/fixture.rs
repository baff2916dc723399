//! Repositories for the tests of several subcommands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sylvan_testutil::{Pair, Svnserve};

/// A repository served by svnserve, with both programs' folders beside it.
pub(crate) struct Fixture {
    pub(crate) pair: Pair,
    pub(crate) server: Svnserve,
    /// The repository's URL.
    pub(crate) url: String,
}

impl Fixture {
    /// Makes an empty repository.
    pub(crate) fn empty() -> Self {
        let pair = Pair::new(env!("CARGO_BIN_EXE_svn"));
        let served = pair.root().join("served");
        fs::create_dir(&served).expect("a fresh folder");
        let server = Svnserve::start(&served);
        let url = server.create_repository("repos");
        Self { pair, server, url }
    }

    /// Makes a repository in which `trunk` has a tree with every property, symlinks, odd names and
    /// empty folders, changed over some revisions.
    pub(crate) fn rich() -> Self {
        let fixture = Self::empty();
        fixture.commit("import", |wc| {
            fixture.svn(wc, &["mkdir", "-q", "trunk", "branches"]);
            let trunk = wc.join("trunk");
            plain_files(&trunk);
            translated_files(&fixture, wc, &trunk);
            odd_names(&trunk);
            fixture.svn(wc, &["add", "-q", "--force", "--no-auto-props", "."]);
            properties(&fixture, wc);
        });
        fixture.commit("change", |wc| {
            fs::write(wc.join("trunk/plain/a.txt"), "changed\n").expect("writable");
            fs::write(wc.join("trunk/text/id"), "$Id$ and $Rev$ again\n").expect("writable");
            fixture.svn(wc, &["rm", "-q", "trunk/plain/gone.txt"]);
        });
        fixture.commit("branch", |wc| {
            fixture.svn(wc, &["cp", "-q", "trunk", "branches/one"]);
            fs::write(wc.join("branches/one/plain/b.txt"), "on the branch\n").expect("writable");
        });
        fixture
    }

    /// Commits what `change` does to a working copy of the whole repository.
    pub(crate) fn commit(&self, message: &str, change: impl FnOnce(&Path)) {
        let wc = self.pair.root().join("author");
        if !wc.exists() {
            let path = wc.to_str().expect("a plain path");
            self.svn(self.pair.root(), &["checkout", "-q", &self.url, path]);
        }
        self.svn(&wc, &["update", "-q"]);
        change(&wc);
        self.svn(&wc, &["commit", "-q", "--force-log", "-m", message]);
    }

    /// Runs Debian's svn, which must succeed.
    pub(crate) fn svn(&self, folder: &Path, args: &[&str]) -> String {
        let run = self.pair.run_theirs_in(folder, args);
        assert_eq!(run.code, 0, "svn {args:?}: {}", run.stderr);
        run.stdout
    }

    /// Returns the URL of a path in the repository.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.url)
    }
}

fn plain_files(trunk: &Path) {
    let plain = trunk.join("plain");
    fs::create_dir_all(plain.join("deep/er/still")).expect("writable");
    fs::create_dir_all(trunk.join("empty/folder")).expect("writable");
    fs::write(plain.join("a.txt"), "first\n").expect("writable");
    fs::write(plain.join("b.txt"), "second\n").expect("writable");
    fs::write(plain.join("same as b"), "second\n").expect("writable");
    fs::write(plain.join("gone.txt"), "soon\n").expect("writable");
    fs::write(plain.join("nothing"), "").expect("writable");
    fs::write(plain.join("deep/er/still/x"), "deep\n").expect("writable");
    let binary: Vec<u8> = (0..300_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    fs::write(plain.join("binary"), binary).expect("writable");
    symlink("a.txt", plain.join("link")).expect("writable");
    symlink("../nowhere/at all", plain.join("dangling")).expect("writable");
    symlink("deep", plain.join("folder link")).expect("writable");
}

fn translated_files(_: &Fixture, _: &Path, trunk: &Path) {
    let text = trunk.join("text");
    fs::create_dir_all(&text).expect("writable");
    for name in ["id", "all", "custom", "fixed"] {
        fs::write(
            text.join(name),
            "$Id$ $Rev$ $Date$ $Author$ $URL$ $Header$ $Mine$ $Rev:       $\nend",
        )
        .expect("writable");
    }
    for name in ["native", "LF", "CR", "CRLF", "both"] {
        fs::write(text.join(name), "one\ntwo $Rev$\nthree").expect("writable");
    }
    for name in ["run.sh", "locked"] {
        fs::write(text.join(name), "#!/bin/sh\n").expect("writable");
    }
}

fn odd_names(trunk: &Path) {
    let odd = trunk.join("odd names");
    fs::create_dir_all(odd.join("ünï ☃/inner")).expect("writable");
    for name in [
        "a b",
        "at@sign",
        "per%cent",
        "per%20cent",
        "hash#",
        "plus+",
        "quote'\"",
        ".hidden",
        "amp&<>",
        "semi;colon",
        "back\\slash",
        "ünï ☃/inner/日本語.txt",
        "tilde~",
        "UPPER",
        "upper",
        "question?",
        "star*",
        "[brackets]",
        "$Id$",
    ] {
        fs::write(odd.join(name), format!("{name}\n")).expect("writable");
    }
    fs::write(odd.join("n".repeat(200)), "long\n").expect("writable");
}

fn properties(fixture: &Fixture, wc: &Path) {
    let set = |name: &str, value: &str, path: &str| {
        let path = format!("trunk/{path}");
        fixture.svn(wc, &["propset", "-q", "--force", name, value, &path]);
    };
    set("svn:keywords", "Id Rev", "text/id");
    set("svn:keywords", "Id Rev Date Author URL Header", "text/all");
    set("svn:keywords", "Mine=%r%_%b%_%P%_%%", "text/custom");
    set("svn:keywords", "LastChangedRevision", "text/fixed");
    for style in ["native", "LF", "CR", "CRLF"] {
        set("svn:eol-style", style, &format!("text/{style}"));
    }
    set("svn:eol-style", "CRLF", "text/both");
    set("svn:keywords", "Rev", "text/both");
    set("svn:executable", "*", "text/run.sh");
    set("svn:needs-lock", "*", "text/locked");
    set("svn:mime-type", "application/octet-stream", "plain/binary");
    set("custom", "line one\nline two\n", "plain/a.txt");
    set("custom:empty", "", "plain/a.txt");
    set("svn:ignore", "*.o\nbuild\n", "plain");
    set("svn:global-ignores", "*.tmp\n", "");
    set("custom", "of the folder", "empty");
    set("custom", "ä", "odd names/ünï ☃");
}
