//! What all threads of an update share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use sylvan_core::{Error, Result};
use sylvan_io::Progress;

use super::budget::Budget;

/// See the module.
#[derive(Debug)]
pub(super) struct Shared {
    pub budget: Budget,
    pub progress: Progress,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
}

impl Shared {
    pub(super) fn new(budget: usize, progress: Progress) -> Self {
        Self {
            budget: Budget::new(budget),
            progress,
            failure: Mutex::new(None),
            failed: AtomicBool::new(false),
        }
    }

    /// Remembers the first failure; the driver gets it with its next call.
    pub(super) fn fail(&self, error: Error) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.failed.store(true, Ordering::Release);
        self.budget.close();
    }

    /// Fails if another thread has.
    pub(super) fn check(&self) -> Result<()> {
        if self.failed.load(Ordering::Acquire)
            && let Some(error) = self.failure()
        {
            return Err(error);
        }
        Ok(())
    }

    /// Returns the first failure.
    pub(super) fn failure(&self) -> Option<Error> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
