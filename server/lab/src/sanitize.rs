//! Runs of the code under test in a runtime that looks for faults: accesses to the wrong memory, or races.
//!
//! Clang instruments the user's unit with calls, and the CPU runtime has functions of its own behind those calls
//! (`runtime/sanitize`): it knows launch, block, work-item and barrier of each access, so what it finds is exact and the
//! same in each run. It names places by address; [`symbols`] turns them into the user's lines and columns.

mod report;
mod symbols;

use std::path::PathBuf;

use serde::Serialize;

use crate::program::{self, RunOptions};
use crate::toolchain::cpu::{BuiltProgram, Cpu};
use crate::{Cancel, Failure, LabError, Source};

/// Environment variable that names the file which faults are written to.
pub(crate) const REPORT_VARIABLE: &str = "KS_SANITIZER_REPORT";
/// That file, in the folder of the run.
pub(crate) const REPORT_FILE: &str = "faults.jsonl";

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Accesses outside of global, shared and local memory or to freed memory; reads of unwritten shared memory.
    Address,
    /// Races between work-items; reads of unwritten shared memory.
    Thread,
}

/// A place in the user's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes; 0 where it is not known.
    pub column: u32,
    /// What happened there: `written here`, `freed here`, ...
    pub did: String,
    /// The block, in x, y and z; `None` for the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u64; 3]>,
    /// The work-item in its block, in x, y and z; `None` for the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_item: Option<[u64; 3]>,
}

/// Something that is wrong in the user's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// One word: `out_of_bounds`, `use_after_free`, `double_free`, `wrong_free`, `use_after_scope`, `invalid_address`,
    /// `uninitialised_shared`, `race` (in a block), `block_race` (between blocks), `barrier_divergence`.
    pub kind: String,
    /// What happened and what to do.
    pub message: String,
    /// The kernel; `None` for host code.
    pub kernel: Option<String>,
    /// Where it was noticed; `None` where no line of the user's is known.
    pub at: Option<Place>,
    /// The other place that has to do with it: the other access, the allocation, the free, the other barrier.
    pub other: Option<Place>,
    /// The block in which it was noticed, in x, y and z.
    pub block: Option<[u64; 3]>,
    /// The work-items that have to do with it, in x, y and z.
    pub work_items: Vec<[u64; 3]>,
    /// How often it was noticed at these places.
    pub times: u64,
}

/// What a run under a sanitizer came to.
#[derive(Clone, Debug)]
pub struct Sanitized {
    /// Each pair of places once, in the order in which they were noticed.
    pub faults: Vec<Fault>,
    /// Why the run did not come to a good end, if it did not: often a consequence of the faults.
    pub failure: Option<Failure>,
}

/// A run whose faults still have addresses for places.
pub(crate) struct Run {
    faults: Vec<report::Raw>,
    failure: Option<Failure>,
}

impl Run {
    /// From what the runtime wrote, and how the run ended.
    pub(crate) fn new(written: Vec<u8>, outcome: Result<(), LabError>) -> Result<Self, LabError> {
        let failure = match outcome {
            Ok(()) => None,
            Err(LabError::Code(failure)) => Some(failure),
            Err(error) => return Err(error),
        };
        Ok(Self { faults: report::read(&written), failure })
    }

    /// Looks the places up.
    pub(crate) fn located(self, cpu: &Cpu, source: &Source, cancel: &Cancel) -> Result<Sanitized, LabError> {
        let mut symbols = symbols::Symbols::new(cpu, source);
        let mut faults: Vec<Fault> = Vec::new();
        for place in self.faults.iter().flat_map(|raw| raw.at.iter().chain(&raw.other)) {
            symbols.want(place);
        }
        symbols.look_up(cancel)?;
        for raw in self.faults {
            let fault = raw.located(&symbols);
            match faults.iter_mut().find(|known| known.is_at_same_places(&fault)) {
                Some(known) => known.times += fault.times,
                None => faults.push(fault),
            }
        }
        Ok(Sanitized { faults, failure: self.failure })
    }
}

impl Fault {
    /// Which of two accesses came first does not make another fault.
    fn is_at_same_places(&self, other: &Self) -> bool {
        let at = |place: &Option<Place>| place.as_ref().map(|place| (place.file.clone(), place.line, place.column));
        let (mine, theirs) = ((at(&self.at), at(&self.other)), (at(&other.at), at(&other.other)));
        self.kind == other.kind
            && self.kernel == other.kernel
            && (mine == theirs || (mine.0 == theirs.1 && mine.1 == theirs.0))
    }
}

/// Runs a program that was built for a sanitizer.
pub(crate) fn run_program(
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Run, LabError> {
    let folder = cpu.cache().work_folder()?;
    let environment = [(REPORT_VARIABLE, REPORT_FILE)];
    let outcome = program::run_in(folder.path(), &environment, cpu, program, options, cancel);
    // A run that was stopped early may not have opened the file.
    let written = std::fs::read(folder.path().join(REPORT_FILE)).unwrap_or_default();
    Run::new(written, outcome.map(drop))
}
