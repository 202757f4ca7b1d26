//! The offline catalog: hypotheses as tree-sitter queries with rewrites, one file each in `queries/catalog/`.
//!
//! The catalog is rule-based: it recognises patterns on the syntax tree and changes them where the conditions written
//! beside each rewrite hold. A change keeps the results except for rounding; a place where that cannot be seen from the
//! text is ruled out, with the reason. What a change is worth only the lab says.
//!
//! - `entry` is the format of the files (queries/catalog/README.md); `template` carries out those that are data alone,
//!   `rewrites` lists the others, and `place` is what both work on.
//! - `outside` is what a benchmark file that launches a kernel itself says of it.
//! - `code`, `constant`, `block`, `knob`, `loops`, `threads`, `numbering`, `floats` and `trees` answer what conditions ask.
//! - `joint` makes one search over constants of two.
//! - `stretches` parts a kernel at its barriers and prints it with several items a thread.

mod block;
mod code;
mod constant;
mod edit;
mod elementwise;
mod entry;
mod floats;
mod joint;
mod knob;
mod loops;
mod numbering;
mod outside;
mod place;
mod rewrites;
#[cfg(test)]
mod stage_tests;
mod stretches;
mod template;
#[cfg(test)]
mod tests;
mod threads;
mod trees;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use hip_syntax::Language;
use hip_syntax::rewrite::Before;
use lab::Cancel;
use lab::benchmark::Benchmark;
use tree_sitter::Query;

use crate::designer::CatalogDesigner;
use crate::selector::CatalogSelector;
use crate::stages::{Draft, Hypothesis, StageError};
use crate::writer::CatalogWriter;
pub(crate) use code::Code;
use code::Kernel;
use entry::Entry;
use joint::Joined;
use outside::Outside;
use place::{Change, Offer, Place, Refusal, Ruling};

/// Suggestions shown for one kernel at most.
const SUGGESTIONS_PER_KERNEL: usize = 8;

type Rewrite = for<'c> fn(&Place<'c>) -> Ruling;

/// How often whoever waits for another's tree asks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(2);

/// The hypotheses, ready to be matched. Clones share them.
///
/// **Invariant**: a catalog and its clones have one tree of a text at a time between them. A tree takes a kilobyte a line, and
/// an editor looks for hypotheses while an evolution selects, designs and writes several drafts side by side.
#[derive(Clone)]
pub struct Catalog {
    hypotheses: Arc<[Loaded]>,
    /// The kernel that the benchmark file launches.
    outside: Option<Outside>,
    turn: Arc<Mutex<()>>,
}

/// The turn to have a tree.
type Turn<'t> = MutexGuard<'t, ()>;

/// What is kept of what is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// The best hypotheses of each kernel, at most so many, and nothing else.
    Best(usize),
    /// All hypotheses, and what was ruled out: of all kernels of a large file the changes are larger than the file.
    Hypotheses,
    /// The changes that they stand for, too.
    Changes,
}

struct Loaded {
    entry: Entry,
    query: Arc<Query>,
    rewrite: Rewrite,
}

/// Compiled queries by their text: compiling takes tens of milliseconds, and many entries ask for whole kernels alike.
#[derive(Default)]
struct Queries(HashMap<String, Arc<Query>>);

impl Queries {
    fn compiled(&mut self, text: &str) -> Result<Arc<Query>, tree_sitter::QueryError> {
        if let Some(known) = self.0.get(text) {
            return Ok(Arc::clone(known));
        }
        // Kernels stand in texts with device code alone, and those are read with this grammar.
        let query = Arc::new(Query::new(&Language::Cuda.grammar(), text)?);
        self.0.insert(text.to_owned(), Arc::clone(&query));
        Ok(query)
    }
}

/// A hypothesis at a place where it applies.
pub(crate) struct Found {
    /// As stages and users see it.
    pub(crate) hypothesis: Hypothesis,
    /// The avenue it belongs to.
    pub(crate) idea: String,
    offer: Offer,
    /// The two searches that it is made of, if it is.
    joined: Option<Joined>,
}

impl Found {
    /// Best first by the middle of the expected range.
    fn by_rank(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (&self.hypothesis, &other.hypothesis);
        theirs.gain.middle().total_cmp(&mine.gain.middle()).then_with(|| mine.key.cmp(&theirs.key))
    }
}

