//! Which of the user's files a compiler may read for a version of a source.
//!
//! What a compiler reads can come back in its messages (`#embed`, `.incbin`, an include that is no code), and from there to
//! whoever wrote the version; and it can be compiled in. Beside the source lies the benchmark file with the sizes that are kept
//! from models, and whatever else the user has there. So a version may read what the *original's* text names, its headers'
//! headers included, and folders of headers that were named and lie elsewhere. The sandbox enforces it where the kernel has
//! Landlock; a project below `/usr`, which compilers read anyway, is not protected.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::CompileOptions;
use super::includes::{self, Headers};
use crate::benchmark::Benchmark;
use crate::{LabError, Source};

/// The user's files and folders that may be read, and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Absolute, without `.` and `..`.
    files: BTreeSet<PathBuf>,
    /// Readable as a whole.
    folders: Vec<PathBuf>,
    /// Real paths of what is never readable.
    hidden: Vec<PathBuf>,
    /// An include is named by a macro, so that the text does not say all that is read.
    is_open: bool,
}

impl Confinement {
    /// To what `source` reads when it is compiled with `options`. The file `hidden` is never read, nor is one that is named like
    /// a benchmark file.
    ///
    /// # Errors
    /// A source file of the program cannot be read.
    pub(crate) fn to(source: &Source, options: &CompileOptions, hidden: Option<&Path>) -> Result<Self, LabError> {
        let path = plain(&source.path)?;
        let beside = Benchmark::path_for(&path);
        let mut confinement =
            Self { hidden: hidden.into_iter().chain([beside.as_path()]).map(real).collect(), ..Self::default() };
        let named: Vec<PathBuf> = options.include_folders.iter().chain(&options.system_folders).cloned().collect();
        confinement.folders = named.iter().filter(|folder| !confinement.is_around(folder, &path)).cloned().collect();
        confinement.follow(&path, &source.text, options, &named)?;
        Ok(confinement)
    }

    /// Whether a folder holds the source, or what is hidden.
    fn is_around(&self, folder: &Path, source: &Path) -> bool {
        let folder = real(folder);
        real(source).starts_with(&folder) || self.hidden.iter().any(|hidden| hidden.starts_with(&folder))
    }

    fn follow(
        &mut self,
        path: &Path,
        text: &str,
        options: &CompileOptions,
        folders: &[PathBuf],
    ) -> Result<(), LabError> {
        let mut headers = Headers::new(folders);
        headers.put(path.to_owned(), text.to_owned());
        let mut waiting = vec![(path.to_owned(), text.to_owned())];
        for other in options.main.iter().chain(&options.sources) {
            let other = plain(other)?;
            let text = std::fs::read_to_string(&other).map_err(LabError::io("reading", &other))?;
            waiting.push((other.clone(), text));
            self.allow(other);
        }
        // What the command line says counts like a first line of the source.
        let defined = options.defines.iter().map(|define| format!("#define {define}\n"));
        let forced = options.forced_includes.iter().map(|file| format!("#include \"{}\"\n", file.display()));
        waiting.push((path.to_owned(), defined.chain(forced).collect()));
        while let Some((includer, text)) = waiting.pop() {
            let named = includes::named(&text);
            self.is_open |= named.by_macro;
            for include in named.files {
                let Some(found) = headers.find(path, &includer, &include) else { continue };
                if found == path || self.files.contains(&found) || !self.allow(found.clone()) {
                    continue;
                }
                // What is no text names no further files.
                waiting.extend(std::fs::read_to_string(&found).ok().map(|text| (found, text)));
            }
        }
        Ok(())
    }

    /// Lets a file be read, unless it is hidden.
    fn allow(&mut self, file: PathBuf) -> bool {
        let real = real(&file);
        let is_hidden = self.hidden.contains(&real) || real.to_string_lossy().ends_with(Benchmark::ENDING);
        !is_hidden && self.files.insert(file)
    }

    /// Whether the text does not say all that is read.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Lets `files` be read too.
    pub(crate) fn with(mut self, files: Vec<PathBuf>) -> Self {
        for file in files {
            self.allow(file);
        }
        self
    }

