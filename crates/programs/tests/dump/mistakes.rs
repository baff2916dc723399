//! Command lines and streams that make no sense.

use super::*;

const CALLS: &str = "
    dump -r {2001-01-01} r
    dump -r 5:3 r
    dump -r 99 r
    dump -r 3:99 r
    dump -r COMMITTED r
    dump --exclude /a --include /b r
    dump --pattern r
    dump r x
    dump nonexist
    dump-revprops -r 4:2 r
    dump-revprops -r 99 r
    dump-revprops --deltas r
    verify -r 4:2 r
    verify -r 99 r
    verify -t 0-1 r
    verify -t 0-1 -r 1 r
    verify r x
    verify nonexist
";

const FILTER_CALLS: &str = "
    exclude --targets nofile
    include
    exclude
    include ../x
    include --bogus x
    foo x
    exclude --drop-empty-revs --drop-all-empty-revs x
    --quiet
    --version --pattern
    --version --quiet x
    include --quiet=1 x
    exclude --renumber x
    include --drop x
";

/// What is put in place of what in a stream of texts.
const REPLACEMENTS: &[(&str, &str)] = &[
    ("version: 2", "version: 4"),
    ("version: 2", "version: 0"),
    ("version: 2", "version: 1"),
    ("version: 2", "version: -1"),
    ("version: 2", "version: x"),
    ("version: 2", "version:"),
    ("SVN-fs", "XVN-fs"),
    ("\nUUID: f", "\nUUID: xyz"),
    ("\nUUID: f", "\nUUID:"),
    ("\nUUID: f", "\nDUUI: f"),
    ("\nUUID: f", "\nUUID f"),
    ("\nUUID: f", "\n\tUUID: f"),
    ("\nRevision-number: 2", "\nRevision-number: x"),
    ("\nRevision-number: 2", "\nRevision-number: 99"),
    ("\nRevision-number: 2", "\nRevision-number: 0"),
    ("\nRevision-number: 2", "\nNumber-of-revision: 2"),
    ("\nText-content-md5: 3", "\nText-content-md5: 0"),
    ("\nText-content-md5: ", "\nText-content-md5: x"),
    ("\nText-content-sha1: ", "\nText-content-sha1: 00"),
    ("\nText-content-sha1: ", "\nText-content-sha1: -"),
    ("\nText-copy-source-md5: ", "\nText-copy-source-md5: 0"),
    ("\nText-copy-source-sha1: ", "\nText-copy-source-sha1: 0"),
    ("\nText-content-length: ", "\nText-content-length: -"),
    ("\nText-content-length: ", "\nText-content-length: x"),
    ("\nText-content-length: ", "\nText-content-length: 1"),
    (
        "\nText-content-length: ",
        "\nText-content-length: 99999999999999999999",
    ),
    (
        "\nText-content-length: ",
        "\nText-content-length: 922337203685477580",
    ),
    ("\nText-content-length: 8", "\nText-content-length: 7"),
    ("\nText-content-length: 8", "\nText-content-length: 9"),
    ("\nText-content-length: 8", "\nX: 8"),
    (
        "\nProp-content-length: 10\n",
        "\nProp-content-length: -10\n",
    ),
    ("\nProp-content-length: 10\n", "\nProp-content-length: 0\n"),
    ("\nProp-content-length: 10\n", "\nProp-content-length: 9\n"),
    ("\nProp-content-length: 10\n", "\nProp-content-length: 99\n"),
    (
        "\nProp-content-length: 10\n",
        "\nProp-content-length: 99999999999999999999\n",
    ),
    ("\nContent-length: 10\n", "\nContent-length: 9\n"),
    ("\nContent-length: 10\n", "\nContent-length: 12\n"),
    ("\nContent-length: 10\n", "\nContent-length: -1\n"),
    ("\nContent-length: 10\n", "\nContent-length: x\n"),
    ("\nNode-copyfrom-rev: 1", "\nNode-copyfrom-rev: 99"),
    ("\nNode-copyfrom-rev: 1", "\nNode-copyfrom-rev: -1"),
    ("\nNode-copyfrom-rev: 1", "\nNode-copyfrom-rev: 0"),
    ("\nNode-copyfrom-rev: 1", "\nNode-copyfrom-rev: x"),
    ("\nNode-copyfrom-rev: 1", "\nNode-copyfrom: 1"),
    ("\nNode-copyfrom-path: trunk", "\nNode-copyfrom-path: none"),
    ("\nNode-copyfrom-path: trunk", "\nNode-copyfrom-path: "),
    ("\nNode-action: add", "\nNode-action: change"),
    ("\nNode-action: add", "\nNode-action: replace"),
    ("\nNode-action: add", "\nNode-action: delete"),
    ("\nNode-action: add", "\nNode-action: make"),
    ("\nNode-action: add", "\nAction: add"),
    ("\nNode-action: delete", "\nNode-action: add"),
    ("\nNode-action: change", "\nNode-action: add"),
    ("\nNode-kind: file", "\nNode-kind: dir"),
    ("\nNode-kind: file", "\nNode-kind: link"),
    ("\nNode-kind: file", "\nKind: file"),
    ("\nNode-kind: dir", "\nNode-kind: file"),
    ("\nNode-path: trunk\n", "\nNode-path: \n"),
    ("\nNode-path: trunk\n", "\nNode-path: /\n"),
    ("\nNode-path: trunk\n", "\nNode-path: //trunk//\n"),
    ("\nNode-path: trunk\n", "\nNode-path: no/such/place\n"),
    ("\nNode-path: trunk\n", "\nNode-path: branches\n"),
    ("\nNode-path: trunk\n", "\nNode-path: a\tb\n"),
    ("K 7\nsvn:log", "K -7\nsvn:log"),
    ("K 7\nsvn:log", "K x\nsvn:log"),
    ("K 7\nsvn:log", "K 6\nsvn:log"),
    ("K 7\nsvn:log", "K 7\nsvn:xyz"),
    ("K 7\nsvn:log", "D 7\nsvn:log"),
    ("K 7\nsvn:log", "X 7\nsvn:log"),
    ("V 11\na beg", "V 12\na beg"),
    ("V 11\na beg", "11\na beg"),
    ("a beginning", "a b\rinni\r\ng"),
    ("PROPS-END", "PROPS-ENX"),
];

