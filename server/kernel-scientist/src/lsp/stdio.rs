//! Standard input and output as the runtime itself watches them. The ones of its library hand each message to a thread of
//! its own and back, which on a busy machine is what an answer takes longest for.

use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// What a pipe is to hold, in bytes: the lenses of a large file at once, so that nobody waits for the reader halfway.
const PIPE_BYTES: libc::c_int = 1 << 20;

/// Standard input.
pub fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    let own = |from: fn(OwnedFd) -> Result<Box<dyn AsyncRead + Send + Unpin>>| {
        from(std::io::stdin().as_fd().try_clone_to_owned()?)
    };
    let pipe = || own(|end| Ok(Box::new(pipe::Receiver::from_owned_fd(end)?)));
    pipe().or_else(|_| own(|end| Ok(Box::new(socket(end)?)))).unwrap_or_else(|_| Box::new(tokio::io::stdin()))
}

/// Standard output.
pub fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    let own = |from: fn(OwnedFd) -> Result<Box<dyn AsyncWrite + Send + Unpin>>| {
        from(std::io::stdout().as_fd().try_clone_to_owned()?)
    };
    let pipe = || own(|end| Ok(Box::new(pipe::Sender::from_owned_fd(widened(end))?)));
    pipe().or_else(|_| own(|end| Ok(Box::new(socket(end)?)))).unwrap_or_else(|_| Box::new(tokio::io::stdout()))
}

/// Some editors give their servers sockets.
fn socket(end: OwnedFd) -> Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(end);
    // Fails for what is none.
    socket.local_addr()?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

fn widened(end: OwnedFd) -> OwnedFd {
    // SAFETY: it takes a number and changes nothing but the size of a pipe; where the system refuses, the pipe stays as it is.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::fcntl(end.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_BYTES);
    }
    end
}
