//! The program's allocator, of its libraries in C, too. With the system's own, threads wait for each other and walk through what
//! others have freed: an editor's questions took two to four times the processor's time while jobs were under way.

use std::ffi::c_char;

use tikv_jemalloc_ctl::raw;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Read by the allocator before anything else happens. Few arenas, since what lies free in one is of no use to another; before
/// them each thread keeps a little of its own.
#[unsafe(export_name = "malloc_conf")]
pub static WORDS: Option<&'static c_char> = {
    // SAFETY: the text has no end.
    Some(unsafe { &*c"narenas:2,muzzy_decay_ms:0".as_ptr() })
};

/// From now on what is free goes back to the system at once, for a server that is there all day.
pub fn keep_nothing() {
    const AT_ONCE: isize = 0;
    // SAFETY: both names, of the arenas to come and of the one that is there, stand for numbers of that type.
    let told = unsafe {
        raw::write(b"arenas.dirty_decay_ms\0", AT_ONCE).and(raw::write(b"arena.0.dirty_decay_ms\0", AT_ONCE))
    };
    // Then more memory is taken, and that is all.
    if let Err(error) = told {
        tracing::warn!("the allocator keeps what is free: {error}");
    }
}
