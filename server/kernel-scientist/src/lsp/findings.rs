//! What is shown as diagnostics of each document, kept so that a part of it can be replaced, and moved along with the text.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hip_syntax::Splice;
use lab::benchmark::Benchmark;
use lab::{Diagnostic, Failure};

use super::diagnostics::{self, BUILD, Finding, Places, Severity, of_failure};
use super::jobs::Job;
use super::outcome::Outcome;
use super::session::{Event, Session, State};
use super::to_proto::Publication;

impl Session {
    /// Shows diagnostics of a document, in place of those shown before.
    pub(super) fn publish(&self, uri: &str, found: Vec<Finding>) {
        let publication = {
            let mut state = self.state();
            let Some(document) = state.documents.get(uri) else { return };
            let (version, text) = (Some(document.version), document.text.clone());
            let before = state.found.insert(uri.to_owned(), found.clone());
            if before.unwrap_or_default().is_empty() && found.is_empty() {
                return;
            }
            let (encoding, shows_related) = (state.abilities.encoding, state.abilities.shows_related);
            let is_stale = state.found_in.get(uri).is_some_and(|found_in| found_in.is_stale);
            Publication { uri: uri.to_owned(), version, text, encoding, found, shows_related, is_stale }
        };
        self.outbox.publish(publication);
    }

    /// Shows what a job's run found, in place of what was shown before; bound to the code of its kernel, where it had one.
    pub(super) fn publish_of(&self, job: &Job, found: Vec<Finding>) {
        let uri = &job.target.uri;
        {
            let mut state = self.state();
            state.found_in.remove(uri);
            if let Some((kernel, fingerprint)) = job.target.kernel.clone().zip(job.fingerprint.clone()) {
                state.found_in.insert(uri.clone(), FoundIn { kernel, fingerprint, is_stale: false });
                state.compare_with_found_in(uri);
            }
        }
        self.publish(uri, found);
    }

    /// A document was read: what runs found in it is stale while its kernel is not what was run.
    pub(super) fn compare_findings(&self, uri: &str) {
        let found = {
            let mut state = self.state();
            if !state.compare_with_found_in(uri) {
                return;
            }
            state.found.get(uri).cloned().unwrap_or_default()
        };
        self.publish(uri, found);
    }

    /// Findings at places of a text that was built, in the document as it is now; `find` also gets the place of the kernel
    /// that it was built for, or the top of the document.
    pub(super) fn located(
        &self,
        uri: &str,
        kernel: Option<&str>,
        built: &str,
        find: impl FnOnce(&Places<'_>, Range<usize>) -> Vec<Finding>,
    ) -> Vec<Finding> {
        let (path, text, kernel) = {
            let state = self.state();
            let Some(document) = state.documents.get(uri) else { return Vec::new() };
            let view = state.view(uri);
            let kernel =
                view.as_ref().zip(kernel).and_then(|(view, name)| view.range_now(&view.kernel(name)?.name_range));
            (document.path.clone(), document.text.to_string(), kernel.unwrap_or(0..0))
        };
        find(&Places::new(&path, built, &text), kernel)
    }

    /// The document as it was in `built` was built for the device in the background: `failure` is why it did not compile, if it
    /// did not. That takes the place of what was said of earlier builds.
    pub(super) fn was_built(&self, uri: &str, built: &str, failure: Option<&Failure>) {
        let new = failure.map_or_else(Vec::new, |failure| {
            self.located(uri, None, built, |places, top| of_failure(failure, places, top, None))
        });
        let before = self.state().found.get(uri).cloned().unwrap_or_default();
        let mut now: Vec<Finding> = before.iter().filter(|finding| !is_of_the_file(finding)).cloned().collect();
        now.extend(new);
        if now != before {
            self.publish(uri, now);
        }
    }
}

/// The code that a run found something in.
pub struct FoundIn {
    kernel: String,
    fingerprint: String,
    /// The kernel is another now.
    is_stale: bool,
}

/// What a job found wrong with a benchmark file.
pub struct BenchmarkFailure {
    /// The file's text then.
    text: String,
    /// What was said.
    why: String,
}

impl Session {
    /// A job has used a benchmark file, in vain or not: what it says of that file is shown in it, while it is as it was then.
    pub(super) fn benchmark_was_used(self: &Arc<Self>, source: &Path, outcome: &Outcome) {
        let path = Benchmark::path_for(source);
        let why = match outcome {
            Outcome::Error(why) => why.clone(),
            Outcome::Failed(Failure::DoesNotCompile { diagnostics }) => {
                diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
            }
            Outcome::Timed(_) | Outcome::Evolved(..) | Outcome::Failed(_) => String::new(),
            _ => return,
        };
        let text = lab::settings_text::read(&path).ok().filter(|_| diagnostics::names(&path, &why));
        let uris: Vec<String> = {
            let mut state = self.state();
            let before = state.benchmark_failures.remove(&path).is_some();
            if text.is_none() && !before {
                return;
            }
            if let Some(text) = text {
                state.benchmark_failures.insert(path.clone(), BenchmarkFailure { text, why });
            }
            let open = state.documents.iter().filter(|(_, document)| document.path == path);
            open.map(|(uri, _)| uri.clone()).collect()
        };
        for uri in uris {
            let text = self.state().documents.get(&uri).map(|document| document.text.to_string());
            if let Some(text) = text {
                let found = self.mistakes_of_benchmark(&path, &text);
                self.apply(Event::BenchmarkFile { uri, found });
            }
        }
    }

