//! Five histories, each dumped, loaded, filtered and verified with all options.

use super::*;

const DUMPS: &str = "
    dump r
    dump -q r
    dump --deltas r
    dump --incremental r
    dump --incremental --deltas r
    dump -M 1 r
    dump -r 0 r
    dump -r 0:0 --incremental --deltas r
    dump -r 2 r
    dump -r 2 --deltas r
    dump -r 2 --incremental r
    dump -r 3:5 r
    dump -r 3:5 --deltas r
    dump -r 3:5 --incremental r
    dump -r 3:5 --incremental --deltas r
    dump -q -r 4:6 --incremental r
    dump -r HEAD r
    dump -r HEAD --deltas r
    dump -r 4:HEAD --incremental r
    dump --include /trunk r
    dump --include trunk r
    dump --include /trunk --include /tags --deltas r
    dump --include /trunk --incremental -r 2:HEAD r
    dump --exclude /trunk r
    dump --exclude /branches --exclude /tags r
    dump --exclude /trunk/A --deltas r
    dump --exclude /trunk/A -r 3:5 r
    dump --exclude /trunk/A --incremental --deltas -r 3:5 r
    dump --exclude /trunk/A/B -r 3:6 --incremental r
    dump --exclude /none r
    dump --include /none r
    dump --pattern --include /t*/* --include /trunk r
    dump --pattern --exclude *A* --deltas r
    dump --pattern --exclude /branches/? r
    dump --pattern --include [tb]* r
    dump --pattern -r 2:5 --exclude */file r
    dump-revprops r
    dump-revprops -q r
    dump-revprops -r 2 r
    dump-revprops -r 2:4 r
    dump-revprops -r HEAD r
";

const FILTERS: &str = "
    exclude /trunk
    exclude trunk
    exclude /trunk/A
    exclude branches tags
    exclude --drop-empty-revs branches
    exclude --drop-empty-revs --renumber-revs branches tags
    exclude --drop-empty-revs --renumber-revs --preserve-revprops tags
    exclude --drop-all-empty-revs branches
    exclude --drop-all-empty-revs --renumber-revs branches/b branches/y
    exclude --renumber-revs branches
    exclude --preserve-revprops branches
    exclude --skip-missing-merge-sources branches
    exclude --skip-missing-merge-sources --drop-empty-revs --renumber-revs branches/y trunk/C
    exclude --quiet branches
    exclude --quiet --drop-empty-revs branches
    exclude --pattern *f*
    exclude --pattern --drop-empty-revs --renumber-revs /branches/?
    exclude --pattern /trunk/[A-B]*
    exclude /none
    exclude --targets targets
    include /trunk
    include trunk branches
    include --drop-empty-revs trunk
    include --drop-empty-revs --renumber-revs --skip-missing-merge-sources trunk
    include --drop-all-empty-revs --renumber-revs trunk tags
    include --preserve-revprops --drop-empty-revs trunk/A
    include --pattern /t*
    include --pattern --drop-empty-revs --skip-missing-merge-sources *A*
    include --targets targets --quiet
    include /none
    include --drop-empty-revs --renumber-revs /none
";

const VERIFICATIONS: &str = "
    verify r
    verify -q r
    verify -M 1 r
    verify --keep-going r
    verify -q --keep-going r
    verify -r 0 r
    verify -r 2 r
    verify -r 2:4 r
    verify -r 2:4 --keep-going r
    verify -r HEAD r
    verify --metadata-only r
    verify --metadata-only -r 1:3 r
    verify --metadata-only --keep-going -q r
    verify --check-normalization r
";

/// The options with which whole streams are loaded.
const LOADS: &str = "
    load w
    load -q w
    load -M 1 w
    load -F INPUT w
    load --ignore-uuid w
    load --force-uuid w
    load --force-uuid --ignore-uuid w
    load --ignore-dates w
    load --normalize-props w
    load --bypass-prop-validation w
    load --normalize-props --no-flush-to-disk -q w
    load --use-pre-commit-hook w
    load --use-post-commit-hook -q w
    load --use-pre-commit-hook --use-post-commit-hook w
    load --parent-dir sub w
    load --parent-dir /sub/ --normalize-props w
    load --parent-dir none w
    load -r 0 w
    load -r 1:4 --normalize-props w
    load -r 2 w
    load -r 99 w
    load -r HEAD w
    load -r 4:2 w
";

fn history(script: &str) {
    let scene = Scene::new(script);
    scene.compare_reading("svnadmin", DUMPS, None);
    let input = scene.input(&scene.stream);
    std::fs::write(scene.pair.theirs().join("targets"), "/trunk/A\nbranches\n").unwrap();
    scene.compare_reading("svndumpfilter", FILTERS, Some(&input));
    scene.compare_reading("svnadmin", VERIFICATIONS, None);
    loads(&scene);
    kinds_of_streams_load(&scene);
    revprops_load(&scene);
}

/// Hooks that write down how they were called; the repository with the folder `sub`.
fn prepare_loads(scene: &Scene) {
    scene.shell(
        "for hook in pre-commit post-commit; do
            printf '#!/bin/sh\\necho ${0##*/} ${1##*/} $2 $3 >> $1/calls\\n' > empty/hooks/$hook
            chmod +x empty/hooks/$hook
        done
        cp -a empty sub; svn mkdir -qm made file://$PWD/sub/sub; rm -f sub/calls",
    );
}

