//! What hooks are told, and what becomes of what they say.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sylvan_core::{Dirent, ErrorCode, Props, RelPath, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_fs::lock::{Access, LockRequest, LockTarget};
use sylvan_fs::txn::Committed;
use sylvan_fs::{Options, Txn};
use sylvan_repos::{CreateOptions, HOOKS, Repos, RevpropHooks, post_commit_text};

struct Scene {
    dir: tempfile::TempDir,
    repos: Repos,
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_600_000_000_000_000)
}

fn rel(path: &str) -> RelPathBuf {
    RelPathBuf::new(path).unwrap()
}

/// Logs its arguments, but for the repository's path, and its input.
const LOG: &str = "#!/bin/sh\nR=$1; shift\n\
                   { printf '%s' \"${0##*/}\"; printf ' [%s]' \"$@\"; echo; /bin/cat; } >> \"$R/log\"\n";

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            flush_to_disk: false,
            ..Options::default()
        };
        let path = Dirent::new(dir.path().join("r").to_str().unwrap());
        let create = CreateOptions::default();
        let repos = Repos::create(&path, &Dirent::new("/"), &create, options, now()).unwrap();
        Self { dir, repos }
    }

    fn put_hook(&self, name: &str, script: &str) {
        let path = self.repos.hooks_path().join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn log(&self) -> String {
        let path = self.repos.path().join("log");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        text
    }

    fn begin(&self) -> Result<Txn> {
        let mut props = Props::new();
        props.insert("svn:author".to_owned(), b"jo".to_vec());
        props.insert("svn:log".to_owned(), b"why".to_vec());
        props.insert("svn:txn-user-agent".to_owned(), b"x".to_vec());
        let base = self.repos.fs().youngest()?;
        self.repos
            .begin_commit(base, &props, &["mergeinfo", "depth"], now())
    }

    fn commit_file(&self, path: &str, access: &Access) -> Result<Committed> {
        let mut txn = self.begin()?;
        txn.make_file(&rel(path))?;
        let committed = self.repos.commit(&mut txn, access, now());
        if committed.is_err() {
            txn.abort()?;
        }
        committed
    }

    fn lock(&self, path: &str) -> Result<String> {
        let targets = BTreeMap::from([(rel(path), LockTarget::default())]);
        let request = LockRequest {
            comment: Some("mine\n".to_owned()),
            ..LockRequest::default()
        };
        let mut locked = self.repos.lock(&targets, Some("jo"), &request, now())?;
        let lock = locked.paths.remove(&rel(path)).unwrap()?;
        locked.after.map_or(Ok(lock.lock.token), Err)
    }

    fn transactions(&self) -> usize {
        Txn::list(self.repos.fs()).unwrap().len()
    }
}

#[test]
fn each_hook_gets_its_arguments_and_input() {
    let scene = Scene::new();
    scene.commit_file("a b", &Access::default()).unwrap();
    for hook in HOOKS {
        scene.put_hook(hook, LOG);
    }
    let repos = &scene.repos;
    scene.put_hook("pre-lock", &format!("{LOG}printf opaquelocktoken:1\n"));
    let token = scene.lock("a b").unwrap();
    assert_eq!(token, "opaquelocktoken:1");
    assert_eq!(
        scene.log(),
        "pre-lock [/a b] [jo] [mine\n] [0]\npost-lock [jo]\n/a b\n"
    );
    let access = Access {
        user: Some("jo".to_owned()),
        tokens: BTreeMap::from([(token.clone(), rel("a b"))]),
    };
    scene.commit_file("c", &access).unwrap();
    assert_eq!(
        scene.log(),
        "start-commit [jo] [mergeinfo:depth] [1-1]\n\
         pre-commit [1-1]\nLOCK-TOKENS:\n/a%20b|opaquelocktoken:1\n\n\
         post-commit [2] [1-1]\n"
    );
    let props = repos.fs().revprops(Revnum::new(2).unwrap()).unwrap();
    assert_eq!(
        props.keys().collect::<Vec<_>>(),
        ["svn:author", "svn:date", "svn:log"]
    );
    let tokens = BTreeMap::from([(rel("a b"), token)]);
    let unlocked = repos.unlock(&tokens, Some("jo"), false, now()).unwrap();
    assert!(unlocked.after.is_none() && unlocked.paths[&rel("a b")].is_ok());
    assert_eq!(
        scene.log(),
        "pre-unlock [/a b] [jo] [opaquelocktoken:1] [0]\npost-unlock [jo]\n/a b\n"
    );
    let change = |value: Option<&str>| {
        let value = value.map(str::as_bytes);
        let revision = Revnum::new(1).unwrap();
        repos
            .change_revprop(revision, None, "p", None, value, RevpropHooks::ALL)
            .unwrap();
        scene.log()
    };
    assert_eq!(
        change(Some("1\n")),
        "pre-revprop-change [1] [] [p] [A]\n1\npost-revprop-change [1] [] [p] [A]\n"
    );
    assert_eq!(
        change(Some("2\n")),
        "pre-revprop-change [1] [] [p] [M]\n2\npost-revprop-change [1] [] [p] [M]\n1\n"
    );
    assert_eq!(
        change(None),
        "pre-revprop-change [1] [] [p] [D]\npost-revprop-change [1] [] [p] [D]\n2\n"
    );
}

