//! Credentials: where they come from, in which order, and where they are kept.
//!
//! A session that meets an authentication request asks [`Auth`] for attempts at a *realm* and
//! tries one after the other:
//!
//! 1. what this process used for the realm before;
//! 2. what the options say (`--username`, `--password`), completed by the credential store
//!    (`~/.subversion/auth`) and the `servers` file;
//! 3. what the user answers, up to three times, unless the program is not interactive.
//!
//! Those that the server accepted are saved with [`Attempts::save`], as far as the options and the
//! `servers` file allow.
//!
//! ```no_run
//! # fn accepted(_: &sylvan_ra::auth::Simple) -> bool { true }
//! # fn f(auth: &mut sylvan_ra::auth::Auth) -> sylvan_core::Result<()> {
//! let mut attempts = auth.simple_credentials("<svn://host:3690> My realm", "host")?;
//! while let Some(credentials) = attempts.next(auth)? {
//!     if accepted(&credentials) {
//!         attempts.save(auth)?;
//!         break;
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod kinds;
mod policy;
mod store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use sylvan_core::Result;
use sylvan_io::Config;

pub use kinds::{ClientCert, ClientCertPassphrase, ServerTrust, Simple, Username};
use kinds::{Credential, Memory, Step};
use policy::Policy;
pub use store::{DirStore, Store};

/// What may be wrong with a server's certificate, as a set of bits with Subversion's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CertFailures(pub u32);

impl CertFailures {
    /// The certificate is not yet valid.
    pub const NOT_YET_VALID: Self = Self(0x1);
    /// The certificate has expired.
    pub const EXPIRED: Self = Self(0x2);
    /// The certificate is for another host.
    pub const CN_MISMATCH: Self = Self(0x4);
    /// The certificate is not signed by a trusted authority.
    pub const UNKNOWN_CA: Self = Self(0x8);
    /// Something else is wrong; such a certificate is never accepted for good.
    pub const OTHER: Self = Self(0x4000_0000);

    /// Tells whether nothing is wrong.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Tells whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns what is in this set or in `other`.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns what is in this set but not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// What the user is shown of a server's certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertInfo {
    /// The host it was made for (its common name).
    pub hostname: String,
    /// SHA-1 of its bytes, as `AB:CD:…`.
    pub fingerprint: String,
    /// Since when it is valid.
    pub valid_from: String,
    /// Until when it is valid.
    pub valid_until: String,
    /// Who signed it.
    pub issuer: String,
    /// Its bytes (DER) in base64, by which it is recognised again.
    pub ascii_cert: String,
}

/// Asks the user. Implemented by programs; an answer of `None` means that the user has none.
///
/// `may_save` says whether the answer can be kept, so that the user can be told or asked; the
/// answer's own `may_save` says whether the user allows it.
pub trait Prompt: Send {
    /// Asks for user name and password; `username` is the likely name, not to be asked again.
    fn simple(
        &mut self,
        realm: &str,
        username: Option<&str>,
        may_save: bool,
    ) -> Result<Option<Simple>>;

    /// Asks for a user name.
    fn username(&mut self, realm: &str, may_save: bool) -> Result<Option<Username>>;

    /// Asks whether a certificate with `failures` is to be trusted.
    fn ssl_server_trust(
        &mut self,
        realm: &str,
        failures: CertFailures,
        cert: &CertInfo,
        may_save: bool,
    ) -> Result<Option<ServerTrust>>;

    /// Asks for the file name of a client certificate.
    fn ssl_client_cert(&mut self, realm: &str, may_save: bool) -> Result<Option<ClientCert>>;

    /// Asks for the passphrase of a client certificate; `realm` is its file name.
    fn ssl_client_cert_pw(
        &mut self,
        realm: &str,
        may_save: bool,
    ) -> Result<Option<ClientCertPassphrase>>;

    /// Asks whether a password may be stored unencrypted.
    fn store_plaintext_password(&mut self, realm: &str) -> Result<bool>;

    /// Asks whether the passphrase of a client certificate may be stored unencrypted.
    fn store_plaintext_passphrase(&mut self, realm: &str) -> Result<bool>;
}

/// Never asks: has no answers and stores nothing unencrypted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrompt;

impl Prompt for NoPrompt {
    fn simple(&mut self, _: &str, _: Option<&str>, _: bool) -> Result<Option<Simple>> {
        Ok(None)
    }

    fn username(&mut self, _: &str, _: bool) -> Result<Option<Username>> {
        Ok(None)
    }

    fn ssl_server_trust(
        &mut self,
        _: &str,
        _: CertFailures,
        _: &CertInfo,
        _: bool,
    ) -> Result<Option<ServerTrust>> {
        Ok(None)
    }

    fn ssl_client_cert(&mut self, _: &str, _: bool) -> Result<Option<ClientCert>> {
        Ok(None)
    }

    fn ssl_client_cert_pw(&mut self, _: &str, _: bool) -> Result<Option<ClientCertPassphrase>> {
        Ok(None)
    }

    fn store_plaintext_password(&mut self, _: &str) -> Result<bool> {
        Ok(false)
    }

