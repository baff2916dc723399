//! One client, from the greeting to the end.

use std::sync::Arc;
use std::time::Duration;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_proto::svn::answer::{self, Hello};
use sylvan_proto::svn::{ProtocolError, Request};

use super::Serving;
use super::commands;
use super::connection::{Came, Connection};
use super::log::About;
use super::metrics::Counted;
use super::session::Session;
use super::transport::Transport;

/// How long who has no one else to serve waits before it looks whether all is to end.
const SLICE: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct Client {
    connection: Connection,
    serving: Arc<Serving>,
    host: Option<String>,
    stage: Stage,
    /// Counts it as long as it is there.
    _counted: Counted,
}

/// What comes next.
enum Stage {
    /// We greet it.
    Greeting,
    /// It says who it is.
    Hello,
    /// It sends commands.
    Commands(Box<Session>),
}

/// What is to be done after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another step.
    Step,
    /// Wait for input first.
    Wait,
    /// Nothing more.
    End,
}

impl Client {
    pub(crate) fn new(connection: Connection, serving: Arc<Serving>, host: Option<String>) -> Self {
        let _counted = serving.metrics.connect();
        Self {
            connection,
            serving,
            host,
            stage: Stage::Greeting,
            _counted,
        }
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        self.connection.transport()
    }

    /// Serves the client on this thread until it goes.
    pub(crate) fn serve(mut self) -> Result<()> {
        loop {
            match self.step()? {
                Next::Step => {}
                Next::End => return Ok(()),
                Next::Wait => {
                    while !self.connection.linger(SLICE) {
                        self.serving.cancel.check()?;
                    }
                }
            }
        }
    }

    /// Goes on with what is there.
    ///
    /// # Errors
    /// Why the connection is to be closed; it is in the log.
    pub(crate) fn step(&mut self) -> Result<Next> {
        let stepped = self.try_step();
        if stepped.is_err() {
            self.serving.metrics.broken.add(1);
        }
        if let Err(error) = &stepped
            && let Some(logger) = &self.serving.logger
        {
            let about = About {
                host: self.host.as_deref(),
                ..About::default()
            };
            logger.error((self.serving.clock)(), about, error);
        }
        stepped
    }

    fn try_step(&mut self) -> Result<Next> {
        self.serving.cancel.check()?;
        if matches!(self.stage, Stage::Greeting) {
            answer::write_greeting(self.connection.out(), self.serving.compression > 0);
            self.connection.flush()?;
            self.stage = Stage::Hello;
            return Ok(Next::Step);
        }
        match self.connection.look()? {
            Came::Nothing => return Ok(Next::Wait),
            Came::End if matches!(self.stage, Stage::Commands(_)) => return Ok(Next::End),
            Came::End => return Err(self.connection.gone()),
            Came::Item => {}
        }
        match &mut self.stage {
            Stage::Greeting | Stage::Hello => {
                let hello = self.connection.expect(Hello::read)?;
                let host = self.host.as_deref();
                let session = Session::open(&mut self.connection, &self.serving, host, &hello)?;
                self.connection.allow_requests();
                self.serving.metrics.sessions.add(1);
                self.stage = Stage::Commands(Box::new(session));
            }
            Stage::Commands(session) => handle(session, &mut self.connection)?,
        }
        Ok(Next::Step)
    }
}

/// Reads a command, does what it says, and tells the client what went wrong.
fn handle(session: &mut Session, connection: &mut Connection) -> Result<()> {
    connection.begin();
    session.serving.metrics.commands.add(1);
    let handled = connection.lend(|connection, item| match Request::read(item) {
        Ok(request) => commands::handle(session, connection, request),
        Err(error @ (ProtocolError::UnknownCommand(_) | ProtocolError::Other(_))) => {
            Err(error.into())
        }
        Err(error) => Err(connection.refuse(error)),
    });
    if let Err(error) = handled {
        if let Some(broken) = connection.broken() {
            return Err(broken.clone());
        }
        session.serving.metrics.failures.add(1);
        answer::write_failure(connection.out(), &without_wrapping(error));
    }
    connection.flush()
}

/// Clients have no use for links that are only for servers.
fn without_wrapping(error: Error) -> Error {
    match error.cause() {
        Some(cause) if error.code() == ErrorCode::RA_SVN_CMD_ERR => cause.clone(),
        _ => error,
    }
}
