//! How much may be in memory at a time.

use std::sync::{Condvar, Mutex, PoisonError};

/// Counts bytes in flight between the thread that receives and those that write.
///
/// Only the receiving thread waits here; the threads that free memory never do, so waiting ends.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    waiting: bool,
    closed: bool,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits until there is room, then counts `bytes` (which may exceed the limit once).
    pub(super) fn wait(&self, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.used >= self.limit && !state.closed {
            state.waiting = true;
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting = false;
        state.used += bytes;
    }

    /// Counts `bytes` without waiting.
    pub(super) fn add(&self, bytes: usize) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .used += bytes;
    }

    /// Gives `bytes` back.
    pub(super) fn free(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used = state.used.saturating_sub(bytes);
        if state.waiting && state.used < self.limit {
            self.freed.notify_all();
        }
    }

    /// Tells whether the receiving thread waits.
    pub(super) fn is_waited_for(&self) -> bool {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .waiting
    }

    /// Lets nobody wait any more: something failed.
    pub(super) fn close(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .closed = true;
        self.freed.notify_all();
    }
}
