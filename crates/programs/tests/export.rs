//! `svn export` beside Debian's svn.

use std::fs;
use std::os::unix::fs::symlink;

use crate::fixture::Fixture;

#[test]
fn folders_from_the_repository() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.both(&["export", &trunk]).success();
    pair.both(&["export", "-r1", &trunk, "r1"]).success();
    pair.both(&["export", "-q", &format!("{trunk}@2"), "quiet"])
        .success();
    pair.both(&["export", "--ignore-keywords", &trunk, "no keywords"])
        .success();
    for eol in ["LF", "CR", "CRLF"] {
        pair.both(&["export", "--native-eol", eol, &trunk, eol])
            .success();
    }
    for depth in ["empty", "files", "immediates", "infinity"] {
        pair.both(&["export", "--depth", depth, &trunk, depth])
            .success();
    }
    pair.both(&[
        "export",
        &fixture.at("trunk/empty/folder"),
        "./empty folder",
    ]);
    pair.assert_same_tree(".");
    let time = |folder: std::path::PathBuf| {
        fs::metadata(folder.join("trunk/plain/a.txt"))
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(time(pair.theirs()), time(pair.ours()));
}

#[test]
fn files_from_the_repository() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.each(|folder| fs::create_dir_all(folder.join("there/a.txt")).unwrap());
    for (from, to) in [
        ("plain/a.txt", ""),
        ("plain/a.txt", "."),
        ("plain/b.txt", "there"),
        ("plain/a.txt", "there"),
        ("plain/a.txt", "new name"),
        ("plain/a.txt", "no/such/folder"),
        ("plain/a.txt", "a.txt"),
        ("plain/link", "a link"),
        ("text/all", ""),
        ("text/run.sh", ""),
        ("text/CRLF", ""),
        ("odd names/at@sign@", ""),
        ("plain/nothing", ""),
        ("plain/binary", ""),
    ] {
        let url = fixture.at(&format!("trunk/{from}"));
        let mut args = vec!["export", &*url];
        if !to.is_empty() {
            args.push(to);
        }
        pair.both_local(&args);
    }
    pair.both(&[
        "export",
        "--force",
        &fixture.at("trunk/plain/b.txt"),
        "a.txt",
    ])
    .success();
    pair.assert_same_tree(".");
}

#[test]
fn what_is_in_the_way() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    let trunk = fixture.at("trunk");
    pair.each(|folder| {
        fs::create_dir_all(folder.join("folder/plain/b.txt")).unwrap();
        fs::create_dir_all(folder.join("merged/plain")).unwrap();
        fs::write(folder.join("merged/plain/a.txt"), "mine\n").unwrap();
        fs::write(folder.join("merged/plain/mine.txt"), "mine\n").unwrap();
        symlink("../..", folder.join("merged/text")).unwrap();
        fs::write(folder.join("file"), "mine\n").unwrap();
    });
    for args in [
        vec!["export", &trunk, "folder"],
        vec!["export", &trunk, "file"],
        vec!["export", "--force", &trunk, "file"],
        vec!["export", &fixture.at("nothing"), "x"],
        vec!["export", &fixture.at("trunk@77"), "x"],
        vec!["export"],
        vec!["export", "a", "b", "c"],
        vec!["export", &trunk, "svn://host/x"],
        vec!["export", &trunk, "x@3"],
        vec!["export", "not-versioned", "x"],
        vec!["export", "-rBASE", &trunk, "x"],
        vec!["export", "--native-eol", "nonsense", &trunk, "x"],
    ] {
        pair.both_local(&args);
    }
    // Where something is in the way, how far the export came is not fixed.
    for to in ["folder", "merged"] {
        let args = ["export", "-q", "--force", &trunk, to];
        let theirs = pair.run_theirs(&args);
        let ours = pair.run_ours(&args);
        assert_eq!(theirs.code, ours.code, "{to}: {}", ours.stderr);
    }
    assert!(
        !pair.root().join("text").exists(),
        "nothing is written through a symlink"
    );
}

#[test]
fn from_a_working_copy() {
    let fixture = Fixture::rich();
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    for folder in [pair.ours(), pair.theirs()] {
        fs::write(folder.join("wc/text/all"), "$Id$ mine $Rev$\n").unwrap();
        fs::write(folder.join("wc/text/CRLF"), "mine\r\n").unwrap();
        fs::write(folder.join("wc/plain/new"), "new\n").unwrap();
        fs::write(folder.join("wc/plain/unversioned"), "mine\n").unwrap();
        fixture.svn(&folder, &["add", "-q", "wc/plain/new"]);
        fixture.svn(&folder, &["rm", "-q", "wc/plain/b.txt", "wc/empty"]);
        fixture.svn(&folder, &["cp", "-q", "wc/text", "wc/text copied"]);
        for path in ["wc/text/all", "wc/text copied/all"] {
            let file = fs::File::options()
                .write(true)
                .open(folder.join(path))
                .unwrap();
            file.set_modified(
                std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000),
            )
            .unwrap();
        }
    }
    pair.both(&["export", "wc", "working"]).success();
    pair.both(&["export", "-rBASE", "wc", "base"]).success();
    pair.both(&["export", "-r1", "wc", "one"]).success();
    pair.both(&["export", "wc/text/all", "a file"]).success();
    pair.both(&["export", "wc/plain/link", "a link"]).success();
    pair.both(&["export", "--depth", "files", "wc/plain", "files"])
        .success();
    pair.both(&[
        "export",
        "--native-eol",
        "CRLF",
        "--ignore-keywords",
        "wc",
        "crlf",
    ])
    .success();
    pair.assert_same_tree(".");
    for args in [
        vec!["export", "wc", "working"],
        vec!["export", "--force", "wc", "working"],
        vec!["export", "wc/plain/a.txt", "working"],
        vec!["export", "wc/plain/a.txt", "a file"],
        vec!["export", "--force", "wc/plain/a.txt", "a file"],
        vec!["export", "wc/no/thing", "x"],
        vec!["export", "wc/plain/unversioned", "x"],
    ] {
        pair.both_local(&args);
    }
    pair.assert_same_tree(".");
}

