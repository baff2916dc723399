//! A server that says what it was told to, for tests and fuzzing.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_io::Config;

use super::connection::Place;
use super::session::SvnSession;
use super::transport::Transport;
use super::{Dial, Dialed, Opener};
use crate::Context;
use crate::auth::{Auth, AuthOptions, NoPrompt};

/// What was sent, a text for each connection.
pub(super) type Sent = Arc<Mutex<Vec<Vec<u8>>>>;

/// What servers say, one after the other, in pieces of some bytes.
pub(super) struct Script {
    replies: Mutex<Vec<Vec<u8>>>,
    piece: usize,
    sent: Sent,
}

impl Script {
    pub(super) fn new(replies: &[&[u8]], piece: usize) -> Self {
        let replies = replies.iter().rev().map(|bytes| bytes.to_vec()).collect();
        Self {
            replies: Mutex::new(replies),
            piece,
            sent: Sent::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn sent(&self) -> Sent {
        Arc::clone(&self.sent)
    }

    /// Opens a session with it.
    pub(super) fn open(self, url: &str, options: AuthOptions) -> Result<SvnSession> {
        let config = Arc::new(Config::default());
        let auth = Auth::new(options, Arc::clone(&config), Box::new(NoPrompt));
        let opener = Opener::new(Context::new(config, auth), Box::new(self));
        SvnSession::open(&Url::parse(url)?, opener)
    }
}

impl Dial for Script {
    fn dial(&self, _: &Url) -> Result<Dialed> {
        let next = self
            .replies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let replies = next.ok_or_else(|| Error::from_code(ErrorCode::RA_SVN_CONNECTION_CLOSED))?;
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(Vec::new());
        let place = Place {
            realm_prefix: "<svn://h:3690>".to_owned(),
            host: "h".to_owned(),
            is_tunneled: false,
        };
        Ok(Dialed {
            transport: Box::new(Talk {
                replies,
                at: 0,
                piece: self.piece,
                number: sent.len() - 1,
                sent: Arc::clone(&self.sent),
            }),
            place,
            has_garbage: false,
            compress: true,
        })
    }
}

struct Talk {
    replies: Vec<u8>,
    at: usize,
    piece: usize,
    number: usize,
    sent: Sent,
}

impl Transport for Talk {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let left = &self.replies[self.at..];
        let room = buffer.capacity() - buffer.len();
        let count = left.len().min(self.piece).min(room);
        buffer.extend_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = sent.get_mut(self.number) {
            text.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }
}
