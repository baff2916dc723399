//! The ways in which clients come to the server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sylvan_testutil::{Run, Sandbox, Svnserve, free_port};

use crate::SVNSERVE;

/// Makes a repository `repo` that anybody may write to.
fn repository(sandbox: &Sandbox) -> PathBuf {
    sandbox.sh(
        "rm -rf repo; svnadmin create repo; printf '[general]\\nanon-access = write\\n' >repo/conf/svnserve.conf
        svn mkdir -q -m 1 file://$PWD/repo/trunk",
    );
    sandbox.path().to_owned()
}

fn svn(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new("svn")
        .args(args)
        .args(["--non-interactive", "--config-dir"])
        .arg(folder.join("conf"))
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .expect("svn is installed");
    Run::from(output)
}

fn youngest(folder: &Path, url: &str) -> String {
    let info = svn(folder, &["info", "--show-item", "revision", url]).success();
    info.stdout.trim().to_owned()
}

fn signal(id: u32, signal: Signal) {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    kill_process(id.expect("a process"), signal).expect("it runs");
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_tunnel_says_who_its_client_is() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    fs::write(
        folder.join("repo/conf/svnserve.conf"),
        "[general]\nanon-access = none\n",
    )
    .unwrap();
    let (root, log) = (folder.display(), folder.join("log"));
    let tunnel = format!(
        "#!/bin/sh\nexec {SVNSERVE} -t -r {root} --tunnel-user jo --log-file {}\n",
        log.display()
    );
    let program = folder.join("tunnel");
    fs::write(&program, tunnel).unwrap();
    sandbox.sh("chmod +x tunnel");
    let option = format!("config:tunnels:own={}", program.display());
    let args = [
        "mkdir",
        "-m",
        "x",
        "svn+own://host/repo/x",
        "--config-option",
        &option,
    ];
    let done = svn(&folder, &args);
    assert!(done.stdout.contains("Committed revision 2."), "{done:?}");
    let author = sandbox.sh("svnlook author repo");
    assert_eq!(author, "jo\n");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains(" - jo repo commit r2"), "{log}");
}

#[test]
fn inetd_gives_the_client_on_standard_input() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let mut server = Command::new(SVNSERVE)
        .args(["-i", "-r"])
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said =
        b"( 2 ( edit-pipeline ) 13:svn://h/repo/x ) ( ANONYMOUS ( 0: ) ) ( get-latest-rev ( ) ) ";
    let said = String::from_utf8_lossy(said).replace("13:", "14:");
    server
        .stdin
        .take()
        .unwrap()
        .write_all(said.as_bytes())
        .unwrap();
    let mut heard = String::new();
    server
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut heard)
        .unwrap();
    assert!(
        heard.ends_with("( success ( ( ) 0: ) ) ( success ( 1 ) ) "),
        "{heard}"
    );
    assert!(server.wait().unwrap().success());
}

/// Ends a server that a failed test would leave behind.
struct Left(u32);

impl Drop for Left {
    fn drop(&mut self) {
        // Later the number may be another's.
        if std::thread::panicking()
            && let Some(id) = i32::try_from(self.0).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

#[test]
fn a_signal_ends_it_before_any_client() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let port = free_port().to_string();
    let mut server = Command::new(SVNSERVE)
        .args(["-X", "--listen-host", "127.0.0.1", "--listen-port", &port])
        .arg("-r")
        .arg(&folder)
        .spawn()
        .unwrap();
    let _guard = Left(server.id());
    let place = format!("127.0.0.1:{port}");
    eventually("it listens", || {
        std::net::TcpListener::bind(&place).is_err()
    });
    signal(server.id(), Signal::TERM);
    eventually("it ends", || server.try_wait().unwrap().is_some());
}

#[test]
fn one_client_and_no_more() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let port = free_port();
    let mut server = Command::new(SVNSERVE)
        .args([
            "-X",
            "--listen-host",
            "127.0.0.1",
            "--listen-port",
            &port.to_string(),
            "-r",
        ])
        .arg(&folder)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _guard = Left(server.id());
    let url = format!("svn://127.0.0.1:{port}/repo");
    eventually("the server starts", || {
        let info = svn(&folder, &["info", "--show-item", "revision", &url]);
        info.stdout.trim() == "1"
    });
    assert!(server.wait().unwrap().success());
    let mut said = String::new();
    server
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(
        said.contains(" 127.0.0.1 - repo get-latest-rev\n"),
        "{said}"
    );
}

