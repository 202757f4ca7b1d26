//! The compiler's flags.

use super::variant::Variant;
use crate::sanitize::Sanitizer;

/// How the optimiser works, for the runtime and for programs.
///
/// As a GPU compiler's defaults: full optimisation, contraction to fused multiply-adds, no `errno` from mathematics, but
/// not `-ffast-math`, which reorders sums. Type punning through pointers is common in kernels and works on a GPU.
const OPTIMISATION: [&str; 8] = [
    "-O3",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-semantic-interposition",
    "-ftls-model=initial-exec",
    // `__fp16` as a parameter and a result, as kernels may have it.
    "-Xclang",
    "-fnative-half-arguments-and-returns",
];

#[cfg(target_arch = "x86_64")]
const NATIVE: &str = "-march=native";
#[cfg(not(target_arch = "x86_64"))]
const NATIVE: &str = "-mcpu=native";

/// How messages are written, for [`crate::toolchain::diagnostics`]. Not with absolute paths: those look through the overlay.
const MESSAGES: [&str; 5] = [
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fmacro-backtrace-limit=0",
    "-ftemplate-backtrace-limit=0",
    "-ferror-limit=20",
];

/// The C++ library's parallel algorithms, which some programs check their kernels with, run on one thread: where TBB is
/// installed they would need its library.
const SERIAL_ALGORITHMS: &str = "-D_GLIBCXX_USE_TBB_PAR_BACKEND=0";

/// Warnings that say nothing about a kernel that was written for a GPU, and one that clang 19 made an error of what the
/// hipcc of the libraries' own time takes (`object.template name(...)`).
const WARNINGS: [&str; 6] = [
    "-Wno-unknown-pragmas",
    "-Wno-unknown-attributes",
    "-Wno-ignored-attributes",
    "-Wno-unused-command-line-argument",
    "-Wno-pass-failed",
    "-Wno-missing-template-arg-list-after-template-kw",
];

/// How programs are built for a sanitizer: lines and columns can be found again, and what stands in the source is not
/// merged or moved further than that needs. Speed comes after.
const LOCATED: [&str; 6] = [
    "-O1",
    "-gline-tables-only",
    "-fno-optimize-sibling-calls",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    // The functions that instrumented code calls are the runtime's own.
    "-fno-sanitize-link-runtime",
];

/// Loops whose number of turns is not known are unrolled where the source asks for it (`#pragma unroll`) and not else: that
/// alone took a fifth of a small file's compilation, and kernels' inner loops are vectorised, or known.
const PLAIN: [&str; 2] = ["-mllvm", "-unroll-runtime=false"];

/// Clang's instrumentation for AddressSanitizer, all of it as calls, with the shadow reached through calls too.
const ADDRESS: [&str; 13] = [
    "-fsanitize=address",
    "-fsanitize-recover=address",
    "-fsanitize-address-use-after-return=never",
    "-mllvm",
    "-asan-instrumentation-with-call-threshold=0",
    "-mllvm",
    "-asan-max-inline-poisoning-size=0",
    "-mllvm",
    "-asan-mapping-offset=0",
    // Every access is seen, also where its bounds need no look: it may be the first to write shared memory.
    "-mllvm",
    "-asan-opt-globals=0",
    "-mllvm",
    "-asan-opt-same-temp=0",
];

/// Clang's instrumentation for ThreadSanitizer: every read and write, volatile ones told apart.
const THREAD: [&str; 7] = [
    "-fsanitize=thread",
    "-mllvm",
    "-tsan-distinguish-volatile=1",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
];

/// Where the section of `__shared__` variables begins and ends, for the runtime's header.
const SHARED_SECTION: [&str; 2] =
    ["-Wl,--defsym=ks_shared_begin=ADDR(.ks_shared)", "-Wl,--defsym=ks_shared_end=ADDR(.ks_shared)+SIZEOF(.ks_shared)"];

/// How programs are built for a trace: clang writes LLVM's code as it is, and a device's optimiser goes on.
const TRACED: [&str; 7] = [
    "-gline-tables-only",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    // Arithmetic of halves is theirs, not float's.
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-Xclang",
    "-disable-llvm-passes",
];

/// The members of threadIdx are properties there.
const TRACE: [&str; 2] = ["-DKS_TRACE=1", "-fdeclspec"];

/// How code is made of what was instrumented: the optimiser has done its work.
pub(super) const OF_TRACED_CODE: [&str; 6] =
    ["-O1", NATIVE, "-fPIC", "-Xclang", "-disable-llvm-passes", "-Wno-override-module"];

/// The standard that hipcc takes when none is named.
pub(super) const DEFAULT_STANDARD: &str = "gnu++17";

/// Flags of every compilation for the host's processor, the runtime's own included.
pub(super) fn common(variant: Variant) -> impl Iterator<Item = &'static str> {
    everywhere(variant).chain([NATIVE])
}

fn everywhere(variant: Variant) -> impl Iterator<Item = &'static str> {
    let marks: &[&str] = match variant {
        Variant::Plain => &[],
        Variant::Sanitized(Sanitizer::Address) => &["-DKS_SANITIZE=1"],
        Variant::Sanitized(Sanitizer::Thread) => &["-DKS_SANITIZE=2"],
        Variant::Traced(_) => &TRACE,
    };
    let rest = ["-fPIC", "-pthread", SERIAL_ALGORITHMS];
    OPTIMISATION.into_iter().chain(MESSAGES).chain(WARNINGS).chain(rest).chain(marks.iter().copied())
}

/// Flags of what is built from the user's source, and of the header that is compiled beforehand for it.
pub(super) fn of_programs(variant: Variant) -> impl Iterator<Item = &'static str> {
    // A trace's code is another processor's until the end.
    let (native, located, more): (Option<&str>, &[&str], &[&str]) = match variant {
        Variant::Plain => (Some(NATIVE), &PLAIN, &[]),
        Variant::Sanitized(Sanitizer::Address) => (Some(NATIVE), &LOCATED, &ADDRESS),
        Variant::Sanitized(Sanitizer::Thread) => (Some(NATIVE), &LOCATED, &THREAD),
        Variant::Traced(target) => (None, &TRACED, target.defines()),
    };
    everywhere(variant).chain(native).chain(located.iter().copied()).chain(more.iter().copied())
}

/// Flags of linking what is built from the user's source.
pub(super) fn of_linking(variant: Variant) -> impl Iterator<Item = &'static str> {
    matches!(variant, Variant::Sanitized(_)).then_some(SHARED_SECTION).into_iter().flatten()
}

/// The standard to compile with where the user asks for `wanted`: the runtime's header needs C++17.
pub(super) fn standard(wanted: Option<&str>) -> String {
    let Some(wanted) = wanted else { return DEFAULT_STANDARD.into() };
    let year = wanted.trim_start_matches("gnu++").trim_start_matches("c++");
    match year {
        "98" | "03" | "0x" | "11" | "1y" | "14" if wanted.starts_with("gnu") => "gnu++17".into(),
        "98" | "03" | "0x" | "11" | "1y" | "14" => "c++17".into(),
        _ => wanted.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standards_are_raised_never_lowered() {
        let cases =
            [(None, "gnu++17"), (Some("c++11"), "c++17"), (Some("gnu++14"), "gnu++17"), (Some("c++20"), "c++20")];
        for (wanted, expected) in cases {
            assert_eq!(standard(wanted), expected);
        }
    }
}
