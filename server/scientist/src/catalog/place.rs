//! Where a query matched, and what a rewrite makes of it.

use hip_syntax::Edit;
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use super::code::{Code, Kernel, inside};
use super::entry::Entry;
use crate::stages::{LeftOut, Setting};

/// A match of an entry's query in a kernel, or in a device function that the kernel calls.
pub(crate) struct Place<'c> {
    pub(crate) code: &'c Code,
    /// The kernel or device function that the match stands in.
    pub(crate) kernel: Kernel<'c>,
    /// The kernel that it is about; the same as `kernel` for most.
    pub(crate) owner: Kernel<'c>,
    pub(crate) entry: &'c Entry,
    captures: Vec<(&'c str, Node<'c>)>,
}

impl<'c> Place<'c> {
    /// Every match of an entry's query in a kernel, in order of the text; for an entry that looks into callees, in the
    /// functions that it calls too.
    pub(crate) fn all(code: &'c Code, owner: Kernel<'c>, entry: &'c Entry, query: &'c Query) -> Vec<Self> {
        let callees = if entry.callees { code.callees(&owner) } else { Vec::new() };
        let mut places = Vec::new();
        for kernel in std::iter::once(owner).chain(callees) {
            let mut cursor = QueryCursor::new();
            let mut matches = cursor.matches(query, kernel.node, code.syntax().shadow().as_bytes());
            while let Some(found) = matches.next() {
                let name = |index: u32| query.capture_names()[index as usize];
                let captures: Vec<_> =
                    found.captures().iter().map(|capture| (name(capture.index), capture.node)).collect();
                if captures.iter().all(|(_, node)| inside(*node, kernel.node)) {
                    places.push(Self { code, kernel, owner, entry, captures });
                }
            }
        }
        places
    }

    /// A captured node.
    ///
    /// # Errors
    /// The query has no such capture, or it did not take part in this match.
    pub(crate) fn capture(&self, name: &str) -> Result<Node<'c>, Refusal> {
        self.captures.iter().find(|(found, _)| *found == name).map(|(_, node)| *node).ok_or(Refusal::NotHere)
    }

    /// The captured text.
    pub(crate) fn text(&self, name: &str) -> Result<&'c str, Refusal> {
        Ok(self.code.of(self.capture(name)?))
    }

    /// Fills `{capture}`, `{kernel}` and the given words into a text.
    pub(crate) fn fill(&self, text: &str, words: &[(String, String)]) -> String {
        let named = words.iter().map(|(name, word)| (name.as_str(), word.as_str()));
        let kernel = std::iter::once(("kernel", self.kernel.name));
        let captured = self.captures.iter().map(|(name, node)| (*name, self.code.of(*node)));
        let all = named.chain(kernel).chain(captured);
        all.fold(text.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), word))
    }
}

/// A change that an entry offers at a place.
pub(crate) struct Offer {
    /// What tells this place from the entry's others; with the entry's name it makes the key.
    pub(crate) site: String,
    /// The line it is about, from 1.
    pub(crate) line: u32,
    /// Further words for the entry's texts.
    pub(crate) words: Vec<(String, String)>,
    /// One for each value searched.
    pub(crate) changes: Vec<Change>,
    /// What the constants of a search are now.
    pub(crate) present: Vec<Setting>,
    /// Values of a search that are not tried.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Offer {
    /// One change at `kernel/site`.
    pub(crate) fn one(place: &Place<'_>, site: &str, at: Node<'_>, change: Change) -> Self {
        Self::several(place, site, at, vec![change])
    }

    /// A search at `kernel/site`.
    pub(crate) fn several(place: &Place<'_>, site: &str, at: Node<'_>, changes: Vec<Change>) -> Self {
        let site = if site.is_empty() { place.kernel.name.to_owned() } else { format!("{}/{site}", place.kernel.name) };
        let line = place.code.line(at.start_byte());
        Self { site, line, words: Vec::new(), changes, present: Vec::new(), left_out: Vec::new() }
    }

    /// An offer whose changes are worked out when they are asked for.
    pub(crate) fn nothing(line: u32) -> Self {
        Self {
            site: String::new(),
            line,
            words: Vec::new(),
            changes: Vec::new(),
            present: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Says what a constant of the search is now.
    pub(crate) fn from(mut self, name: impl Into<String>, value: i64) -> Self {
        self.present.push(Setting { name: name.into(), value });
        self
    }

    /// Says which values are not tried, and why.
    pub(crate) fn without(mut self, name: &str, values: impl IntoIterator<Item = (i64, String)>) -> Self {
        let left_out = |(value, reason)| LeftOut { setting: Setting { name: name.to_owned(), value }, reason };
        self.left_out.extend(values.into_iter().map(left_out));
        self
    }

    /// Adds a word for the entry's texts.
    pub(crate) fn word(mut self, name: &str, word: impl Into<String>) -> Self {
        self.words.push((name.to_owned(), word.into()));
        self
    }
}

/// The edits of one draft.
pub(crate) struct Change {
    pub(crate) edits: Vec<Edit>,
    /// What was done, and what was not.
    pub(crate) report: String,
    /// The values that it gives to constants, where it is one of a search.
    pub(crate) settings: Vec<Setting>,
}

impl Change {
    /// A change that is made in one way.
    pub(crate) fn new(edits: Vec<Edit>, report: impl Into<String>) -> Self {
        Self { edits, report: report.into(), settings: Vec::new() }
    }

    /// One of a search over the values of a constant.
    pub(crate) fn to(mut self, name: impl Into<String>, value: i64) -> Self {
        self.settings.push(Setting { name: name.into(), value });
        self
    }
}

/// Why a match is not offered.
#[derive(Clone)]
pub(crate) enum Refusal {
    /// The pattern is not really there; nothing worth a word.
    NotHere,
    /// The pattern is there and a condition for applying it fails.
    RuledOut(String),
}

/// What a rewrite says of a place.
pub(crate) type Ruling = Result<Offer, Refusal>;

/// Rules a place out, with a reason.
pub(crate) fn ruled_out<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::RuledOut(reason.into()))
}

/// Goes on when a condition holds, and rules the place out with a reason when it does not.
pub(crate) fn require(holds: bool, reason: impl Into<String>) -> Result<(), Refusal> {
    if holds { Ok(()) } else { ruled_out(reason) }
}
