//! What the child does to itself between fork and exec.
//!
//! Only raw system calls on memory that the parent prepared: after a fork in a program with threads, an allocation can
//! block for ever on a lock that no thread will release.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use seccompiler::BpfProgram;

use super::filter::Filters;
use super::{Command, Policy};

/// Everything that [`Stage::enter`] needs, ready made.
pub(super) struct Stage {
    /// The process that starts the child.
    pub parent: libc::pid_t,
    /// The Landlock ruleset.
    pub ruleset: Option<OwnedFd>,
    /// The descriptor that stays open for the report.
    pub report: Option<RawFd>,
    /// The limits to set.
    pub limits: Vec<(u32, u64)>,
    /// The seccomp programs.
    pub filters: Filters,
    /// Where the notification descriptor goes.
    pub socket: Option<RawFd>,
    /// Whether the child gives up root's privileges.
    pub drops_capabilities: bool,
    /// Whether others go first where processors are short.
    pub gives_way: bool,
}

/// By how much a child that gives way is nicer than this process.
const GIVES_WAY: libc::c_int = 10;

/// The limits that the kernel enforces by itself.
pub(super) fn resource_limits(command: &Command) -> Vec<(u32, u64)> {
    let limits = &command.limits;
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    // For the case that nobody is left to look at the clock.
    let processor_seconds = (limits.wall.as_secs() + 2) * processors;
    let mut list = vec![
        // 1 and not 0: with 0 the kernel still feeds a core dump to a program that collects them.
        (libc::RLIMIT_CORE, 1),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_NOFILE, 1024),
        (libc::RLIMIT_CPU, processor_seconds),
    ];
    match command.policy {
        Policy::Candidate => list.extend(limits.address_space_bytes.map(|bytes| (libc::RLIMIT_AS, bytes))),
        // Each process of the compiler by itself; the watch sees only the first.
        Policy::Compiler => list.push((libc::RLIMIT_AS, limits.memory_bytes.saturating_mul(2))),
    }
    list
}

impl Stage {
    /// Enters the sandbox. Async-signal-safe.
    pub(super) fn enter(&self) -> io::Result<()> {
        // SAFETY: each call gets numbers, or pointers to memory that outlives it.
        unsafe {
            check(libc::setpgid(0, 0))?;
            for &(resource, value) in &self.limits {
                let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
                // An unprivileged process cannot raise a limit; a lower one that is already there serves as well.
                libc::setrlimit(resource as _, &limit);
            }
            close_other_descriptors();
            if let Some(report) = self.report {
                check(libc::fcntl(report, libc::F_SETFD, 0))?;
            }
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            if self.drops_capabilities {
                drop_capabilities();
            }
            if self.gives_way {
                // Where it is refused the child runs like any other.
                libc::nice(GIVES_WAY);
            }
            // After the change of credentials, which may clear it.
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            if libc::getppid() != self.parent {
                // The parent died before the line above; nobody waits for an answer.
                libc::_exit(127);
            }
            if let Some(ruleset) = &self.ruleset {
                allow_own_proc(ruleset.as_raw_fd())?;
                check(libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) as libc::c_int)?;
            }
        }
        self.install_filters()
    }

    fn install_filters(&self) -> io::Result<()> {
        for program in &self.filters.plain {
            check(install(program, 0))?;
        }
        if let (Some(program), Some(socket)) = (&self.filters.notify, self.socket) {
            let listener = install(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
            if listener >= 0 {
                // From here on a forbidden call waits for the listener, so it has to arrive.
                return send_descriptor(socket, listener);
            }
        }
        for program in &self.filters.otherwise {
            check(install(program, 0))?;
        }
        Ok(())
    }
}

/// Makes every descriptor but the standard ones close at exec.
fn close_other_descriptors() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the calls take numbers only.
    unsafe {
        let done = libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if done != 0 {
            // Linux before 5.11.
            for descriptor in FIRST as RawFd..4096 {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

/// Adds the process's own folder of `/proc` to the ruleset, for reading: sanitizers and runtimes look up their memory map
/// there. The process keeps its number through exec, so that the folder stays the same.
fn allow_own_proc(ruleset: RawFd) -> io::Result<()> {
    /// `struct landlock_path_beneath_attr` of linux/landlock.h.
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent_fd: i32,
    }
    const RULE_PATH_BENEATH: libc::c_int = 1;
    const READ_FILE_AND_DIR: u64 = (1 << 2) | (1 << 3);
    // SAFETY: the path is a constant that ends in NUL, and the kernel reads the structure during the call.
    unsafe {
        let folder = libc::open(c"/proc/self".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if folder < 0 {
            // Where there is no /proc, there is nothing to read in it.
            return Ok(());
        }
        let rule = PathBeneath { allowed_access: READ_FILE_AND_DIR, parent_fd: folder };
        check(libc::syscall(libc::SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) as libc::c_int)
    }
}

/// Gives up every capability. With "no new privileges" set, exec cannot bring them back, for root neither.
fn drop_capabilities() {
    /// `struct __user_cap_header_struct` of linux/capability.h.
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    let nothing = [[0u32; 3]; 2];
    // SAFETY: version 3 reads the header and two data structures of three words. A failure leaves more privileges than
    // wanted inside the other layers, which do not depend on it.
    unsafe { libc::syscall(libc::SYS_capset, &header, nothing.as_ptr()) };
}

/// Installs a program; returns the listener's descriptor, 0, or a negative number with `errno` set.
fn install(program: &BpfProgram, flags: libc::c_ulong) -> libc::c_int {
    let described = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut().cast() };
    // Without SPEC_ALLOW, Linux before 5.16 turns on a mitigation that slows down the code that is to be timed.
    let flags = flags | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the kernel copies `len` instructions; both structures are the kernel's `sock_filter`.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &described) as libc::c_int }
}

/// Sends a descriptor over a socket, with one byte that carries it.
fn send_descriptor(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut byte = 0u8;
    let mut control = [0u64; 4]; // 24 bytes are needed, aligned as a cmsghdr
    // SAFETY: every pointer is to a local that outlives sendmsg, and `control` has room for one descriptor.
    unsafe {
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
        if libc::sendmsg(socket, &message, 0) == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
