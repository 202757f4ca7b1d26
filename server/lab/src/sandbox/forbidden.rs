//! The system calls that code under test has no business with, and the words for them.
//!
//! A call is listed when it starts or touches other processes, reaches the network or the kernel's configuration, or
//! changes files. Those that change files or name a process may be harmless (its own folder, itself): they are judged
//! when they happen, by [`super::listener`]. The rest of the kernel's calls stay allowed: a list of all that computing
//! programs need would break with the next C library.

use libc::c_long;

/// A system call that is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Its number on this architecture.
    pub number: c_long,
    /// Its name.
    pub name: &'static str,
    /// What calling it amounts to.
    pub deed: Deed,
    /// It is stopped when one of these holds; always, when there is none.
    pub when: &'static [Condition],
}

/// A condition on one argument (counted from 0) that the kernel can check by itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    /// The argument is this.
    Is(u8, u64),
    /// The argument is not this.
    IsNot(u8, u64),
    /// The argument's bits under the mask are these.
    Bits { argument: u8, mask: u64, value: u64 },
}

/// What a call amounts to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    /// Starts a process.
    StartProcess,
    /// Replaces the program by the one named at this place.
    RunProgram(Place),
    /// Opens a socket of the family in argument 0.
    OpenSocket,
    /// Acts on the process whose number is in this argument; harmless on itself.
    OnProcess(usize),
    /// Changes the file system in a way (the verb) at places, all of which must lie in its folder.
    Change(&'static str, &'static [Place]),
    /// Changes a file's mode, owner, times or attributes: no rule of Landlock covers these, so that they are never let
    /// through. In its own folder they are answered with success and have no effect.
    Relabel(Place),
    /// Anything else; the words read on from "tried to".
    Other(&'static str),
}

/// Where a call's arguments name a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A path in this argument, relative to the current folder.
    Path(usize),
    /// A path in the second argument, relative to the folder that the descriptor in the first stands for.
    At(usize, usize),
    /// The file behind the descriptor in this argument.
    Descriptor(usize),
}

impl Deed {
    /// Whether the call can be harmless, so that it must be judged case by case.
    pub(super) fn needs_judgement(self) -> bool {
        // The first execve is the sandbox's own.
        matches!(self, Self::RunProgram(_) | Self::OnProcess(_) | Self::Change(..) | Self::Relabel(_))
    }
}

const ALWAYS: &[Condition] = &[];

const fn call(number: c_long, name: &'static str, deed: Deed) -> Call {
    Call { number, name, deed, when: ALWAYS }
}

const fn call_when(number: c_long, name: &'static str, deed: Deed, when: &'static [Condition]) -> Call {
    Call { number, name, deed, when }
}

/// Whether the flags in the argument open a file for writing or make one.
macro_rules! opens_for_writing {
    ($argument:literal) => {
        &[
            Condition::Bits { argument: $argument, mask: libc::O_ACCMODE as u64, value: libc::O_WRONLY as u64 },
            Condition::Bits { argument: $argument, mask: libc::O_ACCMODE as u64, value: libc::O_RDWR as u64 },
            Condition::Bits { argument: $argument, mask: libc::O_CREAT as u64, value: libc::O_CREAT as u64 },
            Condition::Bits { argument: $argument, mask: libc::O_TRUNC as u64, value: libc::O_TRUNC as u64 },
        ]
    };
}

use Deed::{Change, OnProcess, OpenSocket, Other, Relabel, RunProgram, StartProcess};
use Place::{At, Descriptor, Path};

