//! Sockets that clients connect to.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use sylvan_core::{Error, Result};

use super::Serving;
use super::client::{Client, Next};
use super::connection::Connection;
use super::log::About;
use super::pool::{Pool, Turns};
use super::transport::{Direction, Socket, timespec, wait_for};

/// How long a thread waits for its client's next command, if there are few threads; most clients
/// have it soon.
const LINGER: Duration = Duration::from_millis(50);
/// So many are few.
const FEW: usize = 64;
/// How long clients have to end when the server does.
const GRACE: Duration = Duration::from_secs(5);
/// How long it waits before it looks around even if nothing happens.
const LOOK: Duration = Duration::from_secs(60);
/// How long one who waits for a single client does not look for signals.
const ACCEPT_SLICE: Duration = Duration::from_millis(500);
/// How long nobody is let in if there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// How clients are served.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// So many threads stay without work.
    pub min_threads: usize,
    /// So many threads run at once; others wait for them.
    pub max_threads: usize,
    /// One client after the other, on this thread.
    pub single: bool,
}

/// What tells a server that a signal came.
#[derive(Debug)]
pub struct Signals {
    /// Gets a byte with each signal.
    pub wake: UnixStream,
    /// Set if the log is to be opened again.
    pub hang_up: Arc<AtomicBool>,
}

/// Serves clients until the flag of `serving` is set.
///
/// # Errors
/// If nobody can be let in any more.
pub fn listen(
    listener: &TcpListener,
    serving: &Arc<Serving>,
    options: &ListenOptions,
    signals: Signals,
) -> Result<()> {
    let failed = |error: io::Error| Error::io(&error, "Can't accept client connection");
    listener.set_nonblocking(true).map_err(failed)?;
    signals.wake.set_nonblocking(true).map_err(failed)?;
    let (wake, waker) = UnixStream::pair().map_err(failed)?;
    wake.set_nonblocking(true).map_err(failed)?;
    waker.set_nonblocking(true).map_err(failed)?;
    let returned = Arc::new(Returned {
        clients: Mutex::default(),
        waker,
    });
    let turns = Turns::new(options.max_threads);
    let server = Server {
        serving: Arc::clone(serving),
        pool: pool(options, &turns, &returned),
        turns,
        single: options.single,
        signals,
        wake,
        returned,
        parked: Vec::new(),
    };
    server.run(listener)
}

/// Waits for one client and serves it.
///
/// # Errors
/// If none can be let in, and why its session ended, unless the client ended it.
pub fn serve_one(listener: &TcpListener, serving: &Arc<Serving>) -> Result<()> {
    let failed = |error: io::Error| Error::io(&error, "Can't accept client connection");
    // Who blocked in `accept` would not hear of a signal.
    listener.set_nonblocking(true).map_err(failed)?;
    let stream = loop {
        serving.cancel.check()?;
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                wait_for(listener.as_fd(), Direction::In, ACCEPT_SLICE).map_err(failed)?;
            }
            Err(error) if is_passing(error.kind()) => {}
            Err(error) => return Err(failed(error)),
        }
    };
    stream.set_nonblocking(false).map_err(failed)?;
    client_of(stream, serving, None).map_err(failed)?.serve()
}

/// The clients that threads are done with for now.
struct Returned {
    clients: Mutex<Vec<Client>>,
    waker: UnixStream,
}

impl Returned {
    fn push(&self, client: Client) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push(client);
        drop(clients);
        // A full pipe wakes as well.
        let _ = (&self.waker).write(&[0]);
    }
}

struct Server {
    serving: Arc<Serving>,
    pool: Pool<Client>,
    turns: Turns,
    single: bool,
    signals: Signals,
    wake: UnixStream,
    returned: Arc<Returned>,
    /// Clients that wait for nothing but input.
    parked: Vec<Parked>,
}

struct Parked {
    client: Client,
    since: Instant,
}

fn pool(options: &ListenOptions, turns: &Turns, returned: &Arc<Returned>) -> Pool<Client> {
    let returned = Arc::clone(returned);
    let least = options.min_threads.min(options.max_threads);
    Pool::new(least, turns.clone(), move |pool, client| {
        serve_while_busy(pool, client, &returned);
    })
}

