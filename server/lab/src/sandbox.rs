//! Runs a child under control: what it may read, write and call, how long, with how much memory and output.
//!
//! A [`Policy::Candidate`] is code under test. It may compute, start threads, read system libraries and the paths it
//! was given, and write in its own folder. It may not start processes, open sockets, signal or inspect others, or write
//! elsewhere. Three layers see to that, each of them optional in the kernel ([`capabilities`]):
//!
//! - **Landlock** decides what the file system lets it open. This is what enforces; nothing can be raced. Of `/proc` it opens
//!   what tells of the machine and of the child itself, so that no other process's command line can be read.
//! - **seccomp** stops the system calls that code under test has no business with. They are not failed silently: the
//!   kernel hands them to this process (user notification), which kills the group and *names* what was tried.
//! - **Limits** of the process (`setrlimit`) and a watch in this process, which looks every few milliseconds at memory,
//!   threads, output, the folder, the clock and the [`Cancel`] token.
//!
//! A [`Policy::Compiler`] is a trusted program on an untrusted text: it may start processes, and has the same file rules,
//! limits and no network.
//!
//! The child leads a process group of its own. Whatever ends the run, the whole group is killed and reaped before
//! [`run`] returns; if this process dies, the kernel kills the child (`PR_SET_PDEATHSIG`, which fires when the calling
//! *thread* ends, so [`run`] stays on that thread).

mod capabilities;
mod child;
mod files;
mod filter;
mod forbidden;
mod listener;
mod outcome;
mod process;
mod watch;

use std::ffi::OsString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

pub use capabilities::{Capabilities, capabilities};
pub use outcome::{End, Run};

use crate::{Cancel, LabError};

/// Environment variable that tells a child the number of its report descriptor.
pub const REPORT_VARIABLE: &str = "KS_REPORT_FD";

/// Environment variable that tells a program of the HIP runtime the word that its report's lines start with.
pub const TOKEN_VARIABLE: &str = "KS_REPORT_TOKEN";

/// How much a child is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Code under test: no processes, no network, no signals to others.
    Candidate,
    /// A compiler on a text under test: may start processes; no network.
    Compiler,
}

/// What a child may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time; the whole group is killed when it is over.
    pub wall: Duration,
    /// Resident memory in bytes, looked at every few milliseconds.
    pub memory_bytes: u64,
    /// Address space in bytes, reserved and untouched memory included; `None` for sanitizers, which reserve terabytes.
    pub address_space_bytes: Option<u64>,
    /// What it may print to stdout and stderr together, in bytes.
    pub output_bytes: u64,
    /// What it may keep in its folder, all files together, in bytes.
    pub file_bytes: u64,
    /// How many threads it may have at once.
    pub threads: u32,
}

impl Limits {
    /// Limits for a child that may take `wall` and use `memory_bytes`; the others follow from these.
    pub fn new(wall: Duration, memory_bytes: u64) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Self {
            wall,
            memory_bytes,
            // Stacks of threads and fibers are reserved in full and touched in part, so the reserve is larger than
            // the memory that may be used; it only has to end a program that allocates for ever.
            address_space_bytes: Some(memory_bytes.saturating_mul(2).saturating_add(16 << 30)),
            output_bytes: 16 << 20,
            file_bytes: 1 << 30,
            threads: 256.max(8 * processors),
        }
    }

    /// Limits with a memory limit for this machine: three quarters of what is available, at most 32 GiB.
    pub fn for_this_machine(wall: Duration) -> Self {
        Self::new(wall, (process::available_memory() / 4 * 3).clamp(256 << 20, 32 << 30))
    }
}

/// A child to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// Its current folder and the only place where it may write. Must exist.
    pub folder: PathBuf,
    /// What it may read and execute beside the system's libraries and tools. Paths that do not exist are passed over.
    pub readable: Vec<PathBuf>,
    /// Its whole environment, but for [`REPORT_VARIABLE`].
    pub environment: Vec<(OsString, OsString)>,
    /// How much it is trusted.
    pub policy: Policy,
    /// What it may use.
    pub limits: Limits,
    /// Whether it gets a report descriptor.
    pub report: bool,
}

impl Command {
    /// `program` with no arguments, an empty environment and no report, in `folder`.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>, policy: Policy, limits: Limits) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            readable: Vec::new(),
            environment: Vec::new(),
            policy,
            limits,
            report: false,
        }
    }
}

/// Runs `command` to its end, or to the end that its limits, its deeds or `cancel` make for it.
///
/// Returns `Err` only when the child could not be started ([`LabError::Unavailable`], [`LabError::Io`]) or the job was
/// cancelled ([`LabError::Cancelled`]); what the child did wrong is in [`Run::end`].
pub fn run(command: &Command, cancel: &Cancel) -> Result<Run, LabError> {
    capabilities::warn_once();
    run_with(capabilities(), command, cancel)
}

