//! What `/proc` says about processes, and the end of a group.

use std::fs;
use std::time::Duration;

/// Memory and threads of a process at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Resident memory in bytes.
    pub resident: u64,
    /// Address space in bytes.
    pub address_space: u64,
    /// Number of threads.
    pub threads: u32,
}

impl Usage {
    /// Reads `/proc/PID/stat`; `None` when the process is gone.
    pub(super) fn of(pid: libc::pid_t) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name in parentheses may hold anything, spaces and parentheses included: count from the last one.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // `man 5 proc` counts from 1 with the pid and the name first, so its field 20 is our 17.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { resident: field(24)? * page_bytes(), address_space: field(23)?, threads: field(20)? as u32 })
    }
}

/// Memory that can be had without swapping, in bytes; 4 GiB where the system does not say.
pub(super) fn available_memory() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map_or(4 << 30, |kibibytes| kibibytes * 1024)
}

fn page_bytes() -> u64 {
    // SAFETY: sysconf reads a constant.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Kills every process of the group that `leader` leads. The leader must not have been reaped yet: its number could
/// belong to somebody else otherwise.
pub(super) fn kill_group(leader: libc::pid_t) {
    // SAFETY: no memory is passed.
    unsafe {
        libc::kill(-leader, libc::SIGKILL);
        // In case the child was stopped before it had a group of its own.
        libc::kill(leader, libc::SIGKILL);
    }
}

/// Whether the child has ended; it stays a zombie, so that its number stays its own.
pub(super) fn has_ended(pid: libc::pid_t) -> bool {
    // SAFETY: siginfo_t is plain data, valid when zeroed, and waitid writes no further than its size.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, options) == 0 && info.si_pid() == pid
    }
}

/// What is left of a child that was reaped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaped {
    /// The wait status.
    pub status: libc::c_int,
    /// Processor time of all its threads, in user mode and in the kernel.
    pub processor: Duration,
    /// How often another process took the processor away from one of its threads.
    pub displaced: u64,
}

/// Reaps the child.
pub(super) fn reap(pid: libc::pid_t) -> std::io::Result<Reaped> {
    let mut status = 0;
    loop {
        // SAFETY: rusage is plain data, valid when zeroed; `status` and `usage` outlive the call.
        let (reaped, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &mut status, 0, &mut usage), usage)
        };
        if reaped == pid {
            return Ok(Reaped {
                status,
                processor: duration(usage.ru_utime) + duration(usage.ru_stime),
                displaced: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
            });
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    let part = |value| u64::try_from(value).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_past_a_name_with_spaces_and_parentheses() {
        let stat = "7 (a ) (b) S 1 7 7 0 -1 4 1 0 0 0 1 2 0 0 20 0 5 0 99 8192 3 18446744073709551615";
        let usage = Usage::parse(stat).expect("all fields are there");
        assert_eq!((usage.threads, usage.address_space, usage.resident), (5, 8192, 3 * page_bytes()));
    }

    #[test]
    fn this_process_uses_memory() {
        let usage = Usage::of(std::process::id() as libc::pid_t).expect("this process runs");
        assert!(usage.resident > 100_000 && usage.address_space >= usage.resident && usage.threads >= 1);
    }
}
