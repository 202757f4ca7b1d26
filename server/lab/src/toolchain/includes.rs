//! Follows the `#include` lines of a source to the user's own headers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// More headers than this are left to the compiler alone.
const MOST_HEADERS: usize = 512;
/// Folders beside the source's ancestors in which projects keep their headers.
const USUAL_FOLDERS: [&str; 7] = ["", "include", "inc", "Common", "common", "src", "utils"];
/// How far up from the source headers are looked for.
const MOST_ANCESTORS: usize = 6;

/// The user's headers that a source may include, conditions not evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserHeaders {
    /// Path as the compiler will spell it (no `.` and `..`), and text.
    pub headers: BTreeMap<PathBuf, String>,
    /// Include folders that nobody named, found because a header was missing.
    pub found_folders: Vec<PathBuf>,
}

/// Follows the includes of `text`, which stands at `path`, through `folders` (the user's `-I`).
pub(crate) fn follow(path: &Path, text: &str, folders: &[PathBuf]) -> UserHeaders {
    let mut found = UserHeaders::default();
    let mut seen = BTreeSet::new();
    let mut waiting = includes(text).map(|include| (path.to_owned(), include)).collect::<Vec<_>>();
    while let Some((includer, include)) = waiting.pop() {
        if found.headers.len() >= MOST_HEADERS {
            break;
        }
        let beside = include.quoted.then(|| includer.parent()).flatten();
        let known = beside.into_iter().chain(folders.iter().map(PathBuf::as_path));
        let header = known.map(|folder| without_dots(&folder.join(&include.name))).find(|file| file.is_file());
        let header = header.or_else(|| {
            let by_looking =
                found.found_folders.iter().map(|folder| folder.join(&include.name)).find(|file| file.is_file());
            by_looking.or_else(|| {
                let folder = look_around(path, &include)?;
                found.found_folders.push(folder.clone());
                Some(folder.join(&include.name))
            })
        });
        let Some(header) = header.map(|header| without_dots(&header)).filter(|header| seen.insert(header.clone()))
        else {
            continue;
        };
        // A file that is no text is the compiler's to complain about.
        let Ok(text) = std::fs::read_to_string(&header) else { continue };
        waiting.extend(includes(&text).map(|include| (header.clone(), include)));
        found.headers.insert(header, text);
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Include {
    name: String,
    quoted: bool,
}

/// The includes with a literal name.
fn includes(text: &str) -> impl Iterator<Item = Include> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let (quoted, end) = match rest.chars().next()? {
            '"' => (true, '"'),
            '<' => (false, '>'),
            _ => return None,
        };
        let (name, _) = rest[1..].split_once(end)?;
        Some(Include { name: name.into(), quoted })
    })
}

/// The folder near the source, if any, in which a quoted header that no `-I` leads to can be found. Examples that are
/// compiled by a makefile with `-I../../Common` work so without any settings.
fn look_around(source: &Path, include: &Include) -> Option<PathBuf> {
    if !include.quoted || Path::new(&include.name).is_absolute() {
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

/// The path with `.` and `..` worked out by name, as the compiler's overlay does.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
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
            ("include/above.h", ""),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let source = root.join("project/a/b/main.hip");
        let text = "#include \"near.h\"\n#include <far.h>\n#include \"shared.hpp\"\n#include \"gone.h\"\n#include \"above.h\"\n";
        let found = follow(&source, text, &[root.join("given")]);
        let names: Vec<_> =
            found.headers.keys().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap()).collect();
        let expected = [
            "given/far.h",
            "project/Common/deeper.hpp",
            "project/Common/shared.hpp",
            "project/a/b/near.h",
            "project/a/up.h",
        ];
        assert_eq!(names, expected);
        assert_eq!(found.found_folders, [root.join("project/Common")]);
    }
}
