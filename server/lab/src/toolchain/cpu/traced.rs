//! The end of a traced build: a device's optimiser, the instrumentation, and code for the host.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use forecast::code::Code;
use forecast::ir;
use tempfile::TempDir;

use super::compile::{Build, Product, compiler_environment, limits, unit_object};
use super::flags;
use super::variant::Target;
use crate::cache::KeyMaker;
use crate::sandbox::{self, Command, Policy, Run};
use crate::{Diagnostic, Failure, LabError};

/// What clang makes of the main file.
pub(super) const MAIN: &str = "main.bc";
/// The blocks of all units, as JSON.
const CODE: &str = "code.json";

/// LLVM's passes: what a compiler for a device does with a kernel before it chooses instructions, with the passes of its code
/// generator that decide how addresses are computed and how wide accesses are.
const PASSES: &str = "-passes=default<O3>,function(separate-const-offset-from-gep<lower-gep>,slsr,gvn,nary-reassociate,\
                      early-cse,loop(loop-reduce),load-store-vectorizer)";

/// What is made of a unit's code depends on this, besides the compiler and its flags.
pub(super) fn add_to_key(target: Target, maker: &mut KeyMaker) {
    for part in target.machine().iter().chain([&PASSES]).chain(&flags::OF_TRACED_CODE).chain(&ir::SOURCES) {
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
        let units = (0..self.sources.others.len()).map(unit_object).chain([MAIN.to_owned()]);
        let mut code = Code::default();
        let mut instrumented = Vec::new();
        for (number, unit) in units.enumerate() {
            let optimised = format!("optimised-{number}.ll");
            self.optimise(work, target, &unit, &optimised)?;
            let path = work.path().join(&optimised);
            let text = fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
            fs::remove_file(&path).map_err(LabError::io("removing", &path))?;
            let main = self.sources.others.get(number).unwrap_or(&self.sources.main);
            let text = ir::instrument(&text, Some(main), &mut code).map_err(|error| self.cannot_be_traced(&error))?;
            let name = format!("instrumented-{number}.ll");
            let path = work.path().join(&name);
            fs::write(&path, text).map_err(LabError::io("writing", path))?;
            instrumented.push(name);
        }
        self.link(work, &instrumented)?;
        // An entry of the cache has what is run and what is read, and not what led there.
        let steps = instrumented.iter().map(String::as_str).chain([MAIN]);
        for step in steps {
            let path = work.path().join(step);
            fs::remove_file(&path).map_err(LabError::io("removing", path))?;
        }
        let path = work.path().join(CODE);
        let text = serde_json::to_vec(&code).map_err(std::io::Error::other).map_err(LabError::io("writing", &path))?;
        fs::write(&path, text).map_err(LabError::io("writing", path))
    }

    fn optimise(&self, work: &TempDir, target: Target, unit: &str, output: &str) -> Result<(), LabError> {
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
        let mut arguments: Vec<OsString> = target.machine().iter().map(OsString::from).collect();
        arguments.extend(["-vectorize-loops=false", "-vectorize-slp=false", PASSES, "-S"].map(OsString::from));
        arguments.extend([unit.into(), "-o".into(), output.into()]);
        self.run(optimiser, work, arguments).map(drop)
    }

    fn link(&self, work: &TempDir, units: &[String]) -> Result<(), LabError> {
        let mut arguments: Vec<OsString> = flags::OF_TRACED_CODE.map(OsString::from).to_vec();
        if self.product == Product::Object {
            arguments.extend(["-shared", "-Wl,-Bsymbolic"].map(OsString::from));
        }
        arguments.extend(["-pthread".into(), "-x".into(), "ir".into()]);
        arguments.extend(units.iter().map(OsString::from));
        arguments.extend(["-x".into(), "none".into()]);
        arguments.extend(self.cpu.runtime.link_arguments());
        arguments.extend(self.cpu.clang.linker_argument());
        arguments.extend(["-o".into(), super::compile::OUTPUT.into()]);
        self.run(&self.cpu.clang.path, work, arguments).map(drop)
    }

    fn run(&self, program: &Path, work: &TempDir, arguments: Vec<OsString>) -> Result<Run, LabError> {
        let mut command = Command::new(program, work.path(), Policy::Compiler, limits());
        command.arguments = arguments;
        command.environment = compiler_environment(work.path());
        command.readable = self.readable();
        let run = sandbox::run(&command, self.cancel)?;
        self.warnings(&run)?;
        Ok(run)
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
