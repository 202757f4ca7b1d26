//! Stage 3 with a model behind it.

use std::path::Path;
use std::sync::Arc;

use lab::sanitize::Fault;
use lab::{Cancel, Failure};
use llm::{Message, Model, Request};
use serde::Serialize;

use super::code_answer::{self, Written};
use super::prompts::PromptError;
use super::{Inquiry, Machine, asked, facts, limits};
use crate::findings::in_words;
use crate::stages::{Draft, Hypothesis, RepairBrief, StageError, WriteBrief, Writer};

/// Messages of the compiler, and of sanitizers, shown for a repair at most.
const MESSAGES: usize = 8;
/// Characters of a line that is shown beside a message at most.
const LINE: usize = 300;
/// Tokens of an answer that holds a file, at first.
const FILE_TOKENS: u32 = 32_768;

/// Asks a model for a version's text.
pub struct ModelWriter {
    inquiry: Arc<Inquiry>,
    model: Arc<Model>,
}

impl ModelWriter {
    pub(super) fn new(inquiry: Arc<Inquiry>, model: Arc<Model>) -> Self {
        Self { inquiry, model }
    }
}

#[derive(Serialize)]
struct Facts<'a> {
    device: &'a str,
    base: facts::Version<'a>,
    reference: Option<facts::Version<'a>>,
    task: &'a str,
    arch: &'a str,
    machine_code: Vec<String>,
    plan: &'a Hypothesis,
    keep: String,
    knowledge: String,
    edits: bool,
}

pub(super) fn question(inquiry: &Inquiry, brief: &WriteBrief<'_>, cancel: &Cancel) -> Result<Request, PromptError> {
    let text = &brief.base.text;
    // What the plan says chooses notes too: it may bring in what the base does not do yet.
    let about = format!("{text}\n{}\n{}", brief.plan.title, brief.plan.rubric);
    let facts = Facts {
        device: &inquiry.device,
        base: facts::Version::of(brief.base),
        reference: (brief.reference.id != brief.base.id).then(|| facts::Version::of(brief.reference)),
        task: &inquiry.task.text,
        arch: inquiry.machine.as_ref().map_or("", Machine::arch),
        machine_code: inquiry.machine.as_ref().map_or_else(Vec::new, |machine| machine.lines(text, cancel)),
        plan: brief.plan,
        keep: keep(inquiry),
        knowledge: inquiry.knowledge.text(&about, inquiry.knowledge_tokens),
        edits: by_edits(inquiry, text),
    };
    let system = inquiry.prompts.render("system.md", &facts)?;
    let mut request = Request::new("writer", system, inquiry.prompts.render("writer.md", &facts)?);
    request.max_tokens = FILE_TOKENS;
    Ok(request)
}

fn by_edits(inquiry: &Inquiry, text: &str) -> bool {
    text.lines().count() > inquiry.whole_file_lines
}

fn keep(inquiry: &Inquiry) -> String {
    match &inquiry.task.entry {
        Some(entry) => format!("Keep the name and the parameters of `{entry}`, which the benchmark calls."),
        None => {
            "Keep the names and the parameters of what is called from outside, and what the program prints.".to_owned()
        }
    }
}

#[derive(Serialize)]
struct Repairing<'a> {
    device: &'a str,
    failure: String,
    places: Vec<Place>,
    faults: Vec<Place>,
    draft: &'a str,
    plan: &'a Hypothesis,
    keep: String,
    edits: bool,
}

#[derive(Serialize)]
struct Place {
    /// In the draft; 0 for a place elsewhere, which the message names.
    line: u32,
    message: String,
    text: String,
}

/// The compiler's messages with the lines of the draft that they are about. Those about another file, such as the benchmark's,
/// stand without a line.
fn places(failure: &Failure, draft: &str, file: &Path) -> Vec<Place> {
    let Failure::DoesNotCompile { diagnostics } = failure else { return Vec::new() };
    let located = diagnostics.iter().filter(|diagnostic| diagnostic.line > 0);
    located
        .take(MESSAGES)
        .map(|diagnostic| {
            let message = facts::one_line(&diagnostic.message);
            if diagnostic.file == file {
                return Place { line: diagnostic.line, message, text: line_of(draft, diagnostic.line) };
            }
            let name = diagnostic.file.file_name().unwrap_or_default().to_string_lossy();
            Place { line: 0, message: format!("in {name}: {message}"), text: String::new() }
        })
        .collect()
}

