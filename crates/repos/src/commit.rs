//! Transactions that become revisions, with their hooks.

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, Timestamp};
use sylvan_fs::Txn;
use sylvan_fs::lock::Access;
use sylvan_fs::txn::Committed;

use crate::repos::Repos;
use crate::revprops::check_prop;

/// Properties of a transaction that do not become the revision's.
const EPHEMERAL: &str = "svn:txn-";

impl Repos {
    /// Begins a transaction that will be committed, based on a revision; runs the hook
    /// `start-commit`.
    ///
    /// `revprops` are the properties of the revision to be, `svn:author` (who commits) and
    /// `svn:log` among them. Those named `svn:txn-…` (`svn:txn-client-compat-version`,
    /// `svn:txn-user-agent`) are for hooks only. `capabilities` are those that the client told.
    ///
    /// # Errors
    /// Those of [`Txn::begin`] and [`check_prop`]; [`ErrorCode::REPOS_HOOK_FAILURE`].
    pub fn begin_commit(
        &self,
        base: Revnum,
        revprops: &Props,
        capabilities: &[&str],
        now: Timestamp,
    ) -> Result<Txn> {
        let hooks = self.hooks()?;
        for (name, value) in revprops {
            check_prop(name, Some(value))?;
        }
        let mut txn = Txn::begin(self.fs(), base, now)?;
        txn.check_locks();
        for (name, value) in revprops {
            txn.set_prop(name, Some(value.clone()));
        }
        let author = revprops.get("svn:author");
        let author = author.map(|author| String::from_utf8_lossy(author));
        match hooks.start_commit(author.as_deref(), capabilities, &mut txn) {
            Ok(()) => Ok(txn),
            Err(error) => Err(aborted(txn, error)),
        }
    }

    /// Commits a transaction; runs the hooks `pre-commit` and `post-commit`.
    ///
    /// What fails after the revision was made, the hook `post-commit` among it, is returned beside
    /// it; [`post_commit_text`] tells it to a client.
    ///
    /// # Errors
    /// [`ErrorCode::REPOS_HOOK_FAILURE`] and those of [`Txn::commit`]; no revision was made then,
    /// and the transaction can be committed again or aborted.
    pub fn commit(&self, txn: &mut Txn, access: &Access, now: Timestamp) -> Result<Committed> {
        let hooks = self.hooks()?;
        hooks.pre_commit(txn, access)?;
        let ephemeral: Vec<(String, Vec<u8>)> = txn
            .props()
            .iter()
            .filter(|(name, _)| name.starts_with(EPHEMERAL))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (name, _) in &ephemeral {
            txn.set_prop(name, None);
        }
        let mut committed = match txn.commit(access, now) {
            Ok(committed) => committed,
            Err(error) => {
                for (name, value) in ephemeral {
                    txn.set_prop(&name, Some(value));
                }
                return Err(error);
            }
        };
        if let Err(error) = hooks.post_commit(committed.revision, &txn.id().to_string()) {
            let failed = error.wrap(
                ErrorCode::REPOS_POST_COMMIT_HOOK_FAILED,
                "Commit succeeded, but post-commit hook failed",
            );
            committed.after = Some(match committed.after {
                Some(first) => first.attach(failed),
                None => failed,
            });
        }
        Ok(committed)
    }
}

/// Aborts a transaction because of an error, which is returned.
fn aborted(txn: Txn, error: Error) -> Error {
    match txn.abort() {
        Ok(()) => error,
        Err(second) => error.attach(second),
    }
}

/// Returns what a client is told about what failed after a commit.
pub fn post_commit_text(error: &Error) -> String {
    let is_hook = |link: &&Error| link.code() == ErrorCode::REPOS_POST_COMMIT_HOOK_FAILED;
    let hook = error.chain().find(is_hook).map(|link| {
        let said = link.cause().unwrap_or(link);
        let silent = "post-commit hook failed with no error message.";
        said.own_message().unwrap_or(silent).to_owned()
    });
    if error.code() == ErrorCode::REPOS_POST_COMMIT_HOOK_FAILED {
        return hook.unwrap_or_default();
    }
    let first = error.own_message().unwrap_or("(no error message)");
    let mut text = format!("post commit FS processing had error:\n{first}");
    if let Some(hook) = hook {
        text.push_str(&format!("\n{hook}"));
    }
    text
}
