//! A replay of one unit (a streaming multiprocessor or compute unit) with the blocks that the grid's dispatcher would give it.
//!
//! Waves issue in order; an operation waits for the values that it uses, for its partition's issue slot and for its pipe. Memory
//! is a chain of servers, each with a rate: the unit's own pipe, its way to the second-level cache, and its share of
//! what that cache and the memory give to all units. All units do the same at the same time, so a share is what each gets.

mod blocks;
mod lines;
mod memory;
mod servers;
mod unit;
mod wave;

use std::cmp::Reverse;

pub(crate) use self::lines::own_scratch;
use self::unit::Unit;
use crate::device::Device;
use crate::grid_cache::{GridTraffic, Movement};
use crate::schedule::Program;
use crate::sites::Sites;
use crate::waves::BlockWork;

/// What limits a kernel, in the words that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Issue slots.
    Issue,
    /// fp32 pipe.
    Fp32,
    /// Integer pipe.
    Integer,
    /// Special functions.
    Special,
    /// fp64 pipe.
    Fp64,
    /// fp16 pipe.
    Fp16,
    /// Matrix cores.
    Matrix,
    /// Scalar unit.
    Scalar,
    /// Shared memory.
    Lds,
    /// First-level cache and load/store units.
    L1,
    /// Second-level cache.
    L2,
    /// Memory-side cache.
    MemoryCache,
    /// Memory.
    Dram,
    /// Atomic operations.
    Atomics,
}

/// All resources, in the order of [`Outcome::busy`].
pub const RESOURCES: [Resource; 14] = [
    Resource::Issue,
    Resource::Fp32,
    Resource::Integer,
    Resource::Special,
    Resource::Fp64,
    Resource::Fp16,
    Resource::Matrix,
    Resource::Scalar,
    Resource::Lds,
    Resource::L1,
    Resource::L2,
    Resource::MemoryCache,
    Resource::Dram,
    Resource::Atomics,
];

/// What the replay is given.
pub struct Replay<'a> {
    /// The device.
    pub device: &'a Device,
    /// Its code.
    pub program: &'a Program,
    /// The accesses' numbers.
    pub sites: &'a Sites,
    /// The traced blocks.
    pub works: &'a [BlockWork],
    /// Those of them that may stand for blocks that were not traced.
    pub may: &'a [usize],
    /// How blocks that were not traced differ.
    pub movement: Movement<'a>,
    /// What the grid moves.
    pub traffic: &'a GridTraffic,
    /// Blocks of the grid.
    pub grid: u64,
    /// Blocks that a unit holds at once.
    pub resident: u64,
    /// Bytes of the first-level cache that are left beside shared memory.
    pub l1_bytes: f64,
    /// Work-items on the device that want an address that is compared and swapped, at the same time.
    pub contenders: f64,
    /// Operations that may be replayed.
    pub budget: u64,
}

/// What a replay showed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cycles of the grid.
    pub cycles: f64,
    /// Share of that time that each of [`RESOURCES`] was busy.
    pub busy: [f64; RESOURCES.len()],
    /// Share of that time that matrix cores were busy with what takes most power.
    pub dense: f64,
    /// What was spent on each of [`Program::lines`].
    pub lines: Vec<LineCost>,
    /// Sectors asked of the first-level cache by loads, and those that it had.
    pub l1_requests: f64,
    /// Hits.
    pub l1_hits: f64,
    /// By site: sectors asked of the first-level cache, and hits.
    pub site_l1: Vec<(f64, f64)>,
    /// Part of the operations that was replayed, the rest extrapolated.
    pub replayed: f64,
    /// Instructions that the waves of the grid issue.
    pub instructions: f64,
}

/// What a line costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCost {
    /// Instructions that waves issued.
    pub instructions: f64,
    /// Cycles that waves waited because of it: for its pipe, its value, its barrier.
    pub waited: f64,
    /// Work-items that took part, over instructions.
    pub lanes: f64,
}

/// Units that are replayed where blocks differ in their work and few of them follow each other on a unit.
const UNITS_OF_UNEVEN: u64 = 12;
/// Blocks differ in their work where its deviation is a larger part of its mean.
const UNEVEN: f64 = 0.1;
/// A grid of fewer rounds ends when the unit with most work does; more of them even out.
const FEW_ROUNDS: f64 = 4.0;
/// Where what is busiest, but for the way to memory, is busy for this part of the time, units end together and share the last round.
/// Where it is busy for less than the second, waiting for memory decides. (Micro-benchmarks launch last_round_part_*: blocks that compute
/// or use shared memory share it evenly, those that stream the memory nearly so, those that wait for the second-level cache do not.)
const ENDS_TOGETHER: (f64, f64) = (0.9, 0.7);

/// The blocks that a replayed unit gets.
#[derive(Clone, Copy)]
struct Planned {
    /// How many.
    blocks: f64,
    /// Of which the last few come when only so many units are still at work.
    last: Option<LastRound>,
}

/// A round that not all units have part in.
#[derive(Clone, Copy)]
struct LastRound {
    /// Blocks that the unit has started before it.
    after: u64,
    /// Units that have part in it.
    units: f64,
}

