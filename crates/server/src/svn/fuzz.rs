//! The body of a fuzz target: a server that gets any bytes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sylvan_core::Timestamp;
use sylvan_fs::Cache;
use sylvan_io::Cancel;
use sylvan_repos::authz::AuthzCache;

use super::client::Client;
use super::connection::Connection;
use super::transport::{Direction, Transport};
use super::{Patience, Serving};

/// Says what it is told to, in pieces, and hears everything.
struct Script {
    pieces: VecDeque<Vec<u8>>,
    heard: Arc<std::sync::Mutex<Vec<u8>>>,
}

impl Transport for Script {
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let room = buffer.capacity() - buffer.len();
        let Some(mut piece) = self.pieces.pop_front() else {
            return Ok(0);
        };
        if piece.len() > room {
            self.pieces.push_front(piece.split_off(room));
        }
        buffer.extend_from_slice(&piece);
        Ok(piece.len())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Ok(mut heard) = self.heard.lock() {
            heard.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn wait(&mut self, _: Direction, _: Duration) -> io::Result<bool> {
        Ok(true)
    }

    fn input(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Makes what a server of a folder needs, with small limits.
pub fn serving(root: &Path) -> Arc<Serving> {
    Arc::new(Serving {
        root: root.to_owned(),
        read_only: false,
        virtual_host: false,
        config: None,
        compression: 5,
        max_request: 1 << 20,
        max_response: 0,
        cache: Cache::new(1 << 20),
        rules: AuthzCache::default(),
        patience: Patience::default(),
        metrics: Arc::default(),
        logger: None,
        cancel: Cancel::new(),
        clock: || Timestamp::from_micros(1_000_000_000_000_000),
        host: "host".to_owned(),
        tunnel: Some(Some("jo".to_owned())),
    })
}

/// Serves a client that says `data` in pieces of `cut` bytes. Returns what it was told.
pub fn serve(serving: &Arc<Serving>, data: &[u8], cut: usize) -> Vec<u8> {
    let heard = Arc::default();
    let script = Script {
        pieces: data.chunks(cut.max(1)).map(<[u8]>::to_vec).collect(),
        heard: Arc::clone(&heard),
    };
    let connection = Connection::new(Box::new(script), None, serving);
    // Whatever it says, it is only a client.
    let _ = Client::new(connection, Arc::clone(serving), None).serve();
    heard.lock().map(|heard| heard.clone()).unwrap_or_default()
}
