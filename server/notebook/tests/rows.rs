//! What is recorded comes back as it was, cannot be changed, and is found by the queries.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;

use std::path::Path;
use std::time::Duration;

use lab::{Failure, TimeReport, Verdict};
use notebook::{
    ExperimentKind, ExperimentOutcome, MeasuredCode, ModelCall, NewCandidate, NewFinding, Notebook, NotebookError,
    RunChange, RunState, Spent,
};
use samples::*;
use serde_json::{Value, json};

#[test]
fn every_outcome_of_an_experiment_comes_back_as_it_was() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    let measured = comparison();
    let failures = [
        Failure::DoesNotCompile {
            diagnostics: vec![lab::Diagnostic {
                file: FILE.into(),
                line: 3,
                column: 7,
                severity: "error".into(),
                message: "unknown type name 'flaot'".into(),
                notes: Vec::new(),
            }],
        },
        Failure::Wrong { detail: "out[3]: got 1, expected 2".into() },
        Failure::Crashed { detail: "signal 11".into() },
        Failure::TimedOut { limit: Duration::from_millis(2500) },
        Failure::Refused { detail: "opened a socket".into() },
    ];
    experiment(&notebook, run, "m", ExperimentOutcome::Measured(&measured));
    for (index, failure) in failures.iter().enumerate() {
        experiment(&notebook, run, &format!("f{index}"), ExperimentOutcome::Failed(failure.clone()));
    }
    experiment(&notebook, run, "d", ExperimentOutcome::Duplicate("candidate 3".into()));
    experiment(&notebook, run, "w", ExperimentOutcome::NotWritten("no such loop".into()));

    let found = notebook.experiments(run).unwrap();
    let ExperimentOutcome::Measured(first) = &found[0].outcome else { panic!("{:?}", found[0]) };
    assert_eq!(first.comparison, measured);
    assert_eq!(notebook.comparison(first.id).unwrap(), *first);
    for (row, failure) in found[1..6].iter().zip(&failures) {
        assert_eq!(row.outcome, ExperimentOutcome::Failed(failure.clone()));
    }
    assert_eq!(found[6].outcome, ExperimentOutcome::Duplicate("candidate 3".into()));
    assert_eq!(found[7].outcome, ExperimentOutcome::NotWritten("no such loop".into()));
    assert_eq!(found[0].kind, ExperimentKind::Full);
    assert_eq!(found[0].took, Duration::from_millis(1500));
    assert_eq!(found[0].hypothesis["gain"]["max_percent"], json!(1.0 / 3.0));
    assert_eq!(&*notebook.text(found[0].text.as_ref().unwrap()).unwrap(), FASTER);
}

#[test]
fn a_step_is_recorded_once() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    experiment(&notebook, run, "g1", ExperimentOutcome::NotWritten("x".into()));
    assert!(record(&notebook, run, "g1", ExperimentOutcome::NotWritten("y".into())).is_err());
    notebook.record_step(run, "g1/select", &json!(1), &Spent::default()).unwrap();
    assert!(notebook.record_step(run, "g1/select", &json!(2), &Spent::default()).is_err());
    assert_eq!(notebook.steps(run).unwrap()[0].detail, json!(1));
}

#[test]
fn a_run_follows_its_last_event() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    let other = start(&notebook, "/home/user/other.hip");
    let check = |change: Option<RunChange>, message: &str, detail: Value, expected: RunState, unfinished: usize| {
        if let Some(change) = change {
            notebook.record_change(run, change, message, &detail, &Spent::default()).unwrap();
        }
        assert_eq!(notebook.run(run).unwrap().state, expected);
        assert_eq!(notebook.unfinished_runs(Path::new(FILE)).unwrap().len(), unfinished);
    };
    check(None, "", Value::Null, RunState::Open, 1);
    check(Some(RunChange::Paused), "no device", Value::Null, RunState::Paused("no device".into()), 1);
    check(Some(RunChange::Resumed), "", Value::Null, RunState::Open, 1);
    check(Some(RunChange::Cancelled), "", Value::Null, RunState::Cancelled, 1);
    check(Some(RunChange::Failed), "disk", Value::Null, RunState::Failed("disk".into()), 1);
    check(Some(RunChange::Finished), "", json!({"speedup": 1.5}), RunState::Finished(json!({"speedup": 1.5})), 0);
    assert_eq!(notebook.run(other).unwrap().state, RunState::Open);
    let kept = notebook.run(run).unwrap();
    assert_eq!((kept.seed, kept.budget), (u64::MAX - 1, json!({"generations": 3})));
    assert!(matches!(notebook.run(notebook::RunId(99)), Err(NotebookError::Missing { .. })));
}

