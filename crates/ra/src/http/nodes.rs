//! Which resource stands for a node at a revision.

use std::collections::HashMap;

use sylvan_core::path::{uri_decode, uri_encode};
use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_proto::dav::xml::Ns;
use sylvan_proto::dav::{Multistatus, Options, Prop, Response, request};

use super::client::{Client, Slot};
use super::wire::Request;

/// What is known of the repository, and how to find more.
pub(super) struct Repository {
    pub(super) options: Options,
    pub(super) root: Option<Url>,
    pub(super) uuid: Option<String>,
    /// v1: the resource that stands for the repository itself.
    vcc: Option<String>,
    /// v1: the collections of whole revisions, by number.
    collections: HashMap<Revnum, String>,
}

const FIND_VCC: [(&str, &str); 3] = [
    ("DAV:", "version-controlled-configuration"),
    (DAV_SVN, "baseline-relative-path"),
    (DAV_SVN, "repository-uuid"),
];
const FIND_BASELINE: [(&str, &str); 2] =
    [("DAV:", "baseline-collection"), ("DAV:", "version-name")];
const FIND_CHECKED_IN: [(&str, &str); 1] = [("DAV:", "checked-in")];

pub(super) const DAV_SVN: &str = sylvan_proto::dav::NS_DAV_SVN;

/// Revisions whose collections are remembered.
const MOST_COLLECTIONS: usize = 10_000;

/// Returns the path of a URL for a request; the root's is a slash.
pub(super) fn request_path(url: &Url) -> &str {
    match url.escaped_path() {
        "" => "/",
        path => path,
    }
}

/// Appends a path to an escaped one.
pub(super) fn append(base: &str, path: &RelPath) -> String {
    let base = base.trim_end_matches('/');
    if path.is_root() {
        base.to_owned()
    } else {
        format!("{base}/{}", uri_encode(path.as_str()))
    }
}

/// Takes the escaped path from what a server calls a resource: a path or a whole URL.
pub(super) fn href_path(href: &str) -> &str {
    match href.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find('/').map_or("/", |at| &rest[at..])
        }
        _ => href,
    }
}

/// Decodes an escaped path, without a slash at its end.
pub(super) fn decode(path: &str) -> String {
    let decoded = String::from_utf8_lossy(&uri_decode(path)).into_owned();
    decoded.trim_end_matches('/').to_owned()
}

/// Sends a `PROPFIND` and gives each resource to `receive`.
pub(super) fn propfind(
    client: &Client,
    slot: &mut Slot,
    path: &str,
    depth: &str,
    label: Option<Revnum>,
    find: request::Find<'_>,
    receive: impl FnMut(Response) -> Result<()>,
) -> Result<()> {
    let body = request::propfind(find);
    let label = label.map(|rev| rev.to_string());
    let mut request = Request::new("PROPFIND", path)
        .header("Depth", depth)
        .body(&body);
    if let Some(label) = &label {
        request = request.header("Label", label);
    }
    if let Some(gzip) = client.accept_gzip() {
        request = request.header("Accept-Encoding", gzip);
    }
    client
        .fetch(slot, &request, 207, Multistatus::new(receive))
        .map(drop)
}

/// As [`propfind`], for one resource.
pub(super) fn propfind_one(
    client: &Client,
    slot: &mut Slot,
    path: &str,
    label: Option<Revnum>,
    find: request::Find<'_>,
) -> Result<Response> {
    let mut found = Response::default();
    propfind(client, slot, path, "0", label, find, |response| {
        found = response;
        Ok(())
    })?;
    Ok(found)
}

fn text(response: &Response, ns: &Ns, name: &str) -> Option<String> {
    response.prop(ns, name).map(|prop| prop.text().into_owned())
}

fn missing(code: ErrorCode, what: &str) -> Error {
    Error::new(
        code,
        format!("The PROPFIND response did not include the requested {what} value"),
    )
}

