//! `report FILE > report.html`: a run as one self-contained page.

mod charts;
pub(crate) mod data;
mod diffs;
#[cfg(test)]
pub(crate) mod example;
mod forest;
pub(crate) mod gather;
mod lineage;
pub(crate) mod moment;
pub(crate) mod render;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use notebook::{Notebook, Run, RunId};

use super::{CliError, Context};

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// HIP source file whose run is reported.
    file: PathBuf,
    /// Number of the run [default: the file's latest].
    #[arg(long, value_name = "N")]
    run: Option<i64>,
}

/// Runs the command: writes the page to standard output, or what it shows as JSON.
pub fn run(context: &Context, args: &ReportArgs) -> Result<(), CliError> {
    let path = context.notebook_path()?;
    let nothing = || {
        CliError::Usage(format!(
            "{}: no run of this file is recorded in {}; make one with: kernel-scientist evolve {}",
            args.file.display(),
            path.display(),
            args.file.display()
        ))
    };
    let notebook = Notebook::open_existing(&path)?.ok_or_else(nothing)?;
    let run = match args.run {
        Some(number) => notebook.run(RunId(number))?,
        None => latest(&notebook, args)?.ok_or_else(nothing)?,
    };
    let report = gather::gather(&notebook, &run)?;
    if context.json() {
        return context.print_json(&report);
    }
    let page = render::render(&report)
        .map_err(|error| CliError::Usage(format!("the report could not be written: {error:#}")))?;
    context.print(&page)
}

/// The latest run of the file that made an experiment, else the latest.
fn latest(notebook: &Notebook, args: &ReportArgs) -> Result<Option<Run>, notebook::NotebookError> {
    let absolute = std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone());
    let mut newest = None;
    for run in notebook.runs(&absolute)? {
        if !notebook.experiments(run.id)?.is_empty() {
            return Ok(Some(run));
        }
        newest = newest.or(Some(run));
    }
    Ok(newest)
}
