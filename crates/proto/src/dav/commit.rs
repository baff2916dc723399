//! Bodies and answers of commits.

use std::collections::BTreeMap;

use sylvan_core::repository::CommitInfo;
use sylvan_core::{Props, RelPath, RelPathBuf, Result, Revnum, props};

use super::request::push_text;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};
use super::{NS_CUSTOM, NS_DAV_SVN, NS_SVN_PROP, encode_base64};

/// The media type of skels.
pub const SKEL_TYPE: &str = "application/vnd.svn-skel";

const HEADER: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// A new value of a property; with `old`, only if it has that value before.
#[derive(Clone, Copy, Debug)]
pub struct PropChange<'a> {
    /// The property.
    pub name: &'a str,
    /// Its value; `None` deletes it.
    pub value: Option<&'a [u8]>,
    /// The value before, if that matters.
    pub old: Option<Option<&'a [u8]>>,
}

/// The body of a `POST` that makes a transaction; with properties if the server takes them.
pub fn create_txn(revprops: Option<&Props>) -> Vec<u8> {
    match revprops {
        Some(revprops) => {
            let mut body = b"( create-txn-with-props ".to_vec();
            body.extend(props::to_skel(revprops));
            body.extend_from_slice(b" )");
            body
        }
        None => b"( create-txn )".to_vec(),
    }
}

/// The body of a `PROPPATCH`.
pub fn proppatch(changes: &[PropChange<'_>]) -> String {
    let mut body = format!(
        "{HEADER}<D:propertyupdate xmlns:D=\"DAV:\" xmlns:V=\"{NS_DAV_SVN}\" \
         xmlns:C=\"{NS_CUSTOM}\" xmlns:S=\"{NS_SVN_PROP}\">"
    );
    let is_set = |change: &&PropChange<'_>| change.value.is_some() || change.old.is_some();
    for (element, wanted) in [("set", true), ("remove", false)] {
        let mut these = changes.iter().filter(|change| is_set(change) == wanted);
        let Some(first) = these.next() else {
            continue;
        };
        body.push_str(&format!("<D:{element}><D:prop>"));
        push_prop(&mut body, first);
        these.for_each(|change| push_prop(&mut body, change));
        body.push_str(&format!("</D:prop></D:{element}>"));
    }
    body.push_str("</D:propertyupdate>");
    body
}

fn push_prop(body: &mut String, change: &PropChange<'_>) {
    let name = match change.name.strip_prefix(props::SVN_PREFIX) {
        Some(name) => format!("S:{name}"),
        None => format!("C:{}", change.name),
    };
    let (encoding, value) = encoded(change.value);
    body.push_str(&format!("<{name}{encoding}>"));
    if let Some(old) = change.old {
        match old {
            Some(old) => {
                let (encoding, old) = encoded(Some(old));
                body.push_str(&format!("<V:old-value{encoding}>{old}</V:old-value>"));
            }
            None => body.push_str("<V:old-value V:absent=\"1\"></V:old-value>"),
        }
    }
    body.push_str(&value);
    body.push_str(&format!("</{name}>"));
}

/// Returns the attribute that tells how a value is written, and the value.
fn encoded(value: Option<&[u8]>) -> (&'static str, String) {
    let Some(value) = value else {
        return (" V:absent=\"1\"", String::new());
    };
    let is_safe = |c: char| !c.is_ascii_control() || matches!(c, '\n' | '\r' | '\t');
    match std::str::from_utf8(value) {
        Ok(text) if text.chars().all(is_safe) => {
            let mut escaped = String::with_capacity(text.len());
            push_text(&mut escaped, text);
            ("", escaped)
        }
        _ => (" V:encoding=\"base64\"", encode_base64(value)),
    }
}

/// The body of a `CHECKOUT` into an activity.
pub fn checkout(activity: &str) -> String {
    let mut body = format!("{HEADER}<D:checkout xmlns:D=\"DAV:\"><D:activity-set><D:href>");
    push_text(&mut body, activity);
    body.push_str("</D:href></D:activity-set><D:apply-to-version/></D:checkout>");
    body
}

/// The list of lock tokens at and below `parent`, which goes with a `DELETE`.
pub fn lock_tokens(tokens: &BTreeMap<RelPathBuf, String>, parent: &RelPath) -> String {
    let mut body = HEADER.to_owned();
    push_lock_tokens(&mut body, tokens, parent);
    body
}

fn push_lock_tokens(body: &mut String, tokens: &BTreeMap<RelPathBuf, String>, parent: &RelPath) {
    if tokens.is_empty() {
        return;
    }
    body.push_str("<S:lock-token-list xmlns:S=\"svn:\">");
    for (path, token) in tokens.iter().filter(|(path, _)| path.starts_with(parent)) {
        body.push_str("<S:lock><lock-path>");
        push_text(body, path.as_str());
        body.push_str("</lock-path><lock-token>");
        push_text(body, token);
        body.push_str("</lock-token></S:lock>");
    }
    body.push_str("</S:lock-token-list>");
}

/// The body of a `MERGE` that makes a revision of a transaction or an activity.
pub fn merge(source: &str, tokens: &BTreeMap<RelPathBuf, String>) -> String {
    let mut body = format!("{HEADER}<D:merge xmlns:D=\"DAV:\"><D:source><D:href>");
    push_text(&mut body, source);
    body.push_str(
        "</D:href></D:source><D:no-auto-merge/><D:no-checkout/><D:prop><D:checked-in/>\
         <D:version-name/><D:resourcetype/><D:creationdate/><D:creator-displayname/></D:prop>",
    );
    push_lock_tokens(&mut body, tokens, RelPath::ROOT);
    body.push_str("</D:merge>");
    body
}

/// The body of a `LOCK`.
pub fn lock(comment: Option<&str>) -> String {
    let mut body = format!(
        "{HEADER}<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope>\
         <locktype><write/></locktype>"
    );
    if let Some(comment) = comment {
        body.push_str("<owner>");
        push_text(&mut body, comment);
        body.push_str("</owner>");
    }
    body.push_str("</lockinfo>");
    body
}

/// Reads the answer to a `MERGE`.
#[derive(Debug, Default)]
pub struct MergeResponse {
    info: Response,
    response: Response,
}

#[derive(Debug, Default)]
struct Response {
    is_baseline: bool,
    rev: Option<Revnum>,
    date: Option<String>,
    author: Option<String>,
    post_commit_error: Option<String>,
}

/// States of [`MergeResponse`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Outside,
    Response,
    Propstat,
    Prop,
    ResourceType,
    Baseline,
    VersionName,
    Date,
    Author,
    PostCommitError,
}

