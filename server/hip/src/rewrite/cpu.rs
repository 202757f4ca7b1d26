//! HIP source to plain C++ for the host: launches and dynamic shared memory become macros of the CPU runtime's header.
//!
//! Lines stay where they are. Works on a header's text as well as on a whole program.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Edit;
use super::split::{Refusal, split};
use crate::code::Code;
use crate::kernels::Kernel;
use crate::launches::{Launch, LaunchKind};
use crate::lexer::DirectiveKind;
use crate::shared::shared_declaration;
use crate::syntax::Syntax;

/// Source for the CPU, and the way back to the text it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSource {
    /// The rewritten text; line `n` is line `n` of the original.
    pub text: String,
    original: Arc<str>,
    /// Sorted, without overlap.
    edits: Vec<Edit>,
    /// Names of the kernels that were split.
    pub split: Vec<String>,
}

/// What becomes of kernels that wait at barriers, or whose work-items walk through memory by a step of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barriers {
    /// Those of which it can be shown that it is the same are split at their barriers into loops over the work-items.
    Split,
    /// All stay as they are: each work-item waits on a stack of its own.
    Fibers,
}

impl CpuSource {
    /// The text that it was made from.
    pub fn original(&self) -> &Arc<str> {
        &self.original
    }

    /// Byte of the original for a byte of the rewritten text; what a rewrite put in maps to the start of what it replaced.
    pub fn original_offset(&self, offset: usize) -> usize {
        let mut shift: isize = 0;
        for edit in &self.edits {
            let start = edit.range.start.saturating_add_signed(shift);
            if offset < start {
                break;
            }
            if offset < start + edit.text.len() {
                return edit.range.start;
            }
            shift += edit.text.len() as isize - edit.range.len() as isize;
        }
        offset.saturating_add_signed(-shift).min(self.original.len())
    }

    /// Column of the original for a line and column of the rewritten text: both from 1 and in bytes, as compilers count.
    pub fn original_column(&self, line: u32, column: u32) -> u32 {
        let Some(start) = line_start(&self.text, line) else { return column };
        let Some(original_start) = line_start(&self.original, line) else { return column };
        let offset = (start + column.saturating_sub(1) as usize).min(self.text.len());
        (self.original_offset(offset).saturating_sub(original_start) + 1) as u32
    }
}

/// Byte at which `line` (from 1) starts; lines end in `\n`, as compilers count.
fn line_start(text: &str, line: u32) -> Option<usize> {
    match line {
        0 => None,
        1 => Some(0),
        _ => text.match_indices('\n').nth(line as usize - 2).map(|(at, _)| at + 1),
    }
}

/// Rewrites `syntax` for the CPU runtime:
///
/// - `kernel<T><<<g, b, sh, st>>>(a, b)` and `hipLaunchKernelGGL(kernel<T>, g, b, sh, st, a, b)` become
///   `KS_LAUNCH_LOOP((kernel<T>), (g, b, sh, st), (a, b))` where every kernel of that name is known not to synchronise,
///   `KS_LAUNCH_BLOCKS(...)` where every one was split, else `KS_LAUNCH_FIBERS(...)`. In the bodies of macros:
///   fibers.
/// - kernels that wait only where all work-items do are split at their barriers.
/// - `hipLaunchKernel(reinterpret_cast<void*>(kernel<T>), ...)` keeps the kernel's type, which a launch needs:
///   `hipLaunchKernel(KS_KERNEL_POINTER((kernel<T>)), ...)`
/// - `extern __shared__ T x[];` becomes `KS_DYNAMIC_SHARED((T), x);`, outside of functions `KS_DYNAMIC_SHARED_GLOBAL`.
pub fn cpu(syntax: &Syntax, barriers: Barriers) -> CpuSource {
    cpu_with(syntax, &[], barriers)
}

