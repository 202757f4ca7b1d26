//! The three stages over the wire, by both APIs of llama.cpp's own server with a model of 135 million parameters. What it says is
//! of no use; that each stage asks it, hears it and ends as documented is what counts here.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../llm/tests/real/mod.rs"]
mod real;

use std::sync::Arc;
use std::time::Duration;

use lab::{Cancel, SpeedRatio, Verdict};
use llm::connect::{Connection, Patience, connect};
use llm::key::Sources;
use llm::{Heard, Hearing, Ledger, Model, ModelName, Options, Retry};
use real::{KEY, RealServer};
use scientist::knowledge::Knowledge;
use scientist::model::{Inquiry, ModelScientist, Prompts, StageModels};
use scientist::stages::{
    DesignBrief, Designer, GainRange, Hypothesis, Member, Population, Selector, StageError, WriteBrief, Writer,
};
use scientist::task::Task;

/// Generous: on a busy machine the model writes a few tokens a second.
const PATIENCE: Duration = Duration::from_secs(400);

const TEXT: &str = "__global__ void k(float* a) {\n    a[threadIdx.x * 64] = 1;\n}\n";

/// The stages with the server's model behind them, what they spend, and whose answers are heard.
fn scientist(kind: &str, url: &str, key: &str) -> (ModelScientist, Ledger, Arc<std::sync::Mutex<Vec<String>>>) {
    let name: ModelName = format!("{kind}:smollm2").parse().unwrap();
    let base = if kind == "openai" { format!("{url}/v1") } else { url.to_owned() };
    let connection = Connection {
        base_url: Some(base),
        named_by_user: true,
        key: Sources { given: Some(key.into()), command: None },
        patience: Patience { connect: PATIENCE, silence: PATIENCE, whole: PATIENCE },
        ..Connection::default()
    };
    let heard: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&heard);
    let hearing = Hearing::new(Arc::new(move |what| {
        if let Heard::Answering { label, .. } = what {
            sink.lock().unwrap().push(label);
        }
    }));
    let ledger = Ledger::default();
    let retry = Retry { times: 0, ..Retry::default() };
    let options = Options { retry, hearing, ledger: ledger.clone(), max_output_tokens: 24, ..Options::default() };
    let model = Model::new(name.clone(), connect(&name, &connection).unwrap(), options);
    let inquiry = Inquiry {
        prompts: Prompts::load(None).unwrap(),
        knowledge: Knowledge::load(None).unwrap(),
        knowledge_tokens: 0,
        task: Task::of(None),
        device: "MI300X".into(),
        by_forecast: false,
        whole_file_lines: 400,
        file: "/k/k.hip".into(),
        machine: None,
        designer: String::new(),
    };
    (ModelScientist::new(inquiry, StageModels::one(Arc::new(model))), ledger, heard)
}

fn member(id: u32) -> Member {
    Member {
        id,
        parent: (id > 0).then_some(0),
        reference: None,
        generation: id,
        text: TEXT.into(),
        steps: Vec::new(),
        summary: "a version".into(),
        times: vec![("n=64".into(), 1000.0)],
        against_parent: None,
        against_original: (id > 0).then_some(SpeedRatio { ratio: 1.5, low: 1.4, high: 1.6 }),
        verdict: (id > 0).then_some(Verdict::Faster),
        failure: None,
    }
}

/// What each stage comes to, by each scientist in turn (so that the server knows half of the question already): nothing when it was
/// answered, else why not.
fn asked<const N: usize>(scientists: [&ModelScientist; N]) -> Vec<(&'static str, [Option<StageError>; N])> {
    let mut stages = scientists.map(ModelScientist::stages);
    let population = Population { members: vec![member(0), member(1)] };
    let (base, cancel) = (&population.members[1], Cancel::new());
    let plan = Hypothesis {
        key: "idea:k".into(),
        kernel: "k".into(),
        title: "Neighbours side by side".into(),
        reason: "Because.".into(),
        source: String::new(),
        rubric: "Drop the factor.".into(),
        line: 2,
        gain: GainRange { min_percent: 5.0, max_percent: 20.0 },
        innovation: 10,
        author: None,
        present: Vec::new(),
        left_out: Vec::new(),
    };
    let design = DesignBrief {
        base,
        population: &population,
        findings: &[],
        tried: &[],
        past: &[],
        kernel: None,
        forecast: &[],
    };
    let write = WriteBrief { base, reference: base, plan: &plan };
    vec![
        ("selector", stages.each_mut().map(|(selector, ..)| selector.select(&population, None, &cancel).err())),
        ("designer", stages.each_mut().map(|(_, designer, _)| designer.design(&design, &cancel).err())),
        ("writer", stages.each_mut().map(|(.., writer)| writer.write(&write, &cancel).err())),
    ]
}

#[test]
fn every_stage_is_answered_in_both_dialects() {
    let server = RealServer::start(4096);
    let dialects = ["openai", "anthropic"].map(|kind| scientist(kind, &server.url(), KEY));
    for (stage, errors) in asked([&dialects[0].0, &dialects[1].0]) {
        // So short an answer is of no use, and costs no more than itself.
        let is_over = |error: &Option<StageError>| matches!(error, None | Some(StageError::Unusable(_)));
        assert!(errors.iter().all(is_over), "{stage}: {errors:?}");
    }
    for (_, ledger, heard) in &dialects {
        let (calls, heard) = (ledger.take_calls(), heard.lock().unwrap());
        for stage in ["selector", "designer", "writer"] {
            let of_stage: Vec<_> = calls.iter().filter(|call| call.label == stage).collect();
            assert!(!of_stage.is_empty() && heard.iter().any(|label| label == stage), "{stage}: {calls:?}");
            assert!(of_stage.iter().all(|call| call.usage.input > 100 && call.usage.output > 0), "{calls:?}");
        }
    }
}

#[test]
fn every_stage_says_what_the_server_refuses() {
    let server = RealServer::start(256);
    let unusable = |scientist: &ModelScientist, expected: &str| {
        for (stage, [error]) in asked([scientist]) {
            let Some(StageError::Unavailable(why)) = error else { panic!("{stage}: {error:?}, expected {expected}") };
            assert!(why.contains(expected), "{stage}: {why}");
        }
    };
    for kind in ["openai", "anthropic"] {
        unusable(&scientist(kind, &server.url(), "sk-another-key").0, "check the key");
        unusable(&scientist(kind, &server.url(), KEY).0, "too long for the model's context");
    }
    let url = server.url();
    drop(server);
    unusable(&scientist("openai", &url, KEY).0, "check the network and the server");
}
