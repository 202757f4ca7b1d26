//! What the loop itself costs: `overhead [SECONDS] [FOLDER]`.
//!
//! First a model and a device that answer at once: whole experiments a second, through prompts, JSON by schema, novelty, code out
//! of an answer, the comparison's record, findings and the population, with the notebook on disk in FOLDER (else the present
//! folder). Then a model that takes its time, at a hundredth of the real one (30 s become 300 ms, a device's 2 s become 20 ms):
//! how long a generation takes beside what its stages' dependency demands.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot be taken ends")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lab::workbench::{Sampling, ShapeChoice};
use lab::{Cancel, Comparison, Figure, KernelTiming, LabError, ShapeComparison, SpeedRatio, TimeReport, Verdict};
use llm::{Answer, Caller, LlmError, Model, Options, Provider, Request, Stop, Usage};
use notebook::{ModelCall, Notebook};
use scientist::budget::Budget;
use scientist::evaluation::Evaluator;
use scientist::evolution::event::{Event, Finished};
use scientist::evolution::{Evolution, Stages};
use scientist::knowledge::Knowledge;
use scientist::model::{Inquiry, KNOWLEDGE_TOKENS, ModelScientist, Prompts, StageModels, WHOLE_FILE_LINES};
use scientist::run::{RunRequest, Settings};
use scientist::task::Task;
use serde_json::json;

const TEXT: &str = include_str!("../../../tests/benchmarks/sgemm.hip");

/// Writes well-formed answers that say something new each time, after so long.
#[derive(Clone)]
struct Stub {
    takes: Duration,
    asked: Arc<AtomicU64>,
}

impl Provider for Stub {
    fn name(&self) -> &str {
        "openai:stub"
    }

    fn attempt(&self, request: &Request, _: &mut Caller<'_>) -> Result<Answer, LlmError> {
        std::thread::sleep(self.takes);
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let text = match request.label.as_str() {
            "selector" => selection(&request.messages[0].text),
            "designer" => design(number),
            _ => format!("Put a constant in.\n```cpp\n{TEXT}\nconstexpr int variant = {number};\n```\n"),
        };
        let usage = Usage { input: 4000, cached: 0, output: 1000, estimated: false };
        Ok(Answer { text, stop: Stop::End, usage, model: "stub-1".into() })
    }
}

/// The newest version that can be chosen.
fn selection(question: &str) -> String {
    let eligible = question.split_once("can be chosen: ").map_or("0", |(_, rest)| rest);
    let ids = eligible.split(|c: char| !c.is_ascii_digit() && c != ',' && c != ' ').next().unwrap_or("0");
    let base: u32 = ids.rsplit(", ").find_map(|id| id.trim().parse().ok()).unwrap_or(0);
    json!({ "reason": "It is the newest.", "base": base, "reference": 0 }).to_string()
}

fn design(number: u64) -> String {
    let line = TEXT.lines().position(|line| line.contains("sgemm_tiled(")).unwrap() + 1;
    let plan = |at: u64| {
        let words: Vec<String> = (0..8).map(|word| format!("w{}", number * 1000 + at * 10 + word)).collect();
        json!({
            "family": "stub", "kernel": "sgemm_tiled", "line": line, "title": words.join(" "), "reason": "It is a stub.",
            "rubric": words.iter().rev().map(|word| format!("{word}x")).collect::<Vec<_>>().join(" "),
            "min_percent": at, "max_percent": 10 + at, "innovation": 10 * at,
        })
    };
    let avenues: Vec<String> = (0..10).map(|at| format!("avenue {at}")).collect();
    json!({ "avenues": avenues, "plans": (0..5).map(plan).collect::<Vec<_>>() }).to_string()
}

/// Measures nothing, after so long.
struct Device {
    takes: Duration,
    busy_us: AtomicU64,
}

impl Device {
    fn at_work(&self) {
        let began = Instant::now();
        std::thread::sleep(self.takes);
        self.busy_us.fetch_add(began.elapsed().as_micros() as u64, Ordering::SeqCst);
    }
}

fn figure(median_ns: f64) -> Figure {
    Figure { median_ns, low_ns: median_ns * 0.99, high_ns: median_ns * 1.01, samples: vec![median_ns; 20] }
}

impl Evaluator for Device {
    type Build = ();

    fn device(&self) -> &str {
        "stub"
    }

    fn build(&self, _: &str, _: &Cancel) -> Result<(), LabError> {
        Ok(())
    }

    fn compare(&self, (): &(), (): &(), sampling: &Sampling, _: &Cancel) -> Result<Comparison, LabError> {
        self.at_work();
        let ratio = 0.9 + 0.2 * (sampling.seed % 1000) as f64 / 1000.0;
        let speed = SpeedRatio { ratio, low: ratio * 0.99, high: ratio * 1.01 };
        let verdict = if ratio > 1.01 { Verdict::Faster } else { Verdict::Slower };
        let shape = |shape: &str| ShapeComparison {
            shape: shape.into(),
            held_out: false,
            baseline: figure(1e6),
            candidate: figure(1e6 / ratio),
            speed,
            verdict,
        };
        Ok(Comparison {
            device: "stub".into(),
            device_note: String::new(),
            toolchain: "stub 1".into(),
            seed: sampling.seed,
            shapes: ["m=1024", "m=4096"].map(shape).to_vec(),
            speed,
            verdict,
            forecast: None,
        })
    }

