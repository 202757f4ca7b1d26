//! Forecasts of open documents: made of the text as it is in the editor, saved or not, and kept for the session alone. What a
//! job forecasts of checked code goes into the notebook; these figures show where the time goes while somebody works.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hip_syntax::{Fingerprint, Lines, Splice, Syntax};
use lab::forecast::{Basis, KernelForecast, LineForecast};
use lab::workbench::{ShapeChoice, ShapeForecast, Workbench, WorkbenchOptions};
use lab::{Cancel, LabError, Source};

use super::analysis::{Analysis, KernelFacts};
use crate::forecasts::account::MOST_LINES;
use crate::forecasts::remark;

/// Kernels that are fed by their signature and forecast one by one, at most.
const MOST_ALONE: usize = 8;

/// What is forecast of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileForecast {
    /// What the forecasts rest on.
    pub basis: Basis,
    /// What the user should know of how the kernels are fed.
    pub note: Option<String>,
    /// The kernels that have one.
    pub kernels: Vec<Account>,
    /// Why other kernels have none, by their qualified names, and what to do.
    pub missing: HashMap<String, String>,
    /// Fingerprint of all that is no kernel: what feeds them, and what they share.
    pub rest: Fingerprint,
    /// The lines that matter, in order.
    lines: Vec<Place>,
}

/// What is forecast of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Its qualified name.
    pub kernel: String,
    /// Its fingerprint in the text that was forecast.
    pub fingerprint: String,
    /// Its launches, the one that takes longest first.
    pub launches: Vec<Launch>,
    /// Lines that matter to it, by the longest launch.
    marks: Vec<Mark>,
}

/// One launch shape of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The problem size, where a benchmark file gives it.
    pub size: Option<String>,
    /// The forecast.
    pub forecast: KernelForecast,
}

impl Launch {
    /// The problem size, else grid and block.
    pub fn shape(&self) -> String {
        self.size.clone().unwrap_or_else(|| self.forecast.shape())
    }
}

/// A line that matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// In a few words.
    pub remark: String,
    /// What is forecast of it.
    pub line: LineForecast,
    /// Behind its first character, in bytes of the text that the file's forecast is of.
    at: usize,
}

/// A mark, by its places among the kernels and in its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    account: usize,
    mark: usize,
}

/// A forecast of a document, moved along with the edits since it was made.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What was forecast.
    pub forecast: Arc<FileForecast>,
    /// Where each of its lines stands now; `None` for one that was edited away.
    places: Vec<Option<usize>>,
}

impl Shown {
    /// A forecast of the text as it is now.
    pub fn new(forecast: FileForecast) -> Self {
        let at = |place: &Place| Some(forecast.kernels.get(place.account)?.marks.get(place.mark)?.at);
        let places = forecast.lines.iter().map(at).collect();
        Self { forecast: Arc::new(forecast), places }
    }

    /// The text was edited. Says whether a mark was edited away.
    pub fn carry(&mut self, splice: &Splice) -> bool {
        let before = self.places.iter().flatten().count();
        for place in &mut self.places {
            *place = place.and_then(|at| splice.carry(at));
        }
        self.places.iter().flatten().count() < before
    }

    /// The lines that matter, each with a place on it as it is now, and the kernel whose time it is a share of.
    pub fn marks(&self) -> impl Iterator<Item = (usize, &Account, &Mark)> {
        self.places.iter().zip(&self.forecast.lines).filter_map(|(at, place)| {
            let account = self.forecast.kernels.get(place.account)?;
            Some(((*at)?, account, account.marks.get(place.mark)?))
        })
    }

    /// What is forecast of a kernel, in whatever version.
    pub fn account(&self, kernel: &KernelFacts) -> Option<&Account> {
        self.forecast.kernels.iter().find(|account| account.kernel == kernel.qualified_name)
    }

    /// An account as one of the text as it is now.
    fn carried(&self, account: &Account) -> Account {
        let mine = self.marks().filter(|(_, of, _)| of.kernel == account.kernel);
        let marks = mine.map(|(at, _, mark)| Mark { at, ..mark.clone() }).collect();
        Account { marks, ..account.clone() }
    }
}

