//! `suggest FILE`: hypotheses worth trying, best first. On a device that is forecast for, each is written, checked and
//! forecast, and the order is that of what it gains there.

mod designed;

use std::path::PathBuf;

use lab::Source;
use lab::benchmark::Benchmark;
use scientist::catalog::Catalog;
use scientist::stages::{GainRange, Hypothesis};
use serde::Serialize;

use super::context::read_source;
use super::evolve::cost::SpendingArgs;
use super::progress::Progress;
use super::provider::{Provider, ProviderArgs};
use super::subject::{Subject, SubjectArgs};
use super::{CliError, Context, consent, figures};
use crate::devices::CPU;
use crate::forecasts::outlook::{self, Outlook};
use crate::models::Reach;

/// Column of what is said of a hypothesis.
const INDENT: usize = 6;

/// Arguments of `suggest`.
#[derive(Debug, clap::Args)]
pub struct SuggestArgs {
    /// HIP source file.
    file: PathBuf,
    #[command(flatten)]
    provider: ProviderArgs,
    #[command(flatten)]
    spending: SpendingArgs,
    /// Only for this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Serialize)]
struct Answer<'a> {
    provider: &'a str,
    rule_based: bool,
    device: &'a str,
    hypotheses: &'a [Told],
}

/// A hypothesis, and what its forecast says where there is one.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    hypothesis: Hypothesis,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<Outlook>,
}

impl Told {
    /// Percent of speed that it is expected to bring.
    fn percent(&self) -> f64 {
        self.forecast.as_ref().map_or(self.hypothesis.gain.middle(), Outlook::percent)
    }
}

/// Runs the command.
pub fn run(context: &Context, args: &SuggestArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let config = context.config(source.folder())?;
    let provider = Provider::choose(&args.provider, &config)?;
    super::require_kernel(&source, args.kernel.as_deref())?;
    let progress = Progress::hidden(context);
    let reach = Reach { listener: Some(progress.listener(false)), ..args.provider.reach(0) };
    if let Some(models) = provider.connect(&reach, &config)? {
        consent::require(&provider, &args.provider, &config, Some(&models))?;
        models.notes.iter().for_each(|note| super::tell(note));
        let hypotheses = designed::by(context, args, &source, &config, &provider, &models, &progress)?;
        let told: Vec<Told> = hypotheses.into_iter().map(|hypothesis| Told { hypothesis, forecast: None }).collect();
        return tell(context, args, &provider, &told);
    }
    let beside = Benchmark::path_for(&source.path);
    let path = args.subject.feed.benchmark.clone().or_else(|| beside.is_file().then_some(beside));
    let benchmark = path.map(|path| Benchmark::load(&path)).transpose()?;
    let catalog = Catalog::load().fed_by(benchmark.as_ref());
    let hypotheses = catalog
        .suggest_until(&source.text, args.kernel.as_deref(), &context.cancel)
        .map_err(|_| CliError::Cancelled)?;
    let told = with_forecasts(context, args, &source, &catalog, hypotheses)?;
    tell(context, args, &provider, &told)
}

fn tell(context: &Context, args: &SuggestArgs, provider: &Provider, told: &[Told]) -> Result<(), CliError> {
    if context.json() {
        return context.print_json(&Answer {
            device: &args.subject.device,
            provider: &provider.name(),
            rule_based: provider.is_rule_based(),
            hypotheses: told,
        });
    }
    context.print(&text(args, provider, told))
}

