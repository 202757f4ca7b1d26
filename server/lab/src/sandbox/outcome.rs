//! How a sandboxed run ended.

use std::time::Duration;

use super::Limits;
use crate::Failure;

/// Why a child is no longer running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended by itself with this exit status.
    Status(i32),
    /// A signal that the sandbox did not send ended it.
    Signal(i32),
    /// Its wall-clock limit was over.
    TimedOut,
    /// It tried what it may not do; the text reads on from "it".
    Refused(String),
    /// It used more memory than its limit.
    OutOfMemory,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// What it printed, up to the output limit; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    /// What it printed to stderr, likewise.
    pub stderr: String,
    /// What came over the report descriptor.
    pub report: Vec<u8>,
    /// From start to end.
    pub wall: Duration,
    /// Processor time of all its threads, the start of the program included.
    pub processor: Duration,
    /// How often another process took the processor away from one of its threads.
    pub displaced: u64,
    /// The most resident memory seen, in bytes; looked at every few milliseconds, so 0 for a run that is shorter.
    pub peak_memory: u64,
    /// The most address space seen, in bytes.
    pub peak_address_space: u64,
}

impl Run {
    /// What went wrong under `limits`, or `None` when the child ended by itself, whatever its exit status.
    pub fn failure(&self, limits: &Limits) -> Option<Failure> {
        match &self.end {
            End::Status(_) => None,
            End::TimedOut => Some(Failure::TimedOut { limit: limits.wall }),
            End::Refused(what) => Some(Failure::Refused { detail: format!("it {what}") }),
            End::OutOfMemory => Some(Failure::Crashed { detail: out_of_memory(limits) }),
            End::Signal(_) if self.ran_out_of_memory(limits) => {
                Some(Failure::Crashed { detail: format!("{}{}", out_of_memory(limits), self.last_words()) })
            }
            End::Signal(signal) => {
                Some(Failure::Crashed { detail: format!("{}{}", describe_signal(*signal), self.last_words()) })
            }
        }
    }

    /// The last lines that it printed, stderr first choice: what a message shows of a failed run. Empty if it was silent.
    pub fn last_lines(&self, count: usize) -> String {
        let text = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    /// Whether a crash is the visible end of a failed allocation.
    fn ran_out_of_memory(&self, limits: &Limits) -> bool {
        const WORDS: [&str; 3] = ["bad_alloc", "out of memory", "Cannot allocate memory"];
        let near = |used: u64, limit: u64| used >= limit / 16 * 15;
        WORDS.iter().any(|words| self.stderr.contains(words))
            || limits.address_space_bytes.is_some_and(|limit| near(self.peak_address_space, limit))
            || near(self.peak_memory, limits.memory_bytes)
    }

    fn last_words(&self) -> String {
        match self.last_lines(3) {
            lines if lines.is_empty() => String::new(),
            lines => format!("; it last printed: {lines}"),
        }
    }
}

/// The words for a program that hit its memory limit.
pub(crate) fn out_of_memory(limits: &Limits) -> String {
    let gibibytes = limits.memory_bytes as f64 / f64::from(1 << 30);
    format!("it ran out of memory (limit {gibibytes:.1} GiB)")
}

/// What a signal means, in words.
fn describe_signal(signal: i32) -> String {
    let meaning = match signal {
        libc::SIGSEGV => "SIGSEGV: it used memory that is not its own (a null or wild pointer, or a stack overflow)",
        libc::SIGBUS => "SIGBUS: it used memory that is not there",
        libc::SIGABRT => "SIGABRT: it called abort, as a failed assertion or an uncaught exception does",
        libc::SIGFPE => "SIGFPE: an integer division by zero",
        libc::SIGILL => "SIGILL: an illegal instruction, as a __builtin_trap or a missing return makes",
        libc::SIGTRAP => "SIGTRAP: a trap",
        libc::SIGKILL => "SIGKILL: the system killed it, most likely because the machine ran out of memory",
        libc::SIGXCPU => "SIGXCPU: it used all its processor time",
        libc::SIGXFSZ => "SIGXFSZ: it wrote a file larger than its limit",
        libc::SIGSYS => "SIGSYS: it made a system call that the sandbox does not allow",
        _ => return format!("signal {signal}"),
    };
    meaning.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: End, stderr: &str) -> Run {
        Run {
            end,
            stdout: "a\nb\n".into(),
            stderr: stderr.into(),
            report: Vec::new(),
            wall: Duration::ZERO,
            processor: Duration::ZERO,
            displaced: 0,
            peak_memory: 0,
            peak_address_space: 0,
        }
    }

    #[test]
    fn each_end_has_its_failure() {
        let limits = Limits::new(Duration::from_secs(2), 3 << 30);
        let cases = [
            (End::Status(3), "", None),
            (End::TimedOut, "", Some("timed out")),
            (End::Refused("tried".into()), "", Some("refused: it tried")),
            (End::OutOfMemory, "", Some("crashed: it ran out of memory (limit 3.0 GiB)")),
            (End::Signal(libc::SIGABRT), "what():  std::bad_alloc", Some("crashed: it ran out of memory")),
            (End::Signal(libc::SIGSEGV), "", Some("crashed: SIGSEGV")),
            (End::Signal(libc::SIGSEGV), "", Some("it last printed: a\nb")),
        ];
        for (end, stderr, expected) in cases {
            let failure = ended(end.clone(), stderr).failure(&limits).map(|failure| failure.to_string());
            match expected {
                None => assert_eq!(failure, None),
                Some(words) => {
                    assert!(failure.as_deref().is_some_and(|text| text.contains(words)), "{end:?}: {failure:?}")
                }
            }
        }
    }
}
