//! Exporting from a working copy.

use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

use sylvan_core::opt::RevisionSpec;
use sylvan_core::props::{SVN_EOL_STYLE, SVN_KEYWORDS, SVN_SPECIAL};
use sylvan_core::translate::{Eol, Translation, Translator, special};
use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Props, RelPath, Result, Timestamp};
use sylvan_wc::WorkingCopy;
use sylvan_wc::external;
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::status::{self, Status, StatusKind, StatusOptions};

use super::props::FileProps;
use super::sink::{Place, Sink};
use super::{ExportOptions, check_file_destination, into_folder, style};
use crate::target::{PathOrUrl, Target};
use crate::{Context, disk};

/// Exports the node at `from`; returns where to.
pub(super) fn export(
    context: &Context,
    from: &Dirent,
    to: &Dirent,
    options: &ExportOptions,
    revision: RevisionSpec,
    notify: &mut NotifyFn<'_>,
) -> Result<Dirent> {
    let from = context.absolute(from);
    let mut to = context.absolute(to);
    if disk::kind(&from)? == NodeKind::File {
        to = into_folder(&to, from.basename())?;
    }
    let (wc, at) = WorkingCopy::open(&from, &context.wc)?;
    let mut one = Export {
        context,
        wc: &wc,
        origin: &at,
        to: &to,
        options,
        is_working: revision == RevisionSpec::Working,
        exported: false,
    };
    let walk = StatusOptions {
        depth: Some(options.depth),
        all: true,
        no_ignore: true,
        global_ignores: Vec::new(),
    };
    status::walk(&wc, &at, &walk, &context.cancel, &mut |path, status| {
        one.node(path, &status, notify)
    })?;
    if !one.exported {
        return Err(not_found(&from));
    }
    if !options.ignore_externals {
        externals(context, &wc, &from, &at, &to, options, revision, notify)?;
    }
    Ok(to)
}

fn not_found(path: &Dirent) -> Error {
    Error::new(
        ErrorCode::WC_PATH_NOT_FOUND,
        format!("The node '{path}' was not found."),
    )
}

/// Exports what the externals of the tree brought into it.
#[expect(clippy::too_many_arguments, reason = "the parts of one export")]
fn externals(
    context: &Context,
    wc: &WorkingCopy,
    from: &Dirent,
    at: &RelPath,
    to: &Dirent,
    options: &ExportOptions,
    revision: RevisionSpec,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    for external in external::list(wc, at)? {
        let below = external.path.strip_prefix(at).unwrap_or(&external.path);
        let place = to.join(below.as_str());
        disk::make_dir_recursively(&place.dirname())?;
        let target = Target {
            at: PathOrUrl::Path(from.join(below.as_str())),
            peg: revision,
        };
        let options = ExportOptions {
            revision,
            force: true,
            ..options.clone()
        };
        super::export(context, &target, &place, &options, notify)?;
    }
    Ok(())
}

struct Export<'a> {
    context: &'a Context,
    wc: &'a WorkingCopy,
    origin: &'a RelPath,
    to: &'a Dirent,
    options: &'a ExportOptions,
    /// Whether local changes are exported.
    is_working: bool,
    exported: bool,
}