/// Serves a client as long as it has something for us.
fn serve_while_busy(pool: &Pool<Client>, mut client: Client, returned: &Returned) {
    loop {
        match client.step() {
            Ok(Next::Step) => {}
            Ok(Next::Wait) => {
                if pool.threads() <= FEW && client.connection().linger(LINGER) {
                    continue;
                }
                client.connection().rest();
                returned.push(client);
                return;
            }
            // Why is in the log.
            Ok(Next::End) | Err(_) => return,
        }
    }
}

impl Server {
    fn run(mut self, listener: &TcpListener) -> Result<()> {
        while !self.serving.cancel.is_set() {
            let ready = self.wait(listener)?;
            drain(&self.wake);
            drain(&self.signals.wake);
            if self.signals.hang_up.swap(false, Ordering::Relaxed)
                && let Some(logger) = &self.serving.logger
                && let Err(error) = logger.reopen()
            {
                logger.error((self.serving.clock)(), About::default(), &error);
            }
            // From the last, so that the others keep their places.
            for at in ready.clients.into_iter().rev() {
                self.pool.push(self.parked.swap_remove(at).client);
            }
            let returned = &self.returned.clients;
            let mut returned = returned.lock().unwrap_or_else(PoisonError::into_inner);
            let since = Instant::now();
            let parked = returned.drain(..).map(|client| Parked { client, since });
            self.parked.extend(parked);
            drop(returned);
            if let Some(idle) = self.serving.patience.idle {
                self.parked.retain(|parked| parked.since.elapsed() < idle);
            }
            if ready.listener {
                self.accept(listener)?;
            }
        }
        self.parked.clear();
        self.pool.close(GRACE);
        Ok(())
    }

    /// Waits until something happens.
    fn wait(&mut self, listener: &TcpListener) -> Result<Ready> {
        let inputs: Vec<BorrowedFd<'_>> = self
            .parked
            .iter()
            .filter_map(|parked| parked.client.transport().input())
            .collect();
        let (listening, signals, wake) = (
            listener.as_fd(),
            self.signals.wake.as_fd(),
            self.wake.as_fd(),
        );
        let mut fds: Vec<PollFd<'_>> = [&listening, &signals, &wake]
            .into_iter()
            .chain(&inputs)
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        // Those that were here first may leave first.
        let first = self
            .parked
            .iter()
            .map(|parked| parked.since.elapsed())
            .max();
        let idle = self.serving.patience.idle.zip(first);
        let longest = idle.map_or(LOOK, |(idle, first)| idle.saturating_sub(first).min(LOOK));
        match poll(&mut fds, Some(&timespec(longest))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Err(Error::io(&error.into(), "Can't accept client connection"));
            }
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        Ok(Ready {
            listener: is_ready(&fds[0]),
            clients: (3..fds.len())
                .filter(|at| is_ready(&fds[*at]))
                .map(|at| at - 3)
                .collect(),
        })
    }

    /// Lets in all that wait for it.
    fn accept(&mut self, listener: &TcpListener) -> Result<()> {
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    let turns = (!self.single).then_some(&self.turns);
                    let Ok(client) = client_of(stream, &self.serving, turns) else {
                        continue;
                    };
                    if self.single {
                        // Why it ended is in the log.
                        let _ = client.serve();
                    } else {
                        self.pool.push(client);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_passing(error.kind()) => {}
                Err(error) if is_exhausted(&error) => {
                    std::thread::sleep(PAUSE);
                    return Ok(());
                }
                Err(error) => {
                    return Err(Error::io(&error, "Can't accept client connection"));
                }
            }
        }
    }
}

/// What has happened.
struct Ready {
    listener: bool,
    /// The places of parked clients, in order.
    clients: Vec<usize>,
}

fn client_of(
    stream: TcpStream,
    serving: &Arc<Serving>,
    turns: Option<&Turns>,
) -> io::Result<Client> {
    let host = stream.peer_addr()?.ip().to_canonical().to_string();
    let socket = Box::new(Socket::new(stream)?);
    let connection = Connection::new(socket, turns.map(Turns::turn), serving);
    Ok(Client::new(connection, Arc::clone(serving), Some(host)))
}

fn drain(mut stream: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!(stream.read(&mut bytes), Ok(count) if count > 0) {}
}

fn is_passing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
