//! Where lines start, and positions as editors count them.

use std::ops::Range;

/// Starts of the lines of a text. A line ends in `\n`, `\r\n` or a lone `\r`, as the Language Server Protocol has it.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// The lines of `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let ends = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends {
                starts.push(at as u32 + 1);
            }
        }
        Self { starts }
    }

    /// Number of lines, at least 1.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Never true: an empty text has one line.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Line of the byte at `offset`, from 1.
    pub fn line_of(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start as usize <= offset) as u32
    }

    /// First byte of `line` (from 1); `None` past the last line.
    pub fn start_of(&self, line: u32) -> Option<usize> {
        let index = (line as usize).checked_sub(1)?;
        self.starts.get(index).map(|&start| start as usize)
    }

    /// Bytes of `line` (from 1) without its line break; `None` past the last line.
    pub fn range_of(&self, line: u32, text: &str) -> Option<Range<usize>> {
        let start = self.start_of(line)?;
        let end = self.start_of(line + 1).unwrap_or(text.len());
        Some(start..start + text[start..end].trim_end_matches(['\n', '\r']).len())
    }
}
