use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sylvan_core::{Error, ErrorCode, Result};

/// The flag is set, but not by a signal.
const NO_SIGNAL: usize = usize::MAX;

/// A flag that ends an operation between two of its steps.
///
/// Clones share the flag. A signal handler sets it; every loop over nodes, windows, rows and
/// retries polls it, never between the steps of one atomic change.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicUsize>);

impl Cancel {
    /// Makes a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag without a signal.
    pub fn set(&self) {
        self.0.store(NO_SIGNAL, Ordering::Relaxed);
    }

    /// Sets the flag because a signal came.
    pub fn set_signal(&self, signal: i32) {
        let number = usize::try_from(signal).unwrap_or(NO_SIGNAL);
        self.0.store(number, Ordering::Relaxed);
    }

    /// Tells whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Returns the signal that set the flag.
    pub fn signal(&self) -> Option<i32> {
        let number = self.0.load(Ordering::Relaxed);
        i32::try_from(number).ok().filter(|signal| *signal > 0)
    }

    /// Returns the shared cell, for a signal handler that stores the signal's number.
    pub fn cell(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Polls the flag.
    ///
    /// # Errors
    /// [`ErrorCode::CANCELLED`] if it is set.
    pub fn check(&self) -> Result<()> {
        if self.is_set() {
            return Err(Error::new(ErrorCode::CANCELLED, "Caught signal"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_flag() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        assert!(other.check().is_ok());
        cancel.set_signal(15);
        assert_eq!(other.signal(), Some(15));
        let error = other.check().unwrap_err();
        assert_eq!(error.to_string(), "E200015: Caught signal");
    }
}
