//! A replay of one unit (a streaming multiprocessor or compute unit) with the blocks that the grid's dispatcher would give it.
//!
//! Waves issue in order; an operation waits for the values that it uses, for its partition's issue slot and for its pipe. Memory
//! is a chain of servers, each with a rate: the unit's own pipe, its way to the second-level cache, and its share of
//! what that cache and the memory give to all units. All units do the same at the same time, so a share is what each gets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::code::BlockId;
use crate::device::{Device, Pipe};
use crate::grid_cache::{GridTraffic, Movement, choose};
use crate::schedule::{PlannedOp, Program, Work};
use crate::sites::{Motion, SiteKind, Sites};
use crate::waves::{Access, BlockWork, Space};

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

#[derive(Clone, Copy)]
struct Time(f64);
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

/// A resident wave.
struct Wave {
    block: usize,
    /// Its number in the traced block.
    number: usize,
    step: usize,
    op: usize,
    /// When each value is ready, and the line that made it.
    ready: Vec<f32>,
    maker: Vec<u32>,
    /// Times count from here, so that 32 bits are enough.
    origin: f64,
    partition: usize,
    last_issue: f64,
    previous: BlockId,
    /// The line whose barrier or branch it waited for last.
    blamed: Option<(f64, u32)>,
    /// Whether it has not issued anything.
    fresh: bool,
}

/// A resident block.
struct Resident {
    /// The traced block that stands for it.
    work: usize,
    number: u64,
    deltas: Vec<i64>,
    left: usize,
    arrived: Vec<(usize, f64)>,
    /// Whether it wrote to global memory.
    stored: bool,
}

/// A server that does one thing after another.
#[derive(Clone, Copy, Default)]
struct Server {
    free: f64,
    busy: f64,
}

impl Server {
    /// When something that comes at `time` and takes `cycles` begins.
    fn take(&mut self, time: f64, cycles: f64) -> f64 {
        let begin = self.free.max(time);
        self.free = begin + cycles;
        self.busy += cycles;
        begin
    }

    /// The same; when it ends.
    fn pass(&mut self, time: f64, cycles: f64) -> f64 {
        self.take(time, cycles) + cycles
    }
}

#[derive(Clone, Copy, Default)]
struct Partition {
    /// By the place of [`kind_index`].
    issue: [Server; KINDS],
    pipes: [Server; 6],
    scalar: Server,
    /// Cycles of matrix instructions that leave the vector pipe to others: those that take most power.
    dense: f64,
}

impl Partition {
    fn issued(&self) -> f64 {
        self.issue.iter().map(|kind| kind.free).fold(0.0, f64::max)
    }
}

/// Kinds of instructions that leave at once from different waves, where a device can.
const KINDS: usize = 5;

/// Which of a partition's issue slots an operation takes: there is one, or one for each kind.
fn kind_index(device: &Device, work: Work, shared: bool) -> usize {
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
const MATRIX: usize = 5;
/// Of AMD's units, two of which share one: 16 KiB (CDNA 3 white paper).
const SCALAR_CACHE_BYTES: usize = 16384;

/// What of an instruction an operation is: half of one where two go together.
fn part_of_instruction(work: Work) -> f64 {
    match work {
        Work::Compute { instructions, .. } => f64::from(instructions).min(1.0),
        _ => 1.0,
    }
}

fn pipe_index(pipe: Pipe) -> usize {
    match pipe {
        Pipe::Fp => 0,
        Pipe::Int => 1,
        Pipe::Special => 2,
        Pipe::Fp64 => 3,
        Pipe::Fp16 => 4,
        Pipe::Matrix => MATRIX,
    }
}

/// Rates as cycles for a byte, of one unit's share.
struct Rates {
    l1_byte: f64,
    unit_read: f64,
    unit_write: f64,
    l2_read: f64,
    l2_write: f64,
    memory_cache: f64,
    dram_read: f64,
    dram_write: f64,
    /// What the memory's reads and writes count as, for each byte that is read from it and that units write.
    read_cost: f64,
    written_cost: f64,
    active: f64,
}

struct Machine<'a> {
    replay: &'a Replay<'a>,
    rates: Rates,
    numbers: Vec<u64>,
    partitions: Vec<Partition>,
    lds: Server,
    /// The ways of pairs of partitions to it, where they have their own.
    ports: [Server; 2],
    scalar_cache: Lines,
    l1: Server,
    unit_read: Server,
    unit_write: Server,
    l2: Server,
    memory_cache: Server,
    dram: Server,
    dram_writes: f64,
    atomics: Server,
    hot: std::collections::HashMap<u64, f64>,
    cache: Lines,
    waves: Vec<Wave>,
    free_waves: Vec<usize>,
    blocks: Vec<Resident>,
    free_blocks: Vec<usize>,
    heap: BinaryHeap<Reverse<(Time, usize)>>,
    next: u64,
    started: u64,
    last_start: f64,
    spread: Vec<f64>,
    outcome: Outcome,
    ended: f64,
    issued: f64,
    turn: usize,
}

