use std::os::unix::fs::{PermissionsExt, symlink};

use sylvan_core::{ErrorCode, RelPath};

use super::*;
use crate::Cancel;

fn rel(path: &str) -> &RelPath {
    RelPath::new(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn errors_read_as_subversions() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().display().to_string();
    let missing = dir.path().join("no/such");
    let full = dir.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("x"), "").unwrap();
    let none = "No such file or directory";
    for (result, text) in [
        (
            open(&missing).map(drop),
            format!("Can't open file '{base}/no/such': {none}"),
        ),
        (
            read_dir(&missing).map(drop),
            format!("Can't open directory '{base}/no/such': {none}"),
        ),
        (
            make_dir(&missing),
            format!("Can't create directory '{base}/no/such': {none}"),
        ),
        (
            remove(&missing),
            format!("Can't remove file '{base}/no/such': {none}"),
        ),
        (
            remove_dir(&full),
            format!("Can't remove directory '{base}/full': Directory not empty"),
        ),
        (
            rename(&missing, &full),
            format!("Can't move '{base}/no/such' to '{base}/full': {none}"),
        ),
        (
            set_mode(&missing, 0o600),
            format!("Can't set permissions on '{base}/no/such': {none}"),
        ),
        (
            stat(&missing).map(drop),
            format!("Can't stat '{base}/no/such': {none}"),
        ),
        (
            create_new(&full.join("x"), MODE_FILE).map(drop),
            format!("Can't create file '{base}/full/x': File exists"),
        ),
        (
            TempFile::new_in(&missing).map(drop),
            format!(
                "Can't create temporary file from template '{base}/no/such/svn-XXXXXX': {none}"
            ),
        ),
    ] {
        assert_eq!(result.unwrap_err().message(), text);
    }
    let error = write_atomic(&missing, b"", MODE_FILE).unwrap_err();
    assert_eq!(
        error.message(),
        format!("Can't write '{base}/no/such' atomically")
    );
    assert_eq!(error.code(), ErrorCode::from_errno(2));
    assert_eq!(read_if_exists(&missing).unwrap(), None);
    assert!(!remove_if_exists(&missing).unwrap());
}

#[test]
fn new_files_have_their_final_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pristine");
    let file = create_final(&path, MODE_READ_ONLY).unwrap();
    file.write_all(b"abc").unwrap();
    file.write_all(b"def").unwrap();
    file.sync().unwrap();
    let meta = file.finish().unwrap();
    assert_eq!(
        (meta.size, meta.mode, meta.kind),
        (6, 0o444, FileKind::File)
    );
    assert_eq!(meta, lstat(&path).unwrap());
    assert!(meta.is_read_only());

    // What a crash left behind is replaced, read-only or not.
    let file = create_final(&path, MODE_READ_ONLY).unwrap();
    file.write_all(b"x").unwrap();
    assert_eq!(file.finish().unwrap().size, 1);
    let target = dir.path().join("target");
    std::fs::write(&target, "precious").unwrap();
    std::fs::remove_file(&path).unwrap();
    symlink(&target, &path).unwrap();
    create_final(&path, MODE_READ_ONLY)
        .unwrap()
        .write_all(b"y")
        .unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    assert_eq!(std::fs::read(&path).unwrap(), b"y");
}

#[test]
fn permissions_change_as_in_subversion() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, "").unwrap();
    for (before, read_only, executable, after) in [
        (0o644, Some(true), None, 0o444),
        (0o660, Some(true), None, 0o440),
        (0o444, Some(false), None, 0o644),
        (0o644, None, Some(true), 0o755),
        (0o640, None, Some(true), 0o750),
        (0o755, None, Some(false), 0o644),
        (0o600, None, Some(true), 0o700),
    ] {
        set_mode(&path, before).unwrap();
        if let Some(read_only) = read_only {
            set_read_only(&path, read_only).unwrap();
        }
        if let Some(executable) = executable {
            set_executable(&path, executable).unwrap();
        }
        assert_eq!(mode(&path), after, "{before:o}");
    }
}