/// A file that is to be forecast.
pub struct Wanted {
    /// The text as it is in the editor.
    pub source: Source,
    /// What was read of that text.
    pub analysis: Arc<Analysis>,
    /// The lab's name of the device.
    pub device: String,
    /// Folder for builds.
    pub cache: PathBuf,
    /// Most time that one run may take.
    pub timeout: Duration,
    /// Most memory that one run may take, in bytes.
    pub memory_bytes: u64,
    /// What was forecast before, moved along to this text.
    pub before: Option<Shown>,
    /// Ends it.
    pub cancel: Cancel,
    /// Set when the server ends.
    pub ending: Cancel,
}

impl Wanted {
    /// Builds, traces and forecasts. Whether the code is right is not asked.
    ///
    /// # Errors
    /// As [`Workbench::forecast`]; [`LabError::Code`] where the text does not build or run.
    pub fn make(&self) -> Result<FileForecast, LabError> {
        let bench = self.open(None)?;
        let Some(basis) = bench.basis().cloned() else {
            return Err(LabError::Usage(format!("device {} is not forecast for", self.device)));
        };
        if bench.note().is_some() {
            return self.each_alone(basis, bench.note());
        }
        let shapes = bench.forecast(&self.source, ShapeChoice::Shown, &self.cancel)?;
        let caveat = shapes.iter().find_map(|shape| shape.caveat.clone());
        let kernels = accounts(&self.analysis, shapes);
        let without = self.analysis.kernels.iter().filter(|kernel| !has_account(&kernels, kernel));
        let missing = without.map(|kernel| (kernel.qualified_name.clone(), why_missing(&bench, kernel))).collect();
        Ok(FileForecast::new(basis, caveat, &self.analysis, kernels, missing))
    }

    fn open(&self, kernel: Option<&str>) -> Result<Workbench, LabError> {
        Source::check_path(&self.source.path)?;
        let options = WorkbenchOptions {
            device: self.device.clone(),
            cache: self.cache.clone(),
            benchmark: None,
            program_args: None,
            kernel: kernel.map(str::to_owned),
            timeout: self.timeout,
            memory_bytes: self.memory_bytes,
        };
        // The first time runtimes are built, which takes a minute or two: an edit must not throw that away.
        let bench = Workbench::open(&self.source, options, &self.ending)?;
        if self.cancel.is_cancelled() { Err(LabError::Cancelled) } else { Ok(bench) }
    }

    /// Signatures feed one kernel at a time. Those that are as they were keep what they have, unless something else changed
    /// that feeds them.
    fn each_alone(&self, basis: Basis, note: Option<String>) -> Result<FileForecast, LabError> {
        let mut kernels = self.kept(&basis, note.as_ref());
        let mut missing = HashMap::new();
        let (mut failure, mut is_built) = (None, false);
        let left: Vec<&KernelFacts> =
            self.analysis.kernels.iter().filter(|kernel| !has_account(&kernels, kernel)).collect();
        for (number, kernel) in left.into_iter().enumerate() {
            if number == MOST_ALONE {
                let why =
                    format!("{MOST_ALONE} kernels of the file are forecast at a time; change this one or **Time** it");
                missing.insert(kernel.qualified_name.clone(), why);
                continue;
            }
            let made = self
                .open(Some(&kernel.name))
                .and_then(|bench| bench.forecast(&self.source, ShapeChoice::Shown, &self.cancel));
            match made {
                Ok(shapes) => {
                    is_built = true;
                    let more = accounts(&self.analysis, shapes);
                    kernels.extend(more.into_iter().filter(|account| account.kernel == kernel.qualified_name));
                }
                Err(LabError::Cancelled) => return Err(LabError::Cancelled),
                Err(error) => {
                    missing.insert(kernel.qualified_name.clone(), error.to_string());
                    failure = Some(error);
                }
            }
        }
        match failure {
            // Where none that is new could be built, the text may be at fault, and what is known already says more.
            Some(error) if !is_built => Err(error),
            _ => Ok(FileForecast::new(basis, note, &self.analysis, kernels, missing)),
        }
    }

