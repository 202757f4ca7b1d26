//! The stages against a scripted model: what they ask, and what they make of what comes back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use lab::forecast::{KernelForecast, LineForecast, Occupancy, Roofline};
use lab::sanitize::{Fault, Place};
use lab::{Cancel, Diagnostic, Failure, SpeedRatio, Verdict};
use llm::{Answer, Caller, LlmError, Model, ModelName, Options, Provider, Request, Retry, Stop, Usage};
use serde_json::{Value, json};

use super::*;
use crate::stages::{
    DesignBrief, Designer, Draft, GainRange, Hypothesis, Member, PastPlan, Population, RepairBrief, Selector,
    WriteBrief, Writer,
};

/// A plan about the kernel `k`.
pub(super) fn plan(title: &str, rubric: &str) -> Hypothesis {
    Hypothesis {
        key: format!("idea:{title}"),
        kernel: "k".into(),
        title: title.into(),
        reason: "Because.".into(),
        source: String::new(),
        rubric: rubric.into(),
        line: 1,
        gain: GainRange { min_percent: 5.0, max_percent: 20.0 },
        innovation: 10,
        author: None,
        present: Vec::new(),
        left_out: Vec::new(),
    }
}

/// Gives its answers in order and keeps the questions.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Result<String, LlmError>>>>,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Provider for Script {
    fn name(&self) -> &str {
        "openai:scripted"
    }

    fn attempt(&self, request: &Request, _: &mut Caller<'_>) -> Result<Answer, LlmError> {
        self.asked.lock().unwrap().push(request.clone());
        let text = self.answers.lock().unwrap().pop_front().expect("the script has no answer left")?;
        Ok(Answer { text, stop: Stop::End, usage: Usage::default(), model: "scripted-1".into() })
    }
}

impl Script {
    fn of(answers: &[&str]) -> Self {
        let script = Self::default();
        script.answers.lock().unwrap().extend(answers.iter().map(|answer| Ok((*answer).to_owned())));
        script
    }

    fn failing(error: LlmError) -> Self {
        let script = Self::default();
        script.answers.lock().unwrap().push_back(Err(error));
        script
    }

    fn scientist(&self, inquiry: Inquiry) -> ModelScientist {
        let name: ModelName = "openai:scripted".parse().unwrap();
        let options = Options { retry: Retry { times: 0, ..Retry::default() }, ..Options::default() };
        let model = Arc::new(Model::new(name, Box::new(self.clone()), options));
        ModelScientist::new(inquiry, StageModels::one(model))
    }

    /// The last turn of each question.
    fn questions(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|request| request.messages.last().unwrap().text.clone()).collect()
    }
}

fn inquiry() -> Inquiry {
    Inquiry {
        prompts: Prompts::load(None).unwrap(),
        knowledge: Knowledge::load(None).unwrap(),
        knowledge_tokens: KNOWLEDGE_TOKENS,
        task: Task { entry: Some("run".into()), text: "The benchmark calls `run`.".into() },
        device: "MI300X".into(),
        by_forecast: true,
        whole_file_lines: WHOLE_FILE_LINES,
        file: "/home/somebody/secret-project/a.hip".into(),
        machine: None,
        designer: String::new(),
    }
}

const TEXT: &str = "__global__ void k(float* a) {\n    a[threadIdx.x * 64] = 1;\n}\nvoid run(float* a, int n) {\n    k<<<n, 64>>>(a);\n}\n";

fn member(id: u32, ratio: f64) -> Member {
    Member {
        id,
        parent: (id > 0).then_some(0),
        reference: None,
        generation: id.min(1),
        text: TEXT.into(),
        steps: Vec::new(),
        summary: format!("version {id}: 20% | faster"),
        times: vec![("n=64".into(), 12_345.0 / ratio), ("n=4096".into(), 812_000.0 / ratio)],
        against_parent: None,
        against_original: (id > 0).then_some(SpeedRatio { ratio, low: ratio * 0.99, high: ratio * 1.01 }),
        verdict: (id > 0).then_some(Verdict::Faster),
        failure: None,
    }
}

