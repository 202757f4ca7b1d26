//! Stage 2 with a model behind it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use hip_syntax::Syntax;
use lab::Cancel;
use llm::{Message, Model, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts;
use super::novelty::{Said, repeats};
use super::prompts::PromptError;
use super::{Inquiry, Machine, asked};
use crate::findings;
use crate::stages::{Design, DesignBrief, Designer, Finding, GainRange, Hypothesis, StageError};

/// Findings told, the newest ones.
const FINDINGS: usize = 24;
/// Earlier plans told, the newest ones.
const PAST: usize = 40;

/// Asks a model for avenues and plans.
pub struct ModelDesigner {
    inquiry: Arc<Inquiry>,
    model: Arc<Model>,
}

impl ModelDesigner {
    pub(super) fn new(inquiry: Arc<Inquiry>, model: Arc<Model>) -> Self {
        Self { inquiry, model }
    }
}

/// What the model answers.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Answer {
    /// Ten directions, one line each.
    #[schemars(length(max = 20))]
    avenues: Vec<String>,
    /// Five plans.
    #[schemars(length(min = 1, max = 8))]
    plans: Vec<Plan>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Plan {
    /// The idea in one to three words with hyphens.
    #[schemars(length(min = 1, max = 60))]
    family: String,
    /// The kernel it is about.
    kernel: String,
    /// The line of the kernel that it cures.
    line: u32,
    /// The change in one line.
    #[schemars(length(min = 1, max = 300))]
    title: String,
    /// Why it should help here.
    reason: String,
    /// The concrete changes of the code.
    #[schemars(length(min = 1))]
    rubric: String,
    /// Low end of the expected gain in percent.
    #[schemars(range(min = -100, max = 10_000))]
    min_percent: f64,
    /// High end of the expected gain in percent.
    #[schemars(range(min = -100, max = 100_000))]
    max_percent: f64,
    /// From 0 (textbook) to 100.
    #[schemars(range(min = 0, max = 100))]
    innovation: u8,
}

#[derive(Serialize)]
struct Facts<'a> {
    device: &'a str,
    base: facts::Version<'a>,
    numbered: String,
    kernel: Option<&'a str>,
    task: &'a str,
    forecast: Vec<facts::Launch>,
    arch: &'a str,
    machine_code: Vec<String>,
    tried: Vec<Tried<'a>>,
    findings: Vec<String>,
    calibration: Option<notebook::Calibration>,
    knowledge: String,
}

#[derive(Serialize)]
struct Tried<'a> {
    base: u32,
    title: &'a str,
    outcome: String,
}

pub(super) fn question(inquiry: &Inquiry, brief: &DesignBrief<'_>, cancel: &Cancel) -> Result<Request, PromptError> {
    let newest = |count: usize, most: usize| count.saturating_sub(most);
    let (past, found) = (brief.past, brief.findings);
    let is_own = |finding: &&Finding| finding.author.as_ref() == Some(&inquiry.designer);
    let calibration = findings::calibration(found.iter().filter(is_own));
    let facts = Facts {
        device: &inquiry.device,
        base: facts::Version::of(brief.base),
        numbered: facts::numbered(&brief.base.text),
        kernel: brief.kernel,
        task: &inquiry.task.text,
        forecast: facts::account(brief.forecast, &brief.base.text),
        arch: inquiry.machine.as_ref().map_or("", Machine::arch),
        machine_code: inquiry.machine.as_ref().map_or_else(Vec::new, |machine| machine.lines(&brief.base.text, cancel)),
        tried: past[newest(past.len(), PAST)..]
            .iter()
            .map(|past| Tried { base: past.base, title: &past.plan.title, outcome: facts::one_line(&past.outcome) })
            .collect(),
        findings: found[newest(found.len(), FINDINGS)..].iter().map(|finding| facts::one_line(&finding.text)).collect(),
        calibration: (calibration.measured + calibration.failed > 0).then_some(calibration),
        knowledge: inquiry.knowledge.text(&brief.base.text, inquiry.knowledge_tokens),
    };
    let system = inquiry.prompts.render("system.md", &facts)?;
    let request = Request::new("designer", system, inquiry.prompts.render("designer.md", &facts)?);
    Ok(Request { schema: Some(llm::structured::schema_of::<Answer>()), ..request })
}

#[derive(Serialize)]
struct Replacing<'a> {
    device: &'a str,
    repeats: Vec<Repeat>,
    count: usize,
    kept: Vec<&'a str>,
}

#[derive(Clone, Serialize)]
struct Repeat {
    title: String,
    like: String,
}

