//! Grid and block of a kernel: from a launch in the file, else from how the kernel reads its indices.

use std::ops::Range;

use hip_syntax::{Kernel, Launch, Syntax};

use super::sizes::Sizes;
use super::words::{closing, is_identifier, words};
use crate::LabError;

/// How a kernel is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    /// The kernel, with template arguments where it needs them.
    pub(super) kernel: String,
    pub(super) grid: Vec<String>,
    pub(super) block: Vec<String>,
    pub(super) shared: Option<String>,
    /// Where this comes from, for a comment.
    pub(super) source: String,
}

pub(super) fn configuration(syntax: &Syntax, kernel: &Kernel, sizes: &Sizes) -> Result<Configuration, LabError> {
    let launches = syntax.launches().iter().filter(|launch| launch.kernel == kernel.name && !launch.in_macro);
    let from_launch = launches.filter_map(|launch| Reader { syntax, kernel, sizes, launch }.configuration()).next();
    match from_launch {
        Some(configuration) => Ok(configuration),
        None => Ok(from_indices(syntax, kernel, sizes)),
    }
}

/// Reads a launch in the words of the kernel's parameters.
struct Reader<'a> {
    syntax: &'a Syntax,
    kernel: &'a Kernel,
    sizes: &'a Sizes,
    launch: &'a Launch,
}

impl Reader<'_> {
    /// The launch's configuration, or `None` where it depends on what only the calling function knows.
    fn configuration(&self) -> Option<Configuration> {
        let shared = match self.launch.shared.clone().map(|range| self.text(range)) {
            Some("0") | Some("") | None => None,
            Some(shared) => Some(self.in_own_words(shared, 0)?),
        };
        Some(Configuration {
            kernel: self.kernel_with_arguments()?,
            grid: self.dimensions(self.launch.grid.clone()?)?,
            block: self.dimensions(self.launch.block.clone()?)?,
            shared,
            source: format!("the launch on line {}", self.launch.line),
        })
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.syntax.text().get(range).unwrap_or_default().trim()
    }

    fn kernel_with_arguments(&self) -> Option<String> {
        if self.kernel.template_params.is_empty() {
            return Some(self.kernel.qualified_name.clone());
        }
        if self.launch.template_args.is_empty() {
            return None;
        }
        // The element types of the arguments were guessed without the launch: they must be the same.
        let arguments: Vec<&str> = self.launch.template_args.iter().map(|range| self.text(range.clone())).collect();
        let agrees =
            |(param, argument): (&hip_syntax::TemplateParam, &&str)| !param.is_type() || **argument == *"float";
        self.kernel
            .template_params
            .iter()
            .zip(&arguments)
            .all(agrees)
            .then(|| format!("{}<{}>", self.kernel.qualified_name, arguments.join(", ")))
    }

    /// `dim3(a, b)`, a variable of that kind, or one number.
    fn dimensions(&self, range: Range<usize>) -> Option<Vec<String>> {
        let text = self.text(range);
        let definition = self.definition(text);
        let text = definition.as_deref().unwrap_or(text);
        let parts = arguments(text).unwrap_or_else(|| vec![text.to_owned()]);
        parts.iter().map(|part| self.in_own_words(part, 0)).collect()
    }

    /// `text` with the calling function's variables replaced by what they are in terms of sizes and constants.
    fn in_own_words(&self, text: &str, depth: u32) -> Option<String> {
        let mut out = String::new();
        for word in words(text) {
            let replaced = if let Some(size) = self.size_for(word) {
                size
            } else if !is_identifier(word) || self.is_known(word) {
                word.to_owned()
            } else if depth < 4 {
                let definition = self.definition(word)?;
                format!("({})", self.in_own_words(&definition, depth + 1)?)
            } else {
                return None;
            };
            if !out.is_empty()
                && !matches!(word, ")" | "(" | "," | "." | "::" | "[" | "]")
                && !out.ends_with(['(', '.', ':'])
            {
                out.push(' ');
            }
            out.push_str(&replaced);
        }
        Some(out)
    }

    /// Names that mean the same in the harness: macros, constants of the file, types, functions.
    fn is_known(&self, word: &str) -> bool {
        const WORDS: [&str; 16] = [
            "sizeof",
            "int",
            "unsigned",
            "float",
            "double",
            "long",
            "size_t",
            "char",
            "std",
            "min",
            "max",
            "ceil",
            "dim3",
            "static_cast",
            "uint32_t",
            "__half",
        ];
        let is_global = |constant: &hip_syntax::Constant| {
            constant.name == word && !self.is_inside_a_body(constant.value_range.start)
        };
        WORDS.contains(&word) || self.syntax.constants().iter().any(is_global)
    }

    fn is_inside_a_body(&self, at: usize) -> bool {
        self.syntax.functions().iter().any(|function| function.body.contains(&at))
    }

    /// The size that the launch hands over as `word`.
    fn size_for(&self, word: &str) -> Option<String> {
        let position = self.launch.args.iter().position(|argument| self.text(argument.clone()) == word)?;
        let name = &self.kernel.params.get(position)?.name;
        self.sizes.list.iter().find(|size| size.name == *name).map(|size| size.name.clone())
    }

    /// What the function around the launch says `name` is: `int name = VALUE;`, `dim3 name(VALUES);`.
    fn definition(&self, name: &str) -> Option<String> {
        if !is_identifier(name) || words(name).len() != 1 {
            return None;
        }
        let around =
            self.syntax.functions().iter().find(|function| function.body.contains(&self.launch.range.start))?;
        let before = words(self.syntax.text().get(around.body.start..self.launch.range.start)?);
        let at = (1..before.len()).rev().find(|at| {
            before[*at] == name
                && is_identifier(before[at - 1])
                && matches!(before.get(at + 1), Some(&("=" | "(" | "{")))
        })?;
        match before[at + 1] {
            "=" => {
                let end = at + 2 + before[at + 2..].iter().position(|word| *word == ";")?;
                Some(before[at + 2..end].join(" "))
            }
            _ => Some(format!("dim3 ( {} )", before[at + 2..closing(&before, at + 1)].join(" "))),
        }
    }
}

