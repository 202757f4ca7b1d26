//! A scripted lab and scripted stages: every answer follows from the texts and the seeds, so that two runs with the same
//! script are the same, and a test can say what must come out.
//!
//! A version's text is a list of lines; a line `+key` says that the change `key` was made. [`World::effects`] says what
//! each change does to the speed of each shape.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::forecast::Basis;
use lab::sanitize::Fault;
use lab::workbench::{Sampling, ShapeChoice};
use lab::{
    Cancel, Comparison, Failure, Figure, KernelTiming, LabError, ShapeComparison, SpeedRatio, TimeReport, Verdict,
};
use notebook::Notebook;
use scientist::budget::{Budget, Clock};
use scientist::evaluation::Evaluator;
use scientist::evolution::event::{Event, Finished};
use scientist::evolution::{Ended, Evolution, Stages};
use scientist::run::{RunError, RunRequest, Settings};
use scientist::stages::{
    Design, DesignBrief, Designer, Draft, GainRange, Hypothesis, Population, RepairBrief, Selection, Selector, Setting,
    StageError, WriteBrief, Writer,
};

pub const ORIGINAL: &str = "__global__ void k() {}";

/// Name of each shape, and whether it is held out.
pub const SHAPES: [(&str, bool); 3] = [("n=64", false), ("n=4096", false), ("n=1000", true)];

/// What a change does.
#[derive(Clone)]
pub enum Effect {
    /// Speed ratio at each shape.
    Speed([f64; 3]),
    /// The code fails, at building if it does not compile, else at running.
    Fails(Failure),
}

/// A plan that the designer offers.
#[derive(Clone)]
pub struct Offer {
    pub key: &'static str,
    pub gain: (f64, f64),
    pub innovation: u8,
    /// What is appended to the text for each draft; by default `+key`.
    pub drafts: Vec<String>,
}

pub fn offer(key: &'static str, innovation: u8, min: f64, max: f64) -> Offer {
    Offer { key, gain: (min, max), innovation, drafts: vec![format!("+{key}")] }
}

/// What happens when a call is made.
pub type Interfere = Arc<dyn Fn(&str, usize) -> Option<LabError> + Send + Sync>;

/// The scripted world, with all that it was asked.
pub struct World {
    pub effects: HashMap<String, Effect>,
    pub offers: Vec<Offer>,
    /// Amplitude of the noise on a ratio, by seed; the interval is as wide.
    pub noise: f64,
    /// Additional luck of a text while it is searched, which a confirmation does not see.
    pub luck: HashMap<String, f64>,
    pub disturb: bool,
    /// Whether a comparison reports held-out shapes that nobody asked for.
    pub leaks: bool,
    /// Times are forecast, not measured.
    pub forecasts: bool,
    /// Asked at every call: its kind and its number.
    pub interfere: Mutex<Option<Interfere>>,
    pub calls: Mutex<Vec<String>>,
    pub briefs: Mutex<Vec<String>>,
    ticks: AtomicUsize,
    timing: AtomicUsize,
    building: AtomicUsize,
    pub most_building: AtomicUsize,
    /// Whether the writer is asked for several plans at once.
    pub writes_side_by_side: bool,
    /// Whether the writer mends drafts that fail.
    pub mends: bool,
    /// Whether a build waits until another runs beside it.
    pub builds_wait_to_meet: bool,
    pub seeds: Mutex<Vec<(u64, ShapeChoice)>>,
    pub budgets: Mutex<Vec<Duration>>,
    pub millis: Arc<AtomicU64>,
}

