//! Code actions on a kernel: hypotheses to test and to apply, and what else can be done with it.
//!
//! Nothing here waits: hypotheses are those that were found in the background; what an action changes is worked out when
//! the client resolves it.

use std::ops::Range;

use lab::Verdict;

use super::analysis::KernelFacts;
use super::commands::{Command, Target};
use super::outcomes::brief_speed;
use super::prospects::{self, Prospect};
use super::suggestions::Tested;
use super::view::View;
use crate::devices;

/// Actions offered on one kernel at most: a light bulb that lists everything lists nothing.
const MOST: usize = 8;

/// What an action does, by which a client can filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Changes the code.
    Apply,
    /// Tests a hypothesis.
    Test,
    /// Looks for hypotheses.
    Suggest,
    /// Looks for races and accesses out of bounds.
    Check,
    /// Writes a benchmark file.
    Benchmark,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Apply, Self::Test, Self::Suggest, Self::Check, Self::Benchmark];

    /// The kind as the protocol writes it: dots lead from the general to the special.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apply => "refactor.rewrite.kernelScientist.apply",
            Self::Test => "refactor.rewrite.kernelScientist.test",
            Self::Suggest => "refactor.rewrite.kernelScientist.suggest",
            Self::Check => "refactor.rewrite.kernelScientist.check",
            Self::Benchmark => "refactor.rewrite.kernelScientist.benchmark",
        }
    }

    /// Whether somebody who asks for `wanted` wants this.
    fn is_among(self, wanted: &[String]) -> bool {
        let is_under = |wanted: &str| {
            let rest = self.name().strip_prefix(wanted);
            wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        wanted.is_empty() || wanted.iter().any(|wanted| is_under(wanted))
    }
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// In one line.
    pub title: String,
    /// What it does.
    pub kind: Kind,
    /// How.
    pub what: What,
}

/// How an action is carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// By a command.
    Command(Command),
    /// By an edit that is worked out when the action is resolved.
    Edit(Untested),
}

/// A hypothesis to be applied without a test.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Untested {
    /// The document and the kernel.
    #[serde(flatten)]
    pub target: Target,
    /// The version that the action was offered on.
    pub version: i32,
    /// The hypothesis.
    pub key: String,
    /// Its title.
    pub title: String,
}

/// The actions at a place of the present text, best first; of the kinds in `wanted`, or of all where that is empty.
pub fn actions(view: &View, place: &Range<usize>, wanted: &[String]) -> Vec<Action> {
    let Some(kernel) = view.kernel_around(place) else { return Vec::new() };
    let target = Target { uri: view.uri.clone(), kernel: Some(kernel.called.clone()) };
    let mut rest = vec![
        (Kind::Suggest, "Suggest hypotheses", Command::Suggest(target.clone())),
        (Kind::Check, "Check for races and out-of-bounds", Command::Check(target.clone())),
    ];
    if !view.has_benchmark_file {
        rest.push((Kind::Benchmark, "Create benchmark", Command::CreateBenchmark(target.clone())));
    }
    let rest: Vec<Action> = rest
        .into_iter()
        .filter(|(kind, ..)| kind.is_among(wanted))
        .map(|(kind, title, command)| Action { title: title.to_owned(), kind, what: What::Command(command) })
        .collect();
    let mut actions = of_hypotheses(view, kernel, &target, wanted);
    actions.truncate(MOST - rest.len());
    actions.extend(rest);
    actions
}

/// Proven ones first, then what to test, then what could be applied without.
fn of_hypotheses(view: &View, kernel: &KernelFacts, target: &Target, wanted: &[String]) -> Vec<Action> {
    let mut proven = Vec::new();
    let mut tests = Vec::new();
    let mut untested = Vec::new();
    for prospect in prospects::of(view, kernel) {
        let hypothesis = &prospect.hypothesis;
        match view.suggestions.test_of(&kernel.fingerprint, &hypothesis.key) {
            Some(Tested::Measured { speed, verdict: Verdict::Faster, device, forecast, proposal }) => {
                let speed_in_words = match forecast {
                    Some(_) => brief_speed(speed.ratio, forecast.as_ref()),
                    None => format!("measured {:.2}x on {}", speed.ratio, devices::shown(device)),
                };
                let title = format!("Apply: {} ({speed_in_words})", hypothesis.title);
                proven.push((speed.ratio, title, Command::Apply { proposal: *proposal }));
            }
            // What was slower, the same or wrong is not offered again.
            Some(_) => {}
            None if prospect.is_hopeless => {}
            None => {
                tests.push(test(&prospect, target));
                untested.extend(apply(view, &prospect, target));
            }
        }
    }
    proven.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut actions: Vec<Action> = Vec::new();
    if Kind::Apply.is_among(wanted) {
        let apply = |(_, title, command)| Action { title, kind: Kind::Apply, what: What::Command(command) };
        actions.extend(proven.into_iter().map(apply));
    }
    if Kind::Test.is_among(wanted) {
        // One place is left for the best that can be applied as it is.
        let most = if untested.is_empty() || !Kind::Apply.is_among(wanted) { MOST } else { MOST - 4 };
        actions.extend(tests.into_iter().take(most));
    }
    if Kind::Apply.is_among(wanted) {
        actions.extend(untested);
    }
    actions
}

fn test(prospect: &Prospect, target: &Target) -> Action {
    let hypothesis = &prospect.hypothesis;
    Action {
        title: format!("Test this hypothesis: {} ({})", hypothesis.title, prospect.promise),
        kind: Kind::Test,
        what: What::Command(Command::Test { target: target.clone(), key: hypothesis.key.clone() }),
    }
}

/// A search over constants has no single change to apply before it was tested, and an edit does not wait for a model.
fn apply(view: &View, prospect: &Prospect, target: &Target) -> Option<Action> {
    let hypothesis = &prospect.hypothesis;
    (hypothesis.present.is_empty() && hypothesis.author.is_none()).then(|| Action {
        title: format!("Apply untested: {} ({})", hypothesis.title, prospect.promise),
        kind: Kind::Apply,
        what: What::Edit(Untested {
            target: target.clone(),
            version: view.version,
            key: hypothesis.key.clone(),
            title: hypothesis.title.clone(),
        }),
    })
}
