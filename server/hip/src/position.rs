//! Positions as editors count them.

use ropey::Rope;

/// A place between two characters: line and column from 0, the column in units of a [`PositionEncoding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 0. Lines end in `\n`, `\r\n` or a lone `\r`.
    pub line: u32,
    /// Column, from 0.
    pub column: u32,
}

impl Position {
    /// A position.
    pub fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }
}

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// 16-bit units.
    Utf16,
    /// Characters (code points).
    Utf32,
}

impl PositionEncoding {
    /// Units of one character.
    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Byte of `position`. A column past the line's end is the line's end (before its line break), a line past the last is the
/// text's end, a column within a character is the character's start.
pub(crate) fn offset(rope: &Rope, position: Position, encoding: PositionEncoding) -> usize {
    let line = position.line as usize;
    if line >= rope.len_lines() {
        return rope.len_bytes();
    }
    let mut byte = rope.line_to_byte(line);
    let mut column = 0;
    for character in rope.line(line).chars() {
        column += encoding.width(character);
        if matches!(character, '\n' | '\r') || column > position.column as usize {
            break;
        }
        byte += character.len_utf8();
    }
    byte
}

/// Position of the byte `at`, clamped to the text; within a character, the character's start.
pub(crate) fn position(rope: &Rope, at: usize, encoding: PositionEncoding) -> Position {
    let at = at.min(rope.len_bytes());
    let line = rope.byte_to_line(at);
    let start = rope.line_to_byte(line);
    let mut byte = start;
    let mut column = 0;
    for character in rope.line(line).chars() {
        byte += character.len_utf8();
        // Within a line break is where the line ends.
        if byte > at || matches!(character, '\n' | '\r') {
            break;
        }
        column += encoding.width(character);
    }
    Position::new(line as u32, column as u32)
}
