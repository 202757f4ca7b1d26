//! Features on texts, without a server.

use std::collections::HashMap;
use std::sync::Arc;

use hip_syntax::{Change, Position, PositionEncoding, Text};
use lab::{SpeedRatio, Verdict};
use scientist::catalog::Catalog;

use super::marks::{Marked, marked};
use crate::lsp::analysis::Analysis;
use crate::lsp::code_actions::{self, Kind};
use crate::lsp::history::{FileHistory, KernelHistory, Row, Speed};
use crate::lsp::inlay_hints::hints;
use crate::lsp::settings::Settings;
use crate::lsp::suggestions::{Suggestions, Tested};
use crate::lsp::view::View;
use crate::lsp::{code_lens, history, hover, suggestions};

/// A view of a text with nothing known about it.
pub fn view(text: &str) -> View {
    let text = Text::new(text);
    View {
        uri: "file:///w/a.hip".into(),
        opening: 1,
        version: 1,
        encoding: PositionEncoding::Utf8,
        analysis: Arc::new(Analysis::read(&text, 0)),
        text,
        splices: Vec::new(),
        history: Arc::default(),
        jobs: Vec::new(),
        suggestions: Arc::default(),
        settings: Arc::new(Settings::default()),
        has_benchmark_file: false,
        shows_images: false,
        device: "mi300x".into(),
        forecast: None,
        no_forecast: None,
    }
}

/// A time of `kernel` as it is in the view.
pub fn row(view: &View, kernel: &str, shape: &str, median_ns: f64) -> Row {
    Row {
        id: 1,
        kind: history::Kind::Measured { samples: 20 },
        report: 1,
        at_ms: 0,
        device: "cpu".into(),
        device_note: "CPU emulation, not GPU time".into(),
        entry: None,
        shape: shape.into(),
        median_ns,
        low_ns: median_ns * 0.99,
        high_ns: median_ns * 1.01,
        fingerprint: Some(view.kernel(kernel).unwrap().fingerprint.clone()),
        speed: None,
        hypothesis: None,
    }
}

/// A view of a text whose kernel has these times.
pub fn measured(text: &str, kernel: &str, rows: impl Fn(&View) -> Vec<Row>) -> View {
    let mut view = view(text);
    let history = KernelHistory { rows: rows(&view), findings: vec!["padding: faster, +30%.".into()] };
    view.history = Arc::new(FileHistory { kernels: HashMap::from([(kernel.to_owned(), history)]) });
    view
}

/// The edit, seen before the text is read again.
pub fn typed(view: &mut View, at: usize, until: usize, what: &str) {
    let position = |at| view.text.position(at, PositionEncoding::Utf8);
    let change = Change { range: Some(position(at)..position(until)), text: what.into() };
    let splice = view.text.change(&change, PositionEncoding::Utf8);
    view.splices.push(splice);
    if let Some(shown) = &mut view.forecast {
        shown.carry(&splice);
    }
}

/// Hints stand right behind what their marks are below.
pub fn check_hints(view: &View, marks: &[(std::ops::Range<usize>, String)]) {
    let found: Vec<(usize, String)> =
        hints(view, &(0..view.text.len())).into_iter().map(|hint| (hint.at, hint.label)).collect();
    let mut expected: Vec<(usize, String)> = marks.iter().map(|(range, label)| (range.end, label.clone())).collect();
    expected.sort();
    let mut sorted = found;
    sorted.sort();
    assert_eq!(sorted, expected, "in\n{}", view.text);
}

#[test]
fn hints_say_the_last_figure_and_the_bytes_of_lds() {
    let Marked { text, marks, .. } = marked(
        "#define TILE 32
__global__ void k(float* a, int n)
                              // ^ 412 us ±1.0% · cpu emulation
{
    __shared__ float tile[TILE][TILE + 1];
                                     // ^ LDS 4.1 KiB
    extern __shared__ int rest[];
                            // ^ LDS: given at launch
}
",
    );
    let view = measured(&text, "k", |view| vec![row(view, "k", "n=1", 412_000.0)]);
    check_hints(&view, &marks);
}

#[test]
fn the_slowest_of_several_shapes_is_shown_with_its_speed() {
    let Marked { text, marks, .. } = marked(
        "namespace ns {
__global__ void k(int n) {}
                   // ^^^ 9.00 us ±1.0% · 1.30x vs original · cpu emulation · slowest of 2 shapes
}
",
    );
    let speed = Speed {
        ratio: SpeedRatio { ratio: 1.3, low: 1.2, high: 1.4 },
        verdict: Verdict::Faster,
        is_against_original: true,
    };
    let view = measured(&text, "ns::k", |view| {
        vec![
            row(view, "k", "n=1", 3_000.0),
            Row { speed: Some(speed.clone()), ..row(view, "k", "n=2", 8_000.0) },
            row(view, "k", "n=2", 9_000.0),
        ]
    });
    let behind: Vec<_> = marks.iter().map(|(range, label)| (range.start..range.start + 2, label.clone())).collect();
    assert_eq!(hints(&view, &(0..text.len())).len(), 1);
    assert_eq!(hints(&view, &(0..text.len()))[0].label, behind[0].1);
    assert!(hints(&view, &(0..text.len()))[0].tooltip.contains("| n=1 | 3.00 us |"));
}

