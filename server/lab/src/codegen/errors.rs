//! The compiler's errors and warnings, at a place in the user's files.

use std::path::Path;

use crate::toolchain::diagnostics::{self, Message};
use crate::verdict::Diagnostic;

/// The errors and warnings in `output`, errors first. A message about a system header is placed where the user's code
/// led there, `main` at the least; warnings about system headers are left out. `ours` are folders that no user knows.
pub(super) fn diagnostics(output: &str, main: &Path, ours: &[&Path]) -> Vec<Diagnostic> {
    let is_users = |file: &Path| {
        !file.as_os_str().is_empty() && !file.starts_with("/usr") && !ours.iter().any(|folder| file.starts_with(folder))
    };
    let messages = diagnostics::parse(output);
    let mut list: Vec<Diagnostic> = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| message.severity != "note") {
        let mut notes = messages[index + 1..].iter().take_while(|next| next.severity == "note");
        let place = if is_users(&message.file) {
            Some((message.file.as_path(), message.line, message.column))
        } else if message.severity == "warning" {
            None
        } else {
            Some(users_place(message, notes.by_ref(), &is_users).unwrap_or((main, 0, 0)))
        };
        let Some((file, line, column)) = place else { continue };
        let (severity, message) = (message.severity.clone(), with_remedy(&message.text));
        let diagnostic = Diagnostic { file: file.to_owned(), line, column, severity, message, notes: Vec::new() };
        if !list.contains(&diagnostic) {
            list.push(diagnostic);
        }
    }
    list.sort_by_key(|diagnostic| diagnostic.severity == "warning");
    list
}

/// The message, with what to do where an older package of HIP's headers lacks one (Debian 12's have neither bf16 nor fp8).
fn with_remedy(text: &str) -> String {
    if (text.starts_with("'hip/") || text.starts_with("'rocwmma/")) && text.ends_with("' file not found") {
        return format!(
            "{text}: the installed HIP headers do not have it; install a newer ROCm under /opt/rocm, or pass -I"
        );
    }
    text.to_owned()
}

/// Where the user's code led to a message elsewhere: the note that names it, else the include.
fn users_place<'a>(
    message: &'a Message,
    mut notes: impl Iterator<Item = &'a Message>,
    is_users: &impl Fn(&Path) -> bool,
) -> Option<(&'a Path, u32, u32)> {
    let noted = notes.find(|note| is_users(&note.file)).map(|note| (note.file.as_path(), note.line, note.column));
    noted.or_else(|| {
        let included = message.included_from.iter().find(|(file, _)| is_users(file));
        included.map(|(file, line)| (file.as_path(), *line, 0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_placed_in_the_users_files() {
        let output = "\
/p/k.hip:9:1: warning: mine
/usr/include/hip/x.h:5:1: warning: not mine
In file included from /p/k.hip:3:
/usr/include/hip/x.h:7:2: error: in a header
/usr/include/hip/x.h:8:2: error: instantiated
/p/k.hip:6:4: note: in instantiation of f<3> requested here
/p/k.hip:2:10: fatal error: 'hip/hip_fp8.h' file not found
/cache/w1/unsaved.hip:1:10: fatal error: odd
clang-19: error: unknown argument: '--bogus'
";
        let list = diagnostics(output, Path::new("/p/k.hip"), &[Path::new("/cache")]);
        let places: Vec<_> = list.iter().map(|d| (d.line, d.column, d.message.as_str())).collect();
        let expected = [
            (3, 0, "in a header"),
            (6, 4, "instantiated"),
            (
                2,
                10,
                "'hip/hip_fp8.h' file not found: the installed HIP headers do not have it; install a newer ROCm under \
                 /opt/rocm, or pass -I",
            ),
            (0, 0, "odd"),
            (0, 0, "unknown argument: '--bogus'"),
            (9, 1, "mine"),
        ];
        assert_eq!(places, expected);
        assert!(list.iter().all(|diagnostic| diagnostic.file == Path::new("/p/k.hip")));
    }
}
