//! How often comparisons err: equal code called faster or slower, and a change of 3% not found.
//!
//! `cargo run --release -p lab --example comparisons -- [--quick] [--count N] [--planted N] [--modes harness,program]
//! [--loads idle,busy] [--only PART] [--each]`
//!
//! Everything is built once. Each comparison is what `time --against` does, in fresh processes: of kernels of
//! `tests/benchmarks` and programs with a copy of themselves (another build of the same code), and of `tests/comparisons`
//! with 3% more work. "Busy" means one endless loop for each processor beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use lab::workbench::{Build, COMPARISON_BUDGET, Sampling, ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, LabError, Source, Verdict, statistics};

/// Under a benchmark file.
const KERNELS: [&str; 6] = [
    "comparisons/steps.hip",
    "benchmarks/vector_add.hip",
    "benchmarks/reduction.hip",
    "benchmarks/sgemm.hip",
    "benchmarks/softmax.hip",
    "benchmarks/transpose.hip",
];
/// With a `main`.
const PROGRAMS: [&str; 3] = ["comparisons/steps_program.hip", "programs/vector_add.hip", "programs/shuffles.hip"];
/// As the code is, and with 3% more work.
const STEPS: [&str; 2] = ["#define STEPS 1000", "#define STEPS 1030"];
/// The argument that turns this program into an endless loop.
const SPIN: &str = "--spin";

/// What was asked for.
struct Request {
    same: usize,
    planted: usize,
    modes: Vec<Mode>,
    loads: Vec<Load>,
    /// Equal code: only of files with this in their names.
    only: String,
    /// Print a line for each comparison.
    each: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Harness,
    Program,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Idle,
    Busy,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, parent] = &arguments[..]
        && first == SPIN
    {
        spin(parent.parse()?);
    }
    let request = Request::read(&arguments)?;
    let mut benches = Vec::new();
    for mode in &request.modes {
        let files: Vec<&str> = mode.files().iter().copied().filter(|file| file.contains(&request.only)).collect();
        if !files.is_empty() {
            benches.push((*mode, Bench::open(&files)?, Bench::open(&mode.files()[..1])?));
        }
    }
    for load in &request.loads {
        for (mode, all, steps) in &benches {
            let _others = (*load == Load::Busy).then(Others::start).transpose()?;
            let title = format!("{}, {}", mode.name(), load.name());
            let mut equal = Tally::default();
            for number in 0..request.same {
                equal.add(all.same(number), &title, request.each)?;
            }
            equal.print_equal(&title);
            if *load == Load::Idle {
                let mut planted = Tally::default();
                for number in 0..request.planted {
                    planted.add(steps.planted(number), &title, request.each)?;
                }
                planted.print_planted(&title);
            }
        }
    }
    Ok(())
}

impl Request {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut request = Self {
            same: 200,
            planted: 100,
            modes: vec![Mode::Harness, Mode::Program],
            loads: vec![Load::Idle, Load::Busy],
            only: String::new(),
            each: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let number = |text: &String| text.parse::<usize>().map_err(|error| format!("{word} {text}: {error}"));
            match word.as_str() {
                "--quick" => (request.same, request.planted) = (20, 10),
                "--count" => request.same = number(value()?)?,
                "--planted" => request.planted = number(value()?)?,
                "--modes" => request.modes = chosen(value()?, &[Mode::Harness, Mode::Program], Mode::name)?,
                "--loads" => request.loads = chosen(value()?, &[Load::Idle, Load::Busy], Load::name)?,
                "--only" => request.only = value()?.clone(),
                "--each" => request.each = true,
                other => {
                    return Err(format!(
                        "{other} is not known; there are --quick, --count N, --planted N, --modes harness,program, \
                         --loads idle,busy, --only PART and --each"
                    ));
                }
            }
        }
        Ok(request)
    }
}

/// Those of `all` that a list with commas names.
fn chosen<T: Copy>(names: &str, all: &[T], name: fn(T) -> &'static str) -> Result<Vec<T>, String> {
    let find = |word: &str| all.iter().copied().find(|one| name(*one) == word).ok_or(format!("{word} is not known"));
    names.split(',').map(find).collect()
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Harness => "harness",
            Self::Program => "program",
        }
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Harness => &KERNELS,
            Self::Program => &PROGRAMS,
        }
    }
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
        }
    }
}