impl Replay<'_> {
    /// Replays the unit that is done last, as far as can be told from the traced blocks.
    pub fn run(&self) -> Outcome {
        let units = (*self.device.units.count as u64).min(self.grid).max(1);
        let shared = self.shared_evenly();
        let is_uneven = self.is_uneven();
        if is_uneven && self.rounds() < FEW_ROUNDS {
            let count = UNITS_OF_UNEVEN.min(units);
            return (0..count)
                .map(|place| self.of_unit((2 * place + 1) * units / (2 * count), shared, self.budget / 4))
                .max_by(|one, other| one.cycles.total_cmp(&other.cycles))
                .unwrap_or_default();
        }
        // Units in the middle of the grid's first row are like most others.
        let mut outcome = self.of_unit(units / 2, shared, self.budget);
        let bunched = if is_uneven { 0.0 } else { self.bunched(&outcome) };
        if bunched > 0.0
            && let Some(planned) = self.last_round_on_few()
        {
            let longest = self.of_unit(units / 2, planned, self.budget).cycles;
            outcome.cycles += bunched * (longest - outcome.cycles).max(0.0);
        }
        outcome
    }

    /// The blocks of a unit where all get as many.
    fn shared_evenly(&self) -> Planned {
        let share = (self.grid as f64 / *self.device.units.count).max(1.0);
        Planned { blocks: if self.rounds() < FEW_ROUNDS { share.ceil() } else { share }, last: None }
    }

    /// The blocks of a unit that gets as many of the last round as it can hold, if there is a round before and one that is not full.
    fn last_round_on_few(&self) -> Option<Planned> {
        let of_round = self.resident * *self.device.units.count as u64;
        let (full, rest) = (self.grid / of_round, self.grid % of_round);
        (full > 0 && rest > 0).then(|| {
            let after = full * self.resident;
            let units = (rest as f64 / self.resident as f64).ceil();
            Planned { blocks: (after + self.resident) as f64, last: Some(LastRound { after, units }) }
        })
    }

    /// How far units differ in what they get of the last round: 0 as little as they can, 1 all or nothing.
    fn bunched(&self, outcome: &Outcome) -> f64 {
        let Some(rounds) = &self.device.units.rounds_until_even else { return 0.0 };
        let towards_memory = [Resource::L2, Resource::MemoryCache];
        let busy = RESOURCES.iter().zip(outcome.busy).filter(|(resource, _)| !towards_memory.contains(resource));
        let busiest = busy.map(|(_, busy)| busy).fold(0.0, f64::max);
        let (together, apart) = ENDS_TOGETHER;
        let waits = ((together - busiest) / (together - apart)).clamp(0.0, 1.0);
        waits * (1.0 - self.rounds().floor() / **rounds).max(0.0)
    }

    /// How often a unit is filled with blocks.
    fn rounds(&self) -> f64 {
        (self.grid as f64 / *self.device.units.count).max(1.0) / self.resident as f64
    }

    fn is_uneven(&self) -> bool {
        let instructions = |place: &usize| self.program.mean_instructions(self.works, &[*place]);
        let all: Vec<f64> = self.may.iter().map(instructions).collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        let variance = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / all.len().max(1) as f64;
        variance.sqrt() > UNEVEN * mean
    }

    /// Replays the blocks of one unit.
    fn of_unit(&self, number: u64, plan: Planned, budget: u64) -> Outcome {
        let active = self.device.units.count.min(self.grid as f64).max(1.0);
        let of_unit = plan.blocks;
        let mean = self.program.mean_instructions(self.works, self.may);
        let mut unit = Unit::new(self, active, number);
        unit.last_round = plan.last;
        let planned = (of_unit.ceil() as u64).max(1);
        while unit.started < planned && unit.blocks_resident() < self.resident {
            unit.start_block(0.0, *self.device.start.block_cycles);
        }
        let total = of_unit * mean;
        let mut marks: Vec<(f64, f64)> = Vec::new();
        let mark_every = (total.min(budget as f64) / 16.0).max(1.0);
        let mut next_mark = mark_every;
        while let Some(Reverse((time, wave))) = unit.heap.pop() {
            unit.advance(wave, time.0, planned);
            if unit.issued >= next_mark {
                marks.push((unit.issued, unit.now()));
                next_mark += mark_every;
            }
            if unit.issued > budget as f64 && unit.issued < total * 0.98 {
                break;
            }
        }
        let drained = unit.drained();
        let finished = unit.heap.is_empty();
        let mut cycles = if finished { drained } else { unit.now() };
        let issued = unit.issued.max(1.0);
        let replayed = if finished && unit.started >= planned { 1.0 } else { (issued / total).min(1.0) };
        if replayed < 1.0 && marks.len() >= 4 {
            // The rate of the second half, past the first blocks' start.
            let (from, to) = (marks[marks.len() / 2], marks[marks.len() - 1]);
            let rate = (to.1 - from.1) / (to.0 - from.0).max(1.0);
            cycles = unit.now() + (total - issued).max(0.0) * rate;
        } else if finished && of_unit < planned as f64 {
            cycles *= 0.5 + 0.5 * of_unit / planned as f64;
        }
        let mut outcome = unit.finish(cycles, replayed);
        outcome.instructions = mean * self.grid as f64;
        outcome
    }
}