/// The calls, for a candidate.
pub(super) const CALLS: &[Call] = &[
    // Processes.
    call_when(
        libc::SYS_clone,
        "clone",
        StartProcess,
        &[Condition::Bits { argument: 0, mask: libc::CLONE_THREAD as u64, value: 0 }],
    ),
    call(libc::SYS_execve, "execve", RunProgram(Path(0))),
    call(libc::SYS_execveat, "execveat", RunProgram(At(0, 1))),
    call(libc::SYS_setpgid, "setpgid", Other("leave its process group")),
    call(libc::SYS_setsid, "setsid", Other("leave its session")),
    call(libc::SYS_unshare, "unshare", Other("make a namespace")),
    call(libc::SYS_setns, "setns", Other("enter a namespace")),
    call_when(
        libc::SYS_prctl,
        "prctl(PR_SET_PDEATHSIG)",
        Other("outlive the program that started it"),
        &[Condition::Is(0, libc::PR_SET_PDEATHSIG as u64)],
    ),
    // Other processes.
    call(libc::SYS_kill, "kill", OnProcess(0)),
    call(libc::SYS_tkill, "tkill", OnProcess(0)),
    call(libc::SYS_tgkill, "tgkill", OnProcess(0)),
    call(libc::SYS_rt_sigqueueinfo, "rt_sigqueueinfo", OnProcess(0)),
    call(libc::SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", OnProcess(0)),
    call_when(libc::SYS_prlimit64, "prlimit64", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_sched_setaffinity, "sched_setaffinity", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_sched_setscheduler, "sched_setscheduler", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_sched_setparam, "sched_setparam", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_sched_setattr, "sched_setattr", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_setpriority, "setpriority", OnProcess(1), &[Condition::IsNot(1, 0)]),
    call_when(libc::SYS_ioprio_set, "ioprio_set", OnProcess(1), &[Condition::IsNot(1, 0)]),
    call_when(libc::SYS_migrate_pages, "migrate_pages", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call_when(libc::SYS_move_pages, "move_pages", OnProcess(0), &[Condition::IsNot(0, 0)]),
    call(libc::SYS_pidfd_open, "pidfd_open", OnProcess(0)),
    call(libc::SYS_pidfd_getfd, "pidfd_getfd", Other("take another process's descriptor")),
    call(libc::SYS_pidfd_send_signal, "pidfd_send_signal", Other("signal another process")),
    call(libc::SYS_ptrace, "ptrace", Other("trace a process")),
    call(libc::SYS_process_vm_readv, "process_vm_readv", Other("read another process's memory")),
    call(libc::SYS_process_vm_writev, "process_vm_writev", Other("write another process's memory")),
    call(libc::SYS_process_madvise, "process_madvise", Other("change another process's memory")),
    call(libc::SYS_kcmp, "kcmp", Other("inspect another process")),
    call_when(
        libc::SYS_fcntl,
        "fcntl(F_SETOWN)",
        Other("have signals sent to a process"),
        &[Condition::Is(1, libc::F_SETOWN as u64), Condition::Is(1, 15)], // 15 is F_SETOWN_EX
    ),
    // Network, and what outlives a process.
    call(libc::SYS_socket, "socket", OpenSocket),
    call(libc::SYS_socketpair, "socketpair", OpenSocket),
    call(libc::SYS_connect, "connect", Other("connect a socket")),
    call(libc::SYS_bind, "bind", Other("bind a socket")),
    call(libc::SYS_listen, "listen", Other("listen on a socket")),
    call(libc::SYS_shmget, "shmget", Other("make shared memory")),
    call(libc::SYS_msgget, "msgget", Other("make a message queue")),
    call(libc::SYS_semget, "semget", Other("make semaphores")),
    call(libc::SYS_shmat, "shmat", Other("use another program's shared memory")),
    call(libc::SYS_shmctl, "shmctl", Other("use another program's shared memory")),
    call(libc::SYS_msgsnd, "msgsnd", Other("use another program's message queue")),
    call(libc::SYS_msgrcv, "msgrcv", Other("use another program's message queue")),
    call(libc::SYS_msgctl, "msgctl", Other("use another program's message queue")),
    call(libc::SYS_semop, "semop", Other("use another program's semaphores")),
    call(libc::SYS_semtimedop, "semtimedop", Other("use another program's semaphores")),
    call(libc::SYS_semctl, "semctl", Other("use another program's semaphores")),
    call(libc::SYS_mq_open, "mq_open", Other("make a message queue")),
    call(libc::SYS_mq_unlink, "mq_unlink", Other("remove a message queue")),
    call(libc::SYS_memfd_create, "memfd_create", Other("make a file outside its folder")),
    // Files.
    call_when(libc::SYS_openat, "openat", Change("write", &[At(0, 1)]), opens_for_writing!(2)),
    call(libc::SYS_mkdirat, "mkdirat", Change("make the folder", &[At(0, 1)])),
    call(libc::SYS_mknodat, "mknodat", Change("make", &[At(0, 1)])),
    call(libc::SYS_unlinkat, "unlinkat", Change("remove", &[At(0, 1)])),
    call(libc::SYS_symlinkat, "symlinkat", Change("make the link", &[At(1, 2)])),
    call(libc::SYS_linkat, "linkat", Change("link", &[At(0, 1), At(2, 3)])),
    call(libc::SYS_renameat2, "renameat2", Change("rename", &[At(0, 1), At(2, 3)])),
    call(libc::SYS_truncate, "truncate", Change("truncate", &[Path(0)])),
    call(libc::SYS_fchmod, "fchmod", Relabel(Descriptor(0))),
    call(libc::SYS_fchmodat, "fchmodat", Relabel(At(0, 1))),
    call(452, "fchmodat2", Relabel(At(0, 1))), // the same number everywhere; not in every C library yet
    call(libc::SYS_fchown, "fchown", Relabel(Descriptor(0))),
    call(libc::SYS_fchownat, "fchownat", Relabel(At(0, 1))),
    call(libc::SYS_utimensat, "utimensat", Relabel(At(0, 1))),
    call(libc::SYS_setxattr, "setxattr", Relabel(Path(0))),
    call(libc::SYS_lsetxattr, "lsetxattr", Relabel(Path(0))),
    call(libc::SYS_fsetxattr, "fsetxattr", Relabel(Descriptor(0))),
    call(libc::SYS_removexattr, "removexattr", Relabel(Path(0))),
    call(libc::SYS_lremovexattr, "lremovexattr", Relabel(Path(0))),
    call(libc::SYS_fremovexattr, "fremovexattr", Relabel(Descriptor(0))),
    call_when(
        libc::SYS_ioctl,
        "ioctl(FS_IOC_SETFLAGS)",
        Relabel(Descriptor(0)),
        &[Condition::Is(1, 0x4008_6602), Condition::Is(1, 0x401c_5820)], // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
    ),
    call_when(
        libc::SYS_ioctl,
        "ioctl(TIOCSTI)",
        Other("type into a terminal"),
        &[Condition::Bits { argument: 1, mask: 0xffff_ffff, value: libc::TIOCSTI }],
    ),
    call(libc::SYS_open_by_handle_at, "open_by_handle_at", Other("open a file by its handle")),
    // The machine.
    call(libc::SYS_mount, "mount", Other("mount a file system")),
    call(libc::SYS_umount2, "umount2", Other("unmount a file system")),
    call(libc::SYS_pivot_root, "pivot_root", Other("change the root folder")),
    call(libc::SYS_chroot, "chroot", Other("change the root folder")),
    call(libc::SYS_move_mount, "move_mount", Other("mount a file system")),
    call(libc::SYS_open_tree, "open_tree", Other("mount a file system")),
    call(libc::SYS_fsopen, "fsopen", Other("mount a file system")),
    call(libc::SYS_fsmount, "fsmount", Other("mount a file system")),
    call(libc::SYS_fspick, "fspick", Other("mount a file system")),
    call(libc::SYS_mount_setattr, "mount_setattr", Other("mount a file system")),
    call(libc::SYS_swapon, "swapon", Other("change swap space")),
    call(libc::SYS_swapoff, "swapoff", Other("change swap space")),
    call(libc::SYS_quotactl, "quotactl", Other("change quotas")),
    call(libc::SYS_acct, "acct", Other("change accounting")),
    call(libc::SYS_reboot, "reboot", Other("restart the machine")),
    call(libc::SYS_sethostname, "sethostname", Other("rename the machine")),
    call(libc::SYS_setdomainname, "setdomainname", Other("rename the machine")),
    call(libc::SYS_settimeofday, "settimeofday", Other("set the clock")),
    call(libc::SYS_clock_settime, "clock_settime", Other("set the clock")),
    call(libc::SYS_adjtimex, "adjtimex", Other("set the clock")),
    call(libc::SYS_clock_adjtime, "clock_adjtime", Other("set the clock")),
    call(libc::SYS_syslog, "syslog", Other("read the kernel's log")),
    call(libc::SYS_init_module, "init_module", Other("load a kernel module")),
    call(libc::SYS_finit_module, "finit_module", Other("load a kernel module")),
    call(libc::SYS_delete_module, "delete_module", Other("unload a kernel module")),
    call(libc::SYS_kexec_load, "kexec_load", Other("load a kernel")),
    call(libc::SYS_bpf, "bpf", Other("load a kernel program")),
    call(libc::SYS_perf_event_open, "perf_event_open", Other("open a performance counter")),
    call(libc::SYS_userfaultfd, "userfaultfd", Other("handle page faults")),
    call(libc::SYS_io_uring_setup, "io_uring_setup", Other("open an io_uring")),
    call(libc::SYS_io_uring_enter, "io_uring_enter", Other("use an io_uring")),
    call(libc::SYS_io_uring_register, "io_uring_register", Other("use an io_uring")),
    call(libc::SYS_keyctl, "keyctl", Other("use the kernel's keys")),
    call(libc::SYS_add_key, "add_key", Other("use the kernel's keys")),
    call(libc::SYS_request_key, "request_key", Other("use the kernel's keys")),
    call(libc::SYS_fanotify_init, "fanotify_init", Other("watch the file system")),
    call(libc::SYS_seccomp, "seccomp", Other("change its own sandbox")),
    call_when(
        libc::SYS_prctl,
        "prctl(PR_SET_SECCOMP)",
        Other("change its own sandbox"),
        &[Condition::Is(0, libc::PR_SET_SECCOMP as u64)],
    ),
];

/// Older forms of the same calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
pub(super) const OLDER_CALLS: &[Call] = &[
    call(libc::SYS_fork, "fork", StartProcess),
    call(libc::SYS_vfork, "vfork", StartProcess),
    call_when(libc::SYS_open, "open", Change("write", &[Path(0)]), opens_for_writing!(1)),
    call(libc::SYS_creat, "creat", Change("write", &[Path(0)])),
    call(libc::SYS_mkdir, "mkdir", Change("make the folder", &[Path(0)])),
    call(libc::SYS_rmdir, "rmdir", Change("remove", &[Path(0)])),
    call(libc::SYS_unlink, "unlink", Change("remove", &[Path(0)])),
    call(libc::SYS_mknod, "mknod", Change("make", &[Path(0)])),
    call(libc::SYS_symlink, "symlink", Change("make the link", &[Path(1)])),
    call(libc::SYS_link, "link", Change("link", &[Path(0), Path(1)])),
    call(libc::SYS_rename, "rename", Change("rename", &[Path(0), Path(1)])),
    call(libc::SYS_renameat, "renameat", Change("rename", &[At(0, 1), At(2, 3)])),
    call(libc::SYS_chmod, "chmod", Relabel(Path(0))),
    call(libc::SYS_chown, "chown", Relabel(Path(0))),
    call(libc::SYS_lchown, "lchown", Relabel(Path(0))),
    call(libc::SYS_utime, "utime", Relabel(Path(0))),
    call(libc::SYS_utimes, "utimes", Relabel(Path(0))),
    call(libc::SYS_futimesat, "futimesat", Relabel(At(0, 1))),
    call(libc::SYS_iopl, "iopl", Other("use input/output ports")),
    call(libc::SYS_ioperm, "ioperm", Other("use input/output ports")),
    call(libc::SYS_kexec_file_load, "kexec_file_load", Other("load a kernel")),
];

/// Older forms of the same calls: there are none here.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLDER_CALLS: &[Call] = &[];

/// Calls that are answered with "no such call", so that the C library takes the older form, which can be judged: their
/// arguments lie in memory, where the kernel's filter cannot see them.
pub(super) const ABSENT: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

/// The first number that is not answered at all, as by a kernel that does not have the call: what came after the C
/// libraries of today is not judged here one by one, and nothing needs it. (The same on every architecture.)
pub(super) const FIRST_UNKNOWN: u32 = 453;

/// Every call that is stopped.
pub(super) fn calls() -> impl Iterator<Item = &'static Call> {
    CALLS.iter().chain(OLDER_CALLS)
}

/// Calls that no compiler needs either; they fail there with "operation not permitted".
pub(super) fn never_for_a_compiler(call: &Call) -> bool {
    matches!(call.deed, OpenSocket | Other(_)) && call.number != libc::SYS_setpgid && call.when.is_empty()
}
