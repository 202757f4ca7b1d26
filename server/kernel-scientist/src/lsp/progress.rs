//! Progress of a job in the client's own display: created without blocking, and ended however the job ends.

use tokio::sync::watch;

/// What is shown right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// How far it is, where that can be said.
    pub percent: Option<u32>,
    /// What is being done.
    pub doing: String,
}

/// A display of progress. It ends when this is dropped; reports that come faster than the client takes them are
/// left out, except the last.
#[derive(Debug)]
pub struct Progress(watch::Sender<Shown>);

impl Progress {
    /// A display, and what its owner at the other end follows.
    pub fn new() -> (Self, watch::Receiver<Shown>) {
        let (sender, receiver) = watch::channel(Shown::default());
        (Self(sender), receiver)
    }

    /// Shows what is being done.
    pub fn report(&self, percent: Option<u32>, doing: &str) {
        self.0.send_replace(Shown { percent, doing: doing.to_owned() });
    }
}

/// The name by which client and server speak of a job's progress.
pub fn token(job: u64) -> String {
    format!("kernel-scientist/job/{job}")
}

/// The job that a name belongs to.
pub fn job_of(token: &str) -> Option<u64> {
    token.strip_prefix("kernel-scientist/job/")?.parse().ok()
}
