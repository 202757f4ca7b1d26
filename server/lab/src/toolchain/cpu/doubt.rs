//! What was found out about builds whose kernels are split at their barriers, kept with the builds in the cache.

use std::path::Path;

use super::Cpu;
use crate::LabError;
use crate::cache::{Key, KeyMaker};

impl Cpu {
    /// Why the split kernels of the build at `built` are not trusted, if they were seen to differ from the same on fibers.
    pub(crate) fn doubt(&self, built: &Path) -> Option<String> {
        self.cache.read_note(&note(built, "differs from fibers", ""))
    }

    /// Keeps that the split kernels of `built` are not to be trusted, and why.
    pub(crate) fn keep_doubt(&self, built: &Path, why: &str) -> Result<(), LabError> {
        self.cache.write_note(&note(built, "differs from fibers", ""), why)
    }

    /// What came of comparing `built` with the same on fibers under `feed`: nothing, or why it could not be compared. `None`
    /// where it was not tried yet.
    pub(crate) fn compared(&self, built: &Path, feed: &str) -> Option<String> {
        self.cache.read_note(&note(built, "compared with fibers", feed))
    }

    /// Keeps what [`Cpu::compared`] tells.
    pub(crate) fn keep_compared(&self, built: &Path, feed: &str, remark: &str) -> Result<(), LabError> {
        self.cache.write_note(&note(built, "compared with fibers", feed), remark)
    }
}

/// The key of a note on the entry of `built`, whose name is the hash of all that went into it.
fn note(built: &Path, about: &str, feed: &str) -> Key {
    let entry = built.parent().map(|entry| entry.to_string_lossy()).unwrap_or_default();
    let name = Path::new(entry.as_ref()).file_name().map(|name| name.to_string_lossy().into_owned());
    KeyMaker::default().add(about).add(name.unwrap_or_default()).add(feed).key()
}