#[test]
fn what_was_spent_is_the_most_that_any_row_says() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    assert_eq!(notebook.spent(run).unwrap(), Spent::default());
    let spent = Spent { wall: Duration::from_secs(4), usd: 0.25, tokens: 1000 };
    notebook.record_step(run, "a", &Value::Null, &spent).unwrap();
    assert_eq!(notebook.spent(run).unwrap(), spent);
    // The sample experiment says nine seconds.
    experiment(&notebook, run, "b", ExperimentOutcome::NotWritten("x".into()));
    assert_eq!(notebook.spent(run).unwrap(), Spent { wall: Duration::from_secs(9), ..spent });
}

#[test]
fn the_population_comes_back_in_order_and_a_second_record_changes_nothing() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    let of = experiment(&notebook, run, "m", ExperimentOutcome::Measured(&comparison()));
    let steps = ["a:1".to_owned(), "b:2".to_owned()];
    let candidate = |number, text, summary| NewCandidate {
        run,
        number,
        parent: (number > 0).then_some(0),
        reference: None,
        generation: number,
        text,
        kernels: &[],
        steps: &steps,
        summary,
        experiment: (number > 0).then_some(of),
    };
    notebook.record_candidate(&candidate(1, FASTER, "first")).unwrap();
    notebook.record_candidate(&candidate(0, TEXT, "original")).unwrap();
    notebook.record_candidate(&candidate(1, TEXT, "again")).unwrap();
    let found = notebook.population(run).unwrap();
    let short: Vec<_> = found.iter().map(|c| (c.number, &*c.text, &*c.summary, c.experiment)).collect();
    assert_eq!(short, [(0, TEXT, "original", None), (1, FASTER, "first", Some(of))]);
    assert_eq!(found[1].steps, steps);
}

#[test]
fn findings_are_found_by_family_by_run_and_by_what_came_before() {
    let (_folder, notebook) = fresh();
    let runs = [start(&notebook, FILE), start(&notebook, "/other.hip"), start(&notebook, FILE), start(&notebook, FILE)];
    for (index, run) in runs.iter().enumerate() {
        let of = experiment(&notebook, *run, "m", ExperimentOutcome::NotWritten("x".into()));
        let about = if index == 3 { "unroll" } else { "lds-padding" };
        let finding = NewFinding {
            run: *run,
            experiment: of,
            about,
            min_percent: 1.0,
            max_percent: 9.0,
            measured_percent: (index != 1).then_some(4.5),
            forecast_percent: (index == 1).then_some(2.25),
            text: &format!("finding {index}"),
        };
        notebook.record_finding(&finding).unwrap();
        notebook.record_finding(&finding).unwrap();
    }
    let texts = |found: Vec<notebook::StoredFinding>| found.into_iter().map(|f| f.text).collect::<Vec<_>>();
    assert_eq!(texts(notebook.findings_about("lds-padding").unwrap()), ["finding 0", "finding 1", "finding 2"]);
    assert_eq!(texts(notebook.findings(runs[3]).unwrap()), ["finding 3"]);
    assert_eq!(texts(notebook.findings_before(runs[3], Path::new(FILE), "cpu").unwrap()), ["finding 0", "finding 2"]);
    assert_eq!(texts(notebook.findings_before(runs[3], Path::new(FILE), "mi300").unwrap()), [""; 0]);
    let second = notebook.findings_about("lds-padding").unwrap().swap_remove(1);
    assert_eq!((second.measured_percent, second.forecast_percent), (None, Some(2.25)));
    assert_eq!(second.gain_percent(), Some(2.25));
}

