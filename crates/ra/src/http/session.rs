use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{
    Depth, Error, ErrorCode, Lock, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Sha1,
    Timestamp, Url,
};
use sylvan_delta::svndiff::Version;
use sylvan_delta::{Editor, ReportEntry};
use sylvan_proto::dav::commit::PropChange;
use sylvan_proto::dav::xml::Ns;
use sylvan_proto::dav::{self, Response, request};

use super::client::{Client, Slot};
use super::commit::{self, CommitEditor};
use super::lock;
use super::nodes::{self, DAV_SVN, Repository, append, decode, href_path, request_path};
use super::settings::Compression;
use super::update::Drive;
use super::values::{
    Listing, below, dir_entry, is_wanted, later, lock_of, log_entry, not_found, regular_props,
    resource_kind, svn_props,
};
use super::wire::{Head, Request};
use crate::segments;
use crate::text_chain::TextChain;
use crate::{
    Capability, CommitDrive, CommitInfo, CommitOptions, Context, DeltaFormat, DirEntry,
    DirEntryFields, Directory, FileRev, FileRevReceiver, InheritedProps, ListReceiver,
    LocationSegment, LockTold, LogOptions, LogReceiver, MergeinfoInheritance, Session,
    UpdateOptions,
};

/// What opening a URL gave.
pub(crate) enum Opened {
    /// A session.
    Session(Box<dyn Session>),
    /// The server says that the repository is elsewhere, for good.
    Moved(Url),
}

/// A session over HTTP.
pub(super) struct HttpSession {
    pub(super) client: Client,
    pub(super) slot: Slot,
    pub(super) url: Url,
    pub(super) repository: Repository,
    /// How long a round trip took.
    pub(super) latency: Duration,
    /// The youngest revision that the last answer told, and when. Only the very next question for
    /// it is answered with it.
    told_youngest: Option<(Revnum, Instant)>,
    /// Whether the server knows the property `deadprop-count`, once that is known.
    knows_deadprop_count: Option<bool>,
}

/// Servers that answer faster than this are near.
const NEAR: Duration = Duration::from_millis(5);
/// How hard zlib tries.
const LEVEL: u32 = 5;

/// For so long an answer is as good as new.
const FRESH: Duration = Duration::from_millis(100);

pub(super) fn open(url: &Url, context: &Context) -> Result<Opened> {
    let client = Client::new(url, context)?;
    let mut slot = Slot::None;
    let path = request_path(url);
    let body = request::options();
    let request = client.with_capabilities(Request::new("OPTIONS", path).body(&body));
    let latency = slot.insert(client.connect()?).latency;
    let head = client.send(&mut slot, &request)?;
    match head.status {
        301 => return moved(&head),
        300..=399 => {
            let location = head.location.as_deref().unwrap_or("(null)");
            return Err(Error::new(
                ErrorCode::RA_SESSION_URL_MISMATCH,
                format!("Repository moved temporarily to '{location}'"),
            ));
        }
        _ => client.expect(&mut slot, &head, &request, 200)?,
    }
    let options = read_options(&client, &mut slot, &head, url)?;
    let told_youngest = options.youngest.map(|rev| (rev, Instant::now()));
    Ok(Opened::Session(Box::new(HttpSession {
        repository: Repository::new(options, url),
        client,
        slot,
        url: url.clone(),
        latency,
        told_youngest,
        knows_deadprop_count: None,
    })))
}

fn moved(head: &Head) -> Result<Opened> {
    let location = head.location.as_deref().ok_or_else(|| {
        Error::new(
            ErrorCode::RA_DAV_RESPONSE_HEADER_BADNESS,
            "Location header not set on redirect response",
        )
    })?;
    Url::parse(location).map(Opened::Moved)
}

fn read_options(client: &Client, slot: &mut Slot, head: &Head, url: &Url) -> Result<dav::Options> {
    let mut options = dav::Options::default();
    for (name, value) in &head.headers {
        options.header(name, value);
    }
    if !options.is_dav {
        return Err(Error::new(
            ErrorCode::RA_DAV_OPTIONS_REQ_FAILED,
            format!("The server at '{url}' does not support the HTTP/DAV protocol"),
        ));
    }
    client.parse(slot, head, dav::ActivityCollection::default())?;
    Ok(options)
}

