//! A run to test with, recorded in a notebook as the real ones are.

use std::path::Path;
use std::time::Duration;

use lab::{Comparison, Diagnostic, Failure, Figure, ShapeComparison, SpeedRatio, Verdict};
use notebook::{
    ExperimentKind, ExperimentOutcome, MeasuredCode, NewCandidate, NewExperiment, NewRun, Notebook, Run, RunChange,
    RunId, Spent,
};
use serde_json::{Value, json};

use super::data::ReportData;
use super::gather::gather;

/// Text that would be a script if it were not escaped.
pub const INJECTION: &str =
    "</td></pre><script>alert('x')</script><img src=\"http://evil.example/x.png\" onerror=alert(1)>";

const ORIGINAL: &str = "#include <hip/hip_runtime.h>

constexpr int TILE = 16;

// </td></pre><script>alert('x')</script><img src=\"http://evil.example/x.png\" onerror=alert(1)>
__global__ void transpose(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

void run(const float* in, float* out, int n)
{
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(in, out, n);
}
";

/// How one experiment of the example goes.
struct Trial {
    generation: u32,
    base: u32,
    title: &'static str,
    key: &'static str,
    gain: (f64, f64),
    edit: (&'static str, &'static str),
    outcome: Ending,
}

impl Trial {
    fn hypothesis(&self, author: Option<&str>) -> Value {
        json!({
            "key": self.key, "kernel": "transpose", "title": self.title,
            "reason": "Columns of a tile whose rows are a multiple of 32 words all lie in one bank.",
            "source": "AMD CDNA3 ISA reference guide, LDS",
            "rubric": "", "line": 8,
            "gain": { "min_percent": self.gain.0, "max_percent": self.gain.1 },
            "innovation": 20, "author": author,
        })
    }
}

enum Ending {
    Ratio(f64, Verdict),
    Fails(Failure),
}

/// The report of a run that found a confirmed winner.
pub fn report() -> ReportData {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let run = record(&notebook, true);
    gather(&notebook, &run).unwrap()
}

/// Records the example; without its confirmation there is no winner.
pub fn record(notebook: &Notebook, confirmed: bool) -> Run {
    record_by(notebook, confirmed, None)
}

/// The same with hypotheses that a model thought up.
pub fn record_by(notebook: &Notebook, confirmed: bool, author: Option<&str>) -> Run {
    let file = Path::new("/home/ada/kernels/transpose.hip");
    let run = notebook
        .start_run(&NewRun {
            file,
            text: ORIGINAL,
            kernels: &[],
            kernel: None,
            device: "cpu",
            provider: author.unwrap_or("catalog"),
            seed: 20_806,
            budget: Value::Null,
            settings: Value::Null,
            program: "kernel-scientist 0.1.0",
        })
        .unwrap();
    let mut example = Example { notebook, run, file, author, texts: Vec::new(), ratios: Vec::new() };
    example.add_candidate(None, 0, ORIGINAL.to_owned(), 1.0, "the original", None);
    for (index, trial) in trials().into_iter().enumerate() {
        example.run_trial(index, &trial);
    }
    if confirmed {
        example.confirm(4);
    }
    let detail = if confirmed { json!({ "best": 4, "confirmed": true }) } else { json!({}) };
    let spent = Spent { wall: Duration::from_secs(187), ..Spent::default() };
    notebook.record_change(run, RunChange::Finished, "", &detail, &spent).unwrap();
    notebook.run(run).unwrap()
}

fn trials() -> Vec<Trial> {
    let compile_error = Diagnostic {
        file: "/home/ada/kernels/transpose.hip".into(),
        line: 8,
        column: 22,
        severity: "error".into(),
        message: "local memory (80000) exceeds limit (65536) in 'transpose(const float*, float*, int)'".into(),
        notes: Vec::new(),
    };
    vec![
        Trial {
            generation: 1,
            base: 0,
            title: "Pad the rows of `tile` by one element",
            key: "lds-padding:tile",
            gain: (5.0, 60.0),
            edit: ("tile[TILE][TILE];", "tile[TILE][TILE + 1];"),
            outcome: Ending::Ratio(1.31, Verdict::Faster),
        },
        Trial {
            generation: 1,
            base: 0,
            title: "Promise that `in` and `out` do not overlap",
            key: "restrict:transpose",
            gain: (0.0, 15.0),
            edit: ("const float* in, float* out", "const float* __restrict__ in, float* __restrict__ out"),
            outcome: Ending::Ratio(1.002, Verdict::Same),
        },
        Trial {
            generation: 1,
            base: 0,
            title: "Work on tiles of 128 x 128",
            key: "tile-constant:TILE",
            gain: (10.0, 90.0),
            edit: ("TILE = 16", "TILE = 141"),
            outcome: Ending::Fails(Failure::DoesNotCompile { diagnostics: vec![compile_error] }),
        },
        Trial {
            generation: 2,
            base: 1,
            title: "Work on tiles of 32 x 32",
            key: "tile-constant:TILE",
            gain: (10.0, 40.0),
            edit: ("TILE = 16", "TILE = 32"),
            outcome: Ending::Ratio(1.39, Verdict::Faster),
        },
        Trial {
            generation: 2,
            base: 1,
            title: "Unroll by four",
            key: "unroll:transpose",
            gain: (5.0, 25.0),
            edit: ("    __syncthreads();", "    __syncthreads();\n#pragma unroll 4"),
            outcome: Ending::Ratio(0.91, Verdict::Slower),
        },
        Trial {
            generation: 2,
            base: 2,
            title: "Bound the block to <256> work-items & say so",
            key: "launch-bounds:transpose",
            gain: (-2.0, 12.0),
            edit: ("__global__ void", "__global__ __launch_bounds__(256) void"),
            outcome: Ending::Ratio(1.03, Verdict::Inconclusive),
        },
        Trial {
            generation: 3,
            base: 4,
            title: INJECTION,
            key: "swap:indices",
            gain: (0.0, 20.0),
            edit: ("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x]"),
            outcome: Ending::Fails(Failure::Wrong { detail: format!("out[17]: got 3, expected 4 {INJECTION}") }),
        },
        Trial {
            generation: 3,
            base: 4,
            title: "Load four elements at once",
            key: "vector-load:in",
            gain: (5.0, 30.0),
            edit: ("in[y * n + x]", "__builtin_nontemporal_load(in + y * n + x)"),
            outcome: Ending::Ratio(0.99, Verdict::Same),
        },
    ]
}

struct Example<'a> {
    notebook: &'a Notebook,
    run: RunId,
    file: &'a Path,
    author: Option<&'a str>,
    texts: Vec<String>,
    /// Speed of each candidate against the original.
    ratios: Vec<f64>,
}