fn population() -> Population {
    let failed = Member {
        failure: Some(Failure::Wrong { detail: "element 3".into() }),
        against_original: None,
        times: Vec::new(),
        ..member(2, 1.0)
    };
    Population { members: vec![member(0, 1.0), member(1, 1.5), failed] }
}

#[test]
fn the_selector_sees_the_table_and_its_choice_is_checked() {
    let script = Script::of(&[
        r#"{"reason":"the failed one","base":2,"reference":0}"#,
        r#"{"reason":"fastest\nso far","base":1,"reference":0}"#,
    ]);
    let (mut selector, ..) = script.scientist(inquiry()).stages();
    let selection = selector.select(&population(), None, &Cancel::new()).unwrap();
    assert_eq!((selection.base, selection.reference, selection.reason.as_str()), (1, 0, "fastest so far"));
    let questions = script.questions();
    for expected in [
        "| 0 | - | - | 0 | 1.00x | 12.35 | 812 | - | version 0: 20% / faster |",
        "| 1 | 0 | - | 1 | 1.50x (1.48 to 1.52) | 8.23 | 541 | faster |",
        "| 2 | 0 | - | 1 | - | - | - | wrong |",
        "Only versions with a time can be chosen: 0, 1.",
    ] {
        assert!(questions[0].contains(expected), "no {expected} in {}", questions[0]);
    }
    assert!(questions[1].contains("2 is no version with a time; those are 0, 1"), "{}", questions[1]);
}

#[test]
fn with_the_original_alone_nothing_is_asked() {
    let script = Script::of(&[]);
    let (mut selector, ..) = script.scientist(inquiry()).stages();
    let population = Population { members: vec![member(0, 1.0)] };
    assert_eq!(selector.select(&population, None, &Cancel::new()).unwrap().base, 0);
}

fn planned(title: &str, rubric: &str) -> Value {
    json!({
        "family": "LDS tiling", "kernel": "k", "line": 2, "title": title, "reason": "r", "rubric": rubric,
        "min_percent": 10, "max_percent": 40, "innovation": 20,
    })
}

fn design(plans: &[Value]) -> String {
    json!({ "avenues": ["one", "two"], "plans": plans }).to_string()
}

fn account() -> Vec<KernelForecast> {
    let line = LineForecast {
        line: 2,
        share: 0.91,
        sectors: 64.0,
        ideal_sectors: 4.0,
        conflict_degree: 1.0,
        instructions: 0.5,
        lanes: 1.0,
        accesses: Vec::new(),
    };
    vec![KernelForecast {
        name: "k".into(),
        grid: [64, 1, 1],
        block: [64, 1, 1],
        launches: 1,
        us: 12.3,
        low_us: 6.0,
        high_us: 20.0,
        bound: "memory".into(),
        busy: Vec::new(),
        occupancy: Occupancy {
            blocks: 8,
            waves: 8,
            most_waves: 32,
            limited_by: "blocks".into(),
            registers: 24,
            registers_from_code: true,
            lds_bytes: 0,
        },
        roofline: Roofline {
            memory_bytes: 1e6,
            bytes_per_second: 1e12,
            memory_share: 0.2,
            arithmetic_share: 0.01,
            arithmetic: "fp32".into(),
        },
        lines: vec![line],
    }]
}

fn designed(script: &Script, past: &[PastPlan]) -> Result<crate::stages::Design, StageError> {
    let population = population();
    let forecast = account();
    let brief = DesignBrief {
        base: &population.members[1],
        population: &population,
        findings: &[],
        tried: &[],
        past,
        kernel: None,
        forecast: &forecast,
    };
    let (_, mut designer, _) = script.scientist(inquiry()).stages();
    designer.design(&brief, &Cancel::new())
}

