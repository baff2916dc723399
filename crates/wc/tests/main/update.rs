//! The update editor, driven by hand.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use sylvan_core::{Depth, Dirent, ErrorCode, Md5, RelPath, RelPathBuf, Result, Revnum, Sha1, Url};
use sylvan_delta::{CheckingEditor, Editor, TextFormat, Token};
use sylvan_io::{Cancel, Progress};
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::Notification;
use sylvan_wc::update::{self, Outcome, UpdateOptions};
use sylvan_wc::{Options, RootNode, WorkingCopy};

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("wc")).unwrap();
        Self { dir }
    }

    pub(crate) fn root(&self) -> Dirent {
        Dirent::new(self.dir.path().join("wc").to_str().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.root().join(name).as_path().to_owned()
    }

    pub(crate) fn create(&self) -> WorkingCopy {
        let node = RootNode {
            repos_root: Url::parse("svn://localhost/repos").unwrap(),
            repos_uuid: "612f8ebc-c883-4be0-9ee0-a4e9ef946e3a".to_owned(),
            repos_path: RelPathBuf::new("trunk").unwrap(),
            revision: rev(5),
            depth: Depth::Infinity,
        };
        WorkingCopy::create(&self.root(), &node, &Options::default()).unwrap()
    }

    pub(crate) fn open(&self) -> WorkingCopy {
        WorkingCopy::open(&self.root(), &Options::default())
            .unwrap()
            .0
    }

    pub(crate) fn svn(&self, args: &[&str]) -> String {
        let run = Command::new("svn")
            .args(args)
            .arg(self.root().as_str())
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert!(run.status.success(), "svn {args:?}: {run:?}");
        String::from_utf8(run.stdout).unwrap()
    }
}

pub(crate) fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