impl Replay<'_> {
    /// Replays the unit that gets most blocks.
    pub fn run(&self) -> Outcome {
        let units = *self.device.units.count;
        let active = units.min(self.grid as f64).max(1.0);
        let share = (self.grid as f64 / units).max(1.0);
        // A grid of few rounds ends when the unit with one block more does; many rounds even out.
        let rounds = share / self.resident as f64;
        let of_unit = if rounds < 4.0 { share.ceil() } else { share };
        let mean = self.program.mean_instructions(self.works, self.may);
        let mut machine = Machine::new(self, active);
        let planned = (of_unit.ceil() as u64).max(1);
        while machine.started < planned && machine.blocks_resident() < self.resident {
            machine.start_block(0.0, *self.device.start.block_cycles);
        }
        let total = of_unit * mean;
        let mut marks: Vec<(f64, f64)> = Vec::new();
        let mark_every = (total.min(self.budget as f64) / 16.0).max(1.0);
        let mut next_mark = mark_every;
        while let Some(Reverse((time, wave))) = machine.heap.pop() {
            machine.advance(wave, time.0, planned);
            if machine.issued >= next_mark {
                marks.push((machine.issued, machine.now()));
                next_mark += mark_every;
            }
            if machine.issued > self.budget as f64 && machine.issued < total * 0.98 {
                break;
            }
        }
        let drained = machine.drained();
        let finished = machine.heap.is_empty();
        let mut cycles = if finished { drained } else { machine.now() };
        let issued = machine.issued.max(1.0);
        let replayed = if finished && machine.started >= planned { 1.0 } else { (issued / total).min(1.0) };
        if replayed < 1.0 && marks.len() >= 4 {
            // The rate of the second half, past the first blocks' start.
            let (from, to) = (marks[marks.len() / 2], marks[marks.len() - 1]);
            let rate = (to.1 - from.1) / (to.0 - from.0).max(1.0);
            cycles = machine.now() + (total - issued).max(0.0) * rate;
        } else if finished && of_unit < planned as f64 {
            cycles *= 0.5 + 0.5 * of_unit / planned as f64;
        }
        let mut outcome = machine.finish(cycles, replayed);
        outcome.instructions = mean * self.grid as f64;
        outcome
    }
}

impl<'a> Machine<'a> {
    fn new(replay: &'a Replay<'a>, active: f64) -> Self {
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
        let rates = Rates {
            l1_byte: 1.0 / *device.l1.bytes_per_cycle,
            unit_read: 1.0 / *device.l2.unit_bytes_per_cycle,
            unit_write: 1.0 / *device.l2.unit_write_bytes_per_cycle,
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
        };
        let lines = (replay.l1_bytes / *device.l1.line_bytes).max(8.0);
        Self {
            rates,
            numbers: replay.works.iter().map(|work| work.number).collect(),
            partitions: vec![Partition::default(); *device.units.partitions as usize],
            lds: Server::default(),
            ports: [Server::default(); 2],
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
            cache: Lines::new(lines as usize),
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
        }
    }

    fn now(&self) -> f64 {
        self.partitions.iter().map(Partition::issued).fold(self.ended, f64::max)
    }

    fn drained(&self) -> f64 {
        let servers = [&self.l1, &self.lds, &self.unit_write, &self.l2, &self.dram, &self.atomics, &self.memory_cache];
        servers.iter().map(|server| server.free).fold(self.ended, f64::max)
    }

    fn blocks_resident(&self) -> u64 {
        (self.blocks.len() - self.free_blocks.len()) as u64
    }

