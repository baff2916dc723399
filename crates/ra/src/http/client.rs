//! Requests and their answers: connections are made when needed, credentials are added, failures
//! become errors.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_proto::dav::{self, Document, ErrorBody, xml};

use super::auth::{self, Answer, Challenge};
use super::conn::{Connection, Patience};
use super::failure::{self, TUNNEL, is_closed, of_connection};
use super::settings::{Compression, Settings};
use super::tls::Tls;
use super::wire::{Head, Request};
use crate::Context;
use crate::auth::{Attempts, Simple};

/// A place for a connection; each thread that sends requests has one.
pub(super) type Slot = Option<Connection>;

/// What all connections of a session share.
pub(super) struct Client {
    pub(super) context: Context,
    pub(super) settings: Settings,
    https: bool,
    host: String,
    port: u16,
    /// The `Host` header.
    authority: String,
    tls: OnceLock<Tls>,
    server_auth: Mutex<AuthState>,
    proxy_auth: Mutex<AuthState>,
}

/// How far authentication came.
#[derive(Default)]
struct AuthState {
    answer: Option<Answer>,
    /// Counts the changes of `answer`.
    generation: u32,
    attempts: Option<Attempts<Simple>>,
    tries: u32,
    /// Whether the last credentials were refused or not tried yet.
    pending: bool,
}

/// Credentials are asked for so often.
const MOST_TRIES: u32 = 4;

/// A request is sent so often when connections turn out to be gone, or credentials are refused.
const MOST_ROUNDS: usize = 16;

/// What a request was authenticated with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    server: Mark,
    proxy: Mark,
}

/// Tells apart what was sent by one [`AuthState`].
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    generation: u32,
    /// The how many-th it was with one nonce.
    count: u32,
}

/// Servers and their logs know Subversion's clients by the first word.
const USER_AGENT: &str = concat!("SVN/1.14.5 sylvan/", env!("CARGO_PKG_VERSION"));

