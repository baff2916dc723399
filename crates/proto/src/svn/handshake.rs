//! What happens before the first command.
//!
//! ```text
//!            server                       client
//! Greeting   ( success ( 2 2 ( ) caps ) )
//!                                         ( 2 caps url agent )
//! Auth       ( success ( mechs realm ) )
//!            ------- exchange, if there are mechanisms: see `auth` -------
//! Repository ( success ( uuid root caps ) )
//! Ready
//! ```

use std::collections::BTreeSet;

use sylvan_core::{Error, Url};

use super::ProtocolError;
use super::auth::AuthRequest;
use super::item::{Item, Writer};
use super::message::{Response, read_words};

/// What clients announce to accept, besides [`COMPRESSED`].
const CLIENT_CAPABILITIES: [&str; 5] = [
    "edit-pipeline",
    "absent-entries",
    "depth",
    "mergeinfo",
    "log-revprops",
];

/// Announced by clients that want contents compressed: with zlib, or with LZ4 by servers since
/// 1.10, which then prefer that.
const COMPRESSED: [&str; 2] = ["svndiff1", "accepts-svndiff2"];

/// What is known of a server once it is ready for commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// The repository's UUID.
    pub uuid: String,
    /// The root's URL; servers before 1.1 do not say it.
    pub root: Option<Url>,
    /// What server and repository can do.
    pub capabilities: BTreeSet<String>,
}

/// The client's side, consumed by each step.
#[derive(Debug)]
pub struct Handshake {
    step: Step,
    url: Url,
    agent: String,
    compress: bool,
    server: Server,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Greeting,
    Auth,
    Repository,
}

/// What to do after a step.
#[derive(Debug)]
pub enum Next {
    /// Send the bytes, then go on with the next item.
    Send(Handshake, Vec<u8>),
    /// Answer the request, then go on with the next item.
    Authenticate(Handshake, AuthRequest),
    /// Go on with the next item.
    Wait(Handshake),
    /// Send commands.
    Ready(Server),
}

impl Handshake {
    /// Begins one for a session at `url`. `agent` names the program, as `SVN/1.14.0 (…)`.
    /// `compress` says whether contents may come compressed; old servers do that slower than a
    /// local network sends.
    pub fn new(url: Url, agent: impl Into<String>, compress: bool) -> Self {
        Self {
            step: Step::Greeting,
            url,
            agent: agent.into(),
            compress,
            server: Server::default(),
        }
    }

    /// Takes the server's next item.
    ///
    /// # Errors
    /// What the server said, or what is wrong with it: `RA_SVN_BAD_VERSION` for servers that speak
    /// no version 2.
    pub fn handle(mut self, item: Item<'_>) -> Result<Next, Error> {
        let params = match Response::read(item)? {
            Response::Success(params) => params,
            Response::Failure(error) => return Err(error),
        };
        match self.step {
            Step::Greeting => {
                let mut fields = params.fields();
                let (min, max) = (fields.number()?, fields.number()?);
                fields.list()?;
                check_version(min, max)?;
                self.learn(read_words(&mut fields)?);
                if !self.server.capabilities.contains("edit-pipeline") {
                    let text = "Server does not support edit pipelining";
                    return Err(ProtocolError::BadVersion(text.to_owned()).into());
                }
                self.step = Step::Auth;
                let hello = self.hello();
                Ok(Next::Send(self, hello))
            }
            Step::Auth => {
                self.step = Step::Repository;
                let request = AuthRequest::read(params.fields())?;
                if request.mechanisms.is_empty() {
                    Ok(Next::Wait(self))
                } else {
                    Ok(Next::Authenticate(self, request))
                }
            }
            Step::Repository => {
                let mut fields = params.fields();
                fields.text()?.clone_into(&mut self.server.uuid);
                let root = fields.if_more(|fields| fields.text())?;
                if let Some(words) = fields.if_more(read_words)? {
                    self.learn(words);
                }
                self.server.root = root.map(|root| self.check_root(root)).transpose()?;
                Ok(Next::Ready(self.server))
            }
        }
    }

    fn learn(&mut self, words: Vec<String>) {
        self.server.capabilities.extend(words);
    }

    fn hello(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.open().number(2).open();
        let compressed = COMPRESSED.iter().filter(|_| self.compress);
        for capability in CLIENT_CAPABILITIES.iter().chain(compressed) {
            out.word(capability);
        }
        out.close().string(self.url.as_str()).string(&self.agent);
        out.optional_string(None::<&str>).close();
        out.take()
    }

