//! The server of `svn://`.
//!
//! A `Client` is a connection with its session. Whatever it sends is read as
//! [`Request`](sylvan_proto::svn::Request)s, each handled by a function of `commands`.

mod access;
mod client;
mod commands;
mod config;
mod connection;
#[doc(hidden)]
pub mod fuzz;
mod listen;
mod log;
mod log_lines;
mod metrics;
mod pool;
mod repository;
mod session;
mod transport;
mod wire_editor;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sylvan_core::{Result, Timestamp};
use sylvan_fs::Cache;
use sylvan_io::Cancel;
use sylvan_repos::authz::AuthzCache;

use client::Client;
pub use config::ServerConfig;
use connection::Connection;
pub use listen::{ListenOptions, Signals, listen, serve_one};
pub use log::Logger;
pub use metrics::{Metrics, serve_metrics};
pub use transport::Pipes;

/// What all connections of a server have in common.
#[derive(Debug)]
pub struct Serving {
    /// The folder that URLs begin in.
    pub root: PathBuf,
    /// Whether nobody may write, whatever repositories say.
    pub read_only: bool,
    /// Whether the folder of a URL's host is below the root.
    pub virtual_host: bool,
    /// The configuration of all repositories; without, each has its own.
    pub config: Option<ServerConfig>,
    /// Whether contents may be compressed; the level of zlib.
    pub compression: u32,
    /// The largest request in bytes; 0 is no limit.
    pub max_request: u64,
    /// The largest response in bytes; 0 is no limit.
    pub max_response: u64,
    /// What is kept of repositories.
    pub cache: Cache,
    /// What is kept of access rules.
    pub rules: AuthzCache,
    /// What clients may take their time for.
    pub patience: Patience,
    /// What was done.
    pub metrics: Arc<Metrics>,
    /// Where operations and errors are written.
    pub logger: Option<Logger>,
    /// Ends everything.
    pub cancel: Cancel,
    /// Tells the time.
    pub clock: fn() -> Timestamp,
    /// The name of this machine.
    pub host: String,
    /// Who a client is that comes through a tunnel; `None` if none does.
    pub tunnel: Option<Option<String>>,
}

/// How long clients may do nothing; without, for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// Between commands, and before the first.
    pub idle: Option<Duration>,
    /// In the midst of a command, if bytes could be sent or are waited for.
    pub stall: Option<Duration>,
}

/// Serves one client on standard input and output until it goes.
///
/// # Errors
/// Why its session ended, unless the client ended it.
pub fn serve_pipes(serving: &Arc<Serving>, pipes: Pipes) -> Result<()> {
    let connection = Connection::new(Box::new(pipes), None, serving);
    Client::new(connection, Arc::clone(serving), None).serve()
}
