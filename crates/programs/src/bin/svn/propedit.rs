//! `svn propedit`.

use std::borrow::Cow;
use std::path::PathBuf;

use sylvan_client::Context;
use sylvan_client::proplist::{self, Options};
use sylvan_client::propset::{PropSetOptions, propset};
use sylvan_client::target::{PathOrUrl, Target};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result, props as core_props};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log_message::Editor;
use crate::props::{self, Use};
use crate::propset::warn_about_binary;
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let name = props::name(inv)?;
    props::check_name(name)?;
    if !inv.force {
        props::check_reserved(name, inv.revprop, Use::Edit)?;
    }
    if inv.encoding.is_some() && !core_props::is_svn(name) {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "--encoding option applies only to textual Subversion-controlled properties",
        ));
    }
    let arguments = targets::read_after(env, inv, &context, 1)?;
    if inv.revprop {
        return crate::not_yet(env, inv);
    }
    if inv.start() != RevisionSpec::Unspecified {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            format!("Cannot specify revision for editing versioned property '{name}'"),
        ));
    }
    if arguments.is_empty() {
        return Err(Error::new(
            ErrorCode::CL_INSUFFICIENT_ARGS,
            "Explicit target argument required",
        ));
    }
    for argument in &arguments {
        context.cancel.check()?;
        match argument.without_peg()? {
            PathOrUrl::Path(path) => local(env, inv, &context, name, path)?,
            PathOrUrl::Url(_) => return crate::not_yet(env, inv),
        }
    }
    Ok(Exit::Success)
}

fn local(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    name: &str,
    path: &Dirent,
) -> Result<()> {
    let old = value(context, name, path)?;
    targets::refuse_message(inv)?;
    let abspath = context.absolute(path);
    let dir = if abspath.as_path().is_dir() {
        path.clone()
    } else {
        path.dirname()
    };
    let editor = Editor::new(inv, &context.config);
    let mut left: Option<PathBuf> = None;
    let edited = editor.edit(dir.as_str(), "svn-prop", &old, &mut left);
    if let Some(file) = left {
        sylvan_io::file::remove_if_exists(&file)?;
    }
    let edited = match edited? {
        Some(bytes) if core_props::is_svn(name) => Some(editor.read(&bytes)?.into_bytes()),
        edited => edited,
    };
    let shown = path.local_style();
    let Some(new) = edited.filter(|new| *new != old) else {
        return env
            .out
            .line(format_args!("No changes to property '{name}' on '{shown}'"));
    };
    props::warn_about_boolean(env, name, &new);
    let paths = [path.clone()];
    warn_about_binary(env, context, name, &old, &paths)?;
    let options = PropSetOptions {
        name,
        value: Some(&new),
        depth: Depth::Empty,
        force: inv.force,
        changelists: &[],
    };
    propset(context, &paths, &options, &mut |_| {})?;
    env.out.line(format_args!(
        "Set new value for property '{name}' on '{shown}'"
    ))
}

/// Reads the property; nothing is an empty value.
fn value(context: &Context, name: &str, path: &Dirent) -> Result<Vec<u8>> {
    let mut found = Cow::Borrowed(&b""[..]);
    let options = Options {
        revision: RevisionSpec::Unspecified,
        depth: Depth::Empty,
        changelists: &[],
        inherited: false,
    };
    let target = Target::from(context.absolute(path));
    proplist::list(context, &target, &options, &mut |mut item| {
        if let Some(value) = item.props.as_mut().and_then(|props| props.remove(name)) {
            found = Cow::Owned(value);
        }
        Ok(())
    })?;
    Ok(found.into_owned())
}
