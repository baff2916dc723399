//! `svn export`: a tree without version control, from a repository or a working copy.

mod editor;
mod local;
mod props;
mod sink;
mod workers;

use sylvan_core::externals::parse;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::translate::Eol;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::ReportEntry;
use sylvan_wc::notify::{Action, Notification, NotifyFn};

use crate::externals::tell_failure;
use crate::location::default_to;
use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::{Context, PooledSession, disk};
use editor::ExportEditor;
use props::{FileProps, Style};

/// How a tree is exported.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The revision; the peg revision by default.
    pub revision: RevisionSpec,
    /// How deep.
    pub depth: Depth,
    /// Whether what is there is overwritten.
    pub force: bool,
    /// Whether `svn:externals` are left out.
    pub ignore_externals: bool,
    /// Whether keywords stay as they are in the repository.
    pub ignore_keywords: bool,
    /// What `native` line ends become; the system's by default.
    pub native_eol: Option<Eol>,
}

/// Exports `from` to the local path `to`, both as the user named them. Returns the revision, if it
/// came from a repository.
///
/// # Errors
/// `E155000` if the destination exists and is not to be overwritten, `E155007` if it is no folder
/// where one is wanted, `E200009` for a file in the way, `E170000` if the URL does not exist,
/// `E155010` if the path is not versioned.
pub fn export(
    context: &Context,
    from: &Target,
    to: &Dirent,
    options: &ExportOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<Revnum>> {
    let peg = default_to(
        from.peg,
        if from.at.is_url() {
            RevisionSpec::Head
        } else {
            RevisionSpec::Working
        },
    );
    let revision = default_to(options.revision, peg);
    let is_local = matches!(
        revision,
        RevisionSpec::Unspecified
            | RevisionSpec::Working
            | RevisionSpec::Base
            | RevisionSpec::Committed
    );
    let (to, rev) = match &from.at {
        PathOrUrl::Path(path) if is_local => {
            let to = local::export(context, path, to, options, revision, notify)?;
            (to, None)
        }
        _ => {
            let from = Target {
                at: from.at.clone(),
                peg,
            };
            from_repository(context, &from, revision, to, options, notify)?
        }
    };
    let mut done = Notification::new(to, Action::UpdateCompleted);
    done.rev = rev;
    notify(&done);
    Ok(rev)
}

/// Exports from the repository; returns where to, and the revision if the server told it.
fn from_repository(
    context: &Context,
    from: &Target,
    revision: RevisionSpec,
    to: &Dirent,
    options: &ExportOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<(Dirent, Option<Revnum>)> {
    let from = resolve::follow(context, from.clone(), notify)?;
    let (mut session, found) = resolve::open(context, &from, revision)?;
    let done = match session.check_path(RelPath::ROOT, Some(found.rev))? {
        NodeKind::File => {
            let to = file(context, &mut session, &found, to, options, notify)?;
            (to, None)
        }
        NodeKind::Dir => {
            let rev = folder(context, session, &found, to, options, notify)?;
            return Ok((to.clone(), rev));
        }
        NodeKind::None | NodeKind::Unknown => {
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{}' doesn't exist", from.at),
            ));
        }
    };
    session.give_back();
    Ok(done)
}

