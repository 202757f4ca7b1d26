//! Nobody waits without need: plans are written side by side, measured as they arrive, and mended while others are measured;
//! and what comes of a generation depends neither on who was faster nor on where the run was stopped.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use lab::{Cancel, Failure, LabError};
use notebook::Notebook;
use scientist::budget::{Bill, Budget};
use scientist::evolution::event::{EndState, Event, Finished};
use scientist::evolution::{Ended, Evolution, Stages};
use scientist::run::RunError;
use script::*;

/// Far longer than anything here takes; only a run that waits for ever comes up to it.
const FOR_EVER: Duration = Duration::from_secs(60);

/// What was begun, in its order; and a way to wait for something in it.
#[derive(Clone, Default)]
struct Journal(Arc<(Mutex<Vec<String>>, Condvar)>);

impl Journal {
    fn note(&self, what: &str) {
        let (begun, changed) = &*self.0;
        begun.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
        changed.notify_all();
    }

    /// Waits until so many calls with this in their name were begun. What never comes is told as a device that is away.
    fn wait(&self, what: &str, count: usize) -> Option<LabError> {
        let (begun, changed) = &*self.0;
        let guard = begun.lock().unwrap_or_else(PoisonError::into_inner);
        let is_short = |begun: &mut Vec<String>| begun.iter().filter(|call| call.contains(what)).count() < count;
        let (_guard, waited) = changed.wait_timeout_while(guard, FOR_EVER, is_short).unwrap();
        waited.timed_out().then(|| LabError::Unavailable(format!("nobody came to `{what}`")))
    }

    /// Calls of stages and of the device, without builds and events.
    fn calls(&self) -> Vec<String> {
        let begun = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = begun.iter().filter(|call| !call.starts_with("event") && !call.starts_with("build"));
        calls.map(|call| call.replace(ORIGINAL, "").replace('\n', "")).collect()
    }
}

/// Three plans a generation, written by a model that takes its time.
fn slow() -> World {
    let mut world = World::new(
        vec![offer("first", 90, 0.0, 5.0), offer("second", 10, 0.0, 60.0), offer("third", 5, 10.0, 30.0)],
        &[("first", [1.1; 3]), ("second", [1.4; 3]), ("third", [1.2; 3]), ("mended first", [1.3; 3])],
    );
    world.writes_side_by_side = true;
    world.mends = true;
    world
}

/// As `slow`, with a first plan whose draft is wrong until it is mended.
fn failing() -> World {
    slow().failing("first", Failure::Wrong { detail: "element 3".into() })
}

fn run(world: &World, journal: &Journal, wait: impl Fn(&str) -> Option<LabError> + Send + Sync + 'static) -> Finished {
    let (_folder, notebook) = notebook();
    let journal = journal.clone();
    world.interfere(move |call, _| {
        journal.note(call);
        wait(call)
    });
    let (ended, events) = start(world, &notebook, generations(1));
    ended.unwrap();
    let finished = finished(&events);
    assert_eq!(finished.state, EndState::Completed, "{}", finished.reason);
    finished.clone()
}

#[test]
fn plans_are_written_side_by_side_and_measured_as_they_arrive() {
    let (world, journal) = (slow(), Journal::default());
    let seen = journal.clone();
    // The first answer comes when all three are asked for; each of the others when the one before is at the device.
    let finished = run(&world, &journal, move |call| match call {
        "write first" => seen.wait("write", 3),
        "write second" => seen.wait("+first", 1),
        "write third" => seen.wait("+second", 1),
        _ => None,
    });
    assert_eq!((finished.experiments, finished.candidates, finished.failed), (3, 3, 0));
    let calls = journal.calls();
    let at = |what: &str| calls.iter().position(|call| call.starts_with(what)).unwrap();
    assert!(at("compare +first") < at("compare +second") && at("compare +second") < at("compare +third"), "{calls:?}");
}

#[test]
fn a_repair_keeps_the_device_from_nothing() {
    let (world, journal) = (failing(), Journal::default());
    let seen = journal.clone();
    let finished = run(&world, &journal, move |call| match call {
        "write second" | "write third" => seen.wait("compare", 1),
        // The answer comes when all others were measured.
        "repair first" => seen.wait("+third", 1).or_else(|| seen.wait("+second", 1)),
        _ => None,
    });
    assert_eq!((finished.experiments, finished.candidates, finished.failed), (3, 3, 0));
    let calls = journal.calls();
    let measured: Vec<&String> = calls.iter().filter(|call| call.starts_with("compare +")).collect();
    assert_eq!(measured.iter().position(|call| call.contains("mended")), Some(3), "{calls:?}");
    let briefs = world.briefs.lock().unwrap();
    let repair = briefs.iter().find(|brief| brief.starts_with("RepairBrief")).unwrap();
    assert!(repair.contains("element 3") && repair.contains("a race in +first"), "{repair}");
}

#[test]
fn the_next_selection_follows_the_last_measurement() {
    let (world, journal, (_folder, notebook)) = (slow(), Journal::default(), notebook());
    let noted = journal.clone();
    world.interfere(move |call, _| {
        noted.note(call);
        None
    });
    start(&world, &notebook, generations(3)).0.unwrap();
    let calls = journal.calls();
    let kinds: Vec<&str> = calls.iter().map(|call| call.split(' ').next().unwrap()).collect();
    for at in (1..kinds.len()).filter(|at| kinds[*at] == "select").skip(1) {
        assert_eq!((kinds[at - 1], kinds[at + 1]), ("compare", "design"), "{calls:?}");
    }
}

/// What must be equal however the threads fell.
#[derive(Debug, PartialEq)]
struct End {
    members: Vec<String>,
    findings: Vec<String>,
}

