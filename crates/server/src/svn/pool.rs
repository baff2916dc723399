//! The threads that serve clients.
//!
//! A thread is started when a client has something for it and none is free. How many of them run
//! is limited; those that wait for the network do not count, since they cost nobody anything.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(1);
/// What the threads need at most: for each level of a tree some frames. Only what is touched takes
/// memory.
const STACK: usize = 64 << 20;

/// See the module. Clones share it.
pub(crate) struct Pool<J>(Arc<Shared<J>>);

impl<J> Clone for Pool<J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

type Run<J> = dyn Fn(&Pool<J>, J) + Send + Sync;

struct Shared<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    run: Box<Run<J>>,
    least: usize,
    turns: Turns,
}

struct State<J> {
    jobs: VecDeque<J>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

impl<J: Send + 'static> Pool<J> {
    /// Makes one of threads that `run` jobs, of which at least `least` stay.
    pub(crate) fn new(
        least: usize,
        turns: Turns,
        run: impl Fn(&Self, J) + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                threads: 0,
                idle: 0,
                is_closed: false,
            }),
            changed: Condvar::new(),
            run: Box::new(run),
            least,
            turns,
        };
        Self(Arc::new(shared))
    }

    /// Gives a job to a thread.
    pub(crate) fn push(&self, job: J) {
        let mut state = lock(&self.0.state);
        state.jobs.push_back(job);
        if state.idle >= state.jobs.len() {
            drop(state);
            self.0.changed.notify_one();
            return;
        }
        // As many as run now will come back for it, if there cannot be more threads.
        let pool = self.clone();
        let started = std::thread::Builder::new()
            .name("client".to_owned())
            .stack_size(STACK)
            .spawn(move || pool.work());
        if started.is_ok() {
            state.threads += 1;
        } else {
            drop(state);
            self.0.changed.notify_one();
        }
    }

    /// Returns how many threads there are.
    pub(crate) fn threads(&self) -> usize {
        lock(&self.0.state).threads
    }

    /// Lets no more jobs begin, and waits a while for those that run. Tells whether all ended.
    pub(crate) fn close(&self, longest: Duration) -> bool {
        let mut state = lock(&self.0.state);
        state.is_closed = true;
        state.jobs.clear();
        self.0.changed.notify_all();
        let ended = self
            .0
            .changed
            .wait_timeout_while(state, longest, |state| state.threads > 0);
        match ended {
            Ok((state, _)) => state.threads == 0,
            Err(_) => false,
        }
    }

    fn work(&self) {
        let mut state = lock(&self.0.state);
        loop {
            if state.is_closed {
                break;
            }
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                self.0.turns.take();
                // What panics ends its client only; the turn is given back anyway.
                let run = std::panic::AssertUnwindSafe(|| (self.0.run)(self, job));
                let _ = std::panic::catch_unwind(run);
                self.0.turns.give();
                state = lock(&self.0.state);
                continue;
            }
            state.idle += 1;
            let (mut woken, timeout) = self
                .0
                .changed
                .wait_timeout(state, IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            woken.idle -= 1;
            if timeout.timed_out() && woken.jobs.is_empty() && woken.threads > self.0.least {
                state = woken;
                break;
            }
            state = woken;
        }
        state.threads -= 1;
        drop(state);
        self.0.changed.notify_all();
    }
}

/// How many threads may run at once. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<(Mutex<usize>, Condvar)>);

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new((Mutex::new(most.max(1)), Condvar::new())))
    }

    fn take(&self) {
        let (left, given) = &*self.0;
        let mut left = given
            .wait_while(lock(left), |left| *left == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *left -= 1;
    }

    fn give(&self) {
        let (left, given) = &*self.0;
        *lock(left) += 1;
        given.notify_one();
    }

    /// Returns the turn that the thread of a job has.
    pub(crate) fn turn(&self) -> Turn {
        Turn(self.clone())
    }
}

/// The turn of a job.
#[derive(Debug)]
pub(crate) struct Turn(Turns);

impl Turn {
    /// Gives the turn to others until the value is dropped.
    pub(crate) fn give_up(&self) -> Waiting {
        self.0.give();
        Waiting(self.0.clone())
    }
}

/// See [`Turn::give_up`].
#[derive(Debug)]
pub(crate) struct Waiting(Turns);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.take();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn those_that_wait_hinder_nobody() {
        let turns = Turns::new(1);
        let (done, results) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        let gate = Mutex::new(gate);
        let inner = turns.clone();
        let pool = Pool::new(0, turns, move |_, number: usize| {
            if number == 0 {
                let turn = inner.turn();
                let waiting = turn.give_up();
                gate.lock().unwrap().recv().unwrap();
                drop(waiting);
            }
            done.send(number).unwrap();
        });
        for number in 0..4 {
            pool.push(number);
        }
        let mut early: Vec<usize> = (0..3).map(|_| results.recv().unwrap()).collect();
        early.sort_unstable();
        assert_eq!(early, [1, 2, 3]);
        go.send(()).unwrap();
        assert_eq!(results.recv().unwrap(), 0);
        assert!(pool.close(Duration::from_secs(20)));
    }

    #[test]
    fn no_more_run_than_may() {
        let (running, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let (done, results) = mpsc::channel();
        let seen = Arc::clone(&most);
        let pool = Pool::new(0, Turns::new(2), move |_, _: usize| {
            seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            done.send(()).unwrap();
        });
        (0..20).for_each(|number| pool.push(number));
        (0..20).for_each(|_| results.recv().unwrap());
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }

    #[test]
    fn a_panic_ends_one_job() {
        let (done, results) = mpsc::channel();
        let pool = Pool::new(0, Turns::new(1), move |_, number: usize| {
            assert!(number > 0, "the first fails");
            done.send(number).unwrap();
        });
        pool.push(0);
        pool.push(1);
        assert_eq!(results.recv().unwrap(), 1);
    }
}
