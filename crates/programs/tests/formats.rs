//! Repositories of all formats: each program reads, dumps, verifies and goes on with what the other
//! has made.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use sylvan_fs::FileSystem;
use sylvan_testutil::{Pair, Run, random_history};

use crate::{SVN, SVNADMIN, SVNLOOK};

/// All are tried with `SYLVAN_TEST_FORMATS=all`, some else: the version that a repository `r` is made for, and what is changed before it has revisions.
const VARIANTS: [(&str, &str); 14] = [
    ("1.1", ""),
    ("1.4", ""),
    ("1.5", ""),
    ("1.5", SHARDS),
    // Without shards.
    (
        "1.5",
        "sed -i 's/^layout .*/layout linear/' r/db/format; cd r/db
        mv revs s; mv s/0 revs; rmdir s; mv revprops s; mv s/0 revprops; rmdir s",
    ),
    ("1.6", SHARDS),
    ("1.8", SHARDS),
    // Revision properties that are packed later.
    ("1.6", "sed -i 's/sharded 1000/sharded 7/' r/db/format; svnadmin upgrade r >r/out; rm r/out"),
    ("1.8", "sed -i 's/sharded 1000/sharded 7/' r/db/format; svnadmin upgrade r >r/out; rm r/out"),
    ("1.9", SHARDS),
    ("1.14", SHARDS),
    (
        "1.14",
        "sed -i 's/sharded 1000/sharded 3/' r/db/format
        printf '[deltification]\\ncompression=none\\nmax-linear-deltification=1\\n[io]\\nl2p-page-size=4\\np2l-page-size=1\\n' >r/db/fsfs.conf",
    ),
    (
        "1.14",
        "sed -i 's/sharded 1000/sharded 7/' r/db/format
        printf '[deltification]\\ncompression=zlib-9\\nmax-deltification-walk=3\\nenable-dir-deltification=no\\n[rep-sharing]\\nenable-rep-sharing=no\\n' >r/db/fsfs.conf",
    ),
    (
        "1.14",
        "sed -i 's/sharded 1000/sharded 5/' r/db/format
        printf '[deltification]\\ncompression=lz4\\nenable-props-deltification=false\\n[packed-revprops]\\ncompress-packed-revprops=true\\nrevprop-pack-size=1\\n' >r/db/fsfs.conf",
    ),
];
const SHARDS: &str = "sed -i 's/sharded 1000/sharded 7/' r/db/format";

/// How many revisions there are before the programs take turns, and how many then.
const REVISIONS: (usize, usize) = (30, 36);

const READING: &str = "
    svnadmin verify r
    svnadmin verify -q --metadata-only r
    svnadmin dump r
    svnadmin dump --deltas r
    svnadmin dump -q --incremental -r 3:9 r
    svnadmin dump -q --incremental --deltas -r 20:HEAD r
    svnadmin dump -q --deltas -r 12:15 r
    svnadmin dump -q -r 17 r
    svnadmin info r
    svnlook tree --full-paths --show-ids r
    svnlook changed -r 9 --copy-info r
    svnlook history -l 50 --show-ids r
    ";

/// Makes streams `first` and `then` with a history of chance, in the folder above both.
fn streams(pair: &Pair) {
    let root = pair.root();
    shell(pair, root, "svnadmin create source");
    let fs = FileSystem::open(&root.join("source/db")).unwrap();
    random_history(&fs, 40, REVISIONS.1);
    let (first, then) = (REVISIONS.0, REVISIONS.0 + 1);
    shell(
        pair,
        root,
        &format!(
            "svnadmin dump -q source -r 0:{first} >first
            for i in $(seq {then} {}); do svnadmin dump -q source -r $i --incremental >then-$i; done",
            REVISIONS.1
        ),
    );
}

fn shell(pair: &Pair, folder: &Path, script: &str) {
    let mut shell = pair.command(Path::new("sh"), folder);
    let run = Run::from(shell.args(["-ec", script]).output().unwrap());
    assert_eq!(run.code, 0, "{script}\n{run:?}");
}

