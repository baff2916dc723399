use sylvan_core::translate::{KeywordInfo, Translation, Translator};
use sylvan_core::{Props, TimeZone, Timestamp, Url};

use crate::sandbox::{Sandbox, ZONE};

const KEYWORDS: &[&str] = &[
    "Rev",
    "Revision",
    "LastChangedRevision",
    "Date",
    "LastChangedDate",
    "Author",
    "LastChangedBy",
    "URL",
    "HeadURL",
    "Id",
    "Header",
    "Custom",
    "rev",
    "Nothing",
    "Long",
];

/// Every form of every keyword, in lines and without them.
fn content() -> String {
    let mut text = String::new();
    for name in KEYWORDS {
        for form in [
            "$N$",
            "$N:$",
            "$N: $",
            "$N: old $",
            "$N:: $",
            "$N::   $",
            "$N::                 $",
            "$N:: 12345678#$",
            "$N::x$",
            "$N:old$",
            "$N: a$b $",
            "$N:: a$b     $",
            "$N",
            "N$",
            "$$N$$",
            "$N$N$",
            "$N $",
            "$N:  $",
            "$N:: $N$",
            "$N:x$ $N$ $N:: y $",
        ] {
            text.push_str(&form.replace('N', name));
            text.push_str(" and\n");
        }
    }
    for len in [
        240, 247, 248, 249, 250, 251, 252, 253, 254, 255, 256, 300, 600,
    ] {
        text.push_str(&format!("$Rev: {} $$Rev$\n", "v".repeat(len)));
        text.push_str(&format!("$Rev:: {} $$Rev$\n", "v".repeat(len)));
        text.push_str(&format!("$Rev{}$Rev$\n", "v".repeat(len)));
        text.push_str(&format!("$Rev:{}$Rev$ $Rev$\n", "v".repeat(len)));
    }
    text.push_str("$Rev:x$ $Rev$ at the end");
    text
}

fn run(mut translator: Translator, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in text.chunks(7) {
        translator.push(chunk, &mut out).unwrap();
    }
    translator.finish(&mut out).unwrap();
    out
}

fn assert_same_lines(ours: &[u8], theirs: &[u8], what: &str) {
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        text.split_inclusive('\n').map(str::to_owned).collect()
    };
    for (ours, theirs) in lines(ours).iter().zip(&lines(theirs)) {
        assert_eq!(ours, theirs, "{what}");
    }
    assert_eq!(ours, theirs, "{what}");
}

#[test]
#[ignore = "needs svn"]
fn keywords_and_line_ends_as_svn() {
    let sandbox = Sandbox::new();
    sandbox.svn(["mkdir", "-q", "wc/a b"]);
    let custom = "Custom=[%r|%a|%b|%d|%D|%P|%R|%u|%_|%%|%H|%I|%x|%";
    let long = format!("Long={}", "w".repeat(300));
    let cases = [
        (
            "all",
            format!("Rev Date Author URL Id Header {custom} {long}"),
            None,
        ),
        ("some", "LastChangedDate headurl ID".to_owned(), None),
        ("none", "Bogus".to_owned(), None),
        ("native", "Rev".to_owned(), Some("native")),
        ("crlf", "Rev Author".to_owned(), Some("CRLF")),
        ("cr", "Id".to_owned(), Some("CR")),
    ];
    let raw = content();
    for (name, keywords, eol) in &cases {
        let path = format!("wc/a b/{name} ä.txt");
        sandbox.write(&path, &raw);
        sandbox.svn(["add", "-q", "--no-auto-props", &path]);
        sandbox.svn(["propset", "-q", "svn:keywords", keywords, &path]);
        if let Some(eol) = eol {
            sandbox.svn(["propset", "-q", "svn:eol-style", eol, &path]);
        }
    }
    sandbox.svn(["commit", "-q", "-m", "", "--username", "jo", "wc"]);
    sandbox.svn(["update", "-q", "wc"]);
    sandbox.svn(["checkout", "-q", &sandbox.root_url(), "other"]);
    let date = sandbox.svn(["propget", "--strict", "--revprop", "-r1", "svn:date", "wc"]);
    let zone = TimeZone::from_posix(ZONE).unwrap();
    let root = Url::parse(&sandbox.root_url()).unwrap();
    for (name, keywords, eol) in &cases {
        let path = format!("a b/{name} ä.txt");
        let url = Url::parse(&format!("{}/{path}", sandbox.root_url())).unwrap();
        let info = KeywordInfo {
            rev: "1",
            url: Some(&url),
            repos_root: Some(&root),
            author: "jo",
            date: Timestamp::parse_iso(&date).ok(),
            zone: &zone,
        };
        let mut props = Props::new();
        props.insert("svn:keywords".to_owned(), keywords.clone().into_bytes());
        if let Some(eol) = eol {
            props.insert("svn:eol-style".to_owned(), eol.as_bytes().to_vec());
        }
        let translation = Translation::from_props(&props, &info);
        let url = format!("{}@1", url.as_str());
        let pristine = sandbox.svn(["cat", "--ignore-keywords", &url]);
        let contracted = run(translation.to_normal(true).unwrap(), raw.as_bytes());
        assert_same_lines(&contracted, pristine.as_bytes(), name);
        let checked_out = std::fs::read(sandbox.path(&format!("other/{path}"))).unwrap();
        let expanded = run(translation.to_working(), pristine.as_bytes());
        assert_same_lines(&expanded, &checked_out, name);
    }
}
