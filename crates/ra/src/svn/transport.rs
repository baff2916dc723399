//! Where bytes go and come from: a TCP connection or the pipes of a tunnel.

use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::Cancel;

use crate::tunnel::Tunnel;

/// How long a call blocks at most, before the cancellation flag is polled again.
const SLICE: Duration = Duration::from_millis(200);

/// Blocks for a moment only: `WouldBlock` means that nothing came or went in that time.
pub(super) trait Transport: Send {
    /// Appends what came to `buffer`, within its capacity; zero at the end.
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize>;

    /// Sends some of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Tells whether something came already.
    fn has_input(&mut self) -> bool {
        false
    }
}

/// A TCP connection.
pub(super) struct Tcp(TcpStream);

impl Tcp {
    /// Connects to the first of the host's addresses that answers, and tells how soon it did; on
    /// this very machine that is at once, however busy it is.
    pub(super) fn connect(host: &str, port: u16, cancel: &Cancel) -> Result<(Self, Duration)> {
        let addresses = (host, port)
            .to_socket_addrs()
            .map_err(|error| unknown_host(&error, host))?;
        let mut last = io::Error::from_raw_os_error(rustix::io::Errno::ADDRNOTAVAIL.raw_os_error());
        for address in addresses {
            let begin = Instant::now();
            match connect(address, cancel)? {
                Ok(stream) => {
                    let latency = if address.ip().is_loopback() {
                        Duration::ZERO
                    } else {
                        begin.elapsed()
                    };
                    let tcp =
                        Self::prepare(stream).map_err(|error| cannot_connect(&error, host))?;
                    return Ok((tcp, latency));
                }
                Err(error) => last = error,
            }
        }
        Err(cannot_connect(&last, host))
    }

    fn prepare(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        // Commands are written whole, so waiting for more to send only costs time.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))?;
        // A dead peer is noticed even while we only wait; without that we still work.
        let _ = sockopt::set_socket_keepalive(&stream, true);
        Ok(Self(stream))
    }
}

fn unknown_host(error: &io::Error, host: &str) -> Error {
    // The resolver's codes do not come through; Subversion adds them to 670000.
    let text = error.to_string();
    let code = if text.contains("Temporary failure") {
        670_003
    } else {
        670_002
    };
    Error::new(ErrorCode(code), format!("Unknown hostname '{host}'"))
}

fn cannot_connect(error: &io::Error, host: &str) -> Error {
    Error::io(error, format!("Can't connect to host '{host}'"))
}

/// Connects without blocking, so that the flag can be polled.
fn connect(address: SocketAddr, cancel: &Cancel) -> Result<io::Result<TcpStream>> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = match rustix::net::socket_with(family, SocketType::STREAM, flags, None) {
        Ok(socket) => socket,
        Err(error) => return Ok(Err(error.into())),
    };
    match rustix::net::connect(&socket, &address) {
        Ok(()) => return Ok(Ok(socket.into())),
        Err(rustix::io::Errno::INPROGRESS) => {}
        Err(error) => return Ok(Err(error.into())),
    }
    while !is_ready(socket.as_fd(), PollFlags::OUT) {
        cancel.check()?;
    }
    Ok(match sockopt::socket_error(&socket) {
        Ok(Ok(())) => Ok(socket.into()),
        Ok(Err(error)) | Err(error) => Err(error.into()),
    })
}

/// Waits a moment for a descriptor; an interruption is as if nothing came.
fn is_ready(fd: BorrowedFd<'_>, flags: PollFlags) -> bool {
    is_ready_within(fd, flags, SLICE)
}

fn is_ready_within(fd: BorrowedFd<'_>, flags: PollFlags, time: Duration) -> bool {
    let slice = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
    matches!(poll(&mut fds, Some(&slice)), Ok(1..))
}

impl Transport for Tcp {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, spare_capacity(buffer))?)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn has_input(&mut self) -> bool {
        is_ready_within(self.0.as_fd(), PollFlags::IN, Duration::ZERO)
    }
}

/// The pipes of a tunnel program.
pub(super) struct Pipes(Tunnel);

impl Pipes {
    /// Takes a program that runs.
    pub(super) fn new(mut tunnel: Tunnel) -> Result<Self> {
        if let Some(stdin) = &tunnel.child().stdin {
            // A full pipe must not block us beyond the moment.
            rustix::io::ioctl_fionbio(stdin, true)
                .map_err(|error| Error::io(&error.into(), "Can't set up tunnel"))?;
        }
        Ok(Self(tunnel))
    }
}

impl Transport for Pipes {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let stdout = self.0.child().stdout.as_ref();
        let stdout = stdout.ok_or(ErrorKind::BrokenPipe)?;
        if !is_ready(stdout.as_fd(), PollFlags::IN) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(rustix::io::read(stdout, spare_capacity(buffer))?)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let stdin = self.0.child().stdin.as_mut();
        let stdin = stdin.ok_or(ErrorKind::BrokenPipe)?;
        if !is_ready(stdin.as_fd(), PollFlags::OUT) {
            return Err(ErrorKind::WouldBlock.into());
        }
        stdin.write(bytes)
    }

    fn has_input(&mut self) -> bool {
        let stdout = self.0.child().stdout.as_ref();
        stdout.is_some_and(|out| is_ready_within(out.as_fd(), PollFlags::IN, Duration::ZERO))
    }
}
