//! The loop from end to end, on a scripted lab with scripted stages.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::sync::atomic::Ordering;
use std::time::Duration;

use lab::workbench::ShapeChoice;
use lab::{Cancel, Failure, LabError, Verdict};
use notebook::{ExperimentKind, ExperimentOutcome, RunState};
use scientist::budget::Budget;
use scientist::evolution::event::{EndState, Event, ExperimentResult};
use scientist::evolution::{Evolution, Stages};
use scientist::run::RunError;
use scientist::stages::{Population, Selection, Selector, StageError};
use script::*;

/// Three changes that help, one that hurts, one that does nothing.
fn five() -> World {
    World::new(
        vec![
            offer("good:a", 10, 5.0, 30.0),
            offer("better:b", 20, 1.0, 60.0),
            offer("bad:c", 90, -20.0, 20.0),
            offer("none:d", 5, 0.0, 2.0),
            offer("late:e", 1, 2.0, 4.0),
        ],
        &[
            ("good:a", [1.2, 1.2, 1.2]),
            ("better:b", [1.5, 1.5, 1.5]),
            ("bad:c", [0.8, 0.8, 0.8]),
            ("none:d", [1.0, 1.0, 1.0]),
            ("late:e", [1.1, 1.1, 1.1]),
        ],
    )
}

#[test]
fn changes_add_up_over_generations_and_the_winner_is_confirmed() {
    let (_folder, notebook) = notebook();
    let world = five();
    let (ended, events) = start(&world, &notebook, generations(4));
    let ended = ended.unwrap();
    let last = finished(&events);
    assert_eq!(&ended.finished, last);
    assert_eq!((last.state, last.confirmed), (EndState::Completed, true), "{last:?}");
    let best = ended.best_text.unwrap();
    for key in ["+good:a", "+better:b", "+late:e"] {
        assert!(best.contains(key), "{best}");
    }
    assert!(!best.contains("bad"), "{best}");
    assert!((last.speedup - 1.2 * 1.5 * 1.1).abs() < 0.02, "{}", last.speedup);

    // The figure is the confirmation's, to the bit, and not the search's.
    let run = last.run.unwrap();
    let experiments = notebook.experiments(run).unwrap();
    let confirmation = experiments.iter().find(|e| e.kind == ExperimentKind::Confirmation).unwrap();
    let ExperimentOutcome::Measured(stored) = &confirmation.outcome else { panic!("{confirmation:?}") };
    let speed = stored.comparison.speed;
    assert_eq!((last.speedup, last.speedup_low, last.speedup_high), (speed.ratio, speed.low, speed.high));
    assert_eq!(last.shapes.iter().filter(|shape| shape.held_out).count(), 1);
    let population = notebook.population(run).unwrap();
    assert_eq!(population[last.best as usize].text, best);
    assert_eq!(population.len() as u32, last.candidates + 1);
    assert!(matches!(notebook.run(run).unwrap().state, RunState::Finished(_)));
    assert_eq!(notebook.findings(run).unwrap().len() as u32, last.experiments);
}

#[test]
fn the_three_of_the_papers_rule_are_tried() {
    let (_folder, notebook) = notebook();
    let (_, events) = start(&five(), &notebook, generations(1));
    let chosen: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Designed { plans, .. } => Some(plans),
            _ => None,
        })
        .flatten()
        .filter(|plan| plan.chosen.is_some())
        .map(|plan| plan.key.as_str())
        .collect();
    assert_eq!(chosen, ["good:a", "better:b", "bad:c"]);
    let tried: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Experiment { key, kind: ExperimentKind::Full, .. } => Some(key.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(tried, ["bad:c", "better:b", "good:a"]);
}

