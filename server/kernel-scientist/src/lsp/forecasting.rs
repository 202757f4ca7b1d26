//! Forecasts in the background: after typing stops, one a document, of the newest text only.
//!
//! An edit ends what is under way, processes included. While a job takes times on this machine nothing is forecast: the two
//! would time each other.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hip_syntax::{Splice, Syntax};
use lab::benchmark::Benchmark;
use lab::workbench::Workbench;
use lab::{Cancel, Failure, LabError, Source};

use super::documents::Role;
use super::execute::name_of;
use super::findings;
use super::forecasts::{FileForecast, Shown, Wanted};
use super::guards::in_words;
use super::progress::Progress;
use super::session::{Event, Session};
use super::work::BUILDING;
use crate::devices;
use crate::forecasts::may_pass;

/// How long the user must have paused.
const PAUSE: Duration = Duration::from_millis(800);

/// The number that no job has.
const OF_NO_JOB: u64 = 0;

/// What is under way on a document.
#[derive(Debug)]
pub struct UnderWay {
    cancel: Cancel,
    /// Of its own kind, so that an end is not taken for that of a later one.
    number: u64,
}

/// What was forecast of a document last, and of what.
#[derive(Debug, Default)]
pub struct Known {
    /// The forecast, while there is one.
    pub shown: Option<Shown>,
    /// Why the newest text has none; `None` where it has one, or nobody knows yet.
    pub failure: Option<String>,
    /// Hash of what the newest attempt was made of.
    of: Option<u64>,
}

/// The forecasts of a session, by document.
#[derive(Debug, Default)]
pub struct Forecasting {
    under_way: HashMap<String, UnderWay>,
    known: HashMap<String, Known>,
    /// Threads that are in the lab at this moment.
    working: usize,
    last: u64,
}

impl Forecasting {
    /// What is known of a document.
    pub fn of(&self, uri: &str) -> Option<&Known> {
        self.known.get(uri)
    }

    /// A document was edited: its marks move along, and what is under way is out of date.
    pub fn edited(&mut self, uri: &str, splices: &[Splice]) {
        self.stop(uri);
        let Some(known) = self.known.get_mut(uri) else { return };
        let lost = known.shown.as_mut().is_some_and(|shown| splices.iter().any(|splice| shown.carry(splice)));
        if lost {
            // Where the edit is undone its marks are to come back.
            known.of = None;
        }
    }

    /// Ends what is under way on a document.
    fn stop(&mut self, uri: &str) {
        if let Some(under_way) = self.under_way.remove(uri) {
            under_way.cancel.cancel();
        }
    }

    /// Ends all of it.
    pub fn stop_all(&mut self) {
        self.under_way.drain().for_each(|(_, under_way)| under_way.cancel.cancel());
    }

    /// A document was closed.
    pub fn forget(&mut self, uri: &str) {
        self.stop(uri);
        self.known.remove(uri);
    }

    /// Files or settings have changed that forecasts depend on: every document's is to be made again.
    pub fn doubt(&mut self) {
        self.stop_all();
        self.known.values_mut().for_each(|known| known.of = None);
    }

    /// Nothing runs.
    pub fn is_idle(&self) -> bool {
        self.working == 0
    }

    /// `None` where it is under way: an edit would have ended that.
    fn begin(&mut self, uri: &str) -> Option<(u64, Cancel)> {
        if self.under_way.contains_key(uri) {
            return None;
        }
        self.last += 1;
        let cancel = Cancel::new();
        self.under_way.insert(uri.to_owned(), UnderWay { cancel: cancel.clone(), number: self.last });
        Some((self.last, cancel))
    }

    /// Keeps what an attempt came to.
    fn learn(&mut self, uri: &str, made: Made) {
        let known = self.known.entry(uri.to_owned()).or_default();
        known.of = Some(made.of);
        match made.forecast {
            Ok(forecast) => {
                known.shown = Some(Shown::new(forecast));
                known.failure = None;
            }
            Err(error) => {
                if may_pass(&error) {
                    known.of = None;
                }
                known.failure = Some(error.to_string());
            }
        }
    }

    /// Whether it is the one that is under way; then it is so no longer.
    fn end(&mut self, uri: &str, number: u64) -> bool {
        let is_it = self.under_way.get(uri).is_some_and(|under_way| under_way.number == number);
        if is_it {
            self.under_way.remove(uri);
        }
        is_it
    }
}

