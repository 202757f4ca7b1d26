//! The C++ side, carried in this binary: the HIP headers and runtime for the host, and the harness.

use std::fs;
use std::path::Path;

use crate::LabError;

include!(concat!(env!("OUT_DIR"), "/runtime_files.rs"));

/// Writes every file below `folder`.
pub(crate) fn unpack(folder: &Path) -> Result<(), LabError> {
    for (name, bytes) in RUNTIME_FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(LabError::io("creating", parent))?;
        }
        fs::write(&path, bytes).map_err(LabError::io("writing", &path))?;
    }
    Ok(())
}

/// Names of the C++ files directly in `folder`, such as `src`, as paths relative to the unpacked root; sorted.
pub(crate) fn sources_in(folder: &str) -> Vec<&'static str> {
    let directly_in = |name: &&str| Path::new(name).parent() == Some(Path::new(folder)) && name.ends_with(".cpp");
    RUNTIME_FILES.iter().map(|(name, _)| *name).filter(directly_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_unpacked_whole() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        assert!(!RUNTIME_FILES.is_empty());
        for (name, bytes) in RUNTIME_FILES {
            assert_eq!(fs::read(folder.path().join(name)).unwrap(), *bytes, "{name}");
        }
    }
}
