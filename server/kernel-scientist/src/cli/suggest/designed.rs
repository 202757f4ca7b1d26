//! Hypotheses of a model: what its designer would try on the file as it is.

use lab::Source;
use lab::workbench::{Sampling, ShapeChoice};
use scientist::evaluation::Evaluator;
use scientist::stages::{DesignBrief, Designer, Hypothesis, Member, Population, StageError};

use super::SuggestArgs;
use crate::cli::progress::Progress;
use crate::cli::subject::Subject;
use crate::cli::{CliError, Context};
use crate::config::Config;
use crate::models::Models;

/// Builds, checks and times the file, and asks the designer.
pub(super) fn by(
    context: &Context,
    args: &SuggestArgs,
    source: &Source,
    config: &Config,
    models: &Models,
) -> Result<Vec<Hypothesis>, CliError> {
    let subject = Subject::open(context, source, &args.subject, args.kernel.as_deref())?;
    let bench = &subject.workbench;
    let progress = Progress::new(context);
    progress.say("checking and timing the file as it is");
    let build = bench.build(source, &context.cancel)?;
    let sampling =
        Sampling { seed: 1, budget: std::time::Duration::from_secs(1), half_width: 0.01, shapes: ShapeChoice::Shown };
    let report = bench.time(&build, &sampling, &context.cancel)?;
    let times = report.kernels.iter().map(|timing| (timing.shape.clone(), timing.figure.median_ns)).collect();
    let population = Population { members: vec![original(source, times)] };
    let account = if bench.forecasts() { bench.account(&build) } else { Vec::new() };
    progress.say("asking the designer");
    let brief = DesignBrief {
        base: &population.members[0],
        population: &population,
        findings: &[],
        tried: &[],
        past: &[],
        kernel: args.kernel.as_deref(),
        forecast: &account,
    };
    let (_, mut designer, _) = models.scientist(config, bench).map_err(CliError::Usage)?.stages();
    let design = designer.design(&brief, &context.cancel);
    progress.end();
    let design = design.map_err(|error| match error {
        StageError::Cancelled => CliError::Cancelled,
        StageError::Unavailable(why) | StageError::Unusable(why) => CliError::Unavailable(why),
    })?;
    let spent = models.ledger.spent();
    eprintln!("spent: {} calls, {} tokens, {:.4} US dollars", spent.calls, spent.tokens(), spent.usd);
    Ok(design.plans)
}

fn original(source: &Source, times: Vec<(String, f64)>) -> Member {
    Member {
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
    }
}