pub(crate) fn relpath(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

/// Drives an update of the whole working copy; returns what it notified of.
pub(crate) fn drive(
    wc: &mut WorkingCopy,
    options: &UpdateOptions,
    with: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> (Result<Outcome>, Vec<Notification>) {
    let mut told = Vec::new();
    let outcome = WcLock::with(wc, RelPath::ROOT, Anchor::Node, |wc, lock| {
        update::run(
            wc,
            lock,
            RelPath::ROOT,
            options,
            &Cancel::new(),
            &Progress::new(),
            &mut |notification| told.push(notification.clone()),
            |editor| {
                let mut editor = CheckingEditor::new(Passing(editor));
                let driven = with(&mut editor);
                if driven.is_err() {
                    editor.abort_edit()?;
                }
                driven
            },
        )
    });
    (outcome, told)
}

/// Lets a checking editor borrow.
struct Passing<'a>(&'a mut dyn Editor);

macro_rules! pass {
    ($($name:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        impl Editor for Passing<'_> {
            $(fn $name(&mut self, $($arg: $kind),*) -> Result<pass!(@ $($result)?)> {
                self.0.$name($($arg),*)
            })*
        }
    };
    (@) => { () };
    (@ $result:ty) => { $result };
}

pass! {
    set_target_revision(rev: Revnum);
    open_root(base: Option<Revnum>, root: Token);
    delete_entry(path: &RelPath, rev: Option<Revnum>, parent: Token);
    add_directory(path: &RelPath, parent: Token, copy: Option<sylvan_delta::CopyFrom>, dir: Token);
    open_directory(path: &RelPath, parent: Token, base: Option<Revnum>, dir: Token);
    change_dir_prop(dir: Token, name: &str, value: Option<&[u8]>);
    close_directory(dir: Token);
    absent_directory(path: &RelPath, parent: Token);
    add_file(path: &RelPath, parent: Token, copy: Option<sylvan_delta::CopyFrom>, file: Token);
    open_file(path: &RelPath, parent: Token, base: Option<Revnum>, file: Token);
    apply_text(file: Token, base: Option<Md5>, format: TextFormat);
    text_chunk(file: Token, chunk: Bytes);
    text_end(file: Token);
    known_text(file: Token, text: &Sha1) -> bool;
    change_file_prop(file: Token, name: &str, value: Option<&[u8]>);
    close_file(file: Token, text: Option<Md5>);
    absent_file(path: &RelPath, parent: Token);
    close_edit();
    abort_edit();
}

pub(crate) fn send_file(editor: &mut dyn Editor, token: Token, text: &[u8]) -> Result<()> {
    editor.apply_text(token, None, TextFormat::Fulltext)?;
    editor.text_chunk(token, Bytes::copy_from_slice(text))?;
    editor.text_end(token)?;
    editor.change_file_prop(token, "svn:entry:committed-rev", Some(b"3"))?;
    editor.close_file(token, Some(Md5::of(text)))
}

pub(crate) fn add_file(
    editor: &mut dyn Editor,
    path: &str,
    parent: Token,
    token: u32,
) -> Result<()> {
    editor.add_file(relpath(path), parent, None, Token(token))?;
    send_file(editor, Token(token), path.as_bytes())
}

pub(crate) fn begin(editor: &mut dyn Editor) -> Result<Token> {
    editor.set_target_revision(rev(5))?;
    editor.open_root(Some(rev(5)), Token(0))?;
    Ok(Token(0))
}

pub(crate) fn end(editor: &mut dyn Editor) -> Result<()> {
    editor.change_dir_prop(Token(0), "svn:entry:committed-rev", Some(b"3"))?;
    editor.close_directory(Token(0))?;
    editor.close_edit()
}

#[test]
fn files_may_end_after_their_folder() {
    let place = Place::new();
    let mut wc = place.create();
    let (outcome, told) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        editor.add_directory(relpath("d"), root, None, Token(1))?;
        editor.change_dir_prop(Token(1), "svn:entry:committed-rev", Some(b"2"))?;
        editor.add_file(relpath("d/a"), Token(1), None, Token(2))?;
        editor.close_directory(Token(1))?;
        end_root_first(editor)?;
        send_file(editor, Token(2), b"text\n")?;
        editor.close_edit()
    });
    assert_eq!(outcome.unwrap().rev, Some(rev(5)));
    // The folder, its file, and the root, whose children have changed.
    assert_eq!(told.len(), 3);
    assert_eq!(fs::read(place.path("d/a")).unwrap(), b"text\n");
    drop(wc);
    assert_eq!(place.svn(&["status", "-v"]).lines().count(), 3);
    assert_eq!(place.svn(&["status"]), "");
}

fn end_root_first(editor: &mut dyn Editor) -> Result<()> {
    editor.change_dir_prop(Token(0), "svn:entry:committed-rev", Some(b"3"))?;
    editor.close_directory(Token(0))
}

#[test]
fn a_drive_that_breaks_off_keeps_what_was_whole() {
    let place = Place::new();
    let mut wc = place.create();
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        editor.add_directory(relpath("d"), root, None, Token(1))?;
        add_file(editor, "d/whole", Token(1), 2)?;
        editor.add_file(relpath("d/half"), Token(1), None, Token(3))?;
        editor.apply_text(Token(3), None, TextFormat::Fulltext)?;
        editor.text_chunk(Token(3), Bytes::from_static(b"ha"))?;
        Err(sylvan_core::Error::new(
            ErrorCode::RA_SVN_CONNECTION_CLOSED,
            "Gone",
        ))
    });
    assert_eq!(
        outcome.unwrap_err().code(),
        ErrorCode::RA_SVN_CONNECTION_CLOSED
    );
    drop(wc);
    assert_eq!(fs::read(place.path("d/whole")).unwrap(), b"d/whole");
    assert!(!place.path("d/half").exists());
    // Both folders are marked as incomplete, and nothing is locked.
    let status = place.svn(&["status"]);
    assert!(status.starts_with("!      "), "{status}");
    assert!(!is_locked(&status), "{status}");
}

