//! Standard input and output as the runtime itself watches them. The ones of its library hand each message to a thread of
//! its own and back, which on a busy machine is what an answer takes longest for.
//!
//! What is watched must not block, which is a state of the opened end and not of this process: whoever else has that end, such
//! as the shell that started the server, would find it changed. So pipes are opened once more, and sockets, which cannot be, are
//! put back as they were found.

use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// What a pipe is to hold, in bytes: the lenses of a large file at once, so that nobody waits for the reader halfway.
const PIPE_BYTES: libc::c_int = 1 << 20;
/// Standard input and output.
const ENDS: [RawFd; 2] = [libc::STDIN_FILENO, libc::STDOUT_FILENO];

/// Standard input.
pub fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    if let Ok(pipe) = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    match socket(&std::io::stdin()) {
        Ok(socket) => Box::new(socket),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Standard output.
pub fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    if let Ok(pipe) = pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
        widen(&pipe);
        return Box::new(pipe);
    }
    match socket(&std::io::stdout()) {
        Ok(socket) => Box::new(socket),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}

/// Some editors give their servers sockets.
fn socket(end: &impl AsFd) -> Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(end.as_fd().try_clone_to_owned()?);
    // Fails for what is none.
    socket.local_addr()?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

fn widen(pipe: &pipe::Sender) {
    // SAFETY: it takes a number and changes nothing but the size of a pipe; where the system refuses, the pipe stays as it is.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_BYTES);
    }
}

/// How standard input and output were found.
pub struct AsFound([libc::c_int; 2]);

impl AsFound {
    /// Looks at them; to be called before they are watched.
    pub fn look() -> Self {
        // SAFETY: it takes a number and changes nothing.
        Self(ENDS.map(|end| unsafe { libc::fcntl(end, libc::F_GETFL) }))
    }

    /// Puts them back.
    pub fn put_back(&self) {
        for (end, flags) in ENDS.into_iter().zip(self.0).filter(|(_, flags)| *flags >= 0) {
            // SAFETY: it takes numbers that the system gave for the same ends.
            unsafe {
                libc::fcntl(end, libc::F_SETFL, flags);
            }
        }
    }
}
