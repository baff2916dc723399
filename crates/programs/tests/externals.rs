//! `svn:externals` in checkout, update and export, beside Debian's svn.

use std::fs;
use std::path::Path;

use crate::fixture::Fixture;

/// Sets the externals of `trunk`, or of a folder below it, in a new revision.
fn define(fixture: &Fixture, path: &str, value: &str) {
    fixture.commit("externals", |wc| {
        let path = format!("trunk{path}");
        fixture.svn(wc, &["propset", "-q", "svn:externals", value, &path]);
    });
}

/// The working copies whose databases are compared.
fn assert_same(fixture: &Fixture, wcs: &[&str]) {
    fixture.pair.assert_same_tree("wc");
    for wc in wcs {
        fixture.pair.assert_same_db(wc);
    }
}

/// A repository with a library besides the rich tree.
fn with_library() -> Fixture {
    let fixture = Fixture::rich();
    fixture.commit("library", |wc| {
        fixture.svn(wc, &["mkdir", "-q", "lib", "lib/inner dir"]);
        fs::write(wc.join("lib/l.txt"), "library\n").unwrap();
        fs::write(wc.join("lib/inner dir/i.txt"), "$Id$ inner\n").unwrap();
        fixture.svn(wc, &["add", "-q", "lib/l.txt", "lib/inner dir/i.txt"]);
        fixture.svn(
            wc,
            &["ps", "-q", "svn:keywords", "Id", "lib/inner dir/i.txt"],
        );
    });
    fixture.commit("library again", |wc| {
        fs::write(wc.join("lib/l.txt"), "library, changed\n").unwrap();
    });
    fixture
}

/// Externals of every form, some of which fail.
fn every_form(fixture: &Fixture) -> String {
    let (_, no_scheme) = fixture.url.split_once(':').expect("a URL");
    let authority = no_scheme.trim_start_matches('/').find('/').unwrap_or(0);
    let path = if no_scheme.starts_with("///") {
        &no_scheme[2..]
    } else {
        &no_scheme[2 + authority..]
    };
    [
        "# a comment",
        "",
        "^/lib ext/lib",
        "^/lib@4 pegged",
        "-r4 ^/lib revised",
        "-r 5 ^/lib@4 both",
        "old-order -r4 ^/lib",
        &format!("oldest {}/lib", fixture.url),
        "^/lib/l.txt a-file",
        "-r4 ^/lib/l.txt plain/deep/a-file",
        "'^/lib/inner dir/i.txt' 'with blanks'",
        "^/lib/inner%20dir escaped\\ blank",
        "../lib up",
        &format!("{no_scheme}/lib scheme"),
        &format!("{path}/lib server"),
        "^/../repos/lib above",
        "^/nothing/here missing",
        "http://127.0.0.1:1/x unreachable",
        "^/lib plain",
        "^/lib/l.txt plain/b.txt",
        "^/ no-form",
    ]
    .join("\n")
}

const FOLDERS: [&str; 12] = [
    "wc",
    "wc/ext/lib",
    "wc/pegged",
    "wc/revised",
    "wc/both",
    "wc/old-order",
    "wc/oldest",
    "wc/escaped blank",
    "wc/up",
    "wc/scheme",
    "wc/server",
    "wc/above",
];

#[test]
fn checkout_and_update_fetch_every_form() {
    let fixture = with_library();
    define(&fixture, "", &every_form(&fixture));
    let pair = &fixture.pair;
    let run = pair.both_local(&["checkout", &fixture.at("trunk"), "wc"]);
    assert_eq!(run.code, 1, "some externals cannot be fetched");
    assert_same(&fixture, &FOLDERS);
    pair.both_local(&["update", "wc"]);
    pair.both_local(&["update", "-q", "wc"]);
    pair.both_local(&["status", "wc"]);
    assert_same(&fixture, &FOLDERS);
    pair.both(&["update", "--ignore-externals", "wc"]).success();
    pair.both(&[
        "checkout",
        "--ignore-externals",
        &fixture.at("trunk"),
        "bare",
    ])
    .success();
    pair.assert_same_db("bare");
}

#[test]
fn export_fetches_every_form() {
    let fixture = with_library();
    define(&fixture, "", &every_form(&fixture));
    let pair = &fixture.pair;
    let run = pair.both_local(&["export", &fixture.at("trunk"), "tree"]);
    assert_eq!(run.code, 1, "some externals cannot be fetched");
    pair.assert_same_tree("tree");
    pair.both(&["export", "--ignore-externals", &fixture.at("trunk"), "bare"])
        .success();
    pair.assert_same_tree("bare");
    pair.both_local(&["checkout", "-q", &fixture.at("trunk"), "wc"]);
    pair.both_unordered(&["export", "wc", "from wc"]).success();
    pair.assert_same_tree("from wc");
}

