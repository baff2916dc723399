//! The programs in the folder `hooks`, which the administrator lets run at certain steps.
//!
//! | hook | arguments after the repository's path | standard input |
//! |---|---|---|
//! | `start-commit` | user, capabilities of the client joined by `:`, transaction | |
//! | `pre-commit` | transaction | lock tokens |
//! | `post-commit` | revision, transaction | |
//! | `pre-revprop-change` | revision, user, name, `A`, `M` or `D` | new value |
//! | `post-revprop-change` | revision, user, name, `A`, `M` or `D` | old value |
//! | `pre-lock` | path, user, comment, `1` to steal | |
//! | `post-lock` | user | paths |
//! | `pre-unlock` | path, user, token, `1` to break | |
//! | `post-unlock` | user | paths |
//!
//! A hook that is not there is no error, but for `pre-revprop-change`. Hooks run in the current
//! folder. Those without a standard input have an empty one, where Subversion's have that of the
//! program, which may be a dump stream or a client's connection.

use std::ffi::OsStr;
use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use sylvan_core::{Error, ErrorCode, RelPath, Result, Revnum};
use sylvan_fs::Txn;
use sylvan_fs::lock::Access;

use crate::hooks_env::HooksEnv;
use crate::repos::Repos;

/// The names of all hooks.
pub const HOOKS: [&str; 9] = [
    "start-commit",
    "pre-commit",
    "post-commit",
    "pre-revprop-change",
    "post-revprop-change",
    "pre-lock",
    "post-lock",
    "pre-unlock",
    "post-unlock",
];

/// The hooks of a repository, to be run in one operation.
#[derive(Debug)]
pub struct Hooks<'a> {
    repos: &'a Repos,
    env: HooksEnv,
}

/// What a change of a revision property is about, for its hooks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RevpropChange<'a> {
    pub(crate) revision: Revnum,
    pub(crate) author: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) action: Action,
}

/// What becomes of a revision property.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Add,
    Modify,
    Delete,
}

impl Action {
    pub(crate) fn of(old: Option<&[u8]>, new: Option<&[u8]>) -> Self {
        match (old, new) {
            (_, None) => Self::Delete,
            (None, Some(_)) => Self::Add,
            (Some(_), Some(_)) => Self::Modify,
        }
    }

    const fn letter(self) -> &'static str {
        match self {
            Self::Add => "A",
            Self::Modify => "M",
            Self::Delete => "D",
        }
    }
}

impl Repos {
    /// Prepares the hooks for an operation: reads in which environments they run.
    ///
    /// # Errors
    /// Those of [`sylvan_io::config::ConfigFile::read`].
    pub fn hooks(&self) -> Result<Hooks<'_>> {
        Ok(Hooks {
            repos: self,
            env: HooksEnv::read(self.hooks_env.as_ref())?,
        })
    }
}