    /// What a job found wrong with a benchmark file that has this text.
    pub(super) fn benchmark_failure(&self, path: &Path, text: &str) -> Vec<Finding> {
        let state = self.state();
        let known = state.benchmark_failures.get(path).filter(|known| known.text == text);
        known.map_or_else(Vec::new, |known| diagnostics::of_what_is_said(path, text, &known.why))
    }
}

/// The compiler said it of the file, and not of an experiment with it.
fn is_of_the_file(finding: &Finding) -> bool {
    finding.code == BUILD && finding.severity != Severity::Information
}

/// As much of a failure as a build in the background shows: nobody asked for that one, so what is wrong with a benchmark file,
/// or with one that was inferred, is left to those who open the file or begin a job.
pub(super) fn of_the_text(failure: &Failure, source: &Path) -> Option<Failure> {
    let Failure::DoesNotCompile { diagnostics } = failure else { return None };
    let benchmark = Benchmark::path_for(source);
    let diagnostics: Vec<_> = diagnostics.iter().filter(|diagnostic| diagnostic.file != benchmark).cloned().collect();
    (!diagnostics.is_empty()).then_some(Failure::DoesNotCompile { diagnostics })
}

impl State {
    /// Compares a document's kernel with the one that was run; says whether that told something new.
    fn compare_with_found_in(&mut self, uri: &str) -> bool {
        // After each reading this is asked, and mostly nothing was found.
        if !self.found_in.contains_key(uri) {
            return false;
        }
        let Some(view) = self.view(uri) else { return false };
        let Some(found_in) = self.found_in.get_mut(uri) else { return false };
        let present = view.kernel(&found_in.kernel);
        let is_stale = present.is_none_or(|kernel| kernel.fingerprint != found_in.fingerprint);
        std::mem::replace(&mut found_in.is_stale, is_stale) != is_stale
    }

    /// A document was edited: its findings stay at what they are about.
    pub fn carry_findings(&mut self, uri: &str, splices: &[Splice]) {
        for finding in self.found.get_mut(uri).into_iter().flatten() {
            splices.iter().for_each(|splice| finding.carry(splice));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_benchmark_file_is_none_of_the_texts() {
        let of = |files: &[&str]| Failure::DoesNotCompile {
            diagnostics: files
                .iter()
                .map(|file| Diagnostic {
                    file: file.into(),
                    line: 1,
                    column: 1,
                    severity: "error".into(),
                    message: "unknown".into(),
                    notes: Vec::new(),
                })
                .collect(),
        };
        let source = Path::new("/w/a.hip");
        assert_eq!(of_the_text(&of(&["/w/a.bench.toml", "/w/a.hip"]), source), Some(of(&["/w/a.hip"])));
        assert_eq!(of_the_text(&of(&["/w/a.bench.toml"]), source), None);
        assert_eq!(of_the_text(&Failure::Wrong { detail: "17".into() }, source), None);
    }
}
