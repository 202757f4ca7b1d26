//! Hears of the forbidden calls of a candidate and judges them.
//!
//! The caller waits in the kernel until it is answered. What is read of its memory serves the *message*: another of its
//! threads may change it meanwhile, so nothing rests on it but the decision to end the run earlier than the kernel
//! would have made the call fail. A call that is let go on is still subject to Landlock.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::{fs, ptr};

use super::forbidden::{Call, Condition, Deed, Place, calls};
use crate::paths::without_dots;

/// The receiving end of a candidate's notifications.
pub(super) struct Listener {
    descriptor: OwnedFd,
}

/// The answer to a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Let the kernel carry it out.
    Continue,
    /// Tell the caller that it succeeded, without carrying it out.
    Pretend,
    /// End the run; the text reads on from "it".
    Refuse(String),
}

/// Receives the listener from the child over `socket` and lets its first execve pass. `None` when the child ended, or
/// runs without a listener.
pub(super) fn handshake(socket: &OwnedFd) -> io::Result<Option<Listener>> {
    let Some(descriptor) = receive_descriptor(socket.as_raw_fd())? else { return Ok(None) };
    let listener = Listener { descriptor };
    loop {
        if !listener.wait()? {
            return Ok(None);
        }
        // Nothing of the candidate runs before its execve.
        if let Some(request) = listener.receive() {
            listener.answer(&request, Judgement::Continue);
            if i64::from(request.data.nr) == libc::SYS_execve {
                return Ok(Some(listener));
            }
        }
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl Listener {
    /// Blocks until there is a notification (`true`) or nobody left to send one (`false`).
    fn wait(&self) -> io::Result<bool> {
        let mut entry = libc::pollfd { fd: self.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        loop {
            // SAFETY: one entry is passed and one is announced.
            match unsafe { libc::poll(&mut entry, 1, 100) } {
                0 => {}
                1.. => return Ok(entry.revents & libc::POLLIN != 0),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
    }

    /// Takes a notification and answers it. Call it when the descriptor is readable. Returns why the run must end, if it
    /// must; then the caller stays blocked until it is killed.
    pub(super) fn serve(&self, child: libc::pid_t, folder: &Path) -> Option<String> {
        let request = self.receive()?;
        match judge(&request, child, folder) {
            Judgement::Refuse(what) => {
                // A thread that died meanwhile may have left its number to somebody else: believe nothing then.
                self.is_valid(&request).then_some(what)
            }
            answer => {
                self.answer(&request, answer);
                None
            }
        }
    }

    /// `None` when the caller died in the meantime.
    fn receive(&self) -> Option<libc::seccomp_notif> {
        // SAFETY: the structure is plain data; the kernel wants it zeroed and fills it.
        unsafe {
            let mut request: libc::seccomp_notif = MaybeUninit::zeroed().assume_init();
            (libc::ioctl(self.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &mut request) == 0).then_some(request)
        }
    }

    fn is_valid(&self, request: &libc::seccomp_notif) -> bool {
        // SAFETY: the kernel reads the eight bytes of the number.
        unsafe { libc::ioctl(self.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &request.id) == 0 }
    }

    fn answer(&self, request: &libc::seccomp_notif, judgement: Judgement) {
        let flags = match judgement {
            Judgement::Continue => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Judgement::Pretend | Judgement::Refuse(_) => 0,
        };
        let response = libc::seccomp_notif_resp { id: request.id, val: 0, error: 0, flags };
        // SAFETY: the kernel reads the response. A failure means that the caller is gone.
        unsafe { libc::ioctl(self.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &response) };
    }
}

/// Judges one call of the process `child`, whose folder is `folder`.
fn judge(request: &libc::seccomp_notif, child: libc::pid_t, folder: &Path) -> Judgement {
    let arguments = &request.data.args;
    let matching = |call: &&Call| {
        call.number == i64::from(request.data.nr)
            && (call.when.is_empty() || call.when.iter().any(|c| holds(c, arguments)))
    };
    let Some(call) = calls().find(matching) else { return Judgement::Continue };
    let caller = request.pid as libc::pid_t;
    let name = call.name;
    match call.deed {
        Deed::StartProcess => Judgement::Refuse(format!("tried to start a process ({name})")),
        Deed::RunProgram(place) => {
            let program = resolve(place, arguments, caller).unwrap_or_else(|| "(unreadable path)".into());
            Judgement::Refuse(format!("tried to run another program: {} ({name})", program.display()))
        }
        Deed::OpenSocket => {
            Judgement::Refuse(format!("tried to open a socket ({name}({}))", family(arguments[0] as libc::c_int)))
        }
        Deed::OnProcess(argument) => match arguments[argument] as libc::pid_t {
            0 => Judgement::Continue,
            target if target == child || target == -child || is_thread_of(child, target) => Judgement::Continue,
            target => Judgement::Refuse(format!("tried to act on another process, {target} ({name})")),
        },
        Deed::Change(verb, places) => {
            let outside = places.iter().filter_map(|&place| resolve(place, arguments, caller));
            match outside.into_iter().find(|path| !may_change(path, folder, child)) {
                Some(path) => {
                    Judgement::Refuse(format!("tried to {verb} {}, outside its folder ({name})", path.display()))
                }
                None => Judgement::Continue,
            }
        }
        Deed::Relabel(place) => match resolve(place, arguments, caller) {
            Some(path) if !path.starts_with(folder) => Judgement::Refuse(format!(
                "tried to change the attributes of {}, outside its folder ({name})",
                path.display()
            )),
            _ => Judgement::Pretend,
        },
        Deed::Other(words) => Judgement::Refuse(format!("tried to {words} ({name})")),
    }
}

fn holds(condition: &Condition, arguments: &[u64; 6]) -> bool {
    let low_half = |argument: u8| arguments[usize::from(argument)] & 0xffff_ffff;
    match *condition {
        Condition::Is(argument, value) => low_half(argument) == value,
        Condition::IsNot(argument, value) => low_half(argument) != value,
        Condition::Bits { argument, mask, value } => low_half(argument) & mask == value,
    }
}

fn family(number: libc::c_int) -> String {
    match number {
        libc::AF_UNIX => "AF_UNIX".into(),
        libc::AF_INET => "AF_INET".into(),
        libc::AF_INET6 => "AF_INET6".into(),
        libc::AF_NETLINK => "AF_NETLINK".into(),
        libc::AF_PACKET => "AF_PACKET".into(),
        other => format!("family {other}"),
    }
}

fn is_thread_of(process: libc::pid_t, thread: libc::pid_t) -> bool {
    Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

/// Whether a change at the resolved `path` is harmless: in its folder, on a device that anybody may use, or under its
/// own `/proc`, where Landlock answers.
fn may_change(path: &Path, folder: &Path, child: libc::pid_t) -> bool {
    const HARMLESS: [&str; 8] = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/stdout",
        "/dev/stderr",
    ];
    // What a descriptor of its own stands for, such as `pipe:[123]`, is no path.
    !path.is_absolute()
        || (path.starts_with(folder) && path != folder)
        || HARMLESS.iter().any(|device| path == Path::new(device))
        || path.starts_with(format!("/proc/{child}"))
}

/// The file that `place` names in the caller, links followed as far as they exist; `None` when it cannot be read.
fn resolve(place: Place, arguments: &[u64; 6], caller: libc::pid_t) -> Option<PathBuf> {
    let current = || fs::read_link(format!("/proc/{caller}/cwd")).ok();
    let (base, path) = match place {
        Place::Descriptor(argument) => return descriptor(arguments[argument] as RawFd, caller),
        Place::Path(argument) => (current(), read_path(caller, arguments[argument])?),
        Place::At(directory, argument) => {
            let base = match arguments[directory] as libc::c_int {
                libc::AT_FDCWD => current(),
                number => descriptor(number, caller),
            };
            (base, read_path(caller, arguments[argument])?)
        }
    };
    let whole = if path.is_absolute() { path } else { base?.join(path) };
    Some(follow(&as_seen_from_here(&whole, caller)))
}

fn descriptor(number: RawFd, caller: libc::pid_t) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{caller}/fd/{number}")).ok()
}

/// `/proc/self` and what links there mean another process here than in the caller.
fn as_seen_from_here(path: &Path, caller: libc::pid_t) -> PathBuf {
    let own = format!("/proc/{caller}");
    let replaced = [("/proc/self", own.clone()), ("/proc/thread-self", own.clone()), ("/dev/fd", format!("{own}/fd"))]
        .into_iter()
        .find_map(|(prefix, meaning)| Some(Path::new(&meaning).join(path.strip_prefix(prefix).ok()?)));
    replaced.unwrap_or_else(|| path.to_owned())
}

/// Follows links, the last one too, also where the file itself does not exist yet.
fn follow(path: &Path) -> PathBuf {
    const DEEPEST: usize = 40; // as the kernel's own limit
    // The descriptors of a process, and devices that link there, are no paths to follow.
    if path.starts_with("/proc") || ["/dev/stdout", "/dev/stderr"].iter().any(|device| path == Path::new(device)) {
        return path.to_owned();
    }
    let mut path = path.to_owned();
    for _ in 0..DEEPEST {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { break };
        let parent = fs::canonicalize(parent).unwrap_or_else(|_| without_dots(parent));
        match fs::read_link(parent.join(name)) {
            Ok(target) => path = parent.join(target),
            Err(_) => return parent.join(name),
        }
    }
    without_dots(&path)
}

/// Reads a C string from the caller's memory.
fn read_path(caller: libc::pid_t, address: u64) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = vec![0u8; libc::PATH_MAX as usize];
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let theirs = libc::iovec { iov_base: ptr::without_provenance_mut(address as usize), iov_len: bytes.len() };
    // SAFETY: the kernel writes at most `iov_len` bytes into `bytes`; the other address is only meaningful there.
    let count = unsafe { libc::process_vm_readv(caller, &ours, 1, &theirs, 1, 0) };
    // A string near the end of a mapping gives fewer bytes than asked for.
    let end = bytes.get(..usize::try_from(count).ok()?)?.iter().position(|&byte| byte == 0)?;
    bytes.truncate(end);
    (!bytes.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// `None` when the other side was closed without sending one.
fn receive_descriptor(socket: RawFd) -> io::Result<Option<OwnedFd>> {
    let mut byte = 0u8;
    let mut control = [0u64; 4];
    // SAFETY: every pointer is to a local that outlives recvmsg; the descriptor that comes with the message is new and
    // belongs to nobody else.
    unsafe {
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        loop {
            match libc::recvmsg(socket, &mut message, libc::MSG_CMSG_CLOEXEC) {
                0 => return Ok(None),
                1.. => break,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
        let header = libc::CMSG_FIRSTHDR(&message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Ok(None);
        }
        Ok(Some(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_to_what_does_not_exist_yet() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let real = folder.path().canonicalize().expect("it exists");
        fs::create_dir(real.join("own")).expect("fresh");
        std::os::unix::fs::symlink("/nowhere/at/all", real.join("own/dangling")).expect("fresh");
        std::os::unix::fs::symlink("..", real.join("own/up")).expect("fresh");
        let cases = [
            ("own/new", real.join("own/new")),
            ("own/../new", real.join("new")),
            ("own/up/new", real.join("new")),
            ("own/dangling", PathBuf::from("/nowhere/at/all")),
            ("missing/../new", real.join("new")),
        ];
        for (path, expected) in cases {
            assert_eq!(follow(&real.join(path)), expected, "{path}");
        }
    }

    #[test]
    fn own_proc_and_devices_are_harmless_and_the_rest_is_not() {
        let folder = Path::new("/own/folder");
        let cases = [
            ("/own/folder/file", true),
            ("/own/folder", false),
            ("/own/folder2/file", false),
            ("/dev/null", true),
            ("/dev/sda", false),
            ("/dev/shm/x", false),
            ("/proc/77/fd/1", true),
            ("/proc/78/mem", false),
            ("/tmp/x", false),
        ];
        for (path, expected) in cases {
            assert_eq!(may_change(Path::new(path), folder, 77), expected, "{path}");
        }
        assert_eq!(as_seen_from_here(Path::new("/proc/self/fd/1"), 77), Path::new("/proc/77/fd/1"));
    }
}
