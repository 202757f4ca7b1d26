//! Names that hide others. A split declares variables again in later regions, where what they are made of must mean the same.

use std::ops::Range;

use tree_sitter::Node;

use super::locals::{Local, Locals, scope_end};
use crate::code::Code;

/// The byte of a name, declared between the barriers of `body`, that means something else in another part of it.
/// `is_split`: the variable is declared between the barriers themselves. `types`: nodes that declare types.
pub(super) fn find(
    code: &Code,
    locals: &Locals,
    body: &Range<usize>,
    is_split: &dyn Fn(&Local) -> bool,
    types: &[Node],
) -> Option<usize> {
    let means_another = |local: &Local| {
        let hides = |other: usize| locals.all[other].name == local.name && locals.all[other].known.contains(&local.at);
        let outside = |byte: usize| !local.known.contains(&byte);
        // Macros may name it too.
        locals.mentions.iter().any(|mention| outside(mention.at) && hides(mention.local))
            || names(code, body, &local.name)
                .any(|byte| outside(byte) && locals.resolve(&local.name, byte).is_none_or(hides))
    };
    let variable = locals.all.iter().find(|local| !local.is_param && is_split(local) && means_another(local));
    variable.map(|local| local.at).or_else(|| types.iter().find_map(|node| hidden_type(code, body, *node)))
}

/// A type, or an enumerator, of `node` whose name is used where that one is not known.
fn hidden_type(code: &Code, body: &Range<usize>, node: Node) -> Option<usize> {
    let known = node.start_byte()..scope_end(node);
    let declares = |at: usize| {
        matches!(code.word_before(at), "using" | "struct" | "class" | "union" | "enum")
            || code.word(at + 1) == ";" && node.kind() == "type_definition"
            || node.kind() == "enum_specifier"
    };
    let declared = code.tokens_in(&node.byte_range()).filter(|&at| code.is_identifier(at) && declares(at));
    let used = |name: &str| names(code, body, name).any(|byte| !known.contains(&byte));
    declared.filter(|&at| used(code.word(at))).map(|at| code.bytes(&(at..at + 1)).start).next()
}

/// The bytes at which `name` stands by itself.
fn names<'a>(code: &'a Code, body: &'a Range<usize>, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let tokens = code.tokens_in(body).filter(move |&at| code.is_identifier(at) && code.word(at) == name);
    tokens.filter(|&at| !matches!(code.word_before(at), "." | "->" | "::")).map(|at| code.bytes(&(at..at + 1)).start)
}