#[test]
fn no_symlink_below_a_handle_is_followed() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let dir = Dir::open(root.path()).unwrap();
    dir.make_dir(rel("a")).unwrap();
    dir.make_dir(rel("a/b")).unwrap();
    dir.make_symlink(outside.path().as_os_str(), rel("a/out"))
        .unwrap();
    std::fs::create_dir(outside.path().join("sub")).unwrap();
    let new = |path| dir.create(rel(path), MODE_FILE, Creation::Fresh).map(drop);
    new("a/b/f").unwrap();
    new("top").unwrap();
    for path in ["a/out/f", "a/out/sub/f"] {
        let error = new(path).unwrap_err();
        assert!(error.message().contains("Can't create file"), "{error}");
    }
    assert!(dir.make_dir(rel("a/out/d")).is_err());
    assert!(dir.open_dir(rel("a/out")).is_err());
    assert!(dir.open_dir(rel("a/out/sub")).is_err());
    assert!(dir.rename(rel("top"), rel("a/out/top")).is_err());
    assert!(dir.remove(rel("a/out/sub")).is_err());
    assert_eq!(dir.lstat(rel("a/out/sub")).unwrap(), None);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    // Over a symlink at the end, nothing is written through it.
    new("a/out").unwrap();
    assert!(dir.lstat(rel("a/out")).unwrap().unwrap().is_file());
    assert_eq!(dir.lstat(rel("a/none")).unwrap(), None);
    assert_eq!(dir.lstat(rel("no/ne")).unwrap(), None);
    dir.rename(rel("a/b/f"), rel("g")).unwrap();
    dir.remove(rel("g")).unwrap();
    dir.remove_dir(rel("a/b")).unwrap();
    assert!(
        dir.create(rel("top"), MODE_FILE, Creation::Exclusive)
            .is_err()
    );
    let below = dir.open_dir(rel("a")).unwrap();
    assert!(below.path().ends_with("a"));
    assert!(below.open_file(rel("out")).is_ok());
}

#[test]
fn no_step_goes_through_a_symlink_in_the_middle() {
    #[cfg(target_os = "linux")]
    for without in [true, false] {
        dir::WITHOUT_OPENAT2.store(without, std::sync::atomic::Ordering::Relaxed);
        steps_below_a_symlink();
    }
    #[cfg(not(target_os = "linux"))]
    steps_below_a_symlink();
}

fn steps_below_a_symlink() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    for folder in [&root, &outside, &outside.join("d"), &outside.join("d/full")] {
        std::fs::create_dir(folder).unwrap();
    }
    for file in ["f", "d/f", "d/full/f"] {
        std::fs::write(outside.join(file), "theirs").unwrap();
        set_mode(&outside.join(file), 0o640).unwrap();
    }
    std::fs::create_dir(outside.join("d/empty")).unwrap();
    symlink(&outside, root.join("out")).unwrap();
    let before = contents(&outside);
    let dir = Dir::open(&root).unwrap();
    dir.create(rel("mine"), MODE_FILE, Creation::Fresh).unwrap();
    let (cancel, now) = (Cancel::new(), Timestamp::from_micros(1));
    for folder in ["out", "out/d"] {
        let (file, new) = (format!("{folder}/f"), format!("{folder}/new"));
        let (file, new, folder) = (rel(&file), rel(&new), rel(folder));
        let full = folder.join(rel("full"));
        for creation in [Creation::Fresh, Creation::Exclusive] {
            assert!(dir.create(new, 0o666, creation).is_err());
            assert!(dir.create(file, 0o666, creation).is_err());
        }
        assert!(dir.make_dir(new).is_err());
        assert!(dir.make_dir_all(new).is_err());
        assert!(dir.make_dir_all(&new.join(rel("x/y"))).is_err());
        assert!(dir.make_symlink("x".as_ref(), new).is_err());
        assert!(dir.rename(rel("mine"), new).is_err());
        assert!(dir.rename(file, rel("theirs")).is_err());
        assert!(dir.set_mode(file, 0o777).is_err());
        assert!(dir.set_time(file, now).is_err());
        assert!(dir.remove(file).is_err());
        assert!(dir.remove_dir(&folder.join(rel("empty"))).is_err());
        assert!(dir.empty(folder, &cancel).is_err());
        // To these, nothing is there.
        dir.remove_if_exists(file).unwrap();
        dir.remove_dir_if_empty(&folder.join(rel("empty"))).unwrap();
        dir.remove_tree(&full, &cancel).unwrap();
        dir.remove_tree(folder, &cancel).unwrap();
        assert_eq!(dir.lstat(file).unwrap(), None);
        // Nor is anything read.
        assert!(dir.open_file(file).is_err());
        assert!(dir.read(file).is_err());
        assert!(dir.open_dir(folder).is_err());
        assert!(dir.read_dir(folder).is_err());
    }
    assert!(dir.set_mode(rel("out"), 0o700).is_err());
    assert_eq!(contents(&outside), before);
    assert!(dir.lstat(rel("mine")).unwrap().is_some());
}

