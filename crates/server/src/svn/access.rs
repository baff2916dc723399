//! Who a client is, and what it may do.

use std::collections::BTreeMap;

use sylvan_core::{RelPath, Result, Revnum};
use sylvan_fs::lock::Access;
use sylvan_repos::authz::{Reach, Rights, UserAuthz};
use sylvan_repos::{Needs, ReadAccess, ReadCheck};

use super::config::Level;
use super::session::Session;

/// What the access rules say of a client.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// For whom they were asked for, since the answer is kept.
    user: Option<String>,
    authz: Option<UserAuthz>,
}

impl Rules {
    fn is_for(&self, user: Option<&str>) -> bool {
        self.authz.is_some() && self.user.as_deref() == user
    }
}

impl Session {
    /// Notes who the client is.
    pub(crate) fn set_user(&mut self, user: Option<String>) {
        self.user = user;
        self.learn_rules();
    }

    /// Asks the access rules about the client.
    pub(crate) fn learn_rules(&mut self) {
        let settings = &self.repository.settings;
        let Some(authz) = &settings.authz else {
            return;
        };
        let user = self.user.as_deref();
        let user = user.map(|user| settings.name_case.apply(user));
        if !self.rules.is_for(user.as_deref()) {
            self.rules = Rules {
                authz: Some(authz.for_user(&self.repository.rules_name, user.as_deref())),
                user,
            };
        }
    }

    /// Returns what the client may do with the repository as a whole.
    fn level(&self) -> Level {
        match self.user {
            Some(_) => self.repository.settings.authenticated,
            None => self.repository.settings.anonymous,
        }
    }

    /// Tells whether the client may do anything at all.
    pub(crate) fn may_enter(&self) -> bool {
        self.level() > Level::Nothing
    }

    /// Tells whether the rules allow something; without a path, whether they do anywhere.
    pub(crate) fn rules_allow(&self, path: Option<&RelPath>, rights: Rights, reach: Reach) -> bool {
        let Some(authz) = &self.rules.authz else {
            return true;
        };
        let allowed = match path {
            Some(path) => authz.allows(path.as_str(), rights, reach),
            None => authz.allows_anywhere(rights),
        };
        if !allowed {
            self.log_denied(path, rights, reach);
        }
        allowed
    }

    fn log_denied(&self, path: Option<&RelPath>, rights: Rights, reach: Reach) {
        if self.user.is_none() {
            return;
        }
        let recursive = if reach == Reach::Recursive {
            "recursive "
        } else {
            ""
        };
        let what = if rights.has(Rights::WRITE) {
            "write"
        } else {
            "read"
        };
        let path = path.unwrap_or(RelPath::ROOT).to_fspath();
        self.log(&format!("Authorization Failed {recursive}{what} {path}"));
    }

    /// Tells whether the client may read or write a path, as it is known now.
    pub(crate) fn allows(&self, rights: Rights, path: Option<&RelPath>, needs_name: bool) -> bool {
        let level = if rights.has(Rights::WRITE) {
            Level::Write
        } else {
            Level::Read
        };
        self.rules_allow(path, rights, Reach::Path)
            && self.level() >= level
            && (!needs_name || self.user.is_some())
    }

    /// Returns the check by which reads are filtered.
    pub(crate) fn read_check(&self) -> impl Fn(Revnum, &RelPath) -> Result<bool> + '_ {
        |_, path| Ok(self.rules_allow(Some(path), Rights::READ, Reach::Path))
    }

    /// Returns what the client may read, by a check of [`Session::read_check`].
    pub(crate) fn read_access<'a>(&self, check: &'a ReadCheck<'a>) -> ReadAccess<'a> {
        if self.rules.authz.is_some() {
            ReadAccess::new(check)
        } else {
            ReadAccess::ALL
        }
    }

    /// Returns the check of the steps of a commit.
    pub(crate) fn commit_check(
        &self,
    ) -> impl Fn(Needs, Option<&RelPath>) -> Result<bool> + Send + Sync + '_ {
        |needs, path| {
            let (rights, reach) = match needs {
                Needs::Read => (Rights::READ, Reach::Path),
                Needs::ReadTree => (Rights::READ, Reach::Recursive),
                Needs::Write => (Rights::WRITE, Reach::Path),
                Needs::WriteTree => (Rights::WRITE, Reach::Recursive),
            };
            Ok(self.rules_allow(path, rights, reach))
        }
    }

    /// Returns the client as locks know it.
    pub(crate) fn lock_access(&self) -> Access {
        Access {
            user: self.user.clone(),
            tokens: BTreeMap::new(),
        }
    }
}
