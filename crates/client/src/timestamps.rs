//! Waiting for the next tick of a file system's clock.
//!
//! A file counts as unmodified while it has the size and the time that were recorded. If an operation
//! ended within the same tick in which it wrote a file, an edit of the same size could go unnoticed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sylvan_core::Dirent;

use crate::Context;

/// No kernel stamps files with a clock coarser than this, if the file system keeps fractions of
/// seconds.
const TICK: Duration = Duration::from_millis(10);
/// Full seconds, and a little more, are the coarsest times that are waited for.
const LONGEST: Duration = Duration::from_millis(1020);
/// So often a wait looks whether it is cancelled.
const SLICE: Duration = Duration::from_millis(50);

impl Context {
    /// Waits until what is written from now on gets another time than the files that were written
    /// so far; `near` (absolute) or what is above it is asked how fine times are.
    ///
    /// Returns at once if no file was written or the last one is old enough.
    pub(crate) fn wait_for_timestamps(&self, near: &Dirent) {
        let Some(since) = self.progress.since_last_file() else {
            return;
        };
        if !self.waits_for_timestamps || since >= LONGEST {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let last = now.unwrap_or_default().saturating_sub(since);
        let mut left = wait_after(last, has_fractions(near)).saturating_sub(since);
        while !left.is_zero() && !self.cancel.is_set() {
            let slice = left.min(SLICE);
            std::thread::sleep(slice);
            left -= slice;
        }
    }
}

/// Tells whether the time of a folder is no full second, which hardly happens by chance where times
/// are finer.
fn has_fractions(near: &Dirent) -> bool {
    let mut path = near.as_path();
    loop {
        match std::fs::symlink_metadata(path).and_then(|meta| meta.modified()) {
            Ok(time) => {
                return time
                    .duration_since(UNIX_EPOCH)
                    .is_ok_and(|time| time.subsec_micros() != 0);
            }
            Err(_) => match path.parent() {
                Some(parent) => path = parent,
                None => return false,
            },
        }
    }
}

/// Returns how long after `last` (since 1970) the file system's clock surely shows another time.
fn wait_after(last: Duration, has_fractions: bool) -> Duration {
    if has_fractions {
        return TICK;
    }
    LONGEST - Duration::from_nanos(u64::from(last.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_with_the_tick() {
        let last = Duration::from_millis(1_700_000_000_250);
        assert_eq!(wait_after(last, true), Duration::from_millis(10));
        assert_eq!(wait_after(last, false), Duration::from_millis(770));
        let last = Duration::from_secs(1_700_000_000);
        assert_eq!(wait_after(last, false), LONGEST);
    }

    #[test]
    fn folders_tell_how_fine_times_are() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Dirent::new(scratch.path().to_str().unwrap());
        assert!(has_fractions(&folder.join("no/such")));
        let full = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let times = std::fs::FileTimes::new().set_modified(full);
        let open = std::fs::File::open(scratch.path()).unwrap();
        open.set_times(times).unwrap();
        assert!(!has_fractions(&folder));
    }
}
