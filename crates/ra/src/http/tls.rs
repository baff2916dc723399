//! TLS: which certificates are trusted, and which we show.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sylvan_core::{Error, ErrorCode, Result};

use super::settings::Settings;
use super::x509::Certificate;
use crate::Context;
use crate::auth::{Attempts, CertFailures, ClientCertPassphrase};

/// What all TLS connections of a session share.
pub(super) struct Tls {
    pub(super) config: Arc<ClientConfig>,
    shared: Arc<Shared>,
}

struct Shared {
    context: Context,
    host: String,
    realm: String,
    /// Why a handshake failed, if it was our decision.
    problem: Mutex<Option<Error>>,
    passphrase: Mutex<Option<Attempts<ClientCertPassphrase>>>,
}

impl Shared {
    fn fail(&self, error: Error) {
        *lock(&self.problem) = Some(error);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tls {
    /// Loads the trusted certificates.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` if a file of `ssl-authority-files` cannot be read.
    pub(super) fn new(
        context: &Context,
        settings: &Settings,
        host: &str,
        port: u16,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            context: context.clone(),
            host: host.to_owned(),
            realm: format!("https://{host}:{port}"),
            problem: Mutex::new(None),
            passphrase: Mutex::new(None),
        });
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        let mut authorities = Vec::new();
        for file in &settings.authority_files {
            let found = read_authorities(file)?;
            roots.add_parsable_certificates(found.iter().cloned());
            authorities.extend(found);
        }
        if settings.trust_default_ca {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let verifier = Verifier {
            shared: Arc::clone(&shared),
            algorithms: provider.signature_verification_algorithms,
            roots,
            authorities,
            accepted: Mutex::new(None),
        };
        let client_cert = ClientCertSource {
            shared: Arc::clone(&shared),
            provider: Arc::clone(&provider),
            loaded: Mutex::new(None),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| super::failure::of_connection(super::failure::SSL))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_cert_resolver(Arc::new(client_cert));
        Ok(Self {
            config: Arc::new(config),
            shared,
        })
    }

    /// Returns why a handshake failed, if it was our decision.
    pub(super) fn take_problem(&self) -> Option<Error> {
        lock(&self.shared.problem).take()
    }

    /// Notes that a handshake succeeded, so that the passphrase used was the right one.
    pub(super) fn succeeded(&self) -> Result<()> {
        match lock(&self.shared.passphrase).take() {
            Some(mut attempts) => attempts.save(&mut self.shared.context.auth()),
            None => Ok(()),
        }
    }
}

fn read_authorities(file: &str) -> Result<Vec<CertificateDer<'static>>> {
    std::fs::read(file)
        .ok()
        .and_then(|pem| {
            CertificateDer::pem_slice_iter(&pem)
                .collect::<Result<Vec<_>, _>>()
                .ok()
        })
        .filter(|found| !found.is_empty())
        .ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_CONFIG_VALUE,
                format!("Invalid config: unable to load certificate file '{file}'"),
            )
        })
}

/// Decides as Subversion does: finds all that is wrong with a certificate and asks whether that is
/// accepted.
struct Verifier {
    shared: Arc<Shared>,
    algorithms: WebPkiSupportedAlgorithms,
    roots: RootCertStore,
    authorities: Vec<CertificateDer<'static>>,
    /// A certificate whose faults were accepted in this session.
    accepted: Mutex<Option<Vec<u8>>>,
}

