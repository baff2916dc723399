//! Update, switch and status: the report, and the contents it does not bring.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use bytes::Bytes;
use sylvan_core::{Depth, Error, ErrorCode, Md5, RelPathBuf, Result, Url};
use sylvan_delta::{Editor, ReportEntry, TextFormat};
use sylvan_proto::dav::{
    self, BulkUpdates, DELTA_BASE_HEADER, Fetch, Requests, SVNDIFF_TYPE, UpdateParams,
    UpdateReport, request,
};

use super::client::{Answered, Client, Slot, Stamp};
use super::failure::{self, of_connection};
use super::nodes::{self, append, href_path, request_path};
use super::queue::Queue;
use super::session::HttpSession;
use super::settings::Compression;
use super::wire::{Head, Request};
use crate::UpdateOptions;

/// What is driven.
pub(super) struct Drive<'a> {
    pub(super) options: &'a UpdateOptions,
    pub(super) destination: Option<&'a Url>,
    pub(super) text_deltas: bool,
    pub(super) report: &'a [ReportEntry],
}

/// Networks that answer faster are taken for fast: less compression serves them better.
const LOW_LATENCY: Duration = Duration::from_millis(5);

impl Drive<'_> {
    /// Sends the report and drives the editor, without ending the edit.
    pub(super) fn run(&self, session: &mut HttpSession, editor: &mut dyn Editor) -> Result<()> {
        let HttpSession {
            client,
            slot,
            url,
            repository,
            latency,
            ..
        } = session;
        let target = repository.report_resource(client, slot, url)?;
        let root = repository.root(client, slot, url)?;
        let send_all = self.wants_bulk(client, repository, *latency);
        let body = request::update(
            &request::Update {
                send_all,
                source: request_path(url),
                destination: self.destination,
                rev: self.options.rev,
                target: &self.options.target,
                depth: self.options.depth,
                send_copyfrom_args: self.options.send_copyfrom_args,
                ignore_ancestry: self.options.ignore_ancestry,
                text_deltas: self.text_deltas,
            },
            self.report,
            |url| Ok(format!("/{}", below_root(url, &root)?.as_str())),
        )?;
        let accept = accept_svndiff(client.settings.compression, *latency);
        let mut request = Request::new("REPORT", &target)
            .header("Accept-Encoding", accept)
            .body(&body);
        for capability in dav::CLIENT_CAPABILITIES {
            request = request.header("DAV", capability);
        }
        let head = client.send(slot, &request)?;
        client.expect(slot, &head, &request, 200)?;

        let params = UpdateParams {
            text_deltas: self.text_deltas,
            root: below_root(url, &root)?,
            switched: self.switched(&root)?,
        };
        let rev_root_stub = repository.options.rev_root_stub.clone();
        let pool = Pool {
            client,
            accept_delta: accept,
            rev_root_stub: rev_root_stub.filter(|_| repository.is_v2()),
            editor: Mutex::new(editor),
            queue: Queue::default(),
            stop: Arc::new(AtomicBool::new(false)),
            workers: AtomicUsize::new(0),
        };
        let result = std::thread::scope(|scope| {
            let result = pool.receive(scope, slot, &head, params);
            if result.is_err() {
                pool.stop();
            }
            pool.queue.close();
            if client.settings.max_connections > 2 {
                pool.work_too(slot);
            }
            result
        });
        // What failed in a worker came first; the rest follows from it.
        match pool.queue.take_failure() {
            Some(error) => Err(error),
            None => result,
        }
    }

    /// Decides whether contents come inside the report.
    fn wants_bulk(
        &self,
        client: &Client,
        repository: &nodes::Repository,
        latency: Duration,
    ) -> bool {
        if !self.text_deltas {
            return false;
        }
        let options = &repository.options;
        // Several connections spread the server's work and spare both sides the base64; only
        // where each request waits long does one answer for all come sooner.
        let is_far = latency >= LOW_LATENCY && self.is_checkout();
        match (client.settings.bulk_updates, options.bulk_updates) {
            (Some(wanted), _) => wanted,
            (None, Some(BulkUpdates::Off)) => false,
            (None, Some(BulkUpdates::Prefer)) => true,
            (None, Some(BulkUpdates::On)) => is_far || !repository.is_v2(),
            // Servers before 1.8 do not say, and have properties fetched one by one without.
            (None, None) => is_far || !options.has("inline-props"),
        }
    }

    /// Tells whether nothing is there yet.
    fn is_checkout(&self) -> bool {
        matches!(
            self.report,
            [ReportEntry::SetPath {
                start_empty: true,
                depth: Depth::Infinity,
                ..
            }]
        )
    }

    /// Returns which paths of the report come from elsewhere.
    fn switched(&self, root: &Url) -> Result<BTreeMap<RelPathBuf, RelPathBuf>> {
        let mut switched = BTreeMap::new();
        for entry in self.report {
            let ReportEntry::LinkPath { path, url, .. } = entry else {
                continue;
            };
            let from = below_root(url, root)?;
            if path.is_root() && !self.options.target.is_empty() {
                let target = RelPathBuf::root().child(&self.options.target)?;
                switched.insert(target, from.clone());
            }
            switched.insert(path.clone(), from);
        }
        Ok(switched)
    }
}

