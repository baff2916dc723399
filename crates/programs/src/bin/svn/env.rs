//! What a subcommand works with.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use sylvan_client::Sessions;
use sylvan_cmdline::error;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::progress::Drawing;
use sylvan_cmdline::prompt::Asker;
use sylvan_cmdline::surroundings::{config_directories, current_dir, local_zone};
use sylvan_core::time::{Clock, TimeZone};
use sylvan_core::{Error, Result};
use sylvan_io::{Cancel, Category, Config, Progress, config};

use crate::PROGRAM;
use crate::credentials::Credentials;
use crate::invocation::Invocation;

/// Set to `yes`, it lets operations end while a later edit may still go unnoticed. For tests.
const NO_WAIT: &str = "SVN_I_LOVE_CORRUPTED_WORKING_COPIES_SO_DISABLE_SLEEP_FOR_TIMESTAMPS";

/// How the program ends when no error is to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// Something failed and was reported already.
    Failure,
}

/// The program's surroundings. What costs time (configuration, credentials, time zone) is loaded
/// when first asked for.
pub(crate) struct Env {
    /// Where everything is printed.
    pub(crate) out: Output,
    /// Set by signals.
    pub(crate) cancel: Cancel,
    /// What operations count, for drawing.
    pub(crate) progress: Progress,
    config: Option<Arc<Config>>,
    zone: Option<TimeZone>,
}

impl Env {
    /// The process's own surroundings.
    pub(crate) fn standard() -> Self {
        Self {
            out: Output::standard(),
            cancel: Cancel::new(),
            progress: Progress::new(),
            config: None,
            zone: None,
        }
    }

    /// Returns the configuration, with the options of this call applied.
    pub(crate) fn config(&mut self, inv: &Invocation) -> Result<Arc<Config>> {
        if let Some(config) = &self.config {
            return Ok(Arc::clone(config));
        }
        let directories = config_directories(inv.config_dir.as_deref());
        if let Some(dir) = &directories.user {
            config::ensure(dir);
        }
        let mut config = match Config::load(&directories) {
            Ok(config) => config,
            Err(error) if is_out_of_reach(&error) => {
                self.warn(&error);
                Config::default()
            }
            Err(error) => return Err(error),
        };
        for warning in config.apply(&inv.config_options, "--config-option") {
            self.warn(&warning);
        }
        if let Some(program) = &inv.diff3_cmd {
            config.set(Category::Config, "helpers", "diff3-cmd", program);
        }
        if let Some(program) = &inv.diff_cmd {
            config.set(Category::Config, "helpers", "diff-cmd", program);
        }
        if inv.internal_diff {
            config.set(Category::Config, "helpers", "diff-cmd", "");
        }
        let config = Arc::new(config);
        self.config = Some(Arc::clone(&config));
        Ok(config)
    }

    /// Makes what operations work with.
    pub(crate) fn client(&mut self, inv: &Invocation) -> Result<sylvan_client::Context> {
        let config = self.config(inv)?;
        check_booleans(&config, inv)?;
        let password = match inv.password_from_stdin {
            true => Some(read_password()?),
            false => inv.password.clone(),
        };
        let asker = Asker::new(self.cancel.clone(), self.out.screen());
        let credentials = Credentials::new(inv, password, asker);
        let shared = SharedAccess {
            config: Arc::clone(&config),
            credentials,
            cancel: self.cancel.clone(),
            progress: self.progress.clone(),
            made: OnceLock::new(),
        };
        let mut wc = sylvan_wc::Options::from_config(&config, PROGRAM.name);
        wc.time_zone = self.zone();
        if let Some(workers) = std::env::var("SYLVAN_WORKERS")
            .ok()
            .and_then(|n| n.parse().ok())
        {
            wc.workers = Some(workers);
        }
        Ok(sylvan_client::Context {
            sessions: Sessions::new(Box::new(move |url, redirected| {
                check_server_booleans(&shared.config)?;
                match redirected {
                    Some(tell) => sylvan_ra::open_following(url, shared.context(), tell),
                    None => sylvan_ra::open(url, shared.context()),
                }
            })),
            wc,
            config,
            cancel: self.cancel.clone(),
            progress: self.progress.clone(),
            waits_for_timestamps: !std::env::var(NO_WAIT)
                .is_ok_and(|said| said.eq_ignore_ascii_case("yes")),
            clock: Clock {
                now: SystemTime::now().into(),
                zone: self.zone(),
            },
            current_dir: current_dir()?,
        })
    }

    /// Returns the user's time zone, in which dates are printed.
    pub(crate) fn zone(&mut self) -> TimeZone {
        self.zone.get_or_insert_with(local_zone).clone()
    }

    /// Draws progress until the value is dropped: on a terminal, unless output is unwanted.
    pub(crate) fn draw_progress(&self, inv: &Invocation) -> Drawing {
        if inv.quiet {
            Drawing::off()
        } else {
            Drawing::start(self.progress.clone(), self.out.screen())
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(&mut self, error: &Error) {
        error::warn(&mut self.out, PROGRAM.name, error);
    }
}

/// Requires those options to make sense that Subversion reads whatever is to be done.
fn check_booleans(config: &Config, inv: &Invocation) -> Result<()> {
    let check = |section, option| {
        config
            .get_bool(Category::Config, section, option, false)
            .map(drop)
    };
    if !inv.non_interactive {
        check("auth", "ssl-client-cert-file-prompt")?;
    }
    check("auth", "store-passwords")?;
    check("auth", "store-auth-creds")?;
    check("miscellany", "interactive-conflicts")
}

/// Requires options about stored credentials to make sense, as Subversion does whenever it opens a
/// session. Those of a server's group are read when it asks for credentials.
fn check_server_booleans(config: &Config) -> Result<()> {
    for (option, may_ask) in [
        ("store-passwords", false),
        ("store-plaintext-passwords", true),
        ("store-ssl-client-cert-pp", false),
        ("store-ssl-client-cert-pp-plaintext", true),
        ("store-auth-creds", false),
    ] {
        let value = config.get(Category::Servers, "global", option);
        if !(may_ask && value.is_some_and(|value| value.eq_ignore_ascii_case("ask"))) {
            config.get_bool(Category::Servers, "global", option, false)?;
        }
    }
    Ok(())
}

/// What sessions share, made when the first one is opened.
struct SharedAccess {
    config: Arc<Config>,
    credentials: Credentials,
    cancel: Cancel,
    progress: Progress,
    made: OnceLock<sylvan_ra::Context>,
}

impl SharedAccess {
    fn context(&self) -> &sylvan_ra::Context {
        self.made.get_or_init(|| sylvan_ra::Context {
            config: Arc::clone(&self.config),
            auth: Arc::new(Mutex::new(self.credentials.auth(&self.config))),
            cancel: self.cancel.clone(),
            progress: self.progress.clone(),
            cache: sylvan_ra::Cache::default(),
        })
    }
}

/// Reads a line from standard input.
fn read_password() -> Result<String> {
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| Error::io(&error, "Can't read stdin"))?;
    if line.ends_with('\n') {
        line.pop();
    }
    Ok(line)
}

/// Tells whether the configuration could not be read for a reason that is not the user's fault.
fn is_out_of_reach(error: &Error) -> bool {
    const EACCES: i32 = 13;
    const ENOTDIR: i32 = 20;
    [EACCES, ENOTDIR].contains(&error.code().number())
}
