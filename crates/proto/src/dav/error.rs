//! Bodies of failed requests.

use sylvan_core::{Error, ErrorCode, Result};

use super::malformed;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};

/// Reads what a server says of a failure: a `D:error`, or a multistatus of which parts failed.
#[derive(Debug, Default)]
pub struct ErrorBody {
    items: Vec<Item>,
    response: Item,
    propstat: Item,
}

#[derive(Clone, Debug, Default)]
struct Item {
    path: Option<String>,
    prop: Option<String>,
    status: Option<u16>,
    code: Option<i32>,
    message: Option<String>,
}

/// States of [`ErrorBody`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Multistatus,
    Response,
    Href,
    Propstat,
    PropList,
    PropName,
    Status(Owner),
    Description(Owner),
    Error(Owner),
    HumanReadable(Owner, Option<i32>),
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    Document,
    Response,
    Propstat,
}

/// More parts than this are not kept; a message of a thousand lines helps nobody.
const MOST_ITEMS: usize = 1_000;

impl Handler for ErrorBody {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        use State::{
            Description, Error, Href, HumanReadable, Multistatus, PropList, PropName, Propstat,
            Response, Status,
        };
        let text = |state| Some((state, Gather::Text));
        let inner = |state| Some((state, Gather::Nothing));
        Ok(match at {
            (None, Ns::Dav, "multistatus") => inner(Multistatus),
            (None, Ns::Dav, "error") => inner(Error(Owner::Document)),
            (Some(Multistatus), Ns::Dav, "response") => {
                self.response = Item::default();
                inner(Response)
            }
            (Some(Response), Ns::Dav, "href") => text(Href),
            (Some(Response), Ns::Dav, "propstat") => {
                self.propstat = Item::default();
                inner(Propstat)
            }
            (Some(Propstat), Ns::Dav, "prop") => inner(PropList),
            (Some(PropList), ns, local) => {
                self.propstat.prop = Some(match ns {
                    Ns::SvnProp => format!("svn:{local}"),
                    _ => local.to_owned(),
                });
                inner(PropName)
            }
            (Some(Response), Ns::Dav, "status") => text(Status(Owner::Response)),
            (Some(Propstat), Ns::Dav, "status") => text(Status(Owner::Propstat)),
            (Some(Response), Ns::Dav, "responsedescription") => text(Description(Owner::Response)),
            (Some(Propstat), Ns::Dav, "responsedescription") => text(Description(Owner::Propstat)),
            (Some(Response), Ns::Dav, "error") => inner(Error(Owner::Response)),
            (Some(Propstat), Ns::Dav, "error") => inner(Error(Owner::Propstat)),
            (Some(Error(owner)), Ns::Apache, "human-readable") => {
                let code = attrs.get("errcode").and_then(|code| code.parse().ok());
                text(HumanReadable(owner, code))
            }
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        match state {
            State::Href => self.response.path = Some(trimmed(text).to_owned()),
            State::Status(owner) => {
                let status = parse_status(text)
                    .ok_or_else(|| malformed(format!("Malformed DAV:status '{text}'")))?;
                self.item(owner).status = Some(status);
            }
            State::Description(owner) => {
                let item = self.item(owner);
                if item.message.is_none() {
                    item.message = Some(trimmed(text).to_owned());
                }
            }
            State::HumanReadable(owner, code) => {
                let item = self.item(owner);
                item.message = Some(trimmed(text).to_owned());
                item.code = code.filter(|&code| code > 0);
            }
            State::Propstat if self.propstat.status.is_some() => {
                let mut item = std::mem::take(&mut self.propstat);
                item.path = self.response.path.clone();
                self.keep(item);
            }
            State::Response if self.response.status.is_some() => {
                let item = std::mem::take(&mut self.response);
                self.keep(item);
            }
            State::Error(Owner::Document) => {
                let item = std::mem::take(&mut self.response);
                self.keep(item);
            }
            _ => {}
        }
        Ok(())
    }
}

impl ErrorBody {
    fn item(&mut self, owner: Owner) -> &mut Item {
        match owner {
            Owner::Document | Owner::Response => &mut self.response,
            Owner::Propstat => &mut self.propstat,
        }
    }

    fn keep(&mut self, item: Item) {
        if self.items.len() < MOST_ITEMS {
            self.items.push(item);
        }
    }