    fn kept(&self, basis: &Basis, note: Option<&String>) -> Vec<Account> {
        let is_same = |shown: &&Shown| {
            let before = &shown.forecast;
            before.basis == *basis && before.note.as_ref() == note && before.rest == rest(&self.analysis)
        };
        let Some(shown) = self.before.as_ref().filter(is_same) else { return Vec::new() };
        let kernels = self.analysis.kernels.iter();
        let current = kernels
            .filter_map(|kernel| shown.account(kernel).filter(|account| account.fingerprint == kernel.fingerprint));
        current.map(|account| shown.carried(account)).collect()
    }
}

fn has_account(accounts: &[Account], kernel: &KernelFacts) -> bool {
    accounts.iter().any(|account| account.kernel == kernel.qualified_name)
}

fn why_missing(bench: &Workbench, kernel: &KernelFacts) -> String {
    match bench.benchmark() {
        Some(benchmark) => format!(
            "{} does not lead to a launch of {}",
            benchmark.path.file_name().unwrap_or_default().to_string_lossy(),
            kernel.name
        ),
        None => format!(
            "the program ran and did not launch {}; give it the arguments that do (`[program]` in a benchmark file)",
            kernel.name
        ),
    }
}

/// What is forecast of the kernels of a text.
pub fn accounts(analysis: &Analysis, shapes: Vec<ShapeForecast>) -> Vec<Account> {
    let launches: Vec<Launch> = shapes
        .into_iter()
        .flat_map(|ShapeForecast { shape, kernels, .. }| {
            kernels.into_iter().map(move |forecast| Launch { size: shape.clone(), forecast })
        })
        .collect();
    let lines = Lines::new(&analysis.text);
    let account = |kernel: &KernelFacts| {
        let is_of = |launch: &&Launch| is_named(&launch.forecast.name, &kernel.qualified_name);
        let mut launches: Vec<Launch> = launches.iter().filter(is_of).cloned().collect();
        launches.sort_by(|one, other| other.forecast.total_ns().total_cmp(&one.forecast.total_ns()));
        let marks = marks(&launches.first()?.forecast, &analysis.text, &lines);
        let (kernel, fingerprint) = (kernel.qualified_name.clone(), kernel.fingerprint.clone());
        Some(Account { kernel, fingerprint, launches, marks })
    };
    analysis.kernels.iter().filter_map(account).collect()
}

/// The lines of a kernel that matter.
fn marks(forecast: &KernelForecast, text: &str, lines: &Lines) -> Vec<Mark> {
    let worth = forecast.lines.iter().filter_map(|line| Some((line, remark::of_line(line)?))).take(MOST_LINES);
    let mark = |(line, remark): (&LineForecast, String)| {
        let range = lines.range_of(line.line, text)?;
        let (first, character) = text[range.clone()].char_indices().find(|(_, c)| !c.is_whitespace())?;
        Some(Mark { remark, line: line.clone(), at: range.start + first + character.len_utf8() })
    };
    worth.filter_map(mark).collect()
}

impl FileForecast {
    /// Of the kernels of a text that `analysis` read.
    pub fn new(
        basis: Basis,
        note: Option<String>,
        analysis: &Analysis,
        kernels: Vec<Account>,
        missing: HashMap<String, String>,
    ) -> Self {
        let lines = lines(&kernels, &analysis.text);
        Self { basis, note, kernels, missing, rest: rest(analysis), lines }
    }
}

/// The lines that matter, in order. One that several kernels run stands for the kernel where it takes longest.
fn lines(kernels: &[Account], text: &str) -> Vec<Place> {
    let lines = Lines::new(text);
    let mut found: BTreeMap<u32, (f64, Place)> = BTreeMap::new();
    for (account, kernel) in kernels.iter().enumerate() {
        let total = kernel.launches.first().map_or(0.0, |launch| launch.forecast.total_ns());
        for (number, mark) in kernel.marks.iter().enumerate() {
            let (line, took) = (lines.line_of(mark.at.saturating_sub(1)), total * mark.line.share);
            match found.get(&line) {
                Some((longest, _)) if *longest >= took => {}
                _ => drop(found.insert(line, (took, Place { account, mark: number }))),
            }
        }
    }
    found.into_values().map(|(_, place)| place).collect()
}

