//! Laws of drives: applied to what the receiver has, they make what is wanted.

use std::path::Path;

use sylvan_core::{Depth, Dirent, NodeKind, RelPath, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_delta::CheckingEditor;
use sylvan_delta::svndiff::Version;
use sylvan_fs::{Options, Tree};
use sylvan_io::Cancel;
use sylvan_repos::report::{Report, ReportOptions};
use sylvan_repos::{
    CreateOptions, DeltaOptions, ReadAccess, ReplayOptions, Repos, Texts, dir_delta, replay,
};
use sylvan_testutil::{Chance, random_history};

use crate::model::{Model, Node, Nodes, differences, tree};

pub(crate) const TEXTS: [Texts; 4] = [
    Texts::Full,
    Texts::Svndiff(Version::V0),
    Texts::Svndiff(Version::V1),
    Texts::Svndiff(Version::V2),
];

pub(crate) fn now() -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000)
}

/// Makes an empty repository.
pub(crate) fn made(folder: &Path) -> Repos {
    let path = Dirent::new(folder.to_str().unwrap());
    let options = CreateOptions::default();
    Repos::create(
        &path,
        &Dirent::new("/"),
        &options,
        Options::default(),
        now(),
    )
    .unwrap()
}

/// Makes a repository with a history of chance.
pub(crate) fn repository(seed: u64) -> (tempfile::TempDir, Repos) {
    let scratch = tempfile::tempdir().unwrap();
    let repos = made(&scratch.path().join("r"));
    random_history(repos.fs(), seed, 40);
    (scratch, repos)
}

pub(crate) fn revisions(repos: &Repos) -> Vec<Revnum> {
    let youngest = repos.fs().youngest().unwrap().number();
    (0..=youngest).filter_map(Revnum::new).collect()
}

fn wanted(rev: Revnum) -> ReportOptions {
    ReportOptions {
        rev,
        base: RelPathBuf::root(),
        target: String::new(),
        switch: None,
        depth: None,
        ignore_ancestry: false,
        send_copyfrom_args: true,
        texts: Texts::Full,
        now: now(),
    }
}

/// Reports a working copy of mixed revisions; returns what it has, too.
fn report_of_chance(repos: &Repos, chance: &mut Chance, options: ReportOptions) -> (Report, Nodes) {
    let revisions = revisions(repos);
    let base = *chance.one(&revisions);
    let mut report = Report::begin(repos, options).unwrap();
    let root = RelPath::ROOT;
    report
        .set_path(root, base, Depth::Infinity, false, None)
        .unwrap();
    let mut has = tree(repos.fs(), base, root);
    let mut paths: Vec<_> = has.keys().cloned().collect();
    paths.sort_by(|a, b| a.components().cmp(b.components()));
    let mut done: Option<RelPathBuf> = None;
    for path in paths {
        let is_done = done.as_ref().is_some_and(|done| path.starts_with(done));
        if path.is_root() || is_done || chance.below(5) > 0 {
            continue;
        }
        let rev = *chance.one(&revisions);
        let there = tree(repos.fs(), rev, &path);
        let new = match chance.below(3) {
            0 => {
                report.delete_path(&path).unwrap();
                Nodes::new()
            }
            1 if !there.is_empty() => {
                report
                    .set_path(&path, rev, Depth::Infinity, false, None)
                    .unwrap();
                there
            }
            2 if has[&path].kind == NodeKind::Dir => {
                report
                    .set_path(&path, base, Depth::Infinity, true, None)
                    .unwrap();
                Nodes::from([(RelPathBuf::root(), Node::empty(NodeKind::Dir))])
            }
            _ => continue,
        };
        has.retain(|other, _| !other.starts_with(&path));
        has.extend(
            new.into_iter()
                .map(|(below, node)| (path.join(&below), node)),
        );
        done = Some(path);
    }
    (report, has)
}

#[test]
fn a_report_leads_to_what_is_wanted() {
    let (_scratch, repos) = repository(1);
    let mut chance = Chance::new(2);
    for number in 0..300 {
        let rev = *chance.one(&revisions(&repos));
        let options = ReportOptions {
            ignore_ancestry: number % 3 == 0,
            send_copyfrom_args: number % 2 == 0,
            texts: *chance.one(&TEXTS),
            ..wanted(rev)
        };
        let (report, has) = report_of_chance(&repos, &mut chance, options);
        let mut editor = CheckingEditor::new(Model::new(repos.fs(), has));
        let shown = format!("{number}: {report:?}");
        let done = report.finish(&mut editor, ReadAccess::ALL, &Cancel::new());
        assert!(done.is_ok(), "{done:?} {shown}");
        let expected = tree(repos.fs(), rev, RelPath::ROOT);
        let differ = differences(&editor.into_inner().nodes, &expected);
        assert!(differ.is_empty(), "{number}: {differ:?}");
    }
}