#[test]
fn the_designer_sees_code_account_and_notes_and_its_plans_are_read() {
    let script =
        Script::of(&[&design(&[planned("Tile through LDS", "declare, load, sync"), planned("Wide loads", "float4")])]);
    let design = designed(&script, &[]).unwrap();
    assert_eq!(design.plans.len(), 2);
    let first = &design.plans[0];
    assert!(first.key.starts_with("lds-tiling:k-"), "{}", first.key);
    assert_eq!(
        (first.line, first.gain, first.source.as_str()),
        (2, GainRange { min_percent: 10.0, max_percent: 40.0 }, "proposed by openai:scripted")
    );
    let question = &script.questions()[0];
    for expected in [
        "   2      a[threadIdx.x * 64] = 1;",
        "The benchmark calls `run`.",
        "line 2, 91% of the time: `a[threadIdx.x * 64] = 1;` -- 64.0 sectors an access where 4.0 would do\n",
        "24 registers a work-item",
        "MI300X at a glance",
        "n=4096: 541 us",
    ] {
        assert!(question.contains(expected), "no {expected} in {question}");
    }
    let system = &script.asked.lock().unwrap()[0].system;
    assert!(system.contains("Target device: MI300X"), "{system}");
}

#[test]
fn a_plan_that_repeats_is_refused_and_replaced() {
    let past = [PastPlan {
        base: 0,
        plan: plan("Tile through LDS in 32x32 blocks", "declare").into(),
        outcome: "slower".into(),
    }];
    let script = Script::of(&[
        &design(&[planned("Tile through LDS in 32x32 blocks", "a"), planned("Wide loads of four floats", "float4")]),
        &design(&[planned("Swap the axes of the launch", "x and y")]),
    ]);
    let titles: Vec<String> = designed(&script, &past).unwrap().plans.into_iter().map(|plan| plan.title).collect();
    assert_eq!(titles, ["Wide loads of four floats", "Swap the axes of the launch"]);
    let questions = script.questions();
    assert!(questions[0].contains("on version 0: Tile through LDS in 32x32 blocks -- slower"), "{}", questions[0]);
    assert!(questions[1].contains("Work out 1 other plan in their place"), "{}", questions[1]);
    assert!(questions[1].contains("- Wide loads of four floats"), "{}", questions[1]);

    let stubborn = design(&[planned("Tile through LDS in 32x32 blocks", "a")]);
    let error = designed(&Script::of(&[&stubborn, &stubborn]), &past).unwrap_err();
    assert!(matches!(&error, StageError::Unusable(why) if why.contains("repeats")), "{error}");
}

#[test]
fn plans_that_make_no_sense_are_asked_for_again() {
    for (line, complaint) in [
        (99, "plan 1 names line 99; the file has lines 1 to 6"),
        // The launch is no line of the kernel.
        (5, "plan 1 names line 5, which is not in `k` (lines 1 to 3)"),
    ] {
        let mut elsewhere = planned("Wide loads", "float4");
        elsewhere["line"] = json!(line);
        let script = Script::of(&[&design(&[elsewhere]), &design(&[planned("Wide loads", "float4")])]);
        assert_eq!(designed(&script, &[]).unwrap().plans.len(), 1);
        assert!(script.questions()[1].contains(complaint), "{}", script.questions()[1]);
    }
}

