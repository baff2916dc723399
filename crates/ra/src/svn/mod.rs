//! Sessions over `svn://` and tunnels.

mod connection;
mod fallback;
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

/// The port of `svn://`.
const PORT: u16 = 3690;

/// Opens a session.
pub(crate) fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    let opener = Opener {
        context: context.clone(),
        agent: format!(
            "SVN/1.14.2 ({}-{}) Sylvan/{}",
            std::env::consts::ARCH,
            std::env::consts::OS,
            env!("CARGO_PKG_VERSION")
        ),
    };
    Ok(Box::new(SvnSession::open(url, opener)?))
}

/// Makes connections; a session may need another one.
pub(crate) struct Opener {
    context: Context,
    agent: String,
}

impl Opener {
    /// Connects, and goes through the handshake.
    fn connect(&self, url: &Url) -> Result<(Connection, Server)> {
        let authority = Authority::parse(url)?;
        let patience = patience(&self.context, &authority.host)?;
        let (transport, place): (Box<dyn Transport>, _) = match url.scheme() {
            "svn" => {
                let port = authority.port.unwrap_or(PORT);
                let tcp = Tcp::connect(&authority.host, port, &self.context.cancel)?;
                (Box::new(tcp), authority.place("svn", port, false))
            }
            scheme => {
                let arguments = tunnel::command_line(url, &self.context.config)?;
                let pipes = Pipes::new(Tunnel::start(&arguments)?)?;
                let port = authority.port.unwrap_or(0);
                (Box::new(pipes), authority.place(scheme, port, true))
            }
        };
        let is_tunneled = place.is_tunneled;
        let mut connection = Connection::new(transport, self.context.clone(), place, patience);
        if is_tunneled {
            connection.skip_garbage().map_err(explain_tunnel)?;
        }
        let server = connection.handshake(url, &self.agent)?;
        Ok((connection, server))
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