impl Designer for ModelDesigner {
    fn design(&mut self, brief: &DesignBrief<'_>, cancel: &Cancel) -> Result<Design, StageError> {
        let request = question(&self.inquiry, brief, cancel)?;
        let kernels = kernels(brief);
        let check = |answer: Answer| checked(answer, &kernels, &brief.base.text);
        let answer = asked(cancel, |caller| self.model.ask_checked(&request, caller, check))?;
        let author = self.model.name().to_string();
        let written = answer.plans.iter().map(|plan| hypothesis(plan, &author)).collect();
        let (mut plans, repeated) = told_apart(written, brief, &[]);
        if !repeated.is_empty() {
            let follow_up = self.replacing(request, &answer, &plans, &repeated)?;
            // The others were paid for and stand whatever comes of it; an outage is met again at the next question.
            match asked(cancel, |caller| self.model.ask_checked(&follow_up, caller, check)) {
                Ok(more) => {
                    let more = more.plans.iter().map(|plan| hypothesis(plan, &author)).collect();
                    let (new, _) = told_apart(more, brief, &plans);
                    plans.extend(new);
                }
                Err(StageError::Unusable(_) | StageError::Unavailable(_)) if !plans.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        if plans.is_empty() {
            return Err(StageError::Unusable("every plan of the design repeats one that was tried before".into()));
        }
        let avenues = answer.avenues.iter().map(|avenue| facts::one_line(avenue)).collect();
        Ok(Design { avenues, plans })
    }
}

impl ModelDesigner {
    /// The conversation with the question for other plans in place of those that repeat.
    fn replacing(
        &self,
        request: Request,
        answer: &Answer,
        kept: &[Hypothesis],
        repeated: &[Repeat],
    ) -> Result<Request, StageError> {
        let facts = Replacing {
            device: &self.inquiry.device,
            repeats: repeated.to_vec(),
            count: repeated.len(),
            kept: kept.iter().map(|plan| plan.title.as_str()).collect(),
        };
        let mut request = request;
        let given = serde_json::to_string(answer).map_err(|error| StageError::Unusable(error.to_string()))?;
        request.messages.push(Message::assistant(given));
        request.messages.push(Message::user(self.inquiry.prompts.render("replace.md", &facts)?));
        Ok(request)
    }
}

/// A kernel that plans may be about.
struct Place {
    name: String,
    /// From its head to its end. Overloads have several.
    lines: Vec<RangeInclusive<u32>>,
}

fn kernels(brief: &DesignBrief<'_>) -> Vec<Place> {
    let syntax = Syntax::without_tree(Arc::clone(&brief.base.text));
    let mut places: Vec<Place> = Vec::new();
    for kernel in syntax
        .kernels()
        .iter()
        .filter(|kernel| brief.kernel.is_none_or(|only| only == kernel.name || only == kernel.qualified_name))
    {
        let lines = kernel.line..=kernel.end_line;
        match places.iter_mut().find(|place| place.name == kernel.name) {
            Some(place) => place.lines.push(lines),
            None => places.push(Place { name: kernel.name.clone(), lines: vec![lines] }),
        }
    }
    places
}

/// What the schema cannot say.
fn checked(mut answer: Answer, kernels: &[Place], text: &str) -> Result<Answer, String> {
    let lines = text.lines().count() as u32;
    for (number, plan) in (1..).zip(&mut answer.plans) {
        let place = match (kernels.iter().find(|kernel| kernel.name == plan.kernel), kernels) {
            (Some(place), _) => place,
            // With one kernel there is no doubt which is meant.
            (None, [only]) => only,
            (None, _) => {
                let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                return Err(format!("plan {number} is about `{}`; the kernels are {}", plan.kernel, names.join(", ")));
            }
        };
        plan.kernel.clone_from(&place.name);
        if plan.line == 0 || plan.line > lines {
            return Err(format!("plan {number} names line {}; the file has lines 1 to {lines}", plan.line));
        }
        if !place.lines.iter().any(|lines| lines.contains(&plan.line)) {
            let lines = place.lines.iter().map(|lines| format!("{} to {}", lines.start(), lines.end()));
            return Err(format!(
                "plan {number} names line {}, which is not in `{}` (lines {})",
                plan.line,
                place.name,
                lines.collect::<Vec<_>>().join(", ")
            ));
        }
        if plan.min_percent > plan.max_percent {
            return Err(format!(
                "plan {number} expects at least {} and at most {}",
                plan.min_percent, plan.max_percent
            ));
        }
    }
    Ok(answer)
}

fn hypothesis(plan: &Plan, author: &str) -> Hypothesis {
    let family: String = plan
        .family
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let family = if family.is_empty() { "idea".to_owned() } else { family };
    let said = blake3::hash(facts::one_line(&plan.rubric).as_bytes()).to_hex();
    Hypothesis {
        key: format!("{family}:{}-{}", plan.kernel, &said[..6]),
        kernel: plan.kernel.clone(),
        title: facts::one_line(&plan.title),
        reason: facts::one_line(&plan.reason),
        source: format!("proposed by {author}"),
        rubric: plan.rubric.trim().to_owned(),
        line: plan.line,
        gain: GainRange { min_percent: plan.min_percent, max_percent: plan.max_percent },
        innovation: plan.innovation,
        author: Some(author.to_owned()),
        present: Vec::new(),
        left_out: Vec::new(),
    }
}

/// The plans that say something new, and those that repeat an earlier one, one of `kept`, or one before them.
fn told_apart(plans: Vec<Hypothesis>, brief: &DesignBrief<'_>, kept: &[Hypothesis]) -> (Vec<Hypothesis>, Vec<Repeat>) {
    let mut earlier: Vec<Said<'_>> = brief.past.iter().map(|past| &*past.plan).chain(kept).map(Said::by).collect();
    let mut repeated: Vec<Option<Repeat>> = Vec::new();
    for plan in &plans {
        let said = Said::by(plan);
        let like = repeats(&said, &earlier).map(|like| Repeat { title: plan.title.clone(), like: like.title.clone() });
        if like.is_none() {
            earlier.push(said);
        }
        repeated.push(like);
    }
    drop(earlier);
    let (new, old): (Vec<_>, Vec<_>) = plans.into_iter().zip(repeated).partition(|(_, repeat)| repeat.is_none());
    (new.into_iter().map(|(plan, _)| plan).collect(), old.into_iter().filter_map(|(_, repeat)| repeat).collect())
}
