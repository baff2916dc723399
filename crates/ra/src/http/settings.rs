use std::time::Duration;

use sylvan_core::{Error, ErrorCode, Result, glob};
use sylvan_io::{Category, Config};

/// How contents are compressed on the way (`http-compression`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// As fits the network: little where it is fast.
    Auto,
    On,
    Off,
}

/// A proxy to go through.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
}

/// What the `servers` file says for one server.
pub(super) struct Settings {
    /// How long a server may be silent; `None` is for ever.
    pub(super) timeout: Option<Duration>,
    pub(super) compression: Compression,
    /// `http-bulk-updates`; `None` is for us to choose.
    pub(super) bulk_updates: Option<bool>,
    /// Connections used at once.
    pub(super) max_connections: usize,
    /// Whether bodies are sent in chunks. By default their length is known, which all servers and
    /// proxies understand.
    pub(super) chunked_requests: bool,
    pub(super) basic: bool,
    pub(super) digest: bool,
    pub(super) proxy: Option<Proxy>,
    pub(super) trust_default_ca: bool,
    /// Files with certificates that are trusted too.
    pub(super) authority_files: Vec<String>,
}

/// How many connections are ever used at once, whatever the configuration says.
const MOST_CONNECTIONS: i64 = 8;
const DEFAULT_CONNECTIONS: i64 = 4;
const DEFAULT_TIMEOUT: u64 = 600;

