//! Watches a running child until it has ended, or ends it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::listener::Listener;
use super::outcome::{End, Run};
use super::process::{self, Reaped, Usage};
use super::{Command, Policy};
use crate::{Cancel, LabError};

/// How often memory, the clock and the cancel token are looked at.
const TICK: Duration = Duration::from_millis(5);
/// How often the size of the folder is looked at.
const FOLDER_TICK: Duration = Duration::from_millis(200);
/// How many files a child may keep in its folder.
const MOST_FILES: u32 = 10_000;
/// What may come over the report descriptor, in bytes.
const REPORT_BYTES: u64 = 256 << 20;

/// A stream that is read while the child runs.
struct Stream {
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(descriptor: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(descriptor) = &descriptor {
            set_nonblocking(descriptor.as_raw_fd())?;
        }
        Ok(Self { file: descriptor.map(File::from), bytes: Vec::new() })
    }

    /// Reads what is there, up to `room` bytes; the stream closes itself at its end.
    fn read_available(&mut self, room: u64) {
        let Some(file) = &mut self.file else { return };
        match file.take(room).read_to_end(&mut self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The end, no room left, or an error: no more to be had.
            Ok(_) | Err(_) => self.file = None,
        }
    }
}

/// A child under watch.
pub(super) struct Watch<'a> {
    command: &'a Command,
    folder: &'a Path,
    child: libc::pid_t,
    ended: Option<OwnedFd>,
    stdout: Stream,
    stderr: Stream,
    report: Stream,
    listener: Option<Listener>,
    started: Instant,
    folder_looked_at: Instant,
    peak: Usage,
    reaped: bool,
}

impl<'a> Watch<'a> {
    /// Takes over a child that was just started in a group of its own.
    pub(super) fn new(
        command: &'a Command,
        folder: &'a Path,
        mut child: Child,
        report: Option<OwnedFd>,
        listener: Option<Listener>,
        started: Instant,
    ) -> Result<Self, LabError> {
        let pid = child.id() as libc::pid_t;
        let mut watch = Self {
            command,
            folder,
            child: pid,
            ended: open_process(pid),
            stdout: Stream { file: None, bytes: Vec::new() },
            stderr: Stream { file: None, bytes: Vec::new() },
            report: Stream { file: None, bytes: Vec::new() },
            listener,
            started,
            folder_looked_at: started,
            peak: Usage::default(),
            reaped: false,
        };
        let streams = || -> io::Result<_> {
            Ok((
                Stream::new(child.stdout.take().map(OwnedFd::from))?,
                Stream::new(child.stderr.take().map(OwnedFd::from))?,
                Stream::new(report)?,
            ))
        };
        (watch.stdout, watch.stderr, watch.report) =
            { streams }().map_err(LabError::io("reading the output of", &command.program))?;
        Ok(watch)
    }

    /// Waits for the child's end, or brings it about.
    pub(super) fn until_end(mut self, cancel: &Cancel) -> Result<Run, LabError> {
        let forced = loop {
            if cancel.is_cancelled() {
                return Err(LabError::Cancelled); // dropping the watch kills the group
            }
            self.wait_for_news();
            if let Some(end) = self.look() {
                break Some(end);
            }
            if process::has_ended(self.child) {
                break None;
            }
        };
        let reaped = self.kill_and_reap().map_err(LabError::io("waiting for", &self.command.program))?;
        let wall = self.started.elapsed();
        // What was in the pipes at its end; nobody is left to write more.
        let forced = forced.or(self.read_streams());
        let status = ExitStatus::from_raw(reaped.status);
        let end = match (forced, status.code(), status.signal()) {
            (Some(end), ..) => end,
            (None, Some(code), _) => End::Status(code),
            // The filter's fallback, where calls cannot be named.
            (None, None, Some(libc::SIGSYS)) if self.command.policy == Policy::Candidate => {
                End::Refused("made a system call that the sandbox does not allow".into())
            }
            (None, None, signal) => End::Signal(signal.unwrap_or_default()),
        };
        let text = |stream: &mut Stream| String::from_utf8_lossy(&std::mem::take(&mut stream.bytes)).into_owned();
        Ok(Run {
            end,
            stdout: text(&mut self.stdout),
            stderr: text(&mut self.stderr),
            report: std::mem::take(&mut self.report.bytes),
            wall,
            processor: reaped.processor,
            displaced: reaped.displaced,
            peak_memory: self.peak.resident,
            peak_address_space: self.peak.address_space,
        })
    }

