//! Kernels that are split at their barriers, or whose loops are turned inside out, do what they do on fibers: kernels made at
//! random are run both ways.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::Duration;

use hip_syntax::Syntax;
use hip_syntax::rewrite::{self, Barriers};
use lab::program::{self, RunOptions};
use lab::toolchain::cpu::Cpu;
use lab::toolchain::options::CompileOptions;
use lab::{Cancel, Source};

const KERNELS: u64 = 24;

#[test]
fn split_kernels_do_what_they_do_on_fibers() {
    let cache = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = program(0..KERNELS);
    let syntax = Syntax::parse(text.as_str());
    let left: Vec<_> =
        syntax.kernels().iter().filter_map(|k| Some((k.name.clone(), rewrite::why_on_fibers(&syntax, k)?))).collect();
    let without_barrier = |why: &rewrite::Refusal| *why == rewrite::Refusal::NoBarrier;
    assert!(left.iter().all(|(_, why)| without_barrier(why)), "{left:?}\n{text}");
    assert!(left.len() < KERNELS as usize / 2, "{left:?}\n{text}");
    let turned = rewrite::cpu(&syntax, Barriers::Split).text.matches("::ks::Turns").count();
    assert!(turned > KERNELS as usize / 4, "{turned} loops are turned inside out\n{text}");

    let cpu = Cpu::new(cache.path()).unwrap();
    let output = |fibers: bool| {
        let source = Source::new(folder.path().join("generated.hip"), text.clone());
        let options = CompileOptions { fibers, ..CompileOptions::default() };
        let built = cpu.build_program(&source, &options, &Cancel::new()).unwrap();
        let run = program::run(&cpu, &built, &RunOptions::new(Duration::from_secs(60)), &Cancel::new()).unwrap();
        run.stdout
    };
    let (split, fibers) = (output(false), output(true));
    assert!(fibers.lines().count() >= KERNELS as usize, "{fibers}");
    // Builds whose split text does not compile are made on fibers.
    assert_eq!((first_of_second_turn(&split), first_of_second_turn(&fibers)), (Some("64"), Some("1")), "{text}");
    let checksums =
        |output: &str| output.lines().filter(|line| line.starts_with('k')).map(str::to_owned).collect::<Vec<_>>();
    for (split, fibers) in checksums(&split).iter().zip(&checksums(&fibers)) {
        assert_eq!(split, fibers, "{text}");
    }
}

/// When the first work-item took its second turn in a loop.
fn first_of_second_turn(output: &str) -> Option<&str> {
    output.lines().find_map(|line| line.strip_prefix("order "))
}

/// A program with one kernel for each seed, which prints a checksum of what each kernel writes.
fn program(seeds: std::ops::Range<u64>) -> String {
    let mut text = String::from(
        "#include <cstdio>\n#include <hip/hip_runtime.h>\n\
         __device__ int mix(int x) { return (int)((unsigned)x * 2654435761u >> 9); }\n\
         __device__ void bump(int &x, int by) { x += by; }\n\
         __global__ void order(int *out) { for (int i = threadIdx.x; i < 128; i += 64) out[1 + i] = atomicAdd(out, 1); }\n",
    );
    let mut main = String::from(
        "int main() {\n  int *out;\n  if (hipMalloc(&out, 1024) != hipSuccess) return 1;\n  int host[128];\n",
    );
    for seed in seeds {
        text.push_str(&Generator::new(seed).kernel(&format!("k{seed}")));
        let _ = write!(
            main,
            "  for (int n = 1; n < 5; ++n) {{\n    (void)hipMemset(out, 0, 1024);\n    k{seed}<<<2, 64>>>(out, n, 7 - n);\n    \
             (void)hipMemcpy(host, out, 512, hipMemcpyDeviceToHost);\n    unsigned sum = 1;\n    \
             for (int v : host) sum = sum * 1000003u ^ (unsigned)v;\n    std::printf(\"k{seed} %d %08x\\n\", n, sum);\n  }}\n"
        );
    }
    main.push_str(
        "  (void)hipMemset(out, 0, 1024);\n  order<<<1, 64>>>(out);\n  std::printf(\"order %d\\n\", out[65]);\n",
    );
    text + &main + "}\n"
}

