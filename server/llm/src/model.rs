//! A model as callers use it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::editor::tokens;
use crate::error::LlmError;
use crate::gate::Gate;
use crate::hearing::Hearing;
use crate::name::ModelName;
use crate::price::Price;
use crate::provider::{Answer, Caller, Message, Provider, Request, Stop, Usage};
use crate::replay::Recorder;
use crate::retry::Retry;
use crate::spent::{Call, Ledger};
use crate::structured;

/// How a [`Model`] is used.
#[derive(Clone)]
pub struct Options {
    /// How calls are tried again.
    pub retry: Retry,
    /// How many are under way at once.
    pub gate: Gate,
    /// Where the bill goes.
    pub ledger: Ledger,
    /// The price; `None` when it is not known.
    pub price: Option<Price>,
    /// How far the limit of an answer is raised when it was cut off, in tokens.
    pub max_output_tokens: u32,
    /// Where exchanges are recorded.
    pub recorder: Option<Arc<Recorder>>,
    /// Who hears how far answers are.
    pub hearing: Hearing,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            retry: Retry::default(),
            gate: Gate::new(4),
            ledger: Ledger::default(),
            price: None,
            max_output_tokens: 65_536,
            recorder: None,
            hearing: Hearing::default(),
        }
    }
}

/// A model that was named, behind its provider: waits its turn, tries again, keeps the bill.
pub struct Model {
    name: ModelName,
    provider: Box<dyn Provider>,
    options: Options,
}

impl Model {
    /// A provider with what goes around it.
    pub fn new(name: ModelName, provider: Box<dyn Provider>, options: Options) -> Self {
        Self { name, provider, options }
    }

    /// Provider and model.
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    /// The price, where it is known.
    pub fn price(&self) -> Option<Price> {
        self.options.price
    }

    /// Whether its answers come from a file, so that there is nothing to wait for.
    pub fn is_recorded(&self) -> bool {
        self.provider.is_recorded()
    }

    /// The bill that its calls go to.
    pub fn ledger(&self) -> &Ledger {
        &self.options.ledger
    }

    /// Asks for a text.
    ///
    /// # Errors
    /// [`LlmError`], after the attempts that [`Retry`] allows. An answer that was cut off is asked for again with twice the
    /// limit, up to [`Options::max_output_tokens`]. [`LlmError::Overdrawn`] where a limit of the [`Ledger`] is reached, before any
    /// of these attempts.
    pub fn ask(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let mut request = request.clone();
        request.max_tokens = request.max_tokens.min(self.options.max_output_tokens);
        let mut cut_at = None;
        loop {
            let answer = match (self.attempt(&request, caller), cut_at) {
                (Ok(answer), _) => answer,
                (Err(error), Some(limit)) if error.refusal().is_some() => {
                    let detail = error.refusal().unwrap_or_default().to_owned();
                    return Err(LlmError::LongerRefused { who: self.who(), limit, detail });
                }
                (Err(error), _) => return Err(error),
            };
            match &answer.stop {
                Stop::End => return Ok(answer),
                Stop::Withheld(reason) => {
                    return Err(LlmError::Withheld { who: self.who(), detail: crate::http::quoted(reason) });
                }
                Stop::Length if request.max_tokens < self.options.max_output_tokens => {
                    cut_at = Some(request.max_tokens);
                    request.max_tokens = request.max_tokens.saturating_mul(2).min(self.options.max_output_tokens);
                    tracing::info!("{}: the answer was cut off; asking for {}", self.who(), request.max_tokens);
                }
                Stop::Length => return Err(LlmError::Truncated { who: self.who(), limit: request.max_tokens }),
            }
        }
    }

    /// Asks for JSON of a certain form, once more where the first answer does not have it.
    ///
    /// # Errors
    /// As [`Model::ask`]; [`LlmError::WrongForm`] after the second try.
    pub fn ask_json<T: DeserializeOwned + JsonSchema>(
        &self,
        request: &Request,
        caller: &mut Caller<'_>,
    ) -> Result<T, LlmError> {
        self.ask_checked(request, caller, Ok)
    }