/// Like [`cpu`]; kernels that are launched here and defined in one of `headers` are found there. Each header is judged by
/// its own text: what a kernel calls of another header counts as unknown.
pub fn cpu_with(syntax: &Syntax, headers: &[Arc<Syntax>], barriers: Barriers) -> CpuSource {
    let mut edits = Vec::new();
    let mut split_here = Vec::new();
    let mut kinds = Kinds::default();
    let splits = barriers == Barriers::Split;
    for header in headers {
        for kernel in header.kernels() {
            kinds.learn(header, kernel, splits && split(header, kernel).is_ok());
        }
    }
    for kernel in syntax.kernels() {
        let parts = splits.then(|| split(syntax, kernel).ok()).flatten();
        kinds.learn(syntax, kernel, parts.is_some());
        if let Some(more) = parts {
            edits.extend(more);
            split_here.push(kernel.name.clone());
        }
    }
    kinds.forget_variables(syntax);
    for launch in syntax.launches() {
        edits.extend(launch_edits(launch, kinds.macro_name(launch)));
        if launch.kind == LaunchKind::Pointer && syntax.kernels().iter().any(|kernel| kernel.name == launch.kernel) {
            edits.extend(pointer_edit(syntax.text(), launch));
        }
    }
    edits.extend(dynamic_shared(syntax.code(), false));
    for define in syntax.code().lexed.directives.iter().filter(|d| d.kind == DirectiveKind::Define) {
        if syntax.text()[define.range.clone()].contains("__shared__") {
            edits.extend(dynamic_shared(&syntax.code().of_directive(define), true));
        }
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let text = super::apply(syntax.text(), &edits);
    // The edits are made from one walk over disjoint tokens; if that is ever wrong the compiler sees the original.
    let (text, edits) = text.map_or_else(|_| (syntax.text().to_string(), Vec::new()), |text| (text, edits));
    CpuSource { text, original: Arc::clone(syntax.text()), edits, split: split_here }
}

/// How kernels can be launched, by names that stand for kernels and for nothing else.
#[derive(Default)]
struct Kinds<'a> {
    /// The macro for each name.
    macros: HashMap<&'a str, &'static str>,
}

impl<'a> Kinds<'a> {
    /// How a kernel is launched.
    fn learn(&mut self, syntax: &Syntax, kernel: &'a Kernel, is_split: bool) {
        let wanted = macro_for(syntax, kernel, is_split);
        // Of kernels that share a name, any may be meant.
        let known = self.macros.entry(kernel.name.as_str()).or_insert(wanted);
        if *known != wanted {
            *known = FIBERS;
        }
    }

    /// A variable or parameter of that name may hold any kernel.
    fn forget_variables(&mut self, syntax: &Syntax) {
        let code = syntax.code();
        for at in 0..code.len() {
            let holds_value = code.word(at + 1) == "="
                || code.word_before(at) == "auto"
                || (at > 1 && matches!(code.word(at - 1), "*" | "&") && matches!(code.word(at - 2), "(" | "auto"));
            if holds_value {
                self.macros.remove(code.word(at));
            }
        }
        for param in syntax.functions().iter().flat_map(|function| &function.params) {
            self.macros.remove(param.name.as_str());
        }
    }

    fn macro_name(&self, launch: &Launch) -> &'static str {
        let known = self.macros.get(launch.kernel.as_str()).filter(|_| !launch.in_macro);
        known.copied().unwrap_or(FIBERS)
    }
}

/// Right for any kernel.
const FIBERS: &str = "KS_LAUNCH_FIBERS";

/// The cheapest launch that is right for the kernel.
fn macro_for(syntax: &Syntax, kernel: &Kernel, is_split: bool) -> &'static str {
    match kernel.complete {
        true if is_split => "KS_LAUNCH_BLOCKS",
        true if !syntax.waiting(kernel).synchronises => "KS_LAUNCH_LOOP",
        _ => FIBERS,
    }
}

/// Why `kernel` of `syntax` runs on fibers, or `None` where it is split at its barriers.
pub fn why_on_fibers(syntax: &Syntax, kernel: &Kernel) -> Option<Refusal> {
    split(syntax, kernel).err()
}

