//! Hints, hovers and actions of forecasts, on texts without a server.

use std::collections::HashMap;
use std::sync::Arc;

use hip_syntax::Text;
use lab::forecast::KernelForecast;
use lab::workbench::ShapeForecast;
use lab::{SpeedRatio, Verdict};

use super::features::{check_hints, measured, row, typed, view};
use super::marks::{Marked, marked};
use crate::forecasts::account::tests::{access, basis, kernel, line};
use crate::lsp::analysis::Analysis;
use crate::lsp::forecasts::{FileForecast, Shown, accounts};
use crate::lsp::history::{Kind, Row, Speed};
use crate::lsp::inlay_hints::hints;
use crate::lsp::settings::Settings;
use crate::lsp::suggestions::Suggestions;
use crate::lsp::view::View;
use crate::lsp::{code_actions, hover, suggestions};

const TRANSPOSE: &str = "__global__ void transpose(float* out, const float* in, int n) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * n + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
";

/// What the lab would say of the transpose: its store has bank conflicts, its load is scattered.
fn forecast() -> KernelForecast {
    let lines = vec![
        line(5, 0.6, vec![access("shared", "load", 0.0, 32.0), access("global", "store", 4.0, 1.0)]),
        line(3, 0.25, vec![access("global", "load", 16.0, 1.0)]),
        line(4, 0.01, Vec::new()),
    ];
    KernelForecast { name: "transpose".into(), launches: 1, ..kernel(412.0, lines) }
}

/// The view of a text with this forecast of its present state.
fn forecast_of(view: &mut View, kernels: Vec<KernelForecast>) {
    let shapes = vec![ShapeForecast { shape: Some("n=2048".into()), held_out: false, kernels, caveat: None }];
    let kernels = accounts(&view.analysis, shapes);
    let made = FileForecast::new(basis(), None, &view.analysis, kernels, HashMap::new());
    view.forecast = Some(Shown::new(made));
}

fn with_forecast(text: &str) -> View {
    let mut view = view(text);
    forecast_of(&mut view, vec![forecast()]);
    view
}

/// The text is read again, as it is after a pause.
fn read_again(view: &mut View) {
    view.analysis = Arc::new(Analysis::read(&Text::new(&view.text.to_string()), view.splices.len() as u64));
    view.splices.clear();
}

fn labels(view: &View) -> Vec<String> {
    hints(view, &(0..view.text.len())).into_iter().map(|hint| hint.label).collect()
}

