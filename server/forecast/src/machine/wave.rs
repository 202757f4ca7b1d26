//! Resident blocks and waves, and when a wave can go on.

use crate::code::BlockId;
use crate::schedule::PlannedOp;

/// A resident wave.
pub(super) struct Wave {
    pub(super) block: usize,
    /// Its number in the traced block.
    pub(super) number: usize,
    pub(super) step: usize,
    pub(super) op: usize,
    /// When each value is ready, and the line that made it.
    pub(super) ready: Vec<f32>,
    pub(super) maker: Vec<u32>,
    /// Times count from here, so that 32 bits are enough.
    pub(super) origin: f64,
    pub(super) partition: usize,
    pub(super) last_issue: f64,
    pub(super) previous: BlockId,
    /// The line whose barrier or branch it waited for last.
    pub(super) blamed: Option<(f64, u32)>,
    /// Whether it has not issued anything.
    pub(super) fresh: bool,
    /// The first line of its last access, where that was a store, and when.
    pub(super) stored: Option<(u64, f64)>,
}

/// A resident block.
pub(super) struct Resident {
    /// The traced block that stands for it.
    pub(super) work: usize,
    pub(super) number: u64,
    pub(super) deltas: Vec<i64>,
    pub(super) left: usize,
    pub(super) arrived: Vec<(usize, f64)>,
    /// Whether it wrote to global memory.
    pub(super) stored: bool,
}

/// Values take the place of others when a block is entered.
pub(super) fn enter(wave: &mut Wave, phis: &[(u32, Vec<(u32, u32)>)]) {
    // All at once: a phi may use another one's old value.
    let moved: Vec<(u32, f32, u32)> = phis
        .iter()
        .map(|(value, from)| {
            let source = from.iter().find(|(block, _)| *block == wave.previous).or(from.last());
            match source {
                Some((_, source)) => (*value, wave.ready[*source as usize], wave.maker[*source as usize]),
                None => (*value, 0.0, 0),
            }
        })
        .collect();
    for (value, ready, maker) in moved {
        wave.ready[value as usize] = ready;
        wave.maker[value as usize] = maker;
    }
}

/// When all that an operation uses is ready, and the line of the last.
pub(super) fn readiness(wave: &Wave, op: &PlannedOp) -> (f64, Option<u32>) {
    let mut latest = 0f32;
    let mut line = None;
    for &value in &op.uses {
        let ready = wave.ready[value as usize];
        if ready > latest {
            latest = ready;
            line = Some(wave.maker[value as usize]);
        }
    }
    (wave.origin + f64::from(latest), line)
}