impl Settings {
    pub(super) fn for_host(config: &Config, host: &str) -> Result<Self> {
        let connections = config.server_i64(host, "http-max-connections", DEFAULT_CONNECTIONS)?;
        let (basic, digest) = auth_types(config.server_option(host, "http-auth-types"))?;
        Ok(Self {
            timeout: timeout(config.server_option(host, "http-timeout"))?,
            compression: match tristate(config, host, "http-compression")? {
                None => Compression::Auto,
                Some(true) => Compression::On,
                Some(false) => Compression::Off,
            },
            bulk_updates: tristate(config, host, "http-bulk-updates")?,
            max_connections: usize::try_from(connections.clamp(2, MOST_CONNECTIONS)).unwrap_or(2),
            chunked_requests: tristate(config, host, "http-chunked-requests")? == Some(true),
            basic,
            digest,
            proxy: proxy(config, host)?,
            trust_default_ca: config.server_bool(host, "ssl-trust-default-ca", true)?,
            authority_files: config
                .server_option(host, "ssl-authority-files")
                .map(|files| words(files, ';').map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }
}

/// Splits a list at `separator`.
fn words(list: &str, separator: char) -> impl Iterator<Item = &str> {
    list.split(separator)
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

fn tristate(config: &Config, host: &str, option: &str) -> Result<Option<bool>> {
    match config.server_option(host, option) {
        None => Ok(None),
        Some(value) if value.eq_ignore_ascii_case("auto") => Ok(None),
        Some(_) => config.server_bool(host, option, false).map(Some),
    }
}

fn timeout(value: Option<&str>) -> Result<Option<Duration>> {
    let seconds = match value {
        None => DEFAULT_TIMEOUT,
        Some(text) => text.trim().parse().map_err(|_| {
            Error::new(
                ErrorCode::BAD_CONFIG_VALUE,
                "invalid config: bad value for 'http-timeout' option",
            )
        })?,
    };
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

/// Reads `http-auth-types`: whether Basic and Digest may be used.
fn auth_types(value: Option<&str>) -> Result<(bool, bool)> {
    let Some(list) = value else {
        return Ok((true, true));
    };
    let (mut basic, mut digest) = (false, false);
    for word in words(list, ';') {
        match word.to_ascii_lowercase().as_str() {
            "basic" => basic = true,
            "digest" => digest = true,
            "ntlm" | "negotiate" => {}
            _ => {
                return Err(Error::new(
                    ErrorCode::BAD_CONFIG_VALUE,
                    format!("Invalid config: unknown http-auth-types '{word}'"),
                ));
            }
        }
    }
    Ok((basic, digest))
}

/// Finds the proxy: the server group's settings, else the global ones unless the host is one of
/// `http-proxy-exceptions`.
fn proxy(config: &Config, host: &str) -> Result<Option<Proxy>> {
    let global = |option: &str| config.get(Category::Servers, "global", option);
    let excepted = global("http-proxy-exceptions")
        .is_some_and(|list| words(list, ',').any(|pattern| glob::matches(pattern, host)));
    let group = config.server_group(host);
    let option = |option: &str| {
        group
            .and_then(|group| config.get(Category::Servers, group, option))
            .or_else(|| global(option).filter(|_| !excepted))
            .map(str::to_owned)
    };
    let Some(proxy_host) = option("http-proxy-host").filter(|host| !host.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(Proxy {
        host: proxy_host,
        port: proxy_port(option("http-proxy-port").as_deref())?,
        username: option("http-proxy-username"),
        password: option("http-proxy-password"),
    }))
}

fn proxy_port(text: Option<&str>) -> Result<u16> {
    let Some(text) = text else {
        return Ok(80);
    };
    let illegal =
        |message: &str| Error::new(ErrorCode::RA_ILLEGAL_URL, format!("Invalid URL: {message}"));
    let number: i64 = text
        .trim()
        .parse()
        .map_err(|_| illegal("illegal character in proxy port number"))?;
    if number < 0 {
        return Err(illegal("negative proxy port number"));
    }
    u16::try_from(number)
        .map_err(|_| illegal("proxy port number greater than maximum TCP port number 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: &[(&str, &str, &str)]) -> Config {
        let mut config = Config::default();
        for (section, option, value) in options {
            config.set(Category::Servers, section, option, value);
        }
        config
    }

    #[test]
    fn defaults_are_those_of_svn() {
        let settings = Settings::for_host(&Config::default(), "h").unwrap();
        assert_eq!(settings.timeout, Some(Duration::from_secs(600)));
        assert_eq!(settings.compression, Compression::Auto);
        assert_eq!(settings.bulk_updates, None);
        assert_eq!(settings.max_connections, 4);
        assert!(settings.basic && settings.digest && settings.trust_default_ca);
        assert!(settings.proxy.is_none());
    }

    #[test]
    fn groups_come_before_global_options() {
        let config = config(&[
            ("groups", "g", "*.example.org, other"),
            ("g", "http-timeout", "0"),
            ("g", "http-max-connections", "99"),
            ("g", "http-bulk-updates", "auto"),
            ("g", "ssl-authority-files", " /a ; /b;"),
            ("global", "http-bulk-updates", "yes"),
            ("global", "http-compression", "no"),
            ("global", "http-auth-types", "Digest; negotiate"),
            ("global", "http-max-connections", "1"),
        ]);
        let settings = Settings::for_host(&config, "x.example.org").unwrap();
        assert_eq!(settings.timeout, None);
        assert_eq!(settings.max_connections, 8);
        assert_eq!(settings.bulk_updates, None);
        assert_eq!(settings.compression, Compression::Off);
        assert_eq!(settings.authority_files, ["/a", "/b"]);
        assert!(!settings.basic && settings.digest);
        let settings = Settings::for_host(&config, "elsewhere").unwrap();
        assert_eq!(settings.max_connections, 2);
        assert_eq!(settings.bulk_updates, Some(true));
    }

    #[test]
    fn proxies_have_exceptions() {
        let config = config(&[
            ("groups", "g", "special.org"),
            ("g", "http-proxy-port", "81"),
            ("g", "http-proxy-host", "p2"),
            ("global", "http-proxy-host", "p1"),
            ("global", "http-proxy-port", "8080"),
            ("global", "http-proxy-username", "jo"),
            ("global", "http-proxy-exceptions", "*.local, *special.org"),
        ]);
        let proxy = |host: &str| {
            Settings::for_host(&config, host)
                .unwrap()
                .proxy
                .map(|proxy| (proxy.host, proxy.port, proxy.username))
        };
        assert_eq!(
            proxy("a.org"),
            Some(("p1".to_owned(), 8080, Some("jo".to_owned())))
        );
        assert_eq!(proxy("a.local"), None);
        assert_eq!(proxy("special.org"), Some(("p2".to_owned(), 81, None)));
    }

    #[test]
    fn wrong_values_have_svns_errors() {
        for (option, value, code, text) in [
            ("http-timeout", "x", 125_009, "bad value for 'http-timeout'"),
            (
                "http-auth-types",
                "basic;foo",
                125_009,
                "unknown http-auth-types 'foo'",
            ),
            (
                "http-proxy-port",
                "8o",
                170_000,
                "illegal character in proxy port number",
            ),
            (
                "http-proxy-port",
                "-1",
                170_000,
                "negative proxy port number",
            ),
            ("http-proxy-port", "65536", 170_000, "greater than maximum"),
            ("http-compression", "maybe", 125_009, "maybe"),
        ] {
            let config = config(&[
                ("global", "http-proxy-host", "p"),
                ("global", option, value),
            ]);
            let error = Settings::for_host(&config, "h").err().unwrap();
            assert_eq!(error.code(), ErrorCode(code), "{option}");
            assert!(error.message().contains(text), "{error}");
        }
    }
}
