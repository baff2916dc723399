//! The session of a client: who it is, and what it looks at.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use sylvan_core::path::uri_encode;
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum, Timestamp};
use sylvan_delta::svndiff::Version;
use sylvan_fs::{FileSystem, Root};
use sylvan_proto::svn::ProtocolError;
use sylvan_proto::svn::answer::{self, Hello};
use sylvan_proto::svn::auth::{Challenge, read_plain};
use sylvan_proto::svn::item::Item;
use sylvan_repos::Repos;
use sylvan_repos::authz::Rights;

use super::Serving;
use super::access::Rules;
use super::config::Level;
use super::connection::Connection;
use super::log::About;
use super::log_lines;
use super::repository::Repository;

/// See the module.
pub(crate) struct Session {
    pub(crate) serving: Arc<Serving>,
    pub(crate) repository: Repository,
    /// The client's address.
    pub(crate) host: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) rules: Rules,
    /// Whether the client can take merged revisions, for hooks.
    pub(crate) knows_mergeinfo: bool,
    /// How contents are sent.
    pub(crate) version: Version,
}

/// How an attempt to authenticate went.
enum Attempt {
    Done,
    Declined,
    Failed,
}

impl Session {
    /// Begins one by what the client said first: finds the repository, authenticates the client,
    /// tells it where it is. What goes wrong is told to the client.
    ///
    /// # Errors
    /// Why the client is not let in.
    pub(crate) fn open(
        connection: &mut Connection,
        serving: &Arc<Serving>,
        host: Option<&str>,
        hello: &Hello,
    ) -> Result<Self> {
        let session = Self::enter(connection, serving, host, hello);
        let session = match session {
            Ok(session) => session,
            Err(error) => {
                if connection.broken().is_none() {
                    answer::write_failure(connection.out(), &error);
                    connection.flush()?;
                }
                return Err(connection.fail(error));
            }
        };
        let repository = &session.repository;
        answer::write_repository(
            connection.out(),
            repository.repos.fs().uuid(),
            repository.root.as_str(),
            repository.repos.capabilities(),
        );
        connection.flush()?;
        let shown = |text: &Option<String>| match text.as_deref() {
            None | Some("") => "-".to_owned(),
            Some(text) => uri_encode(text),
        };
        session.log(&format!(
            "open 2 cap=({}) {} {} {}",
            hello.capabilities.join(" "),
            log_lines::path(&repository.path),
            shown(&hello.agent),
            shown(&hello.program),
        ));
        Ok(session)
    }

    fn enter(
        connection: &mut Connection,
        serving: &Arc<Serving>,
        host: Option<&str>,
        hello: &Hello,
    ) -> Result<Self> {
        let now = serving.clock;
        let about = About {
            host,
            ..About::default()
        };
        let logger = serving.logger.as_ref();
        let repository = Repository::find(
            &hello.url,
            serving,
            &mut |warning| {
                if let Some(logger) = logger {
                    logger.warning(now(), about, warning);
                }
            },
            &mut |error, name| {
                if let Some(logger) = logger {
                    let about = About {
                        repository: Some(name),
                        ..about
                    };
                    logger.error(now(), about, error);
                }
            },
        )?;
        let version = match serving.compression {
            0 => Version::V0,
            _ if hello.can("accepts-svndiff2") => Version::V2,
            _ if hello.can("svndiff1") => Version::V1,
            _ => Version::V0,
        };
        let mut session = Self {
            serving: Arc::clone(serving),
            repository,
            host: host.map(str::to_owned),
            user: None,
            rules: Rules::default(),
            knows_mergeinfo: hello.can("mergeinfo"),
            version,
        };
        session.learn_rules();
        let settings = &session.repository.settings;
        let can_authenticate = settings.authenticated > Level::Nothing
            && (session.tunnel_user().is_some() || settings.passwords.is_some());
        if settings.anonymous == Level::Nothing && !can_authenticate {
            return Err(session.refused(Some("No access allowed to this repository")));
        }
        session.authenticate(connection, Level::Read, false)?;
        if !session.may_enter() {
            return Err(session.refused(Some("Not authorized for access")));
        }
        Ok(session)
    }

    /// Makes and logs the error of who may not do something.
    pub(crate) fn refused(&self, text: Option<&str>) -> Error {
        let code = ErrorCode::RA_NOT_AUTHORIZED;
        let error = match text {
            Some(text) => Error::new(code, text),
            None => Error::from_code(code),
        };
        self.log_error(&error);
        error
    }

