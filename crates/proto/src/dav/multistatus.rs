//! Answers to `PROPFIND`.

use sylvan_core::{ErrorCode, Result};

use super::decode_value;
use super::error::parse_status;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};

/// A property of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prop {
    /// Its namespace.
    pub ns: Ns,
    /// Its name there.
    pub name: String,
    /// Its value; for one with a child `D:href` that, for a collection's type `collection`.
    pub value: Vec<u8>,
}

impl Prop {
    /// Tells whether this is the property `name` of `ns`.
    pub fn is(&self, ns: &Ns, name: &str) -> bool {
        self.ns == *ns && self.name == name
    }

    /// Returns the value as text, bad UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.value)
    }
}

/// A resource with the properties that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The resource's path as the server escaped it.
    pub href: String,
    /// Its properties, those with status 200.
    pub props: Vec<Prop>,
}

impl Response {
    /// Returns a property's value.
    pub fn prop(&self, ns: &Ns, name: &str) -> Option<&Prop> {
        self.props.iter().find(|prop| prop.is(ns, name))
    }
}

/// Returns the name that Subversion gives to a DAV property; `None` for one that is none of its.
pub fn svn_prop_name(ns: &Ns, name: &str) -> Option<String> {
    let entry = match (ns, name) {
        (Ns::None | Ns::Custom, _) => return Some(name.to_owned()),
        (Ns::SvnProp | Ns::Svn, _) => return Some(format!("svn:{name}")),
        (_, "version-name") => "svn:entry:committed-rev",
        (_, "creationdate") => "svn:entry:committed-date",
        (_, "creator-displayname") => "svn:entry:last-author",
        (_, "repository-uuid") => "svn:entry:uuid",
        (_, "lock-token") => "svn:entry:lock-token",
        (_, "checked-in") => super::VERSION_URL_PROP,
        (Ns::Other(uri), _) => return Some(format!("{uri}{name}")),
        (Ns::Dav | Ns::DavSvn, _) => return None,
        (Ns::Apache, _) => return Some(format!("http://apache.org/dav/xmlns{name}")),
    };
    Some(entry.to_owned())
}

/// Reads a multistatus and hands on one resource after the other.
pub struct Multistatus<F> {
    receive: F,
    response: Response,
    /// The properties of the open `propstat`.
    found: Vec<Prop>,
    ignore: bool,
    current: Option<Current>,
}

struct Current {
    ns: Ns,
    name: String,
    encoding: Option<String>,
    alternative: Option<String>,
}

/// States of [`Multistatus`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Multistatus,
    Response,
    Href,
    Propstat,
    Status,
    PropList,
    Prop,
    Collection,
    HrefValue,
}

impl<F: FnMut(Response) -> Result<()>> Multistatus<F> {
    /// Makes a parser that gives each resource to `receive`.
    pub fn new(receive: F) -> Self {
        Self {
            receive,
            response: Response::default(),
            found: Vec::new(),
            ignore: false,
            current: None,
        }
    }
}

