//! The program's allocator, of its libraries in C, too. With the system's own, threads wait for each other and walk through what
//! others have freed: an editor's questions took two to four times the processor's time while jobs were under way.

use std::ffi::c_char;

use tikv_jemalloc_ctl::raw;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Read by the allocator before anything else happens. Few arenas, since what lies free in one is of no use to another; before
/// them each thread keeps a little of its own, which is why that does for commands with many threads, too.
#[unsafe(export_name = "malloc_conf")]
pub static OPTIONS: Option<&'static c_char> = {
    // SAFETY: the text lives as long as the program and ends in NUL.
    Some(unsafe { &*c"narenas:2".as_ptr() })
};

/// For how long what is free is kept, in milliseconds: of the arenas to come, and of the one that is there.
const DECAYS: [&[u8]; 2] = [b"arenas.dirty_decay_ms\0", b"arena.0.dirty_decay_ms\0"];

/// From now on what is free goes back to the system at once, for a server that is there all day. Where that is refused more memory
/// is taken, and that is all.
pub fn keep_nothing() -> Result<(), String> {
    const AT_ONCE: isize = 0;
    DECAYS.into_iter().try_for_each(|name| {
        // SAFETY: both names stand for numbers of that type.
        unsafe { raw::write(name, AT_ONCE) }.map_err(|error| format!("the allocator keeps what is free: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_does_as_it_is_told() {
        // SAFETY: these names stand for numbers of these types.
        let (arenas, decay) = unsafe {
            keep_nothing().unwrap();
            (raw::read::<u32>(b"opt.narenas\0").unwrap(), DECAYS.map(|name| raw::read::<isize>(name).unwrap()))
        };
        assert_eq!((arenas, decay), (2, [0, 0]));
    }
}