/// Exports a file; a folder at `to` gets it under its own name.
fn file(
    context: &Context,
    session: &mut PooledSession<'_>,
    found: &PathRev,
    to: &Dirent,
    options: &ExportOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Dirent> {
    let name = found.url.basename();
    let to = if to.as_str().is_empty() {
        Dirent::new(&name)
    } else {
        into_folder(to, &name)?
    };
    check_file_destination(&to, options.force)?;
    let folder = to.dirname();
    check_folder(&folder)?;
    let mut text = sink::Sink::new(folder.as_path());
    let (_, props) = session.read_file(RelPath::ROOT, Some(found.rev), Some(&mut text))?;
    let mut what = FileProps::default();
    for (name, value) in &props {
        what.take(name, value)?;
    }
    let recipe = what.recipe(
        Some(&found.url),
        Some(&found.repos_root),
        &style(context, options),
    );
    text.install(to.as_path(), &recipe, sink::Place::Shared)?;
    notify(&Notification::new(to.clone(), Action::UpdateAdd).kind(NodeKind::File));
    Ok(to)
}

/// A file is not exported into a folder that is not there.
fn check_folder(folder: &Dirent) -> Result<()> {
    std::fs::metadata(folder.as_path())
        .map(drop)
        .map_err(|error| {
            Error::io(
                &error,
                format_args!(
                    "Can't create temporary file from template '{}'",
                    folder.join("svn-XXXXXX")
                ),
            )
        })
}

/// If `to` is a folder, returns the place for `name` in it.
fn into_folder(to: &Dirent, name: &str) -> Result<Dirent> {
    if disk::resolved_kind(to)? == NodeKind::Dir {
        Ok(to.join(name))
    } else {
        Ok(to.clone())
    }
}

fn check_file_destination(to: &Dirent, force: bool) -> Result<()> {
    let what = match disk::kind(to)? {
        NodeKind::File | NodeKind::Unknown if !force => {
            format!("Destination file '{to}' exists, and will not be overwritten unless forced")
        }
        NodeKind::Dir => {
            format!("Destination '{to}' exists. Cannot overwrite directory with non-directory")
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorCode::ILLEGAL_TARGET, what))
}

/// Exports a folder and what it takes from elsewhere.
fn folder(
    context: &Context,
    mut session: PooledSession<'_>,
    found: &PathRev,
    to: &Dirent,
    options: &ExportOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<Option<Revnum>> {
    let wanted = sylvan_ra::UpdateOptions {
        rev: Some(found.rev),
        target: String::new(),
        depth: Some(options.depth),
        send_copyfrom_args: false,
        ignore_ancestry: false,
    };
    let report = [ReportEntry::SetPath {
        path: RelPathBuf::root(),
        rev: found.rev,
        depth: Depth::Infinity,
        start_empty: true,
        lock_token: None,
    }];
    let style = style(context, options);
    let done = {
        let mut editor =
            ExportEditor::new(context, found, to, options.force, &style, &mut *notify)?;
        session.update(&wanted, &report, &mut editor)?;
        editor.finish()
    };
    session.give_back();
    if disk::kind(to)? == NodeKind::None {
        editor::open_root(to, options.force, notify)?;
    }
    if !options.ignore_externals && options.depth == Depth::Infinity {
        for (path, value) in &done.externals {
            externals(context, found, to, path, value, options, notify)?;
        }
    }
    Ok(done.rev)
}

/// Exports the externals of one exported folder.
fn externals(
    context: &Context,
    found: &PathRev,
    to: &Dirent,
    path: &RelPath,
    value: &[u8],
    options: &ExportOptions,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let folder = context.absolute(&to.join(path.as_str()));
    let url = found.url.join(path);
    for item in parse(
        folder.as_str(),
        &String::from_utf8_lossy(value),
        &context.clock,
    )? {
        context.cancel.check()?;
        let below = RelPathBuf::canonicalize(&item.target).map_err(|_| {
            Error::new(
                ErrorCode::WC_OBSTRUCTED_UPDATE,
                format!(
                    "Path '{}' is not in the working copy",
                    folder.join(&item.target)
                ),
            )
        })?;
        let place = folder.join(below.as_str());
        let item_url = item.resolve_url(&found.repos_root, &url)?;
        disk::make_dir_recursively(&place.dirname())?;
        notify(&Notification::new(place.clone(), Action::UpdateExternal));
        let target = Target {
            at: PathOrUrl::Url(item_url),
            peg: item.peg,
        };
        let options = ExportOptions {
            revision: item.revision,
            depth: Depth::Infinity,
            force: true,
            ..options.clone()
        };
        let done = export(context, &target, &place, &options, notify);
        tell_failure(done.map(drop), place, notify)?;
    }
    Ok(())
}

fn style(context: &Context, options: &ExportOptions) -> Style {
    Style {
        ignore_keywords: options.ignore_keywords,
        native_eol: options.native_eol,
        zone: context.clock.zone.clone(),
    }
}
