//! Generates the C++ that is appended to a source: the entry behind a C interface, and the trusted parts.
//!
//! Every expression of the benchmark file stands on a line of its own under a `#line` that names the file, so that the
//! compiler's messages point into it. The glue is HIP like the text before it and takes the same way through the
//! toolchain. Names begin with `ks_`; those of the file's parameters are local to each function.

use std::fmt::Write as _;

use crate::benchmark::{Argument, Benchmark, Entry, Expression, Fill, Kind, Reference, Role};

/// The glue of the baseline and of a candidate: `ks_benchmark_run`.
pub(super) fn run(benchmark: &Benchmark) -> String {
    let mut glue = Glue::new(benchmark);
    glue.guard_parameters();
    glue.run();
    glue.text
}

/// The glue of the trusted object: run, counts, fills, cost, launch and the reference.
pub(super) fn trusted(benchmark: &Benchmark) -> String {
    let mut glue = Glue::feeding(benchmark);
    glue.reference();
    glue.text
}

/// The glue of an object that is only traced: all of the trusted one's but the reference.
pub(super) fn traced(benchmark: &Benchmark) -> String {
    Glue::feeding(benchmark).text
}

struct Glue<'a> {
    benchmark: &'a Benchmark,
    /// The benchmark file as a C string.
    file: String,
    text: String,
}

impl<'a> Glue<'a> {
    fn new(benchmark: &'a Benchmark) -> Self {
        let file = benchmark.path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        Self { benchmark, file, text: "\n".into() }
    }

