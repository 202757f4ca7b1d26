//! What a version may be, before anything reads it as code: a model may write anything, and what reads code takes time with every
//! kernel and every bracket.

use llm::foreign::is_hidden;

/// Bytes that a version may have beyond [`TIMES`] its base's: to read and compile what is larger would take minutes.
const ROOM: usize = 32 << 10;
/// How many times as long as its base a version may be.
const TIMES: usize = 4;
/// The longest version of a base that is shorter; one of a longer base may have [`ROOM`] more than it.
const LONGEST: usize = 512 << 10;
/// Kernels more than in the base.
const MORE_KERNELS: usize = 256;
/// Brackets inside one another: Clang's own limit.
const DEEPEST: usize = 256;

/// Whether a text may be a version of its base.
///
/// # Errors
/// What is wrong with it, in words that a model can act upon.
pub(super) fn check(text: &str, base: &str) -> Result<(), String> {
    let most = (base.len() * TIMES + ROOM).min(LONGEST.max(base.len() + ROOM));
    if text.len() > most {
        return Err(format!("the file is {} bytes long; {most} are enough for any version of it", text.len()));
    }
    let kernels = |text: &str| text.matches("__global__").count();
    if kernels(text) > kernels(base) + MORE_KERNELS {
        return Err(format!("the file has {} kernels; at most {MORE_KERNELS} may be added", kernels(text)));
    }
    if nests_too_deep(text) && !nests_too_deep(base) {
        return Err(format!("there are more than {DEEPEST} brackets inside one another"));
    }
    // They are shown in terminals, in other places than where they take effect, or not at all.
    let hidden = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\r' | '\u{c}') && !base.contains(*c));
    match hidden {
        Some(hidden) => Err(format!("there is a hidden character in the file (U+{:04X})", u32::from(hidden))),
        None => Ok(()),
    }
}

/// Whether brackets, angle brackets among them, stand deeper inside one another than anybody writes them. Comments and texts are
/// not told from code.
fn nests_too_deep(text: &str) -> bool {
    let (mut depth, mut angles) = (0usize, 0usize);
    text.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            _ => {}
        }
        // What compares has one angle bracket that nothing closes; no template's arguments go on behind these.
        if matches!(byte, b';' | b'{' | b'}') {
            angles = 0;
        }
        depth > DEEPEST || angles > DEEPEST
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stay_within_what_can_be_read() {
        let base = "__global__ void k(float* a) {\n    for (int i = 0; i < 4; i++) a[i] <<= 1;\n}\n";
        let long = "// a line of a file that somebody wrote\n".repeat(20_000);
        let (templates, brackets) = ("A<".repeat(300) + "int" + &">".repeat(300), "(".repeat(300) + &")".repeat(300));
        for (text, base, expected) in [
            (base.to_owned(), base, None),
            (base.repeat(200), base, None),
            (format!("// {}\n{base}", "x".repeat(ROOM)), base, None),
            (format!("// {}\n{base}", "x".repeat(ROOM + 4 * base.len())), base, Some("are enough for any version")),
            (long.clone() + base, base, Some("are enough for any version")),
            (long.clone() + base, long.as_str(), None),
            (long.repeat(2), long.as_str(), Some("are enough for any version")),
            ("__global__ void k() {}\n".repeat(300), base, Some("the file has 300 kernels")),
            (format!("{base}{templates} a;\n"), base, Some("256 brackets")),
            (format!("{base}int a = {brackets};\n"), base, Some("256 brackets")),
            (base.repeat(2) + &"if (a < b) c = d < e;\n".repeat(300), base, None),
            (base.replace("for", "\u{1b}[2Jfor"), base, Some("(U+001B)")),
            (base.replace("for", "/*\u{202e}*/for"), base, Some("(U+202E)")),
            (base.replace('\n', "\r\n\u{c}"), base, None),
            ("// \u{1b}\n".to_owned() + base, "// \u{1b}\n", None),
        ] {
            let found = check(&text, base);
            match expected {
                None => assert_eq!(found, Ok(()), "{} bytes", text.len()),
                Some(part) => assert!(found.as_ref().is_err_and(|why| why.contains(part)), "{part}: {found:?}"),
            }
        }
    }
}
