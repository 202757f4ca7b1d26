//! From the settings and the command line to the models behind the stages.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use lab::Cancel;
use lab::workbench::Workbench;
use llm::connect::{Connection, Patience, connect, is_on_this_machine};
use llm::hearing::Listener;
use llm::key::{Cancelled, SecretString, Sources};
use llm::replay::Recorder;
use llm::{Gate, Hearing, Kind, Ledger, LlmError, Model, ModelName, Options, Price, PriceTable, Provider, Retry};
use notebook::{Calibration, ModelCall, Notebook, NotebookError, Run, RunId};
use scientist::budget::{Budget, Left};
use scientist::evolution::CallLog;
use scientist::knowledge::Knowledge;
use scientist::model::{
    self, Inquiry, KNOWLEDGE_TOKENS, Machine, ModelScientist, OfText, Prompts, StageModels, WHOLE_FILE_LINES,
};
use scientist::task::Task;
use serde_json::Value;

use crate::cli::figures;
use crate::config::{Config, ScientistConfig};

/// Calls under way at once when nothing else is said.
const AT_ONCE: usize = 4;
/// How far the limit of an answer is raised when nothing else is said, in tokens.
const MAX_OUTPUT_TOKENS: u32 = 65_536;

/// A model for each stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNames {
    /// Stage 1.
    pub selector: ModelName,
    /// Stage 2.
    pub designer: ModelName,
    /// Stage 3.
    pub writer: ModelName,
}

impl ModelNames {
    /// One for all stages.
    pub fn one(model: ModelName) -> Self {
        Self { selector: model.clone(), designer: model.clone(), writer: model }
    }

    pub(crate) fn each(&self) -> [&ModelName; 3] {
        [&self.selector, &self.designer, &self.writer]
    }

    /// Refuses one address for the servers of several providers: each would be told what is for another.
    fn require_one_server(&self) -> Result<(), LlmError> {
        let served = self.each().map(|name| name.kind).into_iter().filter(|kind| !kind.base_url().is_empty());
        let mut kinds: Vec<&str> = served.map(Kind::word).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match kinds[..] {
            [] | [_] => Ok(()),
            _ => Err(LlmError::Setup(format!(
                "the stages have models of {}, so one --base-url does not do; set base_url (openai), anthropic_base_url or \
                 gemini_base_url in a settings file and name that with --config",
                kinds.join(" and ")
            ))),
        }
    }
}

impl std::fmt::Display for ModelNames {
    /// As runs are recorded with; [`FromStr`] reads it.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { selector, designer, writer } = self;
        if selector == designer && designer == writer {
            return writer.fmt(out);
        }
        write!(out, "selector {selector}, designer {designer}, writer {writer}")
    }
}

impl FromStr for ModelNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix("selector ") else { return text.parse().map(Self::one) };
        let parts = rest.split_once(", designer ").and_then(|(selector, rest)| {
            rest.split_once(", writer ").map(|(designer, writer)| (selector, designer, writer))
        });
        let (selector, designer, writer) = parts.ok_or_else(|| format!("`{text}` names no models"))?;
        Ok(Self { selector: selector.parse()?, designer: designer.parse()?, writer: writer.parse()? })
    }
}

/// Makes a provider of the editor's models, by the model's name; the empty one is whichever the editor offers.
pub type OfEditor = Arc<dyn Fn(&str) -> Box<dyn Provider> + Send + Sync>;

/// Finds the key of a provider where the command line and the settings do not say.
pub type OfKeys = Arc<dyn Fn(Kind) -> Option<SecretString> + Send + Sync>;

/// Where models are reached, as the command line says it; it counts before the settings.
#[derive(Clone, Default)]
pub struct Reach {
    /// Base URL.
    pub base_url: Option<String>,
    /// Where exchanges are recorded.
    pub record: Option<PathBuf>,
    /// Exchanges of a recording that a resumed run has the answers of.
    pub skip: usize,
    /// How long to wait for a server; the usual without.
    pub patience: Option<Patience>,
    /// Further attempts; the usual without.
    pub attempts: Option<usize>,
    /// The editor's models, in a language server.
    pub editor: Option<OfEditor>,
    /// Keys that the editor keeps; they count before the environment's.
    pub keys: Option<OfKeys>,
    /// Who hears how far answers are.
    pub listener: Option<Listener>,
    /// Ends the wait for a command that prints a key.
    pub cancel: Option<Cancel>,
    /// What a recording's first line says of the run.
    pub began_with: Option<Value>,
    /// Whether a recording answers only what it was asked to the letter.
    pub to_the_letter: bool,
}

