//! Sessions over `svn://` and tunnels.

mod buffers;
mod commit;
mod connection;
mod fallback;
mod file_revs;
mod fuzz;
mod lock;
mod script;
mod session;
#[cfg(test)]
mod tests;
mod transport;

use std::time::Duration;

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_proto::svn::handshake::Server;

use crate::tunnel::{self, Tunnel};
use crate::{Context, Session};
use connection::{Connection, Place};
use session::SvnSession;
use transport::{Pipes, Tcp, Transport};

pub use fuzz::session as fuzz_session;

/// The port of `svn://`.
const PORT: u16 = 3690;

/// Servers that answer faster than this are near enough to send contents plain: compressing takes
/// a server longer than sending. (Subversion draws the line there for HTTP.) A checkout of 48 MB
/// from Debian's svnserve on the same machine took at least 0.57 s plain and 0.75 s compressed,
/// 0.41 and 0.48 s of our CPU time and 0.35 and 0.42 s of the server's.
const NEAR: Duration = Duration::from_millis(5);

/// Opens a session.
pub(crate) fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    let dialer = Dialer(context.clone());
    let opener = Opener::new(context.clone(), Box::new(dialer));
    Ok(Box::new(SvnSession::open(url, opener)?))
}

/// Opens connections; tests have their own.
trait Dial: Send {
    /// Connects to the server of a URL.
    fn dial(&self, url: &Url) -> Result<Dialed>;
}

/// A fresh connection.
struct Dialed {
    transport: Box<dyn Transport>,
    place: Place,
    /// Whether what comes first may not be the server's.
    has_garbage: bool,
    compress: bool,
}

/// Makes connections and goes through the handshake; a session may need another one.
struct Opener {
    context: Context,
    agent: String,
    dial: Box<dyn Dial>,
}

impl Opener {
    fn new(context: Context, dial: Box<dyn Dial>) -> Self {
        let agent = format!(
            "SVN/1.14.2 ({}-{}) Sylvan/{}",
            std::env::consts::ARCH,
            std::env::consts::OS,
            env!("CARGO_PKG_VERSION")
        );
        Self {
            context,
            agent,
            dial,
        }
    }

    /// Returns what we call ourselves.
    fn agent(&self) -> &str {
        &self.agent
    }

    fn connect(&self, url: &Url) -> Result<(Connection, Server)> {
        let dialed = self.dial.dial(url)?;
        let patience = patience(&self.context, &dialed.place.host)?;
        let context = self.context.clone();
        let mut connection = Connection::new(dialed.transport, context, dialed.place, patience);
        if dialed.has_garbage {
            connection.skip_garbage().map_err(explain_tunnel)?;
        }
        let server = connection.handshake(url, &self.agent, dialed.compress)?;
        Ok((connection, server))
    }
}

/// Opens TCP connections and tunnels.
struct Dialer(Context);

impl Dial for Dialer {
    fn dial(&self, url: &Url) -> Result<Dialed> {
        let authority = Authority::parse(url)?;
        match url.scheme() {
            "svn" => {
                let port = authority.port.unwrap_or(PORT);
                let (tcp, latency) = Tcp::connect(&authority.host, port, &self.0.cancel)?;
                Ok(Dialed {
                    transport: Box::new(tcp),
                    place: authority.place("svn", port, false),
                    has_garbage: false,
                    compress: compress(&self.0, &authority.host, latency)?,
                })
            }
            scheme => {
                let arguments = tunnel::command_line(url, &self.0.config)?;
                let pipes = Pipes::new(Tunnel::start(&arguments)?)?;
                Ok(Dialed {
                    transport: Box::new(pipes),
                    place: authority.place(scheme, authority.port.unwrap_or(0), true),
                    has_garbage: true,
                    compress: compress(&self.0, &authority.host, Duration::MAX)?,
                })
            }
        }
    }
}

/// Decides whether contents come compressed: the option `svn-compression` of `servers`, ours alone
/// (`yes`, `no` or `auto`, which is the default and looks at the latency).
fn compress(context: &Context, host: &str, latency: Duration) -> Result<bool> {
    match context.config.server_option(host, "svn-compression") {
        None => Ok(latency >= NEAR),
        Some(value) if value.eq_ignore_ascii_case("auto") => Ok(latency >= NEAR),
        Some(_) => context.config.server_bool(host, "svn-compression", true),
    }
}

fn explain_tunnel(error: Error) -> Error {
    if error.code() == ErrorCode::CANCELLED {
        return error;
    }
    error.context(
        "To better debug SSH connection problems, remove the -q option from 'ssh' in the \
         [tunnels] section of your Subversion configuration file.",
    )
}

/// Reads how long a server may be silent: the option `svn-timeout` of `servers`, in seconds, ours
/// alone; Subversion waits for ever, as we do without it.
fn patience(context: &Context, host: &str) -> Result<Duration> {
    let seconds = context.config.server_i64(host, "svn-timeout", 0)?;
    Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// The parts of a URL's authority.
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    fn parse(url: &Url) -> Result<Self> {
        let illegal = || {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("Illegal svn repository URL '{url}'"),
            )
        };
        let authority = url.authority();
        let place = authority.rsplit_once('@').map_or(authority, |(_, at)| at);
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(illegal)?;
                (host, after.strip_prefix(':'))
            }
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            },
        };
        if host.is_empty() {
            return Err(illegal());
        }
        let port = port
            .filter(|port| !port.is_empty())
            .map(|port| port.parse().map_err(|_| illegal()))
            .transpose()?;
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }

    fn place(&self, scheme: &str, port: u16, is_tunneled: bool) -> Place {
        Place {
            realm_prefix: format!("<{scheme}://{}:{port}>", self.host),
            host: self.host.clone(),
            is_tunneled,
        }
    }
}
