//! The compiler's messages in the user's files, lines and words.

use std::path::Path;

use super::rewritten::Sources;
use crate::Diagnostic;
use crate::toolchain::diagnostics::{self, Message};
use crate::verdict::Note;

/// The messages in `output` that a user can do something about: errors first, then warnings.
pub(super) fn diagnostics(output: &str, sources: &Sources, ours: &Path) -> Vec<Diagnostic> {
    let messages = diagnostics::parse(output);
    let mut list: Vec<Diagnostic> = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| message.severity != "note") {
        let notes = messages[index + 1..].iter().take_while(|next| next.severity == "note");
        let Some((mut diagnostic, is_direct)) = relate(message, notes.clone(), sources, ours) else { continue };
        diagnostic.notes = notes.filter_map(|note| told(note, &diagnostic, sources, ours)).collect();
        let same_place = |other: &Diagnostic| {
            (&other.file, other.line, other.column) == (&diagnostic.file, diagnostic.line, diagnostic.column)
        };
        // What a library says about the same place after the compiler did is an echo.
        let is_echo = !is_direct && list.iter().any(same_place);
        if !is_echo && !list.iter().any(|other| other.repeats(&diagnostic)) {
            list.push(diagnostic);
        }
    }
    list.sort_by_key(|diagnostic| diagnostic.severity == "warning");
    list
}

/// The message at its place in the user's files: where it is (`true`), else where the code that it is about was asked for.
fn relate<'a>(
    message: &Message,
    mut notes: impl Iterator<Item = &'a Message>,
    sources: &Sources,
    ours: &Path,
) -> Option<(Diagnostic, bool)> {
    let is_users = |file: &Path| is_users(file, ours);
    let (file, line, column) = if is_users(&message.file) {
        (message.file.clone(), message.line, message.column)
    } else if message.severity == "warning" {
        return None;
    } else if let Some(note) = notes.find(|note| is_users(&note.file)) {
        (note.file.clone(), note.line, note.column)
    } else if let Some((file, line)) = message.included_from.iter().find(|(file, _)| is_users(file)) {
        (file.clone(), *line, 0)
    } else {
        (sources.main.clone(), 0, 0)
    };
    let column = sources.original_column(&file, line, column);
    let is_direct = is_users(&message.file);
    let (severity, message) = (message.severity.clone(), in_users_words(&message.text));
    Some((Diagnostic { file, line, column, severity, message, notes: Vec::new() }, is_direct))
}

fn is_users(file: &Path, ours: &Path) -> bool {
    !file.as_os_str().is_empty() && !file.starts_with("/usr") && !file.starts_with(ours)
}

/// A note of the compiler's on a message: in the user's files, elsewhere than the message, and not about our own names.
fn told(note: &Message, of: &Diagnostic, sources: &Sources, ours: &Path) -> Option<Note> {
    let is_about_ours = ["ks::", "KS_", "ks_"].iter().any(|name| note.text.contains(name));
    if !is_users(&note.file, ours) || is_about_ours || (&note.file, note.line) == (&of.file, of.line) {
        return None;
    }
    let column = sources.original_column(&note.file, note.line, note.column);
    Some(Note { file: note.file.clone(), line: note.line, column, message: note.text.clone() })
}

/// What the user wrote stands behind the runtime's names: says that instead.
fn in_users_words(text: &str) -> String {
    if text.starts_with("undefined symbol: main;") || text == "undefined symbol: main" {
        return "there is no main function, so the file cannot be run as a program; write a benchmark file for its kernels, \
                or name the file that has the main function"
            .into();
    }
    if text.starts_with("undefined symbol: ") {
        return format!(
            "{text}; if another source file has it, name that file in the benchmark file: [program] sources = [\"FILE\"]"
        );
    }
    if text.starts_with("cannot open") && text.ends_with("Permission denied") {
        return format!("{text}; a version may read what the original includes, and nothing else of what lies there");
    }
    let about_a_launch = ["ks::", "KS_LAUNCH", "ks_arguments", "ks_probe"].iter().any(|name| text.contains(name));
    if about_a_launch {
        return "the arguments of this launch do not fit the kernel's parameters or the launch configuration".into();
    }
    text.to_owned()
}