impl Reach {
    fn recorder(&self) -> Result<Option<Recorder>, LlmError> {
        let Some(path) = &self.record else { return Ok(None) };
        match &self.began_with {
            Some(began_with) => Recorder::begin(path, began_with.clone()),
            None => Recorder::open(path),
        }
        .map(Some)
    }
}

/// The models behind the stages and the bill that they share.
pub struct Models {
    /// For each stage.
    pub stages: StageModels,
    /// What they cost.
    pub ledger: Ledger,
    /// Where they are served, in words; `None` where none is asked over the network.
    pub served_at: Option<String>,
    /// What the user should know before they are asked, a line each.
    pub notes: Vec<String>,
}

impl Models {
    /// Sets the models up. Nothing is sent.
    ///
    /// # Errors
    /// [`LlmError`] when an address, a key or a recording cannot be used.
    pub fn connect(names: &ModelNames, reach: &Reach, config: &Config) -> Result<Self, LlmError> {
        let settings = &config.scientist;
        if reach.base_url.is_some() {
            names.require_one_server()?;
        }
        let shared = Shared {
            ledger: Ledger::default(),
            gate: Gate::new(settings.max_calls_at_once.unwrap_or(AT_ONCE)),
            prices: config.prices(),
            recorder: reach.recorder()?.map(Arc::new),
            hearing: reach.listener.clone().map_or_else(Hearing::default, Hearing::new),
        };
        let mut made: HashMap<&ModelName, Arc<Model>> = HashMap::new();
        let mut addresses: BTreeSet<String> = BTreeSet::new();
        let mut notes: BTreeSet<String> = BTreeSet::new();
        for name in names.each() {
            if !made.contains_key(name) {
                let (model, connection) = shared.model(name, reach, config)?;
                made.insert(name, Arc::new(model));
                addresses.extend(connection.served_at(name));
                notes.extend(connection.warning(name));
            }
        }
        let get = |name: &ModelName| Arc::clone(&made[name]);
        let stages =
            StageModels { selector: get(&names.selector), designer: get(&names.designer), writer: get(&names.writer) };
        let served_at = (!addresses.is_empty()).then(|| addresses.into_iter().collect::<Vec<_>>().join(", "));
        Ok(Self { stages, ledger: shared.ledger, served_at, notes: notes.into_iter().collect() })
    }

    /// Refuses to go on with a run elsewhere than where it was begun: the code and the key would go to another server, and
    /// what a call costs may be another matter there.
    ///
    /// # Errors
    /// Where `begun_at` says another place, unless `reach` names one; that it does is told then.
    pub fn go_on_at(&self, run: &Run, reach: &Reach) -> Result<Option<String>, String> {
        let begun_at = run.settings.get("served_at").and_then(Value::as_str);
        match (begun_at, &self.served_at, &reach.base_url) {
            (Some(begun), Some(now), None) if begun != now => Err(format!(
                "run {} was begun with its models at {begun} and would go on at {now}; pass --base-url, or set base_url in the \
                 settings, to say where it goes on",
                run.id
            )),
            (Some(begun), Some(now), Some(_)) if begun != now => Ok(Some(format!(
                "run {} was begun with its models at {begun}; its questions and your code go to {now} from here on, since \
                 --base-url says so",
                run.id
            ))),
            _ => Ok(None),
        }
    }

    /// Whether a run was begun with models on this machine alone, and would go on with some that may cost money.
    pub fn begins_to_cost(&self, run: &Run) -> bool {
        let begun_at = run.settings.get("served_at").and_then(Value::as_str);
        !self.are_free() && begun_at.is_some_and(|begun| begun.split(", ").all(is_on_this_machine))
    }

    /// Whether every call costs nothing.
    pub fn are_free(&self) -> bool {
        self.each().all(|model| model.price() == Some(Price::NOTHING))
    }

    /// The models whose price is not known.
    pub fn unpriced(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.each().filter(|model| model.price().is_none()).map(|model| model.name().to_string()).collect();
        names.dedup();
        names
    }

