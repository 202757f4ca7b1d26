//! One hypothesis of the catalog as its file in `queries/catalog/` holds it.

use serde::Deserialize;

use crate::stages::GainRange;

/// A hypothesis: what to look for, what to make of it, why, and the tests of both.
///
/// Texts may name captures and words of the rewrite in braces: `{array}`, `{kernel}`, `{value}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The file's name without `.toml`; the first part of the keys.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// The avenue it belongs to; the designer groups by it.
    pub(crate) idea: String,
    pub(crate) reason: String,
    pub(crate) source: String,
    pub(crate) rubric: String,
    /// Expected on MI300X.
    pub(crate) gain: GainRange,
    /// 0 to 100.
    pub(crate) innovation: u8,
    /// Tree-sitter query, run on each kernel's `function_definition`.
    pub(crate) query: String,
    /// Whether the query is run on the device functions that a kernel calls too.
    #[serde(default)]
    pub(crate) callees: bool,
    /// `template`, or a rewrite registered by this name.
    pub(crate) rewrite: String,
    /// For templates: what must hold of the captures, `CONDITION CAPTURE`.
    #[serde(default)]
    pub(crate) conditions: Vec<String>,
    /// For templates: the edits.
    #[serde(default)]
    pub(crate) edits: Vec<Template>,
    /// Values to search, in order of promise; each makes a draft.
    #[serde(default)]
    pub(crate) search: Vec<i64>,
    /// For templates with a search: what the value is called.
    #[serde(default)]
    pub(crate) constant: String,
    /// Pairs of hypotheses whose searches are made one, where both apply to a kernel.
    #[serde(default)]
    pub(crate) joins: Vec<[String; 2]>,
    /// For templates: the place in the key; the captured text that tells it from others in the same kernel.
    #[serde(default)]
    pub(crate) site: String,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests in the file are run by this crate's tests"))]
    pub(crate) applies: Vec<Applies>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests in the file are run by this crate's tests"))]
    pub(crate) must_not: Vec<MustNot>,
}

/// One edit of a template.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    /// The capture it is about.
    pub(crate) capture: String,
    pub(crate) place: Where,
    /// New text; lines after the first are indented like the capture's line.
    #[serde(default)]
    pub(crate) text: String,
}

/// Where a template's text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Where {
    /// In place of the capture.
    Replace,
    /// On a line of its own before the capture.
    Before,
    /// Nowhere: the capture goes, and its line with it where nothing else stands there.
    Remove,
}

/// A text to which the hypothesis applies, and what comes of it.
#[cfg_attr(not(test), expect(dead_code, reason = "run by this crate's tests"))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Applies {
    pub(crate) key: String,
    pub(crate) before: String,
    /// The first draft.
    pub(crate) after: String,
    /// The benchmark file that feeds the text, where one does.
    #[serde(default)]
    pub(crate) benchmark: String,
    /// Number of drafts.
    #[serde(default = "one")]
    pub(crate) drafts: usize,
}

/// A text to which it must not apply.
#[cfg_attr(not(test), expect(dead_code, reason = "run by this crate's tests"))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MustNot {
    /// Why it would be wrong or useless there.
    pub(crate) reason: String,
    /// Words that the catalog's own ruling must contain; empty where the pattern is simply not there.
    #[serde(default)]
    pub(crate) ruled_out: String,
    /// The benchmark file that feeds the text, where one does.
    #[serde(default)]
    pub(crate) benchmark: String,
    pub(crate) text: String,
}

fn one() -> usize {
    1
}

impl Entry {
    /// Reads a file of the catalog.
    ///
    /// # Errors
    /// What the file lacks or says wrongly, with its name.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut entry: Self =
            toml::from_str(text).map_err(|error| format!("queries/catalog/{name}.toml cannot be read: {error}"))?;
        entry.name = name.to_owned();
        Ok(entry)
    }
}
