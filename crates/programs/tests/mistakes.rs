//! Mistakes in the arguments of commands: revisions, pegs, targets that are missing, of the wrong
//! kind, not versioned, in no working copy, or too many.

use std::fmt::Write as _;
use std::fs;

use crate::fixture::Fixture;

/// Two working copies of `trunk` as they were in revision 1, and what is none.
fn scene() -> Fixture {
    let fixture = Fixture::empty();
    fixture.commit("one", |wc| {
        fixture.svn(wc, &["mkdir", "-q", "trunk", "trunk/d"]);
        fs::write(wc.join("trunk/f"), "one\n").unwrap();
        fs::write(wc.join("trunk/d/g"), "one\n").unwrap();
        fixture.svn(wc, &["add", "-q", "trunk/f", "trunk/d/g"]);
    });
    fixture.commit("two", |wc| fs::write(wc.join("trunk/f"), "two\n").unwrap());
    let trunk = fixture.at("trunk");
    for name in ["wc", "other"] {
        let args = ["checkout", "-q", "-r1", &trunk, name];
        fixture.pair.both(&args).success();
    }
    fixture.pair.each(|folder| {
        fs::write(folder.join("plain"), "").unwrap();
        fs::create_dir(folder.join("dir")).unwrap();
        fs::write(folder.join("wc/unversioned"), "").unwrap();
        fs::create_dir(folder.join("wc/unversioned-dir")).unwrap();
        fs::write(folder.join("list"), "wc/f\nnone\n").unwrap();
        fs::write(folder.join("wc/added"), "").unwrap();
    });
    fixture
        .pair
        .each(|folder| drop(fixture.svn(folder, &["add", "-q", "wc/added"])));
    fixture
}