impl HttpSession {
    /// Returns the URL of a path below the session's.
    pub(super) fn public_path(&self, path: &RelPath) -> String {
        append(self.url.escaped_path(), path)
    }

    /// Returns the resource of a node at a revision, which stays what it is; with no revision the
    /// public one, which is the youngest.
    fn path_at(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<String> {
        match rev {
            Some(rev) => self.stable_path(path, rev),
            None => Ok(match self.public_path(path) {
                root if root.is_empty() => "/".to_owned(),
                path => path,
            }),
        }
    }

    pub(super) fn stable_path(&mut self, path: &RelPath, rev: Revnum) -> Result<String> {
        let at = self.repos_path(path)?;
        Ok(append(&self.collection(rev)?, &at))
    }

    /// Returns the resource in which activities are made.
    pub(super) fn activity_collection(&mut self) -> Result<String> {
        let body = request::options();
        let path = request_path(&self.url);
        let request = Request::new("OPTIONS", path).body(&body);
        let head = self.client.send(&mut self.slot, &request)?;
        self.client.expect(&mut self.slot, &head, &request, 200)?;
        let found = self
            .client
            .parse(&mut self.slot, &head, dav::ActivityCollection::default())?;
        found.href.ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_OPTIONS_REQ_FAILED,
                "The OPTIONS response did not include the requested activity-collection-set value",
            )
        })
    }

    /// Returns the resource that stands for all revisions.
    pub(super) fn vcc(&mut self) -> Result<String> {
        self.ask(Repository::discover)
    }

    /// Returns in which form texts are sent: as well compressed as the connection is worth it.
    fn text_format(&self) -> (Version, u32) {
        let options = &self.repository.options;
        let (one, two) = (options.has("svndiff1"), options.has("svndiff2"));
        let prefers_two = self.latency < NEAR;
        match self.client.settings.compression {
            Compression::Off => (Version::V0, 0),
            Compression::Auto if two && prefers_two => (Version::V2, 0),
            Compression::Auto | Compression::On if one => (Version::V1, LEVEL),
            Compression::Auto | Compression::On if two => (Version::V2, 0),
            Compression::Auto | Compression::On => (Version::V0, 0),
        }
    }

    fn youngest_or(&mut self, rev: Option<Revnum>) -> Result<Revnum> {
        match rev {
            Some(rev) => Ok(rev),
            None => self.latest_rev(),
        }
    }

    fn report_resource(&mut self) -> Result<String> {
        self.ask(Repository::report_resource)
    }

    fn propfind_one(&mut self, path: &str, find: request::Find<'_>) -> Result<Response> {
        nodes::propfind_one(&self.client, &mut self.slot, path, None, find)
    }

    /// Sends a `REPORT` and parses the answer.
    fn report<H: dav::xml::Handler>(&mut self, path: &str, body: &str, handler: H) -> Result<H> {
        let request = self.client.report(path, body);
        self.client.fetch(&mut self.slot, &request, 200, handler)
    }

    /// Sends a `REPORT` about paths below the session's URL as they are named at a revision.
    fn report_at<H: dav::xml::Handler>(
        &mut self,
        rev: Revnum,
        body: &str,
        handler: H,
    ) -> Result<H> {
        let at = self.stable_path(RelPath::ROOT, rev)?;
        self.report(&at, body, handler)
    }

    /// As [`Self::report`]; a server that does not know the report gives `RA_NOT_IMPLEMENTED`.
    fn newer_report<H: dav::xml::Handler>(
        &mut self,
        path: &str,
        body: &str,
        handler: H,
    ) -> Result<H> {
        self.report(path, body, handler)
            .map_err(|error| match error.code() {
                ErrorCode::UNSUPPORTED_FEATURE => error.wrap_code(ErrorCode::RA_NOT_IMPLEMENTED),
                _ => error,
            })
    }

    fn drive(
        &mut self,
        options: &UpdateOptions,
        destination: Option<&Url>,
        text_deltas: bool,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.told_youngest = None;
        let result = Drive {
            options,
            destination,
            text_deltas,
            report,
        }
        .run(self, editor)
        .and_then(|()| editor.close_edit());
        result.map_err(|error| match editor.abort_edit() {
            Ok(()) => error,
            Err(second) => error.attach(second),
        })
    }

    /// Returns the URL path and the path below the repository root of a path of the session.
    pub(super) fn repos_path(&mut self, path: &RelPath) -> Result<RelPathBuf> {
        let at =
            self.ask(|repository, client, slot, url| repository.relative(client, slot, url, url))?;
        Ok(at.join(path))
    }

    /// Returns the resource of the repository's root at a revision.
    pub(super) fn collection(&mut self, rev: Revnum) -> Result<String> {
        self.ask(|repository, client, slot, url| repository.collection(client, slot, url, rev))
    }

    /// Asks for what the repository does not know yet of itself.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Repository, &Client, &mut Slot, &Url) -> Result<T>,
    ) -> Result<T> {
        question(
            &mut self.repository,
            &self.client,
            &mut self.slot,
            &self.url,
        )
    }

    /// Reads a folder's children with a `PROPFIND`.
    fn children(
        &mut self,
        path: &str,
        fields: DirEntryFields,
    ) -> Result<BTreeMap<String, DirEntry>> {
        let kind_too = DirEntryFields {
            kind: true,
            ..fields
        };
        loop {
            let asked = self.entry_props(kind_too);
            let base = decode(path);
            let mut entries = BTreeMap::new();
            let mut is_dir = false;
            let mut count_known = None;
            let receive = |response: Response| {
                let found = decode(href_path(&response.href));
                let name = found
                    .strip_prefix(&base)
                    .map(|rest| rest.trim_start_matches('/'));
                let entry = dir_entry(&response.props, &mut count_known)?;
                match name {
                    Some("") => is_dir = entry.kind == NodeKind::Dir,
                    Some(name) if !name.contains('/') => {
                        RelPath::new(name)?;
                        entries.insert(name.to_owned(), entry);
                    }
                    _ => {}
                }
                Ok(())
            };
            let find = match &asked {
                Some(props) => request::Find::These(props),
                None => request::Find::All,
            };
            nodes::propfind(&self.client, &mut self.slot, path, "1", None, find, receive)?;
            if !is_dir {
                return Err(Error::new(
                    ErrorCode::FS_NOT_DIRECTORY,
                    "Can't get entries of non-directory",
                ));
            }
            if self.must_ask_again(fields.has_props, count_known) {
                continue;
            }
            return Ok(entries);
        }
    }

    /// Old servers know no `deadprop-count`: then all properties have to be asked for.
    fn must_ask_again(&mut self, wanted: bool, known: Option<bool>) -> bool {
        let again = wanted && known == Some(false) && self.knows_deadprop_count.is_none();
        if known.is_some() {
            self.knows_deadprop_count = known;
        }
        again
    }

    /// Returns the properties that tell the wanted fields; `None` means all must be asked for.
    fn entry_props(&self, fields: DirEntryFields) -> Option<Vec<(&'static str, &'static str)>> {
        if fields.has_props && self.knows_deadprop_count == Some(false) {
            return None;
        }
        Some(
            [
                (fields.kind, ("DAV:", "resourcetype")),
                (fields.size, ("DAV:", "getcontentlength")),
                (fields.has_props, (DAV_SVN, "deadprop-count")),
                (fields.created_rev, ("DAV:", "version-name")),
                (fields.time, ("DAV:", "creationdate")),
                (fields.last_author, ("DAV:", "creator-displayname")),
            ]
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, prop)| prop)
            .collect(),
        )
    }

    /// Lists a tree folder by folder, for servers without the `list` report.
    fn list_by_folders(
        &mut self,
        path: &RelPath,
        rev: Revnum,
        options: &Listing<'_>,
        receive: &mut ListReceiver<'_>,
    ) -> Result<()> {
        let Some(entry) = self.stat(path, Some(rev))? else {
            return Err(not_found(path, rev));
        };
        let root_name = match path.split() {
            Some((_, name)) => name.to_owned(),
            None => self.url.basename(),
        };
        if options.matches(&root_name) {
            receive(RelPath::ROOT, &entry)?;
        }
        let mut open = Vec::new();
        if entry.kind == NodeKind::Dir && options.depth != Depth::Empty {
            open.push(RelPathBuf::root());
        }
        while let Some(dir) = open.pop() {
            self.client.context.cancel.check()?;
            let at = self.stable_path(&path.join(&dir), rev)?;
            let mut below = Vec::new();
            for (name, entry) in self.children(&at, options.fields)? {
                let child = dir.child(&name)?;
                let is_dir = entry.kind == NodeKind::Dir;
                if is_dir && options.depth == Depth::Files {
                    continue;
                }
                if options.matches(&name) {
                    receive(&child, &entry)?;
                }
                if is_dir && options.depth == Depth::Infinity {
                    below.push(child);
                }
            }
            open.extend(below.into_iter().rev());
        }
        Ok(())
    }

    /// Asks each parent for its properties, for servers without the report.
    fn inherited_by_parents(&mut self, path: &RelPath, rev: Revnum) -> Result<Vec<InheritedProps>> {
        let node = self.repos_path(path)?;
        let collection = self.collection(rev)?;
        let mut found = Vec::new();
        let mut above = node.parent().map(ToOwned::to_owned);
        while let Some(parent) = above {
            let at = append(&collection, &parent);
            match self.propfind_one(&at, request::Find::All) {
                Ok(response) => {
                    let props = regular_props(&response);
                    if !props.is_empty() {
                        found.push(InheritedProps {
                            path: parent.clone(),
                            props,
                        });
                    }
                }
                Err(error) if error.code() == ErrorCode::RA_DAV_FORBIDDEN => {}
                Err(error) => return Err(error),
            }
            above = parent.parent().map(ToOwned::to_owned);
        }
        found.reverse();
        Ok(found)
    }

    fn read_content(&mut self, path: &str, sha1: Option<Sha1>, out: &mut dyn Write) -> Result<()> {
        use sha1::Digest as _;

        let mut request = Request::new("GET", path);
        if let Some(gzip) = self.client.accept_gzip() {
            request = request.header("Accept-Encoding", gzip);
        }
        let head = self.client.send(&mut self.slot, &request)?;
        self.client.expect(&mut self.slot, &head, &request, 200)?;
        let mut digest = sha1::Sha1::new();
        self.client.read(&mut self.slot, &head, &mut |piece| {
            if sha1.is_some() {
                digest.update(piece);
            }
            out.write_all(piece)
                .map_err(|error| Error::io(&error, "Can't write to stream"))
        })?;
        let actual = Sha1(digest.finalize().into());
        match sha1 {
            Some(expected) if expected != actual => Err(Error::new(
                ErrorCode::CHECKSUM_MISMATCH,
                format!(
                    "Checksum mismatch for '{path}':\n   expected:  {expected}\n     actual:  {actual}\n"
                ),
            )),
            _ => Ok(()),
        }
    }
}