impl World {
    pub fn new(offers: Vec<Offer>, effects: &[(&str, [f64; 3])]) -> Self {
        Self {
            effects: effects.iter().map(|(key, speed)| ((*key).to_owned(), Effect::Speed(*speed))).collect(),
            offers,
            noise: 0.002,
            luck: HashMap::new(),
            disturb: true,
            leaks: false,
            forecasts: false,
            interfere: Mutex::new(None),
            calls: Mutex::default(),
            briefs: Mutex::default(),
            ticks: AtomicUsize::new(0),
            timing: AtomicUsize::new(0),
            building: AtomicUsize::new(0),
            most_building: AtomicUsize::new(0),
            writes_side_by_side: false,
            mends: false,
            builds_wait_to_meet: false,
            seeds: Mutex::default(),
            budgets: Mutex::default(),
            millis: Arc::default(),
        }
    }

    pub fn failing(mut self, key: &str, failure: Failure) -> Self {
        self.effects.insert(key.to_owned(), Effect::Fails(failure));
        self
    }

    pub fn interfere(&self, with: impl Fn(&str, usize) -> Option<LabError> + Send + Sync + 'static) {
        self.ticks.store(0, Ordering::SeqCst);
        *locked(&self.interfere) = Some(Arc::new(with));
    }

    pub fn leave_alone(&self) {
        *locked(&self.interfere) = None;
    }

