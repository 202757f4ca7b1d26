//! Whether a pointer is read, written, or both.

use hip_syntax::{Function, Kernel, Param, Syntax};

use super::super::Kind;
use super::words::{closing, is_identifier, words};

/// What a body does with a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    reads: bool,
    writes: bool,
}

impl Use {
    const UNKNOWN: Self = Self { reads: true, writes: true };

    fn kind(self, constant: bool) -> Kind {
        match self {
            _ if constant => Kind::Input,
            Self { reads: false, writes: true } => Kind::Output,
            Self { reads: true, writes: false } => Kind::Input,
            // Never used: something outside of what is read here may write to it.
            Self { reads: false, writes: false } | Self { reads: true, writes: true } => Kind::Inout,
        }
    }
}

/// The kind of a kernel's parameter.
pub(super) fn of_a_kernel(syntax: &Syntax, kernel: &Kernel, param: &Param) -> Kind {
    in_kernel(syntax, kernel, &param.name).kind(param.is_const)
}

/// The kind of a launcher's parameter: what the kernels that it launches do with it, in order. A kernel that writes
/// first makes the later ones' reads its own business.
pub(super) fn of_a_launcher(syntax: &Syntax, function: &Function, param: &Param) -> Kind {
    let text = syntax.text();
    let mut total = Use::default();
    if is_cleared(text.get(function.body.clone()).unwrap_or_default(), &param.name) {
        total.writes = true;
    }
    for launch in super::launches_in(syntax, function) {
        for (index, argument) in launch.args.iter().enumerate() {
            let argument = words(text.get(argument.clone()).unwrap_or_default());
            if !argument.contains(&param.name.as_str()) {
                continue;
            }
            let kernel = syntax.kernel(&launch.kernel);
            let used = match kernel.and_then(|kernel| Some((kernel, kernel.params.get(index)?))) {
                Some((_, theirs)) if theirs.is_pointer && theirs.is_const => Use { reads: true, writes: false },
                Some((kernel, theirs)) => in_kernel(syntax, kernel, &theirs.name),
                None => Use::UNKNOWN,
            };
            total.reads |= used.reads && !total.writes;
            total.writes |= used.writes;
        }
    }
    total.kind(param.is_const)
}

/// Whether the host sets the memory before any kernel: `hipMemset(name, ...)`.
fn is_cleared(body: &str, name: &str) -> bool {
    let words = words(body);
    words.windows(3).any(|three| three[0].starts_with("hipMemset") && three[1] == "(" && three[2] == name)
}

/// What a kernel does with `name` and with the pointers that it makes from it.
fn in_kernel(syntax: &Syntax, kernel: &Kernel, name: &str) -> Use {
    let body = words(syntax.text().get(kernel.body.clone()).unwrap_or_default());
    let mut names = vec![name.to_owned()];
    let mut total = Use::default();
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        for at in (0..body.len()).filter(|at| body[*at] == name) {
            match alias(&body, at) {
                Some(alias) if !names.iter().any(|known| known == alias) => names.push(alias.to_owned()),
                Some(_) => (),
                None => {
                    let used = at_place(&body, at);
                    total.reads |= used.reads;
                    total.writes |= used.writes;
                }
            }
        }
        next += 1;
    }
    total
}

/// The pointer that is made from the word at `at`: `alias` in `const T* alias = name + offset;`.
fn alias<'a>(words: &[&'a str], at: usize) -> Option<&'a str> {
    let start = words[..at].iter().rposition(|word| matches!(*word, ";" | "{" | "}"))? + 1;
    let equals = start + words[start..at].iter().position(|word| *word == "=")?;
    let is_pointer = words[start..equals].contains(&"*") || words[start..equals].contains(&"auto");
    // `T x = name[i]` is a read; `T* p = name + i` and `T* p = &name[i]` are pointers.
    let subscripted = words.get(at + 1) == Some(&"[") && words.get(at.wrapping_sub(1)) != Some(&"&");
    let alias = words.get(equals.checked_sub(1)?)?;
    (is_pointer && !subscripted && equals > start + 1 && is_identifier(alias)).then_some(*alias)
}

/// What the use of a pointer at `at` is.
fn at_place(words: &[&str], at: usize) -> Use {
    let before = at.checked_sub(1).map_or("", |before| words[before]);
    let after = words.get(at + 1).copied().unwrap_or_default();
    if matches!(before, "." | "->" | "::") {
        return Use::default();
    }
    // The pointer itself is set: `const T* row = ...`, `auto row = ...`.
    let two_before = at.checked_sub(2).map_or("", |before| words[before]);
    if after == "=" && (before != "*" || is_identifier(two_before)) {
        return Use::default();
    }
    if after == "[" {
        let end = closing(words, at + 1);
        // `&x[i]` goes to a function, an atomic mostly: it reads and writes.
        if before == "&" && words.get(at.wrapping_sub(2)).is_none_or(|word| matches!(*word, "(" | "," | "=")) {
            return Use::UNKNOWN;
        }
        return assigned(words, end + 1, before);
    }
    if before == "*" && words.get(at.wrapping_sub(2)).is_none_or(|word| matches!(*word, ";" | "{" | "}" | ")")) {
        return assigned(words, at + 1, "");
    }
    if before == "*" {
        return Use { reads: true, writes: false };
    }
    // Handed to a function, compared, stored: anything may happen to it.
    Use::UNKNOWN
}

/// A place that ends before `end`: written, read, or both, by the operator behind it.
fn assigned(words: &[&str], end: usize, before: &str) -> Use {
    // Members of vector types: `x[i].y = ...`.
    let mut end = end;
    while words.get(end) == Some(&".") {
        end += 2;
    }
    match words.get(end).copied().unwrap_or_default() {
        "=" => Use { reads: false, writes: true },
        "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "^=" | "%=" | "++" | "--" => Use::UNKNOWN,
        _ if matches!(before, "++" | "--") => Use::UNKNOWN,
        _ => Use { reads: true, writes: false },
    }
}
