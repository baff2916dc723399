//! Commits by drives: Debian's svnadmin finds nothing wrong with them.

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use sylvan_core::repository::CommitInfo;
use sylvan_core::{Depth, Md5, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{CheckingEditor, CopyFrom, Editor, TextFormat, Token, svndiff};
use sylvan_fs::Tree;
use sylvan_fs::lock::Access;
use sylvan_io::Cancel;
use sylvan_repos::{
    CommitCheck, CommitEditor, CommitEditorOptions, DeltaOptions, Needs, ReadAccess, ReplayOptions,
    Repos, dir_delta, replay,
};
use sylvan_testutil::Chance;

use crate::drives::{TEXTS, made, now, repository, revisions};
use crate::model::{differences, tree};

type Commits<'a> = CheckingEditor<CommitEditor<'a>>;

fn options<'a>(check: Option<&'a CommitCheck<'a>>) -> CommitEditorOptions<'a> {
    CommitEditorOptions {
        base: RelPathBuf::root(),
        revprops: Props::from([
            ("svn:author".to_owned(), b"jo".to_vec()),
            ("svn:log".to_owned(), b"why".to_vec()),
        ]),
        capabilities: &["mergeinfo"],
        access: Access {
            user: Some("jo".to_owned()),
            ..Access::default()
        },
        check,
        clock: now,
    }
}

/// Commits what `drive` says.
fn commit(repos: &Repos, drive: impl FnOnce(&mut Commits<'_>) -> Result<()>) -> Result<CommitInfo> {
    commit_with(repos, options(None), drive)
}

fn commit_with<'a>(
    repos: &'a Repos,
    options: CommitEditorOptions<'a>,
    drive: impl FnOnce(&mut Commits<'a>) -> Result<()>,
) -> Result<CommitInfo> {
    let mut editor = CheckingEditor::new(CommitEditor::new(repos, options)?);
    match drive(&mut editor) {
        Ok(()) => Ok(editor.into_inner().into_committed().expect("it was closed")),
        Err(error) => {
            if !editor.is_ended() {
                editor.abort_edit()?;
            }
            Err(error)
        }
    }
}

fn svnadmin(arguments: &[&str], path: &Path) -> Vec<u8> {
    let output = Command::new("svnadmin")
        .args(arguments)
        .arg(path)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output.stdout
}

/// Names the copies of a revision.
fn copies(repos: &Repos, number: Revnum) -> Vec<String> {
    let root = repos.fs().revision_root(number).unwrap();
    let changes = Tree::from(&root).paths_changed().unwrap().into_values();
    changes
        .filter_map(|change| {
            let (rev, from) = change.copyfrom?;
            Some(format!("{:?} {} {from}@{rev}", change.kind, change.path))
        })
        .collect()
}

fn path(text: &str) -> &RelPath {
    RelPath::new(text).unwrap()
}

fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

fn write(editor: &mut dyn Editor, file: Token, text: &'static [u8]) -> Result<()> {
    editor.apply_text(file, None, TextFormat::Fulltext)?;
    editor.text_chunk(file, Bytes::from_static(text))?;
    editor.text_end(file)
}

#[test]
fn revisions_that_are_replayed_into_commits_are_the_same() {
    for seed in 10..13 {
        let (scratch, repos) = repository(seed);
        let mirror = made(&scratch.path().join("mirror"));
        for number in revisions(&repos).into_iter().skip(1) {
            let root = repos.fs().revision_root(number).unwrap();
            let changes = Tree::from(&root).paths_changed().unwrap();
            let options = ReplayOptions {
                deltas: Some(TEXTS[number.number() as usize % TEXTS.len()]),
                ..ReplayOptions::default()
            };
            let told = commit(&mirror, |editor| {
                let (access, cancel) = (ReadAccess::ALL, Cancel::new());
                replay(Tree::from(&root), editor, &options, access, &cancel)?;
                if changes.is_empty() {
                    editor.open_root(None, Token(0))?;
                    editor.close_directory(Token(0))?;
                }
                editor.close_edit()
            });
            assert_eq!(told.unwrap().rev, number);
        }
        svnadmin(&["verify", "-q"], mirror.path());
        for number in revisions(&repos) {
            let nodes = |repos: &Repos| tree(repos.fs(), number, RelPath::ROOT);
            let differ = differences(&nodes(&repos), &nodes(&mirror));
            assert!(differ.is_empty(), "{seed} r{number}: {differ:?}");
            assert_eq!(copies(&repos, number), copies(&mirror, number), "{seed}");
        }
    }
}

#[test]
fn the_youngest_revision_becomes_an_old_one() {
    let (_scratch, repos) = repository(20);
    let mut chance = Chance::new(21);
    for number in 0..40 {
        let youngest = repos.fs().youngest().unwrap();
        let old = rev(chance.below(41) as i64);
        let source = repos.fs().revision_root(youngest).unwrap();
        let target = repos.fs().revision_root(old).unwrap();
        let options = DeltaOptions {
            texts: TEXTS[number % TEXTS.len()],
            depth: Depth::Infinity,
            entry_props: false,
            ignore_ancestry: number % 2 == 0,
        };
        let wanted = tree(repos.fs(), old, RelPath::ROOT);
        if tree(repos.fs(), youngest, RelPath::ROOT) == wanted {
            continue;
        }
        let told = commit(&repos, |editor| {
            let (source, target) = (Tree::from(&source), Tree::from(&target));
            let (root, access) = (RelPath::ROOT, ReadAccess::ALL);
            let cancel = Cancel::new();
            dir_delta(
                source, root, "", target, root, editor, options, access, &cancel,
            )
        });
        let made = tree(repos.fs(), told.unwrap().rev, RelPath::ROOT);
        let differ = differences(&made, &wanted);
        assert!(differ.is_empty(), "{number} r{old}: {differ:?}");
    }
    svnadmin(&["verify", "-q"], repos.path());
}

/// A repository: r1 adds `d/f` and `g`, r2 changes both and a property of `d`.
fn small() -> (tempfile::TempDir, Repos) {
    let scratch = tempfile::tempdir().unwrap();
    let repos = made(&scratch.path().join("r"));
    commit(&repos, |editor| {
        editor.open_root(Some(rev(0)), Token(0))?;
        editor.add_directory(path("d"), Token(0), None, Token(1))?;
        editor.add_file(path("d/f"), Token(1), None, Token(2))?;
        write(editor, Token(2), b"one\n")?;
        editor.close_file(Token(2), Some(Md5::of(b"one\n")))?;
        editor.close_directory(Token(1))?;
        editor.add_file(path("g"), Token(0), None, Token(3))?;
        editor.close_file(Token(3), None)?;
        editor.close_directory(Token(0))?;
        editor.close_edit()
    })
    .unwrap();
    let told = commit(&repos, |editor| {
        editor.open_root(Some(rev(1)), Token(0))?;
        editor.open_directory(path("d"), Token(0), Some(rev(1)), Token(1))?;
        editor.change_dir_prop(Token(1), "p", Some(b"v"))?;
        editor.open_file(path("d/f"), Token(1), Some(rev(1)), Token(2))?;
        let mut delta = Vec::new();
        let mut made = svndiff::Deltifier::new(&b"one\n"[..], svndiff::Version::V1, 5, &mut delta);
        made.push(b"one\ntwo\n", &mut delta)?;
        made.finish(&mut delta)?;
        editor.apply_text(Token(2), Some(Md5::of(b"one\n")), TextFormat::Svndiff)?;
        for byte in delta {
            editor.text_chunk(Token(2), Bytes::from(vec![byte]))?;
        }
        editor.text_end(Token(2))?;
        editor.close_file(Token(2), Some(Md5::of(b"one\ntwo\n")))?;
        editor.close_directory(Token(1))?;
        editor.close_directory(Token(0))?;
        editor.close_edit()
    })
    .unwrap();
    assert_eq!(told.rev, rev(2));
    assert_eq!(told.author.as_deref(), Some("jo"));
    assert!(told.date.is_some() && told.post_commit_error.is_none());
    (scratch, repos)
}

/// One mistake in a drive whose root is open.
type Mistake = fn(&mut Commits<'_>) -> Result<()>;

#[test]
fn what_is_out_of_date_or_wrong_is_refused() {
    let (_scratch, repos) = small();
    let mistakes: [(Mistake, &str); 15] = [
        (
            |e| e.delete_entry(path("none"), Some(rev(2)), Token(0)),
            "E160028: '/none' is out of date",
        ),
        (
            |e| e.delete_entry(path("d"), Some(rev(1)), Token(0)),
            "E160028: Directory '/d' is out of date",
        ),
        (
            |e| e.delete_entry(path("g"), Some(rev(99)), Token(0)),
            "E160006: No such revision 99",
        ),
        (
            |e| {
                e.open_directory(path("d"), Token(0), Some(rev(2)), Token(1))?;
                e.open_file(path("d/f"), Token(1), Some(rev(1)), Token(2))
            },
            "E160028: File '/d/f' is out of date",
        ),
        (
            |e| {
                e.open_directory(path("d"), Token(0), Some(rev(1)), Token(1))?;
                e.change_dir_prop(Token(1), "p", None)
            },
            "E160028: Directory '/d' is out of date",
        ),
        (
            |e| e.open_directory(path("none"), Token(0), Some(rev(2)), Token(1)),
            "E160016: Path 'none' not present",
        ),
        (
            |e| {
                let from = CopyFrom {
                    path: path("d").to_owned(),
                    rev: rev(1),
                };
                e.add_directory(path("d"), Token(0), Some(from), Token(1))
            },
            "E160028: Directory '/d' is out of date",
        ),
        (
            |e| {
                let from = CopyFrom {
                    path: path("none").to_owned(),
                    rev: rev(1),
                };
                e.add_directory(path("x"), Token(0), Some(from), Token(1))
            },
            "E160013: File not found: revision 1, path '/none'",
        ),
        (
            |e| e.add_directory(path("a\u{1}b"), Token(0), None, Token(1)),
            "E160005: Invalid control character '0x01' in path 'a\\001b'",
        ),
        (
            |e| {
                e.add_file(path("x"), Token(0), None, Token(1))?;
                write(e, Token(1), b"text")?;
                e.close_file(Token(1), Some(Md5::of(b"other")))
            },
            "E200014: Checksum mismatch for resulting fulltext\n(/x):\n   \
             expected:  795f3202b17cb6bc3d4b771d8c6c9eaf\n     \
             actual:  1cb251ec0d568de6a929b520c4aed8d1\n",
        ),
        (
            |e| {
                e.open_file(path("g"), Token(0), Some(rev(2)), Token(1))?;
                e.apply_text(Token(1), Some(Md5::of(b"other")), TextFormat::Svndiff)
            },
            "E200014: Base checksum mismatch on '/g':\n   \
             expected:  795f3202b17cb6bc3d4b771d8c6c9eaf\n     \
             actual:  d41d8cd98f00b204e9800998ecf8427e\n",
        ),
        (
            |e| {
                e.open_file(path("g"), Token(0), None, Token(1))?;
                e.apply_text(Token(1), None, TextFormat::Svndiff)?;
                e.text_chunk(Token(1), Bytes::from_static(b"SVN\0\0\x05\x05\x02\0\x05\0"))
            },
            "E200003: Delta source ended unexpectedly",
        ),
        (
            |e| {
                e.add_file(path("x"), Token(0), None, Token(1))?;
                e.add_file(path("y"), Token(0), None, Token(2))?;
                e.apply_text(Token(1), None, TextFormat::Fulltext)?;
                e.apply_text(Token(2), None, TextFormat::Fulltext)
            },
            "E160044: Cannot write to the prototype revision file of transaction '2-*' because a \
             previous representation is currently being written by this process",
        ),
        (
            |e| {
                e.open_file(path("g"), Token(0), Some(rev(2)), Token(1))?;
                e.change_file_prop(Token(1), "svn:eol-style", Some(b"a\rb"))
            },
            "E125005: Invalid property value",
        ),
        (
            |e| {
                e.open_file(path("g"), Token(0), Some(rev(2)), Token(1))?;
                e.change_file_prop(Token(1), "svn:entry:uuid", Some(b"x"))
            },
            "E165002: Storage of non-regular property 'svn:entry:uuid' is disallowed through the \
             repository interface, and could indicate a bug in your client",
        ),
    ];
    for (mistake, message) in mistakes {
        let error = commit(&repos, |editor| {
            editor.open_root(Some(rev(2)), Token(0))?;
            mistake(editor)
        })
        .unwrap_err()
        .to_string();
        match message.split_once('*') {
            None => assert_eq!(error, message),
            Some((start, end)) => {
                assert!(error.starts_with(start) && error.ends_with(end), "{error}");
            }
        }
    }
    let error = commit(&repos, |editor| editor.open_root(Some(rev(99)), Token(0)));
    assert_eq!(
        error.unwrap_err().to_string(),
        "E160006: No such revision 99 (HEAD is 2)"
    );
    assert_eq!(repos.fs().youngest().unwrap(), rev(2));
    let left = svnadmin(&["lstxns"], repos.path());
    assert!(left.is_empty(), "{}", String::from_utf8_lossy(&left));
}

#[test]
fn who_may_not_write_does_not() {
    let (_scratch, repos) = small();
    let check = |needs: Needs, path: Option<&RelPath>| {
        let below_d = path.is_some_and(|path| path.as_str().starts_with('d'));
        Ok(!below_d || needs == Needs::Read)
    };
    let mistakes: [Mistake; 4] = [
        |e| e.delete_entry(path("d"), None, Token(0)),
        |e| e.add_file(path("d2"), Token(0), None, Token(1)),
        |e| {
            e.open_directory(path("d"), Token(0), None, Token(1))?;
            e.open_file(path("d/f"), Token(1), None, Token(2))?;
            e.apply_text(Token(2), None, TextFormat::Fulltext)
        },
        |e| {
            let from = CopyFrom {
                path: path("d").to_owned(),
                rev: rev(1),
            };
            e.add_directory(path("x"), Token(0), Some(from), Token(1))
        },
    ];
    for (number, mistake) in mistakes.into_iter().enumerate() {
        let error = commit_with(&repos, options(Some(&check)), |editor| {
            editor.open_root(Some(rev(2)), Token(0))?;
            mistake(editor)
        })
        .unwrap_err();
        let code = if number == 3 { 220_001 } else { 220_004 };
        assert_eq!(error.to_string(), format!("E{code}: Access denied"));
    }
    let nothing = |_: Needs, _: Option<&RelPath>| Ok(false);
    let error = CommitEditor::new(&repos, options(Some(&nothing))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "E220004: Not authorized to open a commit editor."
    );
}

/// Makes a revision of Debian's svn and one of ours, in turn, from eight threads.
#[test]
fn eight_writers_of_two_kinds_lose_nothing() {
    const EACH: usize = 12;
    let scratch = tempfile::tempdir().unwrap();
    let path_of_repos = scratch.path().join("r");
    let repos = made(&path_of_repos);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (repos, scratch) = (&repos, scratch.path());
            scope.spawn(move || {
                for number in 0..EACH {
                    let name = format!("w{writer}-{number}");
                    if writer % 2 == 0 {
                        ours(repos, &name);
                    } else {
                        theirs(scratch, &name);
                    }
                }
            });
        }
    });
    let youngest = repos.fs().youngest().unwrap();
    assert_eq!(youngest.number(), 8 * EACH as i64);
    let nodes = tree(repos.fs(), youngest, RelPath::ROOT);
    for writer in 0..8 {
        for number in 0..EACH {
            let name = format!("w{writer}-{number}");
            assert_eq!(nodes[path(&name)].text, name.as_bytes());
        }
    }
    svnadmin(&["verify", "-q"], &path_of_repos);
}

fn ours(repos: &Repos, name: &str) {
    let done = commit(repos, |editor| {
        editor.open_root(None, Token(0))?;
        editor.add_file(path(name), Token(0), None, Token(1))?;
        editor.apply_text(Token(1), None, TextFormat::Fulltext)?;
        editor.text_chunk(Token(1), Bytes::from(name.to_owned()))?;
        editor.text_end(Token(1))?;
        editor.close_file(Token(1), Some(Md5::of(name.as_bytes())))?;
        editor.close_directory(Token(0))?;
        editor.close_edit()
    });
    done.unwrap();
}

fn theirs(scratch: &Path, name: &str) {
    let file = scratch.join(format!("new-{name}"));
    std::fs::write(&file, name).unwrap();
    let url = format!("file://{}/r/{name}", scratch.display());
    let output = Command::new("svn")
        .args(["import", "-q", "-m", "theirs", "--config-dir"])
        .arg(scratch.join("config"))
        .args([file.to_str().unwrap(), &url])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {error}");
}