    /// Counts a call, and lets the test stop the world there.
    pub fn tick(&self, kind: &str) -> Result<(), LabError> {
        let number = self.ticks.fetch_add(1, Ordering::SeqCst);
        // Taken out of the lock: calls come from several threads, and some never return.
        let interference = locked(&self.interfere).clone();
        match interference.and_then(|interfere| interfere(kind, number)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    pub fn ticks(&self) -> usize {
        self.ticks.load(Ordering::SeqCst)
    }

    pub fn count(&self, kind: &str) -> usize {
        locked(&self.calls).iter().filter(|call| call.starts_with(kind)).count()
    }

    fn call(&self, what: String) {
        locked(&self.calls).push(what);
    }

    fn stage(&self, kind: &str) -> Result<(), StageError> {
        self.tick(kind).map_err(|error| match error {
            LabError::Unavailable(message) => StageError::Unavailable(message),
            LabError::Cancelled => StageError::Cancelled,
            other => StageError::Unusable(other.to_string()),
        })?;
        self.call(kind.to_owned());
        Ok(())
    }

    pub fn clock(&self) -> Clock {
        let millis = Arc::clone(&self.millis);
        Arc::new(move || Duration::from_millis(millis.load(Ordering::SeqCst)))
    }

    /// Speed of a text at each shape, or how it fails.
    fn speed(&self, text: &str) -> Result<[f64; 3], Failure> {
        let mut speed = [1.0; 3];
        for key in text.lines().filter_map(|line| line.trim().strip_prefix('+')) {
            match self.effects.get(key) {
                Some(Effect::Speed(factors)) => speed.iter_mut().zip(factors).for_each(|(s, factor)| *s *= factor),
                Some(Effect::Fails(failure)) => return Err(failure.clone()),
                None => panic!("the script says nothing of `{key}`"),
            }
        }
        Ok(speed)
    }
}

/// A killed run may have held any lock.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// -1 to 1, from a seed.
fn noise(seed: u64) -> f64 {
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn figure(median_ns: f64) -> Figure {
    Figure { median_ns, low_ns: median_ns * 0.99, high_ns: median_ns * 1.01, samples: vec![median_ns; 3] }
}

/// What scripted forecasts rest on.
fn basis() -> Basis {
    Basis {
        device: "scripted".into(),
        title: "SCRIPT".into(),
        model: "1".into(),
        table: "t".into(),
        validated_on: "H200".into(),
        of_this_device: false,
        odds: None,
    }
}

fn verdict(speed: &SpeedRatio) -> Verdict {
    match speed {
        SpeedRatio { low, .. } if *low > 1.01 => Verdict::Faster,
        SpeedRatio { high, .. } if *high < 0.99 => Verdict::Slower,
        SpeedRatio { low, high, .. } if *low > 0.99 && *high < 1.01 => Verdict::Same,
        _ => Verdict::Inconclusive,
    }
}

/// Counts who is inside, and takes itself out again.
struct Inside<'a>(&'a AtomicUsize);

impl<'a> Inside<'a> {
    fn enter(counter: &'a AtomicUsize, most: Option<&AtomicUsize>) -> (Self, usize) {
        let now = counter.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(most) = most {
            most.fetch_max(now, Ordering::SeqCst);
        }
        (Self(counter), now)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Evaluator for World {
    type Build = String;

    fn device(&self) -> &str {
        "scripted"
    }

    fn builds_disturb_timing(&self) -> bool {
        self.disturb
    }

    fn forecasts(&self) -> bool {
        self.forecasts
    }

    fn build(&self, text: &str, _: &Cancel) -> Result<String, LabError> {
        let (_inside, _) = Inside::enter(&self.building, Some(&self.most_building));
        assert!(!self.disturb || self.timing.load(Ordering::SeqCst) == 0, "built while something was timed");
        self.tick(&format!("build {text}"))?;
        self.call(format!("build {text}"));
        let began = Instant::now();
        // The original is built alone. However busy the machine is, two drafts have the time to meet.
        while self.builds_wait_to_meet
            && text.contains('+')
            && self.most_building.load(Ordering::SeqCst) < 2
            && began.elapsed() < Duration::from_secs(10)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        match self.speed(text) {
            Err(failure @ Failure::DoesNotCompile { .. }) => Err(failure.into()),
            _ => Ok(text.to_owned()),
        }
    }

    fn compare(
        &self,
        baseline: &String,
        candidate: &String,
        sampling: &Sampling,
        _: &Cancel,
    ) -> Result<Comparison, LabError> {
        let (_inside, at_once) = Inside::enter(&self.timing, None);
        assert_eq!(at_once, 1, "two timings at once");
        self.tick(&format!("compare {candidate}"))?;
        self.call(format!("compare {:?} {candidate}", sampling.shapes));
        locked(&self.seeds).push((sampling.seed, sampling.shapes));
        locked(&self.budgets).push(sampling.budget);
        self.millis.fetch_add(sampling.budget.as_millis() as u64, Ordering::SeqCst);
        let before = self.speed(baseline).expect("the baseline ran before");
        let after = self.speed(candidate)?;
        let luck = match sampling.shapes {
            ShapeChoice::Shown => self.luck.get(candidate.as_str()).copied().unwrap_or(1.0),
            _ => 1.0,
        };
        let mut shapes = Vec::new();
        for (index, (shape, held_out)) in SHAPES.into_iter().enumerate() {
            if held_out && sampling.shapes == ShapeChoice::Shown && !self.leaks {
                continue;
            }
            let wobble = 1.0 + self.noise * noise(sampling.seed ^ index as u64);
            let ratio = after[index] / before[index] * luck * wobble;
            let speed = SpeedRatio { ratio, low: ratio * (1.0 - self.noise), high: ratio * (1.0 + self.noise) };
            shapes.push(ShapeComparison {
                shape: shape.into(),
                held_out,
                baseline: figure(1000.0 / before[index]),
                candidate: figure(1000.0 / before[index] / ratio),
                speed,
                verdict: verdict(&speed),
            });
        }
        let mean = |pick: fn(&SpeedRatio) -> f64| {
            (shapes.iter().map(|shape| pick(&shape.speed).ln()).sum::<f64>() / shapes.len() as f64).exp()
        };
        let speed = SpeedRatio { ratio: mean(|s| s.ratio), low: mean(|s| s.low), high: mean(|s| s.high) };
        Ok(Comparison {
            device: "scripted".into(),
            device_note: "not a time at all".into(),
            toolchain: "script 1".into(),
            seed: sampling.seed,
            verdict: verdict(&speed),
            shapes,
            speed,
            forecast: self.forecasts.then(basis),
        })
    }

    fn faults(&self, text: &str, _: &Failure, _: &Cancel) -> Vec<Fault> {
        assert!(!self.disturb || self.timing.load(Ordering::SeqCst) == 0, "sanitized while something was timed");
        let message = format!("a race in {}", text.lines().last().unwrap_or_default());
        let (kernel, at, other, block) = (None, None, None, None);
        vec![Fault { kind: "race".into(), message, kernel, at, other, block, work_items: Vec::new(), times: 1 }]
    }

    fn time(&self, build: &String, sampling: &Sampling, _: &Cancel) -> Result<TimeReport, LabError> {
        self.tick("time")?;
        self.call(format!("time {build}"));
        assert_eq!(sampling.shapes, ShapeChoice::Shown);
        let speed = self.speed(build)?;
        let shown = SHAPES.into_iter().zip(speed).filter(|((_, held_out), _)| !held_out);
        let timing = |((shape, _), speed): ((&str, bool), f64)| KernelTiming {
            name: "k".into(),
            // Named otherwise than in a comparison, as a program's launches are.
            shape: format!("grid for {shape}"),
            figure: figure(1000.0 / speed),
        };
        Ok(TimeReport {
            device: "scripted".into(),
            device_note: "not a time at all".into(),
            toolchain: "script 1".into(),
            kernels: shown.map(timing).collect(),
            output: String::new(),
            forecast: None,
        })
    }
}

/// Chooses the fastest version.
pub struct Fastest<'w>(pub &'w World);

impl Selector for Fastest<'_> {
    fn select(&mut self, population: &Population, _: Option<&str>, _: &Cancel) -> Result<Selection, StageError> {
        self.0.stage("select")?;
        locked(&self.0.briefs).push(format!("{population:?}"));
        let speed = |member: &scientist::stages::Member| member.against_original.map_or(1.0, |speed| speed.ratio);
        let runs = population.members.iter().filter(|member| member.failure.is_none());
        let base = runs.max_by(|a, b| speed(a).total_cmp(&speed(b)).then(b.id.cmp(&a.id))).unwrap().id;
        Ok(Selection { base, reference: 0, reason: "the fastest".into() })
    }
}

/// Offers what was not tried from the base and is not in it.
pub struct Offers<'w>(pub &'w World);

impl Designer for Offers<'_> {
    fn design(&mut self, brief: &DesignBrief<'_>, _: &Cancel) -> Result<Design, StageError> {
        self.0.stage("design")?;
        locked(&self.0.briefs).push(format!("{brief:?}"));
        let open = self
            .0
            .offers
            .iter()
            .filter(|offer| !brief.base.steps.iter().chain(brief.tried).any(|key| key == offer.key));
        let plans = open.map(|offer| Hypothesis {
            key: offer.key.into(),
            kernel: "k".into(),
            title: format!("Try {}", offer.key),
            reason: "the script says so".into(),
            source: "the script".into(),
            rubric: offer.drafts.join("|"),
            line: 1,
            gain: GainRange { min_percent: offer.gain.0, max_percent: offer.gain.1 },
            innovation: offer.innovation,
            author: None,
            present: Vec::new(),
            left_out: Vec::new(),
        });
        Ok(Design { avenues: vec!["the script's".into()], plans: plans.collect() })
    }
}

