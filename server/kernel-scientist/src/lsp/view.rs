//! What a feature sees: one document as it is now, with everything that is known about it. Nothing in it changes.

use std::ops::Range;
use std::sync::Arc;

use hip_syntax::{PositionEncoding, Splice, Text};

use super::analysis::{Analysis, KernelFacts, carried};
use super::forecasts::{Account, Mark, Shown};
use super::history::{FileHistory, KernelHistory};
use super::jobs::JobView;
use super::settings::Settings;
use super::suggestions::Suggestions;

/// A document and what is known about it.
pub struct View {
    /// The client's address for it.
    pub uri: String,
    /// Which opening of it.
    pub opening: u64,
    /// Its version, as the client counts.
    pub version: i32,
    /// Its text now.
    pub text: Text,
    /// How the client counts columns.
    pub encoding: PositionEncoding,
    /// What was last read of it, perhaps a few edits ago.
    pub analysis: Arc<Analysis>,
    /// Those edits.
    pub splices: Vec<Splice>,
    /// What was measured.
    pub history: Arc<FileHistory>,
    /// What is under way on it.
    pub jobs: Vec<JobView>,
    /// Hypotheses for its kernels.
    pub suggestions: Arc<Suggestions>,
    /// The user's settings.
    pub settings: Arc<Settings>,
    /// Its benchmark file is there.
    pub has_benchmark_file: bool,
    /// The client shows images in hovers.
    pub shows_images: bool,
    /// The lab's name of its device.
    pub device: String,
    /// What was forecast of it, perhaps a few edits ago.
    pub forecast: Option<Shown>,
    /// Why the newest text that was tried has no forecast.
    pub no_forecast: Option<String>,
}

impl View {
    /// Where a place of the text that was read is now; `None` when it was edited away.
    pub fn now(&self, at: usize) -> Option<usize> {
        carried(at, &self.splices)
    }

    /// As [`View::now`] for a range; one that shrank to nothing is gone.
    pub fn range_now(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let now = self.now(range.start)?..self.now(range.end)?;
        (now.is_empty() == range.is_empty()).then_some(now)
    }

    /// Where a kernel stands now, all of it; an end that was edited away is where the edit is.
    pub fn extent(&self, kernel: &KernelFacts) -> Range<usize> {
        let clamp = |at: usize| self.splices.iter().fold(at, |at, splice| splice.clamp(at));
        clamp(kernel.range.start)..clamp(kernel.range.end)
    }

    /// The kernel around a place of the present text.
    pub fn kernel_around(&self, place: &Range<usize>) -> Option<&KernelFacts> {
        self.analysis.kernels.iter().find(|kernel| {
            let extent = self.extent(kernel);
            extent.start <= place.start && place.start <= extent.end
        })
    }

    /// The first kernel of that name, qualified or not.
    pub fn kernel(&self, name: &str) -> Option<&KernelFacts> {
        self.analysis.kernels.iter().find(|kernel| kernel.qualified_name == name || kernel.name == name)
    }

    /// What was measured of a kernel.
    pub fn history_of(&self, kernel: &KernelFacts) -> Option<&KernelHistory> {
        self.history.kernels.get(&kernel.qualified_name)
    }

    /// What was forecast of a kernel in this session, in whatever version.
    pub fn account_of(&self, kernel: &KernelFacts) -> Option<&Account> {
        self.forecast.as_ref()?.account(kernel)
    }

    /// The kernel that an account is of, as it is now.
    pub fn kernel_of(&self, account: &Account) -> Option<&KernelFacts> {
        self.analysis.kernels.iter().find(|kernel| kernel.qualified_name == account.kernel)
    }

    /// Where a line that an account names is now, from 1; `None` where it was edited away, or does not matter.
    pub fn line_of(&self, account: &Account, line: u32) -> Option<usize> {
        let is_it = |of: &Account, mark: &Mark| of.kernel == account.kernel && mark.line.line == line;
        let (place, ..) = self.forecast.as_ref()?.marks().find(|(_, of, mark)| is_it(of, mark))?;
        Some(self.text.rope().byte_to_line(place.min(self.text.len())) + 1)
    }

    /// Behind the last character of the line that a place is on, without its line break.
    pub fn line_end(&self, at: usize) -> usize {
        let rope = self.text.rope();
        let line = rope.byte_to_line(at.min(rope.len_bytes()));
        let start = rope.line_to_byte(line);
        let line = rope.line(line);
        let breaks = line.chars_at(line.len_chars()).reversed().take_while(|c| matches!(c, '\n' | '\r')).count();
        start + line.len_bytes() - breaks
    }

    /// What is under way on a kernel.
    pub fn job_on(&self, kernel: &KernelFacts) -> Option<&JobView> {
        let is_it = |name: &String| *name == kernel.name || *name == kernel.qualified_name;
        self.jobs.iter().find(|job| job.kernel.as_ref().is_none_or(is_it))
    }
}