const FIND_TYPE: [(&str, &str); 1] = [("DAV:", "resourcetype")];
const FIND_LOCK: [(&str, &str); 1] = [("DAV:", "lockdiscovery")];

impl Session for HttpSession {
    fn url(&self) -> &Url {
        &self.url
    }

    fn reparent(&mut self, url: &Url) -> Result<()> {
        if *url != self.url {
            self.ask(|repository, client, slot, from| {
                repository.relative(client, slot, from, url)
            })?;
            self.url = url.clone();
        }
        Ok(())
    }

    fn repos_root(&mut self) -> Result<Url> {
        self.ask(Repository::root)
    }

    fn uuid(&mut self) -> Result<String> {
        self.ask(Repository::uuid)
    }

    fn has_capability(&mut self, capability: Capability) -> Result<bool> {
        let options = &self.repository.options;
        Ok(match capability {
            Capability::CommitRevprops => true,
            Capability::Mergeinfo => {
                options.has("mergeinfo") && options.repository_mergeinfo != Some(false)
            }
            Capability::Depth => options.has("depth"),
            Capability::LogRevprops => options.has("log-revprops"),
            Capability::PartialReplay => options.has("partial-replay"),
            Capability::AtomicRevprops => options.has("atomic-revprops"),
            Capability::InheritedProps => options.has("inherited-props"),
            Capability::EphemeralTxnprops => options.has("ephemeral-txnprops"),
            Capability::FileRevsReverse => options.has("reverse-file-revs"),
            Capability::List => options.has("list"),
        })
    }