/// Builds of some files: as they are, the same once more, and with more work where they are made for it.
struct Bench(Vec<Subject>);

struct Subject {
    name: String,
    workbench: Workbench,
    original: Build,
    copy: Build,
    longer: Build,
}

impl Bench {
    fn open(files: &[&str]) -> Result<Self, LabError> {
        files.iter().map(|file| Subject::open(file)).collect::<Result<_, _>>().map(Self)
    }

    /// Compares one of the files, each in its turn, with a copy of itself.
    fn same(&self, number: usize) -> Compared {
        let subject = &self.0[number % self.0.len()];
        subject.compare(&subject.original, &subject.copy, number, &[Verdict::Same])
    }

    /// Compares with 3% more work, or with 3% less, in turn.
    fn planted(&self, number: usize) -> Compared {
        let subject = &self.0[number / 2 % self.0.len()];
        if number.is_multiple_of(2) {
            subject.compare(&subject.original, &subject.longer, number, &[Verdict::Slower])
        } else {
            subject.compare(&subject.longer, &subject.original, number, &[Verdict::Faster])
        }
    }
}

impl Subject {
    fn open(file: &str) -> Result<Self, LabError> {
        let cancel = Cancel::new();
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").canonicalize();
        let path = tests.map_err(LabError::io("opening", "tests"))?.join(file);
        let text = std::fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
        let source = Source::new(path, text);
        let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").map(PathBuf::from);
        let options = WorkbenchOptions {
            device: "cpu".into(),
            cache: cache.unwrap_or_else(|| std::env::temp_dir().join("kernel-scientist-comparisons")),
            benchmark: None,
            program_args: None,
            kernel: None,
            timeout: Duration::from_secs(30),
            memory_bytes: 4 << 30,
        };
        let workbench = Workbench::open(&source, options, &cancel)?;
        let build = |text: String| workbench.build(&source.with_text(text), &cancel);
        Ok(Self {
            name: file.to_owned(),
            original: build(source.text.to_string())?,
            copy: build(format!("{}// The same once more.\n", source.text))?,
            longer: build(source.text.replace(STEPS[0], STEPS[1]))?,
            workbench,
        })
    }

    fn compare(&self, baseline: &Build, candidate: &Build, number: usize, expected: &'static [Verdict]) -> Compared {
        let sampling =
            Sampling { seed: number as u64, budget: COMPARISON_BUDGET, half_width: 0.005, shapes: ShapeChoice::Shown };
        let started = Instant::now();
        let answer = self.workbench.compare(baseline, candidate, &sampling, &Cancel::new());
        Compared { name: self.name.clone(), answer, took: started.elapsed(), expected }
    }
}

/// One comparison.
struct Compared {
    name: String,
    answer: Result<lab::Comparison, LabError>,
    took: Duration,
    expected: &'static [Verdict],
}

/// What comparisons of one kind came to.
#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<String, usize>,
    expected: usize,
    /// Faster or slower, where that is not expected.
    called: usize,
    all: usize,
    by_processor_time: usize,
    /// Logarithms of the estimates, turned so that more work is below 0.
    estimates: Vec<f64>,
    seconds: Vec<f64>,
}

impl Tally {
    fn add(&mut self, compared: Compared, title: &str, each: bool) -> Result<(), LabError> {
        self.all += 1;
        self.seconds.push(compared.took.as_secs_f64());
        let verdict = match compared.answer {
            Ok(comparison) => {
                let differs = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
                if compared.expected.contains(&comparison.verdict) {
                    self.expected += 1;
                } else if differs {
                    self.called += 1;
                }
                if each || (differs && !compared.expected.contains(&comparison.verdict)) {
                    println!("{title}: {}: {}", compared.name, in_a_line(&comparison));
                }
                let turn = if compared.expected.contains(&Verdict::Faster) { -1.0 } else { 1.0 };
                self.estimates.push(turn * comparison.speed.ratio.ln());
                self.by_processor_time += usize::from(comparison.device_note.contains("processor time"));
                comparison.verdict.to_string()
            }
            Err(LabError::Code(failure)) => {
                println!("{title}: {}: {failure}", compared.name);
                format!("failed ({})", failure.label())
            }
            Err(error) => return Err(error),
        };
        *self.verdicts.entry(verdict).or_default() += 1;
        Ok(())
    }