impl<F: FnMut(Response) -> Result<()>> Handler for Multistatus<F> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        use Gather::{Nothing, Text};
        Ok(match at {
            (None, Ns::Dav, "multistatus") => Some((State::Multistatus, Nothing)),
            (Some(State::Multistatus), Ns::Dav, "response") => {
                self.response = Response::default();
                Some((State::Response, Nothing))
            }
            (Some(State::Response), Ns::Dav, "href") => Some((State::Href, Text)),
            (Some(State::Response), Ns::Dav, "propstat") => {
                self.found.clear();
                self.ignore = false;
                Some((State::Propstat, Nothing))
            }
            (Some(State::Propstat), Ns::Dav, "status") => Some((State::Status, Text)),
            (Some(State::Propstat), Ns::Dav, "prop") => Some((State::PropList, Nothing)),
            (Some(State::PropList), ns, local) => {
                self.current = Some(Current {
                    ns: ns.clone(),
                    name: local.to_owned(),
                    encoding: attrs.get("encoding").map(str::to_owned),
                    alternative: None,
                });
                Some((State::Prop, Text))
            }
            (Some(State::Prop), Ns::Dav, "collection") => Some((State::Collection, Nothing)),
            (Some(State::Prop), Ns::Dav, "href") => Some((State::HrefValue, Text)),
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match state {
            State::Href => self.response.href = trimmed(text).to_owned(),
            State::Status => self.ignore = parse_status(text) != Some(200),
            State::Collection => self.alternative("collection"),
            State::HrefValue => self.alternative(trimmed(text)),
            State::Prop => {
                if let Some(current) = self.current.take() {
                    let value = match current.alternative {
                        Some(value) => value.into_bytes(),
                        None => decode_value(
                            text,
                            current.encoding.as_deref(),
                            ErrorCode::RA_DAV_MALFORMED_DATA,
                        )?,
                    };
                    self.found.push(Prop {
                        ns: current.ns,
                        name: current.name,
                        value,
                    });
                }
            }
            State::Propstat if !self.ignore => self.response.props.append(&mut self.found),
            State::Response => (self.receive)(std::mem::take(&mut self.response))?,
            _ => {}
        }
        Ok(())
    }
}

impl<F> Multistatus<F> {
    fn alternative(&mut self, value: &str) {
        if let Some(current) = &mut self.current {
            current.alternative = Some(value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    const BODY: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:" xmlns:ns0="DAV:">
<D:response xmlns:S="http://subversion.tigris.org/xmlns/svn/" xmlns:C="http://subversion.tigris.org/xmlns/custom/" xmlns:V="http://subversion.tigris.org/xmlns/dav/" xmlns:lp1="DAV:" xmlns:lp2="http://subversion.tigris.org/xmlns/dav/">
<D:href>/r/!svn/rvr/1/%c3%bc/</D:href>
<D:propstat>
<D:prop>
<C:foo V:encoding="base64">YmluAQ==
</C:foo>
<C:my:odd>a&lt;b</C:my:odd>
<S:executable>*</S:executable>
<lp1:resourcetype><D:collection/></lp1:resourcetype>
<lp1:checked-in><D:href>/r/!svn/ver/1/</D:href></lp1:checked-in>
<lp1:version-name>1</lp1:version-name>
<lp2:baseline-relative-path/>
</D:prop>
<D:status>HTTP/1.1 200 OK</D:status>
</D:propstat>
<D:propstat>
<D:prop>
<lp1:getcontentlength/>
</D:prop>
<D:status>HTTP/1.1 404 Not Found</D:status>
</D:propstat>
</D:response>
</D:multistatus>
"#;

    #[test]
    fn hands_on_what_was_found() {
        let mut all = Vec::new();
        for piece in [1, 5, 10_000] {
            all.clear();
            let mut document = Document::new(Multistatus::new(|response| {
                all.push(response);
                Ok(())
            }));
            for bytes in BODY.as_bytes().chunks(piece) {
                document.push(bytes).unwrap();
            }
            document.finish().unwrap();
            assert_eq!(all.len(), 1);
            let response = &all[0];
            assert_eq!(response.href, "/r/!svn/rvr/1/%c3%bc/");
            let named: Vec<_> = response
                .props
                .iter()
                .map(|prop| {
                    (
                        svn_prop_name(&prop.ns, &prop.name),
                        prop.text().into_owned(),
                    )
                })
                .collect();
            let some = |name: &str| Some(name.to_owned());
            assert_eq!(
                named,
                [
                    (some("foo"), "bin\u{1}".to_owned()),
                    (some("my:odd"), "a<b".to_owned()),
                    (some("svn:executable"), "*".to_owned()),
                    (None, "collection".to_owned()),
                    (
                        some("svn:wc:ra_dav:version-url"),
                        "/r/!svn/ver/1/".to_owned()
                    ),
                    (some("svn:entry:committed-rev"), "1".to_owned()),
                    (None, String::new()),
                ]
            );
        }
    }
}