impl Verifier {
    fn failures(
        &self,
        der: &CertificateDer<'_>,
        certificate: &Certificate<'_>,
        chain: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> CertFailures {
        let mut failures = CertFailures::default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if seconds < certificate.not_before {
            failures = failures.union(CertFailures::NOT_YET_VALID);
        }
        if seconds > certificate.not_after {
            failures = failures.union(CertFailures::EXPIRED);
        }
        if !certificate.is_for(&self.shared.host) {
            failures = failures.union(CertFailures::CN_MISMATCH);
        }
        if self.authorities.contains(der) {
            return failures;
        }
        if certificate.is_self_signed() {
            return failures.union(CertFailures::UNKNOWN_CA);
        }
        // Its own dates were looked at; the chain is judged at a moment when it was valid.
        let moment = seconds.clamp(certificate.not_before, certificate.not_after);
        let moment = u64::try_from(moment).unwrap_or_default();
        failures.union(self.chain_failures(der, chain, moment))
    }

    fn chain_failures(
        &self,
        der: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        moment: u64,
    ) -> CertFailures {
        let moment = UnixTime::since_unix_epoch(std::time::Duration::from_secs(moment));
        let verified = rustls::server::ParsedCertificate::try_from(der).and_then(|parsed| {
            rustls::client::verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &self.roots,
                chain,
                moment,
                self.algorithms.all,
            )
        });
        match verified {
            Ok(()) => CertFailures::default(),
            Err(rustls::Error::InvalidCertificate(fault)) => match fault {
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    CertFailures::UNKNOWN_CA
                }
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    CertFailures::EXPIRED
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    CertFailures::NOT_YET_VALID
                }
                _ => CertFailures::OTHER.union(CertFailures::UNKNOWN_CA),
            },
            Err(_) => CertFailures::OTHER,
        }
    }

    /// Asks store, options and user whether `failures` are accepted.
    fn decide(&self, failures: CertFailures, certificate: &Certificate<'_>) -> Result<()> {
        let Shared {
            context,
            host,
            realm,
            ..
        } = &*self.shared;
        let mut auth = context.auth();
        let mut attempts = auth.server_trust(realm, host, failures, certificate.info())?;
        let mut left = failures;
        while !left.is_empty() {
            let Some(trust) = attempts.next(&mut auth)? else {
                return Err(untrusted(left));
            };
            left = left.without(trust.accepted_failures);
            attempts.save(&mut auth)?;
        }
        Ok(())
    }

    fn verify_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
        checked: Result<HandshakeSignatureValid, rustls::Error>,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        checked.or_else(|error| {
            // webpki takes no certificate of version 1, which self-made ones often are.
            let valid = Certificate::parse(cert)
                .is_some_and(|parsed| self.raw_signature_holds(message, parsed.spki, signature));
            if valid {
                Ok(HandshakeSignatureValid::assertion())
            } else {
                Err(error)
            }
        })
    }

    fn raw_signature_holds(
        &self,
        message: &[u8],
        spki: &[u8],
        signature: &DigitallySignedStruct,
    ) -> bool {
        let spki = SubjectPublicKeyInfoDer::from(spki);
        let Ok(key) = webpki::RawPublicKeyEntity::try_from(&spki) else {
            return false;
        };
        self.algorithms
            .mapping
            .iter()
            .filter(|(scheme, _)| *scheme == signature.scheme)
            .flat_map(|(_, algorithms)| algorithms.iter())
            .any(|algorithm| {
                key.verify_signature(*algorithm, message, signature.signature())
                    .is_ok()
            })
    }
}