    fn feeding(benchmark: &'a Benchmark) -> Self {
        let mut glue = Self::new(benchmark);
        glue.guard_parameters();
        glue.run();
        glue.counts();
        glue.fills();
        glue.elements();
        glue.cost();
        glue.launch();
        glue
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// `before EXPRESSION after` on a line that messages attribute to the benchmark file.
    fn expression(&mut self, before: &str, expression: &Expression, after: &str) {
        // Writing to a string cannot fail. Defaults have no line; they cannot be wrong either.
        let _ = writeln!(self.text, "#line {} \"{}\"", expression.line.max(1), self.file);
        let _ = writeln!(self.text, "{before}{}{after}", expression.text);
    }

    /// A macro of the source with a parameter's name would change the meaning of the file's expressions.
    fn guard_parameters(&mut self) {
        let line = self.benchmark.shapes.first().map_or(1, |shape| shape.line);
        for name in &self.benchmark.parameters {
            let _ = writeln!(
                self.text,
                "#line {line} \"{}\"\n#ifdef {name}\n#error \"the shape parameter {name} is a macro in the source; give \
                 the parameter another name\"\n#endif",
                self.file
            );
        }
    }

    /// Opens a function with C linkage and makes the shape's parameters known in it.
    fn open(&mut self, head: &str) {
        let _ = writeln!(self.text, "#line 1 \"{}\"", self.file);
        self.line(&format!("extern \"C\" __attribute__((visibility(\"default\"))) {head} {{"));
        self.line("(void)ks_shape;");
        for (index, name) in self.benchmark.parameters.iter().enumerate() {
            self.line(&format!("const long long {name} = ks_shape[{index}]; (void){name};"));
        }
    }

    fn close(&mut self) {
        self.line("}");
    }

    fn run(&mut self) {
        self.open("void ks_benchmark_run(void* const* ks_arguments, const long long* ks_shape)");
        self.line("(void)ks_arguments;");
        let arguments = self.argument_list();
        match &self.benchmark.entry {
            Some(Entry::Function(name)) => self.expression("", name, &format!("({arguments});")),
            Some(Entry::Kernel { kernel, grid, block, shared }) => {
                self.dimensions("ks_grid", grid);
                self.dimensions("ks_block", block);
                self.line("unsigned ks_shared = 0;");
                if let Some(shared) = shared {
                    self.expression("ks_shared = (unsigned)(", shared, ");");
                }
                let launch = format!("<<<ks_grid, ks_block, ks_shared, 0>>>({arguments});");
                self.expression("", kernel, &launch);
            }
            None => (),
        }
        self.close();
    }

    fn dimensions(&mut self, name: &str, sizes: &[Expression]) {
        self.line(&format!("dim3 {name}(1, 1, 1);"));
        for (axis, size) in ["x", "y", "z"].into_iter().zip(sizes) {
            self.expression(&format!("{name}.{axis} = (unsigned)("), size, ");");
        }
    }

    /// Works out the scalars and returns the arguments as the call has them.
    fn argument_list(&mut self) -> String {
        let benchmark = self.benchmark;
        let mut list = Vec::new();
        for (index, argument) in benchmark.arguments.iter().enumerate() {
            let cpp = &argument.element.cpp;
            match &argument.role {
                Role::Buffer { .. } => list.push(format!("static_cast<{cpp}*>(ks_arguments[{index}])")),
                Role::Scalar(value) => {
                    self.expression(&format!("{cpp} ks_scalar_{index} = static_cast<{cpp}>("), value, ");");
                    list.push(format!("ks_scalar_{index}"));
                }
            }
        }
        list.join(", ")
    }

    /// A function that switches over the arguments.
    fn by_argument(&mut self, head: &str, fallback: &str, mut case: impl FnMut(&mut Self, usize, &Argument)) {
        self.open(head);
        self.line("switch (ks_argument) {");
        let benchmark = self.benchmark;
        for (index, argument) in benchmark.arguments.iter().enumerate() {
            case(self, index, argument);
        }
        self.line("default: break;");
        self.line("}");
        self.line(&format!("return {fallback};"));
        self.close();
    }

    fn counts(&mut self) {
        let head = "long long ks_benchmark_count(int ks_argument, const long long* ks_shape)";
        // What is no number of elements is told by a negative one; a conversion would make up something.
        self.line("template <class ks_type> static long long ks_count_of(ks_type ks_value) {");
        self.line("constexpr bool ks_is_whole = (ks_type)0.5 == (ks_type)0;");
        self.line("if (!ks_is_whole && !(ks_value >= (ks_type)0 && ks_value <= (ks_type)1099511627776.0)) return -1;");
        self.line("return (long long)ks_value;");
        self.line("}");
        self.by_argument(head, "0", |glue, index, argument| {
            if let Role::Buffer { count, .. } = &argument.role {
                glue.expression(&format!("case {index}: return ks_count_of("), count, ");");
            }
        });
    }

    fn fills(&mut self) {
        let head = "double ks_benchmark_fill(int ks_argument, int ks_which, const long long* ks_shape)";
        self.by_argument(head, "0", |glue, index, argument| {
            let Role::Buffer { fill, .. } = &argument.role else { return };
            let (first, second) = match fill {
                Fill::Uniform(first, second) | Fill::Normal(first, second) | Fill::Integers(first, second) => {
                    (first, Some(second))
                }
                Fill::Constant(value) => (value, None),
                _ => return,
            };
            glue.expression(&format!("case {index}: if (ks_which == 0) return (double)("), first, ");");
            if let Some(second) = second {
                glue.expression("return (double)(", second, ");");
            } else {
                glue.line("return 0;");
            }
        });
    }

    fn elements(&mut self) {
        let head = "double ks_benchmark_element(int ks_argument, long long i, const long long* ks_shape)";
        self.by_argument(head, "(double)i", |glue, index, argument| {
            if let Role::Buffer { fill: Fill::Expression(value), .. } = &argument.role {
                glue.expression(&format!("case {index}: return (double)("), value, ");");
            }
        });
    }

    fn cost(&mut self) {
        self.open("double ks_benchmark_cost(int ks_which, const long long* ks_shape)");
        for (which, cost) in [&self.benchmark.flops, &self.benchmark.bytes].into_iter().enumerate() {
            if let Some(cost) = cost {
                self.expression(&format!("if (ks_which == {which}) return (double)("), cost, ");");
            }
        }
        self.line("(void)ks_which;");
        self.line("return -1;");
        self.close();
    }

    fn launch(&mut self) {
        let benchmark = self.benchmark;
        let Some(Entry::Kernel { grid, block, shared, .. }) = &benchmark.entry else { return };
        self.open("long long ks_benchmark_launch(int ks_part, const long long* ks_shape)");
        for (first, sizes) in [(0, grid), (3, block)] {
            for (axis, size) in sizes.iter().enumerate() {
                self.expression(&format!("if (ks_part == {}) return ks_count_of(", first + axis), size, ");");
            }
        }
        if let Some(shared) = shared {
            self.expression("if (ks_part == 6) return ks_count_of(", shared, ");");
        }
        self.line("return ks_part == 6 ? 0 : 1;");
        self.close();
    }

    fn reference(&mut self) {
        let benchmark = self.benchmark;
        let Some(reference) = &benchmark.reference else { return };
        if let Reference::Code(code) = reference {
            self.reference_code(code);
        }
        self.open("void ks_benchmark_reference(void* const* ks_arguments, const long long* ks_shape)");
        self.line("(void)ks_arguments;");
        let mut arguments = self.argument_list();
        match reference {
            Reference::Function(name) => self.expression("", name, &format!("({arguments});")),
            Reference::Code(_) => {
                for name in self.free_parameters() {
                    let comma = if arguments.is_empty() { "" } else { ", " };
                    arguments.push_str(&format!("{comma}{name}"));
                }
                self.line(&format!("ks_reference_code({arguments});"));
            }
        }
        self.close();
    }

    /// The file's statements as a function of the arguments, and of the parameters that no argument's name hides.
    fn reference_code(&mut self, code: &Expression) {
        let argument = |argument: &Argument| {
            let constant = match argument.role {
                Role::Buffer { kind: Kind::Input, .. } => "const ",
                _ => "",
            };
            let star = if matches!(argument.role, Role::Buffer { .. }) { "*" } else { "" };
            format!("[[maybe_unused]] {constant}{}{star} {}", argument.element.cpp, argument.name)
        };
        let arguments = self.benchmark.arguments.iter().map(argument);
        let parameters = self.free_parameters().map(|name| format!("[[maybe_unused]] const long long {name}"));
        let list = arguments.chain(parameters).collect::<Vec<_>>().join(", ");
        self.line(&format!("static void ks_reference_code({list}) {{"));
        self.expression("", code, "");
        self.close();
    }

    fn free_parameters(&self) -> impl Iterator<Item = &'a String> + use<'a> {
        let benchmark = self.benchmark;
        benchmark.parameters.iter().filter(|name| !benchmark.arguments.iter().any(|argument| argument.name == **name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Macros of the source stand before the glue, so that a name of the glue's own may be anything there.
    #[test]
    fn names_of_the_glue_are_its_own() {
        const LANGUAGE: [&str; 29] = [
            "C",
            "__attribute__",
            "bool",
            "case",
            "class",
            "const",
            "constexpr",
            "default",
            "dim3",
            "double",
            "error",
            "extern",
            "float",
            "if",
            "ifdef",
            "endif",
            "int",
            "line",
            "long",
            "return",
            "static",
            "static_cast",
            "switch",
            "template",
            "unsigned",
            "visibility",
            "void",
            "break",
            "maybe_unused",
        ];
        let text = "[entry]\nkernel = \"scale\"\ngrid = [\"size / 64\"]\nblock = [\"64\"]\nshared = \"256\"\n\
                    [[argument]]\nname = \"data\"\ntype = \"float\"\nkind = \"inout\"\ncount = \"size\"\n\
                    fill = { kind = \"expression\", value = \"i % 7\" }\n\
                    [[argument]]\nname = \"size\"\ntype = \"int\"\nkind = \"scalar\"\nvalue = \"size\"\n\
                    [check]\nreference = \"for (int at = 0; at < size; at++) data[at] = 2;\"\n\
                    [cost]\nflops = \"size\"\n[[shape]]\nsize = 640\n";
        let benchmark = Benchmark::parse(Path::new("scale.bench.toml"), text).unwrap_or_else(|error| panic!("{error}"));
        let glue = trusted(&benchmark);
        let code = glue.lines().filter(|line| !line.starts_with("#error")).map(|line| match line.split_once('"') {
            Some((before, _)) if line.starts_with("#line") => before,
            _ => line,
        });
        let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
        let names = words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        let of_the_file = ["scale", "size", "data", "i", "x", "y", "z", "for", "at"];
        let strange: BTreeSet<&str> = names
            .filter(|name| !name.starts_with("ks_") && !LANGUAGE.contains(name) && !of_the_file.contains(name))
            .collect();
        assert_eq!(strange, BTreeSet::new(), "{glue}");
    }
}
