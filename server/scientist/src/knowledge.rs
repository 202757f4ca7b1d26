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

/// A feature of sources, and words of which one must occur (all of a group joined by spaces).
const FEATURES: [(&str, &[&str]); 13] = [
    ("lds", &["__shared__"]),
    ("barrier", &["__syncthreads", "__syncwarp"]),
    ("matmul", &["gemm", "matmul", "mat_mul", "wmma", "mfma", "+= a[", "+= A["]),
    ("matrix-types", &["__half", "half", "_Float16", "bfloat16", "fp8", "int8_t"]),
    ("transpose", &["transpose"]),
    ("reduction", &["atomicAdd", "atomicMax", "reduce", "__shfl", "sum"]),
    ("wave", &["__shfl", "__ballot", "warpSize", "__any", "__all"]),
    ("atomics", &["atomic"]),
    ("softmax", &["softmax", "expf"]),
    ("stencil", &["stencil", "[i - 1]", "[i + 1]", "[x - 1]", "[x + 1]"]),
    ("transcendental", &["exp", "log", "sin", "cos", "sqrt", "pow", "tanh", "erf"]),
    ("double", &["double"]),
    ("integer-division", &[" % ", " / "]),
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
}

impl Knowledge {
    /// The notes that ship, and those of a folder, of which one of the same name takes a shipped one's place.
    ///
    /// # Errors
    /// When the folder or a note in it cannot be read.
    pub fn load(folder: Option<&Path>) -> Result<Self, String> {
        let mut notes = Vec::new();
        for (name, text) in SHIPPED {
            notes.push(Note::read(name, text).map_err(|error| format!("prompts/knowledge/{name}.md: {error}"))?);
        }
        for (name, text) in folder.map(files).transpose()?.unwrap_or_default() {
            let shown = folder.unwrap_or(Path::new("")).join(&name);
            let note = Note::read(name.trim_end_matches(".md"), &text)
                .map_err(|error| format!("{}: {error}", shown.display()))?;
            notes.retain(|other: &Note| other.name != note.name);
            notes.push(note);
        }
        Ok(Self { notes })
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
        if path.extension().is_some_and(|ending| ending == "md") {
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
    let found = FEATURES.iter().filter(|(_, words)| words.iter().any(|word| source.contains(word)));
    let mut features: BTreeSet<&'static str> = found.map(|(feature, _)| *feature).collect();
    if !features.contains("matmul") && !features.contains("lds") {
        features.insert("elementwise");
    }
    features
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
        std::fs::write(folder.path().join("bad.md"), "no table").unwrap();
        let error = Knowledge::load(Some(folder.path())).unwrap_err();
        assert!(error.contains("bad.md") && error.contains("+++"), "{error}");
    }

    #[test]
    fn every_shipped_note_has_sources_and_a_known_feature() {
        for note in Knowledge::load(None).unwrap().notes {
            assert!(!note.sources.is_empty(), "{}", note.name);
            for when in &note.when {
                let known = FEATURES.iter().any(|(feature, _)| feature == when);
                assert!(known || when == "always" || when == "elementwise", "{}: {when}", note.name);
            }
        }
    }
}