impl Example<'_> {
    fn add_candidate(
        &mut self,
        parent: Option<u32>,
        generation: u32,
        text: String,
        ratio: f64,
        summary: &str,
        experiment: Option<notebook::ExperimentId>,
    ) {
        let reference = parent.filter(|parent| *parent == 2).map(|_| 1);
        self.notebook
            .record_candidate(&NewCandidate {
                run: self.run,
                number: self.texts.len() as u32,
                parent,
                reference,
                generation,
                text: &text,
                kernels: &[],
                steps: &[],
                summary,
                experiment,
            })
            .unwrap();
        self.texts.push(text);
        self.ratios.push(ratio);
    }

    fn run_trial(&mut self, index: usize, trial: &Trial) {
        let base = self.texts[trial.base as usize].clone();
        let text = base.replacen(trial.edit.0, trial.edit.1, 1);
        assert_ne!(base, text, "{}", trial.title);
        let comparison = match &trial.outcome {
            Ending::Ratio(ratio, verdict) => {
                Some(comparison(self.ratios[trial.base as usize], *ratio, *verdict, false))
            }
            Ending::Fails(_) => None,
        };
        let outcome = match (&trial.outcome, &comparison) {
            (Ending::Fails(failure), _) => ExperimentOutcome::Failed(failure.clone()),
            (_, Some(comparison)) => ExperimentOutcome::Measured(comparison),
            (_, None) => unreachable!("a ratio makes a comparison"),
        };
        let id = self.record(
            &format!("g{}/p{index}", trial.generation),
            trial.generation,
            ExperimentKind::Full,
            trial.base,
            (trial.key, trial.hypothesis(self.author)),
            &base,
            &text,
            outcome,
        );
        let ratio =
            comparison.as_ref().map_or(0.0, |comparison| comparison.speed.ratio * self.ratios[trial.base as usize]);
        self.add_candidate(Some(trial.base), trial.generation, text, ratio, trial.title, Some(id));
        self.notebook
            .record_finding(&notebook::NewFinding {
                run: self.run,
                experiment: id,
                about: trial.key.split(':').next().unwrap_or(trial.key),
                min_percent: trial.gain.0,
                max_percent: trial.gain.1,
                measured_percent: comparison.as_ref().map(|comparison| (comparison.speed.ratio - 1.0) * 100.0),
                forecast_percent: None,
                text: &format!("{}: tried on transpose.", trial.title),
            })
            .unwrap();
    }

    fn confirm(&self, winner: usize) {
        let comparison = comparison(1.0, self.ratios[winner], Verdict::Faster, true);
        let outcome = ExperimentOutcome::Measured(&comparison);
        let (original, text) = (&self.texts[0], &self.texts[winner]);
        let hypothesis = json!({ "candidate": winner });
        self.record(
            "confirm/c4",
            0,
            ExperimentKind::Confirmation,
            0,
            ("candidate:4", hypothesis),
            original,
            text,
            outcome,
        );
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of one row of the example")]
    fn record(
        &self,
        step: &str,
        generation: u32,
        kind: ExperimentKind,
        base: u32,
        (key, hypothesis): (&str, Value),
        baseline: &str,
        text: &str,
        outcome: ExperimentOutcome<&Comparison>,
    ) -> notebook::ExperimentId {
        self.notebook
            .record_experiment(&NewExperiment {
                run: self.run,
                step,
                generation,
                kind,
                base,
                reference: base,
                hypothesis_key: key,
                hypothesis,
                file: self.file,
                baseline: MeasuredCode { text: baseline, kernels: &[] },
                code: Some(MeasuredCode { text, kernels: &[] }),
                report: "",
                outcome,
                took: Duration::from_secs(2),
                spent: Duration::from_secs(20),
            })
            .unwrap()
    }
}

