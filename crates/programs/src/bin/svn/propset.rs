//! `svn propset`.

use std::borrow::Cow;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

use sylvan_client::Context;
use sylvan_client::propset::{PropSetOptions, propset};
use sylvan_client::target::Argument;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result, props as core_props};
use sylvan_wc::auto_props;

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::props::{self, Use};
use crate::{log_message, targets};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let from_file = inv.file_data.is_some();
    let operands = if from_file { 1 } else { 2 };
    if inv.operands.len() < operands {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    }
    let name = props::name(inv)?;
    props::check_name(name)?;
    if !inv.force {
        props::check_reserved(name, inv.revprop, Use::Set)?;
    }
    let given = match &inv.file_data {
        Some(data) => Cow::Borrowed(&data[..]),
        None => Cow::Borrowed(inv.operands[1].as_bytes()),
    };
    let value = value(inv, name, &given)?;
    let arguments = targets::read_after(env, inv, &context, operands)?;
    if inv.revprop {
        return crate::url_ops::revprop(env, inv, &context, name, Some(&value), &arguments);
    }
    let paths = paths(inv, name, &value, &arguments)?;
    warn_about_binary(env, &context, name, &value, &paths)?;
    let options = PropSetOptions {
        name,
        value: Some(&value),
        depth: inv.depth.unwrap_or(Depth::Empty),
        force: inv.force,
        changelists: &inv.changelists,
    };
    let mut notifier = Notifier::new(Operation::Other, inv.quiet, context.current_dir.clone());
    let out = &mut env.out;
    propset(&context, &paths, &options, &mut |what| {
        notifier.notify(out, what);
    })?;
    if !inv.quiet {
        props::warn_about_boolean(env, name, &value);
    }
    Ok(Exit::Success)
}

/// Returns the value as it is stored: Subversion's own are UTF-8 with LF.
pub(crate) fn value(inv: &Invocation, name: &str, given: &[u8]) -> Result<Vec<u8>> {
    if core_props::is_svn(name) {
        return log_message::normalize(given, inv.encoding.as_deref()).map(String::into_bytes);
    }
    if inv.encoding.is_some() {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "--encoding option applies only to textual Subversion-controlled properties",
        ));
    }
    Ok(given.to_vec())
}

/// Returns the targets of a versioned property, which must be named and local.
fn paths(
    inv: &Invocation,
    name: &str,
    value: &[u8],
    arguments: &[Argument],
) -> Result<Vec<Dirent>> {
    let paths = targets::without_pegs(arguments)?;
    if inv.start() != RevisionSpec::Unspecified {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            format!("Cannot specify revision for setting versioned property '{name}'"),
        ));
    }
    if arguments.is_empty() {
        let message = if inv.file_data.is_none() {
            let value = String::from_utf8_lossy(value);
            format!("Explicit target required ('{value}' interpreted as prop value)")
        } else {
            "Explicit target argument required".to_owned()
        };
        return Err(Error::new(ErrorCode::CL_INSUFFICIENT_ARGS, message));
    }
    check_local(arguments)?;
    Ok(paths)
}

/// Requires the targets of a versioned property to be local.
pub(crate) fn check_local(arguments: &[Argument]) -> Result<()> {
    if targets::are_urls(arguments)? {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "Targets must be working copy paths",
        ));
    }
    Ok(())
}

/// Warns about files that look like text and are to be binary.
pub(crate) fn warn_about_binary(
    env: &mut Env,
    context: &Context,
    name: &str,
    value: &[u8],
    paths: &[Dirent],
) -> Result<()> {
    if name != core_props::SVN_MIME_TYPE {
        return Ok(());
    }
    for path in paths {
        let path = context.absolute(path);
        if !path.as_path().is_file() {
            continue;
        }
        let value = core_props::canonical_value(name, value, path.as_str(), false, &context.clock)?;
        let mime_type = String::from_utf8_lossy(&value);
        if core_props::mime_type_is_binary(&mime_type) && looks_like_text(&path)? {
            env.out.error(format_args!(
                "svn: warning: '{mime_type}' is a binary mime-type but file '{path}' looks like \
                 text; diff, merge, blame, and other operations will stop working on this file\n"
            ));
        }
    }
    Ok(())
}

fn looks_like_text(path: &Dirent) -> Result<bool> {
    let mut beginning = Vec::with_capacity(auto_props::PROBED);
    sylvan_io::file::open(path.as_path())?
        .take(auto_props::PROBED as u64)
        .read_to_end(&mut beginning)
        .map_err(|error| Error::io(&error, format_args!("Can't read file '{path}'")))?;
    Ok(!auto_props::is_binary(&beginning))
}