fn below_root(url: &Url, root: &Url) -> Result<RelPathBuf> {
    url.strip_prefix(root).ok_or_else(|| {
        Error::new(
            ErrorCode::RA_ILLEGAL_URL,
            format!("URL '{url}' is not a child of the session's repository root URL '{root}'"),
        )
    })
}

/// Returns the `Accept-Encoding` for deltas: fast networks get the fast compression.
fn accept_svndiff(compression: Compression, latency: Duration) -> &'static str {
    match compression {
        Compression::Off => "svndiff",
        Compression::Auto if latency < LOW_LATENCY => {
            "gzip,svndiff2;q=0.9,svndiff1;q=0.8,svndiff;q=0.7"
        }
        _ => "gzip,svndiff1;q=0.9,svndiff2;q=0.8,svndiff;q=0.7",
    }
}

/// The most requests under way on one connection. They are sent half as many at a time.
const PIPELINE: usize = 8;

/// So many files in the queue for each worker are worth another.
const FILES_PER_WORKER: usize = 8;

/// Content is handed to the editor in pieces of this size.
const CHUNK: usize = 128 << 10;

/// A request is sent again so often when connections close.
const MOST_RETRIES: u32 = 5;

/// The connections that fetch contents, and the editor that they share with the report.
struct Pool<'a> {
    client: &'a Client,
    accept_delta: &'static str,
    rev_root_stub: Option<String>,
    editor: Mutex<&'a mut dyn Editor>,
    queue: Queue,
    /// Set when something failed, so that nobody waits for the rest.
    stop: Arc<AtomicBool>,
    workers: AtomicUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Pool<'a> {
    /// Reads the report; files to fetch go to the queue.
    fn receive<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        slot: &mut Slot,
        head: &Head,
        params: UpdateParams,
    ) -> Result<()> {
        let mut report = UpdateReport::new(params);
        let mut asked = Asked {
            client: self.client,
            slot: Slot::None,
            files: Vec::new(),
        };
        self.client.read(slot, head, &mut |piece| {
            report.push(piece, &mut **lock(&self.editor), &mut asked)?;
            for file in asked.files.drain(..) {
                self.submit(scope, file)?;
            }
            Ok(())
        })?;
        report.finish()
    }

    /// Puts a file into the queue, unless the editor has its content already; waits while the queue
    /// is full.
    fn submit<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        mut file: Fetch,
    ) -> Result<()> {
        if let Some(sha1) = file.sha1.filter(|_| file.text) {
            let mut editor = lock(&self.editor);
            if editor.known_text(file.file, &sha1)? {
                file.text = false;
                if !file.props {
                    return file.close(&mut **editor);
                }
            }
        }
        let queued = self.queue.push(file, &self.client.context.cancel)?;
        let workers = self.workers.load(Ordering::Relaxed);
        let most = self.client.settings.max_connections - 1;
        if workers < most && queued > workers * FILES_PER_WORKER {
            self.workers.fetch_add(1, Ordering::Relaxed);
            scope.spawn(|| self.work(&mut Slot::None));
        }
        Ok(())
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.queue.stop();
    }

    fn fail(&self, error: Error) {
        self.queue.fail(error);
        self.stop();
    }

    /// Fetches files until there are none any more.
    fn work(&self, slot: &mut Slot) {
        if let Err(error) = self.fetch_all(slot) {
            *slot = None;
            self.fail(error);
        }
    }

    /// As [`Self::work`], on the connection that the report came over, which outlives the pool.
    fn work_too(&self, slot: &mut Slot) {
        if let Some(conn) = slot {
            conn.stop_on(Some(Arc::clone(&self.stop)));
        }
        self.work(slot);
        if let Some(conn) = slot {
            conn.stop_on(None);
        }
    }

    fn fetch_all(&self, slot: &mut Slot) -> Result<()> {
        let mut window: VecDeque<Part> = VecDeque::new();
        let mut arrived = Vec::new();
        let mut retries = 0;
        loop {
            if slot.as_ref().is_some_and(|conn| !conn.is_reusable()) {
                *slot = None;
            }
            if slot.is_none() {
                // What was under way on a lost connection is sent again.
                window.iter_mut().for_each(|part| part.sent = None);
            }
            if window.len() <= PIPELINE / 2 {
                self.hand_over(&mut arrived)?;
                let most = PIPELINE - window.len();
                let files = self.queue.take(most, window.is_empty());
                window.extend(files.into_iter().flat_map(parts_of));
            }
            if window.is_empty() {
                return Ok(());
            }
            if self.round(slot, &mut window, &mut arrived)? {
                retries = 0;
            } else {
                *slot = None;
                retries += 1;
            }
            if retries > MOST_RETRIES {
                return Err(of_connection(failure::CLOSED));
            }
        }
    }

    /// Sends what has not been sent, and receives the first answer. False if the connection turned
    /// out to be gone, or credentials were asked for, before the answer began.
    fn round(
        &self,
        slot: &mut Slot,
        window: &mut VecDeque<Part>,
        arrived: &mut Vec<Arrived>,
    ) -> Result<bool> {
        let fresh = slot.is_none();
        let conn = match slot {
            Some(conn) => conn,
            None => {
                let mut conn = self.client.connect()?;
                conn.stop_on(Some(Arc::clone(&self.stop)));
                slot.insert(conn)
            }
        };
        let mut bytes = Vec::new();
        for part in window.iter_mut().filter(|part| part.sent.is_none()) {
            part.sent = Some(self.write(part, &mut bytes));
        }
        let Some(part) = window.front() else {
            return Ok(true);
        };
        let stamp = part.sent.unwrap_or_default();
        let received = conn
            .send(&bytes)
            .and_then(|()| conn.read_head(part.method()));
        let head = match received {
            Ok(head) => head,
            Err(error) if failure::is_closed(&error) && !fresh => return Ok(false),
            Err(error) => return Err(error),
        };
        let path = href_path(&part.file.url);
        if self.client.answered(&head, path, stamp, conn)? == Answered::Again {
            return Ok(false);
        }
        let keep = head.keep_alive;
        let Some(part) = window.pop_front() else {
            return Ok(true);
        };
        self.deliver(slot, &head, part, arrived)?;
        if !keep {
            *slot = None;
        }
        Ok(true)
    }

    /// Appends the bytes of a request.
    fn write(&self, part: &Part, out: &mut Vec<u8>) -> Stamp {
        let url = href_path(&part.file.url);
        if part.what == What::Props {
            let body = request::propfind(request::Find::All);
            let request = Request::new("PROPFIND", url)
                .header("Depth", "0")
                .body(&body);
            return self.client.write(&request, out);
        }
        let mut request = Request::new("GET", url);
        let base = self.delta_base(&part.file);
        if let Some(base) = &base {
            request = request
                .header(DELTA_BASE_HEADER, base)
                .header("Accept-Encoding", self.accept_delta);
        } else if let Some(gzip) = self.client.accept_gzip() {
            request = request.header("Accept-Encoding", gzip);
        }
        self.client.write(&request, out)
    }

    fn delta_base(&self, file: &Fetch) -> Option<String> {
        let base = file.delta_base.as_ref()?;
        let stub = self.rev_root_stub.as_ref()?;
        Some(append(&format!("{stub}/{}", base.rev), &base.path))
    }

    /// Gives an answer to the editor; small contents are collected in `arrived`.
    fn deliver(
        &self,
        slot: &mut Slot,
        head: &Head,
        part: Part,
        arrived: &mut Vec<Arrived>,
    ) -> Result<()> {
        let url = href_path(&part.file.url);
        let request = Request::new(part.method(), url);
        match part.what {
            What::Props => {
                self.client.expect(slot, head, &request, 207)?;
                self.deliver_props(slot, head, &part)
            }
            What::Text => {
                self.client.expect(slot, head, &request, 200)?;
                arrived.extend(self.deliver_text(slot, head, part)?);
                Ok(())
            }
        }
    }

    fn deliver_props(&self, slot: &mut Slot, head: &Head, part: &Part) -> Result<()> {
        let mut props = Vec::new();
        let answer = dav::Multistatus::new(|response| {
            props.extend(changes(&response));
            Ok(())
        });
        self.client.parse(slot, head, answer)?;
        let mut editor = lock(&self.editor);
        for (name, value) in &props {
            editor.change_file_prop(part.file.file, name, Some(value))?;
        }
        if part.close {
            part.file.close(&mut **editor)?;
        }
        Ok(())
    }

    /// Reads a content. A large one goes to the editor as it comes, a small one is returned.
    fn deliver_text(&self, slot: &mut Slot, head: &Head, part: Part) -> Result<Option<Arrived>> {
        let format = self.text_format(head, &part.file)?;
        let mut text = Arrived {
            base: part.file.base_md5.filter(|_| format == TextFormat::Svndiff),
            format,
            begun: false,
            rest: Vec::with_capacity(head.length().unwrap_or(0).min(CHUNK)),
            part,
        };
        self.client.read(slot, head, &mut |piece| {
            text.rest.extend_from_slice(piece);
            if text.rest.len() < CHUNK {
                return Ok(());
            }
            text.pass_on(&mut **lock(&self.editor))
        })?;
        if text.begun {
            text.end(&mut **lock(&self.editor))?;
            return Ok(None);
        }
        Ok(Some(text))
    }

    /// Gives contents to the editor, which takes one call at a time from all connections.
    fn hand_over(&self, arrived: &mut Vec<Arrived>) -> Result<()> {
        if arrived.is_empty() {
            return Ok(());
        }
        let mut editor = lock(&self.editor);
        for text in arrived.drain(..) {
            text.end(&mut **editor)?;
        }
        Ok(())
    }

    /// Says what an answer to a `GET` is, and that it is against the base that we named.
    fn text_format(&self, head: &Head, file: &Fetch) -> Result<TextFormat> {
        let is_svndiff = head
            .get("content-type")
            .is_some_and(|kind| kind.eq_ignore_ascii_case(SVNDIFF_TYPE));
        if !is_svndiff {
            return Ok(TextFormat::Fulltext);
        }
        match head.get(DELTA_BASE_HEADER) {
            Some(base) if self.delta_base(file).as_deref() != Some(base) => Err(Error::new(
                ErrorCode::RA_DAV_REQUEST_FAILED,
                format!("GET request returned unexpected delta base: {base}"),
            )),
            _ => Ok(TextFormat::Svndiff),
        }
    }
}