    fn store_plaintext_passphrase(&mut self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

/// What the user said on the command line about authentication.
#[derive(Clone, Debug, Default)]
pub struct AuthOptions {
    /// `--username`.
    pub username: Option<String>,
    /// `--password`.
    pub password: Option<String>,
    /// `--non-interactive`: the prompt is never used.
    pub non_interactive: bool,
    /// `--no-auth-cache`: nothing is stored.
    pub no_auth_cache: bool,
    /// `--trust-server-cert-failures`; only heeded when not interactive.
    pub trust: CertFailures,
    /// The user's name on this system, the last default.
    pub os_username: Option<String>,
}

/// Gives credentials and remembers those that worked. One for the whole program, shared by its
/// sessions.
pub struct Auth {
    options: AuthOptions,
    config: Arc<Config>,
    store: Box<dyn Store>,
    prompt: Box<dyn Prompt>,
    memory: Memory,
    plaintext_answers: HashMap<String, bool>,
}

impl Auth {
    /// Makes the one that uses the credential store of `config`'s folder.
    pub fn new(options: AuthOptions, config: Arc<Config>, prompt: Box<dyn Prompt>) -> Self {
        let store = Box::new(DirStore::of_config(&config));
        Self::with_store(options, config, store, prompt)
    }

    /// As [`Auth::new`], with another store.
    pub fn with_store(
        options: AuthOptions,
        config: Arc<Config>,
        store: Box<dyn Store>,
        prompt: Box<dyn Prompt>,
    ) -> Self {
        Self {
            options,
            config,
            store,
            prompt,
            memory: Memory::default(),
            plaintext_answers: HashMap::new(),
        }
    }

    /// Returns the options it was made with.
    pub fn options(&self) -> &AuthOptions {
        &self.options
    }

    /// Begins attempts with user name and password at `realm` of the server `host`.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` if the `servers` file has a wrong value.
    pub fn simple_credentials(&self, realm: &str, host: &str) -> Result<Attempts<Simple>> {
        self.attempts(realm, host, ())
    }

    /// Begins attempts with a user name.
    ///
    /// # Errors
    /// As for [`Auth::simple_credentials`].
    pub fn username_credentials(&self, realm: &str, host: &str) -> Result<Attempts<Username>> {
        self.attempts(realm, host, ())
    }

    /// Begins attempts at having the certificate `cert` of a server, that has `failures`, trusted.
    ///
    /// # Errors
    /// As for [`Auth::simple_credentials`].
    pub fn server_trust(
        &self,
        realm: &str,
        host: &str,
        failures: CertFailures,
        cert: CertInfo,
    ) -> Result<Attempts<ServerTrust>> {
        self.attempts(realm, host, (failures, cert))
    }

    /// Begins attempts with a client certificate.
    ///
    /// # Errors
    /// As for [`Auth::simple_credentials`].
    pub fn client_cert(&self, realm: &str, host: &str) -> Result<Attempts<ClientCert>> {
        self.attempts(realm, host, ())
    }

    /// Begins attempts with a passphrase for the client certificate in the file `realm`.
    ///
    /// # Errors
    /// As for [`Auth::simple_credentials`].
    pub fn client_cert_passphrase(
        &self,
        realm: &str,
        host: &str,
    ) -> Result<Attempts<ClientCertPassphrase>> {
        self.attempts(realm, host, ())
    }

    /// Forgets what this process used; the store stays as it is.
    pub fn forget(&mut self) {
        self.memory = Memory::default();
    }

    fn attempts<C: Credential>(
        &self,
        realm: &str,
        host: &str,
        about: C::About,
    ) -> Result<Attempts<C>> {
        Ok(Attempts {
            realm: realm.to_owned(),
            policy: Policy::for_host(&self.config, host, &self.options)?,
            about,
            step: Some(Step::Memory),
            current: None,
        })
    }
}

/// The attempts at one realm, made one by one. Holds no lock between them.
pub struct Attempts<C: Credential> {
    realm: String,
    policy: Policy,
    about: C::About,
    step: Option<Step>,
    current: Option<C>,
}

impl<C: Credential> Attempts<C> {
    /// Returns what to try next; `None` if there is nothing more.
    ///
    /// # Errors
    /// Those of the prompt, such as "Caught signal".
    pub fn next(&mut self, auth: &mut Auth) -> Result<Option<C>> {
        while let Some(step) = self.step {
            self.step = step.next();
            let found = match step {
                Step::Memory => C::memory(&mut auth.memory)
                    .get(&self.realm)
                    .filter(|known| known.fits(&self.about))
                    .cloned(),
                Step::Stored => C::stored(auth, &self.realm, &self.policy, &self.about)?,
                Step::Prompt { .. } if auth.options.non_interactive => None,
                Step::Prompt { retry } if retry > C::RETRIES => None,
                Step::Prompt { retry } => {
                    C::prompt(auth, &self.realm, &self.policy, &self.about, retry == 0)?
                }
            };
            if let Some(credential) = found {
                C::memory(&mut auth.memory).insert(self.realm.clone(), credential.clone());
                self.current = Some(credential.clone());
                return Ok(Some(credential));
            }
        }
        C::memory(&mut auth.memory).remove(&self.realm);
        self.current = None;
        Ok(None)
    }

    /// Stores the last of [`Attempts::next`], which the server accepted, if that is allowed.
    /// A store that cannot be written is no error.
    ///
    /// # Errors
    /// Those of the prompt that asks whether a password may be stored unencrypted.
    pub fn save(&mut self, auth: &mut Auth) -> Result<()> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if current.may_save() && self.policy.store_creds {
            current.save(auth, &self.realm, &self.policy, &self.about)?;
        }
        // Saved once is enough for all sessions of this process.
        current.set_saved();
        C::memory(&mut auth.memory).insert(self.realm.clone(), current.clone());
        Ok(())
    }
}