    /// Starts the unit's next block, not before `time`.
    fn start_block(&mut self, time: f64, turnaround: f64) {
        let replay = self.replay;
        let start = &replay.device.start;
        let units = *replay.device.units.count as u64;
        // Units in the middle of the grid's first row are like most others.
        let number = (self.next * units + units / 2).min(replay.grid - 1);
        self.next += 1;
        self.started += 1;
        let work = choose(number, &self.numbers, replay.may);
        let traced = &replay.works[work];
        let spacing = *start.wave_cycles * traced.waves.len() as f64;
        let spacing = spacing.max(self.rates.active / *start.blocks_per_cycle);
        let begin = (time + turnaround).max(self.last_start + spacing);
        self.last_start = begin;
        let resident = Resident {
            work,
            number,
            deltas: replay.movement.deltas(traced.number, number),
            left: traced.waves.len(),
            arrived: Vec::new(),
            stored: false,
        };
        let block = match self.free_blocks.pop() {
            Some(place) => {
                self.blocks[place] = resident;
                place
            }
            None => {
                self.blocks.push(resident);
                self.blocks.len() - 1
            }
        };
        for number in 0..traced.waves.len() {
            let partition = self.turn % self.partitions.len();
            self.turn += 1;
            let values = replay.program.values;
            let mut wave = Wave {
                block,
                number,
                step: 0,
                op: 0,
                ready: Vec::new(),
                maker: Vec::new(),
                origin: begin,
                partition,
                last_issue: begin,
                previous: BlockId::MAX,
                blamed: None,
                fresh: true,
            };
            let place = match self.free_waves.pop() {
                Some(place) => {
                    std::mem::swap(&mut wave.ready, &mut self.waves[place].ready);
                    std::mem::swap(&mut wave.maker, &mut self.waves[place].maker);
                    self.waves[place] = wave;
                    place
                }
                None => {
                    self.waves.push(wave);
                    self.waves.len() - 1
                }
            };
            let wave = &mut self.waves[place];
            wave.ready.clear();
            wave.ready.resize(values, 0.0);
            wave.maker.clear();
            wave.maker.resize(values, 0);
            self.heap.push(Reverse((Time(begin), place)));
        }
    }

