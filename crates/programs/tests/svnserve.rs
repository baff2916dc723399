//! `svnserve` beside Debian's: what clients are told, and what the logs say.

mod modes;

use std::path::Path;
use std::process::Command;

use sylvan_testutil::{Pair, Svnserve};

use crate::{SVN, SVNSERVE};

/// Makes a repository with users, rules and hooks.
const REPOSITORY: &str = r#"
svnadmin create repo
svnadmin setuuid repo d3ad3e1b-4ea8-4cc5-9ac6-6a9c5d0f0001
cat >repo/conf/svnserve.conf <<'END'
[general]
anon-access = read
auth-access = write
password-db = users
authz-db = rules
groups-db = groups
realm = Some realm
force-username-case = lower
hooks-env = env
END
printf '[users]\nann = a\nbob = b c\nEVE = e\n' >repo/conf/users
printf '[groups]\ndevs = ann, bob\n' >repo/conf/groups
cat >repo/conf/rules <<'END'
[/]
@devs = rw
* = r
[/trunk/secret]
@devs =
ann = rw
* =
[repo:/trunk/closed]
bob = r
END
printf '[default]\nWHO = hook\n' >repo/conf/env
printf '#!/bin/sh\necho "$WHO $2 $3" >>"$1/started"\n' >repo/hooks/start-commit
printf '#!/bin/sh\n[ "$4" != forbidden ] || { echo "not this" >&2; exit 1; }\n' >repo/hooks/pre-revprop-change
printf '#!/bin/sh\necho "post fails" >&2; exit 1\n' >repo/hooks/post-lock
chmod +x repo/hooks/*
"#;

/// What clients do; `$S` is the client, with its options.
const SCRIPT: &str = r#"
# Each edit changes the size of its file.
export SVN_I_LOVE_CORRUPTED_WORKING_COPIES_SO_DISABLE_SLEEP_FOR_TIMESTAMPS=yes
svn() { command "$S" --config-dir conf --non-interactive "$@"; echo "= $?"; }
ann="--username ann --password a --no-auth-cache"
bob="--username bob --password b\ c --no-auth-cache"
bob() { svn --username bob --password 'b c' --no-auth-cache "$@"; }
svn mkdir -m anonymous $URL/x
svn mkdir -m wrong --username ann --password b --no-auth-cache $URL/x
svn mkdir -m nobody --username jo --password b --no-auth-cache $URL/x
svn mkdir -m 'not allowed' --username EVE --password e --no-auth-cache $URL/x
svn mkdir -m layout $ann $URL/trunk $URL/trunk/secret $URL/trunk/closed $URL/branches
svn checkout -q $ann $URL/trunk wc; cd wc
for n in 1 2 3; do echo line $n >>f; done; mkdir -p 'd/e e'; echo x >'d/e e/ü%'; echo s >secret/s; echo c >closed/c
svn add -q f d secret/s closed/c; svn propset -q svn:needs-lock '*' f; svn propset -q color red d
svn commit -q $ann -m 'files'
echo more >>f; svn commit -q --username BOB --password x --no-auth-cache -m 'wrong again'
bob commit -q -m 'edit f'
echo more >>closed/c; bob commit -q -m 'not allowed'; svn revert -q closed/c
cd ..
bob copy -m 'a branch' $URL/trunk $URL/branches/b
svn copy -m 'a branch' $ann $URL/trunk $URL/branches/b
bob checkout -q $URL/branches/b wb
bob update -q wb; (cd wb; svn info --show-item revision; ls)
svn switch -q $ann $URL/branches/b wc
svn log $ann -v $URL
bob log -v $URL
svn log -v -r 0:HEAD -l 2 $URL/trunk/f
svn log -v $URL/trunk/secret
svn blame $URL/trunk/f
svn list -vR $URL | sed 's/[A-Z][a-z]* [0-9]* [0-9:]* / DATE /'
bob list -R $URL/branches
svn list $URL/trunk/secret
svn cat $URL/trunk/secret/s
bob cat $URL/trunk/closed/c
svn cat $URL/none
svn cat -r 99 $URL/trunk/f
svn info $URL/trunk/f@2
svn diff -r 1:3 $URL/trunk
svn diff $ann $URL/trunk@2 $URL/branches/b
svn proplist -v --show-inherited-props "$URL/trunk/d/e e/ü%"
svn mergeinfo $URL/trunk $URL/branches/b
svn propset --revprop -r 1 svn:log 'new text' $ann $URL
svn propset --revprop -r 1 forbidden x $ann $URL
svn propset --revprop -r 4 x y --username bob --password 'b c' --no-auth-cache $URL
svn proplist --revprop -v -r 2 $URL
svn propget --revprop -r 2 svn:log $URL
svn lock -m 'mine' $ann $URL/trunk/f
bob lock $URL/trunk/f
bob lock --force $URL/trunk/f
svn lock $ann $URL/trunk/none $URL/trunk/d
bob lock $URL/trunk/closed/c
svn info $URL/trunk/f
svn unlock $URL/trunk/f
svn unlock $ann $URL/trunk/f
svn unlock --force $ann $URL/trunk/f
cd wc; svn lock $ann f; echo locked >>f; svn status -u; svn commit -q $ann -m 'with a lock' f; cd ..
svn delete -m 'bye' $ann $URL/trunk/d
svn delete -m 'not allowed' --username bob --password 'b c' --no-auth-cache $URL/trunk
svn export -q $ann $URL/branches/b ex; ls ex
svn export -q -r 2 $URL/trunk ex2; ls ex2
svn info $URL/../other
svn info -r '{2001-01-01}' $URL
svn update -q $ann -r 2 --set-depth files wc
svn status $ann -u wc
"#;

/// Debian's other clients.
const OTHERS: &str = r#"
svnrdump dump -q --non-interactive --no-auth-cache $URL/trunk | sed 's/^2[0-9-]*T.*Z$/DATE/' | grep -av '^Prop-content-length\|^Content-length'
svnadmin create mirror; printf '#!/bin/sh\n' >mirror/hooks/pre-revprop-change; chmod +x mirror/hooks/*
svnsync init -q --config-dir conf --non-interactive file://$PWD/mirror $URL; svnsync sync -q --config-dir conf --non-interactive file://$PWD/mirror
svnlook youngest mirror; svnlook tree mirror
svnmucc --config-dir conf --non-interactive --username ann --password a --no-auth-cache -U $URL -m mucc mkdir m put repo/conf/rules m/rules cp 2 trunk m/t rm m/t/closed propset p v m
svn log -q -r HEAD --config-dir conf $URL | sed 's/|.*//'
cat repo/started | sed 's/ [^ ]*$//'
"#;

