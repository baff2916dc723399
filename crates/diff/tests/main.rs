//! Differences compared with those of Debian's svnlook: one repository holds many pairs of texts,
//! in two revisions.

mod pairs;
mod props;

use std::fs;

use sylvan_diff::{Options, Source, unified};
use sylvan_testutil::Sandbox;

/// What is tried with every pair.
const WORDS: [&str; 8] = [
    "-u",
    "-b",
    "-w",
    "--ignore-eol-style",
    "-b --ignore-eol-style",
    "-p",
    "-U 0",
    "-w -p -U 7",
];

fn commit(sandbox: &Sandbox, texts: &[(Vec<u8>, Vec<u8>)], which: usize) {
    for (at, pair) in texts.iter().enumerate() {
        let text = if which == 0 { &pair.0 } else { &pair.1 };
        fs::write(sandbox.join(format!("wc/f{at:04}")), text).unwrap();
    }
    // Times tell svn what changed, and they are coarse.
    sandbox.sh("cd wc; find . -name 'f*' -newermt 1970-01-02 | xargs touch -d '2001-01-01'");
    if which == 0 {
        sandbox.sh("cd wc; svn add -q f*; svn propdel -q svn:mime-type f*; svn commit -qm 1");
    } else {
        sandbox.sh("cd wc; find . -name 'f*' | xargs touch -d '2002-02-02'; svn commit -qm 2");
    }
}

/// What svnlook prints for a file.
fn block(name: &str, pair: [&[u8]; 2], dates: &[String; 2], options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    let sources: [&dyn Source; 2] = [&pair[0], &pair[1]];
    let diff = sylvan_diff::diff(sources, options, &mut || Ok(())).unwrap();
    if diff.is_empty() {
        return out;
    }
    out.extend(format!("Modified: {name}\n{}\n", "=".repeat(67)).bytes());
    let label = |which: usize| format!("{name}\t{} UTC (rev {})", dates[which], which + 1);
    let mut sink = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok(())
    };
    unified::write(&diff, sources, [&label(0), &label(1)], options, &mut sink).unwrap();
    out.push(b'\n');
    out
}

fn compare(texts: &[(Vec<u8>, Vec<u8>)]) {
    let sandbox = Sandbox::new();
    sandbox.sh("svn checkout -q $URL wc");
    commit(&sandbox, texts, 0);
    commit(&sandbox, texts, 1);
    let dates = ["1", "2"].map(|revision| {
        let date = sandbox.sh(&format!(
            "svn propget --revprop -r {revision} svn:date $URL"
        ));
        format!("{} {}", &date[..10], &date[11..19])
    });
    for words in WORDS {
        let output = sandbox.run("svnlook", &["diff", "repo", "-r2", "-x", words]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let options = Options::parse(&words.split(' ').collect::<Vec<_>>()).unwrap();
        let mut rest = &output.stdout[..];
        for (at, (old, new)) in texts.iter().enumerate() {
            if old == new {
                continue;
            }
            let ours = block(&format!("f{at:04}"), [old, new], &dates, &options);
            assert!(
                rest.starts_with(&ours),
                "{words}: pair {at}\n{}\n{}\nours:\n{}\ntheirs:\n{}",
                shown(old, 2000),
                shown(new, 2000),
                shown(&ours, 5000),
                shown(rest, ours.len().min(5000) + 500)
            );
            rest = &rest[ours.len()..];
        }
        assert!(rest.is_empty(), "{words}: {}", rest.escape_ascii());
    }
}

fn shown(text: &[u8], most: usize) -> String {
    text[..text.len().min(most)].escape_ascii().to_string()
}

#[test]
fn small_texts_differ_as_svnlook_says() {
    let mut random = pairs::Random::new(1);
    let texts: Vec<_> = (0..900).map(|_| pairs::small(&mut random)).collect();
    compare(&texts);
}

#[test]
fn large_texts_differ_as_svnlook_says() {
    let mut random = pairs::Random::new(2);
    let texts: Vec<_> = (0..12).map(|_| pairs::large(&mut random)).collect();
    compare(&texts);
}