/// What an attempt came to.
pub struct Made {
    /// Which attempt.
    pub number: u64,
    /// Hash of what it was made of.
    pub of: u64,
    /// The text that it is of.
    pub text: Arc<str>,
    /// The forecast, or why there is none.
    pub forecast: Result<FileForecast, LabError>,
}

/// What an attempt is made with.
struct Attempt {
    source: Source,
    wanted: Wanted,
    of: u64,
}

impl Session {
    /// Forecasts a document once the user has paused, unless that was done.
    pub(super) fn forecast_after_a_pause(self: &Arc<Self>, uri: &str) {
        let (number, cancel) = {
            let mut state = self.state();
            if !state.settings.forecasts || !state.is_trusted() || state.is_over {
                return;
            }
            let Some(begun) = state.forecasting.begin(uri) else { return };
            begun
        };
        let (session, uri) = (Arc::clone(self), uri.to_owned());
        self.outbox.runtime().spawn(async move {
            tokio::time::sleep(PAUSE).await;
            // One at a time: a laptop has other things to do.
            let _turn = session.turns.forecasting.lock().await;
            let forecasts = Arc::clone(&session);
            let work = move || {
                if cancel.is_cancelled() || !forecasts.forecast(&uri, number, &cancel) {
                    forecasts.state().forecasting.end(&uri, number);
                }
            };
            // It says itself what went wrong.
            let _ = tokio::task::spawn_blocking(work).await;
        });
    }

    /// Forecasts every open document again that needs it.
    pub(super) fn forecast_all(self: &Arc<Self>) {
        let uris: Vec<String> = {
            let state = self.state();
            let sources = state.documents.iter().filter(|(_, document)| document.role == Role::Source);
            sources.map(|(uri, _)| uri.clone()).collect()
        };
        uris.iter().for_each(|uri| self.forecast_after_a_pause(uri));
    }

    /// Says whether there is an end to come, as an event.
    fn forecast(self: &Arc<Self>, uri: &str, number: u64, cancel: &Cancel) -> bool {
        let Some(attempt) = self.attempt(uri, cancel) else { return false };
        self.state().forecasting.working += 1;
        let began = Instant::now();
        let building = self.tell_of_building(&attempt.wanted);
        let made = std::panic::catch_unwind(AssertUnwindSafe(|| attempt.wanted.make()));
        drop(building);
        super::memory::give_back();
        self.state().forecasting.working -= 1;
        let forecast = match made {
            Ok(Err(LabError::Cancelled)) => return false,
            Ok(made) => made,
            // The same text would end it again.
            Err(panic) => Err(LabError::Usage(format!("a mistake in this program ended it: {}", in_words(&*panic)))),
        };
        let path = attempt.source.path.display();
        match &forecast {
            Ok(_) => tracing::debug!("{path} was forecast in {:.1} s", began.elapsed().as_secs_f64()),
            Err(why) => tracing::info!("{path} has no forecast: {why}"),
        }
        let made = Made { number, of: attempt.of, text: attempt.source.text, forecast };
        self.apply(Event::Forecast { uri: uri.to_owned(), made: Box::new(made) });
        true
    }

    /// Shows that the runtime is built first, where it is: whoever waits for a forecast then waits for a minute or two.
    fn tell_of_building(&self, wanted: &Wanted) -> Option<Progress> {
        if Workbench::is_ready(&wanted.device, &wanted.cache, &wanted.cancel) {
            return None;
        }
        tracing::info!("{BUILDING}");
        self.state().abilities.shows_progress.then(|| {
            let progress = self.outbox.progress(OF_NO_JOB, format!("Forecast {}", name_of(&wanted.source.path)));
            progress.report(None, BUILDING);
            progress
        })
    }

