use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sylvan_core::Props;
use sylvan_io::auth_store::CredentialKind;
use sylvan_io::{Category, Config};

use super::*;

const REALM: &str = "<svn://h:3690> realm";

/// A store in memory that the test can look into.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<(&'static str, String), Props>>>);

impl Kept {
    fn with(kind: CredentialKind, values: &[(&str, &str)]) -> Self {
        let kept = Self::default();
        let values = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
            .collect();
        kept.clone().write(kind, REALM, &values).unwrap();
        kept
    }

    fn text(&self, kind: CredentialKind, key: &str) -> Option<String> {
        let values = self.read(kind, REALM)?;
        Some(String::from_utf8(values.get(key)?.clone()).unwrap())
    }
}

impl Store for Kept {
    fn read(&self, kind: CredentialKind, realm: &str) -> Option<Props> {
        let kept = self.0.lock().unwrap();
        kept.get(&(kind.as_str(), realm.to_owned())).cloned()
    }

    fn write(&mut self, kind: CredentialKind, realm: &str, values: &Props) -> Result<()> {
        let mut kept = self.0.lock().unwrap();
        kept.insert((kind.as_str(), realm.to_owned()), values.clone());
        Ok(())
    }
}

/// Answers `prompt-1`, `prompt-2`, …, and counts.
#[derive(Clone, Default)]
struct Answers {
    asked: Arc<Mutex<Vec<String>>>,
    plaintext: bool,
}

impl Answers {
    fn ask(&self, what: String) -> usize {
        let mut asked = self.asked.lock().unwrap();
        asked.push(what);
        asked.len()
    }
}

impl Prompt for Answers {
    fn simple(
        &mut self,
        _: &str,
        username: Option<&str>,
        may_save: bool,
    ) -> Result<Option<Simple>> {
        let count = self.ask(format!("simple {username:?} {may_save}"));
        Ok(Some(Simple {
            username: username.unwrap_or("typed").to_owned(),
            password: format!("prompt-{count}"),
            may_save,
        }))
    }

    fn username(&mut self, _: &str, may_save: bool) -> Result<Option<Username>> {
        self.ask("username".to_owned());
        Ok(Some(Username {
            username: "typed".to_owned(),
            may_save,
        }))
    }

    fn ssl_server_trust(
        &mut self,
        _: &str,
        failures: CertFailures,
        _: &CertInfo,
        may_save: bool,
    ) -> Result<Option<ServerTrust>> {
        self.ask(format!("trust {} {may_save}", failures.0));
        Ok(Some(ServerTrust {
            accepted_failures: failures,
            may_save,
        }))
    }

    fn ssl_client_cert(&mut self, _: &str, may_save: bool) -> Result<Option<ClientCert>> {
        self.ask("cert".to_owned());
        Ok(Some(ClientCert {
            file: "typed.p12".to_owned(),
            may_save,
        }))
    }

    fn ssl_client_cert_pw(
        &mut self,
        _: &str,
        may_save: bool,
    ) -> Result<Option<ClientCertPassphrase>> {
        self.ask("passphrase".to_owned());
        Ok(Some(ClientCertPassphrase {
            passphrase: "typed".to_owned(),
            may_save,
        }))
    }

    fn store_plaintext_password(&mut self, _: &str) -> Result<bool> {
        self.ask("plaintext".to_owned());
        Ok(self.plaintext)
    }

    fn store_plaintext_passphrase(&mut self, _: &str) -> Result<bool> {
        self.ask("plaintext passphrase".to_owned());
        Ok(self.plaintext)
    }
}

struct Bench {
    auth: Auth,
    kept: Kept,
    answers: Answers,
}

fn bench(options: AuthOptions, settings: &[(&str, &str)], kept: Kept, plaintext: bool) -> Bench {
    let mut config = Config::default();
    for (name, value) in settings {
        config.set(Category::Servers, "global", name, value);
    }
    let answers = Answers {
        plaintext,
        ..Answers::default()
    };
    let auth = Auth::with_store(
        options,
        Arc::new(config),
        Box::new(kept.clone()),
        Box::new(answers.clone()),
    );
    Bench {
        auth,
        kept,
        answers,
    }
}

fn options(username: Option<&str>, password: Option<&str>) -> AuthOptions {
    AuthOptions {
        username: username.map(str::to_owned),
        password: password.map(str::to_owned),
        os_username: Some("os".to_owned()),
        ..AuthOptions::default()
    }
}