fn lock(mutex: &Mutex<AuthState>) -> MutexGuard<'_, AuthState> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    pub(super) fn new(url: &Url, context: &Context) -> Result<Self> {
        let https = url.scheme() == "https";
        let authority = match url.authority().rsplit_once('@') {
            Some((_, host)) => host,
            None => url.authority(),
        };
        let (host, port) = split_authority(authority, if https { 443 } else { 80 })?;
        Ok(Self {
            settings: Settings::for_host(&context.config, &host)?,
            context: context.clone(),
            https,
            host,
            port,
            authority: authority.to_owned(),
            tls: OnceLock::new(),
            server_auth: Mutex::default(),
            proxy_auth: Mutex::default(),
        })
    }

    /// Sends a request and returns the head of its answer; the body is in the slot's connection.
    ///
    /// Answers that ask for credentials are dealt with. Other failures are not looked at.
    pub(super) fn send(&self, slot: &mut Slot, request: &Request<'_>) -> Result<Head> {
        let mut bytes = Vec::new();
        for _ in 0..MOST_ROUNDS {
            if slot.as_ref().is_some_and(|conn| !conn.is_reusable()) {
                *slot = None;
            }
            let was_open = slot.is_some();
            let conn = match slot {
                Some(conn) => conn,
                None => slot.insert(self.connect()?),
            };
            bytes.clear();
            let stamp = self.write(request, &mut bytes);
            match exchange(conn, &bytes, request) {
                Ok(head) => match self.answered(&head, request.path, stamp, conn) {
                    Ok(Answered::Final) => return Ok(self.with_location(head)),
                    Ok(Answered::Again) => {}
                    Err(error) => {
                        *slot = None;
                        return Err(error);
                    }
                },
                Err(error) if was_open && !request.once && is_closed(&error) => *slot = None,
                Err(error) => {
                    *slot = None;
                    return Err(error);
                }
            }
        }
        Err(auth::exhausted())
    }

    /// Appends a request's bytes with everything that each request has.
    pub(super) fn write(&self, request: &Request<'_>, out: &mut Vec<u8>) -> Stamp {
        let mut stamp = Stamp::default();
        let mut extra = vec![
            ("Host", self.authority.as_str()),
            ("User-Agent", USER_AGENT),
        ];
        let through_proxy = self.settings.proxy.is_some() && !self.https;
        let target = if through_proxy {
            format!("http://{}{}", self.authority, request.path)
        } else {
            request.path.to_owned()
        };
        let (server, proxy);
        {
            let mut state = lock(&self.server_auth);
            server = state.header(request.method, request.path);
            stamp.server = state.mark();
        }
        if let Some(header) = &server {
            extra.push(("Authorization", header));
        }
        if through_proxy {
            let mut state = lock(&self.proxy_auth);
            proxy = state.header(request.method, &target);
            stamp.proxy = state.mark();
            if let Some(header) = &proxy {
                extra.push(("Proxy-Authorization", header));
            }
        }
        request.write(&target, &extra, self.settings.chunked_requests, out);
        stamp
    }

    /// Opens a connection, through a proxy and with TLS as need be.
    pub(super) fn connect(&self) -> Result<Connection> {
        let Some(proxy) = &self.settings.proxy else {
            let mut conn = Connection::open(&self.host, self.port, self.patience())?;
            self.secure(&mut conn)?;
            return Ok(conn);
        };
        let unresolved = |error: Error| {
            if (670_000..671_000).contains(&error.code().number()) {
                let message = error.message();
                Error::new(
                    error.code(),
                    format!("Could not resolve proxy server '{}': {message}", proxy.host),
                )
            } else {
                error
            }
        };
        if !self.https {
            return Connection::open(&proxy.host, proxy.port, self.patience()).map_err(unresolved);
        }
        for _ in 0..MOST_ROUNDS {
            let mut conn =
                Connection::open(&proxy.host, proxy.port, self.patience()).map_err(unresolved)?;
            if self.tunnel(&mut conn)? {
                self.secure(&mut conn)?;
                return Ok(conn);
            }
        }
        Err(of_connection(TUNNEL))
    }

    fn patience(&self) -> Patience {
        Patience {
            cancel: self.context.cancel.clone(),
            progress: self.context.progress.clone(),
            timeout: self.settings.timeout,
            stop: None,
        }
    }

    /// Has the proxy connect to the server; false if another connection is needed for that.
    fn tunnel(&self, conn: &mut Connection) -> Result<bool> {
        let target = format!("{}:{}", self.host, self.port);
        loop {
            let header = lock(&self.proxy_auth).header("CONNECT", &target);
            let mut extra = vec![("Host", target.as_str()), ("User-Agent", USER_AGENT)];
            if let Some(header) = &header {
                extra.push(("Proxy-Authorization", header));
            }
            let mut bytes = Vec::new();
            let request = Request::new("CONNECT", &target);
            request.write(&target, &extra, false, &mut bytes);
            let head = exchange(conn, &bytes, &request)?;
            match head.status {
                200..=299 => return Ok(true),
                407 => {
                    self.proxy_challenged(&head)?;
                    if !conn.finish() {
                        return Ok(false);
                    }
                }
                _ => return Err(of_connection(TUNNEL)),
            }
        }
    }

    fn secure(&self, conn: &mut Connection) -> Result<()> {
        if !self.https {
            return Ok(());
        }
        let tls = match self.tls.get() {
            Some(tls) => tls,
            None => {
                let tls = Tls::new(&self.context, &self.settings, &self.host, self.port)?;
                self.tls.get_or_init(|| tls)
            }
        };
        let started = conn.start_tls(tls.config.clone(), &self.host);
        // With TLS 1.3 servers look at our certificate later.
        match tls.take_problem() {
            Some(problem) => Err(problem),
            None => started,
        }
    }

    /// Deals with an answer that asks for credentials, and notes when some were accepted.
    pub(super) fn answered(
        &self,
        head: &Head,
        path: &str,
        stamp: Stamp,
        conn: &mut Connection,
    ) -> Result<Answered> {
        match head.status {
            401 => {
                if stamp.server.generation == lock(&self.server_auth).generation {
                    self.challenged(head)?;
                }
            }
            407 => {
                if stamp.proxy.generation == lock(&self.proxy_auth).generation {
                    self.proxy_challenged(head)?;
                }
            }
            status => {
                if let Some(info) = head.get("authentication-info") {
                    lock(&self.server_auth).check(info, path, stamp.server)?;
                }
                if status < 400 {
                    self.accepted()?;
                }
                return Ok(Answered::Final);
            }
        }
        conn.finish();
        Ok(Answered::Again)
    }

    fn accepted(&self) -> Result<()> {
        if let Some(tls) = self.tls.get() {
            tls.succeeded()?;
        }
        let mut state = lock(&self.server_auth);
        if state.pending {
            state.pending = false;
            state.tries = 0;
            if let Some(mut attempts) = state.attempts.take() {
                attempts.save(&mut self.context.auth())?;
            }
        }
        let mut proxy = lock(&self.proxy_auth);
        proxy.tries = 0;
        Ok(())
    }

    fn challenged(&self, head: &Head) -> Result<()> {
        let settings = &self.settings;
        let challenge = auth::choose(
            head.all("www-authenticate"),
            settings.basic,
            settings.digest,
        )?;
        let mut state = lock(&self.server_auth);
        if state.renew(&challenge) {
            return Ok(());
        }
        let scheme = if self.https { "https" } else { "http" };
        let realm = format!(
            "<{scheme}://{}:{}> {}",
            self.host,
            self.port,
            challenge.get("realm").unwrap_or_default()
        );
        let mut auth = self.context.auth();
        if state.attempts.is_none() {
            state.attempts = Some(auth.simple_credentials(&realm, &self.host)?);
        }
        let next = match &mut state.attempts {
            Some(attempts) => attempts.next(&mut auth)?,
            None => None,
        };
        state.tries += 1;
        let Some(simple) = next.filter(|_| state.tries <= MOST_TRIES) else {
            state.attempts = None;
            return Err(auth::exhausted());
        };
        state.answer(&challenge, &simple.username, &simple.password);
        Ok(())
    }

    fn proxy_challenged(&self, head: &Head) -> Result<()> {
        let settings = &self.settings;
        let challenge = auth::choose(
            head.all("proxy-authenticate"),
            settings.basic,
            settings.digest,
        )?;
        let mut state = lock(&self.proxy_auth);
        if state.renew(&challenge) {
            return Ok(());
        }
        state.tries += 1;
        let username = settings
            .proxy
            .as_ref()
            .and_then(|proxy| Some((proxy.username.as_deref()?, proxy.password.as_deref())));
        match username {
            Some((username, password)) if state.tries <= MOST_TRIES => {
                state.answer(&challenge, username, password.unwrap_or_default());
                Ok(())
            }
            _ => Err(auth::proxy_refused()),
        }
    }

    /// Makes a redirect's target absolute.
    fn with_location(&self, mut head: Head) -> Head {
        let scheme = if self.https { "https" } else { "http" };
        head.location = match head.get("location") {
            Some(path) if path.starts_with('/') => {
                Some(format!("{scheme}://{}{path}", self.authority))
            }
            Some(url) if Url::is_url(url) => Some(url.to_owned()),
            _ => None,
        };
        head
    }

    /// Makes the URL of a path on the server.
    pub(super) fn absolute(&self, path: &str) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority)
    }

    /// Returns what we call ourselves.
    pub(super) const fn agent() -> &'static str {
        USER_AGENT
    }

    /// Returns the `Accept-Encoding` of ordinary requests.
    pub(super) fn accept_gzip(&self) -> Option<&'static str> {
        (self.settings.compression != Compression::Off).then_some("gzip")
    }

    /// Fails unless the answer has one of the expected statuses; the error is what the server said.
    pub(super) fn expect(
        &self,
        slot: &mut Slot,
        head: &Head,
        request: &Request<'_>,
        expected: u16,
    ) -> Result<()> {
        if head.status == expected {
            return Ok(());
        }
        Err(self.failure(slot, head, request))
    }

    /// Makes the error of an answer, reading what the server said.
    pub(super) fn failure(&self, slot: &mut Slot, head: &Head, request: &Request<'_>) -> Error {
        let said = self.said(slot, head);
        said.unwrap_or_else(|| failure::unexpected_status(head, request.method, request.path))
    }

    /// Reads the error that a server tells in the body of an answer, if it does; the body is read
    /// then.
    pub(super) fn said(&self, slot: &mut Slot, head: &Head) -> Option<Error> {
        let said = ((head.status >= 400 || head.status == 207) && head.is_xml())
            .then(|| self.parse(slot, head, ErrorBody::default()))
            .and_then(Result::ok)
            .and_then(|body| {
                body.into_error(head.status, &|status, path| {
                    let head = Head {
                        status,
                        ..head.clone()
                    };
                    failure::of_status(&head, path)
                })
            });
        if let Some(conn) = slot
            && !conn.finish()
        {
            *slot = None;
        }
        said
    }

    /// Parses the body of an answer.
    pub(super) fn parse<H: xml::Handler>(
        &self,
        slot: &mut Slot,
        head: &Head,
        handler: H,
    ) -> Result<H> {
        let mut document = Document::new(handler);
        self.read(slot, head, &mut |piece| document.push(piece))?;
        document.finish()
    }

    /// Gives the body of an answer to `take`. The connection is closed if that fails.
    pub(super) fn read(
        &self,
        slot: &mut Slot,
        head: &Head,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(conn) = slot else {
            return Err(of_connection(failure::CLOSED));
        };
        let result = conn.body(head).each(take);
        if result.is_err() || !conn.finish() {
            *slot = None;
        }
        result
    }

    /// Sends a request, expects a status, and parses the body.
    pub(super) fn fetch<H: xml::Handler>(
        &self,
        slot: &mut Slot,
        request: &Request<'_>,
        expected: u16,
        handler: H,
    ) -> Result<H> {
        let head = self.send(slot, request)?;
        self.expect(slot, &head, request, expected)?;
        self.parse(slot, &head, handler)
    }

    /// Makes a `REPORT`.
    pub(super) fn report<'a>(&self, path: &'a str, body: &'a str) -> Request<'a> {
        self.with_capabilities(Request::new("REPORT", path).body(body))
    }

    /// Adds what a client that knows Subversion's protocol says.
    pub(super) fn with_capabilities<'a>(&self, mut request: Request<'a>) -> Request<'a> {
        if let Some(gzip) = self.accept_gzip() {
            request = request.header("Accept-Encoding", gzip);
        }
        for capability in dav::CLIENT_CAPABILITIES {
            request = request.header("DAV", capability);
        }
        request
    }
}

