//! `kernel-scientist lsp`: the language server.
//!
//! It serves kernels beside clangd and repeats nothing that clangd does. Handlers (`server`) take a [`view`] of a document
//! and hand it to a feature, one file each; features know no protocol. What takes time runs as a job (`work`) or in the
//! background and comes back to the [`session`] as an event.
//!
//! House rules, each kept by a test:
//! - A document changes before the handler's first await, so changes are never out of order.
//! - No request waits for a build, a run or a model; requests to the client are sent from tasks of their own, with a limit.
//! - A panic costs one answer. The end of input ends the server and all that runs, within a second.
//! - Old hints move along with the text while it is edited; none is shown where its place was edited away.

mod analysis;
mod applying;
mod background;
mod code_actions;
mod code_lens;
mod commands;
mod configuration;
mod diagnostics;
mod documents;
mod editing;
mod edits;
mod execute;
mod findings;
mod forecasting;
mod forecasts;
mod frames;
mod from_proto;
mod guards;
mod history;
mod hover;
mod inlay_hints;
mod jobs;
mod keys;
mod known_time;
mod log;
mod log_file;
mod machine_code;
mod markdown;
mod memory;
mod model_provider;
mod models;
mod offers;
mod outbox;
mod outcome;
mod outcomes;
mod pace;
mod panel;
mod plan;
mod progress;
mod proposals;
mod prospects;
mod protocol;
mod server;
mod session;
mod settings;
mod shown;
mod status;
mod stdio;
mod suggestions;
#[cfg(test)]
mod tests;
mod to_proto;
mod trust;
mod view;
mod work;
mod workspace_kernels;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{CliError, Context};
use crate::devices;
use session::{Session, World};

/// Messages that are worked on at once. Most are over in a moment; a client that never answers must not use them up.
const CONCURRENCY: usize = 256;
/// How long the end waits for jobs to end, which takes them milliseconds.
const FAREWELL: Duration = Duration::from_millis(800);

/// Arguments of `lsp`.
#[derive(Debug, clap::Args)]
pub struct LspArgs {
    /// Speak over standard input and output; there is no other way, and editors like to say so.
    #[arg(long)]
    stdio: bool,
}

/// Runs the command: serves until the client says `exit`, goes away, or a signal comes.
pub fn run(context: &Context, _: &LspArgs) -> Result<(), CliError> {
    let world = World {
        cache: context.cache.clone(),
        notebook: context.notebook_path()?,
        log: log::Level::default(),
        config: context.config_path().map(Path::to_path_buf),
        device: std::env::var(devices::VARIABLE).unwrap_or_else(|_| devices::DEFAULT.to_owned()),
    };
    let failed = |error| CliError::Usage(format!("the server cannot start: {error}"));
    let ends = stdio::AsFound::look();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    let was_shut_down = runtime.block_on(async {
        let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let stop = async move {
            tokio::select! { _ = terminated.recv() => {}, _ = interrupted.recv() => {} }
        };
        // A task of the runtime's threads, so that the one that hears of a message works on it.
        tokio::spawn(serve(stdio::input(), stdio::output(), world, stop)).await.map_err(std::io::Error::other)
    });
    ends.put_back();
    // A thread that reads standard input cannot be stopped, so the runtime is not waited for.
    std::process::exit(i32::from(!was_shut_down.map_err(failed)?));
}

/// Serves one client over `input` and `output` until it says `exit`, its input ends, or `stop` is done. When this returns
/// every job and its processes have ended. Says whether the client asked to shut down first.
pub async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite,
    world: World,
    stop: impl Future<Output = ()>,
) -> bool {
    serve_and(input, output, world, stop, |_| memory::keep_little()).await
}

/// As [`serve`], and shows its session to `look` before the first message.
async fn serve_and(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite,
    world: World,
    stop: impl Future<Output = ()>,
    look: impl FnOnce(&Arc<Session>),
) -> bool {
    let to_client = log::ToClient::default();
    log::start(&world.cache, &world.log, &to_client);
    let (service, socket, session) = server::service(world);
    look(&session);
    // Set once, here.
    let _ = to_client.set(session.outbox.clone());
    let (input, is_over) = guards::Watched::new(input);
    let (messages, reading) = frames::readable(input);
    let server = tower_lsp::Server::new(messages, output, socket).concurrency_level(CONCURRENCY);
    tokio::select! {
        () = server.serve(guards::CatchPanic(service)) => {}
        // The server ends with its input; reading alone says nothing.
        () = async { reading.await; std::future::pending().await } => {}
        _ = is_over => {}
        () = stop => {}
    }
    say_farewell(&session).await
}

async fn say_farewell(session: &Arc<Session>) -> bool {
    let was_shut_down = session.is_over();
    session.stop_all();
    let deadline = Instant::now() + FAREWELL;
    while !session.is_idle() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    was_shut_down
}
