use sylvan_core::{Props, Result};
use sylvan_io::Config;
use sylvan_io::auth_store::{AuthStore, CredentialKind};

/// Keeps credentials between runs, by kind and realm.
pub trait Store: Send {
    /// Returns what is kept; `None` if there is nothing, or nothing readable.
    fn read(&self, kind: CredentialKind, realm: &str) -> Option<Props>;

    /// Replaces what is kept.
    ///
    /// # Errors
    /// Those of whatever keeps it.
    fn write(&mut self, kind: CredentialKind, realm: &str, values: &Props) -> Result<()>;
}

/// The store in the user's configuration folder, in Subversion's format. Without a folder it is
/// empty and keeps nothing.
#[derive(Debug)]
pub struct DirStore(Option<AuthStore>);

impl DirStore {
    /// Makes the one in the folder that `config` was read from.
    pub fn of_config(config: &Config) -> Self {
        Self(config.user_dir().map(AuthStore::new))
    }
}

impl Store for DirStore {
    fn read(&self, kind: CredentialKind, realm: &str) -> Option<Props> {
        self.0.as_ref()?.read(kind, realm).ok()?
    }

    fn write(&mut self, kind: CredentialKind, realm: &str, values: &Props) -> Result<()> {
        match &self.0 {
            Some(store) => {
                store.ensure();
                store.write(kind, realm, values)
            }
            None => Ok(()),
        }
    }
}
