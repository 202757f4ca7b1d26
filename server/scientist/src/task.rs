//! What stages may know of how a kernel is fed and checked: the benchmark without its held-out shapes, seeds and harness.

use lab::benchmark::{Argument, Benchmark, Entry, Fill, Kind, Reference, Role};
use lab::workbench::ShapeChoice;
use serde::Serialize;

/// A benchmark as stages see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Task {
    /// What must be kept by its name and its parameters: the function or kernel that the benchmark calls. `None` for a
    /// program, and where the kernel is fed by its signature.
    pub entry: Option<String>,
    /// In words.
    pub text: String,
}

impl Task {
    /// Of a benchmark file; `None` for a program with a `main`, or a kernel that is fed by its signature.
    pub fn of(benchmark: Option<&Benchmark>) -> Self {
        match benchmark.map(|benchmark| (benchmark, &benchmark.entry)) {
            Some((benchmark, Some(entry))) => {
                let name = entry.name().split('<').next().unwrap_or_default().trim().to_owned();
                Self { entry: Some(name), text: in_words(benchmark, entry) }
            }
            _ => Self {
                entry: None,
                text: "The file is run as it stands: as a program if it has a `main`, whose output and exit status must stay \
                       the same; otherwise its kernels are called with buffers that fit their parameters, and results are \
                       compared with those of the original."
                    .into(),
            },
        }
    }
}

fn in_words(benchmark: &Benchmark, entry: &Entry) -> String {
    let mut text = match entry {
        Entry::Function(name) => {
            format!("The benchmark calls the host function `{}`, which launches. It may launch otherwise.\n", name.text)
        }
        Entry::Kernel { kernel, grid, block, shared } => {
            let list = |parts: &[lab::benchmark::Expression]| {
                parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", ")
            };
            let dynamic = shared
                .as_ref()
                .map_or_else(String::new, |bytes| format!(", with {} bytes of dynamic shared memory", bytes.text));
            format!(
                "The benchmark launches the kernel `{}` itself, with a grid of ({}) blocks of ({}) work-items{dynamic}. \
                 That launch cannot be changed.\n",
                kernel.text,
                list(grid),
                list(block)
            )
        }
    };
    text.push_str("Arguments, in order:\n");
    for argument in &benchmark.arguments {
        text.push_str(&format!("- {}\n", argument_in_words(argument)));
    }
    match &benchmark.reference {
        Some(Reference::Function(name)) => {
            text.push_str(&format!("Right is what the host function `{}` of the file computes.\n", name.text));
        }
        Some(Reference::Code(code)) => {
            text.push_str(&format!("Right is what this computes:\n```cpp\n{}\n```\n", code.text.trim()));
        }
        None => text.push_str("Right is what the original version computes.\n"),
    }
    for (what, cost) in [("floating-point operations", &benchmark.flops), ("bytes that must move", &benchmark.bytes)] {
        if let Some(cost) = cost {
            text.push_str(&format!("One call: {} {what}.\n", cost.text));
        }
    }
    let shown = benchmark.chosen(ShapeChoice::Shown);
    let shapes: Vec<String> = shown.into_iter().map(|at| benchmark.shape_name(&benchmark.shapes[at])).collect();
    if !shapes.is_empty() {
        text.push_str(&format!("Timed at: {}.", shapes.join("; ")));
    }
    text.trim_end().to_owned()
}

fn argument_in_words(argument: &Argument) -> String {
    let Argument { name, element, role, tolerance } = argument;
    match role {
        Role::Scalar(value) => format!("`{name}`: {} = {}", element.cpp, value.text),
        Role::Buffer { kind, count, fill } => {
            let kind = match kind {
                Kind::Input => "input".to_owned(),
                Kind::Output => format!("output, {}", allowed(tolerance)),
                _ => format!("input and output, {}", allowed(tolerance)),
            };
            let fill = match (fill, kind.starts_with("output")) {
                (_, true) => "",
                (Fill::Permutation, _) => ", a permutation of its indices",
                (Fill::Iota, _) => ", each element its index",
                _ => "",
            };
            format!("`{name}`: {} elements of {} ({kind}{fill})", count.text, element.cpp)
        }
    }
}

fn allowed(tolerance: &lab::benchmark::Tolerance) -> String {
    let (relative, absolute) = (tolerance.relative, tolerance.absolute);
    if relative == 0.0 && absolute == 0.0 {
        return "exact".into();
    }
    format!("within {relative:e} relative + {absolute:e} absolute")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn held_out_shapes_are_not_told() {
        let text = include_str!("../../../tests/benchmarks/sgemm.bench.toml");
        let benchmark = Benchmark::parse(Path::new("sgemm.bench.toml"), text).unwrap();
        let held_out: Vec<String> = benchmark
            .shapes
            .iter()
            .filter(|shape| shape.held_out)
            .flat_map(|shape| shape.values.iter().map(ToString::to_string))
            .collect();
        assert_eq!(held_out, ["96", "80", "112"], "the test needs figures that occur nowhere else");
        let task = Task::of(Some(&benchmark));
        assert_eq!(task.entry.as_deref(), Some("sgemm"));
        for expected in
            ["`sgemm`", "`A`: m * k elements of float (input)", "double sum = 0", "m=67 n=101 k=45", "2.0 * m * n * k"]
        {
            assert!(task.text.contains(expected), "no {expected} in {}", task.text);
        }
        for figure in held_out {
            assert!(!task.text.contains(&figure), "{figure} in {}", task.text);
        }
    }
}
