//! The socket, and what else a daemon takes from the system.

use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use sylvan_core::{Error, Result};
use sylvan_io::{Cancel, file};
use sylvan_server::svn::Signals;

use crate::invocation::Invocation;

/// How many clients may wait to be let in.
const BACKLOG: i32 = 128;

/// Binds the socket that clients connect to.
pub(crate) fn bind(inv: &Invocation) -> Result<TcpListener> {
    let address = address(inv)?;
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let failed =
        |action: &'static str| move |error: rustix::io::Errno| Error::io(&error.into(), action);
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(failed("Can't create server socket"))?;
    // So that a server can be started again at once.
    sockopt::set_socket_reuseaddr(&socket, true)
        .map_err(failed("Can't set options on server socket"))?;
    rustix::net::bind(&socket, &address).map_err(failed("Can't bind server socket"))?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed("Can't listen on server socket"))?;
    Ok(socket.into())
}

fn address(inv: &Invocation) -> Result<SocketAddr> {
    let Some(host) = &inv.host else {
        let any = if inv.prefer_ipv6 {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        } else {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        };
        return Ok(SocketAddr::new(any, inv.port));
    };
    let failed = |error: io::Error| Error::io(&error, "Can't get address info");
    let found: Vec<SocketAddr> = (host.as_str(), inv.port)
        .to_socket_addrs()
        .map_err(failed)?
        .collect();
    let preferred = found
        .iter()
        .find(|address| address.is_ipv6() == inv.prefer_ipv6);
    preferred
        .or(found.first())
        .copied()
        .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

/// Makes SIGINT and SIGTERM end the server, and SIGHUP open the log again.
pub(crate) fn signals(cancel: &Cancel) -> Result<Signals> {
    let failed = |error: io::Error| Error::io(&error, "Can't handle signals");
    let (wake, waker) = UnixStream::pair().map_err(failed)?;
    let hang_up = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let number = usize::try_from(signal).unwrap_or_default();
        signal_hook::flag::register_usize(signal, cancel.cell(), number).map_err(failed)?;
    }
    signal_hook::flag::register(SIGHUP, Arc::clone(&hang_up)).map_err(failed)?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // After the flag, which the woken looks at.
        let waker = waker.try_clone().map_err(failed)?;
        signal_hook::low_level::pipe::register(signal, waker).map_err(failed)?;
    }
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    Ok(Signals { wake, hang_up })
}

/// Writes the process's number into a new file.
pub(crate) fn write_pid_file(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let text = format!("Can't remove file '{}'", path.display());
            return Err(Error::io(&error, text));
        }
        _ => {}
    }
    let failed = |error: io::Error| {
        let text = format!("Can't open file '{}'", path.display());
        Error::io(&error, text)
    };
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)
}

/// Allows as many clients as the system does.
pub(crate) fn raise_descriptor_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Fewer will do.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}

/// Returns the name of the user that runs the program.
pub(crate) fn user_name() -> Option<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = file::read(Path::new("/etc/passwd")).ok()?;
    let users = String::from_utf8_lossy(&users).into_owned();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}
