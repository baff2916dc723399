//! Fault injection: lets a test break the n-th durable step.
//!
//! Every function that changes a file or folder passes [`step`], and so does whoever commits a
//! transaction. Steps are counted over the whole process from [`arm`] on. Without it, a step costs
//! one load.
//!
//! | plan | effect |
//! |---|---|
//! | `kill:17` | the process is killed (SIGKILL) before its 17th step |
//! | `fail:17:ENOSPC` | the 17th step fails with this error (default `EIO`), later ones succeed |
//! | `fail-from:17:ENOSPC` | the 17th step and all later ones fail |
//! | `count` | nothing fails, steps are counted |

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use sylvan_core::{Error, ErrorCode, Result};

const OFF: u8 = 0;
const COUNT: u8 = 1;
const KILL: u8 = 2;
const FAIL: u8 = 3;
const FAIL_FROM: u8 = 4;

static MODE: AtomicU8 = AtomicU8::new(OFF);
static STEPS: AtomicU64 = AtomicU64::new(0);
static AT: AtomicU64 = AtomicU64::new(0);
static ERRNO: AtomicI32 = AtomicI32::new(0);

/// The environment variable from which programs take the plan.
pub const VARIABLE: &str = "SYLVAN_FAULT";

/// Passes one durable step, before it is done.
///
/// # Errors
/// The error of the plan, if it is this step's turn.
pub fn step() -> io::Result<()> {
    if MODE.load(Ordering::Relaxed) == OFF {
        return Ok(());
    }
    counted_step()
}

/// Begins a plan, counting from zero.
///
/// # Errors
/// `INCORRECT_PARAMS` if `plan` is none of those above.
pub fn arm(plan: &str) -> Result<()> {
    let mut words = plan.split(':');
    let mode = match words.next() {
        Some("count") => COUNT,
        Some("kill") => KILL,
        Some("fail") => FAIL,
        Some("fail-from") => FAIL_FROM,
        _ => return Err(bad_plan(plan)),
    };
    let at = match words.next() {
        None if mode == COUNT => 0,
        number => number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| bad_plan(plan))?,
    };
    let errno = match words.next() {
        None => Errno::IO,
        Some(name) => errno_of(name).ok_or_else(|| bad_plan(plan))?,
    };
    STEPS.store(0, Ordering::Relaxed);
    AT.store(at, Ordering::Relaxed);
    ERRNO.store(errno.raw_os_error(), Ordering::Relaxed);
    MODE.store(mode, Ordering::Release);
    Ok(())
}

/// Ends the plan.
pub fn disarm() {
    MODE.store(OFF, Ordering::Relaxed);
}

/// Returns the number of steps since [`arm`].
pub fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
}

#[cold]
fn counted_step() -> io::Result<()> {
    let mode = MODE.load(Ordering::Acquire);
    let step = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    let at = AT.load(Ordering::Relaxed);
    match mode {
        KILL if step >= at => {
            let _ = kill_process(getpid(), Signal::KILL);
            loop {
                std::thread::park();
            }
        }
        FAIL if step != at => Ok(()),
        FAIL_FROM if step < at => Ok(()),
        FAIL | FAIL_FROM => Err(io::Error::from_raw_os_error(ERRNO.load(Ordering::Relaxed))),
        _ => Ok(()),
    }
}

fn errno_of(name: &str) -> Option<Errno> {
    Some(match name {
        "EIO" => Errno::IO,
        "ENOSPC" => Errno::NOSPC,
        "EDQUOT" => Errno::DQUOT,
        "EACCES" => Errno::ACCESS,
        "EPERM" => Errno::PERM,
        "EROFS" => Errno::ROFS,
        "ESTALE" => Errno::STALE,
        "EMFILE" => Errno::MFILE,
        "ENOENT" => Errno::NOENT,
        "EEXIST" => Errno::EXIST,
        _ => return None,
    })
}

fn bad_plan(plan: &str) -> Error {
    Error::new(
        ErrorCode::INCORRECT_PARAMS,
        format!("Invalid fault plan '{plan}'"),
    )
}
