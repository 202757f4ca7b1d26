//! Forecasts of open documents: made of the text as it is in the editor, saved or not, and kept for the session alone. What a
//! job forecasts of checked code goes into the notebook; these figures show where the time goes while somebody works.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hip_syntax::{Lines, Splice};
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
    /// The lines that matter.
    marks: Vec<Mark>,
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
    /// The kernel whose time it is a share of, by its place in [`FileForecast::kernels`].
    pub account: usize,
    /// In a few words.
    pub remark: String,
    /// What is forecast of it.
    pub line: LineForecast,
    /// Behind its first character, in bytes of the text that was forecast.
    at: usize,
}

/// A forecast of a document, moved along with the edits since it was made.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What was forecast.
    pub forecast: Arc<FileForecast>,
    /// Where each of its marks stands now; `None` for one that was edited away.
    places: Vec<Option<usize>>,
}

impl Shown {
    /// A forecast of the text as it is now.
    pub fn new(forecast: FileForecast) -> Self {
        let places = forecast.marks.iter().map(|mark| Some(mark.at)).collect();
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

    /// The marks, each with a place on its line as it is now.
    pub fn marks(&self) -> impl Iterator<Item = (usize, &Mark)> {
        self.places.iter().zip(&self.forecast.marks).filter_map(|(place, mark)| Some(((*place)?, mark)))
    }

    /// What is forecast of a kernel, in whatever version.
    pub fn account(&self, kernel: &KernelFacts) -> Option<&Account> {
        self.forecast.kernels.iter().find(|account| account.kernel == kernel.qualified_name)
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
    /// Ends it.
    pub cancel: Cancel,
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
        let mut shapes = bench.forecast(&self.source, ShapeChoice::Shown, &self.cancel)?;
        let mut missing = HashMap::new();
        for kernel in self.without(&shapes) {
            let why = self.why_missing(&bench, kernel);
            missing.insert(kernel.qualified_name.clone(), why);
        }
        if bench.note().is_some() {
            self.each_alone(&mut shapes, &mut missing)?;
        }
        Ok(FileForecast::new(basis, bench.note(), &self.analysis, shapes, missing))
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
        Workbench::open(&self.source, options, &self.cancel)
    }

    /// The kernels that no launch is of.
    fn without(&self, shapes: &[ShapeForecast]) -> Vec<&KernelFacts> {
        let launched = |kernel: &&KernelFacts| {
            let mut launches = shapes.iter().flat_map(|shape| &shape.kernels);
            launches.any(|launch| is_named(&launch.name, &kernel.qualified_name))
        };
        self.analysis.kernels.iter().filter(|kernel| !launched(kernel)).collect()
    }

    /// Signatures feed one kernel at a time.
    fn each_alone(
        &self,
        shapes: &mut Vec<ShapeForecast>,
        missing: &mut HashMap<String, String>,
    ) -> Result<(), LabError> {
        let left: Vec<&KernelFacts> = self.without(shapes).into_iter().take(MOST_ALONE).collect();
        for kernel in left {
            let made = self
                .open(Some(&kernel.name))
                .and_then(|bench| bench.forecast(&self.source, ShapeChoice::Shown, &self.cancel));
            match made {
                Ok(more) => {
                    shapes.extend(more);
                    missing.remove(&kernel.qualified_name);
                }
                Err(LabError::Cancelled) => return Err(LabError::Cancelled),
                Err(error) => drop(missing.insert(kernel.qualified_name.clone(), error.to_string())),
            }
        }
        Ok(())
    }

    fn why_missing(&self, bench: &Workbench, kernel: &KernelFacts) -> String {
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
}

impl FileForecast {
    /// Of the launches of a text that `analysis` read.
    pub fn new(
        basis: Basis,
        note: Option<String>,
        analysis: &Analysis,
        shapes: Vec<ShapeForecast>,
        missing: HashMap<String, String>,
    ) -> Self {
        let launches: Vec<Launch> = shapes
            .into_iter()
            .flat_map(|ShapeForecast { shape, kernels, .. }| {
                kernels.into_iter().map(move |forecast| Launch { size: shape.clone(), forecast })
            })
            .collect();
        let account = |kernel: &KernelFacts| {
            let is_of = |launch: &&Launch| is_named(&launch.forecast.name, &kernel.qualified_name);
            let mut launches: Vec<Launch> = launches.iter().filter(is_of).cloned().collect();
            launches.sort_by(|one, other| other.forecast.total_ns().total_cmp(&one.forecast.total_ns()));
            let (kernel, fingerprint) = (kernel.qualified_name.clone(), kernel.fingerprint.clone());
            (!launches.is_empty()).then_some(Account { kernel, fingerprint, launches })
        };
        let kernels: Vec<Account> = analysis.kernels.iter().filter_map(account).collect();
        let marks = marks(&kernels, &analysis.text);
        Self { basis, note, kernels, missing, marks }
    }
}

/// The lines that matter, in order. One that several kernels run stands for the kernel where it takes longest.
fn marks(kernels: &[Account], text: &str) -> Vec<Mark> {
    let lines = Lines::new(text);
    let mut marks: BTreeMap<u32, (f64, Mark)> = BTreeMap::new();
    for (account, kernel) in kernels.iter().enumerate() {
        let Some(Launch { forecast, .. }) = kernel.launches.first() else { continue };
        let worth = forecast.lines.iter().filter_map(|line| Some((line, remark::of_line(line)?)));
        for (line, remark) in worth.take(MOST_LINES) {
            let Some(range) = lines.range_of(line.line, text) else { continue };
            let Some((first, character)) = text[range.clone()].char_indices().find(|(_, c)| !c.is_whitespace()) else {
                continue;
            };
            let at = range.start + first + character.len_utf8();
            let took = forecast.total_ns() * line.share;
            let mark = Mark { account, remark, line: line.clone(), at };
            match marks.get(&line.line) {
                Some((longest, _)) if *longest >= took => {}
                _ => drop(marks.insert(line.line, (took, mark))),
            }
        }
    }
    marks.into_values().map(|(_, mark)| mark).collect()
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
    use super::*;

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