/// A content that has arrived, or what of it the editor has not got yet.
struct Arrived {
    part: Part,
    base: Option<Md5>,
    format: TextFormat,
    begun: bool,
    rest: Vec<u8>,
}

impl Arrived {
    fn pass_on(&mut self, editor: &mut dyn Editor) -> Result<()> {
        let file = self.part.file.file;
        if !std::mem::replace(&mut self.begun, true) {
            editor.apply_text(file, self.base, self.format)?;
        }
        if self.rest.is_empty() {
            return Ok(());
        }
        editor.text_chunk(file, Bytes::from(std::mem::take(&mut self.rest)))
    }

    fn end(mut self, editor: &mut dyn Editor) -> Result<()> {
        self.pass_on(editor)?;
        editor.text_end(self.part.file.file)?;
        if self.part.close {
            self.part.file.close(editor)?;
        }
        Ok(())
    }
}

/// One request for a file.
struct Part {
    file: Fetch,
    what: What,
    /// Whether the file is closed after it.
    close: bool,
    /// With which credentials it was sent on the present connection.
    sent: Option<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Props,
    Text,
}

impl Part {
    const fn new(file: Fetch, what: What, close: bool) -> Self {
        Self {
            file,
            what,
            close,
            sent: None,
        }
    }

    const fn method(&self) -> &'static str {
        match self.what {
            What::Props => "PROPFIND",
            What::Text => "GET",
        }
    }
}