    /// The same with a check of its own, whose complaint goes into the one further try as those of the schema do.
    ///
    /// # Errors
    /// As [`Model::ask_json`].
    pub fn ask_checked<T: DeserializeOwned + JsonSchema, U>(
        &self,
        request: &Request,
        caller: &mut Caller<'_>,
        check: impl Fn(T) -> Result<U, String>,
    ) -> Result<U, LlmError> {
        let schema = structured::schema_of::<T>();
        let mut request = Request { schema: Some(schema.clone()), ..request.clone() };
        let read = |text: &str| structured::parse::<T>(text, &schema).and_then(&check);
        let first = self.ask(&request, caller)?;
        let problem = match read(&first.text) {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        tracing::info!("{}: asking again: {problem}", self.who());
        request.messages.push(Message::assistant(structured::remembered(&first.text)));
        request.messages.push(Message::user(structured::complaint(&problem)));
        let second = self.ask(&request, caller)?;
        read(&second.text).map_err(|detail| LlmError::WrongForm { who: self.who(), detail })
    }

    /// Asks for a sign of life, with one attempt, and says how long it took.
    ///
    /// # Errors
    /// Why there is none.
    pub fn check(&self, caller: &mut Caller<'_>) -> Result<Duration, LlmError> {
        let mut request = Request::new("check", "", "Answer with the one word: ready");
        // Enough for a model that thinks a little first; one that runs into it is alive all the same.
        request.max_tokens = 256;
        let began = Instant::now();
        self.attempt_once(&request, caller)?;
        Ok(began.elapsed())
    }

    fn attempt(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let hearing = &self.options.hearing;
        let waits = |reason: String, wait| hearing.waits(&request.label, reason, wait);
        let answer = self.options.retry.run(caller, &waits, |caller| {
            let _pass = self.options.gate.enter(caller.flag())?;
            let most = self.most(request);
            let _room = self.options.ledger.admit(most, self.usd(&most).unwrap_or(0.0), caller.flag())?;
            let (heard, is_cancelled) = (hearing.begin(&request.label), caller.flag());
            let mut piece = |text: &str| {
                heard.piece(text);
                caller.hear(text);
            };
            self.attempt_once(request, &mut Caller::new(is_cancelled, &mut piece))
        })?;
        if let Some(recorder) = &self.options.recorder {
            recorder.record(request, &answer)?;
        }
        Ok(answer)
    }

    /// One attempt, which is on the bill whatever comes of it, if the server answered.
    fn attempt_once(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let began = Instant::now();
        let answer = self.provider.attempt(request, caller).map_err(LlmError::cleaned);
        let in_vain = caller.take_used();
        match &answer {
            Ok(answer) => {
                let usage = match answer.usage.total() == 0 && !self.provider.is_recorded() {
                    true => self.estimated(request, answer.text.len()),
                    false => answer.usage,
                };
                self.bill(request, usage, answer.model.clone(), began.elapsed());
            }
            Err(_) => {
                let Some(used) = in_vain else { return answer };
                let least = self.estimated(request, used.heard);
                let usage = Usage {
                    input: if used.usage.input == 0 { least.input } else { used.usage.input },
                    output: used.usage.output.max(least.output),
                    estimated: true,
                    ..used.usage
                };
                let model = used.model.unwrap_or_else(|| self.name.model.clone());
                self.bill(request, usage, model, began.elapsed());
            }
        }
        answer
    }

    /// What a call uses up whose provider does not say.
    fn estimated(&self, request: &Request, heard: usize) -> Usage {
        Usage { input: tokens(request.bytes()), cached: 0, output: tokens(heard), estimated: true }
    }

    /// What an attempt uses up at most.
    fn most(&self, request: &Request) -> Usage {
        if self.provider.is_recorded() {
            return Usage::default();
        }
        Usage { output: u64::from(request.max_tokens), ..self.estimated(request, 0) }
    }

    fn usd(&self, usage: &Usage) -> Option<f64> {
        self.options.price.map(|price| price.of(usage))
    }

    fn bill(&self, request: &Request, usage: Usage, model: String, took: Duration) {
        let (label, usd) = (request.label.clone(), self.usd(&usage));
        let model = crate::foreign::one_line(&model);
        self.options.ledger.add(Call { label, model, usage, usd, took });
    }

    fn who(&self) -> String {
        self.name.to_string()
    }
}