#[test]
fn the_kernel_and_the_lines_that_matter_say_what_is_forecast() {
    let Marked { text, marks, .. } = marked(
        "__global__ void transpose(float* out, const float* in, int n) {
                                                         // ^ forecast 412 us on MI300X · bound by LDS
    __shared__ float t[32][32];
                          // ^ LDS 4 KiB
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
                                                                // ^ 25% · 16 sectors, ideal 4
    __syncthreads();
    out[threadIdx.y * n + threadIdx.x] = t[threadIdx.x][threadIdx.y];
                                                                 // ^ 60% · 32-way LDS conflicts
}
",
    );
    assert_eq!(text, TRANSPOSE);
    let view = with_forecast(&text);
    check_hints(&view, &marks);
    let all = hints(&view, &(0..text.len()));
    let kernel = &all.iter().find(|hint| hint.label.starts_with("forecast")).unwrap().tooltip;
    for part in
        ["| n=2048 | 412 us | 275 us .. 618 us | LDS |", "- busy: LDS 87%", "not a measurement", "not on MI300X"]
    {
        assert!(kernel.contains(part), "{part} in {kernel}");
    }
    let line = &all.iter().find(|hint| hint.label.contains("32-way")).unwrap().tooltip;
    for part in [
        "**60%** of the time of transpose: 247 us of 412 us (n=2048)",
        "shared load, 32.0-way bank conflicts ◀",
        "MI300X",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn lines_move_with_the_text_and_are_stale_once_their_kernel_is_another() {
    let mut view = with_forecast(TRANSPOSE);
    typed(&mut view, 0, 0, "// 大😀\n\n");
    let at = view.text.to_string().find("    out[").unwrap();
    // A line break typed before a line's first character takes the line along.
    typed(&mut view, at + 4, at + 4, "\n");
    let end = view.text.to_string().find("[threadIdx.y];").unwrap() + "[threadIdx.y];".len();
    typed(&mut view, end, end, "  // a remark");
    let now = view.text.to_string();
    let hint =
        |view: &View, what: &str| hints(view, &(0..9999)).into_iter().find(|hint| hint.label.contains(what)).unwrap();
    assert!(now[..hint(&view, "32-way").at].ends_with("[threadIdx.y];  // a remark"), "{now}");
    assert!(now[..hint(&view, "16 sectors").at].ends_with("threadIdx.x];"), "{now}");
    read_again(&mut view);
    assert_eq!(hint(&view, "32-way").label, "60% · 32-way LDS conflicts", "comments and blanks are no change");
    let width = now.find("[32][32]").unwrap();
    typed(&mut view, width + 6, width + 6, "+1");
    read_again(&mut view);
    assert_eq!(hint(&view, "32-way").label, "stale: 60% · 32-way LDS conflicts");
    let kernel = hint(&view, "bound by");
    assert_eq!(kernel.label, "stale: forecast 412 us on MI300X · bound by LDS");
    assert!(kernel.tooltip.contains("was changed since"), "{}", kernel.tooltip);
}

#[test]
fn a_line_that_was_edited_away_has_no_hint_and_its_neighbours_keep_theirs() {
    let mut view = with_forecast(TRANSPOSE);
    let (from, until) = (TRANSPOSE.find("    t[threadIdx.y]").unwrap(), TRANSPOSE.find("    __sync").unwrap());
    typed(&mut view, from, until, "");
    let found = labels(&view);
    assert!(!found.iter().any(|label| label.contains("16 sectors")), "{found:?}");
    let conflicts = hints(&view, &(0..9999)).into_iter().find(|hint| hint.label.contains("32-way")).unwrap();
    assert!(view.text.to_string()[..conflicts.at].ends_with("t[threadIdx.x][threadIdx.y];"));
}

#[test]
fn line_hints_can_be_switched_off() {
    let mut view = with_forecast(TRANSPOSE);
    view.settings = Arc::new(Settings { line_hints: false, ..Settings::default() });
    assert_eq!(labels(&view), ["forecast 412 us on MI300X · bound by LDS", "LDS 4 KiB"]);
    let at = TRANSPOSE.find("t[threadIdx.x][").unwrap();
    assert_eq!(hover::hover(&view, at), None);
}

#[test]
fn a_time_of_a_gpu_comes_before_a_forecast_and_a_forecast_before_the_emulation() {
    let rows = |devices: &'static [&'static str]| {
        move |view: &View| {
            let row = |device: &&str| Row { device: (*device).into(), ..row(view, "transpose", "n=2048", 300_000.0) };
            devices.iter().map(row).collect()
        }
    };
    for (devices, device, expected) in [
        (&["cpu"][..], "mi300x", "forecast 412 us on MI300X"),
        (&["cpu"][..], "cpu", "300 us ±1.0% · cpu emulation"),
        (&["mi300", "cpu"][..], "mi300x", "300 us ±1.0% · mi300"),
        (&[][..], "cpu", "forecast 412 us on MI300X"),
        (&[][..], "h200", ""),
    ] {
        let mut view = measured(TRANSPOSE, "transpose", rows(devices));
        forecast_of(&mut view, vec![forecast()]);
        view.device = device.into();
        view.settings = Arc::new(Settings { line_hints: false, ..Settings::default() });
        let found = labels(&view);
        let first = if found.len() > 1 { found[0].as_str() } else { "" };
        assert!(
            first.starts_with(expected) && first.is_empty() == expected.is_empty(),
            "{devices:?} {device}: {found:?}"
        );
    }
}

