//! The loop with models behind the stages, on the scripted lab: a recorded run asks the same questions, to the letter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::path::Path;
use std::sync::{Arc, Mutex};

use lab::{Cancel, Failure};
use llm::replay::{Recorder, Replay};
use llm::{Answer, Caller, LlmError, Model, Options, Provider, Request, Retry, Stop, Usage};
use notebook::{ModelCall, Notebook};
use scientist::budget::Budget;
use scientist::evolution::event::{EndState, Event};
use scientist::evolution::{Ended, Evolution, Stages};
use scientist::knowledge::Knowledge;
use scientist::model::{Inquiry, ModelScientist, Prompts, StageModels};
use scientist::run::{RunError, Settings};
use scientist::stages::{Draft, GainRange, Hypothesis, StageError, WriteBrief, Writer};
use scientist::suggestion::{self, Asked};
use scientist::task::Task;
use scientist::trial::{self, Author};
use script::*;
use serde_json::json;

/// Answers the questions of one generation, the writer's in whatever order they come; then it is out of reach.
#[derive(Default)]
struct Answers {
    has_designed: Mutex<bool>,
    /// What comes in place of the draft of `good`.
    trouble: Option<Result<String, LlmError>>,
}

impl Answers {
    fn to(&self, request: &Request) -> Option<String> {
        let question = &request.messages[0].text;
        let file = |name: &str, line: &str| question.contains(&format!("Do {name} with")).then(|| file(line));
        match request.label.as_str() {
            // The first draft of the odd one is wrong and is mended.
            "designer" if !std::mem::replace(&mut *self.has_designed.lock().unwrap(), true) => {
                Some(design(&[("good", 5, 30, 10), ("better", 1, 60, 20), ("odd", 0, 10, 90)]))
            }
            "writer" => file("odd", "+odd:wrong").or(file("better", "+better:b")).or(file("good", "+good:a")),
            "repair" => file("odd", "+late:e"),
            _ => None,
        }
    }
}

impl Provider for Answers {
    fn name(&self) -> &str {
        "openai:scripted"
    }

    fn attempt(&self, request: &Request, _: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let is_draft = request.label == "writer" && request.messages[0].text.contains("Do good with");
        if let (true, Some(trouble)) = (is_draft, &self.trouble) {
            let usage = Usage::default();
            return trouble.clone().map(|text| Answer { text, stop: Stop::End, usage, model: "scripted-1".into() });
        }
        let unreachable = || LlmError::Unreachable { who: self.name().into(), detail: "no route".into() };
        let text = self.to(request).ok_or_else(unreachable)?;
        let usage = Usage { input: 100, cached: 0, output: 50, estimated: false };
        Ok(Answer { text, stop: Stop::End, usage, model: "scripted-1".into() })
    }
}

fn design(plans: &[(&str, i32, i32, u8)]) -> String {
    let plan = |(name, min, max, innovation): &(&str, i32, i32, u8)| {
        json!({
            "family": name, "kernel": "k", "line": 1, "title": format!("Do {name} with great care"), "reason": "r",
            "rubric": format!("put {name} into the text"), "min_percent": min, "max_percent": max, "innovation": innovation,
        })
    };
    json!({ "avenues": ["one"], "plans": plans.iter().map(plan).collect::<Vec<_>>() }).to_string()
}

fn file(lines: &str) -> String {
    format!("Done.\n```cpp\n{ORIGINAL}\n{lines}\n```\n")
}

fn world() -> World {
    let speeds = [("good:a", [1.2; 3]), ("better:b", [1.5; 3]), ("late:e", [1.1; 3])];
    World::new(Vec::new(), &speeds).failing("odd:wrong", Failure::Wrong { detail: "element 3".into() })
}

fn run(
    world: &World,
    notebook: &Notebook,
    provider: Box<dyn Provider>,
    record: &Path,
    generations_at_most: u32,
) -> (Result<Ended, RunError>, Vec<Event>) {
    let budget = generations(generations_at_most);
    run_by(world, notebook, provider, record, |evolution, events| {
        evolution.start(&request(budget), &Cancel::new(), events)
    })
}