    fn time(&self, (): &(), sampling: &Sampling, _: &Cancel) -> Result<TimeReport, LabError> {
        assert_eq!(sampling.shapes, ShapeChoice::Shown);
        let timing =
            |shape: &str| KernelTiming { name: "sgemm_tiled".into(), shape: shape.into(), figure: figure(1e6) };
        Ok(TimeReport {
            device: "stub".into(),
            device_note: String::new(),
            toolchain: "stub 1".into(),
            kernels: ["m=1024", "m=4096"].map(timing).to_vec(),
            output: String::new(),
            forecast: None,
        })
    }
}

/// A run of so many generations, or until its time is over; and how many experiments it told of.
fn run(notebook: &Notebook, model: Duration, device: &Device, budget: Budget) -> (Finished, u64) {
    let stub = Stub { takes: model, asked: Arc::default() };
    let model = Arc::new(Model::new("openai:stub".parse().unwrap(), Box::new(stub), Options::default()));
    let inquiry = Inquiry {
        prompts: Prompts::load(None).unwrap(),
        knowledge: Knowledge::load(None).unwrap(),
        knowledge_tokens: KNOWLEDGE_TOKENS,
        task: Task { entry: Some("sgemm".into()), text: "A product of matrices.".into() },
        device: "stub".into(),
        by_forecast: false,
        whole_file_lines: WHOLE_FILE_LINES,
        file: "k.hip".into(),
        machine: None,
        designer: String::new(),
    };
    let ledger = model.ledger().clone();
    let scientist = ModelScientist::new(inquiry, StageModels::one(model));
    let (mut selector, mut designer, writer) = scientist.stages();
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
    let calls = ledger.clone();
    let kept = move || {
        let calls = calls.take_calls().into_iter();
        calls.map(|llm::Call { label, model, usage, usd, took }| {
            let Usage { input, cached, output, estimated } = usage;
            ModelCall { label, model, input, cached, output, estimated, usd, took }
        })
    };
    let request = RunRequest {
        file: "/stub/sgemm.hip".into(),
        text: TEXT.into(),
        kernel: None,
        provider: "openai:stub".into(),
        seed: 1,
        budget,
        settings: Settings { experiment: Duration::ZERO, confirmation: Duration::ZERO, ..Settings::default() },
    };
    let mut told = 0;
    let ended = Evolution::new(device, stages, notebook)
        .with_meter(scientist::model::meter(&ledger))
        .with_calls(Arc::new(move || kept().collect()))
        .start(&request, &Cancel::new(), &mut |event| told += u64::from(matches!(event, Event::Experiment { .. })));
    let finished = ended.unwrap().finished;
    // Where time is up, the last plans are written and not measured.
    assert!(told + 3 >= u64::from(finished.experiments), "each experiment is told of");
    (finished, told)
}

fn at_once(notebook: &Notebook, seconds: f64) {
    let device = Device { takes: Duration::ZERO, busy_us: AtomicU64::new(0) };
    let wall = Some(Duration::from_secs_f64(seconds));
    let began = Instant::now();
    let (finished, measured) =
        run(notebook, Duration::ZERO, &device, Budget { generations: 100_000, wall, ..Budget::default() });
    let took = began.elapsed().as_secs_f64();
    assert_eq!((finished.failed, finished.duplicates), (0, 0), "{}", finished.reason);
    println!(
        "a model and a device that answer at once: {} experiments in {took:.1} s, {:.0} a second",
        measured,
        measured as f64 / took
    );
}

fn in_time(notebook: &Notebook) {
    const GENERATIONS: u32 = 5;
    let (model, device) =
        (Duration::from_millis(300), Device { takes: Duration::from_millis(20), busy_us: AtomicU64::new(0) });
    let began = Instant::now();
    let (_, measured) = run(notebook, model, &device, Budget { generations: GENERATIONS, ..Budget::default() });
    let took = began.elapsed().as_secs_f64();
    let busy = device.busy_us.load(Ordering::SeqCst) as f64 / 1e6;
    // The first generation has nothing to select from. Of three drafts that arrive together the device measures one after
    // the other; what it measures at the end of the run is in `busy` alone.
    let stages = model.as_secs_f64() * f64::from(3 * GENERATIONS - 1);
    println!(
        "a model of {model:?} and a device of {:?}: {} experiments in {took:.2} s; the stages' dependency demands {stages:.2} s of \
         questions, the device worked for {busy:.2} s, in no other time did it stand still but {:.2} s",
        device.takes,
        measured,
        took - stages - busy
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(5.0, |text| text.parse().expect("a number of seconds"));
    let folder = arguments.next().unwrap_or_else(|| ".".into());
    let folder = tempfile::tempdir_in(Path::new(&folder)).unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    at_once(&notebook, seconds);
    in_time(&notebook);
}
