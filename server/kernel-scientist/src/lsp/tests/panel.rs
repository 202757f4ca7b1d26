//! What the panel, the side bar and the status bar ask for.

use std::path::Path;

use lab::{Figure, KernelTiming, TimeReport};
use notebook::{MeasuredCode, Notebook, Spent};
use serde_json::{Value, json};

use super::editor::Editor;
use crate::cli::report::example;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_in_the_words_of_the_report() {
    let mut editor = Editor::start().await;
    let notebook = Notebook::open(&editor.path("notebook.db")).unwrap();
    let run = example::record(&notebook, true);
    let uri = format!("file://{}", run.file.display());
    // The document need not be open: a panel comes back before its editor does.
    let population = editor.request("kernelScientist/population", json!({ "uri": uri })).await;
    let sentence = population["sentence"].as_str().unwrap();
    assert!(sentence.contains("99% interval of the geometric mean"), "{sentence}");
    assert_eq!(population["device_title"], "cpu emulation");
    assert_eq!(population["winner"]["shapes"].as_array().unwrap().len(), 3, "{population}");
    assert!(population.get("forecast").is_none() && population["is_held"] == false, "{population}");
    let members = population["members"].as_array().unwrap();
    assert_eq!((&members[0]["standing"], &members[0]["title"]), (&json!("original"), &json!("original")));
    // The original is timed as a baseline.
    assert_eq!(members[0]["times"].as_array().unwrap().len(), 2, "{population}");
    let time = &members[1]["times"][0];
    assert!(time["low_ns"].as_f64() < time["median_ns"].as_f64(), "{time}");
    assert!(time["median_ns"].as_f64() < time["high_ns"].as_f64(), "{time}");
    let experiments = population["experiments"].as_array().unwrap();
    let broken = experiments.iter().find(|row| row["standing"] == "failed").unwrap();
    assert!(broken["outcome"].is_string() && broken["speed"].is_null(), "{broken}");
    assert!(!broken["errors"].as_array().unwrap().is_empty(), "{broken}");
    assert!(experiments.iter().all(|row| row["is_forecast"] == false && row["took_s"] == 2.0));

    // Every draft has its text, whether it became a version or not.
    let ask = |of: Value| json!({ "run": population["run"], "of": of });
    let original = editor.request("kernelScientist/version", ask(json!({ "candidate": 0 }))).await;
    assert!(original["text"].as_str().unwrap().contains("__global__ void transpose"), "{original}");
    let draft = editor.request("kernelScientist/version", ask(json!({ "experiment": broken["id"] }))).await;
    assert_ne!(draft["text"], original["text"]);
    let missing = editor.answer("kernelScientist/version", ask(json!({ "candidate": 99 }))).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("has no version 99"), "{missing}");

    let all = editor.request("kernelScientist/runs", json!({})).await;
    assert_eq!((&all[0]["run"], &all[0]["file"]), (&population["run"], &json!(run.file)), "{all}");
    let of_file = editor.request("kernelScientist/runs", json!({ "uri": uri })).await;
    assert_eq!(of_file, all);

    // What a file's runs have cost is on record, so that it outlives every window.
    let step = Spent { usd: 20.25, ..Spent::default() };
    notebook.record_step(run.id, "another step", &Value::Null, &step).unwrap();
    let status = editor.request("kernelScientist/status", json!({ "uri": uri })).await;
    assert_eq!(status["spent_usd"], 20.25, "{status}");
    let other = editor.request("kernelScientist/status", json!({ "uri": editor.uri("other.hip") })).await;
    assert_eq!(other["spent_usd"], 0.0, "{other}");
    editor.stop().await;
}

/// Puts a time of a text's kernel on record.
fn record_time(notebook: &Path, file: &Path, text: &str, kernel: &str) {
    let kernels = scientist::evolution::kernels(text, None);
    let figure = Figure { median_ns: 412_000.0, low_ns: 411_000.0, high_ns: 413_000.0, samples: vec![412_000.0] };
    let report = TimeReport {
        device: "cpu".into(),
        device_note: "CPU emulation, not GPU time".into(),
        toolchain: "clang".into(),
        kernels: vec![KernelTiming { name: kernel.into(), shape: "n=1024".into(), figure }],
        output: String::new(),
        forecast: None,
    };
    let code = MeasuredCode { text, kernels: &kernels };
    let notebook = Notebook::open(notebook).unwrap();
    notebook.record_times(file, code, &report, 1, std::time::Duration::ZERO).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn kernels_of_closed_files_have_their_last_figure() {
    let mut editor = Editor::start().await;
    let text = "__global__ void a(float* x) {\n  x[0] = 1;\n}\n\n__global__ void b(float* x) {\n  x[0] = 2;\n}\n";
    std::fs::write(editor.path("two.hip"), text).unwrap();
    std::fs::write(editor.path("two.bench.toml"), "").unwrap();
    record_time(&editor.path("notebook.db"), &editor.path("two.hip"), text, "a");
    let uris = [editor.uri("two.hip"), editor.uri("gone.hip"), "untitled:1".to_owned()];
    let answer = editor.request("kernelScientist/kernels", json!({ "uris": uris })).await;
    let kernels = &answer[0]["kernels"];
    assert_eq!(answer[0]["has_benchmark"], true);
    assert_eq!((&kernels[0]["name"], &kernels[0]["line"]), (&json!("a"), &json!(0)), "{answer}");
    assert_eq!(kernels[0]["figure"], "412 us ±0.2% · cpu emulation");
    assert_eq!((&kernels[0]["is_current"], &kernels[0]["is_forecast"]), (&json!(true), &json!(false)));
    assert_eq!((&kernels[1]["name"], &kernels[1]["line"]), (&json!("b"), &json!(4)));
    assert_eq!(kernels[1]["figure"], Value::Null);
    assert!(answer[1]["problem"].as_str().unwrap().contains("cannot be read"), "{answer}");
    assert!(answer[2]["problem"].as_str().unwrap().contains("is no file"), "{answer}");

    // A changed kernel's figure is stale, never current.
    std::fs::write(editor.path("two.hip"), text.replace("x[0] = 1", "x[0] = 3")).unwrap();
    let answer = editor.request("kernelScientist/kernels", json!({ "uris": [uris[0]] })).await;
    let kernel = &answer[0]["kernels"][0];
    assert_eq!(
        (&kernel["is_current"], &kernel["figure"]),
        (&json!(false), &json!("stale: 412 us ±0.2% · cpu emulation"))
    );
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_names_the_device_and_the_provider_of_a_file() {
    let mut editor = Editor::start().await;
    let uri = editor.uri("a.hip");
    let status = editor.request("kernelScientist/status", json!({ "uri": uri })).await;
    assert_eq!((&status["device_title"], &status["is_forecast"]), (&json!("MI300X"), &json!(true)), "{status}");
    std::fs::write(editor.path("kernel-scientist.toml"), "[scientist]\nprovidr = 1\n").unwrap();
    let status = editor.request("kernelScientist/status", json!({ "uri": uri })).await;
    assert!(status["problem"].as_str().unwrap().contains("unknown field `providr`"), "{status}");
    editor.stop().await;
}
