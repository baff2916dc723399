//! How much may be in memory at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts bytes in flight between the thread that receives and those that write.
///
/// Only the receiving thread waits here; the threads that free memory never do, so waiting ends.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    used: AtomicUsize,
    waiting: AtomicBool,
    closed: AtomicBool,
    lock: Mutex<()>,
    freed: Condvar,
}

impl Budget {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
            waiting: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            lock: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    /// Waits until there is room, then counts `bytes` (which may exceed the limit once). `before`
    /// is called before it waits.
    pub(super) fn wait(&self, bytes: usize, before: impl FnOnce()) {
        if !self.has_room() {
            self.waiting.store(true, Ordering::SeqCst);
            before();
            let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            while !self.has_room() {
                // Who frees looks at `waiting` without the lock, so a call may be missed.
                (held, _) = self
                    .freed
                    .wait_timeout(held, Duration::from_millis(20))
                    .unwrap_or_else(PoisonError::into_inner);
            }
            drop(held);
            self.waiting.store(false, Ordering::SeqCst);
        }
        self.add(bytes);
    }

    fn has_room(&self) -> bool {
        self.used.load(Ordering::SeqCst) < self.limit || self.closed.load(Ordering::SeqCst)
    }

    /// Counts `bytes` without waiting.
    pub(super) fn add(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Gives `bytes` back.
    pub(super) fn free(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.used.fetch_sub(bytes, Ordering::SeqCst);
        if self.is_waited_for() && self.has_room() {
            self.freed.notify_all();
        }
    }

    /// Tells whether the receiving thread waits.
    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Lets nobody wait any more: something failed.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.freed.notify_all();
    }
}
