//! What the runtime reports of a run: JSON lines on the report descriptor.

use std::fmt;

use hip_syntax::Syntax;
use hip_syntax::rewrite::Barriers;
use serde::Deserialize;

use crate::Source;

/// The launches of one kernel in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LaunchGroup {
    /// The kernel, with its template arguments.
    #[serde(rename = "kernel")]
    pub name: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
    /// Time of each launch in nanoseconds, in order.
    #[serde(rename = "ns")]
    pub nanoseconds: Vec<u64>,
    /// Processor time of the process during each of them, in nanoseconds.
    pub processor_ns: Vec<u64>,
}

impl LaunchGroup {
    /// The configuration as it is shown: `grid 64x1x1 block 256x1x1`.
    pub fn shape(&self) -> String {
        let triple = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
        let shared = if self.shared_bytes > 0 { format!(" shared {}", self.shared_bytes) } else { String::new() };
        format!("grid {} block {}{shared}", triple(self.grid), triple(self.block))
    }
}

/// Something that the user must know although no call could return it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Fault {
    kind: String,
    message: String,
    kernel: Option<String>,
    /// Lines and columns of the two places that it is about, as the compiler counts them in the rewritten text.
    #[serde(default)]
    sites: Vec<[u32; 2]>,
}

impl Fault {
    /// Puts the user's files, lines and columns in the place of line numbers.
    pub(super) fn locate(&mut self, source: &Source) {
        let [first, other] = self.sites[..] else { return };
        let rewritten = hip_syntax::rewrite::cpu(&Syntax::without_tree(source.text.clone()), Barriers::Fibers);
        // The runtime knows no file. A call that stands there in this one is taken for it; a header's is only a line.
        let place = |[line, column]: [u32; 2]| {
            let here = rewritten.text.lines().nth(line as usize - 1).and_then(|text| text.get(column as usize - 1..));
            match here {
                Some(here) if here.contains("sync") || here.contains("barrier") => {
                    format!("{}:{line}:{}", source.path.display(), rewritten.original_column(line, column))
                }
                _ => format!("line {line}"),
            }
        };
        if self.sites.iter().flatten().all(|&number| number > 0) {
            let lines = format!("lines {} and {}", first[0], other[0]);
            self.message = self.message.replace(&lines, &format!("{} and {}", place(first), place(other)));
        }
    }

    /// Whether the program ran out of device memory.
    pub(super) fn is_out_of_memory(&self) -> bool {
        self.kind == "out_of_memory"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kernel {
            Some(kernel) if !self.message.contains(kernel.as_str()) => {
                write!(out, "in kernel {kernel}: {}", self.message)
            }
            _ => out.write_str(&self.message),
        }
    }
}

/// Everything that was reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Groups in the order of their first launch.
    pub launches: Vec<LaunchGroup>,
    /// Faults in order.
    pub faults: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Launches(LaunchGroup),
    Fault(Fault),
}

/// Reads a report whose lines start with `token`, which only the runtime knows. The error says what the program did, and
/// reads on from "it": nobody but the runtime has business there.
pub(super) fn parse(bytes: &[u8], token: &str) -> Result<Report, String> {
    let mut report = Report::default();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        match read(line, token) {
            Ok(Line::Launches(group)) => report.launches.push(group),
            Ok(Line::Fault(fault)) => report.faults.push(fault),
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
                return Err(format!(
                    "it wrote to the descriptor that carries its timings (line {}: {start:?}: {error}); only the runtime \
                     may report times",
                    index + 1
                ));
            }
        }
    }
    Ok(report)
}

fn read(line: &[u8], token: &str) -> Result<Line, String> {
    let after = |line, start: &str| <[u8]>::strip_prefix(line, start.as_bytes());
    let body = after(line, token).and_then(|rest| after(rest, " ")).ok_or("the runtime did not write it")?;
    match serde_json::from_slice(body) {
        Ok(Line::Launches(group)) if group.processor_ns.len() != group.nanoseconds.len() => {
            Err("its times do not belong together".into())
        }
        other => other.map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "0123abcd";

    fn parse_with_token(lines: &[&str]) -> Result<Report, String> {
        parse(lines.iter().map(|line| format!("{TOKEN} {line}\n")).collect::<String>().as_bytes(), TOKEN)
    }

    const GROUP: &str = r#"{"launches":{"kernel":"k<float>","grid":[4,2,1],"block":[64,1,1],"shared_bytes":128,"ns":[7,8],"processor_ns":[6,7]}}"#;

    #[test]
    fn sites_are_told_in_the_users_columns() {
        let text = "__global__ void k() {\n  k<<<1, 1>>>(); __syncthreads();\n}\n";
        let source = Source::new("/w/k.hip", text);
        let line =
            hip_syntax::rewrite::cpu(&Syntax::parse(text), Barriers::Fibers).text.lines().nth(1).unwrap().to_owned();
        let column = u32::try_from(line.find("__sync").unwrap()).unwrap() + 1;
        let mut fault = Fault {
            kind: "barrier_divergence".into(),
            message: "at different barriers, lines 2 and 7: undefined".into(),
            kernel: None,
            sites: vec![[2, column], [7, 3]],
        };
        fault.locate(&source);
        assert_eq!(fault.message, "at different barriers, /w/k.hip:2:18 and line 7: undefined");
    }

    #[test]
    fn lines_are_read() {
        let fault = r#"{"fault":{"kind":"launch","message":"kernel k: too much","kernel":"k"}}"#;
        let report = parse_with_token(&[GROUP, fault]).unwrap();
        assert_eq!(report.launches[0].shape(), "grid 4x2x1 block 64x1x1 shared 128");
        assert_eq!(report.launches[0].processor_ns, [6, 7]);
        assert_eq!(report.faults[0].to_string(), "kernel k: too much");
    }

    #[test]
    fn what_the_runtime_did_not_write_is_refused() {
        let told = |answer: Result<Report, String>, text: &str| {
            let error = answer.unwrap_err();
            assert!(error.contains("only the runtime may report times"), "{text}: {error}");
        };
        let no_processor_time = GROUP.replace("[6,7]", "[6]");
        let cases = [
            "hello",
            r#"{"launches":{"kernel":"k"}}"#,
            &GROUP.replace("7,8", "-5,8"),
            &GROUP.replace("7,8", "0.5,8"),
            &no_processor_time,
            "{}",
            "[]",
        ];
        for text in cases {
            told(parse_with_token(&[text]), text);
        }
        // Well-formed, by somebody who does not know the token.
        for text in [GROUP.to_owned(), format!(" {GROUP}"), format!("0123abcc {GROUP}"), format!("{TOKEN}{GROUP}")] {
            told(parse(text.as_bytes(), TOKEN), &text);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes, TOKEN);
            let _ = parse(&[b"0123abcd ", &bytes[..]].concat(), TOKEN);
        }
    }
}
