use std::collections::HashMap;

use sylvan_core::{Props, Result};
use sylvan_io::auth_store::{
    ASCII_CERT, CredentialKind, FAILURES, PASSPHRASE, PASSTYPE, PASSTYPE_SIMPLE, PASSWORD, USERNAME,
};

use super::policy::{Policy, YesNoAsk};
use super::{Auth, CertFailures, CertInfo};

/// A user name and its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Simple {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
    /// Whether they may be stored.
    pub may_save: bool,
}

/// A user name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username {
    /// The name.
    pub username: String,
    /// Whether it may be stored.
    pub may_save: bool,
}

/// The decision to trust a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTrust {
    /// What is accepted to be wrong with it.
    pub accepted_failures: CertFailures,
    /// Whether the decision may be stored.
    pub may_save: bool,
}

/// A client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCert {
    /// Its file.
    pub file: String,
    /// Whether the name may be stored (it never is, as in Subversion).
    pub may_save: bool,
}

/// The passphrase of a client certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertPassphrase {
    /// The passphrase.
    pub passphrase: String,
    /// Whether it may be stored.
    pub may_save: bool,
}

impl std::fmt::Debug for Simple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simple")
            .field("username", &self.username)
            .field("may_save", &self.may_save)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ClientCertPassphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertPassphrase")
            .field("may_save", &self.may_save)
            .finish_non_exhaustive()
    }
}

/// What was used in this process, by realm.
#[derive(Default)]
pub struct Memory {
    pub(super) simple: HashMap<String, Simple>,
    pub(super) username: HashMap<String, Username>,
    pub(super) server_trust: HashMap<String, ServerTrust>,
    pub(super) client_cert: HashMap<String, ClientCert>,
    pub(super) passphrase: HashMap<String, ClientCertPassphrase>,
}

/// The source that is asked next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// What this process used before.
    Memory,
    /// Options, store and `servers` file.
    Stored,
    /// The user.
    Prompt {
        /// How often the user was asked.
        retry: u32,
    },
}

impl Step {
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::Memory => Some(Self::Stored),
            Self::Stored => Some(Self::Prompt { retry: 0 }),
            Self::Prompt { retry } if retry < 2 => Some(Self::Prompt { retry: retry + 1 }),
            Self::Prompt { .. } => None,
        }
    }
}

mod sealed {
    use super::*;

    /// A kind of credentials. Sealed: the set is Subversion's.
    pub trait Credential: Clone {
        /// What is known beside the realm.
        type About;
        /// How often the user is asked again.
        const RETRIES: u32 = 2;

        /// Returns what this process used.
        fn memory(memory: &mut Memory) -> &mut HashMap<String, Self>;

        /// Tells whether what was used before fits now.
        fn fits(&self, _: &Self::About) -> bool {
            true
        }

        /// Looks in the options, the store and the `servers` file.
        fn stored(
            auth: &Auth,
            realm: &str,
            policy: &Policy,
            about: &Self::About,
        ) -> Result<Option<Self>>;

        /// Asks the user.
        fn prompt(
            auth: &mut Auth,
            realm: &str,
            policy: &Policy,
            about: &Self::About,
            first: bool,
        ) -> Result<Option<Self>>;

        /// Tells whether storing is allowed.
        fn may_save(&self) -> bool;

        /// Notes that storing is done.
        fn set_saved(&mut self);

        /// Writes to the store.
        fn save(
            &self,
            auth: &mut Auth,
            realm: &str,
            policy: &Policy,
            about: &Self::About,
        ) -> Result<()>;
    }
}

pub(super) use sealed::Credential;

fn read(auth: &Auth, kind: CredentialKind, realm: &str) -> Option<Props> {
    auth.store.read(kind, realm)
}

fn text(values: &Props, key: &str) -> Option<String> {
    String::from_utf8(values.get(key)?.clone()).ok()
}

/// A store that cannot be written only means that the user is asked again next time.
fn write(auth: &mut Auth, kind: CredentialKind, realm: &str, values: &Props) {
    let _ = auth.store.write(kind, realm, values);
}

impl Credential for Simple {
    type About = ();

    fn memory(memory: &mut Memory) -> &mut HashMap<String, Self> {
        &mut memory.simple
    }

