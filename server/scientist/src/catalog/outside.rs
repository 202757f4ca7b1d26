//! The launch that stands outside the text: that of a benchmark file which launches a kernel itself.
//!
//! A candidate is a source and nothing else, so it can change neither grid nor block of such a launch. What the launch says
//! may be relied on all the same: the extents of its blocks where they are numbers, and that each buffer is an allocation
//! of its own. Hypotheses that need to change a launch are ruled out for such a kernel, and those that hold for any grid
//! (a thread that does several items and asks how far the grid reaches) are not concerned.

use lab::benchmark::{Benchmark, Entry};

use super::constant::literal;

/// A kernel that a benchmark file launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outside {
    /// Its name without template arguments and scopes.
    pub(crate) kernel: String,
    /// Whether it is launched as a template: the text's expressions may depend on the arguments.
    pub(crate) is_template: bool,
    /// Work-items of a block along x, y and z; `None` where they are no plain numbers.
    pub(crate) block: Option<[i64; 3]>,
}

impl Outside {
    /// What a benchmark file launches; `None` where it calls a function of the text that does.
    pub(crate) fn of(benchmark: &Benchmark) -> Option<Self> {
        let Some(Entry::Kernel { kernel, block, .. }) = &benchmark.entry else { return None };
        let (name, arguments) = kernel.text.split_once('<').map_or((kernel.text.as_str(), ""), |parts| parts);
        let plain = name.rsplit("::").next().unwrap_or(name).trim();
        let mut extents = Some([1; 3]);
        for (index, extent) in block.iter().enumerate().take(3) {
            let value = literal(extent.text.trim());
            extents = extents.zip(value).map(|(mut all, value)| {
                all[index] = value;
                all
            });
        }
        Some(Self { kernel: plain.to_owned(), is_template: !arguments.is_empty(), block: extents })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_benchmark_that_launches_a_kernel_tells_its_block() {
        let check = |entry: &str, expected: Option<(&str, bool, Option<[i64; 3]>)>| {
            let text = format!(
                "entry = {entry}\n[[argument]]\nname = \"x\"\nkind = \"output\"\ntype = \"float\"\ncount = \"n\"\n[[shape]]\nn = 4\n"
            );
            let benchmark = Benchmark::parse(Path::new("k.bench.toml"), &text).expect("a benchmark");
            let expected =
                expected.map(|(kernel, is_template, block)| Outside { kernel: kernel.into(), is_template, block });
            assert_eq!(Outside::of(&benchmark), expected, "{entry}");
        };
        check("\"run\"", None);
        check("{ kernel = \"k\", grid = \"n / 64\", block = 64 }", Some(("k", false, Some([64, 1, 1]))));
        check("{ kernel = \"ns::k<float>\", grid = 1, block = [16, 8] }", Some(("k", true, Some([16, 8, 1]))));
        check("{ kernel = \"k\", grid = 1, block = \"n\" }", Some(("k", false, None)));
    }
}
