//! What is read from one state of a text: kernels, their shared memory, launches.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hip_syntax::{Fingerprint, Kernel, Splice, Syntax, Text};
use lab::Source;

/// What a text says, in bytes of that text.
#[derive(Debug)]
pub struct Analysis {
    /// Which edit of the document left the text that was read.
    pub edit: u64,
    /// The text.
    pub text: Arc<str>,
    /// The kernels, in order.
    pub kernels: Vec<KernelFacts>,
    /// The launches, in order.
    pub launches: Vec<LaunchFacts>,
    /// Every bracket has its partner; else kernels may be missing or cut short.
    is_whole: bool,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Name as written.
    pub name: String,
    /// Name with namespaces.
    pub qualified_name: String,
    /// What commands call it: its name, with namespaces only where another kernel of the text has it, too.
    pub called: String,
    /// Hash of its tokens and of all that it uses in the file.
    pub fingerprint: String,
    /// Where its name stands.
    pub name_range: Range<usize>,
    /// Behind the last character of its signature.
    pub signature_end: usize,
    /// From its first token to its closing brace.
    pub range: Range<usize>,
    /// Its `__shared__` variables.
    pub shared: Vec<SharedFacts>,
    /// The closing brace was found.
    is_complete: bool,
}

/// A `__shared__` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFacts {
    /// Its name.
    pub name: String,
    /// Behind its declarator.
    pub end: usize,
    /// Its bytes of LDS; `None` for one whose size a launch gives.
    pub bytes: Option<u64>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFacts {
    /// The kernel's name, without qualifiers.
    pub kernel: String,
    /// Where it stands, with qualifiers and template arguments.
    pub name_range: Range<usize>,
}

impl Analysis {
    /// Reads `text`, which edit number `edit` left.
    pub fn read(text: &Text, edit: u64) -> Self {
        Self::of(text.to_string(), edit, |_| None)
    }

    /// The same of the file at `path`, whose kernels rest on the headers that it includes, too.
    pub fn read_at(path: &Path, text: &Text, edit: u64) -> Self {
        Self::of(text.to_string(), edit, |text| Source::new(path, Arc::clone(text)).headers())
    }

    fn of(text: String, edit: u64, headers: impl Fn(&Arc<str>) -> Option<Fingerprint>) -> Self {
        let syntax = Syntax::without_tree(text);
        let headers = headers(syntax.text());
        let launch = |launch: &hip_syntax::Launch| LaunchFacts {
            kernel: launch.kernel.clone(),
            name_range: launch.kernel_range.clone(),
        };
        let mut bearers: HashMap<&str, usize> = HashMap::new();
        syntax.kernels().iter().for_each(|kernel| *bearers.entry(kernel.name.as_str()).or_default() += 1);
        let facts = |kernel: &Kernel| {
            let is_shared = bearers[kernel.name.as_str()] > 1;
            let called = if is_shared { &kernel.qualified_name } else { &kernel.name };
            KernelFacts::of(kernel, called, syntax.text(), headers)
        };
        Self {
            edit,
            text: Arc::clone(syntax.text()),
            kernels: syntax.kernels().iter().map(facts).collect(),
            launches: syntax.launches().iter().map(launch).collect(),
            is_whole: syntax.is_balanced(),
        }
    }

    /// Every bracket has its partner.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// While brackets do not match, kernels of the last text that are missing or cut short now are shown as they were,
    /// carried along by `splices`: nothing flickers while somebody types.
    pub fn keeping(mut self, old: &Self, splices: &[Splice]) -> Self {
        if self.is_whole {
            return self;
        }
        for kept in old.kernels.iter().filter_map(|kernel| kernel.carried(splices)) {
            match self.kernels.iter_mut().find(|kernel| kernel.qualified_name == kept.qualified_name) {
                Some(present) if present.is_complete => {}
                Some(present) => *present = kept,
                None => self.kernels.push(kept),
            }
        }
        self.kernels.sort_by_key(|kernel| kernel.range.start);
        self
    }
}

