//! Telling a server what the working copy has.

use std::collections::HashMap;

use sylvan_core::{Depth, NodeKind, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::ReportEntry;
use sylvan_io::Cancel;
use sylvan_io::file::Creation;

use crate::db::{Layer, Node, Presence};
use crate::install::{self, Installed, Source};
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::survey::Listings;
use crate::work_queue::{self, FileInfo};
use crate::{WorkingCopy, pristine, resolve};

/// What is reported, and how.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// The depth that the operation asked for.
    pub depth: Option<Depth>,
    /// Whether nodes that the user excluded stay so (an operation whose depth is not sticky).
    pub honor_depth_exclude: bool,
    /// Whether the server does not understand depth, and shallow folders are reported as empty.
    pub depth_compatibility_trick: bool,
    /// Whether missing files and folders are made again (update and switch, under a lock).
    pub restore: bool,
}

/// Lists what the working copy has at and below `target`, in the order that servers want.
///
/// With [`ReportOptions::restore`] missing files are made again from their pristine texts, each
/// with a notification.
///
/// # Errors
/// Those of the database and, with `restore`, of the file system; `E200015` when cancelled.
pub fn entries(
    wc: &mut WorkingCopy,
    target: &RelPath,
    options: &ReportOptions,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<Vec<ReportEntry>> {
    let wc = &*wc;
    let site = Site::of(wc)?;
    let reporter = Reporter {
        wc,
        site: &site,
        options,
        cancel,
        tokens: HashMap::new(),
        notify,
        entries: Vec::new(),
        restored: Vec::new(),
        settled: Vec::new(),
        listings: Listings::new(wc, &site.root, Vec::new()),
    };
    let (entries, restored, settled) = wc.db().read(|| reporter.run(target))?;
    if !restored.is_empty() {
        work_queue::record_files(wc.db(), &restored)?;
    }
    for path in settled {
        // Who removed a file in conflict wants it without.
        resolve::resolve_text(wc, &path, resolve::Choice::Merged, cancel, &mut |_| {})?;
    }
    Ok(entries)
}

struct Reporter<'a, 'n> {
    wc: &'a WorkingCopy,
    site: &'a Site,
    options: &'a ReportOptions,
    cancel: &'a Cancel,
    notify: &'a mut NotifyFn<'n>,
    /// Lock tokens by repository and path.
    tokens: HashMap<(i64, RelPathBuf), String>,
    entries: Vec<ReportEntry>,
    /// Files that were made again, with size and time.
    restored: Vec<FileInfo>,
    /// Those of them that were in conflict.
    settled: Vec<RelPathBuf>,
    listings: Listings<'a>,
}

/// A folder whose children are reported.
struct Dir<'d> {
    path: &'d RelPath,
    /// Below the target.
    report: RelPathBuf,
    rev: Revnum,
    repos_path: &'d RelPath,
    depth: Depth,
    /// The server takes the folder for empty.
    everything: bool,
}

impl Reporter<'_, '_> {
    fn run(
        mut self,
        target: &RelPath,
    ) -> Result<(Vec<ReportEntry>, Vec<FileInfo>, Vec<RelPathBuf>)> {
        for lock in self.wc.db().locks()? {
            self.tokens
                .insert((lock.repos_id, lock.repos_path), lock.token);
        }
        self.report_target(target)?;
        Ok((self.entries, self.restored, self.settled))
    }

