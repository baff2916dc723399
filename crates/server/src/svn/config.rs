//! What `svnserve.conf` says.

use std::path::{Path, PathBuf};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_io::config::ConfigFile;
use sylvan_repos::Repos;
use sylvan_repos::authz::{Authz, AuthzCache, AuthzSource, AuthzWarnings};

const GENERAL: &str = "general";
const SASL: &str = "sasl";

/// A configuration for all repositories.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    file: ConfigFile,
    /// The folder that relative paths are below.
    base: PathBuf,
}

impl ServerConfig {
    /// Reads a file, which must exist.
    ///
    /// # Errors
    /// Those of [`ConfigFile::read`]; `BAD_FILENAME` if there is none.
    pub fn read(path: &Path) -> Result<Self> {
        let file = ConfigFile::read(path)?.ok_or_else(|| missing(path))?;
        Ok(Self {
            file,
            base: path.parent().unwrap_or(Path::new("/")).to_owned(),
        })
    }

    /// Reads the file of a repository, which may have none.
    pub(crate) fn of_repository(repos: &Repos) -> Result<Self> {
        let base = repos.conf_path();
        let file = ConfigFile::read(&base.join("svnserve.conf"))?.unwrap_or_default();
        Ok(Self { file, base })
    }
}

fn missing(path: &Path) -> Error {
    let text = format!("Can't find config file '{}'", path.display());
    Error::new(ErrorCode::BAD_FILENAME, text)
}

/// What somebody may do with a repository as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Nothing,
    Read,
    Write,
}

/// How names of users are spelled before access rules see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NameCase {
    #[default]
    AsIs,
    Upper,
    Lower,
}

impl NameCase {
    pub(crate) fn apply(self, name: &str) -> String {
        match self {
            Self::AsIs => name.to_owned(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Lower => name.to_ascii_lowercase(),
        }
    }
}

/// What a configuration means for one repository.
#[derive(Debug)]
pub(crate) struct Settings {
    /// For whom is not authenticated.
    pub(crate) anonymous: Level,
    /// For whom is.
    pub(crate) authenticated: Level,
    pub(crate) passwords: Option<ConfigFile>,
    pub(crate) realm: Option<String>,
    pub(crate) authz: Option<Authz>,
    pub(crate) name_case: NameCase,
    pub(crate) hooks_env: Option<PathBuf>,
    /// Whether mechanisms are offered that send passwords.
    pub(crate) use_sasl: bool,
}

impl Settings {
    /// Reads what files the configuration names.
    ///
    /// # Errors
    /// `AUTHN_FAILED` and `AUTHZ_INVALID_CONFIG` around what is wrong with these files, which is
    /// for the administrator only.
    pub(crate) fn read(
        config: &ServerConfig,
        repos: &Repos,
        read_only: bool,
        rules: &AuthzCache,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Self> {
        let get = |option| config.file.get(GENERAL, option);
        let level = |option, default| match get(option).unwrap_or(default) {
            "write" if read_only => Level::Read,
            "write" => Level::Write,
            "read" => Level::Read,
            _ => Level::Nothing,
        };
        let authz = read_authz(config, repos, rules, warn)
            .map_err(|error| error.wrap_code(ErrorCode::AUTHZ_INVALID_CONFIG))?;
        Ok(Self {
            anonymous: level("anon-access", "read"),
            authenticated: level("auth-access", "write"),
            passwords: read_passwords(config)?,
            realm: get("realm").map(str::to_owned),
            name_case: match get("force-username-case") {
                Some("upper") if authz.is_some() => NameCase::Upper,
                Some("lower") if authz.is_some() => NameCase::Lower,
                _ => NameCase::AsIs,
            },
            authz,
            hooks_env: get("hooks-env").map(PathBuf::from),
            use_sasl: config.file.get_bool(SASL, "use-sasl", false)?,
        })
    }
}

/// Reads the passwords. That the file is not there or not for us is no error: there are other ways
/// to authenticate.
fn read_passwords(config: &ServerConfig) -> Result<Option<ConfigFile>> {
    let Some(path) = config.file.get(GENERAL, "password-db") else {
        return Ok(None);
    };
    match ConfigFile::read(&config.base.join(path)) {
        Ok(found) => Ok(found),
        Err(error) if error.code() == eacces() => Ok(None),
        Err(error) => Err(error.wrap_code(ErrorCode::AUTHN_FAILED)),
    }
}

fn eacces() -> ErrorCode {
    ErrorCode::from_errno(rustix::io::Errno::ACCESS.raw_os_error())
}

fn read_authz(
    config: &ServerConfig,
    repos: &Repos,
    cache: &AuthzCache,
    warn: &mut AuthzWarnings<'_>,
) -> Result<Option<Authz>> {
    let source = |option| {
        let named = config.file.get(GENERAL, option);
        named
            .map(|named| source_of(named, config, repos))
            .transpose()
    };
    let Some(rules) = source("authz-db")? else {
        return Ok(None);
    };
    let groups = source("groups-db")?;
    let authz = cache.read(&rules, groups.as_ref(), Some(repos), warn)?;
    Ok(Some(authz))
}

/// Finds out what a name of a file stands for: a URL, a path in the repository (`^/…`), or a file.
fn source_of(named: &str, config: &ServerConfig, repos: &Repos) -> Result<AuthzSource> {
    if Url::is_url(named) {
        return Ok(AuthzSource::Url(Url::parse(named)?));
    }
    if let Some(below) = named.strip_prefix("^/") {
        let root = repos.path().to_string_lossy();
        let root = sylvan_core::path::uri_encode(&root);
        let url = format!("file://{root}/{}", below.trim_start_matches('/'));
        return Ok(AuthzSource::Url(Url::parse(&url)?));
    }
    Ok(AuthzSource::File(config.base.join(named)))
}