#[test]
fn a_wrong_checksum_is_found() {
    let place = Place::new();
    let mut wc = place.create();
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        editor.add_file(relpath("a"), root, None, Token(1))?;
        editor.apply_text(Token(1), None, TextFormat::Fulltext)?;
        editor.text_chunk(Token(1), Bytes::from_static(b"wrong"))?;
        editor.text_end(Token(1))?;
        editor.close_file(Token(1), Some(Md5::of(b"right")))?;
        end(editor)
    });
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::CHECKSUM_MISMATCH);
    assert!(!place.path("a").exists());
}

#[test]
fn what_the_store_has_need_not_come_again() {
    let place = Place::new();
    let mut wc = place.create();
    let text = b"text\n";
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        editor.add_file(relpath("a"), root, None, Token(1))?;
        assert!(!editor.known_text(Token(1), &Sha1::of(text))?);
        send_file(editor, Token(1), text)?;
        end(editor)
    });
    outcome.unwrap();
    let add_known = |editor: &mut dyn Editor, md5: Md5| {
        let root = begin(editor)?;
        editor.add_file(relpath("b"), root, None, Token(1))?;
        assert!(!editor.known_text(Token(1), &Sha1::of(b"other"))?);
        assert!(editor.known_text(Token(1), &Sha1::of(text))?);
        editor.change_file_prop(Token(1), "svn:eol-style", Some(b"CRLF"))?;
        editor.change_file_prop(Token(1), "svn:entry:committed-rev", Some(b"3"))?;
        editor.close_file(Token(1), Some(md5))?;
        end(editor)
    };
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        add_known(editor, Md5::of(b"wrong"))
    });
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::CHECKSUM_MISMATCH);
    assert!(!place.path("b").exists());
    let (outcome, told) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        add_known(editor, Md5::of(text))
    });
    outcome.unwrap();
    assert!(told.iter().any(|told| told.path == place.root().join("b")));
    assert_eq!(fs::read(place.path("b")).unwrap(), b"text\r\n");
    drop(wc);
    assert_eq!(place.svn(&["status"]), "");

    // A pristine that was cut short is not relied on.
    let sha1 = Sha1::of(text).to_string();
    let pristine = place.path(&format!(".svn/pristine/{}/{sha1}.svn-base", &sha1[..2]));
    fs::remove_file(&pristine).unwrap();
    fs::write(&pristine, "te").unwrap();
    let (outcome, _) = drive(&mut place.open(), &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        editor.open_file(relpath("a"), root, Some(rev(5)), Token(1))?;
        assert!(!editor.known_text(Token(1), &Sha1::of(text))?);
        editor.close_file(Token(1), None)?;
        end(editor)
    });
    outcome.unwrap();
}

#[test]
fn nothing_is_written_through_a_symlink_or_into_the_adm_folder() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().to_str().unwrap().to_owned();
    let link = |editor: &mut dyn Editor, path: &str, token: u32| {
        let token = Token(token);
        editor.add_file(relpath(path), Token(0), None, token)?;
        editor.change_file_prop(token, "svn:special", Some(b"*"))?;
        send_file(editor, token, format!("link {target}").as_bytes())
    };
    type Drive<'a> = Box<dyn Fn(&mut dyn Editor) -> Result<()> + 'a>;
    let drives: Vec<(&str, Drive<'_>)> = vec![
        (
            "a folder over a symlink of the same drive",
            Box::new(|editor| {
                let root = begin(editor)?;
                link(editor, "x", 1)?;
                editor.add_directory(relpath("x"), root, None, Token(2))?;
                add_file(editor, "x/evil", Token(2), 3)?;
                editor.close_directory(Token(2))?;
                end(editor)
            }),
        ),
        (
            "a symlink over a folder of the same drive",
            Box::new(|editor| {
                let root = begin(editor)?;
                editor.add_directory(relpath("x"), root, None, Token(2))?;
                add_file(editor, "x/good", Token(2), 3)?;
                editor.close_directory(Token(2))?;
                link(editor, "x", 1)?;
                end(editor)
            }),
        ),
        (
            "the administrative folder",
            Box::new(|editor| {
                let root = begin(editor)?;
                editor.add_directory(relpath(".svn"), root, None, Token(1))?;
                end(editor)
            }),
        ),
        (
            "a file in its place",
            Box::new(|editor| {
                let root = begin(editor)?;
                add_file(editor, ".svn", root, 1)?;
                end(editor)
            }),
        ),
    ];
    for (what, with) in drives {
        let place = Place::new();
        let mut wc = place.create();
        // The checking editor would not let most of it pass.
        let outcome = WcLock::with(&mut wc, RelPath::ROOT, Anchor::Node, |wc, lock| {
            update::run(
                wc,
                lock,
                RelPath::ROOT,
                &UpdateOptions::default(),
                &Cancel::new(),
                &Progress::new(),
                &mut |_| {},
                |editor| with(editor),
            )
        });
        assert!(outcome.is_err(), "{what}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{what}");
        assert!(place.path(".svn/wc.db").is_file(), "{what}");
    }
}