/// The values that a line `+name=4` gives.
fn values_of(line: &str) -> Vec<Setting> {
    let parts = line.strip_prefix('+').and_then(|rest| rest.split_once('='));
    let setting = parts.and_then(|(name, value)| Some(Setting { name: name.into(), value: value.parse().ok()? }));
    setting.into_iter().collect()
}

/// Appends what the rubric says.
pub struct Appends<'w>(pub &'w World);

impl Writer for Appends<'_> {
    fn answers_at_once(&self) -> bool {
        !self.0.writes_side_by_side
    }

    fn mends(&self) -> bool {
        self.0.mends
    }

    fn repair(&self, brief: &RepairBrief<'_>, _: &Cancel) -> Result<Option<Draft>, StageError> {
        self.0.stage(&format!("repair {}", brief.write.plan.key))?;
        locked(&self.0.briefs).push(format!("{brief:?}"));
        let text = format!("{}\n+mended {}", brief.write.base.text, brief.write.plan.key);
        Ok(Some(Draft { text, report: "mended".into(), settings: Vec::new() }))
    }

    fn write(&self, brief: &WriteBrief<'_>, _: &Cancel) -> Result<Vec<Draft>, StageError> {
        // So that whatever interferes may tell the plans apart.
        self.0.stage(&format!("write {}", brief.plan.key))?;
        locked(&self.0.briefs).push(format!("{brief:?}"));
        let drafts = brief.plan.rubric.split('|').filter(|line| !line.is_empty());
        Ok(drafts
            .map(|line| Draft {
                text: format!("{}\n{line}", brief.base.text),
                report: "done".into(),
                settings: values_of(line),
            })
            .collect())
    }
}

