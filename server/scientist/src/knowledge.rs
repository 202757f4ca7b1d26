//! Notes on the hardware, chosen by what a source does and cut to so many tokens.
//!
//! The notes are files (`prompts/knowledge/`, and a folder of the user's): a table of what a note is for, then its text.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

/// Notes that ship.
const SHIPPED: [(&str, &str); 10] = [
    ("overview", include_str!("../../../prompts/knowledge/overview.md")),
    ("memory", include_str!("../../../prompts/knowledge/memory.md")),
    ("lds", include_str!("../../../prompts/knowledge/lds.md")),
    ("occupancy", include_str!("../../../prompts/knowledge/occupancy.md")),
    ("matmul", include_str!("../../../prompts/knowledge/matmul.md")),
    ("mfma", include_str!("../../../prompts/knowledge/mfma.md")),
    ("reduction", include_str!("../../../prompts/knowledge/reduction.md")),
    ("arithmetic", include_str!("../../../prompts/knowledge/arithmetic.md")),
    ("bandwidth", include_str!("../../../prompts/knowledge/bandwidth.md")),
    ("launch", include_str!("../../../prompts/knowledge/launch.md")),
];

/// A feature of sources, and names of which one must occur in the code: as a whole name or as words in it (`sgemm` in
/// `sgemm_kernel`), one with two underscores as the beginning of a name (`__shfl` for `__shfl_down`). What is no name occurs
/// as it stands, but for blanks.
const FEATURES: [(&str, &[&str]); 13] = [
    ("lds", &["__shared__"]),
    ("barrier", &["__syncthreads", "__syncwarp"]),
    ("matmul", &["gemm", "sgemm", "dgemm", "hgemm", "bgemm", "matmul", "mat_mul", "wmma", "mfma"]),
    (
        "matrix-types",
        &["__half", "half2", "hip_fp16", "_Float16", "bfloat16", "bfloat162", "hip_bf16", "fp8", "int8_t"],
    ),
    ("transpose", &["transpose", "transposed"]),
    ("reduction", &["atomicAdd", "atomicMax", "reduce", "reduction", "__shfl", "sum"]),
    ("wave", &["__shfl", "__ballot", "warpSize", "__any", "__all"]),
    ("atomics", &["atomic"]),
    ("softmax", &["softmax", "expf", "__expf"]),
    ("stencil", &["stencil", "[i-1]", "[i+1]", "[x-1]", "[x+1]"]),
    (
        "transcendental",
        &[
            "exp", "expf", "exp2f", "exp10f", "log", "logf", "log2f", "log10f", "sin", "sinf", "cos", "cosf",
            "sincosf", "sqrt", "sqrtf", "rsqrtf", "pow", "powf", "tanh", "tanhf", "erf", "erff",
        ],
    ),
    ("double", &["double"]),
    ("integer-division", &["%", "/"]),
];

/// A note.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its file's name without the ending.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Features of a source that it is for; `always` for every source.
    pub when: Vec<String>,
    /// What is kept first, 0 to 100.
    pub priority: u8,
    /// Where its figures are from.
    pub sources: Vec<String>,
    /// The text.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    title: String,
    when: Vec<String>,
    priority: u8,
    #[serde(default)]
    sources: Vec<String>,
}

impl Note {
    fn read(name: &str, text: &str) -> Result<Self, String> {
        let parts = text.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++\n"));
        let (head, text) = parts.ok_or("it does not begin with a table between lines of +++")?;
        let Head { title, when, priority, sources } = toml::from_str(head).map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), title, when, priority, sources, text: text.trim().to_owned() })
    }

    /// Roughly, at four bytes a token.
    fn tokens(&self) -> usize {
        (self.title.len() + self.text.len()).div_ceil(4)
    }
}

/// Every note.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    notes: Vec<Note>,
    /// Names of those of the user's folder.
    own: Vec<String>,
}

