//! Drawing of progress: files, bytes and rate, on a terminal, for work that lasts.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sylvan_io::Progress;

use crate::screen::{Screen, stderr_is_terminal};

/// How long work must last before anything is drawn.
const DELAY: Duration = Duration::from_secs(1);
/// The time between two drawings.
const TICK: Duration = Duration::from_millis(200);
/// How many ticks a rate looks back.
const WINDOW: usize = 15;

/// Draws what a [`Progress`] counts until it is dropped; then the line is cleared.
#[derive(Debug)]
pub struct Drawing {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drawing {
    /// Starts drawing if standard error is a terminal; else nothing is ever drawn.
    pub fn start(progress: Progress, screen: Screen) -> Self {
        if !stderr_is_terminal() {
            return Self::off();
        }
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || {
                let mut wait = DELAY;
                let mut rate = Rate::new(Instant::now());
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = TICK;
                    let bytes = progress.received().max(progress.bytes());
                    let speed = rate.tick(Instant::now(), bytes);
                    if let Some(text) = line(progress.files(), bytes, speed) {
                        screen.draw(&text);
                    }
                }
                drop(screen.clear());
            });
        match thread {
            Ok(thread) => Self {
                stop: Some(stop),
                thread: Some(thread),
            },
            // Without a thread there is no drawing; the work goes on.
            Err(_) => Self::off(),
        }
    }

    /// Draws nothing.
    pub const fn off() -> Self {
        Self {
            stop: None,
            thread: None,
        }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Bytes a second over the last few ticks.
struct Rate {
    samples: std::collections::VecDeque<(Instant, u64)>,
}

impl Rate {
    fn new(start: Instant) -> Self {
        Self {
            samples: [(start, 0)].into(),
        }
    }

    fn tick(&mut self, now: Instant, bytes: u64) -> u64 {
        self.samples.push_back((now, bytes));
        if self.samples.len() > WINDOW {
            self.samples.pop_front();
        }
        let Some((then, before)) = self.samples.front() else {
            return 0;
        };
        let millis = u64::try_from((now - *then).as_millis()).unwrap_or(u64::MAX);
        bytes.saturating_sub(*before).saturating_mul(1000) / millis.max(1)
    }
}

/// Formats the line, `None` as long as nothing was done.
fn line(files: u64, bytes: u64, speed: u64) -> Option<String> {
    if files == 0 && bytes == 0 {
        return None;
    }
    Some(format!(
        "{files} {}, {}, {}/s",
        if files == 1 { "file" } else { "files" },
        size(bytes),
        size(speed)
    ))
}

/// Formats a number of bytes with three digits at most before the unit.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut tenths = bytes.saturating_mul(10);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_files_bytes_and_rate() {
        assert_eq!(line(0, 0, 0), None);
        assert_eq!(line(1, 999, 0).unwrap(), "1 file, 999 B, 0 B/s");
        assert_eq!(
            line(12_345, 1_234_567, 999_999).unwrap(),
            "12345 files, 1.2 MB, 999.9 kB/s"
        );
        assert_eq!(size(u64::MAX), "1844674.4 TB");
    }

    #[test]
    fn rates_look_back_a_few_ticks() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        assert_eq!(rate.tick(start + Duration::from_secs(1), 1000), 1000);
        for tick in 2..40 {
            let now = start + Duration::from_secs(tick);
            let speed = rate.tick(now, 1000 + (tick - 1) * 10);
            assert!(speed >= 10, "{speed}");
        }
        let now = start + Duration::from_secs(40);
        assert_eq!(rate.tick(now, 1390), 10);
    }
}
