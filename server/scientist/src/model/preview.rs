//! The next question of a stage, without anybody being asked: a run goes on as it would, up to that question.

use std::sync::{Arc, Mutex, PoisonError};

use lab::Cancel;
use llm::Request;

use super::prompts::PromptError;
use super::{Inquiry, designer, selector, writer};
use crate::catalog::Catalog;
use crate::designer::CatalogDesigner;
use crate::selector::CatalogSelector;
use crate::stages::{
    Design, DesignBrief, Designer, Draft, Population, Selection, Selector, StageError, WriteBrief, Writer,
};
use crate::writer::CatalogWriter;

/// A stage of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Stage 1.
    Selector,
    /// Stage 2.
    Designer,
    /// Stage 3.
    Writer,
}

/// Stages of which one keeps its question, at which the run then stands still. In place of the others, where a run has no
/// answer of theirs on record, stands the catalog.
pub struct Preview {
    inquiry: Inquiry,
    at: Stage,
    question: Mutex<Option<Result<Request, PromptError>>>,
}

/// A stage of a [`Preview`].
pub struct Previewed<S> {
    preview: Arc<Preview>,
    stand_in: S,
}

impl Preview {
    /// Of the question of one stage.
    pub fn new(inquiry: Inquiry, at: Stage) -> Arc<Self> {
        Arc::new(Self { inquiry, at, question: Mutex::default() })
    }

    /// The stages.
    pub fn stages(
        self: &Arc<Self>,
        catalog: Catalog,
    ) -> (Previewed<CatalogSelector>, Previewed<CatalogDesigner>, Previewed<CatalogWriter>) {
        let (selector, designer, writer) = catalog.stages();
        (
            Previewed { preview: Arc::clone(self), stand_in: selector },
            Previewed { preview: Arc::clone(self), stand_in: designer },
            Previewed { preview: Arc::clone(self), stand_in: writer },
        )
    }

    /// The question; `None` where the run never came to it.
    pub fn question(&self) -> Option<Result<Request, PromptError>> {
        self.question.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps the question if it is that of the stage that is looked at.
    fn comes_to(
        &self,
        stage: Stage,
        question: impl FnOnce(&Inquiry) -> Result<Request, PromptError>,
    ) -> Result<(), StageError> {
        if self.at != stage {
            return Ok(());
        }
        let question = question(&self.inquiry);
        self.question.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(question);
        Err(StageError::Unavailable("the question is known".into()))
    }
}

impl Selector for Previewed<CatalogSelector> {
    fn select(
        &mut self,
        population: &Population,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Selection, StageError> {
        // As the selector itself: with the original alone nobody is asked.
        if population.members.len() == 1 {
            if self.preview.at == Stage::Selector {
                let why = "with the original alone there is nothing to choose";
                return Err(StageError::Unavailable(why.into()));
            }
            return self.stand_in.select(population, kernel, cancel);
        }
        self.preview.comes_to(Stage::Selector, |inquiry| selector::question(inquiry, population, kernel))?;
        self.stand_in.select(population, kernel, cancel)
    }
}

impl Designer for Previewed<CatalogDesigner> {
    fn design(&mut self, brief: &DesignBrief<'_>, cancel: &Cancel) -> Result<Design, StageError> {
        self.preview.comes_to(Stage::Designer, |inquiry| designer::question(inquiry, brief, cancel))?;
        self.stand_in.design(brief, cancel)
    }
}

impl Writer for Previewed<CatalogWriter> {
    fn write(&self, brief: &WriteBrief<'_>, cancel: &Cancel) -> Result<Vec<Draft>, StageError> {
        self.preview.comes_to(Stage::Writer, |inquiry| writer::question(inquiry, brief, cancel))?;
        self.stand_in.write(brief, cancel)
    }

    /// What a model mended is on record and is taken from there; what has no record stays as it failed.
    fn mends(&self) -> bool {
        true
    }
}
