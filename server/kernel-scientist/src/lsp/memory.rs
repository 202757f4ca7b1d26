//! What the server keeps in memory: nothing that is free, and of the program itself what it needs. Jobs and forecasts look at large
//! parts of it for a moment, such as the tables of grammars.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two sweeps.
pub const PAUSE: Duration = Duration::from_millis(500);

/// Has the allocator keep nothing that is free.
pub fn keep_little() {
    #[cfg(target_os = "linux")]
    if let Err(error) = crate::allocator::keep_nothing() {
        tracing::warn!("{error}");
    }
}

/// Gives back to the system what of the program itself is not needed now. Takes a few milliseconds: for the end of what took
/// seconds.
pub fn give_back() {
    #[cfg(target_os = "linux")]
    if !is_debugged() {
        // SAFETY: the function that it calls is for this.
        unsafe {
            libc::dl_iterate_phdr(Some(let_go_of_the_program), std::ptr::null_mut());
        }
    }
}

/// A debugger writes its marks into the pages of the code, and would lose them.
#[cfg(target_os = "linux")]
fn is_debugged() -> bool {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = about.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_none_or(|tracer| tracer.trim() != "0")
}

/// Lets go of the pages of the program's code and constants. Large parts are looked at once, such as the tables of the grammars
/// by what compiles queries; those that are needed again come back from the system's memory of files, which takes microseconds.
///
/// # Safety
/// For `dl_iterate_phdr`, which calls it with what is loaded, the program first.
#[cfg(target_os = "linux")]
unsafe extern "C" fn let_go_of_the_program(
    loaded: *mut libc::dl_phdr_info,
    _: libc::size_t,
    _: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the structure and its list are valid for the time of the call.
    let (base, parts) = unsafe {
        let loaded = &*loaded;
        (loaded.dlpi_addr, std::slice::from_raw_parts(loaded.dlpi_phdr, usize::from(loaded.dlpi_phnum)))
    };
    // Segments that were never written to; what the loader has written to is part of one that may be.
    for part in parts.iter().filter(|part| part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_W == 0) {
        // SAFETY: it takes a number and changes nothing.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let start = (base + part.p_vaddr).next_multiple_of(page);
        let end = (base + part.p_vaddr + part.p_memsz) / page * page;
        // SAFETY: these pages hold what is in the program's file and nothing else, and that is what is read from them next.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end.saturating_sub(start) as usize, libc::MADV_DONTNEED);
        }
    }
    // The libraries' are not ours.
    1
}

/// Gives the program's pages back while a job is under way, whose steps look at as much as its end: when it tells of one, and in
/// between.
#[derive(Debug, Default)]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What was let go of is there again when it is needed: the words of this program, and its code.
    #[test]
    fn the_program_goes_on_after_its_pages_were_given_back() {
        for _ in 0..3 {
            give_back();
            assert_eq!(format!("{:?}", Broom::default()), "Broom(Mutex { data: None, poisoned: false, .. })");
        }
    }
}