impl Knowledge {
    /// The notes that ship, and those of a folder, of which one of the same name takes a shipped one's place.
    ///
    /// # Errors
    /// When the folder or a note in it cannot be read.
    pub fn load(folder: Option<&Path>) -> Result<Self, String> {
        let (mut notes, mut own) = (Vec::new(), Vec::new());
        for (name, text) in SHIPPED {
            notes.push(Note::read(name, text).map_err(|error| format!("prompts/knowledge/{name}.md: {error}"))?);
        }
        for (name, text) in folder.map(files).transpose()?.unwrap_or_default() {
            let shown = folder.unwrap_or(Path::new("")).join(&name);
            let note = Note::read(name.trim_end_matches(".md"), &text)
                .map_err(|error| format!("{}: {error}", shown.display()))?;
            notes.retain(|other: &Note| other.name != note.name);
            own.push(note.name.clone());
            notes.push(note);
        }
        match folder {
            Some(folder) if own.is_empty() => Err(format!("{}: there is no note (.md) in it", folder.display())),
            _ => Ok(Self { notes, own }),
        }
    }

    /// Refuses a note of the user's that is longer than all that is told: it would be left out without a word.
    ///
    /// # Errors
    /// Names the first of them.
    pub fn require_room(&self, tokens: usize) -> Result<(), String> {
        let is_own = |note: &&Note| self.own.contains(&note.name);
        match self.notes.iter().filter(is_own).find(|note| note.tokens() > tokens) {
            Some(note) => Err(format!(
                "the note {}.md is about {} tokens long, and at most {tokens} are told; shorten it, or raise knowledge_tokens",
                note.name,
                note.tokens()
            )),
            None => Ok(()),
        }
    }

    /// The notes that fit a source, the most important first, whole notes up to `tokens` in all.
    pub fn chosen(&self, source: &str, tokens: usize) -> Vec<&Note> {
        let features = features(source);
        let fits = |note: &&Note| note.when.iter().any(|when| when == "always" || features.contains(when.as_str()));
        let mut fitting: Vec<&Note> = self.notes.iter().filter(fits).collect();
        fitting.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.name.cmp(&b.name)));
        let mut left = tokens;
        fitting.retain(|note| {
            let taken = note.tokens() <= left;
            left -= if taken { note.tokens() } else { 0 };
            taken
        });
        fitting
    }

    /// The same as one text.
    pub fn text(&self, source: &str, tokens: usize) -> String {
        let notes = self.chosen(source, tokens);
        notes.iter().map(|note| format!("## {}\n{}", note.title, note.text)).collect::<Vec<_>>().join("\n\n")
    }
}

/// The Markdown files of a folder with their texts, by name.
fn files(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        if path.extension().is_some_and(|ending| ending == "md") && path.is_file() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            files.push((name, text));
        }
    }
    files.sort();
    Ok(files)
}

/// What a source does, as far as its words tell.
fn features(source: &str) -> BTreeSet<&'static str> {
    let code = Code::of(source);
    let found = FEATURES.iter().filter(|(_, signs)| signs.iter().any(|sign| code.has(sign)));
    let mut features: BTreeSet<&'static str> = found.map(|(feature, _)| *feature).collect();
    if code.sums_products() {
        features.insert("matmul");
    }
    if !features.contains("matmul") && !features.contains("lds") {
        features.insert("elementwise");
    }
    features
}

/// A source without its comments and texts.
struct Code {
    names: Vec<String>,
    /// The names as words: `_block_reduce_` for `blockReduce`.
    words: Vec<String>,
    lines: Vec<String>,
    /// Without blanks; those around an operator are told by [`Code::has`].
    dense: String,
}

