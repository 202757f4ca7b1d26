//! Benchmark files: how a kernel is fed, checked and timed.
//!
//! `NAME.bench.toml` beside `NAME.hip` names the entry (a host function that launches, or a kernel with its grid), its
//! arguments, the check, the cost for the roofline, and the shapes. Expressions are C++ over the shape's parameters; they
//! end in the generated glue ([`crate::harness`]) and are interpreted nowhere else. [`infer`] writes a first version from
//! a kernel's signature.

mod element;
mod expression;
mod file;
mod infer;
mod locate;
mod validate;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub use element::{Element, ElementType};
pub use expression::Expression;
pub use file::json_schema;
pub use file::{CacheState, Kind};
pub use infer::infer;

use crate::LabError;
use crate::toolchain::CompileOptions;
use crate::workbench::ShapeChoice;

/// A benchmark file that was read and found to make sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// The file, as messages name it.
    pub path: PathBuf,
    /// What is called; `None` for a file that only has `[program]`.
    pub entry: Option<Entry>,
    /// Arguments of the entry, in its order.
    pub arguments: Vec<Argument>,
    /// The reference as C++ text; `None` for the original version of the code.
    pub reference: Option<Reference>,
    /// Floating-point operations of one call.
    pub flops: Option<Expression>,
    /// Bytes that one call has to move.
    pub bytes: Option<Expression>,
    /// State of the caches before a call.
    pub cache: CacheState,
    /// Names of the shapes' parameters, in the order of the first shape.
    pub parameters: Vec<String>,
    /// Problem sizes, in the order of the file.
    pub shapes: Vec<Shape>,
    /// How the whole program is run.
    pub program: Program,
}

/// What a benchmark calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A host function that launches.
    Function(Expression),
    /// A kernel, launched by the harness.
    Kernel {
        /// Its name, with template arguments where it has any.
        kernel: Expression,
        /// Blocks in x, y and z; one to three.
        grid: Vec<Expression>,
        /// Work-items of a block in x, y and z; one to three.
        block: Vec<Expression>,
        /// Bytes of dynamic shared memory.
        shared: Option<Expression>,
    },
}

/// The launch of a kernel, as [`Entry::Kernel`] has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch<'a> {
    /// Blocks in x, y and z; one to three.
    pub grid: &'a [Expression],
    /// Work-items of a block in x, y and z; one to three.
    pub block: &'a [Expression],
    /// Bytes of dynamic shared memory.
    pub shared: Option<&'a Expression>,
}

impl Entry {
    /// The name shown with its times: the function's or the kernel's, as the file has it.
    pub fn name(&self) -> &str {
        match self {
            Self::Function(name) | Self::Kernel { kernel: name, .. } => &name.text,
        }
    }

    /// The launch that the file asks for; `None` where a host function launches.
    pub fn launch(&self) -> Option<Launch<'_>> {
        match self {
            Self::Function(_) => None,
            Self::Kernel { grid, block, shared, .. } => Some(Launch { grid, block, shared: shared.as_ref() }),
        }
    }
}

/// One argument of the entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name, unique in the file.
    pub name: String,
    /// Type of the scalar or of a buffer's elements.
    pub element: Element,
    /// Which way data flows.
    pub role: Role,
    /// How far an element may be from the reference: |got - expected| <= absolute + relative * |expected|.
    pub tolerance: Tolerance,
}

/// Which way an argument's data flows.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// A number.
    Scalar(Expression),
    /// Memory on the device.
    Buffer {
        /// Input, output or both.
        kind: Kind,
        /// Number of elements.
        count: Expression,
        /// What it holds before the call; outputs are poisoned instead.
        fill: Fill,
    },
}

/// Contents of a buffer before a call. Random numbers differ from call to call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// All zero.
    Zeros,
    /// All one.
    Ones,
    /// The index of each element.
    Iota,
    /// The numbers from 0 to count - 1 in random order.
    Permutation,
    /// Random between low (included) and high (excluded).
    Uniform(Expression, Expression),
    /// Random with mean and deviation, bounded at 3.5 deviations.
    Normal(Expression, Expression),
    /// Random integers from low to high, both included.
    Integers(Expression, Expression),
    /// One value.
    Constant(Expression),
    /// A value for each index `i`.
    Expression(Expression),
}