    /// Blocks until something happens or a tick is over.
    fn wait_for_news(&self) {
        let until_deadline = self.command.limits.wall.saturating_sub(self.started.elapsed());
        let patience = TICK.min(until_deadline).as_millis() as libc::c_int;
        let streams =
            [&self.stdout, &self.stderr, &self.report].map(|stream| stream.file.as_ref().map(File::as_raw_fd));
        let others = [self.ended.as_ref().map(OwnedFd::as_raw_fd), self.listener.as_ref().map(Listener::as_raw_fd)];
        let mut entries: [libc::pollfd; 5] = std::array::from_fn(|index| libc::pollfd {
            // A negative number is passed over by poll.
            fd: streams.iter().chain(&others).nth(index).copied().flatten().unwrap_or(-1),
            events: libc::POLLIN,
            revents: 0,
        });
        // SAFETY: as many entries are announced as there are. Errors mean "look now", which is what happens next.
        unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, patience) };
    }

    /// Looks at everything once; returns the end that has to be made.
    fn look(&mut self) -> Option<End> {
        self.hear_listener()
            .or_else(|| self.read_streams())
            .or_else(|| self.look_at_usage())
            .or_else(|| self.look_at_folder())
            .or_else(|| (self.started.elapsed() >= self.command.limits.wall).then_some(End::TimedOut))
    }

    fn hear_listener(&mut self) -> Option<End> {
        let listener = self.listener.as_ref()?;
        match readiness(listener.as_raw_fd()) {
            ready if ready & libc::POLLIN != 0 => listener.serve(self.child, self.folder).map(End::Refused),
            0 => None,
            _ => {
                // Nobody is left who could call.
                self.listener = None;
                None
            }
        }
    }

    fn read_streams(&mut self) -> Option<End> {
        let limit = self.command.limits.output_bytes;
        let room = |used: usize, limit: u64| limit.saturating_add(1).saturating_sub(used as u64);
        let printed = self.stdout.bytes.len() + self.stderr.bytes.len();
        self.stdout.read_available(room(printed, limit));
        let printed = self.stdout.bytes.len() + self.stderr.bytes.len();
        self.stderr.read_available(room(printed, limit));
        self.report.read_available(room(self.report.bytes.len(), REPORT_BYTES));
        if (self.stdout.bytes.len() + self.stderr.bytes.len()) as u64 > limit {
            return Some(End::Refused(format!("printed more than {}", in_mebibytes(limit))));
        }
        let reported = self.report.bytes.len() as u64;
        (reported > REPORT_BYTES).then(|| End::Refused(format!("reported more than {}", in_mebibytes(REPORT_BYTES))))
    }

    fn look_at_usage(&mut self) -> Option<End> {
        let usage = Usage::of(self.child)?;
        self.peak.resident = self.peak.resident.max(usage.resident);
        self.peak.address_space = self.peak.address_space.max(usage.address_space);
        if usage.resident > self.command.limits.memory_bytes {
            return Some(End::OutOfMemory);
        }
        let limit = self.command.limits.threads;
        (usage.threads > limit).then(|| End::Refused(format!("started more than {limit} threads")))
    }

    fn look_at_folder(&mut self) -> Option<End> {
        if self.folder_looked_at.elapsed() < FOLDER_TICK {
            return None;
        }
        self.folder_looked_at = Instant::now();
        let limit = self.command.limits.file_bytes;
        let (bytes, files) = folder_size(self.folder, limit);
        if bytes > limit {
            return Some(End::Refused(format!("wrote more than {} into its folder", in_mebibytes(limit))));
        }
        (files > MOST_FILES).then(|| End::Refused(format!("made more than {MOST_FILES} files")))
    }

    /// Kills what is left of the group, then reaps its leader: while it is a zombie, its number belongs to nobody else.
    fn kill_and_reap(&mut self) -> io::Result<Reaped> {
        process::kill_group(self.child);
        self.reaped = true;
        process::reap(self.child)
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.reaped {
            // On the way out with another error already; there is nobody to tell.
            let _ = self.kill_and_reap();
        }
    }
}

/// Bytes and number of files under `folder`; stops counting soon after a limit is passed.
fn folder_size(folder: &Path, limit: u64) -> (u64, u32) {
    use std::os::unix::fs::MetadataExt;
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // Links are counted, not followed. A file that went away meanwhile does not count.
            let Ok(metadata) = entry.metadata() else { continue };
            files += 1;
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
            if bytes > limit || files > MOST_FILES {
                return (bytes, files);
            }
        }
    }
    (bytes, files)
}

fn in_mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn readiness(descriptor: RawFd) -> libc::c_short {
    let mut entry = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry is passed and one is announced.
    if unsafe { libc::poll(&mut entry, 1, 0) } > 0 { entry.revents } else { 0 }
}

/// A descriptor that becomes readable when the process ends; `None` before Linux 5.3, where ticks have to do.
fn open_process(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: the call takes numbers; the descriptor it returns is new and belongs to nobody else.
    unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd;
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }
}

fn set_nonblocking(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the calls take numbers.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        if flags < 0 || libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
