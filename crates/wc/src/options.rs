use std::num::NonZero;
use std::time::Duration;

/// How working copies are opened and written: what the `[working-copy]` and `[miscellany]`
/// sections of the user's config say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Keep wc.db locked against other processes from first use to close
    /// (`exclusive-locking`, or this program is named in `exclusive-locking-clients`). Its journal
    /// is then deleted after each transaction rather than truncated.
    pub exclusive_locking: bool,
    /// How long to wait for another process that has wc.db locked (`busy-timeout`, milliseconds).
    pub busy_timeout: Duration,
    /// How many threads work on files; `None` chooses by the file system.
    pub workers: Option<NonZero<usize>>,
    /// Give working files the time of their last commit (`use-commit-times`).
    pub use_commit_times: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            exclusive_locking: false,
            busy_timeout: Self::BUSY_TIMEOUT,
            workers: None,
            use_commit_times: false,
        }
    }
}

impl Options {
    /// The wait for a locked wc.db where the config says nothing.
    pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
}
