use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what an operation has done, for whoever draws it. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    files: AtomicU64,
    bytes: AtomicU64,
    received: AtomicU64,
}

impl Progress {
    /// Makes counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts files that are done.
    pub fn add_files(&self, count: u64) {
        self.0.files.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts bytes of file content that are done.
    pub fn add_bytes(&self, count: u64) {
        self.0.bytes.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts bytes that came over the network.
    pub fn add_received(&self, count: u64) {
        self.0.received.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the number of files that are done.
    pub fn files(&self) -> u64 {
        self.0.files.load(Ordering::Relaxed)
    }

    /// Returns the bytes of file content that are done.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Returns the bytes that came over the network.
    pub fn received(&self) -> u64 {
        self.0.received.load(Ordering::Relaxed)
    }
}