    /// A limit in dollars as a run keeps it: none where nothing costs anything, since a sum of nothing would come up to a
    /// limit of nothing.
    ///
    /// # Errors
    /// When nothing may be spent, or a price is not known; the text says what to do.
    pub fn limit(&self, usd: Option<f64>) -> Result<Option<f64>, String> {
        match (usd, &self.unpriced()[..]) {
            (None, _) => Ok(None),
            _ if self.are_free() => Ok(None),
            (Some(0.0), _) => {
                Err("max_usd is 0, which allows nothing that costs money; raise it, or take the catalog or a local \
                                   model"
                    .into())
            }
            (Some(limit), []) => Ok(Some(limit)),
            (Some(_), [first, ..]) => Err(format!(
                "the price of {first} is not known, so a limit in dollars cannot be kept; add a [[scientist.price]] table with \
                 model, input and output (dollars per million tokens) to the settings, or limit --max-tokens or --max-calls \
                 instead (a price of 0 counts in your own settings file, or in one that you name with --config)"
            )),
        }
    }

    /// Keeps what is asked outside of a run to what a run might use up.
    pub fn keep_to(&self, budget: &Budget) {
        let Budget { usd, tokens, calls, .. } = *budget;
        (self.limiter())(Left { usd, tokens, calls });
    }

    /// The stages, for the source that a workbench was opened with.
    ///
    /// # Errors
    /// When the user's templates or notes cannot be used; the text names the file.
    pub fn scientist(&self, config: &Config, bench: &Workbench) -> Result<ModelScientist, String> {
        Ok(ModelScientist::new(inquiry(config, bench)?, self.stages.clone()))
    }

