//! Many writers of both kinds in one repository, while it is verified and copied.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use sylvan_testutil::{Pair, Run};

use crate::{SVN, SVNADMIN};

/// How many revisions each of the eight makes. `SYLVAN_TEST_COMMITS` is another number.
const EACH: usize = 8;

fn call(pair: &Pair, program: &str, line: &str, input: Option<&[u8]>) -> Run {
    let mut command = pair.command(Path::new(program), &pair.ours());
    command.args(line.split(' '));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.unwrap_or_default()).unwrap();
    drop(stdin);
    Run::from(child.wait_with_output().unwrap())
}

/// A stream of one revision, with a new file.
fn stream(name: &str) -> String {
    let len = name.len();
    format!(
        "SVN-fs-dump-format-version: 2\n\nRevision-number: 1\nProp-content-length: 10\n\
         Content-length: 10\n\nPROPS-END\n\nNode-path: shared/{name}\nNode-kind: file\n\
         Node-action: add\nText-content-length: {len}\nContent-length: {len}\n\n{name}\n\n"
    )
}

/// Makes a revision with the file `shared/name`.
fn commit(pair: &Pair, writer: usize, name: &str) {
    let url = format!("file://{}/r", pair.ours().display());
    let file = pair.ours().join(format!("new-{name}"));
    std::fs::write(&file, name).unwrap();
    let import = format!("import -q -m {name} {} {url}/shared/{name}", file.display());
    let (load, stream) = ("load -q --ignore-uuid r", stream(name));
    let run = match writer {
        0 => call(pair, SVNADMIN, load, Some(stream.as_bytes())),
        1..4 => call(pair, SVN, &import, None),
        4 => call(pair, "svnadmin", load, Some(stream.as_bytes())),
        _ => call(pair, "svn", &import, None),
    };
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
}

/// Does a line again and again until the writers are done, and once more; tells how often.
fn repeat(pair: &Pair, done: &AtomicBool, program: &str, lines: &[&str]) -> usize {
    let mut rounds = 0;
    loop {
        let is_last = done.load(Ordering::Acquire);
        for line in lines {
            if let Some(name) = line.strip_prefix("remove ") {
                let _ = std::fs::remove_dir_all(pair.ours().join(name));
                continue;
            }
            let run = call(pair, program, line, None);
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{program} {line}");
        }
        rounds += 1;
        if is_last {
            return rounds;
        }
    }
}

#[expect(clippy::print_stdout, reason = "numbers of long runs")]
fn writers_and_readers(version: &str, each: usize) {
    let pair = Pair::new(SVN);
    let create = format!("create --compatible-version {version} r");
    assert_eq!(call(&pair, "svnadmin", &create, None).code, 0);
    let format = pair.ours().join("r/db/format");
    let text = std::fs::read_to_string(&format).unwrap();
    std::fs::remove_file(&format).unwrap();
    std::fs::write(&format, text.replace("sharded 1000", "sharded 20")).unwrap();
    let url = format!("file://{}/r/shared", pair.ours().display());
    assert_eq!(
        call(&pair, "svn", &format!("mkdir -q -m shared {url}"), None).code,
        0
    );
    let done = AtomicBool::new(false);
    let (pair, done) = (&pair, &done);
    std::thread::scope(|scope| {
        let (verify, copy) = (
            ["verify -q r"],
            ["hotcopy -q --incremental r OURS", "verify -q OURS"],
        );
        let fresh = ["remove THEIRS", "hotcopy -q r THEIRS", "verify -q THEIRS"];
        let readers = [
            scope.spawn(move || repeat(pair, done, SVNADMIN, &verify)),
            scope.spawn(move || repeat(pair, done, "svnadmin", &verify)),
            scope.spawn(move || repeat(pair, done, SVNADMIN, &copy)),
            scope.spawn(move || repeat(pair, done, "svnadmin", &fresh)),
        ];
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                scope.spawn(move || {
                    for number in 0..each {
                        commit(pair, writer, &format!("w{writer}-{number}"));
                    }
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Release);
        let rounds = readers.map(|reader| reader.join().unwrap());
        println!(
            "{version}: {} revisions, rounds of readers {rounds:?}",
            8 * each + 1
        );
        assert!(written.iter().all(Result::is_ok));
    });
    for name in ["r", "OURS", "THEIRS"] {
        for program in [SVNADMIN, "svnadmin"] {
            let verified = call(pair, program, &format!("verify -q {name}"), None);
            assert_eq!((verified.code, verified.stderr.as_str()), (0, ""), "{name}");
        }
        let youngest = call(pair, "svnlook", &format!("youngest {name}"), None).stdout;
        assert_eq!(youngest.trim(), (8 * each + 1).to_string(), "{name}");
        for writer in 0..8 {
            for number in 0..each {
                let file = format!("w{writer}-{number}");
                let text = call(pair, "svnlook", &format!("cat {name} shared/{file}"), None).stdout;
                assert_eq!(text, file, "{name}");
            }
        }
    }
}

#[test]
fn eight_writers_lose_nothing_while_both_programs_verify_and_copy() {
    let each = std::env::var("SYLVAN_TEST_COMMITS").ok();
    let each = each.map_or(EACH, |each| each.parse().unwrap());
    writers_and_readers("1.14", each);
    writers_and_readers("1.6", each / 2);
}
