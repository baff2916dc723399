//! A repository with a few revisions, and a client that says what it is told to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_core::{Dirent, Revnum, Timestamp};
use sylvan_fs::Options;
use sylvan_repos::{CreateOptions, Repos};
use sylvan_server::svn::Serving;
use sylvan_server::svn::fuzz::{serve, serving};

/// What a client says first, and by which it is known as `jo`.
pub(crate) const HELLO: &str = "( 2 ( edit-pipeline svndiff1 accepts-svndiff2 absent-entries depth \
    mergeinfo log-revprops ) 10:svn://h/rr 3:x/y ( ) ) ( EXTERNAL ( 0: ) ) ";

/// See the module.
pub(crate) struct Scene {
    dir: tempfile::TempDir,
    serving: Arc<Serving>,
}

impl Scene {
    /// Makes the repository `rr` with `trunk/a` (`one`), `trunk/b/c` and a property.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("rr");
        let now = Timestamp::from_micros(0);
        let path = Dirent::new(root.to_str().unwrap());
        let create = CreateOptions::default();
        Repos::create(&path, &path, &create, Options::default(), now).unwrap();
        let serving = serving(dir.path());
        let scene = Self { dir, serving };
        let committed = scene.say(&[
            begin("first").as_bytes(),
            b"( open-root ( ( 0 ) 1:r ) ) ( add-dir ( 5:trunk 1:r 1:t ( ) ) ) ",
            b"( change-dir-prop ( 1:t 5:color ( 3:red ) ) ) ",
            &file("trunk/a", "t", "one"),
            b"( add-dir ( 7:trunk/b 1:t 1:b ( ) ) ) ",
            &file("trunk/b/c", "b", "two"),
            b"( close-dir ( 1:b ) ) ( close-dir ( 1:t ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ",
        ]);
        assert!(committed.contains("( 1 ( 27:"), "{committed}");
        scene
    }

    /// Returns the repository's folder.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("rr")
    }

    /// Returns the youngest revision.
    pub(crate) fn youngest(&self) -> Revnum {
        Repos::open(&self.path()).unwrap().fs().youngest().unwrap()
    }

    /// Returns the names of transactions that are there, also of those whose contents alone are on
    /// the disk.
    pub(crate) fn transactions(&self) -> Vec<String> {
        let folders = ["db/transactions", "db/txn-protorevs"];
        let all = folders
            .iter()
            .map(|folder| names(&self.path().join(folder)));
        all.flatten().collect()
    }

    /// Says commands after the hello, and returns the answers to them.
    pub(crate) fn say(&self, commands: &[&[u8]]) -> String {
        let said = [HELLO.as_bytes(), &commands.concat()].concat();
        let heard = self.say_bytes(&said, 1 << 20);
        let text = String::from_utf8_lossy(&heard).into_owned();
        // Greeting, authentication, repository.
        let from = text.find("( mergeinfo ) ) ) ").map(|at| at + 18);
        text[from.unwrap_or(0)..].to_owned()
    }

    /// Says any bytes in pieces, and returns all that the server says.
    pub(crate) fn say_bytes(&self, said: &[u8], cut: usize) -> Vec<u8> {
        serve(&self.serving, said, cut)
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Begins a commit.
pub(crate) fn begin(message: &str) -> String {
    let len = message.len();
    format!("( commit ( 0: ( ) false ( ( 7:svn:log {len}:{message} ) ) ) ) ")
}

/// Adds a file with a content of less than 64 bytes.
pub(crate) fn file(path: &str, parent: &str, text: &str) -> Vec<u8> {
    let size = u8::try_from(text.len()).unwrap();
    // One window that is new data altogether.
    let head = [b'S', b'V', b'N', 0, 0, 0, size, 1, size, 0x80 | size];
    let delta = [&head, text.as_bytes()].concat();
    let (len, parent_len) = (path.len(), parent.len());
    [
        format!("( add-file ( {len}:{path} {parent_len}:{parent} 1:f ( ) ) ) ").as_bytes(),
        b"( apply-textdelta ( 1:f ( ) ) ) ",
        format!("( textdelta-chunk ( 1:f {}:", delta.len()).as_bytes(),
        &delta,
        b" ) ) ( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( ) ) ) ",
    ]
    .concat()
}
