//! The file that says in which environment hooks run.
//!
//! A section is named after a hook, or `default` for those that have none; its options are the
//! variables. Without a section, or without the file, a hook has an empty environment.

use std::path::{Path, PathBuf};

use sylvan_core::Result;
use sylvan_io::config::ConfigFile;

use crate::repos::Repos;

/// The file's name in the folder `conf`, unless another is set.
const FILE_NAME: &str = "hooks-env";
const DEFAULT_SECTION: &str = "default";

impl Repos {
    /// Lets hooks run in the environment that a file says; relative paths are below the folder
    /// `conf`. Without this call the environment of hooks is empty.
    ///
    /// `None` is the usual file. That there is no such file is no error.
    pub fn use_hooks_env(&mut self, path: Option<&Path>) {
        let path = path.unwrap_or(Path::new(FILE_NAME));
        self.hooks_env = Some(self.conf_path().join(path));
    }
}

/// The environments of hooks.
#[derive(Debug, Default)]
pub(crate) struct HooksEnv(ConfigFile);

impl HooksEnv {
    /// Reads the file at `path`, if there is one.
    pub(crate) fn read(path: Option<&PathBuf>) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let mut file = ConfigFile::with_case_sensitive_names();
        file.load(path)?;
        Ok(Self(file))
    }

    /// Goes through the variables of a hook.
    pub(crate) fn of<'a>(&'a self, hook: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let has_own = self.0.options(hook).next().is_some();
        self.0.options(if has_own { hook } else { DEFAULT_SECTION })
    }
}
