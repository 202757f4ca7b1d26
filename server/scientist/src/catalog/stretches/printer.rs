//! Prints a kernel with several items a thread.

use std::collections::HashSet;
use std::ops::Range;

use hip_syntax::Edit;
use tree_sitter::Node;

use super::{BARRIER, Stretches};
use crate::catalog::code::{around, children, declarators, everything, inside, of_kind};
use crate::catalog::edit::{replace, within};
use crate::catalog::place::{Refusal, ruled_out};

/// Writes the body anew, statement by statement.
pub(super) struct Printer<'s, 'c> {
    of: &'s Stretches<'c>,
    factor: i64,
    text: String,
}

impl<'s, 'c> Printer<'s, 'c> {
    pub(super) fn new(of: &'s Stretches<'c>, factor: i64) -> Self {
        Self { of, factor, text: String::new() }
    }

    /// The whole body.
    ///
    /// # Errors
    /// As [`Stretches::coarsened`].
    pub(super) fn body(mut self) -> Result<String, Refusal> {
        let outer = self.of.code.indent(self.of.kernel.node.start_byte()).to_owned();
        self.text.push_str("{\n");
        self.level(self.of.kernel.body, &format!("{outer}    "))?;
        self.text.push_str(&outer);
        self.text.push('}');
        Ok(self.text)
    }

    /// Prints the statements of a block that all threads pass.
    fn level(&mut self, block: Node<'c>, indent: &str) -> Result<(), Refusal> {
        let mut stretch: Vec<Piece<'c>> = Vec::new();
        let mut lead: Vec<Node<'c>> = Vec::new();
        for child in children(block).into_iter().filter(|child| child.is_named()) {
            match child.kind() {
                "comment" => lead.push(child),
                "preproc_call" if self.of.code.of(child).trim_start().starts_with("#pragma unroll") => lead.push(child),
                kind if kind.starts_with("preproc") => {
                    return ruled_out("the kernel's code depends on preprocessor lines");
                }
                _ => self.statement(child, std::mem::take(&mut lead), &mut stretch, indent)?,
            }
        }
        self.flush(&mut stretch, indent);
        self.leads(&lead, indent);
        Ok(())
    }

    fn statement(
        &mut self,
        node: Node<'c>,
        lead: Vec<Node<'c>>,
        stretch: &mut Vec<Piece<'c>>,
        indent: &str,
    ) -> Result<(), Refusal> {
        let once = self.of.is_shared(node) || ["alias_declaration", "static_assert_declaration"].contains(&node.kind());
        if once {
            self.leads(&lead, indent);
            self.line(indent, &self.rendered(node, false));
        } else if node.kind() == "declaration" {
            self.leads(&lead, indent);
            self.declaration(node, stretch, indent)?;
        } else if self.of.has_barrier(node) {
            self.flush(stretch, indent);
            self.leads(&lead, indent);
            self.around_barrier(node, indent)?;
        } else if self.is_done_once(node) {
            self.flush(stretch, indent);
            self.leads(&lead, indent);
            self.line(indent, &self.rendered(node, false));
        } else if leaves(node) {
            return ruled_out("it leaves a loop around a barrier from within");
        } else if let Some(name) = self.changed_in_common(node) {
            return ruled_out(format!("`{name}` is changed where its items would share it"));
        } else {
            stretch.push(Piece::Statement { node, lead });
        }
        Ok(())
    }

    /// A statement that changes a variable which all items share.
    fn is_done_once(&self, node: Node<'c>) -> bool {
        let writes = self.of.code.writes(node);
        let common = |name: &str| self.of.declared.contains(name) && !self.of.private.contains(name);
        node.kind() == "expression_statement"
            && writes.len() == 1
            && writes.iter().all(|write| write.place.kind() == "identifier" && common(write.name))
    }