/// The arguments of `dim3(...)` or `dim3{...}`.
fn arguments(text: &str) -> Option<Vec<String>> {
    let words = words(text);
    if words.first() != Some(&"dim3") || closing(&words, 1) + 1 != words.len() {
        return None;
    }
    let mut parts = vec![Vec::new()];
    let mut depth = 0;
    for word in &words[2..words.len() - 1] {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => (),
        }
        if let Some(part) = parts.last_mut() {
            part.push(*word);
        }
    }
    (parts.len() <= 3 && parts.iter().all(|part| !part.is_empty()))
        .then(|| parts.into_iter().map(|part| part.join(" ")).collect())
}

/// One, two or three dimensions as the kernel reads `threadIdx` and `blockIdx`.
fn from_indices(syntax: &Syntax, kernel: &Kernel, sizes: &Sizes) -> Configuration {
    let body = syntax.text().get(kernel.body.clone()).unwrap_or_default();
    let uses = |axis: &str| body.contains(&format!("threadIdx.{axis}")) || body.contains(&format!("blockIdx.{axis}"));
    let (block, grid) = if uses("z") && sizes.list.len() >= 3 {
        split(&["8", "8", "4"], sizes)
    } else if uses("y") {
        split(&["16", "16"], sizes)
    } else if body.contains("blockIdx.x") && !body.contains("blockDim.x") && sizes.list.len() > 1 {
        // A block for each row, of as many work-items as its shared memory has room for.
        (vec![block_size(kernel)], vec![sizes.list[0].name.clone()])
    } else {
        let block = block_size(kernel);
        let grid = format!("({} + {block} - 1) / {block}", sizes.count());
        (vec![block], vec![grid])
    };
    Configuration {
        kernel: instantiated(kernel),
        grid,
        block,
        shared: body.contains("extern __shared__").then(|| "16384".into()),
        source: "how the kernel reads its indices".into(),
    }
}

/// One work-item an element: x runs over the last size (columns), y over the one before.
fn split(block: &[&str], sizes: &Sizes) -> (Vec<String>, Vec<String>) {
    let names: Vec<&str> = sizes.list.iter().map(|size| size.name.as_str()).collect();
    let by_name = |wanted: &[&str]| names.iter().find(|name| wanted.contains(&name.to_lowercase().as_str())).copied();
    let last = names.last().copied().unwrap_or("n");
    let x = by_name(&["width", "w", "cols", "nx", "n"]).unwrap_or(last);
    let y = by_name(&["height", "h", "rows", "ny", "m"]).unwrap_or(names[0]);
    let z = by_name(&["depth", "d", "nz", "k"]).unwrap_or(last);
    let grid = [x, y, z].into_iter().zip(block).map(|(size, block)| format!("({size} + {block} - 1) / {block}"));
    (block.iter().map(|size| (*size).to_owned()).collect(), grid.collect())
}

/// Work-items of a one-dimensional block: launch bounds, the first shared array, or 256.
fn block_size(kernel: &Kernel) -> String {
    let bound = kernel.launch_bounds.as_ref().and_then(|bounds| bounds.values.first().copied().flatten());
    bound.filter(|bound| (1..=1024).contains(bound)).unwrap_or(256).to_string()
}

/// The kernel with its template arguments: float for types, 256 for block sizes and 16 for other numbers.
fn instantiated(kernel: &Kernel) -> String {
    if kernel.template_params.is_empty() {
        return kernel.qualified_name.clone();
    }
    let argument = |param: &hip_syntax::TemplateParam| {
        let name = param.name.to_lowercase();
        match () {
            () if param.is_type() => "float",
            () if param.kind == "bool" => "true",
            () if name.contains("block") || name.contains("thread") => "256",
            () => "16",
        }
    };
    let needed = kernel.template_params.iter().filter(|param| param.default.is_none());
    format!("{}<{}>", kernel.qualified_name, needed.map(argument).collect::<Vec<_>>().join(", "))
}