    /// A root that is no ancestor of the URL would make us look for nodes elsewhere.
    fn check_root(&self, root: &str) -> Result<Url, Error> {
        let root = Url::parse(root).map_err(|_| ProtocolError::Malformed)?;
        if root.as_str().len() > self.url.as_str().len() {
            let text = "Impossibly long repository root from server";
            return Err(ProtocolError::unexpected(text).into());
        }
        if self.url.strip_prefix(&root).is_none() {
            return Err(ProtocolError::unexpected(format!(
                "Repository root '{root}' from server is no parent of '{}'",
                self.url
            ))
            .into());
        }
        Ok(root)
    }
}

fn check_version(min: u64, max: u64) -> Result<(), ProtocolError> {
    if min > 2 {
        return Err(ProtocolError::BadVersion(format!(
            "Server requires minimum version {min}"
        )));
    }
    if max < 2 {
        return Err(ProtocolError::BadVersion(format!(
            "Server only supports versions up to {max}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svn::item::Parser;
    use sylvan_core::ErrorCode;

    fn run(items: &[&str]) -> Result<(Server, Vec<u8>), Error> {
        let url = Url::parse("svn://h/repos/trunk").unwrap();
        let mut handshake = Handshake::new(url, "SVN/1.14.0", true);
        let mut sent = Vec::new();
        for bytes in items {
            let mut parser = Parser::new();
            parser.advance(bytes.as_bytes())?.expect("whole items");
            handshake = match handshake.handle(parser.item(bytes.as_bytes()))? {
                Next::Send(next, bytes) => {
                    sent.extend(bytes);
                    next
                }
                Next::Authenticate(next, request) => {
                    sent.extend(request.realm.into_bytes());
                    next
                }
                Next::Wait(next) => next,
                Next::Ready(server) => return Ok((server, sent)),
            };
        }
        panic!("the handshake goes on");
    }

    const GREETING: &str = "( success ( 2 2 ( ) ( edit-pipeline svndiff1 depth ) ) ) ";

    #[test]
    fn a_server_is_ready_after_three_steps() {
        let (server, sent) = run(&[
            GREETING,
            "( success ( ( ANONYMOUS ) 5:realm ) ) ",
            "( success ( 4:uuid 13:svn://h/repos ( mergeinfo ) ) ) ",
        ])
        .unwrap();
        assert_eq!(server.uuid, "uuid");
        assert_eq!(server.root.unwrap().as_str(), "svn://h/repos");
        assert!(server.capabilities.contains("mergeinfo"));
        assert!(server.capabilities.contains("depth"));
        assert_eq!(
            String::from_utf8(sent).unwrap(),
            "( 2 ( edit-pipeline absent-entries depth mergeinfo log-revprops svndiff1 \
             accepts-svndiff2 ) 19:svn://h/repos/trunk 10:SVN/1.14.0 ( ) ) realm"
        );
    }

    #[test]
    fn old_and_odd_servers() {
        let no_auth = "( success ( ( ) 0: ) ) ";
        let old = run(&[GREETING, no_auth, "( success ( 4:uuid ) ) "]).unwrap();
        assert_eq!(old.0.root, None);
        for (items, code, text) in [
            (
                vec!["( success ( 3 3 ( ) ( ) ) ) "],
                ErrorCode::RA_SVN_BAD_VERSION,
                "Server requires minimum version 3",
            ),
            (
                vec!["( success ( 1 1 ( ) ( ) ) ) "],
                ErrorCode::RA_SVN_BAD_VERSION,
                "Server only supports versions up to 1",
            ),
            (
                vec!["( success ( 2 2 ( ) ( depth ) ) ) "],
                ErrorCode::RA_SVN_BAD_VERSION,
                "Server does not support edit pipelining",
            ),
            (
                vec![GREETING, "( failure ( ( 210005 2:no 0: 0 ) ) ) "],
                ErrorCode::RA_SVN_REPOS_NOT_FOUND,
                "no",
            ),
            (
                vec![
                    GREETING,
                    no_auth,
                    "( success ( 4:uuid 26:svn://h/repos/trunk/longer ) ) ",
                ],
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Impossibly long repository root from server",
            ),
            (
                vec![GREETING, no_auth, "( success ( 4:uuid 8:svn://x/ ) ) "],
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Repository root 'svn://x' from server is no parent of 'svn://h/repos/trunk'",
            ),
            (
                vec!["( ) "],
                ErrorCode::RA_SVN_MALFORMED_DATA,
                "Malformed network data",
            ),
        ] {
            let error = run(&items).unwrap_err();
            assert_eq!((error.code(), error.message()), (code, text.to_owned()));
        }
    }
}