#[test]
fn every_failure_is_a_recorded_outcome_and_not_the_end() {
    let failures = [
        Failure::DoesNotCompile { diagnostics: Vec::new() },
        Failure::Wrong { detail: "out[0]: got 1, expected 2".into() },
        Failure::Crashed { detail: "signal 11".into() },
        Failure::TimedOut { limit: Duration::from_secs(10) },
        Failure::Refused { detail: "opened a socket".into() },
    ];
    for failure in failures {
        let (_folder, notebook) = notebook();
        let world = five().failing("better:b", failure.clone());
        let (ended, events) = start(&world, &notebook, generations(1));
        let last = ended.unwrap().finished;
        assert_eq!((last.state, last.failed, last.experiments), (EndState::Completed, 1, 3), "{failure:?}");
        assert!(last.confirmed);
        assert!((last.speedup - 1.2).abs() < 0.02);
        let told = events.iter().any(|event| {
            matches!(event, Event::Experiment { outcome: ExperimentResult::Failed { failure: f }, .. } if *f == failure)
        });
        assert!(told, "{failure:?}");
        let members: Vec<_> = notebook.population(last.run.unwrap()).unwrap();
        assert!(members.iter().any(|member| member.summary.contains(failure.label())), "{members:?}");
    }
}

#[test]
fn a_lucky_version_is_not_confirmed_and_the_next_best_is() {
    let (_folder, notebook) = notebook();
    let mut world = five();
    world.luck.insert(format!("{ORIGINAL}\n+bad:c"), 2.5);
    let (ended, events) = start(&world, &notebook, generations(1));
    let last = ended.unwrap().finished;
    let tests: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Confirmed { candidate, confirmed, verdict, .. } => Some((*candidate, *confirmed, *verdict)),
            _ => None,
        })
        .collect();
    assert_eq!(tests, [(1, false, Some(Verdict::Slower)), (2, true, Some(Verdict::Faster))]);
    assert_eq!(last.best, 2);
    assert!((last.speedup - 1.5).abs() < 0.02, "{last:?}");
    assert!(last.reason.contains("Candidate 1 looked 2.00x"), "{}", last.reason);
}

#[test]
fn noise_alone_gives_no_speedup() {
    let (_folder, notebook) = notebook();
    let mut world = five();
    for effect in world.effects.values_mut() {
        *effect = Effect::Speed([1.0; 3]);
    }
    world.noise = 0.05;
    let (ended, _) = start(&world, &notebook, generations(3));
    let ended = ended.unwrap();
    let last = &ended.finished;
    assert!(!last.confirmed && ended.best_text.is_none());
    assert_eq!((last.best, last.speedup, last.speedup_low, last.speedup_high), (0, 1.0, 1.0, 1.0));
    assert!(last.reason.contains("No confirmed speedup"), "{}", last.reason);
    // Some looked faster, so there was something to put to the test, and it was tried three times at most.
    let tests = notebook.experiments(last.run.unwrap()).unwrap();
    let count = tests.iter().filter(|e| e.kind == ExperimentKind::Confirmation).count();
    assert!((1..=3).contains(&count), "{count}");
}

#[test]
fn a_gain_that_is_a_loss_elsewhere_is_said() {
    let (_folder, notebook) = notebook();
    let world = World::new(vec![offer("a:1", 1, 1.0, 2.0)], &[("a:1", [2.0, 1.5, 0.7])]);
    let (ended, _) = start(&world, &notebook, generations(1));
    let last = ended.unwrap().finished;
    assert!(last.confirmed);
    assert!(last.reason.contains("slower on n=1000: 0.70x"), "{}", last.reason);
    assert_eq!(last.shapes[2].verdict, Verdict::Slower);
}