#[test]
fn what_the_kernels_need_of_the_machine_is_told_whatever_times_come_from() {
    let asked = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&asked);
    let of_text: OfText = Arc::new(move |text, _| {
        *counted.lock().unwrap() += 1;
        let kernel = lab::codegen::KernelResources {
            name: "k".into(),
            symbol: "k".into(),
            file: "a.hip".into(),
            line: 1,
            vgprs: text.lines().count() as u32,
            agprs: 0,
            sgprs: 20,
            lds_bytes: 2048,
            dynamic_lds_bytes: Some(0),
            scratch_bytes: 16,
            vgpr_spills: 3,
            sgpr_spills: 0,
            wave_size: 64,
            max_block: 256,
            occupancy: 8,
            limited_by: Some(lab::codegen::Limit::Lds),
        };
        vec![kernel]
    });
    let on_a_measured_device =
        Inquiry { by_forecast: false, machine: Some(Machine::new("gfx942", of_text)), ..inquiry() };
    let design = design(&[planned("Wide loads", "float4")]);
    let better = TEXT.replace("* 64", "");
    let script = Script::of(&[&design, &format!("Made it.\n```cpp\n{better}```\n")]);
    let population = population();
    let brief = DesignBrief {
        base: &population.members[0],
        population: &population,
        findings: &[],
        tried: &[],
        past: &[],
        kernel: None,
        forecast: &[],
    };
    let (_, mut designer, writer) = script.scientist(on_a_measured_device).stages();
    designer.design(&brief, &Cancel::new()).unwrap();
    let plan = plan("Wide loads", "float4");
    let write = WriteBrief { base: &population.members[0], reference: &population.members[0], plan: &plan };
    writer.write(&write, &Cancel::new()).unwrap();
    for question in script.questions() {
        let told = "Code generation for gfx942 says:\n- `k`: 6 vector registers a work-item, 20 scalar registers a wave, 2048 \
                    bytes of LDS a block of up to 256 work-items, 16 bytes of scratch a work-item (3 vector and 0 scalar \
                    registers are spilled); a SIMD holds 8 waves, limited by LDS\n";
        assert!(question.contains(told), "{question}");
    }
    // The writer's base is the designer's: code is not generated beside what is timed.
    assert_eq!(*asked.lock().unwrap(), 1);
}

fn written(script: &Script, inquiry: Inquiry) -> Result<Draft, StageError> {
    let population = population();
    let plan = plan("Wide loads", "float4");
    let brief = WriteBrief { base: &population.members[0], reference: &population.members[1], plan: &plan };
    let (.., writer) = script.scientist(inquiry).stages();
    writer.write(&brief, &Cancel::new()).map(|mut drafts| drafts.remove(0))
}

#[test]
fn the_writer_gives_a_whole_file_and_a_report() {
    let better = TEXT.replace("* 64", "");
    let script = Script::of(&[&format!("Made it\nconsecutive.\n```cpp\n{better}```\n")]);
    let draft = written(&script, inquiry()).unwrap();
    assert_eq!((draft.text.as_str(), draft.report.as_str()), (better.as_str(), "Made it consecutive."));
    let question = &script.questions()[0];
    for expected in [
        "What to change:\nfloat4",
        "A version to borrow from (number 1, 1.50x",
        "Keep the name and the parameters of `run`",
    ] {
        assert!(question.contains(expected), "no {expected} in {question}");
    }
}

#[test]
fn code_that_cannot_be_used_is_asked_for_once_more() {
    let fence = |text: &str| format!("```cpp\n{text}```\n");
    for (bad, complaint) in [
        ("I would rather not.".to_owned(), "no fenced block"),
        (format!("{}{}", fence(TEXT), fence(TEXT)), "several fenced blocks"),
        ("```cpp\nint a;".to_owned(), "is not closed"),
        (fence(&TEXT.replace("void run", "void go")), "there is no `run(float*a, int n)` any more"),
        (fence(&TEXT.replace("int n", "long n")), "must keep (float*a, int n)"),
        (fence("void run(float* a, int n) {}\n"), "there is no kernel in the file"),
        (fence(&format!("{TEXT}// {}\n", "x".repeat(40_000))), "are enough for any version of it"),
        (fence(&(TEXT.to_owned() + &"__global__ void more() {}\n".repeat(400))), "the file has 401 kernels"),
        (fence(&format!("{TEXT}{}int{} a;\n", "A<".repeat(2000), ">".repeat(2000))), "256 brackets inside one another"),
        (fence(&format!("{TEXT}// \u{1b}]0;title\u{7}\n")), "a hidden character in the file (U+001B)"),
    ] {
        let script = Script::of(&[&bad, &fence(TEXT)]);
        assert_eq!(written(&script, inquiry()).unwrap().text, TEXT, "{bad}");
        assert!(script.questions()[1].contains(complaint), "{}", script.questions()[1]);
        let error = written(&Script::of(&[&bad, &bad]), inquiry()).unwrap_err();
        assert!(matches!(&error, StageError::Unusable(why) if why.contains(complaint)), "{error}");
    }
}