impl Export<'_> {
    fn node(&mut self, path: &RelPath, status: &Status, notify: &mut NotifyFn<'_>) -> Result<()> {
        self.exported = true;
        if self.is_working && status.node == StatusKind::Deleted {
            return Ok(());
        }
        let below = path.strip_prefix(self.origin).unwrap_or(path);
        let to = self.to.join(below.as_str());
        match status.kind {
            NodeKind::Dir => self.folder(path, &to, notify),
            NodeKind::File => self.file(path, &to, status, notify),
            _ if path == self.origin => Err(not_found(&self.wc.local_path(path))),
            _ => Ok(()),
        }
    }

    fn folder(&self, path: &RelPath, to: &Dirent, notify: &mut NotifyFn<'_>) -> Result<()> {
        let mut builder = DirBuilder::new();
        let local = self.wc.local_path(path);
        if self.is_working {
            let meta = fs::metadata(local.as_path())
                .map_err(|error| Error::io(&error, format_args!("Can't stat '{local}'")))?;
            builder.mode(meta.permissions().mode() & 0o7777);
        }
        match builder.create(to.as_path()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !self.options.force {
                    let error = Error::io(&error, format_args!("Can't create directory '{to}'"));
                    return Err(error.context(
                        "Destination directory exists, and will not be overwritten unless forced",
                    ));
                }
            }
            Err(error) => {
                let action = format_args!("Can't create directory '{to}'");
                return Err(Error::io(&error, action));
            }
        }
        if path != self.origin {
            notify(&Notification::new(to.clone(), Action::UpdateAdd).kind(NodeKind::Dir));
        }
        Ok(())
    }

    fn file(
        &self,
        path: &RelPath,
        to: &Dirent,
        status: &Status,
        notify: &mut NotifyFn<'_>,
    ) -> Result<()> {
        if status.file_external && path != self.origin {
            return Ok(());
        }
        if path == self.origin {
            check_file_destination(to, self.options.force)?;
        }
        let Some((text, props)) = self.content(path, to)? else {
            return Ok(());
        };
        let is_changed = self.is_working && status.node != StatusKind::Normal;
        let mut what = FileProps::default();
        for (name, value) in &props {
            what.take(name, value)?;
        }
        let local = self.wc.local_path(path);
        what.of_working_copy(
            status.changed_rev,
            status.changed_author.as_deref(),
            if is_changed {
                modification_time(&local)?
            } else {
                status.changed_date
            },
            is_changed,
        );
        let root = status
            .repository
            .as_ref()
            .map(|repository| &repository.root);
        let url = root.zip(status.repos_path.as_ref());
        let url = url.map(|(root, path)| root.join(path));
        let recipe = what.recipe(url.as_ref(), root, &style(self.context, self.options));
        let is_special = recipe.special;
        text.install(to.as_path(), &recipe, Place::Shared)?;
        self.context.progress.add_files(1);
        if !is_special {
            notify(&Notification::new(to.clone(), Action::UpdateAdd).kind(NodeKind::File));
        }
        Ok(())
    }

    /// Returns text and properties that are exported, `None` for what is not in the revision.
    fn content(&self, path: &RelPath, to: &Dirent) -> Result<Option<(Sink, Props)>> {
        let mut sink = Sink::new(to.dirname().as_path());
        if !self.is_working {
            let Some(pristine) = sylvan_wc::pristine::open_text(self.wc, path)? else {
                return Ok(None);
            };
            let props = sylvan_wc::props::pristine(self.wc, path)?;
            let translator = self.line_ends(&props);
            through(translator, pristine, &self.wc.local_path(path), &mut sink)?;
            return Ok(Some((sink, props)));
        }
        let props = sylvan_wc::props::actual(self.wc, path)?;
        let local = self.wc.local_path(path);
        let meta =
            fs::symlink_metadata(local.as_path()).map_err(|error| open_failed(&error, &local))?;
        if meta.is_symlink() {
            let target =
                fs::read_link(local.as_path()).map_err(|error| open_failed(&error, &local))?;
            sink.push(&special::link_content(target.as_os_str().as_bytes()))?;
        } else {
            let file =
                fs::File::open(local.as_path()).map_err(|error| open_failed(&error, &local))?;
            let translator = if self.options.ignore_keywords && props.contains_key(SVN_KEYWORDS) {
                let keywords = Translation::for_normalization(&props).keywords;
                Some(Translator::new(self.eol(&props), false, keywords, false))
            } else {
                self.line_ends(&props)
            };
            through(translator, file, &local, &mut sink)?;
        }
        Ok(Some((sink, props)))
    }

    /// Returns what a file's line ends become.
    fn eol(&self, props: &Props) -> Option<&'static [u8]> {
        let eol = props
            .get(SVN_EOL_STYLE)
            .and_then(|style| Eol::from_prop(style))?;
        let eol = match (eol, self.options.native_eol) {
            (Eol::Native, Some(native)) => native,
            (eol, _) => eol,
        };
        Some(eol.in_working_copy())
    }

    /// What is in the working copy must have line ends that are all the same, unlike what comes from
    /// the repository.
    fn line_ends(&self, props: &Props) -> Option<Translator> {
        let eol = self
            .eol(props)
            .filter(|_| !props.contains_key(SVN_SPECIAL))?;
        Some(Translator::new(Some(eol), false, None, true))
    }
}

/// Reads a file through a translator into the sink.
fn through(
    translator: Option<Translator>,
    from: fs::File,
    path: &Dirent,
    sink: &mut Sink,
) -> Result<()> {
    let Some(mut translator) = translator else {
        return copy(from, path, &mut |bytes| sink.push(bytes));
    };
    let mut out = Vec::new();
    copy(from, path, &mut |bytes| {
        out.clear();
        // Subversion meets the same line end again when it closes the stream.
        translator.push(bytes, &mut out).map_err(twice)?;
        sink.push(&out)
    })?;
    out.clear();
    translator.finish(&mut out)?;
    sink.push(&out)
}

fn twice(error: impl Into<Error>) -> Error {
    let error = error.into();
    let again = Error::from_code(error.code());
    error.attach(again)
}

fn copy(mut from: fs::File, path: &Dirent, to: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from
            .read(&mut buffer)
            .map_err(|error| Error::io(&error, format_args!("Can't read file '{path}'")))?;
        if count == 0 {
            return Ok(());
        }
        to(&buffer[..count])?;
    }
}

fn open_failed(error: &std::io::Error, path: &Dirent) -> Error {
    Error::io(error, format_args!("Can't open file '{path}'"))
}

fn modification_time(path: &Dirent) -> Result<Option<Timestamp>> {
    let time = fs::symlink_metadata(path.as_path())
        .and_then(|meta| meta.modified())
        .map_err(|error| Error::io(&error, format_args!("Can't stat '{path}'")))?;
    Ok(Some(time.into()))
}