#[test]
fn what_fails_before_a_commit_stops_it() {
    let scene = Scene::new();
    let failing = |script: &str| format!("#!/bin/sh\n{script}\n");
    for (hook, script, message) in [
        (
            "start-commit",
            "echo no >&2; exit 3",
            "Commit blocked by start-commit hook (exit code 3) with output:\nno\n",
        ),
        (
            "pre-commit",
            "exit 1",
            "Commit blocked by pre-commit hook (exit code 1) with no output.",
        ),
        (
            "pre-commit",
            "printf '\\377' >&2; exit 1",
            "Commit blocked by pre-commit hook (exit code 1) with output:\n[Error output could \
             not be translated from the native locale to UTF-8.]",
        ),
        (
            "pre-commit",
            "kill -9 $$",
            "'pre-commit' hook failed (did not exit cleanly: apr_exit_why_e was 2, exitcode was \
             9).   with no output.",
        ),
    ] {
        scene.put_hook(hook, &failing(script));
        let error = scene.commit_file("a", &Access::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::REPOS_HOOK_FAILURE);
        assert_eq!(error.message(), message, "{script}");
        std::fs::remove_file(scene.repos.hooks_path().join(hook)).unwrap();
        assert_eq!(scene.transactions(), 0, "{script}");
    }
    assert_eq!(scene.repos.fs().youngest().unwrap(), Revnum::ZERO);
}

#[test]
fn hooks_that_cannot_run_count_as_failed() {
    let scene = Scene::new();
    let path = scene.repos.hooks_path().join("pre-commit");
    let said = |scene: &Scene| {
        scene
            .commit_file("a", &Access::default())
            .unwrap_err()
            .message()
    };
    let blocked = "Commit blocked by pre-commit hook (exit code 255) with no output.";
    scene.put_hook("pre-commit", "#!/no/such/program\n");
    assert_eq!(said(&scene), blocked);
    scene.put_hook("pre-commit", "exit 0");
    assert_eq!(said(&scene), blocked);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(said(&scene), blocked);
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/no/such/program", &path).unwrap();
    let expected = format!("Failed to run '{}' hook; broken symlink", path.display());
    assert_eq!(said(&scene), expected);
    std::fs::remove_file(&path).unwrap();
    // What is no file is no hook.
    std::fs::create_dir(&path).unwrap();
    scene.commit_file("a", &Access::default()).unwrap();
}

#[test]
fn what_fails_after_a_commit_is_told_beside_it() {
    let scene = Scene::new();
    scene.put_hook("post-commit", "#!/bin/sh\necho late >&2\nexit 1\n");
    let committed = scene.commit_file("a", &Access::default()).unwrap();
    assert_eq!(committed.revision.number(), 1);
    let error = committed.after.unwrap();
    assert_eq!(error.code(), ErrorCode::REPOS_POST_COMMIT_HOOK_FAILED);
    let text = "post-commit hook failed (exit code 1) with output:\nlate\n";
    assert_eq!(post_commit_text(&error), text);
    let before = sylvan_core::Error::new(ErrorCode::SQLITE_BUSY, "busy");
    assert_eq!(
        post_commit_text(&before.attach(error)),
        format!("post commit FS processing had error:\nbusy\n{text}")
    );
}

#[test]
fn hooks_may_change_properties_of_the_revision_to_be() {
    let scene = Scene::new();
    let script = "#!/bin/sh\nprintf 'K 7\\nsvn:log\\nV 3\\nnew\\nEND\\n' > \
                  \"$1/db/transactions/$4.txn/props\"\n";
    scene.put_hook("start-commit", script);
    scene.commit_file("a", &Access::default()).unwrap();
    let props = scene.repos.fs().revprops(Revnum::new(1).unwrap()).unwrap();
    assert_eq!(props["svn:log"], b"new");
    assert!(!props.contains_key("svn:author"));
}

