//! Stage 1 with a model behind it.

use std::collections::BTreeSet;
use std::sync::Arc;

use lab::{Cancel, Verdict};
use llm::{Model, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts;
use super::prompts::PromptError;
use super::{Inquiry, asked};
use crate::evolution::runs;
use crate::stages::{Population, Selection, Selector, StageError};

/// Asks a model for the base and the reference.
pub struct ModelSelector {
    inquiry: Arc<Inquiry>,
    model: Arc<Model>,
}

impl ModelSelector {
    pub(super) fn new(inquiry: Arc<Inquiry>, model: Arc<Model>) -> Self {
        Self { inquiry, model }
    }
}

/// What the model answers.
#[derive(Debug, Deserialize, JsonSchema)]
struct Choice {
    /// One or two sentences.
    reason: String,
    /// Id of the version to improve next.
    base: u32,
    /// Id of the version to borrow from.
    reference: u32,
}

#[derive(Serialize)]
struct Facts<'a> {
    device: &'a str,
    by_forecast: bool,
    shapes: Vec<String>,
    population: Vec<facts::Row>,
    stalled: usize,
    eligible: String,
    kernel: Option<&'a str>,
}

pub(super) fn question(
    inquiry: &Inquiry,
    population: &Population,
    kernel: Option<&str>,
) -> Result<Request, PromptError> {
    let members = facts::shown(population);
    let shapes = facts::shapes(&members);
    let gains = |member: &crate::stages::Member| member.verdict == Some(Verdict::Faster);
    let rows = facts::rows(&members, &shapes);
    // Of a large population those that stand in the table.
    let shown: BTreeSet<u32> = rows.iter().map(|row| row.id).collect();
    let facts = Facts {
        device: &inquiry.device,
        by_forecast: inquiry.by_forecast,
        population: rows,
        shapes,
        stalled: population.members.iter().skip(1).rev().take_while(|member| !gains(member)).count(),
        eligible: eligible(population, |id| shown.contains(&id)),
        kernel,
    };
    let system = inquiry.prompts.render("system.md", &facts)?;
    let request = Request::new("selector", system, inquiry.prompts.render("selector.md", &facts)?);
    Ok(Request { schema: Some(llm::structured::schema_of::<Choice>()), ..request })
}

fn eligible(population: &Population, is_shown: impl Fn(u32) -> bool) -> String {
    let members = population.members.iter().filter(|member| runs(member) && is_shown(member.id));
    members.map(|member| member.id.to_string()).collect::<Vec<_>>().join(", ")
}

impl Selector for ModelSelector {
    fn select(
        &mut self,
        population: &Population,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Selection, StageError> {
        // With the original alone there is nothing to choose, and nothing to pay for.
        if population.members.len() == 1 {
            let reason = "There is only the original so far.".to_owned();
            return Ok(Selection { base: 0, reference: 0, reason });
        }
        let request = question(&self.inquiry, population, kernel)?;
        let usable = |choice: Choice| {
            for id in [choice.base, choice.reference] {
                if !population.members.get(id as usize).is_some_and(runs) {
                    return Err(format!(
                        "{id} is no version with a time; those are {}",
                        eligible(population, |_| true)
                    ));
                }
            }
            Ok(Selection { base: choice.base, reference: choice.reference, reason: facts::one_line(&choice.reason) })
        };
        asked(cancel, |caller| self.model.ask_checked(&request, caller, usable))
    }
}