/// Fingerprint of a text without its kernels.
pub fn rest(analysis: &Analysis) -> Fingerprint {
    let mut rest = String::with_capacity(analysis.text.len());
    let mut from = 0;
    for kernel in &analysis.kernels {
        rest.push_str(analysis.text.get(from..kernel.range.start).unwrap_or_default());
        from = kernel.range.end.max(from);
    }
    rest.push_str(analysis.text.get(from..).unwrap_or_default());
    Syntax::without_tree(rest).fingerprint()
}

/// Whether a launch's name, which comes with template arguments, is that of a kernel with its namespaces; where one of
/// them has none, the last part decides.
fn is_named(launched: &str, kernel: &str) -> bool {
    let launched = launched.split('<').next().unwrap_or(launched).trim();
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
    launched == kernel
        || ((!launched.contains("::") || !kernel.contains("::") || launched.contains("(anonymous"))
            && last(launched) == last(kernel))
}

#[cfg(test)]
mod tests {
    use hip_syntax::{Change, Position, PositionEncoding, Text};

    use super::*;
    use crate::forecasts::account::tests::{basis, kernel, line};

    #[test]
    fn kernels_that_are_fed_by_their_signature_keep_their_forecast_while_others_change() {
        let before = "__global__ void a(float* x) {\n  x[0] = 1;\n}\n__global__ void b(float* x) {\n  x[1] = 2;\n}\n";
        let mut text = Text::new(before);
        let analysis = Analysis::read(&text, 0);
        let of =
            |name: &str, number| KernelForecast { name: name.into(), ..kernel(9.0, vec![line(number, 0.6, vec![])]) };
        let shapes =
            vec![ShapeForecast { shape: None, held_out: false, kernels: vec![of("a", 2), of("b", 5)], caveat: None }];
        let note = Some("fed by its signature".to_owned());
        let kernels = accounts(&analysis, shapes);
        let mut shown = Shown::new(FileForecast::new(basis(), note.clone(), &analysis, kernels, HashMap::new()));
        let at = Position::new(1, 2);
        let change = Change { range: Some(at..at), text: "x[2] = 4;\n  ".into() };
        shown.carry(&text.change(&change, PositionEncoding::Utf8));
        let wanted = |text: &str| Wanted {
            source: Source::new("/w/a.hip", text),
            analysis: Arc::new(Analysis::read(&Text::new(text), 1)),
            device: "mi300x".into(),
            cache: PathBuf::new(),
            timeout: Duration::from_secs(1),
            memory_bytes: 0,
            before: Some(shown.clone()),
            cancel: Cancel::new(),
            ending: Cancel::new(),
        };
        let now = text.to_string();
        let kept = wanted(&now).kept(&basis(), note.as_ref());
        assert_eq!(kept.iter().map(|account| account.kernel.as_str()).collect::<Vec<_>>(), ["b"]);
        assert!(now[..kept[0].marks[0].at].ends_with("(float* x) {\n  x"), "{:?}", kept[0].marks);
        // What all kernels may use has changed.
        assert_eq!(wanted(&format!("#define N 1\n{now}")).kept(&basis(), note.as_ref()), []);
        assert_eq!(wanted(&now).kept(&basis(), None), [], "a benchmark file has come");
    }

    #[test]
    fn what_is_no_kernel_has_a_fingerprint_of_its_own() {
        let of = |text: &str| rest(&Analysis::read(&Text::new(text), 0));
        let text = "int before;\n__global__ void k() { a; }\nint after;\n__global__ void l() {}\n";
        assert_eq!(of(text), of(&text.replace("a;", "b;")));
        assert_ne!(of(text), of(&text.replace("after", "behind")));
    }

    #[test]
    fn launches_belong_to_the_kernel_of_their_name() {
        for (launched, kernel, expected) in [
            ("scale<float, 4>", "scale", true),
            ("ns::scale<float>", "ns::scale", true),
            ("scale", "ns::scale", true),
            ("(anonymous namespace)::scale", "scale", true),
            ("other::scale", "ns::scale", false),
            ("rescale", "scale", false),
        ] {
            assert_eq!(is_named(launched, kernel), expected, "{launched} {kernel}");
        }
    }
}