/// As [`run`], with no more of the kernel than `offered`.
fn run_with(offered: Capabilities, command: &Command, cancel: &Cancel) -> Result<Run, LabError> {
    if cancel.is_cancelled() {
        return Err(LabError::Cancelled);
    }
    // Paths in notifications are compared with this one, so it must have no links in it.
    let folder = command.folder.canonicalize().map_err(LabError::io("opening the folder", &command.folder))?;

    let ruleset = if offered.landlock_version > 0 { files::ruleset(command, &folder)? } else { None };
    let filters = filter::Filters::new(command.policy, offered)?;
    let report = command.report.then(pipe).transpose()?;
    let sockets = filters.notify.is_some().then(socket_pair).transpose()?;

    let stage = child::Stage {
        parent: std::process::id() as libc::pid_t,
        ruleset,
        report: report.as_ref().map(|(_, writer)| writer.as_raw_fd()),
        limits: child::resource_limits(command),
        filters,
        socket: sockets.as_ref().map(|(_, theirs)| theirs.as_raw_fd()),
        drops_capabilities: command.policy == Policy::Candidate,
        // Nobody waits for a compiler as one does for an editor; what is measured runs as it will for its user.
        gives_way: command.policy == Policy::Compiler,
    };

    let mut process = std::process::Command::new(&command.program);
    process
        .args(&command.arguments)
        .current_dir(&folder)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some((_, writer)) = &report {
        process.env(REPORT_VARIABLE, writer.as_raw_fd().to_string());
    }
    // SAFETY: `enter` runs between fork and exec and makes raw system calls on memory prepared beforehand; it neither
    // allocates nor takes locks.
    unsafe { process.pre_exec(move || stage.enter()) };

    let started = Instant::now();
    // The child blocks in execve until its listener lets it pass, and `spawn` blocks until execve is done: somebody
    // else has to answer that first notification.
    let (spawned, listener) = std::thread::scope(|scope| {
        let (ours, theirs) = sockets.unzip();
        let handshake = ours.map(|ours| scope.spawn(move || listener::handshake(&ours)));
        let spawned = process.spawn();
        drop(theirs);
        let listener = handshake.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (spawned, listener)
    });
    let spawned = spawned.map_err(LabError::io("starting", &command.program))?;
    let listener = match listener {
        Some(Ok(listener)) => listener,
        Some(Err(error)) => {
            // Without its listener every forbidden call would fail with ENOSYS: still safe, only nameless.
            tracing::warn!("the sandbox cannot name what a program tries: {error}");
            None
        }
        None => None,
    };
    let report = report.map(|(reader, _)| reader);
    // The rule for the child's own folder of /proc holds as long as the kernel keeps that folder in memory, so it is kept open.
    // Where it cannot be opened the child has ended.
    let _own_proc = std::fs::File::open(format!("/proc/{}", spawned.id()));
    watch::Watch::new(command, &folder, spawned, report, listener, started)?.until_end(cancel)
}

fn pipe() -> Result<(OwnedFd, OwnedFd), LabError> {
    let mut ends = [-1; 2];
    // SAFETY: `ends` has room for the two descriptors that pipe2 writes.
    let done = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    owned_pair(done, ends, "opening a pipe")
}

fn socket_pair() -> Result<(OwnedFd, OwnedFd), LabError> {
    let mut ends = [-1; 2];
    // SAFETY: `ends` has room for the two descriptors that socketpair writes.
    let done =
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) };
    owned_pair(done, ends, "opening a socket pair")
}

fn owned_pair(done: libc::c_int, ends: [i32; 2], action: &'static str) -> Result<(OwnedFd, OwnedFd), LabError> {
    if done != 0 {
        return Err(LabError::io(action, Path::new("(this process)"))(std::io::Error::last_os_error()));
    }
    // SAFETY: both descriptors were just opened and belong to nobody else.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kernel that offers less still holds in, with programs that are on every system.
    #[test]
    fn less_of_a_kernel_still_holds_what_it_can() {
        let whole = capabilities();
        let nameless = Capabilities { names_what_was_tried: false, ..whole };
        let no_landlock = Capabilities { landlock_version: 0, ..whole };
        let nothing = Capabilities { landlock_version: 0, system_call_filter: false, names_what_was_tried: false };
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("file");
        let write = format!("echo x > {}", file.display());
        let cases = [
            (nameless, "true | true", "made a system call that the sandbox does not allow", false),
            (nameless, write.as_str(), "", false),
            (no_landlock, "true | true", "tried to start a process", false),
            (no_landlock, write.as_str(), "tried to write", false),
            (nothing, write.as_str(), "", true),
        ];
        for (offered, script, refusal, written) in cases {
            let folder = tempfile::tempdir().unwrap();
            let limits = Limits::new(Duration::from_secs(5), 1 << 30);
            let mut command = Command::new("/bin/sh", folder.path(), Policy::Candidate, limits);
            command.arguments = vec!["-c".into(), script.into()];
            let run = run_with(offered, &command, &Cancel::new()).unwrap();
            match &run.end {
                End::Refused(what) => assert!(!refusal.is_empty() && what.contains(refusal), "{script}: {what}"),
                other => assert!(refusal.is_empty(), "{offered:?} {script}: {other:?}"),
            }
            assert_eq!(file.exists(), written, "{offered:?} {script}");
        }
    }

    /// No file system rule covers attributes, so that calls which change them fail where none can be judged.
    #[test]
    fn attributes_stay_where_calls_cannot_be_judged() {
        use std::os::unix::fs::PermissionsExt;

        let nameless = Capabilities { names_what_was_tried: false, ..capabilities() };
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("file");
        std::fs::write(&file, "kept").unwrap();
        let before = std::fs::metadata(&file).unwrap().permissions();
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits::new(Duration::from_secs(5), 1 << 30);
        let mut command = Command::new("/bin/chmod", folder.path(), Policy::Candidate, limits);
        command.arguments = vec!["777".into(), file.clone().into()];
        let run = run_with(nameless, &command, &Cancel::new()).unwrap();
        assert!(!matches!(run.end, End::Status(0)), "{:?}", run.end);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode(), before.mode());
    }
}
