//! Targets on the command line: `^/…` below the repository root, reserved names.

use sylvan_core::opt::split_peg_text;
use sylvan_core::{Error, ErrorCode, Result, Url};

use crate::target::{Argument, PathOrUrl, canonical_url};
use crate::{Context, resolve};

/// The name of a working copy's administrative folder, which is no target.
const ADM_DIR: &str = ".svn";

/// The targets of a command.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The targets, canonical.
    pub list: Vec<Argument>,
    /// What was left out because its name is reserved: `RESERVED_FILENAME_SPECIFIED`, a link for
    /// each, the last one first.
    pub skipped: Option<Error>,
}

/// Makes the targets of a command canonical and finds the repository that `^/…` stands for: that
/// of the last target that has one, else that of the current directory.
///
/// # Errors
/// `ILLEGAL_TARGET` if `^/…` is used with targets of several repositories, `WC_NOT_WORKING_COPY`
/// if there is none; and what [`Argument::parse`] gives.
pub fn resolve(context: &Context, texts: &[String]) -> Result<Arguments> {
    let any_relative = texts.iter().any(|text| is_relative_url(text));
    let mut root = None;
    let mut skipped: Option<Error> = None;
    let mut found = Vec::with_capacity(texts.len());
    for text in texts {
        if is_relative_url(text) {
            found.push(None);
            continue;
        }
        let argument = Argument::parse(text)?;
        if argument
            .at
            .as_path()
            .is_some_and(|path| path.basename() == ADM_DIR)
        {
            let message = format!("'{text}' ends in a reserved name");
            skipped = Some(match skipped {
                Some(error) => error.wrap(ErrorCode::RESERVED_FILENAME_SPECIFIED, message),
                None => Error::new(ErrorCode::RESERVED_FILENAME_SPECIFIED, message),
            });
            continue;
        }
        if any_relative {
            check_root(context, &argument, &mut root)?;
        }
        found.push(Some(argument));
    }
    if any_relative && root.is_none() {
        root = Some(current_root(context)?);
    }
    let mut relative = texts.iter().filter(|text| is_relative_url(text));
    let mut list = Vec::with_capacity(found.len());
    for argument in found {
        list.push(match (argument, &root) {
            (None, Some(root)) => below_root(relative.next().map_or("", String::as_str), root)?,
            (Some(argument), _) => argument,
            (None, None) => unreachable!("a root was found for relative URLs"),
        });
    }
    Ok(Arguments { list, skipped })
}

/// Tells whether a target is below the repository root: `^/…`.
pub fn is_relative_url(text: &str) -> bool {
    text.starts_with("^/")
}

fn below_root(text: &str, root: &Url) -> Result<Argument> {
    let (place, peg) = split_peg_text(text);
    let below = place.strip_prefix('^').unwrap_or(place);
    Ok(Argument {
        at: PathOrUrl::Url(canonical_url(&format!("{root}{below}"))?),
        peg: peg.map(str::to_owned),
    })
}

/// Looks up the repository of a target. Several targets must agree; one that has none is fine.
fn check_root(context: &Context, argument: &Argument, root: &mut Option<Url>) -> Result<()> {
    let found = match &argument.target(&context.clock)?.at {
        PathOrUrl::Url(url) => resolve::repos_root(context, url).map(Some),
        PathOrUrl::Path(path) => resolve::path_repos_root(context, path),
    };
    let found = match found {
        Err(error)
            if [
                ErrorCode::ENTRY_NOT_FOUND,
                ErrorCode::WC_PATH_NOT_FOUND,
                ErrorCode::WC_NOT_WORKING_COPY,
                ErrorCode::RA_CANNOT_CREATE_SESSION,
                ErrorCode::CLIENT_BAD_REVISION,
            ]
            .contains(&error.code()) =>
        {
            return Ok(());
        }
        found => found?,
    };
    match (&root, found) {
        (Some(known), Some(found)) if *known != found => Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            "All non-relative targets must have the same root URL",
        )),
        (_, found) => {
            *root = found;
            Ok(())
        }
    }
}

fn current_root(context: &Context) -> Result<Url> {
    const MESSAGE: &str = "Resolving '^/': no repository root found in the target arguments or in \
                           the current directory";
    match resolve::path_repos_root(context, &sylvan_core::Dirent::default()) {
        Ok(Some(root)) => Ok(root),
        Ok(None) => Err(Error::new(ErrorCode::WC_NOT_WORKING_COPY, MESSAGE)),
        Err(error) => Err(error.wrap(ErrorCode::WC_NOT_WORKING_COPY, MESSAGE)),
    }
}
