use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts what an operation has done, for whoever draws it, and remembers when a file was last
/// written, for whoever must not end too soon after. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    start: Instant,
    /// When a file was last written: microseconds after `start`, and 1; 0 for never.
    last_file: AtomicU64,
    files: AtomicU64,
    bytes: AtomicU64,
    received: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            last_file: AtomicU64::new(0),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }
}

impl Progress {
    /// Makes counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts files that are done.
    pub fn add_files(&self, count: u64) {
        self.0.files.fetch_add(count, Ordering::Relaxed);
        self.note_file();
    }

    /// Remembers that a file was written at this moment, or its time recorded.
    pub fn note_file(&self) {
        let micros = u64::try_from(self.0.start.elapsed().as_micros()).unwrap_or(u64::MAX - 1);
        self.0.last_file.fetch_max(micros + 1, Ordering::Relaxed);
    }

    /// Returns how long ago a file was last written; `None` if none was.
    pub fn since_last_file(&self) -> Option<Duration> {
        let micros = self.0.last_file.load(Ordering::Relaxed).checked_sub(1)?;
        Some(
            self.0
                .start
                .elapsed()
                .saturating_sub(Duration::from_micros(micros)),
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_file_is_remembered() {
        let progress = Progress::new();
        progress.add_bytes(7);
        progress.add_received(7);
        assert_eq!(progress.since_last_file(), None);
        progress.add_files(1);
        std::thread::sleep(Duration::from_millis(3));
        let since = progress.clone().since_last_file().unwrap();
        assert!(since >= Duration::from_millis(3));
        progress.note_file();
        assert!(progress.since_last_file().unwrap() < since + Duration::from_secs(60));
        assert_eq!(progress.files(), 1);
    }
}