pub fn settings() -> Settings {
    Settings {
        experiment: Duration::from_secs(9),
        confirmation: Duration::from_secs(20),
        build_threads: 2,
        ..Settings::default()
    }
}

pub fn request(budget: Budget) -> RunRequest {
    RunRequest {
        file: PathBuf::from("/home/user/k.hip"),
        text: ORIGINAL.into(),
        kernel: None,
        provider: "script".into(),
        seed: 7,
        budget,
        settings: settings(),
    }
}

pub fn generations(generations: u32) -> Budget {
    Budget { generations, ..Budget::default() }
}

/// A notebook in a folder that goes away with the first value.
pub fn notebook() -> (tempfile::TempDir, Notebook) {
    // In memory where the system offers that: these tests are about the loop, not about the disk.
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    (folder, notebook)
}

/// Runs `go` with a world's stages; every event is a tick too.
pub fn with_stages<T>(
    world: &World,
    notebook: &Notebook,
    events: &mut Vec<Event>,
    go: impl FnOnce(Evolution<'_, World>, &mut dyn FnMut(Event)) -> T,
) -> T {
    let (mut selector, mut designer, writer) = (Fastest(world), Offers(world), Appends(world));
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
    let evolution = Evolution::new(world, stages, notebook).with_clock(world.clock());
    go(evolution, &mut |event| {
        events.push(event);
        let _ = world.tick("event");
    })
}

pub fn start(world: &World, notebook: &Notebook, budget: Budget) -> (Result<Ended, RunError>, Vec<Event>) {
    start_with(world, notebook, budget, &Cancel::new())
}

pub fn start_with(
    world: &World,
    notebook: &Notebook,
    budget: Budget,
    cancel: &Cancel,
) -> (Result<Ended, RunError>, Vec<Event>) {
    let mut told = Vec::new();
    let ended = with_stages(world, notebook, &mut told, |run, events| run.start(&request(budget), cancel, events));
    (ended, told)
}

pub fn resume(world: &World, notebook: &Notebook) -> (Result<Ended, RunError>, Vec<Event>) {
    let run = notebook.unfinished_runs(&request(generations(1)).file).unwrap()[0].id;
    let mut told = Vec::new();
    let ended =
        with_stages(world, notebook, &mut told, |evolution, events| evolution.resume(run, &Cancel::new(), events));
    (ended, told)
}

/// The last event, after checking that it is the only one of its kind and that the first is what it must be.
pub fn finished(events: &[Event]) -> &Finished {
    assert!(matches!(events[0], Event::Started { .. }), "{:?}", events[0]);
    let count = events.iter().filter(|event| matches!(event, Event::Finished(_))).count();
    assert_eq!(count, 1);
    let Some(Event::Finished(finished)) = events.last() else { panic!("{:?}", events.last()) };
    finished
}
