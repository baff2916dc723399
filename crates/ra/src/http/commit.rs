//! The editor of a commit over HTTP: a transaction (or before HTTP v2 an activity) that requests
//! change, until `MERGE` makes a revision of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use sylvan_core::{Error, ErrorCode, Md5, Props, RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::svndiff::Version;
use sylvan_delta::{CopyFrom, Editor, TextFormat, Token};
use sylvan_proto::dav;
use sylvan_proto::dav::commit::{self, MergeResponse, PropChange, SKEL_TYPE};

use super::commit_v1::Activity;
use super::nodes::{append, request_path};
use super::session::HttpSession;
use super::upload::Upload;
use super::wire::{Head, Request};
use crate::whole_text::WholeText;
use crate::{CommitInfo, CommitOptions};

const OPTIONS: &str = "X-SVN-Options";
const VERSION_NAME: &str = "X-SVN-Version-Name";

/// Changes of properties by name.
type Changes = BTreeMap<String, Option<Vec<u8>>>;

/// Where the changes go.
enum Way {
    /// A transaction: its resource, and that of the session's folder in it.
    Txn { txn: String, root: String },
    /// An activity.
    Activity(Activity),
}

struct Dir {
    path: RelPathBuf,
    base: Option<Revnum>,
    props: Changes,
}

struct File {
    path: RelPathBuf,
    base: Option<Revnum>,
    added: bool,
    copied: bool,
    url: String,
    props: Changes,
    base_md5: Option<Md5>,
    body: Option<Upload>,
    text: Option<WholeText>,
}

/// See the module.
pub(super) struct CommitEditor<'s> {
    session: &'s mut HttpSession,
    options: &'s CommitOptions,
    revprops: Props,
    version: Version,
    level: u32,
    way: Option<Way>,
    dirs: HashMap<Token, Dir>,
    files: HashMap<Token, File>,
    deleted: BTreeSet<RelPathBuf>,
    info: Option<CommitInfo>,
}

impl<'s> CommitEditor<'s> {
    pub(super) fn new(
        session: &'s mut HttpSession,
        options: &'s CommitOptions,
        revprops: Props,
        (version, level): (Version, u32),
    ) -> Self {
        Self {
            session,
            options,
            revprops,
            version,
            level,
            way: None,
            dirs: HashMap::new(),
            files: HashMap::new(),
            deleted: BTreeSet::new(),
            info: None,
        }
    }

    /// Returns what there is to tell of the commit, once the drive was closed.
    pub(super) fn into_info(self) -> Option<CommitInfo> {
        self.info
    }

    fn send(&mut self, request: &Request<'_>) -> Result<Head> {
        let HttpSession { client, slot, .. } = &mut *self.session;
        client.send(slot, request)
    }

    /// Sends a request and expects a status; the body of the answer is skipped.
    fn run(&mut self, request: &Request<'_>, expected: u16) -> Result<Head> {
        let head = self.send(request)?;
        self.finish(&head, request, expected)?;
        Ok(head)
    }

    fn finish(&mut self, head: &Head, request: &Request<'_>, expected: u16) -> Result<()> {
        let HttpSession { client, slot, .. } = &mut *self.session;
        client.expect(slot, head, request, expected)?;
        client.read(slot, head, &mut |_| Ok(()))
    }

    /// Returns the resource by which a node in the transaction is changed.
    fn url(&mut self, path: &RelPath) -> Result<String> {
        match &mut self.way {
            Some(Way::Txn { root, .. }) => Ok(append(root, path)),
            Some(Way::Activity(activity)) => activity.working(self.session, path),
            None => Err(out_of_order()),
        }
    }

    /// Returns the resource for a new child of a folder.
    fn child_url(&mut self, path: &RelPath) -> Result<String> {
        match &mut self.way {
            Some(Way::Txn { root, .. }) => Ok(append(root, path)),
            Some(Way::Activity(activity)) => {
                let (parent, name) = path.split().ok_or_else(out_of_order)?;
                let parent = activity.working(self.session, parent)?;
                Ok(append(&parent, RelPath::new(name)?))
            }
            None => Err(out_of_order()),
        }
    }

    /// Returns the header that shows the lock token of a path, unless the path was deleted, which
    /// ends the lock.
    fn token(&self, path: &RelPath) -> Option<String> {
        let token = self.options.lock_tokens.get(path)?;
        (!self.deleted.contains(path)).then(|| self.if_header(path, token))
    }

    fn if_header(&self, path: &RelPath, token: &str) -> String {
        format!("<{}> (<{token}>)", self.session.url.join(path))
    }

