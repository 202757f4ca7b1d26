//! Messages as they come in. The protocol's library ends at the first one that it cannot read; here such a one is named in
//! the log and left out, and the next is served.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tower_lsp::jsonrpc::{Request, Response};

/// Largest message in bytes: far above any source, far below what would exhaust memory.
const LARGEST: usize = 256 << 20;
/// Longest line of a header in bytes; what is longer is noise, and taken in pieces.
const LONGEST_LINE: u64 = 8 << 10;
/// Bytes that may wait to be worked on.
const WAITING: usize = 64 << 10;

/// The messages of `input` that can be read, and a task that passes them on; it ends with the input.
pub fn readable(input: impl AsyncRead + Unpin) -> (DuplexStream, impl Future<Output = ()>) {
    let (theirs, mut ours) = tokio::io::duplex(WAITING);
    let task = async move {
        let mut input = BufReader::new(input);
        loop {
            match frame(&mut input).await {
                Ok(Some(body)) => match complaint(&body) {
                    None => {
                        let header = format!("Content-Length: {}\r\n\r\n", body.len());
                        let passed = async {
                            ours.write_all(header.as_bytes()).await?;
                            ours.write_all(&body).await
                        };
                        if passed.await.is_err() {
                            return;
                        }
                    }
                    Some(why) => tracing::warn!("a message of the client was left out: {why}"),
                },
                Ok(None) => return,
                Err(error) => {
                    tracing::error!("the client's messages cannot be told apart any more: {error}");
                    return;
                }
            }
        }
    };
    (theirs, task)
}

/// The next message's body; `None` at the end.
async fn frame(input: &mut (impl AsyncBufReadExt + Unpin)) -> Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(LONGEST_LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        match line.trim().split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse::<usize>().ok();
            }
            None if line.trim().is_empty() && length.is_some() => break,
            // Other headers, and whatever stands between two messages.
            _ => {}
        }
    }
    let length = length.unwrap_or_default();
    if length > LARGEST {
        return Err(Error::new(ErrorKind::InvalidData, format!("one of {length} bytes was announced")));
    }
    let mut body = vec![0; length];
    match input.read_exact(&mut body).await {
        Ok(_) => Ok(Some(body)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is wrong with a message; `None` for one that can be read.
fn complaint(body: &[u8]) -> Option<String> {
    let as_request = serde_json::from_slice::<Request>(body).err()?;
    serde_json::from_slice::<Response>(body).is_err().then(|| as_request.to_string())
}