    fn stored(auth: &Auth, realm: &str, policy: &Policy, (): &()) -> Result<Option<Self>> {
        let values = read(auth, CredentialKind::Simple, realm);
        let known_name = values.as_ref().and_then(|values| text(values, USERNAME));
        let known_password = values.as_ref().and_then(|values| {
            if text(values, PASSTYPE).as_deref() == Some(PASSTYPE_SIMPLE) {
                text(values, PASSWORD)
            } else {
                None
            }
        });
        let options = &auth.options;
        let password_for = |name: &str| {
            if known_name.as_deref() == Some(name) {
                known_password.clone()
            } else {
                None
            }
        };
        let chosen_name = options.username.clone().or_else(|| known_name.clone());
        let password = options
            .password
            .clone()
            .or_else(|| chosen_name.as_deref().and_then(&password_for));
        let username = chosen_name
            .or_else(|| policy.username.clone())
            .or_else(|| options.os_username.clone().filter(|_| password.is_some()));
        let (Some(username), Some(password)) = (username, password) else {
            return Ok(None);
        };
        let may_save =
            known_name.as_ref() != Some(&username) || known_password.as_ref() != Some(&password);
        Ok(Some(Self {
            username,
            password,
            may_save,
        }))
    }

    fn prompt(
        auth: &mut Auth,
        realm: &str,
        policy: &Policy,
        (): &(),
        first: bool,
    ) -> Result<Option<Self>> {
        let mut default_name = None;
        if first {
            default_name = auth
                .options
                .username
                .clone()
                .or_else(|| text(&read(auth, CredentialKind::Simple, realm)?, USERNAME))
                .or_else(|| policy.username.clone())
                .or_else(|| auth.options.os_username.clone());
            if let (Some(username), Some(password)) = (&default_name, &auth.options.password) {
                return Ok(Some(Self {
                    username: username.clone(),
                    password: password.clone(),
                    may_save: true,
                }));
            }
        }
        auth.prompt
            .simple(realm, default_name.as_deref(), policy.store_creds)
    }

    fn may_save(&self) -> bool {
        self.may_save
    }

    fn set_saved(&mut self) {
        self.may_save = false;
    }

    fn save(&self, auth: &mut Auth, realm: &str, policy: &Policy, (): &()) -> Result<()> {
        let mut values = Props::from([(USERNAME.to_owned(), self.username.clone().into())]);
        let allowed = policy.store_passwords
            && may_store_plaintext(
                auth,
                realm,
                policy.store_plaintext_passwords,
                |auth, realm| auth.prompt.store_plaintext_password(realm),
            )?;
        if allowed {
            values.insert(PASSWORD.to_owned(), self.password.clone().into());
            values.insert(PASSTYPE.to_owned(), PASSTYPE_SIMPLE.into());
        }
        write(auth, CredentialKind::Simple, realm, &values);
        Ok(())
    }
}

/// Decides by the `servers` file, asking once a realm if it says so.
fn may_store_plaintext(
    auth: &mut Auth,
    realm: &str,
    setting: YesNoAsk,
    ask: impl FnOnce(&mut Auth, &str) -> Result<bool>,
) -> Result<bool> {
    match setting {
        YesNoAsk::Yes => Ok(true),
        YesNoAsk::No => Ok(false),
        YesNoAsk::Ask if auth.options.non_interactive => Ok(false),
        YesNoAsk::Ask => {
            if let Some(answer) = auth.plaintext_answers.get(realm) {
                return Ok(*answer);
            }
            let answer = ask(auth, realm)?;
            auth.plaintext_answers.insert(realm.to_owned(), answer);
            Ok(answer)
        }
    }
}

impl Credential for Username {
    type About = ();

    fn memory(memory: &mut Memory) -> &mut HashMap<String, Self> {
        &mut memory.username
    }

    fn stored(auth: &Auth, realm: &str, _: &Policy, (): &()) -> Result<Option<Self>> {
        let given = auth.options.username.clone();
        let may_save = given.is_some();
        let username = given
            .or_else(|| text(&read(auth, CredentialKind::Username, realm)?, USERNAME))
            .or_else(|| auth.options.os_username.clone());
        Ok(username.map(|username| Self { username, may_save }))
    }

    fn prompt(
        auth: &mut Auth,
        realm: &str,
        policy: &Policy,
        (): &(),
        first: bool,
    ) -> Result<Option<Self>> {
        if let (true, Some(username)) = (first, &auth.options.username) {
            return Ok(Some(Self {
                username: username.clone(),
                may_save: true,
            }));
        }
        auth.prompt.username(realm, policy.store_creds)
    }

    fn may_save(&self) -> bool {
        self.may_save
    }

    fn set_saved(&mut self) {
        self.may_save = false;
    }

    fn save(&self, auth: &mut Auth, realm: &str, _: &Policy, (): &()) -> Result<()> {
        let values = Props::from([(USERNAME.to_owned(), self.username.clone().into())]);
        write(auth, CredentialKind::Username, realm, &values);
        Ok(())
    }
}

impl Credential for ServerTrust {
    type About = (CertFailures, CertInfo);
    const RETRIES: u32 = 0;

    fn memory(memory: &mut Memory) -> &mut HashMap<String, Self> {
        &mut memory.server_trust
    }

