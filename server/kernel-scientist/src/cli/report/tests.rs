//! The page as a whole: well-formed, complete, free of references to elsewhere, and deaf to what kernels say.

use std::time::Duration;

use lab::forecast::Basis;
use lab::{Figure, KernelTiming, TimeReport};
use notebook::{KernelFingerprint, MeasuredCode, Notebook};

use super::data::ReportData;
use super::example;
use super::gather::gather;
use super::render::render;
use crate::forecasts::account::tests::basis;

fn page(confirmed: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let run = example::record(&notebook, confirmed);
    render(&gather(&notebook, &run).unwrap()).unwrap()
}

/// The tags of a page in order: name, whether it closes, whether it closes itself, and its attributes' text.
fn tags(html: &str) -> Vec<(String, bool, bool, String)> {
    let body = match (html.find("<style>"), html.find("</style>")) {
        (Some(from), Some(to)) => format!("{}{}", &html[..from + 7], &html[to..]),
        _ => html.to_owned(),
    };
    body.split('<')
        .skip(1)
        .filter(|tag| !tag.starts_with('!'))
        .map(|tag| {
            let inside = tag.split('>').next().unwrap();
            let closes = inside.starts_with('/');
            let name: String = inside.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
            (name, closes, inside.ends_with('/'), inside.to_owned())
        })
        .collect()
}

#[test]
fn the_page_is_well_formed() {
    for html in [page(true), page(false)] {
        assert!(html.starts_with("<!DOCTYPE html>\n"));
        let mut open: Vec<String> = Vec::new();
        for (name, closes, closes_itself, text) in tags(&html) {
            assert!(!name.is_empty(), "<{text}>");
            assert_eq!(text.matches('"').count() % 2, 0, "<{text}>");
            if closes {
                assert_eq!(open.pop().as_deref(), Some(name.as_str()), "<{text}> closes another");
            } else if !closes_itself && !["meta", "br"].contains(&name.as_str()) {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<String>::new());
    }
}

#[test]
fn every_candidate_and_experiment_is_there_with_its_verdict_in_words() {
    let report = example::report();
    let html = render(&report).unwrap();
    for candidate in &report.candidates {
        assert!(html.contains(&format!("<th scope=\"row\" class=\"number\">#{}</th>", candidate.number)));
        assert!(html.contains(&format!("<title>#{}: ", candidate.number)));
    }
    assert_eq!(html.matches("class=\"node ").count(), report.candidates.len());
    for word in ["1.82×", "1.31× (1.29 to 1.33) faster", "slower", "inconclusive", "does not compile", "wrong", "same"]
    {
        assert!(html.contains(word), "{word}");
    }
    assert!(html.contains(">transpose.hip:8:22: error: local memory (80000)"));
    assert!(html.contains("CPU emulation, not GPU time"));
    assert!(html.contains("held out"));
}

#[test]
fn nothing_is_loaded_from_elsewhere_and_nothing_is_run() {
    let html = page(true);
    for (name, _, _, text) in tags(&html) {
        assert!(
            !["script", "img", "link", "iframe", "object", "embed", "image", "use", "a"].contains(&name.as_str()),
            "<{text}>"
        );
        for attribute in [" src=", " href=", " onerror=", " onload=", " onclick=", " style="] {
            assert!(!text.contains(attribute), "<{text}>");
        }
    }
    let style = &html[html.find("<style>").unwrap()..html.find("</style>").unwrap()];
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn what_kernels_and_models_say_is_escaped() {
    let html = page(true);
    assert!(!html.contains("<script") && !html.contains("<img"));
    // The injection stands in a comment of the kernel, in a title and in a failure.
    assert!(html.matches("&lt;script&gt;").count() >= 3);
}

#[test]
fn without_a_confirmation_no_speedup_is_claimed() {
    let html = page(false);
    assert!(html.contains("No confirmed speedup") && html.contains("No candidate was faster"));
    assert!(!html.contains("Confirmed speedup") && !html.contains("1.82×"));
    // The fastest of the timed ones is shown; the last one failed and has no time.
    assert!(html.contains("nothing of it is confirmed") && html.contains("#0 → #4: everything"));
}

#[test]
fn a_run_without_experiments_still_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let run = notebook
        .start_run(&notebook::NewRun {
            file: std::path::Path::new("/k.hip"),
            text: "",
            kernels: &[],
            kernel: None,
            device: "cpu",
            provider: "catalog",
            seed: 1,
            budget: serde_json::Value::Null,
            settings: serde_json::Value::Null,
            program: "test",
        })
        .unwrap();
    let html = render(&gather(&notebook, &notebook.run(run).unwrap()).unwrap()).unwrap();
    assert!(html.contains("No experiment was made yet"));
}

/// A time of the example's kernel as a device says it, a forecast where `basis` is given.
fn time(device: &str, ns: f64, basis: Option<Basis>) -> TimeReport {
    let figure = Figure { median_ns: ns, low_ns: ns, high_ns: ns, samples: Vec::new() };
    TimeReport {
        device: device.into(),
        device_note: String::new(),
        toolchain: String::new(),
        kernels: vec![KernelTiming { name: "transpose".into(), shape: "n=4096".into(), figure }],
        output: String::new(),
        forecast: basis,
    }
}

#[test]
fn a_kernel_with_a_forecast_and_a_measurement_shows_one_against_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let run = example::record(&notebook, true);
    let before = render(&gather(&notebook, &run).unwrap()).unwrap();
    assert!(!before.contains("Forecast against measurement"));
    let text = notebook.text(&run.original).unwrap();
    let kernels = [KernelFingerprint { kernel: "transpose".into(), fingerprint: "f0".into() }];
    let code = MeasuredCode { text: &text, kernels: &kernels };
    for (device, ns, basis) in [("mi300x", 80_000.0, Some(basis())), ("mi300x", 100_000.0, None), ("cpu", 7.0, None)] {
        notebook.record_times(&run.file, code, &time(device, ns, basis), 1, Duration::ZERO).unwrap();
    }
    let report = gather(&notebook, &run).unwrap();
    let html = render(&report).unwrap();
    let (_, section) = html.split_once("Forecast against measurement").unwrap();
    for words in ["transpose", "n=4096", "80.0 us", "100 us", "1.25"] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let pairs = serde_json::to_value(&report).unwrap()["versus"].clone();
    let told = |name: &str| pairs[0][name].as_f64().unwrap();
    assert_eq!((told("forecast_ns"), told("measured_ns"), told("ratio")), (80_000.0, 100_000.0, 1.25));
    assert_eq!(pairs.as_array().unwrap().len(), 1, "{pairs}");
}