#[test]
fn forecasts_of_the_notebook_are_shown_until_there_is_a_newer_one() {
    let speed = Speed {
        ratio: SpeedRatio { ratio: 1.5, low: 1.2, high: 1.8 },
        verdict: Verdict::Faster,
        is_against_original: true,
    };
    let kept = |view: &View| {
        let forecast =
            Row { kind: Kind::Forecast, device: "mi300x".into(), ..row(view, "transpose", "n=2048", 500_000.0) };
        vec![
            Row { fingerprint: Some("before".into()), ..forecast.clone() },
            Row { speed: Some(speed.clone()), hypothesis: Some("Pad t".into()), ..forecast },
        ]
    };
    let mut view = measured(TRANSPOSE, "transpose", kept);
    assert_eq!(labels(&view)[0], "forecast 500 us on MI300X · 1.50x vs original");
    let at = TRANSPOSE.find("transpose").unwrap();
    let text = hover::hover(&view, at).unwrap().text;
    for part in [
        "| MI300X | n=2048 | forecast 500 us | forecast 1.50x faster than original | as now | Pad t |",
        "by forecast, oldest first",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    forecast_of(&mut view, vec![forecast()]);
    assert_eq!(labels(&view)[0], "forecast 412 us on MI300X · 1.50x vs original · bound by LDS");
}

#[test]
fn hover_tells_the_account_of_a_kernel_and_of_a_line() {
    let Marked { text, cursor, .. } = marked(&TRANSPOSE.replace("void transpose", "void trans$0pose"));
    let view = with_forecast(&text);
    let told = hover::hover(&view, cursor.unwrap()).unwrap().text;
    assert!(
        told.contains("Forecast of the kernel as it is:") && told.contains("- occupancy: 32 of 32 waves"),
        "{told}"
    );
    let Marked { cursor, .. } = marked(&TRANSPOSE.replace("= t[threadIdx.x]", "= t[$0threadIdx.x]"));
    let line = hover::hover(&view, cursor.unwrap()).unwrap();
    assert!(text[line.range].ends_with("[threadIdx.y];"));
    assert!(line.text.contains("32.0-way bank conflicts"), "{}", line.text);
    let Marked { cursor, .. } = marked(&TRANSPOSE.replace("__syncthreads", "__sync$0threads"));
    assert_eq!(hover::hover(&view, cursor.unwrap()), None, "it does not matter");
}

#[test]
fn hover_says_why_there_is_no_forecast_and_what_it_was_made_with() {
    let mut view = view(TRANSPOSE);
    view.no_forecast = Some("parameter p is of a type that cannot be filled".into());
    let at = TRANSPOSE.find("transpose").unwrap();
    assert!(hover::hover(&view, at).unwrap().text.contains("No forecast: parameter p"));
    assert_eq!(labels(&view), ["LDS 4 KiB"], "no noise in the text");
    let shapes = vec![ShapeForecast { shape: None, held_out: false, kernels: vec![forecast()], caveat: None }];
    let kernels = accounts(&view.analysis, shapes);
    let note = Some("the kernel is fed by its signature".to_owned());
    view.forecast = Some(Shown::new(FileForecast::new(basis(), note, &view.analysis, kernels, HashMap::new())));
    view.no_forecast = None;
    let told = hover::hover(&view, at).unwrap().text;
    assert!(told.contains("fed by its signature (here: the code action **Create benchmark**)"), "{told}");
}

#[test]
fn hypotheses_promise_what_their_line_costs_and_those_without_a_symptom_are_not_offered() {
    let text = include_str!("../../../../../tests/benchmarks/transpose.hip");
    let mut view = view(text);
    let kernels: Vec<_> =
        view.analysis.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.fingerprint.clone())).collect();
    let found = suggestions::look(&scientist::catalog::Catalog::load(), text, &kernels, &lab::Cancel::new()).unwrap();
    let mut known = Suggestions::default();
    known.learn(found);
    view.suggestions = Arc::new(known);
    let name = view.analysis.kernels[0].name.clone();
    let at = view.analysis.kernels[0].name_range.start;
    let titles = |view: &View| -> Vec<String> {
        code_actions::actions(view, &(at..at), &[]).into_iter().map(|action| action.title).collect()
    };
    let padding =
        |titles: &[String]| titles.iter().position(|title| title.starts_with("Test") && title.contains("Pad the rows"));
    let before = titles(&view);
    assert!(padding(&before).is_some(), "{before:?}");
    let number = text.lines().position(|line| line.contains("__shared__")).unwrap() as u32 + 3;
    let sick = line(number, 0.6, vec![access("shared", "load", 0.0, 32.0)]);
    forecast_of(&mut view, vec![KernelForecast { name: name.clone(), ..kernel(10.0, vec![sick]) }]);
    let after = titles(&view);
    let at_first = padding(&after).unwrap_or_else(|| panic!("{after:?}"));
    assert!(after[at_first].contains(&format!("; line {number}: 32-way bank conflicts)")), "{after:?}");
    forecast_of(&mut view, vec![KernelForecast { name, ..kernel(10.0, vec![line(number, 0.6, Vec::new())]) }]);
    let healthy = titles(&view);
    assert_eq!(padding(&healthy), None, "there is nothing to pad against: {healthy:?}");
}

#[test]
fn a_line_that_two_kernels_run_stands_for_the_one_where_it_takes_longer() {
    let text = "__device__ int helper(int* p) { return p[0]; }
__global__ void first(int* p) { p[1] = helper(p); }
__global__ void second(int* p) { p[2] = helper(p); }
";
    let mut view = view(text);
    let of = |name: &str, us: f64, share: f64| KernelForecast {
        name: name.into(),
        launches: 1,
        ..kernel(us, vec![line(1, share, vec![access("global", "load", 16.0, 1.0)])])
    };
    forecast_of(&mut view, vec![of("first", 10.0, 0.9), of("second", 100.0, 0.5)]);
    let hints: Vec<_> = hints(&view, &(0..text.len())).into_iter().filter(|hint| hint.label.contains('%')).collect();
    assert_eq!(hints.len(), 1, "{hints:?}");
    assert_eq!((hints[0].label.as_str(), hints[0].at), ("50% · 16 sectors, ideal 4", text.find('\n').unwrap()));
    assert!(hints[0].tooltip.contains("of the time of second"), "{}", hints[0].tooltip);
}
