//! Differences of properties, compared with those of Debian's svn.

use std::fs;

use sylvan_core::Props;
use sylvan_diff::props::{MergeinfoStyle, PropChanges, write};
use sylvan_testutil::Sandbox;

use crate::pairs::{self, Random};

/// Sets a property of many folders to the first of each pair and commits, and then to the second.
fn history(sandbox: &Sandbox, name: &str, values: &[(Vec<u8>, Vec<u8>)]) {
    sandbox.sh("svn checkout -q $URL wc; mkdir v");
    for (at, (old, new)) in values.iter().enumerate() {
        fs::create_dir(sandbox.join(format!("wc/d{at:03}"))).unwrap();
        fs::write(sandbox.join(format!("v/1.d{at:03}")), old).unwrap();
        fs::write(sandbox.join(format!("v/2.d{at:03}")), new).unwrap();
    }
    sandbox.sh(&format!(
        "cd wc; svn add -q d*
         for which in 1 2; do
             for d in d*; do svn propset -q {name} -F ../v/$which.$d $d; done
             svn commit -qm $which; svn update -q
         done"
    ));
}

/// What svn prints of a folder, below the lines that name it.
fn theirs(sandbox: &Sandbox, at: usize) -> Vec<u8> {
    let url = format!("{}/d{at:03}", sandbox.url());
    let output = sandbox.run("svn", &["diff", "-r1:2", &url]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let line = "_".repeat(67) + "\n";
    let text = output.stdout;
    let start = text
        .windows(line.len())
        .position(|part| part == line.as_bytes());
    start.map_or_else(Vec::new, |start| text[start + line.len()..].to_vec())
}

fn ours(name: &str, (old, new): &(Vec<u8>, Vec<u8>)) -> Vec<u8> {
    let before = Props::from([(name.to_owned(), old.clone())]);
    let changes = PropChanges::from([(name.to_owned(), Some(new.clone()))]);
    let mut out = Vec::new();
    let mut sink = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok(())
    };
    let style = MergeinfoStyle::Merges;
    write(&changes, &before, 3, style, &mut sink, &mut || Ok(())).unwrap();
    out
}

fn compare(name: &str, values: &[(Vec<u8>, Vec<u8>)]) {
    let sandbox = Sandbox::new();
    history(&sandbox, name, values);
    for (at, value) in values.iter().enumerate() {
        let (ours, theirs) = (ours(name, value), theirs(&sandbox, at));
        assert_eq!(
            ours.escape_ascii().to_string(),
            theirs.escape_ascii().to_string(),
            "{} {}",
            value.0.escape_ascii(),
            value.1.escape_ascii()
        );
    }
}

#[test]
fn values_differ_as_svn_says() {
    let mut random = Random::new(3);
    let values: Vec<_> = (0..60).map(|_| pairs::small(&mut random)).collect();
    compare("name", &values);
}

#[test]
fn merges_are_those_that_svn_tells() {
    let mut random = Random::new(4);
    let mut one = || pairs::mergeinfo(&mut random);
    let values: Vec<_> = (0..40).map(|_| (one(), one())).collect();
    compare("svn:mergeinfo", &values);
}
