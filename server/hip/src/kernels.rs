//! Kernels (`__global__` functions) and the other functions of a file.

use std::collections::HashSet;
use std::ops::Range;

use crate::code::Code;
use crate::constants::Constants;
use crate::fingerprint::Fingerprint;
use crate::items::{Item, ItemKind};
use crate::lines::Lines;
use crate::loops::{Loop, loops};
use crate::params::{Param, TemplateParam, params, template_params};
use crate::shared::{SharedArray, shared_arrays};

/// `__launch_bounds__(...)` or a synonym.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// From the name to the closing parenthesis.
    pub range: Range<usize>,
    /// Bytes of each argument.
    pub args: Vec<Range<usize>>,
    /// Value of each argument where it is computable.
    pub values: Vec<Option<i64>>,
}

/// A `__global__` function with a body.
///
/// Ranges are bytes of the text; lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Name as written, without qualifiers.
    pub name: String,
    /// Name with namespaces: `ns::name`.
    pub qualified_name: String,
    /// From the first token (`template`, attributes) to the closing brace.
    pub range: Range<usize>,
    /// From the first token to before the opening brace.
    pub header: Range<usize>,
    /// The name.
    pub name_range: Range<usize>,
    /// The body with its braces.
    pub body: Range<usize>,
    /// Line on which the name stands, from 1.
    pub line: u32,
    /// Line on which the closing brace stands, from 1.
    pub end_line: u32,
    /// The parameters.
    pub params: Vec<Param>,
    /// Bytes between the parentheses of the parameters.
    pub params_range: Range<usize>,
    /// The template parameters; empty for plain functions and specialisations.
    pub template_params: Vec<TemplateParam>,
    /// It is an explicit specialisation (`template <>`).
    pub is_specialisation: bool,
    /// The launch bounds, wherever they stand in the header.
    pub launch_bounds: Option<LaunchBounds>,
    /// `__shared__` variables of the body.
    pub shared: Vec<SharedArray>,
    /// Loops of the body, outer before inner.
    pub loops: Vec<Loop>,
    /// Hash of its tokens and of all that it uses in the file.
    pub fingerprint: Fingerprint,
    /// The closing brace was found: `false` in text under edit.
    pub complete: bool,
}

impl Kernel {
    /// Applies `map` to every byte position of the kernel; used to carry a kernel across an edit.
    pub(crate) fn map_positions(&mut self, map: &impl Fn(usize) -> usize) {
        let shift = |range: &mut Range<usize>| *range = map(range.start)..map(range.end);
        for range in [&mut self.range, &mut self.header, &mut self.name_range, &mut self.body, &mut self.params_range] {
            shift(range);
        }
        for param in &mut self.params {
            shift(&mut param.range);
            param.name_range.iter_mut().for_each(shift);
        }
        for param in &mut self.template_params {
            shift(&mut param.range);
            param.name_range.iter_mut().for_each(shift);
            param.default.iter_mut().for_each(shift);
        }
        if let Some(bounds) = &mut self.launch_bounds {
            shift(&mut bounds.range);
            bounds.args.iter_mut().for_each(shift);
        }
        self.shared.iter_mut().flat_map(SharedArray::ranges_mut).for_each(shift);
        self.loops.iter_mut().flat_map(Loop::ranges_mut).for_each(shift);
    }
}

/// A function of the file with a body; kernels are functions too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name as written, without qualifiers.
    pub name: String,
    /// Name with namespaces and classes.
    pub qualified_name: String,
    /// From the first token to the closing brace.
    pub range: Range<usize>,
    /// The name.
    pub name_range: Range<usize>,
    /// The body with its braces.
    pub body: Range<usize>,
    /// Line on which the name stands, from 1.
    pub line: u32,
    /// `__global__`.
    pub is_kernel: bool,
    /// `__device__` (alone or with `__host__`).
    pub is_device: bool,
    /// Runs on the host: `__host__`, or no marker at all.
    pub is_host: bool,
    /// It has template parameters.
    pub is_template: bool,
    /// The parameters.
    pub params: Vec<Param>,
    /// Names of the file's functions that its body mentions.
    pub callees: Vec<String>,
}

/// Whether an item is a kernel with a body.
pub(crate) fn is_kernel(code: &Code, item: &Item) -> bool {
    item.kind == ItemKind::Function && item.head.clone().any(|at| is_global_marker(code, code.word(at)))
}

/// `__global__`, or a macro that is known or seen to expand to it.
fn is_global_marker(code: &Code, word: &str) -> bool {
    const KNOWN: [&str; 6] =
        ["__global__", "ROCPRIM_KERNEL", "ROCSPARSE_KERNEL", "ROCBLAS_KERNEL", "ROCSOLVER_KERNEL", "CK_TILE_KERNEL"];
    KNOWN.contains(&word)
        || code.macro_definitions(word).any(|define| {
            let body = define.macro_body(&code.text);
            // A macro that makes a whole kernel is no marker.
            body.iter().any(|t| t.text(&code.text) == "__global__") && !body.iter().any(|t| t.text(&code.text) == "{")
        })
}

