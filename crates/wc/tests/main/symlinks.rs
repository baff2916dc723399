//! Folders of a working copy in whose place others put symlinks: nothing behind them changes.

use std::fs;
use std::os::unix::fs::symlink;

use sylvan_core::{ErrorCode, Result};
use sylvan_delta::{Editor, TextFormat, Token};
use sylvan_io::Cancel;
use sylvan_testutil::tree;
use sylvan_wc::cleanup::{CleanupOptions, cleanup};
use sylvan_wc::report::{self, ReportOptions};
use sylvan_wc::update::UpdateOptions;
use sylvan_wc::{Options, WorkingCopy, work_queue};

use crate::update::{Place, add_file, begin, drive, end, relpath, rev};

/// A working copy with the folder `a`, then a symlink to a copy of it in its place.
struct Scene {
    place: Place,
    outside: tempfile::TempDir,
    before: Vec<String>,
}

impl Scene {
    fn new() -> (Self, WorkingCopy) {
        let place = Place::new();
        let mut wc = place.create();
        let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
            let root = begin(editor)?;
            editor.add_directory(relpath("a"), root, None, Token(1))?;
            add_file(editor, "a/f", Token(1), 2)?;
            editor.add_directory(relpath("a/d"), Token(1), None, Token(3))?;
            add_file(editor, "a/d/g", Token(3), 4)?;
            editor.close_directory(Token(3))?;
            editor.close_directory(Token(1))?;
            add_file(editor, "top", root, 5)?;
            end(editor)
        });
        outcome.unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::rename(place.path("a"), outside.path().join("a")).unwrap();
        fs::write(outside.path().join("a/theirs"), "").unwrap();
        symlink(outside.path().join("a"), place.path("a")).unwrap();
        let before = tree(outside.path());
        let scene = Self {
            place,
            outside,
            before,
        };
        (scene, wc)
    }

    fn assert_untouched(&self, what: &str) {
        assert_eq!(tree(self.outside.path()), self.before, "{what}");
        let link = fs::symlink_metadata(self.place.path("a")).unwrap();
        assert!(link.is_symlink(), "{what}");
    }
}

type Drive = fn(&mut dyn Editor) -> Result<()>;

#[test]
fn update_stops_before_a_folder_that_is_a_symlink() {
    let open: Drive = |editor| {
        let root = begin(editor)?;
        editor.open_directory(relpath("a"), root, Some(rev(5)), Token(1))?;
        editor.close_directory(Token(1))?;
        end(editor)
    };
    let delete: Drive = |editor| {
        let root = begin(editor)?;
        editor.delete_entry(relpath("a"), Some(rev(5)), root)?;
        end(editor)
    };
    for (what, drive_it) in [("open", open), ("delete", delete)] {
        let (scene, mut wc) = Scene::new();
        let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), drive_it);
        scene.assert_untouched(what);
        if what == "delete" {
            // It stays, in conflict.
            outcome.unwrap();
            continue;
        }
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), ErrorCode::WC_OBSTRUCTED_UPDATE, "{what}");
        // Done by hand, it goes on.
        fs::remove_file(scene.place.path("a")).unwrap();
        fs::rename(scene.outside.path().join("a"), scene.place.path("a")).unwrap();
        drive(&mut wc, &UpdateOptions::default(), drive_it)
            .0
            .unwrap();
    }
}

#[test]
fn a_folder_that_becomes_a_symlink_during_an_update_gets_no_more_files() {
    let (scene, mut wc) = Scene::new();
    let outside = scene.outside.path().join("a");
    let place = &scene.place;
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        fs::remove_file(place.path("a")).unwrap();
        fs::create_dir(place.path("a")).unwrap();
        editor.open_directory(relpath("a"), root, Some(rev(5)), Token(1))?;
        editor.open_file(relpath("a/f"), Token(1), Some(rev(5)), Token(2))?;
        fs::remove_dir(place.path("a")).unwrap();
        symlink(&outside, place.path("a")).unwrap();
        editor.add_file(relpath("a/new"), Token(1), None, Token(3))?;
        editor.apply_text(Token(3), None, TextFormat::Fulltext)?;
        editor.text_end(Token(3))?;
        editor.close_file(Token(3), None)?;
        editor.add_directory(relpath("a/sub"), Token(1), None, Token(4))?;
        editor.close_directory(Token(4))?;
        editor.apply_text(Token(2), None, TextFormat::Fulltext)?;
        editor.text_end(Token(2))?;
        editor.close_file(Token(2), None)?;
        editor.close_directory(Token(1))?;
        end(editor)
    });
    outcome.unwrap_err();
    scene.assert_untouched("during an update");
}

