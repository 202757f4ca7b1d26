//! Stage 3 with the catalog behind it: carries out a plan by its rewrite.

use std::sync::Arc;

use lab::Cancel;

use crate::catalog::Catalog;
use crate::stages::{Draft, StageError, WriteBrief, Writer};

/// Writes what the catalog's rewrite makes of the base. Rule-based; the reference is not needed.
pub struct CatalogWriter {
    catalog: Arc<Catalog>,
}

impl CatalogWriter {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog }
    }
}

impl Writer for CatalogWriter {
    fn write(&self, brief: &WriteBrief<'_>, cancel: &Cancel) -> Result<Vec<Draft>, StageError> {
        let WriteBrief { base, plan, .. } = brief;
        self.catalog.apply_until(&base.text, Some(&plan.kernel), &plan.key, cancel)
    }
}
