//! What a traced run that did not go well leaves in doubt: said with the forecast, or the reason that there is none.

use crate::forecast::refused;
use crate::toolchain::forecast::TracedRun;
use crate::{Failure, LabError};

/// What is to be said with the forecasts of a run, if anything.
///
/// # Errors
/// [`Failure::Refused`] where the program was ended before it had made all its launches.
pub(super) fn caveat(run: &TracedRun) -> Result<Option<String>, LabError> {
    let mut said = Vec::new();
    match &run.failure {
        None => {}
        Some(Failure::Wrong { detail }) => said.push(ended_badly(run, detail)),
        Some(failure) => return Err(refused(&ended_early(run, failure))),
    }
    let cut = run.launches.iter().filter(|launch| launch.cut).map(|launch| launch.kernel.as_str());
    said.extend(cut.map(|kernel| {
        format!(
            "work-items of {kernel} did more than is recorded, and its time is too short: give it less work with --args"
        )
    }));
    Ok((!said.is_empty()).then(|| said.join("; ")))
}

/// The program ended by itself, with a status that says that something is wrong.
fn ended_badly(run: &TracedRun, detail: &str) -> String {
    let why = if run.launches.iter().all(|launch| launch.complete) {
        "launches that it makes only where all is well are missing"
    } else {
        "the trace left blocks of large launches out, so that it may have found unfinished results, and launches that it \
         makes only with right ones are missing; with --args for smaller sizes all blocks are run"
    };
    format!("in the traced run {detail}; {why}")
}

/// The program was ended: what it would have launched then is not known.
fn ended_early(run: &TracedRun, failure: &Failure) -> String {
    let last = run.launches.last().map(|launch| format!("its launch of {}", launch.kernel));
    let last = last.unwrap_or_else(|| "its start".to_owned());
    let what = format!("the traced program was ended after {last}, and what it launches later is not known: {failure}");
    if run.launches.iter().all(|launch| launch.complete) {
        return format!("{what}. `kernel-scientist check` says more where it fails outside a trace too");
    }
    format!(
        "{what}. The trace left blocks of large launches out; where `kernel-scientist check` finds the program right, it \
         cannot go on with unfinished results: give it --args for smaller sizes, or write a benchmark file"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ::forecast::trace::Launch;

    use super::*;

    fn run(failure: Option<Failure>, complete: bool, cut: bool) -> TracedRun {
        let launch = Launch { kernel: "scale<4>".into(), complete, cut, ..Launch::default() };
        TracedRun { launches: vec![launch], failure, ran: Duration::ZERO, read: Duration::ZERO }
    }

    #[test]
    fn what_is_in_doubt_is_said() {
        let wrong = || Some(Failure::Wrong { detail: "it ended with exit status 3; off by one".into() });
        for (run, expected) in [
            (run(None, false, false), ""),
            (run(wrong(), true, false), "exit status 3; off by one; launches that it makes only where all is well"),
            (run(wrong(), false, false), "unfinished results"),
            (run(None, true, true), "work-items of scale<4> did more than is recorded"),
        ] {
            let said = caveat(&run).unwrap();
            assert_eq!(said.is_none(), expected.is_empty(), "{said:?}");
            assert!(said.clone().unwrap_or_default().contains(expected), "{said:?}");
        }
    }

    #[test]
    fn a_program_that_was_ended_has_no_forecast() {
        for complete in [true, false] {
            let crashed = Some(Failure::Crashed { detail: "SIGSEGV".into() });
            let error = caveat(&run(crashed, complete, false)).unwrap_err().to_string();
            for words in ["no forecast", "after its launch of scale<4>", "SIGSEGV", "kernel-scientist check"] {
                assert!(error.contains(words), "{words}: {error}");
            }
            assert_eq!(error.contains("--args"), !complete, "{error}");
        }
    }
}
