//! The harness on the CPU.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hip_syntax::rewrite::Barriers;

use super::{Builder, Described, Object};
use crate::benchmark::Benchmark;
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::{Cpu, DEVICE_NOTE};
use crate::{Cancel, LabError, Source, sanitize};

/// Builds objects with clang and the HIP runtime for the host.
#[derive(Clone, Debug)]
pub struct CpuBuilder<'a> {
    /// The toolchain.
    pub cpu: &'a Cpu,
    /// How the source is compiled; macros and include folders of the benchmark file come on top.
    pub options: CompileOptions,
    /// Where what a sanitizer reports of the runs is collected.
    pub faults: Option<&'a Mutex<Vec<u8>>>,
}

impl Builder for CpuBuilder<'_> {
    fn object(
        &self,
        source: &Source,
        benchmark: &Benchmark,
        barriers: Barriers,
        cancel: &Cancel,
    ) -> Result<Object, LabError> {
        let mut options = self.options.clone().with(&benchmark.program.compile_options_of_the_source());
        options.fibers |= barriers == Barriers::Fibers;
        // The glue stands in the text already, so that its launch is rewritten with the others.
        let built = self.cpu.build_object(source, None, &options, cancel)?;
        Ok(Object { path: built.path, split: built.split })
    }

    fn harness(&self, cancel: &Cancel) -> Result<PathBuf, LabError> {
        self.cpu.harness(cancel)
    }

    fn run_folder(&self) -> Result<tempfile::TempDir, LabError> {
        self.cpu.cache().work_folder()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment = self.cpu.environment();
        // One thread: a pool loses a share of its time whenever any other process takes one of its processors, and a
        // ratio of such times needs tens of times the samples. Figures then do not depend on the number of processors.
        environment.push(("KS_THREADS".into(), "1".into()));
        if self.faults.is_some() {
            environment.push((sanitize::REPORT_VARIABLE.into(), sanitize::REPORT_FILE.into()));
        }
        environment
    }

    fn has_run(&self, folder: &Path) {
        // A run that found nothing may have been stopped before it opened the file.
        if let (Some(faults), Ok(found)) = (self.faults, std::fs::read(folder.join(sanitize::REPORT_FILE))) {
            faults.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
        }
    }

    fn readable(&self) -> Vec<PathBuf> {
        self.cpu.readable()
    }

    fn describe(&self) -> Described {
        Described { device: "cpu".into(), device_note: DEVICE_NOTE.into(), toolchain: self.cpu.toolchain() }
    }
}
