//! Code out of an answer: a whole file in its one fence, or edits that each fit exactly one place.

/// A version as the model wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) report: String,
}

const SEARCH: &str = "<<<<<<< SEARCH";
const DIVIDER: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";

/// The file in the answer's only fenced block, its lines ended as those of the base; the report is what stands outside of it.
pub(super) fn whole_file(answer: &str, base: &str) -> Result<Written, String> {
    let lines: Vec<&str> = answer.lines().collect();
    let fences: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| line.trim_start().starts_with("```")).map(|(at, _)| at).collect();
    let (open, close) = match fences[..] {
        [open, close] => (open, close),
        [] => return Err("there is no fenced block with the file in it".into()),
        [_] => return Err("the fenced block is not closed, so the file may be incomplete".into()),
        _ => return Err("there are several fenced blocks; exactly one is expected, with the whole file in it".into()),
    };
    let of_base: Vec<&str> = base.split_inclusive('\n').collect();
    let is_crlf = !of_base.is_empty() && of_base.iter().all(|line| line.ends_with("\r\n") || !line.ends_with('\n'));
    let ending = if is_crlf && base.contains('\n') { "\r\n" } else { "\n" };
    let text = lines[open + 1..close].join(ending);
    if text.trim().is_empty() {
        return Err("the fenced block is empty".into());
    }
    let report = [&lines[..open], &lines[close + 1..]].concat().join("\n").trim().to_owned();
    Ok(Written { text: text + ending, report })
}

/// The base with the answer's edits carried out, all of them or none. Models see lines and not how they end: what is put in ends
/// as what it replaces.
pub(super) fn edited(answer: &str, base: &str) -> Result<Written, String> {
    let (edits, report) = edits(answer)?;
    if edits.is_empty() {
        return Err(format!("there is no edit; each begins with a line `{SEARCH}`"));
    }
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let bare: Vec<&str> = base.lines().collect();
    let mut places = Vec::new();
    for (number, (search, replace)) in (1..).zip(&edits) {
        if search.trim().is_empty() {
            return Err(format!("edit {number} searches for nothing"));
        }
        let search: Vec<&str> = search.lines().collect();
        let mut found = bare.windows(search.len()).enumerate().filter(|(_, window)| *window == search);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => places.push((at, at + search.len(), replace)),
            (None, _) => {
                return Err(format!(
                    "the lines that edit {number} searches for are not in the file as they stand there"
                ));
            }
            (Some(_), Some(_)) => {
                return Err(format!(
                    "the lines that edit {number} searches for occur more than once; search for more of them"
                ));
            }
        }
    }
    places.sort_by_key(|(at, ..)| *at);
    if places.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err("two edits change the same lines".into());
    }
    let (mut text, mut done) = (String::new(), 0);
    for (at, end, replace) in places {
        text.extend(lines[done..at].iter().copied());
        let ending = ending_at(&lines, at);
        text.extend(replace.lines().flat_map(|line| [line, ending]));
        if end == lines.len() && !base.ends_with('\n') {
            // The last line had no end, and gets none.
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        done = end;
    }
    text.extend(lines[done..].iter().copied());
    Ok(Written { text, report })
}

/// How a line ends; the last one, where it has no end, as the one before it.
fn ending_at(lines: &[&str], at: usize) -> &'static str {
    let with_end = lines[..=at].iter().rev().find(|line| line.ends_with('\n'));
    if with_end.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// Pairs of lines to search for and lines to put there, each with its line feeds, and what stands around them.
fn edits(answer: &str) -> Result<(Vec<(String, String)>, String), String> {
    let (mut edits, mut report) = (Vec::new(), Vec::new());
    let mut lines = answer.lines();
    while let Some(line) = lines.next() {
        if line.trim_end() != SEARCH {
            // A fence around an edit is harmless.
            if !line.trim_start().starts_with("```") {
                report.push(line);
            }
            continue;
        }
        let mut part = |end: &str| {
            let mut part = String::new();
            for line in lines.by_ref() {
                if line.trim_end() == end {
                    return Ok(part);
                }
                part.push_str(line);
                part.push('\n');
            }
            Err(format!("edit {} has no line `{end}`", edits.len() + 1))
        };
        let search = part(DIVIDER)?;
        let replace = part(REPLACE)?;
        edits.push((search, replace));
    }
    Ok((edits, report.join("\n").trim().to_owned()))
}