impl KernelFacts {
    fn of(kernel: &Kernel, called: &str, text: &str, headers: Option<Fingerprint>) -> Self {
        let shared = kernel.shared.iter().filter(|array| array.dynamic || array.static_bytes.is_some());
        Self {
            name: kernel.name.clone(),
            qualified_name: kernel.qualified_name.clone(),
            called: called.to_owned(),
            fingerprint: kernel.fingerprint.resting_on(headers).to_string(),
            name_range: kernel.name_range.clone(),
            signature_end: text[..kernel.header.end].trim_end().len(),
            range: kernel.range.clone(),
            shared: shared
                .map(|array| SharedFacts {
                    name: array.name.clone(),
                    end: array.dims.last().map_or(array.name_range.end, |dim| dim.end + 1),
                    bytes: array.static_bytes.filter(|_| !array.dynamic),
                })
                .collect(),
            is_complete: kernel.complete,
        }
    }

    /// The kernel where edits moved it; `None` when its name was edited away.
    fn carried(&self, splices: &[Splice]) -> Option<Self> {
        let clamp = |at: usize| splices.iter().fold(at, |at, splice| splice.clamp(at));
        let place = |at: usize| carried(at, splices);
        let name_range = place(self.name_range.start)?..place(self.name_range.end)?;
        let shared = |array: &SharedFacts| Some(SharedFacts { end: place(array.end)?, ..array.clone() });
        (name_range.len() == self.name_range.len()).then(|| Self {
            name_range,
            signature_end: clamp(self.signature_end),
            range: clamp(self.range.start)..clamp(self.range.end),
            shared: self.shared.iter().filter_map(shared).collect(),
            ..self.clone()
        })
    }
}

/// Where edits moved a place; `None` when it was edited away.
pub fn carried(at: usize, splices: &[Splice]) -> Option<usize> {
    splices.iter().try_fold(at, |at, splice| splice.carry(at))
}

#[cfg(test)]
mod tests {
    use hip_syntax::{Change, Position, PositionEncoding};

    use super::*;

    fn typed(text: &mut Text, at: (u32, u32), what: &str) -> Splice {
        let at = Position::new(at.0, at.1);
        text.change(&Change { range: Some(at..at), text: what.into() }, PositionEncoding::Utf16)
    }

    #[test]
    fn kernels_stay_while_a_brace_is_missing() {
        let mut text = Text::new("__global__ void a() {\n}\n__global__ void b(int n) {\n  __shared__ int t[4];\n}\n");
        let before = Analysis::read(&text, 0);
        let splice = typed(&mut text, (1, 0), "if (1) {\n");
        let alone = Analysis::read(&text, 1);
        assert!(alone.kernels.len() < 2 || alone.kernels.iter().any(|kernel| !kernel.is_complete));
        let kept = Analysis::read(&text, 1).keeping(&before, &[splice]);
        let names: Vec<&str> = kept.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let b = &kept.kernels[1];
        assert_eq!(&kept.text[b.name_range.clone()], "b");
        assert!(kept.text[..b.signature_end].ends_with("b(int n)"));
        assert!(kept.text[..b.shared[0].end].ends_with("t[4]"));
    }

    #[test]
    fn shared_memory_is_read_with_its_bytes() {
        let text = "template <int N> __global__ void k() {\n  __shared__ float a[16][17];\n  __shared__ float b[N];\n  \
                    extern __shared__ float c[];\n}\n";
        let analysis = Analysis::read(&Text::new(text), 0);
        let shared: Vec<(&str, Option<u64>)> =
            analysis.kernels[0].shared.iter().map(|array| (array.name.as_str(), array.bytes)).collect();
        assert_eq!(shared, [("a", Some(16 * 17 * 4)), ("c", None)]);
    }
}
