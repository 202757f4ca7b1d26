//! The end of a traced build: a device's optimiser, the instrumentation, and code for the host.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use forecast::code::Code;
use forecast::ir;
use tempfile::TempDir;

use super::compile::{Build, MAIN_OBJECT, remove, unit_object};
use super::flags;
use super::variant::Target;
use crate::cache::KeyMaker;
use crate::{Diagnostic, Failure, LabError};

/// What clang makes of the main file.
pub(super) const MAIN: &str = "main.bc";
/// The blocks of all units, as JSON.
const CODE: &str = "code.json";

/// What is made of a unit's code depends on this, besides the compiler and its flags.
pub(super) fn add_to_key(target: Target, maker: &mut KeyMaker) {
    let stages = target.stages().iter().copied().flatten();
    for part in stages.chain(&flags::OF_TRACED_CODE).chain(&ir::SOURCES) {
        maker.add(part);
    }
}

/// The blocks of a traced program or object.
pub(super) fn code_of(built: &Path) -> Result<Code, LabError> {
    let path = built.with_file_name(CODE);
    let text = fs::read(&path).map_err(LabError::io("reading", &path))?;
    serde_json::from_slice(&text).map_err(std::io::Error::other).map_err(LabError::io("reading", path))
}

impl Build<'_> {
    /// Optimises, instruments and links all units below `work`.
    pub(super) fn instrument(&self, work: &TempDir, target: Target) -> Result<(), LabError> {
        let others = self.sources.others.len();
        let mut code = Code::default();
        for number in 0..=others {
            let is_main = number == others;
            let bitcode = if is_main { MAIN.to_owned() } else { unit_object(number) };
            let text = self.optimised(work, target, &bitcode)?;
            let main = self.sources.others.get(number).unwrap_or(&self.sources.main);
            let text = ir::instrument(&text, Some(main), &mut code).map_err(|error| self.cannot_be_traced(&error))?;
            self.translate(work, text, if is_main { MAIN_OBJECT } else { &bitcode })?;
        }
        self.warnings(&self.link_objects(work)?)?;
        remove(&work.path().join(MAIN))?;
        let path = work.path().join(CODE);
        let text = serde_json::to_vec(&code).map_err(std::io::Error::other).map_err(LabError::io("writing", &path))?;
        fs::write(&path, text).map_err(LabError::io("writing", path))
    }

    /// A unit after LLVM's optimiser for the device, as text.
    fn optimised(&self, work: &TempDir, target: Target, unit: &str) -> Result<String, LabError> {
        const BETWEEN: [&str; 2] = ["one.bc", "other.bc"];
        const OUTPUT: &str = "optimised.ll";
        let clang = &self.cpu.clang;
        let optimiser = clang.optimiser.as_ref().ok_or_else(|| {
            LabError::Unavailable(format!(
                "no `opt` of LLVM {} is beside {} or on PATH: traces need LLVM's optimiser; on Debian and Ubuntu \
                 `apt-get install -y llvm-{}`",
                clang.major,
                clang.path.display(),
                clang.major
            ))
        })?;
        let mut input = unit;
        for (number, stage) in target.stages().iter().enumerate() {
            let is_last = number + 1 == target.stages().len();
            let output = if is_last { OUTPUT } else { BETWEEN[number % 2] };
            let mut arguments: Vec<OsString> = stage.iter().map(OsString::from).collect();
            arguments.extend(is_last.then(|| "-S".into()));
            arguments.extend([input.into(), "-o".into(), output.into()]);
            self.warnings(&self.run_tool(optimiser, work, arguments)?)?;
            input = output;
        }
        for between in BETWEEN.iter().take(target.stages().len() - 1) {
            remove(&work.path().join(between))?;
        }
        let path = work.path().join(OUTPUT);
        let text = fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
        remove(&path)?;
        Ok(text)
    }

    /// Makes the host's code of LLVM's text.
    fn translate(&self, work: &TempDir, text: String, object: &str) -> Result<(), LabError> {
        const INPUT: &str = "instrumented.ll";
        let path = work.path().join(INPUT);
        fs::write(&path, text).map_err(LabError::io("writing", &path))?;
        let mut arguments: Vec<OsString> = flags::OF_TRACED_CODE.map(OsString::from).to_vec();
        arguments.extend(["-c", "-x", "ir", INPUT, "-o", object].map(OsString::from));
        self.warnings(&self.run_clang(work, arguments)?)?;
        remove(&path)
    }

    fn cannot_be_traced(&self, error: &ir::IrError) -> LabError {
        let line = match error {
            ir::IrError::Assembly { line, .. } | ir::IrError::Pointer { line, .. } => *line,
            ir::IrError::Malformed(_) => 0,
        };
        let diagnostic = Diagnostic {
            file: self.sources.main.clone(),
            line,
            column: 0,
            severity: "error".into(),
            message: error.to_string(),
            notes: Vec::new(),
        };
        Failure::DoesNotCompile { diagnostics: vec![diagnostic] }.into()
    }
}
