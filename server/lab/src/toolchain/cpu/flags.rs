//! The compiler's flags.

use crate::sanitize::Sanitizer;

/// How the optimiser works, for the runtime and for programs.
///
/// As a GPU compiler's defaults: full optimisation, contraction to fused multiply-adds, no `errno` from mathematics, but
/// not `-ffast-math`, which reorders sums. Type punning through pointers is common in kernels and works on a GPU.
const OPTIMISATION: [&str; 9] = [
    "-O3",
    NATIVE,
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

/// The standard that hipcc takes when none is named.
pub(super) const DEFAULT_STANDARD: &str = "gnu++17";

/// Flags of every compilation, the runtime's own included.
pub(super) fn common(sanitizer: Option<Sanitizer>) -> impl Iterator<Item = &'static str> {
    let mark = sanitizer.map(|sanitizer| match sanitizer {
        Sanitizer::Address => "-DKS_SANITIZE=1",
        Sanitizer::Thread => "-DKS_SANITIZE=2",
    });
    OPTIMISATION.into_iter().chain(MESSAGES).chain(WARNINGS).chain(["-fPIC", "-pthread", SERIAL_ALGORITHMS]).chain(mark)
}

/// Flags of what is built from the user's source, and of the header that is compiled beforehand for it.
pub(super) fn of_programs(sanitizer: Option<Sanitizer>) -> impl Iterator<Item = &'static str> {
    let instrumentation: &[&str] = match sanitizer {
        None => &[],
        Some(Sanitizer::Address) => &ADDRESS,
        Some(Sanitizer::Thread) => &THREAD,
    };
    let located: &[&str] = if sanitizer.is_some() { &LOCATED } else { &[] };
    common(sanitizer).chain(located.iter().copied()).chain(instrumentation.iter().copied())
}

/// Flags of linking what is built from the user's source.
pub(super) fn of_linking(sanitizer: Option<Sanitizer>) -> impl Iterator<Item = &'static str> {
    sanitizer.map(|_| SHARED_SECTION).into_iter().flatten()
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
