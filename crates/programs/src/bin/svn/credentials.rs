//! Credentials: what was typed, and questions to the user.

use std::sync::Arc;

use sylvan_cmdline::prompt::{Asker, Echo};
use sylvan_core::Result;
use sylvan_io::Config;
use sylvan_ra::auth::{
    Auth, AuthOptions, CertFailures, CertInfo, ClientCert, ClientCertPassphrase, NoPrompt, Prompt,
    ServerTrust, Simple, Username,
};

use crate::invocation::{Invocation, TrustFailures};

/// What a call says about credentials, kept until a server asks.
pub(crate) struct Credentials {
    options: AuthOptions,
    asker: Asker,
}

impl Credentials {
    /// Collects what the call says.
    pub(crate) fn new(inv: &Invocation, password: Option<String>, asker: Asker) -> Self {
        let options = AuthOptions {
            username: inv.username.clone(),
            password,
            non_interactive: inv.non_interactive,
            no_auth_cache: inv.no_auth_cache,
            trust: failures(inv.trust),
            os_username: None,
        };
        Self { options, asker }
    }

    /// Makes what answers servers.
    pub(crate) fn auth(&self, config: &Arc<Config>) -> Auth {
        let options = AuthOptions {
            os_username: user_name(),
            ..self.options.clone()
        };
        let prompt: Box<dyn Prompt> = if options.non_interactive {
            Box::new(NoPrompt)
        } else {
            Box::new(Questions::new(self.asker.clone(), config))
        };
        Auth::new(options, Arc::clone(config), prompt)
    }
}

fn failures(trust: TrustFailures) -> CertFailures {
    [
        (trust.unknown_ca, CertFailures::UNKNOWN_CA),
        (trust.cn_mismatch, CertFailures::CN_MISMATCH),
        (trust.expired, CertFailures::EXPIRED),
        (trust.not_yet_valid, CertFailures::NOT_YET_VALID),
        (trust.other, CertFailures::OTHER),
    ]
    .into_iter()
    .filter(|(is_accepted, _)| *is_accepted)
    .fold(CertFailures::default(), |all, (_, one)| all.union(one))
}

/// Returns the name of the user who runs this program, from the system's list of users or else
/// from the environment.
fn user_name() -> Option<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let listed = std::fs::read_to_string("/etc/passwd")
        .ok()
        .and_then(|users| name_in_passwd(&users, &uid));
    listed.or_else(|| {
        ["LOGNAME", "USER"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
            .filter(|name| !name.is_empty())
    })
}

fn name_in_passwd(users: &str, uid: &str) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}

/// Asks the user at the terminal, in Subversion's words where programs wait for them.
struct Questions {
    asker: Asker,
    servers_file: String,
}

impl Questions {
    fn new(asker: Asker, config: &Config) -> Self {
        let servers_file = config
            .user_dir()
            .map(|dir| dir.join("servers").display().to_string())
            .unwrap_or_default();
        Self {
            asker,
            servers_file,
        }
    }

    fn tell_realm(&self, realm: &str) -> Result<()> {
        self.asker.tell(&format!("Authentication realm: {realm}\n"))
    }

    /// Asks whether a secret may be stored as it is.
    fn ask_plaintext(&self, secret: &Secret, realm: &str) -> Result<bool> {
        let rule = "-".repeat(71);
        self.asker.tell(&format!(
            "\n{rule}\nATTENTION!  Your {} for {}:\n\n   {realm}\n\n\
             can only be stored to disk unencrypted!  Whoever can read your files can\n\
             read it there.\n\n\
             This question is not asked again if the option '{}'\n\
             is set to 'yes' or 'no' in\n'{}'.\n{rule}\n",
            secret.name, secret.of, secret.option, self.servers_file,
        ))?;
        self.asker
            .ask_yes_no(&format!("Store {} unencrypted (yes/no)? ", secret.name))
    }
}

/// Something that may be stored.
struct Secret {
    name: &'static str,
    of: &'static str,
    option: &'static str,
}

impl Prompt for Questions {
    fn simple(
        &mut self,
        realm: &str,
        username: Option<&str>,
        may_save: bool,
    ) -> Result<Option<Simple>> {
        self.tell_realm(realm)?;
        let username = match username {
            Some(name) => name.to_owned(),
            None => self.asker.ask("Username: ", Echo::Shown)?,
        };
        let question = format!("Password for '{username}': ");
        let password = self.asker.ask(&question, Echo::Hidden)?;
        Ok(Some(Simple {
            username,
            password,
            may_save,
        }))
    }

    fn username(&mut self, realm: &str, may_save: bool) -> Result<Option<Username>> {
        self.tell_realm(realm)?;
        let username = self.asker.ask("Username: ", Echo::Shown)?;
        Ok(Some(Username { username, may_save }))
    }