impl Repository {
    pub(super) fn new(options: Options, url: &Url) -> Self {
        let root = options
            .root
            .as_deref()
            .and_then(|path| on_same_server(url, path));
        Self {
            uuid: options.uuid.clone(),
            root,
            options,
            vcc: None,
            collections: HashMap::new(),
        }
    }

    /// Tells whether the server speaks HTTP v2.
    pub(super) fn is_v2(&self) -> bool {
        self.options.me_resource.is_some()
            && self.options.rev_root_stub.is_some()
            && self.options.rev_stub.is_some()
            && self.root.is_some()
    }

    /// Returns the resource that reports on the whole repository go to.
    pub(super) fn report_resource(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        url: &Url,
    ) -> Result<String> {
        match &self.options.me_resource {
            Some(me) if self.is_v2() => Ok(me.clone()),
            _ => self.discover(client, slot, url),
        }
    }

    /// Returns the repository's root.
    pub(super) fn root(&mut self, client: &Client, slot: &mut Slot, url: &Url) -> Result<Url> {
        if self.root.is_none() {
            self.discover(client, slot, url)?;
        }
        self.root
            .clone()
            .ok_or_else(|| missing(ErrorCode::RA_DAV_PROPS_NOT_FOUND, "baseline-relative-path"))
    }

    /// v1: asks the URL, or what is above it, for the resource that stands for the repository.
    pub(super) fn discover(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        url: &Url,
    ) -> Result<String> {
        if let (Some(vcc), Some(_)) = (&self.vcc, &self.root) {
            return Ok(vcc.clone());
        }
        let mut at = url.clone();
        let found = loop {
            let find = request::Find::These(&FIND_VCC);
            match propfind_one(client, slot, request_path(&at), None, find) {
                Ok(found) => break found,
                Err(error)
                    if error.code() == ErrorCode::FS_NOT_FOUND
                        || error.code() == ErrorCode::RA_DAV_FORBIDDEN =>
                {
                    // It is not there in the youngest revision; what is above it may be.
                    match at.parent() {
                        Some(parent) if !parent.escaped_path().is_empty() => at = parent,
                        _ => return Err(missing(ErrorCode::RA_DAV_OPTIONS_REQ_FAILED, VCC)),
                    }
                }
                Err(error) => return Err(error),
            }
        };
        let vcc = text(&found, &Ns::Dav, VCC)
            .ok_or_else(|| missing(ErrorCode::RA_DAV_OPTIONS_REQ_FAILED, VCC))?;
        let vcc = href_path(&vcc).to_owned();
        let below = text(&found, &Ns::DavSvn, "baseline-relative-path").unwrap_or_default();
        let depth = below.split('/').filter(|name| !name.is_empty()).count();
        if self.root.is_none() {
            let mut root = at;
            for _ in 0..depth {
                root = root
                    .parent()
                    .ok_or_else(|| missing(ErrorCode::RA_DAV_OPTIONS_REQ_FAILED, VCC))?;
            }
            self.root = Some(root);
        }
        if self.uuid.is_none() {
            self.uuid = text(&found, &Ns::DavSvn, "repository-uuid");
        }
        self.vcc = Some(vcc.clone());
        Ok(vcc)
    }

