//! Paths as text, without asking the file system.

use std::path::{Component, Path, PathBuf};

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
    use super::*;

    #[test]
    fn dots_are_worked_out_by_name() {
        for (path, plain) in [("/a/./b/../c", "/a/c"), ("/../a", "/a"), ("a/b/../..", ""), ("/a//b/", "/a/b")] {
            assert_eq!(without_dots(Path::new(path)), Path::new(plain), "{path}");
        }
    }
}
