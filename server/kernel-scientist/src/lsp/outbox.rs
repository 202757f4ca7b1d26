//! All that goes to the client on the server's own account. Nothing here blocks, and nothing waits for the client
//! without a limit: notifications are queued in order, requests are sent from tasks of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tower::Service;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{self, Request};

use super::progress::{Progress, Shown, token};
use super::protocol::{self, KeyAnswer, KeyParams, ModelParams, Proposed, RunEvent};
use super::settings::SECTION;
use super::to_proto::{self, Publication, WorkspaceChange};

/// Longest wait for a client's answer to a request that no human answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait for a human's answer.
const HUMAN_PATIENCE: Duration = Duration::from_secs(3600);
/// Least time between two requests to ask again for the same thing.
const REFRESH_PAUSE: Duration = Duration::from_millis(250);
/// Log lines that may wait for a client that does not read; more are left out.
const LOG_QUEUE: usize = 256;

/// How a message is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something failed.
    Error,
    /// Something is odd.
    Warning,
    /// Something is done.
    Info,
    /// For the log alone.
    Log,
}

/// What a client may be asked to ask for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshed {
    /// Inlay hints.
    Hints,
    /// Code lenses.
    Lenses,
}

enum Notice {
    Diagnostics(Box<Publication>),
    Message(Tone, String),
    Run(Box<RunEvent>),
    Proposed(Box<Proposed>),
}

/// The way to the client.
#[derive(Clone)]
pub struct Outbox {
    client: Client,
    runtime: Handle,
    notices: mpsc::UnboundedSender<Notice>,
    log: mpsc::Sender<(Tone, String)>,
    hints: Arc<Refresh>,
    lenses: Arc<Refresh>,
}

impl Outbox {
    /// The way to `client`; tasks run on `runtime`.
    pub fn new(client: Client, runtime: Handle) -> Self {
        let (notices, mut queue) = mpsc::unbounded_channel();
        let (log, mut lines) = mpsc::channel::<(Tone, String)>(LOG_QUEUE);
        let to = client.clone();
        runtime.spawn(async move {
            while let Some(notice) = queue.recv().await {
                match notice {
                    Notice::Diagnostics(publication) => {
                        let (uri, found, version) = to_proto::publication(&publication);
                        if let Some(uri) = uri {
                            to.publish_diagnostics(uri, found, version).await;
                        }
                    }
                    Notice::Message(tone, text) => to.show_message(to_proto::tone(tone), text).await,
                    Notice::Run(event) => to.send_notification::<to_proto::RunNotice>(*event).await,
                    Notice::Proposed(proposed) => to.send_notification::<to_proto::ProposedNotice>(*proposed).await,
                }
            }
        });
        let to = client.clone();
        runtime.spawn(async move {
            while let Some((tone, text)) = lines.recv().await {
                to.log_message(to_proto::tone(tone), text).await;
            }
        });
        Self { client, runtime, notices, log, hints: Arc::default(), lenses: Arc::default() }
    }

