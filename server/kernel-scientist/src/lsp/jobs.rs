//! What is under way: one long operation at a time on a kernel, each with a stated cause, a state and a way to stop it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lab::Cancel;

use super::commands::Target;
use super::progress::Progress;
use super::work::{Assignment, Work};

/// A long operation.
pub struct Job {
    /// What it is about.
    pub target: Target,
    /// What it does.
    pub work: Work,
    /// The file, which stays what it is when the document is closed meanwhile.
    pub path: PathBuf,
    /// The same however it is reached: two addresses of a document may be of one file.
    identity: PathBuf,
    /// The text that it works on.
    pub text: Arc<str>,
    /// Fingerprint of its kernel in that text.
    pub fingerprint: Option<String>,
    /// It takes times on this machine.
    is_measuring: bool,
    /// What it is doing right now.
    doing: String,
    /// How far it is, where that can be said.
    percent: Option<u32>,
    cancel: Cancel,
    /// What the client shows of it; it ends when this is dropped.
    progress: Option<Progress>,
}

impl Job {
    /// A job that has not begun; `fingerprint` is that of its kernel.
    pub fn new(target: Target, assignment: &Assignment, fingerprint: Option<String>) -> Self {
        Self {
            target,
            work: assignment.work.clone(),
            path: assignment.source.path.clone(),
            identity: lab::source::identity(&assignment.source.path),
            text: Arc::clone(&assignment.source.text),
            fingerprint,
            is_measuring: assignment.is_measuring(),
            doing: "waiting to begin".into(),
            percent: None,
            cancel: assignment.cancel.clone(),
            progress: None,
        }
    }
}

impl Job {
    /// As features see it.
    fn view(&self, id: u64) -> JobView {
        JobView {
            id,
            kernel: self.target.kernel.clone(),
            name: self.work.name(),
            doing: self.doing.clone(),
            is_stopping: self.cancel.is_cancelled(),
        }
    }

    /// The file, however it was reached.
    pub fn identity(&self) -> &Path {
        &self.identity
    }
}

/// A job as features see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobView {
    /// Its number.
    pub id: u64,
    /// The kernel it is about; `None` for the whole document.
    pub kernel: Option<String>,
    name: &'static str,
    doing: String,
    is_stopping: bool,
}

impl JobView {
    /// Somebody has asked it to stop, and it has not ended yet.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// `Evolve: generation 2 of 5, building 3 drafts`.
    pub fn state(&self) -> String {
        let doing = if self.is_stopping { "stopping" } else { &self.doing };
        format!("{}: {doing}", self.name)
    }
}

/// The jobs of a session.
#[derive(Default)]
pub struct Jobs {
    running: BTreeMap<u64, Job>,
    last: u64,
}

impl Jobs {
    /// Takes on a job and gives its number.
    ///
    /// # Errors
    /// What is already under way there; the job is given back.
    pub fn begin(&mut self, job: Job) -> Result<u64, (JobView, Box<Job>)> {
        let on_the_file = self.on(&job.target.uri, Some(&job.identity)).into_iter();
        if let Some(other) = on_the_file.into_iter().find(|other| overlap(&other.kernel, &job.target.kernel)) {
            return Err((other, Box::new(job)));
        }
        self.last += 1;
        self.running.insert(self.last, job);
        Ok(self.last)
    }

    /// Gives a job something to show its progress with.
    pub fn show(&mut self, id: u64, progress: Progress) {
        if let Some(job) = self.running.get_mut(&id) {
            job.progress = Some(progress);
        }
    }

    /// Notes what a job is doing. Says whether its state changed.
    pub fn note(&mut self, id: u64, doing: &str, percent: Option<u32>) -> bool {
        let Some(job) = self.running.get_mut(&id) else { return false };
        let changed = job.doing != doing;
        doing.clone_into(&mut job.doing);
        // A bar that goes back looks broken.
        job.percent = job.percent.max(percent);
        if let Some(progress) = &job.progress {
            progress.report(job.percent, doing);
        }
        changed
    }

    /// Shows something of the moment beside what a job is doing.
    pub fn show_beside(&self, id: u64, text: &str) {
        if let Some(Job { progress: Some(progress), doing, percent, .. }) = self.running.get(&id) {
            progress.report(*percent, &format!("{doing} · {text}"));
        }
    }

    /// A job.
    pub fn get(&self, id: u64) -> Option<&Job> {
        self.running.get(&id)
    }

    /// Asks a job to stop. Its processes are killed within milliseconds; its end is an event of its own.
    pub fn stop(&self, id: u64) -> bool {
        self.running.get(&id).inspect(|job| job.cancel.cancel()).is_some()
    }

    /// Asks all jobs to stop.
    pub fn stop_all(&self) {
        self.running.values().for_each(|job| job.cancel.cancel());
    }

    /// Takes a job off the list: it has ended.
    pub fn end(&mut self, id: u64) -> Option<Job> {
        self.running.remove(&id)
    }

    /// Nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether one of them takes times on this machine.
    pub fn is_measuring(&self) -> bool {
        self.running.values().any(|job| job.is_measuring)
    }

    /// The jobs on a document, or on its file by another address, where it is known which file that is.
    pub fn on(&self, uri: &str, identity: Option<&Path>) -> Vec<JobView> {
        let is_on = |job: &Job| job.target.uri == uri || identity == Some(&job.identity);
        self.running.iter().filter(|(_, job)| is_on(job)).map(|(id, job)| job.view(*id)).collect()
    }

    /// One job as features see it.
    pub fn view(&self, id: u64) -> Option<JobView> {
        self.running.get(&id).map(|job| job.view(id))
    }
}

fn overlap(one: &Option<String>, other: &Option<String>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}
