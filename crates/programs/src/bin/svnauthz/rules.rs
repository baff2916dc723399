//! Where the rules are, and reading them.

use std::ffi::OsString;
use std::path::PathBuf;

use sylvan_cmdline::print::Output;
use sylvan_cmdline::{error, utf8};
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result, Url};
use sylvan_fs::id::TxnId;
use sylvan_fs::{Tree, Txn};
use sylvan_repos::Repos;
use sylvan_repos::authz::{Authz, AuthzSource, read_node};

use crate::{Invocation, PROGRAM};

/// Where the rules are, and the groups if they are in a file of their own.
pub(crate) enum Place {
    Sources(AuthzSource, Option<AuthzSource>),
    Txn {
        repository: PathBuf,
        txn: String,
        rules: String,
        groups: Option<String>,
    },
}

fn bad(text: impl Into<String>) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text)
}

impl Place {
    pub(crate) fn of(inv: &Invocation) -> Result<Self> {
        let text = |word: &OsString| utf8::os_text(word).map(str::to_owned);
        let groups = inv.groups_file.as_deref();
        if let Some(txn) = &inv.txn {
            let [repository, rules] = &inv.operands[..] else {
                return Err(bad("Repository and authz file arguments required"));
            };
            return Ok(Self::Txn {
                repository: Dirent::new(&text(repository)?).as_path().to_owned(),
                txn: txn.clone(),
                rules: path_in_txn(&text(rules)?)?,
                groups: groups.map(path_in_txn).transpose()?,
            });
        }
        let [rules] = &inv.operands[..] else {
            return Err(bad("Authz file argument required"));
        };
        let rules = source(&text(rules)?)?;
        Ok(Self::Sources(rules, groups.map(source).transpose()?))
    }

    pub(crate) fn read(&self, out: &mut Output) -> Result<Authz> {
        let mut warn = |warning: &Error| error::warn(out, PROGRAM.name, warning);
        match self {
            Self::Sources(rules, groups) => {
                Authz::read(rules, groups.as_ref(), true, None, &mut warn)
            }
            Self::Txn {
                repository,
                txn,
                rules,
                groups,
            } => {
                let repos = Repos::open(repository)?;
                let txn = Txn::open(repos.fs(), TxnId::parse(txn)?)?;
                let read = |path: &str| {
                    let path = RelPathBuf::canonicalize(path)?;
                    read_node(&Tree::from(&txn), &path)
                };
                let text = read(rules)?;
                let groups = groups.as_deref().map(read).transpose()?;
                Authz::parse(&text, groups.as_deref(), &mut warn)
                    .map_err(|error| error.context(format!("Error parsing authz file: '{rules}':")))
            }
        }
    }
}

fn refuse_relative(word: &str) -> Result<()> {
    if word.starts_with("^/") {
        return Err(bad(format!(
            "'{word}' is a repository relative URL when it should be a local path or file:// URL"
        )));
    }
    Ok(())
}

fn path_in_txn(word: &str) -> Result<String> {
    refuse_relative(word)?;
    if Url::is_url(word) {
        return Err(bad(format!(
            "'{word}' is a URL when it should be a repository-relative path"
        )));
    }
    Ok(canonical(word))
}

fn source(word: &str) -> Result<AuthzSource> {
    refuse_relative(word)?;
    if Url::is_url(word) {
        return Url::parse(word).map(AuthzSource::Url);
    }
    let path = Dirent::new(word);
    Ok(AuthzSource::File(PathBuf::from(path.as_str())))
}

/// Makes a path in a repository absolute, without what has no meaning.
pub(crate) fn canonical(path: &str) -> String {
    let kept = path.split('/').filter(|name| !matches!(*name, "" | "."));
    format!("/{}", kept.collect::<Vec<_>>().join("/"))
}
