//! What was typed.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sylvan_cmdline::call::memory_cache_size;
use sylvan_cmdline::getopt::{Met, Parser};
use sylvan_cmdline::number::parse_u64;
use sylvan_cmdline::surroundings::current_dir;
use sylvan_cmdline::utf8;
use sylvan_core::{Dirent, Error, ErrorCode, Result};
use sylvan_server::svn::Patience;

use crate::NAME;
use crate::options::OPTIONS;

const PORT: u16 = 3690;
const MEGABYTE: u64 = 1 << 20;

/// How clients come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Daemon,
    Inetd,
    Tunnel,
    ListenOnce,
}

/// What was typed, in the end.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) mode: Mode,
    pub(crate) root: PathBuf,
    pub(crate) read_only: bool,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) host: Option<String>,
    pub(crate) prefer_ipv6: bool,
    pub(crate) compression: u32,
    pub(crate) memory_cache_size: Option<u64>,
    pub(crate) min_threads: usize,
    pub(crate) max_threads: usize,
    pub(crate) max_request_size: u64,
    pub(crate) max_response_size: u64,
    pub(crate) foreground: bool,
    pub(crate) single_thread: bool,
    pub(crate) log_file: Option<PathBuf>,
    pub(crate) pid_file: Option<PathBuf>,
    pub(crate) tunnel_user: Option<String>,
    pub(crate) virtual_host: bool,
    pub(crate) patience: Patience,
    pub(crate) metrics: Option<SocketAddr>,
}

impl Default for Invocation {
    fn default() -> Self {
        Self {
            mode: Mode::Daemon,
            root: PathBuf::from("/"),
            read_only: false,
            config_file: None,
            port: PORT,
            host: None,
            prefer_ipv6: false,
            compression: 5,
            memory_cache_size: None,
            min_threads: 1,
            max_threads: 256,
            max_request_size: 16 * MEGABYTE,
            max_response_size: 0,
            foreground: false,
            single_thread: false,
            log_file: None,
            pid_file: None,
            tunnel_user: None,
            virtual_host: false,
            patience: Patience::default(),
            metrics: None,
        }
    }
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Serve(Box<Invocation>),
    Help,
    Version {
        quiet: bool,
    },
    /// Nothing that makes sense; what is said about it.
    Nonsense(Vec<u8>),
}

/// Options that count how often they were typed, or end the reading.
#[derive(Debug, Default)]
struct Reading {
    inv: Invocation,
    modes: usize,
    last_mode: Option<Mode>,
    handlings: usize,
    version: bool,
    quiet: bool,
}

/// Reads the words of a call.
///
/// # Errors
/// For arguments that make no sense.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Asked> {
    let nonsense = |said: Vec<u8>| {
        let hint = b"Type 'svnserve --help' for usage.\n";
        Ok(Asked::Nonsense([&said, &hint[..]].concat()))
    };
    let mut parser = Parser::new(OPTIONS, words);
    let mut reading = Reading::default();
    while let Some(met) = parser.next_option() {
        match met {
            Ok(met) if met.option.key == "help" => return Ok(Asked::Help),
            Ok(met) => reading.take(&met)?,
            Err(error) => {
                let said = [NAME.as_bytes(), b": ", &error.to_bytes(), b"\n"];
                return nonsense(said.concat());
            }
        }
    }
    if reading.version {
        let quiet = reading.quiet;
        return Ok(Asked::Version { quiet });
    }
    if !parser.into_operands().is_empty() {
        return nonsense(Vec::new());
    }
    if reading.modes != 1 {
        return nonsense(b"You must specify exactly one of -d, -i, -t or -X.\n".to_vec());
    }
    if reading.handlings > 1 {
        return nonsense(b"You may only specify one of -T or --single-thread\n".to_vec());
    }
    Ok(Asked::Serve(Box::new(reading.inv)))
}

impl Reading {
    fn take(&mut self, met: &Met) -> Result<()> {
        let arg = &met.arg;
        let inv = &mut self.inv;
        match met.option.key {
            "daemon" => self.take_mode(Mode::Daemon),
            "inetd" => self.take_mode(Mode::Inetd),
            "tunnel" => self.take_mode(Mode::Tunnel),
            "listen-once" => self.take_mode(Mode::ListenOnce),
            "root" => inv.root = root(arg)?,
            "read-only" => inv.read_only = true,
            "config-file" => inv.config_file = Some(absolute(arg)?),
            "listen-port" => inv.port = port(arg)?,
            "listen-host" => inv.host = Some(utf8::os_text(arg)?.to_owned()),
            "prefer-ipv6" => inv.prefer_ipv6 = true,
            "compression" => {
                inv.compression = u32::try_from(leading_number(arg).clamp(0, 9)).unwrap_or(0);
            }
            "memory-cache-size" => inv.memory_cache_size = Some(memory_cache_size(arg)?),
            "threads" => self.handlings += 1,
            "single-thread" => {
                inv.single_thread = true;
                self.handlings += 1;
            }
            "min-threads" => inv.min_threads = count(arg),
            "max-threads" => inv.max_threads = count(arg).max(1),
            "max-request-size" => inv.max_request_size = megabytes(arg),
            "max-response-size" => inv.max_response_size = megabytes(arg),
            "foreground" => inv.foreground = true,
            "log-file" => inv.log_file = Some(absolute(arg)?),
            "pid-file" => inv.pid_file = Some(absolute(arg)?),
            "tunnel-user" => inv.tunnel_user = Some(utf8::os_text(arg)?.to_owned()),
            "virtual-host" => inv.virtual_host = true,
            "idle-timeout" => inv.patience.idle = Some(seconds(arg)?),
            "stall-timeout" => inv.patience.stall = Some(seconds(arg)?),
            "metrics" => inv.metrics = Some(metrics_address(arg)?),
            "version" => self.version = true,
            "quiet" => self.quiet = true,
            // What only tunes Subversion's caches.
            _ => {}
        }
        Ok(())
    }

