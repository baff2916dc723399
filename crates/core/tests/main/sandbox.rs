use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository of Debian's svn and a working copy of it, in an own home.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

/// The time zone in which svn runs.
pub(crate) const ZONE: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sandbox = Self { dir };
        sandbox.run("svnadmin", ["create", "repos dir"]);
        sandbox.svn(["checkout", "-q", &sandbox.root_url(), "wc"]);
        sandbox
    }

    pub(crate) fn root_url(&self) -> String {
        format!("file://{}/repos%20dir", self.dir.path().display())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(path), content).unwrap();
    }

    /// Runs svn, which must succeed.
    pub(crate) fn svn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        self.run("svn", args)
    }

    /// Runs svn; returns standard error if it fails.
    pub(crate) fn try_svn<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<String, String> {
        let output = self.output("svn", args);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = S>,
    ) -> String {
        let output = self.output(program, args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn output<S: AsRef<OsStr>>(&self, program: &str, args: impl IntoIterator<Item = S>) -> Output {
        let home: &Path = self.dir.path();
        Command::new(program)
            .args(args)
            .current_dir(home)
            .env("HOME", home)
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", ZONE)
            .output()
            .unwrap()
    }
}