#[test]
fn a_symlink_of_the_user_is_an_obstruction() {
    let outside = tempfile::tempdir().unwrap();
    for force in [false, true] {
        let place = Place::new();
        let mut wc = place.create();
        symlink(outside.path(), place.path("d")).unwrap();
        let options = UpdateOptions {
            allow_unversioned_obstructions: force,
            ..UpdateOptions::default()
        };
        let (outcome, _) = drive(&mut wc, &options, |editor| {
            let root = begin(editor)?;
            editor.add_directory(relpath("d"), root, None, Token(1))?;
            add_file(editor, "d/evil", Token(1), 2)?;
            editor.close_directory(Token(1))?;
            end(editor)
        });
        outcome.unwrap();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        drop(wc);
        let status = place.svn(&["status"]);
        assert!(status.contains("unversioned, incoming dir add"), "{status}");
    }
}

#[test]
fn obstructions_are_taken_over_only_when_asked() {
    for force in [false, true] {
        let place = Place::new();
        let mut wc = place.create();
        fs::write(place.path("a"), "mine").unwrap();
        let options = UpdateOptions {
            allow_unversioned_obstructions: force,
            ..UpdateOptions::default()
        };
        let (outcome, _) = drive(&mut wc, &options, |editor| {
            let root = begin(editor)?;
            add_file(editor, "a", root, 1)?;
            end(editor)
        });
        outcome.unwrap();
        assert_eq!(fs::read(place.path("a")).unwrap(), b"mine");
        drop(wc);
        let expected = if force { "M       " } else { "D     C " };
        assert!(place.svn(&["status"]).starts_with(expected));
    }
}

#[test]
fn garbage_in_the_pristine_store_is_replaced() {
    let place = Place::new();
    let mut wc = place.create();
    let sha1 = Sha1::of(b"a").to_string();
    let shard = place.path(&format!(".svn/pristine/{}", &sha1[..2]));
    fs::create_dir(&shard).unwrap();
    let text = shard.join(format!("{sha1}.svn-base"));
    fs::write(&text, "garbage").unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o444)).unwrap();
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        add_file(editor, "a", root, 1)?;
        end(editor)
    });
    outcome.unwrap();
    assert_eq!(fs::read(&text).unwrap(), b"a");
    assert_eq!(
        fs::metadata(&text).unwrap().permissions().mode() & 0o777,
        0o444
    );
}

#[test]
fn many_equal_and_large_texts_arrive_in_pieces() {
    let place = Place::new();
    let mut wc = place.create();
    let large: Vec<u8> = (0..5_000_000u32).flat_map(|n| n.to_le_bytes()).collect();
    let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
        let root = begin(editor)?;
        for n in 1..=300 {
            editor.add_file(relpath(&format!("f{n}")), root, None, Token(n))?;
            send_file(editor, Token(n), format!("text {}", n % 7).as_bytes())?;
        }
        editor.add_file(relpath("large"), root, None, Token(1000))?;
        editor.add_file(relpath("large too"), root, None, Token(1001))?;
        for token in [Token(1000), Token(1001)] {
            editor.apply_text(token, None, TextFormat::Fulltext)?;
        }
        for piece in large.chunks(70_000) {
            for token in [Token(1000), Token(1001)] {
                editor.text_chunk(token, Bytes::copy_from_slice(piece))?;
            }
        }
        for token in [Token(1000), Token(1001)] {
            editor.text_end(token)?;
            editor.change_file_prop(token, "svn:entry:committed-rev", Some(b"1"))?;
            editor.close_file(token, Some(Md5::of(&large)))?;
        }
        end(editor)
    });
    outcome.unwrap();
    assert!(fs::read(place.path("large")).unwrap() == large);
    assert!(fs::read(place.path("large too")).unwrap() == large);
    let pristines = walk(&place.path(".svn/pristine"));
    assert_eq!(pristines, 8);
    assert_eq!(walk(&place.path(".svn/tmp")), 0);
    drop(wc);
    assert_eq!(place.svn(&["status"]), "");
}

