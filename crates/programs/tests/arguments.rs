//! Command lines that make no sense get the answer that Subversion gives, word for word.

use sylvan_testutil::Pair;

use crate::SVN;

/// Runs each line (words separated by spaces, `''` an empty word) with both.
fn same_answers(pair: &Pair, lines: &[&str]) {
    for line in lines {
        let words: Vec<_> = line
            .split_whitespace()
            .map(|word| if word == "''" { "" } else { word })
            .collect();
        let run = pair.both(&words);
        assert_eq!(run.code, 1, "svn {line} is right after all: {}", run.stdout);
    }
}

#[test]
fn options_that_do_not_exist() {
    same_answers(
        &Pair::new(SVN),
        &[
            "",
            "--bogus",
            "--bogus=1",
            "info --bogus",
            "info --dep empty",
            "info --depth",
            "info --depths=empty",
            "--quiet=1",
            "info --xml=yes",
            "-Z",
            "info -qZ",
            "info -q-",
            "info -",
            "-",
            "--=x",
            "--",
            "-r",
            "info -r",
            "info -qr",
            "log -l",
            "log --limit",
            "commit -m",
            "commit --message",
            "info --cl",
            "info --changelist",
            "info --config-dir",
            "info --username",
            "info --QUIET",
            "--version=1",
            "---",
            "--xm",
            "info -xml",
            "-0",
            "info --no-newlines",
        ],
    );
}

#[test]
fn subcommands_that_do_not_exist() {
    same_answers(
        &Pair::new(SVN),
        &[
            "nosuch",
            "undo",
            "Info",
            "-q",
            "-q nosuch",
            "--xml",
            "check-out",
            "chekout",
            "--version nosuch",
            "-r 1 nosuch",
            "''",
            "x-shelve",
            "nosuch --depth=empty -q",
            "--non-interactive",
            "info2 --xml",
        ],
    );
}

#[test]
fn options_that_the_subcommand_does_not_accept() {
    same_answers(
        &Pair::new(SVN),
        &[
            "cat --cl x",
            "cat --changelist x",
            "cat --strict x",
            "cat -R x",
            "cat --xml x",
            "cat -q x",
            "add -c3 x",
            "add --xml x",
            "add --set-depth=empty x",
            "-q cat x",
            "checkout --xml x",
            "checkout -c 1 x",
            "checkout --set-depth empty x",
            "checkout -R x",
            "cleanup --depth=empty",
            "cleanup -R",
            "cleanup -v",
            "export -v x",
            "export --set-depth=files x",
            "help -q",
            "help --version",
            "help -r 1",
            "-hq",
            "--version -h",
            "--version --xml",
            "--version -r 1",
            "--version --depth=empty",
            "info -v",
            "info -c 1",
            "info -N",
            "info --limit 3",
            "list -q",
            "list -c 1",
            "list -N",
            "list --targets /dev/null",
            "log -R",
            "log -N",
            "log --force",
            "log --set-depth empty",
            "mkdir -r1 x",
            "propget -q x",
            "revert -r 1 x",
            "status -R",
            "status -c 1",
            "status --search x",
            "update --xml",
            "update -v",
            "update -R",
            "update --cl x --limit 1",
            "upgrade -v",
            "relocate -q x",
            "unlock -m x y",
            "switch --xml",
            "blame -q x",
            "auth -q",
            "status --drop",
            "status --x-viewspec=classic",
            "status --no-newline",
        ],
    );
}