/// Runs a script in a folder, beside a server of its own; returns what it prints, and the log.
fn run(pair: &Pair, folder: &Path, server: &Path, client: &Path, script: &str) -> (String, String) {
    let log = folder.join("log");
    let options = ["--log-file", &*log.to_string_lossy()];
    let shell = |script: &str, url: &str| {
        let output = pair
            .command(Path::new("sh"), folder)
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .env("S", client)
            .env("URL", url)
            .output()
            .expect("there is a shell");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(shell(REPOSITORY, ""), "");
    let server = Svnserve::start_program(server, folder, &options);
    let said = shell(script, &server.url("repo"));
    let port = server.port();
    drop(server);
    let said = said.replace(&format!("127.0.0.1:{port}"), "HOST");
    let said = said.replace(&*folder.to_string_lossy(), "[cwd]");
    let log = std::fs::read_to_string(log).expect("there is a log");
    (hide(&said), hide(&log.replace(&port.to_string(), "PORT")))
}

/// Hides what differs from run to run: process ids, times, tokens, programs.
fn hide(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let words = line.split(' ').map(|word| {
            let is_time = word.len() == 27 && word.ends_with('Z') && word.contains('T');
            let is_token = word.starts_with("opaquelocktoken:");
            let is_day = word.len() == 10 && word.as_bytes()[4] == b'-' && word.starts_with('2');
            let is_hour = word.len() == 8 && word.as_bytes()[2] == b':';
            if is_time || is_token || is_day || is_hour {
                "…"
            } else {
                word
            }
        });
        let line = words.collect::<Vec<_>>().join(" ");
        let line = with_sorted_locks(line);
        // The process's number is before the time.
        match line.split_once(" … ") {
            Some((pid, rest)) if pid.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
            _ => line,
        }
    });
    // That a client left is noticed sooner or later.
    let lines =
        lines.filter(|line| !line.contains(" ERR - 0 210002 ") && !line.contains(" ERR - 0 104 "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Locked paths are in no order.
fn with_sorted_locks(line: String) -> String {
    let parts = line
        .split_once("lock (")
        .and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
    let Some((before, (paths, after))) = parts else {
        return line;
    };
    let mut paths: Vec<&str> = paths.split(' ').collect();
    paths.sort_unstable();
    format!("{before}lock ({}){after}", paths.join(" "))
}

fn assert_same(client: &str, script: &str) {
    let pair = Pair::new(SVN);
    let run = |folder: &Path, server: &str| {
        run(&pair, folder, Path::new(server), Path::new(client), script)
    };
    let (theirs, their_log) = run(&pair.theirs(), "svnserve");
    let (ours, our_log) = run(&pair.ours(), SVNSERVE);
    assert!(
        theirs.lines().count() > 40,
        "the script ends early:\n{theirs}"
    );
    assert_lines(&theirs, &ours);
    assert_lines(&opens_first(&their_log), &opens_first(&our_log));
}

/// While a server is busy with a difference the client opens a second connection: either may be
/// written down first.
fn opens_first(log: &str) -> String {
    let mut lines: Vec<&str> = log.lines().collect();
    for at in 1..lines.len() {
        if lines[at].contains(" repo open ") && lines[at - 1].contains(" repo diff ") {
            lines.swap(at - 1, at);
        }
    }
    lines.join("\n")
}

/// Requires two texts to be equal, and shows where they are not.
fn assert_lines(theirs: &str, ours: &str) {
    if theirs == ours {
        return;
    }
    let at = theirs.lines().zip(ours.lines()).take_while(|(a, b)| a == b);
    let from = at.count().saturating_sub(4);
    let shown = |text: &str| {
        text.lines()
            .skip(from)
            .take(12)
            .collect::<Vec<_>>()
            .join("\n")
    };
    panic!("theirs:\n{}\n\nours:\n{}", shown(theirs), shown(ours));
}

#[test]
fn subversions_client_finds_no_difference() {
    assert_same("svn", SCRIPT);
}

#[test]
fn our_client_finds_no_difference() {
    assert_same(SVN, SCRIPT);
}

#[test]
fn subversions_other_clients_find_no_difference() {
    let few = SCRIPT.split("svn log $ann").next().unwrap_or_default();
    assert_same("svn", &format!("({few}) >/dev/null\n{OTHERS}"));
}

#[test]
fn a_repository_is_sound_after_it_was_served() {
    let pair = Pair::new(SVN);
    let folder = pair.ours();
    let (server, client) = (Path::new(SVNSERVE), Path::new("svn"));
    let _ = run(&pair, &folder, server, client, SCRIPT);
    let verified = Command::new("svnadmin")
        .args(["verify", "-q"])
        .arg(folder.join("repo"))
        .status();
    assert!(verified.expect("svnadmin is installed").success());
    let left = std::fs::read_dir(folder.join("repo/db/transactions")).unwrap();
    assert_eq!(left.count(), 0);
}
