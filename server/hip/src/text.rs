//! A text under edit, and what edits do to places in it.

use std::ops::Range;

use ropey::Rope;

use crate::position::{Position, PositionEncoding, offset, position};

/// One change, as the Language Server Protocol sends it: `range` is replaced by `text`; without a range all is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is replaced, in positions of the text as earlier changes left it.
    pub range: Option<Range<Position>>,
    /// What stands there afterwards.
    pub text: String,
}

/// What a change did, in bytes: `start..old_end` became `start..new_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// First byte that changed.
    pub start: usize,
    /// End of what was there before.
    pub old_end: usize,
    /// End of what is there now.
    pub new_end: usize,
}

impl Splice {
    /// Where the place before byte `at` went; `None` when what stood on both sides of it was replaced.
    ///
    /// What is typed just at a place comes to stand behind it.
    pub fn carry(&self, at: usize) -> Option<usize> {
        match at {
            at if at <= self.start => Some(at),
            at if at >= self.old_end => Some(at - self.old_end + self.new_end),
            _ => None,
        }
    }

    /// As [`Splice::carry`] for a place within what was replaced, too: it goes to the start of the change.
    pub fn clamp(&self, at: usize) -> usize {
        self.carry(at).unwrap_or(self.start)
    }
}

/// A text under edit. A clone costs nothing: it shares the text and keeps it as it is.
///
/// Positions past a line's end are clamped to it, lines past the end to the end; no change makes it panic.
#[derive(Clone, Debug, Default)]
pub struct Text(Rope);

impl Text {
    /// A text.
    pub fn new(text: &str) -> Self {
        Self(Rope::from_str(text))
    }

    /// The text as a rope.
    pub fn rope(&self) -> &Rope {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// There is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Byte of a position; clamped into the text.
    pub fn offset(&self, position: Position, encoding: PositionEncoding) -> usize {
        offset(&self.0, position, encoding)
    }

    /// Position of a byte; clamped into the text.
    pub fn position(&self, at: usize, encoding: PositionEncoding) -> Position {
        position(&self.0, at, encoding)
    }

    /// Carries out a change and tells what it did. Of a text that is replaced as a whole only the part counts as changed
    /// that is not the same at the beginning and at the end.
    pub fn change(&mut self, change: &Change, encoding: PositionEncoding) -> Splice {
        match &change.range {
            Some(range) => {
                let start = self.offset(range.start, encoding);
                let end = self.offset(range.end, encoding).max(start);
                self.replace(start..end, &change.text)
            }
            None => self.become_text(&change.text),
        }
    }

    /// Replaces bytes, both ends between characters.
    fn replace(&mut self, range: Range<usize>, text: &str) -> Splice {
        let chars = self.0.byte_to_char(range.start)..self.0.byte_to_char(range.end);
        self.0.remove(chars.clone());
        self.0.insert(chars.start, text);
        Splice { start: range.start, old_end: range.end, new_end: range.start + text.len() }
    }

    fn become_text(&mut self, text: &str) -> Splice {
        let splice = difference(&self.0.to_string(), text).unwrap_or(Splice { start: 0, old_end: 0, new_end: 0 });
        self.0 = Rope::from_str(text);
        splice
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.chunks().try_for_each(|chunk| out.write_str(chunk))
    }
}

/// The one splice that makes `new` of `old`, as short as can be; `None` if they are equal.
pub(crate) fn difference(old: &str, new: &str) -> Option<Splice> {
    if old == new {
        return None;
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let mut start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let mut same = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    while !old.is_char_boundary(a.len() - same) || !new.is_char_boundary(b.len() - same) {
        same -= 1;
    }
    Some(Splice { start, old_end: a.len() - same, new_end: b.len() - same })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position::new(line, column)
    }

    #[test]
    fn places_move_with_what_stands_at_them() {
        let mut text = Text::new("one\ntwo\nthree\n");
        let change = Change { range: Some(at(1, 0)..at(1, 0)), text: "1.5\n".into() };
        let splice = text.change(&change, PositionEncoding::Utf16);
        assert_eq!(text.to_string(), "one\n1.5\ntwo\nthree\n");
        assert_eq!(splice.carry(2), Some(2));
        assert_eq!(splice.carry(5), Some(9), "`two` went a line down");
        let gone =
            text.change(&Change { range: Some(at(1, 1)..at(2, 1)), text: String::new() }, PositionEncoding::Utf8);
        assert_eq!(gone.carry(6), None);
        assert_eq!(gone.clamp(6), 5);
    }

    #[test]
    fn of_a_text_that_is_sent_whole_only_the_difference_counts() {
        let mut text = Text::new("größe 大 end");
        let splice = text.change(&Change { range: None, text: "größe 小小 end".into() }, PositionEncoding::Utf16);
        assert_eq!(splice, Splice { start: 8, old_end: 11, new_end: 14 });
        assert_eq!(splice.carry(12), Some(15));
        let nothing = text.change(&Change { range: None, text: "größe 小小 end".into() }, PositionEncoding::Utf16);
        assert_eq!(nothing.carry(9), Some(9));
    }
}