/// Mistakes of which Subversion crashes, or complains with other words.
const CRASHES: &[(&str, &str)] = &[
    ("\nRevision-number: 2", "\nRevision-number: -2"),
    ("\nRevision-number: 0", "\nNode-path: x"),
    ("\nNode-copyfrom-path: trunk", "\nNode-copyfrom-path: ../x"),
    ("\nNode-path: trunk\n", "\nNode-path: ../x\n"),
    ("V 11\na beg", "V -11\na beg"),
    ("V 11\na beg", "V 9223372036854775806\na beg"),
    ("K 7\nsvn:log", "K 9223372036854775806\nsvn:log"),
    ("\nText-content-length: 8", "\nText-content-length: -8"),
];

/// As [`REPLACEMENTS`], in a stream of deltas.
const DELTA_REPLACEMENTS: &[(&str, &str)] = &[
    ("version: 3", "version: 2"),
    ("SVN\0", "SVN\u{9}"),
    ("SVN\0", "XVN\0"),
    ("\nText-delta: true", "\nText-delta: false"),
    ("\nProp-delta: true", "\nProp-delta: false"),
    ("\nText-delta-base-md5: ", "\nText-delta-base-md5: 0"),
    ("\nText-delta-base-sha1: ", "\nText-delta-base-sha1: 0"),
    ("\nText-delta-base-sha1: ", "\nText-delta-base-sha1: x"),
    ("\nText-content-md5: ", "\nText-content-md5: 0"),
    ("\nText-content-length: ", "\nText-content-length: 1"),
];

#[test]
fn command_lines_that_make_no_sense() {
    let scene = Scene::new(include_str!("copies.sh"));
    scene.compare_reading("svnadmin", CALLS, None);
    let input = scene.input(&scene.stream);
    scene.compare_reading("svndumpfilter", FILTER_CALLS, Some(&input));
}

/// Loads each with both; what comes before the mistake is committed.
fn load(scene: &Scene, streams: &[(String, Vec<u8>)]) {
    let mut told = String::new();
    for (name, stream) in streams {
        scene.renew("w");
        scene.pair.each(|folder| {
            let uuid = "setuuid w f7a3d1b0-6f9f-43b6-9a36-9a5a2e5b1f6d";
            scene.call("svnadmin", folder, uuid, None);
        });
        let input = scene.input(stream);
        let (difference, _) = scene.compare_writing("load w", Some(&input));
        if !difference.is_empty() {
            let _ = writeln!(told, "{name}\n{difference}");
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

fn changed(stream: &[u8], replacements: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let each = replacements.iter();
    each.map(|(old, new)| (format!("{old:?} -> {new:?}"), replaced(stream, old, new)))
        .collect()
}

#[test]
fn streams_with_mistakes() {
    let scene = Scene::new(include_str!("copies.sh"));
    load(&scene, &changed(&scene.stream, REPLACEMENTS));
    let deltas = scene.theirs("svnadmin", "dump -q --deltas r", None);
    load(&scene, &changed(&deltas.stdout, DELTA_REPLACEMENTS));
}

#[test]
fn streams_of_which_others_crash() {
    let scene = Scene::new(include_str!("copies.sh"));
    for (name, stream) in changed(&scene.stream, CRASHES) {
        scene.renew("w");
        let input = scene.input(&stream);
        let loaded = scene.ours(SVNADMIN, "load -q w", Some(&input));
        let is_told = loaded.stderr.starts_with("svnadmin: E");
        assert!(loaded.code == 1 && is_told, "{name}: {}", loaded.stderr);
        let verified = scene.ours("svnadmin", "verify -q w", None);
        verified.has_success(&name);
    }
}

#[test]
fn streams_that_end_early() {
    let scene = Scene::new(include_str!("copies.sh"));
    let deltas = scene.theirs("svnadmin", "dump -q --deltas r", None).stdout;
    for stream in [&scene.stream, &deltas] {
        let places = (0..12).map(|part| stream.len() * part / 12 + part);
        let ends = [1, 2, 20].map(|count| stream.len() - count);
        let streams: Vec<_> = places
            .chain([5, 31, 32, 40])
            .chain(ends)
            .map(|len| (format!("{len} bytes"), stream[..len].to_vec()))
            .collect();
        load(&scene, &streams);
    }
}
