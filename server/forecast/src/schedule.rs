//! The code as a device issues it: operations with their costs, in the order that its compiler would give them.
//!
//! LLVM's text is not scheduled: a load stands next to its use. Compilers for GPUs move loads ahead, so that a wave has several
//! under way. A list scheduler does the same here: of all operations that could come next, the one that waits least, and of those
//! the one on the longest way to the block's end. Loads of memory are moved from anywhere in the block, all else from no farther
//! than the compiler looks.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::code::{Block, Class, Code, Op, OpKind, Value};
use crate::device::{Cost, Device, Pipe};
use crate::sites::{SiteKind, Sites, site_kind};
use crate::waves::BlockWork;

/// The code of a module for one device.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// By code block.
    pub blocks: Vec<Planned>,
    /// Values of all functions.
    pub values: usize,
    /// User's lines that operations belong to; operations name them by place. Line 0 comes first.
    pub lines: Vec<u32>,
}

impl Program {
    /// Instructions that the waves of a block issue, on average over some of the traced ones.
    pub fn mean_instructions(&self, works: &[BlockWork], of: &[usize]) -> f64 {
        let steps = of.iter().map(|&place| &works[place]).flat_map(|work| &work.waves).flat_map(|wave| &wave.steps);
        let sum: f64 = steps.map(|step| f64::from(self.blocks[step.block as usize].instructions)).sum();
        sum / of.len().max(1) as f64
    }
}

/// A code block.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// In the order of issue.
    pub ops: Vec<PlannedOp>,
    /// Values that take the place of others, by the block that control comes from.
    pub phis: Vec<(u32, Vec<(u32, u32)>)>,
    /// Instructions that a wave issues.
    pub instructions: f32,
}

/// An operation with its costs.
#[derive(Clone, Debug)]
pub struct PlannedOp {
    /// What has to be ready.
    pub uses: Vec<u32>,
    /// What becomes ready; `u32::MAX` where nothing does.
    pub value: u32,
    /// What it does.
    pub work: Work,
    /// Cycles until the result is ready, for computations.
    pub latency: f32,
    /// Place of its line in [`Program::lines`].
    pub line: u32,
}

/// What an atomic operation is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Atomic {
    /// Whether the old value is used.
    pub returns: bool,
    /// Whether it is floating point.
    pub float: bool,
    /// Whether equal addresses of a wave become one operation.
    pub sums: bool,
    /// Whether it compares and swaps.
    pub compares: bool,
}

/// What an operation does with the units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Nothing.
    Free,
    /// Keeps a pipe for so many cycles and issues so many instructions.
    Compute {
        /// The pipe.
        pipe: Pipe,
        /// Cycles.
        cycles: f32,
        /// Instructions.
        instructions: f32,
        /// Whether its partition computes nothing else meanwhile.
        alone: bool,
    },
    /// Scalar work: a unit of its own.
    Scalar {
        /// Instructions.
        instructions: f32,
    },
    /// Accesses memory: the number of the access in its code block, in the order of the text.
    Access {
        /// Its number.
        number: u32,
        /// What it does.
        kind: SiteKind,
        /// How, where it is an atomic.
        atomic: Atomic,
        /// Whether all work-items read the same place and there is a scalar unit for that.
        scalar: bool,
    },
    /// Waits for the block.
    Barrier,
    /// Exchanges in the wave.
    Shuffle,
    /// Ends the block.
    Branch,
}

/// Something that the device's table has no cost for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no cost is known for {what} on {device} (line {line})")]
pub struct Uncosted {
    /// A function's name or a kind of computation.
    pub what: String,
    /// The device's title.
    pub device: String,
    /// The user's line.
    pub line: u32,
}

/// Plans all blocks of `code`. `space_is_shared` tells by site whether it accesses shared memory.
pub fn plan(
    code: &Code,
    device: &Device,
    sites: &Sites,
    space_is_shared: &dyn Fn(u32) -> bool,
    runs: &dyn Fn(u32) -> bool,
) -> Result<Program, Uncosted> {
    let mut program = Program { lines: vec![0], ..Program::default() };
    let mut bases = Vec::with_capacity(code.functions.len());
    for function in &code.functions {
        bases.push(program.values as u32);
        if (function.first..function.first + function.blocks).any(runs) {
            program.values += function.values as usize;
        }
    }
    let shared_uses = uses_elsewhere(code, runs);
    let mut uniform = vec![HashSet::new(); code.functions.len()];
    for block in &code.blocks {
        let ops = block.ops.iter().filter(|op| op.uniform);
        uniform[block.function as usize].extend(ops.filter_map(|op| op.value));
    }
    for (number, block) in code.blocks.iter().enumerate() {
        if !runs(number as u32) {
            program.blocks.push(Planned::default());
            continue;
        }
        let base = bases[block.function as usize];
        let first_site = sites.first(number as u32);
        let uniform = &uniform[block.function as usize];
        let planner = Planner { code, device, base, first_site, uniform, space_is_shared };
        let elsewhere = &shared_uses[block.function as usize];
        let planned = planner.block(block, elsewhere, &mut program.lines)?;
        program.blocks.push(planned);
    }
    Ok(program)
}

