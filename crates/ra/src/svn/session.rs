use std::collections::BTreeMap;
use std::io::Write;

use md5::Digest as _;
use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{
    Depth, Error, ErrorCode, Lock, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Timestamp, Url,
};
use sylvan_delta::svndiff::Version;
use sylvan_delta::{Editor, ReportEntry};
use sylvan_proto::svn::editor::DriveError;
use sylvan_proto::svn::handshake::Server;
use sylvan_proto::svn::item::Fields;
use sylvan_proto::svn::{
    Command, Drive, ProtocolError, message, reply, write_finish_report, write_report_entry,
};

use super::commit::{self, CommitEditor};
use super::connection::{Connection, DriveEnd};
use super::file_revs::FileRevReader;
use super::{Opener, fallback, lock};
use crate::segments;
use crate::{
    Capability, ChangedPath, CommitDrive, CommitInfo, CommitOptions, DeltaFormat, DirEntry,
    DirEntryFields, Directory, FileRevReceiver, InheritedProps, ListReceiver, LocationSegment,
    LockTold, LogEntry, LogOptions, LogReceiver, MergeinfoInheritance, Session, UpdateOptions,
};

const AUTHOR: &str = "svn:author";
const DATE: &str = "svn:date";
const LOG: &str = "svn:log";
/// How hard zlib tries.
const LEVEL: u32 = 5;

/// A session over the svn protocol.
///
/// The server has its own notion of where the session is, `server_url`, which is moved only when
/// it must be: paths below it are completed here. A connection on which something went wrong in
/// the middle is dropped, and the next call makes another one.
pub(super) struct SvnSession {
    opener: Opener,
    url: Url,
    server_url: Url,
    /// `url` below `server_url`.
    prefix: RelPathBuf,
    server: Server,
    connection: Option<Connection>,
}

impl SvnSession {
    pub(super) fn open(url: &Url, opener: Opener) -> Result<Self> {
        let (connection, server) = opener.connect(url)?;
        Ok(Self {
            opener,
            url: url.clone(),
            server_url: url.clone(),
            prefix: RelPathBuf::root(),
            server,
            connection: Some(connection),
        })
    }

