//! The loop with models behind the stages, on the scripted lab: a recorded run asks the same questions, to the letter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use lab::{Cancel, Failure};
use llm::replay::{Recorder, Replay};
use llm::{Answer, Caller, LlmError, Model, Options, Provider, Request, Retry, Stop, Usage};
use notebook::Notebook;
use scientist::evolution::event::{EndState, Event};
use scientist::evolution::{Ended, Evolution, Stages};
use scientist::knowledge::Knowledge;
use scientist::model::{Inquiry, ModelScientist, Prompts, StageModels};
use scientist::run::RunError;
use scientist::task::Task;
use script::*;
use serde_json::json;

/// Gives its answers in order; then it is out of reach.
struct Answers(Mutex<VecDeque<String>>);

impl Provider for Answers {
    fn name(&self) -> &str {
        "openai:scripted"
    }

    fn attempt(&self, _: &Request, _: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let next = self.0.lock().unwrap().pop_front();
        let text = next.ok_or_else(|| LlmError::Unreachable { who: self.name().into(), detail: "no route".into() })?;
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

/// One generation: two drafts work, the third is wrong at first and is mended.
fn answers() -> Vec<String> {
    vec![
        design(&[("good", 5, 30, 10), ("better", 1, 60, 20), ("odd", 0, 10, 90)]),
        file("+odd:wrong"),
        file("+better:b"),
        file("+good:a"),
        file("+late:e"),
    ]
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
    };
    let ledger = model.ledger().clone();
    let scientist = ModelScientist::new(inquiry, StageModels::one(model));
    let (mut selector, mut designer, mut writer) = scientist.stages();
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &mut writer };
    let mut events = Vec::new();
    let ended = Evolution::new(world, stages, notebook)
        .with_clock(world.clock())
        .with_meter(scientist::model::meter(&ledger))
        .start(&request(generations(generations_at_most)), &Cancel::new(), &mut |event| events.push(event));
    (ended, events)
}

#[test]
fn a_recorded_run_asks_the_same_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    let (first, again) = (folder.path().join("first.jsonl"), folder.path().join("again.jsonl"));
    let (_one, notebook) = notebook();
    let answers = Box::new(Answers(Mutex::new(answers().into())));
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
    assert_eq!(std::fs::read_to_string(&again).unwrap(), recorded);
    assert_eq!(events_again.len(), events.len());
}

#[test]
fn an_outage_pauses_the_run_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let (_folder, notebook) = notebook();
    let answers = Box::new(Answers(Mutex::new(answers().into())));
    // The second generation finds nobody there.
    let (ended, _) = run(&world(), &notebook, answers, &folder.path().join("run.jsonl"), 2);
    let finished = ended.unwrap().finished;
    assert_eq!((finished.state, finished.generations), (EndState::Paused, 1), "{finished:?}");
    assert!(finished.reason.contains("openai:scripted: no route"), "{}", finished.reason);
    assert!(finished.reason.contains("the run can be resumed"), "{}", finished.reason);
}