impl Hooks<'_> {
    /// Runs `start-commit` for a transaction, whose properties it may change.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_HOOK_FAILURE`] if it fails, [`ErrorCode::REPOS_BAD_ARGS`] if it cannot
    /// be started.
    pub fn start_commit(
        &self,
        user: Option<&str>,
        capabilities: &[&str],
        txn: &mut Txn,
    ) -> Result<()> {
        let Some(hook) = self.find("start-commit")? else {
            return Ok(());
        };
        txn.persist()?;
        let name = txn.id().to_string();
        let args = [user.unwrap_or_default(), &capabilities.join(":"), &name];
        self.run(&hook, &args, None)?;
        txn.reload_props()
    }

    /// Runs `pre-commit` for a transaction, whose properties it may change.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub fn pre_commit(&self, txn: &mut Txn, access: &Access) -> Result<()> {
        let Some(hook) = self.find("pre-commit")? else {
            return Ok(());
        };
        txn.persist()?;
        let name = txn.id().to_string();
        self.run(&hook, &[&name], Some(&token_lines(access)))?;
        txn.reload_props()
    }

    /// Runs `post-commit` for a revision.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub fn post_commit(&self, revision: Revnum, txn: &str) -> Result<()> {
        let Some(hook) = self.find("post-commit")? else {
            return Ok(());
        };
        self.run(&hook, &[&revision.to_string(), txn], None)
            .map(drop)
    }

    /// Runs `pre-revprop-change`.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_DISABLED_FEATURE`] if there is none; as [`Hooks::start_commit`].
    pub(crate) fn pre_revprop_change(
        &self,
        change: RevpropChange<'_>,
        new: Option<&[u8]>,
    ) -> Result<()> {
        let Some(hook) = self.find("pre-revprop-change")? else {
            return Err(Error::new(
                ErrorCode::REPOS_DISABLED_FEATURE,
                "Repository has not been enabled to accept revision propchanges;\nask the \
                 administrator to create a pre-revprop-change hook",
            ));
        };
        self.run_for_revprop(&hook, change, new)
    }

    /// Runs `post-revprop-change`.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub(crate) fn post_revprop_change(
        &self,
        change: RevpropChange<'_>,
        old: Option<&[u8]>,
    ) -> Result<()> {
        match self.find("post-revprop-change")? {
            Some(hook) => self.run_for_revprop(&hook, change, old),
            None => Ok(()),
        }
    }

    fn run_for_revprop(
        &self,
        hook: &Hook,
        change: RevpropChange<'_>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let args = [
            &change.revision.to_string(),
            change.author.unwrap_or_default(),
            change.name,
            change.action.letter(),
        ];
        self.run(hook, &args, value).map(drop)
    }

    /// Runs `pre-lock`. Returns the token that it prints, if it prints one.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub(crate) fn pre_lock(
        &self,
        path: &RelPath,
        user: &str,
        comment: Option<&str>,
        steal: bool,
    ) -> Result<Option<String>> {
        let Some(hook) = self.find("pre-lock")? else {
            return Ok(None);
        };
        let path = path.to_fspath();
        let args = [&path, user, comment.unwrap_or_default(), digit(steal)];
        let printed = self.run(&hook, &args, None)?;
        // A token is text; what is none is refused where tokens are checked.
        let token = String::from_utf8_lossy(&printed).into_owned();
        Ok(Some(token).filter(|token| !token.is_empty()))
    }

    /// Runs `post-lock`.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub(crate) fn post_lock(&self, paths: &[&RelPath], user: &str) -> Result<()> {
        self.run_after_locks("post-lock", paths, user)
    }

    /// Runs `pre-unlock`.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub(crate) fn pre_unlock(
        &self,
        path: &RelPath,
        user: Option<&str>,
        token: &str,
        break_lock: bool,
    ) -> Result<()> {
        let Some(hook) = self.find("pre-unlock")? else {
            return Ok(());
        };
        let path = path.to_fspath();
        let args = [&path, user.unwrap_or_default(), token, digit(break_lock)];
        self.run(&hook, &args, None).map(drop)
    }

    /// Runs `post-unlock`.
    ///
    /// # Errors
    /// As [`Hooks::start_commit`].
    pub(crate) fn post_unlock(&self, paths: &[&RelPath], user: Option<&str>) -> Result<()> {
        self.run_after_locks("post-unlock", paths, user.unwrap_or_default())
    }

    fn run_after_locks(&self, name: &'static str, paths: &[&RelPath], user: &str) -> Result<()> {
        let Some(hook) = self.find(name)? else {
            return Ok(());
        };
        let lines: String = paths.iter().map(|path| path.to_fspath() + "\n").collect();
        self.run(&hook, &[user], Some(lines.as_bytes())).map(drop)
    }

    /// Finds a hook, if it is there.
    fn find(&self, name: &'static str) -> Result<Option<Hook>> {
        let path = self.repos.hooks_path().join(name);
        if std::fs::metadata(&path).is_ok_and(|meta| meta.is_file()) {
            return Ok(Some(Hook { name, path }));
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) {
            return Err(Error::new(
                ErrorCode::REPOS_HOOK_FAILURE,
                format!("Failed to run '{}' hook; broken symlink", path.display()),
            ));
        }
        Ok(None)
    }

    /// Runs a hook and returns what it prints to standard output.
    fn run(&self, hook: &Hook, args: &[&str], stdin: Option<&[u8]>) -> Result<Vec<u8>> {
        let failed = |error: std::io::Error| {
            let path = hook.path.display();
            Error::io(&error, format!("Can't start process '{path}'")).wrap(
                ErrorCode::REPOS_BAD_ARGS,
                format!("Failed to start '{path}' hook"),
            )
        };
        let stdin = match stdin {
            Some(bytes) if !bytes.is_empty() => file_with(bytes).map_err(failed)?.into(),
            _ => Stdio::null(),
        };
        let wants_output = hook.name == "pre-lock";
        let output = Command::new(&hook.path)
            .arg(self.repos.path())
            .args(args.iter().map(OsStr::new))
            .env_clear()
            .envs(self.env.of(hook.name))
            .stdin(stdin)
            .stdout(if wants_output {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stderr(Stdio::piped())
            .output();
        match output {
            Ok(output) => hook.check(output),
            // Where Subversion's child process fails, it ends with this code.
            Err(error) if is_no_program(&error) => Err(hook.failed(255, b"")),
            Err(error) => Err(failed(error)),
        }
    }
}

/// A hook that is there.
#[derive(Debug)]
struct Hook {
    name: &'static str,
    path: PathBuf,
}

impl Hook {
    fn check(&self, output: Output) -> Result<Vec<u8>> {
        const BY_SIGNAL: i32 = 2;
        const WITH_CORE: i32 = 4;
        let status = output.status;
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(output.stdout),
            (Some(code), _) => Err(self.failed(code, &output.stderr)),
            (None, signal) => {
                let why = BY_SIGNAL | if status.core_dumped() { WITH_CORE } else { 0 };
                let text = format!(
                    "'{}' hook failed (did not exit cleanly: apr_exit_why_e was {why}, exitcode \
                     was {}).  ",
                    self.name,
                    signal.unwrap_or_default()
                );
                Err(with_output(text, &output.stderr))
            }
        }
    }

    fn failed(&self, code: i32, stderr: &[u8]) -> Error {
        let name = self.name;
        let action = match name {
            "start-commit" | "pre-commit" => "Commit",
            "pre-revprop-change" => "Revprop change",
            "pre-lock" => "Lock",
            "pre-unlock" => "Unlock",
            _ => return with_output(format!("{name} hook failed (exit code {code})"), stderr),
        };
        let text = format!("{action} blocked by {name} hook (exit code {code})");
        with_output(text, stderr)
    }
}