#[test]
fn an_answer_that_is_far_too_long_is_not_sent_back_whole() {
    let huge = format!("```cpp\n{TEXT}// {}\n```\n", "words ".repeat(700_000));
    let good = format!("```cpp\n{TEXT}```\n");
    let script = Script::of(&[&huge, &good]);
    assert_eq!(written(&script, inquiry()).unwrap().text, TEXT);
    let question = &script.questions()[1];
    assert!(
        question.contains("are enough for any version of it") && question.len() < 200_000,
        "{} bytes",
        question.len()
    );
}

#[test]
fn models_words_do_nothing_to_a_terminal() {
    let bad = "Wide\u{1b}[2J\u{7} loads\nverdict: faster, 9.99x\u{9b}31m\u{202e}";
    let script = Script::of(&[&design(&[planned(bad, "float4")])]);
    let made = designed(&script, &[]).unwrap();
    let plan = &made.plans[0];
    assert_eq!(plan.title, "Wide[2J loads verdict: faster, 9.99x31m");
    let hypothesis = serde_json::to_value(plan).unwrap();
    let shown = [&hypothesis["key"], &hypothesis["title"], &hypothesis["reason"], &hypothesis["rubric"]];
    for text in shown.into_iter().filter_map(|text| text.as_str()).chain(made.avenues.iter().map(String::as_str)) {
        assert!(!text.contains(llm::foreign::is_hidden), "{text:?}");
    }
    let script = Script::of(&[&format!("{bad}\n```cpp\n{TEXT}```\n")]);
    let draft = written(&script, inquiry()).unwrap();
    assert_eq!(draft.report, "Wide[2J loads verdict: faster, 9.99x31m");
}

#[test]
fn long_files_are_changed_by_edits() {
    let long = Inquiry { whole_file_lines: 3, ..inquiry() };
    let edit =
        "Done.\n<<<<<<< SEARCH\n    a[threadIdx.x * 64] = 1;\n=======\n    a[threadIdx.x] = 1;\n>>>>>>> REPLACE\n";
    let script = Script::of(&["<<<<<<< SEARCH\nnot there\n=======\nx\n>>>>>>> REPLACE\n", edit]);
    let draft = written(&script, long).unwrap();
    assert_eq!((draft.text, draft.report.as_str()), (TEXT.replace(" * 64", ""), "Done."));
    assert!(script.questions()[0].contains("<<<<<<< SEARCH"));
    assert!(script.questions()[1].contains("edit 1 searches for are not in the file"), "{}", script.questions()[1]);
}

fn fault(line: u32, message: &str) -> Fault {
    let file = "/home/somebody/secret-project/a.hip".into();
    let place =
        Place { file, line, column: 5, did: "written here".into(), block: Some([1, 0, 0]), work_item: Some([0, 0, 0]) };
    Fault {
        kind: "race".into(),
        message: message.into(),
        kernel: Some("k".into()),
        at: Some(place),
        other: None,
        block: Some([1, 0, 0]),
        work_items: Vec::new(),
        times: 9,
    }
}

