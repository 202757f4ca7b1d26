//! The folder of one code generation.

use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::source::Source;

/// A temporary folder with the text, the overlay that puts it in its file's place, and the assembly.
pub(super) struct WorkFolder(tempfile::TempDir);

impl WorkFolder {
    pub fn new(source: &Source) -> Result<Self, LabError> {
        let folder = tempfile::Builder::new()
            .prefix("kernel-scientist-codegen-")
            .tempdir()
            .map_err(LabError::io("making a folder in", std::env::temp_dir()))?;
        let work = Self(folder);
        work.write("text", &source.text)?;
        // Clang reads YAML here, and JSON is YAML; the serialiser takes care of quoting odd paths.
        let overlay = serde_json::json!({
            "version": 0,
            "case-sensitive": "true",
            "use-external-names": "false",
            "roots": [{ "type": "file", "name": source.path, "external-contents": work.path().join("text") }],
        });
        work.write("overlay.yaml", &overlay.to_string())?;
        // The driver insists that its input exists on the disk itself, so a file that was never saved is included.
        work.write("unsaved.hip", &format!("#include \"{}\"\n", source.path.display()))?;
        Ok(work)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn overlay(&self) -> PathBuf {
        self.path().join("overlay.yaml")
    }

    pub fn assembly(&self) -> PathBuf {
        self.path().join("kernels.s")
    }

    /// The files that were read, as a makefile's rule.
    pub fn dependencies(&self) -> PathBuf {
        self.path().join("dependencies")
    }

    /// What to compile.
    pub fn input(&self, source: &Source) -> PathBuf {
        if source.path.is_file() { source.path.clone() } else { self.path().join("unsaved.hip") }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), LabError> {
        let path = self.path().join(name);
        std::fs::write(&path, text).map_err(LabError::io("writing", path))
    }
}
