//! Differences compared with those of Debian's svnlook: one repository holds many pairs of texts,
//! in two revisions.

mod pairs;
mod props;

use std::fs;

use sylvan_diff::{Options, Source, merge, unified};
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

/// Has Debian's svn merge, and merges too.
fn compare_merges(texts: &[[Vec<u8>; 3]]) {
    let sandbox = Sandbox::new();
    sandbox.sh("svn checkout -q $URL wc");
    let pairs: Vec<_> = texts
        .iter()
        .map(|[original, _, latest]| (original.clone(), latest.clone()))
        .collect();
    commit(&sandbox, &pairs, 0);
    commit(&sandbox, &pairs, 1);
    sandbox.sh("svn update -qr1 wc");
    for (at, [_, mine, _]) in texts.iter().enumerate() {
        fs::write(sandbox.join(format!("wc/f{at:04}")), mine).unwrap();
    }
    sandbox.sh("cd wc; find . -name 'f????' | xargs touch -d '2003-03-03'");
    sandbox.sh("svn update -q --accept postpone wc");
    let mut conflicts = 0;
    for (at, [original, mine, latest]) in texts.iter().enumerate() {
        let theirs = fs::read(sandbox.join(format!("wc/f{at:04}"))).unwrap();
        let sources: [&dyn Source; 3] = [&&original[..], &&mine[..], &&latest[..]];
        let options = Options::default();
        let diff = sylvan_diff::diff3(sources, &options, &mut || Ok(())).unwrap();
        let mut ours = Vec::new();
        let labels = merge::Labels::new(".r1", ".mine", ".r2");
        let mut sink = |bytes: &[u8]| {
            ours.extend_from_slice(bytes);
            Ok(())
        };
        merge::write(&diff, sources, &labels, merge::Style::All, &mut sink).unwrap();
        let is_marked = sandbox.join(format!("wc/f{at:04}.mine")).exists();
        assert_eq!(diff.has_conflicts(), is_marked, "{at}");
        conflicts += usize::from(is_marked);
        assert!(
            ours == theirs,
            "{at}\n{}\n{}\n{}\nours:\n{}\ntheirs:\n{}",
            shown(original, 2000),
            shown(mine, 2000),
            shown(latest, 2000),
            shown(&ours, 5000),
            shown(&theirs, 5000)
        );
    }
    assert!(conflicts > texts.len() / 10 && conflicts < texts.len());
}

#[test]
fn small_texts_are_merged_as_svn_does() {
    let mut random = pairs::Random::new(3);
    let texts: Vec<_> = (0..600)
        .map(|_| pairs::three(&mut random))
        .filter(|[original, mine, latest]| mine != original && latest != original && mine != latest)
        .collect();
    compare_merges(&texts);
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
