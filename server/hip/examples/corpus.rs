//! How many kernels of real code are found, by name and line.
//!
//! `cargo run --release -p hip-syntax --example corpus -- [--missing] FOLDER...` walks the folders and compares
//! [`hip_syntax::Syntax::kernels`] with a simple matcher of its own, which shares no code with the library: comments and
//! strings stripped, then `__global__ ... name (...) {`. Kernels in the bodies of macros have no name yet and are left out by
//! both. Launches are compared by number with the `<<<` of the stripped text. Prints one line a folder and the totals, with `--missing` each kernel that only one of the two found.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hip_syntax::{LaunchKind, Query, Syntax};

type Found = BTreeSet<(String, u32)>;

#[derive(Default)]
struct Tally {
    files: usize,
    expected: usize,
    found: usize,
    extra: usize,
    /// Of the expected ones, those that the tree alone gives (`queries/kernels.scm`).
    by_tree: usize,
    launches_expected: usize,
    launches_found: usize,
    tree_errors: usize,
    bytes: usize,
    time: Duration,
}

impl Tally {
    fn print(&self, name: &str) {
        let percent = |part: usize, of: usize| if of == 0 { 100.0 } else { 100.0 * part as f64 / of as f64 };
        println!(
            "{name:<20} {:>4} files {:>5}/{:<5} kernels = {:6.2} % ({} more; tree alone {:5.1} %)  {:>5}/{:<5} launches = {:6.2} %  {:>3} trees with errors  {:.1} MB/s",
            self.files,
            self.found,
            self.expected,
            percent(self.found, self.expected),
            self.extra,
            percent(self.by_tree, self.expected),
            self.launches_found,
            self.launches_expected,
            percent(self.launches_found, self.launches_expected),
            self.tree_errors,
            self.bytes as f64 / 1e6 / self.time.as_secs_f64().max(1e-9),
        );
    }

    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.expected += other.expected;
        self.found += other.found;
        self.extra += other.extra;
        self.by_tree += other.by_tree;
        self.launches_expected += other.launches_expected;
        self.launches_found += other.launches_found;
        self.tree_errors += other.tree_errors;
        self.bytes += other.bytes;
        self.time += other.time;
    }
}

fn main() {
    let mut folders: Vec<String> = std::env::args().skip(1).collect();
    let show_missing = folders.iter().any(|arg| arg == "--missing");
    folders.retain(|arg| arg != "--missing");
    if folders.is_empty() {
        eprintln!("usage: corpus [--missing] FOLDER...");
        std::process::exit(2);
    }
    let query = match Query::new("kernels.scm", include_str!("../../../queries/kernels.scm")) {
        Ok(query) => query,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let mut total = Tally::default();
    for folder in &folders {
        let mut tally = Tally::default();
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            measure(&file, show_missing, &query, &mut tally);
        }
        let name = Path::new(folder).file_name().map_or(folder.clone(), |name| name.to_string_lossy().into_owned());
        tally.print(&name);
        total.add(&tally);
    }
    total.print("total");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    const EXTENSIONS: [&str; 12] = ["hip", "cu", "cuh", "h", "hpp", "hh", "hxx", "cc", "cpp", "cxx", "inl", "in"];
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if is_link || path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known)) {
            files.push(path);
        }
    }
}

fn measure(file: &Path, show_missing: bool, query: &Query, tally: &mut Tally) {
    let Ok(text) = fs::read_to_string(file) else { return };
    if !text.contains("__global__") && !text.contains("<<<") {
        return;
    }
    let plain = strip(&text);
    let expected = oracle(&plain);
    let start = Instant::now();
    let syntax = Syntax::parse(text.as_str());
    let found: Found = syntax.kernels().iter().map(|kernel| (kernel.name.clone(), kernel.line)).collect();
    tally.time += start.elapsed();
    tally.files += 1;
    tally.bytes += text.len();
    tally.expected += expected.len();
    tally.found += expected.intersection(&found).count();
    tally.extra += found.difference(&expected).count();
    tally.tree_errors += usize::from(syntax.has_errors());
    let matches = query.run(&syntax, 0..text.len());
    let names = matches.iter().filter_map(|found| found.get("name"));
    let by_tree: Found = names.map(|range| (text[range.clone()].to_owned(), syntax.line_of(range.start))).collect();
    tally.by_tree += expected.intersection(&by_tree).count();
    let launches = plain.matches("<<<").count();
    let chevrons =
        syntax.launches().iter().filter(|launch| launch.kind == LaunchKind::Chevron && !launch.in_macro).count();
    tally.launches_expected += launches;
    tally.launches_found += chevrons.min(launches);
    if show_missing {
        if chevrons != launches {
            println!("launches {} expected {launches}, found {chevrons}", file.display());
        }
        for (name, line) in expected.difference(&found) {
            println!("missing {}:{line} {name}", file.display());
        }
        for (name, line) in found.difference(&expected) {
            println!("extra   {}:{line} {name}", file.display());
        }
    }
}