fn come_to(notebook: &Notebook, finished: &Finished) -> End {
    let run = finished.run.unwrap();
    let members = notebook.population(run).unwrap().into_iter();
    End {
        members: members.map(|c| format!("{} from {:?}: {} ({})", c.number, c.parent, c.text, c.summary)).collect(),
        findings: notebook.findings(run).unwrap().into_iter().map(|finding| finding.text).collect(),
    }
}

#[test]
fn what_comes_of_a_generation_does_not_depend_on_who_is_faster() {
    let come = |order: [&'static str; 3]| {
        let (world, journal, (_folder, notebook)) = (failing(), Journal::default(), notebook());
        world.interfere(move |call, _| {
            journal.note(call);
            let plan = call.strip_prefix("write ")?;
            match order.iter().position(|other| *other == plan)? {
                0 => None,
                at => journal.wait(&format!("compare {ORIGINAL}\n+{}", order[at - 1]), 1),
            }
        });
        let (ended, events) = start(&world, &notebook, generations(1));
        ended.unwrap();
        come_to(&notebook, finished(&events))
    };
    let expected = come(["first", "second", "third"]);
    assert_eq!(expected.members.len(), 4, "{expected:?}");
    for order in [
        ["first", "third", "second"],
        ["second", "first", "third"],
        ["second", "third", "first"],
        ["third", "first", "second"],
        ["third", "second", "first"],
    ] {
        assert_eq!(come(order), expected, "{order:?}");
    }
}

#[test]
fn a_run_killed_while_plans_are_written_comes_to_the_same_end() {
    let undisturbed = || {
        let (world, (_folder, notebook)) = (failing(), notebook());
        world.interfere(|_, _| None);
        let (ended, events) = start(&world, &notebook, generations(2));
        ended.unwrap();
        (come_to(&notebook, finished(&events)), world.ticks())
    };
    let (expected, ticks) = undisturbed();
    assert!(ticks > 40, "{ticks}");
    for kill_at in 0..ticks {
        let (world, (_folder, notebook)) = (failing(), notebook());
        world.interfere(move |_, tick| if tick >= kill_at { resume_unwind(Box::new("killed")) } else { None });
        // Who comes to a tick first is not always the same, so the last ones may not be reached.
        let _ = catch_unwind(AssertUnwindSafe(|| start(&world, &notebook, generations(2))));
        world.leave_alone();
        if notebook.unfinished_runs(&request(generations(1)).file).unwrap().is_empty() {
            continue;
        }
        let (ended, events) = resume(&world, &notebook);
        ended.unwrap();
        assert_eq!(come_to(&notebook, finished(&events)), expected, "killed at {kill_at}");
    }
}

/// A sitting of a run with a bill of one call for each answer of a stage.
fn sit(
    world: &World,
    notebook: &Notebook,
    go: impl FnOnce(Evolution<'_, World>, &mut dyn FnMut(Event)) -> Result<Ended, RunError>,
) -> Finished {
    let calls = || ["select", "design", "write", "repair"].map(|kind| world.count(kind) as u64).iter().sum();
    let before: u64 = calls();
    let (mut selector, mut designer, writer) = (Fastest(world), Offers(world), Appends(world));
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
    // The meter outlives no run, and a world is never moved.
    let counted = Arc::new(Mutex::new(0));
    let count = Arc::clone(&counted);
    world.interfere(move |call, _| {
        let is_stage = ["select", "design", "write", "repair"].iter().any(|kind| call.starts_with(kind));
        *count.lock().unwrap_or_else(PoisonError::into_inner) += u64::from(is_stage);
        None
    });
    let bill = move || Bill { calls: *counted.lock().unwrap_or_else(PoisonError::into_inner), ..Bill::default() };
    let evolution = Evolution::new(world, stages, notebook).with_clock(world.clock()).with_meter(Arc::new(bill));
    let ended = go(evolution, &mut |_| ()).unwrap();
    assert!(calls() >= before);
    ended.finished
}

#[test]
fn a_generation_that_the_budget_cut_short_goes_on_with_more() {
    for side_by_side in [false, true] {
        let world = || {
            let mut world = failing();
            world.writes_side_by_side = side_by_side;
            world
        };
        let expected = {
            let (world, (_folder, notebook)) = (world(), notebook());
            let finished =
                sit(&world, &notebook, |run, events| run.start(&request(generations(2)), &Cancel::new(), events));
            come_to(&notebook, &finished)
        };
        for calls in 1..10 {
            let (world, (_folder, notebook)) = (world(), notebook());
            let short = Budget { calls: Some(calls), ..generations(2) };
            let first = sit(&world, &notebook, |run, events| run.start(&request(short), &Cancel::new(), events));
            assert_eq!(first.state, EndState::Completed, "{calls}: {}", first.reason);
            assert!(first.reason.starts_with(&format!("The budget of {calls} calls is used up")), "{}", first.reason);
            let asked = ["select", "design", "write", "repair"].map(|kind| world.count(kind)).iter().sum::<usize>();
            assert!(asked as u64 <= calls, "{asked} calls where {calls} are allowed");
            // What was paid for was measured.
            let drafts = world.count("write") + world.count("repair");
            let measured = notebook.experiments(first.run.unwrap()).unwrap();
            let measured = measured.iter().filter(|experiment| experiment.step.starts_with('g')).count();
            assert_eq!(measured, drafts, "{calls} calls");

            let more = |run: Evolution<'_, World>, events: &mut dyn FnMut(Event)| {
                run.with_budget(generations(2)).resume(first.run.unwrap(), &Cancel::new(), events)
            };
            let last = sit(&world, &notebook, more);
            assert_eq!(come_to(&notebook, &last), expected, "{calls} calls, side by side: {side_by_side}");
        }
    }
}
