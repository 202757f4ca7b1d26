//! From addresses to the user's lines and columns, by the debug information of what was built.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hip_syntax::rewrite::Barriers;
use hip_syntax::{CpuSource, Syntax};
use serde::Deserialize;

use super::report::RawPlace;
use crate::sandbox::{self, Command, End, Limits, Policy};
use crate::toolchain::cpu::Cpu;
use crate::{Cancel, LabError, Source};

/// Longest time for all places of one object.
const WALL: Duration = Duration::from_secs(60);
/// Most memory for it.
const MEMORY_BYTES: u64 = 2 << 30;

/// A line and column in one of the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
}

/// The places of a run.
pub(super) struct Symbols<'a> {
    cpu: &'a Cpu,
    source: &'a Source,
    wanted: BTreeMap<PathBuf, BTreeSet<u64>>,
    found: BTreeMap<(PathBuf, u64), Location>,
}

/// A frame in the symboliser's JSON: the innermost first, what was inlined included.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Frame {
    file_name: PathBuf,
    line: u32,
    column: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    address: String,
    #[serde(default)]
    symbol: Vec<Frame>,
}

impl<'a> Symbols<'a> {
    pub(super) fn new(cpu: &'a Cpu, source: &'a Source) -> Self {
        Self { cpu, source, wanted: BTreeMap::new(), found: BTreeMap::new() }
    }

    /// Asks for a place.
    pub(super) fn want(&mut self, place: &RawPlace) {
        // The file was written by the code under test: nothing but what the lab built is looked into.
        if place.module.starts_with(self.cpu.cache().root()) {
            self.wanted.entry(place.module.clone()).or_default().insert(place.offset);
        }
    }

    /// Looks up all that was asked for.
    pub(super) fn look_up(&mut self, cancel: &Cancel) -> Result<(), LabError> {
        let mut columns = Columns::new(self.source);
        for (module, offsets) in std::mem::take(&mut self.wanted) {
            for answer in self.ask(&module, &offsets, cancel)? {
                let Ok(offset) = u64::from_str_radix(answer.address.trim_start_matches("0x"), 16) else { continue };
                let frame = answer.symbol.into_iter().find(|frame| frame.line > 0 && self.is_users(&frame.file_name));
                if let Some(Frame { file_name, line, column }) = frame {
                    let column = columns.original(&file_name, line, column);
                    self.found.insert((module.clone(), offset), Location { file: file_name, line, column });
                }
            }
        }
        Ok(())
    }

    /// Where a place is that was asked for.
    pub(super) fn find(&self, place: &RawPlace) -> Option<&Location> {
        self.found.get(&(place.module.clone(), place.offset))
    }

    fn is_users(&self, file: &Path) -> bool {
        file.is_absolute() && !file.starts_with("/usr") && !file.starts_with(self.cpu.cache().root())
    }

    fn ask(&self, module: &Path, offsets: &BTreeSet<u64>, cancel: &Cancel) -> Result<Vec<Answer>, LabError> {
        let symbolizer = self.symbolizer()?;
        let folder = self.cpu.cache().work_folder()?;
        let mut command = Command::new(&symbolizer, folder.path(), Policy::Compiler, Limits::new(WALL, MEMORY_BYTES));
        let mut object = OsString::from("--obj=");
        object.push(module);
        command.arguments = vec![object, "--output-style=JSON".into(), "--inlines".into()];
        command.arguments.extend(offsets.iter().map(|offset| format!("{offset:#x}").into()));
        command.readable = vec![self.cpu.cache().root().to_owned()];
        let run = sandbox::run(&command, cancel)?;
        let broken = |what: String| {
            LabError::Unavailable(format!("{} cannot look up the places of faults: {what}", symbolizer.display()))
        };
        match run.end {
            End::Status(0) => {
                serde_json::from_str(&run.stdout).map_err(|error| broken(format!("its answer is not read: {error}")))
            }
            _ => Err(broken(run.last_lines(3))),
        }
    }

    /// `llvm-symbolizer` of the compiler's version.
    fn symbolizer(&self) -> Result<PathBuf, LabError> {
        let clang = self.cpu.clang();
        let names = [format!("llvm-symbolizer-{}", clang.major), "llvm-symbolizer".to_owned()];
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let beside = clang.path.parent().map(Path::to_owned);
        let folders: Vec<PathBuf> = beside.into_iter().chain(std::env::split_paths(&search_path)).collect();
        let mut places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        places.find(|place| place.is_file()).ok_or_else(|| {
            LabError::Unavailable(format!(
                "{} is not on PATH: it finds the lines of faults; on Debian and Ubuntu `apt-get install -y llvm-{}`",
                names[0], clang.major
            ))
        })
    }
}

/// The way back from columns of rewritten texts.
struct Columns<'a> {
    source: &'a Source,
    rewritten: BTreeMap<PathBuf, Option<CpuSource>>,
}

impl<'a> Columns<'a> {
    fn new(source: &'a Source) -> Self {
        Self { source, rewritten: BTreeMap::new() }
    }

    fn original(&mut self, file: &Path, line: u32, column: u32) -> u32 {
        let source = self.source;
        let rewrite = || {
            let text =
                if file == source.path { source.text.to_string() } else { std::fs::read_to_string(file).ok()? };
            Some(hip_syntax::rewrite::cpu(&Syntax::without_tree(text), Barriers::Fibers))
        };
        match self.rewritten.entry(file.to_owned()).or_insert_with(rewrite) {
            Some(rewritten) if column > 0 => rewritten.original_column(line, column),
            _ => column,
        }
    }
}