fn parts_of(file: Fetch) -> Vec<Part> {
    match (file.props, file.text) {
        (true, true) => vec![
            Part::new(file.clone(), What::Props, false),
            Part::new(file, What::Text, true),
        ],
        (true, false) => vec![Part::new(file, What::Props, true)],
        _ => vec![Part::new(file, What::Text, true)],
    }
}

/// Returns the property changes that a resource's properties are.
fn changes(response: &dav::Response) -> Vec<(String, Vec<u8>)> {
    response
        .props
        .iter()
        .filter_map(|prop| {
            let name = dav::svn_prop_name(&prop.ns, &prop.name)?;
            (name != dav::VERSION_URL_PROP).then(|| (name, prop.value.clone()))
        })
        .collect()
}

/// Takes what a piece of the report asks for.
struct Asked<'a> {
    client: &'a Client,
    /// A connection beside the one that the report comes over.
    slot: Slot,
    files: Vec<Fetch>,
}

impl Requests for Asked<'_> {
    fn fetch(&mut self, fetch: Fetch) -> Result<()> {
        self.files.push(fetch);
        Ok(())
    }

    fn dir_props(&mut self, url: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let find = request::Find::All;
        let path = href_path(url);
        let response = nodes::propfind_one(self.client, &mut self.slot, path, None, find)?;
        Ok(changes(&response))
    }
}