    /// Returns the connection, a new one if there is none.
    fn connection(&mut self) -> Result<&mut Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let (connection, server) = self.opener.connect(&self.url)?;
                self.server = server;
                self.server_url = self.url.clone();
                self.prefix = RelPathBuf::root();
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Runs what leaves the connection between two commands if it succeeds, or if the server said
    /// why not; else the connection is dropped.
    fn exchange<T>(&mut self, run: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        self.connection()?;
        let Some(mut connection) = self.connection.take() else {
            return Err(Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED));
        };
        let result = run(&mut connection);
        match &result {
            Ok(_) => self.connection = Some(connection),
            Err(error) if !connection.is_midway() && !is_broken(error) => {
                self.connection = Some(connection);
            }
            Err(_) => {}
        }
        result
    }

    /// Sends a command, answers the authentication request and reads the response.
    fn request<T>(
        &mut self,
        command: &Command<'_>,
        read: impl FnOnce(Fields<'_>) -> Result<T, ProtocolError>,
    ) -> Result<T> {
        self.exchange(|connection| {
            connection.command(command)?;
            connection.response(read)
        })
    }

    /// Completes a path of ours to one of the server's.
    fn path(&self, path: &RelPath) -> RelPathBuf {
        self.prefix.join(path)
    }

    /// Moves the server to the session's URL.
    fn move_server(&mut self) -> Result<()> {
        self.connection()?;
        if self.url == self.server_url {
            return Ok(());
        }
        let url = self.url.clone();
        self.reparent_server(&url)?;
        self.prefix = RelPathBuf::root();
        Ok(())
    }

    fn reparent_server(&mut self, url: &Url) -> Result<()> {
        let command = Command::Reparent { url: url.as_str() };
        match self.request(&command, |_| Ok(())) {
            // Servers before 1.4.
            Err(error) if error.code() == ErrorCode::RA_SVN_UNKNOWN_CMD => {
                let (connection, server) = self.opener.connect(url)?;
                self.connection = Some(connection);
                self.server = server;
            }
            result => result?,
        }
        self.server_url = url.clone();
        Ok(())
    }

    fn has(&self, word: &str) -> bool {
        self.server.capabilities.contains(word)
    }

    /// Returns in which form texts are sent, and how hard zlib is to try.
    fn text_format(&self, compresses: bool) -> (Version, u32) {
        if !compresses {
            (Version::V0, 0)
        } else if self.has("accepts-svndiff2") {
            (Version::V2, 0)
        } else if self.has("svndiff1") {
            (Version::V1, LEVEL)
        } else {
            (Version::V0, 0)
        }
    }

    /// Runs a report and the editor drive that follows. Everything is sent at once: a server
    /// answers the command before it reads the report, but mostly says nothing of interest.
    fn report(
        &mut self,
        command: &Command<'_>,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let mut is_closed = false;
        let result = self.try_report(command, report, editor, &mut is_closed);
        if let Err(error) = result {
            if is_closed {
                return Err(error);
            }
            return Err(match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            });
        }
        Ok(())
    }

    fn try_report(
        &mut self,
        command: &Command<'_>,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
        is_closed: &mut bool,
    ) -> Result<()> {
        self.move_server()?;
        let root = self.server.root.clone();
        let started = self.exchange(|connection| {
            connection.midway();
            command.write(connection.out());
            write_report(connection, report)?;
            let request = connection.read_auth_request()?;
            // What was sent ahead would be taken for the answer.
            Ok(request.mechanisms.is_empty())
        })?;
        if !started {
            self.connection = None;
            self.connection()?;
            self.exchange(|connection| {
                connection.midway();
                connection.command(command)?;
                write_report(connection, report)
            })?;
        }
        self.exchange(|connection| {
            connection.auth_request()?;
            match connection.drive(root.as_ref(), editor) {
                Ok(DriveEnd::Closed) => {
                    *is_closed = true;
                    connection.end_drive()
                }
                Ok(DriveEnd::Aborted) => {
                    connection.end_drive()?;
                    Err(Error::from_code(ErrorCode::RA_SVN_EDIT_ABORTED))
                }
                Err(DriveError::Editor(error)) => Err(error),
                Err(DriveError::Peer(error)) => Err(error.into()),
            }
        })
    }

    fn relative_to_root(&mut self, path: &RelPath) -> Result<RelPathBuf> {
        let root = self.repos_root()?;
        let url = self.url.join(path);
        url.strip_prefix(&root).ok_or_else(|| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("'{url}' isn't a child of repository root URL '{root}'"),
            )
        })
    }
}

fn write_report(connection: &mut Connection, report: &[ReportEntry]) -> Result<()> {
    for entry in report {
        write_report_entry(connection.out(), entry);
    }
    write_finish_report(connection.out());
    connection.flush()
}

/// Tells whether the connection can no longer be used after an error outside of a response.
pub(super) fn is_broken(error: &Error) -> bool {
    error.code().is_os()
        || matches!(
            error.code(),
            ErrorCode::RA_SVN_CONNECTION_CLOSED
                | ErrorCode::RA_SVN_IO_ERROR
                | ErrorCode::RA_SVN_MALFORMED_DATA
                | ErrorCode::RA_SVN_RESPONSE_SIZE
                | ErrorCode::CANCELLED
        )
}

/// Says that a server is too old for a command.
fn unsupported(text: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| {
        if error.code() == ErrorCode::RA_SVN_UNKNOWN_CMD {
            error.wrap(ErrorCode::RA_NOT_IMPLEMENTED, text)
        } else {
            error
        }
    }
}

impl Session for SvnSession {
    fn url(&self) -> &Url {
        &self.url
    }

