use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temp folder with a repository `repo` of Debian's svnadmin and a home of its own, in which
/// Debian's svn runs: the same locale, time zone and empty config everywhere.
///
/// ```no_run
/// let sandbox = sylvan_testutil::Sandbox::new();
/// sandbox.sh("svn checkout -q $URL wc; echo hello > wc/greeting; svn add -q wc/greeting");
/// assert_eq!(sandbox.sh("svn status wc"), "A       wc/greeting\n");
/// ```
pub struct Sandbox {
    scratch: tempfile::TempDir,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// Makes the folder and an empty repository.
    pub fn new() -> Self {
        let sandbox = Self {
            scratch: tempfile::tempdir().expect("the temp folder is writable"),
        };
        sandbox.sh("mkdir home; svnadmin create repo");
        sandbox
    }

    /// Returns the folder; symlinks in its path are resolved.
    pub fn path(&self) -> PathBuf {
        let path = self.scratch.path();
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }

    /// Returns a path in the folder.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path().join(path)
    }

    /// Returns the URL of the repository (`file://…`), which scripts have as `$URL`.
    pub fn url(&self) -> String {
        format!("file://{}", self.join("repo").display())
    }

    /// Runs a script of `sh` in the folder and returns what it prints. It ends with the first
    /// command that fails, and that must not be.
    pub fn sh(&self, script: &str) -> String {
        let output = self.run("sh", &["-ec", script]);
        assert!(
            output.status.success(),
            "{script}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a program in the folder, whatever comes of it.
    pub fn run(&self, program: &str, args: &[&str]) -> Output {
        Command::new(program)
            .args(args)
            .current_dir(self.scratch.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.scratch.path().join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("URL", self.url())
            .output()
            .unwrap_or_else(|error| panic!("{program} does not start: {error}"))
    }
}
