use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sylvan_core::time::Clock;
use sylvan_core::{Dirent, Result, Url};
use sylvan_io::{Cancel, Config, Progress};
use sylvan_ra::Session;
use sylvan_wc::notify::{Action, Notification, NotifyFn};

/// Is told where a server says that a repository has moved to, before the session is opened there.
pub type Redirected<'a> = dyn FnMut(&Url) -> Result<()> + 'a;

/// Opens a session at a URL; follows redirects only if there is someone to tell.
pub type Opener =
    dyn Fn(&Url, Option<&mut Redirected<'_>>) -> Result<Box<dyn Session>> + Send + Sync;

/// The sessions of one program run, kept by repository so that the next operation on the same
/// repository needs no new connection.
pub struct Sessions {
    open: Box<Opener>,
    idle: Mutex<Vec<Idle>>,
    /// Held while a session is opened. A threaded svnserve that is asked for two connections at the
    /// same moment may leave one unanswered until another ends, which here would be never.
    opening: Mutex<()>,
    /// How many more threads may have sessions of their own.
    extra: AtomicUsize,
}

/// So many threads may work on externals at the same time, in the whole program.
const MOST_EXTRA: usize = 2;

/// Threads that may have sessions of their own until this is dropped.
pub(crate) struct Extra<'a> {
    left: &'a AtomicUsize,
    count: usize,
}

impl Extra<'_> {
    pub(crate) const fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Extra<'_> {
    fn drop(&mut self) {
        self.left.fetch_add(self.count, Ordering::Relaxed);
    }
}

struct Idle {
    root: Url,
    session: Box<dyn Session>,
}

/// A session on loan from [`Sessions`]. It is closed when dropped; [`PooledSession::give_back`]
/// keeps it for others, to be called where the last operation on it ended well.
pub struct PooledSession<'a> {
    session: Box<dyn Session>,
    pool: &'a Sessions,
}

impl Sessions {
    /// Makes an empty pool.
    pub fn new(open: Box<Opener>) -> Self {
        Self {
            open,
            idle: Mutex::new(Vec::new()),
            opening: Mutex::new(()),
            extra: AtomicUsize::new(MOST_EXTRA),
        }
    }

    /// Returns a session at `url`: an idle one of its repository, moved there, or a new one.
    ///
    /// # Errors
    /// What opening or moving a session gives.
    pub fn open(&self, url: &Url) -> Result<PooledSession<'_>> {
        let mut session = match self.take_idle(url) {
            Some(idle) => idle,
            None => self.open_new(url, None)?,
        };
        if session.url() != url {
            session.reparent(url)?;
        }
        Ok(self.lend(session))
    }

    /// As [`Sessions::open`], but a new session may be open where the repository has moved to.
    ///
    /// # Errors
    /// As [`Sessions::open`], and `CLIENT_CYCLE_DETECTED` if servers send us in circles.
    pub fn open_following(
        &self,
        url: &Url,
        redirected: &mut Redirected<'_>,
    ) -> Result<PooledSession<'_>> {
        match self.take_idle(url) {
            Some(mut idle) => {
                if idle.url() != url {
                    idle.reparent(url)?;
                }
                Ok(self.lend(idle))
            }
            None => Ok(self.lend(self.open_new(url, Some(redirected))?)),
        }
    }

    fn open_new(
        &self,
        url: &Url,
        redirected: Option<&mut Redirected<'_>>,
    ) -> Result<Box<dyn Session>> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        (self.open)(url, redirected)
    }

    /// Reserves threads with sessions of their own, at most `wanted`; there may be none left.
    pub(crate) fn extra(&self, wanted: usize) -> Extra<'_> {
        let mut count = 0;
        let _ = self
            .extra
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                count = left.min(wanted);
                Some(left - count)
            });
        Extra {
            left: &self.extra,
            count,
        }
    }

    fn lend(&self, session: Box<dyn Session>) -> PooledSession<'_> {
        PooledSession {
            session,
            pool: self,
        }
    }

    fn take_idle(&self, url: &Url) -> Option<Box<dyn Session>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle
            .iter()
            .position(|idle| url.strip_prefix(&idle.root).is_some())?;
        Some(idle.swap_remove(at).session)
    }
}

impl PooledSession<'_> {
    /// Moves the session to a URL of the same repository, if it is not there.
    ///
    /// # Errors
    /// `RA_ILLEGAL_URL` if the URL is not below the repository's root.
    pub fn move_to(&mut self, url: &Url) -> Result<()> {
        if self.session.url() == url {
            return Ok(());
        }
        self.session.reparent(url)
    }

    /// Keeps the session for the next operation on its repository.
    pub fn give_back(mut self) {
        if let Ok(root) = self.session.repos_root() {
            self.pool
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Idle {
                    root,
                    session: self.session,
                });
        }
    }
}

impl Deref for PooledSession<'_> {
    type Target = dyn Session;

    fn deref(&self) -> &Self::Target {
        &*self.session
    }
}

impl DerefMut for PooledSession<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.session
    }
}

impl Context {
    /// Returns how many threads work on files below `path`.
    pub(crate) fn workers(&self, path: &Dirent) -> Result<usize> {
        if let Some(workers) = self.wc.workers {
            return Ok(workers.get());
        }
        let mut existing = self.absolute(path);
        while !existing.as_path().is_dir() && existing.dirname() != existing {
            existing = existing.dirname();
        }
        Ok(sylvan_io::fs_type(existing.as_path()).workers())
    }

    /// Opens a session at `url`, or where a server says that the repository moved to; returns the
    /// URL where it is open.
    ///
    /// # Errors
    /// What opening a session gives; `CLIENT_CYCLE_DETECTED` if servers send us in circles.
    pub fn open_following(
        &self,
        url: &Url,
        notify: &mut NotifyFn<'_>,
    ) -> Result<(PooledSession<'_>, Url)> {
        let session = self.sessions.open_following(url, &mut |to| {
            let mut told = Notification::new(Dirent::default(), Action::UrlRedirect);
            told.url = Some(to.to_string());
            notify(&told);
            Ok(())
        })?;
        let url = session.url().clone();
        Ok((session, url))
    }
}

/// What an operation may use. Notifications go where the caller of the operation says.
pub struct Context {
    /// Open sessions by repository.
    pub sessions: Sessions,
    /// The user's configuration.
    pub config: Arc<Config>,
    /// How working copies are opened and written.
    pub wc: sylvan_wc::Options,
    /// Ends operations early.
    pub cancel: Cancel,
    /// Counts what was done.
    pub progress: Progress,
    /// Whether operations that write files last until the file system's clock has gone on, so that
    /// every later edit is noticed.
    pub waits_for_timestamps: bool,
    /// The present and the user's time zone, for dates as revisions.
    pub clock: Clock,
    /// The folder that relative paths are below, absolute.
    pub current_dir: Dirent,
}

impl Context {
    /// Makes a path absolute below the current directory.
    pub fn absolute(&self, path: &Dirent) -> Dirent {
        path.absolute(&self.current_dir)
    }
}