    fn reparent(&mut self, url: &Url) -> Result<()> {
        if let Some(root) = &self.server.root
            && url.strip_prefix(root).is_none()
        {
            return Err(Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("'{url}' isn't in the same repository as '{root}'"),
            ));
        }
        if url.strip_prefix(&self.server_url).is_none() {
            // From the root all later places are reached without asking the server.
            let to = self.server.root.clone().unwrap_or_else(|| url.clone());
            self.reparent_server(&to)?;
        }
        self.prefix = url.strip_prefix(&self.server_url).unwrap_or_default();
        self.url = url.clone();
        Ok(())
    }

    fn repos_root(&mut self) -> Result<Url> {
        self.server.root.clone().ok_or_else(|| {
            Error::new(
                ErrorCode::RA_SVN_BAD_VERSION,
                "Server did not send repository root",
            )
        })
    }

    fn uuid(&mut self) -> Result<String> {
        Ok(self.server.uuid.clone())
    }

    fn has_capability(&mut self, capability: Capability) -> Result<bool> {
        Ok(self.has(match capability {
            Capability::Depth => "depth",
            Capability::Mergeinfo => "mergeinfo",
            Capability::LogRevprops => "log-revprops",
            Capability::PartialReplay => "partial-replay",
            Capability::CommitRevprops => "commit-revprops",
            Capability::AtomicRevprops => "atomic-revprops",
            Capability::InheritedProps => "inherited-props",
            Capability::EphemeralTxnprops => "ephemeral-txnprops",
            Capability::FileRevsReverse => "file-revs-reverse",
            Capability::List => "list",
        }))
    }

    fn latest_rev(&mut self) -> Result<Revnum> {
        self.request(&Command::GetLatestRev, |mut fields| fields.rev())
    }

    fn dated_rev(&mut self, time: Timestamp) -> Result<Revnum> {
        let date = time.to_iso();
        self.request(&Command::GetDatedRev { date: &date }, |mut fields| {
            fields.rev()
        })
    }

    fn rev_proplist(&mut self, rev: Revnum) -> Result<Props> {
        self.request(&Command::RevProplist { rev }, |mut fields| {
            message::read_props(fields.list()?)
        })
    }

    fn rev_prop(&mut self, rev: Revnum, name: &str) -> Result<Option<Vec<u8>>> {
        self.request(&Command::RevProp { rev, name }, |mut fields| {
            Ok(fields.optional(Fields::bytes)?.map(<[u8]>::to_vec))
        })
    }

    fn check_path(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<NodeKind> {
        self.connection()?;
        let path = &self.path(path);
        self.request(&Command::CheckPath { path, rev }, |mut fields| {
            Ok(NodeKind::from_word(fields.word()?))
        })
    }

    fn stat(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<Option<DirEntry>> {
        self.connection()?;
        let full = &self.path(path);
        let result = self.request(&Command::Stat { path: full, rev }, |mut fields| {
            // The entry is a list in the response's optional list.
            fields
                .optional(|fields| reply::read_dirent(&mut fields.list()?.fields()))
                .map(|dirent| dirent.map(entry))
        });
        match result {
            Err(error) if error.code() == ErrorCode::RA_SVN_UNKNOWN_CMD => {
                fallback::stat(self, path, rev)
            }
            result => result,
        }
    }

    fn read_file(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        out: Option<&mut dyn Write>,
    ) -> Result<(Revnum, Props)> {
        self.connection()?;
        let full = &self.path(path);
        let command = Command::GetFile {
            path: full,
            rev,
            props: true,
            contents: out.is_some(),
        };
        self.exchange(|connection| {
            connection.command(&command)?;
            let (checksum, rev, props) = connection.response(|mut fields| {
                let checksum = fields.optional(|fields| fields.text())?;
                let checksum = checksum.map(Md5::parse_hex).transpose()?;
                Ok((
                    checksum,
                    fields.rev()?,
                    message::read_props(fields.list()?)?,
                ))
            })?;
            if let Some(out) = out {
                connection.midway();
                let mut digest = md5::Md5::new();
                connection.content(&mut |bytes| {
                    digest.update(bytes);
                    out.write_all(bytes)
                        .map_err(|error| Error::io(&error, "Can't write to stream"))
                })?;
                connection.settled();
                connection.response(|_| Ok(()))?;
                let actual = Md5(digest.finalize().into());
                if let Some(expected) = checksum.filter(|expected| !expected.allows(actual)) {
                    return Err(checksum_mismatch(full, expected, actual));
                }
            }
            Ok((rev, props))
        })
    }

    fn read_dir(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        entries: Option<DirEntryFields>,
    ) -> Result<Directory> {
        self.connection()?;
        let path = &self.path(path);
        let words = entries.map(field_words).unwrap_or_default();
        let command = Command::GetDir {
            path,
            rev,
            props: true,
            contents: entries.is_some(),
            fields: &words,
        };
        self.request(&command, |mut fields| {
            let rev = fields.rev()?;
            let props = message::read_props(fields.list()?)?;
            let entries = fields
                .list()?
                .items()
                .map(|item| {
                    let (name, dirent) = reply::read_named_dirent(item.list()?)?;
                    Ok((name, entry(dirent)))
                })
                .collect::<Result<_, ProtocolError>>()?;
            Ok(Directory {
                entries,
                rev,
                props,
            })
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
        self.connection()?;
        if !self.has("list") {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                "The 'list' feature is not supported by server",
            ));
        }
        let full = &self.path(path);
        let listed = self.relative_to_root(path)?;
        let words = field_words(fields);
        let command = Command::List {
            path: full,
            rev,
            depth,
            fields: &words,
            patterns,
        };
        self.exchange(|connection| {
            connection.command(&command)?;
            connection.midway();
            connection.until_done(|item| {
                // Servers send paths below the repository's root.
                let (path, dirent) = reply::read_list_entry(item.list()?)?;
                let below = path.strip_prefix(&listed).unwrap_or(&path);
                receive(below, &entry(dirent))
            })
        })
    }

    fn log(&mut self, options: &LogOptions, receive: &mut LogReceiver<'_>) -> Result<()> {
        if options.paths.is_empty() {
            self.move_server()?;
        } else {
            self.connection()?;
        }
        let paths: Vec<RelPathBuf> = options.paths.iter().map(|path| self.path(path)).collect();
        let paths: Vec<&RelPath> = paths.iter().map(|path| &**path).collect();
        let command = Command::Log {
            paths: &paths,
            start: options.start,
            end: options.end,
            changed_paths: options.discover_changed_paths,
            strict_node: options.strict_node_history,
            limit: options.limit,
            include_merged: options.include_merged_revisions,
            revprops: options.revprops.as_deref(),
        };
        let wanted = WantedRevprops::new(options.revprops.as_deref());
        let mut limiter = Limiter::new(options.limit);
        self.exchange(|connection| {
            connection.command(&command)?;
            connection.midway();
            connection.until_done(|item| {
                let entry = reply::read_log_entry(item.list()?)?;
                if !limiter.passes() {
                    return Ok(());
                }
                let entry = log_entry(entry, &wanted, options.discover_changed_paths)?;
                limiter.note(&entry)?;
                receive(entry)
            })
        })
    }

    fn update(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.report(&Command::Update(drive(options)), report, editor)
    }

    fn switch(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let command = Command::Switch(drive(options), url.as_str());
        self.report(&command, report, editor)
    }

    fn status(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let mut editor = fallback::WithoutTexts::new(editor);
        self.report(&Command::Status(drive(options)), report, &mut editor)
    }

    fn diff(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        text_deltas: bool,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        let command = Command::Diff {
            drive: drive(options),
            url: url.as_str(),
            text_deltas,
        };
        if text_deltas {
            return self.report(&command, report, editor);
        }
        let mut editor = fallback::WithoutTexts::new(editor);
        self.report(&command, report, &mut editor)
    }

    fn delta_format(&mut self) -> Result<DeltaFormat> {
        let compresses = self.connection()?.compresses();
        let (version, level) = self.text_format(compresses);
        Ok(DeltaFormat::Svndiff { version, level })
    }

    fn commit(
        &mut self,
        options: &CommitOptions,
        drive: &mut CommitDrive<'_>,
    ) -> Result<CommitInfo> {
        self.move_server()?;
        if options.revprops.len() > 1 && !self.has("commit-revprops") {
            return Err(Error::new(
                ErrorCode::RA_NOT_IMPLEMENTED,
                "Server doesn't support setting arbitrary revision properties during commit",
            ));
        }
        let wants_agent = self.has("commit-revprops") && self.has("ephemeral-txnprops");
        let revprops = commit::with_agent(&options.revprops, self.opener.agent(), wants_agent);
        let command = Command::Commit {
            message: commit::message(&options.revprops),
            lock_tokens: &options.lock_tokens,
            keep_locks: options.keep_locks,
            revprops: &revprops,
        };
        let root = self.repos_root()?;
        let compresses = self.connection()?.compresses();
        let (version, level) = self.text_format(compresses);
        self.exchange(|connection| {
            connection.command(&command)?;
            connection.response(|_| Ok(()))?;
            connection.midway();
            let mut editor = CommitEditor::new(connection, root, version, level);
            if let Err(error) = drive(&mut editor) {
                return Err(match editor.abort_edit() {
                    Ok(()) => error,
                    Err(other) if is_broken(&other) => error,
                    Err(other) => error.attach(other),
                });
            }
            if !editor.is_complete() {
                editor.abort_edit()?;
                return Err(Error::from_code(ErrorCode::CEASE_INVOCATION));
            }
            let told = connection
                .auth_request()
                .and_then(|()| connection.item(|item| Ok(reply::read_commit_info(item.list()?)?)));
            let info = told.map_err(commit::unknown_end)?;
            connection.settled();
            Ok(info)
        })
    }

    fn change_rev_prop(
        &mut self,
        rev: Revnum,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        self.connection()?;
        let command = if self.has("atomic-revprops") {
            Command::ChangeRevProp2 {
                rev,
                name,
                value,
                expected,
            }
        } else {
            Command::ChangeRevProp { rev, name, value }
        };
        self.request(&command, |_| Ok(()))
    }

    fn lock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<Revnum>>,
        comment: Option<&str>,
        steal: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        self.connection()?;
        let full = targets.iter().map(|(path, rev)| (self.path(path), *rev));
        let full = full.collect();
        let command = Command::LockMany {
            comment,
            steal,
            targets: &full,
        };
        self.exchange(|connection| {
            connection.command(&command)?;
            lock::read(connection, targets.keys().map(|path| &**path), told)
        })
    }

    fn unlock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<String>>,
        break_locks: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        self.connection()?;
        let full = targets
            .iter()
            .map(|(path, token)| (self.path(path), token.clone()));
        let full = full.collect();
        let command = Command::UnlockMany {
            break_locks,
            targets: &full,
        };
        self.exchange(|connection| {
            connection.command(&command)?;
            lock::read(connection, targets.keys().map(|path| &**path), told)
        })
    }

    fn locations(
        &mut self,
        path: &RelPath,
        peg: Revnum,
        revs: &[Revnum],
    ) -> Result<Vec<(Revnum, RelPathBuf)>> {
        self.connection()?;
        let path = &self.path(path);
        let command = Command::GetLocations { path, peg, revs };
        let mut locations = Vec::new();
        self.exchange(|connection| {
            connection
                .command(&command)
                .map_err(unsupported("'get-locations' not implemented"))?;
            connection.midway();
            connection.until_done(|item| {
                locations.push(reply::read_location(item.list()?)?);
                Ok(())
            })
        })?;
        Ok(locations)
    }

    fn location_segments(
        &mut self,
        path: &RelPath,
        peg: Option<Revnum>,
        start: Option<Revnum>,
        end: Option<Revnum>,
    ) -> Result<Vec<LocationSegment>> {
        self.connection()?;
        let full = &self.path(path);
        let command = Command::GetLocationSegments {
            path: full,
            peg,
            start,
            end,
        };
        let mut segments = Vec::new();
        let told = self.exchange(|connection| {
            connection.command(&command)?;
            connection.midway();
            connection.until_done(|item| {
                let (start, end, path) = reply::read_segment(item.list()?)?;
                segments.push(LocationSegment { start, end, path });
                Ok(())
            })
        });
        match told {
            Ok(()) => Ok(segments),
            Err(error) if error.code() == ErrorCode::RA_SVN_UNKNOWN_CMD => {
                let repos_path = self.relative_to_root(path)?;
                let peg = match peg {
                    Some(peg) => peg,
                    None => self.latest_rev()?,
                };
                segments::from_log(self, path, repos_path, peg, start, end)
            }
            Err(error) => Err(error),
        }
    }

    fn file_revs(
        &mut self,
        path: &RelPath,
        start: Option<Revnum>,
        end: Option<Revnum>,
        include_merged: bool,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        self.connection()?;
        let path = &self.path(path);
        let command = Command::GetFileRevs {
            path,
            start,
            end,
            include_merged,
        };
        let mut reader = FileRevReader::default();
        self.exchange(|connection| {
            connection.command(&command)?;
            connection.midway();
            connection.until_done(|item| match reader.take(item)? {
                Some(rev) => receive(rev),
                None => Ok(()),
            })
        })
        .map_err(unsupported("'get-file-revs' not implemented"))?;
        if reader.is_between() {
            Ok(())
        } else {
            Err(ProtocolError::Malformed.into())
        }
    }

    fn mergeinfo(
        &mut self,
        paths: &[RelPathBuf],
        rev: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        self.connection()?;
        let full: Vec<RelPathBuf> = paths.iter().map(|path| self.path(path)).collect();
        let full: Vec<&RelPath> = full.iter().map(|path| &**path).collect();
        let command = Command::GetMergeinfo {
            paths: &full,
            rev,
            inherit: inheritance.as_str(),
            include_descendants,
        };
        let found = self.request(&command, |mut fields| {
            fields
                .list()?
                .items()
                .map(|item| reply::read_mergeinfo(item.list()?))
                .collect::<Result<Vec<_>, ProtocolError>>()
        })?;
        let anchor = self.path(RelPath::ROOT);
        let mut catalog = BTreeMap::new();
        for (path, value) in found {
            let path = path.strip_prefix(&anchor).unwrap_or(&path).to_owned();
            catalog.insert(path, Mergeinfo::parse(&value)?);
        }
        Ok(catalog)
    }

    fn lock(&mut self, path: &RelPath) -> Result<Option<Lock>> {
        self.connection()?;
        let path = &self.path(path);
        self.request(&Command::GetLock { path }, |mut fields| {
            fields.optional(|fields| reply::read_lock(fields.list()?))
        })
        .map_err(unsupported("Server doesn't support the get-lock command"))
    }

    fn locks(&mut self, path: &RelPath, depth: Depth) -> Result<Vec<Lock>> {
        self.connection()?;
        let below_root = self.relative_to_root(path)?;
        let path = &self.path(path);
        let mut locks: Vec<Lock> = self
            .request(&Command::GetLocks { path, depth }, |mut fields| {
                fields
                    .list()?
                    .items()
                    .map(|item| reply::read_lock(item.list()?))
                    .collect()
            })
            .map_err(unsupported("Server doesn't support the get-lock command"))?;
        // Servers before 1.7 do not know depths. Only files have locks.
        locks.retain(|lock| match lock.path.strip_prefix(&below_root) {
            Some(below) => match depth {
                Depth::Infinity => true,
                Depth::Files | Depth::Immediates => below.depth() <= 1,
                Depth::Empty | Depth::Exclude => below.is_root(),
            },
            None => false,
        });
        locks.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(locks)
    }

    fn inherited_props(&mut self, path: &RelPath, rev: Revnum) -> Result<Vec<InheritedProps>> {
        self.connection()?;
        if !self.has("inherited-props") {
            return fallback::inherited_props(self, path, rev);
        }
        let path = &self.path(path);
        self.request(&Command::GetIprops { path, rev }, |mut fields| {
            fields
                .list()?
                .items()
                .map(|item| {
                    let (path, props) = reply::read_inherited(item.list()?)?;
                    Ok(InheritedProps { path, props })
                })
                .collect()
        })
    }

    fn deleted_rev(&mut self, path: &RelPath, peg: Revnum, end: Revnum) -> Result<Option<Revnum>> {
        self.connection()?;
        let path = &self.path(path);
        let command = Command::GetDeletedRev { path, peg, end };
        match self.request(&command, |mut fields| fields.rev()) {
            Ok(rev) => Ok(Some(rev)),
            // The protocol has no "never" for this answer.
            Err(error) if error.code() == ErrorCode::ENTRY_MISSING_REVISION => Ok(None),
            Err(error) => Err(unsupported("'get-deleted-rev' not implemented")(error)),
        }
    }
}