fn run_by(
    world: &World,
    notebook: &Notebook,
    provider: Box<dyn Provider>,
    record: &Path,
    go: impl FnOnce(Evolution<'_, World>, &mut dyn FnMut(Event)) -> Result<Ended, RunError>,
) -> (Result<Ended, RunError>, Vec<Event>) {
    let recorder = Some(Arc::new(Recorder::open(record).unwrap()));
    let options = Options { retry: Retry { times: 0, ..Retry::default() }, recorder, ..Options::default() };
    let model = Arc::new(Model::new("openai:scripted".parse().unwrap(), provider, options));
    let inquiry = Inquiry {
        prompts: Prompts::load(None).unwrap(),
        knowledge: Knowledge::load(None).unwrap(),
        knowledge_tokens: 500,
        task: Task::of(None),
        device: "scripted".into(),
        by_forecast: false,
        whole_file_lines: 400,
        file: "/work/k.hip".into(),
        machine: None,
        designer: String::new(),
    };
    let ledger = model.ledger().clone();
    let scientist = ModelScientist::new(inquiry, StageModels::one(model));
    let (mut selector, mut designer, writer) = scientist.stages();
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
    let mut events = Vec::new();
    let evolution = Evolution::new(world, stages, notebook)
        .with_clock(world.clock())
        .with_meter(scientist::model::meter(&ledger))
        .with_limiter(scientist::model::limiter(&ledger));
    let ended = go(evolution, &mut |event| events.push(event));
    (ended, events)
}

#[test]
fn a_recorded_run_asks_the_same_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    let (first, again) = (folder.path().join("first.jsonl"), folder.path().join("again.jsonl"));
    let (_one, notebook) = notebook();
    let answers = Box::new(Answers::default());
    let (ended, events) = run(&world(), &notebook, answers, &first, 1);
    let finished = ended.unwrap().finished;
    assert_eq!((finished.state, finished.experiments, finished.failed), (EndState::Completed, 3, 0), "{finished:?}");
    assert!(finished.confirmed && (finished.speedup - 1.5).abs() < 0.02, "{finished:?}");
    assert_eq!(finished.spent_tokens, 5 * 150);
    let recorded = std::fs::read_to_string(&first).unwrap();
    assert!(recorded.contains("wrong result: element 3"), "the writer is told how its draft failed");

    let (_other, notebook) = script::notebook();
    let replay = Box::new(Replay::open(&first, 0).unwrap().strict());
    let (ended, events_again) = run(&world(), &notebook, replay, &again, 1);
    assert_eq!(ended.unwrap().finished.speedup, finished.speedup);
    // Three drafts are asked for at once: they are recorded in the order of the answers.
    let exchanges = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(exchanges(&again), exchanges(&first));
    let results = |events: &[Event]| events.iter().filter(|event| !matches!(event, Event::Working { .. })).count();
    assert_eq!(results(&events_again), results(&events));
}

#[test]
fn an_outage_pauses_the_run_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let (_folder, notebook) = notebook();
    let answers = Box::new(Answers::default());
    // The second generation finds nobody there.
    let (ended, _) = run(&world(), &notebook, answers, &folder.path().join("run.jsonl"), 2);
    let finished = ended.unwrap().finished;
    assert_eq!((finished.state, finished.generations), (EndState::Paused, 1), "{finished:?}");
    assert!(finished.reason.contains("openai:scripted: no route"), "{}", finished.reason);
    assert!(finished.reason.contains("the run can be resumed"), "{}", finished.reason);
}