/// The reference result.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A host function of the file with the entry's arguments, on host memory.
    Function(Expression),
    /// Statements over the arguments' names, on host memory.
    Code(Expression),
}

impl Reference {
    /// What the file says.
    pub fn expression(&self) -> &Expression {
        match self {
            Self::Function(expression) | Self::Code(expression) => expression,
        }
    }
}

/// Allowed difference of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Share of the expected value.
    pub relative: f64,
    /// Added to that.
    pub absolute: f64,
}

/// One problem size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Values in the order of [`Benchmark::parameters`].
    pub values: Vec<i64>,
    /// Whether it is never shown to a stage that writes code.
    pub held_out: bool,
    /// Line in the file, from 1.
    pub line: u32,
}

/// `[program]`: how the whole program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Arguments for timing.
    pub args: Vec<String>,
    /// Smaller arguments for the check; `None` where they are the same.
    pub check_args: Option<Vec<String>>,
    /// The main file, where the open file is a header of it; absolute.
    pub main: Option<PathBuf>,
    /// Further source files, compiled and linked with the program; absolute.
    pub sources: Vec<PathBuf>,
    /// The language standard, such as `c++20`.
    pub standard: Option<String>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Include folders; absolute.
    pub includes: Vec<PathBuf>,
}

impl Program {
    /// What the program is compiled with.
    pub fn compile_options(&self) -> CompileOptions {
        CompileOptions {
            include_folders: self.includes.clone(),
            defines: self.defines.clone(),
            main: self.main.clone(),
            sources: self.sources.clone(),
            standard: self.standard.clone(),
            ..CompileOptions::default()
        }
    }

    /// What the source alone is compiled with, where a benchmark file's entry is called and not the program run.
    pub(crate) fn compile_options_of_the_source(&self) -> CompileOptions {
        CompileOptions { main: None, sources: Vec::new(), ..self.compile_options() }
    }
}

impl Benchmark {
    /// What the name of a benchmark file ends with.
    pub const ENDING: &str = ".bench.toml";

    /// Where the benchmark of `source` is looked for: `gemm.bench.toml` for `gemm.hip`.
    pub fn path_for(source: &Path) -> PathBuf {
        source.with_extension(&Self::ENDING[1..])
    }

    /// Reads the file at `path`.
    pub fn load(path: &Path) -> Result<Self, LabError> {
        let text = crate::settings_text::read(path).map_err(|error| {
            LabError::Usage(format!("the benchmark file {} cannot be read: {error}", path.display()))
        })?;
        Self::parse(path, &text)
    }

    /// Reads `text`, the contents of the file at `path`. Every mistake is a [`LabError::Usage`] with line and column.
    pub fn parse(path: &Path, text: &str) -> Result<Self, LabError> {
        let located = locate::Located::new(path, text);
        let file = toml::from_str(text).map_err(|error| located.toml_error(&error))?;
        validate::validate(file, &located)
    }

    /// Numbers of the shapes that `choice` selects.
    pub fn chosen(&self, choice: ShapeChoice) -> Vec<usize> {
        let wanted = |shape: &Shape| match choice {
            ShapeChoice::Shown => !shape.held_out,
            ShapeChoice::HeldOut => shape.held_out,
            ShapeChoice::All => true,
        };
        (0..self.shapes.len()).filter(|index| wanted(&self.shapes[*index])).collect()
    }

    /// The shape as it is shown: `m=64 n=128`.
    pub fn shape_name(&self, shape: &Shape) -> String {
        let mut name = String::new();
        for (parameter, value) in self.parameters.iter().zip(&shape.values) {
            let space = if name.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(name, "{space}{parameter}={value}");
        }
        name
    }
}

#[cfg(test)]
#[path = "benchmark/tests.rs"]
mod tests;
