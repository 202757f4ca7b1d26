//! Settings while the server runs: the user's, which the client has, and the project's `kernel-scientist.toml`. Both are
//! picked up when they change, and a mistake is one message that names it and its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lab::benchmark::Benchmark;
use serde_json::Value;

use super::documents::Role;
use super::from_proto::{self, Abilities};
use super::outbox::{Refreshed, Tone};
use super::session::Session;
use super::settings::{SECTION, Settings};
use crate::cli::provider::{Provider, ProviderArgs};
use crate::config::{self, Config};

/// Files that settings, builds and forecasts depend on, as the client is asked to watch them.
pub const WATCHED: [&str; 4] =
    ["**/kernel-scientist.toml", "**/*.bench.toml", "**/compile_commands.json", "**/compile_flags.txt"];

/// How it is said that nobody goes by the name of a provider.
const NO_PROVIDER: &str = "there is no provider";

impl Session {
    /// The client has said what it can do, and with which settings it starts.
    pub fn begin(self: &Arc<Self>, abilities: Abilities, settings: &Value) {
        self.state().abilities = abilities;
        self.take_settings(settings);
    }

    /// The client is ready: it is asked for its settings if it has any, and to watch what is depended on.
    pub fn is_ready(self: &Arc<Self>) {
        if self.state().abilities.watches_files {
            self.outbox.watch(&WATCHED);
        }
        self.ask_settings();
    }

    fn ask_settings(self: &Arc<Self>) {
        if self.state().abilities.has_settings {
            let session = Arc::clone(self);
            self.outbox.settings(move |section| session.take_settings(&section));
        }
    }

    /// The client's settings changed. Some clients send them, others want to be asked.
    pub fn settings_changed(self: &Arc<Self>, sent: &Value) {
        if let Some(is_trusted) = from_proto::trust(sent) {
            self.trust(is_trusted);
        }
        match sent.get(SECTION) {
            Some(section) if !section.is_null() => self.take_settings(section),
            _ => self.ask_settings(),
        }
    }

    fn take_settings(self: &Arc<Self>, section: &Value) {
        let defaults = Settings { device: self.world.device.clone(), ..Settings::default() };
        let (settings, mut wrong) = Settings::read(section, defaults);
        self.world.log.set(settings.log);
        let (changed, forecasts) = {
            let mut state = self.state();
            let changed = *state.settings != settings;
            let forecasts = settings.forecasts;
            state.settings = Arc::new(settings);
            if changed {
                state.settings_are_new();
            }
            if !forecasts {
                state.forecasting.stop_all();
            }
            (changed, forecasts)
        };
        let provider = self.state().settings.provider.clone();
        // The rest of the name may stand in the project's settings; that there is no such provider is wrong with any.
        let mistake = provider.and_then(|provider| mistake_of_provider(Some(provider), &Config::default()));
        if let Some(why) = mistake.filter(|why| why.starts_with(NO_PROVIDER)) {
            wrong.push(format!("{SECTION}.provider: {why}"));
        }
        if !wrong.is_empty() {
            self.tell_once(format!("kernel-scientist: {}", wrong.join("; ")));
        }
        if changed {
            self.look_at_files();
            self.refresh(Refreshed::Hints);
            self.refresh(Refreshed::Lenses);
            if forecasts {
                self.forecast_all();
            }
        }
    }

    /// Files changed on the disk, whoever changed them.
    pub fn files_changed(self: &Arc<Self>, paths: &[PathBuf]) {
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let fixed = [config::FILE_NAME, "compile_commands.json", "compile_flags.txt"];
            fixed.contains(&name) || name.ends_with(Benchmark::ENDING)
        };
        if !paths.iter().any(is_ours) {
            return;
        }
        self.state().settings_are_new();
        self.look_at_files();
        self.forecast_all();
    }

    /// Finds out the devices and the benchmark files of the open documents, in the background; what is wrong with settings
    /// is told.
    fn look_at_files(self: &Arc<Self>) {
        let session = Arc::clone(self);
        self.outbox.runtime().spawn_blocking(move || {
            let sources: Vec<_> = {
                let state = session.state();
                let sources = state.documents.iter().filter(|(_, document)| document.role == Role::Source);
                sources.map(|(uri, document)| (uri.clone(), document.path.clone())).collect()
            };
            for (uri, path) in sources {
                session.device_of(&path);
                let is_fed = Benchmark::path_for(&path).is_file();
                session.state().note_benchmark_file(&uri, is_fed);
                session.refresh_where_changed(&uri);
            }
        });
    }

    /// Tells what is wrong with the provider for a source, before an evolution asks for it.
    pub(super) fn check_provider(&self, path: &Path, config: &Config) {
        let named = self.state().settings.provider.clone();
        let by_user = named.is_some();
        let Some(why) = mistake_of_provider(named, config) else { return };
        match by_user {
            // That was said when it was set.
            true if why.starts_with(NO_PROVIDER) => {}
            true => self.tell_once(format!("kernel-scientist: {SECTION}.provider: {why}")),
            false => self.tell_once(format!("{} for {}: {why}", config::FILE_NAME, path.display())),
        }
    }

    /// The settings file that holds for a source; `None` where it has a mistake, which is told once.
    pub(super) fn config_of(self: &Arc<Self>, path: &Path) -> Option<Config> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        match Config::load(self.world.config.as_deref(), folder) {
            Ok(config) => Some(config),
            Err(error) => {
                self.tell_once(error.to_string());
                None
            }
        }
    }

    /// Shows a message on settings unless it was shown since they last changed.
    pub(super) fn tell_once(&self, message: String) {
        if self.state().is_new(&message) {
            self.outbox.message(Tone::Warning, message);
        }
    }
}

/// Why no provider can be made of what the user and the project name.
fn mistake_of_provider(provider: Option<String>, config: &Config) -> Option<String> {
    let args = ProviderArgs { provider, ..ProviderArgs::default() };
    Provider::choose(&args, config).err().map(|error| error.to_string())
}