/// Refuses a version in which a function has another name or other parameters than in the base. `const` and `__restrict__` may
/// come and go: whoever calls it does not see them.
pub(super) fn keeps(entry: &str, base: &str, text: &str) -> Result<(), String> {
    let Some(wanted) = parameters(entry, base) else { return Ok(()) };
    match parameters(entry, text) {
        Some(found) if unqualified(&found) == unqualified(&wanted) => Ok(()),
        Some(found) => Err(format!("`{entry}` has the parameters ({found}), and must keep ({wanted})")),
        None => Err(format!("there is no `{entry}({wanted})` any more, which the benchmark calls")),
    }
}

/// Words and signs of a list of parameters, without qualifiers.
fn unqualified(parameters: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_word = false;
    for c in parameters.chars() {
        let goes_on = is_word && (c.is_alphanumeric() || c == '_');
        match tokens.last_mut() {
            Some(last) if goes_on => last.push(c),
            _ if c.is_whitespace() => {}
            _ => tokens.push(c.to_string()),
        }
        is_word = c.is_alphanumeric() || c == '_';
    }
    tokens.retain(|token| !["const", "__restrict__", "__restrict", "restrict"].contains(&token.as_str()));
    tokens
}

/// The parameters in a function's definition, without needless blanks.
fn parameters(name: &str, text: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).find_map(|(at, _)| {
        let rest = text[at + name.len()..].trim_start();
        if text[..at].chars().next_back().is_some_and(is_word) || !rest.starts_with('(') {
            return None;
        }
        let mut depth = 0;
        let close = rest.char_indices().find_map(|(at, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(at)
        })?;
        let is_definition = rest[close + 1..].trim_start().starts_with('{');
        let words: Vec<&str> = rest[1..close].split_whitespace().collect();
        is_definition.then(|| words.join(" ").replace(" *", "*").replace("* ", "*").replace(" ,", ","))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_parameters_but_for_qualifiers() {
        let base = "__global__ void k(const float* a, float *b, int n) {}";
        let check = |text: &str, expected: Option<&str>| match (keeps("k", base, text), expected) {
            (Ok(()), None) => {}
            (Err(error), Some(part)) => assert!(error.contains(part), "{text}: {error}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check(base, None);
        check("__global__ void k(const float* __restrict__ a, float* __restrict__ b, const int n) {}", None);
        check("__global__ void k(const float *__restrict__ a,\n    float* b, int n)\n{}", None);
        check("__global__ void k(const half* a, float* b, int n) {}", Some("must keep"));
        check("__global__ void k(const float* a, float* b, long n) {}", Some("must keep"));
        check("__global__ void k(const float* a, int n, float* b) {}", Some("must keep"));
        check("__global__ void k2(const float* a, float* b, int n) {}", Some("there is no `k("));
    }

    #[test]
    fn a_file_stands_in_exactly_one_closed_fence() {
        let check = |answer: &str, expected: Result<(&str, &str), &str>| {
            let found = whole_file(answer, "int b;\n");
            match (&found, expected) {
                (Ok(written), Ok((text, report))) => {
                    assert_eq!((written.text.as_str(), written.report.as_str()), (text, report))
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{answer:?}: {error}"),
                _ => panic!("{answer:?}: {found:?}"),
            }
        };
        check("Did it.\n```cpp\nint a;\n```\nDone.", Ok(("int a;\n", "Did it.\nDone.")));
        check("```\nint a;\n\n```", Ok(("int a;\n\n", "")));
        check("I cannot.", Err("no fenced block"));
        check("", Err("no fenced block"));
        check("```cpp\nint a;", Err("not closed"));
        check("```cpp\nint a;\n```\nand\n```cpp\nint b;\n```", Err("several"));
        check("```cpp\n\n```", Err("empty"));
        let ends = |base: &str| whole_file("```cpp\nint a;\nint b;\n```", base).unwrap().text;
        assert_eq!(ends("int a;\r\n"), "int a;\r\nint b;\r\n");
        assert_eq!(ends("int a;\r\nint b;"), "int a;\r\nint b;\r\n");
        for base in ["", "int a;", "int a;\n", "int a;\r\nint b;\n"] {
            assert_eq!(ends(base), "int a;\nint b;\n", "{base:?}");
        }
    }

    #[test]
    fn edits_leave_the_ends_of_lines_as_they_are() {
        let edit = |search: &str, replace: &str| format!("{SEARCH}\n{search}\n{DIVIDER}\n{replace}\n{REPLACE}\n");
        let check = |base: &str, search: &str, replace: &str, expected: &str| {
            assert_eq!(
                edited(&edit(search, replace), base).map(|written| written.text),
                Ok(expected.to_owned()),
                "{base:?}"
            );
        };
        check("int a;\r\nint b;\r\n", "int a;", "long a;\nlong z;", "long a;\r\nlong z;\r\nint b;\r\n");
        check("int a;\r\nint b;\r\n", "int a;\nint b;", "int c;", "int c;\r\n");
        check("int a;\nint b;", "int b;", "int c;", "int a;\nint c;");
        check("int a;\r\nint b;", "int b;", "int c;\nint d;", "int a;\r\nint c;\r\nint d;");
        check("int a;\nint b;", "int a;", "int c;", "int c;\nint b;");
        // A file with both.
        check("int a;\r\nint b;\nint c;\r\n", "int b;", "int d;", "int a;\r\nint d;\nint c;\r\n");
    }

    const BASE: &str = "int a;\nint b;\nint c;\nint b;\n";

    #[test]
    fn edits_fit_exactly_one_place_or_none_is_made() {
        let edit = |search: &str, replace: &str| format!("{SEARCH}\n{search}\n{DIVIDER}\n{replace}\n{REPLACE}\n");
        let check = |answer: &str, expected: Result<&str, &str>| match (edited(answer, BASE), expected) {
            (Ok(written), Ok(text)) => assert_eq!(written.text, text),
            (Err(error), Err(part)) => assert!(error.contains(part), "{answer}: {error}"),
            (found, _) => panic!("{answer}: {found:?}"),
        };
        check(&edit("int a;", "long a;"), Ok("long a;\nint b;\nint c;\nint b;\n"));
        let both = format!("Report.\n{}{}", edit("int c;\nint b;", "int d;"), edit("int a;", ""));
        check(&both, Ok("\nint b;\nint d;\n"));
        assert_eq!(edited(&both, BASE).unwrap().report, "Report.");
        check(&edit("int b;", "x"), Err("more than once"));
        check(&edit("int z;", "x"), Err("are not in the file"));
        check(&edit("nt a;", "x"), Err("are not in the file"));
        check(&edit(" ", "x"), Err("searches for nothing"));
        check(&format!("{}{}", edit("int a;", "x"), edit("int z;", "y")), Err("edit 2"));
        check(&format!("{}{}", edit("int a;\nint b;", "x"), edit("int b;\nint c;", "y")), Err("the same lines"));
        check("no edit", Err("there is no edit"));
        check(&format!("{SEARCH}\nint a;\n"), Err("has no line `=======`"));
    }

    #[test]
    fn the_entry_keeps_its_name_and_parameters() {
        let base = "void run(const float* a, int n);\nvoid run(const float* a, int n) {\n}\nvoid rerun(int x) {}\n";
        let check = |text: &str, expected: Result<(), &str>| match (keeps("run", base, text), expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check(base, Ok(()));
        check("void run(const float *a,\n         int n)\n{ }", Ok(()));
        check("void run(const float* a, long n) {}", Err("must keep (const float*a, int n)"));
        check("void go(const float* a, int n) {}", Err("there is no `run(const float*a, int n)` any more"));
        assert_eq!(keeps("missing", base, "anything"), Ok(()));
    }
}
