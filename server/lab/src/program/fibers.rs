//! Whether a program whose kernels are split at their barriers does what it does on fibers.

use std::time::Duration;

use super::output::Expected;
use super::{Outcome, RunOptions, Threads, run_on};
use crate::toolchain::cpu::{BuiltProgram, Cpu};
use crate::{Cancel, Failure, LabError};

/// A program on fibers may take so many times as long as split, or at least [`PATIENCE`]: work-items that wait cost some
/// nanoseconds each, and nothing is vectorised.
const SLOWER: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(5);

/// What a program does split and on fibers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// The same.
    Same,
    /// Something else, as said here.
    Differs(String),
    /// On fibers it did not come to an end, for this reason.
    Unknown(String),
}

/// Both runs of one comparison.
type Runs = (Result<Outcome, Failure>, Result<Outcome, Failure>);

/// Runs `split` and `whole`, which are built from the same text, and compares what they print.
///
/// Blocks run in another order each time, and results may depend on it: what differs on all threads counts only if it
/// differs on one, too.
pub(crate) fn agreement(
    cpu: &Cpu,
    split: &BuiltProgram,
    whole: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Agreement, LabError> {
    let run = |threads, program, options: &RunOptions| match run_on(threads, cpu, program, options, cancel) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(LabError::Code(failure)) => Ok(Err(failure)),
        Err(error) => Err(error),
    };
    let both = |threads| -> Result<Runs, LabError> {
        let split = run(threads, split, options)?;
        let mut options = options.clone();
        if let Ok(outcome) = &split {
            options.limits.wall = options.limits.wall.min(PATIENCE.max(outcome.wall * SLOWER));
        }
        Ok((split, run(threads, whole, &options)?))
    };
    match compared(&both(Threads::All)?, None) {
        Agreement::Differs(_) => {
            let again = run(Threads::One, whole, options)?;
            Ok(compared(&both(Threads::One)?, again.ok().as_ref()))
        }
        other => Ok(other),
    }
}

/// `again`: the outcome of another run on fibers, which shows what varies by itself.
fn compared((split, whole): &Runs, again: Option<&Outcome>) -> Agreement {
    match (split, whole) {
        (Ok(split), Ok(whole)) => {
            let mut expected = Expected::new(&whole.stdout);
            again.into_iter().for_each(|again| expected.learn(&again.stdout));
            match expected.check(&split.stdout) {
                Ok(()) => Agreement::Same,
                Err(detail) => Agreement::Differs(
                    detail.replace("the original's", "that on fibers").replace("the original", "the same on fibers"),
                ),
            }
        }
        (Err(failure), Ok(_)) => Agreement::Differs(failure.to_string()),
        (Ok(_), Err(failure @ Failure::TimedOut { .. })) => Agreement::Unknown(failure.to_string()),
        (Ok(_), Err(failure)) => Agreement::Differs(format!("it comes to a good end; on fibers: {failure}")),
        (Err(_), Err(_)) => Agreement::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(stdout: &str) -> Outcome {
        let (wall, processor) = Default::default();
        Outcome { stdout: stdout.into(), stderr: String::new(), launches: Vec::new(), wall, processor, displaced: 0 }
    }

    fn wrong() -> Failure {
        Failure::Wrong { detail: "exit status 1".into() }
    }

    #[test]
    fn ends_and_outputs_are_compared() {
        let slow = Failure::TimedOut { limit: Duration::from_secs(3) };
        let (one, two) = (printed("sum 1\nseed 3\n"), printed("sum 2\nseed 3\n"));
        let other_seed = printed("sum 1\nseed 4\n");
        let differs = |runs: Runs| matches!(compared(&runs, None), Agreement::Differs(_));
        assert_eq!(compared(&(Ok(one.clone()), Ok(one.clone())), None), Agreement::Same);
        assert!(differs((Ok(two.clone()), Ok(one.clone()))));
        assert!(differs((Ok(one.clone()), Ok(other_seed.clone()))));
        assert!(differs((Err(wrong()), Ok(one.clone()))) && differs((Ok(one.clone()), Err(wrong()))));
        // What varies on fibers says nothing.
        assert_eq!(compared(&(Ok(one.clone()), Ok(other_seed.clone())), Some(&one)), Agreement::Same);
        assert_eq!(compared(&(Err(wrong()), Err(wrong())), None), Agreement::Same);
        assert!(matches!(compared(&(Ok(one), Err(slow)), None), Agreement::Unknown(_)));
    }
}
