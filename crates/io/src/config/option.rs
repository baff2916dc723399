//! The argument of `--config-option`.

use sylvan_core::{Error, ErrorCode, Result};

use super::Category;

/// A change of the configuration from the command line: `FILE:SECTION:OPTION=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    /// The name of the file: `servers` or `config`.
    pub file: String,
    /// The section.
    pub section: String,
    /// The option.
    pub option: String,
    /// Its new value.
    pub value: String,
}

const FILES: [&str; 2] = ["servers", "config"];

const SECTIONS: [&str; 8] = [
    "groups",
    "global",
    "auth",
    "helpers",
    "miscellany",
    "tunnels",
    "auto-props",
    "working-copy",
];

/// Sections whose options have names that users choose.
const FREE_SECTIONS: [&str; 3] = ["groups", "tunnels", "auto-props"];

const OPTIONS: &[&str] = &[
    "http-proxy-host",
    "http-proxy-port",
    "http-proxy-username",
    "http-proxy-password",
    "http-proxy-exceptions",
    "http-timeout",
    "http-compression",
    "neon-debug-mask",
    "http-auth-types",
    "ssl-authority-files",
    "ssl-trust-default-ca",
    "ssl-client-cert-file",
    "ssl-client-cert-password",
    "ssl-pkcs11-provider",
    "http-library",
    "store-passwords",
    "store-plaintext-passwords",
    "store-auth-creds",
    "store-ssl-client-cert-pp",
    "store-ssl-client-cert-pp-plaintext",
    "username",
    "http-bulk-updates",
    "http-max-connections",
    "http-chunked-requests",
    "serf-log-components",
    "serf-log-level",
    "password-stores",
    "kwallet-wallet",
    "kwallet-svn-application-name-with-pid",
    "ssl-client-cert-file-prompt",
    "editor-cmd",
    "diff-cmd",
    "diff-extensions",
    "diff3-cmd",
    "diff3-has-program-arg",
    "merge-tool-cmd",
    "global-ignores",
    "log-encoding",
    "use-commit-times",
    "template-root",
    "enable-auto-props",
    "enable-magic-file",
    "no-unlock",
    "mime-types-file",
    "preserved-conflict-file-exts",
    "interactive-conflicts",
    "memory-cache-size",
    "diff-ignore-content-type",
    "exclusive-locking",
    "exclusive-locking-clients",
    "busy-timeout",
    // Ours.
    "workers",
    "svn-compression",
    "svn-timeout",
];

impl ConfigOption {
    /// Reads `FILE:SECTION:OPTION=VALUE`. With it comes a warning where a name is not known.
    ///
    /// # Errors
    /// [`ErrorCode::CL_ARG_PARSING_ERROR`] if the text has another form.
    pub fn parse(argument: &str) -> Result<(Self, Option<Error>)> {
        let split = || {
            let (file, rest) = argument.split_once(':')?;
            let (section, rest) = rest.split_once(':')?;
            let (option, value) = rest.split_once('=')?;
            let is_whole = ![file, section, option].contains(&"") && !option.contains(':');
            is_whole.then(|| Self {
                file: file.to_owned(),
                section: section.to_owned(),
                option: option.to_owned(),
                value: value.to_owned(),
            })
        };
        let option = split().ok_or_else(|| {
            Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                "Invalid syntax of argument of --config-option",
            )
        })?;
        let warning = option.unknown_name();
        Ok((option, warning))
    }

    /// Returns the file that is meant, if it is one.
    pub fn category(&self) -> Option<Category> {
        match self.file.as_str() {
            "servers" => Some(Category::Servers),
            "config" => Some(Category::Config),
            _ => None,
        }
    }

    /// Warns of the first name that is not known.
    fn unknown_name(&self) -> Option<Error> {
        check(&self.file, &FILES)
            .or_else(|| check(&self.section, &SECTIONS))
            .or_else(|| {
                if FREE_SECTIONS.contains(&self.section.as_str()) {
                    None
                } else {
                    check(&self.option, OPTIONS)
                }
            })
    }
}

pub(super) fn unknown_file(argument: &str) -> Error {
    Error::new(
        ErrorCode::CL_ARG_PARSING_ERROR,
        format!("Unrecognized file in argument of {argument}"),
    )
}

fn check(name: &str, known: &[&str]) -> Option<Error> {
    if known.contains(&name) {
        return None;
    }
    let mut closest = None;
    let mut best = 0;
    for candidate in known {
        let score = sylvan_core::text::similarity(name, candidate);
        if score >= 666_667 && score > best {
            (closest, best) = (Some(candidate), score);
        }
    }
    let hint = closest.map_or_else(String::new, |closest| {
        format!("; did you mean '{closest}'?")
    });
    Some(Error::new(
        ErrorCode::CL_ARG_PARSING_ERROR,
        format!("Ignoring unknown value '{name}'{hint}"),
    ))
}