/// A place where a hypothesis' pattern is and a condition forbids it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuledOut {
    /// Name of the hypothesis.
    pub name: String,
    /// The kernel.
    pub kernel: String,
    /// Why.
    pub reason: String,
}

impl Catalog {
    /// The catalog that is built in.
    ///
    /// An entry that cannot be read is left out and logged; a test of this crate makes sure that none is.
    pub fn load() -> Self {
        let mut hypotheses = Vec::new();
        let mut queries = Queries::default();
        for (name, text) in rewrites::FILES {
            match Loaded::read(name, text, &mut queries) {
                Ok(loaded) => hypotheses.push(loaded),
                Err(error) => tracing::error!("{error}; the hypothesis is left out"),
            }
        }
        Self { hypotheses: hypotheses.into(), outside: None, turn: Arc::default() }
    }

    /// With the benchmark file that feeds the texts: a kernel that it launches is launched from outside of them, in blocks
    /// that are known and that no draft can change.
    pub fn fed_by(mut self, benchmark: Option<&Benchmark>) -> Self {
        self.outside = benchmark.and_then(Outside::of);
        self
    }

    /// A text under the catalog's eyes, and its tree. Whoever has the turn drops it before there is another.
    fn read(&self, _: &Turn<'_>, text: &str) -> Code {
        Code::parse(text).launched_outside(self.outside.clone())
    }