fn walk(dir: &Path) -> usize {
    fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path) } else { 1 }
        })
        .sum()
}

#[test]
fn a_lock_that_is_held_stays_and_a_dead_one_is_taken_over() {
    let place = Place::new();
    let wc = place.create();
    let lock = WcLock::acquire(&wc, RelPath::ROOT, Anchor::Node).unwrap();
    let other = place.open();
    let error = WcLock::acquire(&other, RelPath::ROOT, Anchor::Node).unwrap_err();
    assert_eq!(error.code(), ErrorCode::WC_LOCKED);
    let root = place.root();
    assert_eq!(
        error.to_lines("svn: "),
        format!(
            "svn: E155004: Working copy '{root}' locked.\nsvn: E155004: '{root}' is already locked.\n"
        )
    );
    // As when the process dies: the row stays, the system's lock goes.
    drop(lock);
    drop(wc);
    // Processes that other tests are just starting may have the file open for a moment.
    let lock = (0..100)
        .find_map(|_| {
            let taken = WcLock::acquire(&other, RelPath::ROOT, Anchor::Node).ok();
            if taken.is_none() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            taken
        })
        .unwrap();
    lock.release(&other).unwrap();
    assert_eq!(lock_files(&place), 0);
    assert!(!is_locked(&place.svn(&["status"])));
}

/// Tells whether a line of `svn status` shows a working copy lock. (The paths in it are random.)
fn is_locked(status: &str) -> bool {
    status.lines().any(|line| line.as_bytes()[2] == b'L')
}

fn lock_files(place: &Place) -> usize {
    fs::read_dir(place.path(".svn"))
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("sylvan-lock-")
        })
        .count()
}

#[test]
fn a_lock_of_subversion_is_never_broken() {
    let place = Place::new();
    let wc = place.create();
    let lock = WcLock::acquire(&wc, RelPath::ROOT, Anchor::Node).unwrap();
    drop(lock);
    // Subversion's cleanup takes it, then another client of it locks and is killed.
    place.svn(&["cleanup"]);
    wc.db()
        .connection()
        .execute_batch(
            "INSERT INTO wc_lock (wc_id, local_dir_relpath, locked_levels) VALUES (1, '', -1)",
        )
        .unwrap();
    let error = WcLock::acquire(&wc, RelPath::ROOT, Anchor::Node).unwrap_err();
    assert_eq!(error.code(), ErrorCode::WC_LOCKED);
}

#[test]
fn journals_are_truncated_or_deleted_while_an_update_runs() {
    for (exclusive, mode) in [(false, "truncate"), (true, "delete")] {
        let place = Place::new();
        drop(place.create());
        let options = Options {
            exclusive_locking: exclusive,
            ..Options::default()
        };
        let (mut wc, _) = WorkingCopy::open(&place.root(), &options).unwrap();
        let (outcome, _) = drive(&mut wc, &UpdateOptions::default(), |editor| {
            let root = begin(editor)?;
            add_file(editor, "a", root, 1)?;
            end(editor)
        });
        outcome.unwrap();
        let found: String = wc
            .db()
            .connection()
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .unwrap();
        assert_eq!(found, mode);
        drop(wc);
        assert_eq!(place.path(".svn/wc.db-journal").exists(), !exclusive);
    }
}
