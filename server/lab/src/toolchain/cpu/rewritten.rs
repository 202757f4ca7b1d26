//! The texts that the compiler sees, and the way back to the user's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hip_syntax::rewrite::Barriers;
use hip_syntax::{CpuSource, Syntax};

use crate::LabError;
use crate::toolchain::includes::Header;

const OVERLAY: &str = "overlay.json";
const STAND_IN: &str = "main.cpp";

/// One text, rewritten for the CPU.
pub(super) struct Rewritten {
    source: CpuSource,
    glue: Option<String>,
}

impl Rewritten {
    /// Rewrites `text` and puts `glue` after it. Messages about the glue name no file of the user's.
    pub(super) fn new(text: &str, glue: Option<&str>, barriers: Barriers) -> Self {
        // A large text takes megabytes to read, and builds side by side would each have them: so one after the other, for the
        // moment that it takes.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let source = hip_syntax::rewrite::cpu(&Syntax::without_tree(text), barriers);
        Self { source, glue: glue.map(str::to_owned) }
    }

    /// The same text with all its kernels whole.
    fn on_fibers(&self) -> Self {
        Self::new(self.source.original(), self.glue.as_deref(), Barriers::Fibers)
    }

    /// The rewritten text, with what was put after it.
    fn text(&self) -> Cow<'_, str> {
        match &self.glue {
            Some(glue) => format!("{}\n#line 1 \"<benchmark>\"\n{glue}\n", self.source.text).into(),
            None => self.source.text.as_str().into(),
        }
    }
}

/// The main file and the user's headers that had to be rewritten.
pub(super) struct Sources {
    /// The main file.
    pub main: PathBuf,
    /// The program's other source files, each a unit of its own.
    pub others: Vec<PathBuf>,
    rewritten: BTreeMap<PathBuf, Rewritten>,
    /// Where the headers lie, rewritten or not.
    header_folders: Vec<PathBuf>,
}

impl Sources {
    /// `text` in the place of `main`, and those of `headers` that are not on disk as the compiler must see them. The texts
    /// of `others` are among the headers'.
    pub(super) fn new(
        main: PathBuf,
        text: Rewritten,
        others: Vec<PathBuf>,
        headers: BTreeMap<PathBuf, Header>,
        barriers: Barriers,
    ) -> Self {
        let mut header_folders: Vec<_> = headers.keys().filter_map(|path| Some(path.parent()?.to_owned())).collect();
        header_folders.dedup();
        // Most headers hold neither launches nor dynamic shared memory and need not be read more closely.
        let may_change =
            |text: &str| ["<<<", "__shared__", "hipLaunchKernel", "__global__"].iter().any(|sign| text.contains(sign));
        let mut rewritten: BTreeMap<_, _> = headers
            .into_iter()
            .filter(|(_, header)| !header.on_disk || may_change(&header.text))
            .map(|(path, header)| (path, Rewritten::new(&header.text, None, barriers), header))
            .filter(|(_, rewritten, header)| !header.on_disk || rewritten.text() != header.text)
            .map(|(path, rewritten, _)| (path, rewritten))
            .collect();
        rewritten.insert(main.clone(), text);
        Self { main, others, rewritten, header_folders }
    }

    /// Whether a kernel was split at its barriers.
    pub(super) fn is_split(&self) -> bool {
        self.rewritten.values().any(|rewritten| !rewritten.source.split.is_empty())
    }

    /// The same files with all kernels whole.
    pub(super) fn on_fibers(&self) -> Self {
        let rewritten = self.rewritten.iter().map(|(path, rewritten)| (path.clone(), rewritten.on_fibers())).collect();
        Self {
            main: self.main.clone(),
            others: self.others.clone(),
            rewritten,
            header_folders: self.header_folders.clone(),
        }
    }

    /// Path and text of each file that has a place in the overlay.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&Path, Cow<'_, str>)> {
        self.rewritten.iter().map(|(path, rewritten)| (path.as_path(), rewritten.text()))
    }

    /// Whether the compiler sees our text instead of the file at `path`.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.rewritten.contains_key(path)
    }

    /// The user's column for a column of the compiler's.
    pub(super) fn original_column(&self, path: &Path, line: u32, column: u32) -> u32 {
        match self.rewritten.get(path) {
            Some(rewritten) if line > 0 && column > 0 => rewritten.source.original_column(line, column),
            _ => column,
        }
    }

    /// Folders that the compiler has to read.
    pub(super) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.main.parent().map(Path::to_owned).into_iter().chain(self.header_folders.iter().cloned())
    }

    /// The overlay's description in `work`, for `-ivfsoverlay`.
    pub(super) fn overlay(&self, work: &Path) -> PathBuf {
        work.join(OVERLAY)
    }

    /// What the compiler is told to compile: the user's file, or, where none was saved yet, a file that includes it
    /// (clang's driver looks for its input past the overlay).
    pub(super) fn input(&self, work: &Path) -> PathBuf {
        if self.main.is_file() { self.main.clone() } else { work.join(STAND_IN) }
    }

    /// Writes texts and overlay below `work`.
    pub(super) fn write(&self, work: &Path) -> Result<(), LabError> {
        let write = |path: PathBuf, text: &str| fs::write(&path, text).map_err(LabError::io("writing", path));
        let mut roots = Vec::new();
        for (number, (path, text)) in self.texts().enumerate() {
            let place = work.join(format!("text-{number}"));
            roots.push(serde_json::json!({ "type": "file", "name": path, "external-contents": place }));
            write(place, &text)?;
        }
        // The names in messages and in __FILE__ stay the user's.
        let overlay = serde_json::json!({ "version": 0, "use-external-names": false, "roots": roots });
        write(self.overlay(work), &overlay.to_string())?;
        if self.input(work) != self.main {
            write(self.input(work), &format!("#include \"{}\"\n", self.main.display()))?;
        }
        Ok(())
    }
}