impl Handler for MergeResponse {
    type State = State;

    fn open(&mut self, at: At<'_, State>, _: &Attrs<'_>) -> Opened<State> {
        use State::{Outside, Prop, Propstat, ResourceType, Response};
        let state = match at {
            (None, Ns::Dav, "merge-response") | (Some(Outside), Ns::Dav, "updated-set") => Outside,
            (Some(Outside), Ns::Dav, "response") => {
                self.response = Default::default();
                Response
            }
            (Some(Response), Ns::Dav, "propstat") => Propstat,
            (Some(Propstat), Ns::Dav, "prop") => Prop,
            (Some(Prop), Ns::Dav, "resourcetype") => ResourceType,
            (Some(ResourceType), Ns::Dav, "baseline") => State::Baseline,
            (Some(Prop), Ns::Dav, "version-name") => State::VersionName,
            (Some(Prop), Ns::Dav, "creationdate") => State::Date,
            (Some(Prop), Ns::Dav, "creator-displayname") => State::Author,
            (Some(Prop), Ns::Svn, "post-commit-err") => State::PostCommitError,
            _ => return Ok(None),
        };
        let gather = match state {
            State::VersionName | State::Date | State::Author | State::PostCommitError => {
                Gather::Text
            }
            _ => Gather::Nothing,
        };
        Ok(Some((state, gather)))
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        let own = || Some(text.to_owned());
        match state {
            State::Baseline => self.response.is_baseline = true,
            State::VersionName => self.response.rev = Revnum::parse(trimmed(text)),
            State::Date => self.response.date = own(),
            State::Author => self.response.author = own(),
            State::PostCommitError => self.response.post_commit_error = own(),
            State::Response if self.response.is_baseline => {
                self.info = std::mem::take(&mut self.response);
            }
            _ => {}
        }
        Ok(())
    }
}

impl MergeResponse {
    /// Returns what is told of the commit, `None` without a revision.
    pub fn into_info(self) -> Option<CommitInfo> {
        Some(CommitInfo {
            rev: self.info.rev?,
            date: self.info.date,
            author: self.info.author,
            post_commit_error: self.info.post_commit_error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn properties_are_set_and_removed() {
        let change = |name, value| PropChange {
            name,
            value,
            old: None,
        };
        let body = proppatch(&[
            change("svn:eol-style", Some(&b"native"[..])),
            change("mine", Some(b"<\xff>")),
            change("gone", None),
        ]);
        assert!(
            body.ends_with(
                "<D:set><D:prop><S:eol-style>native</S:eol-style>\
                 <C:mine V:encoding=\"base64\">PP8+</C:mine></D:prop></D:set>\
                 <D:remove><D:prop><C:gone V:absent=\"1\"></C:gone></D:prop></D:remove>\
                 </D:propertyupdate>"
            ),
            "{body}"
        );
    }

    #[test]
    fn the_answer_tells_the_revision() {
        let mut document = Document::new(MergeResponse::default());
        document
            .push(
                b"<D:merge-response xmlns:D=\"DAV:\"><D:updated-set><D:response>\
                  <D:href>/r/!svn/vcc/default</D:href><D:propstat><D:prop>\
                  <D:resourcetype><D:baseline/></D:resourcetype>\
                  <S:post-commit-err xmlns:S=\"svn:\">oops</S:post-commit-err>\
                  <D:version-name>7</D:version-name><D:creationdate>now</D:creationdate>\
                  <D:creator-displayname>jo</D:creator-displayname></D:prop>\
                  </D:propstat></D:response></D:updated-set></D:merge-response>",
            )
            .unwrap();
        let info = document.finish().unwrap().into_info().unwrap();
        assert_eq!(info.rev.number(), 7);
        assert_eq!(info.author.as_deref(), Some("jo"));
        assert_eq!(info.post_commit_error.as_deref(), Some("oops"));
    }
}
