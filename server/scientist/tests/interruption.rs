//! Kills, cancellations, pauses and errors: whatever stops a run, it goes on to the end that it would have come to.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lab::{Cancel, Failure, LabError};
use notebook::{ExperimentOutcome, Notebook, RunState};
use scientist::evolution::event::{EndState, Event, Finished};
use scientist::run::RunError;
use script::*;

/// A world with something of everything: a search, a failure, a duplicate, a lucky version, several generations.
fn varied() -> World {
    let search = Offer {
        key: "tile:x",
        gain: (0.0, 70.0),
        innovation: 50,
        drafts: (1..=4).map(|n| format!("+tile={n}")).collect(),
    };
    let mut same = offer("same:s", 40, 3.0, 6.0);
    same.drafts = vec!["+good:a // the same again".into()];
    let mut world = World::new(
        vec![
            offer("good:a", 10, 5.0, 30.0),
            search,
            offer("crash:c", 90, -20.0, 20.0),
            same,
            offer("none:d", 5, 0.0, 2.0),
        ],
        &[
            ("good:a", [1.2, 1.3, 1.1]),
            ("none:d", [1.0, 1.0, 1.0]),
            ("tile=1", [0.9, 0.9, 0.9]),
            ("tile=2", [1.3, 1.3, 1.2]),
            ("tile=3", [1.3, 1.3, 1.3]),
            ("tile=4", [1.1, 1.1, 1.1]),
            ("good:a // the same again", [1.0; 3]),
        ],
    )
    .failing("crash:c", Failure::Crashed { detail: "signal 11".into() });
    world.luck.insert(format!("{ORIGINAL}\n+good:a\n+none:d"), 1.6);
    world
}

/// Ends the run where it stands, as a kill does: nothing is recorded and nothing told any more.
fn die<T>() -> T {
    resume_unwind(Box::new("killed"))
}

/// What must be equal at the end, however often a run was stopped: all but the time spent.
#[derive(Debug, PartialEq)]
struct End {
    finished: Finished,
    experiments: Vec<(String, ExperimentOutcome<lab::Comparison>)>,
    candidates: Vec<(u32, Option<u32>, String, String)>,
    findings: Vec<String>,
}

fn end(notebook: &Notebook, finished: &Finished) -> End {
    let run = finished.run.unwrap();
    let bare = |outcome: ExperimentOutcome<notebook::StoredComparison>| match outcome {
        ExperimentOutcome::Measured(stored) => ExperimentOutcome::Measured(stored.comparison),
        ExperimentOutcome::Failed(failure) => ExperimentOutcome::Failed(failure),
        ExperimentOutcome::Duplicate(of) => ExperimentOutcome::Duplicate(of),
        ExperimentOutcome::NotWritten(why) => ExperimentOutcome::NotWritten(why),
    };
    End {
        finished: Finished { spent_s: 0.0, ..finished.clone() },
        experiments: notebook.experiments(run).unwrap().into_iter().map(|e| (e.step, bare(e.outcome))).collect(),
        candidates: notebook
            .population(run)
            .unwrap()
            .into_iter()
            .map(|c| (c.number, c.parent, c.text.to_string(), c.summary))
            .collect(),
        findings: notebook.findings(run).unwrap().into_iter().map(|f| f.text).collect(),
    }
}