fn call(pair: &Pair, program: &str, folder: &Path, line: &str, input: Option<&str>) -> Run {
    let mut command = pair.command(Path::new(program), folder);
    command.args(line.split(' '));
    if let Some(name) = input {
        let file = std::fs::File::open(pair.root().join(name)).unwrap();
        command.stdin(Stdio::from(file));
    }
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: output.stdout.escape_ascii().to_string(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Compares what both programs read in one folder.
fn compare(pair: &Pair, folder: &Path, when: &str) {
    let mut told = String::new();
    for line in READING
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (program, words) = line.split_once(' ').unwrap();
        let ours = [SVNADMIN, SVNLOOK][usize::from(program == "svnlook")];
        let theirs = call(pair, program, folder, words, None);
        let ours = call(pair, ours, folder, words, None);
        let is_sound = theirs.code == 0 && !theirs.stderr.contains("E1");
        if theirs != ours || !is_sound {
            let lines = |run: &Run| run.stdout.replace("\\n", "\n");
            let (theirs, ours) = (lines(&theirs) + &theirs.stderr, lines(&ours) + &ours.stderr);
            let same = theirs.lines().zip(ours.lines()).take_while(|(a, b)| a == b);
            let from = same.count().saturating_sub(3);
            let rest = |text: &str| {
                text.lines()
                    .skip(from)
                    .take(8)
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            let (theirs, ours) = (rest(&theirs), rest(&ours));
            let _ = writeln!(told, "{line}\ntheirs:\n{theirs}\nours:\n{ours}");
        }
    }
    assert!(told.is_empty(), "{when}\n{told}");
}

fn load(pair: &Pair, program: &str, folder: &Path, input: &str) {
    let line = "load -q --ignore-uuid --no-flush-to-disk r";
    let run = call(pair, program, folder, line, Some(input));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{input}");
}

/// Packs, which formats before 4 refuse.
fn pack(pair: &Pair, program: &str, folder: &Path) {
    let packed = call(pair, program, folder, "pack -q r", None);
    let is_old = packed.stderr.contains("too old to pack");
    assert!(
        packed.code == 0 && packed.stderr.is_empty() || is_old,
        "{packed:?}"
    );
}

/// Lets both commit in turn, and looks at the repository each time.
fn take_turns(pair: &Pair, folder: &Path, when: &str) {
    for number in REVISIONS.0 + 1..=REVISIONS.1 {
        let program = ["svnadmin", SVNADMIN][number % 2];
        load(pair, program, folder, &format!("then-{number}"));
    }
    compare(pair, folder, &format!("{when}, after turns"));
    for program in [SVNADMIN, "svnadmin"] {
        pack(pair, program, folder);
    }
    compare(pair, folder, &format!("{when}, packed after turns"));
}

#[test]
fn each_reads_verifies_and_goes_on_with_what_the_other_made_in_any_format() {
    let pair = Pair::new(SVN);
    streams(&pair);
    let all = std::env::var_os("SYLVAN_TEST_FORMATS").is_some();
    let (first, step) = if all { (0, 1) } else { (1, 3) };
    for (version, change) in VARIANTS.into_iter().skip(first).step_by(step) {
        for (program, folder) in [("svnadmin", pair.theirs()), (SVNADMIN, pair.ours())] {
            let when = format!("{program} {version} {change}");
            let line = format!("create --compatible-version {version} r");
            assert_eq!(call(&pair, program, &folder, &line, None).code, 0, "{when}");
            shell(&pair, &folder, change);
            load(&pair, program, &folder, "first");
            let unpacked = "rm -rf ../unpacked; cp -a r ../unpacked";
            shell(&pair, &folder, unpacked);
            compare(&pair, &folder, &when);
            take_turns(&pair, &folder, &when);
            // The same, with packed shards from the beginning.
            shell(&pair, &folder, "rm -rf r; mv ../unpacked r");
            pack(&pair, program, &folder);
            take_turns(&pair, &folder, &format!("{when}, packed"));
        }
        let dump = |folder: &Path| {
            let dump = call(&pair, "svnadmin", folder, "dump -q r", None).stdout;
            dump.split_once("Revision-number").unwrap().1.to_owned()
        };
        assert!(
            dump(&pair.ours()) == dump(&pair.theirs()),
            "{version} {change}"
        );
        pair.each(|folder| std::fs::remove_dir_all(folder.join("r")).unwrap());
    }
}