#[test]
fn history_follows_the_fingerprint_and_not_the_text_around_it() {
    let (_folder, notebook) = fresh();
    let file = Path::new(FILE);
    let prints = kernels("f1");
    let code = |text| MeasuredCode { text, kernels: &prints };
    let ids = notebook.record_times(file, code("// v1\n"), &report(), 7, Duration::from_millis(20)).unwrap();
    notebook.record_times(Path::new("/elsewhere.hip"), code("// v2\n"), &report(), 8, Duration::ZERO).unwrap();
    let run = start(&notebook, FILE);
    experiment(&notebook, run, "m", ExperimentOutcome::Measured(&comparison()));

    let by_print = notebook.measured("f1").unwrap();
    // Two reports (their other kernel is not this one), and the candidate's three shapes.
    assert_eq!(by_print.len(), 5);
    assert_eq!(by_print[0].measurement.id, ids[0]);
    assert_eq!(by_print[0].measurement.kernel.as_deref(), Some("ns::gemm<float, 4>"));
    assert_eq!(by_print[0].measurement.fingerprint.as_deref(), Some("f1"));
    assert_eq!(by_print[0].measurement.figure, figure(5.0));
    assert_eq!(by_print[0].speed, None);
    let of_run: Vec<_> =
        by_print[2..].iter().map(|p| (&*p.measurement.shape, p.held_out, p.speed.unwrap().1)).collect();
    let expected = [
        ("n=256", false, Verdict::Faster),
        ("n=1024", false, Verdict::Slower),
        ("n=1000", true, Verdict::Inconclusive),
    ];
    assert_eq!(of_run, expected);
    assert_eq!(by_print[2].experiment.as_ref().unwrap().0, run);

    // By file: the baseline's shapes too, and nothing of the other file.
    let by_file = notebook.history(file, "gemm").unwrap();
    assert_eq!(by_file.len(), 1 + 6);
    assert!(by_file.iter().any(|p| p.held_out && p.measurement.fingerprint.as_deref() == Some("f0")));
    assert_eq!(notebook.history(file, "gemm<int>").unwrap().len(), 7);
    assert!(notebook.history(file, "other").unwrap().is_empty());
    assert_eq!(notebook.measurement(ids[1]).unwrap().fingerprint, None);
}

#[test]
fn the_time_of_a_host_function_is_one_of_the_kernels_that_it_launches() {
    let (_folder, notebook) = fresh();
    let prints = kernels("f1");
    let code = MeasuredCode { text: "// v1\n", kernels: &prints };
    let mut report = report();
    report.kernels = vec![report.kernels[0].clone()];
    report.kernels[0].name = "launch".into();
    notebook.record_times(Path::new(FILE), code, &report, 7, Duration::ZERO).unwrap();
    report.kernels[0].name = "kernel_of_a_header".into();
    report.kernels[0].shape = "grid 1x1x1 block 64x1x1".into();
    notebook.record_times(Path::new(FILE), code, &report, 8, Duration::ZERO).unwrap();
    let points = notebook.history(Path::new(FILE), "gemm").unwrap();
    let names: Vec<_> = points.iter().map(|point| point.measurement.kernel.as_deref()).collect();
    assert_eq!(names, [Some("launch")]);
    assert_eq!(points[0].measurement.fingerprint.as_deref(), Some("f1"));
}

#[test]
fn history_knows_a_kernel_with_and_without_its_namespaces() {
    let (_folder, notebook) = fresh();
    let file = Path::new(FILE);
    let kernels = ["a::gemm", "b::gemm", "gem_m", "gemXm"]
        .map(|name| notebook::KernelFingerprint { kernel: name.into(), fingerprint: name.to_uppercase() });
    let report = TimeReport { kernels: Vec::new(), ..report() };
    let code = MeasuredCode { text: TEXT, kernels: &kernels };
    notebook.record_times(file, code, &report, 1, Duration::ZERO).unwrap();
    notebook.record_comparison(file, code, code, &comparison(), Duration::ZERO).unwrap();
    let check = |asked: &str, expected: &[&str]| {
        let mut found: Vec<String> =
            notebook.history(file, asked).unwrap().into_iter().filter_map(|p| p.measurement.fingerprint).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, expected, "{asked}");
    };
    check("gemm", &["A::GEMM", "B::GEMM"]);
    check("a::gemm<float>", &["A::GEMM"]);
    check("gem_m", &["GEM_M"]);
    check("emm", &[]);
}

#[test]
fn nothing_recorded_can_be_changed_or_removed() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    experiment(&notebook, run, "m", ExperimentOutcome::Measured(&comparison()));
    let raw = rusqlite::Connection::open(notebook.path()).unwrap();
    raw.pragma_update(None, "recursive_triggers", true).unwrap();
    let tables: Vec<String> = raw
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(tables.len() >= 11, "{tables:?}");
    for table in tables {
        let triggers: i64 = raw
            .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1", [&table], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(triggers, 2, "{table}");
    }
    for sql in [
        "UPDATE measurements SET median_ns = 1.0",
        "DELETE FROM measurements",
        "DELETE FROM experiments",
        "UPDATE runs SET seed = 0",
        "UPDATE run_changes SET change = 'finished'",
        "INSERT OR REPLACE INTO texts SELECT hash, 'forged' FROM texts",
    ] {
        let error = raw.execute(sql, []).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{sql}: {error}");
    }
}

