//! The server's memory. Jobs and forecasts take a hundred megabytes for a moment, each on a thread of its own; the
//! allocator would keep that for each of them until the server ends.

/// Heaps that the allocator may keep apart for threads.
#[cfg(target_env = "gnu")]
const HEAPS: libc::c_int = 4;

/// Has the allocator keep few heaps apart. To be called before threads are started.
pub fn keep_small() {
    // SAFETY: it sets a number of the allocator's; where that is refused, it stays as it is.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, HEAPS);
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