/// Memory that a value is an address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addressed {
    /// Shared memory, whose addresses have 32 bits.
    Shared,
    /// Any other.
    Other,
}

/// What arithmetic of an address really is: constants are added by the access itself, and addresses of shared memory have
/// half the bits of those that the optimiser works with.
fn as_address(op: &Op, leads_to: Option<Addressed>) -> OpKind {
    match (op.kind, leads_to) {
        (OpKind::Compute(Class::Int64), Some(_)) if op.uses.len() < 2 => OpKind::Free,
        (OpKind::Compute(Class::Int64 | Class::Address), Some(Addressed::Shared)) => OpKind::Compute(Class::Int32),
        (OpKind::Compute(Class::Shift64), Some(Addressed::Shared)) => OpKind::Compute(Class::Shift32),
        (kind, _) => kind,
    }
}

/// For each function which of its values are used in another block than the one that makes them.
fn uses_elsewhere(code: &Code, runs: &dyn Fn(u32) -> bool) -> Vec<Vec<bool>> {
    let mut elsewhere: Vec<Vec<bool>> =
        code.functions.iter().map(|function| vec![false; function.values as usize]).collect();
    for (number, block) in code.blocks.iter().enumerate() {
        if !runs(number as u32) {
            continue;
        }
        let mut own: HashSet<Value> = HashSet::new();
        let marks = &mut elsewhere[block.function as usize];
        for phi in &block.phis {
            own.insert(phi.value);
            for (_, value) in &phi.from {
                marks[*value as usize] = true;
            }
        }
        for op in &block.ops {
            for value in &op.uses {
                if !own.contains(value) {
                    marks[*value as usize] = true;
                }
            }
            own.extend(op.value);
        }
    }
    elsewhere
}

struct Planner<'a> {
    code: &'a Code,
    device: &'a Device,
    base: u32,
    first_site: u32,
    /// Values of the function that are the same for all work-items of a wave.
    uniform: &'a HashSet<Value>,
    space_is_shared: &'a dyn Fn(u32) -> bool,
}