#[test]
fn what_may_not_be_read_is_absent() {
    let (_scratch, repos) = repository(1);
    let check = |_: Revnum, path: &RelPath| Ok(path.basename() != "a");
    let rev = repos.fs().youngest().unwrap();
    let mut report = Report::begin(&repos, wanted(rev)).unwrap();
    report
        .set_path(RelPath::ROOT, rev, Depth::Infinity, true, None)
        .unwrap();
    let has = Nodes::from([(RelPathBuf::root(), Node::empty(NodeKind::Dir))]);
    let mut editor = Model::new(repos.fs(), has);
    report
        .finish(&mut editor, ReadAccess::new(&check), &Cancel::new())
        .unwrap();
    let mut expected = tree(repos.fs(), rev, RelPath::ROOT);
    expected.retain(|path, _| !path.components().any(|name| name == "a"));
    assert_eq!(differences(&editor.nodes, &expected), [""; 0]);
    assert!(!editor.absent.is_empty());
    assert!(editor.absent.iter().all(|path| path.basename() == "a"));
}

#[test]
fn a_cancelled_drive_is_aborted() {
    let (_scratch, repos) = repository(1);
    let rev = repos.fs().youngest().unwrap();
    let mut report = Report::begin(&repos, wanted(rev)).unwrap();
    report
        .set_path(RelPath::ROOT, rev, Depth::Infinity, true, None)
        .unwrap();
    let cancel = Cancel::new();
    cancel.set();
    let mut editor =
        CheckingEditor::new(Model::new(repos.fs(), tree(repos.fs(), rev, RelPath::ROOT)));
    let error = report
        .finish(&mut editor, ReadAccess::ALL, &cancel)
        .unwrap_err();
    assert_eq!(error.code(), sylvan_core::ErrorCode::CANCELLED);
    assert!(editor.is_ended());
}

#[test]
fn a_difference_leads_from_one_tree_to_the_other() -> Result<()> {
    let (_scratch, repos) = repository(3);
    let mut chance = Chance::new(4);
    for number in 0..200 {
        let revisions = revisions(&repos);
        let (from, to) = (*chance.one(&revisions), *chance.one(&revisions));
        let source = repos.fs().revision_root(from)?;
        let target = repos.fs().revision_root(to)?;
        let options = DeltaOptions {
            texts: *chance.one(&TEXTS),
            depth: Depth::Infinity,
            entry_props: number % 2 == 0,
            ignore_ancestry: number % 3 == 0,
        };
        let has = tree(repos.fs(), from, RelPath::ROOT);
        let mut editor = CheckingEditor::new(Model::new(repos.fs(), has));
        dir_delta(
            Tree::from(&source),
            RelPath::ROOT,
            "",
            Tree::from(&target),
            RelPath::ROOT,
            &mut editor,
            options,
            ReadAccess::ALL,
            &Cancel::new(),
        )?;
        let expected = tree(repos.fs(), to, RelPath::ROOT);
        let differ = differences(&editor.into_inner().nodes, &expected);
        assert!(differ.is_empty(), "{number} r{from} r{to}: {differ:?}");
    }
    Ok(())
}

#[test]
fn a_replay_does_what_the_revision_did() -> Result<()> {
    for seed in 0..4 {
        let (_scratch, repos) = repository(seed);
        for rev in revisions(&repos).into_iter().skip(1) {
            let root = repos.fs().revision_root(rev)?;
            for (at, texts) in TEXTS.into_iter().enumerate() {
                let options = ReplayOptions {
                    deltas: Some(texts),
                    // Half of the time, no copy may be told.
                    low_water_mark: if at % 2 == 0 { Revnum::ZERO } else { rev },
                    ..ReplayOptions::default()
                };
                let has = tree(repos.fs(), rev.previous().unwrap(), RelPath::ROOT);
                let mut editor = CheckingEditor::new(Model::new(repos.fs(), has));
                let (access, cancel) = (ReadAccess::ALL, Cancel::new());
                replay(Tree::from(&root), &mut editor, &options, access, &cancel)?;
                let expected = tree(repos.fs(), rev, RelPath::ROOT);
                let differ = differences(&editor.into_inner().nodes, &expected);
                assert!(differ.is_empty(), "{seed} r{rev} {at}: {differ:?}");
            }
        }
    }
    Ok(())
}