    fn print_equal(&self, title: &str) {
        if self.all == 0 {
            return;
        }
        println!(
            "{title}: {} of {} comparisons of equal code called faster or slower: {:.1}% (95%: at most {:.1}%)",
            self.called,
            self.all,
            percent(self.called, self.all),
            100.0 * upper_bound(self.called, self.all)
        );
        self.print_rest();
    }

    fn print_planted(&self, title: &str) {
        if self.all == 0 {
            return;
        }
        println!(
            "{title}: a change of 3% found in {} of {}: {:.1}% (95%: at least {:.1}%); the middle estimate of the longer \
             code's speed is {:.4}x, by its steps {:.4}x",
            self.expected,
            self.all,
            percent(self.expected, self.all),
            100.0 - 100.0 * upper_bound(self.all - self.expected, self.all),
            statistics::median(&self.estimates).unwrap_or(f64::NAN).exp(),
            1000.0 / 1030.0
        );
        self.print_rest();
    }

    fn print_rest(&self) {
        let verdicts: Vec<String> = self.verdicts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let longest = self.seconds.iter().copied().fold(0.0, f64::max);
        println!(
            "    {}; median {:.2} s a comparison, longest {longest:.2} s; {} by processor time",
            verdicts.join(", "),
            statistics::median(&self.seconds).unwrap_or(0.0),
            self.by_processor_time
        );
    }
}

/// Verdict, interval, and the pairs and medians at each shape.
fn in_a_line(comparison: &lab::Comparison) -> String {
    let speed = |speed: &lab::SpeedRatio| format!("{:.4}x [{:.4}, {:.4}]", speed.ratio, speed.low, speed.high);
    let shapes: Vec<String> = comparison
        .shapes
        .iter()
        .map(|shape| {
            let (pairs, us) = (shape.baseline.samples.len(), shape.baseline.median_ns / 1e3);
            format!("{}: {} from {pairs} pairs of {us:.1} us", shape.shape, speed(&shape.speed))
        })
        .collect();
    format!("{} {} ({})", comparison.verdict, speed(&comparison.speed), shapes.join("; "))
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all as f64
}

/// Clopper and Pearson's upper 95% bound (one-sided) of a share of which `hits` in `all` were seen.
fn upper_bound(hits: usize, all: usize) -> f64 {
    if hits >= all {
        return 1.0;
    }
    // Probability of at most `hits` in `all`, by the ratios of neighbouring terms.
    let at_most = |share: f64| {
        let mut term = (1.0 - share).powi(all as i32);
        let mut sum = term;
        for count in 1..=hits {
            term *= (all - count + 1) as f64 / count as f64 * share / (1.0 - share);
            sum += term;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at_most(middle) > 0.05 { low = middle } else { high = middle }
    }
    high
}

/// One endless loop for each processor, until this is dropped.
struct Others(Vec<Child>);

impl Others {
    fn start() -> std::io::Result<Self> {
        let program = std::env::current_exe()?;
        let mut others = Self(Vec::new());
        for _ in 0..std::thread::available_parallelism()?.get() {
            let mut command = std::process::Command::new(&program);
            command.arg(SPIN).arg(std::process::id().to_string()).stdin(Stdio::null());
            others.0.push(command.spawn()?);
        }
        // New processes are favoured for a moment.
        std::thread::sleep(Duration::from_millis(300));
        Ok(others)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already needs neither.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Keeps a processor busy for as long as `parent` is there to stop it.
fn spin(parent: u32) -> ! {
    while std::os::unix::process::parent_id() == parent {
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(100) {}
    }
    std::process::exit(0);
}