/// The end of a run that nobody stops, how many calls and events it has, and how many calls of each kind.
fn undisturbed() -> (End, usize, [(&'static str, usize); 5]) {
    let (_folder, notebook) = notebook();
    let world = varied();
    world.interfere(|_, _| None);
    let (ended, events) = start(&world, &notebook, generations(3));
    ended.unwrap();
    let kinds = ["select", "design", "write", "time", "compare"].map(|kind| (kind, world.count(kind)));
    (end(&notebook, finished(&events)), world.ticks(), kinds)
}

#[test]
fn the_script_has_something_of_everything() {
    let (end, ticks, _) = undisturbed();
    assert!(end.finished.confirmed && end.finished.failed > 0 && end.finished.duplicates > 0, "{:?}", end.finished);
    assert!(end.experiments.iter().any(|(step, _)| step.starts_with("direct/")), "{:?}", end.finished);
    assert!(end.experiments.iter().filter(|(step, _)| step.starts_with("confirm/")).count() >= 1);
    assert!(end.experiments.iter().any(|(step, _)| step.ends_with("/r1")));
    assert!(ticks > 60, "{ticks}");
}

#[test]
fn a_run_killed_at_any_step_comes_to_the_same_end() {
    let (expected, ticks, kinds) = undisturbed();
    for kill_at in 0..ticks {
        let (_folder, notebook) = notebook();
        let world = varied();
        world.interfere(move |_, tick| if tick >= kill_at { die() } else { None });
        let killed = catch_unwind(AssertUnwindSafe(|| start(&world, &notebook, generations(3))));
        assert!(killed.is_err(), "tick {kill_at} was not reached");
        world.leave_alone();
        let open = notebook.unfinished_runs(&request(generations(1)).file).unwrap();
        // Killed while it told its end: there is nothing to resume.
        if open.is_empty() {
            assert_eq!(kill_at, ticks - 1);
            continue;
        }
        assert_eq!(open[0].state, RunState::Open);
        let (ended, events) = resume(&world, &notebook);
        ended.unwrap();
        assert_eq!(end(&notebook, finished(&events)), expected, "killed at {kill_at}");
        // Nothing that was finished is done again: at most the one call that the kill interrupted.
        let again: usize = kinds.iter().map(|(kind, count)| world.count(kind) - count).sum();
        assert!(again <= 1, "killed at {kill_at}: {again} calls were made again");
    }
}

#[test]
fn a_run_killed_again_and_again_comes_to_the_same_end() {
    let (expected, ..) = undisturbed();
    let (_folder, notebook) = notebook();
    let world = varied();
    let mut sittings = 0;
    let finished_at_last = loop {
        sittings += 1;
        assert!(sittings < 100, "no sitting gets any further");
        world.interfere(|_, tick| if tick >= 16 { die() } else { None });
        let sitting = catch_unwind(AssertUnwindSafe(|| match sittings {
            1 => start(&world, &notebook, generations(3)),
            _ => resume(&world, &notebook),
        }));
        let open = notebook.unfinished_runs(&request(generations(1)).file).unwrap();
        if let Ok((_, events)) = &sitting {
            break finished(events).clone();
        }
        if open.is_empty() {
            let run = notebook.runs(&request(generations(1)).file).unwrap().remove(0);
            let RunState::Finished(detail) = run.state else { panic!("{run:?}") };
            break serde_json::from_value(detail).unwrap();
        }
    };
    assert!(sittings > 5, "{sittings}");
    assert_eq!(end(&notebook, &finished_at_last), expected);
}

#[test]
fn a_run_cancelled_at_any_call_ends_within_a_second_and_can_be_resumed() {
    let (expected, ..) = undisturbed();
    for kind in ["select", "design", "write", "build", "time", "compare"] {
        let (_folder, notebook) = notebook();
        let world = varied();
        let cancel = Cancel::new();
        // The third such call hangs until it is cancelled, as a long build or a model's answer does.
        let (seen, hanging) = (std::sync::atomic::AtomicUsize::new(0), cancel.clone());
        let nth = if kind == "time" { 0 } else { 2 };
        world.interfere(move |called, _| {
            (called.starts_with(kind) && seen.fetch_add(1, Ordering::SeqCst) == nth).then(|| {
                let began = Instant::now();
                while !hanging.is_cancelled() && began.elapsed() < Duration::from_secs(60) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                LabError::Cancelled
            })
        });
        let stopper = cancel.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(400));
            stopper.cancel();
            Instant::now()
        });
        let (ended, events) = start_with(&world, &notebook, generations(3), &cancel);
        let took = thread.join().unwrap().elapsed();
        assert!(took < Duration::from_secs(30), "{kind}: {took:?}");
        let last = ended.unwrap().finished;
        assert_eq!((last.state, last.confirmed, last.best), (EndState::Cancelled, false, 0), "{kind}");
        assert!(last.reason.contains("can be resumed"), "{}", last.reason);
        assert_eq!(&last, finished(&events));
        assert_eq!(notebook.run(last.run.unwrap()).unwrap().state, RunState::Cancelled);

        world.leave_alone();
        let (ended, events) = resume(&world, &notebook);
        ended.unwrap();
        assert!(matches!(events[0], Event::Started { resumed: true, .. }));
        assert_eq!(end(&notebook, finished(&events)), expected, "cancelled in {kind}");
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_does_nothing() {
    let (_folder, notebook) = notebook();
    let world = varied();
    let cancel = Cancel::new();
    cancel.cancel();
    let (ended, events) = start_with(&world, &notebook, generations(1), &cancel);
    assert_eq!(ended.unwrap().finished.state, EndState::Cancelled);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(world.calls.lock().unwrap().is_empty());
}

#[test]
fn a_notebook_that_fails_ends_the_run_and_what_it_has_is_enough_to_go_on() {
    let (expected, ..) = undisturbed();
    let (folder, ready) = notebook();
    drop(ready);
    let path = folder.path().join("notebook.db");
    let options = notebook::Options { lock_timeout: Duration::from_millis(50) };
    let notebook = Notebook::open_with(&path, options).unwrap();
    let world = varied();
    let blocker = std::sync::Mutex::new(rusqlite::Connection::open(&path).unwrap());
    let seen = std::sync::atomic::AtomicUsize::new(0);
    world.interfere(move |kind, _| {
        if kind.starts_with("compare") && seen.fetch_add(1, Ordering::SeqCst) == 4 {
            blocker.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
        }
        None
    });
    let (ended, events) = start(&world, &notebook, generations(3));
    assert!(matches!(ended, Err(RunError::Notebook(notebook::NotebookError::Locked { .. }))));
    assert_eq!(finished(&events).state, EndState::Failed);
    // Dropping what interferes closes the connection that blocked.
    world.leave_alone();
    let (ended, events) = resume(&world, &notebook);
    ended.unwrap();
    assert_eq!(end(&notebook, finished(&events)), expected);
}

#[test]
fn what_is_killed_by_a_cancellation_is_no_failure_of_the_code() {
    let (_folder, notebook) = notebook();
    let world = varied();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    world.interfere(move |kind, _| {
        (kind.starts_with("compare")).then(|| {
            stop.cancel();
            std::thread::sleep(Duration::from_millis(50));
            Failure::Crashed { detail: "signal 9".into() }.into()
        })
    });
    let (ended, _) = start_with(&world, &notebook, generations(1), &cancel);
    let last = ended.unwrap().finished;
    assert_eq!(last.state, EndState::Cancelled);
    assert!(notebook.experiments(last.run.unwrap()).unwrap().is_empty());
}

#[test]
fn a_device_or_a_provider_that_is_away_pauses_the_run() {
    let (expected, ..) = undisturbed();
    for kind in ["select", "design", "write", "build", "time", "compare"] {
        let (_folder, notebook) = notebook();
        let world = varied();
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let nth = if kind == "time" { 0 } else { 1 };
        world.interfere(move |called, _| {
            (called.starts_with(kind) && seen.fetch_add(1, Ordering::SeqCst) >= nth)
                .then(|| LabError::Unavailable("no route to gpu7; see that it is up".into()))
        });
        let (ended, events) = start(&world, &notebook, generations(3));
        let last = ended.unwrap().finished;
        assert_eq!(last.state, EndState::Paused, "{kind}");
        let paused = &events[events.len() - 2];
        assert!(matches!(paused, Event::Paused { message } if message.contains("no route to gpu7")), "{paused:?}");
        let state = notebook.run(last.run.unwrap()).unwrap().state;
        assert!(matches!(&state, RunState::Paused(message) if message.contains("no route to gpu7")), "{state:?}");
        world.leave_alone();
        let (ended, events) = resume(&world, &notebook);
        ended.unwrap();
        assert_eq!(end(&notebook, finished(&events)), expected, "paused in {kind}");
    }
}

#[test]
fn a_stage_or_a_device_that_hangs_is_stopped_when_the_wall_time_is_up() {
    let (_folder, notebook) = notebook();
    let world = varied();
    let millis = std::sync::Arc::clone(&world.millis);
    let cancel = Cancel::new();
    // Not the run's own token: that of whoever waits for ever is the watch's, which this stage never looks at.
    world.interfere(move |kind, _| {
        (kind == "design").then(|| {
            millis.fetch_add(1_000_000, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
            LabError::Cancelled
        })
    });
    let budget = scientist::budget::Budget { wall: Some(Duration::from_secs(600)), ..generations(3) };
    let (ended, _) = start_with(&world, &notebook, budget, &cancel);
    let last = ended.unwrap().finished;
    assert_eq!(last.state, EndState::Completed);
    assert!(last.reason.starts_with("The wall time of 600 s is used up."), "{}", last.reason);
}

#[test]
fn errors_of_the_lab_end_the_run_with_what_they_say() {
    let (_folder, notebook) = notebook();
    let world = varied();
    world.interfere(|kind, _| {
        (kind.starts_with("compare")).then(|| LabError::Usage("k.bench.toml:3: no such shape".into()))
    });
    let (ended, events) = start(&world, &notebook, generations(1));
    assert!(matches!(ended, Err(RunError::Lab(LabError::Usage(_)))));
    assert_eq!(finished(&events).state, EndState::Failed);
    let run = finished(&events).run.unwrap();
    assert!(matches!(notebook.run(run).unwrap().state, RunState::Failed(why) if why.contains("k.bench.toml:3")));
}

#[test]
fn only_a_run_that_can_go_on_is_resumed() {
    let (_folder, notebook) = notebook();
    let world = varied();
    let (ended, _) = start(&world, &notebook, generations(1));
    let run = ended.unwrap().finished.run.unwrap();
    let refused = |run, expected: &str| {
        let mut events = Vec::new();
        let ended =
            with_stages(&world, &notebook, &mut events, |evolution, told| evolution.resume(run, &Cancel::new(), told));
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let [Event::Finished(last)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((last.state, &last.reason), (EndState::Failed, &error));
    };
    refused(run, "has finished");
    refused(notebook::RunId(99), "has no run 99");

    let new = |device: &str, program: &str| {
        let asked = request(generations(1));
        notebook
            .start_run(&notebook::NewRun {
                file: &asked.file,
                text: &asked.text,
                kernels: &[],
                kernel: None,
                device,
                provider: "script",
                seed: 1,
                budget: serde_json::json!(asked.budget),
                settings: serde_json::json!(asked.settings),
                program,
            })
            .unwrap()
    };
    let this = concat!("kernel-scientist ", env!("CARGO_PKG_VERSION"));
    refused(new("mi300", this), "started on device `mi300`");
    refused(new("scripted", "kernel-scientist 9.9.9"), "started by kernel-scientist 9.9.9");
    let busy = new("scripted", this);
    let other = Notebook::open(notebook.path()).unwrap();
    let _hold = other.hold_run(busy).unwrap();
    refused(busy, "being worked on by another process");
}

#[test]
fn findings_of_earlier_runs_are_told_to_the_designer_and_later_ones_are_not() {
    let (_folder, notebook) = notebook();
    let first = varied();
    start(&first, &notebook, generations(1)).0.unwrap();
    let second = varied();
    // The second run is stopped before its design; a third comes in between.
    second.interfere(|kind, _| (kind == "design").then(|| LabError::Unavailable("away".into())));
    let (ended, _) = start(&second, &notebook, generations(1));
    let run = ended.unwrap().finished.run.unwrap();
    let third = varied();
    start(&third, &notebook, generations(3)).0.unwrap();
    second.leave_alone();
    let mut events = Vec::new();
    with_stages(&second, &notebook, &mut events, |evolution, told| evolution.resume(run, &Cancel::new(), told))
        .unwrap();
    let design = |world: &World| world.briefs.lock().unwrap().iter().find(|brief| brief.contains("findings")).cloned();
    let (first, second) = (design(&first).unwrap(), design(&second).unwrap());
    assert!(first.contains("findings: []"), "{first}");
    assert_eq!(second.matches("Finding {").count(), 3, "{second}");
}
