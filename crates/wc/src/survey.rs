//! Looking at many places on the disk at once: threads that wait for a network wait together.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sylvan_core::{RelPath, RelPathBuf, Result};
use sylvan_io::Cancel;
use sylvan_io::file::{self, Dir, Meta};

use crate::WorkingCopy;

/// How many files on a local disk are worth another thread.
const SHARE: usize = 64;
/// How many folders are listed before they are asked for.
const WINDOW: usize = 1024;

/// Calls `work` for each of `items` from at most `threads` threads; the results are in the order of
/// the items.
///
/// # Errors
/// `E200015` when cancelled, and one of those of `work`; what was not begun then is not done.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    cancel: &Cancel,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let one = |item: &T| {
        cancel.check()?;
        work(item)
    };
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().map(one).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let share = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            match one(item) {
                Ok(result) => done.push((at, result)),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(share)).collect();
        let mut outcome = Ok(());
        for thread in threads {
            match thread.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                Ok(done) => done
                    .into_iter()
                    .for_each(|(at, result)| results[at] = Some(result)),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    })?;
    Ok(results.into_iter().flatten().collect())
}

/// As [`Dir::lstat`] for many paths, folder by folder.
///
/// On a network file system a folder is listed first where several of its names are wanted: that
/// brings what is known of all its files with few requests.
///
/// # Errors
/// As [`Dir::lstat`]; `E200015` when cancelled.
pub(crate) fn lstat_all(
    wc: &WorkingCopy,
    root: &Dir,
    paths: &[&RelPath],
    cancel: &Cancel,
) -> Result<Vec<Option<Meta>>> {
    let is_far = wc.is_far();
    let mut groups: Vec<(&RelPath, Vec<usize>)> = Vec::new();
    let mut places = HashMap::new();
    for (at, path) in paths.iter().enumerate() {
        let parent = path.parent().unwrap_or(path);
        let place = *places.entry(parent).or_insert_with(|| {
            groups.push((parent, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(at);
    }
    let mut threads = wc.workers();
    if !is_far {
        threads = threads.min(paths.len().div_ceil(SHARE));
    }
    let found = map(&groups, threads, cancel, |(parent, members)| {
        if is_far && members.len() > 2 {
            // Whatever is wrong with the folder shows when its files are looked at.
            drop(root.read_dir(parent));
        }
        let found = members.iter().map(|at| root.lstat(paths[*at]));
        found.collect::<Result<Vec<_>>>()
    })?;
    let mut metas = vec![None; paths.len()];
    for ((_, members), found) in groups.iter().zip(found) {
        for (at, meta) in members.iter().zip(found) {
            metas[*at] = meta;
        }
    }
    Ok(metas)
}

/// The names in folders, which are asked for in a known order.
#[derive(Debug)]
pub(crate) struct Listings<'a> {
    root: &'a Dir,
    /// Folders to come, in order.
    folders: std::vec::IntoIter<RelPathBuf>,
    threads: usize,
    ready: HashMap<RelPathBuf, Option<HashSet<String>>>,
}

impl<'a> Listings<'a> {
    /// `folders` are those that will be asked for. On a local disk nothing is read ahead.
    pub(crate) fn new(wc: &WorkingCopy, root: &'a Dir, mut folders: Vec<RelPathBuf>) -> Self {
        let threads = if wc.is_far() {
            wc.workers()
        } else {
            folders.clear();
            1
        };
        folders.sort_unstable_by(|a, b| a.components().cmp(b.components()));
        Self {
            root,
            folders: folders.into_iter(),
            threads,
            ready: HashMap::new(),
        }
    }

    /// Has a folder listed anew that was just made.
    pub(crate) fn forget(&mut self, path: &RelPath) {
        self.ready.remove(path);
    }

    /// Returns the names in a folder; `None` if there is no such folder.
    ///
    /// # Errors
    /// `Can't open directory`, `Can't read directory`; `E200015` when cancelled.
    pub(crate) fn names(
        &mut self,
        path: &RelPath,
        cancel: &Cancel,
    ) -> Result<Option<HashSet<String>>> {
        while !self.ready.contains_key(path)
            && let Some(next) = self.folders.as_slice().first()
            && next.components().cmp(path.components()).is_le()
        {
            // What was not asked for is not asked for any more.
            self.ready.clear();
            let window: Vec<_> = self.folders.by_ref().take(WINDOW).collect();
            let root = self.root;
            let listed = map(&window, self.threads, cancel, |path| names(root, path))?;
            self.ready.extend(window.into_iter().zip(listed));
        }
        match self.ready.remove(path) {
            Some(names) => Ok(names),
            None => names(self.root, path),
        }
    }
}

fn names(root: &Dir, path: &RelPath) -> Result<Option<HashSet<String>>> {
    const ELOOP: i32 = 40;
    let entries = match root.read_dir(path) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                file::error_kind(&error),
                ErrorKind::NotFound | ErrorKind::NotADirectory
            ) || error.code().number() == ELOOP =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let names = entries.into_iter().map(|(name, _)| String::from_utf8(name));
    Ok(Some(names.filter_map(std::result::Result::ok).collect()))
}

#[cfg(test)]
mod tests {
    use sylvan_core::{Error, ErrorCode};

    use super::*;

    #[test]
    fn results_keep_the_order() {
        let items: Vec<usize> = (0..500).collect();
        for threads in [1, 2, 7] {
            let squares = map(&items, threads, &Cancel::new(), |n| Ok(n * n)).unwrap();
            assert_eq!(squares, items.iter().map(|n| n * n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let items: Vec<usize> = (0..100).collect();
        let failing = |n: &usize| match n {
            13 => Err(Error::from_code(ErrorCode::CEASE_INVOCATION)),
            _ => Ok(()),
        };
        for threads in [1, 4] {
            let error = map(&items, threads, &Cancel::new(), failing).unwrap_err();
            assert_eq!(error.code(), ErrorCode::CEASE_INVOCATION);
        }
    }

    #[test]
    fn names_come_read_ahead_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |path: &str| RelPathBuf::new(path).unwrap();
        for name in ["a/b", "a/c", "d"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let root = Dir::open(dir.path()).unwrap();
        let folders = ["", "a", "a/b", "a/c", "d", "gone"].map(path).to_vec();
        let mut listings = Listings {
            root: &root,
            folders: folders.into_iter(),
            threads: 3,
            ready: HashMap::new(),
        };
        let cancel = Cancel::new();
        let mut count = |at: &str| {
            let names = listings.names(&path(at), &cancel).unwrap();
            names.map(|names| names.len())
        };
        assert_eq!(count(""), Some(3));
        assert_eq!(count("a"), Some(3));
        // One is skipped, one was not announced.
        assert_eq!(count("a/c"), Some(0));
        assert_eq!(count("a/file"), None);
        assert_eq!(count("link"), None);
        assert_eq!(count("d"), Some(0));
        assert_eq!(count("gone"), None);
    }
}
