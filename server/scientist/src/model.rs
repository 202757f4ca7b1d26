//! The three stages with language models behind them.
//!
//! - `prompts` renders the templates of `prompts/`; `facts` is what they are filled with.
//! - `selector`, `designer` and `writer` ask, check what comes back, and ask once more where it cannot be used.
//! - `novelty` tells plans that repeat what was tried; `code_answer` reads code out of an answer, `limits` refuses what would take
//!   too long to read as code.
//!
//! Stages keep nothing between calls that a resumed run would miss: a question is a function of its brief. What was chosen
//! for diversity: no islands as OpenEvolve has them, since a generation is three experiments and islands would starve; the
//! selector sees every line with its times per shape and is told when a line stalls, and plans that repeat earlier ones are
//! refused, as ShinkaEvolve does with embeddings, here by the words of title and rubric, which needs no second model.

mod code_answer;
mod designer;
mod facts;
mod limits;
mod machine;
mod novelty;
mod preview;
mod prompts;
mod selector;
#[cfg(test)]
mod tests;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use lab::Cancel;
use llm::{Caller, Ledger, Limits, LlmError, Model};

pub use self::designer::ModelDesigner;
pub use self::machine::{Machine, OfText};
pub use self::preview::{Preview, Previewed, Stage};
pub use self::prompts::{PromptError, Prompts, TEMPLATES};
pub use self::selector::ModelSelector;
pub use self::writer::ModelWriter;
use crate::budget::{Bill, Left, Limiter, Meter};
use crate::knowledge::Knowledge;
use crate::stages::StageError;
use crate::task::Task;

/// Which model stands behind each stage.
#[derive(Clone)]
pub struct StageModels {
    /// Stage 1.
    pub selector: Arc<Model>,
    /// Stage 2.
    pub designer: Arc<Model>,
    /// Stage 3.
    pub writer: Arc<Model>,
}

impl StageModels {
    /// One model for all of them.
    pub fn one(model: Arc<Model>) -> Self {
        Self { selector: Arc::clone(&model), designer: Arc::clone(&model), writer: model }
    }

    /// As a run is recorded with: `openai:gpt-5`, or each stage's where they differ.
    pub fn name(&self) -> String {
        let [selector, designer, writer] =
            [&self.selector, &self.designer, &self.writer].map(|model| model.name().to_string());
        if selector == designer && designer == writer {
            return writer;
        }
        format!("selector {selector}, designer {designer}, writer {writer}")
    }
}

/// What the questions are made of.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The templates.
    pub prompts: Prompts,
    /// Notes on the hardware.
    pub knowledge: Knowledge,
    /// Tokens of notes in one question at most, roughly.
    pub knowledge_tokens: usize,
    /// How the kernel is fed and checked.
    pub task: Task,
    /// The device, as shown: `MI300X`.
    pub device: String,
    /// Whether times are forecast and not measured.
    pub by_forecast: bool,
    /// Files with more lines are changed by edits and not written anew.
    pub whole_file_lines: usize,
    /// The user's file, whose lines compilers' messages are about.
    pub file: PathBuf,
    /// What kernels need of the device, where code can be generated for it.
    pub machine: Option<Machine>,
    /// The model that designs, as `PROVIDER:MODEL`: it is told how good its own predictions were.
    pub designer: String,
}

/// Tokens of notes in one question when nothing else is said.
pub const KNOWLEDGE_TOKENS: usize = 6000;

/// Lines up to which a file is written anew as a whole.
pub const WHOLE_FILE_LINES: usize = 400;

/// Stages with models behind them.
pub struct ModelScientist {
    inquiry: Arc<Inquiry>,
    models: StageModels,
}

impl ModelScientist {
    /// Puts models behind the stages.
    pub fn new(inquiry: Inquiry, models: StageModels) -> Self {
        let inquiry = Inquiry { designer: models.designer.name().to_string(), ..inquiry };
        Self { inquiry: Arc::new(inquiry), models }
    }

    /// The stages.
    pub fn stages(&self) -> (ModelSelector, ModelDesigner, ModelWriter) {
        let inquiry = || Arc::clone(&self.inquiry);
        (
            ModelSelector::new(inquiry(), Arc::clone(&self.models.selector)),
            ModelDesigner::new(inquiry(), Arc::clone(&self.models.designer)),
            ModelWriter::new(inquiry(), Arc::clone(&self.models.writer)),
        )
    }

    /// What a run on a file will probably use up: one question to the selector and the designer, three to the writer, and one
    /// repair a generation. Prompts are rendered to see how long they are; answers are guessed.
    pub fn estimate(&self, text: &str, generations: u32) -> Estimate {
        const DESIGN: u64 = 3000;
        const CHOICE: u64 = 300;
        const REPORT: u64 = 300;
        let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
        let file = tokens(text.len());
        let notes = tokens(self.inquiry.knowledge.text(text, self.inquiry.knowledge_tokens).len());
        let frame = tokens(self.inquiry.task.text.len()) + 1000;
        let generations = u64::from(generations);
        let parts = [
            (&self.models.selector, generations, 1500, CHOICE),
            (&self.models.designer, generations, file * 3 / 2 + notes + frame + 1500, DESIGN),
            // The base and, mostly, a reference.
            (&self.models.writer, generations * 4, file * 2 + notes + frame, file * 3 / 2 + REPORT),
        ];
        let mut estimate = Estimate { usd: Some(0.0), ..Estimate::default() };
        for (model, calls, input, output) in parts {
            let usage = llm::Usage { input: calls * input, output: calls * output, ..llm::Usage::default() };
            estimate.calls += calls;
            estimate.input += usage.input;
            estimate.output += usage.output;
            estimate.usd = estimate.usd.zip(model.price()).map(|(usd, price)| usd + price.of(&usage));
        }
        estimate
    }
}

/// What a run will probably use up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Calls.
    pub calls: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// US dollars; `None` when a price is not known.
    pub usd: Option<f64>,
}

impl Estimate {
    /// Tokens sent and received.
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }
}

/// What a ledger's calls cost, for [`crate::evolution::Evolution::with_meter`].
pub fn meter(ledger: &Ledger) -> Meter {
    let ledger = ledger.clone();
    Arc::new(move || {
        let spent = ledger.spent();
        Bill { usd: spent.usd, tokens: spent.tokens(), calls: spent.calls }
    })
}

/// Keeps a ledger's calls to what is left, for [`crate::evolution::Evolution::with_limiter`].
pub fn limiter(ledger: &Ledger) -> Limiter {
    let ledger = ledger.clone();
    Arc::new(move |Left { usd, tokens, calls }| ledger.limit(Limits { usd, tokens, calls }))
}

/// Makes a call that ends when `cancel` is set.
fn asked<T>(cancel: &Cancel, call: impl FnOnce(&mut Caller<'_>) -> Result<T, LlmError>) -> Result<T, StageError> {
    let is_cancelled = || cancel.is_cancelled();
    call(&mut Caller::new(&is_cancelled, &mut |_| ())).map_err(stage_error)
}

/// An outage pauses the run, a limit ends it; an answer that cannot be used costs the experiment.
fn stage_error(error: LlmError) -> StageError {
    match error {
        LlmError::Cancelled => StageError::Cancelled,
        LlmError::Overdrawn(why) => StageError::Overdrawn(why),
        error if error.is_outage() => StageError::Unavailable(error.to_string()),
        error => StageError::Unusable(error.to_string()),
    }
}

impl From<PromptError> for StageError {
    /// A template that cannot be rendered would fail at every question.
    fn from(error: PromptError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
