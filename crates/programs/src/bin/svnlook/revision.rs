//! What is said of a revision or a repository in few lines: `author`, `date`, `log`, `info`, `uuid`
//! and `youngest`.

use sylvan_cmdline::surroundings::local_zone;
use sylvan_core::text::to_ascii;
use sylvan_core::translate::Translator;
use sylvan_core::{Error, ErrorCode, Result, Timestamp};

use crate::invocation::Invocation;
use crate::look::{Env, Look};

const AUTHOR: &str = "svn:author";
const DATE: &str = "svn:date";
const LOG: &str = "svn:log";

pub(crate) fn author(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    print_author(env, &Look::open(inv)?)
}

pub(crate) fn date(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    print_date(env, &Look::open(inv)?)
}

pub(crate) fn log(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    let message = message(&Look::open(inv)?)?.unwrap_or_default();
    env.out.bytes(&message)?;
    env.out.print('\n')
}

pub(crate) fn info(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    let look = Look::open(inv)?;
    print_author(env, &look)?;
    print_date(env, &look)?;
    match message(&look)? {
        None => env.out.line('0'),
        Some(message) => {
            env.out.line(message.len())?;
            env.out.bytes(&message)?;
            env.out.print('\n')
        }
    }
}

pub(crate) fn uuid(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    env.out.line(Look::open(inv)?.fs().uuid())
}

pub(crate) fn youngest(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    env.out.print(Look::open(inv)?.fs().youngest()?)?;
    if inv.options.has("no-newline") {
        return Ok(());
    }
    env.out.print('\n')
}

fn print_author(env: &mut Env, look: &Look) -> Result<()> {
    let author = look.revprops()?.remove(AUTHOR).unwrap_or_default();
    env.out.bytes(&shown(until_nul(&author)))?;
    env.out.print('\n')
}

fn print_date(env: &mut Env, look: &Look) -> Result<()> {
    if let Some(date) = look.revprops()?.get(DATE) {
        let text = std::str::from_utf8(until_nul(date)).ok();
        let time = text.map(Timestamp::parse_iso).transpose()?;
        let time = time.ok_or_else(|| Error::from_code(ErrorCode::BAD_DATE))?;
        env.out.print(time.to_human(&local_zone()))?;
    }
    env.out.print('\n')
}

/// Returns the log message with line ends made the same.
fn message(look: &Look) -> Result<Option<Vec<u8>>> {
    let Some(value) = look.revprops()?.remove(LOG) else {
        return Ok(None);
    };
    let mut message = Vec::with_capacity(value.len());
    let mut translator = Translator::new(Some(b"\n"), true, None, false);
    translator.push(until_nul(&value), &mut message)?;
    translator.finish(&mut message)?;
    Ok(Some(shown(&message)))
}

/// Returns what strings of C would have of a value.
pub(crate) fn until_nul(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == 0);
    &value[..end.unwrap_or(value.len())]
}

/// Makes visible what is no UTF-8.
fn shown(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(_) => text.to_vec(),
        Err(_) => to_ascii(text).into_bytes(),
    }
}
