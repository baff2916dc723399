use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{
    Depth, Error, ErrorCode, Lock, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Timestamp,
    Url, props,
};
use sylvan_delta::{Editor, ReportEntry};
use sylvan_fs::lock::{Access, LockRequest, LockTarget};
use sylvan_fs::{FileSystem, Node, Root};
use sylvan_repos::report::{Report, ReportOptions};
use sylvan_repos::{
    CommitEditor, CommitEditorOptions, FileRevsOptions, ListOptions, ReadAccess, Repos,
    RevpropHooks, Texts,
};

use super::place::Place;
use crate::{
    Capability, CommitDrive, CommitInfo, CommitOptions, Context, DirEntry, DirEntryFields,
    Directory, FileRev, FileRevReceiver, InheritedProps, ListReceiver, LocationSegment, LockTold,
    LogOptions, LogReceiver, MergeinfoInheritance, Session, UpdateOptions,
};

/// A session with a repository on this machine.
pub(super) struct LocalSession {
    place: Place,
    url: Url,
    context: Context,
}

impl LocalSession {
    pub(super) fn new(place: Place, url: &Url, context: &Context) -> Self {
        Self {
            place,
            url: url.clone(),
            context: context.clone(),
        }
    }

    const fn repos(&self) -> &Repos {
        &self.place.repos
    }

    fn fs(&self) -> &FileSystem {
        self.place.repos.fs()
    }

    fn root(&self, rev: Option<Revnum>) -> Result<Root> {
        let rev = rev.map_or_else(|| self.fs().youngest(), Ok)?;
        self.fs().revision_root(rev)
    }

    /// Returns a node's properties, those of its last change too.
    fn props(&self, node: &Node) -> Result<Props> {
        let mut found = (*node.props()?).clone();
        let rev = node.created_revision().unwrap_or_default();
        let mut revprops = self.fs().revprops(rev)?;
        let mut set = |name: &str, value: Option<Vec<u8>>| {
            value.and_then(|value| found.insert(name.to_owned(), value))
        };
        set(
            props::ENTRY_COMMITTED_REV,
            Some(rev.to_string().into_bytes()),
        );
        set(
            props::ENTRY_COMMITTED_DATE,
            revprops.remove(props::REVISION_DATE),
        );
        set(
            props::ENTRY_LAST_AUTHOR,
            revprops.remove(props::REVISION_AUTHOR),
        );
        set(
            props::ENTRY_UUID,
            Some(self.fs().uuid().to_owned().into_bytes()),
        );
        Ok(found)
    }

    /// Finds out who uses the session.
    fn username(&self) -> Result<Option<String>> {
        let mut auth = self.context.auth();
        let mut attempts = auth.username_credentials(self.fs().uuid(), "")?;
        let Some(found) = attempts.next(&mut auth)? else {
            return Ok(None);
        };
        // A name that cannot be stored is no reason to fail.
        let _ = attempts.save(&mut auth);
        Ok(Some(found.username).filter(|name| !name.is_empty()))
    }

    fn relative(&self, url: &Url) -> Result<RelPathBuf> {
        let root = &self.place.root;
        self.place.relative(url).ok_or_else(|| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("'{url}'\nis not the same repository as\n'{root}'"),
            )
        })
    }

    fn report(
        &self,
        options: &UpdateOptions,
        switch: Option<&Url>,
        texts: Texts,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        match self.begin_report(options, switch, texts, report) {
            Ok(report) => report.finish(editor, ReadAccess::ALL, &self.context.cancel),
            Err(error) => Err(match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            }),
        }
    }

    fn begin_report(
        &self,
        options: &UpdateOptions,
        switch: Option<&Url>,
        texts: Texts,
        entries: &[ReportEntry],
    ) -> Result<Report> {
        let options = ReportOptions {
            rev: options.rev.map_or_else(|| self.fs().youngest(), Ok)?,
            base: self.place.path.clone(),
            target: options.target.clone(),
            switch: switch.map(|url| self.relative(url)).transpose()?,
            depth: options.depth,
            ignore_ancestry: options.ignore_ancestry,
            send_copyfrom_args: options.send_copyfrom_args,
            texts,
            now: now(),
        };
        let mut report = Report::begin(self.repos(), options)?;
        for entry in entries {
            match entry {
                ReportEntry::SetPath {
                    path,
                    rev,
                    depth,
                    start_empty,
                    lock_token,
                } => report.set_path(path, *rev, *depth, *start_empty, lock_token.as_deref())?,
                ReportEntry::DeletePath { path } => report.delete_path(path)?,
                ReportEntry::LinkPath {
                    path,
                    url,
                    rev,
                    depth,
                    start_empty,
                    lock_token,
                } => {
                    let link = self.relative(url)?;
                    let token = lock_token.as_deref();
                    report.link_path(path, &link, *rev, *depth, *start_empty, token)?;
                }
            }
        }
        Ok(report)
    }
}