    fn fits(&self, (failures, _): &(CertFailures, CertInfo)) -> bool {
        failures.without(self.accepted_failures).is_empty()
    }

    fn stored(
        auth: &Auth,
        realm: &str,
        _: &Policy,
        (failures, cert): &(CertFailures, CertInfo),
    ) -> Result<Option<Self>> {
        let mut accepted = CertFailures::default();
        if let Some(values) = read(auth, CredentialKind::SslServer, realm)
            && text(&values, ASCII_CERT).as_deref() == Some(&cert.ascii_cert)
        {
            let stored = text(&values, FAILURES).and_then(|number| number.parse().ok());
            accepted = CertFailures(stored.unwrap_or(0));
        }
        if auth.options.non_interactive && !failures.without(accepted).is_empty() {
            accepted = auth.options.trust;
        }
        Ok(failures.without(accepted).is_empty().then_some(Self {
            accepted_failures: *failures,
            may_save: false,
        }))
    }

    fn prompt(
        auth: &mut Auth,
        realm: &str,
        policy: &Policy,
        (failures, cert): &(CertFailures, CertInfo),
        _: bool,
    ) -> Result<Option<Self>> {
        let may_save = policy.store_creds && !failures.contains(CertFailures::OTHER);
        auth.prompt
            .ssl_server_trust(realm, *failures, cert, may_save)
    }

    fn may_save(&self) -> bool {
        self.may_save
    }

    fn set_saved(&mut self) {
        self.may_save = false;
    }

    fn save(
        &self,
        auth: &mut Auth,
        realm: &str,
        _: &Policy,
        (_, cert): &(CertFailures, CertInfo),
    ) -> Result<()> {
        let failures = self.accepted_failures.0.to_string();
        let values = Props::from([
            (ASCII_CERT.to_owned(), cert.ascii_cert.clone().into()),
            (FAILURES.to_owned(), failures.into()),
        ]);
        write(auth, CredentialKind::SslServer, realm, &values);
        Ok(())
    }
}

impl Credential for ClientCert {
    type About = ();

    fn memory(memory: &mut Memory) -> &mut HashMap<String, Self> {
        &mut memory.client_cert
    }

    fn stored(_: &Auth, _: &str, policy: &Policy, (): &()) -> Result<Option<Self>> {
        Ok(policy.client_cert_file.clone().map(|file| Self {
            file,
            may_save: false,
        }))
    }

    fn prompt(
        auth: &mut Auth,
        realm: &str,
        policy: &Policy,
        (): &(),
        _: bool,
    ) -> Result<Option<Self>> {
        if !policy.client_cert_prompt {
            return Ok(None);
        }
        auth.prompt.ssl_client_cert(realm, policy.store_creds)
    }

    fn may_save(&self) -> bool {
        false
    }

    fn set_saved(&mut self) {
        self.may_save = false;
    }

    fn save(&self, _: &mut Auth, _: &str, _: &Policy, (): &()) -> Result<()> {
        Ok(())
    }
}

impl Credential for ClientCertPassphrase {
    type About = ();

    fn memory(memory: &mut Memory) -> &mut HashMap<String, Self> {
        &mut memory.passphrase
    }

    fn stored(auth: &Auth, realm: &str, policy: &Policy, (): &()) -> Result<Option<Self>> {
        let passphrase = policy.client_cert_passphrase.clone().or_else(|| {
            text(
                &read(auth, CredentialKind::SslClientPassphrase, realm)?,
                PASSPHRASE,
            )
        });
        Ok(passphrase.map(|passphrase| Self {
            passphrase,
            may_save: false,
        }))
    }

    fn prompt(
        auth: &mut Auth,
        realm: &str,
        policy: &Policy,
        (): &(),
        _: bool,
    ) -> Result<Option<Self>> {
        auth.prompt.ssl_client_cert_pw(realm, policy.store_creds)
    }

    fn may_save(&self) -> bool {
        self.may_save
    }

    fn set_saved(&mut self) {
        self.may_save = false;
    }

    fn save(&self, auth: &mut Auth, realm: &str, policy: &Policy, (): &()) -> Result<()> {
        let mut values = Props::new();
        let allowed = policy.store_passphrases
            && may_store_plaintext(
                auth,
                realm,
                policy.store_plaintext_passphrases,
                |auth, realm| auth.prompt.store_plaintext_passphrase(realm),
            )?;
        if allowed {
            values.insert(PASSPHRASE.to_owned(), self.passphrase.clone().into());
            values.insert(PASSTYPE.to_owned(), PASSTYPE_SIMPLE.into());
            write(auth, CredentialKind::SslClientPassphrase, realm, &values);
        }
        Ok(())
    }
}