/// Line ends that do not fit `svn:eol-style`, which no client of today commits.
fn dump_of_odd_line_ends() -> Vec<u8> {
    let mut dump = b"SVN-fs-dump-format-version: 2\n\nRevision-number: 1\n\
                     Prop-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n"
        .to_vec();
    for style in ["native", "LF", "CR", "CRLF"] {
        for (name, text) in [
            ("lf", "a\nb $Rev$\n"),
            ("crlf", "a\r\nb $Rev$\r\n"),
            ("cr", "a\rb $Rev$\r"),
            ("mixed", "a\nb\r\nc $Rev$\rd"),
        ] {
            for keywords in [false, true] {
                let mut props = format!("K 13\nsvn:eol-style\nV {}\n{style}\n", style.len());
                if keywords {
                    props += "K 12\nsvn:keywords\nV 3\nRev\n";
                }
                props += "PROPS-END\n";
                let name = format!("{style}-{name}{}", if keywords { "-k" } else { "" });
                let (props_length, length) = (props.len(), text.len());
                dump.extend(
                    format!(
                        "Node-path: {name}\nNode-kind: file\nNode-action: add\n\
                         Prop-content-length: {props_length}\nText-content-length: {length}\n\
                         Content-length: {}\n\n{props}{text}\n\n",
                        props_length + length
                    )
                    .bytes(),
                );
            }
        }
    }
    dump
}

#[test]
fn line_ends_that_do_not_fit_their_style() {
    let fixture = Fixture::empty();
    let dump = fixture.pair.root().join("dump");
    fs::write(&dump, dump_of_odd_line_ends()).unwrap();
    let loaded = std::process::Command::new("svnadmin")
        .args(["load", "-q", "--bypass-prop-validation"])
        .arg(fixture.server.repository_path("repos"))
        .stdin(fs::File::open(&dump).unwrap())
        .status();
    assert!(loaded.unwrap().success());
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.url, "wc"]);
    pair.assert_same_tree("wc");
    let names: Vec<_> = fs::read_dir(pair.theirs().join("wc"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".svn")
        .collect();
    assert_eq!(names.len(), 32);
    pair.each(|folder| fs::create_dir(folder.join("one")).unwrap());
    let exports = |from: &str, options: &[&str]| {
        pair.both_local(&[&["export", "--force", from, "tree"], options].concat());
        pair.assert_same_tree("tree");
        for name in &names {
            let (from, to) = (format!("{from}/{name}"), format!("one/{name}"));
            pair.both_local(&[&["export", "--force", &from, &to], options].concat());
        }
        pair.assert_same_tree("one");
        pair.each(|folder| {
            fs::remove_dir_all(folder.join("tree")).unwrap();
            fs::remove_dir_all(folder.join("one")).unwrap();
            fs::create_dir(folder.join("one")).unwrap();
        });
    };
    for from in [&*fixture.url, "wc"] {
        exports(from, &["-q"]);
        exports(from, &["-q", "--native-eol", "CRLF"]);
    }
    exports("wc", &["-q", "-rBASE"]);
    exports("wc", &["-q", "--ignore-keywords"]);
    // Locally made so.
    pair.each(|folder| {
        for name in &names {
            fs::write(folder.join("wc").join(name), "x\r\ny\nz\r $Rev$").unwrap();
        }
    });
    exports("wc", &["-q"]);
    exports("wc", &["-q", "--native-eol", "LF"]);
    exports("wc", &["-q", "--native-eol", "CR", "--ignore-keywords"]);
    for text in [
        "a\r\nb\n",
        "a\nb\r\n",
        "a\nb\r",
        "a\rb\r\n",
        "a\r\nb\rc",
        "\n\r",
        "\r\n\r",
    ] {
        pair.each(|folder| fs::write(folder.join("wc/native-lf"), text).unwrap());
        let run = pair.both_local(&["export", "--force", "wc/native-lf", "one/f"]);
        assert_eq!(run.code, 1, "{text:?}");
    }
    for name in &names {
        pair.both_local(&["cat", &format!("wc/{name}")]);
        pair.both_local(&["cat", &fixture.at(name)]);
        pair.both_local(&["cat", "--ignore-keywords", &fixture.at(name)]);
    }
}