    fn report_target(&mut self, target: &RelPath) -> Result<()> {
        let depth = self.options.depth;
        let node = self.wc.db().node(target)?;
        let base = node
            .as_ref()
            .and_then(Node::base)
            .filter(|base| base.presence.is_present());
        let (Some(node), Some(base)) = (&node, base) else {
            // Nothing is known of it: the server is to send it if it has it.
            self.set_path(
                RelPathBuf::root(),
                Revnum::ZERO,
                depth.unwrap_or(Depth::Infinity),
                false,
                None,
            );
            self.entries.push(ReportEntry::DeletePath {
                path: RelPathBuf::root(),
            });
            return Ok(());
        };
        if self.options.restore {
            self.restore_if_missing(node)?;
        }
        let ambient = base.depth.unwrap_or(Depth::Infinity);
        let start_empty = base.presence == Presence::Incomplete
            || self.options.depth_compatibility_trick
                && ambient <= Depth::Immediates
                && depth.is_some_and(|depth| depth > ambient);
        let report_depth = match depth {
            Some(depth) if self.options.honor_depth_exclude && depth < ambient => depth,
            _ => ambient,
        };
        let rev = base.revision.unwrap_or(Revnum::ZERO);
        let repos_path = base.repos_path.clone().unwrap_or_default();
        self.set_path(RelPathBuf::root(), rev, report_depth, start_empty, None);
        if base.kind == NodeKind::Dir {
            if depth != Some(Depth::Empty) {
                if matches!(depth, None | Some(Depth::Infinity)) {
                    self.wc.read_ahead(target);
                    self.list_ahead(target)?;
                }
                self.report_children(&Dir {
                    path: target,
                    report: RelPathBuf::root(),
                    rev,
                    repos_path: &repos_path,
                    depth: report_depth,
                    everything: start_empty,
                })?;
            }
            return Ok(());
        }
        let token = self.token(base);
        if crate::lock::is_switched(self.wc.db(), target)? {
            self.link_path(RelPathBuf::root(), base, rev, Depth::Infinity, false)?;
        } else if token.is_some() {
            self.set_path(RelPathBuf::root(), rev, Depth::Infinity, false, token);
        }
        Ok(())
    }

    /// Begins to list the folders at and below `target`.
    fn list_ahead(&mut self, target: &RelPath) -> Result<()> {
        if self.options.restore {
            let folders = self.wc.db().base_folders(target)?;
            self.listings = Listings::new(self.wc, &self.site.root, folders);
        }
        Ok(())
    }

    fn report_children(&mut self, dir: &Dir<'_>) -> Result<()> {
        let depth = self.options.depth;
        let recursive = matches!(depth, None | Some(Depth::Infinity));
        let children = self.wc.db().children(dir.path)?;
        let on_disk = if self.options.restore {
            self.listings.names(dir.path, self.cancel)?
        } else {
            None
        };
        for child in &children {
            self.cancel.check()?;
            let Some(base) = child.base() else {
                continue;
            };
            if base.file_external {
                continue;
            }
            let name = child.path.basename();
            let report = dir.report.child(name)?;
            match base.presence {
                Presence::Excluded => {
                    if self.options.honor_depth_exclude {
                        self.set_path(report, dir.rev, Depth::Exclude, false, None);
                    } else if !dir.everything {
                        self.entries.push(ReportEntry::DeletePath { path: report });
                    }
                    continue;
                }
                Presence::ServerExcluded | Presence::NotPresent => {
                    if !dir.everything {
                        self.entries.push(ReportEntry::DeletePath { path: report });
                    }
                    continue;
                }
                _ => {}
            }
            if on_disk.as_ref().is_some_and(|names| !names.contains(name)) {
                self.restore_if_missing(child)?;
            }
            if base.kind != NodeKind::Dir {
                self.report_file(dir, base, report, name)?;
            } else if recursive || depth > Some(Depth::Files) {
                self.report_dir(dir, child, base, report, recursive)?;
            }
        }
        Ok(())
    }

    fn report_file(
        &mut self,
        dir: &Dir<'_>,
        base: &Layer,
        report: RelPathBuf,
        name: &str,
    ) -> Result<()> {
        let rev = base.revision.unwrap_or(dir.rev);
        let token = self.token(base);
        if is_elsewhere(dir.repos_path, base, name)? {
            self.link_path(report, base, rev, Depth::Infinity, false)
        } else {
            if dir.everything || rev != dir.rev || token.is_some() || dir.depth == Depth::Empty {
                self.set_path(report, rev, Depth::Infinity, false, token);
            }
            Ok(())
        }
    }

