//! Launches of kernels: `<<<...>>>`, `hipLaunchKernelGGL`, `hipLaunchKernel` and their kin, also in macros and lambdas.

use std::ops::Range;

use crate::code::Code;
use crate::lexer::{Directive, DirectiveKind, TokenKind};
use crate::lines::Lines;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchKind {
    /// `kernel<<<grid, block, shared, stream>>>(args)`
    Chevron,
    /// `hipLaunchKernelGGL(kernel, grid, block, shared, stream, args...)`
    Ggl,
    /// `hipLaunchKernel(pointer, grid, block, argument_pointers, shared, stream)` and the cooperative form.
    Pointer,
}

/// One launch. Ranges are bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// How it is written.
    pub kind: LaunchKind,
    /// Last component of the kernel's name; may name a parameter or a variable that holds the kernel.
    pub kernel: String,
    /// The kernel's expression with qualifiers and template arguments.
    pub kernel_range: Range<usize>,
    /// Each template argument.
    pub template_args: Vec<Range<usize>>,
    /// The grid.
    pub grid: Option<Range<usize>>,
    /// The block.
    pub block: Option<Range<usize>>,
    /// Dynamic shared memory.
    pub shared: Option<Range<usize>>,
    /// The stream.
    pub stream: Option<Range<usize>>,
    /// The arguments; for [`LaunchKind::Pointer`] the one array of pointers.
    pub args: Vec<Range<usize>>,
    /// From the kernel or the API's name to the closing parenthesis.
    pub range: Range<usize>,
    /// It stands in the body of a macro.
    pub in_macro: bool,
    /// Line it starts on, from 1.
    pub line: u32,
    /// Where its punctuation stands, for rewriting.
    pub(crate) marks: Marks,
}

/// The punctuation of a launch, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// `<<<`, or the API's name.
    pub open: Range<usize>,
    /// `>>>`, or the comma after the stream.
    pub close: Range<usize>,
    /// The comma after the kernel, for the API forms.
    pub comma: Range<usize>,
}

/// All launches of `code`, in order.
pub(crate) fn launches(code: &Code, lines: &Lines) -> Vec<Launch> {
    let mut found = launches_among(code, lines, false);
    let defines = code.lexed.directives.iter().filter(|d| d.kind == DirectiveKind::Define && may_launch(code, d));
    for define in defines {
        found.extend(launches_among(&code.of_directive(define), lines, true));
    }
    found.sort_by_key(|launch| launch.range.start);
    found
}

fn may_launch(code: &Code, directive: &Directive) -> bool {
    let text = &code.text[directive.range.clone()];
    text.contains("<<<") || text.contains("LaunchKernel") || text.contains("LaunchCooperativeKernel")
}

fn launches_among(code: &Code, lines: &Lines, in_macro: bool) -> Vec<Launch> {
    let mut found = Vec::new();
    for at in 0..code.len() {
        let launch = match code.word(at) {
            "<" if is_tripled(code, at, "<") && code.word_before(at) != "<" => chevron(code, at),
            "hipLaunchKernelGGL" | "hipLaunchKernelGGLInternal" => ggl(code, at),
            "hipLaunchKernel" | "hipLaunchCooperativeKernel" | "hipExtLaunchKernel" | "cudaLaunchKernel" => {
                pointer(code, at)
            }
            _ => None,
        };
        if let Some(mut launch) = launch {
            launch.in_macro = in_macro;
            launch.line = lines.line_of(launch.range.start);
            found.push(launch);
        }
    }
    found
}

/// Three brackets in a row without a gap.
fn is_tripled(code: &Code, at: usize, bracket: &str) -> bool {
    let adjoins = |at: usize| match (code.token(at), code.token(at + 1)) {
        (Some(first), Some(second)) => first.end == second.start,
        _ => false,
    };
    (0..3).all(|ahead| code.word(at + ahead) == bracket) && adjoins(at) && adjoins(at + 1)
}

fn chevron(code: &Code, open: usize) -> Option<Launch> {
    let start = kernel_start(code, open)?;
    let close = closing_chevron(code, open + 3)?;
    let args_close = code.close(close + 3)?;
    let config = code.split_commas(open + 3..close);
    let part = |index: usize| config.get(index).filter(|part| !part.is_empty()).map(|part| code.bytes(part));
    Some(Launch {
        kind: LaunchKind::Chevron,
        grid: part(0),
        block: part(1),
        shared: part(2),
        stream: part(3),
        args: code.split_commas(close + 4..args_close).iter().map(|arg| code.bytes(arg)).collect(),
        range: code.bytes(&(start..args_close + 1)),
        marks: Marks {
            open: code.bytes(&(open..open + 3)),
            close: code.bytes(&(close..close + 3)),
            comma: Range::default(),
        },
        ..of_kernel(code, start..open)
    })
}

/// A launch of the kernel that `tokens` spell, the rest still empty.
fn of_kernel(code: &Code, tokens: Range<usize>) -> Launch {
    let (kernel, template_args) = kernel_name(code, tokens.clone());
    Launch {
        kind: LaunchKind::Chevron,
        kernel,
        kernel_range: code.bytes(&tokens),
        template_args,
        grid: None,
        block: None,
        shared: None,
        stream: None,
        args: Vec::new(),
        range: Range::default(),
        in_macro: false,
        line: 0,
        marks: Marks::default(),
    }
}