/// Names and lines of the `__global__` definitions of a stripped text.
fn oracle(plain: &str) -> Found {
    let mut found = Found::new();
    for (at, _) in plain.match_indices("__global__") {
        let before = plain[..at].chars().next_back();
        let after = plain[at + 10..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if is_word(before) || is_word(after) {
            continue;
        }
        if let Some(name_at) = definition(plain, at + 10) {
            let name: String = plain[name_at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let line = plain[..name_at].matches('\n').count() as u32 + 1;
            found.insert((name, line));
        }
    }
    found
}

/// Where the name stands of the function whose `__global__` ends at `start`; `None` for a declaration.
fn definition(plain: &str, start: usize) -> Option<usize> {
    let bytes = plain.as_bytes();
    let mut depth = 0i32;
    let mut opens = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'(' => {
                if depth == 0 {
                    opens.push(at);
                }
                depth += 1;
            }
            b')' => depth -= 1,
            b';' | b'}' if depth == 0 => return None,
            b'{' if depth == 0 => break,
            _ => {}
        }
        at += 1;
    }
    (at < bytes.len()).then_some(())?;
    let names = opens.iter().rev().filter_map(|&open| name_before(plain, start, open));
    names.into_iter().find(|&name| !is_attribute(&plain[name..]))
}

fn is_attribute(from: &str) -> bool {
    let word: String = from.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    word.contains("aunch_bounds") || word.contains("LAUNCH_BOUNDS") || word.starts_with("__") && word.ends_with("__")
}

/// Start of the word before the parenthesis at `open`, template arguments stepped over.
fn name_before(plain: &str, start: usize, open: usize) -> Option<usize> {
    let bytes = plain.as_bytes();
    let mut end = open;
    while end > start && bytes[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    if end > start && bytes[end - 1] == b'>' {
        let mut depth = 0;
        while end > start {
            end -= 1;
            match bytes[end] {
                b'>' => depth += 1,
                b'<' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        while end > start && bytes[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
    }
    let mut name = end;
    while name > start && (bytes[name - 1].is_ascii_alphanumeric() || bytes[name - 1] == b'_') {
        name -= 1;
    }
    (name < end).then_some(name)
}

/// `text` with comments, literals and preprocessor lines replaced by spaces, byte for byte.
fn strip(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut line_is_blank = true;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = at
            + if rest.starts_with(b"//") || (rest[0] == b'#' && line_is_blank) {
                logical_line(rest)
            } else if rest.starts_with(b"/*") {
                rest[2..].windows(2).position(|w| w == b"*/").map_or(rest.len(), |found| found + 4)
            } else if rest.starts_with(b"R\"") {
                raw_literal(rest)
            } else if rest[0] == b'"' || (rest[0] == b'\'' && !(at > 0 && bytes[at - 1].is_ascii_hexdigit())) {
                literal(rest)
            } else {
                0
            };
        if end == at {
            line_is_blank = rest[0] == b'\n' || (line_is_blank && rest[0].is_ascii_whitespace());
            plain.push(if rest[0].is_ascii() { rest[0] } else { b'_' });
            at += 1;
            continue;
        }
        plain.extend(bytes[at..end].iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }));
        at = end;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

fn logical_line(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != b'\n' {
        let comment = rest[at..].starts_with(b"/*");
        at += match rest[at] {
            b'\\' if rest.get(at + 1) == Some(&b'\n') => 2,
            b'\\' if rest[at + 1..].starts_with(b"\r\n") => 3,
            // A directive ends before a comment that goes on to the next line.
            _ if comment && at > 0 && rest[0] == b'#' => return at,
            _ => 1,
        };
    }
    at.min(rest.len())
}

/// `R"x(...)x"`: source for run-time compilation, which is no kernel of the file.
fn raw_literal(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|&byte| byte == b'(') else { return 2 };
    let closing = [b")", &rest[2..open], b"\""].concat();
    rest.windows(closing.len()).position(|w| w == closing).map_or(rest.len(), |found| found + closing.len())
}

fn literal(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'\n' {
        match rest[at] {
            b'\\' => at += 1,
            byte if byte == rest[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(rest.len())
}
