//! Commits that end before they are done.

use std::os::unix::fs::PermissionsExt;

use sylvan_core::Revnum;
use sylvan_repos::Repos;

use crate::scene::{HELLO, Scene, begin, file};

/// Changes two files of the scene.
fn commit() -> Vec<u8> {
    [
        begin("second").as_bytes(),
        b"( open-root ( ( 1 ) 1:r ) ) ( open-dir ( 5:trunk 1:r 1:t ( 1 ) ) ) ",
        b"( change-dir-prop ( 1:t 5:color ( 4:blue ) ) ) ( delete-entry ( 7:trunk/a ( 1 ) 1:t ) ) ",
        &file("trunk/new", "t", "three"),
        b"( close-dir ( 1:t ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ",
    ]
    .concat()
}

#[test]
fn a_client_that_vanishes_leaves_nothing() {
    vanish(&Scene::new());
}

#[test]
fn nor_if_a_hook_has_seen_its_transaction() {
    let scene = Scene::new();
    let hook = scene.path().join("hooks/start-commit");
    std::fs::write(&hook, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    vanish(&scene);
}

fn vanish(scene: &Scene) {
    let said = [HELLO.as_bytes(), &commit()].concat();
    for len in (HELLO.len()..said.len() - 1).step_by(7) {
        scene.say_bytes(&said[..len], 64);
        assert_eq!(scene.youngest(), Revnum::new(1).unwrap(), "{len}");
        assert_eq!(scene.transactions(), Vec::<String>::new(), "{len}");
    }
    scene.say_bytes(&said, 5);
    assert_eq!(scene.youngest(), Revnum::new(2).unwrap());
    assert_eq!(scene.transactions(), Vec::<String>::new());
}

#[test]
fn a_fault_is_told_at_once_and_the_rest_is_skipped() {
    let scene = Scene::new();
    for (fault, told) in [
        (
            &b"( open-dir ( 10:trunk/none 1:t 1:x ( 1 ) ) ) "[..],
            "Path 'trunk/none' not present",
        ),
        (
            b"( change-dir-prop ( 1:t 13:svn:mergeinfo ( 3:xxx ) ) ) ",
            "Commit rejected because mergeinfo",
        ),
        (b"( nonsense ( ) ) ", "Unknown editor command 'nonsense'"),
        (b"( open-file ( 2:.. 1:t 1:x ( 1 ) ) ) ", "( failure ( ( "),
        (b"( finish-replay ( ) ) ", "invalid outside of replays"),
        // The rest of a content that is no svndiff, and one of a file that is refused, are skipped.
        (
            b"( add-file ( 7:trunk/y 1:t 1:y ( ) ) ) ( apply-textdelta ( 1:y ( ) ) ) \
              ( textdelta-chunk ( 1:y 24:XXXXX( abort-edit ( ) )  ) ) ( textdelta-end ( 1:y ) ) ",
            "( failure ( ( ",
        ),
        (
            b"( add-file ( 2:.. 1:t 1:y ( ) ) ) ( apply-textdelta ( 1:y ( ) ) ) \
              ( textdelta-chunk ( 1:y 24:XXXXX( abort-edit ( ) )  ) ) ( textdelta-end ( 1:y ) ) ",
            "( failure ( ( ",
        ),
    ] {
        let heard = scene.say(&[
            begin("bad").as_bytes(),
            b"( open-root ( ( 1 ) 1:r ) ) ( open-dir ( 5:trunk 1:r 1:t ( 1 ) ) ) ",
            fault,
            &file("trunk/x", "t", "( abort-edit ( ) ) "),
            b"( close-dir ( 1:t ) ) ( abort-edit ( ) ) ( get-latest-rev ( ) ) ",
        ]);
        assert!(heard.contains(told), "{heard}");
        assert!(
            heard.ends_with("( success ( ( ) 0: ) ) ( success ( 1 ) ) "),
            "{heard}"
        );
        assert_eq!(scene.transactions(), Vec::<String>::new());
    }
    let heard = scene.say(&[
        begin("given up").as_bytes(),
        b"( open-root ( ( 1 ) 1:r ) ) ( abort-edit ( ) ) ( get-latest-rev ( ) ) ",
    ]);
    assert!(
        heard.ends_with("( success ( ) ) ( success ( ( ) 0: ) ) ( success ( 1 ) ) "),
        "{heard}"
    );
}

#[test]
fn the_author_is_who_the_client_is() {
    let scene = Scene::new();
    let heard = scene.say(&[
        b"( commit ( 0: ( ) false ( ( 7:svn:log 1:x ) ( 10:svn:author 3:eve ) ) ) ) ",
        b"( open-root ( ( 1 ) 1:r ) ) ( add-dir ( 1:d 1:r 1:d ( ) ) ) ",
        b"( close-dir ( 1:d ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ",
    ]);
    assert!(heard.contains("( 2:jo )"), "{heard}");
    let revprops = Repos::open(&scene.path())
        .unwrap()
        .fs()
        .revprops(scene.youngest());
    assert_eq!(revprops.unwrap()["svn:author"], b"jo");
}