fn with_output(mut text: String, stderr: &[u8]) -> Error {
    // It was a C string there.
    let stderr = stderr.split(|byte| *byte == 0).next().unwrap_or_default();
    if stderr.is_empty() {
        text.push_str(" with no output.");
    } else {
        text.push_str(" with output:\n");
        text.push_str(
            std::str::from_utf8(stderr).unwrap_or(
                "[Error output could not be translated from the native locale to UTF-8.]",
            ),
        );
    }
    Error::new(ErrorCode::REPOS_HOOK_FAILURE, text)
}

/// Tells whether what was to be started is there but cannot be executed.
fn is_no_program(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    [Errno::ACCESS, Errno::NOEXEC, Errno::NOENT]
        .map(Some)
        .contains(&errno)
}

/// Returns an open file that nobody else can find, to be read from its begin.
fn file_with(bytes: &[u8]) -> std::io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Returns what `pre-commit` reads: the lock tokens of the client, if it has any.
fn token_lines(access: &Access) -> Vec<u8> {
    if access.tokens.is_empty() {
        return Vec::new();
    }
    let mut lines = "LOCK-TOKENS:\n".to_owned();
    for (token, path) in &access.tokens {
        let path = autoescape(&path.to_fspath());
        lines.push_str(&format!("{path}|{token}\n"));
    }
    lines.push('\n');
    lines.into_bytes()
}

/// Escapes what no URL may have; other escapes stay as they are.
fn autoescape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for letter in path.chars() {
        if " \"<>\\^`{|}".contains(letter) {
            escaped.push_str(&format!("%{:02X}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

const fn digit(flag: bool) -> &'static str {
    if flag { "1" } else { "0" }
}
