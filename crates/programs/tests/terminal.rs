//! At a terminal: questions, the line of progress, Ctrl-C.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sylvan_testutil::{Pair, Svnserve, tree};

use crate::SVN;

/// So long is waited for a program to say something.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that runs at a terminal of its own.
struct Session {
    master: File,
    child: Child,
    seen: String,
}

/// What is at the terminal besides input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    Both,
    OnlyErrors,
    OnlyOutput,
}

impl Session {
    fn start(pair: &Pair, program: &str, folder: &Path, args: &[&str]) -> Self {
        Self::start_with(pair, program, folder, args, Streams::Both)
    }

    fn start_with(
        pair: &Pair,
        program: &str,
        folder: &Path,
        args: &[&str],
        streams: Streams,
    ) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("there are terminals");
        grantpt(&master).expect("our own");
        unlockpt(&master).expect("our own");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(&name, flags, Mode::empty()).expect("our own");
        let copy = |terminal: &OwnedFd| Stdio::from(terminal.try_clone().expect("few are open"));
        let mut command: Command = pair.command(Path::new("setsid"), folder);
        command.args(["--ctty", "--wait", program]).args(args);
        command.stdin(copy(&terminal));
        command.stdout(match streams {
            Streams::OnlyErrors => Stdio::null(),
            _ => copy(&terminal),
        });
        command.stderr(match streams {
            Streams::OnlyOutput => Stdio::null(),
            _ => copy(&terminal),
        });
        let child = command.spawn().expect("setsid is installed");
        Self {
            master: master.into(),
            child,
            seen: String::new(),
        }
    }

    /// Reads what there is within `patience`; tells whether the program has closed its terminal.
    fn read(&mut self, patience: Duration) -> bool {
        let timeout = patience.try_into().expect("a short time");
        let ready = {
            let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
            poll(&mut fds, Some(&timeout)).expect("nothing interrupts")
        };
        if ready == 0 {
            return false;
        }
        let mut buffer = [0; 4096];
        match self.master.read(&mut buffer) {
            Ok(0) | Err(_) => true,
            Ok(count) => {
                self.seen += &String::from_utf8_lossy(&buffer[..count]);
                false
            }
        }
    }

    /// Waits until the program has said `text` after what was waited for before.
    fn wait_for(&mut self, text: &str, from: usize) -> usize {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen[from..].find(text) {
                return from + at + text.len();
            }
            let ended = self.read(Duration::from_millis(100));
            assert!(
                !ended && start.elapsed() < PATIENCE,
                "{text:?} is not in {:?}",
                self.seen
            );
        }
    }

    fn put(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).expect("it listens");
    }

    /// Answers questions, each of which ends with the text before the answer.
    fn answer(mut self, dialogue: &[(&str, &str)]) -> (String, Option<i32>) {
        let mut at = 0;
        for (question, answer) in dialogue {
            at = self.wait_for(question, at);
            self.put(answer);
        }
        self.end()
    }

    /// Waits for the end; returns what was said, and the exit code or the negative signal.
    fn end(mut self) -> (String, Option<i32>) {
        let start = Instant::now();
        while !self.read(Duration::from_millis(100)) {
            assert!(start.elapsed() < PATIENCE, "it goes on: {:?}", self.seen);
        }
        let status = self.child.wait().expect("our child");
        let code = status.code().or_else(|| status.signal().map(|n| -n));
        (self.seen, code)
    }
}

/// A repository that only `jo` with the password `secret` may read.
fn guarded(pair: &Pair) -> (Svnserve, String) {
    let root = pair.root().join("served");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("users"), "[users]\njo = secret\n").unwrap();
    let server = Svnserve::start_with(
        &root,
        "[general]\nanon-access = none\nauth-access = write\npassword-db = users\nrealm = Here\n",
    );
    let url = server.create_repository("r");
    (server, url)
}

/// Takes out the text that is in our own words.
fn without_attention(text: &str) -> String {
    let rule = format!("{}\r\n", "-".repeat(71));
    let mut parts = text.split(&rule);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(_), Some(after)) => format!("{before}[ATTENTION]{after}"),
        _ => text.to_owned(),
    }
}

#[test]
fn passwords_are_asked_for_and_hidden() {
    let pair = Pair::new(SVN);
    let (_server, url) = guarded(&pair);
    let info = ["info", "--show-item", "kind", &url];
    let run = |program: &str, folder: &Path, more: &[&str], dialogue: &[(&str, &str)]| {
        let args = [&info[..], more].concat();
        let (seen, code) = Session::start(&pair, program, folder, &args).answer(dialogue);
        assert!(
            !seen.contains("secret") && !seen.contains("wrong"),
            "{seen}"
        );
        (without_attention(&seen), code)
    };
    let both = |more: &[&str], dialogue: &[(&str, &str)]| {
        let theirs = run("svn", &pair.theirs(), more, dialogue);
        let ours = run(SVN, &pair.ours(), more, dialogue);
        assert_eq!(theirs, ours, "{more:?} {dialogue:?}");
        ours
    };
    let store = "(yes/no)? ";
    let once = ["--no-auth-cache", "--config-dir", "once"];
    // The user's own name first, then any.
    let (seen, code) = both(
        &once,
        &[
            ("Password for 'root': ", "wrong\r"),
            ("Username: ", "jx\u{7f}o\r"),
            ("Password for 'jo': ", "sec\u{7f}cret\r"),
        ],
    );
    assert_eq!(code, Some(0), "{seen}");
    both(
        &[&once[..], &["--username", "jo"]].concat(),
        &[("Password for 'jo': ", "secret\r")],
    );
    // The questions come to an end.
    both(
        &[&once[..], &["--username", "jo"]].concat(),
        &[
            ("'jo': ", "wrong\r"),
            ("Username: ", "jo\r"),
            ("'jo': ", "wrong\r"),
            ("Username: ", "jo\r"),
            ("'jo': ", "wrong\r"),
        ],
    );
    both(&once, &[("Password for 'root': ", "\u{3}")]);
    both(&once, &[("Password for 'root': ", "\u{4}")]);
    both(&[&once[..], &["--non-interactive"]].concat(), &[]);
    let (seen, _) = both(
        &["--config-dir", "asked", "--username", "jo"],
        &[
            ("Password for 'jo': ", "secret\r"),
            (store, "maybe\r"),
            ("'yes' or 'no': ", "no\r"),
        ],
    );
    assert!(seen.contains("[ATTENTION]"), "{seen}");
    // What was not stored is asked for again; what was is not.
    both(
        &["--config-dir", "asked", "--username", "jo"],
        &[("Password for 'jo': ", "secret\r"), (store, "yes\r")],
    );
    both(&["--config-dir", "asked"], &[]);
}

