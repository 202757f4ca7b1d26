//! `check FILE`: does it build, run and come to the right result.

use std::path::PathBuf;

use lab::LabError;
use serde::Serialize;

use super::context::read_source;
use super::progress::Progress;
use super::subject::{Subject, SubjectArgs};
use super::{CliError, Context};

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// HIP source file.
    file: PathBuf,
    /// Print what the program printed, too.
    #[arg(long)]
    output: bool,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Serialize)]
struct Answer {
    device: String,
    correct: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<lab::Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Runs the command.
pub fn run(context: &Context, args: &CheckArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let subject = Subject::open(context, &source, &args.subject)?;
    let bench = &subject.workbench;
    let progress = Progress::new(context);
    progress.say("building and running");
    let checked = bench.build(&source, &context.cancel).and_then(|build| bench.check(&build, &context.cancel));
    progress.end();
    let (printed, failure) = match checked {
        Ok(printed) => (printed, None),
        Err(LabError::Code(failure)) => (String::new(), Some(failure)),
        Err(error) => return Err(error.into()),
    };
    if context.json() {
        context.print_json(&Answer {
            device: bench.device().into(),
            correct: failure.is_none(),
            message: failure.as_ref().map(ToString::to_string),
            failure: failure.clone(),
            output: args.output.then_some(printed),
        })?;
    } else if failure.is_none() {
        if args.output {
            context.print(&printed)?;
        }
        context.print(&format!("{}: right on {} ({})\n", args.file.display(), bench.device(), bench.device_note()))?;
    }
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}