#[test]
fn a_time_has_no_speed_beside_it_that_was_taken_on_another_device() {
    let text = "__global__ void k(int n) { n = 1; }\n";
    let ratio = SpeedRatio { ratio: 1.3, low: 1.2, high: 1.4 };
    let speed = Speed { ratio, verdict: Verdict::Faster, is_against_original: true };
    let view = measured(text, "k", |view| {
        let row = row(view, "k", "n=1", 1_000.0);
        vec![Row { speed: Some(speed.clone()), ..row.clone() }, Row { device: "mi300".into(), ..row }]
    });
    assert_eq!(hints(&view, &(0..text.len()))[0].label, "1.00 us ±1.0% · mi300");
}

#[test]
fn a_changed_kernel_shows_its_figure_as_stale() {
    let text = "__global__ void k(int n) { n = 1; }\n";
    let view =
        measured(text, "k", |view| vec![Row { fingerprint: Some("another".into()), ..row(view, "k", "n=1", 1_000.0) }]);
    assert_eq!(hints(&view, &(0..text.len()))[0].label, "stale: 1.00 us ±1.0% · cpu emulation");
}

#[test]
fn hints_move_with_the_text_before_it_is_read_again() {
    let text = "// top\n__global__ void k(int n) {\n  __shared__ float t[4];\n}\n";
    let mut view = measured(text, "k", |view| vec![row(view, "k", "n=1", 1_000.0)]);
    typed(&mut view, 0, 0, "// a line more\n");
    typed(&mut view, 0, 0, "大\n");
    let now = view.text.to_string();
    let hints = hints(&view, &(0..now.len()));
    assert_eq!(hints.len(), 2);
    assert!(now[..hints[0].at].ends_with("k(int n)"), "{hints:?}");
    assert!(now[..hints[1].at].ends_with("t[4]"), "{hints:?}");
    // What is typed just behind a hint's place comes to stand behind it.
    let end = hints[0].at;
    typed(&mut view, end, end, " /* typed */");
    assert!(view.text.to_string()[..super::super::inlay_hints::hints(&view, &(0..999))[0].at].ends_with("k(int n)"));
}

#[test]
fn a_hint_whose_place_was_edited_away_is_gone() {
    let text = "__global__ void k(int n) {\n  __shared__ float t[4];\n}\n";
    let mut view = view(text);
    let at = text.find("__shared__").unwrap();
    typed(&mut view, at, text.len() - 2, "");
    assert_eq!(hints(&view, &(0..999)), []);
}

#[test]
fn only_hints_in_the_range_are_given() {
    let text = "__global__ void a() {\n  __shared__ int x[1];\n}\n__global__ void b() {\n  __shared__ int y[2];\n}\n";
    let view = view(text);
    let from = text.find("void b").unwrap();
    let labels: Vec<String> = hints(&view, &(from..text.len())).into_iter().map(|hint| hint.label).collect();
    assert_eq!(labels, ["LDS 8 B"]);
}

#[test]
fn lenses_stand_over_each_kernel() {
    let Marked { text, marks, .. } = marked(
        "template <int N>
__global__ __launch_bounds__(256) void first(int n) {}
                                   //  ^^^^^ Time Suggest Evolve
void host() {}
__global__ void second() {}
             // ^^^^^^ Time Suggest Evolve
",
    );
    let view = view(&text);
    let mut found: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for lens in code_lens::lenses(&view) {
        match found.last_mut() {
            Some((at, titles)) if *at == lens.at => *titles = format!("{titles} {}", lens.title),
            _ => found.push((lens.at, lens.title)),
        }
    }
    assert_eq!(found, marks);
}

#[test]
fn hover_tells_the_history_where_a_kernel_stands_and_where_it_is_launched() {
    for source in [
        "__global__ void sca$0le(int n) {}\nvoid run() { scale<<<1, 64>>>(1); }\n",
        "__global__ void scale(int n) {}\nvoid run() { sc$0ale<<<1, 64>>>(1); }\n",
        "__global__ void scale(int n) {}\nvoid run() { hipLaunchKernelGGL(scale$0, 1, 64, 0, 0, 1); }\n",
    ] {
        let Marked { text, cursor, .. } = marked(source);
        let view = measured(&text, "scale", |view| {
            vec![
                Row { fingerprint: None, ..row(view, "scale", "n=1|2", 8_000.0) },
                Row { hypothesis: Some("Pad t".into()), ..row(view, "scale", "n=1|2", 4_000.0) },
            ]
        });
        let hover = hover::hover(&view, cursor.unwrap()).unwrap();
        assert_eq!(&text[hover.range], "scale");
        for part in
            ["**scale**", "n=1\\|2 | 4.00 us ±1.0%", "as now | Pad t |", "other version", "█▅", "padding: faster"]
        {
            assert!(hover.text.contains(part), "{part} in {}", hover.text);
        }
    }
    let Marked { text, cursor, .. } = marked("__global__ void k() {}\nint other$0;\n");
    assert_eq!(hover::hover(&view(&text), cursor.unwrap()), None);
}

