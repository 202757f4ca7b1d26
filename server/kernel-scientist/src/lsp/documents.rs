//! The open documents: their texts, which change at once, and what was read of them, which follows in the background.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use hip_syntax::{Change, PositionEncoding, Splice, Text};
use lab::benchmark::Benchmark;
use tokio::sync::Notify;

use super::analysis::{Analysis, carried};

/// What a document is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It may hold kernels.
    Source,
    /// `NAME.bench.toml`.
    BenchmarkFile,
}

impl Role {
    /// By the client's name for the language and the file's; `None` for what is none of our business.
    pub fn of(language: &str, path: &std::path::Path) -> Option<Self> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(Benchmark::ENDING) {
            return Some(Self::BenchmarkFile);
        }
        let by_name = name.ends_with(".hip") || name.ends_with(".cu") || name.ends_with(".cuh");
        (by_name || matches!(language, "hip" | "cpp" | "cuda-cpp" | "cuda")).then_some(Self::Source)
    }
}

/// What is known of a document's present text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As much as will be known for now.
    Known,
    /// It is being read for the first time.
    Unread,
    /// An edit took away the place of something that is shown; the next reading will find it.
    Lost,
}

/// When a reading should begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Not at all.
    Nothing,
    /// In a moment: what is known is enough to answer from until then.
    Soon,
    /// At once.
    Now,
}

/// A document that is open in the editor.
#[derive(Debug)]
pub struct Document {
    /// Its file.
    pub path: PathBuf,
    /// What it is to us.
    pub role: Role,
    /// As the client counts.
    pub version: i32,
    /// Its text now.
    pub text: Text,
    /// Counts openings in this session: results for an earlier one are thrown away.
    pub opening: u64,
    /// Number of edits so far.
    edits: u64,
    /// Edits since the text that `analysis` read, with their numbers.
    since: Vec<(u64, Splice)>,
    /// What was last read.
    analysis: Option<Arc<Analysis>>,
    /// The edit whose text is being read.
    reading: Option<u64>,
    /// A reading begins in a moment.
    is_due: bool,
    /// The edit whose text could not be read.
    failed: Option<u64>,
    /// Wakes whoever waits for a reading.
    was_read: Arc<Notify>,
}

impl Document {
    /// The text that should be read now, unless that is done or under way; the caller reads it.
    pub fn begin_reading(&mut self) -> Option<(Text, u64)> {
        if !self.is_to_be_read() {
            return None;
        }
        self.reading = Some(self.edits);
        self.is_due = false;
        Some((self.text.clone(), self.edits))
    }

    /// When a reading should begin that is not due, under way or done already. One that should begin soon is due from then on.
    #[must_use]
    pub fn plan_reading(&mut self) -> Plan {
        if self.is_due || !self.is_to_be_read() {
            return Plan::Nothing;
        }
        self.is_due = self.standing() == Standing::Known;
        if self.is_due { Plan::Soon } else { Plan::Now }
    }

    /// The present text was not read, is not being read, and can be.
    fn is_to_be_read(&self) -> bool {
        self.reading.is_none() && !self.is_read() && self.failed != Some(self.edits)
    }

    /// Takes what was read. `None` when reading failed: the document keeps what it had.
    pub fn end_reading(&mut self, read: Option<Analysis>) {
        let of = self.reading.take();
        if read.is_none() {
            self.failed = of;
        }
        if let Some(read) = read {
            let edit = read.edit;
            let until: Vec<Splice> = self.splices_until(edit);
            self.since.retain(|(number, _)| *number > edit);
            let read = match &self.analysis {
                Some(old) => read.keeping(old, &until),
                None => read,
            };
            self.analysis = Some(Arc::new(read));
        }
        self.was_read.notify_waiters();
    }

    fn splices_until(&self, edit: u64) -> Vec<Splice> {
        self.since.iter().filter(|(number, _)| *number <= edit).map(|(_, splice)| *splice).collect()
    }

    /// Whether the present text was read.
    pub fn is_read(&self) -> bool {
        self.analysis.as_ref().is_some_and(|analysis| analysis.edit == self.edits)
    }

    /// What was last read.
    pub fn analysis(&self) -> Option<&Arc<Analysis>> {
        self.analysis.as_ref()
    }

    /// What was done to the text since that was read.
    pub fn splices(&self) -> Vec<Splice> {
        self.since.iter().map(|(_, splice)| *splice).collect()
    }

    /// Whether what was read is enough to answer from, or a reading will soon know more.
    pub fn standing(&self) -> Standing {
        match &self.analysis {
            // It is not tried again before the next change.
            _ if self.failed == Some(self.edits) => Standing::Known,
            None => Standing::Unread,
            Some(_) if self.has_lost_places() => Standing::Lost,
            Some(_) => Standing::Known,
        }
    }

    /// Whether an edit took away a place where something is shown, so that it can only be told where it went after the
    /// next reading.
    fn has_lost_places(&self) -> bool {
        let Some(analysis) = &self.analysis else { return false };
        let splices = self.splices();
        let is_lost = |at: usize| carried(at, &splices).is_none();
        !splices.is_empty()
            && analysis.kernels.iter().any(|kernel| {
                is_lost(kernel.name_range.start)
                    || is_lost(kernel.name_range.end)
                    || is_lost(kernel.signature_end)
                    || kernel.shared.iter().any(|array| is_lost(array.end))
            })
    }

    /// Woken after each reading.
    pub fn was_read(&self) -> Arc<Notify> {
        Arc::clone(&self.was_read)
    }
}

/// The open documents, by the client's address for them.
#[derive(Debug, Default)]
pub struct Documents {
    open: HashMap<String, Document>,
    openings: u64,
}

impl Documents {
    /// Opens a document; one that is open already begins anew, and whoever waits for it is woken.
    pub fn open(&mut self, uri: &str, path: PathBuf, role: Role, version: i32, text: &str) {
        self.openings += 1;
        let document = Document {
            path,
            role,
            version,
            text: Text::new(text),
            opening: self.openings,
            edits: 0,
            since: Vec::new(),
            analysis: None,
            reading: None,
            is_due: false,
            failed: None,
            was_read: Arc::default(),
        };
        if let Some(before) = self.open.insert(uri.to_owned(), document) {
            before.was_read.notify_waiters();
        }
    }

    /// Carries out changes, in order, and tells what each did. Costs as much as the changes are long, whatever the
    /// document's size.
    pub fn change(&mut self, uri: &str, version: i32, changes: &[Change], encoding: PositionEncoding) -> Vec<Splice> {
        let Some(document) = self.open.get_mut(uri) else { return Vec::new() };
        document.version = version;
        let mut splices = Vec::with_capacity(changes.len());
        for change in changes {
            document.edits += 1;
            let splice = document.text.change(change, encoding);
            document.since.push((document.edits, splice));
            splices.push(splice);
        }
        splices
    }

    /// Closes a document and wakes whoever waits for it.
    pub fn close(&mut self, uri: &str) {
        if let Some(document) = self.open.remove(uri) {
            document.was_read.notify_waiters();
        }
    }

    /// An open document.
    pub fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    /// An open document.
    pub fn get_mut(&mut self, uri: &str) -> Option<&mut Document> {
        self.open.get_mut(uri)
    }

    /// Every open document with its address.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Document)> {
        self.open.iter()
    }
}
