//! Credentials on disk, as Subversion stores them.
//!
//! A credential is a file `auth/<kind>/<MD5 of the realm>` in the user's configuration folder, in
//! the format of [`hash_dump`], readable by its owner alone:
//!
//! | kind | keys |
//! |---|---|
//! | `svn.simple` | `username`, `password`, `passtype` |
//! | `svn.username` | `username` |
//! | `svn.ssl.server` | `ascii_cert` (DER in base 64), `failures` (decimal bits) |
//! | `svn.ssl.client-passphrase` | `passphrase`, `passtype` |
//!
//! and `svn:realmstring` in each. `passtype` is `simple` for a plain text, else the name of the
//! program that has the secret.

use std::path::{Path, PathBuf};

use sylvan_core::{Error, ErrorCode, Md5, Props, Result, hash_dump};

use crate::file;

/// The key of the realm, by which a file is checked to be the one that is wanted.
pub const REALM: &str = "svn:realmstring";
/// The key of the user's name.
pub const USERNAME: &str = "username";
/// The key of the password.
pub const PASSWORD: &str = "password";
/// The key of a client certificate's passphrase.
pub const PASSPHRASE: &str = "passphrase";
/// The key of the secret's keeper.
pub const PASSTYPE: &str = "passtype";
/// The key of a server certificate.
pub const ASCII_CERT: &str = "ascii_cert";
/// The key of what is wrong with a server certificate, and was accepted.
pub const FAILURES: &str = "failures";
/// The keeper of a secret that stands in the file.
pub const PASSTYPE_SIMPLE: &str = "simple";

/// A kind of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// User name and password.
    Simple,
    /// User name alone.
    Username,
    /// The path of a client certificate; never stored by Subversion, but listed.
    SslClientCert,
    /// The passphrase of a client certificate.
    SslClientPassphrase,
    /// A server certificate that the user trusts.
    SslServer,
}

impl CredentialKind {
    /// All kinds, in the order in which Subversion lists them.
    pub const ALL: [Self; 5] = [
        Self::Simple,
        Self::Username,
        Self::SslClientCert,
        Self::SslClientPassphrase,
        Self::SslServer,
    ];

    /// Returns the name, which is that of the folder too.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Simple => "svn.simple",
            Self::Username => "svn.username",
            Self::SslClientCert => "svn.ssl.client-cert",
            Self::SslClientPassphrase => "svn.ssl.client-passphrase",
            Self::SslServer => "svn.ssl.server",
        }
    }
}

/// The credentials below one configuration folder.
#[derive(Clone, Debug)]
pub struct AuthStore {
    dir: PathBuf,
}

/// A file of the store.
#[derive(Clone, Debug)]
pub struct StoredCredential {
    /// Its kind.
    pub kind: CredentialKind,
    /// What it is for.
    pub realm: String,
    /// Keys and values, without the realm.
    pub values: Props,
    /// Where it is.
    pub path: PathBuf,
}

impl AuthStore {
    /// Returns the store of the configuration in `config_dir`.
    pub fn new(config_dir: &Path) -> Self {
        Self {
            dir: config_dir.join("auth"),
        }
    }

    /// Returns the file of a realm.
    pub fn path(&self, kind: CredentialKind, realm: &str) -> PathBuf {
        let name = Md5::of(realm.as_bytes()).to_string();
        self.dir.join(kind.as_str()).join(name)
    }

    /// Reads the credentials of a realm; `None` if there are none, or those of another realm.
    ///
    /// # Errors
    /// `MALFORMED_FILE`, and errors of the system.
    pub fn read(&self, kind: CredentialKind, realm: &str) -> Result<Option<Props>> {
        let path = self.path(kind, realm);
        let data = file::read_if_exists(&path).map_err(|error| {
            let code = error.code();
            error.wrap(code, "Unable to open auth file for reading")
        })?;
        let Some(data) = data else {
            return Ok(None);
        };
        let mut values = hash_dump::read(&data)
            .map_err(|error| error.context(format!("Error parsing '{}'", path.display())))?;
        let found = values.remove(REALM);
        Ok(Some(values).filter(|_| found.as_deref() == Some(realm.as_bytes())))
    }

    /// Writes the credentials of a realm, atomically. The folder must be there.
    ///
    /// # Errors
    /// Errors of the system; the old file stays then.
    pub fn write(&self, kind: CredentialKind, realm: &str, values: &Props) -> Result<()> {
        let path = self.path(kind, realm);
        let mut values = values.clone();
        values.insert(REALM.to_owned(), realm.as_bytes().to_vec());
        let dir = path.parent().unwrap_or(&self.dir);
        let mut temp = file::TempFile::new_in(dir)
            .map_err(|error| error.context("Unable to open auth file for writing"))?;
        temp.write_all(&hash_dump::write(&values))
            .map_err(|error| {
                error.context(format!("Error writing hash to '{}'", path.display()))
            })?;
        temp.persist(&path)
    }