impl Planner<'_> {
    fn block(&self, block: &Block, elsewhere: &[bool], lines: &mut Vec<u32>) -> Result<Planned, Uncosted> {
        let writes = |(number, kind): (usize, SiteKind)| {
            kind != SiteKind::Load && !(self.space_is_shared)(self.first_site + number as u32)
        };
        let kinds = block.ops.iter().filter_map(|op| site_kind(op.kind));
        // The scalar cache knows nothing of stores: what a loop may have written, vector loads read.
        let reads_alone = !kinds.enumerate().any(writes);
        let mut accesses = 0;
        let mut ops = Vec::with_capacity(block.ops.len());
        let leads_to = self.addresses(block, elsewhere);
        for (op, leads_to) in block.ops.iter().zip(leads_to) {
            let number = accesses;
            accesses += u32::from(site_kind(op.kind).is_some());
            let op = Op { kind: as_address(op, leads_to), ..op.clone() };
            ops.push(self.op(&op, number, reads_alone, lines)?);
        }
        if let Some(cost) = self.device.class.get("Float32x2") {
            for at in pairs(&block.ops).into_iter().flatten() {
                if let Work::Compute { cycles, instructions, .. } = &mut ops[at].work {
                    // Half of what the two cost together.
                    (*cycles, *instructions) = (cost.cycles as f32 / 2.0, cost.instructions as f32 / 2.0);
                }
            }
        }
        let order = self.order(&ops);
        let mut taken: Vec<Option<PlannedOp>> = ops.into_iter().map(Some).collect();
        let ops: Vec<PlannedOp> = order.into_iter().filter_map(|at| taken[at].take()).collect();
        let instructions = ops.iter().map(|op| instructions(op.work)).sum();
        let phis = block
            .phis
            .iter()
            .map(|phi| {
                let from = phi.from.iter().map(|&(block, value)| (block, self.base + value)).collect();
                (self.base + phi.value, from)
            })
            .collect();
        Ok(Planned { ops, phis, instructions })
    }

    /// Whether a value is the same for all work-items of a wave; what has no number is a constant or an argument.
    fn is_uniform(&self, value: Option<&Value>) -> bool {
        value.is_none_or(|value| self.uniform.contains(value))
    }

    /// For each operation what kind of memory its value is nothing but an address of.
    fn addresses(&self, block: &Block, elsewhere: &[bool]) -> Vec<Option<Addressed>> {
        let mut of_value: HashMap<Value, Option<Addressed>> = HashMap::new();
        let meet = |of_value: &mut HashMap<Value, Option<Addressed>>, value: Value, what: Option<Addressed>| {
            of_value.entry(value).and_modify(|known| *known = (*known).filter(|_| *known == what)).or_insert(what);
        };
        let mut numbers = self.first_site + block.ops.iter().filter(|op| site_kind(op.kind).is_some()).count() as u32;
        let mut result = vec![None; block.ops.len()];
        for (at, op) in block.ops.iter().enumerate().rev() {
            let own =
                op.value.filter(|&value| !elsewhere[value as usize]).and_then(|value| of_value.get(&value).copied());
            let own: Option<Addressed> = own.flatten();
            result[at] = own;
            if site_kind(op.kind).is_some() {
                numbers -= 1;
                let space = if (self.space_is_shared)(numbers) { Addressed::Shared } else { Addressed::Other };
                // The address is the last that an access uses.
                for (place, &value) in op.uses.iter().enumerate() {
                    meet(&mut of_value, value, (place + 1 == op.uses.len()).then_some(space));
                }
            } else {
                let passes =
                    matches!(op.kind, OpKind::Free | OpKind::Compute(Class::Int64 | Class::Shift64 | Class::Address));
                for &value in &op.uses {
                    meet(&mut of_value, value, own.filter(|_| passes));
                }
            }
        }
        result
    }

    fn op(&self, op: &Op, number: u32, reads_alone: bool, lines: &mut Vec<u32>) -> Result<PlannedOp, Uncosted> {
        let issue = &self.device.issue;
        let uncosted = |what: String| Uncosted { what, device: self.device.title.clone(), line: op.line };
        let compute = |cost: &Cost| {
            let (cycles, instructions) = (cost.cycles as f32, cost.instructions as f32);
            (Work::Compute { pipe: cost.pipe, cycles, instructions, alone: cost.alone }, cost.latency as f32)
        };
        let class_cost = |class: Class| self.device.cost(class).ok_or_else(|| uncosted(format!("{class:?}")));
        let (work, latency) = match op.kind {
            OpKind::Free | OpKind::Fence => (Work::Free, 0.0),
            OpKind::Compute(class) if op.uniform && issue.scalar_unit && is_scalar(class) => {
                let cost = class_cost(class)?;
                (Work::Scalar { instructions: cost.instructions as f32 }, cost.latency as f32)
            }
            OpKind::Compute(class) => compute(class_cost(class)?),
            OpKind::Call(name) => {
                let name = self.code.names.get(name as usize).map_or("", String::as_str);
                compute(self.device.function.get(name).ok_or_else(|| uncosted(format!("\"{name}\"")))?)
            }
            OpKind::Load { .. } | OpKind::Store { .. } | OpKind::Atomic { .. } => {
                let kind = site_kind(op.kind).unwrap_or(SiteKind::Load);
                let atomic = match op.kind {
                    OpKind::Atomic { returns, float, compares, .. } => {
                        // The compiler sums where it knows that all have one address.
                        let sums = !float && !compares && self.is_uniform(op.uses.last());
                        Atomic { returns, float, sums, compares }
                    }
                    _ => Atomic::default(),
                };
                let scalar = op.uniform && issue.scalar_unit && kind == SiteKind::Load && reads_alone;
                (Work::Access { number, kind, atomic, scalar }, 0.0)
            }
            OpKind::Barrier => (Work::Barrier, 0.0),
            OpKind::Shuffle => (Work::Shuffle, *issue.shuffle_latency as f32),
            // With a scalar unit, a comparison whose result that reads.
            OpKind::Vote if issue.scalar_unit => compute(class_cost(Class::Compare)?),
            OpKind::Vote => {
                let work = Work::Compute { pipe: Pipe::Int, cycles: 1.0, instructions: 1.0, alone: false };
                (work, *issue.shuffle_latency as f32 / 2.0)
            }
            OpKind::Branch { conditional } => {
                let latency = if op.uniform { *issue.branch_latency } else { *issue.divergent_branch_latency };
                (Work::Branch, if conditional { latency as f32 } else { 0.0 })
            }
        };
        let line = lines.iter().rposition(|&line| line == op.line).unwrap_or_else(|| {
            lines.push(op.line);
            lines.len() - 1
        });
        Ok(PlannedOp {
            uses: op.uses.iter().map(|&value| self.base + value).collect(),
            value: op.value.map_or(u32::MAX, |value: Value| self.base + value),
            work,
            latency,
            line: line as u32,
        })
    }

    /// Which operations are loads of memory, or work out the address of one. `then` are those that wait for each.
    fn leads_far(&self, ops: &[PlannedOp], then: &[Vec<u32>]) -> Vec<bool> {
        let mut leads = vec![false; ops.len()];
        for at in (0..ops.len()).rev() {
            leads[at] = match ops[at].work {
                Work::Access { kind: SiteKind::Load, number, .. } => !(self.space_is_shared)(self.first_site + number),
                Work::Compute { .. } | Work::Free | Work::Scalar { .. } => {
                    then[at].iter().any(|&then| leads[then as usize])
                }
                _ => false,
            };
        }
        leads
    }

    /// The order of issue.
    fn order(&self, ops: &[PlannedOp]) -> Vec<usize> {
        let count = ops.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut missing = vec![0u32; count];
        let made_by: HashMap<u32, usize> =
            ops.iter().enumerate().filter(|(_, op)| op.value != u32::MAX).map(|(at, op)| (op.value, at)).collect();
        let mut depend = |first: usize, then: usize| {
            before[first].push(then as u32);
            missing[then] += 1;
        };
        // Accesses of one kind of memory keep their order, except loads among themselves; barriers keep everything.
        let mut last_write: [Option<usize>; 2] = [None; 2];
        let mut reads: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        let mut last_barrier: Option<usize> = None;
        let mut since_barrier: Vec<usize> = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            for value in &op.uses {
                if let Some(&maker) = made_by.get(value)
                    && maker < at
                {
                    depend(maker, at);
                }
            }
            match op.work {
                Work::Barrier | Work::Shuffle => {
                    for &earlier in &since_barrier {
                        if op.work == Work::Barrier || matches!(ops[earlier].work, Work::Barrier | Work::Shuffle) {
                            depend(earlier, at);
                        }
                    }
                    if let Some(barrier) = last_barrier {
                        depend(barrier, at);
                    }
                    if op.work == Work::Barrier {
                        last_barrier = Some(at);
                        since_barrier.clear();
                        last_write = [None; 2];
                        reads = [Vec::new(), Vec::new()];
                    } else {
                        since_barrier.push(at);
                    }
                }
                Work::Access { number, kind, .. } => {
                    let shared = usize::from((self.space_is_shared)(self.first_site + number));
                    if let Some(barrier) = last_barrier {
                        depend(barrier, at);
                    }
                    if let Some(write) = last_write[shared] {
                        depend(write, at);
                    }
                    if kind == SiteKind::Load {
                        reads[shared].push(at);
                    } else {
                        for &read in &reads[shared] {
                            depend(read, at);
                        }
                        reads[shared].clear();
                        last_write[shared] = Some(at);
                    }
                    since_barrier.push(at);
                }
                Work::Branch => {
                    for earlier in 0..at {
                        depend(earlier, at);
                    }
                }
                _ => {}
            }
        }
        let (mut height, mut latency) = (vec![0f32; count], vec![0f32; count]);
        for at in (0..count).rev() {
            latency[at] = match ops[at].work {
                Work::Access { kind: SiteKind::Load, number, .. } => {
                    if (self.space_is_shared)(self.first_site + number) {
                        *self.device.lds.latency as f32
                    } else {
                        *self.device.l2.latency as f32
                    }
                }
                Work::Access { atomic: Atomic { returns: true, .. }, .. } => *self.device.atomics.latency as f32,
                _ => ops[at].latency,
            };
            let after = before[at].iter().map(|&then| height[then as usize]).fold(0.0, f32::max);
            height[at] = latency[at] + after;
        }
        let (leads_far, place) = (self.leads_far(ops, &before), places(ops));
        let lookahead = self.device.issue.lookahead.as_ref().map_or(f32::INFINITY, |figure| **figure as f32);
        let mut ready: Vec<usize> = (0..count).filter(|&at| missing[at] == 0).collect();
        let mut order = Vec::with_capacity(count);
        let (mut is_done, mut first, mut now, mut starts) = (vec![false; count], 0, 0f32, vec![0f32; count]);
        while !ready.is_empty() {
            while is_done[first] {
                first += 1;
            }
            let rank = |at: usize| {
                let is_near = leads_far[at] || place[at] < place[first] + lookahead;
                (is_near, -starts[at].max(now), height[at], Reverse(at))
            };
            let best = (1..ready.len()).fold(
                0,
                |best, other| {
                    if rank(ready[other]) > rank(ready[best]) { other } else { best }
                },
            );
            let at = ready.swap_remove(best);
            is_done[at] = true;
            order.push(at);
            let start = starts[at].max(now);
            now = start + instructions(ops[at].work);
            for &then in &before[at] {
                starts[then as usize] = starts[then as usize].max(start + latency[at]);
                missing[then as usize] -= 1;
                if missing[then as usize] == 0 {
                    ready.push(then as usize);
                }
            }
        }
        order
    }
}