#[test]
fn a_repair_is_told_the_place_of_the_error() {
    let script = Script::of(&[&format!("A semicolon was missing.\n```cpp\n{TEXT}```\n")]);
    let (population, plan) = (population(), plan("Wide loads", "float4"));
    let failure = Failure::DoesNotCompile {
        diagnostics: vec![Diagnostic {
            file: "/home/somebody/secret-project/a.hip".into(),
            line: 2,
            column: 5,
            severity: "error".into(),
            message: "expected ';'".into(),
            notes: Vec::new(),
        }],
    };
    let write = WriteBrief { base: &population.members[0], reference: &population.members[0], plan: &plan };
    let draft = "__global__ void k(float* a) {\n    a[0] = 1\n}\n";
    let faults = [fault(3, "two work-items write here")];
    let brief = RepairBrief { write, draft, failure: &failure, faults: &faults, turn: 1 };
    let (.., writer) = script.scientist(inquiry()).stages();
    let mended = writer.repair(&brief, &Cancel::new()).unwrap().unwrap();
    assert_eq!(mended.report, "A semicolon was missing.");
    let question = &script.questions()[0];
    assert!(question.contains("line 2: expected ';'\n    a[0] = 1\n"), "{question}");
    let found = "line 3: two work-items write here (in block 1,0,0)\n    }\n";
    assert!(
        question.contains("Sanitizers, on the smallest size that you are shown, say:") && question.contains(found),
        "{question}"
    );
    assert!(!question.contains("secret-project"), "{question}");

    // What the compiler says of other files has no line of the draft's.
    let elsewhere = Diagnostic {
        file: "/home/somebody/secret-project/a.bench.toml".into(),
        line: 2,
        column: 1,
        severity: "error".into(),
        message: "no matching function".into(),
        notes: Vec::new(),
    };
    let failure = Failure::DoesNotCompile { diagnostics: vec![elsewhere] };
    let script = Script::of(&[&format!("Mended.\n```cpp\n{TEXT}```\n")]);
    let (.., writer) = script.scientist(inquiry()).stages();
    writer.repair(&RepairBrief { failure: &failure, faults: &[], ..brief.clone() }, &Cancel::new()).unwrap().unwrap();
    let question = &script.questions()[0];
    assert!(question.contains("\nin a.bench.toml: no matching function\n"), "{question}");
    assert!(!question.contains("line 2:") && !question.contains("secret-project"), "{question}");

    let refused = Failure::Refused { detail: "it opened a socket".into() };
    let brief = RepairBrief { failure: &refused, ..brief };
    assert!(writer.repair(&brief, &Cancel::new()).unwrap().is_none());
}

#[test]
fn a_repair_is_asked_for_in_the_form_of_the_first_question() {
    // The draft is longer than a file that is written anew; its base is not.
    let lines = TEXT.lines().count();
    let just_short = Inquiry { whole_file_lines: lines, ..inquiry() };
    let draft = format!("{TEXT}\n// longer\n");
    let script = Script::of(&[&format!("Mended.\n```cpp\n{TEXT}```\n")]);
    let (population, plan) = (population(), plan("Wide loads", "float4"));
    let write = WriteBrief { base: &population.members[0], reference: &population.members[0], plan: &plan };
    let failure = Failure::Wrong { detail: "element 3".into() };
    let brief = RepairBrief { write, draft: &draft, failure: &failure, faults: &[], turn: 1 };
    let (.., writer) = script.scientist(just_short).stages();
    assert_eq!(writer.repair(&brief, &Cancel::new()).unwrap().unwrap().text, TEXT);
    assert!(!script.questions()[0].contains("SEARCH"), "{}", script.questions()[0]);
}

#[test]
fn plans_that_stand_survive_an_outage_at_the_question_for_others() {
    let past = [PastPlan {
        base: 0,
        plan: plan("Tile through LDS in 32x32 blocks", "declare").into(),
        outcome: "slower".into(),
    }];
    let plans = [planned("Tile through LDS in 32x32 blocks", "a"), planned("Wide loads of four floats", "float4")];
    let script = Script::of(&[&design(&plans)]);
    let gone = LlmError::Unreachable { who: "openai:scripted".into(), detail: "cut".into() };
    script.answers.lock().unwrap().push_back(Err(gone));
    let titles: Vec<String> = designed(&script, &past).unwrap().plans.into_iter().map(|plan| plan.title).collect();
    assert_eq!(titles, ["Wide loads of four floats"]);
}