    /// A variable that a statement changes although all items share it.
    fn changed_in_common(&self, node: Node<'c>) -> Option<&'c str> {
        let (of, code) = (self.of, self.of.code);
        let params = code.params(&of.kernel);
        let inner: HashSet<&str> = code.locals(node).iter().map(|local| local.name).collect();
        let is_common = |name: &str, as_whole: bool| {
            let param = params.iter().find(|param| param.name == name);
            let by_param = param.is_some_and(|param| as_whole || !param.is_pointer);
            by_param || (of.declared.contains(name) && !of.private.contains(name))
        };
        let writes = code.writes(node).into_iter().filter(|write| !inner.contains(write.name));
        let mut common = writes.filter(|write| is_common(write.name, write.place.kind() == "identifier"));
        common.next().map(|write| write.name)
    }

    fn around_barrier(&mut self, node: Node<'c>, indent: &str) -> Result<(), Refusal> {
        let body = match node.kind() {
            "expression_statement" if self.of.code.of(node).starts_with(BARRIER) => {
                self.line(indent, self.of.code.of(node));
                return Ok(());
            }
            "compound_statement" => node,
            "for_statement" | "while_statement" => node.child_by_field_name("body").ok_or(Refusal::NotHere)?,
            "if_statement" if node.child_by_field_name("alternative").is_none() => {
                node.child_by_field_name("consequence").ok_or(Refusal::NotHere)?
            }
            _ => return ruled_out("a barrier stands in a statement that cannot be divided at it"),
        };
        let headers = ["initializer", "condition", "update"].iter().filter_map(|part| node.child_by_field_name(part));
        if !headers.into_iter().all(|header| self.of.is_alike(header)) {
            return ruled_out("a barrier stands under a condition that may depend on the thread");
        }
        if body.kind() != "compound_statement" {
            return ruled_out("a barrier stands alone under a condition");
        }
        let header = self.rendered_range(node.start_byte()..body.start_byte(), false);
        let opening = if header.is_empty() { "{".to_owned() } else { format!("{} {{", header.trim_end()) };
        self.line(indent, &opening);
        self.level(body, &format!("{indent}    "))?;
        self.line(indent, "}");
        Ok(())
    }

    /// Declares what is private as arrays and leaves the rest as it is.
    fn declaration(&mut self, node: Node<'c>, stretch: &mut Vec<Piece<'c>>, indent: &str) -> Result<(), Refusal> {
        let (of, code) = (self.of, self.of.code);
        let locals = code.locals(node);
        if locals.iter().all(|local| !of.private.contains(local.name)) {
            self.line(indent, &self.rendered(node, false));
            return Ok(());
        }
        let first = declarators(node).first().map_or(node.end_byte(), Node::start_byte);
        let kind = code.text()[node.start_byte()..first].trim();
        if ["auto", "static", "constexpr"].iter().any(|word| kind.split_whitespace().any(|found| found == *word)) {
            return ruled_out(format!("`{}` cannot be declared as an array", code.of(node)));
        }
        for local in locals {
            if !of.private.contains(local.name) {
                self.line(indent, &format!("{kind} {};", self.rendered(local.declarator, false)));
                continue;
            }
            let element =
                if local.shape.kind() == "pointer_declarator" { kind } else { kind.trim_start_matches("const ") };
            let plain =
                !["reference_declarator", "type_qualifier"].iter().any(|kind| !of_kind(local.shape, kind).is_empty());
            if !plain {
                return ruled_out(format!("`{}` cannot be declared as an array", code.of(local.declarator)));
            }
            let items = Edit::insert(local.identifier.end_byte(), format!("[{}]", self.factor));
            let shape = within(code.text(), local.shape.byte_range(), &[items]);
            match local.value {
                None => self.line(indent, &format!("{element} {shape};")),
                Some(value) if is_zero(code.of(value)) && value.kind() == "initializer_list" => {
                    self.line(indent, &format!("{element} {shape} = {{}};"));
                }
                Some(value) if ["initializer_list", "argument_list"].contains(&value.kind()) => {
                    return ruled_out(format!(
                        "`{}` cannot be given its value item by item",
                        code.of(local.declarator)
                    ));
                }
                Some(value) => {
                    self.line(indent, &format!("{element} {shape};"));
                    stretch.push(Piece::Value { name: local.name, value });
                }
            }
        }
        Ok(())
    }

    /// Prints a stretch: loops that all items run alike with the items inside, the rest as one loop over items.
    fn flush(&mut self, stretch: &mut Vec<Piece<'c>>, indent: &str) {
        let mut together: Vec<Piece<'c>> = Vec::new();
        for piece in std::mem::take(stretch) {
            match piece {
                Piece::Statement { node, lead } if self.is_common_loop(node) => {
                    self.items(&std::mem::take(&mut together), indent);
                    self.leads(&lead, indent);
                    self.common_loop(node, indent);
                }
                piece => together.push(piece),
            }
        }
        self.items(&together, indent);
    }

    fn items(&mut self, pieces: &[Piece<'c>], indent: &str) {
        if pieces.is_empty() {
            return;
        }
        let item = self.of.item;
        self.line(indent, "#pragma unroll");
        self.line(indent, &format!("for (int {item} = 0; {item} < {}; ++{item}) {{", self.factor));
        let inner = format!("{indent}    ");
        for piece in pieces {
            match piece {
                Piece::Value { name, value } => {
                    self.line(&inner, &format!("{name}[{item}] = {};", self.rendered(*value, true)));
                }
                Piece::Statement { node, lead } => {
                    self.leads(lead, &inner);
                    self.moved(*node, &inner);
                }
            }
        }
        self.line(indent, "}");
    }

    /// Whether a `for` loop runs the same rounds for all items, so that the items can take each round in turn.
    fn is_common_loop(&self, node: Node<'c>) -> bool {
        let headers = ["initializer", "condition", "update"].iter().map(|part| node.child_by_field_name(part));
        let Some(headers) = headers.collect::<Option<Vec<_>>>().filter(|_| node.kind() == "for_statement") else {
            return false;
        };
        let Some(body) = node.child_by_field_name("body") else { return false };
        let counters: Vec<&str> = self.of.code.locals(headers[0]).iter().map(|local| local.name).collect();
        let in_header = |name: &str| counters.contains(&name);
        headers.iter().all(|header| self.of.is_alike(*header))
            && !counters.is_empty()
            && self.of.code.writes(headers[2]).iter().all(|write| in_header(write.name))
            && !self.of.code.writes(body).iter().any(|write| in_header(write.name))
            && !leaves(body)
    }

    fn common_loop(&mut self, node: Node<'c>, indent: &str) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let header = self.rendered_range(node.start_byte()..body.start_byte(), false);
        self.line(indent, &format!("{} {{", header.trim_end()));
        let inner = format!("{indent}    ");
        let statements: Vec<Node<'c>> = if body.kind() == "compound_statement" {
            children(body).into_iter().filter(|child| child.is_named()).collect()
        } else {
            vec![body]
        };
        match statements.as_slice() {
            [only] if self.is_common_loop(*only) => self.common_loop(*only, &inner),
            _ => {
                let pieces: Vec<_> =
                    statements.into_iter().map(|node| Piece::Statement { node, lead: Vec::new() }).collect();
                self.items(&pieces, &inner);
            }
        }
        self.line(indent, "}");
    }

    fn leads(&mut self, lead: &[Node<'c>], indent: &str) {
        for node in lead {
            self.line(indent, self.of.code.of(*node).trim_end());
        }
    }

    fn line(&mut self, indent: &str, text: &str) {
        self.text.push_str(indent);
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Prints a statement of the items' loop, its further lines moved as its first one is.
    fn moved(&mut self, node: Node<'c>, indent: &str) {
        let was = self.of.code.indent(node.start_byte());
        let text = self.rendered(node, true);
        let mut lines = text.lines();
        self.line(indent, lines.next().unwrap_or_default().trim_end());
        for line in lines {
            match line.strip_prefix(was) {
                Some(rest) if !line.trim().is_empty() => self.line(indent, rest),
                _ => self.line("", line),
            }
        }
    }

    fn rendered(&self, node: Node<'c>, in_items: bool) -> String {
        self.rendered_range(node.byte_range(), in_items)
    }

    /// The text of a range with the block's old extent, and inside the items' loop with the item's number and variables.
    fn rendered_range(&self, range: Range<usize>, in_items: bool) -> String {
        let (of, code, axis) = (self.of, self.of.code, self.of.axis.name());
        let item = of.item;
        let (thread, extent) = (format!("threadIdx.{axis}"), format!("blockDim.{axis}"));
        let mut edits = Vec::new();
        for node in everything(of.kernel.body) {
            let text = code.of(node);
            match node.kind() {
                "field_expression" if text == extent => {
                    edits.push(replace(node, format!("({extent} * {})", self.factor)));
                }
                "field_expression" if text == thread && in_items => {
                    edits.push(replace(node, format!("({thread} + {item} * {extent})")));
                }
                "identifier" if in_items && of.private.contains(text) => {
                    edits.push(Edit::insert(node.end_byte(), format!("[{item}]")));
                }
                _ => {}
            }
        }
        within(code.text(), range, &edits)
    }
}

/// A part of a stretch.
enum Piece<'c> {
    Statement {
        node: Node<'c>,
        lead: Vec<Node<'c>>,
    },
    /// The initial value of a private variable.
    Value {
        name: &'c str,
        value: Node<'c>,
    },
}

fn is_zero(text: &str) -> bool {
    text.chars().all(|c| "{}0.f ,".contains(c))
}

/// Whether a statement breaks out of something around it.
fn leaves(node: Node<'_>) -> bool {
    let loops = ["for_statement", "while_statement", "do_statement", "switch_statement"];
    ["break_statement", "continue_statement"].iter().flat_map(|kind| of_kind(node, kind)).any(|way_out| {
        let out_of = around(way_out, &loops);
        out_of.is_none_or(|target| !inside(target, node))
    })
}
