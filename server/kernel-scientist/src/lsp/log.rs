//! The log: a file, and the client's own log. Its level is a setting and can change while the server runs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::log_file::LogFile;
use super::outbox::{Outbox, Tone};
use super::settings::LogLevel;
use crate::cli::report::moment;

/// Bytes of a log file; there are two at most.
const LARGEST_FILE: u64 = 5 << 20;

/// What goes to the log.
#[derive(Clone, Debug)]
pub struct Level(Arc<AtomicU8>);

impl Default for Level {
    fn default() -> Self {
        Self(Arc::new(AtomicU8::new(LogLevel::Info as u8)))
    }
}

impl Level {
    /// Sets it.
    pub fn set(&self, level: LogLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    fn lets_through(&self, level: tracing::Level) -> bool {
        rank(level) <= self.0.load(Ordering::Relaxed)
    }
}

fn rank(level: tracing::Level) -> u8 {
    match level {
        tracing::Level::ERROR => LogLevel::Error as u8,
        tracing::Level::WARN => LogLevel::Warn as u8,
        tracing::Level::INFO => LogLevel::Info as u8,
        tracing::Level::DEBUG => LogLevel::Debug as u8,
        tracing::Level::TRACE => LogLevel::Trace as u8,
    }
}

/// The client of this process, as soon as there is one.
pub type ToClient = Arc<OnceLock<Outbox>>;

/// Sends the log of this process to a file in `folder` and to the client. Without a file it goes to the client alone.
pub fn start(folder: &Path, level: &Level, client: &ToClient) {
    let open = || LogFile::open(folder.join("lsp.log"), LARGEST_FILE);
    let file = std::fs::create_dir_all(folder).and_then(|()| open());
    let both = Both { level: level.clone(), file: file.ok().map(Mutex::new), client: Arc::clone(client) };
    // In tests several servers share a process; the first one's log stays.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(both));
}

struct Both {
    level: Level,
    file: Option<Mutex<LogFile>>,
    client: ToClient,
}

impl<S: Subscriber> Layer<S> for Both {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // The protocol's own library reports each message it sends; sending that would never end.
        let is_ours = !metadata.target().starts_with("tower_lsp");
        (is_ours || *metadata.level() <= tracing::Level::WARN) && self.level.lets_through(*metadata.level())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        let level = *event.metadata().level();
        if let Some(file) = &self.file {
            let now =
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.as_millis());
            let text = format!("{} {} {level} {}\n", moment::utc(now as i64), std::process::id(), line.0);
            // A full disk must not stop the server.
            let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write(&text);
        }
        if let (Some(client), false) = (self.client.get(), event.metadata().target().starts_with("tower_lsp")) {
            let tone = match level {
                tracing::Level::ERROR => Tone::Error,
                tracing::Level::WARN => Tone::Warning,
                tracing::Level::INFO => Tone::Info,
                _ => Tone::Log,
            };
            client.log(tone, line.0);
        }
    }
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
