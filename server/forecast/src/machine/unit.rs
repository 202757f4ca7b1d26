//! The unit as it stands at a moment, and how waves issue on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lines::Lines;
use super::servers::{MATRIX, Partition, Server, Time, kind_index, part_of_instruction, pipe_index};
use super::wave::{Resident, Wave, enter, readiness};
use super::{LastRound, LineCost, Outcome, Replay};
use crate::device::{ConstantCaches, Pipe};
use crate::schedule::{PlannedOp, Work};
use crate::sites::SiteKind;
use crate::waves::Space;

/// Where atomics wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A part of the second-level cache.
    Part(u64),
    /// A sector of 32 bytes.
    Sector(u64),
}

/// Of AMD's units, two of which share one: 16 KiB (CDNA 3 white paper).
const SCALAR_CACHE_BYTES: usize = 16384;

/// Rates as cycles for a byte, of one unit's share.
pub(super) struct Rates {
    pub(super) l1_byte: f64,
    pub(super) unit_read: f64,
    pub(super) unit_write: f64,
    pub(super) l2_read: f64,
    /// Cycles for a line and a cycle that it is on its way.
    pub(super) line_on_its_way: f64,
    pub(super) l2_write: f64,
    pub(super) memory_cache: f64,
    pub(super) dram_read: f64,
    pub(super) dram_write: f64,
    /// What the memory's reads and writes count as, for each byte that is read from it and that units write.
    pub(super) read_cost: f64,
    pub(super) written_cost: f64,
    pub(super) active: f64,
}

impl Rates {
    /// Those of a unit while so many are at work.
    pub(super) fn of(replay: &Replay, active: f64) -> Self {
        let device = replay.device;
        let clock = *device.units.clock_hz;
        let stored: f64 = replay
            .traffic
            .sites
            .iter()
            .zip(&replay.sites.kinds)
            .filter(|(_, kind)| **kind == SiteKind::Store)
            .map(|(site, _)| site.requests)
            .sum::<f64>()
            * *device.l1.sector_bytes;
        Self {
            l1_byte: 1.0 / *device.l1.bytes_per_cycle,
            unit_read: 1.0 / *device.l2.unit_bytes_per_cycle,
            unit_write: 1.0 / *device.l2.unit_write_bytes_per_cycle,
            line_on_its_way: device
                .l1
                .lines_on_their_way
                .as_ref()
                .map_or(0.0, |part| 1.0 / (**part * first_level_lines(replay))),
            l2_read: active / *device.l2.bytes_per_cycle,
            l2_write: active / *device.l2.write_bytes_per_cycle,
            memory_cache: device.memory_cache.as_ref().map_or(0.0, |cache| active * clock / *cache.bytes_per_second),
            dram_read: active * clock / *device.dram.read_bytes_per_second,
            dram_write: active * clock / *device.dram.write_bytes_per_second,
            read_cost: if replay.traffic.read_bytes > 0.0 {
                replay.traffic.read_cost / replay.traffic.read_bytes
            } else {
                1.0
            },
            written_cost: if stored > 0.0 { replay.traffic.written_cost / stored } else { 0.0 },
            active,
        }
    }
}

fn first_level_lines(replay: &Replay) -> f64 {
    (replay.l1_bytes / *replay.device.l1.line_bytes).max(8.0)
}