    fn about(&self) -> About<'_> {
        About {
            host: self.host.as_deref(),
            user: self.user.as_deref(),
            repository: Some(&self.repository.log_name),
        }
    }

    /// Writes a line into the log.
    pub(crate) fn log(&self, text: &str) {
        if let Some(logger) = &self.serving.logger {
            logger.operation(self.now(), self.about(), text);
        }
    }

    /// Writes an error into the log.
    pub(crate) fn log_error(&self, error: &Error) {
        if let Some(logger) = &self.serving.logger {
            logger.error(self.now(), self.about(), error);
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.serving.clock)()
    }

    pub(crate) const fn repos(&self) -> &Repos {
        &self.repository.repos
    }

    pub(crate) fn fs(&self) -> &FileSystem {
        self.repository.repos.fs()
    }

    /// Returns the full path of one below the session's.
    pub(crate) fn full(&self, path: &RelPath) -> RelPathBuf {
        self.repository.path.join(path)
    }

    /// Returns a revision, or the youngest.
    pub(crate) fn rev(&self, rev: Option<Revnum>) -> Result<Revnum> {
        rev.map_or_else(|| self.fs().youngest(), Ok)
    }

    pub(crate) fn root(&self, rev: Revnum) -> Result<Root> {
        self.fs().revision_root(rev)
    }

    fn tunnel_user(&self) -> Option<&str> {
        self.serving.tunnel.as_ref()?.as_deref()
    }

    /// Makes sure that the client may do something, if it can by authenticating, and tells it that
    /// it need not or how it can.
    ///
    /// # Errors
    /// `RA_NOT_AUTHORIZED`, and those of the connection.
    pub(crate) fn require(
        &mut self,
        connection: &mut Connection,
        rights: Rights,
        path: Option<&RelPath>,
        needs_name: bool,
    ) -> Result<()> {
        if self.allows(rights, path, needs_name) {
            connection.no_auth();
            return Ok(());
        }
        let level = if rights.has(Rights::WRITE) {
            Level::Write
        } else {
            Level::Read
        };
        let settings = &self.repository.settings;
        let can = settings.authenticated >= level
            && (self.tunnel_user().is_some() || settings.passwords.is_some());
        if self.user.is_none() && can {
            // Who is known already is asked about again under another name.
            self.authenticate(connection, level, true)?;
        }
        if self.allows(rights, path, needs_name) {
            return Ok(());
        }
        Err(self.refused(None))
    }

    /// Asks the client to authenticate for a level. It may decline.
    fn authenticate(
        &mut self,
        connection: &mut Connection,
        level: Level,
        needs_name: bool,
    ) -> Result<()> {
        let settings = &self.repository.settings;
        let mut mechanisms = Vec::new();
        if !needs_name && settings.anonymous >= level {
            mechanisms.push("ANONYMOUS");
        }
        if settings.authenticated >= level {
            if self.tunnel_user().is_some() {
                mechanisms.push("EXTERNAL");
            }
            if settings.passwords.is_some() {
                mechanisms.push("CRAM-MD5");
                if settings.use_sasl {
                    mechanisms.push("PLAIN");
                }
            }
        }
        let uuid = self.fs().uuid();
        let realm = settings.realm.as_deref().unwrap_or(uuid);
        answer::write_auth_request(connection.out(), &mechanisms, realm);
        connection.flush()?;
        if mechanisms.is_empty() {
            return Ok(());
        }
        loop {
            let (name, token) = connection.expect(read_choice)?;
            if !name.is_empty() && !mechanisms.contains(&name.as_str()) {
                fail(connection, "Must authenticate with listed mechanism")?;
                continue;
            }
            match self.attempt(connection, &name, token.as_deref())? {
                Attempt::Done | Attempt::Declined => return Ok(()),
                Attempt::Failed => {}
            }
        }
    }

    fn attempt(
        &mut self,
        connection: &mut Connection,
        mechanism: &str,
        token: Option<&[u8]>,
    ) -> Result<Attempt> {
        let checked = match mechanism {
            "" => return Ok(Attempt::Declined),
            "ANONYMOUS" => {
                accept(connection);
                return Ok(Attempt::Done);
            }
            "EXTERNAL" => self.check_external(token),
            "PLAIN" => self.check_plain(token),
            _ => self.check_cram_md5(connection)?,
        };
        match checked {
            Ok(user) => {
                self.set_user(Some(user));
                accept(connection);
                Ok(Attempt::Done)
            }
            Err(text) => {
                fail(connection, text)?;
                Ok(Attempt::Failed)
            }
        }
    }

    fn check_external(&self, token: Option<&[u8]>) -> Result<String, &'static str> {
        let user = self.tunnel_user().unwrap_or_default();
        let wanted = token.unwrap_or_default();
        if wanted.is_empty() || wanted == user.as_bytes() {
            Ok(user.to_owned())
        } else {
            Err("Requested username does not match")
        }
    }

    fn check_plain(&self, token: Option<&[u8]>) -> Result<String, &'static str> {
        let (acting, user, password) = token
            .and_then(read_plain)
            .ok_or("Malformed client response in authentication")?;
        if !acting.is_empty() && acting != user {
            return Err("Requested username does not match");
        }
        let known = self.password_of(&user).ok_or("Username not found")?;
        // As long as the other, whatever the difference.
        let differs = known
            .bytes()
            .zip(password.bytes())
            .fold(known.len() ^ password.len(), |bits, (a, b)| {
                bits | usize::from(a ^ b)
            });
        if differs == 0 {
            Ok(user)
        } else {
            Err("Password incorrect")
        }
    }

    fn check_cram_md5(&self, connection: &mut Connection) -> Result<Result<String, &'static str>> {
        let nonce = RandomState::new().hash_one(self.now().micros());
        let challenge = Challenge::new(nonce, self.now().micros(), &self.serving.host);
        let out = connection.out();
        out.open().word("step").open();
        out.string(challenge.text()).close().close();
        connection.flush()?;
        connection.expect(|item| match item {
            Item::String(answer) => Ok(challenge
                .verify(answer, |user| self.password_of(user))
                .map(str::to_owned)),
            _ => Err(ProtocolError::Malformed),
        })
    }

    fn password_of(&self, user: &str) -> Option<String> {
        let passwords = self.repository.settings.passwords.as_ref()?;
        passwords.get("users", user).map(str::to_owned)
    }
}

fn read_choice(item: Item<'_>) -> Result<(String, Option<Vec<u8>>), ProtocolError> {
    let (name, token) = answer::read_choice(item)?;
    Ok((name.to_owned(), token.map(<[u8]>::to_vec)))
}

fn accept(connection: &mut Connection) {
    let out = connection.out();
    out.open().word("success").open().close().close();
}

fn fail(connection: &mut Connection, text: &str) -> Result<()> {
    let out = connection.out();
    out.open().word("failure").open();
    out.string(text).close().close();
    connection.flush()
}
