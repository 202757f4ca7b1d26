//! Server-sent events out of pieces of bytes. Each byte is looked at once, and a line or an event has a longest length: the
//! server decides how much it sends, and not how much work and memory that takes here.
//!
//! Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>. Of the fields only `data`
//! is kept; every provider says the rest in there as well.

/// Longest way from one event to the next in bytes, lines that say nothing included: some ten times what a model writes in one
/// answer.
const LONGEST: usize = 4 << 20;

/// Reads events as the pieces come.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The lines of data of the event that has not ended yet, each with its line feed.
    data: String,
    /// Bytes of ended lines since the last event.
    since_event: usize,
    /// Whether the last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
    /// Whether a line has ended: before the first one a byte order mark may stand.
    is_past_first: bool,
}

/// The next event does not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// Takes a piece; `event` hears the data of each event that ends in it, and whether to go on is its answer.
    pub(crate) fn feed<E: From<TooLong>>(
        &mut self,
        piece: &[u8],
        event: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = piece;
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&rest[..end])?;
            let is_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            match (is_return, rest.first()) {
                (true, Some(b'\n')) => rest = &rest[1..],
                (true, None) => self.after_return = true,
                _ => {}
            }
            self.end_line(event)?;
        }
        self.extend(rest)?;
        Ok(())
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.since_event + self.line.len() + bytes.len() > LONGEST {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line<E: From<TooLong>>(&mut self, event: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.since_event += line.len() + 1;
        let text = String::from_utf8_lossy(&line);
        let text = match std::mem::replace(&mut self.is_past_first, true) {
            false => text.strip_prefix('\u{feff}').unwrap_or(&text),
            true => &text,
        };
        if text.is_empty() {
            // An event without data is none.
            if !self.data.is_empty() {
                let data = std::mem::take(&mut self.data);
                self.since_event = 0;
                event(data.strip_suffix('\n').unwrap_or(&data))?;
            }
        } else {
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            if field == "data" {
                self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
                self.data.push('\n');
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream that comes in pieces of so many bytes.
    fn read(stream: &[u8], piece: usize) -> Result<Vec<String>, TooLong> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in stream.chunks(piece) {
            events.feed(piece, &mut |data: &str| {
                found.push(data.to_owned());
                Ok::<(), TooLong>(())
            })?;
        }
        Ok(found)
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        for (stream, expected) in [
            ("data: a\n\ndata: b\n\n", &["a", "b"][..]),
            ("data: a\r\n\r\ndata:b\r\rdata: c\n\r\n", &["a", "b", "c"]),
            ("data: a\ndata:  b\ndata\n\n", &["a\n b\n"]),
            ("\u{feff}data: ä€😀\n\n", &["ä€😀"]),
            (": alive\n\n\n\nevent: ping\nid: 3\n\ndata: a\n\n", &["a"]),
            ("data: never ended\n", &[]),
            ("data: a\n\n{\"data\": 1}\nretry\n\n", &["a"]),
        ] {
            for piece in 1..=stream.len() {
                assert_eq!(read(stream.as_bytes(), piece).unwrap(), expected, "{stream:?} by {piece}");
            }
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let line = [b"data: ".as_slice(), &vec![b'x'; LONGEST + 1]].concat();
        assert_eq!(read(&line, 1024), Err(TooLong));
        let lines = format!("data: {}\n", "x".repeat(1000)).repeat(LONGEST / 1000 + 1);
        assert_eq!(read(lines.as_bytes(), 1 << 16), Err(TooLong));
        assert_eq!(read(&vec![b'\n'; LONGEST + 1], 1 << 16), Err(TooLong));
        assert_eq!(read(": alive\n".repeat(LONGEST / 9 + 100_000).as_bytes(), 1 << 16), Err(TooLong));
        let events = format!("data: {}\n\n", "x".repeat(1000)).repeat(LONGEST / 500);
        assert_eq!(read(events.as_bytes(), 1 << 16).unwrap().len(), LONGEST / 500);
    }
}