#[test]
fn an_answer_that_cannot_be_used_costs_the_one_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let who = || "openai:scripted".to_owned();
    let fence = format!("```cpp\n{ORIGINAL}\n+good:a\n```\n");
    for (number, (trouble, reason)) in [
        (Err(LlmError::Truncated { who: who(), limit: 65_536 }), "cut off at 65536 tokens"),
        (Err(LlmError::Withheld { who: who(), detail: "content filter".into() }), "was withheld"),
        (Err(LlmError::Unreadable { who: who(), detail: "it is empty".into() }), "it is empty"),
        (Ok("I would rather write a poem.".to_owned()), "no fenced block"),
        (Ok(format!("{fence}or\n{fence}")), "several fenced blocks"),
        (Ok(fence.trim_end().trim_end_matches('`').to_owned()), "is not closed"),
        (Ok("```cpp\nint x;\n```".to_owned()), "no kernel in the file"),
    ]
    .into_iter()
    .enumerate()
    {
        let (_folder, notebook) = notebook();
        let answers = Box::new(Answers { trouble: Some(trouble), ..Answers::default() });
        let (ended, events) = run(&world(), &notebook, answers, &folder.path().join(format!("{number}.jsonl")), 1);
        let finished = ended.unwrap().finished;
        assert_eq!((finished.state, finished.generations), (EndState::Completed, 1), "{reason}: {}", finished.reason);
        assert_eq!((finished.experiments, finished.failed, finished.candidates), (3, 1, 2), "{reason}");
        assert!(finished.confirmed && (finished.speedup - 1.5).abs() < 0.02, "{reason}: {finished:?}");
        let is_told = |event: &Event| format!("{event:?}").contains(reason);
        assert!(events.iter().any(is_told), "nobody is told of `{reason}`");
    }
}

#[test]
fn a_budget_is_kept_in_the_middle_of_an_answer_too() {
    let folder = tempfile::tempdir().unwrap();
    // A design, three drafts, one of which is asked for once more, and one repair.
    for calls in 1..6 {
        let (_folder, notebook) = notebook();
        let (world, record) = (world(), folder.path().join(format!("{calls}.jsonl")));
        let no_file = || Some(Ok("I would rather write a poem.".to_owned()));
        let answers = Box::new(Answers { trouble: no_file(), ..Answers::default() });
        let short = Budget { calls: Some(calls), ..generations(1) };
        let (ended, _) = run_by(&world, &notebook, answers, &record, |evolution, events| {
            evolution.start(&request(short), &Cancel::new(), events)
        });
        let finished = ended.unwrap().finished;
        assert_eq!(finished.state, EndState::Completed, "{finished:?}");
        let expected = format!("The budget of {calls} calls is used up ({calls})");
        assert!(finished.reason.starts_with(&expected), "{}", finished.reason);
        let asked = std::fs::read_to_string(&record).unwrap().lines().count();
        assert_eq!(asked as u64, calls);

        let again = Box::new(Answers { has_designed: Mutex::new(true), trouble: no_file() });
        let (ended, _) = run_by(&world, &notebook, again, &record, |evolution, events| {
            evolution.with_budget(generations(1)).resume(finished.run.unwrap(), &Cancel::new(), events)
        });
        let last = ended.unwrap().finished;
        assert_eq!(
            (last.state, last.experiments, last.failed, last.candidates),
            (EndState::Completed, 3, 1, 2),
            "{calls}"
        );
    }
}

