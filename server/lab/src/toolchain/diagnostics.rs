//! Reads the compiler's and the linker's messages.

use std::path::{Path, PathBuf};

/// One message as clang prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The file it is about, as the compiler names it; empty where it names none.
    pub file: PathBuf,
    /// Line from 1; 0 where there is none.
    pub line: u32,
    /// Column from 1, in bytes; 0 where there is none.
    pub column: u32,
    /// `error`, `fatal error`, `warning` or `note`.
    pub severity: String,
    /// The words.
    pub text: String,
    /// Where the file was included from, outermost last.
    pub included_from: Vec<(PathBuf, u32)>,
}

const SEVERITIES: [&str; 4] = ["fatal error", "error", "warning", "note"];

/// Every message in the compiler's `output`, in order.
pub(crate) fn parse(output: &str) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut included_from = Vec::new();
    for line in output.lines() {
        if let Some(place) = included(line) {
            included_from.push(place);
        } else if let Some(mut message) = located(line).or_else(|| of_tool(line)) {
            message.included_from = std::mem::take(&mut included_from);
            messages.push(message);
        } else if let (Some(last), Some(detail)) = (messages.last_mut(), line.strip_prefix(">>> ")) {
            // The linker says on further lines who refers to a symbol.
            if detail.starts_with("defined") || detail.starts_with("referenced") {
                last.text.push_str("; ");
                last.text.push_str(detail.trim());
            }
        }
    }
    messages
}

/// `In file included from FILE:LINE:` and the lines `                 from FILE:LINE:` below it.
fn included(line: &str) -> Option<(PathBuf, u32)> {
    let place = line.strip_prefix("In file included from ").or_else(|| line.trim_start().strip_prefix("from "))?;
    let (file, number) = place.trim_end_matches([':', ',']).rsplit_once(':')?;
    Some((file.into(), number.parse().ok()?))
}

/// `FILE:LINE:COLUMN: SEVERITY: TEXT`.
fn located(line: &str) -> Option<Message> {
    SEVERITIES.iter().find_map(|severity| {
        let (place, text) = line.split_once(&format!(": {severity}: "))?;
        let (place, column) = place.rsplit_once(':')?;
        let (file, number) = place.rsplit_once(':')?;
        Some(Message {
            file: file.into(),
            line: number.parse().ok()?,
            column: column.parse().ok()?,
            severity: (*severity).into(),
            text: text.trim().into(),
            included_from: Vec::new(),
        })
    })
}

/// `TOOL: SEVERITY: TEXT`, from the driver or the linker.
fn of_tool(line: &str) -> Option<Message> {
    SEVERITIES.iter().find_map(|severity| {
        let (tool, text) = line.split_once(&format!(": {severity}: "))?;
        let name = Path::new(tool).file_name()?.to_string_lossy().into_owned();
        let is_tool = name.contains("clang") || name.starts_with("ld") || name == "lld";
        (is_tool && !text.starts_with("linker command failed")).then(|| Message {
            file: PathBuf::new(),
            line: 0,
            column: 0,
            severity: (*severity).into(),
            text: text.trim().into(),
            included_from: Vec::new(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let output = "\
In file included from /w/main.hip:3:
/w/part.h:7:12: error: use of undeclared identifier 'x'
/w/a: b.hip:10:5: warning: unused variable 'y' [-Wunused-variable]
/w/main.hip:9:1: note: expanded from macro 'M'
   10 |   int y;
      |       ^
/w/main.hip:4:10: fatal error: 'gone.h' file not found
ld.lld-19: error: undefined symbol: helper(int)
>>> referenced by main.hip
>>>               /tmp/main-1.o:(main)
clang++-19: error: linker command failed with exit code 1 (use -v to see invocation)
clang++-19: error: unknown argument: '-fnope'
1 error generated.
";
        let read: Vec<_> = parse(output)
            .into_iter()
            .map(|m| {
                format!("{}|{}|{}|{}|{}|{:?}", m.file.display(), m.line, m.column, m.severity, m.text, m.included_from)
            })
            .collect();
        let expected = [
            "/w/part.h|7|12|error|use of undeclared identifier 'x'|[(\"/w/main.hip\", 3)]",
            "/w/a: b.hip|10|5|warning|unused variable 'y' [-Wunused-variable]|[]",
            "/w/main.hip|9|1|note|expanded from macro 'M'|[]",
            "/w/main.hip|4|10|fatal error|'gone.h' file not found|[]",
            "|0|0|error|undefined symbol: helper(int); referenced by main.hip|[]",
            "|0|0|error|unknown argument: '-fnope'|[]",
        ];
        assert_eq!(read, expected);
    }
}
