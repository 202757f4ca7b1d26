//! `check FILE`: does it build, run and come to the right result; with `--sanitize`, does it access what it must not.

mod faults;

use std::path::PathBuf;

use lab::sanitize::{Fault, Sanitized, Sanitizer};
use lab::{Failure, LabError, Source};
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
    /// Only this kernel: the one to feed where a file has several and no main; a program must launch it.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Print what the program printed, too.
    #[arg(long)]
    output: bool,
    /// Look for accesses outside of memory or to freed memory (address), or for races (thread), instead of the result.
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "output")]
    sanitize: Option<Kind>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// What `--sanitize` looks for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    /// Out of bounds, use after free, unwritten shared memory.
    Address,
    /// Races, unwritten shared memory.
    Thread,
}

#[derive(Serialize)]
struct Answer {
    device: String,
    correct: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sanitizer: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<Vec<Fault>>,
}

/// Runs the command.
pub fn run(context: &Context, args: &CheckArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let subject = Subject::open_to_check(context, &source, &args.subject, args.kernel.as_deref())?;
    if let Some(kind) = args.sanitize {
        return sanitize(context, args, kind, &source, &subject);
    }
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
            sanitizer: None,
            faults: None,
        })?;
    } else if failure.is_none() {
        if args.output {
            context.print(&printed)?;
        }
        context.print(&format!("{}: right on {} ({})\n", args.file.display(), bench.device(), bench.device_note()))?;
    }
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}

fn sanitize(
    context: &Context,
    args: &CheckArgs,
    kind: Kind,
    source: &Source,
    subject: &Subject,
) -> Result<(), CliError> {
    let (sanitizer, name) = match kind {
        Kind::Address => (Sanitizer::Address, "address"),
        Kind::Thread => (Sanitizer::Thread, "thread"),
    };
    let bench = &subject.workbench;
    // Half a minute of silence looks like a program that hangs.
    if !bench.is_ready_to_sanitize(sanitizer) && !context.draws_progress() {
        super::tell("note: the sanitizer's runtime is built, once on this machine; this takes half a minute or more");
    }
    let progress = Progress::new(context);
    progress.say("looking with a sanitizer (the first time its runtime is built)");
    let looked = bench.sanitize(source, sanitizer, &context.cancel);
    progress.end();
    let Sanitized { faults, failure } = match looked {
        Ok(looked) => looked,
        Err(LabError::Code(failure)) => Sanitized { faults: Vec::new(), failure: Some(failure) },
        Err(error) => return Err(error.into()),
    };
    let verdict = verdict(&faults, name, failure.as_ref());
    let found = !faults.is_empty();
    if context.json() {
        context.print_json(&Answer {
            device: bench.device().into(),
            correct: verdict.is_none(),
            message: verdict.as_ref().map(ToString::to_string),
            failure: verdict.clone(),
            output: None,
            sanitizer: Some(name),
            faults: Some(faults),
        })?;
    } else if verdict.is_none() {
        context.print(&format!("{}: nothing found with --sanitize {name}\n", args.file.display()))?;
    } else {
        context.print(&faults::text(&faults, source, &args.file))?;
    }
    match verdict {
        None => Ok(()),
        Some(Failure::Wrong { detail }) if found => Err(CliError::Faults(detail)),
        Some(failure) => Err(failure.into()),
    }
}

/// What the faults and the end of the run come to together; `None` when nothing was found.
fn verdict(faults: &[Fault], name: &str, failure: Option<&Failure>) -> Option<Failure> {
    let found = match faults.len() {
        0 => return failure.cloned(),
        1 => format!("1 fault found with --sanitize {name}"),
        count => format!("{count} faults found with --sanitize {name}"),
    };
    let then = failure.map_or_else(String::new, |failure| format!("; {failure}"));
    Some(Failure::Wrong { detail: found + &then })
}
