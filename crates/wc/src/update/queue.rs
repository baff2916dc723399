//! How work and news travel between the threads.
//!
//! Waking a thread costs more than most of the work that it would be woken for, so nobody is woken
//! who is busy anyway, and the recorder only when there is enough for it to do.

use std::collections::VecDeque;
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
    /// How many workers there are.
    workers: usize,
}

/// So much may wait for each worker that is awake before another one is woken.
const BACKLOG: usize = 4;
/// The most that a worker takes at a time.
const SHARE: usize = 16;

#[derive(Debug, Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    files: VecDeque<Box<FileJob>>,
    /// Workers that sleep and have not been called.
    idle: usize,
    /// Calls that no worker has answered yet.
    calls: usize,
    full: bool,
    stopped: bool,
}

impl Queue {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            limit: 4 * workers + 128,
            workers,
        }
    }

    /// Wakes a worker if those that are awake cannot keep up.
    fn wake_some(&self, state: &mut QueueState) {
        let awake = self.workers.saturating_sub(state.idle);
        let waiting = state.jobs.len() + state.files.len();
        if state.idle > 0 && (awake == 0 || waiting > BACKLOG * awake) {
            state.idle -= 1;
            state.calls += 1;
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work on the disk.
    pub(super) fn push_job(&self, job: Job) {
        let mut state = self.lock();
        state.jobs.push_back(job);
        self.wake_some(&mut state);
    }

    /// Adds a file; waits while too many are waiting.
    pub(super) fn push_file(&self, file: FileJob) {
        let mut state = self.lock();
        while state.files.len() >= self.limit && !state.stopped {
            state.full = true;
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.files.push_back(Box::new(file));
        self.wake_some(&mut state);
    }

    /// Takes a fair share of the work; `false` when all is over.
    pub(super) fn pop(&self, share: &mut Vec<Work>) -> bool {
        let mut state = self.lock();
        loop {
            let waiting = state.jobs.len() + state.files.len();
            let count = (waiting / self.workers.max(1)).clamp(1, SHARE);
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
        }
    }

    /// Takes all there is; waits at most `time` for `wanted` messages, or for an urgent one.
    pub(super) fn take(&self, wanted: usize, time: Duration) -> VecDeque<Message> {
        let mut state = self.lock();
        if state.messages.len() < wanted {
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