    /// What is to be forecast; `None` where nothing is: half-typed text, text without kernels, or what is known already.
    fn attempt(self: &Arc<Self>, uri: &str, cancel: &Cancel) -> Option<Attempt> {
        let (source, analysis, settings) = {
            let state = self.state();
            let document = state.documents.get(uri).filter(|document| document.is_read())?;
            let analysis = Arc::clone(document.analysis()?);
            if analysis.kernels.is_empty() || !analysis.is_whole() || state.jobs.is_measuring() {
                return None;
            }
            (Source::new(document.path.clone(), Arc::clone(&analysis.text)), analysis, Arc::clone(&state.settings))
        };
        let device = self.device_of(&source.path)?;
        let device = if lab::forecast::is_device(&device) { device } else { devices::DEFAULT.to_owned() };
        let of = hash(&source, &device);
        let before = {
            let state = self.state();
            let known = state.forecasting.known.get(uri);
            if known.is_some_and(|known| known.of == Some(of)) {
                return None;
            }
            // An edit since would have ended this attempt, and its marks would stand elsewhere.
            known.and_then(|known| known.shown.clone()).filter(|_| !cancel.is_cancelled())
        };
        let wanted = Wanted {
            source: source.clone(),
            analysis,
            device,
            cache: self.world.cache.clone(),
            timeout: Duration::from_secs_f64(settings.timeout_seconds),
            memory_bytes: settings.memory_mib << 20,
            before,
            cancel: cancel.clone(),
            ending: self.ending.clone(),
        };
        Some(Attempt { source, wanted, of })
    }

    pub(super) fn was_forecast(self: &Arc<Self>, uri: &str, made: Made) {
        let text = Arc::clone(&made.text);
        let failure = match &made.forecast {
            Ok(_) => Some(None),
            Err(LabError::Code(failure @ Failure::DoesNotCompile { .. })) => Some(Some(failure.clone())),
            // It builds, and fails when it runs; or nobody knows whether it would build.
            Err(_) => None,
        };
        let path = {
            let mut state = self.state();
            let path = state.documents.get(uri).map(|document| document.path.clone());
            // An edit since, or a newer attempt, has ended this one.
            let Some(path) = path.filter(|_| state.forecasting.end(uri, made.number)) else { return };
            state.forecasting.learn(uri, made);
            path
        };
        if let Some(failure) = failure {
            let failure = failure.and_then(|failure| findings::of_the_text(&failure, &path));
            self.was_built(uri, &text, failure.as_ref());
        }
        self.refresh_where_changed(uri);
    }

    /// Finds out the device of a file, unless that is known.
    pub(super) fn find_device(self: &Arc<Self>, path: &Path) {
        if !self.state().devices.contains_key(path) {
            self.device_of(path);
        }
    }

    /// The lab's name of the device for a file, by the user's settings and the file's; `None` where there is none. What is
    /// wrong with them is told once.
    pub(super) fn device_of(self: &Arc<Self>, path: &Path) -> Option<String> {
        let config = self.config_of(path)?;
        self.check_provider(path, &config);
        let wanted = self.state().settings.device.clone();
        match devices::find(&config, &wanted) {
            Ok(device) => {
                self.state().devices.insert(path.to_path_buf(), device.clone());
                Some(device)
            }
            Err(error) => {
                self.tell_once(format!("kernelScientist.device: {error}"));
                None
            }
        }
    }
}

/// Of all that a forecast is made of, as far as it is in files that an editor shows. Comments and blanks are not.
fn hash(source: &Source, device: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let benchmark: PathBuf = Benchmark::path_for(&source.path);
    let code = Syntax::without_tree(Arc::clone(&source.text)).fingerprint().resting_on(source.headers());
    (code, device, lab::settings_text::read(&benchmark).ok()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::CPU;

    /// What fails by the machine is tried again when there is an occasion; what fails by its text is not.
    #[test]
    fn an_attempt_that_the_machine_failed_is_made_again() {
        let full = || LabError::io("writing", "/cache/x")(std::io::Error::other("no space left on device"));
        let wrong = || LabError::Usage("the benchmark file has no shape".into());
        for (error, is_known) in [(full(), false), (wrong(), true), (LabError::Unavailable("no clang".into()), false)] {
            let mut forecasting = Forecasting::default();
            let (number, _) = forecasting.begin("a").unwrap();
            assert!(forecasting.end("a", number));
            let why = error.to_string();
            forecasting.learn("a", Made { number, of: 17, text: "".into(), forecast: Err(error) });
            let known = forecasting.of("a").unwrap();
            assert_eq!((known.failure.as_ref(), known.of == Some(17)), (Some(&why), is_known), "{why}");
            assert!(forecasting.begin("a").is_some(), "nothing is under way");
        }
    }

    #[test]
    fn a_pipe_in_the_place_of_a_benchmark_file_holds_nothing_up() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::new(folder.path().join("a.hip"), "__global__ void k() {}");
        let without = hash(&source, CPU);
        let made = std::process::Command::new("mkfifo").arg(Benchmark::path_for(&source.path)).status();
        assert!(made.unwrap().success());
        assert_eq!(hash(&source, CPU), without);
    }
}