impl Code {
    fn of(source: &str) -> Self {
        let text = without_comments(source);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut names: Vec<String> =
            text.split(|c| !is_of_name(c)).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        // `double buffering` is no arithmetic.
        let is_buffering = |at: usize| names.get(at + 1).is_some_and(|next| next.to_lowercase().starts_with("buffer"));
        let kept: Vec<bool> = (0..names.len()).map(|at| names[at] != "double" || !is_buffering(at)).collect();
        let mut keeps = kept.into_iter();
        names.retain(|_| keeps.next().unwrap_or(true));
        let words = names.iter().map(|name| words(name)).collect();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).map(str::to_owned).collect();
        let dense = text.chars().filter(|c| !c.is_whitespace()).collect();
        Self { names, words, lines, dense }
    }

    fn has(&self, sign: &str) -> bool {
        let is_letter = |c: char| c.is_ascii_alphabetic();
        match sign.chars().next() {
            Some('%' | '/') => self.lines.iter().any(|line| line.contains(&format!(" {sign} "))),
            Some('[') => self.dense.contains(sign),
            Some('_') => {
                let begins = |name: &&String| name.strip_prefix(sign).is_some_and(|rest| !rest.starts_with(is_letter));
                self.names.iter().any(|name| begins(&name))
            }
            _ => {
                let sign = words(sign);
                self.words.iter().any(|name| name.contains(&sign))
            }
        }
    }

    /// Whether products of elements are summed up, as in a product of matrices.
    fn sums_products(&self) -> bool {
        self.lines.iter().any(|line| {
            let summed = line.split_once("+=").map(|(_, summed)| summed);
            summed.is_some_and(|summed| summed.contains('*') && summed.matches('[').count() >= 2)
        })
    }
}

/// The words of a name, which underscores and capitals divide, between underscores.
fn words(name: &str) -> String {
    let mut words = String::from("_");
    let mut last = '_';
    for letter in name.chars() {
        let begins = letter == '_' || (letter.is_ascii_uppercase() && last.is_ascii_lowercase());
        if begins && !words.ends_with('_') {
            words.push('_');
        }
        if letter != '_' {
            words.push(letter.to_ascii_lowercase());
        }
        last = letter;
    }
    if words.ends_with('_') { words } else { words + "_" }
}