    /// What a run on a text will probably cost, and what limits it, in words.
    pub fn estimate(&self, scientist: &ModelScientist, text: &str, budget: &Budget) -> String {
        let estimate = scientist.estimate(text, budget.generations);
        let cost = match (self.are_free(), estimate.usd) {
            (true, _) => "no cost".to_owned(),
            (false, Some(usd)) => format!("{usd:.2} US dollars"),
            (false, None) => "at a price that is not known here".to_owned(),
        };
        let limits = [
            budget.usd.map(|usd| format!("{usd:.2} US dollars")),
            budget.tokens.map(|tokens| format!("{tokens} tokens")),
            budget.calls.map(|calls| format!("{calls} calls")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        let limits = if limits.is_empty() { "no limit".to_owned() } else { format!("limit: {}", limits.join(", ")) };
        format!(
            "estimate for {}: about {} calls, {} thousand tokens, {cost}; {limits}",
            figures::counted(budget.generations, "generation"),
            estimate.calls,
            estimate.tokens().div_ceil(1000)
        )
    }

    /// Each stage's model.
    pub fn each(&self) -> impl Iterator<Item = &Arc<Model>> {
        let StageModels { selector, designer, writer } = &self.stages;
        [selector, designer, writer].into_iter()
    }

    /// For [`scientist::evolution::Evolution::with_calls`].
    pub fn calls(&self) -> CallLog {
        let ledger = self.ledger.clone();
        Arc::new(move || ledger.take_calls().into_iter().map(kept).collect())
    }

    /// For [`scientist::evolution::Evolution::with_limiter`].
    pub fn limiter(&self) -> scientist::budget::Limiter {
        model::limiter(&self.ledger)
    }

    /// For [`scientist::evolution::Evolution::with_meter`].
    pub fn meter(&self) -> scientist::budget::Meter {
        model::meter(&self.ledger)
    }
}

/// What the models of a run have in common.
struct Shared {
    ledger: Ledger,
    gate: Gate,
    prices: PriceTable,
    recorder: Option<Arc<Recorder>>,
    hearing: Hearing,
}

impl Shared {
    /// A model, and how it is reached.
    fn model(&self, name: &ModelName, reach: &Reach, config: &Config) -> Result<(Model, Connection), LlmError> {
        let settings = &config.scientist;
        if !config.may_run_key_command() {
            return Err(LlmError::Setup(format!(
                "{}: `api_key_command` is run only from your own settings file or one that you name with --config, since \
                 anyone's folder may hold one",
                shown(config)
            )));
        }
        let mut connection = Connection {
            base_url: reach.base_url.as_deref().or(settings.base_url_of(name.kind)).map(str::to_owned),
            named_by_user: reach.base_url.is_some() || config.is_named_by_user(name.kind),
            key: Sources { given: None, command: settings.api_key_command.clone() },
            patience: reach.patience.unwrap_or_default(),
            skip: reach.skip,
            to_the_letter: reach.to_the_letter,
            is_cancelled: reach.cancel.clone().map(|cancel| -> Cancelled { Arc::new(move || cancel.is_cancelled()) }),
        };
        if connection.takes_key(name) {
            connection.key.given = reach.keys.as_ref().and_then(|keys| keys(name.kind));
        }
        // What the editor's models cost is its subscription's. What listens on this machine may pass questions on to a model that
        // is paid: who knows that names its price.
        let is_free = name.kind == Kind::Editor || connection.is_free(name);
        let price = if is_free { self.prices.set(name).or(Some(Price::NOTHING)) } else { self.prices.of(name) };
        let times = match name.kind {
            // The editor tries again itself, and each of our attempts counts against the user's quota.
            Kind::Editor => 0,
            _ => reach.attempts.unwrap_or(Retry::default().times),
        };
        let options = Options {
            retry: Retry { times, ..Retry::default() },
            gate: self.gate.clone(),
            ledger: self.ledger.clone(),
            price,
            max_output_tokens: settings.max_output_tokens.unwrap_or(MAX_OUTPUT_TOKENS),
            recorder: self.recorder.clone(),
            hearing: self.hearing.clone(),
        };
        let provider = match &reach.editor {
            Some(editor) if name.kind == Kind::Editor => editor(&name.model),
            _ => connect(name, &connection)?,
        };
        Ok((Model::new(name.clone(), provider, options), connection))
    }
}

fn shown(config: &Config) -> String {
    config.path.as_deref().unwrap_or(Path::new("kernel-scientist.toml")).display().to_string()
}

fn kept(call: llm::Call) -> ModelCall {
    let llm::Usage { input, cached, output, estimated } = call.usage;
    let took: Duration = call.took;
    ModelCall { label: call.label, model: call.model, input, cached, output, estimated, usd: call.usd, took }
}

/// Exchanges of a recording that a run has the answers of.
///
/// # Errors
/// When the notebook cannot be read.
pub fn answered(notebook: &Notebook, run: RunId) -> Result<usize, NotebookError> {
    notebook.model_calls(run).map(|calls| calls.len())
}

/// How good a model's predictions were over all its runs; `None` where it made none.
///
/// # Errors
/// When the notebook cannot be read.
pub fn predictions_of(notebook: &Notebook, names: &ModelNames) -> Result<Option<Calibration>, NotebookError> {
    let designer = names.designer.to_string();
    Ok(notebook.calibrations()?.into_iter().find(|(name, _)| *name == designer).map(|(_, calibration)| calibration))
}

/// What questions about a source are made of.
///
/// # Errors
/// When the user's templates or notes cannot be used; the text names the file.
pub fn inquiry(config: &Config, bench: &Workbench) -> Result<Inquiry, String> {
    let ScientistConfig { prompts, knowledge, knowledge_tokens, .. } = &config.scientist;
    let beside = |folder: &PathBuf| match config.path.as_deref().and_then(Path::parent) {
        Some(settings) => settings.join(folder),
        None => folder.clone(),
    };
    let device = match bench.basis() {
        Some(basis) => format!("{} (times are forecast for it; every version is checked on a CPU)", basis.title),
        None => format!("{}: {}", bench.device(), bench.device_note()),
    };
    let knowledge = Knowledge::load(knowledge.as_ref().map(beside).as_deref())?;
    let knowledge_tokens = knowledge_tokens.unwrap_or(KNOWLEDGE_TOKENS);
    knowledge.require_room(knowledge_tokens)?;
    Ok(Inquiry {
        prompts: Prompts::load(prompts.as_ref().map(beside).as_deref()).map_err(|error| error.to_string())?,
        knowledge,
        knowledge_tokens,
        task: Task::of(bench.benchmark()),
        device,
        by_forecast: bench.basis().is_some(),
        whole_file_lines: WHOLE_FILE_LINES,
        file: bench.original().path.clone(),
        machine: machine(bench),
        // Whoever asks knows.
        designer: String::new(),
    })
}

/// What kernels need of the device, where code can be generated for it.
fn machine(bench: &Workbench) -> Option<Machine> {
    let code = bench.machine_code(&Cancel::new()).ok().flatten()?;
    let arch = code.arch().to_owned();
    let of_text: OfText = Arc::new(move |text, cancel| {
        code.resources(text, cancel).unwrap_or_else(|error| {
            tracing::info!("what the kernels need is not told: {error}");
            Vec::new()
        })
    });
    Some(Machine::new(arch, of_text))
}

#[cfg(test)]
mod tests;
