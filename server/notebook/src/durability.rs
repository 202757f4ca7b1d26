//! Brings commits to the disk: what took a while to come about before the call returns, what follows it at once shortly after.
//!
//! `SQLite` would sync its write-ahead log in every commit (`synchronous=FULL`). One sync takes milliseconds, which is nothing
//! beside the seconds of a measurement or of a model's answer, and everything where experiments follow each other in
//! milliseconds. So commits only write the log (`synchronous=NORMAL`: no crash of this program can lose them, and the file is
//! sound after a power cut), and a thread syncs it behind them. Who records something more than [`BURST`] after the last commit
//! waits for that sync: it is on disk when the call returns. Of a burst a power cut can lose the last few milliseconds.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commits that follow each other faster are a burst: what they hold took no longer to come about than a sync takes.
const BURST: Duration = Duration::from_millis(50);

/// Syncs a notebook's log on a thread of its own.
#[derive(Debug)]
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Commits so far.
    commits: u64,
    /// Of those, on disk.
    synced: u64,
    last: Option<Instant>,
    failed: Option<io::Error>,
    is_over: bool,
}

impl Syncer {
    /// For the notebook at `path`.
    pub(crate) fn start(path: &Path) -> Self {
        let shared = Arc::new(Shared::default());
        let (log, its) = (log_of(path), Arc::clone(&shared));
        let thread = std::thread::spawn(move || its.keep_up(|| File::open(&log)?.sync_data()));
        Self { shared, thread: Some(thread) }
    }

    /// Notes a commit, and waits until it is on disk where it is no part of a burst.
    ///
    /// # Errors
    /// When the log could not be synced, now or since this was last called.
    pub(crate) fn committed(&self) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.commits += 1;
        let (number, now) = (state.commits, Instant::now());
        let is_burst = state.last.replace(now).is_some_and(|last| now.duration_since(last) < BURST);
        self.shared.changed.notify_all();
        while !is_burst && state.synced < number && state.failed.is_none() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.take().map_or(Ok(()), Err)
    }
}

impl Drop for Syncer {
    /// What was committed last is on disk before the notebook is closed.
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only syncs: there is nothing in it that could panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Syncs until it is over; one sync covers all commits before it.
    fn keep_up(&self, sync: impl Fn() -> io::Result<()>) {
        let mut state = self.lock();
        loop {
            let commits = state.commits;
            if state.synced < commits {
                drop(state);
                let done = sync();
                state = self.lock();
                // One that failed is told of, and not tried again: the pages it was for are lost.
                state.synced = commits;
                state.failed = done.err().or(state.failed.take());
                self.changed.notify_all();
            } else if state.is_over {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Where `SQLite` keeps the write-ahead log. It holds no lock on that file, so that it may be opened and closed beside it.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A syncer with another way to sync, and how often it did.
    fn counting(sync: impl Fn() -> io::Result<()> + Send + 'static) -> (Syncer, Arc<Mutex<u32>>) {
        let (shared, count) = (Arc::new(Shared::default()), Arc::new(Mutex::new(0)));
        let (its, counter) = (Arc::clone(&shared), Arc::clone(&count));
        let counted = move || {
            let done = sync();
            *counter.lock().unwrap() += 1;
            done
        };
        let thread = std::thread::spawn(move || its.keep_up(counted));
        (Syncer { shared, thread: Some(thread) }, count)
    }

    #[test]
    fn what_comes_alone_is_on_disk_when_it_returns() {
        let (syncer, count) = counting(|| {
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        });
        syncer.committed().unwrap();
        assert_eq!(*count.lock().unwrap(), 1);
        std::thread::sleep(BURST * 2);
        syncer.committed().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    }

    #[test]
    fn a_burst_shares_its_syncs_and_all_of_it_is_on_disk_at_the_end() {
        let (syncer, count) = counting(|| {
            std::thread::sleep(Duration::from_millis(5));
            Ok(())
        });
        (0..10_000).for_each(|_| syncer.committed().unwrap());
        let shared = Arc::clone(&syncer.shared);
        drop(syncer);
        assert_eq!(shared.lock().synced, 10_000);
        assert!(*count.lock().unwrap() < 9_000, "{count:?}");
    }

    #[test]
    fn a_disk_that_fails_is_told_of() {
        let (syncer, _) = counting(|| Err(io::Error::other("bad sector")));
        assert!(syncer.committed().unwrap_err().to_string().contains("bad sector"));
    }
}
