//! Kernels whose variables have several names do the same split at their barriers as on fibers: made at random, as in
//! `split.rs`, with other forms. `SPLIT_SEEDS=100..2100` runs other kernels, and more.
#![allow(clippy::unwrap_used)]

mod aliases;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use aliases::{Generator, PRELUDE};
use hip_syntax::Syntax;
use hip_syntax::rewrite;
use lab::program::{self, RunOptions};
use lab::toolchain::cpu::Cpu;
use lab::toolchain::options::CompileOptions;
use lab::{Cancel, Source};

/// Kernels in one program.
const TOGETHER: u64 = 24;

/// Kernels that the suite makes besides the known ones: each takes about a second of a processor to build both ways.
const IN_SUITE: u64 = 9;

/// Kernels that were split wrongly once.
const KNOWN: [u64; 3] = [93, 10_171, 78];

#[test]
fn kernels_with_many_names_do_the_same_split_and_on_fibers() {
    let cpu = Cpu::new(&std::env::temp_dir().join(format!("ks-lab-tests-{}", env!("CARGO_PKG_VERSION")))).unwrap();
    let asked = std::env::var("SPLIT_SEEDS").ok();
    let seeds: Vec<u64> = match asked.as_deref().and_then(|range| range.split_once("..")) {
        Some((from, to)) => (from.parse().unwrap()..to.parse().unwrap()).collect(),
        None => (0..IN_SUITE).chain(KNOWN).collect(),
    };
    let (mut split, mut refused, mut wrong) = (0, BTreeMap::<String, u32>::new(), Vec::new());
    for seeds in seeds.chunks(TOGETHER as usize + KNOWN.len()) {
        let text = program(seeds);
        let syntax = Syntax::parse(text.as_str());
        for kernel in syntax.kernels() {
            match rewrite::why_on_fibers(&syntax, kernel) {
                None => split += 1,
                Some(why) => *refused.entry(without_places(&why.to_string())).or_default() += 1,
            }
        }
        let outputs = [false, true].map(|fibers| output(&cpu, &text, fibers));
        let [split, fibers] = outputs.each_ref().map(|output| output.lines().collect::<Vec<_>>());
        assert_eq!(split.len(), 4 * seeds.len(), "{split:?}");
        let differing = split.into_iter().zip(fibers).filter(|(split, fibers)| split != fibers);
        wrong.extend(differing.map(|(split, _)| split.to_owned()));
    }
    println!("{split} split, on fibers: {refused:#?}");
    let first = wrong.first().and_then(|line| line.split(' ').next());
    let shown = first.map(|name| Generator::kernel(name[1..].parse().unwrap(), name));
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", shown.unwrap_or_default());
    assert!(split * 2 > seeds.len(), "{split} split, on fibers: {refused:#?}");
}

/// A reason without the bytes that it names.
fn without_places(why: &str) -> String {
    why.split(' ').filter(|word| word.parse::<usize>().is_err()).collect::<Vec<_>>().join(" ")
}

fn output(cpu: &Cpu, text: &str, fibers: bool) -> String {
    let source = Source::new("/nowhere/generated.hip", text);
    let options = CompileOptions { fibers, extra: vec!["-fwrapv".into(), "-O1".into()], ..CompileOptions::default() };
    let built = cpu.build_program(&source, &options, &Cancel::new()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(built.split != fibers, "the split text does not compile: {text}");
    let run = program::run(cpu, &built, &RunOptions::new(Duration::from_secs(60)), &Cancel::new()).unwrap();
    run.stdout
}

/// A program with one kernel for each seed, which prints a checksum of what each kernel writes.
fn program(seeds: &[u64]) -> String {
    let mut text = String::from(PRELUDE);
    let mut main = String::from(
        "int main() {\n  int *out;\n  if (hipMalloc(&out, 1024) != hipSuccess) return 1;\n  int host[128];\n",
    );
    for &seed in seeds {
        text.push_str(&Generator::kernel(seed, &format!("k{seed}")));
        let block = if seed % 3 == 0 { "dim3(16, 4)" } else { "64" };
        let _ = write!(
            main,
            "  for (int n = 1; n < 5; ++n) {{\n    (void)hipMemset(out, 0, 1024);\n    k{seed}<<<2, {block}>>>(out, n, 7 - n);\n    \
             (void)hipMemcpy(host, out, 512, hipMemcpyDeviceToHost);\n    unsigned sum = 1;\n    \
             for (int v : host) sum = sum * 1000003u ^ (unsigned)v;\n    std::printf(\"k{seed} %d %08x\\n\", n, sum);\n  }}\n"
        );
    }
    text + &main + "}\n"
}