#[test]
fn a_search_over_constants_measures_all_briefly_and_the_best_fully() {
    let (_folder, notebook) = notebook();
    let drafts: Vec<String> = (0..9).map(|n| format!("+tile={n}")).collect();
    let mut effects = vec![];
    let names: Vec<String> = (0..9).map(|n| format!("tile={n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let speed = [1.0 + 0.02 * (n as f64 - (n as f64 - 5.0).abs())].map(|s| s.max(0.5))[0];
        effects.push((name.as_str(), [speed; 3]));
    }
    let world = World::new(vec![Offer { key: "tile", gain: (1.0, 20.0), innovation: 1, drafts }], &effects)
        .failing("tile=8", Failure::Crashed { detail: "signal 11".into() });
    let (ended, events) = start(&world, &notebook, generations(1));
    let ended = ended.unwrap();
    let run = ended.finished.run.unwrap();
    // Each value is told of with its speed, and stays in the notebook.
    let told = events.iter().filter_map(|event| match event {
        Event::Finding { tried, text, .. } => Some((tried.clone(), text.clone())),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    let [(tried, text)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(tried.iter().map(|tried| tried.settings[0].value).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
    assert!(tried[5].speed.is_some_and(|speed| (speed.ratio - 1.1).abs() < 0.02), "{tried:?}");
    assert_eq!((tried[8].speed, tried[8].reason.as_deref()), (None, Some("crashed: signal 11")));
    assert!(text.contains("Values: tile 0 0.90x") && text.contains("; 8 crashed: signal 11."), "{text}");
    assert_eq!(notebook.findings(run).unwrap()[0].text, *text);
    let experiments = notebook.experiments(run).unwrap();
    let kept = |experiment: &notebook::Experiment| experiment.hypothesis["settings"][0]["value"].as_i64();
    assert_eq!(experiments.iter().filter_map(kept).max(), Some(8));
    let count = |kind| experiments.iter().filter(|experiment| experiment.kind == kind).count();
    assert_eq!((count(ExperimentKind::Search), count(ExperimentKind::Full)), (9 + 3, 1));
    // Eight run (one crashes) at a ninth of the time, three at a third, one at the full time; then the confirmation.
    let budgets: Vec<u64> = world.budgets.lock().unwrap().iter().map(Duration::as_secs).collect();
    assert_eq!(budgets, [vec![1; 9], vec![3; 3], vec![9, 20]].concat());
    // Only the best is a member; its draft is one of those that are fastest.
    assert_eq!(ended.finished.candidates, 1);
    assert!((ended.finished.speedup - 1.1).abs() < 0.01, "{:?}", ended.finished);
    assert_eq!(ended.finished.failed, 0);
}

#[test]
fn forecasts_are_looked_at_once_and_never_called_measurements() {
    let (_folder, notebook) = notebook();
    let names: Vec<String> = (0..4).map(|n| format!("tile={n}")).collect();
    let effects: Vec<(&str, [f64; 3])> =
        names.iter().enumerate().map(|(n, name)| (name.as_str(), [1.0 + 0.5 * n as f64; 3])).collect();
    let drafts = names.iter().map(|name| format!("+{name}")).collect();
    let mut world = World::new(vec![Offer { key: "tile", gain: (1.0, 20.0), innovation: 1, drafts }], &effects);
    world.forecasts = true;
    let (ended, events) = start(&world, &notebook, generations(1));
    let last = ended.unwrap().finished;
    // Each of the four once, and the winner once more on all shapes.
    assert_eq!(world.count("compare"), 5);
    assert!(last.confirmed && last.forecast.is_some() && (last.speedup - 2.5).abs() < 0.01, "{last:?}");
    assert!(
        last.reason.contains("forecast 2.5") && last.reason.contains("Nothing was timed on SCRIPT"),
        "{}",
        last.reason
    );
    let finding = notebook.findings(last.run.unwrap()).unwrap().swap_remove(0);
    assert_eq!(finding.measured_percent, None);
    assert!((finding.gain_percent().unwrap() - 150.0).abs() < 1.0, "{finding:?}");
    for event in &events {
        let line =
            serde_json::to_string(event).unwrap().replace("\"measured_percent\":null", "").replace("\"measured\":", "");
        assert!(!line.contains("measured"), "{line}");
    }
}

#[test]
fn drafts_that_say_the_same_are_refused() {
    let (_folder, notebook) = notebook();
    let same = |key, line: &str| Offer { key, gain: (1.0, 2.0), innovation: 1, drafts: vec![line.to_owned()] };
    let world = World::new(
        vec![same("a:1", "+x"), same("b:1", "// another comment\n  +x   \n"), same("c:1", "// nothing")],
        &[("x", [1.3; 3])],
    );
    let (ended, events) = start(&world, &notebook, generations(3));
    let last = ended.unwrap().finished;
    let refused: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Experiment { key, outcome: ExperimentResult::Duplicate { of }, .. } => {
                Some((key.as_str(), of.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(refused[..2], [("b:1", "draft 1 of \"Try a:1\" in generation 1"), ("c:1", "the original")]);
    assert!(refused[2..].iter().any(|(_, of)| *of == "candidate 1"), "{refused:?}");
    assert_eq!(last.duplicates as usize, refused.len());
    // Nothing that was refused was built.
    let calls = world.calls.lock().unwrap();
    let built = |text: &str| calls.iter().any(|call| *call == format!("build {ORIGINAL}\n{text}"));
    assert!(built("+x") && !built("// another comment\n  +x   \n") && !built("// nothing"), "{calls:?}");
}

#[test]
fn stages_never_see_held_out_shapes_or_seeds() {
    let (_folder, notebook) = notebook();
    let world = five().failing("none:d", Failure::Wrong { detail: "x".into() });
    let (ended, _) = start(&world, &notebook, generations(4));
    assert!(ended.unwrap().finished.confirmed);
    let briefs = world.briefs.lock().unwrap();
    assert!(briefs.len() > 10);
    let seeds = world.seeds.lock().unwrap();
    for brief in briefs.iter() {
        assert!(!brief.contains("n=1000"), "{brief}");
        assert!(seeds.iter().all(|(seed, _)| !brief.contains(&seed.to_string())), "{brief}");
    }
    // Held-out shapes are run at the end alone, and no seed is used twice.
    let first = seeds.iter().position(|(_, shapes)| *shapes == ShapeChoice::All).unwrap();
    assert!(seeds[..first].iter().all(|(_, shapes)| *shapes == ShapeChoice::Shown));
    let mut different: Vec<_> = seeds.iter().map(|(seed, _)| *seed).collect();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), seeds.len());
    // After the first confirmation no stage was asked again.
    let calls = world.calls.lock().unwrap();
    let confirmed = calls.iter().position(|call| call.starts_with("compare All")).unwrap();
    assert!(calls[confirmed..].iter().all(|call| call.starts_with("compare") || call.starts_with("build")));
}

#[test]
fn a_lab_that_reports_held_out_shapes_unasked_tells_them_to_no_stage() {
    let (_folder, notebook) = notebook();
    let mut world = five();
    world.leaks = true;
    start(&world, &notebook, generations(3)).0.unwrap();
    let briefs = world.briefs.lock().unwrap();
    assert!(briefs.iter().any(|brief| brief.contains("n=64")));
    assert!(briefs.iter().all(|brief| !brief.contains("n=1000")));
}

/// Always chooses the same two versions.
struct Stubborn(u32, u32);

impl Selector for Stubborn {
    fn select(&mut self, _: &Population, _: Option<&str>, _: &Cancel) -> Result<Selection, StageError> {
        Ok(Selection { base: self.0, reference: self.1, reason: "because".into() })
    }
}

#[test]
fn a_choice_that_makes_no_sense_is_replaced_and_said_to_be() {
    let check = |choice: Stubborn, base: u32, reference: u32, reason: &str| {
        let (_folder, notebook) = notebook();
        let world = five().failing("bad:c", Failure::Crashed { detail: "signal 11".into() });
        let (mut selector, mut designer, writer) = (choice, Offers(&world), Appends(&world));
        let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
        let mut told = Vec::new();
        let evolution = Evolution::new(&world, stages, &notebook).with_clock(world.clock());
        evolution.start(&request(generations(2)), &Cancel::new(), &mut |event| told.push(event)).unwrap();
        let last = told
            .iter()
            .filter_map(|event| match event {
                Event::Selected { base, reference, reason, .. } => Some((*base, *reference, reason.clone())),
                _ => None,
            })
            .next_back()
            .unwrap();
        assert_eq!((last.0, last.1), (base, reference));
        assert!(last.2.contains(reason), "{}", last.2);
    };
    // In the second generation candidate 1 has crashed, 2 is the fastest and 3 runs too.
    check(Stubborn(0, 3), 0, 3, "because");
    check(Stubborn(0, 1), 0, 0, "because");
    check(Stubborn(0, 77), 0, 0, "because");
    check(Stubborn(1, 0), 2, 2, "the selector chose candidate 1, which has no time");
    check(Stubborn(77, 0), 2, 2, "the selector chose candidate 77");
}

#[test]
fn builds_run_in_parallel_and_timings_never() {
    for disturb in [true, false] {
        let (_folder, notebook) = notebook();
        let mut world = five();
        world.disturb = disturb;
        world.builds_wait_to_meet = true;
        start(&world, &notebook, generations(3)).0.unwrap();
        // Whoever times on what nothing disturbs may need a baseline built meanwhile.
        let most = if disturb { 2 } else { 3 };
        let found = world.most_building.load(Ordering::SeqCst);
        assert!((2..=most).contains(&found), "{found} at once, disturb: {disturb}");
    }
}

#[test]
fn the_run_stops_when_nothing_is_left() {
    let (_folder, notebook) = notebook();
    let world =
        World::new(vec![offer("a:1", 1, 1.0, 2.0), offer("b:1", 1, 1.0, 2.0)], &[("a:1", [1.1; 3]), ("b:1", [0.9; 3])]);
    let (ended, _) = start(&world, &notebook, generations(50));
    let last = ended.unwrap().finished;
    assert!(last.generations < 10, "{last:?}");
    assert!(last.reason.starts_with("Nothing is left to try"), "{}", last.reason);
    assert!(last.confirmed);
}

#[test]
fn the_wall_time_ends_the_search_in_time_for_the_confirmation() {
    let check = |wall: u64, experiments: usize, confirmed: bool| {
        let (_folder, notebook) = notebook();
        let world = five();
        let budget = Budget { wall: Some(Duration::from_secs(wall)), ..generations(50) };
        let (ended, events) = start(&world, &notebook, budget);
        let last = ended.unwrap().finished;
        let full =
            events.iter().filter(|event| matches!(event, Event::Experiment { kind: ExperimentKind::Full, .. })).count();
        assert_eq!((full, last.confirmed), (experiments, confirmed), "{wall} s: {}", last.reason);
        let kept = format!("Of the wall time of {wall} s the last ");
        let said = if wall > 0 { kept } else { "The wall time of 0 s is used up.".to_owned() };
        assert!(last.reason.starts_with(&said), "{}", last.reason);
        assert!(last.spent_s <= wall as f64 + 20.0, "{last:?}");
    };
    // Nine seconds an experiment, twenty the confirmation; a third is kept back for that.
    check(0, 0, false);
    check(5, 0, false);
    check(30, 2, true);
    check(60, 4, true);
}

#[test]
fn money_and_tokens_end_the_search() {
    let check = |budget: Budget, reason: &str| {
        let (_folder, notebook) = notebook();
        let world = five();
        let mut events = Vec::new();
        let cancel = Cancel::new();
        let ended = with_stages(&world, &notebook, &mut events, |evolution, events| {
            evolution
                .with_meter(std::sync::Arc::new(|| scientist::budget::Bill { usd: 1.5, tokens: 700, calls: 3 }))
                .start(&request(budget), &cancel, events)
        });
        let last = ended.unwrap().finished;
        assert!(last.reason.starts_with(reason), "{}", last.reason);
        assert_eq!((last.spent_usd, last.spent_tokens, last.experiments), (1.5, 700, 0));
    };
    check(Budget { usd: Some(1.0), ..generations(5) }, "The budget of 1.00 US dollars is used up (1.50).");
    check(Budget { tokens: Some(700), ..generations(5) }, "The budget of 700 tokens is used up (700).");
}

#[test]
fn an_original_that_fails_is_an_error_and_still_ends_with_finished() {
    let (_folder, notebook) = notebook();
    let world = five();
    world.interfere(|kind, _| (kind == "time").then(|| Failure::Crashed { detail: "signal 8".into() }.into()));
    let (ended, events) = start(&world, &notebook, generations(2));
    assert!(matches!(ended, Err(RunError::Original(Failure::Crashed { .. }))));
    let last = finished(&events);
    assert_eq!(last.state, EndState::Failed);
    assert!(last.reason.contains("signal 8"), "{}", last.reason);
}

#[test]
fn answers_that_cannot_be_used_do_not_burn_the_budget() {
    let unusable = |stage: &'static str| {
        move |kind: &str, _: usize| kind.starts_with(stage).then(|| LabError::Usage("no JSON".into()))
    };
    let check = |stage: &'static str, generations_done: u32, experiments: u32, reason: &str| {
        let (_folder, notebook) = notebook();
        let world = five();
        world.interfere(unusable(stage));
        let (ended, _) = start(&world, &notebook, generations(3));
        let last = ended.unwrap().finished;
        assert_eq!((last.generations, last.experiments), (generations_done, experiments), "{stage}");
        assert!(last.reason.contains(reason), "{stage}: {}", last.reason);
    };
    // Without a selector the fastest is taken; without a writer every plan fails.
    check("select", 3, 9, "confirmed");
    check("design", 2, 0, "The designer's answers cannot be used: no JSON.");
    check("write", 2, 5, "No confirmed speedup");
}

#[test]
fn a_step_that_proved_nothing_does_not_displace_its_parent() {
    let (_folder, notebook) = notebook();
    let offers = vec![offer("a:1", 1, 50.0, 60.0), offer("b:1", 1, 1.0, 2.0)];
    let mut world = World::new(offers, &[("a:1", [1.5; 3]), ("b:1", [1.0; 3])]);
    world.noise = 0.02;
    // The second change looks better than nothing, and its interval says that this may be chance.
    world.luck.insert(format!("{ORIGINAL}\n+a:1\n+b:1"), 1.01);
    let (ended, _) = start(&world, &notebook, generations(2));
    let last = ended.unwrap().finished;
    let population = notebook.population(last.run.unwrap()).unwrap();
    assert!(population.len() > 3 && last.confirmed, "{population:?}");
    assert_eq!(population[last.best as usize].steps, ["a:1"]);
}

#[test]
fn a_base_that_runs_no_more_costs_its_experiments_and_not_the_run() {
    let (_folder, notebook) = notebook();
    let world = five();
    let comparisons = std::sync::atomic::AtomicUsize::new(0);
    // From the second generation on the base fails, as a version with a race may.
    world.interfere(move |kind, _| {
        let late = kind.starts_with("compare") && (3..5).contains(&comparisons.fetch_add(1, Ordering::SeqCst));
        late.then(|| LabError::Usage("the version to compare with does not run itself".into()))
    });
    let (ended, events) = start(&world, &notebook, generations(3));
    let last = ended.unwrap().finished;
    assert_eq!(last.state, EndState::Completed, "{last:?}");
    let lost = events.iter().filter(|event| {
        matches!(event, Event::Experiment { outcome: ExperimentResult::NotWritten { reason }, .. } if reason.contains("candidate 2"))
    });
    assert_eq!(lost.count(), 2);
    let bases: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Designed { base, .. } => Some(*base),
            _ => None,
        })
        .collect();
    assert_eq!(bases[..2], [0, 2]);
    assert_ne!(bases[2], 2, "the broken base was taken again");
}

#[test]
fn shapes_of_the_original_are_named_as_those_of_its_candidates() {
    let (_folder, notebook) = notebook();
    let world = five();
    start(&world, &notebook, generations(2)).0.unwrap();
    let briefs = world.briefs.lock().unwrap();
    let populations: Vec<_> = briefs.iter().filter(|brief| brief.starts_with("Population")).collect();
    let named = |brief: &str| (brief.contains("grid for n=64"), brief.contains("(\"n=64\""));
    assert_eq!(populations.iter().map(|brief| named(brief)).collect::<Vec<_>>(), [(true, false), (false, true)]);
}