/// The text with blanks for its comments and for what stands between quotes on one line.
fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        let length = match (letter, rest.as_bytes().get(1)) {
            ('/', Some(b'/')) => rest.find('\n').unwrap_or(rest.len()),
            ('/', Some(b'*')) => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            ('"', _) => {
                let line = &rest[1..rest.find('\n').unwrap_or(rest.len())];
                line.find('"').map_or(1, |at| at + 2)
            }
            _ => {
                text.push(letter);
                rest = &rest[letter.len_utf8()..];
                continue;
            }
        };
        text.push(' ');
        text.extend(rest[..length].matches('\n'));
        rest = &rest[length..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, tokens: usize) -> Vec<String> {
        let knowledge = Knowledge::load(None).unwrap();
        knowledge.chosen(source, tokens).iter().map(|note| note.name.clone()).collect()
    }

    #[test]
    fn notes_are_chosen_by_what_the_source_does() {
        let gemm = names("__global__ void sgemm() { __shared__ float t[4]; }", 100_000);
        assert!(gemm.contains(&"matmul".to_owned()) && gemm.contains(&"mfma".to_owned()), "{gemm:?}");
        let scale = names("__global__ void scale(float* x) { x[threadIdx.x] = 1; }", 100_000);
        assert!(!scale.contains(&"matmul".to_owned()) && scale.contains(&"bandwidth".to_owned()), "{scale:?}");
        assert_eq!(scale[0], "overview");
    }

    #[test]
    fn features_are_told_by_names_and_not_by_letters() {
        let check = |source: &str, expected: &[&str]| {
            let found: Vec<&str> = features(source).into_iter().filter(|feature| *feature != "elementwise").collect();
            assert_eq!(found, expected, "{source}");
        };
        check("explicit int expected; uint8_t assume; int half = n >> 1; int logical, single, cost, power;", &[]);
        check("// a / b and the sum of gemm\n/* double\n exp */ const char* s = \"atomic % 3 sqrt\";", &[]);
        check("#include <hip/hip_runtime.h>\nint a = b/c;", &[]);
        check("int a = b / c;", &["integer-division"]);
        check("float block_sum = 0;", &["reduction"]);
        check("void blockReduce(); atomicAdd(x, 1);", &["atomics", "reduction"]);
        check("v += __shfl_down(v, 1); if (__any(v)) return;", &["reduction", "wave"]);
        check("int8_t a; __half b; __half2 c;", &["matrix-types"]);
        check("#include <hip/hip_fp16.h>\nhalf a;", &["matrix-types"]);
        check("void sgemmTiled();", &["matmul"]);
        check("void mat_mul_kernel();", &["matmul"]);
        check("s += A[i * n + k] * B[k * n + j];", &["matmul"]);
        check("s += A[i];", &[]);
        check("y = expf(x); z = __expf(x); double d;", &["double", "softmax", "transcendental"]);
        check("Use double buffering", &[]);
        check("b[i] = a[i-1] + a[i + 1];", &["stencil"]);
    }

    #[test]
    fn the_passes_of_wide_reads_are_those_of_the_forecast() {
        // The note and the device's table say the same.
        let table = include_str!("../../forecast/devices/mi300x.toml");
        let text = Knowledge::load(None).unwrap().text("__shared__", 100_000);
        for (told, lanes) in [
            ("0-3 with 20-23", "[0, 1, 2, 3, 20, 21, 22, 23]"),
            ("4-7 with 16-19", "[4, 5, 6, 7, 16, 17, 18, 19]"),
            ("8-11 with 28-31", "[8, 9, 10, 11, 28, 29, 30, 31]"),
            ("12-15\n  with 24-27", "[12, 13, 14, 15, 24, 25, 26, 27]"),
        ] {
            assert!(text.contains(told) && table.contains(lanes), "{told}");
        }
    }

    #[test]
    fn notes_are_cut_to_their_budget() {
        let knowledge = Knowledge::load(None).unwrap();
        for tokens in [0, 300, 900, 2500] {
            let text = knowledge.text("gemm __shared__", tokens);
            assert!(text.len() <= tokens * 4 + 64, "{tokens}: {}", text.len());
        }
        assert_eq!(names("gemm", 0), Vec::<String>::new());
        assert!(names("gemm", 500).contains(&"overview".to_owned()));
    }

    #[test]
    fn a_folder_adds_and_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let note =
            |title: &str| format!("+++\ntitle = \"{title}\"\nwhen = [\"always\"]\npriority = 99\n+++\nOur own.\n");
        std::fs::write(folder.path().join("house.md"), note("House rules")).unwrap();
        std::fs::write(folder.path().join("lds.md"), note("LDS as we know it")).unwrap();
        let knowledge = Knowledge::load(Some(folder.path())).unwrap();
        let text = knowledge.text("gemm", 100_000);
        assert!(text.contains("House rules") && text.contains("LDS as we know it"), "{text}");
        assert!(!text.contains("LDS and its banks"), "{text}");
        assert_eq!(knowledge.require_room(7), Ok(()));
        let error = knowledge.require_room(4).unwrap_err();
        assert!(error.contains("house.md is about") && error.contains("knowledge_tokens"), "{error}");
        assert_eq!(Knowledge::load(None).unwrap().require_room(0), Ok(()), "the shipped ones are cut");
        let empty = tempfile::tempdir().unwrap();
        assert!(Knowledge::load(Some(empty.path())).unwrap_err().contains("there is no note"));
        std::fs::write(folder.path().join("bad.md"), "no table").unwrap();
        let error = Knowledge::load(Some(folder.path())).unwrap_err();
        assert!(error.contains("bad.md") && error.contains("+++"), "{error}");
    }

    #[test]
    fn every_shipped_note_has_sources_and_a_known_feature() {
        for note in Knowledge::load(None).unwrap().notes {
            // Where it can be looked up; a data sheet may have no address that stays.
            let is_found = |source: &String| source.contains(": https://") || source.ends_with("data sheet");
            assert!(note.sources.iter().all(is_found), "{}: {:?}", note.name, note.sources);
            assert!(note.sources.iter().any(|source| source.contains("https://")), "{}", note.name);
            for when in &note.when {
                let known = FEATURES.iter().any(|(feature, _)| feature == when);
                assert!(known || when == "always" || when == "elementwise", "{}: {when}", note.name);
            }
        }
    }
}