#[test]
fn definitions_change() {
    let fixture = with_library();
    let pair = &fixture.pair;
    fixture.server.create_repository("other");
    let other = fixture.server.url("other");
    fixture.svn(
        pair.root(),
        &["mkdir", "-q", "-m", "", &format!("{other}/dir")],
    );
    define(
        &fixture,
        "",
        "^/lib same\n^/lib switched\n^/lib moved\n^/lib gone\n^/lib changed\n\
         ^/lib/l.txt file\n^/lib/l.txt gone-file\n^/lib deep/er/gone\n^/lib foreign\n\
         ^/lib clean-foreign",
    );
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    let localhost = fixture.url.replace("127.0.0.1", "localhost");
    define(
        &fixture,
        "",
        &format!(
            "^/lib same\n^/trunk/text switched\n{localhost}/lib moved\n^/trunk/plain/b.txt file\n\
             {other}/dir foreign\n{other}/dir clean-foreign\n^/lib new"
        ),
    );
    pair.each(|folder| {
        for path in ["wc/changed/l.txt", "wc/foreign/l.txt"] {
            fs::write(folder.join(path), "mine\n").unwrap();
        }
    });
    pair.both_local_unordered(&["update", "wc"]);
    assert_same(
        &fixture,
        &[
            "wc",
            "wc/same",
            "wc/switched",
            "wc/moved",
            "wc/foreign",
            "wc/clean-foreign",
            "wc/new",
        ],
    );
    pair.both(&["update", "wc"]).success();
    pair.both(&["status", "wc"]).success();
    define(&fixture, "", "");
    pair.both_local_unordered(&["update", "wc"]);
    assert_same(&fixture, &["wc"]);
}

#[test]
fn nested_and_obstructed() {
    let fixture = with_library();
    fixture.commit("nested", |wc| {
        fixture.svn(
            wc,
            &["ps", "-q", "svn:externals", "^/branches/one nested", "lib"],
        );
    });
    define(
        &fixture,
        "",
        "^/lib a\n^/lib a/b\n^/lib/l.txt a/c\n^/lib d\n^/lib/l.txt e\n^/lib f",
    );
    let pair = &fixture.pair;
    let obstruct = |folder: &Path| {
        fs::create_dir_all(folder.join("wc/d")).unwrap();
        fs::write(folder.join("wc/e"), "mine\n").unwrap();
        fs::write(folder.join("wc/f"), "mine\n").unwrap();
    };
    pair.each(obstruct);
    for args in [
        ["checkout", &fixture.at("trunk"), "wc"].as_slice(),
        &["update", "wc"],
    ] {
        let run = pair.both_local(args);
        assert_eq!(run.code, 1);
        assert_same(&fixture, &["wc", "wc/a", "wc/a/nested", "wc/a/b"]);
    }
}

#[test]
fn only_whole_folders_have_externals() {
    let fixture = with_library();
    define(&fixture, "", "^/lib ext\n^/lib/l.txt file");
    define(&fixture, "/plain", "^/lib in-plain");
    let pair = &fixture.pair;
    for args in [
        vec!["checkout", "--depth", "files", &*fixture.at("trunk"), "wc"],
        vec!["update", "wc"],
        vec!["update", "--set-depth", "infinity", "wc"],
        vec!["update", "--depth", "empty", "wc"],
        vec!["update", "wc/plain"],
        vec!["update", "--set-depth", "files", "wc/plain"],
        vec!["update", "--set-depth", "empty", "wc"],
    ] {
        pair.both_local_unordered(&args);
        assert_same(&fixture, &["wc"]);
    }
}

#[test]
fn a_property_that_cannot_be_read() {
    let fixture = with_library();
    fixture.commit("bad", |wc| {
        fixture.svn(
            wc,
            &[
                "ps",
                "-q",
                "--force",
                "svn:externals",
                "^/lib fine",
                "trunk",
            ],
        );
    });
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &fixture.at("trunk"), "wc"])
        .success();
    for folder in [pair.ours(), pair.theirs()] {
        // Only the working copy's database can be made to say so.
        fixture.svn(
            &folder,
            &["ps", "-q", "svn:externals", "^/lib fine\n^/lib other", "wc"],
        );
    }
    pair.both_local_unordered(&["update", "wc"]);
    assert_same(&fixture, &["wc", "wc/fine", "wc/other"]);
}

/// Where Subversion deletes the file with its changes, ours leaves it and says so.
#[test]
fn a_changed_file_external_outlives_its_definition() {
    let fixture = Fixture::empty();
    fixture.commit("one", |wc| {
        fixture.svn(wc, &["mkdir", "-q", "from", "to"]);
        fs::write(wc.join("from/f"), "f\n").unwrap();
        fixture.svn(wc, &["add", "-q", "from/f"]);
        let value = "^/from/f changed\n^/from/f kept/same";
        fixture.svn(wc, &["propset", "-q", "svn:externals", value, "to"]);
    });
    fixture.commit("two", |wc| {
        fixture.svn(wc, &["propdel", "-q", "svn:externals", "to"]);
    });
    let pair = &fixture.pair;
    pair.run_ours(&["checkout", "-q", "-r1", &fixture.at("to"), "wc"])
        .success();
    let wc = pair.ours().join("wc");
    fs::write(wc.join("changed"), "mine\n").unwrap();
    let update = pair.run_ours(&["update", "wc"]).success();
    assert_eq!(
        update.stdout,
        "Updating 'wc':\n U   wc\nRemoved external 'wc/changed'\n\
         Left local modifications as 'wc/changed'\nRemoved external 'wc/kept/same'\n\
         Updated to revision 2.\n"
    );
    assert_eq!(fs::read_to_string(wc.join("changed")).unwrap(), "mine\n");
    assert!(!wc.join("kept").exists());
    let status = pair
        .run_theirs_in(&pair.ours(), &["status", "wc"])
        .success();
    assert_eq!(status.stdout, "?       wc/changed\n");
}