    fn ssl_server_trust(
        &mut self,
        realm: &str,
        failures: CertFailures,
        cert: &CertInfo,
        may_save: bool,
    ) -> Result<Option<ServerTrust>> {
        let question = trust_question(realm, failures, cert, may_save);
        let answer = self.asker.ask(&question, Echo::Shown)?;
        let trust = |may_save| {
            Some(ServerTrust {
                accepted_failures: failures,
                may_save,
            })
        };
        Ok(match answer.chars().next() {
            Some('t' | 'T') => trust(false),
            Some('p' | 'P') if may_save => trust(true),
            _ => None,
        })
    }

    fn ssl_client_cert(&mut self, realm: &str, may_save: bool) -> Result<Option<ClientCert>> {
        self.tell_realm(realm)?;
        let typed = self
            .asker
            .ask("Client certificate filename: ", Echo::Shown)?;
        let file =
            std::path::absolute(&typed).map_or(typed, |file| file.to_string_lossy().into_owned());
        Ok(Some(ClientCert { file, may_save }))
    }

    fn ssl_client_cert_pw(
        &mut self,
        realm: &str,
        may_save: bool,
    ) -> Result<Option<ClientCertPassphrase>> {
        let question = format!("Passphrase for '{realm}': ");
        let passphrase = self.asker.ask(&question, Echo::Hidden)?;
        Ok(Some(ClientCertPassphrase {
            passphrase,
            may_save,
        }))
    }

    fn store_plaintext_password(&mut self, realm: &str) -> Result<bool> {
        let secret = Secret {
            name: "password",
            of: "authentication realm",
            option: "store-plaintext-passwords",
        };
        self.ask_plaintext(&secret, realm)
    }

    fn store_plaintext_passphrase(&mut self, realm: &str) -> Result<bool> {
        let secret = Secret {
            name: "passphrase",
            of: "client certificate",
            option: "store-ssl-client-cert-pp-plaintext",
        };
        self.ask_plaintext(&secret, realm)
    }
}

fn trust_question(realm: &str, failures: CertFailures, cert: &CertInfo, may_save: bool) -> String {
    let mut text = format!("Error validating server certificate for '{realm}':\n");
    for (failure, line) in [
        (
            CertFailures::UNKNOWN_CA,
            " - The certificate is not issued by a trusted authority. Use the\n   \
             fingerprint to validate the certificate manually!\n",
        ),
        (
            CertFailures::CN_MISMATCH,
            " - The certificate hostname does not match.\n",
        ),
        (
            CertFailures::NOT_YET_VALID,
            " - The certificate is not yet valid.\n",
        ),
        (CertFailures::EXPIRED, " - The certificate has expired.\n"),
        (
            CertFailures::OTHER,
            " - The certificate has an unknown error.\n",
        ),
    ] {
        if failures.contains(failure) {
            text.push_str(line);
        }
    }
    text.push_str(&format!(
        "Certificate information:\n - Hostname: {}\n - Valid: from {} until {}\n - Issuer: {}\n \
         - Fingerprint: {}\n",
        cert.hostname, cert.valid_from, cert.valid_until, cert.issuer, cert.fingerprint
    ));
    text.push_str(if may_save {
        "(R)eject, accept (t)emporarily or accept (p)ermanently? "
    } else {
        "(R)eject or accept (t)emporarily? "
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_names_come_from_the_list_of_users() {
        let users = "root:x:0:0::/root:/bin/sh\njo:x:1000:1000:Jo:/home/jo:/bin/sh\n";
        assert_eq!(name_in_passwd(users, "1000").unwrap(), "jo");
        assert_eq!(name_in_passwd(users, "100"), None);
    }

    #[test]
    fn trust_is_asked_for_in_subversions_words() {
        let cert = CertInfo {
            hostname: "h".to_owned(),
            fingerprint: "AB:CD".to_owned(),
            valid_from: "then".to_owned(),
            valid_until: "now".to_owned(),
            issuer: "me".to_owned(),
            ascii_cert: String::new(),
        };
        let failures = CertFailures::UNKNOWN_CA.union(CertFailures::EXPIRED);
        assert_eq!(
            trust_question("https://h:443", failures, &cert, true),
            "Error validating server certificate for 'https://h:443':\n \
             - The certificate is not issued by a trusted authority. Use the\n   \
             fingerprint to validate the certificate manually!\n \
             - The certificate has expired.\n\
             Certificate information:\n - Hostname: h\n - Valid: from then until now\n \
             - Issuer: me\n - Fingerprint: AB:CD\n\
             (R)eject, accept (t)emporarily or accept (p)ermanently? "
        );
        assert!(
            trust_question("r", failures, &cert, false)
                .ends_with("(R)eject or accept (t)emporarily? ")
        );
    }
}