#[test]
fn hooks_have_the_environment_that_the_file_says() {
    let mut scene = Scene::new();
    let script = "#!/bin/sh\n/usr/bin/env >> \"$1/log\"\n";
    scene.put_hook("start-commit", script);
    scene.put_hook("pre-commit", script);
    let variables = |scene: &Scene, path: &str| {
        scene.commit_file(path, &Access::default()).unwrap();
        let log = scene.log();
        let own = log
            .lines()
            .filter(|line| !line.starts_with("PWD=") && !line.starts_with("_="));
        own.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let conf = scene.repos.conf_path().join("hooks-env");
    let text = "[default]\nLang = a\n[Pre-Commit]\nZ = 3\n[pre-commit]\nX = 1\nY = 2\nx = 4\n";
    std::fs::write(conf, text).unwrap();
    assert_eq!(variables(&scene, "a"), "");
    scene.repos.use_hooks_env(None);
    assert_eq!(variables(&scene, "b"), "Lang=a x=4 X=1 Y=2");
    let elsewhere = scene.dir.path().join("env");
    scene.repos.use_hooks_env(Some(&elsewhere));
    assert_eq!(variables(&scene, "c"), "");
    std::fs::write(&elsewhere, "X = 1\n").unwrap();
    let error = scene.begin().unwrap_err();
    assert_eq!(error.code(), ErrorCode::MALFORMED_FILE);
}

#[test]
fn locks_are_refused_by_hooks_and_tokens_are_checked() {
    let scene = Scene::new();
    scene.commit_file("a", &Access::default()).unwrap();
    scene.put_hook("pre-lock", "#!/bin/sh\nexit 1\n");
    let said = |scene: &Scene| scene.lock("a").unwrap_err().to_string();
    assert_eq!(
        said(&scene),
        "E165001: Lock blocked by pre-lock hook (exit code 1) with no output."
    );
    scene.put_hook("pre-lock", "#!/bin/sh\necho opaquelocktoken:x\n");
    assert_eq!(
        said(&scene),
        "E160037: Lock token 'opaquelocktoken:x\n' is not ASCII or is a control character at \
         byte 17"
    );
    scene.put_hook("pre-lock", "#!/bin/sh\necho x\n");
    assert_eq!(
        said(&scene),
        "E160037: Lock token URI 'x\n' has bad scheme; expected 'opaquelocktoken'"
    );
    scene.put_hook("pre-lock", "#!/bin/sh\n");
    scene.put_hook("post-lock", "#!/bin/sh\nexit 2\n");
    let error = scene.lock("a").unwrap_err();
    assert_eq!(
        error.to_lines(""),
        "E165008: Locking succeeded, but post-lock hook failed\n\
         E165001: post-lock hook failed (exit code 2) with no output.\n"
    );
    assert!(
        scene
            .repos
            .fs()
            .lock_on(&rel("a"), now())
            .unwrap()
            .is_some()
    );
    scene.put_hook("pre-unlock", "#!/bin/sh\nexit 1\n");
    let tokens = BTreeMap::from([(rel("a"), String::new())]);
    let mut unlocked = scene.repos.unlock(&tokens, None, true, now()).unwrap();
    assert_eq!(
        unlocked
            .paths
            .remove(&rel("a"))
            .unwrap()
            .unwrap_err()
            .message(),
        "Unlock blocked by pre-unlock hook (exit code 1) with no output."
    );
    let error = scene.repos.unlock(&tokens, None, false, now()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_NO_USER);
}

#[test]
fn revision_properties_are_guarded() {
    let scene = Scene::new();
    let change = |name: &str, value: &[u8], hooks| {
        let repos = &scene.repos;
        let changed = repos.change_revprop(Revnum::ZERO, None, name, None, Some(value), hooks);
        changed.map_err(|error| error.to_lines(""))
    };
    let refused = |name: &str, value: &[u8]| change(name, value, RevpropHooks::NONE).unwrap_err();
    assert_eq!(
        change("p", b"x", RevpropHooks::ALL).unwrap_err(),
        "E165006: Repository has not been enabled to accept revision propchanges;\nask the \
         administrator to create a pre-revprop-change hook\n"
    );
    assert_eq!(
        refused("svn:wc:x", b""),
        "E165002: Storage of non-regular property 'svn:wc:x' is disallowed through the repository \
         interface, and could indicate a bug in your client\n"
    );
    assert_eq!(
        refused("svn:log", b"\xff"),
        "E125005: Cannot accept 'svn:log' property because it is not encoded in UTF-8\n"
    );
    assert_eq!(
        refused("svn:log", b"a\r\n"),
        "E125005: Invalid property value\n\
         E125017: Cannot accept non-LF line endings in 'svn:log' property\n"
    );
    assert_eq!(
        refused("svn:date", b"today"),
        "E125005: Wrong or unexpected property value\nE125003: Bogus date\n"
    );
    change("p", b"\xff\r", RevpropHooks::NONE).unwrap();
    scene.put_hook("pre-revprop-change", "#!/bin/sh\nexit 0\n");
    scene.put_hook("post-revprop-change", "#!/bin/sh\nexit 5\n");
    assert_eq!(
        change("p", b"y", RevpropHooks::ALL).unwrap_err(),
        "E165001: post-revprop-change hook failed (exit code 5) with no output.\n"
    );
    assert_eq!(scene.repos.fs().revprops(Revnum::ZERO).unwrap()["p"], b"y");
    let expected = Some(Some(&b"x"[..]));
    let error = scene
        .repos
        .change_revprop(Revnum::ZERO, None, "p", expected, None, RevpropHooks::NONE)
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::FS_PROP_BASEVALUE_MISMATCH);
}