fn launch_edits(launch: &Launch, name: &str) -> Vec<Edit> {
    let end = launch.range.end;
    match launch.kind {
        LaunchKind::Chevron => vec![
            Edit::insert(launch.kernel_range.start, format!("{name}((")),
            Edit::replace(launch.marks.open.clone(), "), ("),
            Edit::replace(launch.marks.close.clone(), "), "),
            Edit::insert(end, ")"),
        ],
        LaunchKind::Ggl => {
            let parenthesis = launch.kernel_range.start;
            let close = if launch.marks.close.is_empty() {
                Edit::insert(end - 1, "), (")
            } else {
                Edit::replace(launch.marks.close.clone(), "), (")
            };
            vec![
                Edit::replace(launch.marks.open.clone(), name),
                Edit::insert(parenthesis, "("),
                Edit::replace(launch.marks.comma.clone(), "), ("),
                close,
                Edit::insert(end - 1, ")"),
            ]
        }
        LaunchKind::Pointer => Vec::new(),
    }
}

/// The kernel without the cast that takes its type away, in a macro that keeps it.
fn pointer_edit(text: &str, launch: &Launch) -> Option<Edit> {
    let expression = &text[launch.kernel_range.clone()];
    let (cast, kernel) = match expression.strip_prefix("reinterpret_cast") {
        Some(rest) => rest.strip_suffix(')')?.split_once('(')?,
        None => expression.strip_prefix('(')?.split_once(')')?,
    };
    let untyped = cast.contains("void") && cast.contains('*');
    let kernel = kernel.trim().trim_start_matches('&');
    untyped.then(|| Edit::replace(launch.kernel_range.clone(), format!("KS_KERNEL_POINTER(({kernel}))")))
}

/// Whether no function's body is around the token at `at`: only namespaces and linkage blocks are.
fn outside_functions(code: &Code, at: usize) -> bool {
    let mut here = at;
    while here > 0 {
        here -= 1;
        match code.word(here) {
            "}" => here = code.open(here).unwrap_or(here),
            "{" if !opens_namespace(code, here) => return false,
            _ => {}
        }
    }
    true
}

/// Whether the brace at `at` is that of `namespace a::b {` or `extern "C" {`.
fn opens_namespace(code: &Code, at: usize) -> bool {
    let mut here = at;
    while here > 0 && (code.word(here - 1) == "::" || code.is_identifier(here - 1)) {
        here -= 1;
        if code.word(here) == "namespace" {
            return true;
        }
    }
    here == at && at >= 2 && code.word(at - 2) == "extern"
}

/// Edits for the `extern __shared__` declarations of `code`. Those of a macro's body are taken to be used in functions.
fn dynamic_shared(code: &Code, in_macro: bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    for at in 0..code.len() {
        if code.word(at) == "__shared__"
            && let Some(declaration) = shared_declaration(code, at, code.len())
            && declaration.is_extern
            && let [declarator] = declaration.declarators.as_slice()
        {
            edits.extend(dynamic_declaration(code, &declaration.whole, declarator, in_macro));
        }
    }
    edits
}

fn dynamic_declaration(code: &Code, whole: &Range<usize>, declarator: &Range<usize>, in_macro: bool) -> Vec<Edit> {
    let name = declarator.start;
    let dropped = (whole.start..name).filter(|&at| matches!(code.word(at), "extern" | "__shared__"));
    let mut edits: Vec<Edit> = dropped.map(|at| Edit::replace(code.bytes(&(at..at + 1)), "")).collect();
    if code.word(name + 1) != "[" {
        return Vec::new();
    }
    // Of `T x[][33]` the element is the row: `T[33]`.
    let first_end = code.close(name + 1).map_or(name + 1, |close| close + 1);
    let row = code.slice(&(first_end..declarator.end)).replace(['\n', '\r', '\\'], " ");
    let (before, after) = if row.is_empty() { ("", String::new()) } else { ("__typeof__(", format!("{row})")) };
    if let Some(first) = edits.first_mut() {
        let global = !in_macro && outside_functions(code, whole.start);
        let called = if global { "KS_DYNAMIC_SHARED_GLOBAL((" } else { "KS_DYNAMIC_SHARED((" };
        first.text = format!("{called}{before}");
    }
    edits.push(Edit::insert(code.bytes(&(name..name + 1)).start, format!("{after}), ")));
    for at in name + 1..declarator.end {
        edits.push(Edit::replace(code.bytes(&(at..at + 1)), if at == name + 1 { ")" } else { "" }));
    }
    edits
}