/// The kernel's name among the arguments of a macro that makes the header: `DEFINE_KERNEL(name, int N) {...}`, where
/// `#define DEFINE_KERNEL(k, ...) template <__VA_ARGS__> __global__ void k(float* a)`.
fn name_given_to_macro(code: &Code, item: &Item) -> Option<Range<usize>> {
    let define = code.macro_definitions(item.name(code)).next()?;
    let (head, function_like) = define.macro_head(&code.text);
    if !function_like {
        return None;
    }
    let words: Vec<&str> = define.tokens.iter().map(|token| token.text(&code.text)).collect();
    let parameters: Vec<&str> = words[..head].iter().skip(2).step_by(2).copied().collect();
    let marker = words.iter().position(|word| *word == "__global__")?;
    let called =
        (marker + 1..words.len()).find(|&at| words.get(at + 1) == Some(&"(") && parameters.contains(&words[at]))?;
    let index = parameters.iter().position(|parameter| *parameter == words[called])?;
    let (open, close) = item.parameters?;
    code.split_commas(open + 1..close).into_iter().nth(index)
}

/// `a::b::name`.
fn qualified_name(code: &Code, item: &Item, name_tokens: &Range<usize>) -> String {
    let mut name = item.scope.join("::");
    if !name.is_empty() {
        name.push_str("::");
    }
    name.push_str(code.slice(name_tokens));
    name
}

/// The kernel that `item` defines, without its fingerprint, which needs the whole file.
pub(crate) fn kernel(
    code: &Code,
    lines: &Lines,
    ends: &UnclosedEnds,
    item: &Item,
    constants: &Constants,
) -> Option<Kernel> {
    let (brace, close) = item.body?;
    let (open, shut) = item.parameters?;
    let body_end = close.unwrap_or_else(|| ends.after(brace));
    let body_tokens = brace + 1..body_end;
    let range = code.bytes(&(item.tokens.start..body_end + 1));
    let given = name_given_to_macro(code, item);
    let is_made = given.is_some();
    let name_tokens = given.unwrap_or(item.name.clone());
    let name_range = code.bytes(&name_tokens);
    let last = range.end.saturating_sub(1);
    Some(Kernel {
        name: code.slice(&name_tokens).to_owned(),
        qualified_name: qualified_name(code, item, &name_tokens),
        header: code.bytes(&item.head),
        body: code.bytes(&(brace..body_end + 1)),
        line: lines.line_of(name_range.start),
        end_line: lines.line_of(last),
        // What stands between a macro's parentheses are its arguments.
        params: if is_made { Vec::new() } else { params(code, open + 1..shut) },
        params_range: code.bytes(&(open..open + 1)).end..code.bytes(&(shut..shut + 1)).start,
        template_params: template_params(code, item.template),
        is_specialisation: item.specialisation,
        launch_bounds: launch_bounds(code, item, constants),
        shared: shared_arrays(code, lines, body_tokens.clone(), constants),
        loops: loops(code, lines, body_tokens, constants),
        fingerprint: Fingerprint::default(),
        complete: close.is_some(),
        range,
        name_range,
    })
}

/// Where functions end whose closing brace is missing: before the next definition that can be told, or with the text.
pub(crate) struct UnclosedEnds {
    starts: Vec<usize>,
    last: usize,
}

impl UnclosedEnds {
    pub fn new(code: &Code) -> Self {
        let starts = |&at: &usize| matches!(code.word(at), "__global__" | "template" | "namespace");
        Self { starts: (0..code.len()).filter(starts).collect(), last: code.len().saturating_sub(1) }
    }

    /// The last token of the body that `brace` opens.
    fn after(&self, brace: usize) -> usize {
        let next = self.starts.partition_point(|&start| start <= brace);
        self.starts.get(next).map_or(self.last, |start| start - 1).max(brace)
    }
}

/// The function that `item` defines.
pub(crate) fn function(code: &Code, lines: &Lines, ends: &UnclosedEnds, item: &Item) -> Option<Function> {
    let (brace, close) = item.body?;
    let (open, shut) = item.parameters?;
    let body_end = close.unwrap_or_else(|| ends.after(brace));
    let is_kernel = is_kernel(code, item);
    let is_device = item.head_has(code, "__device__");
    let name_range = code.bytes(&item.name);
    Some(Function {
        name: item.name(code).to_owned(),
        qualified_name: qualified_name(code, item, &item.name),
        range: code.bytes(&(item.tokens.start..body_end + 1)),
        body: code.bytes(&(brace..body_end + 1)),
        line: lines.line_of(name_range.start),
        name_range,
        is_kernel,
        is_device,
        is_host: !is_kernel && (!is_device || item.head_has(code, "__host__")),
        is_template: item.template.is_some(),
        params: params(code, open + 1..shut),
        callees: Vec::new(),
    })
}

fn launch_bounds(code: &Code, item: &Item, constants: &Constants) -> Option<LaunchBounds> {
    let is_bounds = |word: &str| word == "__launch_bounds__" || word.contains("LAUNCH_BOUNDS");
    let at = item.head.clone().find(|&at| is_bounds(code.word(at)) && code.word(at + 1) == "(")?;
    let close = code.close(at + 1)?;
    let args = code.split_commas(at + 2..close);
    Some(LaunchBounds {
        range: code.bytes(&(at..close + 1)),
        values: args.iter().map(|arg| constants.evaluate(code, arg.clone())).collect(),
        args: args.iter().map(|arg| code.bytes(arg)).collect(),
    })
}

/// Notes in each function which functions of the file its body mentions.
pub(crate) fn fill_callees(code: &Code, functions: &mut [Function]) {
    let names: HashSet<String> = functions.iter().map(|function| function.name.clone()).collect();
    for function in functions {
        let mut callees: Vec<String> = code
            .tokens_in(&function.body)
            .filter(|&at| code.is_identifier(at))
            .map(|at| code.word(at))
            .filter(|word| names.contains(*word))
            .map(str::to_owned)
            .collect();
        callees.sort_unstable();
        callees.dedup();
        function.callees = callees;
    }
}