#[test]
fn no_work_item_writes_through_a_symlink() {
    for (item, fails) in [
        ("(file-install 3 a/f 1 0 1 1)", true),
        ("(file-install 5 a/d/g 1 0 1 1)", true),
        ("(file-install 3 top 1 0 1 1 8 a/theirs)", true),
        ("(file-remove 3 a/f)", false),
        ("(file-remove 5 a/d/g)", false),
        ("(dir-install 5 a/new)", true),
        ("(dir-remove 3 a/d)", false),
        ("(dir-remove 3 a/d 1 1)", false),
        ("(file-move 3 top 5 a/top)", true),
        ("(file-move 3 a/f 5 moved)", false),
        ("(file-translate 3 top 3 top 3 a/t)", true),
        ("(file-translate 3 top 3 a/f 3 new)", true),
        ("(sync-file-flags 3 a/f)", false),
        ("(record-fileinfo 3 a/f 16 1000000000000000)", false),
        ("(file-commit 3 a/f)", true),
    ] {
        let (scene, wc) = Scene::new();
        let db = rusqlite::Connection::open(scene.place.path(".svn/wc.db")).unwrap();
        let insert = "INSERT INTO work_queue (work) VALUES (?)";
        db.execute(insert, [item.as_bytes()]).unwrap();
        let done = work_queue::run(&wc, &Cancel::new());
        assert_eq!(done.is_err(), fails, "{item}: {done:?}");
        scene.assert_untouched(item);
        assert!(!scene.place.path("moved").exists(), "{item}");
        assert_eq!(fs::read(scene.place.path("top")).unwrap(), b"top", "{item}");
    }
}

#[test]
fn cleanup_and_the_restoring_of_files_leave_what_is_behind_a_symlink() {
    let (scene, mut wc) = Scene::new();
    fs::remove_file(scene.outside.path().join("a/f")).unwrap();
    let before = tree(scene.outside.path());
    symlink(scene.outside.path(), scene.place.path("other")).unwrap();
    symlink(scene.outside.path(), scene.place.path(".svn/tmp/other")).unwrap();
    let restore = ReportOptions {
        restore: true,
        ..ReportOptions::default()
    };
    for target in ["", "a", "a/f", "a/d", "a/d/g"] {
        let target = relpath(target);
        report::entries(&mut wc, target, &restore, &Cancel::new(), &mut |_| {}).unwrap();
        assert_eq!(tree(scene.outside.path()), before, "{target}");
    }
    drop(wc);
    let options = CleanupOptions {
        remove_unversioned: true,
        remove_ignored: true,
        ..CleanupOptions::standard()
    };
    let root = scene.place.root();
    cleanup(
        &root,
        &Options::default(),
        &options,
        &Cancel::new(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(tree(scene.outside.path()), before);
    assert!(!scene.place.path("other").exists());
    assert_eq!(
        fs::read_dir(scene.place.path(".svn/tmp")).unwrap().count(),
        0
    );
}

#[test]
fn texts_are_not_stored_through_a_symlink() {
    for folder in ["pristine", "tmp"] {
        let place = Place::new();
        let mut wc = place.create();
        let outside = tempfile::tempdir().unwrap();
        let path = place.path(".svn").join(folder);
        fs::remove_dir(&path).unwrap();
        symlink(outside.path(), &path).unwrap();
        let large = vec![b'x'; 3 << 20];
        let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
            let root = begin(editor)?;
            editor.add_file(relpath("large"), root, None, Token(1))?;
            crate::update::send_file(editor, Token(1), &large)?;
            end(editor)
        });
        outcome.unwrap_err();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{folder}");
    }
}
