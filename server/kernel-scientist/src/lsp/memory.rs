//! The server's memory. Jobs and forecasts take tens of megabytes for a moment, each on a thread of its own; the allocator
//! would keep that for each of them until the server ends.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Heaps that the allocator may keep apart for threads.
#[cfg(target_env = "gnu")]
const HEAPS: libc::c_int = 2;
/// Blocks from this size up, in bytes, are mapped on their own and go back to the system when they are freed. Without a word
/// the allocator raises this with the blocks that it sees.
#[cfg(target_env = "gnu")]
const OWN_MAPPING: libc::c_int = 128 << 10;
/// Least time between two sweeps.
const PAUSE: Duration = Duration::from_millis(500);

/// Has the allocator keep little. To be called before threads are started.
pub fn keep_small() {
    // SAFETY: it sets numbers of the allocator's; where that is refused, they stay as they are.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, HEAPS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING);
    }
}

/// Gives what was freed back to the system. Takes a few milliseconds: for the end of what took seconds.
pub fn give_back() {
    // SAFETY: it may be called on any thread at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Gives memory back while a job is under way, whose steps free as much as its end.
#[derive(Default)]
pub struct Broom(Mutex<Option<Instant>>);

impl Broom {
    /// As [`give_back`], unless that was done a moment ago.
    pub fn sweep(&self) {
        let now = Instant::now();
        {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if last.is_some_and(|last| now - last < PAUSE) {
                return;
            }
            *last = Some(now);
        }
        give_back();
    }
}