/// All attempts that all fail, as `name/password`.
fn all(auth: &mut Auth) -> Vec<String> {
    let mut attempts = auth.simple_credentials(REALM, "h").unwrap();
    let mut tried = Vec::new();
    while let Some(credentials) = attempts.next(auth).unwrap() {
        tried.push(format!("{}/{}", credentials.username, credentials.password));
    }
    tried
}

#[test]
fn attempts_come_in_order() {
    let stored = || {
        Kept::with(
            CredentialKind::Simple,
            &[
                ("username", "jo"),
                ("password", "pw"),
                ("passtype", "simple"),
            ],
        )
    };
    let ringed = || {
        Kept::with(
            CredentialKind::Simple,
            &[("username", "jo"), ("passtype", "gnome-keyring")],
        )
    };
    let quiet = |mut options: AuthOptions| {
        options.non_interactive = true;
        options
    };
    for (given, kept, tried) in [
        (quiet(options(None, None)), Kept::default(), vec![]),
        (quiet(options(None, None)), stored(), vec!["jo/pw"]),
        (quiet(options(Some("jo"), None)), stored(), vec!["jo/pw"]),
        (quiet(options(Some("al"), None)), stored(), vec![]),
        (quiet(options(None, Some("x"))), stored(), vec!["jo/x"]),
        (
            quiet(options(None, Some("x"))),
            Kept::default(),
            vec!["os/x"],
        ),
        (
            quiet(options(Some("al"), Some("x"))),
            stored(),
            vec!["al/x"],
        ),
        (quiet(options(None, None)), ringed(), vec![]),
        (
            options(None, None),
            Kept::default(),
            vec!["os/prompt-1", "typed/prompt-2", "typed/prompt-3"],
        ),
        (
            options(None, None),
            stored(),
            vec!["jo/pw", "jo/prompt-1", "typed/prompt-2", "typed/prompt-3"],
        ),
        (
            options(Some("al"), Some("x")),
            Kept::default(),
            vec!["al/x", "al/x", "typed/prompt-1", "typed/prompt-2"],
        ),
        (
            options(None, None),
            ringed(),
            vec!["jo/prompt-1", "typed/prompt-2", "typed/prompt-3"],
        ),
    ] {
        let mut bench = bench(given, &[], kept, false);
        assert_eq!(all(&mut bench.auth), tried);
        // What failed is not taken for known.
        assert_eq!(all(&mut bench.auth).len(), tried.len());
    }
    let named = [("username", "srv")];
    let mut bench = bench(
        quiet(options(None, Some("x"))),
        &named,
        Kept::default(),
        false,
    );
    assert_eq!(all(&mut bench.auth), ["srv/x"]);
}

/// Accepts the first attempt and says what is kept then.
fn save(bench: &mut Bench) -> Option<(Option<String>, Option<String>)> {
    let mut attempts = bench.auth.simple_credentials(REALM, "h").unwrap();
    attempts.next(&mut bench.auth).unwrap()?;
    attempts.save(&mut bench.auth).unwrap();
    Some((
        bench.kept.text(CredentialKind::Simple, "username"),
        bench.kept.text(CredentialKind::Simple, "password"),
    ))
}

#[test]
fn what_worked_is_kept_as_far_as_allowed() {
    let yes = ("store-plaintext-passwords", "yes");
    let name = Some("os".to_owned());
    let password = Some("prompt-1".to_owned());
    for (settings, plaintext, kept) in [
        (&[][..], true, (name.clone(), password.clone())),
        (&[], false, (name.clone(), None)),
        (&[yes], false, (name.clone(), password)),
        (&[yes, ("store-passwords", "no")], false, (name, None)),
        (&[yes, ("store-auth-creds", "no")], false, (None, None)),
    ] {
        let mut bench = bench(options(None, None), settings, Kept::default(), plaintext);
        assert_eq!(save(&mut bench), Some(kept), "{settings:?} {plaintext}");
        // The next session is not asked for anything, and nothing is stored twice.
        let asked = bench.answers.asked.lock().unwrap().len();
        bench.kept.0.lock().unwrap().clear();
        assert_eq!(save(&mut bench), Some((None, None)));
        assert_eq!(bench.answers.asked.lock().unwrap().len(), asked);
    }
    let mut no_cache = options(None, None);
    no_cache.no_auth_cache = true;
    let mut bench = bench(no_cache, &[yes], Kept::default(), true);
    assert_eq!(save(&mut bench), Some((None, None)));
    let asked = bench.answers.asked.lock().unwrap().clone();
    assert_eq!(asked, ["simple Some(\"os\") false"]);
}

