//! Where bytes come from and go to.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// Bytes in and out, without waiting: `WouldBlock` means that [`Transport::wait`] is needed first.
pub(crate) trait Transport: Send {
    /// Appends what came to `buffer`, within its capacity; zero at the end.
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize>;

    /// Sends some of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until bytes can be read or written, at most so long; tells whether they can.
    fn wait(&mut self, direction: Direction, longest: Duration) -> io::Result<bool>;

    /// The descriptor that others may wait on for input.
    fn input(&self) -> Option<BorrowedFd<'_>>;
}

/// A TCP connection.
#[derive(Debug)]
pub(crate) struct Socket(TcpStream);

impl Socket {
    /// Prepares a connection that was accepted.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // Responses are written whole, so waiting for more to send only costs time.
        let _ = stream.set_nodelay(true);
        // A dead client is noticed even while we only wait; without that we still work.
        let _ = rustix::net::sockopt::set_socket_keepalive(&stream, true);
        Ok(Self(stream))
    }
}

impl Transport for Socket {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        read_some(self.0.as_fd(), buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut self.0, bytes)
    }

    fn wait(&mut self, direction: Direction, longest: Duration) -> io::Result<bool> {
        wait_for(self.0.as_fd(), direction, longest)
    }

    fn input(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}

/// Standard input and output.
#[derive(Debug, Default)]
pub struct Pipes(());

impl Pipes {
    /// Takes standard input and output; nothing else may use them from now on.
    pub fn new() -> Self {
        Self(())
    }
}

impl Transport for Pipes {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let input = rustix::stdio::stdin();
        if !wait_for(input, Direction::In, Duration::ZERO)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        read_some(input, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn wait(&mut self, direction: Direction, longest: Duration) -> io::Result<bool> {
        let fd = match direction {
            Direction::In => rustix::stdio::stdin(),
            Direction::Out => rustix::stdio::stdout(),
        };
        wait_for(fd, direction, longest)
    }

    fn input(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

fn read_some(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(fd, spare_capacity(buffer))?)
}

/// Waits for a descriptor; an interruption is as if nothing came.
pub(crate) fn wait_for(
    fd: BorrowedFd<'_>,
    direction: Direction,
    longest: Duration,
) -> io::Result<bool> {
    let flags = match direction {
        Direction::In => PollFlags::IN,
        Direction::Out => PollFlags::OUT,
    };
    let mut fds = [PollFd::new(&fd, flags)];
    let longest = timespec(longest);
    match poll(&mut fds, Some(&longest)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
