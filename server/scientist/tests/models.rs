//! The loop with models behind the stages, on the scripted lab: a recorded run asks the same questions, to the letter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod script;

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

/// Answers the questions of one generation, the writer's in whatever order they come; then it is out of reach.
#[derive(Default)]
struct Answers(Mutex<bool>);

impl Answers {
    fn to(&self, request: &Request) -> Option<String> {
        let question = &request.messages[0].text;
        let file = |name: &str, line: &str| question.contains(&format!("Do {name} with")).then(|| file(line));
        match request.label.as_str() {
            // The first draft of the odd one is wrong and is mended.
            "designer" if !std::mem::replace(&mut *self.0.lock().unwrap(), true) => {
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
    let (mut selector, mut designer, writer) = scientist.stages();
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
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
