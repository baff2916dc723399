//! `svn add`, and `svn mkdir` in a working copy.

use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::NotifyFn;

use crate::auto_props::Rules;
use crate::{Context, disk, status};

/// What is added, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddOptions {
    /// How deep.
    pub depth: Depth,
    /// Pass over what is under version control already.
    pub force: bool,
    /// Add ignored files too.
    pub no_ignore: bool,
    /// Whether new files get properties by rules: `Some(false)` by none at all, `Some(true)` by
    /// those of the configuration even if it turns them off.
    pub auto_props: Option<bool>,
    /// Add missing folders above too.
    pub parents: bool,
}

/// Adds a file or folder.
///
/// # Errors
/// `E155007` outside of a working copy, `E195015` without a versioned folder above, and those of
/// [`sylvan_wc::add::add`].
pub fn add(
    context: &Context,
    path: &Dirent,
    options: &AddOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let abspath = context.absolute(path);
    let (mut wc, target) = open(context, &abspath, options)?;
    if target.is_root() && !options.force {
        return Err(Error::new(
            ErrorCode::ENTRY_EXISTS,
            format!("'{abspath}' is already under version control"),
        ));
    }
    let config = Rules::read(&context.config, options.auto_props)?;
    let ignores = status::global_ignores(&context.config);
    let how = sylvan_wc::add::AddOptions {
        depth: options.depth,
        force: options.force,
        ignores: (!options.no_ignore).then_some(&ignores[..]),
        auto_props: (options.auto_props != Some(false)).then_some(&config.auto_props),
        mime_types: &config.mime_types,
        clock: &context.clock,
    };
    let parent = target.parent().unwrap_or(RelPath::ROOT).to_owned();
    if !options.parents {
        check_above(&wc, &parent)?;
    }
    let above = match sylvan_wc::add::existing_parent(&wc, &parent) {
        Err(error) if !options.parents && error.code() == ErrorCode::CLIENT_NO_VERSIONED_PARENT => {
            RelPathBuf::root()
        }
        found => found?,
    };
    let cancel = &context.cancel;
    WcLock::with(&mut wc, &above, Anchor::Node, |wc, lock| {
        if options.parents && !target.is_root() && above != parent {
            sylvan_wc::add::add_parents(wc, lock, &target, &how, cancel, notify)?;
        }
        sylvan_wc::add::add(wc, lock, &target, &how, cancel, notify)
    })
}

/// Requires the folder above, or the one above that, to be under version control: it is locked.
fn check_above(wc: &WorkingCopy, parent: &RelPath) -> Result<()> {
    let is_known = |path| -> Result<bool> {
        Ok(wc
            .db()
            .node(path)?
            .is_some_and(|node| !node.layers.is_empty()))
    };
    match parent.parent() {
        Some(above) if !is_known(parent)? && !is_known(above)? => Err(Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", wc.local_path(above)),
        )),
        _ => Ok(()),
    }
}

/// Opens the working copy that something is added to. A symlink is not followed.
fn open(
    context: &Context,
    abspath: &Dirent,
    options: &AddOptions,
) -> Result<(WorkingCopy, RelPathBuf)> {
    let is_link = abspath.as_path().is_symlink();
    if !is_link {
        match WorkingCopy::open(abspath, &context.wc) {
            Err(error) if error.code() == ErrorCode::WC_NOT_WORKING_COPY => {}
            opened => return opened,
        }
    }
    // The folder above is what must be in a working copy.
    let (wc, parent) = match WorkingCopy::open(&abspath.dirname(), &context.wc) {
        Err(error) if options.parents && error.code() == ErrorCode::WC_NOT_WORKING_COPY => {
            return Err(Error::from_code(ErrorCode::CLIENT_NO_VERSIONED_PARENT));
        }
        opened => opened?,
    };
    let path = parent.child(abspath.basename())?;
    Ok((wc, path))
}

/// Makes a folder and adds it; with `parents` the missing ones above too.
///
/// # Errors
/// An operating system's error if the folder cannot be made, and those of [`add`]; a folder that
/// cannot be added is removed.
pub fn mkdir(
    context: &Context,
    path: &Dirent,
    parents: bool,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let abspath = context.absolute(path);
    let before = disk::kind(&abspath)?;
    if parents {
        disk::make_dir_recursively(&abspath)?;
    } else {
        disk::make_dir(&abspath)?;
    }
    let options = AddOptions {
        depth: Depth::Empty,
        force: false,
        no_ignore: false,
        auto_props: None,
        parents,
    };
    match add(context, &abspath, &options, notify) {
        Err(error) if before == NodeKind::None => {
            let removed = sylvan_io::file::remove_tree(abspath.as_path(), &context.cancel);
            Err(match removed {
                Ok(()) => error,
                Err(other) => error.attach(other),
            })
        }
        added => added,
    }
}
