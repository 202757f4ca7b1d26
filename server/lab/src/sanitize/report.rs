//! What the runtime writes of faults: JSON lines in a file of the run's folder.

use std::path::PathBuf;

use serde::Deserialize;

use super::symbols::Symbols;
use super::{Fault, Place};

/// A place by its address in a loaded object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RawPlace {
    pub module: PathBuf,
    pub offset: u64,
    did: String,
    #[serde(default)]
    block: Option<[u64; 3]>,
    #[serde(default)]
    item: Option<[u64; 3]>,
}

/// A fault as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Raw {
    number: u64,
    kind: String,
    message: String,
    kernel: Option<String>,
    pub at: Option<RawPlace>,
    pub other: Option<RawPlace>,
    /// Written when the process ends, if it comes to that.
    #[serde(default = "once")]
    times: u64,
}

fn once() -> u64 {
    1
}

#[derive(Deserialize)]
struct Count {
    number: u64,
    times: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Fault(Box<Raw>),
    Count(Count),
}

/// Reads all runs' lines, one after another: numbers begin again with each run. What is no such line was written by the
/// code under test, which gains nothing by it, and is passed over.
pub(super) fn read(bytes: &[u8]) -> Vec<Raw> {
    let mut faults: Vec<Raw> = Vec::new();
    for line in bytes.split(|&byte| byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Fault(fault)) => faults.push(*fault),
            Ok(Line::Count(count)) => {
                if let Some(fault) = faults.iter_mut().rev().find(|fault| fault.number == count.number) {
                    fault.times = count.times;
                }
            }
            Err(_) => {}
        }
    }
    faults
}

impl Raw {
    /// The fault with its places in the user's files.
    pub(super) fn located(self, symbols: &Symbols<'_>) -> Fault {
        let block = self.at.as_ref().and_then(|place| place.block);
        let work_items = self.at.iter().chain(&self.other).filter_map(|place| place.item).collect();
        let locate = |place: Option<RawPlace>| {
            let place = place?;
            let found = symbols.find(&place)?;
            Some(Place {
                file: found.file.clone(),
                line: found.line,
                column: found.column,
                did: place.did,
                block: place.block,
                work_item: place.item,
            })
        };
        Fault {
            kind: self.kind,
            message: self.message,
            kernel: self.kernel,
            at: locate(self.at),
            other: locate(self.other),
            block,
            work_items,
            times: self.times,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_and_their_counts_are_read_and_strange_lines_passed_over() {
        let text = concat!(
            r#"{"fault":{"number":0,"kind":"race","message":"m","kernel":"k","at":{"module":"/a","offset":16,"did":"read here","block":[1,0,0],"item":[2,0,0]},"other":null}}"#,
            "\nnonsense\n\n",
            r#"{"count":{"number":0,"times":7}}"#,
            "\n",
            r#"{"fault":{"number":0,"kind":"double_free","message":"m","kernel":null,"at":null,"other":null}}"#,
        );
        let faults = read(text.as_bytes());
        let summary: Vec<_> = faults.iter().map(|fault| (fault.kind.as_str(), fault.times)).collect();
        assert_eq!(summary, [("race", 7), ("double_free", 1)]);
        assert_eq!(faults[0].at.as_ref().unwrap().item, Some([2, 0, 0]));
    }
}