fn line_of(draft: &str, line: u32) -> String {
    let line = draft.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim();
    line.chars().take(LINE).collect()
}

/// What a sanitizer found, with the other place that has to do with it.
fn of_fault(fault: &Fault, draft: &str) -> Option<Place> {
    let at = fault.at.as_ref()?;
    let mut message = facts::one_line(&fault.message);
    if let Some([x, y, z]) = fault.block {
        message.push_str(&format!(" (in block {x},{y},{z})"));
    }
    if let Some(other) = &fault.other {
        message.push_str(&format!("; {} in line {}: {}", other.did, other.line, line_of(draft, other.line)));
    }
    Some(Place { line: at.line, message, text: line_of(draft, at.line) })
}

impl ModelWriter {
    /// Asks for a version, once more where the first answer holds none; `edits` says in which form, which is against `base` then. `first`
    /// is what the plan began with: mending makes no version longer than writing may.
    fn version(
        &self,
        mut request: Request,
        base: &str,
        first: &str,
        edits: bool,
        cancel: &Cancel,
    ) -> Result<Draft, StageError> {
        let read = |answer: &str| -> Result<Written, String> {
            let written =
                if edits { code_answer::edited(answer, base) } else { code_answer::whole_file(answer, base) }?;
            // First of all: the others take their time with what is long.
            limits::check(&written.text, first)?;
            if let Some(entry) = &self.inquiry.task.entry {
                code_answer::keeps(entry, base, &written.text)?;
            }
            // Cheap; what is left to find out the build does.
            if !written.text.contains("__global__") {
                return Err("there is no kernel in the file".into());
            }
            Ok(written)
        };
        let answer = asked(cancel, |caller| self.model.ask(&request, caller))?;
        let written = match read(&answer.text) {
            Ok(written) => written,
            Err(problem) => {
                request.messages.push(Message::assistant(llm::structured::remembered(&answer.text)));
                request.messages.push(Message::user(format!(
                    "This answer cannot be used: {problem}.\nGive it again, whole, in the form that was asked for."
                )));
                let again = asked(cancel, |caller| self.model.ask(&request, caller))?;
                read(&again.text).map_err(|problem| {
                    StageError::Unusable(format!("{}: the answer cannot be used, twice: {problem}", self.model.name()))
                })?
            }
        };
        Ok(Draft { text: written.text, report: facts::one_line(&written.report), settings: Vec::new() })
    }
}

impl Writer for ModelWriter {
    fn write(&self, brief: &WriteBrief<'_>, cancel: &Cancel) -> Result<Vec<Draft>, StageError> {
        let request = question(&self.inquiry, brief, cancel)?;
        let base = &brief.base.text;
        Ok(vec![self.version(request, base, base, by_edits(&self.inquiry, base), cancel)?])
    }

    fn answers_at_once(&self) -> bool {
        // A recording has its answers in the order of the plans.
        self.model.is_recorded()
    }

    fn mends(&self) -> bool {
        true
    }

    fn repair(&self, brief: &RepairBrief<'_>, cancel: &Cancel) -> Result<Option<Draft>, StageError> {
        // What the harness caught is no slip of the pen.
        if matches!(brief.failure, Failure::Refused { .. }) {
            return Ok(None);
        }
        // The form that the question describes, whose length is the base's.
        let edits = by_edits(&self.inquiry, &brief.write.base.text);
        let facts = Repairing {
            device: &self.inquiry.device,
            failure: in_words(brief.failure),
            places: places(brief.failure, brief.draft, &self.inquiry.file),
            faults: brief.faults.iter().filter_map(|fault| of_fault(fault, brief.draft)).take(MESSAGES).collect(),
            draft: brief.draft,
            plan: brief.write.plan,
            keep: keep(&self.inquiry),
            edits,
        };
        let mut request = question(&self.inquiry, &brief.write, cancel)?;
        request.label = "repair".into();
        let repair = self.inquiry.prompts.render("repair.md", &facts)?;
        if let Some(asked) = request.messages.first_mut() {
            asked.text = format!("{}\n# What came of it\n\n{repair}", asked.text);
        }
        self.version(request, brief.draft, &brief.write.base.text, edits, cancel).map(Some)
    }
}
