//! Which values may differ between the work-items of a wave.
//!
//! They begin with the work-item's place, atomics, exchanges, and memory of a work-item's own, and go on through operands.
//! Where a branch depends on such a value, the phis differ at which its ways meet.

use std::collections::HashSet;

use super::call::{Call, Callee};
use super::function::{Function, incoming};
use super::instruction::Instruction;
use super::types::names;

/// The names of a function's values that may differ.
pub(super) struct Divergent<'a> {
    values: HashSet<&'a str>,
}

impl<'a> Divergent<'a> {
    pub fn find(function: &Function<'a>) -> Self {
        let mut found = Self { values: HashSet::new() };
        if !function.is_kernel {
            // Of other functions nothing is known about what they are called with.
            found.values.extend(&function.parameters);
        }
        let meeting = Meeting::new(function);
        let mut split = HashSet::new();
        loop {
            let before = (found.values.len(), split.len());
            for (number, block) in function.blocks.iter().enumerate() {
                for placed in &block.instructions {
                    found.look_at(&placed.instruction);
                }
                let last = block.instructions.last();
                if block.successors.len() > 1
                    && last.is_some_and(|last| found.depends(&last.instruction))
                    && split.insert(number)
                {
                    for met in meeting.of(function, number) {
                        found.differ(function, met);
                    }
                }
            }
            if before == (found.values.len(), split.len()) {
                return found;
            }
        }
    }

    /// Whether the work-items of a wave may compute or branch differently here.
    pub fn depends(&self, instruction: &Instruction<'_>) -> bool {
        match instruction.result {
            Some(result) => self.values.contains(result),
            None => names(instruction.rest, '%').any(|name| self.values.contains(name)),
        }
    }

    /// Whether an operand differs: a value's name and what follows it, or a constant.
    pub fn contains(&self, operand: &str) -> bool {
        names(operand, '%').any(|name| self.values.contains(name))
    }

    fn look_at(&mut self, instruction: &Instruction<'a>) {
        let Some(result) = instruction.result else { return };
        let differs =
            begins(instruction).unwrap_or_else(|| instruction.operands().any(|operand| self.values.contains(operand)));
        if differs {
            self.values.insert(result);
        }
    }

    /// The phis of a block at which ways meet that a wave's work-items take differently.
    fn differ(&mut self, function: &Function<'a>, block: usize) {
        for placed in function.blocks[block].instructions.iter().take_while(|placed| placed.is_phi()) {
            let mut values = incoming(&placed.instruction).map(|(value, _)| value);
            let first = values.next();
            if values.any(|value| Some(value) != first) {
                self.values.extend(placed.instruction.result);
            }
        }
    }
}

/// Whether the value certainly differs, or certainly does not; `None` where that follows from the operands.
fn begins(instruction: &Instruction<'_>) -> Option<bool> {
    match instruction.opcode {
        "alloca" | "atomicrmw" | "cmpxchg" => Some(true),
        "call" | "invoke" => {
            let Callee::Named(name) = Call::read(instruction).callee else { return Some(true) };
            match name {
                "@ks_trace_vote" | "@ks_trace_barrier_count" => Some(false),
                _ if name.starts_with("@ks_trace_thread_") => Some(true),
                "@ks_trace_exchange" | "@ks_trace_gather" | "@ks_trace_gathered" => Some(true),
                _ if name.contains("_mfma_") || name.contains("_smfmac_") => Some(true),
                // A function of mathematics gives the same for the same.
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where the ways from a branch meet.
struct Meeting {
    /// The block that all ways from a block lead to at last; `None` for the end of the function.
    after: Vec<Option<usize>>,
}

impl Meeting {
    fn new(function: &Function<'_>) -> Self {
        Self { after: post_dominators(function) }
    }

    /// The blocks that can be reached from two successors of `branch`, up to where all ways lead.
    fn of(&self, function: &Function<'_>, branch: usize) -> Vec<usize> {
        let end = self.after[branch];
        let mut times = vec![0_u32; function.blocks.len()];
        for successor in &function.blocks[branch].successors {
            let mut seen = HashSet::new();
            let mut waiting = vec![*successor];
            while let Some(block) = waiting.pop() {
                if seen.insert(block) {
                    times[block] += 1;
                    if Some(block) != end && block != branch {
                        waiting.extend(&function.blocks[block].successors);
                    }
                }
            }
        }
        (0..times.len()).filter(|block| times[*block] > 1).collect()
    }
}

/// For each block the next one that every way from it passes (Cooper, Harvey, Kennedy: A simple, fast dominance algorithm).
fn post_dominators(function: &Function<'_>) -> Vec<Option<usize>> {
    let count = function.blocks.len();
    let exit = count;
    let successors = |block: usize| {
        let own = &function.blocks[block].successors;
        if own.is_empty() { vec![exit] } else { own.clone() }
    };
    // Numbers in an order in which a block comes after where it leads to: a walk backwards from the exit.
    let mut predecessors = vec![Vec::new(); count + 1];
    for block in 0..count {
        for successor in successors(block) {
            predecessors[successor].push(block);
        }
    }
    let mut position = vec![usize::MAX; count + 1];
    let mut ordered = Vec::new();
    let mut seen = vec![false; count + 1];
    let mut path = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, child)) = path.last_mut() {
        match predecessors[*block].get(*child).copied() {
            Some(next) => {
                *child += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    path.push((next, 0));
                }
            }
            None => {
                ordered.push(*block);
                path.pop();
            }
        }
    }
    ordered.reverse();
    for (number, block) in ordered.iter().enumerate() {
        position[*block] = number;
    }
    let mut after: Vec<Option<usize>> = vec![None; count + 1];
    after[exit] = Some(exit);
    loop {
        let mut changed = false;
        for block in ordered.iter().copied().filter(|block| *block != exit) {
            let mut common: Option<usize> = None;
            for successor in successors(block).into_iter().filter(|successor| after[*successor].is_some()) {
                common = Some(match common {
                    None => successor,
                    Some(other) => intersect(other, successor, &after, &position),
                });
            }
            if common.is_some() && after[block] != common {
                after[block] = common;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    after.truncate(count);
    after.into_iter().map(|block| block.filter(|block| *block != exit)).collect()
}

fn intersect(mut one: usize, mut other: usize, after: &[Option<usize>], position: &[usize]) -> usize {
    while one != other {
        let (later, rest) = if position[one] > position[other] { (&mut one, other) } else { (&mut other, one) };
        match after[*later] {
            Some(next) if next != *later => *later = next,
            _ => return rest,
        }
    }
    one
}