/// Lists all that is below a folder, with modes and times.
fn contents(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (name, kind) in read_dir(folder).unwrap() {
        let path = folder.join(String::from_utf8(name).unwrap());
        let meta = lstat(&path).unwrap();
        found.push(format!("{path:?} {:o} {:?}", meta.mode, meta.mtime));
        if kind == Some(FileKind::Dir) {
            found.extend(contents(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn temp_files_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut temp = TempFile::new_in(dir.path()).unwrap();
        temp.write_all(b"x").unwrap();
        assert_eq!(mode(temp.path()), 0o600);
    }
    assert_eq!(read_dir(dir.path()).unwrap(), []);
    let path = dir.path().join("f");
    write_atomic(&path, b"one", MODE_FILE).unwrap();
    write_atomic(&path, b"two", MODE_FILE).unwrap();
    assert_eq!(read(&path).unwrap(), b"two");
    copy(&path, &dir.path().join("g"), true).unwrap();
    assert_eq!(read(&dir.path().join("g")).unwrap(), b"two");
    assert_eq!(read_dir(dir.path()).unwrap().len(), 2);
}

#[test]
fn trees_and_times() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("t");
    make_dir_all(&tree.join("a/b")).unwrap();
    make_dir_all(&tree.join("a/b")).unwrap();
    symlink(dir.path(), tree.join("a/link")).unwrap();
    std::fs::write(dir.path().join("stays"), "").unwrap();
    std::fs::write(tree.join("a/f"), "").unwrap();
    let time = Timestamp::from_micros(1_000_000_123_456);
    set_mtime(&tree.join("a/f"), time).unwrap();
    assert_eq!(lstat(&tree.join("a/f")).unwrap().mtime, time);
    assert_eq!(
        read_link(&tree.join("a/link")).unwrap(),
        dir.path().as_os_str().as_encoded_bytes()
    );
    sync_dir(&tree).unwrap();
    remove_tree(&tree, &Cancel::new()).unwrap();
    assert!(exists(&dir.path().join("stays")).unwrap());
    assert!(!exists(&tree).unwrap());
}

#[test]
fn files_are_cut_and_continued() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut file = create_new(&path, MODE_FILE).unwrap();
    file.write_all(b"abcdef").unwrap();
    file.truncate(3).unwrap();
    file.write_all(b"x").unwrap();
    drop(file);
    append(&path).unwrap().write_all(b"y").unwrap();
    assert_eq!(read(&path).unwrap(), b"abcxy");
    let error = append(&dir.path().join("none")).unwrap_err();
    assert!(error.message().starts_with("Can't open file"));
}