    fn report_dir(
        &mut self,
        dir: &Dir<'_>,
        child: &Node,
        base: &Layer,
        report: RelPathBuf,
        recursive: bool,
    ) -> Result<()> {
        let depth = self.options.depth;
        let ambient = base.depth.unwrap_or(Depth::Infinity);
        let incomplete = base.presence == Presence::Incomplete;
        let start_empty = incomplete
            || self.options.depth_compatibility_trick
                && ambient <= Depth::Files
                && depth.is_some_and(|depth| depth > ambient);
        let report_depth = if recursive { ambient } else { Depth::Empty };
        let rev = base.revision.unwrap_or(dir.rev);
        let token = self.token(base);
        let differs = dir.everything
            || rev != dir.rev
            || token.is_some()
            || incomplete
            || matches!(dir.depth, Depth::Empty | Depth::Files)
            || dir.depth == Depth::Immediates && ambient != Depth::Empty
            || ambient < Depth::Infinity && recursive;
        if is_elsewhere(dir.repos_path, base, child.path.basename())? {
            self.link_path(report.clone(), base, rev, report_depth, start_empty)?;
        } else if differs {
            self.set_path(report.clone(), rev, report_depth, start_empty, token);
        }
        if !recursive {
            return Ok(());
        }
        let repos_path = base.repos_path.clone().unwrap_or_default();
        self.report_children(&Dir {
            path: &child.path,
            report,
            rev,
            repos_path: &repos_path,
            depth: ambient,
            everything: start_empty,
        })
    }

    fn token(&self, base: &Layer) -> Option<String> {
        if self.tokens.is_empty() {
            return None;
        }
        let key = (base.repos_id?, base.repos_path.clone()?);
        self.tokens.get(&key).cloned()
    }

    fn set_path(
        &mut self,
        path: RelPathBuf,
        rev: Revnum,
        depth: Depth,
        start_empty: bool,
        lock_token: Option<String>,
    ) {
        self.entries.push(ReportEntry::SetPath {
            path,
            rev,
            depth,
            start_empty,
            lock_token,
        });
    }

    fn link_path(
        &mut self,
        path: RelPathBuf,
        base: &Layer,
        rev: Revnum,
        depth: Depth,
        start_empty: bool,
    ) -> Result<()> {
        let (Some(id), Some(repos_path)) = (base.repos_id, &base.repos_path) else {
            return Ok(());
        };
        let url = self.wc.db().repository(id)?.root.join(repos_path);
        self.entries.push(ReportEntry::LinkPath {
            path,
            url,
            rev,
            depth,
            start_empty,
            lock_token: self.token(base),
        });
        Ok(())
    }

    /// Makes a node again that is in the working copy, but not on disk.
    fn restore_if_missing(&mut self, node: &Node) -> Result<()> {
        let Some(top) = node.top() else {
            return Ok(());
        };
        let sha1 = top.sha1()?;
        if !top.presence.is_present() || top.kind != NodeKind::Dir && sha1.is_none() {
            return Ok(());
        }
        let root = &self.site.root;
        if root.lstat(&node.path)?.is_some() || self.site.is_obstructed(&node.path)? {
            return Ok(());
        }
        match sha1 {
            None => {
                root.make_dir_all(&node.path)?;
                self.listings.forget(&node.path);
            }
            Some(sha1) => {
                let recipe =
                    work_queue::recipe_of(self.wc, top, self.wc.options().use_commit_times)?;
                let text = pristine::path(&sha1)?;
                let installed = install::in_place(
                    root,
                    &node.path,
                    Source::File(&self.site.adm, &text),
                    &recipe,
                    Creation::Exclusive,
                )?;
                if let Installed::Done(Some((size, time))) = installed {
                    self.restored.push((node.path.clone(), size, time));
                }
                if node.actual.conflict.is_some() {
                    self.settled.push(node.path.clone());
                }
            }
        }
        let local = self.wc.local_path(&node.path);
        (self.notify)(&Notification::new(local, Action::Restore).kind(NodeKind::File));
        Ok(())
    }
}

/// Tells whether a child comes from elsewhere than its folder says.
fn is_elsewhere(parent: &RelPath, base: &Layer, name: &str) -> Result<bool> {
    Ok(match &base.repos_path {
        Some(path) => *path != parent.child(name)?,
        None => false,
    })
}