/// Runs each line with both; `URL` is the repository's, `''` an empty word.
fn walk(lines: &str) {
    let fixture = scene();
    let pair = &fixture.pair;
    let mut differences = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<_> = line
            .split(' ')
            .map(|word| match word {
                "''" => String::new(),
                word => word.replace("URL", &fixture.url),
            })
            .collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let theirs = pair.run_theirs(&words).without(&pair.theirs());
        let ours = pair.run_ours(&words).without(&pair.ours());
        if theirs != ours {
            let _ = writeln!(
                differences,
                "svn {line}\n  svn:  {theirs:?}\n  ours: {ours:?}"
            );
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
    pair.assert_same_tree(".");
    pair.assert_same_db("wc");
}

#[test]
fn of_checkout() {
    walk(
        "checkout
        checkout wc
        checkout wc other
        checkout plain
        checkout ''
        checkout URL/none new
        checkout URL/trunk/f new
        checkout URL/trunk/f@1 new
        checkout URL/trunk@99 new
        checkout -r 99 URL/trunk new
        checkout -r BASE URL/trunk new
        checkout -r COMMITTED URL/trunk new
        checkout -r PREV URL/trunk new
        checkout -r WORKING URL/trunk new
        checkout -r {nonsense} URL/trunk new
        checkout -r {1999-01-01} URL/trunk new
        checkout -r 1:2 URL/trunk new
        checkout URL/trunk@foo new
        checkout URL/trunk@ new1
        checkout URL/trunk@BASE new
        checkout URL/trunk@PREV new
        checkout -r HEAD URL/trunk@PREV new
        checkout URL/trunk new@3
        checkout URL/trunk new4@
        checkout URL/trunk plain
        checkout URL/trunk wc/f
        checkout URL/trunk plain/x
        checkout URL/none@1 -r 2 new
        checkout URL/trunk/d wc
        checkout URL wc
        checkout URL/trunk wc/d
        checkout URL/trunk/d wc/unversioned-dir/deep
        checkout URL/trunk/../trunk new
        checkout ^/trunk new
        checkout ^/trunk@1 wc other
        checkout URL/trunk URL/none many
        checkout URL/none URL/trunk many2
        checkout URL/trunk wc none here
        checkout --depth exclude URL/trunk new
        checkout --depth unknown URL/trunk new
        checkout --set-depth empty URL/trunk new
        checkout -N --depth empty URL/trunk new5
        checkout svn new
        checkout nosuch://host/x new
        checkout http:/host/x new
        checkout svn://127.0.0.1:1/x new
        checkout -q -q URL/trunk new6
        checkout --username URL/trunk new",
    );
}

#[test]
fn of_update() {
    walk(
        "update none
        update none plain
        update plain dir
        update wc/unversioned
        update wc/unversioned-dir
        update wc/none
        update wc/none/deeper
        update wc/unversioned-dir/none
        update wc/f/below
        update dir
        update /
        update ''
        update URL/trunk
        update wc URL/trunk
        update ^/trunk
        update wc@1
        update wc@
        update wc@foo wc
        update wc/f@HEAD
        update -r 99 wc
        update -r -1 wc
        update -r foo wc
        update -r 0 wc/f
        update -r 1 wc/f
        update -r {nonsense} wc
        update -r 1:2 wc
        update -r 1 -r 2 wc
        update -r WORKING wc
        update -r BASE wc
        update -r COMMITTED wc/d
        update -r PREV wc/d
        update -r PREV wc
        update -c 1 wc
        update --depth exclude wc
        update --set-depth exclude wc
        update --set-depth exclude wc/f
        update --set-depth exclude wc/f
        update --set-depth infinity wc/f
        update --set-depth files wc/f
        update --set-depth exclude wc/none
        update --set-depth exclude wc/added
        update --set-depth nonsense wc
        update --depth empty --set-depth empty wc
        update wc/added
        update wc plain other none
        update --parents wc/none/x
        update --parents none/x
        update --parents wc/unversioned-dir/x
        update --targets list
        update --targets none
        update --targets plain --targets list
        update --accept nonsense wc
        update --changelist none wc
        update --xml wc
        update -v wc
        update --force --ignore-externals --adds-as-modification wc
        update .svn
        update wc/.svn
        update wc/.svn/tmp",
    );
}

#[test]
fn of_export() {
    walk(
        "export
        export wc
        export none
        export none x1
        export wc/none x2
        export wc/unversioned x3
        export wc/added x4
        export -r BASE wc/added x5
        export plain x6
        export dir x7
        export wc a b
        export wc x8@1
        export wc x9@
        export wc URL/trunk
        export URL/trunk URL/x
        export URL/none x10
        export URL/trunk@99 x11
        export -r 99 URL/trunk x12
        export -r 99 wc x13
        export -r BASE URL/trunk x14
        export -r PREV URL/trunk/f x15
        export -r COMMITTED wc/f x16
        export -r PREV wc/f x17
        export -r PREV wc/d x17b
        export wc@PREV x17c
        export -r 1:2 wc x18
        export -r foo wc x19
        export wc@foo x20
        export wc/d@1 x21
        export wc/d@99 x22
        export URL/trunk dir
        export URL/trunk plain
        export URL/trunk/f dir
        export URL/trunk/f plain
        export URL/trunk/f none/x
        export URL/trunk none/x
        export wc none/x
        export wc/f none/x
        export wc/f dir
        export wc/f plain
        export wc dir
        export wc plain
        export wc/f wc/f
        export --native-eol nonsense URL/trunk/f x23
        export --native-eol native wc x24
        export --depth exclude wc x25
        export --depth unknown wc x25b
        export --set-depth empty wc x26
        export --force URL/trunk plain
        export --force wc dir
        export ^/trunk/f x27
        export ^/trunk/none x28
        export URL/trunk/f wc/d
        export ''
        export wc/.svn x29
        export -q wc/d
        export URL/trunk/d/g",
    );
}

#[test]
fn of_commands_that_only_read() {
    walk(
        "cat
        cat ''
        cat wc
        cat wc/unversioned wc/f
        cat wc/added
        cat -r BASE wc/added
        cat -r HEAD wc/added
        cat none wc/f plain
        cat -r 1:2 wc/f
        cat -r 99 wc/f
        cat wc/f@99
        cat wc/f@foo
        cat URL/trunk URL/none URL/trunk/f
        cat -r PREV URL/trunk/f
        cat -r BASE URL/trunk/f
        cat URL/trunk/f@BASE
        cat .svn
        list none
        list wc/none wc
        list wc/unversioned wc/d
        list wc/added
        list plain
        list dir
        list URL/none URL/trunk
        list URL/trunk@99
        list -r PREV URL/trunk
        list -r 1:2 wc
        list --depth nonsense wc
        list --depth exclude wc
        log none
        log wc/none
        log wc/unversioned
        log wc/added
        log plain
        log dir
        log wc other
        log wc URL/trunk
        log URL/trunk URL/other
        log URL/trunk /f
        log URL/trunk none
        log URL/none
        log URL/trunk@99
        log -r 99 wc
        log -r 1:99 URL/trunk
        log -r PREV URL/trunk
        log -r BASE URL/trunk
        log -r foo wc
        log -c foo wc
        log -c 99 wc
        log -c 1 -r 2 wc
        log -l 0 wc
        log -l x wc
        log --xml --diff wc
        log --quiet --diff --xml wc
        log --with-revprop x wc
        log --xml --with-revprop x --with-no-revprops wc
        log --incremental wc
        info none
        info --show-item kind wc/none wc/f
        info wc/unversioned
        info plain dir
        info URL/none
        info URL/trunk@99
        info -r 99 wc
        info -r foo wc
        info wc@99
        info wc@foo
        info wc/added@HEAD
        info -r HEAD wc/added
        info --show-item nonsense wc
        info --show-item url --xml wc
        info --show-item url --incremental wc
        info --incremental wc
        info --no-newline wc
        info --show-item url --no-newline wc other
        info --show-item url wc none
        info --show-item last-changed-author wc
        info --show-item wc-root URL/trunk
        info --show-item depth URL/trunk
        info --changelist none wc
        status none
        status none wc
        status plain
        status dir
        status wc/none
        status wc/unversioned
        status wc/unversioned-dir
        status wc/unversioned-dir/x
        status URL/trunk
        status wc@1
        status wc@
        status -u none
        status -u dir
        status -u wc/none
        status -u -r 99 wc
        status -r 1 wc
        status --xml none
        status --incremental wc
        status --depth nonsense wc
        status --depth exclude wc
        status ''",
    );
}

#[test]
fn of_cleanup_and_help() {
    walk(
        "cleanup none
        cleanup plain
        cleanup dir
        cleanup wc/f
        cleanup wc/none
        cleanup wc/unversioned
        cleanup wc/unversioned-dir
        cleanup wc/d
        cleanup URL/trunk
        cleanup wc URL/trunk
        cleanup wc@1
        cleanup wc@
        cleanup wc/added
        cleanup none wc
        cleanup wc none
        cleanup --remove-unversioned dir
        cleanup --remove-unversioned none
        cleanup --remove-ignored wc/f
        cleanup --vacuum-pristines dir
        cleanup --vacuum-pristines --include-externals wc
        cleanup --depth empty wc
        cleanup -r 1 wc
        cleanup --diff3-cmd x wc
        cleanup /
        cleanup ''
        help nonsense
        help nonsense nothing
        help --depth empty
        --version x y
        --version --depth empty
        --version -v x
        --version --quiet
        --version -q -v nonsense",
    );
}