#[test]
fn a_designer_is_told_of_its_own_predictions_alone() {
    let finding = |author: &str, gain: f64| crate::stages::Finding {
        about: "idea".into(),
        predicted: GainRange { min_percent: 5.0, max_percent: 20.0 },
        measured_percent: Some(gain),
        forecast_percent: None,
        text: format!("by {author}"),
        author: Some(author.to_owned()),
        tried: Vec::new(),
    };
    let findings = [finding("openai:scripted", 10.0), finding("catalog", 1.0), finding("openai:scripted", 30.0)];
    let population = population();
    let brief = DesignBrief {
        base: &population.members[1],
        population: &population,
        findings: &findings,
        tried: &[],
        past: &[],
        kernel: None,
        forecast: &[],
    };
    let script = Script::of(&[&design(&[planned("Wide loads", "float4")])]);
    let (_, mut designer, _) = script.scientist(inquiry()).stages();
    designer.design(&brief, &Cancel::new()).unwrap();
    let question = &script.questions()[0];
    assert!(question.contains("Of the 2 predictions so far that could be compared, 1 held, 0\npromised"), "{question}");
    // What others' experiments taught is worth knowing all the same.
    assert!(question.contains("- by catalog"), "{question}");
}

#[test]
fn an_outage_pauses_and_a_bad_answer_costs_the_experiment() {
    let who = || "openai:scripted".to_owned();
    for (error, pauses) in [
        (LlmError::Unreachable { who: who(), detail: "cut".into() }, true),
        (LlmError::KeyRefused { who: who(), detail: "401".into() }, true),
        (LlmError::OutOfQuota { who: who(), detail: "429".into() }, true),
        (LlmError::Withheld { who: who(), detail: "filter".into() }, false),
    ] {
        let found = designed(&Script::failing(error.clone()), &[]).unwrap_err();
        assert_eq!(matches!(found, StageError::Unavailable(_)), pauses, "{error:?}");
        assert!(found.to_string().contains("openai:scripted"), "{found}");
    }
    let cancelled = designed(&Script::failing(LlmError::Cancelled), &[]).unwrap_err();
    assert!(matches!(cancelled, StageError::Cancelled));
}

#[test]
fn templates_may_be_the_users_and_their_mistakes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let load = || Prompts::load(Some(folder.path()));
    assert!(load().unwrap_err().to_string().contains("there is no template in it"));
    let selector = |text: &str| std::fs::write(folder.path().join("selector.md"), text).unwrap();
    selector("Choose from {{ eligible }}.");
    let with = |prompts: Prompts| selector::question(&Inquiry { prompts, ..inquiry() }, &population(), None);
    let question = with(load().unwrap()).unwrap();
    assert_eq!(question.messages[0].text, "Choose from 0, 1.\n");
    selector("Choose from {{ held_out_shapes }}.");
    let error = with(load().unwrap()).unwrap_err();
    assert!(error.to_string().contains("selector.md: line 1"), "{error}");
    selector("{% for x %}");
    let error = load().unwrap_err().to_string();
    assert!(error.contains("selector.md") && error.contains("line 1"), "{error}");
}

#[test]
fn a_template_comes_to_an_end() {
    let loops = |body: &str| {
        let each = "{% for i in range(100000) %}";
        format!("{each}{each}{body}{{% endfor %}}{{% endfor %}}")
    };
    let folder = tempfile::tempdir().unwrap();
    for (text, expected) in [
        (loops(""), "it takes more than 2000000 steps"),
        (loops(&"x".repeat(1000)), "is longer than 16 MiB"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned(), "recursion"),
    ] {
        std::fs::write(folder.path().join("selector.md"), &text).unwrap();
        let prompts = Prompts::load(Some(folder.path())).unwrap();
        let error = selector::question(&Inquiry { prompts, ..inquiry() }, &population(), None).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("selector.md"), "{text:.60}: {error}");
    }
}

#[test]
fn an_estimate_is_made_before_a_run() {
    let estimate = Script::of(&[]).scientist(inquiry()).estimate(TEXT, 5);
    assert_eq!((estimate.calls, estimate.usd), (30, None));
    assert!(estimate.tokens() > 50_000, "{estimate:?}");
}