#[test]
fn an_outage_in_the_middle_of_a_generation_burns_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (who, detail) = (|| "openai:scripted".to_owned(), || "its words".to_owned());
    for (number, trouble) in [
        LlmError::Busy { who: who(), detail: detail(), retry_after: None },
        LlmError::Unreachable { who: who(), detail: detail() },
        LlmError::NoKey { who: who(), remedy: detail() },
        LlmError::KeyRefused { who: who(), detail: detail() },
        LlmError::NotFound { who: who(), detail: detail() },
        LlmError::OutOfQuota { who: who(), detail: detail() },
        LlmError::BadRequest { who: who(), detail: detail() },
        LlmError::TooLong { who: who(), detail: detail() },
    ]
    .into_iter()
    .enumerate()
    {
        let (_folder, notebook) = notebook();
        let (world, record) = (world(), folder.path().join(format!("{number}.jsonl")));
        let answers = Answers { trouble: Some(Err(trouble.clone())), ..Answers::default() };
        let (ended, _) = run(&world, &notebook, Box::new(answers), &record, 1);
        let finished = ended.unwrap().finished;
        assert_eq!((finished.state, finished.generations), (EndState::Paused, 0), "{trouble:?}");
        let is_said = finished.reason.contains("openai:scripted") && finished.reason.contains("its words");
        assert!(is_said && finished.reason.contains("can be resumed"), "{}", finished.reason);
        // The other two were paid for and are not asked for again.
        let again = Answers { has_designed: Mutex::new(true), trouble: None };
        let (ended, events) = run_by(&world, &notebook, Box::new(again), &record, |evolution, events| {
            evolution.resume(finished.run.unwrap(), &Cancel::new(), events)
        });
        let last = ended.unwrap().finished;
        assert_eq!((last.state, last.experiments, last.failed), (EndState::Completed, 3, 0), "{trouble:?}");
        assert!(last.confirmed && (last.speedup - 1.5).abs() < 0.02, "{last:?}");
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Designed { .. })).count(), 0);
        let recorded = std::fs::read_to_string(&record).unwrap();
        let drafts = recorded.lines().filter(|line| line.starts_with("{\"label\":\"writer\"")).count();
        assert_eq!(drafts, 3, "{trouble:?}");
    }
}

/// Answers, and what it answers is of no use.
struct Unwilling;

impl Writer for Unwilling {
    fn write(&self, _: &WriteBrief<'_>, _: &Cancel) -> Result<Vec<Draft>, StageError> {
        Err(StageError::Unusable("a poem".into()))
    }
}

fn call() -> ModelCall {
    ModelCall {
        label: "writer".into(),
        model: "m".into(),
        input: 100,
        cached: 0,
        output: 50,
        estimated: false,
        usd: Some(0.25),
        took: std::time::Duration::ZERO,
    }
}

#[test]
fn what_suggestions_have_cost_is_kept_and_is_no_run() {
    let (_folder, notebook) = notebook();
    let (file, text) = (Path::new("/work/k.hip"), ORIGINAL.into());
    let asked = Asked { file, text: &text, kernel: None, device: "mi300x", provider: "openai:m" };
    assert_eq!(suggestion::keep_cost(&notebook, &asked, &[], "nothing was asked").unwrap(), None);
    let kept = suggestion::keep_cost(&notebook, &asked, &[call(), call()], "5 hypotheses").unwrap().unwrap();
    let spent = notebook.spent(kept).unwrap();
    assert_eq!((spent.usd, spent.tokens, notebook.model_calls(kept).unwrap().len()), (0.5, 300, 2));
    assert!(notebook.runs(file).unwrap().is_empty() && notebook.latest_runs(9).unwrap().is_empty());
}

#[test]
fn what_a_test_that_came_to_nothing_has_cost_is_kept() {
    let (_folder, notebook) = notebook();
    let author = Author { writer: &Unwilling, provider: "openai:m".into(), calls: Arc::new(move || vec![call()]) };
    let hypothesis = Hypothesis {
        key: "idea:k".into(),
        kernel: "k".into(),
        title: "Do it".into(),
        reason: String::new(),
        source: String::new(),
        rubric: String::new(),
        line: 1,
        gain: GainRange { min_percent: 0.0, max_percent: 1.0 },
        innovation: 1,
        author: Some("openai:m".into()),
        present: Vec::new(),
        left_out: Vec::new(),
    };
    let file = Path::new("/work/k.hip");
    let asked =
        trial::Request { file: file.into(), text: ORIGINAL.into(), hypothesis, seed: 1, settings: Settings::default() };
    let error = trial::test(&world(), &author, &notebook, &asked, &Cancel::new(), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("a poem"), "{error}");
    let runs = notebook.runs(file).unwrap();
    let spent = notebook.spent(runs[0].id).unwrap();
    assert_eq!((runs.len(), spent.usd, spent.tokens), (1, 0.25, 150));
    assert!(notebook.unfinished_runs(file).unwrap().is_empty(), "there is nothing to go on with");
}