    /// Returns the repository's UUID.
    pub(super) fn uuid(&mut self, client: &Client, slot: &mut Slot, url: &Url) -> Result<String> {
        if self.uuid.is_none() {
            self.discover(client, slot, url)?;
        }
        self.uuid.clone().ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_RESPONSE_HEADER_BADNESS,
                "The UUID property was not found on the resource or any of its parents",
            )
        })
    }

    /// v1: returns the youngest revision and remembers its collection.
    pub(super) fn youngest_v1(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        url: &Url,
    ) -> Result<Revnum> {
        let vcc = self.discover(client, slot, url)?;
        let find = request::Find::These(&FIND_CHECKED_IN);
        let found = propfind_one(client, slot, &vcc, None, find)?;
        let baseline = text(&found, &Ns::Dav, "checked-in").ok_or_else(|| {
            Error::new(
                ErrorCode::RA_DAV_OPTIONS_REQ_FAILED,
                "The OPTIONS response did not include the requested checked-in value",
            )
        })?;
        self.baseline(client, slot, href_path(&baseline), None)
    }

    /// v1: asks a baseline (or with a label the repository) for its collection.
    fn baseline(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        path: &str,
        label: Option<Revnum>,
    ) -> Result<Revnum> {
        let find = request::Find::These(&FIND_BASELINE);
        let found = propfind_one(client, slot, path, label, find)?;
        let code = ErrorCode::RA_DAV_PROPS_NOT_FOUND;
        let collection = text(&found, &Ns::Dav, "baseline-collection")
            .ok_or_else(|| missing(code, "baseline-collection"))?;
        let rev = text(&found, &Ns::Dav, "version-name")
            .and_then(|text| Revnum::parse(&text))
            .or(label)
            .ok_or_else(|| missing(code, "version-name"))?;
        if self.collections.len() >= MOST_COLLECTIONS {
            self.collections.clear();
        }
        let collection = href_path(&collection).trim_end_matches('/').to_owned();
        self.collections.insert(rev, collection);
        Ok(rev)
    }

    /// Returns the collection of a whole revision.
    pub(super) fn collection(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        url: &Url,
        rev: Revnum,
    ) -> Result<String> {
        if let Some(stub) = self
            .options
            .rev_root_stub
            .as_deref()
            .filter(|_| self.is_v2())
        {
            return Ok(format!("{stub}/{rev}"));
        }
        if !self.collections.contains_key(&rev) {
            let vcc = self.discover(client, slot, url)?;
            self.baseline(client, slot, &vcc, Some(rev))?;
        }
        self.collections
            .get(&rev)
            .cloned()
            .ok_or_else(|| missing(ErrorCode::RA_DAV_PROPS_NOT_FOUND, "baseline-collection"))
    }

    /// Returns the path of a URL below the repository's root.
    pub(super) fn relative(
        &mut self,
        client: &Client,
        slot: &mut Slot,
        session: &Url,
        url: &Url,
    ) -> Result<RelPathBuf> {
        let root = self.root(client, slot, session)?;
        url.strip_prefix(&root).ok_or_else(|| {
            Error::new(
                ErrorCode::RA_ILLEGAL_URL,
                format!("URL '{url}' is not a child of the session's repository root URL '{root}'"),
            )
        })
    }
}

const VCC: &str = "version-controlled-configuration";

/// Makes a URL of a path on the server of another URL.
fn on_same_server(url: &Url, path: &str) -> Option<Url> {
    if !path.starts_with('/') {
        return None;
    }
    Url::parse(&format!("{}://{}{path}", url.scheme(), url.authority())).ok()
}

/// Tells whether a property says that the resource is a folder.
pub(super) fn is_collection(prop: &Prop) -> bool {
    prop.value == b"collection"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_resources() {
        assert_eq!(href_path("/r/a%20b/"), "/r/a%20b/");
        assert_eq!(href_path("http://h:80/r/x://y"), "/r/x://y");
        assert_eq!(href_path("http://h"), "/");
        assert_eq!(href_path("/r/x://y"), "/r/x://y");
        assert_eq!(decode("/r/%c3%bc/"), "/r/ü");
        let path = RelPath::new("a b/ü").unwrap();
        assert_eq!(append("/r/!svn/rvr/1/", path), "/r/!svn/rvr/1/a%20b/%C3%BC");
        assert_eq!(append("/r/", RelPath::ROOT), "/r");
        let url = Url::parse("http://h").unwrap();
        assert_eq!(request_path(&url), "/");
        assert_eq!(
            on_same_server(&url, "/r").map(|url| url.as_str().to_owned()),
            Some("http://h/r".to_owned())
        );
        assert_eq!(on_same_server(&url, "r"), None);
    }
}