/// The hypotheses in the order of what they gain by forecast. Where the file has none, the catalog's order stands, and the
/// reason is told.
fn with_forecasts(
    context: &Context,
    args: &SuggestArgs,
    source: &Source,
    catalog: &Catalog,
    hypotheses: Vec<Hypothesis>,
) -> Result<Vec<Told>, CliError> {
    let outlooks = match forecasts(context, args, source, catalog, &hypotheses) {
        Ok(outlooks) => outlooks,
        Err(CliError::Cancelled) => return Err(CliError::Cancelled),
        Err(error) => {
            super::tell(&format!("note: in the catalog's order, since there is no forecast: {error}"));
            vec![None; hypotheses.len()]
        }
    };
    let mut told: Vec<Told> =
        hypotheses.into_iter().zip(outlooks).map(|(hypothesis, forecast)| Told { hypothesis, forecast }).collect();
    if told.iter().any(|told| told.forecast.is_some()) {
        // Sorting is stable: what is equal stays in the catalog's order.
        told.sort_by(|a, b| b.percent().total_cmp(&a.percent()));
        let kernels: Vec<String> = told.iter().map(|told| told.hypothesis.kernel.clone()).collect();
        told.sort_by_key(|told| kernels.iter().position(|kernel| *kernel == told.hypothesis.kernel));
    }
    Ok(told)
}

fn forecasts(
    context: &Context,
    args: &SuggestArgs,
    source: &Source,
    catalog: &Catalog,
    hypotheses: &[Hypothesis],
) -> Result<Vec<Option<Outlook>>, CliError> {
    let without = || vec![None; hypotheses.len()];
    if hypotheses.is_empty() || args.subject.device == CPU {
        return Ok(without());
    }
    let subject = Subject::open(context, source, &args.subject, args.kernel.as_deref())?;
    if subject.workbench.basis().is_none() {
        return Ok(without());
    }
    let progress = Progress::new(context);
    progress.say("checking and forecasting what is worth trying");
    let outlooks = outlook::of_all(&subject.workbench, catalog, hypotheses, &context.cancel);
    progress.end();
    Ok(outlooks?)
}

/// What a hypothesis gains by forecast, and what it cures.
fn outlook_lines(outlook: &Outlook) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(ratio), Some(basis)) = (outlook.ratio, &outlook.basis) {
        let values: Vec<String> =
            outlook.settings.iter().map(|setting| format!("{} {}", setting.name, setting.value)).collect();
        let with = if values.is_empty() { String::new() } else { format!(" (with {})", values.join(", ")) };
        let verdict = outlook.verdict.map_or_else(String::new, |verdict| format!("{verdict}: "));
        lines.push(format!("{verdict}{}{with}", basis.claim(ratio)));
    }
    lines.extend(outlook.failure.iter().map(|why| format!("does not work here: {why}")));
    lines.extend(outlook.cures.iter().map(|cure| {
        let symptom = match (cure.symptom.as_str(), cure.left.as_str()) {
            ("", _) => String::new(),
            (symptom, "") => format!("{symptom} (cured), "),
            (symptom, left) => format!("{symptom} (then {left}), "),
        };
        let (before, after) = (figures::time(cure.before_us * 1e3), figures::time(cure.after_us * 1e3));
        format!("line {}: {symptom}{before} -> {after}", cure.line)
    }));
    lines
}

fn text(args: &SuggestArgs, provider: &Provider, told: &[Told]) -> String {
    let by = if provider.is_rule_based() { "rule-based".to_owned() } else { format!("by {}", provider.name()) };
    if told.is_empty() {
        return format!("{}: nothing is found to try here ({by})\n", args.file.display());
    }
    let mut out = String::new();
    let mut kernel = "";
    for Told { hypothesis, forecast } in told {
        if hypothesis.kernel != kernel {
            kernel = &hypothesis.kernel;
            out.push_str(&format!("{kernel} ({by})\n"));
        }
        let GainRange { min_percent, max_percent } = hypothesis.gain;
        out.push_str(&figures::wrapped(&format!("  line {}: {}\n", hypothesis.line, hypothesis.title), INDENT));
        for text in forecast.iter().flat_map(outlook_lines) {
            out.push_str(&figures::wrapped(&format!("{:INDENT$}{text}", ""), INDENT));
        }
        for text in [
            format!(
                "expected {min_percent:+.0}% to {max_percent:+.0}% on MI300, innovation {}/100",
                hypothesis.innovation
            ),
            hypothesis.reason.clone(),
            format!("source: {}", hypothesis.source),
            format!("key: {}", hypothesis.key),
        ] {
            out.push_str(&figures::wrapped(&format!("{:INDENT$}{text}", ""), INDENT));
        }
    }
    out
}
