//! Who may read and write which paths: the rules of an authz file.
//!
//! ```text
//! [aliases]
//! jo = uid=jo,dc=example        names of users that are no names of options
//! [groups]
//! devs = harry, &jo, @admins    users, aliases, groups
//! [/]                           a rule: a path, in any repository
//! * = r                         everybody may read
//! [calc:/branches]              only in the repository `calc`
//! @devs = rw
//! ~@devs =                      all but the members may do nothing
//! $anonymous =                  who is not authenticated; $authenticated is who is
//! [:glob:calc:/**/*.secret]     with wildcards: `*` in a name, `**` for any folders
//! ```
//!
//! The rule of the nearest path counts that says anything of the user; of several with wildcards,
//! the last in the file. Within a rule rights add up. What no rule gives is denied.
//!
//! [`Authz`] is a parsed file, [`UserAuthz`] what it says of one user and one repository, as a tree
//! of names: a look-up takes a step for each component of the path.

mod parse;
mod read;
mod rule;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use sylvan_core::{Error, Result};

pub use read::{AuthzCache, AuthzSource, read_node};
use rule::Acl;
use tree::Tree;

/// Receives warnings of rules that have no effect.
pub type AuthzWarnings<'a> = dyn FnMut(&Error) + 'a;

/// Rights: reading, and writing, which needs reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights(u8);

impl Rights {
    /// None at all.
    pub const NONE: Self = Self(0);
    /// Reading.
    pub const READ: Self = Self(1);
    /// Writing alone: asked for, never given.
    pub const WRITE: Self = Self(2);
    /// Reading and writing.
    pub const ALL: Self = Self(3);

    /// Tells whether all of `required` are among them.
    pub const fn has(self, required: Self) -> bool {
        self.0 & required.0 == required.0
    }

    /// Returns those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns those that both have.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The least and the most rights that somebody has anywhere in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    min: Rights,
    max: Rights,
}

impl Limits {
    /// Of no place at all.
    const EMPTY: Self = Self {
        min: Rights::ALL,
        max: Rights::NONE,
    };

    fn add(&mut self, rights: Rights) {
        self.combine(Self {
            min: rights,
            max: rights,
        });
    }

    fn combine(&mut self, other: Self) {
        self.min = self.min.intersection(other.min);
        self.max = self.max.union(other.max);
    }
}

/// Whether an answer is for a path alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// For the path.
    Path,
    /// For the path and all that may be below it.
    Recursive,
}

/// The rules of an authz file. Clones share them.
#[derive(Clone, Debug)]
pub struct Authz(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    /// In order of path, and for one path, those of any repository first.
    acls: Vec<Acl>,
    /// The users that are named.
    users: BTreeSet<String>,
}

impl Authz {
    /// Parses rules, and groups if they are in a file of their own.
    ///
    /// # Errors
    /// `AUTHZ_INVALID_CONFIG` and `MALFORMED_FILE`, as Subversion tells them.
    pub fn parse(
        rules: &[u8],
        groups: Option<&[u8]>,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Self> {
        parse::parse(rules, groups, warn).map(|rules| Self(Arc::new(rules)))
    }

    /// Returns what the rules say of a user (`None` is anybody who is not authenticated) in a
    /// repository, by the name that rules have for it.
    pub fn for_user(&self, repository: &str, user: Option<&str>) -> UserAuthz {
        let user = user.filter(|user| !user.is_empty());
        UserAuthz {
            limits: self.0.limits(repository, user),
            authz: self.clone(),
            repository: repository.to_owned(),
            user: user.map(str::to_owned),
            tree: OnceLock::new(),
        }
    }
}

impl Rules {
    /// Returns the least and the most rights of a user in a repository.
    fn limits(&self, repository: &str, user: Option<&str>) -> Limits {
        let applying = || self.acls.iter().filter(|acl| acl.is_for(repository));
        let fold = |rights: &dyn Fn(&Acl) -> Option<Rights>| {
            let mut limits = Limits::EMPTY;
            applying()
                .filter_map(rights)
                .for_each(|rights| limits.add(rights));
            limits
        };
        let Some(user) = user else {
            return fold(&|acl| acl.anonymous);
        };
        // Rules for all that are authenticated always exist: the one for the root, at least.
        let mut limits = fold(&|acl| acl.authenticated);
        if self.users.contains(user) {
            limits.combine(fold(&|acl| acl.rights_of(Some(user))));
        } else if self.acls.iter().any(|acl| acl.inverted.is_some()) {
            limits.combine(fold(&|acl| acl.inverted));
        }
        limits
    }
}

/// What an authz file says of one user in one repository.
#[derive(Debug)]
pub struct UserAuthz {
    authz: Authz,
    repository: String,
    user: Option<String>,
    limits: Limits,
    /// Made when it is needed: often the limits suffice.
    tree: OnceLock<Tree>,
}

impl UserAuthz {
    /// Tells whether the user has rights anywhere in the repository.
    pub const fn allows_anywhere(&self, required: Rights) -> bool {
        self.limits.max.has(required)
    }

    /// Tells whether the user has rights on a path, with or without leading slash; below it, the
    /// answer is by the rules, whether or not there are such paths.
    pub fn allows(&self, path: &str, required: Rights, reach: Reach) -> bool {
        if self.limits.min.has(required) {
            return true;
        }
        if !self.limits.max.has(required) {
            return false;
        }
        let user = self.user.as_deref();
        let tree = self
            .tree
            .get_or_init(|| Tree::new(&self.authz.0.acls, &self.repository, user));
        tree.allows(path, required, reach)
    }
}