fn drive(options: &UpdateOptions) -> Drive<'_> {
    Drive {
        rev: options.rev,
        target: &options.target,
        depth: options.depth,
        send_copyfrom_args: options.send_copyfrom_args,
        ignore_ancestry: options.ignore_ancestry,
    }
}

fn entry(dirent: reply::Dirent) -> DirEntry {
    DirEntry {
        size: dirent.size.filter(|_| dirent.kind != NodeKind::Dir),
        kind: dirent.kind,
        has_props: dirent.has_props,
        created_rev: dirent.created_rev,
        time: dirent.time,
        last_author: dirent.last_author,
    }
}

fn field_words(fields: DirEntryFields) -> Vec<&'static str> {
    [
        (fields.kind, "kind"),
        (fields.size, "size"),
        (fields.has_props, "has-props"),
        (fields.created_rev, "created-rev"),
        (fields.time, "time"),
        (fields.last_author, "last-author"),
    ]
    .into_iter()
    .filter_map(|(wanted, word)| wanted.then_some(word))
    .collect()
}

fn checksum_mismatch(path: &RelPath, expected: Md5, actual: Md5) -> Error {
    Error::new(
        ErrorCode::CHECKSUM_MISMATCH,
        format!(
            "Checksum mismatch for '{}':\n   expected:  {expected}\n     actual:  {actual}\n",
            path.as_str()
        ),
    )
}