pub(super) struct Unit<'a> {
    pub(super) replay: &'a Replay<'a>,
    /// Which of the units it is, by the order in which they get blocks.
    pub(super) number: u64,
    pub(super) rates: Rates,
    pub(super) last_round: Option<LastRound>,
    pub(super) numbers: Vec<u64>,
    pub(super) partitions: Vec<Partition>,
    pub(super) lds: Server,
    /// The ways of pairs of partitions to it, where they have their own.
    pub(super) ports: [Server; 2],
    pub(super) scalar_cache: Lines,
    /// The nearer and the farther cache of constants, where there are such.
    pub(super) constants: [Lines; 2],
    /// What constants come through.
    pub(super) constant_port: Server,
    pub(super) l1: Server,
    pub(super) unit_read: Server,
    pub(super) unit_write: Server,
    pub(super) l2: Server,
    pub(super) memory_cache: Server,
    pub(super) dram: Server,
    pub(super) dram_writes: f64,
    pub(super) atomics: Server,
    /// By part of the second-level cache: the atomics of all units there.
    pub(super) hot: std::collections::HashMap<Place, Server>,
    /// Until when the wave is in the loop of the atomic that it has just begun.
    pub(super) held: f64,
    /// Places of shared memory that are changed by such loops, of each resident block.
    pub(super) retried: std::collections::HashMap<(usize, u64), Server>,
    pub(super) cache: Lines,
    pub(super) waves: Vec<Wave>,
    pub(super) free_waves: Vec<usize>,
    pub(super) blocks: Vec<Resident>,
    pub(super) free_blocks: Vec<usize>,
    pub(super) heap: BinaryHeap<Reverse<(Time, usize)>>,
    pub(super) next: u64,
    pub(super) started: u64,
    pub(super) last_start: f64,
    pub(super) spread: Vec<f64>,
    pub(super) outcome: Outcome,
    pub(super) ended: f64,
    pub(super) issued: f64,
    pub(super) turn: usize,
}