fn loads(scene: &Scene) {
    prepare_loads(scene);
    let input = scene.input(&scene.stream);
    let mut told = String::new();
    let lines = LOADS.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let start = if line.contains("/sub") || line.contains("dir sub") {
            "sub"
        } else {
            "empty"
        };
        for folder in [scene.pair.theirs(), scene.pair.ours()] {
            scene.copy(start, &folder.join("w"));
        }
        let line = line.replace("INPUT", &input.to_string_lossy());
        let (difference, _) = scene.compare_writing(&line, Some(&input));
        told.push_str(&difference);
        let [theirs, ours] = [scene.pair.theirs(), scene.pair.ours()].map(|folder| {
            let read = |name: &str| std::fs::read_to_string(folder.join("w").join(name));
            let uuid = read("db/uuid").unwrap();
            (
                uuid.lines().next().map(str::to_owned),
                read("calls").unwrap_or_default(),
            )
        });
        if theirs != ours {
            let _ = writeln!(told, "svnadmin {line}\n{theirs:?}\n{ours:?}");
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

/// Deltas, parts and filtered streams come back as what they were.
fn kinds_of_streams_load(scene: &Scene) {
    let mut told = String::new();
    for (dump, loads) in [
        ("dump -q --deltas r", "load --normalize-props w"),
        ("dump -q --deltas r", "load -q --bypass-prop-validation w"),
        (
            "dump -q --deltas -r 3:HEAD r",
            "load --bypass-prop-validation w",
        ),
        ("dump -q -r 3:HEAD r", "load --normalize-props w"),
        (
            "dump -q -r 3:HEAD r",
            "load --normalize-props --parent-dir x w",
        ),
        (
            "dump -q --incremental -r 3:HEAD r",
            "load --normalize-props w",
        ),
        (
            "dump -q --exclude /trunk/A r",
            "load --bypass-prop-validation w",
        ),
        (
            "dump -q --include /trunk --deltas r",
            "load --normalize-props w",
        ),
        ("dump-revprops -q r", "load --normalize-props w"),
    ] {
        let stream = scene.theirs("svnadmin", dump, None);
        let input = scene.input(&stream.has_success(dump));
        scene.renew("w");
        let (difference, loaded) = scene.compare_writing(loads, Some(&input));
        if !difference.is_empty() {
            let _ = writeln!(told, "{dump} | {difference}");
        }
        let is_whole = dump == "dump -q --deltas r" && loads.contains("--bypass");
        assert!(!is_whole || loaded == scene.stream, "{dump}");
    }
    parts_load_one_after_another(scene, &mut told);
    assert!(told.is_empty(), "\n{told}");
}

fn parts_load_one_after_another(scene: &Scene, told: &mut String) {
    scene.renew("w");
    for (dump, loads) in [
        ("dump -q -r 0:2 r", "load --bypass-prop-validation w"),
        (
            "dump -q --incremental --deltas -r 3:5 r",
            "load --bypass-prop-validation w",
        ),
        (
            "dump -q --incremental -r 6:HEAD r",
            "load --bypass-prop-validation w",
        ),
    ] {
        let stream = scene.theirs("svnadmin", dump, None);
        let input = scene.input(&stream.has_success(dump));
        told.push_str(&scene.compare_writing(loads, Some(&input)).0);
    }
}

fn revprops_load(scene: &Scene) {
    let stream = scene.theirs("svnadmin", "dump-revprops -q r", None);
    let input = scene.input(&stream.has_success("dump-revprops"));
    let mut told = String::new();
    for line in [
        "load-revprops w",
        "load-revprops -q --bypass-prop-validation w",
        "load-revprops --normalize-props w",
        "load-revprops --force-uuid --normalize-props w",
        "load-revprops -r 2:3 w",
        "load-revprops -r 3 w",
        "load-revprops -r 3:2 w",
        "load-revprops -r 99 w",
        "load-revprops --no-flush-to-disk w",
    ] {
        for folder in [scene.pair.theirs(), scene.pair.ours()] {
            scene.copy("r", &folder.join("w"));
        }
        for folder in [scene.pair.theirs(), scene.pair.ours()] {
            for revision in 1..5 {
                let change = format!("setrevprop w -r {revision} other targets");
                std::fs::write(folder.join("targets"), "/trunk/A\nbranches\n").unwrap();
                scene.call("svnadmin", &folder, &change, None);
            }
        }
        told.push_str(&scene.compare_writing(line, Some(&input)).0);
    }
    // A repository that has not all of these revisions.
    scene.renew("w");
    let (difference, _) = scene.compare_writing("load-revprops w", Some(&input));
    told.push_str(&difference);
    assert!(told.is_empty(), "\n{told}");
}

#[test]
fn copies_and_replacements() {
    history(include_str!("copies.sh"));
}

#[test]
fn properties_and_mergeinfo() {
    history(include_str!("props.sh"));
}

#[test]
fn contents_and_names() {
    history(include_str!("contents.sh"));
}

#[test]
fn moves_and_deletions() {
    history(include_str!("moves.sh"));
}

#[test]
fn branches_and_merges() {
    history(include_str!("merges.sh"));
}