    /// Lets a wave issue from `time` until another one comes first, or it waits for its block, or ends.
    fn advance(&mut self, wave: usize, time: f64, planned: u64) {
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
            if let Work::Access { number, kind, returns, float, sums, scalar } = op.work {
                let site = replay.sites.first(block_id) + number;
                let ready = self.access(wave, site, access + number, kind, (returns, float, sums, scalar), issue);
                let state = &mut self.waves[wave];
                if op.value != u32::MAX {
                    state.ready[op.value as usize] = (ready - state.origin) as f32;
                    state.maker[op.value as usize] = op.line;
                }
            }
            let state = &mut self.waves[wave];
            state.op += 1;
            time = issue + *replay.device.issue.wave_cycles * part_of_instruction(op.work);
            if op.work == Work::Branch {
                time += f64::from(op.latency);
            }
        }
    }

    /// Issues a computation, or the issue slot of an access. Returns when.
    #[allow(clippy::too_many_arguments, reason = "what one step of the loop found out")]
    fn issue(
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

    /// A wave arrives at its block's barrier; the last one lets all go on.
    fn arrive(&mut self, wave: usize, time: f64, line: u32) {
        let state = &mut self.waves[wave];
        state.op += 1;
        let block = state.block;
        self.blocks[block].arrived.push((wave, time));
        self.release(block, line);
    }

    fn release(&mut self, block: usize, line: u32) {
        let resident = &mut self.blocks[block];
        if resident.arrived.is_empty() || resident.arrived.len() < resident.left {
            return;
        }
        let last = resident.arrived.iter().map(|(_, time)| *time).fold(0.0, f64::max);
        let until = last + *self.replay.device.issue.barrier_cycles;
        for (wave, _) in std::mem::take(&mut resident.arrived) {
            self.waves[wave].blamed = Some((until, line));
            self.heap.push(Reverse((Time(until), wave)));
        }
    }

    fn end_wave(&mut self, wave: usize, time: f64, planned: u64) {
        self.ended = self.ended.max(time);
        let block = self.waves[wave].block;
        self.free_waves.push(wave);
        self.blocks[block].left -= 1;
        if self.blocks[block].left > 0 {
            self.release(block, 0);
            return;
        }
        self.free_blocks.push(block);
        if self.started < planned {
            let start = &self.replay.device.start;
            let turnaround =
                if self.blocks[block].stored { *start.turnaround_after_store_cycles } else { *start.turnaround_cycles };
            self.start_block(time, turnaround);
        }
    }

    /// An access that was issued at `time`; returns when its value is there.
    fn access(
        &mut self,
        wave: usize,
        site: u32,
        place: u32,
        kind: SiteKind,
        (returns, float, sums, scalar): (bool, bool, bool, bool),
        time: f64,
    ) -> f64 {
        let replay = self.replay;
        let work = &replay.works[self.blocks[self.waves[wave].block].work];
        let Some(&access) = work.accesses.get(place as usize) else { return time };
        if access.lanes == 0 {
            return time;
        }
        match access.space {
            Space::Shared => self.shared(wave, access, kind, float, time),
            Space::Global | Space::Constant if scalar && access.sectors <= 1 => {
                self.scalar_load(wave, site, access, time)
            }
            Space::Constant => {
                let constant = &replay.device.l1;
                let cycles = f64::from(access.passes.saturating_sub(1)) * *constant.constant_cycles;
                let begin = self.l1.take(time, cycles);
                begin + cycles + *constant.constant_latency
            }
            Space::Global | Space::Scratch => match kind {
                SiteKind::Load => self.load(wave, site, access, time),
                SiteKind::Store => self.store(wave, access, time),
                SiteKind::Atomic => self.atomic(wave, site, access, (returns, float, sums), time),
            },
        }
    }

    /// A load of one place for the whole wave, by the scalar cache.
    fn scalar_load(&mut self, wave: usize, site: u32, access: Access, time: f64) -> f64 {
        let replay = self.replay;
        let latency = *replay.device.l1.constant_latency;
        let resident = &self.blocks[self.waves[wave].block];
        let work = &replay.works[resident.work];
        let Some(&sector) = work.sectors.get(access.first as usize).filter(|_| access.sectors > 0) else {
            return time + latency;
        };
        let line_shift = replay.movement.geometry.line_shift;
        let sector = replay.movement.sector(site, sector, resident.number, resident.deltas[site as usize]);
        let asked = &mut self.outcome.site_l1[site as usize];
        asked.0 += 1.0;
        if let Some(arrives) = self.scalar_cache.look(sector, line_shift) {
            asked.1 += 1.0;
            return arrives.max(time + latency);
        }
        let traffic = replay.traffic.sites[site as usize];
        let requests = traffic.requests.max(1.0);
        let (past_l2, past_all) = (traffic.misses / requests, traffic.memory_misses / requests);
        let arrival = self.beyond(1.0, 1.0, (past_l2, past_all, traffic.late / requests), site, time);
        self.scalar_cache.arrive(sector, line_shift, arrival);
        arrival
    }

    fn shared(&mut self, wave: usize, access: Access, kind: SiteKind, float: bool, time: f64) -> f64 {
        let device = self.replay.device;
        let lds = &device.lds;
        let (ideal, passes) = (f64::from(access.ideal), f64::from(access.passes));
        let (cycles, latency) = if kind == SiteKind::Atomic {
            let (first, same) = if float {
                (*lds.atomic_float_cycles, *lds.atomic_float_same_cycles)
            } else {
                (*lds.atomic_cycles, *lds.atomic_same_cycles)
            };
            (first * ideal + same * (passes - ideal), *lds.atomic_latency)
        } else {
            (*lds.cycles * ideal + *lds.conflict_cycles * (passes - ideal), *lds.latency)
        };
        let more = if kind == SiteKind::Store { lds.store_cycles.as_ref().map_or(0.0, |cycles| **cycles) } else { 0.0 };
        let cycles = cycles + more;
        if let Some(bytes) = &lds.pair_bytes_per_cycle {
            // Conflicts keep the banks, not the way of the data.
            let of_banks = f64::from(*lds.banks as u32 * 4);
            let port = (*lds.cycles * ideal + more) * of_banks / **bytes;
            let pair = self.waves[wave].partition * 2 / self.partitions.len();
            let begin = self.ports[pair % 2].take(time, port);
            let begin = self.lds.take(begin, cycles);
            let least = f64::from(device.wave) * 4.0 / **bytes;
            return begin + latency + port.max(cycles) - least.min(port);
        }
        let pipe = if device.l1.one_pipe_with_lds { &mut self.l1 } else { &mut self.lds };
        let begin = pipe.take(time, cycles);
        if device.l1.one_pipe_with_lds {
            self.lds.busy += cycles;
        }
        begin + latency + cycles - *lds.cycles
    }

    fn load(&mut self, wave: usize, site: u32, access: Access, time: f64) -> f64 {
        let replay = self.replay;
        let l1 = &replay.device.l1;
        let (sectors, lines) = (f64::from(access.sectors), f64::from(access.lines));
        let data = if l1.banked && access.space == Space::Global {
            f64::from(access.passes)
        } else {
            // What is wanted of the sectors.
            f64::from(access.ideal) * *l1.sector_bytes * self.rates.l1_byte
        };
        let data = match &l1.eight_byte_bytes_per_cycle {
            Some(bytes) if access.bytes == 8 => data.max(f64::from(access.lanes) * 8.0 / **bytes),
            _ => data,
        };
        let addresses = if l1.scattered_items_per_cycle.is_some() { f64::from(access.passes) } else { 0.0 };
        let cycles = (*l1.access_cycles).max(lines * *l1.line_cycles).max(data).max(addresses);
        let block = self.waves[wave].block;
        let resident = &self.blocks[block];
        let number = resident.number;
        let work = &replay.works[resident.work];
        let touched = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        let line_shift = replay.movement.geometry.line_shift;
        let delta = resident.deltas[site as usize];
        let mut ready = 0.0f64;
        let mut missing = 0.0;
        let mut new_lines = 0.0;
        let mut last_line = u64::MAX;
        let placed = |sector: u64| {
            if access.space == Space::Scratch {
                own_scratch(sector, block)
            } else {
                replay.movement.sector(site, sector, number, delta)
            }
        };
        for &sector in touched {
            let sector = placed(sector);
            match self.cache.look(sector, line_shift) {
                Some(arrives) => ready = ready.max(arrives + 1.0),
                None => {
                    missing += 1.0;
                    if sector >> line_shift != last_line {
                        last_line = sector >> line_shift;
                        new_lines += 1.0;
                    }
                }
            }
        }
        self.outcome.l1_requests += sectors;
        self.outcome.l1_hits += sectors - missing;
        let by_site = &mut self.outcome.site_l1[site as usize];
        by_site.0 += sectors;
        by_site.1 += sectors - missing;
        let cycles =
            if missing > 0.0 { cycles.max(*l1.miss_cycles).max(new_lines * *l1.miss_line_cycles) } else { cycles };
        let tags = self.l1.pass(time, cycles);
        ready = ready.max(tags + *l1.latency);
        if missing > 0.0 {
            let arrival = if access.space == Space::Scratch {
                self.beyond(missing, new_lines, (0.0, 0.0, 0.0), site, tags)
            } else {
                let traffic = replay.traffic.sites[site as usize];
                let requests = traffic.requests.max(1.0);
                let (past_l2, past_all) = (traffic.misses / requests, traffic.memory_misses / requests);
                self.beyond(missing, new_lines, (past_l2, past_all, 0.5 * traffic.late / requests), site, tags)
            };
            for &sector in touched {
                self.cache.arrive(placed(sector), line_shift, arrival);
            }
            ready = ready.max(arrival);
        }
        ready
    }

    /// Fetches sectors that the first-level cache does not have; returns when the last is there.
    fn beyond(&mut self, sectors: f64, lines: f64, shares: (f64, f64, f64), site: u32, time: f64) -> f64 {
        let (past_l2, past_all, late) = shares;
        let device = self.replay.device;
        let bytes = sectors * *device.l1.sector_bytes;
        let requested = bytes.max(lines * *device.l2.request_bytes);
        let at_unit = self.unit_read.pass(time, bytes * self.rates.unit_read);
        let at_l2 = self.l2.pass(time, requested * self.rates.l2_read);
        let mut arrival = at_unit.max(at_l2) + *device.l2.latency;
        // Of few lines, all or none: neighbours in memory come together. Of many, each for itself.
        let spread = &mut self.spread[site as usize];
        let (missed, waits) = if lines <= 2.0 {
            *spread += past_l2 + late;
            if *spread >= 1.0 {
                *spread -= 1.0;
                (past_l2 / (past_l2 + late), true)
            } else {
                (0.0, false)
            }
        } else {
            (past_l2, (past_l2 + late) * lines > 0.5)
        };
        if waits && missed == 0.0 {
            arrival = arrival.max(time + *device.dram.latency + self.crowding(time));
        }
        if missed > 0.0 {
            let further = if past_l2 > 0.0 { past_all / past_l2 } else { 0.0 };
            if let Some(cache) = &device.memory_cache {
                let at = self.memory_cache.pass(time, bytes * missed * self.rates.memory_cache);
                if waits {
                    arrival = arrival.max(at + *cache.latency);
                }
            }
            if further > 0.0 {
                let counted = bytes * missed * further * self.rates.read_cost;
                let at = self.dram.pass(time, counted * self.rates.dram_read);
                if waits && further > 0.3 {
                    arrival = arrival.max(at + *device.dram.latency + self.crowding(time));
                }
            }
        }
        arrival
    }

    /// Cycles more that an access to the memory takes because others come at irregular times: as in a queue, without bound as the
    /// memory's time is used up. Turning from writes to reads costs more of it.
    fn crowding(&self, time: f64) -> f64 {
        if time <= 0.0 {
            return 0.0;
        }
        let dram = &self.replay.device.dram;
        let used = (self.dram.busy / self.dram.free.max(time)).min(0.95);
        let writes = if self.dram.busy > 0.0 { self.dram_writes / self.dram.busy } else { 0.0 };
        let turns = 1.0 + (*dram.turning - 1.0) * 2.0 * writes.min(1.0 - writes);
        *dram.crowding_cycles * turns * used * used / (1.0 - used)
    }

    fn store(&mut self, wave: usize, access: Access, time: f64) -> f64 {
        let replay = self.replay;
        let device = replay.device;
        let (sectors, lines) = (f64::from(access.sectors), f64::from(access.lines));
        let l1 = &device.l1;
        let partial = access.sectors > access.ideal;
        let (of_line, of_sector) = if partial {
            (*l1.partial_store_line_cycles, *l1.partial_store_sector_cycles)
        } else {
            (*l1.store_line_cycles, *l1.store_sector_cycles)
        };
        // Where pieces of sectors are written, those go out while the next line's tag is looked up.
        let pieces = l1.store_sector_bytes.as_ref().filter(|_| access.pieces > 0);
        let cycles = match pieces {
            Some(_) => (lines * of_line).max(f64::from(access.pieces) * of_sector).max(f64::from(access.passes)),
            None => lines * of_line + sectors * of_sector,
        };
        let cycles = (*l1.access_cycles).max(cycles);
        let at = self.l1.pass(time, cycles);
        let block = self.waves[wave].block;
        self.blocks[block].stored |= access.space == Space::Global;
        let resident = &self.blocks[block];
        let work = &replay.works[resident.work];
        let touched = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        let line_shift = replay.movement.geometry.line_shift;
        if access.space == Space::Scratch {
            // Kept in the first-level cache.
            for &sector in touched {
                let sector = own_scratch(sector, block);
                if self.cache.look(sector, line_shift).is_none() {
                    self.cache.arrive(sector, line_shift, at);
                    let bytes = *device.l1.sector_bytes;
                    self.unit_write.pass(at, bytes * self.rates.unit_write);
                }
            }
            return at;
        }
        let whole = sectors * *device.l1.sector_bytes;
        let bytes = pieces.map_or(whole, |bytes| f64::from(access.pieces) * **bytes);
        let of_line = if partial { *device.l2.partial_write_line_bytes } else { *device.l2.write_line_bytes };
        self.unit_write.pass(at, bytes * self.rates.unit_write);
        self.l2.pass(at, (bytes + lines * of_line) * self.rates.l2_write);
        if device.memory_cache.is_some() {
            self.memory_cache.pass(at, bytes * self.rates.memory_cache);
        }
        let counted = whole * self.rates.written_cost;
        if counted > 0.0 {
            let cycles = counted * self.rates.dram_write;
            self.dram.pass(at, cycles);
            self.dram_writes += cycles;
        }
        at
    }

    fn atomic(
        &mut self,
        wave: usize,
        site: u32,
        access: Access,
        (returns, float, sums): (bool, bool, bool),
        time: f64,
    ) -> f64 {
        let replay = self.replay;
        let device = replay.device;
        let atomics = &device.atomics;
        let (lanes, sectors) = (f64::from(access.lanes), f64::from(access.sectors));
        let same = f64::from(access.passes.max(1));
        // All on one address: summed before they leave the unit, where that is possible.
        let uniform = sums && same == lanes;
        let at_unit = if uniform { 1.0 } else { (sectors * *atomics.sector_cycles).min(lanes * *atomics.lane_cycles) };
        let begin = self.l1.take(time, at_unit.max(*device.l1.access_cycles));
        let resident = &self.blocks[self.waves[wave].block];
        let delta = resident.deltas[site as usize];
        let active = self.rates.active;
        let mut done = self.atomics.pass(begin, sectors / *atomics.sectors_per_cycle * active);
        // Operations on one line wait for each other: those of all units, where all blocks use it.
        let everywhere = delta == 0 || matches!(replay.movement.motions[site as usize], Motion::Scattered { .. });
        let shared_by = if everywhere { active } else { 1.0 };
        let work = &replay.works[resident.work];
        let touched = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        // Aligned KiBs are served by different parts of the cache.
        let kib_shift = 10 - replay.movement.geometry.sector_shift;
        let kib = |sector: u64| replay.movement.sector(site, sector, resident.number, delta) >> kib_shift;
        let mut last = u64::MAX;
        let count = touched.iter().filter(|&&sector| kib(sector) != std::mem::replace(&mut last, kib(sector))).count();
        let each = if uniform {
            *atomics.uniform_cycles
        } else {
            let again = if float { *atomics.float_same_address_cycles } else { *atomics.same_address_cycles };
            (sectors / count.max(1) as f64 * *atomics.same_kib_cycles).max(same * again)
        };
        let mut last = u64::MAX;
        for &sector in touched {
            let place = kib(sector);
            if place == last {
                continue;
            }
            last = place;
            let free = self.hot.entry(place).or_default();
            *free = free.max(begin) + each * shared_by;
            done = done.max(*free);
        }
        self.ended = self.ended.max(done);
        if returns { done + *atomics.latency } else { begin }
    }

    fn finish(mut self, cycles: f64, replayed: f64) -> Outcome {
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
        let hottest = self.hot.values().fold(0.0f64, |most, free| most.max(*free));
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

/// The sector of a resident block's own stack for that of the traced block's.
fn own_scratch(sector: u64, block: usize) -> u64 {
    sector ^ (block as u64 + 1) << 36
}

/// Values take the place of others when a block is entered.
fn enter(wave: &mut Wave, phis: &[(u32, Vec<(u32, u32)>)]) {
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
fn readiness(wave: &Wave, op: &PlannedOp) -> (f64, Option<u32>) {
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

/// The first-level cache of the unit.
struct Lines {
    sets: usize,
    entries: Vec<Line>,
    now: u32,
}

#[derive(Clone, Copy)]
struct Line {
    line: u64,
    valid: u8,
    used: u32,
    arrives: f64,
}

const WAYS: usize = 8;

impl Lines {
    fn new(lines: usize) -> Self {
        let sets = (lines / WAYS).max(1);
        Self { sets, entries: vec![Line { line: u64::MAX, valid: 0, used: 0, arrives: 0.0 }; sets * WAYS], now: 0 }
    }

    fn set(&mut self, line: u64) -> &mut [Line] {
        let mixed = (line ^ (line >> 17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let first = (mixed % self.sets as u64) as usize * WAYS;
        &mut self.entries[first..first + WAYS]
    }

    /// When the sector is or was there; none if it has to be fetched.
    fn look(&mut self, sector: u64, line_shift: u32) -> Option<f64> {
        self.now += 1;
        let now = self.now;
        let line = sector >> line_shift;
        let bit = 1u8 << (sector & ((1 << line_shift) - 1));
        let entry = self.set(line).iter_mut().find(|entry| entry.line == line)?;
        entry.used = now;
        (entry.valid & bit != 0).then_some(entry.arrives)
    }

    fn arrive(&mut self, sector: u64, line_shift: u32, time: f64) {
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
