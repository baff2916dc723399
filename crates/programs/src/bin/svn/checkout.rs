//! `svn checkout`.

use sylvan_client::checkout::{CheckoutOptions, checkout};
use sylvan_client::target::{Argument, PathOrUrl};
use sylvan_core::{Dirent, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::notify::{Notifier, Operation};
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let mut arguments = targets::read(env, inv, &context)?;
    let folder = take_folder(&mut arguments)?;
    let progress = env.draw_progress(inv);
    let mut notifier = Notifier::new(Operation::Checkout, inv.quiet, context.current_dir.clone());
    let several = arguments.len() > 1;
    for argument in &arguments {
        context.cancel.check()?;
        let PathOrUrl::Url(url) = &argument.at else {
            return Err(Error::new(
                ErrorCode::BAD_URL,
                format!("'{argument}' does not appear to be a URL"),
            ));
        };
        let target = argument.target(&context.clock)?;
        let place = match &folder {
            Some(folder) if several => folder.join(&url.basename()),
            Some(folder) => folder.clone(),
            None => Dirent::new(&url.basename()),
        };
        let options = CheckoutOptions {
            peg: target.peg,
            revision: inv.start(),
            depth: inv.depth,
            ignore_externals: inv.ignore_externals,
            force: inv.force,
        };
        let out = &mut env.out;
        checkout(
            &context,
            url,
            &context.absolute(&place),
            &options,
            &mut |what| notifier.notify(out, what),
        )?;
    }
    drop(progress);
    notifier.externals_result()?;
    Ok(Exit::Success)
}

/// Takes the folder off the arguments: the last one, if it is no URL. Several URLs without a folder
/// go below the current one; for a single URL there is none.
fn take_folder(arguments: &mut Vec<Argument>) -> Result<Option<Dirent>> {
    let count = arguments.len();
    let Some(last) = arguments.last() else {
        return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
    };
    if last.at.is_url() {
        return Ok((count > 1).then(Dirent::default));
    }
    if count == 1 {
        return Err(Error::from_code(ErrorCode::CL_ARG_PARSING_ERROR));
    }
    let folder = Dirent::new(&last.to_string());
    arguments.pop();
    Ok(Some(folder))
}
