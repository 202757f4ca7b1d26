//! The kernels of many files, open or not, with the last figure of each: what a side bar lists.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hip_syntax::{PositionEncoding, Text};
use lab::benchmark::Benchmark;

use super::analysis::{Analysis, KernelFacts};
use super::from_proto;
use super::history::FileHistory;
use super::inlay_hints;
use super::protocol::{FileKernels, KernelFigure, KernelsParams};
use super::session::Session;
use super::view::View;
use crate::devices;

/// Files that one answer is about.
const MOST_FILES: usize = 500;
/// The largest file that is read: what is larger was not written by hand.
const LARGEST_BYTES: u64 = 2 << 20;

/// Answers a request for the kernels of files.
pub async fn kernels(session: &Arc<Session>, params: KernelsParams) -> Result<Vec<FileKernels>, String> {
    let session = Arc::clone(session);
    let read = move || params.uris.into_iter().take(MOST_FILES).map(|uri| of_file(&session, uri)).collect();
    tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())
}

fn of_file(session: &Arc<Session>, uri: String) -> FileKernels {
    let open = session.state().view(&uri);
    match open.map_or_else(|| closed(session, &uri), Ok) {
        Ok(view) => FileKernels {
            kernels: view.analysis.kernels.iter().map(|kernel| figure(&view, kernel)).collect(),
            has_benchmark: view.has_benchmark_file,
            problem: None,
            uri,
        },
        Err(problem) => FileKernels { uri, kernels: Vec::new(), has_benchmark: false, problem: Some(problem) },
    }
}

/// A file that no editor has open, as it is on the disk.
fn closed(session: &Arc<Session>, uri: &str) -> Result<View, String> {
    let path = from_proto::path_of(uri).ok_or_else(|| format!("{uri} is no file"))?;
    let text = Text::new(&text_of(&path)?);
    let analysis = Analysis::read(&text, 0);
    let names: BTreeSet<String> = analysis.kernels.iter().map(|kernel| kernel.qualified_name.clone()).collect();
    let history = FileHistory::read(&session.world.notebook, &path, &names).unwrap_or_else(|error| {
        tracing::warn!("the history of {} could not be read: {error}", path.display());
        FileHistory::default()
    });
    let settings = Arc::clone(&session.state().settings);
    let config = crate::config::Config::load(session.world.config.as_deref(), path.parent().unwrap_or(Path::new("/")));
    // What is wrong with settings is told where the file is opened.
    let device = config.ok().and_then(|config| devices::find(&config, &settings.device).ok());
    Ok(View {
        uri: uri.to_owned(),
        opening: 0,
        version: 0,
        text,
        encoding: PositionEncoding::Utf16,
        analysis: Arc::new(analysis),
        splices: Vec::new(),
        history: Arc::new(history),
        jobs: Vec::new(),
        suggestions: Arc::default(),
        has_benchmark_file: Benchmark::path_for(&path).is_file(),
        shows_images: false,
        device: device.unwrap_or_else(|| settings.device.clone()),
        settings,
        forecast: None,
        no_forecast: None,
    })
}

fn text_of(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?.len();
    if size > LARGEST_BYTES {
        return Err(format!("{} MiB: too large to look for kernels before it is opened", size >> 20));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn figure(view: &View, kernel: &KernelFacts) -> KernelFigure {
    let at = view.now(kernel.name_range.start).unwrap_or(kernel.name_range.start).min(view.text.len());
    let known = inlay_hints::known_figure(view, kernel);
    KernelFigure {
        name: kernel.name.clone(),
        line: u32::try_from(view.text.rope().byte_to_line(at)).unwrap_or(u32::MAX),
        is_current: known.as_ref().is_some_and(|known| known.is_current),
        is_forecast: known.as_ref().is_some_and(|known| known.is_forecast),
        figure: known.map(|known| known.label),
    }
}
