//! Damaged repositories: whatever byte is another, verification reports what Debian's does, and ends.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sylvan_core::Revnum;
use sylvan_io::Cancel;
use sylvan_repos::{Notice, Repos, VerifyOptions, VerifyReceiver};
use sylvan_testutil::{Chance, Pair, Run};

use crate::{SVN, SVNADMIN};

/// How many bytes are changed in each format. `SYLVAN_TEST_FLIPS` is another number; `each` is each
/// byte once.
const FLIPS: usize = 60;

/// Makes a small repository `r` of which a part is packed.
fn scene(pair: &Pair, folder: &Path, version: &str) {
    let script = format!(
        "rm -rf r wc; svnadmin create --compatible-version {version} r
        sed -i 's/sharded 1000/sharded 4/' r/db/format; url=file://$PWD/r
        svn checkout -q $url wc; cd wc; svn mkdir -q trunk branches trunk/d
        seq 300 >trunk/numbers; echo text >trunk/d/text; svn add -q --force trunk; svn commit -q -m one
        seq 3 400 >trunk/numbers; svn ps -q p value trunk/d trunk/numbers; svn commit -q -m two
        svn update -q; svn cp -q trunk branches/b; svn commit -q -m 'a branch'
        echo more >>branches/b/d/text; cp trunk/numbers trunk/same; svn add -q trunk/same; svn commit -q -m four
        svn update -q; svn ps -q svn:mergeinfo /branches/b:3-4 trunk; svn rm -q trunk/d; svn commit -q -m five
        svn mkdir -q -m six $url/six; svn mkdir -q -m seven $url/seven; svn mkdir -q -m eight $url/eight
        printf 'a\\0b' >trunk/binary; svn add -q trunk/binary; seq 5 500 >trunk/numbers; svn commit -q -m nine
        svn update -q; svn mv -q trunk/same trunk/other; svn commit -q -m ten; cd ..; svnadmin pack -q r
        rm -rf wc; chmod -R u+w r"
    );
    let mut shell = pair.command(Path::new("sh"), folder);
    let run = Run::from(shell.args(["-ec", &script]).output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
}

/// All files of the file system but its settings, and what is no longer read.
fn files(folder: &Path, found: &mut Vec<(PathBuf, usize)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            files(&path, found);
        } else if name != "fsfs.conf" {
            let len = std::fs::metadata(&path).unwrap().len();
            found.push((path, usize::try_from(len).unwrap()));
        }
    }
}

/// Returns the file of a byte, counted over all, and its place there.
fn place(all: &[(PathBuf, usize)], mut at: usize) -> (&Path, usize) {
    for (path, len) in all {
        if at < *len {
            return (path, at);
        }
        at -= len;
    }
    panic!("there are fewer bytes");
}

/// Verifies with little memory and time.
fn verify(pair: &Pair, folder: &Path, program: &str) -> Run {
    let script = format!("ulimit -v 1500000; exec timeout 20 {program} verify -q r");
    let mut shell = pair.command(Path::new("sh"), folder);
    Run::from(shell.args(["-ec", &script]).output().unwrap())
}

/// Verifies in this process, for there are many; returns what is wrong.
fn verify_here(folder: &Path) -> Option<String> {
    let check = || -> sylvan_core::Result<()> {
        let repos = Repos::open(&folder.join("r"))?;
        let options = VerifyOptions {
            threads: 1,
            ..VerifyOptions::default()
        };
        repos.verify(&options, &Cancel::new(), &mut First)
    };
    check().err().map(|error| error.to_string())
}

/// Ends with the first error.
struct First;

impl VerifyReceiver for First {
    fn notice(&mut self, _: Notice) -> sylvan_core::Result<()> {
        Ok(())
    }

    fn failed(&mut self, _: Option<Revnum>, error: sylvan_core::Error) -> sylvan_core::Result<()> {
        Err(error)
    }
}

/// Changes one byte each time; the program itself is run for one in a hundred and for those of which
/// nothing is found.
#[expect(clippy::print_stdout, reason = "numbers of long runs")]
fn change_bytes(seed: u64, version: &str) {
    let pair = Pair::new(SVN);
    let folder = pair.ours();
    scene(&pair, &folder, version);
    assert_eq!(verify_here(&folder), None);
    let mut all = Vec::new();
    files(&folder.join("r/db"), &mut all);
    let is_cache = |(path, _): &(PathBuf, usize)| path.ends_with("rep-cache.db");
    let cache = all.remove(all.iter().position(is_cache).unwrap());
    let total: usize = all.iter().map(|(_, len)| len).sum();
    let mut chance = Chance::new(700 + seed);
    let asked = std::env::var("SYLVAN_TEST_FLIPS").unwrap_or_default();
    let flips = match asked.as_str() {
        "" => FLIPS,
        "each" => total,
        number => number.parse().unwrap(),
    };
    let (mut found, mut told, mut longest) = (0, Vec::new(), Duration::ZERO);
    for number in 0..flips {
        // Much of that database is empty.
        let (path, at) = match chance.below(20) {
            _ if asked == "each" => place(&all, number),
            0 => (&*cache.0, chance.below(cache.1)),
            _ => place(&all, chance.below(total)),
        };
        let good = std::fs::read(path).unwrap();
        let mut bad = good.clone();
        bad[at] ^= [1 << chance.below(8), 1 + chance.below(255) as u8][chance.below(2)];
        std::fs::write(path, &bad).unwrap();
        let started = Instant::now();
        let here = catch_unwind(|| verify_here(&folder));
        longest = longest.max(started.elapsed());
        found += usize::from(!matches!(here, Ok(None)));
        let is_missed = matches!(here, Ok(None));
        let mut bad_ours = here.is_err();
        if !bad_ours && number % 100 == 0 {
            let ours = verify(&pair, &folder, SVNADMIN);
            bad_ours = ours.code != i32::from(!is_missed) || ours.stderr.contains("panicked");
        }
        if is_missed || bad_ours {
            let theirs = verify(&pair, &folder, "svnadmin");
            if bad_ours || theirs.code != 0 {
                let near = bad[at.saturating_sub(40)..bad.len().min(at + 40)].escape_ascii();
                let path = path.strip_prefix(&folder).unwrap().display();
                let (old, new) = (good[at], bad[at]);
                told.push(format!(
                    "{path} {at}, {old:#x} to {new:#x}: {near}\n{theirs:?}\n{here:?}"
                ));
            }
        }
        std::fs::write(path, &good).unwrap();
    }
    println!("{version}: {total} bytes, {found} of {flips} found, the longest took {longest:?}",);
    let count = told.len();
    assert!(count == 0, "{version}: {count}\n{}", told.join("\n"));
    assert_eq!(verify(&pair, &folder, SVNADMIN).stderr, "");
}

#[test]
fn what_debians_verification_finds_in_format_6_ours_finds() {
    change_bytes(0, "1.8");
}

#[test]
fn what_debians_verification_finds_in_format_7_ours_finds() {
    change_bytes(1, "1.9");
}

#[test]
fn what_debians_verification_finds_in_format_8_ours_finds() {
    change_bytes(2, "1.14");
}
