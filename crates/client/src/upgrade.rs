//! `svn upgrade`: working copies of older formats.

use sylvan_core::externals::{ExternalItem, parse};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_wc::external::{self, Definition, External};
use sylvan_wc::notify::NotifyFn;
use sylvan_wc::{WorkingCopy, base};

use crate::Context;
use crate::externals::tell_failure;

/// Brings the working copy whose root is `path` to the present format, and those of its externals.
///
/// # Errors
/// As [`sylvan_wc::upgrade::upgrade`]; what happens to externals is notified.
pub fn upgrade(context: &Context, path: &Dirent, notify: &mut NotifyFn<'_>) -> Result<()> {
    let mut known = Repositories {
        context,
        last: None,
    };
    upgrade_at(&mut known, &context.absolute(path), notify)
}

fn upgrade_at(
    known: &mut Repositories<'_>,
    root: &Dirent,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let context = known.context;
    sylvan_wc::upgrade::upgrade(
        root,
        &context.wc,
        &context.cancel,
        &mut |url| known.find(url),
        notify,
    )?;
    let (wc, _) = WorkingCopy::open(root, &context.wc)?;
    let recorded = external::list(&wc, RelPath::ROOT)?;
    if recorded.is_empty() {
        return from_definitions(known, &wc, notify);
    }
    for external in recorded {
        if external.kind == NodeKind::Dir {
            let place = wc.local_path(&external.path);
            let done = upgrade_at(known, &place, notify);
            tell_failure(done, place, notify)?;
        }
    }
    Ok(())
}

/// Records externals that only their definitions tell of, as they were before 1.7.
fn from_definitions(
    known: &mut Repositories<'_>,
    wc: &WorkingCopy,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    for definition in external::definitions(wc, RelPath::ROOT)? {
        let folder = wc.local_path(&definition.folder);
        let (items, url) = match items_of(known.context, wc, &definition) {
            Ok(found) => found,
            Err(error) => {
                tell_failure(Err(error), folder, notify)?;
                continue;
            }
        };
        for item in items {
            let done = record(known, wc, &definition, &url, &item, notify);
            tell_failure(done, folder.join(&item.target), notify)?;
        }
    }
    Ok(())
}

fn items_of(
    context: &Context,
    wc: &WorkingCopy,
    definition: &Definition,
) -> Result<(Vec<ExternalItem>, base::BaseNode)> {
    let folder = wc.local_path(&definition.folder);
    let node = base_of(wc, &definition.folder)?;
    let text = String::from_utf8_lossy(&definition.value);
    Ok((parse(&folder.to_string(), &text, &context.clock)?, node))
}

fn base_of(wc: &WorkingCopy, path: &RelPath) -> Result<base::BaseNode> {
    base::node(wc, path)?.ok_or_else(|| {
        Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{}' was not found.", wc.local_path(path)),
        )
    })
}

/// Upgrades one external and records it.
fn record(
    known: &mut Repositories<'_>,
    wc: &WorkingCopy,
    definition: &Definition,
    folder: &base::BaseNode,
    item: &ExternalItem,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let context = known.context;
    let path = definition
        .folder
        .join(&RelPathBuf::canonicalize(&item.target)?);
    let place = wc.local_path(&path);
    let url = item.resolve_url(&folder.repos_root, &folder.url())?;
    let (there, at) = match WorkingCopy::open(&place, &context.wc) {
        Err(error) if error.code() == ErrorCode::WC_UPGRADE_REQUIRED => {
            upgrade_at(known, &place, notify)?;
            WorkingCopy::open(&place, &context.wc)?
        }
        other => other?,
    };
    let node = base_of(&there, &at)?;
    let mut external = External {
        path,
        kind: node.kind,
        defined_at: definition.folder.clone(),
        repos_root: node.repos_root.clone(),
        repos_uuid: node.repos_uuid.clone(),
        repos_path: node.repos_path.clone(),
        peg: number(item.peg),
        rev: number(item.revision),
    };
    if node.url() != url {
        // It is not what the definition says; the next update sees to that.
        (external.repos_root, external.repos_uuid) = known.find(&url)?;
        external.repos_path = url.strip_prefix(&external.repos_root).unwrap_or_default();
        external.kind = NodeKind::Unknown;
    }
    external::note(wc, &external)
}

fn number(revision: RevisionSpec) -> Option<Revnum> {
    match revision {
        RevisionSpec::Number(rev) => Some(rev),
        _ => None,
    }
}

/// What repositories say of themselves, the last one kept.
struct Repositories<'a> {
    context: &'a Context,
    last: Option<(Url, String)>,
}

impl Repositories<'_> {
    fn find(&mut self, url: &Url) -> Result<(Url, String)> {
        if let Some(last) = &self.last
            && url.strip_prefix(&last.0).is_some()
        {
            return Ok(last.clone());
        }
        let mut session = self.context.sessions.open(url)?;
        let found = (session.repos_root()?, session.uuid()?);
        session.give_back();
        self.last = Some(found.clone());
        Ok(found)
    }
}