    /// As [`Self::token`], of the path and all below it.
    fn tokens_below(&self, path: &RelPath) -> Option<String> {
        let tokens = self.options.lock_tokens.iter();
        let wanted = tokens.filter(|(at, _)| at.starts_with(path) && !self.deleted.contains(*at));
        let headers: Vec<String> = wanted
            .map(|(at, token)| self.if_header(at, token))
            .collect();
        (!headers.is_empty()).then(|| headers.join(" "))
    }

    fn begin(&mut self) -> Result<()> {
        let options = &self.session.repository.options;
        let stubs = options.txn_stub.clone().zip(options.txn_root_stub.clone());
        let me = options.me_resource.clone();
        let (Some((stub, root_stub)), Some(me), true) =
            (stubs, me, self.session.repository.is_v2())
        else {
            let activity = Activity::begin(self.session)?;
            let target = activity.baseline().to_owned();
            self.way = Some(Way::Activity(activity));
            return self.patch_revprops(&target);
        };
        let with_props = options
            .posts
            .iter()
            .any(|post| post == "create-txn-with-props");
        let body = Upload::of(commit::create_txn(with_props.then_some(&self.revprops)));
        let request = Request::new("POST", &me).upload(SKEL_TYPE, &body);
        let request = self.session.client.with_capabilities(request);
        let head = self.run(&request, 201)?;
        let name = head.get("svn-txn-name").ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_REQUEST_FAILED,
                "POST request did not return transaction information",
            )
        })?;
        let txn = format!("{stub}/{name}");
        let anchor = self.session.repos_path(RelPath::ROOT)?;
        let root = append(&format!("{root_stub}/{name}"), &anchor);
        self.way = Some(Way::Txn {
            txn: txn.clone(),
            root,
        });
        if with_props {
            return Ok(());
        }
        self.patch_revprops(&txn)
    }

    fn patch_revprops(&mut self, target: &str) -> Result<()> {
        let revprops = std::mem::take(&mut self.revprops);
        let changes = revprops
            .into_iter()
            .map(|(name, value)| (name, Some(value)));
        self.proppatch(target, &changes.collect(), None, None)
    }

    fn proppatch(
        &mut self,
        target: &str,
        changes: &Changes,
        base: Option<Revnum>,
        token: Option<String>,
    ) -> Result<()> {
        let changes: Vec<PropChange<'_>> = changes
            .iter()
            .map(|(name, value)| PropChange {
                name,
                value: value.as_deref(),
                old: None,
            })
            .collect();
        let base = base.map(|base| base.to_string());
        let mut headers = Vec::new();
        headers.extend(base.as_deref().map(|base| (VERSION_NAME, base)));
        headers.extend(token.as_deref().map(|token| ("If", token)));
        proppatch(self.session, target, &changes, headers)
    }

    fn copy(&mut self, path: &RelPath, from: &CopyFrom, is_dir: bool) -> Result<()> {
        let source = append(&self.session.collection(from.rev)?, &from.path);
        let url = self.child_url(path)?;
        let destination = self.session.client.absolute(&url);
        let tokens = self.tokens_below(path).filter(|_| is_dir);
        let mut request = Request::new("COPY", &source)
            .header("Destination", &destination)
            .header("Overwrite", "F");
        if is_dir {
            request = request.header("Depth", "infinity");
        }
        if let Some(tokens) = &tokens {
            request = request.header("If", tokens);
        }
        self.run(&request, 201).map(drop)
    }

    fn put(&mut self, file: &File, body: &Upload, md5: Option<Md5>) -> Result<()> {
        let base = file.base.map(|base| base.to_string());
        let base_md5 = file.base_md5.map(|md5| md5.to_string());
        let result = md5.map(|md5| md5.to_string());
        let token = self.token(&file.path);
        let media_type = if body.len() == 0 {
            "text/plain"
        } else {
            dav::SVNDIFF_TYPE
        };
        let mut request = Request::new("PUT", &file.url).upload(media_type, body);
        for (name, value) in [
            (VERSION_NAME, &base),
            ("X-SVN-Base-Fulltext-MD5", &base_md5),
            ("X-SVN-Result-Fulltext-MD5", &result),
            ("If", &token),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let head = self.send(&request)?;
        let is_new = file.added && !file.copied;
        if is_new && head.status == 204 {
            return Err(Error::new(
                ErrorCode::FS_ALREADY_EXISTS,
                format!("File '{}' already exists", file.path),
            ));
        }
        self.finish(&head, &request, if is_new { 201 } else { 204 })?;
        let told = head.get("x-svn-result-fulltext-md5");
        let told = told.map(Md5::parse_hex).transpose()?;
        match (md5, told) {
            (Some(expected), Some(actual)) if expected != actual => Err(Error::new(
                ErrorCode::CHECKSUM_MISMATCH,
                format!(
                    "Checksum mismatch for '{}':\n   expected:  {expected}\n     actual:  \
                     {actual}\n",
                    file.path
                ),
            )),
            _ => Ok(()),
        }
    }

    fn add_dir(&mut self, path: &RelPath, from: Option<&CopyFrom>) -> Result<()> {
        match from {
            Some(from) => self.copy(path, from, true)?,
            None => {
                let url = self.child_url(path)?;
                let tokens = self.tokens_below(path);
                let mut request = Request::new("MKCOL", &url);
                if let Some(tokens) = &tokens {
                    request = request.header("If", tokens);
                }
                self.run(&request, 201)?;
            }
        }
        if let Some(Way::Activity(activity)) = &mut self.way {
            activity.added(self.session, path)?;
        }
        Ok(())
    }

    fn merge(&mut self) -> Result<()> {
        let target = match &self.way {
            Some(Way::Txn { txn, .. }) => txn.clone(),
            Some(Way::Activity(activity)) => activity.url().to_owned(),
            None => return Err(out_of_order()),
        };
        let path = request_path(&self.session.url).to_owned();
        let body = commit::merge(&target, &self.options.lock_tokens);
        let wanted = match self.options.keep_locks {
            true => "no-merge-response",
            false => "release-locks no-merge-response",
        };
        let request = Request::new("MERGE", &path)
            .header(OPTIONS, wanted)
            .body(&body)
            .once();
        let sent = self.send(&request);
        let head = sent.map_err(|error| match super::failure::is_lost(&error) {
            true => unknown_end(error),
            false => error,
        })?;
        let HttpSession { client, slot, .. } = &mut *self.session;
        client.expect(slot, &head, &request, 200)?;
        let answer = client.parse(slot, &head, MergeResponse::default());
        let info = answer.map_err(unknown_end)?.into_info();
        self.info = Some(info.ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_PROPS_NOT_FOUND,
                "The MERGE response did not include a new revision",
            )
        })?);
        if let Some(Way::Activity(activity)) = self.way.take() {
            let request = Request::new("DELETE", activity.url());
            self.run(&request, 204)?;
        }
        Ok(())
    }
}