    /// Lets be read what `other` lets, unless it is hidden here.
    pub(crate) fn and(self, other: &Self) -> Self {
        let mut both = self.with(other.files.iter().cloned().collect());
        let folders = other.folders.iter().filter(|folder| !both.folders.contains(folder));
        let more: Vec<_> = folders.filter(|folder| !both.is_around(folder, Path::new("/"))).cloned().collect();
        both.folders.extend(more);
        both
    }

    /// Whether a file may be read; the system's may in any case.
    pub(crate) fn allows(&self, file: &Path) -> bool {
        self.files.contains(file)
            || file.starts_with("/usr")
            || self.folders.iter().any(|folder| file.starts_with(folder))
    }

    /// What the sandbox is to let be read.
    pub(crate) fn readable(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().chain(&self.folders).cloned()
    }
}

fn plain(path: &Path) -> Result<PathBuf, LabError> {
    Ok(crate::paths::without_dots(&std::path::absolute(path).map_err(LabError::io("opening", path))?))
}

/// The path without links, of what is there; as it is otherwise.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What of these files may be read.
    fn allowed(text: &str, options: impl Fn(&Path) -> CompileOptions) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in [
            ("p/near.h", "#include \"deep/er.h\"\n"),
            ("p/deep/er.h", ""),
            ("p/beside.h", ""),
            ("p/table.bin", "\u{1}"),
            ("p/a.bench.toml", "entry = \"run\"\n"),
            ("p/sizes.toml", ""),
            ("p/inc/own.h", ""),
            ("given/lib.h", ""),
            ("given/sub/other.h", ""),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink(root.join("p/a.bench.toml"), root.join("p/link.h")).unwrap();
        let source = Source::new(root.join("p/a.hip"), text);
        let found = Confinement::to(&source, &options(&root), Some(&root.join("p/sizes.toml"))).unwrap();
        let readable: Vec<PathBuf> = found.readable().collect();
        readable.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_version_reads_what_the_original_names_and_never_the_benchmark_file() {
        let none = |_: &Path| CompileOptions::default();
        let check = |text: &str, expected: &[&str]| assert_eq!(allowed(text, none), expected, "{text}");
        check("int a;", &[]);
        check("#include \"near.h\"\n", &["p/deep/er.h", "p/near.h"]);
        check("#include \"a.bench.toml\"\n#include \"link.h\"\n#include \"sizes.toml\"\n", &[]);
        check("const char t[] = {\n#embed \"table.bin\" limit(4)\n};", &["p/table.bin"]);
        check("asm(\".incbin \\\"table.bin\\\"\");", &["p/table.bin"]);
        check("#define TABLES \"beside.h\"\n#include TABLES\n", &["p/beside.h"]);
        check("#if __has_include(\"beside.h\")\n#endif\n", &["p/beside.h"]);
        check("#if __has_include ( <deep/er.h> )\n#endif\n", &["p/deep/er.h"]);
        check("#define FORMAT \"%d.%d\"\n", &[]);
    }

    #[test]
    fn folders_that_were_named_are_read_where_they_hold_neither_source_nor_sizes() {
        let folders = |names: &'static [&str]| {
            move |root: &Path| CompileOptions {
                include_folders: names.iter().map(|name| root.join(name)).collect(),
                ..CompileOptions::default()
            }
        };
        let include = "#include <lib.h>\n#include <own.h>\n";
        assert_eq!(allowed(include, folders(&["given", "p/inc"])), ["given/lib.h", "p/inc/own.h", "given", "p/inc"]);
        assert_eq!(allowed("#include <given/lib.h>\n", folders(&["p", ""])), ["given/lib.h"]);
        let others = |root: &Path| CompileOptions {
            defines: vec!["TABLES=\"beside.h\"".into()],
            forced_includes: vec![root.join("p/near.h")],
            ..CompileOptions::default()
        };
        assert_eq!(allowed("#include TABLES\n", others), ["p/beside.h", "p/deep/er.h", "p/near.h"]);
        let of_a_program = |root: &Path| CompileOptions {
            main: Some(root.join("p/near.h")),
            sources: vec![root.join("given/lib.h")],
            ..CompileOptions::default()
        };
        assert_eq!(allowed("int a;", of_a_program), ["given/lib.h", "p/deep/er.h", "p/near.h"]);
    }
}