const TREE: &str = include_str!("../../../../../tests/benchmarks/reduction.hip");

/// The reduction of the samples with what the catalog finds in it.
fn suggested() -> View {
    let mut view = view(TREE);
    let kernels: Vec<_> =
        view.analysis.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.fingerprint.clone())).collect();
    let found = suggestions::look(&Catalog::load(), TREE, &kernels, &lab::Cancel::new()).unwrap();
    let mut known = Suggestions::default();
    known.learn(found);
    view.suggestions = Arc::new(known);
    view
}

fn titles(view: &View, wanted: &[&str]) -> Vec<String> {
    let at = TREE.find("partial[tid]").unwrap();
    let wanted: Vec<String> = wanted.iter().map(|&kind| kind.to_owned()).collect();
    code_actions::actions(view, &(at..at), &wanted).into_iter().map(|action| action.title).collect()
}

#[test]
fn a_kernel_offers_at_most_eight_actions_with_what_is_expected_of_them() {
    let view = suggested();
    let all = titles(&view, &[]);
    assert!(all.len() <= 8, "{all:?}");
    assert!(all[0].starts_with("Test this hypothesis: ") && all[0].contains("expected +"), "{all:?}");
    assert!(all.iter().any(|title| title.starts_with("Apply untested: ")), "{all:?}");
    assert!(
        all.ends_with(
            &["Suggest hypotheses", "Check for races and out-of-bounds", "Create benchmark"].map(String::from)
        )
    );
    let outside = code_actions::actions(&view, &(0..0), &[]);
    assert_eq!(outside, [], "there is no kernel at the top");
}

#[test]
fn actions_are_filtered_by_kind() {
    let view = suggested();
    assert!(titles(&view, &["quickfix"]).is_empty());
    assert!(titles(&view, &["source.organizeImports"]).is_empty());
    assert_eq!(titles(&view, &["refactor"]), titles(&view, &[]));
    assert_eq!(titles(&view, &[Kind::Suggest.name()]), ["Suggest hypotheses"]);
    assert!(titles(&view, &[Kind::Test.name()]).iter().all(|title| title.starts_with("Test")));
    assert!(titles(&view, &["refactor.rewrite.kernelScientist.te"]).is_empty());
}

#[test]
fn what_was_measured_faster_comes_first_and_what_failed_is_not_offered_again() {
    let mut view = suggested();
    let fingerprint = view.kernel("reduce_sum").unwrap().fingerprint.clone();
    let known: Vec<_> = view.suggestions.of(&fingerprint).unwrap().to_vec();
    assert!(known.len() >= 3, "{known:?}");
    let mut tested = Suggestions::clone(&view.suggestions);
    let speed = SpeedRatio { ratio: 1.5, low: 1.4, high: 1.6 };
    tested.learn_test(
        fingerprint.clone(),
        known[2].key.clone(),
        Tested::Measured { speed, verdict: Verdict::Faster, device: "cpu".into(), forecast: None, proposal: 7 },
    );
    tested.learn_test(fingerprint, known[0].key.clone(), Tested::Failed("wrong".into()));
    view.suggestions = Arc::new(tested);
    let all = titles(&view, &[]);
    assert_eq!(all[0], format!("Apply: {} (measured 1.50x on cpu emulation)", known[2].title));
    assert!(!all.iter().any(|title| title.contains(&known[0].title)), "{all:?}");
}

#[test]
fn a_place_past_the_end_is_the_end() {
    let view = view("__global__ void k() {}");
    let at = view.text.offset(Position::new(99, 99), PositionEncoding::Utf16);
    assert_eq!(hover::hover(&view, at), None);
    assert_eq!(hints(&view, &(at..at)), []);
}

#[test]
fn kernels_that_share_a_name_are_called_by_their_namespaces() {
    let text =
        "namespace one { __global__ void k() {} }\nnamespace two { __global__ void k() {} }\n__global__ void l() {}\n";
    let analysis = Analysis::read(&Text::new(text), 0);
    let called: Vec<&str> = analysis.kernels.iter().map(|kernel| kernel.called.as_str()).collect();
    assert_eq!(called, ["one::k", "two::k", "l"]);
}
