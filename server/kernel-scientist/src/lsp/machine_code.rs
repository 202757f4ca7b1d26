//! The code that the GPU would run, for a look at it.

use std::sync::Arc;

use lab::LabError;
use lab::Source;
use lab::benchmark::Benchmark;
use lab::codegen::{Codegen, DEFAULT_ARCH};
use lab::toolchain::{CompileOptions, clangd};

use super::protocol::{MachineCode, MachineCodeParams};
use super::session::Session;

/// Answers a request for machine code: that of the document as it is now.
pub async fn machine_code(session: &Arc<Session>, params: MachineCodeParams) -> Result<MachineCode, String> {
    let source = {
        let state = session.state();
        state.require_trust("Machine code")?;
        let document = state.documents.get(&params.uri).ok_or_else(|| format!("{} is not open", params.uri))?;
        Source::new(document.path.clone(), document.text.to_string())
    };
    let (cache, cancel) = (session.world.cache.clone(), session.ending.clone());
    let work = move || -> Result<MachineCode, LabError> {
        let codegen = Codegen::open(&cache, &cancel)?;
        let text = codegen.assembly(&source, DEFAULT_ARCH, &options(&source)?, &cancel)?;
        Ok(MachineCode { arch: DEFAULT_ARCH.into(), text })
    };
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}

/// What clangd's files and the benchmark file say.
fn options(source: &Source) -> Result<CompileOptions, LabError> {
    let beside = Benchmark::path_for(&source.path);
    let benchmark = beside.is_file().then(|| Benchmark::load(&beside)).transpose()?;
    let of_the_benchmark = benchmark.map(|benchmark| benchmark.program.compile_options()).unwrap_or_default();
    Ok(clangd::options_for(&source.path)?.with(&of_the_benchmark))
}