#[test]
fn how_often_each_models_predictions_held_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let of_catalog = gather(&notebook, &example::record(&notebook, true)).unwrap();
    let report = gather(&notebook, &example::record_by(&notebook, true, Some("openai:<m>"))).unwrap();
    let told = |report: &ReportData| -> Vec<(String, bool)> {
        report.predictors.iter().map(|predictor| (predictor.model.clone(), predictor.is_of_run)).collect()
    };
    assert_eq!(told(&of_catalog), [("catalog".to_owned(), true)]);
    assert_eq!(told(&report), [("openai:<m>".to_owned(), true), ("catalog".to_owned(), false)]);
    let words = "4 of 6 gains within their prediction (67%), 2 promised too much, 0 too little; 2 failed";
    let html = render(&report).unwrap();
    assert!(html.contains(&format!("<strong>openai:&lt;m&gt;</strong>: {words}")), "{html}");
    assert!(html.contains(&format!("<li>catalog (rule-based): {words}")), "{html}");
    let json = serde_json::to_value(&report).unwrap();
    let first = &json["predictors"][0];
    assert_eq!((&first["model"], &first["within"], &first["measured"]), (&"openai:<m>".into(), &4.into(), &6.into()));
    assert_eq!((first["share"].as_f64(), &first["in_words"]), (Some(4.0 / 6.0), &words.into()));
}