/// Writes a kernel without races: values are exchanged through `s` between two barriers only.
struct Generator {
    state: u64,
    text: String,
    names: u32,
    /// Variables in scope, by kind: `int`, `const int`, `int[4]`, `int *`.
    ints: Vec<String>,
    constants: Vec<String>,
    arrays: Vec<String>,
    pointers: Vec<String>,
    /// Loop variables that are the same for the block.
    uniform: Vec<String>,
    returned: bool,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let (ints, arrays, pointers) = Default::default();
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let constants = vec!["t".into()];
        let uniform = vec!["n".into(), "m".into()];
        Self { state, text: String::new(), names: 0, ints, constants, arrays, pointers, uniform, returned: false }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % limit
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn one_of(&mut self, names: &[String]) -> Option<String> {
        (!names.is_empty()).then(|| names[self.below(names.len())].clone())
    }

    fn kernel(mut self, name: &str) -> String {
        let _ = write!(
            self.text,
            "__global__ void {name}(int *out, int n, int m) {{\n__shared__ int s[64];\nconst int t = threadIdx.x;\nint r = mix(t);\n"
        );
        self.ints.push("r".into());
        self.block(3, true, false);
        let mut sum = String::from("r");
        for name in self.ints.iter().chain(&self.constants) {
            let _ = write!(sum, " * 31 + {name}");
        }
        let arrays: String = self.arrays.iter().map(|name| format!(" + {name}[0] + {name}[3]")).collect();
        let pointers: String = self.pointers.iter().map(|name| format!(" + *{name}")).collect();
        let _ = writeln!(self.text, "out[blockIdx.x * 64 + t] = {sum}{arrays}{pointers};\n}}");
        self.text
    }

    /// Statements; with `uniform` all work-items that have not returned come here together.
    fn block(&mut self, depth: u32, uniform: bool, in_loop: bool) {
        let (ints, constants, arrays, pointers) =
            (self.ints.len(), self.constants.len(), self.arrays.len(), self.pointers.len());
        for _ in 0..2 + self.below(4) {
            self.statement(depth, uniform, in_loop);
        }
        if depth < 3 {
            self.ints.truncate(ints);
            self.constants.truncate(constants);
            self.arrays.truncate(arrays);
            self.pointers.truncate(pointers);
        }
    }

