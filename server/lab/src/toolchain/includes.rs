//! Follows the `#include` lines of a source to the user's own headers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hip_syntax::Fingerprint;

use crate::LabError;
use crate::paths::without_dots;
use crate::runtime_files::RUNTIME_FILES;

/// More headers than this are left to the compiler alone.
const MOST_HEADERS: usize = 512;
/// Folders beside the source's ancestors in which projects keep their headers.
const USUAL_FOLDERS: [&str; 7] = ["", "include", "inc", "Common", "common", "src", "utils"];
/// How far up from the source headers are looked for.
const MOST_ANCESTORS: usize = 6;

/// The text of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The text that counts.
    pub text: String,
    /// Whether it is what lies on the disk.
    pub on_disk: bool,
}

/// The user's headers that a source may include, conditions not evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headers {
    /// By path as the compiler will spell it: no `.` and `..`.
    pub texts: BTreeMap<PathBuf, Header>,
    /// Include folders that nobody named, found because a header was missing.
    pub found_folders: Vec<PathBuf>,
    /// The user's `-I`.
    folders: Vec<PathBuf>,
    followed: BTreeSet<PathBuf>,
}

impl Headers {
    /// None yet; includes are looked up in `folders`.
    pub(crate) fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_owned(), ..Self::default() }
    }

    /// Lets `text` stand for the header at `path`, whatever lies on the disk.
    pub(super) fn put(&mut self, path: PathBuf, text: String) {
        self.texts.insert(path, Header { text, on_disk: false });
    }

    /// Takes the source at `path` in, as if it were a header, and follows its includes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn follow_source(&mut self, path: &Path) -> Result<(), LabError> {
        if !self.texts.contains_key(path) {
            let text = std::fs::read_to_string(path).map_err(LabError::io("reading", path))?;
            self.texts.insert(path.to_owned(), Header { text, on_disk: true });
        }
        let text = self.texts[path].text.clone();
        self.follow(path, &text);
        Ok(())
    }

    /// Follows the includes of `text`, which stands at `source`.
    pub(crate) fn follow(&mut self, source: &Path, text: &str) {
        let mut waiting: Vec<_> = includes(text).map(|include| (source.to_owned(), include)).collect();
        while let Some((includer, include)) = waiting.pop() {
            if self.texts.len() >= MOST_HEADERS {
                break;
            }
            let Some(path) = self.find(source, &includer, &include) else { continue };
            if !self.followed.insert(path.clone()) {
                continue;
            }
            if !self.texts.contains_key(&path) {
                // A file that is no text is the compiler's to complain about.
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                self.texts.insert(path.clone(), Header { text, on_disk: true });
            }
            waiting.extend(includes(&self.texts[&path].text).map(|include| (path.clone(), include)));
        }
    }

    /// Of the texts of all headers; none where there are none.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        let each = self.texts.values().map(|header| Fingerprint::of_bytes(header.text.as_bytes()));
        each.fold(None, |before, header| Some(header.resting_on(before)))
    }

    /// The user's file that `include` in `includer` means.
    pub(super) fn find(&mut self, source: &Path, includer: &Path, include: &Include) -> Option<PathBuf> {
        let beside = include.quoted.then(|| includer.parent()).flatten();
        let known = self.folders.iter().chain(&self.found_folders).map(PathBuf::as_path);
        let mut places = beside.into_iter().chain(known).map(|folder| without_dots(&folder.join(&include.name)));
        if let Some(path) = places.find(|path| self.texts.contains_key(path) || path.is_file()) {
            return Some(path);
        }
        let folder = look_around(source, include)?;
        let path = without_dots(&folder.join(&include.name));
        self.found_folders.push(folder);
        Some(path)
    }
}

/// A file as a source names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    name: String,
    quoted: bool,
}

/// All that a text may make a compiler read.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The files that it names.
    pub(super) files: Vec<Include>,
    /// A macro names a further one.
    pub(super) by_macro: bool,
}

/// What a text names to be included, embedded or put in by the assembler, and in macros, which may be put to that use.
pub(super) fn named(text: &str) -> Named {
    let mut named = Named::default();
    for line in text.lines() {
        if line.contains("incbin") || line.contains("__has_include") || line.contains("__has_embed") {
            named.files.extend(quoted(line));
        }
        if let Some((_, asked)) = line.split_once("__has_include") {
            named.files.extend(asked.find('<').and_then(|at| include(&asked[at..])));
        }
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let directive = directive.trim_start();
        let rest = directive.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
        match &directive[..directive.len() - rest.len()] {
            "include" | "include_next" | "import" | "embed" => match include(rest.trim_start()) {
                Some(include) => named.files.push(include),
                None => named.by_macro = true,
            },
            "define" => {
                named.files.extend(quoted(rest));
                named.files.extend(rest.find('<').and_then(|at| include(&rest[at..])));
            }
            _ => {}
        }
    }
    named
}

