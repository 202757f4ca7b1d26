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

/// From now on what is free goes back to the system at once, for a server that is there all day. Where that is refused more memory
/// is taken, and that is all.
pub fn keep_nothing() -> Result<(), String> {
    const AT_ONCE: isize = 0;
    let refused = |error| format!("the allocator keeps what is free: {error}");
    decays()?.into_iter().try_for_each(|name| {
        // SAFETY: each name stands for a number of that type.
        unsafe { raw::write(name.as_bytes(), AT_ONCE) }.map_err(refused)
    })
}

/// The names of how long what is free is kept, in milliseconds: of the arenas to come, and of each that is there.
fn decays() -> Result<Vec<String>, String> {
    // SAFETY: these names stand for values of these types.
    let read = || unsafe {
        let arenas = 0..raw::read::<u32>(b"arenas.narenas\0")?;
        let is_there = |arena: &u32| raw::read::<bool>(format!("arena.{arena}.initialized\0").as_bytes());
        let there = arenas.filter(|arena| is_there(arena).unwrap_or(false));
        let of_arenas = there.map(|arena| format!("arena.{arena}.dirty_decay_ms\0"));
        Ok(std::iter::once("arenas.dirty_decay_ms\0".to_owned()).chain(of_arenas).collect())
    };
    read().map_err(|error: tikv_jemalloc_ctl::Error| format!("the allocator does not tell its arenas: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_does_as_it_is_told() {
        keep_nothing().unwrap();
        // SAFETY: these names stand for numbers of these types.
        let arenas = unsafe { raw::read::<u32>(b"opt.narenas\0") };
        assert_eq!(arenas.unwrap(), 2);
        let names = decays().unwrap();
        assert!(names.len() > 1, "{names:?}");
        for name in names {
            // SAFETY: as above.
            let decay = unsafe { raw::read::<isize>(name.as_bytes()) };
            assert_eq!(decay.unwrap(), 0, "{name}");
        }
    }
}