/// A comparison of a baseline that runs `base` times as fast as the original with one `ratio` times as fast again.
fn comparison(base: f64, ratio: f64, verdict: Verdict, held_out: bool) -> Comparison {
    let figure = |median: f64| Figure {
        median_ns: median,
        low_ns: median * 0.985,
        high_ns: median * 1.02,
        samples: vec![median * 0.99, median, median * 1.01],
    };
    let speed =
        |ratio: f64, spread: f64| SpeedRatio { ratio, low: ratio * (1.0 - spread), high: ratio * (1.0 + spread) };
    let shape = |name: &str, original_ns: f64, held_out: bool, factor: f64| ShapeComparison {
        shape: name.into(),
        held_out,
        baseline: figure(original_ns / base),
        candidate: figure(original_ns / base / (ratio * factor)),
        speed: speed(ratio * factor, 0.02),
        verdict,
    };
    let mut shapes = vec![shape("n=1024", 412_000.0, false, 0.96), shape("n=4096", 7_900_000.0, false, 1.04)];
    if held_out {
        shapes.push(shape("n=2080", 1_830_000.0, true, 1.0));
    }
    Comparison {
        device: "cpu".into(),
        device_note: "CPU emulation, not GPU time".into(),
        toolchain: "clang 19.1.7 -O3".into(),
        seed: 4711,
        shapes,
        speed: speed(ratio, 0.015),
        verdict,
        forecast: None,
    }
}
