//! A first-level cache: lines in sets, the oldest of which goes.

/// The sector of a resident block's own stack for that of the traced block's.
pub(crate) fn own_scratch(sector: u64, block: usize) -> u64 {
    sector ^ (block as u64 + 1) << 36
}

/// The first-level cache of the unit.
pub(super) struct Lines {
    pub(super) sets: usize,
    pub(super) entries: Vec<Line>,
    pub(super) now: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) line: u64,
    pub(super) valid: u8,
    pub(super) used: u32,
    pub(super) arrives: f64,
}

pub(super) const WAYS: usize = 8;

impl Lines {
    pub(super) fn new(lines: usize) -> Self {
        let sets = (lines / WAYS).max(1);
        Self { sets, entries: vec![Line { line: u64::MAX, valid: 0, used: 0, arrives: 0.0 }; sets * WAYS], now: 0 }
    }

    pub(super) fn set(&mut self, line: u64) -> &mut [Line] {
        let mixed = (line ^ (line >> 17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = (mixed % self.sets as u64) as usize * WAYS;
        &mut self.entries[first..first + WAYS]
    }

    /// When the sector is or was there; none if it has to be fetched.
    pub(super) fn look(&mut self, sector: u64, line_shift: u32) -> Option<f64> {
        self.now += 1;
        let now = self.now;
        let line = sector >> line_shift;
        let bit = 1u8 << (sector & ((1 << line_shift) - 1));
        let entry = self.set(line).iter_mut().find(|entry| entry.line == line)?;
        entry.used = now;
        (entry.valid & bit != 0).then_some(entry.arrives)
    }

    pub(super) fn arrive(&mut self, sector: u64, line_shift: u32, time: f64) {
        self.now += 1;
        let now = self.now;
        let line = sector >> line_shift;
        let bit = 1u8 << (sector & ((1 << line_shift) - 1));
        let set = self.set(line);
        if let Some(entry) = set.iter_mut().find(|entry| entry.line == line) {
            if entry.valid & bit == 0 {
                entry.arrives = entry.arrives.max(time);
            }
            entry.valid |= bit;
            return;
        }
        if let Some(oldest) = set.iter_mut().min_by_key(|entry| entry.used) {
            *oldest = Line { line, valid: bit, used: now, arrives: time };
        }
    }
}