/// Which revision properties the caller asked for.
struct WantedRevprops {
    author: bool,
    date: bool,
    message: bool,
    others: bool,
}

impl WantedRevprops {
    fn new(names: Option<&[String]>) -> Self {
        let has = |wanted: &str| names.is_none_or(|names| names.iter().any(|name| name == wanted));
        Self {
            author: has(AUTHOR),
            date: has(DATE),
            message: has(LOG),
            others: names.is_none_or(|names| {
                names
                    .iter()
                    .any(|name| ![AUTHOR, DATE, LOG].contains(&name.as_str()))
            }),
        }
    }
}

/// Counts top-level entries, as servers that know no limit send all.
struct Limiter {
    limit: u64,
    received: u64,
    nesting: u64,
}

impl Limiter {
    fn new(limit: u32) -> Self {
        Self {
            limit: u64::from(limit),
            received: 0,
            nesting: 0,
        }
    }

    fn passes(&mut self) -> bool {
        if self.limit == 0 || self.nesting > 0 {
            return true;
        }
        self.received += 1;
        self.received <= self.limit
    }

    fn note(&mut self, entry: &LogEntry) -> Result<()> {
        if entry.has_children {
            self.nesting += 1;
        }
        if entry.rev.is_none() {
            self.nesting = self
                .nesting
                .checked_sub(1)
                .ok_or(ProtocolError::Malformed)?;
        }
        Ok(())
    }
}