    /// What runs tasks.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn notify(&self, notice: Notice) {
        // The queue ends with the runtime, and then there is nobody to tell.
        let _ = self.notices.send(notice);
    }

    /// Shows diagnostics of a document, in place of those shown before.
    pub fn publish(&self, publication: Publication) {
        self.notify(Notice::Diagnostics(Box::new(publication)));
    }

    /// Shows a message.
    pub fn message(&self, tone: Tone, text: impl Into<String>) {
        self.notify(Notice::Message(tone, text.into()));
    }

    /// Tells the panel of what happened in a run.
    pub fn run_event(&self, event: RunEvent) {
        self.notify(Notice::Run(Box::new(event)));
    }

    /// Tells of a version that can be put into a document.
    pub fn proposed(&self, proposed: Proposed) {
        self.notify(Notice::Proposed(Box::new(proposed)));
    }

    /// Asks for the key of a provider; `then` hears it, if the editor keeps one.
    pub fn ask_key(&self, provider: &str, then: impl FnOnce(Option<String>) + Send + 'static) {
        let (client, params) = (self.client.clone(), KeyParams { provider: provider.to_owned() });
        self.runtime.spawn(async move {
            let asked = client.send_request::<to_proto::KeyRequest>(params);
            let answer = tokio::time::timeout(PATIENCE, asked).await;
            then(answer.ok().and_then(Result::ok).and_then(|KeyAnswer { key }| key));
        });
    }

    /// Asks one of the editor's models; `then` hears what it answers. The request goes by the name of its token.
    pub fn ask_model(&self, params: &ModelParams, then: impl FnOnce(jsonrpc::Result<Value>) + Send + 'static) {
        let request = Request::build(protocol::MODEL).params(json!(params)).id(params.token.clone()).finish();
        let mut client = self.client.clone();
        self.runtime.spawn(async move {
            // A client that is gone answers nothing, and then the server ends.
            if let Ok(Ok(Some(response))) = tokio::time::timeout(HUMAN_PATIENCE, client.call(request)).await {
                then(response.into_parts().1);
            }
        });
    }

    /// Tells the client that the answer to a request is not wanted any more.
    pub fn give_up(&self, request: &str) {
        let (client, request) = (self.client.clone(), to_proto::cancelled(request));
        self.runtime.spawn(async move { client.send_notification::<to_proto::CancelNotice>(request).await });
    }

    /// Writes a line to the client's log.
    pub fn log(&self, tone: Tone, text: String) {
        // A client that does not read loses lines, never the server.
        let _ = self.log.try_send((tone, text));
    }

    /// Asks the client to ask for hints or lenses again: once at a time, and once more if that was asked for meanwhile.
    pub fn refresh(&self, what: Refreshed) {
        let state = match what {
            Refreshed::Hints => Arc::clone(&self.hints),
            Refreshed::Lenses => Arc::clone(&self.lenses),
        };
        if !state.begin() {
            return;
        }
        let client = self.client.clone();
        self.runtime.spawn(async move {
            loop {
                state.under_way();
                let asked = async {
                    match what {
                        Refreshed::Hints => client.inlay_hint_refresh().await,
                        Refreshed::Lenses => client.code_lens_refresh().await,
                    }
                };
                if tokio::time::timeout(PATIENCE, asked).await.is_err() {
                    tracing::debug!("the client did not answer a request to refresh");
                }
                tokio::time::sleep(REFRESH_PAUSE).await;
                if !state.again() {
                    return;
                }
            }
        });
    }

    /// Asks the user; `then` hears which of the choices was taken, if any.
    pub fn ask(
        &self,
        tone: Tone,
        text: impl Into<String>,
        choices: Vec<String>,
        then: impl FnOnce(Option<usize>) + Send + 'static,
    ) {
        let (client, text) = (self.client.clone(), text.into());
        self.runtime.spawn(async move {
            let items = to_proto::choices(&choices);
            let asked = client.show_message_request(to_proto::tone(tone), text, Some(items));
            let answer = tokio::time::timeout(HUMAN_PATIENCE, asked).await;
            let taken = answer.ok().and_then(Result::ok).flatten();
            let taken = taken.and_then(|taken| choices.iter().position(|choice| *choice == taken.title));
            // Choices are commands, which may read texts and write files.
            let _ = tokio::task::spawn_blocking(move || then(taken)).await;
        });
    }

    /// Asks the client to change a document.
    pub fn apply(&self, change: WorkspaceChange) {
        let outbox = self.clone();
        self.runtime.spawn(async move {
            let label = change.label.clone();
            let Some(edit) = to_proto::workspace_edit(&change) else { return };
            match tokio::time::timeout(PATIENCE, outbox.client.apply_edit(edit)).await {
                Ok(Ok(answer)) if answer.applied => {}
                Ok(Ok(answer)) => {
                    let why = answer.failure_reason.unwrap_or_else(|| "the editor refused it".into());
                    outbox.message(Tone::Warning, format!("{label}: not applied: {why}"));
                }
                Ok(Err(error)) => outbox.message(Tone::Warning, format!("{label}: not applied: {error}")),
                Err(_) => tracing::warn!("{label}: the client did not say whether it was applied"),
            }
        });
    }

    /// Asks the client to open a file.
    pub fn show_document(&self, path: &std::path::Path) {
        let Some(request) = to_proto::show_document(path) else { return };
        let client = self.client.clone();
        self.runtime.spawn(async move {
            let _ = tokio::time::timeout(PATIENCE, client.show_document(request)).await;
        });
    }

    /// Asks the client to watch files.
    pub fn watch(&self, globs: &[&str]) {
        let (client, registration) = (self.client.clone(), to_proto::watchers(globs));
        self.runtime.spawn(async move {
            match tokio::time::timeout(PATIENCE, client.register_capability(vec![registration])).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!("the client does not watch files: {error}"),
                Err(_) => tracing::warn!("the client did not say whether it watches files"),
            }
        });
    }

    /// Asks for the client's settings; `then` hears them.
    pub fn settings(&self, then: impl FnOnce(Value) + Send + 'static) {
        let client = self.client.clone();
        self.runtime.spawn(async move {
            let asked = client.configuration(to_proto::settings_request(SECTION));
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Ok(sections)) => then(sections.into_iter().next().unwrap_or(Value::Null)),
                Ok(Err(error)) => tracing::warn!("the client's settings could not be read: {error}"),
                Err(_) => tracing::warn!("the client did not send its settings"),
            }
        });
    }

    /// Opens a display of a job's progress.
    pub fn progress(&self, job: u64, title: String) -> Progress {
        let (progress, follow) = Progress::new();
        let client = self.client.clone();
        self.runtime.spawn(async move {
            let created = client.create_work_done_progress(to_proto::progress_token(&token(job)));
            if matches!(tokio::time::timeout(PATIENCE, created).await, Ok(Ok(()))) {
                show_progress(&client, job, title, follow).await;
            }
        });
        progress
    }
}

/// Shows what `shown` says until its other end is dropped.
async fn show_progress(client: &Client, job: u64, title: String, mut shown: watch::Receiver<Shown>) {
    let send = |value| client.send_notification::<to_proto::ProgressNotice>(value);
    let first = shown.borrow_and_update().clone();
    send(to_proto::progress_begin(&token(job), title, &first)).await;
    while shown.changed().await.is_ok() {
        let now = shown.borrow_and_update().clone();
        send(to_proto::progress_report(&token(job), &now)).await;
    }
    send(to_proto::progress_end(&token(job))).await;
}

/// A request to refresh: idle, wanted or under way, or wanted again while under way.
#[derive(Default)]
struct Refresh(AtomicU8);

const IDLE: u8 = 0;
const UNDER_WAY: u8 = 1;
const AGAIN: u8 = 2;

impl Refresh {
    /// Whether the caller is to send one.
    fn begin(&self) -> bool {
        let next = |state| Some(if state == IDLE { UNDER_WAY } else { AGAIN });
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(IDLE)
    }

    fn under_way(&self) {
        self.0.store(UNDER_WAY, Ordering::SeqCst);
    }

    /// Whether another one was asked for; else it is idle now.
    fn again(&self) -> bool {
        self.0.compare_exchange(UNDER_WAY, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_err()
    }
}
