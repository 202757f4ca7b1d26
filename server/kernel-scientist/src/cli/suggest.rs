//! `suggest FILE`: hypotheses worth trying, best first.

use std::path::PathBuf;

use lab::benchmark::Benchmark;
use scientist::catalog::Catalog;
use scientist::stages::{GainRange, Hypothesis};
use serde::Serialize;

use super::context::read_source;
use super::provider::Provider;
use super::{CliError, Context, figures};

/// Column of what is said of a hypothesis.
const INDENT: usize = 6;

/// Arguments of `suggest`.
#[derive(Debug, clap::Args)]
pub struct SuggestArgs {
    /// HIP source file.
    file: PathBuf,
    /// Who thinks them up [default: the settings' provider, else the rule-based catalog].
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Only for this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    provider: &'a str,
    rule_based: bool,
    hypotheses: &'a [Hypothesis],
}

/// Runs the command.
pub fn run(context: &Context, args: &SuggestArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let provider = Provider::choose(args.provider.as_deref(), &context.config(source.folder())?)?;
    super::require_kernel(&source, args.kernel.as_deref())?;
    let beside = Benchmark::path_for(&source.path);
    let benchmark = beside.is_file().then(|| Benchmark::load(&beside)).transpose()?;
    let catalog = Catalog::load().fed_by(benchmark.as_ref());
    let hypotheses = catalog
        .suggest_until(&source.text, args.kernel.as_deref(), &context.cancel)
        .map_err(|_| CliError::Cancelled)?;
    if context.json() {
        return context.print_json(&Answer {
            provider: provider.name(),
            rule_based: provider.is_rule_based(),
            hypotheses: &hypotheses,
        });
    }
    context.print(&text(args, &hypotheses))
}

fn text(args: &SuggestArgs, hypotheses: &[Hypothesis]) -> String {
    if hypotheses.is_empty() {
        return format!("{}: the rule-based catalog finds nothing to try here\n", args.file.display());
    }
    let mut out = String::new();
    let mut kernel = "";
    for hypothesis in hypotheses {
        if hypothesis.kernel != kernel {
            kernel = &hypothesis.kernel;
            out.push_str(&format!("{kernel} (rule-based)\n"));
        }
        let GainRange { min_percent, max_percent } = hypothesis.gain;
        out.push_str(&figures::wrapped(&format!("  line {}: {}\n", hypothesis.line, hypothesis.title), INDENT));
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
