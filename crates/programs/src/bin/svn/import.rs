//! `svn import`.

use sylvan_client::import::{ImportOptions, import};
use sylvan_client::target::PathOrUrl;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result};

use crate::add::auto_props;
use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log_message::{self, Messages};
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    log_message::check(inv, &context)?;
    let mut arguments = targets::read(env, inv, &context)?;
    let url = match arguments.len() {
        0 => {
            return Err(Error::new(
                ErrorCode::CL_INSUFFICIENT_ARGS,
                "Repository URL required when importing",
            ));
        }
        1 | 2 => arguments.pop(),
        _ => {
            return Err(Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                "Too many arguments to import command",
            ));
        }
    };
    targets::check_local(&arguments)?;
    let path = match arguments.first() {
        Some(path) => targets::verbatim_path(path),
        None => Dirent::default(),
    };
    let url = match url.map(|url| (url.at.clone(), url)) {
        Some((PathOrUrl::Url(_), url)) => targets::verbatim_url(&url)?,
        other => {
            let shown = other.map_or_else(String::new, |(_, shown)| shown.to_string());
            return Err(Error::new(
                ErrorCode::CL_ARG_PARSING_ERROR,
                format!("Invalid URL '{shown}'"),
            ));
        }
    };
    let options = ImportOptions {
        depth: inv.depth.unwrap_or(Depth::Infinity),
        no_ignore: inv.no_ignore,
        auto_props: auto_props(inv),
        force: inv.force,
        revprops: inv.revprops.iter().cloned().collect(),
    };
    let mut messages = Messages::new(inv, &context, env, None)?;
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    let mut notify = |what: &_| notifier.notify(out, what);
    let done = import(
        &context,
        &path,
        &url,
        &options,
        &mut |items| messages.ask(items),
        &mut notify,
    );
    let info = messages.settle(done)?;
    if let Some(info) = info.filter(|_| !inv.quiet) {
        log_message::print_commit(&mut env.out, &info)?;
    }
    Ok(Exit::Success)
}