/// Completes the properties of a revision to be: who makes it, and with what, which hooks see.
fn commit_props(options: &CommitOptions, user: Option<&str>) -> Props {
    let agent = format!(
        "SVN/1.14.2 ({}-{}) ra_local Sylvan/{}",
        std::env::consts::ARCH,
        std::env::consts::OS,
        env!("CARGO_PKG_VERSION")
    );
    let mut revprops = options.revprops.clone();
    for (name, value) in [
        (props::REVISION_AUTHOR, user.unwrap_or_default()),
        ("svn:txn-client-compat-version", "1.14.2"),
        ("svn:txn-user-agent", &agent),
    ] {
        revprops.insert(name.to_owned(), value.as_bytes().to_vec());
    }
    revprops
}

fn now() -> Timestamp {
    SystemTime::now().into()
}

fn path_not_found(path: &RelPath) -> Error {
    Error::new(ErrorCode::FS_NOT_FOUND, format!("'/{path}' path not found"))
}

impl Session for LocalSession {
    fn url(&self) -> &Url {
        &self.url
    }

    fn reparent(&mut self, url: &Url) -> Result<()> {
        let Some(path) = self.place.relative(url) else {
            let root = &self.place.root;
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{url}' is not a child of the session's repository root URL '{root}'"),
            ));
        };
        self.place.path = path;
        self.url = url.clone();
        Ok(())
    }

    fn repos_root(&mut self) -> Result<Url> {
        Ok(self.place.root.clone())
    }

    fn uuid(&mut self) -> Result<String> {
        Ok(self.fs().uuid().to_owned())
    }

    fn has_capability(&mut self, capability: Capability) -> Result<bool> {
        Ok(match capability {
            Capability::Mergeinfo => self.fs().format().number.has_mergeinfo(),
            _ => true,
        })
    }

    fn latest_rev(&mut self) -> Result<Revnum> {
        self.fs().youngest()
    }

    fn dated_rev(&mut self, time: Timestamp) -> Result<Revnum> {
        self.repos().dated_revision(time)
    }

    fn rev_proplist(&mut self, rev: Revnum) -> Result<Props> {
        self.fs().revprops(rev)
    }

    fn rev_prop(&mut self, rev: Revnum, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.fs().revprops(rev)?.remove(name))
    }

    fn check_path(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<NodeKind> {
        self.root(rev)?.kind(&self.place.full(path))
    }

    fn stat(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<Option<DirEntry>> {
        let root = self.root(rev)?;
        self.repos().stat(&root, &self.place.full(path))
    }

    fn read_file(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        out: Option<&mut dyn Write>,
    ) -> Result<(Revnum, Props)> {
        let root = self.root(rev)?;
        let path = self.place.full(path);
        let node = root.find(&path)?.ok_or_else(|| path_not_found(&path))?;
        if node.kind() != NodeKind::File {
            return Err(Error::new(
                ErrorCode::FS_NOT_FILE,
                format!("'/{path}' is not a file"),
            ));
        }
        if let Some(out) = out {
            let mut text = node.contents()?;
            while let Some(piece) = text.next_piece()? {
                self.context.cancel.check()?;
                out.write_all(&piece)
                    .map_err(|error| Error::io(&error, "Can't write to stream"))?;
            }
        }
        Ok((root.revision(), self.props(&node)?))
    }

    fn read_dir(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        entries: Option<DirEntryFields>,
    ) -> Result<Directory> {
        let root = self.root(rev)?;
        let path = self.place.full(path);
        let entries = match entries {
            Some(fields) => self.repos().read_dir(&root, &path, fields)?,
            None => Default::default(),
        };
        Ok(Directory {
            entries,
            rev: root.revision(),
            props: self.props(&root.node(&path)?)?,
        })
    }

    fn list(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        patterns: Option<&[String]>,
        depth: Depth,
        fields: DirEntryFields,
        receive: &mut ListReceiver<'_>,
    ) -> Result<()> {
        let root = self.root(rev)?;
        let options = ListOptions {
            patterns,
            depth,
            fields,
        };
        let (path, cancel) = (self.place.full(path), &self.context.cancel);
        self.repos()
            .list(&root, &path, options, ReadAccess::ALL, cancel, receive)
    }

    fn log(&mut self, options: &LogOptions, receive: &mut LogReceiver<'_>) -> Result<()> {
        let mut options = options.clone();
        if options.paths.is_empty() {
            options.paths.push(RelPathBuf::root());
        }
        for path in &mut options.paths {
            *path = self.place.full(path);
        }
        let cancel = &self.context.cancel;
        self.repos().log(&options, ReadAccess::ALL, &mut |entry| {
            cancel.check()?;
            receive(entry)
        })
    }

    fn update(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.report(options, None, Texts::Full, report, editor)
    }

    fn switch(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.report(options, Some(url), Texts::Full, report, editor)
    }

    fn status(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let options = UpdateOptions {
            send_copyfrom_args: false,
            ignore_ancestry: false,
            ..options.clone()
        };
        self.report(&options, None, Texts::None, report, editor)
    }

    fn diff(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        text_deltas: bool,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let texts = if text_deltas {
            Texts::Full
        } else {
            Texts::None
        };
        self.report(options, Some(url), texts, report, editor)
    }

    fn commit(
        &mut self,
        options: &CommitOptions,
        drive: &mut CommitDrive<'_>,
    ) -> Result<CommitInfo> {
        let user = self.username()?;
        let mut editor = CommitEditor::new(
            self.repos(),
            CommitEditorOptions {
                base: self.place.path.clone(),
                revprops: commit_props(options, user.as_deref()),
                capabilities: &["mergeinfo"],
                access: Access {
                    user: user.clone(),
                    tokens: options
                        .lock_tokens
                        .iter()
                        .map(|(path, token)| (token.clone(), self.place.full(path)))
                        .collect(),
                },
                check: None,
                clock: now,
            },
        )?;
        if let Err(error) = drive(&mut editor) {
            return Err(match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            });
        }
        let committed = editor.into_committed().ok_or_else(|| {
            Error::new(
                ErrorCode::REPOS_BAD_ARGS,
                "No valid transaction supplied to close_edit",
            )
        })?;
        if !options.keep_locks && !options.lock_tokens.is_empty() {
            let tokens = options.lock_tokens.iter();
            let tokens = tokens.map(|(path, token)| (self.place.full(path), token.clone()));
            // Locks that were broken or stolen since are no concern of this commit.
            let _ = self
                .repos()
                .unlock(&tokens.collect(), user.as_deref(), false, now());
        }
        Ok(committed)
    }

    fn change_rev_prop(
        &mut self,
        rev: Revnum,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let user = self.username()?;
        let hooks = RevpropHooks::ALL;
        self.repos()
            .change_revprop(rev, user.as_deref(), name, expected, value, hooks)
    }

    fn lock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<Revnum>>,
        comment: Option<&str>,
        steal: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        let user = self.username()?;
        let full = targets.iter().map(|(path, rev)| {
            let target = LockTarget {
                token: None,
                current: *rev,
            };
            (self.place.full(path), target)
        });
        let request = LockRequest {
            comment: comment.map(str::to_owned),
            steal,
            ..LockRequest::default()
        };
        let mut locked = self
            .repos()
            .lock(&full.collect(), user.as_deref(), &request, now())?;
        for path in targets.keys() {
            if let Some(done) = locked.paths.remove(&self.place.full(path)) {
                told(path, done.map(|lock| Some(lock.lock)))?;
            }
        }
        locked.after.map_or(Ok(()), Err)
    }

    fn unlock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<String>>,
        break_locks: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        let user = self.username()?;
        let full = targets
            .iter()
            .map(|(path, token)| (self.place.full(path), token.clone().unwrap_or_default()));
        let mut unlocked =
            self.repos()
                .unlock(&full.collect(), user.as_deref(), break_locks, now())?;
        for path in targets.keys() {
            if let Some(done) = unlocked.paths.remove(&self.place.full(path)) {
                told(path, done.map(|()| None))?;
            }
        }
        unlocked.after.map_or(Ok(()), Err)
    }

    fn locations(
        &mut self,
        path: &RelPath,
        peg: Revnum,
        revs: &[Revnum],
    ) -> Result<Vec<(Revnum, RelPathBuf)>> {
        let path = self.place.full(path);
        self.repos()
            .trace_locations(&path, peg, revs, ReadAccess::ALL)
    }

    fn location_segments(
        &mut self,
        path: &RelPath,
        peg: Option<Revnum>,
        start: Option<Revnum>,
        end: Option<Revnum>,
    ) -> Result<Vec<LocationSegment>> {
        let path = self.place.full(path);
        self.repos()
            .location_segments(&path, peg, start, end, ReadAccess::ALL)
    }

    fn file_revs(
        &mut self,
        path: &RelPath,
        start: Option<Revnum>,
        end: Option<Revnum>,
        include_merged: bool,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        let options = FileRevsOptions {
            start,
            end,
            include_merged_revisions: include_merged,
        };
        let cancel = &self.context.cancel;
        let path = self.place.full(path);
        self.repos()
            .file_revs(&path, options, ReadAccess::ALL, &mut |found| {
                cancel.check()?;
                let text = if found.text_changed {
                    Some(Arc::new(found.node.contents()?.read_to_end()?.into()))
                } else {
                    None
                };
                receive(FileRev {
                    path: found.path.to_fspath(),
                    rev: found.revision,
                    revprops: found.revprops.clone(),
                    merged: found.merged,
                    prop_changes: found.prop_changes.to_vec(),
                    text,
                })
            })
    }

    fn mergeinfo(
        &mut self,
        paths: &[RelPathBuf],
        rev: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        let full: Vec<_> = paths.iter().map(|path| self.place.full(path)).collect();
        let found = self.repos().mergeinfo(
            &full,
            rev,
            inheritance,
            include_descendants,
            ReadAccess::ALL,
        )?;
        let below = |path: &RelPathBuf| path.strip_prefix(&self.place.path).map(RelPath::to_owned);
        Ok(found
            .into_iter()
            .filter_map(|(path, mergeinfo)| Some((below(&path)?, mergeinfo)))
            .collect())
    }

    fn lock(&mut self, path: &RelPath) -> Result<Option<Lock>> {
        let path = self.place.full(path);
        let lock = self.fs().lock_on(&path, now())?;
        Ok(lock.map(|lock| lock.lock))
    }

    fn locks(&mut self, path: &RelPath, depth: Depth) -> Result<Vec<Lock>> {
        let locks = self.repos().locks(&self.place.full(path), depth, now())?;
        Ok(locks.into_iter().map(|lock| lock.lock).collect())
    }

    fn inherited_props(&mut self, path: &RelPath, rev: Revnum) -> Result<Vec<InheritedProps>> {
        let root = self.root(Some(rev))?;
        let path = self.place.full(path);
        if root.kind(&path)? == NodeKind::None {
            return Err(path_not_found(&path));
        }
        self.repos()
            .inherited_props(&root, &path, None, ReadAccess::ALL)
    }

    fn deleted_rev(&mut self, path: &RelPath, peg: Revnum, end: Revnum) -> Result<Option<Revnum>> {
        self.repos()
            .deleted_revision(&self.place.full(path), peg, end)
    }
}
