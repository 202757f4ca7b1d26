//! What the kernels of a version need of an AMD GPU, also where times are those of another device.

use std::sync::Arc;

use hip_syntax::rewrite::Barriers;

use super::{Feed, Workbench};
use crate::codegen::{Codegen, DEFAULT_ARCH, KernelResources};
use crate::toolchain::CompileOptions;
use crate::{Cancel, LabError, Source};

/// Generates code for versions of a workbench's source; it may be kept and asked from any thread.
#[derive(Clone, Debug)]
pub struct MachineCode {
    codegen: Codegen,
    arch: String,
    original: Source,
    compile: CompileOptions,
    /// What a benchmark file's launches add to the text: templates are instantiated as it does.
    launches: Arc<str>,
}

impl Workbench {
    /// Code generation for the workbench's device where that is one of AMD's, and for the usual one where times are taken on the CPU;
    /// `None` for another maker's, and where code generation cannot be had.
    ///
    /// # Errors
    /// [`LabError::Cancelled`].
    pub fn machine_code(&self, cancel: &Cancel) -> Result<Option<MachineCode>, LabError> {
        let arch = match &self.forecaster {
            Some(forecaster) => match forecaster.arch() {
                Some(arch) => arch,
                None => return Ok(None),
            },
            None => DEFAULT_ARCH,
        };
        let codegen = match Codegen::open(self.cpu.cache().root(), cancel) {
            Ok(codegen) => codegen,
            Err(LabError::Cancelled) => return Err(LabError::Cancelled),
            Err(error) => {
                tracing::info!("what kernels need of a GPU is not known: {error}");
                return Ok(None);
            }
        };
        let (compile, launches) = match &self.feed {
            Feed::Program(_) => (self.compile.clone(), Arc::from("")),
            Feed::Benchmark(benchmark) => {
                let nothing = self.original.with_text("");
                let launches = self.bench(benchmark, Barriers::Fibers, |bench| bench.with_launches(&nothing)).text;
                (self.compile.clone().with(&benchmark.program.compile_options_of_the_source()), launches)
            }
        };
        let (arch, original) = (arch.to_owned(), self.original.clone());
        Ok(Some(MachineCode { codegen, arch, original, compile, launches }))
    }
}

impl MachineCode {
    /// The architecture that code is generated for: `gfx942`.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// What the kernels of a text need.
    ///
    /// # Errors
    /// As [`Codegen::analyze`]: code that runs on the CPU may still have no place on the GPU.
    pub fn resources(&self, text: &str, cancel: &Cancel) -> Result<Vec<KernelResources>, LabError> {
        let source = self.original.with_text(format!("{text}{}", self.launches));
        self.codegen.analyze(&source, &self.arch, &self.compile, cancel).map(|analysis| analysis.kernels)
    }
}
