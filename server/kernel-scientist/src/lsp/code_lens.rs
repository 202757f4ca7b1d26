//! Code lenses: Time, Suggest and Evolve over each kernel; while something is under way, what it is, and Stop.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::commands::{Command, Target};
use super::view::View;

/// A lens.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// The kernel's name in the present text.
    pub at: Range<usize>,
    /// Which one it is.
    pub which: Which,
    /// What it says.
    pub title: String,
}

/// Which of the lenses over a kernel, whose name it has, or over a job, whose number it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Checks and times.
    Time(String),
    /// Looks for hypotheses.
    Suggest(String),
    /// Runs generations of experiments.
    Evolve(String),
    /// What the job is doing.
    Job(u64),
    /// Ends the job.
    Stop(u64),
}

/// A lens in few words, from which the rest can be made when a client wants it. It is written `7 time saxpy` or `7 stop 3`: a
/// large file has a thousand of them, and an object for each is what their answer would take longest for.
#[derive(Debug, PartialEq)]
pub struct Brief {
    /// Number of the document's opening, for its address would be longer than all else.
    pub opening: u64,
    /// Which one it is.
    pub lens: Which,
}

impl Which {
    /// What it says; `state` is the job's, where it is one of a job that has not ended.
    pub fn title(&self, state: Option<String>) -> String {
        match self {
            Self::Time(_) => "Time".into(),
            Self::Suggest(_) => "Suggest".into(),
            Self::Evolve(_) => "Evolve".into(),
            Self::Job(_) => state.unwrap_or_else(|| "ended".into()),
            Self::Stop(_) => "Stop".into(),
        }
    }

    /// The job that it is of.
    pub fn job(&self) -> Option<u64> {
        match self {
            Self::Job(job) | Self::Stop(job) => Some(*job),
            Self::Time(_) | Self::Suggest(_) | Self::Evolve(_) => None,
        }
    }

    /// What a click does.
    pub fn command(&self, uri: &str) -> Command {
        let target = |kernel: &String| Target { uri: uri.to_owned(), kernel: Some(kernel.clone()) };
        match self {
            Self::Time(kernel) => Command::Time(target(kernel)),
            Self::Suggest(kernel) => Command::Suggest(target(kernel)),
            Self::Evolve(kernel) => Command::Evolve(target(kernel)),
            Self::Job(job) => Command::ShowJob { job: *job },
            Self::Stop(job) => Command::Stop { job: *job },
        }
    }
}

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opening = self.opening;
        match &self.lens {
            Which::Time(kernel) => write!(f, "{opening} time {kernel}"),
            Which::Suggest(kernel) => write!(f, "{opening} suggest {kernel}"),
            Which::Evolve(kernel) => write!(f, "{opening} evolve {kernel}"),
            Which::Job(job) => write!(f, "{opening} job {job}"),
            Which::Stop(job) => write!(f, "{opening} stop {job}"),
        }
    }
}

impl FromStr for Brief {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (opening, lens) = text.split_once(' ')?;
            let (which, of) = lens.split_once(' ')?;
            let lens = match which {
                "time" => Which::Time(of.to_owned()),
                "suggest" => Which::Suggest(of.to_owned()),
                "evolve" => Which::Evolve(of.to_owned()),
                "job" => Which::Job(of.parse().ok()?),
                "stop" => Which::Stop(of.parse().ok()?),
                _ => return None,
            };
            Some(Self { opening: opening.parse().ok()?, lens })
        };
        read().ok_or_else(|| format!("`{text}` names no lens"))
    }
}

/// The lenses of a document, in order.
pub fn lenses(view: &View) -> Vec<Lens> {
    let mut lenses = Vec::new();
    for kernel in &view.analysis.kernels {
        let Some(at) = view.range_now(&kernel.name_range) else { continue };
        let job = view.job_on(kernel);
        let all = match job {
            Some(job) => vec![Which::Job(job.id), Which::Stop(job.id)],
            None => [Which::Time, Which::Suggest, Which::Evolve].map(|which| which(kernel.called.clone())).into(),
        };
        lenses.extend(all.into_iter().map(|which| {
            let title = which.title(job.map(|job| job.state()));
            Lens { at: at.clone(), which, title }
        }));
    }
    lenses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lens_in_few_words_is_read_back() {
        let kernel = || "saxpy".to_owned();
        let all = [
            Which::Time(kernel()),
            Which::Suggest(kernel()),
            Which::Evolve(kernel()),
            Which::Job(3),
            Which::Stop(u64::MAX),
        ];
        for lens in all {
            let brief = Brief { opening: 7, lens };
            assert_eq!(brief.to_string().parse(), Ok(brief));
        }
    }

    #[test]
    fn what_names_no_lens_is_refused() {
        for text in ["", "7", "7 time", "7 fly saxpy", "seven time saxpy", "7 stop saxpy", "-1 job 3"] {
            assert_eq!(text.parse::<Brief>(), Err(format!("`{text}` names no lens")));
        }
    }
}
