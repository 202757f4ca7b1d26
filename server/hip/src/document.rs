//! A text under edit.

use std::sync::Arc;
use std::time::Duration;

use ropey::Rope;
use tree_sitter::{InputEdit, Point, Tree};

use crate::code::Code;
use crate::kernels::Kernel;
use crate::language::Language;
use crate::position::{Position, PositionEncoding};
use crate::shadow::shadow;
use crate::syntax::{FULL_PARSE_BUDGET, Syntax, parse_tree};
use crate::text::{Change, Text, difference};

/// How long the re-parse after a change may take. Where an edit breaks the text so that it needs more, the old tree stays,
/// moved along with the edit ([`Syntax::tree_is_current`] is `false`), until a later change or [`Document::reparse`].
pub const CHANGE_BUDGET: Duration = Duration::from_millis(6);

/// A text under edit: rope, version, last parse.
///
/// Positions past a line's end are clamped to it, lines past the end to the end; no change makes it panic.
#[derive(Debug)]
pub struct Document {
    text: Text,
    version: i32,
    syntax: Arc<Syntax>,
    /// Kernels of the last text whose brackets matched, carried along with the edits since.
    last_good: Vec<Kernel>,
}

impl Document {
    /// Opens `text` as `version`.
    pub fn new(text: &str, version: i32) -> Self {
        let syntax = Arc::new(Syntax::parse(text));
        Self { text: Text::new(text), version, syntax, last_good: Vec::new() }
    }

    /// Version of the text, as the client counts.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The text as a rope.
    pub fn rope(&self) -> &Rope {
        self.text.rope()
    }

    /// The grammar in use.
    pub fn language(&self) -> Language {
        self.syntax.language()
    }

    /// The snapshot of the current text.
    pub fn syntax(&self) -> &Arc<Syntax> {
        &self.syntax
    }

    /// The snapshot of the current text, to keep.
    pub fn snapshot(&self) -> Arc<Syntax> {
        self.syntax.clone()
    }

    /// Byte of a position; clamped into the text.
    pub fn offset(&self, position: Position, encoding: PositionEncoding) -> usize {
        self.text.offset(position, encoding)
    }

    /// Position of a byte; clamped into the text.
    pub fn position(&self, at: usize, encoding: PositionEncoding) -> Position {
        self.text.position(at, encoding)
    }

    /// Applies `changes` in order, each to the text that the one before left, and parses the result incrementally.
    pub fn apply(&mut self, changes: &[Change], encoding: PositionEncoding, version: i32) {
        self.version = version;
        self.remember_good();
        for change in changes {
            self.change(change, encoding);
        }
        self.refresh();
    }

    /// Parses the text from scratch: an incremental tree is not always that of a fresh parse. To be called when the user
    /// pauses, before anything is anchored to the tree.
    pub fn reparse(&mut self) {
        self.syntax = Arc::new(Syntax::parse_within(self.syntax.text().clone(), FULL_PARSE_BUDGET));
    }

    /// The kernels to show: those of the current text and, while its brackets do not match, those of the last text that was
    /// whole and are missing or cut short now, carried along with the edits since.
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = self.syntax.kernels().to_vec();
        if self.syntax.is_balanced() {
            return kernels;
        }
        for kept in &self.last_good {
            match kernels.iter_mut().find(|kernel| kernel.qualified_name == kept.qualified_name) {
                Some(present) if present.complete => {}
                Some(present) => *present = kept.clone(),
                None => kernels.push(kept.clone()),
            }
        }
        for kernel in &mut kernels {
            kernel.line = self.syntax.line_of(kernel.name_range.start);
            kernel.end_line = self.syntax.line_of(kernel.range.end.saturating_sub(1));
        }
        kernels.sort_by_key(|kernel| kernel.range.start);
        kernels
    }

    fn remember_good(&mut self) {
        if self.syntax.is_balanced()
            && let Some(kernels) = self.syntax.kernels_if_read()
        {
            self.last_good = kernels.to_vec();
        }
    }

    fn change(&mut self, change: &Change, encoding: PositionEncoding) {
        let splice = self.text.change(change, encoding);
        if change.range.is_none() {
            self.last_good.clear();
            return;
        }
        let carry = |at: usize| splice.clamp(at);
        self.last_good.iter_mut().for_each(|kernel| kernel.map_positions(&carry));
        self.last_good.retain(|kernel| !kernel.name_range.is_empty());
    }

    /// Reads the rope anew: tokens and shadow in full, the tree from the old one.
    fn refresh(&mut self) {
        let code = Code::new(self.text.to_string().into());
        let shadow: Arc<str> = shadow(&code).into();
        let language = Language::of(&code);
        let old = (language == self.syntax.language()).then(|| self.moved_tree(&shadow));
        let parsed = parse_tree(language, &shadow, old.as_ref(), CHANGE_BUDGET);
        let is_current = parsed.is_some();
        self.syntax = Arc::new(Syntax::from_parts(code, shadow.into(), language, parsed.or(old), is_current));
    }

    /// The present tree, told of the change from the present shadow to `shadow`.
    fn moved_tree(&self, shadow: &str) -> Tree {
        let mut tree = self.syntax.tree().clone();
        if let Some(edit) = input_edit(self.syntax.shadow(), shadow) {
            tree.edit(&edit);
        }
        tree
    }
}

/// The one edit that makes `new` of `old`; `None` if they are equal.
fn input_edit(old: &str, new: &str) -> Option<InputEdit> {
    let splice = difference(old, new)?;
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let start_position = advance(Point::new(0, 0), &a[..splice.start]);
    Some(InputEdit {
        start_byte: splice.start,
        old_end_byte: splice.old_end,
        new_end_byte: splice.new_end,
        start_position,
        old_end_position: advance(start_position, &a[splice.start..splice.old_end]),
        new_end_position: advance(start_position, &b[splice.start..splice.new_end]),
    })
}

/// tree-sitter's point `bytes` after `from`: rows end in `\n` alone, columns are bytes.
fn advance(from: Point, bytes: &[u8]) -> Point {
    let rows = bytes.iter().filter(|&&byte| byte == b'\n').count();
    match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(last) => Point::new(from.row + rows, bytes.len() - last - 1),
        None => Point::new(from.row, from.column + bytes.len()),
    }
}
