//! The text under test and where it stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hip_syntax::Fingerprint;

use crate::LabError;
use crate::toolchain::clangd;
use crate::toolchain::includes::{self, Headers};

/// One version of a source file: the text that is built, and the path that messages and includes refer to.
///
/// The text need not be what is on disk: an unsaved buffer and a candidate are sources too.
#[derive(Clone, Debug)]
pub struct Source {
    /// Absolute path of the file in the user's workspace.
    pub path: PathBuf,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A source at `path` with `text`.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Makes sure that compilers can be given `path`: in an overlay of files, in a `#line`, in a list of dependencies.
    ///
    /// # Errors
    /// [`LabError::Usage`] when it is not UTF-8 or holds a control character, a quote or a backslash.
    pub fn check_path(path: &Path) -> Result<(), LabError> {
        if path.to_str().is_some_and(|name| !name.contains(|c: char| c.is_control() || c == '\\' || c == '"')) {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{}: its path is not UTF-8, or holds a control character, a quote or a backslash, which compilers do not take; \
             rename it",
            path.display()
        )))
    }

    /// The folder that relative includes are looked up in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Fingerprint of the user's own headers that the source includes, as they lie on the disk; none where it includes none.
    /// Figures of its kernels rest on them as on the kernels' own text.
    pub fn headers(&self) -> Option<Fingerprint> {
        if !includes::may_be_users(&self.text) {
            return None;
        }
        // What clangd's files say wrongly is told by what builds the source.
        let folders = clangd::options_for(&self.path).map(|options| options.include_folders).unwrap_or_default();
        let mut headers = Headers::new(&folders);
        headers.follow(&self.path, &self.text);
        headers.fingerprint()
    }

    /// The same file with another text.
    pub fn with_text(&self, text: impl Into<Arc<str>>) -> Self {
        Self { path: self.path.clone(), text: text.into() }
    }
}

/// The path by which a file is known, whichever way it was reached: in its real folder, through no link and no `..`, and with its
/// own name, which what lies beside it goes by. A path whose folder is not there is taken as it is.
pub fn identity(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_file_is_the_same_by_whatever_way_it_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        for way in ["real/a.hip", "link/a.hip", "link/../real/a.hip", "real/./a.hip"] {
            assert_eq!(identity(&root.join(way)), root.join("real/a.hip"), "{way}");
        }
        assert_eq!(identity(Path::new("/nowhere/at/all.hip")), Path::new("/nowhere/at/all.hip"));
    }

    #[test]
    fn paths_that_compilers_do_not_take_are_told() {
        for bad in [&b"/w/\xff.hip"[..], b"/w/a\nb.hip", b"/w/a\tb.hip", b"/w/a\\b.hip", b"/w/a\"b.hip"] {
            let error = Source::check_path(Path::new(OsStr::from_bytes(bad))).unwrap_err().to_string();
            assert!(error.contains("rename it"), "{error}");
        }
        Source::check_path(Path::new("/w w/größe 大.hip")).unwrap();
    }

    #[test]
    fn figures_rest_on_the_users_headers() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let headers = |text: &str| Source::new(folder.path().join("a.hip"), text).headers();
        let includes = "#include <hip/hip_runtime.h>\n#include <vector>\n#include \"tile.h\"\n";
        assert_eq!(headers("#include <hip/hip_runtime.h>\n#include <vector>\nint tile;"), None);
        assert_eq!(headers(includes), None, "a header that is not there");
        put("tile.h", "#include \"size.h\"\nconstexpr int tile = SIZE;");
        put("size.h", "#define SIZE 16");
        let before = headers(includes);
        assert!(before.is_some());
        assert_eq!(headers(includes), before);
        put("size.h", "#define SIZE 32");
        assert_ne!(headers(includes), before, "a header of a header has changed");
        put("size.h", "#define SIZE 16");
        assert_eq!(headers(includes), before);
        put("beside.h", "#define SIZE 8");
        assert_eq!(headers(includes), before, "a header that is not included");
    }
}