/// Whether an answer is to be used, or the request to be sent again with credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Final,
    Again,
}

impl AuthState {
    fn mark(&self) -> Mark {
        Mark {
            generation: self.generation,
            count: self.answer.as_ref().map_or(0, Answer::count),
        }
    }

    /// Fails if the other side does not show that it knows the password, though it tries to.
    fn check(&self, info: &str, uri: &str, mark: Mark) -> Result<()> {
        match &self.answer {
            Some(answer)
                if mark.generation == self.generation && !answer.vouches(info, uri, mark.count) =>
            {
                Err(of_connection(failure::AUTHN_FAILED))
            }
            _ => Ok(()),
        }
    }

    fn header(&mut self, method: &str, uri: &str) -> Option<String> {
        self.answer
            .as_mut()
            .map(|answer| answer.header(method, uri))
    }

    fn answer(&mut self, challenge: &Challenge, username: &str, password: &str) {
        self.answer = Some(Answer::new(challenge, username, password));
        self.generation += 1;
        self.pending = true;
    }

    /// Takes a new nonce for an old one; false if the credentials themselves were refused.
    fn renew(&mut self, challenge: &Challenge) -> bool {
        let renewed = self
            .answer
            .as_mut()
            .is_some_and(|answer| answer.renew(challenge));
        self.generation += u32::from(renewed);
        renewed
    }
}

/// Sends bytes and reads the head of the answer. A server that answers before it has read all, and
/// hangs up, is heard.
fn exchange(conn: &mut Connection, bytes: &[u8], request: &Request<'_>) -> Result<Head> {
    let mut sent = conn.send(bytes);
    if let (Ok(()), Some((_, upload))) = (&sent, request.upload) {
        sent = upload.each_in_file(&mut |piece| conn.send(piece));
    }
    match sent {
        Ok(()) => conn.read_head(request.method),
        Err(error) if is_closed(&error) => conn.read_head(request.method).map_err(|_| error),
        Err(error) => Err(error),
    }
}

fn split_authority(authority: &str, default: u16) -> Result<(String, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let port = match port {
        None => default,
        Some(text) => text.parse().map_err(|_| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("Illegal URL 'http://{authority}'"),
            )
        })?,
    };
    Ok((host.to_owned(), port))
}