#[test]
fn batch_runs_store_no_plaintext_unless_told() {
    let mut quiet = options(Some("al"), Some("x"));
    quiet.non_interactive = true;
    let mut asking = bench(quiet.clone(), &[], Kept::default(), true);
    assert_eq!(save(&mut asking), Some((Some("al".to_owned()), None)));
    let yes = [("store-plaintext-passwords", "yes")];
    let mut told = bench(quiet, &yes, Kept::default(), false);
    let kept = (Some("al".to_owned()), Some("x".to_owned()));
    assert_eq!(save(&mut told), Some(kept));
    assert!(told.answers.asked.lock().unwrap().is_empty());
}

#[test]
fn a_bad_setting_is_told() {
    let bad = [("store-plaintext-passwords", "perhaps")];
    let bench = bench(options(None, None), &bad, Kept::default(), false);
    let error = bench.auth.simple_credentials(REALM, "h").err().unwrap();
    assert_eq!(error.code(), sylvan_core::ErrorCode::BAD_CONFIG_VALUE);
}

fn trust(bench: &mut Bench, failures: CertFailures) -> Option<ServerTrust> {
    let cert = CertInfo {
        ascii_cert: "CERT".to_owned(),
        ..CertInfo::default()
    };
    let mut attempts = bench.auth.server_trust(REALM, "h", failures, cert).unwrap();
    let trust = attempts.next(&mut bench.auth).unwrap()?;
    attempts.save(&mut bench.auth).unwrap();
    Some(trust)
}

#[test]
fn certificates_are_trusted_once_or_for_good() {
    let unknown = CertFailures::UNKNOWN_CA;
    let two = unknown.union(CertFailures::CN_MISMATCH);
    let kept = |cert: &str| {
        Kept::with(
            CredentialKind::SslServer,
            &[("ascii_cert", cert), ("failures", "12")],
        )
    };
    for (kept, failures, asked) in [
        (kept("CERT"), two, 0),
        (kept("CERT"), unknown, 0),
        (kept("CERT"), two.union(CertFailures::EXPIRED), 1),
        (kept("OTHER"), two, 1),
        (Kept::default(), two, 1),
    ] {
        let mut bench = bench(options(None, None), &[], kept, false);
        assert!(trust(&mut bench, failures).is_some());
        assert_eq!(bench.answers.asked.lock().unwrap().len(), asked);
        let kept = bench.kept.text(CredentialKind::SslServer, "failures");
        let expected = if asked == 0 { 12 } else { failures.0 };
        assert_eq!(kept, Some(expected.to_string()));
    }
    let mut bench = bench(options(None, None), &[], Kept::default(), false);
    trust(&mut bench, CertFailures::OTHER);
    assert_eq!(
        *bench.answers.asked.lock().unwrap(),
        ["trust 1073741824 false"]
    );
    assert_eq!(bench.kept.text(CredentialKind::SslServer, "failures"), None);
}

#[test]
fn batch_runs_trust_what_the_options_say() {
    let mut quiet = options(None, None);
    quiet.non_interactive = true;
    quiet.trust = CertFailures::UNKNOWN_CA.union(CertFailures::EXPIRED);
    for (failures, trusted) in [
        (CertFailures::UNKNOWN_CA, true),
        (CertFailures::CN_MISMATCH, false),
        (CertFailures::UNKNOWN_CA.union(CertFailures::OTHER), false),
    ] {
        let mut bench = bench(quiet.clone(), &[], Kept::default(), false);
        assert_eq!(trust(&mut bench, failures).is_some(), trusted);
    }
}

#[test]
fn client_certificates_come_from_the_servers_file() {
    let settings = [
        ("ssl-client-cert-file", "/c.pem"),
        ("ssl-client-cert-password", "sesam"),
    ];
    let mut named = bench(options(None, None), &settings, Kept::default(), false);
    let auth = &mut named.auth;
    let mut attempts = auth.client_cert(REALM, "h").unwrap();
    assert_eq!(attempts.next(auth).unwrap().unwrap().file, "/c.pem");
    assert_eq!(attempts.next(auth).unwrap(), None);
    let mut attempts = auth.client_cert_passphrase("/c.pem", "h").unwrap();
    let first = attempts.next(auth).unwrap().unwrap();
    assert_eq!(first.passphrase, "sesam");
    assert_eq!(attempts.next(auth).unwrap().unwrap().passphrase, "typed");
}