    fn statement(&mut self, depth: u32, uniform: bool, in_loop: bool) {
        match self.below(if uniform { 19 } else { 11 }) {
            0 => {
                let (name, value) = (self.name(), self.value(2));
                let _ = writeln!(self.text, "int {name} = {value};");
                self.ints.push(name);
            }
            1 => {
                let (name, value) = (self.name(), self.value(2));
                let kind = ["const int", "auto", "const auto", "unsigned short"][self.below(4)];
                let _ = writeln!(self.text, "{kind} {name} = {value};");
                self.constants.push(name);
            }
            2 => {
                let (name, first, second) = (self.name(), self.value(1), self.value(1));
                let _ = writeln!(self.text, "int {name}[4] = {{(int)({first}), (int)({second})}};");
                self.arrays.push(name);
            }
            3 if !self.ints.is_empty() => {
                let (name, target) = (self.name(), self.one_of(&self.ints.clone()).unwrap());
                let target = match self.one_of(&self.arrays.clone()) {
                    Some(array) if self.below(2) == 0 => format!("{array} + (t & 3)"),
                    _ => format!("&{target}"),
                };
                let _ = writeln!(self.text, "int *{name} = {target};");
                self.pointers.push(name);
            }
            4 if depth > 0 => {
                let condition = self.value(1);
                let _ = writeln!(self.text, "if (({condition}) % 3 == 0) {{");
                self.block(depth - 1, false, in_loop && !uniform);
                if self.below(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block(depth - 1, false, in_loop && !uniform);
                }
                self.text.push_str("}\n");
            }
            5 if depth > 0 => {
                let name = self.name();
                let _ = writeln!(self.text, "for (int {name} = 0; {name} < (t & 3); ++{name}) {{");
                self.constants.push(name);
                self.block(depth - 1, false, true);
                self.constants.pop();
                self.text.push_str("}\n");
            }
            6 if in_loop && !uniform => {
                let condition = self.value(1);
                let jump = ["break", "continue"][self.below(2)];
                let _ = writeln!(self.text, "if (({condition}) % 5 == 1) {jump};");
            }
            7 if !self.returned && self.below(4) == 0 => {
                self.returned = true;
                let value = self.value(1);
                let _ = writeln!(self.text, "if (t % 11 == 3) {{ out[blockIdx.x * 64 + t] = {value}; return; }}");
            }
            8 if !self.ints.is_empty() => {
                let (name, value) = (self.one_of(&self.ints.clone()).unwrap(), self.value(1));
                let _ = writeln!(self.text, "bump({name}, {value});");
            }
            11 | 12 if depth > 0 => self.uniform_loop(depth),
            13 if depth > 0 => {
                let name = self.one_of(&self.uniform.clone()).unwrap();
                let _ = writeln!(self.text, "if ({name} > {}) {{", self.names % 5);
                self.block(depth - 1, true, in_loop);
                if self.below(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block(depth - 1, true, in_loop);
                }
                self.text.push_str("}\n");
            }
            14..=16 => self.exchange(),
            17 | 18 if depth > 0 => self.stride(depth),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) {
        let value = self.value(2);
        let target = match self.below(4) {
            0 => self.one_of(&self.arrays.clone()).map(|array| format!("{array}[({value}) & 3]")),
            1 => self.one_of(&self.pointers.clone()).map(|pointer| format!("*{pointer}")),
            _ => self.one_of(&self.ints.clone()),
        };
        let operator = ["=", "+=", "^=", "-="][self.below(4)];
        let _ = writeln!(self.text, "{} {operator} {value};", target.unwrap_or_else(|| "r".into()));
    }

    fn exchange(&mut self) {
        let (value, offset) = (self.value(1), self.value(1));
        let target = self.one_of(&self.ints.clone()).unwrap_or_else(|| "r".into());
        let _ = writeln!(
            self.text,
            "s[t] = {value};\n__syncthreads();\n{target} += s[(t + ({offset})) & 63];\n__syncthreads();"
        );
    }

    fn uniform_loop(&mut self, depth: u32) {
        let (name, bound) = (self.name(), self.one_of(&self.uniform.clone()).unwrap());
        let step = 1 + self.below(2);
        match self.below(3) {
            0 => {
                let _ = writeln!(self.text, "int {name} = 0;\nwhile ({name} < {bound}) {{\n{name} += {step};");
            }
            1 => {
                let _ = writeln!(self.text, "for (int {name} = {bound}; {name} > 0; {name} -= {step}) {{");
            }
            _ => {
                let _ = writeln!(self.text, "for (int {name} = 0; {name} < {bound}; {name} += {step}) {{");
            }
        }
        self.uniform.push(name.clone());
        self.constants.push(name.clone());
        if self.below(2) == 0 {
            self.exchange();
        }
        self.block(depth - 1, true, true);
        if self.below(3) == 0 {
            let jump = ["break", "continue"][self.below(2)];
            let _ = writeln!(self.text, "if ({name} == 3) {jump};");
        }
        self.exchange();
        self.constants.pop();
        self.uniform.pop();
        self.text.push_str("}\n");
    }

    /// A loop in which each work-item walks on its own, by a step that is the same for all.
    fn stride(&mut self, depth: u32) {
        let (name, start, step) = (self.name(), self.below(40), 16 + self.below(40));
        let uniform = self.one_of(&self.uniform.clone()).unwrap();
        let head = match self.below(5) {
            0 => format!("int {name} = t + {start}; {name} < 200; {name} += {step} + {uniform}"),
            1 => format!("int {name} = 190 - 2 * t; {name} > {start}; {name} = {name} + (-{step} - n)"),
            2 => format!("auto {name} = threadIdx.x * 3 + {start}; {name} <= 250; {name} += blockDim.x"),
            3 => format!("long {name} = 170 - t; {name} != {name} / 2 && {name} > r % 50; {name} -= {step} + m"),
            // It wraps around before it ends.
            _ => format!("unsigned short {name} = t * 977; {name} < 60000; {name} += 20011"),
        };
        let _ = writeln!(self.text, "for ({head}) {{");
        self.constants.push(name);
        self.block(depth - 1, false, true);
        self.constants.pop();
        self.text.push_str("}\n");
    }

    fn value(&mut self, depth: u32) -> String {
        let known: Vec<String> = [&self.ints, &self.constants, &self.uniform].into_iter().flatten().cloned().collect();
        match self.below(if depth > 0 { 9 } else { 4 }) {
            0 => (1 + self.below(9)).to_string(),
            1..=3 => self.one_of(&known).unwrap(),
            4 => self.one_of(&self.arrays.clone()).map_or("t".into(), |array| format!("{array}[{}]", self.below(4))),
            5 => self.one_of(&self.pointers.clone()).map_or("r".into(), |pointer| format!("*{pointer}")),
            6 => format!("mix({})", self.value(depth - 1)),
            7 => format!("({} & 1 ? {} : {})", self.value(0), self.value(depth - 1), self.value(depth - 1)),
            _ => {
                let operator = ["+", "-", "^", "&"][self.below(4)];
                format!("({} {operator} {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }
}
