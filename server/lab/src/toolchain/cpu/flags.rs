//! The compiler's flags.

/// How the optimiser works, for the runtime and for programs.
///
/// As a GPU compiler's defaults: full optimisation, contraction to fused multiply-adds, no `errno` from mathematics, but
/// not `-ffast-math`, which reorders sums. Type punning through pointers is common in kernels and works on a GPU.
const OPTIMISATION: [&str; 7] = [
    "-O3",
    NATIVE,
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-semantic-interposition",
    "-ftls-model=initial-exec",
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

/// The standard that hipcc takes when none is named.
pub(super) const DEFAULT_STANDARD: &str = "gnu++17";

/// Flags of every compilation.
pub(super) fn common() -> impl Iterator<Item = &'static str> {
    OPTIMISATION.into_iter().chain(MESSAGES).chain(WARNINGS).chain(["-fPIC", "-pthread"])
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
