//! What a model would try on a file as it is: its designer is asked once, outside of a run.

use std::time::Duration;

use lab::workbench::{Sampling, ShapeChoice, Workbench};
use lab::{Cancel, LabError};
use notebook::{Notebook, NotebookError, RunId};
use scientist::evaluation::Evaluator;
use scientist::findings;
use scientist::model::ModelScientist;
use scientist::stages::{DesignBrief, Designer, Finding, Hypothesis, Member, Population, StageError};
use scientist::suggestion::{self, Asked};

use crate::models::Models;

/// Sampling time of the file as it is, for all shapes.
const SAMPLING: Duration = Duration::from_secs(1);

/// Why there are no hypotheses.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// The file fails, or the lab does.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The model is not there, or gave nothing that can be used.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Earlier findings could not be read, or the cost could not be kept.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
}

/// Who is asked.
pub struct Who<'a> {
    /// The models, which keep to their limits.
    pub models: &'a Models,
    /// Their stages for the file.
    pub scientist: &'a ModelScientist,
    /// Their name, as runs are recorded with.
    pub provider: &'a str,
}

/// Builds, checks and times the file that a workbench was opened with, and asks the designer. What runs on the same file and device
/// have taught is told to it; what it costs is kept in the notebook, whatever comes of it.
///
/// # Errors
/// [`DesignError`].
pub fn hypotheses(
    bench: &Workbench,
    who: &Who<'_>,
    notebook: &Notebook,
    kernel: Option<&str>,
    cancel: &Cancel,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Hypothesis>, DesignError> {
    let source = bench.original();
    say("checking and timing the file as it is");
    let build = bench.build(source, cancel)?;
    let sampling = Sampling { seed: rand::random(), budget: SAMPLING, half_width: 0.01, shapes: ShapeChoice::Shown };
    let report = bench.time(&build, &sampling, cancel)?;
    let times = report.kernels.iter().map(|timing| (timing.shape.clone(), timing.figure.median_ns)).collect();
    let account = if bench.basis().is_some() { bench.account(&build) } else { Vec::new() };
    let all = notebook.findings_before(RunId(i64::MAX), &source.path, bench.device())?;
    let found: Vec<Finding> = all.into_iter().map(findings::recalled).collect();
    let original = Member {
        id: 0,
        parent: None,
        reference: None,
        generation: 0,
        text: source.text.clone(),
        steps: Vec::new(),
        summary: "the original".into(),
        times,
        against_parent: None,
        against_original: None,
        verdict: None,
        failure: None,
    };
    let population = Population { members: vec![original] };
    let brief = DesignBrief {
        base: &population.members[0],
        population: &population,
        findings: &found,
        tried: &[],
        past: &[],
        kernel,
        forecast: &account,
    };
    say("asking the designer");
    let (_, mut designer, _) = who.scientist.stages();
    let designed = designer.design(&brief, cancel);
    let outcome = match &designed {
        Ok(design) => format!("{} hypotheses were suggested", design.plans.len()),
        Err(error) => error.to_string(),
    };
    let asked =
        Asked { file: &source.path, text: &source.text, kernel, device: bench.device(), provider: who.provider };
    suggestion::keep_cost(notebook, &asked, &(who.models.calls())(), &outcome)?;
    Ok(designed?.plans)
}