/// Passes connections on to a server. The first one stalls after so many bytes from the server.
fn stalling(port: u16, limit: u64) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    let (tell, stalled) = channel();
    std::thread::spawn(move || {
        let mut is_first = true;
        for client in listener.incoming() {
            let (Ok(mut client), Ok(mut server)) =
                (client, TcpStream::connect(("127.0.0.1", port)))
            else {
                return;
            };
            let (mut up, mut down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut up, &mut down));
            let limit = if is_first { limit } else { u64::MAX };
            is_first = false;
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut limited = (&mut server).take(limit);
                let _ = std::io::copy(&mut limited, &mut client);
                let _ = tell.send(());
                if limit < u64::MAX {
                    std::thread::sleep(PATIENCE);
                }
            });
        }
    });
    (own, stalled)
}

/// A repository with files that take some time, and its size.
fn many_files() -> crate::fixture::Fixture {
    let fixture = crate::fixture::Fixture::empty();
    fixture.commit("many", |wc| {
        fs::create_dir(wc.join("d")).unwrap();
        for n in 0..60_u32 {
            let text: String = (0..400)
                .map(|k: u32| format!("{}\n", k * n * 77_777))
                .collect();
            fs::write(wc.join(format!("d/f{n}")), text).unwrap();
        }
        fixture.svn(wc, &["add", "-q", "d"]);
    });
    fixture
}

#[test]
fn ctrl_c_ends_a_checkout_that_can_be_finished() {
    let fixture = many_files();
    let pair = &fixture.pair;
    pair.run_ours(&["export", "-q", &fixture.url, "expected"])
        .success();
    let expected = tree(&pair.ours().join("expected"));
    // Subversion itself waits until the server goes on.
    for limit in [0, 60_000] {
        let (port, stalled) = stalling(fixture.server.port(), limit);
        let url = format!("svn://127.0.0.1:{port}/repos");
        let name = format!("wc{limit}");
        let args = ["checkout", "-q", &url, &name];
        let mut session = Session::start(pair, SVN, &pair.ours(), &args);
        stalled.recv_timeout(PATIENCE).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        session.put("\u{3}");
        let (seen, code) = session.end();
        assert!(seen.starts_with("^Csvn: "), "{seen}");
        assert!(seen.ends_with("svn: E200015: Caught signal\r\n"), "{seen}");
        assert_eq!(code, Some(-2), "{seen}");
        pair.run_ours(&args).success();
        let found = tree(&pair.ours().join(&name));
        assert_eq!(found, expected, "after {limit} bytes");
    }
}

#[test]
fn progress_is_drawn_for_work_that_lasts_only() {
    let fixture = many_files();
    let pair = &fixture.pair;
    let clear = "\r\u{1b}[K";
    let checkout = |name: &str, more: &[&str], streams: Streams, stalls: bool| {
        let limit = if stalls { 60_000 } else { u64::MAX };
        let (port, stalled) = stalling(fixture.server.port(), limit);
        let url = format!("svn://127.0.0.1:{port}/repos");
        let args = [&["checkout", &url, name], more].concat();
        let start = Instant::now();
        let mut session = Session::start_with(pair, SVN, &pair.ours(), &args, streams);
        if stalls {
            stalled.recv_timeout(PATIENCE).unwrap();
            std::thread::sleep(Duration::from_millis(1600));
            session.put("\u{3}");
        }
        (session.end().0, start.elapsed())
    };
    let (seen, _) = checkout("errors", &[], Streams::OnlyErrors, true);
    assert!(
        seen.contains(" files, ") && seen.contains("B/s\u{1b}[K"),
        "{seen:?}"
    );
    // What is drawn goes away before the error.
    let (drawn, error) = seen.rsplit_once("svn: E200015").unwrap();
    assert!(drawn.trim_end_matches("^C").ends_with(clear), "{seen:?}");
    assert_eq!(error, ": Caught signal\r\n");
    let (seen, _) = checkout("both", &[], Streams::Both, true);
    assert!(seen.contains("B/s\u{1b}[K"), "{seen:?}");
    assert!(seen.contains("A    both/d/f0\r\n"), "{seen:?}");
    let (seen, _) = checkout("output", &[], Streams::OnlyOutput, true);
    assert!(!seen.contains("B/s"), "{seen:?}");
    let (seen, _) = checkout("quiet", &["-q"], Streams::Both, true);
    assert!(!seen.contains("B/s"), "{seen:?}");
    let (seen, took) = checkout("short", &["-q"], Streams::Both, false);
    assert!(seen.is_empty(), "{seen:?}");
    let (seen, again) = checkout("short again", &[], Streams::OnlyErrors, false);
    let is_short = took.max(again) < Duration::from_millis(900);
    assert!(!is_short || seen.is_empty(), "{seen:?}");
}
