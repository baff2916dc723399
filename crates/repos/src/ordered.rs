//! Work on several threads whose results come in order.
//!
//! Jobs are handed out in order. The results of each go through a queue of bounded weight, so a job
//! that is ahead of the one whose turn it is waits when it has done enough. The job whose turn it is
//! always runs, so somebody always goes on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sylvan_core::Result;
use sylvan_io::Cancel;

/// What a job may have in its queue.
const MOST: usize = 4 << 20;
/// How far ahead, in jobs, a worker may be for each thread.
const AHEAD: usize = 4;

/// What a result takes in memory.
pub(crate) trait Weight {
    fn weight(&self) -> usize;
}

/// Takes the results of a job.
pub(crate) struct Events<'e, T>(Target<'e, T>);

enum Target<'e, T> {
    /// On the thread that wants them.
    Direct(&'e mut dyn FnMut(T) -> Result<()>),
    Queue {
        shared: &'e Shared<T>,
        job: usize,
    },
}

impl<T: Weight> Events<'_, T> {
    /// Hands over a result; waits while there are too many that nobody took.
    ///
    /// # Errors
    /// [`sylvan_core::ErrorCode::CANCELLED`] if nobody wants it any more, and what the taker
    /// returned.
    pub(crate) fn push(&mut self, result: T) -> Result<()> {
        match &mut self.0 {
            Target::Direct(take) => take(result),
            Target::Queue { shared, job } => shared.push(*job, result),
        }
    }
}

/// The queue of a job.
struct Queue<T> {
    results: VecDeque<T>,
    weight: usize,
    /// How the job ended.
    end: Option<Result<()>>,
}

struct State<T> {
    queues: VecDeque<Queue<T>>,
    /// The job whose turn it is: the first of the queues.
    turn: usize,
    stopped: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Something was pushed, or a job ended.
    pushed: Condvar,
    /// Something was taken.
    taken: Condvar,
    next: AtomicUsize,
    stop: Cancel,
}

impl<T: Weight> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A panic is passed on by the scope of the threads.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: usize, result: T) -> Result<()> {
        let weight = result.weight();
        let mut state = self.lock();
        loop {
            if state.stopped {
                self.stop.set();
                return self.stop.check();
            }
            let at = job - state.turn;
            let queue = &mut state.queues[at];
            if queue.weight + weight <= MOST || queue.results.is_empty() {
                queue.weight += weight;
                queue.results.push_back(result);
                drop(state);
                self.pushed.notify_one();
                return Ok(());
            }
            state = wait(&self.taken, state);
        }
    }

    /// Waits until a job may begin; `false` if there is none left.
    fn begin(&self, jobs: usize, most_ahead: usize) -> Option<usize> {
        let mut state = self.lock();
        loop {
            let job = self.next.load(Ordering::Relaxed);
            if state.stopped || job >= jobs {
                return None;
            }
            if job - state.turn < most_ahead {
                self.next.store(job + 1, Ordering::Relaxed);
                state.queues.push_back(Queue {
                    results: VecDeque::new(),
                    weight: 0,
                    end: None,
                });
                return Some(job);
            }
            state = wait(&self.taken, state);
        }
    }

    fn end(&self, job: usize, end: Result<()>) {
        let mut state = self.lock();
        let at = job - state.turn;
        if let Some(queue) = state.queues.get_mut(at) {
            queue.end = Some(end);
        }
        drop(state);
        self.pushed.notify_one();
    }

    /// Takes the results of a job, whose turn it is.
    fn take(&self, sink: &mut dyn FnMut(T) -> Result<()>) -> Result<()> {
        loop {
            let mut state = self.lock();
            while state
                .queues
                .front()
                .is_none_or(|queue| queue.results.is_empty() && queue.end.is_none())
            {
                state = wait(&self.pushed, state);
            }
            let Some(queue) = state.queues.front_mut() else {
                continue;
            };
            let results = std::mem::take(&mut queue.results);
            queue.weight = 0;
            let end = queue.end.take();
            if end.is_some() {
                state.queues.pop_front();
                state.turn += 1;
            }
            drop(state);
            self.taken.notify_all();
            for result in results {
                sink(result)?;
            }
            if let Some(end) = end {
                return end;
            }
        }
    }
}

fn wait<'s, T>(condvar: &Condvar, state: MutexGuard<'s, T>) -> MutexGuard<'s, T> {
    condvar.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// Does jobs on so many threads, 0 for as many as there are processors, and gives their results to
/// `sink`, in the order of the jobs, on this thread.
///
/// # Errors
/// The first of the jobs in their order, and what `sink` returned.
pub(crate) fn run<J: Sync, T: Weight + Send>(
    jobs: &[J],
    threads: usize,
    work: &(dyn Fn(&J, &mut Events<'_, T>) -> Result<()> + Sync),
    sink: &mut dyn FnMut(T) -> Result<()>,
) -> Result<()> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    if threads == 1 || jobs.len() < 2 {
        let mut events = Events(Target::Direct(sink));
        return jobs.iter().try_for_each(|job| work(job, &mut events));
    }
    let shared = Shared {
        state: Mutex::new(State {
            queues: VecDeque::new(),
            turn: 0,
            stopped: false,
        }),
        pushed: Condvar::new(),
        taken: Condvar::new(),
        next: AtomicUsize::new(0),
        stop: Cancel::new(),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = shared.begin(jobs.len(), threads * AHEAD) {
                    let mut events = Events(Target::Queue {
                        shared: &shared,
                        job,
                    });
                    let end = work(&jobs[job], &mut events);
                    shared.end(job, end);
                }
            });
        }
        let done = jobs.iter().try_for_each(|_| shared.take(sink));
        shared.lock().stopped = true;
        shared.taken.notify_all();
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_core::{Error, ErrorCode};

    impl Weight for usize {
        fn weight(&self) -> usize {
            MOST / 3
        }
    }

    #[test]
    fn results_come_in_order() {
        let jobs: Vec<usize> = (0..100).collect();
        for threads in [1, 2, 5] {
            let mut seen = Vec::new();
            let work = |job: &usize, events: &mut Events<'_, usize>| {
                (0..job % 7).try_for_each(|part| events.push(job * 10 + part))
            };
            let mut sink = |result| {
                seen.push(result);
                Ok(())
            };
            run(&jobs, threads, &work, &mut sink).unwrap();
            let expected: Vec<usize> = jobs
                .iter()
                .flat_map(|job| (0..job % 7).map(move |part| job * 10 + part))
                .collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_first_error_ends_it_after_the_results_before() {
        let jobs: Vec<usize> = (0..50).collect();
        for threads in [1, 3] {
            let mut seen = Vec::new();
            let work = |job: &usize, events: &mut Events<'_, usize>| {
                for part in 0..9 {
                    events.push(*job)?;
                    if job % 20 == 9 && part == 4 {
                        return Err(Error::new(ErrorCode::FS_CORRUPT, format!("{job}")));
                    }
                }
                Ok(())
            };
            let mut sink = |result| {
                seen.push(result);
                Ok(())
            };
            let error = run(&jobs, threads, &work, &mut sink).unwrap_err();
            assert_eq!(error.message(), "9");
            assert_eq!(seen.len(), 9 * 9 + 5);
            let mut sink = |_| Err(Error::new(ErrorCode::IO_WRITE_ERROR, "full"));
            let error = run(&jobs, threads, &work, &mut sink).unwrap_err();
            assert_eq!(error.message(), "full");
        }
    }
}
