//! How work and news travel between the threads.
//!
//! Waking a thread costs more than most of the work that it would be woken for, so nobody is woken
//! who is busy anyway, and the recorder only when there is enough for it to do.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::entry::{FileJob, Job, Message};

/// What a worker is to do next.
#[derive(Debug)]
pub(super) enum Work {
    /// Something on disk that is recorded; it comes first, since it frees memory.
    Job(Job),
    /// A file that was received.
    File(Box<FileJob>),
}

/// What waits for a worker.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    work: Condvar,
    room: Condvar,
    /// The most files that may wait.
    limit: usize,
    workers: Workers,
    /// How many workers there may be for now.
    allowed: AtomicUsize,
}

/// So much may wait for each worker that is awake before another one is woken.
const BACKLOG: usize = 8;
/// The most that a worker takes at a time.
const SHARE: usize = 16;

/// So many bytes may all workers hold together.
const WORKERS_HOLD: usize = 12 << 20;

/// How many workers a file system has at most, and which part of them is of use.
#[derive(Clone, Copy, Debug)]
pub(super) enum Workers {
    /// So many, whatever they meet.
    Fixed(usize),
    /// At most so many, fewer where the file system answers soon: see [`Queue::suit`].
    UpTo(usize),
}

impl Workers {
    /// Returns the most there can be.
    pub(super) const fn most(self) -> usize {
        match self {
            Self::Fixed(count) | Self::UpTo(count) => count,
        }
    }
}

/// So many workers are of use however soon the file system answers,
const WORKERS_AT_LEAST: usize = 8;
/// and so many more for each millisecond that making a file takes.
const WORKERS_PER_MILLISECOND: u128 = 8;
/// So many workers are there from the beginning.
const WORKERS_AT_FIRST: usize = 2;

#[derive(Debug, Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    files: VecDeque<Box<FileJob>>,
    /// How many workers there are.
    workers: usize,
    /// Workers that sleep and have not been called.
    idle: usize,
    /// Calls that no worker has answered yet.
    calls: usize,
    full: bool,
    stopped: bool,
}

impl Queue {
    pub(super) fn new(workers: Workers) -> Self {
        let (allowed, at_first) = match workers {
            Workers::Fixed(count) => (count, count),
            Workers::UpTo(count) => (count.min(WORKERS_AT_LEAST), WORKERS_AT_FIRST.min(count)),
        };
        Self {
            state: Mutex::new(QueueState {
                workers: at_first,
                ..QueueState::default()
            }),
            allowed: AtomicUsize::new(allowed),
            work: Condvar::new(),
            room: Condvar::new(),
            limit: 4 * workers.most() + 128,
            workers,
        }
    }

    /// Returns how many workers are to be started before anything is sent; they are counted.
    pub(super) fn workers_at_first(&self) -> usize {
        self.lock().workers
    }

    /// Allows as many workers as are of use where making a file takes `time`. More of them than the
    /// latency hides only get in each other's way: on NFS with 0.5 ms, 32 send 370 requests more
    /// than 12 for a tree of 1,900 files, since folders change under each other's feet.
    pub(super) fn suit(&self, time: Duration) {
        if let Workers::UpTo(most) = self.workers {
            let more = time.as_micros() * WORKERS_PER_MILLISECOND / 1000;
            let more = usize::try_from(more).unwrap_or(most);
            let allowed = WORKERS_AT_LEAST.saturating_add(more).min(most);
            self.allowed.store(allowed, Ordering::Relaxed);
        }
    }

    /// Says that a worker that was to be started could not be, so that no more are wanted.
    pub(super) fn not_started(&self) {
        let mut state = self.lock();
        state.workers = state.workers.saturating_sub(1);
        self.allowed.store(state.workers, Ordering::Relaxed);
    }

    /// Returns how many workers there may be for now.
    pub(super) fn allowed(&self) -> usize {
        self.allowed.load(Ordering::Relaxed).max(1)
    }

    /// Texts up to this length stay in memory until they are installed.
    pub(super) fn keep(&self) -> usize {
        (WORKERS_HOLD / self.allowed()).clamp(64 << 10, 1 << 20)
    }

    /// Wakes a worker if those that are awake cannot keep up. Returns whether another one is to be
    /// started since nobody sleeps; it is counted already then.
    #[must_use]
    fn wake_some(&self, state: &mut QueueState, may_start: bool) -> bool {
        let awake = state.workers.saturating_sub(state.idle);
        let waiting = state.jobs.len() + state.files.len();
        if awake > 0 && waiting <= BACKLOG * awake {
            return false;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.calls += 1;
            self.work.notify_one();
            return false;
        }
        let start = may_start && state.workers < self.allowed();
        state.workers += usize::from(start);
        start
    }