    /// Removes the credentials of a realm; returns whether there were any.
    ///
    /// # Errors
    /// `Can't remove file`.
    pub fn remove(&self, kind: CredentialKind, realm: &str) -> Result<bool> {
        file::remove_if_exists(&self.path(kind, realm))
    }

    /// Lists all credentials, by kind and file name. Files that cannot be read are left out.
    ///
    /// # Errors
    /// Errors of the system on a folder that is there.
    pub fn list(&self) -> Result<Vec<StoredCredential>> {
        let mut found = Vec::new();
        for kind in CredentialKind::ALL {
            let dir = self.dir.join(kind.as_str());
            let Some(mut names) = names_in(&dir)? else {
                continue;
            };
            names.sort();
            for name in names {
                let path = dir.join(name);
                let values = file::read(&path).and_then(|data| hash_dump::read(&data));
                let Ok(mut values) = values else {
                    continue;
                };
                let Some(Ok(realm)) = values.remove(REALM).map(String::from_utf8) else {
                    continue;
                };
                found.push(StoredCredential {
                    kind,
                    realm,
                    values,
                    path,
                });
            }
        }
        Ok(found)
    }

    /// Makes the folders of the store, where that can be done.
    pub fn ensure(&self) {
        if !matches!(file::exists(&self.dir), Ok(true))
            && file::make_dir_with_mode(&self.dir, 0o700).is_err()
        {
            return;
        }
        for kind in CredentialKind::ALL {
            let dir = self.dir.join(kind.as_str());
            if kind != CredentialKind::SslClientCert && !matches!(file::exists(&dir), Ok(true)) {
                // Without the folder, nothing is stored.
                let _ = file::make_dir(&dir);
            }
        }
    }
}

/// Returns the error of a store that there is not, as there is no home folder.
pub fn no_store() -> Error {
    Error::new(ErrorCode::NO_AUTH_FILE_PATH, "Unable to locate auth file")
}

/// Lists the files of a folder; `None` if there is no such folder.
fn names_in(dir: &Path) -> Result<Option<Vec<String>>> {
    if !file::lstat_if_exists(dir)?.is_some_and(|meta| meta.is_dir()) {
        return Ok(None);
    }
    let names = file::read_dir(dir)?
        .into_iter()
        .filter_map(|(name, _)| String::from_utf8(name).ok())
        .collect();
    Ok(Some(names))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_stored_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = AuthStore::new(dir.path());
        const REALM_MD5: &str = "6bfdca3bbdf59280d18b278a97c14f31";
        let realm = "<svn://localhost:3690> repos";
        let values: Props = [
            (USERNAME.to_owned(), b"jo".to_vec()),
            (PASSWORD.to_owned(), b"secret".to_vec()),
            (PASSTYPE.to_owned(), b"simple".to_vec()),
        ]
        .into();
        let error = store
            .write(CredentialKind::Simple, realm, &values)
            .unwrap_err();
        assert_eq!(error.message(), "Unable to open auth file for writing");
        store.ensure();
        store.write(CredentialKind::Simple, realm, &values).unwrap();
        let path = store.path(CredentialKind::Simple, realm);
        assert_eq!(path.file_name().unwrap(), REALM_MD5);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "K 8\npasstype\nV 6\nsimple\nK 8\npassword\nV 6\nsecret\n\
             K 15\nsvn:realmstring\nV 28\n<svn://localhost:3690> repos\n\
             K 8\nusername\nV 2\njo\nEND\n"
        );
        assert_eq!(
            store.read(CredentialKind::Simple, realm).unwrap(),
            Some(values.clone())
        );
        assert_eq!(store.read(CredentialKind::Username, realm).unwrap(), None);
        let listed = store.list().unwrap();
        assert_eq!((listed.len(), listed[0].realm.as_str()), (1, realm));

        let other = store.path(CredentialKind::Simple, "other");
        std::fs::copy(&path, &other).unwrap();
        assert_eq!(store.read(CredentialKind::Simple, "other").unwrap(), None);
        std::fs::write(&other, "junk\n").unwrap();
        let error = store.read(CredentialKind::Simple, "other").unwrap_err();
        assert_eq!(error.code(), ErrorCode::MALFORMED_FILE);
        assert!(store.remove(CredentialKind::Simple, realm).unwrap());
        assert!(!store.remove(CredentialKind::Simple, realm).unwrap());
    }
}