    fn take_mode(&mut self, mode: Mode) {
        self.inv.mode = mode;
        if self.last_mode.replace(mode) != Some(mode) {
            self.modes += 1;
        }
    }
}

/// Reads the number that a word begins with, as C does; 0 if there is none.
fn leading_number(word: &OsStr) -> i64 {
    let text = word.to_string_lossy();
    let text = text.trim_start();
    let unsigned = text.trim_start_matches(['+', '-']);
    let digits = unsigned
        .find(|c: char| !c.is_ascii_digit())
        .map_or(unsigned, |end| &unsigned[..end]);
    let number = digits.parse().unwrap_or(0);
    if text.starts_with('-') {
        -number
    } else {
        number
    }
}

fn count(word: &OsStr) -> usize {
    usize::try_from(leading_number(word)).unwrap_or(0)
}

fn megabytes(word: &OsStr) -> u64 {
    let number = u64::try_from(leading_number(word)).unwrap_or(0);
    number.saturating_mul(MEGABYTE)
}

fn seconds(word: &OsStr) -> Result<Duration> {
    Ok(Duration::from_secs(parse_u64(utf8::os_text(word)?)?))
}

/// Reads a port of the loopback, or an address with a port.
fn metrics_address(word: &OsStr) -> Result<SocketAddr> {
    match utf8::os_text(word)?.parse() {
        Ok(address) => Ok(address),
        Err(_) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port(word)?))),
    }
}

fn port(word: &OsStr) -> Result<u16> {
    let text = utf8::os_text(word)?;
    let bad = || format!("Invalid port '{text}'");
    let number =
        parse_u64(text).map_err(|error| error.wrap(ErrorCode::CL_ARG_PARSING_ERROR, bad()))?;
    u16::try_from(number).map_err(|_| {
        Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!("Number '{text}' is out of range '[0, 65535]'"),
        )
        .wrap(ErrorCode::CL_ARG_PARSING_ERROR, bad())
    })
}

fn absolute(word: &OsStr) -> Result<PathBuf> {
    let path = Dirent::new(utf8::os_text(word)?).absolute(&current_dir()?);
    Ok(path.as_path().to_owned())
}

fn root(word: &OsStr) -> Result<PathBuf> {
    if !Path::new(word).is_dir() {
        let text = word.to_string_lossy();
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            format!("Root path '{text}' does not exist or is not a directory"),
        ));
    }
    absolute(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &str) -> String {
        match parse(words.split_whitespace().map(OsString::from).collect()) {
            Ok(Asked::Serve(inv)) => format!("{:?} {}", inv.mode, inv.port),
            Ok(Asked::Nonsense(said)) => String::from_utf8(said).unwrap(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_lines("svnserve: "),
        }
    }

    #[test]
    fn one_mode_is_needed() {
        const HINT: &str = "Type 'svnserve --help' for usage.\n";
        let modes = format!("You must specify exactly one of -d, -i, -t or -X.\n{HINT}");
        for (words, result) in [
            ("-d -d --listen-port=1", "Daemon 1"),
            ("-t", "Tunnel 3690"),
            ("", &*modes),
            ("-d -X", &*modes),
            ("-d x", HINT),
            ("--version -q x", "Version { quiet: true }"),
            ("-d --help", "Help"),
            (
                "-d -T --single-thread",
                &*format!("You may only specify one of -T or --single-thread\n{HINT}"),
            ),
            (
                "-d --no",
                &*format!("svnserve: invalid option: --no\n{HINT}"),
            ),
            (
                "-d --listen-port 70000",
                "svnserve: E205000: Invalid port '70000'\n\
                 svnserve: E200004: Number '70000' is out of range '[0, 65535]'\n",
            ),
            (
                "-d -r /no/such",
                "svnserve: E200009: Root path '/no/such' does not exist or is not a directory\n",
            ),
        ] {
            assert_eq!(shown(words), result, "{words}");
        }
    }

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, number) in [("12x", 12), (" 7", 7), ("x", 0), ("-3", -3), ("", 0)] {
            assert_eq!(leading_number(OsStr::new(text)), number);
        }
    }
}
