//! Answers that tell of locks.

use sylvan_core::Result;

use super::malformed;
use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};

/// A lock as `get-locks-report` tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockItem {
    /// The path with a leading slash.
    pub path: String,
    /// The token.
    pub token: Option<String>,
    /// Who holds it.
    pub owner: Option<String>,
    /// Why.
    pub comment: Option<String>,
    /// When it was made, as in `2026-11-30T09:52:45.825184Z`.
    pub created: Option<String>,
    /// When it ends.
    pub expires: Option<String>,
}

/// Reads the answer to `get-locks-report` and hands on one lock after the other.
pub struct LocksReport<F> {
    receive: F,
    lock: LockItem,
    encoding: Option<String>,
}

/// States of [`LocksReport`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Report,
    Lock,
    Path,
    Token,
    Owner,
    Comment,
    Created,
    Expires,
}

impl<F: FnMut(LockItem) -> Result<()>> LocksReport<F> {
    /// Makes a parser that gives each lock to `receive`.
    pub fn new(receive: F) -> Self {
        Self {
            receive,
            lock: LockItem::default(),
            encoding: None,
        }
    }
}

impl<F: FnMut(LockItem) -> Result<()>> Handler for LocksReport<F> {
    type State = State;

    fn open(&mut self, at: At<'_, State>, attrs: &Attrs<'_>) -> Opened<State> {
        let state = match at {
            (None, Ns::Svn, "get-locks-report") => {
                return Ok(Some((State::Report, Gather::Nothing)));
            }
            (Some(State::Report), Ns::Svn, "lock") => {
                self.lock = LockItem::default();
                return Ok(Some((State::Lock, Gather::Nothing)));
            }
            (Some(State::Lock), Ns::Svn, "path") => State::Path,
            (Some(State::Lock), Ns::Svn, "token") => State::Token,
            (Some(State::Lock), Ns::Svn, "owner") => State::Owner,
            (Some(State::Lock), Ns::Svn, "comment") => State::Comment,
            (Some(State::Lock), Ns::Svn, "creationdate") => State::Created,
            (Some(State::Lock), Ns::Svn, "expirationdate") => State::Expires,
            _ => return Ok(None),
        };
        self.encoding = attrs.get("encoding").map(str::to_owned);
        Ok(Some((state, Gather::Text)))
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        let text = match self.encoding.take().as_deref() {
            Some("base64") if !matches!(state, State::Lock | State::Report) => {
                String::from_utf8_lossy(&super::decode_base64(text)?).into_owned()
            }
            _ => text.to_owned(),
        };
        match state {
            State::Path => self.lock.path = text,
            State::Token => self.lock.token = Some(text),
            State::Owner => self.lock.owner = Some(text),
            State::Comment => self.lock.comment = Some(text),
            State::Created => self.lock.created = Some(text),
            State::Expires => self.lock.expires = Some(text),
            State::Lock => (self.receive)(std::mem::take(&mut self.lock))?,
            State::Report => {}
        }
        Ok(())
    }
}

/// Reads a `D:lockdiscovery` from a `PROPFIND` of one resource, or from what answers a `LOCK`.
#[derive(Debug, Default)]
pub struct LockDiscovery {
    /// The token, if there is a lock.
    pub token: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// Seconds until the lock ends, if it does.
    pub timeout: Option<u64>,
}

/// States of [`LockDiscovery`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum DiscoveryState {
    Outside,
    ActiveLock,
    Timeout,
    LockToken,
    Href,
    Owner,
}

impl Handler for LockDiscovery {
    type State = DiscoveryState;

    fn open(&mut self, at: At<'_, DiscoveryState>, _attrs: &Attrs<'_>) -> Opened<DiscoveryState> {
        use DiscoveryState::{ActiveLock, Href, LockToken, Outside, Owner, Timeout};
        let (parent, ns, local) = at;
        if *ns != Ns::Dav {
            return Ok(None);
        }
        Ok(match (parent, local) {
            (None, "multistatus" | "prop")
            | (Some(Outside), "response" | "propstat" | "prop" | "lockdiscovery") => {
                Some((Outside, Gather::Nothing))
            }
            (Some(Outside), "activelock") => Some((ActiveLock, Gather::Nothing)),
            (Some(ActiveLock), "timeout") => Some((Timeout, Gather::Text)),
            (Some(ActiveLock), "locktoken") => Some((LockToken, Gather::Nothing)),
            (Some(LockToken), "href") => Some((Href, Gather::Text)),
            (Some(ActiveLock), "owner") => Some((Owner, Gather::Text)),
            _ => None,
        })
    }

    fn close(&mut self, state: DiscoveryState, text: &str) -> Result<()> {
        match state {
            DiscoveryState::Timeout => {
                let word = trimmed(text);
                self.timeout = match word.to_ascii_lowercase().strip_prefix("second-") {
                    Some(seconds) => Some(seconds.parse().map_err(|_| bad_timeout(word))?),
                    None if word.eq_ignore_ascii_case("infinite") => None,
                    None => return Err(bad_timeout(word)),
                };
            }
            DiscoveryState::Href if !text.is_empty() => {
                self.token = Some(text.split_ascii_whitespace().collect());
            }
            DiscoveryState::Owner if !text.is_empty() => self.comment = Some(text.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

fn bad_timeout(word: &str) -> sylvan_core::Error {
    malformed(format!("Invalid LOCK timeout value '{word}'"))
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn reads_a_locks_report() {
        let body = "<S:get-locks-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\">\n<S:lock>\n\
            <S:path>/A/f</S:path>\n<S:token>opaquelocktoken:1</S:token>\n\
            <S:creationdate>2026-11-30T09:52:45.825184Z</S:creationdate>\n\
            <S:owner>jo</S:owner>\n<S:comment>why &lt;&amp;</S:comment>\n</S:lock>\n</S:get-locks-report>";
        let mut locks = Vec::new();
        let mut document = Document::new(LocksReport::new(|lock| {
            locks.push(lock);
            Ok(())
        }));
        document.push(body.as_bytes()).unwrap();
        document.finish().unwrap();
        assert_eq!(locks.len(), 1);
        assert_eq!(locks[0].path, "/A/f");
        assert_eq!(locks[0].comment.as_deref(), Some("why <&"));
        assert_eq!(locks[0].expires, None);
    }

    #[test]
    fn discovers_a_lock() {
        let lock = |timeout: &str| {
            format!(
                "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/r/f</D:href><D:propstat>\
                 <D:prop><D:lockdiscovery><D:activelock><D:locktype><D:write/></D:locktype>\
                 <D:owner>note</D:owner><D:timeout>{timeout}</D:timeout>\
                 <D:locktoken><D:href> opaquelocktoken:1\n</D:href></D:locktoken></D:activelock>\
                 </D:lockdiscovery></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>\
                 </D:response></D:multistatus>"
            )
        };
        for (timeout, expected) in [("Infinite", None), ("Second-60", Some(60))] {
            let mut document = Document::new(LockDiscovery::default());
            document.push(lock(timeout).as_bytes()).unwrap();
            let found = document.finish().unwrap();
            assert_eq!(found.token.as_deref(), Some("opaquelocktoken:1"));
            assert_eq!(found.comment.as_deref(), Some("note"));
            assert_eq!(found.timeout, expected);
        }
        let mut document = Document::new(LockDiscovery::default());
        assert!(document.push(lock("Never").as_bytes()).is_err());
    }
}