impl<'a> Unit<'a> {
    pub(super) fn new(replay: &'a Replay<'a>, active: f64, number: u64) -> Self {
        let device = replay.device;
        Self {
            rates: Rates::of(replay, active),
            last_round: None,
            numbers: replay.works.iter().map(|work| work.number).collect(),
            partitions: vec![Partition::default(); *device.units.partitions as usize],
            lds: Server::default(),
            ports: [Server::default(); 2],
            constants: [0, 1].map(|far| {
                let of = |caches: &ConstantCaches| {
                    let bytes = if far == 1 { *caches.far_bytes } else { *caches.near_bytes };
                    bytes / *caches.line_bytes
                };
                Lines::new(device.l1.constant_caches.as_ref().map_or(0.0, of) as usize)
            }),
            constant_port: Server::default(),
            scalar_cache: Lines::new(SCALAR_CACHE_BYTES / *device.l1.line_bytes as usize),
            l1: Server::default(),
            unit_read: Server::default(),
            unit_write: Server::default(),
            l2: Server::default(),
            memory_cache: Server::default(),
            dram: Server::default(),
            dram_writes: 0.0,
            atomics: Server::default(),
            hot: std::collections::HashMap::new(),
            held: 0.0,
            retried: std::collections::HashMap::new(),
            cache: Lines::new(first_level_lines(replay) as usize),
            waves: Vec::new(),
            free_waves: Vec::new(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            heap: BinaryHeap::new(),
            next: 0,
            started: 0,
            last_start: f64::NEG_INFINITY,
            spread: vec![0.0; replay.sites.count],
            outcome: Outcome {
                lines: vec![LineCost::default(); replay.program.lines.len()],
                site_l1: vec![(0.0, 0.0); replay.sites.count],
                ..Outcome::default()
            },
            ended: 0.0,
            issued: 0.0,
            turn: 0,
            replay,
            number,
        }
    }

    pub(super) fn now(&self) -> f64 {
        self.partitions.iter().map(Partition::issued).fold(self.ended, f64::max)
    }

    pub(super) fn drained(&self) -> f64 {
        let servers = [&self.l1, &self.lds, &self.unit_write, &self.l2, &self.dram, &self.atomics, &self.memory_cache];
        servers.iter().map(|server| server.free).fold(self.ended, f64::max)
    }

    pub(super) fn blocks_resident(&self) -> u64 {
        (self.blocks.len() - self.free_blocks.len()) as u64
    }

    /// Lets a wave issue from `time` until another one comes first, or it waits for its block, or ends.
    pub(super) fn advance(&mut self, wave: usize, time: f64, planned: u64) {
        let replay = self.replay;
        let mut time = time;
        if std::mem::take(&mut self.waves[wave].fresh) {
            let start = &replay.device.start;
            let partition = &mut self.partitions[self.waves[wave].partition];
            partition.issue[0].take(time, *start.prologue_instructions * *replay.device.issue.cycles);
            self.heap.push(Reverse((Time(time + *start.prologue_cycles), wave)));
            return;
        }
        loop {
            let state = &mut self.waves[wave];
            let resident = &self.blocks[state.block];
            let work = &replay.works[resident.work];
            let steps = &work.waves[state.number].steps;
            let Some(step) = steps.get(state.step) else {
                self.end_wave(wave, time, planned);
                return;
            };
            let planned_block = &replay.program.blocks[step.block as usize];
            if state.op == 0 && !planned_block.phis.is_empty() {
                enter(state, &planned_block.phis);
            }
            let Some(op) = planned_block.ops.get(state.op) else {
                state.previous = step.block;
                state.step += 1;
                state.op = 0;
                continue;
            };
            let (needed, producer) = readiness(state, op);
            if op.work == Work::Free {
                if op.value != u32::MAX {
                    state.ready[op.value as usize] = (needed - state.origin) as f32;
                    state.maker[op.value as usize] = producer.unwrap_or(op.line);
                }
                state.op += 1;
                continue;
            }
            // Another wave may be first.
            let due = needed.max(time);
            if let Some(Reverse((other, _))) = self.heap.peek()
                && other.0 < due
            {
                self.heap.push(Reverse((Time(due), wave)));
                return;
            }
            let lanes = f64::from(step.lanes);
            let access = step.access;
            let block_id = step.block;
            let shared = match op.work {
                Work::Access { number, .. } => {
                    work.accesses.get((access + number) as usize).is_some_and(|access| access.space == Space::Shared)
                }
                _ => false,
            };
            let issue = self.issue(wave, op, shared, due, needed, producer, lanes);
            if op.work == Work::Barrier {
                self.arrive(wave, issue, op.line);
                return;
            }
            let mut held = 0.0;
            if let Work::Access { number, kind, atomic, scalar } = op.work {
                let site = replay.sites.first(block_id) + number;
                let ready = self.access(wave, site, access + number, (kind, atomic, scalar), issue);
                held = std::mem::take(&mut self.held);
                let state = &mut self.waves[wave];
                if op.value != u32::MAX {
                    state.ready[op.value as usize] = (ready - state.origin) as f32;
                    state.maker[op.value as usize] = op.line;
                }
            }
            let state = &mut self.waves[wave];
            state.op += 1;
            time = held.max(issue + *replay.device.issue.wave_cycles * part_of_instruction(op.work));
            if op.work == Work::Branch {
                time += f64::from(op.latency);
            }
        }
    }

    /// Issues a computation, or the issue slot of an access. Returns when.
    #[allow(clippy::too_many_arguments, reason = "what one step of the loop found out")]
    pub(super) fn issue(
        &mut self,
        wave: usize,
        op: &PlannedOp,
        shared: bool,
        due: f64,
        needed: f64,
        producer: Option<u32>,
        lanes: f64,
    ) -> f64 {
        let device = self.replay.device;
        let slot = *device.issue.cycles;
        let state = &mut self.waves[wave];
        let partition = &mut self.partitions[state.partition];
        let kind = kind_index(device, op.work, shared);
        let mut latency = f64::from(op.latency);
        let (begin, instructions) = match op.work {
            Work::Compute { pipe, cycles, instructions, alone } => {
                let index = pipe_index(pipe);
                let mut free = partition.pipes[index].free.max(partition.issue[kind].free);
                if device.issue.one_vector_pipe && (pipe != Pipe::Matrix || alone) {
                    free = partition.pipes[..MATRIX].iter().map(|pipe| pipe.free).fold(free, f64::max);
                }
                if device.issue.one_vector_pipe && alone {
                    let vector = &mut partition.pipes[pipe_index(Pipe::Fp)];
                    vector.free = vector.free.max(due.max(free) + f64::from(cycles));
                }
                if pipe == Pipe::Matrix && !alone {
                    partition.dense += f64::from(cycles);
                }
                let begin = partition.pipes[index].take(due.max(free), f64::from(cycles));
                let count = f64::from(instructions);
                partition.issue[kind].take(begin, slot * count);
                latency = latency.max(f64::from(cycles));
                (begin, count)
            }
            Work::Scalar { instructions } => {
                let count = f64::from(instructions);
                // Its own slot among those of all kinds, where there are such.
                let each = if device.issue.kinds_together { slot } else { 1.0 };
                (partition.scalar.take(due, count * each), count)
            }
            Work::Access { scalar: true, .. } if device.issue.kinds_together && !shared => {
                (partition.scalar.take(due, slot), 1.0)
            }
            Work::Shuffle => {
                let begin = partition.issue[kind].take(due, slot);
                let pipe = if device.l1.one_pipe_with_lds { &mut self.l1 } else { &mut self.lds };
                let at = pipe.take(begin, *device.issue.shuffle_cycles);
                latency += at - begin;
                (begin, 1.0)
            }
            _ => (partition.issue[kind].take(due, slot), 1.0),
        };
        if op.value != u32::MAX && !matches!(op.work, Work::Access { .. }) {
            state.ready[op.value as usize] = (begin + latency - state.origin) as f32;
            state.maker[op.value as usize] = op.line;
        }
        self.issued += instructions;
        // Waiting for a value is the doing of the line that makes it; waiting for a pipe, that of this one.
        let waited_for_value = (needed - state.last_issue).max(0.0).min(begin - state.last_issue);
        let waited_for_block = match state.blamed.take() {
            Some((until, line)) => {
                let waited = (until - state.last_issue).max(0.0).min(begin - state.last_issue);
                self.outcome.lines[line as usize].waited += waited;
                waited
            }
            None => 0.0,
        };
        if waited_for_value > waited_for_block {
            let line = producer.unwrap_or(op.line) as usize;
            self.outcome.lines[line].waited += waited_for_value - waited_for_block;
        }
        let own = (begin - state.last_issue - waited_for_value.max(waited_for_block)).max(0.0);
        let line = &mut self.outcome.lines[op.line as usize];
        line.waited += own;
        line.instructions += instructions;
        line.lanes += lanes * instructions;
        state.last_issue = begin;
        self.ended = self.ended.max(begin);
        begin
    }

    pub(super) fn finish(mut self, cycles: f64, replayed: f64) -> Outcome {
        let span = self.now().max(1.0);
        let partitions = self.partitions.len() as f64;
        let of_pipe =
            |pipe: usize| self.partitions.iter().map(|partition| partition.pipes[pipe].busy).sum::<f64>() / partitions;
        let issue = self
            .partitions
            .iter()
            .map(|partition| partition.issue.iter().map(|kind| kind.busy).fold(0.0, f64::max))
            .sum::<f64>()
            / partitions;
        let dense = self.partitions.iter().map(|partition| partition.dense).sum::<f64>() / partitions;
        let scalar = self.partitions.iter().map(|partition| partition.scalar.busy).sum::<f64>() / partitions;
        let hottest = self.hot.values().fold(0.0f64, |most, place| most.max(place.busy));
        let busy = [
            issue,
            of_pipe(0),
            of_pipe(1),
            of_pipe(2),
            of_pipe(3),
            of_pipe(4),
            of_pipe(5),
            scalar,
            self.lds.busy,
            self.l1.busy,
            self.l2.busy.max(self.unit_read.busy).max(self.unit_write.busy),
            self.memory_cache.busy,
            self.dram.busy,
            self.atomics.busy.max(hottest),
        ];
        let drained = self.drained().max(span);
        for (share, busy) in self.outcome.busy.iter_mut().zip(busy) {
            *share = (busy / drained).min(1.0);
        }
        self.outcome.dense = (dense / drained).min(1.0);
        self.outcome.cycles = cycles;
        self.outcome.replayed = replayed;
        self.outcome
    }
}