#[test]
fn arguments_of_options() {
    let pair = Pair::new(SVN);
    same_answers(
        &pair,
        &[
            "info --depth foo",
            "info --depth=",
            "info --depth exclude",
            "info --depth unknown",
            "info --depth EMPTY",
            "info --depth foo --bogus",
            "update --set-depth foo",
            "update --set-depth unknown",
            "update --set-depth=",
            "log -l 0",
            "log -l -1",
            "log -l x",
            "log -l 1x",
            "log --limit=",
            "log -l 3000000000",
            "log -l -3000000000",
            "info -r foo",
            "info -r 1:",
            "info -r :1",
            "info -r 1:2:3",
            "info -r 1-2",
            "info -r -1",
            "info -r ''",
            "info -r r",
            "info -r {}",
            "info -r {2001-01-01",
            "info -r {2001-01-01}1",
            "info -r {nonsense}",
            "info -r {2001-13-01}",
            "info -r WORKING",
            "info -r HEADS",
            "info -r HEAD-1",
            "log -c 0",
            "log -c x",
            "log -c HEAD",
            "log -c 1-x",
            "log -c x-1",
            "log -c -1-2",
            "log -c 1-2-3",
            "log -c -",
            "log -c 1,x",
            "log -c 1:2",
            "log -c 1.5",
            "info --cl ''",
            "info --changelist=",
            "export --native-eol lf x",
            "export --native-eol=NATIVE x",
            "patch --strip x y",
            "patch --strip -1 y",
            "update --accept foo",
            "update --accept ''",
            "mergeinfo --show-revs foo x",
            "info --x-viewspec foo",
            "commit --with-revprop ''",
            "commit --with-revprop =x",
            "commit --with-revprop 0=1",
            "commit --with-revprop a!b=1",
            "info --config-option x",
            "info --config-option a:b:c",
            "info --config-option :b:c=1",
            "info --config-option a::c=1",
            "info --config-option a:b:=1",
            "info --trust-server-cert-failures=x",
            "info --trust-server-cert-failures unknown-ca,expird",
            "info --targets /nonexistent/x",
            "info --targets nonexistent",
            "info --targets .",
            "commit -F /nonexistent/x",
            "commit -F .",
            "diff --old x -c 1",
            "diff -c 1 --old x",
        ],
    );
}

#[test]
fn options_that_exclude_each_other() {
    same_answers(
        &Pair::new(SVN),
        &[
            "info --non-interactive --force-interactive",
            "--force-interactive --non-interactive",
            "info --force-interactive --trust-server-cert",
            "info --force-interactive --trust-server-cert-failures=other",
            "info --force-interactive --password-from-stdin",
            "update -r 1 -r 2",
            "update -r 1 -c 2",
            "diff -c 1 -c 2",
            "diff -c 1,2",
            "update --depth empty --set-depth empty",
            "log --with-all-revprops --with-no-revprops",
            "log --with-revprop a --with-no-revprops",
            "commit -m x -F /dev/null",
            "log --diff-cmd x --internal-diff",
            "diff --internal-diff --diff-cmd=x",
            "switch --relocate --depth empty a b",
            "switch --relocate -N a b",
            "checkout -r 1:2 file:///x",
            "cat -r 1:HEAD x",
            "info -r 1:2",
            "list -r 1:2",
            "status -r 1:2",
            "update -r 1:2",
            "export -r BASE:HEAD x",
            "update --non-interactive --accept=edit",
            "update --non-interactive --accept e",
            "update --non-interactive --accept launch",
            "update --accept :-l",
            "add --auto-props --no-auto-props x",
        ],
    );
}

#[test]
fn words_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    let pair = Pair::new(SVN);
    let long = [&[b'a'; 40][..], b"\xff\xfe12345"].concat();
    for words in [
        &[&b"info"[..], &b"--depth"[..], &b"\xff"[..]][..],
        &[b"info", b"--username", b"a\xffb"],
        &[b"log", b"--search", b"\xc3"],
        &[b"info", b"-r", &long],
        &[b"info", b"--targets", b"\xe4"],
        &[b"\xff"],
        &[b"--\xff"],
        &[b"-\xff"],
        &[b"-q\xc3\xa4"],
        &[b"info", b"--\xc3\xa4=\xff"],
        &[b"info", b"--quiet=\xff"],
    ] {
        let run = |program: &Path| {
            let words = words.iter().map(|word| OsStr::from_bytes(word));
            let output = pair
                .command(program, pair.root())
                .args(words)
                .output()
                .unwrap();
            (output.status.code(), output.stdout, output.stderr)
        };
        assert_eq!(run(Path::new(SVN)), run(Path::new("svn")), "{words:?}");
    }
}

#[test]
fn subcommands_to_come_say_so() {
    let pair = Pair::new(SVN);
    let run = pair.run_ours(&["merge", "x"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            1,
            "svn: E200007: Subcommand 'merge' is not implemented yet\n"
        )
    );
}