    /// Makes the error that the body tells of; `None` if it names none. `status` is the one of the
    /// response, `by_status` says what a status alone means for a path.
    pub fn into_error(
        self,
        status: u16,
        by_status: &dyn Fn(u16, &str) -> Option<Error>,
    ) -> Option<Error> {
        let mut errors: Option<Error> = None;
        for item in self.items {
            let previous = errors.as_ref().map(Error::code);
            let Some(error) = item.into_error(status, previous, by_status) else {
                continue;
            };
            errors = Some(match errors {
                Some(first) => first.attach(error),
                None => error,
            });
        }
        errors
    }
}

impl Item {
    fn into_error(
        self,
        response: u16,
        previous: Option<ErrorCode>,
        by_status: &dyn Fn(u16, &str) -> Option<Error>,
    ) -> Option<Error> {
        let status = self.status.unwrap_or(response);
        let code = match self.code {
            Some(code) => ErrorCode(code),
            None if status == 200 || status == 424 && self.prop.is_some() => return None,
            None => code_of_status(status)
                .or(previous)
                .unwrap_or(ErrorCode::RA_DAV_REQUEST_FAILED),
        };
        let path = self.path.unwrap_or_default();
        let message = match (self.message.filter(|text| !text.is_empty()), &self.prop) {
            (Some(message), _) => message,
            (None, Some(prop)) => format!("Property operation on '{prop}' failed"),
            (None, None) => {
                by_status(status, &path).map_or("<blank error>".to_owned(), |error| error.message())
            }
        };
        let error = Error::new(code, message);
        Some(match (self.prop, path) {
            (Some(prop), path) => {
                error.context(format!("While handling the '{prop}' property on '{path}':"))
            }
            (None, path) if !path.is_empty() => {
                error.context(format!("While handling the '{path}' path:"))
            }
            _ => error,
        })
    }
}

fn code_of_status(status: u16) -> Option<ErrorCode> {
    Some(match status {
        301 | 302 | 303 | 307 | 308 => ErrorCode::RA_DAV_RELOCATED,
        403 => ErrorCode::RA_DAV_FORBIDDEN,
        404 => ErrorCode::FS_NOT_FOUND,
        409 => ErrorCode::FS_CONFLICT,
        412 => ErrorCode::RA_DAV_PRECONDITION_FAILED,
        423 => ErrorCode::FS_NO_LOCK_TOKEN,
        500 => ErrorCode::RA_DAV_REQUEST_FAILED,
        501 => ErrorCode::UNSUPPORTED_FEATURE,
        _ => return None,
    })
}

/// Takes the number from `HTTP/1.1 404 Not Found`.
pub(super) fn parse_status(line: &str) -> Option<u16> {
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn error(body: &str, status: u16) -> Option<String> {
        let mut document = Document::new(ErrorBody::default());
        document.push(body.as_bytes()).unwrap();
        document
            .finish()
            .unwrap()
            .into_error(status, &|status, path| {
                Some(Error::new(
                    ErrorCode::FS_NOT_FOUND,
                    format!("'{path}' gave {status}"),
                ))
            })
            .map(|error| error.to_lines(""))
    }

    #[test]
    fn reads_svn_errors() {
        let body = |message: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\" \
                 xmlns:m=\"http://apache.org/dav/xmlns\" xmlns:C=\"svn:\">\n<C:error/>\n{message}</D:error>\n"
            )
        };
        assert_eq!(
            error(
                &body("<m:human-readable errcode=\"160006\">\nNo such revision 9\n</m:human-readable>\n"),
                404
            )
            .as_deref(),
            Some("E160006: No such revision 9\n")
        );
        assert_eq!(
            error(&body("<m:human-readable>\nOops\n</m:human-readable>"), 500).as_deref(),
            Some("E175002: Oops\n")
        );
        assert_eq!(
            error(&body(""), 404).as_deref(),
            Some("E160013: '' gave 404\n")
        );
    }

    #[test]
    fn reads_failed_parts_of_a_multistatus() {
        let body = "<D:multistatus xmlns:D='DAV:' xmlns:S='http://subversion.tigris.org/xmlns/svn/'>\
            <D:response><D:href>/r/a</D:href><D:propstat><D:prop><S:log/></D:prop>\
            <D:status>HTTP/1.1 409 Conflict</D:status>\
            <D:responsedescription>hook said no</D:responsedescription></D:propstat>\
            <D:propstat><D:prop><S:x/></D:prop><D:status>HTTP/1.1 424 Failed</D:status></D:propstat>\
            </D:response></D:multistatus>";
        assert_eq!(
            error(body, 207).as_deref(),
            Some(
                "E160024: While handling the 'svn:log' property on '/r/a':\nE160024: hook said no\n"
            )
        );
        let fine = "<D:multistatus xmlns:D='DAV:'><D:response><D:href>/</D:href>\
            <D:status>HTTP/1.1 200 OK</D:status></D:response></D:multistatus>";
        assert_eq!(error(fine, 207), None);
    }
}