/// Instructions before each operation, in the order of the text.
fn places(ops: &[PlannedOp]) -> Vec<f32> {
    let before = ops.iter().scan(0.0, |sum, op| {
        let before = *sum;
        *sum += instructions(op.work);
        Some(before)
    });
    before.collect()
}

/// Whether scalar units have instructions for it: they do not divide, nor know floating point.
fn is_scalar(class: Class) -> bool {
    matches!(
        class,
        Class::Int32
            | Class::Int64
            | Class::Multiply32
            | Class::Multiply64
            | Class::Shift32
            | Class::Shift64
            | Class::BitCount
            | Class::Address
            | Class::Select
    )
}

/// Fewest fp32 operations of one line in a block that its compiler pairs up: those of a tile in registers, not of a few chains.
const TILE: usize = 16;

/// Pairs of fp32 operations that become one instruction where a device has those for two: neighbours of one line and shape that do not
/// need each other, in a tile in registers (they share an operand, as `a[i] * b[j]` and `a[i] * b[j + 1]`) or on the way to one store.
fn pairs(ops: &[Op]) -> Vec<[usize; 2]> {
    let maker: HashMap<Value, usize> =
        ops.iter().enumerate().filter_map(|(at, op)| op.value.map(|value| (value, at))).collect();
    let stored = stored_together(ops, &maker);
    let mut of_line: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, op) in ops.iter().enumerate().filter(|(_, op)| op.kind == OpKind::Compute(Class::Float32)) {
        of_line.entry(op.line).or_default().push(at);
    }
    let mut found = Vec::new();
    let mut lines: Vec<_> = of_line.into_values().collect();
    lines.sort_unstable();
    for of_line in lines {
        let mut left = of_line.as_slice();
        while let [one, other, rest @ ..] = left {
            let (first, second) = (&ops[*one], &ops[*other]);
            let shares = first.uses.iter().any(|value| second.uses.contains(value));
            let wanted = of_line.len() >= TILE && shares || stored.contains(&(*one, *other));
            if wanted && first.uses.len() == second.uses.len() && !needs(ops, &maker, *other, *one) {
                found.push([*one, *other]);
                left = rest;
            } else {
                left = &left[1..];
            }
        }
    }
    found
}