/// The error that names what is wrong with a certificate.
fn untrusted(failures: CertFailures) -> Error {
    let reasons: Vec<_> = [
        (CertFailures::NOT_YET_VALID, "certificate is not yet valid"),
        (CertFailures::EXPIRED, "certificate has expired"),
        (
            CertFailures::CN_MISMATCH,
            "certificate issued for a different hostname",
        ),
        (CertFailures::UNKNOWN_CA, "issuer is not trusted"),
        (CertFailures::OTHER, "and other reason(s)"),
    ]
    .into_iter()
    .filter(|(failure, _)| failures.contains(*failure))
    .map(|(_, reason)| reason)
    .collect();
    Error::new(
        ErrorCode::RA_SERF_SSL_CERT_UNTRUSTED,
        format!(
            "Server SSL certificate verification failed: {}",
            reasons.join(", ")
        ),
    )
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let certificate = Certificate::parse(end_entity).ok_or(
            rustls::Error::InvalidCertificate(CertificateError::BadEncoding),
        )?;
        let failures = self.failures(end_entity, &certificate, intermediates, now);
        let mut accepted = lock(&self.accepted);
        let known = accepted.as_deref() == Some(end_entity.as_ref());
        if !failures.is_empty() && !known {
            if let Err(error) = self.decide(failures, &certificate) {
                self.shared.fail(error);
                return Err(rustls::Error::InvalidCertificate(
                    CertificateError::ApplicationVerificationFailure,
                ));
            }
            *accepted = Some(end_entity.to_vec());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let checked = rustls::crypto::verify_tls12_signature(message, cert, dss, &self.algorithms);
        self.verify_signature(message, cert, dss, checked)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let checked = rustls::crypto::verify_tls13_signature(message, cert, dss, &self.algorithms);
        self.verify_signature(message, cert, dss, checked)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

/// Shows a client certificate when the server asks for one.
struct ClientCertSource {
    shared: Arc<Shared>,
    provider: Arc<CryptoProvider>,
    /// What the first request for one gave.
    loaded: Mutex<Option<Option<Arc<CertifiedKey>>>>,
}

impl ClientCertSource {
    /// Tries the files that the configuration names and the user gives.
    fn load(&self) -> Result<Option<Arc<CertifiedKey>>> {
        let Shared {
            context,
            host,
            realm,
            ..
        } = &*self.shared;
        let mut attempts = context.auth().client_cert(realm, host)?;
        loop {
            // The lock is not held while a file is read, which asks for passphrases.
            let next = attempts.next(&mut context.auth())?;
            let Some(candidate) = next else {
                return Ok(None);
            };
            if let Some(key) = self.load_file(&candidate.file)? {
                attempts.save(&mut context.auth())?;
                return Ok(Some(key));
            }
        }
    }

    /// Loads a file of PEM or PKCS#12; `None` if it is neither, or no passphrase opens it.
    fn load_file(&self, file: &str) -> Result<Option<Arc<CertifiedKey>>> {
        let Ok(bytes) = std::fs::read(file) else {
            return Ok(None);
        };
        match open_keys(&bytes, "") {
            Opened::Keys(keys) => return Ok(self.certified(keys)),
            Opened::NoKeys => return Ok(None),
            Opened::OldLock => {
                return Err(Error::new(
                    ErrorCode::BAD_CONFIG_VALUE,
                    format!(
                        "Invalid config: the key in client certificate file '{file}' is encrypted \
                         in the old way of PEM; 'openssl pkcs8 -topk8' makes one that can be read"
                    ),
                ));
            }
            Opened::Locked => {}
        }
        let Shared { context, host, .. } = &*self.shared;
        let mut attempts = context.auth().client_cert_passphrase(file, host)?;
        loop {
            let next = attempts.next(&mut context.auth())?;
            let Some(candidate) = next else {
                return Ok(None);
            };
            if let Opened::Keys(keys) = open_keys(&bytes, &candidate.passphrase) {
                *lock(&self.shared.passphrase) = Some(attempts);
                return Ok(self.certified(keys));
            }
        }
    }

    fn certified(&self, keys: Keys) -> Option<Arc<CertifiedKey>> {
        CertifiedKey::from_der(keys.chain, keys.key, &self.provider)
            .ok()
            .map(Arc::new)
    }
}

impl ResolvesClientCert for ClientCertSource {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let mut loaded = lock(&self.loaded);
        if let Some(known) = &*loaded {
            return known.clone();
        }
        let key = match self.load() {
            Ok(key) => key,
            Err(error) => {
                self.shared.fail(error);
                None
            }
        };
        loaded.insert(key).clone()
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl fmt::Debug for ClientCertSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertSource").finish_non_exhaustive()
    }
}

/// A certificate chain and its key.
struct Keys {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

enum Opened {
    Keys(Keys),
    /// Another passphrase is needed.
    Locked,
    /// The key is encrypted as OpenSSL once did it, by a digest without rounds.
    OldLock,
    NoKeys,
}

fn open_keys(bytes: &[u8], passphrase: &str) -> Opened {
    if !bytes.starts_with(b"-----BEGIN ") && memchr::memmem::find(bytes, b"\n-----BEGIN ").is_none()
    {
        return open_pkcs12(bytes, passphrase);
    }
    let chain: Vec<_> = CertificateDer::pem_slice_iter(bytes)
        .filter_map(Result::ok)
        .collect();
    if chain.is_empty() {
        return Opened::NoKeys;
    }
    if let Ok(key) = PrivateKeyDer::from_pem_slice(bytes) {
        return Opened::Keys(Keys { chain, key });
    }
    if memchr::memmem::find(bytes, b"\nProc-Type: 4,ENCRYPTED").is_some() {
        return Opened::OldLock;
    }
    match open_encrypted_key(bytes, passphrase) {
        Some(Some(key)) => Opened::Keys(Keys { chain, key }),
        Some(None) => Opened::Locked,
        None => Opened::NoKeys,
    }
}

#[cfg(feature = "pkcs12")]
fn open_pkcs12(bytes: &[u8], passphrase: &str) -> Opened {
    use p12_keystore::{KeyStore, Pkcs12ImportPolicy};

    let Ok(store) = KeyStore::from_pkcs12(bytes, passphrase, Pkcs12ImportPolicy::Relaxed) else {
        // Wrong passphrases and broken files look alike; a sequence at least is not plain text.
        return if bytes.starts_with(&[0x30]) {
            Opened::Locked
        } else {
            Opened::NoKeys
        };
    };
    let Some((_, chain)) = store.private_key_chain() else {
        return Opened::NoKeys;
    };
    let key = PrivateKeyDer::try_from(chain.key().as_der().to_vec());
    let certificates = chain
        .certs()
        .iter()
        .map(|certificate| CertificateDer::from(certificate.as_der().to_vec()))
        .collect();
    match key {
        Ok(key) => Opened::Keys(Keys {
            chain: certificates,
            key,
        }),
        Err(_) => Opened::NoKeys,
    }
}

/// Decrypts a PKCS#8 key; `Some(None)` if the passphrase is wrong, `None` if there is no such key.
#[cfg(feature = "pkcs12")]
fn open_encrypted_key(pem: &[u8], passphrase: &str) -> Option<Option<PrivateKeyDer<'static>>> {
    let text = std::str::from_utf8(pem).ok()?;
    let start = text.find("-----BEGIN ENCRYPTED PRIVATE KEY-----")?;
    let end_tag = "-----END ENCRYPTED PRIVATE KEY-----";
    let end = start + text[start..].find(end_tag)?;
    let body: String = text[start..end].lines().skip(1).collect();
    let der = sylvan_proto::dav::decode_base64(&body).ok()?;
    let encrypted = pkcs8::EncryptedPrivateKeyInfoRef::try_from(der.as_slice()).ok()?;
    let Ok(document) = encrypted.decrypt(passphrase) else {
        return Some(None);
    };
    Some(PrivateKeyDer::try_from(document.as_bytes().to_vec()).ok())
}

#[cfg(not(feature = "pkcs12"))]
fn open_pkcs12(_: &[u8], _: &str) -> Opened {
    Opened::NoKeys
}

#[cfg(not(feature = "pkcs12"))]
fn open_encrypted_key(_: &[u8], _: &str) -> Option<Option<PrivateKeyDer<'static>>> {
    None
}
