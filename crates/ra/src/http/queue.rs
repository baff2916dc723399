//! What waits to be fetched.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sylvan_core::{Error, Result};
use sylvan_io::Cancel;
use sylvan_proto::dav::Fetch;

use super::failure::{self, of_connection};

/// Files between the report that names them and the connections that fetch them.
///
/// Waking a thread costs about as much as fetching a small file, so one that waits is woken when
/// there is enough for it to do, and the report goes on when there is enough room.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    work: Condvar,
    room: Condvar,
}

#[derive(Default)]
struct State {
    files: VecDeque<Fetch>,
    /// Threads that wait for files.
    idle: usize,
    /// No more files will come.
    closed: bool,
    /// Nobody needs the files any more.
    stopped: bool,
    failed: Option<Error>,
}

/// So many files may wait; then the report is not read on until half of them are gone.
const MOST: usize = 256;

/// So many files are worth waking a thread for.
const WORTH_WAKING: usize = 4;

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file, waiting while too many wait; tells how many there are.
    ///
    /// # Errors
    /// `CANCELLED`, or what says that fetching has failed: see [`Self::take_failure`].
    pub(super) fn push(&self, file: Fetch, cancel: &Cancel) -> Result<usize> {
        let mut state = self.lock();
        if state.files.len() >= MOST {
            while state.files.len() > MOST / 2 && !state.stopped {
                cancel.check()?;
                let waited = self.room.wait_timeout(state, Duration::from_millis(250));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        if state.stopped {
            return Err(of_connection(failure::CLOSED));
        }
        state.files.push_back(file);
        if state.idle > 0 && state.files.len() >= WORTH_WAKING {
            self.work.notify_one();
        }
        Ok(state.files.len())
    }

    /// Takes up to `most` files; with `wait` none only when none will come any more.
    pub(super) fn take(&self, most: usize, wait: bool) -> Vec<Fetch> {
        let mut state = self.lock();
        while wait && state.files.is_empty() && !state.closed && !state.stopped {
            state.idle += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        let count = most.min(state.files.len());
        let was_full = state.files.len() > MOST / 2;
        let taken = state.files.drain(..count).collect();
        if was_full && state.files.len() <= MOST / 2 {
            self.room.notify_one();
        }
        taken
    }

    /// Says that no more files will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// Drops what waits, and lets nobody wait any more.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.files.clear();
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Stops because of an error; the first one counts.
    pub(super) fn fail(&self, error: Error) {
        self.lock().failed.get_or_insert(error);
        self.stop();
    }

    /// Returns why fetching failed.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.lock().failed.take()
    }
}

#[cfg(test)]
mod tests {
    use sylvan_delta::Token;

    use super::*;

    fn file(number: u32) -> Fetch {
        Fetch {
            file: Token(number),
            url: number.to_string(),
            text: true,
            props: false,
            delta_base: None,
            base_md5: None,
            md5: None,
            sha1: None,
        }
    }

    #[test]
    fn a_full_queue_waits_until_half_is_gone() {
        let queue = Queue::default();
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..1000 {
                    queue.push(file(number), &cancel).unwrap();
                }
                queue.close();
            });
            let mut next = 0;
            loop {
                let taken = queue.take(7, true);
                if taken.is_empty() {
                    break;
                }
                for file in taken {
                    assert_eq!(file.url, next.to_string());
                    next += 1;
                }
            }
            assert_eq!(next, 1000);
        });
    }

    #[test]
    fn nobody_waits_after_a_failure() {
        let queue = Queue::default();
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                let mut count = 0;
                while queue.push(file(0), &cancel).is_ok() {
                    count += 1;
                }
                count
            });
            std::thread::sleep(Duration::from_millis(20));
            queue.fail(of_connection(failure::TRUNCATED));
            queue.fail(of_connection(failure::CLOSED));
            assert_eq!(pushing.join().unwrap(), MOST);
        });
        assert!(queue.take(1, true).is_empty());
        assert_eq!(queue.take_failure().unwrap().code(), failure::TRUNCATED);
    }

    #[test]
    fn a_full_queue_can_be_cancelled() {
        let queue = Queue::default();
        let cancel = Cancel::new();
        while queue.push(file(0), &cancel).unwrap() < MOST {}
        cancel.set();
        let error = queue.push(file(0), &cancel).unwrap_err();
        assert_eq!(error.code(), sylvan_core::ErrorCode::CANCELLED);
    }
}