    fn latest_rev(&mut self) -> Result<Revnum> {
        if let Some((rev, told)) = self.told_youngest.take()
            && told.elapsed() < FRESH
        {
            return Ok(rev);
        }
        if !self.repository.is_v2() {
            return self.ask(Repository::youngest_v1);
        }
        let body = request::options();
        let path = request_path(&self.url);
        let request = self
            .client
            .with_capabilities(Request::new("OPTIONS", path).body(&body));
        let head = self.client.send(&mut self.slot, &request)?;
        self.client.expect(&mut self.slot, &head, &request, 200)?;
        let options = read_options(&self.client, &mut self.slot, &head, &self.url)?;
        options.youngest.ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_OPTIONS_REQ_FAILED,
                "The OPTIONS response did not include the youngest revision",
            )
        })
    }

    fn dated_rev(&mut self, time: Timestamp) -> Result<Revnum> {
        let path = self.report_resource()?;
        let body = request::dated_rev(&time.to_iso());
        let report = self.report(&path, &body, dav::VersionName::new("dated-rev-report"))?;
        report.rev.ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_PROPS_NOT_FOUND,
                "The REPORT response did not include the requested properties",
            )
        })
    }

    fn rev_proplist(&mut self, rev: Revnum) -> Result<Props> {
        let stub = self.repository.options.rev_stub.clone();
        let (path, label) = match stub.filter(|_| self.repository.is_v2()) {
            Some(stub) => (format!("{stub}/{rev}"), None),
            None => (self.report_resource()?, Some(rev)),
        };
        let find = request::Find::All;
        let response = nodes::propfind_one(&self.client, &mut self.slot, &path, label, find)?;
        Ok(regular_props(&response))
    }

    fn rev_prop(&mut self, rev: Revnum, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.rev_proplist(rev)?.remove(name))
    }

    fn check_path(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<NodeKind> {
        let at = self.path_at(path, rev)?;
        match self.propfind_one(&at, request::Find::These(&FIND_TYPE)) {
            Ok(response) => resource_kind(&response),
            Err(error) if error.code() == ErrorCode::FS_NOT_FOUND => Ok(NodeKind::None),
            Err(error) => Err(error),
        }
    }

    fn stat(&mut self, path: &RelPath, rev: Option<Revnum>) -> Result<Option<DirEntry>> {
        let at = self.path_at(path, rev)?;
        loop {
            let props = self.entry_props(DirEntryFields::ALL);
            let find = match &props {
                Some(props) => request::Find::These(props),
                None => request::Find::All,
            };
            let response = match self.propfind_one(&at, find) {
                Err(error) if error.code() == ErrorCode::FS_NOT_FOUND => return Ok(None),
                result => result?,
            };
            let mut count_known = None;
            let entry = dir_entry(&response.props, &mut count_known)?;
            if self.must_ask_again(!entry.has_props, count_known) {
                continue;
            }
            return Ok(Some(entry));
        }
    }

    fn read_file(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        out: Option<&mut dyn Write>,
    ) -> Result<(Revnum, Props)> {
        let rev = self.youngest_or(rev)?;
        let at = self.stable_path(path, rev)?;
        let response = self.propfind_one(&at, request::Find::All)?;
        if resource_kind(&response)? != NodeKind::File {
            return Err(Error::new(
                ErrorCode::FS_NOT_FILE,
                "Can't get text contents of a directory",
            ));
        }
        if let Some(out) = out {
            let sha1 = response
                .prop(&Ns::DavSvn, "sha1-checksum")
                .map(|prop| Sha1::parse_hex(&prop.text()))
                .transpose()?;
            self.read_content(&at, sha1, out)?;
        }
        Ok((rev, svn_props(&response)))
    }

    fn read_dir(
        &mut self,
        path: &RelPath,
        rev: Option<Revnum>,
        entries: Option<DirEntryFields>,
    ) -> Result<Directory> {
        let rev = self.youngest_or(rev)?;
        let at = self.stable_path(path, rev)?;
        let entries = match entries {
            Some(fields) => self.children(&at, fields)?,
            None => BTreeMap::new(),
        };
        let response = self.propfind_one(&at, request::Find::All)?;
        if resource_kind(&response)? != NodeKind::Dir {
            return Err(Error::new(
                ErrorCode::FS_NOT_DIRECTORY,
                "Can't get properties of non-directory",
            ));
        }
        Ok(Directory {
            entries,
            rev,
            props: svn_props(&response),
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
        let rev = self.youngest_or(rev)?;
        if !self.has_capability(Capability::List)? {
            let options = Listing {
                depth,
                patterns,
                fields,
            };
            return self.list_by_folders(path, rev, &options, receive);
        }
        let props = self.entry_props(fields).unwrap_or_default();
        let body = request::list(path, Some(rev), depth, patterns, &props);
        let root = self.repos_path(path)?;
        let report = dav::ListReport::new(|item| {
            let entry = DirEntry {
                kind: item.kind,
                size: item.size.filter(|_| item.kind == NodeKind::File),
                has_props: item.has_props,
                created_rev: item.created_rev,
                time: item.date.as_deref().map(Timestamp::parse_iso).transpose()?,
                last_author: item.author,
            };
            let item_path = RelPath::new(item.path.trim_start_matches('/'))?;
            receive(below(item_path, &root)?, &entry)
        });
        self.report_at(rev, &body, report).map(drop)
    }

    fn log(&mut self, options: &LogOptions, receive: &mut LogReceiver<'_>) -> Result<()> {
        let standard = ["svn:author", "svn:date", "svn:log"];
        let wants_custom = options
            .revprops
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| !standard.contains(&name.as_str())));
        if wants_custom && !self.has_capability(Capability::LogRevprops)? {
            return Err(Error::new(
                ErrorCode::RA_NOT_IMPLEMENTED,
                "Server does not support custom revprops via log",
            ));
        }
        // What is gone in the youngest revision is found in the older of the two.
        let peg = match (options.start, options.end) {
            (None, _) => None,
            (Some(start), Some(end)) if start <= end => Some(end),
            (Some(start), _) => Some(start),
        };
        let peg = self.youngest_or(peg)?;
        let body = request::log(
            &request::Log {
                start: options.start,
                end: options.end,
                limit: options.limit,
                discover_changed_paths: options.discover_changed_paths,
                strict_node_history: options.strict_node_history,
                include_merged_revisions: options.include_merged_revisions,
                revprops: options.revprops.as_deref(),
            },
            &options.paths,
        );
        let mut nesting = 0_u32;
        let mut count = 0_u32;
        let report = dav::LogReport::new(|item| {
            if nesting == 0 && options.limit > 0 {
                count = count.saturating_add(1);
                if count > options.limit {
                    return Ok(());
                }
            }
            let entry = log_entry(item, options);
            if entry.rev.is_none() {
                nesting = nesting.checked_sub(1).ok_or_else(|| {
                    Error::new(
                        ErrorCode::RA_DAV_MALFORMED_DATA,
                        "The REPORT response ends merged revisions that it did not begin",
                    )
                })?;
            }
            nesting = nesting.saturating_add(u32::from(entry.has_children));
            receive(entry)
        });
        self.report_at(peg, &body, report).map(drop)
    }

    fn update(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.drive(options, None, true, report, editor)
    }

    fn switch(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.drive(options, Some(url), true, report, editor)
    }

    fn status(
        &mut self,
        options: &UpdateOptions,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.drive(options, None, false, report, editor)
    }

    fn diff(
        &mut self,
        options: &UpdateOptions,
        url: &Url,
        text_deltas: bool,
        report: &[ReportEntry],
        editor: &mut dyn Editor,
    ) -> Result<()> {
        self.drive(options, Some(url), text_deltas, report, editor)
    }

    fn delta_format(&mut self) -> Result<DeltaFormat> {
        let (version, level) = self.text_format();
        Ok(DeltaFormat::Svndiff { version, level })
    }

    fn commit(
        &mut self,
        options: &CommitOptions,
        drive: &mut CommitDrive<'_>,
    ) -> Result<CommitInfo> {
        self.told_youngest = None;
        let mut revprops = options.revprops.clone();
        if self.has_capability(Capability::EphemeralTxnprops)? {
            for (name, value) in [
                ("svn:txn-client-compat-version", "1.14.2"),
                ("svn:txn-user-agent", Client::agent()),
            ] {
                revprops.insert(name.to_owned(), value.as_bytes().to_vec());
            }
        }
        let format = self.text_format();
        let mut editor = CommitEditor::new(self, options, revprops, format);
        if let Err(error) = drive(&mut editor) {
            return Err(match editor.abort_edit() {
                Ok(()) => error,
                Err(other) => error.attach(other),
            });
        }
        match editor.into_info() {
            Some(info) => Ok(info),
            None => Err(Error::from_code(ErrorCode::CEASE_INVOCATION)),
        }
    }

    fn change_rev_prop(
        &mut self,
        rev: Revnum,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let mut old = expected.map(|expected| expected.map(<[u8]>::to_vec));
        // Servers tell no failure to delete a property, unless its old value is told.
        if old.is_none() && value.is_none() && self.has_capability(Capability::AtomicRevprops)? {
            match self.rev_prop(rev, name)? {
                Some(present) => old = Some(Some(present)),
                None => return Ok(()),
            }
        }
        let stub = self.repository.options.rev_stub.clone();
        let target = match stub.filter(|_| self.repository.is_v2()) {
            Some(stub) => format!("{stub}/{rev}"),
            None => {
                let vcc = self.vcc()?;
                let find = request::Find::These(&[("DAV:", "href")]);
                let (client, slot) = (&self.client, &mut self.slot);
                let response = nodes::propfind_one(client, slot, &vcc, Some(rev), find)?;
                href_path(&response.href).to_owned()
            }
        };
        let change = PropChange {
            name,
            value,
            old: old.as_ref().map(Option::as_deref),
        };
        commit::proppatch(self, &target, &[change], Vec::new()).map_err(|error| {
            commit::recode(
                error,
                ErrorCode::RA_DAV_PRECONDITION_FAILED,
                ErrorCode::FS_PROP_BASEVALUE_MISMATCH,
            )
        })
    }

    fn lock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<Revnum>>,
        comment: Option<&str>,
        steal: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        lock::lock_files(self, targets, comment, steal, told)
    }

    fn unlock_files(
        &mut self,
        targets: &BTreeMap<RelPathBuf, Option<String>>,
        break_locks: bool,
        told: &mut LockTold<'_>,
    ) -> Result<()> {
        lock::unlock_files(self, targets, break_locks, told)
    }

    fn locations(
        &mut self,
        path: &RelPath,
        peg: Revnum,
        revs: &[Revnum],
    ) -> Result<Vec<(Revnum, RelPathBuf)>> {
        let body = request::locations(path, peg, revs);
        let report = self.report_at(peg, &body, dav::Locations::default())?;
        Ok(report.found)
    }

    fn location_segments(
        &mut self,
        path: &RelPath,
        peg: Option<Revnum>,
        start: Option<Revnum>,
        end: Option<Revnum>,
    ) -> Result<Vec<LocationSegment>> {
        let at_rev = self.youngest_or(peg)?;
        let at = self.stable_path(RelPath::ROOT, at_rev)?;
        let body = request::location_segments(path, peg, start, end);
        let report = match self.newer_report(&at, &body, dav::LocationSegments::default()) {
            Err(error) if error.code() == ErrorCode::RA_NOT_IMPLEMENTED => {
                let repos_path = self.repos_path(path)?;
                return segments::from_log(self, path, repos_path, at_rev, start, end);
            }
            result => result?,
        };
        Ok(report
            .found
            .into_iter()
            .map(|segment| LocationSegment {
                start: segment.start,
                end: segment.end,
                path: segment.path,
            })
            .collect())
    }

    fn file_revs(
        &mut self,
        path: &RelPath,
        start: Option<Revnum>,
        end: Option<Revnum>,
        include_merged: bool,
        receive: &mut FileRevReceiver<'_>,
    ) -> Result<()> {
        let peg = match (start, end) {
            (Some(start), Some(end)) => Some(start.max(end)),
            _ => None,
        };
        let peg = self.youngest_or(peg)?;
        let at = self.stable_path(RelPath::ROOT, peg)?;
        let body = request::file_revs(path, start, end, include_merged);
        let mut texts = TextChain::default();
        let report = dav::FileRevsReport::new(|item| {
            receive(FileRev {
                path: item.path,
                rev: item.rev,
                revprops: item.revprops,
                merged: item.merged,
                prop_changes: item.prop_changes,
                text: item.delta.map(|delta| texts.next(&delta)).transpose()?,
            })
        });
        self.newer_report(&at, &body, report).map(drop)
    }

    fn mergeinfo(
        &mut self,
        paths: &[RelPathBuf],
        rev: Option<Revnum>,
        inheritance: MergeinfoInheritance,
        include_descendants: bool,
    ) -> Result<BTreeMap<RelPathBuf, Mergeinfo>> {
        let at_rev = self.youngest_or(rev)?;
        let at = self.stable_path(RelPath::ROOT, at_rev)?;
        let body = request::mergeinfo(paths, rev, inheritance.as_str(), include_descendants);
        let report = self.newer_report(&at, &body, dav::MergeinfoReport::default())?;
        let mut catalog = BTreeMap::new();
        for (path, value) in report.found {
            catalog.insert(path, Mergeinfo::parse(&value)?);
        }
        Ok(catalog)
    }

    fn lock(&mut self, path: &RelPath) -> Result<Option<Lock>> {
        let repos_path = self.repos_path(path)?;
        let at = self.path_at(path, None)?;
        let body = request::propfind(request::Find::These(&FIND_LOCK));
        let request = Request::new("PROPFIND", &at)
            .header("Depth", "0")
            .body(&body);
        let head = self.client.send(&mut self.slot, &request)?;
        let checked = self.client.expect(&mut self.slot, &head, &request, 207);
        match checked {
            Ok(()) => {}
            Err(error) if error.has_code(ErrorCode::FS_NOT_FOUND) => return Ok(None),
            Err(error)
                if matches!(head.status, 500 | 501)
                    || error.has_code(ErrorCode::UNSUPPORTED_FEATURE) =>
            {
                return Err(error.wrap(
                    ErrorCode::RA_NOT_IMPLEMENTED,
                    "Server does not support locking features",
                ));
            }
            Err(error) => return Err(error),
        }
        let found = self
            .client
            .parse(&mut self.slot, &head, dav::LockDiscovery::default())?;
        let Some(token) = found.token else {
            return Ok(None);
        };
        let created = head
            .get("x-svn-creation-date")
            .map(Timestamp::parse_iso)
            .transpose()?
            .unwrap_or(Timestamp::from_micros(0));
        Ok(Some(Lock {
            path: repos_path,
            token,
            owner: head.get("x-svn-lock-owner").unwrap_or_default().to_owned(),
            comment: found.comment,
            created,
            expires: found.timeout.map(|seconds| later(created, seconds)),
        }))
    }

    fn locks(&mut self, path: &RelPath, depth: Depth) -> Result<Vec<Lock>> {
        let node = self.repos_path(path)?;
        let at = self.path_at(path, None)?;
        let body = request::locks(depth);
        let mut locks = Vec::new();
        let report = dav::LocksReport::new(|item| {
            if let Some(lock) = lock_of(item)?
                && is_wanted(&lock.path, &node, depth)
            {
                locks.push(lock);
            }
            Ok(())
        });
        match self.newer_report(&at, &body, report) {
            Ok(_) => {}
            // It is not there in the youngest revision: no error.
            Err(error) if error.code() == ErrorCode::FS_NOT_FOUND => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        locks.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(locks)
    }

    fn inherited_props(&mut self, path: &RelPath, rev: Revnum) -> Result<Vec<InheritedProps>> {
        if !self.has_capability(Capability::InheritedProps)? {
            return self.inherited_by_parents(path, rev);
        }
        let body = request::inherited_props(path, rev);
        let report = self.report_at(rev, &body, dav::InheritedPropsReport::default())?;
        Ok(report
            .found
            .into_iter()
            .map(|item| InheritedProps {
                path: item.path,
                props: item.props,
            })
            .collect())
    }

    fn deleted_rev(&mut self, path: &RelPath, peg: Revnum, end: Revnum) -> Result<Option<Revnum>> {
        let body = request::deleted_rev(path, peg, end);
        let handler = dav::VersionName::new("get-deleted-rev-report");
        self.report_at(peg, &body, handler)
            .map(|report| report.rev)
            .map_err(|error| match error.code() {
                ErrorCode::UNSUPPORTED_FEATURE => error.wrap(
                    ErrorCode::RA_NOT_IMPLEMENTED,
                    "'get-deleted-rev' REPORT not implemented",
                ),
                _ => error,
            })
    }
}