    /// Tells whether another worker is to be started for what waits; it is counted already then.
    pub(super) fn wants_worker(&self) -> bool {
        self.wake_some(&mut self.lock(), true)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work on the disk.
    pub(super) fn push_job(&self, job: Job) {
        let mut state = self.lock();
        state.jobs.push_back(job);
        // Who sends files starts workers.
        let _ = self.wake_some(&mut state, false);
    }

    /// Adds a file; waits while too many are waiting. Returns whether another worker is to be
    /// started.
    pub(super) fn push_file(&self, file: FileJob) -> bool {
        let mut state = self.lock();
        while state.files.len() >= self.limit && !state.stopped {
            state.full = true;
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.files.push_back(Box::new(file));
        self.wake_some(&mut state, true)
    }

    /// Takes a fair share of the work; `false` when all is over.
    pub(super) fn pop(&self, share: &mut Vec<Work>) -> bool {
        let mut state = self.lock();
        loop {
            let waiting = state.jobs.len() + state.files.len();
            let count = (waiting / self.allowed()).clamp(1, SHARE);
            while share.len() < count
                && let Some(job) = state.jobs.pop_front()
            {
                share.push(Work::Job(job));
            }
            while share.len() < count
                && let Some(file) = state.files.pop_front()
            {
                share.push(Work::File(file));
            }
            if state.full && state.files.len() <= self.limit / 2 {
                state.full = false;
                self.room.notify_all();
            }
            if !share.is_empty() {
                return true;
            }
            if state.stopped {
                return false;
            }
            state.idle += 1;
            state = self
                .work
                .wait_while(state, |state| state.calls == 0 && !state.stopped)
                .unwrap_or_else(PoisonError::into_inner);
            state.calls = state.calls.saturating_sub(1);
        }
    }

    /// Lets all workers end when nothing is left.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.work.notify_all();
        self.room.notify_all();
    }
}

/// News for the recorder.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    state: Mutex<InboxState>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct InboxState {
    messages: VecDeque<Message>,
    /// The recorder sleeps until there are so many.
    wanted: usize,
    asleep: bool,
    /// The recorder was called while it was awake, and is not to fall asleep before it has looked.
    is_called: bool,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, InboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends something that can wait until there is more.
    pub(super) fn send(&self, message: Message) {
        let mut state = self.lock();
        state.messages.push_back(message);
        if state.asleep && state.messages.len() >= state.wanted {
            state.asleep = false;
            self.news.notify_one();
        }
    }

    /// Sends all of `messages` as [`Inbox::send`] does.
    pub(super) fn send_all(&self, messages: &mut Vec<Message>) {
        let mut state = self.lock();
        state.messages.extend(messages.drain(..));
        if state.asleep && state.messages.len() >= state.wanted {
            state.asleep = false;
            self.news.notify_one();
        }
    }

    /// Sends something that somebody waits for.
    pub(super) fn send_urgently(&self, message: Message) {
        self.lock().messages.push_back(message);
        self.wake();
    }

    /// Wakes the recorder.
    pub(super) fn wake(&self) {
        let mut state = self.lock();
        if state.asleep {
            state.asleep = false;
            self.news.notify_one();
        } else {
            state.is_called = true;
        }
    }

    /// Takes all there is; waits at most `time` for `wanted` messages, or for an urgent one.
    pub(super) fn take(&self, wanted: usize, time: Duration) -> VecDeque<Message> {
        let mut state = self.lock();
        let is_called = std::mem::take(&mut state.is_called);
        if state.messages.len() < wanted && !is_called {
            state.wanted = wanted;
            state.asleep = true;
            let (woken, _) = self
                .news
                .wait_timeout_while(state, time, |state| state.asleep)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.asleep = false;
        }
        std::mem::take(&mut state.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_before_the_recorder_sleeps_is_not_lost() {
        let inbox = Inbox::default();
        inbox.send_urgently(Message::Finish { files: 0 });
        let long = Duration::from_secs(60);
        let before = std::time::Instant::now();
        assert_eq!(inbox.take(10, long).len(), 1);
        assert!(before.elapsed() < long / 2);
        // The call is answered: now it sleeps.
        assert!(inbox.take(10, Duration::from_millis(1)).is_empty());
    }

    fn job(queue: &Queue, count: usize) -> usize {
        let mut started = 0;
        for item in 0..count {
            let folder = super::super::entry::DirDisk::existing(sylvan_core::RelPathBuf::root());
            let item = i64::try_from(item).unwrap();
            queue.push_job(Job::MakeDir { item, folder });
            started += usize::from(queue.wants_worker());
        }
        started
    }

    #[test]
    fn workers_are_started_as_they_are_of_use() {
        let queue = Queue::new(Workers::UpTo(32));
        assert_eq!(queue.workers_at_first(), WORKERS_AT_FIRST);
        assert_eq!(job(&queue, BACKLOG * WORKERS_AT_FIRST), 0);
        assert_eq!(job(&queue, 1000), WORKERS_AT_LEAST - WORKERS_AT_FIRST);
        queue.suit(Duration::from_micros(500));
        assert_eq!(job(&queue, 1), 1);
        assert_eq!(job(&queue, 1000), 3);
        queue.suit(Duration::from_millis(50));
        assert_eq!(job(&queue, 1000), 20);
        assert_eq!(queue.keep(), WORKERS_HOLD / 32);
    }

    #[test]
    fn what_cannot_be_started_is_not_tried_again_and_again() {
        let queue = Queue::new(Workers::UpTo(32));
        job(&queue, 1000);
        queue.suit(Duration::from_millis(50));
        assert!(queue.wants_worker());
        queue.not_started();
        assert_eq!(job(&queue, 1000), 0);
        assert_eq!(queue.allowed(), WORKERS_AT_LEAST);
    }

    #[test]
    fn a_fixed_number_of_workers_stays() {
        let queue = Queue::new(Workers::Fixed(3));
        queue.suit(Duration::from_millis(50));
        assert_eq!(queue.workers_at_first(), 3);
        assert_eq!(job(&queue, 1000), 0);
        assert_eq!(queue.keep(), 1 << 20);
    }

    #[test]
    fn a_worker_takes_its_share() {
        let queue = Queue::new(Workers::Fixed(4));
        job(&queue, 20);
        let mut share = Vec::new();
        assert!(queue.pop(&mut share));
        assert_eq!(share.len(), 5);
        queue.stop();
        for _ in 0..15 {
            share.clear();
            assert!(queue.pop(&mut share));
            if queue.lock().jobs.is_empty() {
                break;
            }
        }
        share.clear();
        assert!(!queue.pop(&mut share));
    }
}