    /// Waits for the turn to have a tree.
    ///
    /// # Errors
    /// [`StageError::Cancelled`].
    fn take_turn(&self, cancel: &Cancel) -> Result<Turn<'_>, StageError> {
        loop {
            match self.turn.try_lock() {
                Ok(turn) => return Ok(turn),
                Err(TryLockError::Poisoned(turn)) => return Ok(PoisonError::into_inner(turn)),
                Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Err(StageError::Cancelled),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PATIENCE),
            }
        }
    }

    /// The three stages with this catalog behind them.
    pub fn stages(self) -> (CatalogSelector, CatalogDesigner, CatalogWriter) {
        let shared = Arc::new(self);
        (
            CatalogSelector::new(Arc::clone(&shared)),
            CatalogDesigner::new(Arc::clone(&shared)),
            CatalogWriter::new(shared),
        )
    }

    /// Stage 3 alone.
    pub fn writer(self: &Arc<Self>) -> CatalogWriter {
        CatalogWriter::new(Arc::clone(self))
    }

    /// Names of the hypotheses with their titles' patterns, for listings.
    pub fn names(&self) -> Vec<&str> {
        self.hypotheses.iter().map(|loaded| loaded.entry.name.as_str()).collect()
    }

    /// What applies to a text, best first by the middle of the expected range: at most eight a kernel, or those of the
    /// named kernel alone.
    pub fn suggest(&self, text: &str, kernel: Option<&str>) -> Vec<Hypothesis> {
        // Nobody else holds this flag, so nobody cancels.
        self.suggest_until(text, kernel, &Cancel::new()).unwrap_or_default()
    }

    /// As [`Catalog::suggest`], until somebody asks it to stop.
    ///
    /// # Errors
    /// [`StageError::Cancelled`].
    pub fn suggest_until(
        &self,
        text: &str,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Vec<Hypothesis>, StageError> {
        let is_wanted = is_wanted(kernel);
        self.ranked(text, &is_wanted, Keep::Best(SUGGESTIONS_PER_KERNEL), cancel)
    }

    /// As [`Catalog::suggest_until`] for some of the kernels of a text.
    ///
    /// # Errors
    /// [`StageError::Cancelled`].
    pub fn suggest_for(
        &self,
        text: &str,
        kernels: &HashSet<&str>,
        cancel: &Cancel,
    ) -> Result<Vec<Hypothesis>, StageError> {
        self.ranked(text, &|name| kernels.contains(name), Keep::Best(SUGGESTIONS_PER_KERNEL), cancel)
    }

    /// All that applies to a text, best first, however much it is.
    pub fn suggest_all(&self, text: &str) -> Vec<Hypothesis> {
        self.ranked(text, &|_| true, Keep::Hypotheses, &Cancel::new()).unwrap_or_default()
    }

    fn ranked(
        &self,
        text: &str,
        is_wanted: &dyn Fn(&str) -> bool,
        keep: Keep,
        cancel: &Cancel,
    ) -> Result<Vec<Hypothesis>, StageError> {
        let turn = self.take_turn(cancel)?;
        let (mut found, _) = self.look(&self.read(&turn, text), is_wanted, keep, cancel)?;
        found.sort_by(Found::by_rank);
        Ok(found.into_iter().map(|found| found.hypothesis).collect())
    }

    /// The places of a text where a hypothesis' pattern is and its conditions do not hold.
    pub fn ruled_out(&self, text: &str) -> Vec<RuledOut> {
        self.find(text, None, &Cancel::new()).map(|(_, ruled_out)| ruled_out).unwrap_or_default()
    }

    /// Carries out a hypothesis about a kernel, or about whichever it fits: one draft, or one for each value of a search.
    ///
    /// # Errors
    /// [`StageError::Unusable`] when the key does not apply to this text (any more), or no draft parses.
    pub fn apply(&self, text: &str, kernel: Option<&str>, key: &str) -> Result<Vec<Draft>, StageError> {
        self.apply_until(text, kernel, key, &Cancel::new())
    }

    /// As [`Catalog::apply`], until somebody asks it to stop.
    ///
    /// # Errors
    /// Those of [`Catalog::apply`], and [`StageError::Cancelled`].
    pub fn apply_until(
        &self,
        text: &str,
        kernel: Option<&str>,
        key: &str,
        cancel: &Cancel,
    ) -> Result<Vec<Draft>, StageError> {
        let turn = self.take_turn(cancel)?;
        let (found, ruled_out, before) = self.look_for_changes(&turn, text, kernel, cancel)?;
        let Some(found) = found.into_iter().find(|found| found.hypothesis.key == key) else {
            return Err(StageError::Unusable(not_there(key, &ruled_out)));
        };
        if let Some(joined) = &found.joined {
            return self.join(&turn, text, &found.hypothesis.kernel, joined);
        }
        let (drafts, failed): (Vec<_>, Vec<_>) =
            found.offer.changes.iter().map(|change| write(&before, text, change)).partition(Result::is_ok);
        let drafts: Vec<Draft> = drafts.into_iter().flatten().collect();
        match failed.into_iter().find_map(Result::err) {
            Some(reason) if drafts.is_empty() => {
                Err(StageError::Unusable(format!("`{key}` was not written: {reason}")))
            }
            _ => Ok(drafts),
        }
    }

    /// Everything that applies to a text or to one of its kernels, without its changes, and what was ruled out.
    ///
    /// # Errors
    /// [`StageError::Cancelled`].
    pub(crate) fn find(
        &self,
        text: &str,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<(Vec<Found>, Vec<RuledOut>), StageError> {
        let turn = self.take_turn(cancel)?;
        let is_wanted = is_wanted(kernel);
        self.look(&self.read(&turn, text), &is_wanted, Keep::Hypotheses, cancel)
    }

    /// As [`Catalog::find`] with the changes, and what has to be known of the text to make them. The tree is gone by then.
    fn look_for_changes(
        &self,
        turn: &Turn<'_>,
        text: &str,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<(Vec<Found>, Vec<RuledOut>, Before), StageError> {
        let code = self.read(turn, text);
        let is_wanted = is_wanted(kernel);
        let (found, ruled_out) = self.look(&code, &is_wanted, Keep::Changes, cancel)?;
        Ok((found, ruled_out, Before::of(code.syntax())))
    }

    fn look(
        &self,
        code: &Code,
        is_wanted: &dyn Fn(&str) -> bool,
        keep: Keep,
        cancel: &Cancel,
    ) -> Result<(Vec<Found>, Vec<RuledOut>), StageError> {
        let mut seen = Seen::default();
        for subject in code.kernels().into_iter().filter(|subject| is_wanted(subject.name)) {
            let before = seen.found.len();
            for loaded in self.hypotheses.iter() {
                if cancel.is_cancelled() {
                    return Err(StageError::Cancelled);
                }
                loaded.look(code, subject, &mut seen);
            }
            self.hypotheses.iter().for_each(|loaded| loaded.join(subject.name, &mut seen));
            seen.keep(keep, before);
        }
        Ok((seen.found, seen.ruled_out))
    }
}

/// What was found so far, each thing once.
#[derive(Default)]
struct Seen {
    found: Vec<Found>,
    keys: HashSet<String>,
    ruled_out: Vec<RuledOut>,
    rulings: HashSet<RuledOut>,
}

impl Seen {
    /// Drops what nobody wants of those that were found since there were `before`. The pairs of searches, which ask for their
    /// changes, are among them already.
    fn keep(&mut self, keep: Keep, before: usize) {
        if let Keep::Best(most) = keep {
            self.found[before..].sort_by(Found::by_rank);
            self.found.truncate(before + most);
            (self.ruled_out, self.rulings) = Default::default();
        }
        if keep != Keep::Changes {
            self.found[before..].iter_mut().for_each(|found| found.offer.changes = Vec::new());
        }
    }

    fn find(&mut self, new: Found) {
        if self.keys.insert(new.hypothesis.key.clone()) {
            self.found.push(new);
        }
    }

    fn rule_out(&mut self, new: RuledOut) {
        if self.rulings.insert(new.clone()) {
            self.ruled_out.push(new);
        }
    }
}

/// Captured code may run over several lines; what is shown in lists does not.
/// Whether a kernel's name is the wanted one, which may come with namespaces; all are wanted where none is named.
fn is_wanted(kernel: Option<&str>) -> impl Fn(&str) -> bool {
    move |name| kernel.is_none_or(|wanted| wanted.rsplit("::").next() == Some(name))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn not_there(key: &str, ruled_out: &[RuledOut]) -> String {
    let name = key.split(':').next().unwrap_or(key);
    match ruled_out.iter().find(|ruling| ruling.name == name) {
        Some(ruling) => format!("`{key}` does not apply to this version: {}", ruling.reason),
        None => format!("`{key}` does not apply to this version: its pattern is not there (any more)"),
    }
}

/// Makes a draft and reads it again: a change that leaves the text less readable than it was is none.
fn write(before: &Before, text: &str, change: &Change) -> Result<Draft, String> {
    let changed = before.apply(&change.edits).map_err(|error| error.to_string())?;
    if **changed.text() == *text {
        return Err("it would change nothing".into());
    }
    Ok(Draft { text: changed.text().to_string(), report: change.report.clone(), settings: change.settings.clone() })
}

impl Loaded {
    fn read(name: &str, text: &str, queries: &mut Queries) -> Result<Self, String> {
        let entry = Entry::read(name, text)?;
        let file = format!("queries/catalog/{name}.toml");
        let query = queries.compiled(&entry.query).map_err(|error| format!("{file}: the query is wrong: {error}"))?;
        let rewrite = rewrites::named(&entry.rewrite)
            .ok_or_else(|| format!("{file}: there is no rewrite `{}`", entry.rewrite))?;
        Ok(Self { entry, query, rewrite })
    }

    fn look(&self, code: &Code, kernel: Kernel<'_>, seen: &mut Seen) {
        for place in Place::all(code, kernel, &self.entry, &self.query) {
            match (self.rewrite)(&place) {
                Ok(offer) => seen.find(self.found(&place, offer)),
                Err(Refusal::NotHere) => {}
                Err(Refusal::RuledOut(reason)) => {
                    let (name, kernel) = (self.entry.name.clone(), kernel.name.to_owned());
                    seen.rule_out(RuledOut { name, kernel, reason: on_one_line(&reason) });
                }
            }
        }
    }

    fn found(&self, place: &Place<'_>, offer: Offer) -> Found {
        let fill = |text: &str| on_one_line(&place.fill(text, &offer.words));
        let hypothesis = Hypothesis {
            key: format!("{}:{}", self.entry.name, offer.site),
            kernel: place.owner.name.to_owned(),
            title: fill(&self.entry.title),
            reason: fill(&self.entry.reason),
            source: self.entry.source.clone(),
            rubric: fill(&self.entry.rubric),
            line: offer.line,
            gain: self.entry.gain,
            innovation: self.entry.innovation,
            author: None,
            present: offer.present.clone(),
            left_out: offer.left_out.clone(),
        };
        Found { hypothesis, idea: self.entry.idea.clone(), offer, joined: None }
    }
}