/// Tokens that a launch configuration may have.
const MAX_CONFIGURATION: usize = 5000;

/// The `>>>` before the arguments.
fn closing_chevron(code: &Code, start: usize) -> Option<usize> {
    let mut at = start;
    while at < code.len() && at < start + MAX_CONFIGURATION {
        match code.word(at) {
            ">" if is_tripled(code, at, ">") && code.word(at + 3) == "(" => return Some(at),
            ";" | "}" | ")" => return None,
            _ => at = code.skip(at),
        }
    }
    None
}

/// First token of the kernel's expression that ends before `open`.
fn kernel_start(code: &Code, open: usize) -> Option<usize> {
    let mut start = open.checked_sub(1)?;
    match code.word(start) {
        ">" => start = code.open_angle(start)?.checked_sub(1)?,
        ")" => {
            // `(kernel<T>)<<<...>>>`, `HIP_KERNEL_NAME(kernel)<<<...>>>`, `NAME(kernel)<<<...>>>`
            start = code.open(start)?;
            let is_call =
                start > 0 && code.is_identifier(start - 1) && !matches!(code.word(start - 1), "return" | "else");
            return Some(if is_call { start - 1 } else { start });
        }
        "]" => start = code.open(start)?.checked_sub(1)?,
        _ => {}
    }
    if !code.is_identifier(start) {
        return None;
    }
    loop {
        let joined = matches!(code.word_before(start), "::" | "." | "->" | "##");
        if !joined {
            return Some(start);
        }
        if code.word_before(start) == "::" && code.word_before(start - 1) == ">" {
            match code.open_angle(start - 2) {
                Some(angle) if angle > 0 => start = angle - 1,
                _ => return Some(start - 1),
            }
        } else if start >= 2 && code.is_identifier(start - 2) && !matches!(code.word(start - 2), "return" | "else") {
            start -= 2;
        } else {
            return Some(start - 1);
        }
    }
}

/// Last component of the name and the template arguments of a kernel's expression.
fn kernel_name(code: &Code, tokens: Range<usize>) -> (String, Vec<Range<usize>>) {
    let mut inner = tokens.clone();
    // Parentheses, HIP_KERNEL_NAME(...) and casts are peeled off.
    loop {
        let last = inner.end.saturating_sub(1);
        let opener = (inner.len() >= 2 && code.word(last) == ")").then(|| code.open(last)).flatten();
        match opener.filter(|&open| open >= inner.start) {
            Some(open) if open + 1 < last => inner = open + 1..last,
            _ => break,
        }
    }
    while matches!(code.word(inner.start), "&" | "(") && inner.len() > 1 {
        inner.start += 1;
    }
    let angle = inner.clone().find(|&at| {
        code.word(at) == "<" && at > inner.start && code.close_angle(at).is_some_and(|close| close + 1 == inner.end)
    });
    let name_end = angle.unwrap_or(inner.end);
    let name = inner.start.min(name_end)..name_end;
    let name = name.rev().find(|&at| code.is_identifier(at)).map_or("", |at| code.word(at));
    let args = angle.map_or(Vec::new(), |open| code.split_commas(open + 1..inner.end - 1));
    (name.to_owned(), args.iter().map(|arg| code.bytes(arg)).collect())
}

fn ggl(code: &Code, at: usize) -> Option<Launch> {
    let close = code.close(at + 1).filter(|_| code.word(at + 1) == "(")?;
    let parts = code.split_commas(at + 2..close);
    if parts.len() < 5 {
        return None;
    }
    let bytes = |index: usize| Some(code.bytes(&parts[index])).filter(|range| !range.is_empty());
    let comma = |part: &Range<usize>| code.bytes(&(part.end..part.end + 1));
    Some(Launch {
        kind: LaunchKind::Ggl,
        grid: bytes(1),
        block: bytes(2),
        shared: bytes(3),
        stream: bytes(4),
        args: parts[5..].iter().map(|arg| code.bytes(arg)).collect(),
        range: code.bytes(&(at..close + 1)),
        marks: Marks {
            open: code.bytes(&(at..at + 1)),
            close: if parts.len() > 5 { comma(&parts[4]) } else { Range::default() },
            comma: comma(&parts[0]),
        },
        ..of_kernel(code, parts[0].clone())
    })
}

fn pointer(code: &Code, at: usize) -> Option<Launch> {
    let close = code.close(at + 1).filter(|_| code.word(at + 1) == "(")?;
    let parts = code.split_commas(at + 2..close);
    if parts.len() < 4 || parts[0].is_empty() || code.kind(parts[0].start) == Some(TokenKind::Str) {
        return None;
    }
    let bytes = |index: usize| parts.get(index).map(|part| code.bytes(part)).filter(|range| !range.is_empty());
    Some(Launch {
        kind: LaunchKind::Pointer,
        grid: bytes(1),
        block: bytes(2),
        args: bytes(3).into_iter().collect(),
        shared: bytes(4),
        stream: bytes(5),
        range: code.bytes(&(at..close + 1)),
        marks: Marks { open: code.bytes(&(at..at + 1)), ..Marks::default() },
        ..of_kernel(code, parts[0].clone())
    })
}