/// Whether the operation `at` needs the value of `earlier`, over operations between them.
fn needs(ops: &[Op], maker: &HashMap<Value, usize>, at: usize, earlier: usize) -> bool {
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        for from in ops[at].uses.iter().filter_map(|value| maker.get(value)) {
            if *from == earlier {
                return true;
            }
            if *from > earlier && *from < at {
                open.push(*from);
            }
        }
    }
    false
}

/// Neighbouring fp32 operations whose values one store writes.
fn stored_together(ops: &[Op], maker: &HashMap<Value, usize>) -> HashSet<(usize, usize)> {
    let mut found = HashSet::new();
    for (at, _) in ops.iter().enumerate().filter(|(_, op)| matches!(op.kind, OpKind::Store { bytes } if bytes >= 8)) {
        let mut computed = Vec::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            for from in ops[at].uses.iter().filter_map(|value| maker.get(value)).filter(|from| **from < at) {
                match ops[*from].kind {
                    OpKind::Free => open.push(*from),
                    OpKind::Compute(Class::Float32) => computed.push(*from),
                    _ => {}
                }
            }
        }
        computed.sort_unstable();
        computed.dedup();
        found.extend(computed.windows(2).map(|pair| (pair[0], pair[1])));
    }
    found
}

fn instructions(work: Work) -> f32 {
    match work {
        Work::Free => 0.0,
        Work::Compute { instructions, .. } | Work::Scalar { instructions } => instructions,
        _ => 1.0,
    }
}
