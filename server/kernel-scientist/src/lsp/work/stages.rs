//! Who stands behind the stages of a job, what its run begins with, and what it may use up.

use std::sync::Arc;

use lab::workbench::Workbench;
use notebook::{Notebook, Run};
use scientist::budget::Budget;
use scientist::evolution::CallLog;
use scientist::stages::{Finding, Hypothesis, Writer};
use scientist::trial;

use super::{Assignment, told, unforeseen};
use crate::cli::evolve;
use crate::cli::provider::{BoxedStages, Provider};
use crate::config::Config;
use crate::designed::{self, Who};
use crate::lsp::outcome::{Outcome, Told};
use crate::models::{Models, Reach};
use crate::recorded::{self, About, Beginning};

impl Assignment {
    /// The run's seed, and what earlier runs have taught where models are to hear of it.
    pub(super) fn begins_with(
        &self,
        notebook: &Notebook,
        provider: &Provider,
        run: Option<&Run>,
        reach: &mut Reach,
    ) -> Result<(u64, Option<Vec<Finding>>), Outcome> {
        let Provider::Models(names) = provider else {
            return Ok((run.map_or_else(recorded::seed, |run| run.seed), None));
        };
        let device = self.device()?;
        let about = About { file: &self.source.path, device: &device, run, seed: None };
        let beginning = Beginning::of(&about, names, notebook, reach).map_err(|error| told(error.into()))?;
        Ok((beginning.seed, Some(beginning.findings)))
    }

    /// The stages with models behind them, or the catalog.
    pub(super) fn stages(
        &self,
        models: Option<&Models>,
        config: &Config,
        bench: &Workbench,
    ) -> Result<BoxedStages, Outcome> {
        let Some(models) = models else {
            let (selector, designer, writer) = self.shelf.fed_by(bench.benchmark()).stages();
            return Ok((Box::new(selector), Box::new(designer), Box::new(writer)));
        };
        let (selector, designer, writer) = models.scientist(config, bench).map_err(Outcome::Error)?.stages();
        Ok((Box::new(selector), Box::new(designer), Box::new(writer)))
    }

    /// The models of a provider, set up, where it has any and something may be spent.
    pub(super) fn connect(&self, provider: &Provider) -> Result<Option<Models>, Outcome> {
        let config = self.config()?;
        let models = provider.connect(&self.reach(0), &config).map_err(told)?;
        if let Some(models) = &models {
            models.notes.iter().for_each(|note| tracing::warn!("{note}"));
            models.keep_to(&self.budget(&config, Some(models))?);
        }
        Ok(models)
    }

    /// What a model's designer would try.
    pub(super) fn designed(
        &self,
        provider: &Provider,
        models: &Models,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Outcome, Outcome> {
        let bench = self.open_whole(&self.source, tell)?;
        let notebook = Notebook::open(&self.notebook)?;
        let scientist = models.scientist(&self.config()?, &bench).map_err(Outcome::Error)?;
        let mut say = |doing: &str| tell(Told::Doing(doing.to_owned(), None));
        let (kernel, cancel) = (self.kernel.as_deref(), &self.cancel);
        let name = provider.name();
        let who = Who { models, scientist: &scientist, provider: &name };
        let found = designed::hypotheses(&bench, &who, &notebook, kernel, cancel, &mut say)?;
        let usd = models.ledger.spent().usd;
        let cost = if usd > 0.0 { format!(" for {usd:.4} US dollars") } else { String::new() };
        Ok(Outcome::Suggested(unforeseen(found), None, format!("by {name}{cost}")))
    }

    /// Who writes a hypothesis: whoever thought it up, a model or the catalog.
    pub(super) fn author(&self, hypothesis: &Hypothesis, bench: &Workbench) -> Result<Author, Outcome> {
        if hypothesis.author.is_none() {
            let writer = Box::new(self.shelf.catalog(&self.source.path).writer());
            return Ok(Author { writer, provider: "catalog".into(), calls: Arc::new(Vec::new) });
        }
        let provider = self.provider()?;
        let models = self.connect(&provider)?.ok_or_else(|| {
            let who = hypothesis.author.as_deref().unwrap_or_default();
            Outcome::Error(format!(
                "{who} thought this up, and no model is set to write it; set kernelScientist.provider"
            ))
        })?;
        let (_, _, writer) = models.scientist(&self.config()?, bench).map_err(Outcome::Error)?.stages();
        Ok(Author { writer: Box::new(writer), provider: provider.name(), calls: models.calls() })
    }
}

/// What a run had, and as much again as it began with.
pub(super) fn with_more(notebook: &Notebook, run: &Run) -> Result<Budget, Outcome> {
    let unread =
        |error: serde_json::Error| Outcome::Error(format!("the budget of run {} cannot be read: {error}", run.id));
    let first: Budget = serde_json::from_value(run.budget.clone()).map_err(unread)?;
    if first.generations == 0 {
        return Err(Outcome::Error(format!(
            "run {} tested one hypothesis and has no generations to go on with",
            run.id
        )));
    }
    Ok(evolve::budget_of(notebook, run).map_err(told)?.with_more(&first))
}

/// Who writes a hypothesis.
pub(super) struct Author {
    writer: Box<dyn Writer>,
    provider: String,
    calls: CallLog,
}

impl Author {
    pub(super) fn by(&self) -> trial::Author<'_> {
        trial::Author { writer: &*self.writer, provider: self.provider.clone(), calls: Arc::clone(&self.calls) }
    }
}