fn log_entry(
    entry: reply::LogEntry,
    wanted: &WantedRevprops,
    has_changed_paths: bool,
) -> Result<LogEntry> {
    if wanted.others && entry.revprops.is_none() {
        return Err(Error::new(
            ErrorCode::RA_NOT_IMPLEMENTED,
            "Server does not support custom revprops via log",
        ));
    }
    let mut revprops = entry.revprops.unwrap_or_default();
    for (name, value, is_wanted) in [
        (AUTHOR, entry.author, wanted.author),
        (DATE, entry.date, wanted.date),
        (LOG, entry.message, wanted.message),
    ] {
        if let Some(value) = value.filter(|_| is_wanted) {
            revprops.insert(name.to_owned(), value);
        }
    }
    let mut changed: Vec<_> = entry
        .changed
        .into_iter()
        .map(|changed| {
            let path = ChangedPath {
                action: changed.action,
                copy_from: changed.copy_from,
                kind: changed.kind,
                text_modified: changed.text_modified,
                props_modified: changed.props_modified,
            };
            (changed.path, path)
        })
        .collect();
    changed.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(LogEntry {
        rev: entry.rev,
        revprops,
        changed_paths: has_changed_paths.then_some(changed),
        has_children: entry.has_children,
        subtractive_merge: entry.subtractive_merge,
    })
}
