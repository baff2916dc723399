//! Commits before HTTP v2: resources are checked out into an activity before they are changed.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use sylvan_core::{Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum};
use sylvan_proto::dav::xml::Ns;
use sylvan_proto::dav::{commit, request};

use super::nodes::{append, href_path, propfind_one, request_path};
use super::session::HttpSession;
use super::wire::Request;

/// So often a resource is checked out again when the server has got a younger revision meanwhile.
const TRIES: usize = 6;

/// An activity, and what is checked out into it.
pub(super) struct Activity {
    url: String,
    baseline: String,
    /// The version resource of the session's folder.
    root: String,
    /// Working resources of folders.
    working: BTreeMap<RelPathBuf, String>,
    /// Version resources of the session's folder by revision.
    versions: BTreeMap<Revnum, String>,
}

impl Activity {
    /// Makes an activity and checks the baseline out.
    pub(super) fn begin(session: &mut HttpSession) -> Result<Self> {
        let collection = session.activity_collection()?;
        let url = format!("{}/{}", collection.trim_end_matches('/'), unique_name());
        send(session, &Request::new("MKACTIVITY", &url), 201)?;
        let vcc = session.vcc()?;
        let path = request_path(&session.url).to_owned();
        let root = checked_in(session, &path)?;
        let mut activity = Self {
            url,
            baseline: String::new(),
            root,
            working: BTreeMap::new(),
            versions: BTreeMap::new(),
        };
        activity.baseline = activity.checkout(session, &vcc)?;
        Ok(activity)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the working baseline, which has the properties of the revision.
    pub(super) fn baseline(&self) -> &str {
        &self.baseline
    }

    /// Returns the working resource of a folder, checking it out if it is not.
    pub(super) fn working(&mut self, session: &mut HttpSession, path: &RelPath) -> Result<String> {
        if let Some(known) = self.working.get(path) {
            return Ok(known.clone());
        }
        if let Some(known) = self.below_added(path) {
            return Ok(known);
        }
        let version = append(&self.root, path);
        let working = self.checkout(session, &version)?;
        self.working.insert(path.to_owned(), working.clone());
        Ok(working)
    }

    /// Finds the working resource of what is in an added folder: that is checked out with it.
    fn below_added(&self, path: &RelPath) -> Option<String> {
        path.ancestors().find_map(|ancestor| {
            let key = added_key(ancestor);
            let working = self.working.get(&key)?;
            let rest = path.strip_prefix(ancestor).unwrap_or(RelPath::ROOT);
            Some(append(working, rest))
        })
    }

    /// Remembers that a folder was added.
    pub(super) fn added(&mut self, session: &mut HttpSession, path: &RelPath) -> Result<()> {
        let (parent, name) = path.split().unwrap_or((RelPath::ROOT, ""));
        let working = append(&self.working(session, parent)?, RelPath::new(name)?);
        self.working.insert(added_key(path), working.clone());
        self.working.insert(path.to_owned(), working);
        Ok(())
    }

    /// Returns the working resource of a file as of a revision.
    pub(super) fn working_file(
        &mut self,
        session: &mut HttpSession,
        path: &RelPath,
        base: Option<Revnum>,
    ) -> Result<String> {
        if let Some(known) = self.below_added(path) {
            return Ok(known);
        }
        let root = match base {
            None => self.root.clone(),
            Some(base) => match self.versions.get(&base) {
                Some(known) => known.clone(),
                None => {
                    let stable = session.stable_path(RelPath::ROOT, base)?;
                    let version = checked_in(session, &stable)?;
                    self.versions.insert(base, version.clone());
                    version
                }
            },
        };
        self.checkout(session, &append(&root, path))
    }

    fn checkout(&self, session: &mut HttpSession, version: &str) -> Result<String> {
        let body = commit::checkout(&self.url);
        let request = Request::new("CHECKOUT", version).body(&body);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match send(session, &request, 201) {
                Ok(head) => {
                    let location = head.get("location").ok_or_else(|| {
                        Error::new(
                            ErrorCode::RA_DAV_MALFORMED_DATA,
                            "No Location header received",
                        )
                    })?;
                    return Ok(href_path(location).trim_end_matches('/').to_owned());
                }
                Err(error) if error.code() == ErrorCode::APMOD_BAD_BASELINE && tries > 0 => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The key of a folder that was added, which no path has.
fn added_key(path: &RelPath) -> RelPathBuf {
    path.join(RelPath::new("\u{1}added").unwrap_or(RelPath::ROOT))
}

/// Makes a name that no other activity has, in the form of a UUID.
fn unique_name() -> String {
    let random = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    };
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

fn send(
    session: &mut HttpSession,
    request: &Request<'_>,
    expected: u16,
) -> Result<super::wire::Head> {
    let HttpSession { client, slot, .. } = session;
    let head = client.send(slot, request)?;
    client.expect(slot, &head, request, expected)?;
    client.read(slot, &head, &mut |_| Ok(()))?;
    Ok(head)
}

/// Asks for the version resource of a resource.
fn checked_in(session: &mut HttpSession, path: &str) -> Result<String> {
    let find = request::Find::These(&[("DAV:", "checked-in")]);
    let HttpSession { client, slot, .. } = session;
    let response = propfind_one(client, slot, path, None, find)?;
    let found = response.prop(&Ns::Dav, "checked-in");
    let href = found.map(|prop| prop.text()).ok_or_else(|| {
        Error::new(
            ErrorCode::RA_DAV_REQUEST_FAILED,
            format!("Path '{path}' not present"),
        )
    })?;
    Ok(href_path(href.trim()).trim_end_matches('/').to_owned())
}
