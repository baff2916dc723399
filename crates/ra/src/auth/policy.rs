use sylvan_core::Result;
use sylvan_io::{Category, Config};

use super::AuthOptions;

/// A setting with three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YesNoAsk {
    Yes,
    No,
    Ask,
}

/// What the configuration says about credentials for one server.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) store_creds: bool,
    pub(super) store_passwords: bool,
    pub(super) store_plaintext_passwords: YesNoAsk,
    pub(super) store_passphrases: bool,
    pub(super) store_plaintext_passphrases: YesNoAsk,
    pub(super) username: Option<String>,
    pub(super) client_cert_file: Option<String>,
    pub(super) client_cert_passphrase: Option<String>,
    pub(super) client_cert_prompt: bool,
}

impl Policy {
    /// Reads the settings: those of the server's group, else the global ones, else those in the
    /// section `auth` of the file `config`, where old versions had them.
    pub(super) fn for_host(config: &Config, host: &str, options: &AuthOptions) -> Result<Self> {
        let text = |name: &str| config.server_option(host, name).map(str::to_owned);
        let flag = |name: &str| -> Result<bool> {
            let old = config.get_bool(Category::Config, "auth", name, true)?;
            config.server_bool(host, name, old)
        };
        let ask = |name: &str| -> Result<YesNoAsk> {
            match config.server_option(host, name) {
                None => Ok(YesNoAsk::Ask),
                Some(value) if value.eq_ignore_ascii_case("ask") => Ok(YesNoAsk::Ask),
                Some(_) => config
                    .server_bool(host, name, false)
                    .map(|yes| if yes { YesNoAsk::Yes } else { YesNoAsk::No }),
            }
        };
        Ok(Self {
            store_creds: !options.no_auth_cache && flag("store-auth-creds")?,
            store_passwords: flag("store-passwords")?,
            store_plaintext_passwords: ask("store-plaintext-passwords")?,
            store_passphrases: flag("store-ssl-client-cert-pp")?,
            store_plaintext_passphrases: ask("store-ssl-client-cert-pp-plaintext")?,
            username: text("username"),
            client_cert_file: text("ssl-client-cert-file"),
            client_cert_passphrase: text("ssl-client-cert-password"),
            client_cert_prompt: config.get_bool(
                Category::Config,
                "auth",
                "ssl-client-cert-file-prompt",
                false,
            )?,
        })
    }
}