/// What stands between quotes, which may be escaped, and may be a file's name.
fn quoted(line: &str) -> impl Iterator<Item = Include> {
    // Headers of libraries have thousands of texts, each of which would be looked for in many folders.
    let may_be_a_file =
        |part: &&str| part.contains('.') && !part.contains(|c: char| c.is_whitespace() || "%\\*?<>|:;,".contains(c));
    let parts = line.split('"').skip(1).map(|part| part.trim_end_matches('\\')).filter(may_be_a_file);
    parts.map(|name| Include { name: name.to_owned(), quoted: true })
}

/// `"NAME"` or `<NAME>` at the beginning of a text.
fn include(text: &str) -> Option<Include> {
    let (quoted, end) = match text.chars().next()? {
        '"' => (true, '"'),
        '<' => (false, '>'),
        _ => return None,
    };
    let (name, _) = text[1..].split_once(end)?;
    Some(Include { name: name.into(), quoted })
}

/// Whether one of the includes may be of the user's: not only headers of C++'s, which have no ending, and of HIP's.
pub(crate) fn may_be_users(text: &str) -> bool {
    let is_known =
        |include: &Include| !include.quoted && (!include.name.contains('.') || include.name.starts_with("hip/"));
    includes(text).any(|include| !is_known(&include))
}

/// The includes with a literal name.
fn includes(text: &str) -> impl Iterator<Item = Include> {
    text.lines().filter_map(|line| {
        include(line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start())
    })
}

/// The folder near the source, if any, in which a header that no `-I` leads to can be found. Examples that are compiled by
/// a makefile with `-I../../Common` work so without any settings.
fn look_around(source: &Path, include: &Include) -> Option<PathBuf> {
    if Path::new(&include.name).is_absolute() || (!include.quoted && is_of_the_system(&include.name)) {
        return None;
    }
    let ancestors = source.ancestors().skip(1).take(MOST_ANCESTORS);
    // Not above the project, and never in the file system's root.
    let mut inside = true;
    for ancestor in ancestors.take_while(|ancestor| ancestor.parent().is_some()) {
        if !inside {
            break;
        }
        for folder in USUAL_FOLDERS {
            let folder = ancestor.join(folder);
            if folder.join(&include.name).is_file() {
                return Some(without_dots(&folder));
            }
        }
        inside = !ancestor.join(".git").exists();
    }
    None
}

/// Whether `<name>` is the system's, the C++ library's (whose headers have no ending) or HIP's own.
fn is_of_the_system(name: &str) -> bool {
    let ours = Path::new("include").join(name);
    Path::new(name).extension().is_none()
        || Path::new("/usr/include").join(name).exists()
        || RUNTIME_FILES.iter().any(|(file, _)| ours == Path::new(file))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn includes_are_read_whatever_their_spacing() {
        let text = "#include \"a.h\"\n  # include <b/c.h> // x\n#include MACRO\n#import \"no\"\n// #include \"in a comment\"\n#include \"open";
        let read: Vec<_> = includes(text).map(|include| (include.name, include.quoted)).collect();
        assert_eq!(read, [("a.h".into(), true), ("b/c.h".into(), false)]);
    }

    #[test]
    fn headers_are_followed_beside_the_file_in_given_folders_and_around() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, text) in [
            ("project/.git/x", ""),
            ("project/Common/shared.hpp", "#include \"deeper.hpp\"\n"),
            ("project/Common/deeper.hpp", "#include \"shared.hpp\"\n"),
            ("project/a/b/near.h", "#include \"../up.h\"\n"),
            ("project/a/up.h", "#include <vector>\n"),
            ("given/far.h", ""),
            ("given/given.h", ""),
            ("project/include/angled.h", ""),
            ("project/include/vector", ""),
            ("project/include/stdio.h", ""),
            ("project/include/hip/hip_runtime.h", ""),
            ("include/above.h", ""),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let source = root.join("project/a/b/main.hip");
        let text = "#include \"near.h\"\n#include <far.h>\n#include \"shared.hpp\"\n#include \"gone.h\"\n#include \"above.h\"\n\
                    #include <angled.h>\n#include <vector>\n#include <stdio.h>\n#include <hip/hip_runtime.h>\n";
        let mut found = Headers::new(&[root.join("given")]);
        found.put(root.join("project/a/up.h"), "#include \"given.h\"\n".into());
        found.follow(&source, text);
        let names: Vec<_> = found.texts.keys().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap()).collect();
        let expected = [
            "given/far.h",
            "given/given.h",
            "project/Common/deeper.hpp",
            "project/Common/shared.hpp",
            "project/a/b/near.h",
            "project/a/up.h",
            "project/include/angled.h",
        ];
        assert_eq!(names, expected);
        assert!(!found.texts[&root.join("project/a/up.h")].on_disk && found.texts[&root.join("given/far.h")].on_disk);
        assert_eq!(found.found_folders, [root.join("project/include"), root.join("project/Common")]);
    }
}