#[test]
fn a_run_is_held_by_one_at_a_time() {
    let (folder, notebook) = fresh();
    let (first, second) = (start(&notebook, FILE), start(&notebook, FILE));
    let other = Notebook::open(notebook.path()).unwrap();
    let hold = notebook.hold_run(first).unwrap();
    assert!(matches!(other.hold_run(first), Err(NotebookError::RunInUse { run, .. }) if run == first.0));
    other.hold_run(second).unwrap();
    drop(hold);
    drop(other.hold_run(first).unwrap());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".lock")), "{left:?}");
}

#[test]
fn forecasts_come_back_and_are_never_among_the_measurements() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, FILE);
    let before = kernels("f0");
    let forecast = forecasts();
    experiment(&notebook, run, "g1", ExperimentOutcome::Measured(&forecast));
    let report = TimeReport { forecast: Some(basis()), device: "mi300x".into(), ..report() };
    let code = MeasuredCode { text: TEXT, kernels: &before };
    assert!(notebook.record_times(Path::new(FILE), code, &report, 1, Duration::from_secs(1)).unwrap().is_empty());
    // A measurement of the same code stands beside.
    let measured = TimeReport { kernels: report.kernels.clone(), ..samples::report() };
    notebook.record_times(Path::new(FILE), code, &measured, 1, Duration::from_secs(1)).unwrap();

    let found = notebook.experiments(run).unwrap();
    let ExperimentOutcome::Measured(stored) = &found[0].outcome else { panic!("{:?}", found[0]) };
    assert_eq!(stored.comparison, forecast);
    let history = notebook.history(Path::new(FILE), "gemm").unwrap();
    assert!(history.iter().all(|point| point.measurement.device == "cpu"), "{history:?}");
    assert_eq!(history.len(), 1);
    let points = notebook.forecasts(Path::new(FILE), "gemm").unwrap();
    // Three shapes of both versions, and the report's one of this kernel.
    assert_eq!(points.len(), 7, "{points:?}");
    assert!(points.iter().all(|point| point.forecast.table == "0123456789ab" && point.forecast.model == "0.1.0"));
    assert_eq!(points.iter().filter(|point| point.held_out).count(), 2);
    assert_eq!(points.iter().filter(|point| point.speed.is_some()).count(), 3);
    assert_eq!(points[6].forecast.fingerprint.as_deref(), Some("f0"));
    assert_eq!(points[6].forecast.ns, report.kernels[0].figure.median_ns);
}

#[test]
fn the_forecast_of_a_host_function_is_one_of_each_kernel_that_it_may_launch() {
    let (_folder, notebook) = fresh();
    let mut report = TimeReport { forecast: Some(basis()), device: "mi300x".into(), ..report() };
    report.kernels.truncate(1);
    report.kernels[0].name = "launch_gemm".into();
    let of_text = kernels("f0");
    let code = MeasuredCode { text: TEXT, kernels: &of_text };
    notebook.record_times(Path::new(FILE), code, &report, 1, Duration::from_millis(7)).unwrap();
    let points = notebook.forecasts(Path::new(FILE), "gemm").unwrap();
    let told: Vec<_> =
        points.iter().map(|point| (point.forecast.kernel.as_deref(), point.forecast.fingerprint.as_deref())).collect();
    assert_eq!(told, [(Some("launch_gemm"), Some("f0"))]);
}

#[test]
fn calls_that_no_step_was_recorded_for_are_spent_all_the_same() {
    let (_folder, notebook) = fresh();
    let run = start(&notebook, "/k/a.hip");
    let call = ModelCall {
        label: "writer".into(),
        model: "m".into(),
        input: 100,
        cached: 0,
        output: 50,
        estimated: false,
        usd: Some(0.25),
        took: Duration::from_secs(1),
    };
    for step in ["g1/p0/write", "g1/p1/write"] {
        notebook.record_model_call(run, step, &call).unwrap();
    }
    let spent = notebook.spent(run).unwrap();
    assert_eq!((spent.usd, spent.tokens), (0.5, 300));
}