/// Says that the connection was lost when all was sent.
fn unknown_end(error: Error) -> Error {
    error.context(
        "The connection was lost after all changes were sent; it is not known whether the \
         revision was made",
    )
}

fn out_of_order() -> Error {
    Error::new(
        ErrorCode::FS_INCORRECT_EDITOR_COMPLETION,
        "An editor call is out of order",
    )
}

/// Changes properties of a resource.
pub(super) fn proppatch(
    session: &mut HttpSession,
    target: &str,
    changes: &[PropChange<'_>],
    headers: Vec<(&str, &str)>,
) -> Result<()> {
    let body = commit::proppatch(changes);
    let mut request = Request::new("PROPPATCH", target).body(&body);
    request.headers = headers;
    let HttpSession { client, slot, .. } = session;
    let head = client.send(slot, &request)?;
    let failed = if head.status == 207 {
        client.said(slot, &head)
    } else {
        Some(client.failure(slot, &head, &request))
    };
    match failed {
        None => Ok(()),
        Some(error) => Err(recode(
            error,
            ErrorCode::RA_DAV_REQUEST_FAILED,
            ErrorCode::RA_DAV_PROPPATCH_FAILED,
        )),
    }
}

/// Gives the outer links of an error that have one code another.
pub(super) fn recode(error: Error, from: ErrorCode, to: ErrorCode) -> Error {
    if error.code() != from {
        return error;
    }
    let message = error.own_message().map(str::to_owned);
    match (error.cause().cloned(), message) {
        (None, Some(message)) => Error::new(to, message),
        (None, None) => Error::from_code(to),
        (Some(cause), Some(message)) => recode(cause, from, to).wrap(to, message),
        (Some(cause), None) => recode(cause, from, to).wrap_code(to),
    }
}

impl Editor for CommitEditor<'_> {
    fn set_target_revision(&mut self, _: Revnum) -> Result<()> {
        Ok(())
    }

    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.begin()?;
        let dir = Dir {
            path: RelPathBuf::root(),
            base,
            props: Changes::new(),
        };
        self.dirs.insert(root, dir);
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, _: Token) -> Result<()> {
        let url = self.child_url(path)?;
        let rev = rev.map_or(-1, Revnum::number).to_string();
        let tokens = self.tokens_below(path);
        let mut request = Request::new("DELETE", &url).header(VERSION_NAME, &rev);
        if let Some(tokens) = &tokens {
            request = request.header("If", tokens);
            if self.options.keep_locks {
                request = request.header(OPTIONS, "keep-locks");
            }
        }
        let mut head = self.send(&request)?;
        let (token, body);
        if head.status == 400 && tokens.is_some() {
            // There may be more tokens than fit into a header.
            let HttpSession { client, slot, .. } = &mut *self.session;
            client.read(slot, &head, &mut |_| Ok(()))?;
            token = self.token(path);
            body = commit::lock_tokens(&self.options.lock_tokens, path);
            request = Request::new("DELETE", &url)
                .header(VERSION_NAME, &rev)
                .body(&body);
            if let Some(token) = &token {
                request = request.header("If", token);
            }
            if self.options.keep_locks {
                request = request.header(OPTIONS, "keep-locks");
            }
            head = self.send(&request)?;
        }
        self.finish(&head, &request, 204)?;
        self.deleted.insert(path.to_owned());
        Ok(())
    }

    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        copy_from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.add_dir(path, copy_from.as_ref())?;
        let new = Dir {
            path: path.to_owned(),
            base: None,
            props: Changes::new(),
        };
        self.dirs.insert(dir, new);
        Ok(())
    }

    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        let opened = Dir {
            path: path.to_owned(),
            base,
            props: Changes::new(),
        };
        self.dirs.insert(dir, opened);
        Ok(())
    }

    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let dir = self.dirs.get_mut(&dir).ok_or_else(out_of_order)?;
        let value = value.map(<[u8]>::to_vec);
        dir.props.insert(name.to_owned(), value);
        Ok(())
    }

    fn close_directory(&mut self, dir: Token) -> Result<()> {
        let dir = self.dirs.remove(&dir).ok_or_else(out_of_order)?;
        if dir.props.is_empty() {
            return Ok(());
        }
        let url = self.url(&dir.path)?;
        self.proppatch(&url, &dir.props, dir.base, None)
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        copy_from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        if let Some(from) = &copy_from {
            self.copy(path, from, false)?;
        }
        let new = File {
            path: path.to_owned(),
            base: None,
            added: true,
            copied: copy_from.is_some(),
            url: self.child_url(path)?,
            props: Changes::new(),
            base_md5: None,
            body: None,
            text: None,
        };
        self.files.insert(file, new);
        Ok(())
    }

    fn open_file(
        &mut self,
        path: &RelPath,
        _: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        let url = match &mut self.way {
            Some(Way::Activity(activity)) => activity.working_file(self.session, path, base)?,
            _ => self.url(path)?,
        };
        let opened = File {
            path: path.to_owned(),
            base,
            added: false,
            copied: false,
            url,
            props: Changes::new(),
            base_md5: None,
            body: None,
            text: None,
        };
        self.files.insert(file, opened);
        Ok(())
    }

    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let (version, level) = (self.version, self.level);
        let file = self.files.get_mut(&file).ok_or_else(out_of_order)?;
        file.body = Some(Upload::default());
        match format {
            TextFormat::Fulltext => file.text = Some(WholeText::new(version, level)),
            TextFormat::Svndiff => file.base_md5 = base,
        }
        Ok(())
    }

    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        let file = self.files.get_mut(&file).ok_or_else(out_of_order)?;
        let body = file.body.as_mut().ok_or_else(out_of_order)?;
        match &mut file.text {
            Some(text) => body.push(&text.push(&chunk)),
            None => body.push(&chunk),
        }
    }

    fn text_end(&mut self, file: Token) -> Result<()> {
        let file = self.files.get_mut(&file).ok_or_else(out_of_order)?;
        let body = file.body.as_mut().ok_or_else(out_of_order)?;
        match file.text.take() {
            Some(text) => body.push(&text.finish()),
            None => Ok(()),
        }
    }

    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        let file = self.files.get_mut(&file).ok_or_else(out_of_order)?;
        let value = value.map(<[u8]>::to_vec);
        file.props.insert(name.to_owned(), value);
        Ok(())
    }

    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let mut file = self.files.remove(&file).ok_or_else(out_of_order)?;
        let mut body = file.body.take();
        if body.is_none() && file.added && !file.copied {
            body = Some(Upload::default());
        }
        if let Some(body) = body {
            self.put(&file, &body, text)?;
        }
        if file.props.is_empty() {
            return Ok(());
        }
        let token = self.token(&file.path);
        let base = file.base;
        self.proppatch(&file.url, &file.props, base, token)
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        if !(self.dirs.is_empty() && self.files.is_empty()) {
            return Err(Error::new(
                ErrorCode::FS_INCORRECT_EDITOR_COMPLETION,
                "Closing editor with directories or files open",
            ));
        }
        self.merge()?;
        self.way = None;
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        let target = match self.way.take() {
            Some(Way::Txn { txn, .. }) => txn,
            Some(Way::Activity(activity)) => activity.url().to_owned(),
            None => return Ok(()),
        };
        self.session.slot = None;
        let request = Request::new("DELETE", &target);
        let head = self.send(&request)?;
        match head.status {
            204 | 403 | 404 => {
                let HttpSession { client, slot, .. } = &mut *self.session;
                client.read(slot, &head, &mut |_| Ok(()))
            }
            _ => self.finish(&head, &request, 204),
        }
    }
}
