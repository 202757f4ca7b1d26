//! What a unit does one thing after another: issue slots, pipes, the stages of memory.

use crate::device::{Device, Pipe};
use crate::schedule::Work;

/// Cycles, which have an order.
#[derive(Clone, Copy)]
pub(super) struct Time(pub(super) f64);
impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A server that does one thing after another.
#[derive(Clone, Copy, Default)]
pub(super) struct Server {
    pub(super) free: f64,
    pub(super) busy: f64,
}

impl Server {
    /// When something that comes at `time` and takes `cycles` begins.
    pub(super) fn take(&mut self, time: f64, cycles: f64) -> f64 {
        let begin = self.free.max(time);
        self.free = begin + cycles;
        self.busy += cycles;
        begin
    }

    /// The same; when it ends.
    pub(super) fn pass(&mut self, time: f64, cycles: f64) -> f64 {
        self.take(time, cycles) + cycles
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Partition {
    /// By the place of [`kind_index`].
    pub(super) issue: [Server; KINDS],
    pub(super) pipes: [Server; 6],
    pub(super) scalar: Server,
    /// Cycles of matrix instructions that leave the vector pipe to others: those that take most power.
    pub(super) dense: f64,
}

impl Partition {
    pub(super) fn issued(&self) -> f64 {
        self.issue.iter().map(|kind| kind.free).fold(0.0, f64::max)
    }
}

/// Kinds of instructions that leave at once from different waves, where a device can.
pub(super) const KINDS: usize = 5;

/// Which of a partition's issue slots an operation takes: there is one, or one for each kind.
pub(super) fn kind_index(device: &Device, work: Work, shared: bool) -> usize {
    if !device.issue.kinds_together {
        return 0;
    }
    match work {
        Work::Free | Work::Compute { .. } => 0,
        Work::Access { .. } if shared => 3,
        Work::Shuffle => 3,
        Work::Scalar { .. } | Work::Access { scalar: true, .. } => 1,
        Work::Access { .. } => 2,
        Work::Barrier | Work::Branch => 4,
    }
}

/// The place of the matrix cores among a partition's pipes.
pub(super) const MATRIX: usize = 5;

/// What of an instruction an operation is: half of one where two go together.
pub(super) fn part_of_instruction(work: Work) -> f64 {
    match work {
        Work::Compute { instructions, .. } => f64::from(instructions).min(1.0),
        _ => 1.0,
    }
}

pub(super) fn pipe_index(pipe: Pipe) -> usize {
    match pipe {
        Pipe::Fp => 0,
        Pipe::Int => 1,
        Pipe::Special => 2,
        Pipe::Fp64 => 3,
        Pipe::Fp16 => 4,
        Pipe::Matrix => MATRIX,
    }
}