#[test]
fn a_daemon_leaves_and_listens_to_signals() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let port = free_port();
    let (pid, log) = (folder.join("pid"), folder.join("log"));
    let started = Command::new(SVNSERVE)
        .args([
            "-d",
            "--listen-host",
            "127.0.0.1",
            "--listen-port",
            &port.to_string(),
        ])
        .args(["--root", ".", "--pid-file", "pid", "--log-file", "log"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(started.status.success(), "{started:?}");
    // It serves as soon as the program has returned.
    let id: u32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let _guard = Left(id);
    let url = format!("svn://127.0.0.1:{port}/repo");
    assert_eq!(youngest(&folder, &url), "1");
    fs::rename(&log, folder.join("old")).unwrap();
    signal(id, Signal::HUP);
    eventually("the log is opened again", || log.exists());
    assert_eq!(youngest(&folder, &url), "1");
    assert!(
        fs::read_to_string(&log)
            .unwrap()
            .contains(" repo get-latest-rev\n")
    );
    signal(id, Signal::TERM);
    eventually("the server ends", || {
        TcpStream::connect(("127.0.0.1", port)).is_err()
    });
    let refused = Command::new(SVNSERVE)
        .args([
            "-d",
            "--listen-host",
            "127.0.0.1",
            "--listen-port",
            "1",
            "--root",
            "/",
        ])
        .args(["--pid-file", "/no/such/folder/pid"])
        .args(["--listen-port", &port.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("/no/such/folder/pid"),
        "{said}"
    );
}

/// Has a hook look at each commit when it begins, so that its transaction is on the disk from then on.
fn show_commits(folder: &Path) {
    let hook = folder.join("repo/hooks/start-commit");
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
}

fn transactions(folder: &Path) -> usize {
    let entries = fs::read_dir(folder.join("repo/db/transactions"));
    entries.unwrap().count()
}

#[test]
fn a_signal_ends_it_whoever_is_connected() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    show_commits(&folder);
    let server = Svnserve::start_program(Path::new(SVNSERVE), &folder, &[]);
    let mut client = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    // In the midst of a commit.
    client
        .write_all(
            b"( 2 ( edit-pipeline ) 12:svn://h/repo ) ( ANONYMOUS ( 0: ) ) \
              ( commit ( 1:x ( ) false ) ) ( open-root ( ( 1 ) 1:r ) ) ( add-dir ( 1:a 1:r 1:a ( ) ) ) ",
        )
        .unwrap();
    eventually("the commit has begun", || transactions(&folder) == 1);
    signal(server.process_id(), Signal::TERM);
    assert_eq!(server.wait(), -15);
    assert_eq!(transactions(&folder), 0);
}

#[test]
fn what_the_command_line_forbids() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let program = Path::new(SVNSERVE);
    let server = Svnserve::start_program(program, &folder, &["--read-only"]);
    let refused = svn(&folder, &["mkdir", "-m", "x", &server.url("repo/x")]);
    assert_eq!(refused.stderr, "svn: E170001: Authorization failed\n");
    drop(server);
    let limits = ["--max-request-size=1", "--max-response-size=1", "-c0"];
    let server = Svnserve::start_program(program, &folder, &limits);
    fs::write(folder.join("large"), vec![b'x'; 3 << 20]).unwrap();
    let url = server.url("repo/large");
    // Contents are no part of a request, but they are of a response.
    svn(&folder, &["import", "-q", "-m", "x", "large", &url]).success();
    let refused = svn(&folder, &["cat", &url]);
    assert_ne!(refused.code, 0);
    assert_eq!(
        svn(&folder, &["info", "--show-item", "kind", &url])
            .success()
            .stdout,
        "file\n"
    );
    drop(server);
    sandbox.sh("mkdir 127.0.0.1; mv repo 127.0.0.1");
    let server = Svnserve::start_program(program, &folder, &["--virtual-host"]);
    let place = folder.join(format!("127.0.0.1:{}", server.port()));
    fs::rename(folder.join("127.0.0.1"), place).unwrap();
    assert_eq!(youngest(&folder, &server.url("repo")), "2");
}

#[test]
fn slow_clients_hinder_nobody() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    show_commits(&folder);
    let options = ["--max-threads=1", "--min-threads=0"];
    let server = Svnserve::start_program(Path::new(SVNSERVE), &folder, &options);
    let hello = "( 2 ( edit-pipeline ) 12:svn://h/repo ) ( ANONYMOUS ( 0: ) ) ";
    let slow: Vec<TcpStream> = (0..150)
        .map(|number| {
            let mut client = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            let said = match number % 5 {
                0 => "",
                1 => "( 2 ( edit-pipeline ) 12:svn:",
                2 => "( 2 ( edit-pipeline ) 12:svn://h/repo ) ",
                3 => &*format!("{hello}( update ( ( ) 0: true ) ) ( set-path "),
                _ => &*format!("{hello}( commit ( 1:x ( ) false ) ) ( open-root ( ( 1 ) 1:r ) ) "),
            };
            client.write_all(said.as_bytes()).unwrap();
            client
        })
        .collect();
    let url = server.url("repo");
    assert_eq!(youngest(&folder, &url), "1");
    svn(&folder, &["mkdir", "-q", "-m", "x", &format!("{url}/x")]).success();
    svn(&folder, &["checkout", "-q", &url, "wc"]).success();
    eventually("they have begun commits", || transactions(&folder) > 0);
    drop(slow);
    eventually("what they began is gone", || transactions(&folder) == 0);
}

#[test]
fn clients_that_do_nothing_may_have_to_leave() {
    let sandbox = Sandbox::new();
    let folder = repository(&sandbox);
    let metrics = free_port().to_string();
    let options = [
        "--idle-timeout=1",
        "--stall-timeout=1",
        "--metrics",
        &metrics,
    ];
    let server = Svnserve::start_program(Path::new(SVNSERVE), &folder, &options);
    let hello = "( 2 ( edit-pipeline ) 12:svn://h/repo ) ( ANONYMOUS ( 0: ) ) ";
    for said in [
        "",
        hello,
        &format!("{hello}( update ( ( ) 0: true ) ) ( set-path "),
    ] {
        let mut client = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        client.write_all(said.as_bytes()).unwrap();
        let patience = Some(Duration::from_secs(20));
        client.set_read_timeout(patience).unwrap();
        // What is left of it is the end.
        client.read_to_end(&mut Vec::new()).unwrap();
    }
    let port: u16 = metrics.parse().unwrap();
    let mut watcher = TcpStream::connect(("127.0.0.1", port)).unwrap();
    watcher.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut heard = String::new();
    watcher.read_to_string(&mut heard).unwrap();
    assert!(heard.contains("\nsvnserve_sessions_total 2\n"), "{heard}");
}