#[test]
fn node_properties_are_checked() {
    let check = |name: &str, value: &[u8]| {
        let checked = sylvan_repos::check_node_prop("/a", name, Some(value));
        checked.map_err(|error| error.to_string())
    };
    assert_eq!(check("svn:mergeinfo", b"/trunk:1-3"), Ok(()));
    assert_eq!(
        check("svn:mergeinfo", b"trunk").unwrap_err(),
        "E200020: Commit rejected because mergeinfo on '/a' is syntactically invalid"
    );
    assert_eq!(
        check("svn:mergeinfo", b"/trunk:1\0").unwrap_err(),
        "E200020: Commit rejected because mergeinfo on '/a' contains unexpected string terminator"
    );
    assert_eq!(check("svn:ignore", b"a\nb\n"), Ok(()));
    assert_eq!(
        check("svn:ignore", b"a\r\n").unwrap_err(),
        "E125005: Invalid property value"
    );
    let normalized = |value: &'static str| {
        String::from_utf8(sylvan_repos::normalized_prop("svn:log", value.as_bytes()).into_owned())
    };
    assert_eq!(normalized("a\r\nb\rc\n").unwrap(), "a\nb\nc\n");
    let other = sylvan_repos::normalized_prop("other", b"a\r\n");
    assert_eq!(&*other, b"a\r\n");
}

#[test]
fn hooks_with_no_input_read_nothing() {
    let scene = Scene::new();
    scene.put_hook("post-commit", LOG);
    // Would wait for the input of this test, if it had that.
    scene.commit_file("a", &Access::default()).unwrap();
    assert_eq!(scene.log(), "post-commit [1] [0-0]\n");
    assert!(Path::new("/dev/null").exists());
}

#[test]
fn locks_are_listed_to_a_depth() {
    use sylvan_core::Depth;
    let scene = Scene::new();
    let mut txn = scene.begin().unwrap();
    txn.make_dir(&rel("d")).unwrap();
    for path in ["a", "d/b"] {
        txn.make_file(&rel(path)).unwrap();
    }
    scene
        .repos
        .commit(&mut txn, &Access::default(), now())
        .unwrap();
    scene.lock("a").unwrap();
    scene.lock("d/b").unwrap();
    let paths = |path: &RelPath, depth| {
        let locks = scene.repos.locks(path, depth, now()).unwrap();
        locks
            .iter()
            .map(|lock| lock.lock.path.to_fspath())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(RelPath::ROOT, Depth::Infinity), ["/a", "/d/b"]);
    assert_eq!(paths(RelPath::ROOT, Depth::Immediates), ["/a"]);
    assert_eq!(paths(RelPath::ROOT, Depth::Empty), [""; 0]);
    assert_eq!(paths(&rel("d/b"), Depth::Empty), ["/d/b"]);
    assert_eq!(paths(&rel("d"), Depth::Files), ["/d/b"]);
}
