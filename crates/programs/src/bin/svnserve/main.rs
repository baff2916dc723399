//! `svnserve`, which serves repositories to clients of `svn://`.

mod daemon;
mod invocation;
mod options;
mod socket;

use std::process::ExitCode;
use std::sync::Arc;

use sylvan_cmdline::call;
use sylvan_cmdline::help::option_lines;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::version;
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_fs::Cache;
use sylvan_io::Cancel;
use sylvan_repos::authz::AuthzCache;
use sylvan_server::svn::{
    ListenOptions, Logger, Pipes, ServerConfig, Serving, listen, serve_metrics, serve_one,
    serve_pipes,
};

use crate::invocation::{Asked, Invocation, Mode};
use crate::options::{HELP, OPTIONS};

const NAME: &str = "svnserve";

fn main() -> ExitCode {
    let mut out = Output::standard();
    let cancel = Cancel::new();
    let ended = run(&mut out, &cancel);
    call::end(&mut out, &cancel, NAME, ended)
}

fn run(out: &mut Output, cancel: &Cancel) -> Result<ExitCode> {
    let inv = match invocation::parse(std::env::args_os().skip(1).collect())? {
        Asked::Serve(inv) => inv,
        Asked::Help => {
            out.print(HELP)?;
            out.line(option_lines(OPTIONS))?;
            return Ok(ExitCode::SUCCESS);
        }
        Asked::Version { quiet } => {
            if quiet {
                out.line(version::COMPATIBLE)?;
            } else {
                out.print(version::banner(NAME))?;
                out.print(version::FILE_SYSTEMS)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        Asked::Nonsense(said) => {
            out.error_bytes(&said);
            return Ok(ExitCode::FAILURE);
        }
    };
    if inv.tunnel_user.is_some() && inv.mode != Mode::Tunnel {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "Option --tunnel-user is only valid in tunnel mode",
        ));
    }
    serve(&inv, cancel)?;
    Ok(ExitCode::SUCCESS)
}

fn serve(inv: &Invocation, cancel: &Cancel) -> Result<()> {
    if let Mode::Inetd | Mode::Tunnel = inv.mode {
        let serving = serving(inv, cancel, log_to_file(inv)?)?;
        sylvan_cmdline::signal::catch(cancel);
        return serve_pipes(&serving, Pipes::new());
    }
    let listener = match daemon::inherited() {
        Some(listener) => listener,
        None => {
            // Mistakes are told before the daemon leaves the terminal.
            let _ = serving(inv, cancel, None)?;
            socket::bind(inv)?
        }
    };
    if inv.mode == Mode::Daemon && !inv.foreground && !daemon::is_one() {
        return daemon::start(listener);
    }
    let mut logger = log_to_file(inv)?;
    if logger.is_none() && inv.mode == Mode::ListenOnce {
        logger = Some(Logger::standard_error());
    }
    let serving = serving(inv, cancel, logger)?;
    let signals = socket::signals(cancel)?;
    if let Some(path) = &inv.pid_file {
        socket::write_pid_file(path)?;
    }
    if let Some(address) = inv.metrics {
        let failed = |error: std::io::Error| Error::io(&error, "Can't bind server socket");
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        serve_metrics(listener, &serving)?;
    }
    socket::raise_descriptor_limit();
    daemon::leave_terminal();
    if inv.mode == Mode::ListenOnce {
        return serve_one(&listener, &serving);
    }
    let options = ListenOptions {
        min_threads: inv.min_threads,
        max_threads: inv.max_threads,
        single: inv.single_thread,
    };
    listen(&listener, &serving, &options, signals)
}

fn log_to_file(inv: &Invocation) -> Result<Option<Logger>> {
    inv.log_file.as_deref().map(Logger::open).transpose()
}

fn serving(inv: &Invocation, cancel: &Cancel, logger: Option<Logger>) -> Result<Arc<Serving>> {
    let config = inv.config_file.as_deref().map(ServerConfig::read);
    let tunnel = (inv.mode == Mode::Tunnel).then(|| {
        let given = inv.tunnel_user.clone();
        given.or_else(socket::user_name)
    });
    let cache = match inv.memory_cache_size {
        Some(bytes) => Cache::new(usize::try_from(bytes).unwrap_or(usize::MAX)),
        None => Cache::new(16 << 20),
    };
    Ok(Arc::new(Serving {
        root: inv.root.clone(),
        read_only: inv.read_only,
        virtual_host: inv.virtual_host,
        config: config.transpose()?,
        compression: inv.compression,
        max_request: inv.max_request_size,
        max_response: inv.max_response_size,
        cache,
        rules: AuthzCache::default(),
        patience: inv.patience,
        metrics: Arc::default(),
        logger,
        cancel: cancel.clone(),
        clock: || std::time::SystemTime::now().into(),
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        tunnel,
    }))
}
