//! Registers of a work-item, from the code: for devices whose compiler is not at hand.
//!
//! The most values that are alive at once, with what compilers need besides: addresses, the block's and the work-item's
//! numbers. Compared with `ptxas -v` (see the tests), it is right within a few registers for most kernels.

use std::collections::HashMap;

use crate::code::{Block, Class, Code, Function, Op, OpKind, Phi, Value};
use crate::trace::Launch;

/// Registers that every kernel needs besides its values.
const BESIDES: u32 = 10;

/// Compilers save registers where that keeps more waves on a unit: so many, of so many at most. With 32 a unit is full, and for that
/// `ptxas` makes values anew and moves operations a good deal (of 11 kernels that need 33 to 45, ten get 32 or fewer).
const SAVED: [(u32, u32); 3] = [(32, 45), (64, 70), (128, 140)];

/// Estimates the registers of a launch's kernel, from the functions that its work-items passed; at most `most`.
pub fn estimate(code: &Code, launch: &Launch, most: u32) -> u32 {
    let mut passed = vec![false; code.functions.len()];
    for event in launch.blocks.iter().filter_map(|block| block.items.first()).flatten() {
        if let Some(block) = event.block().and_then(|block| code.blocks.get(block as usize)) {
            passed[block.function as usize] = true;
        }
    }
    let of = |function: &Function| {
        alive(&code.blocks[function.first as usize..][..function.blocks as usize], function.first, function.values)
    };
    let functions = code.functions.iter().zip(passed).filter(|(_, passed)| *passed).map(|(function, _)| function);
    let needed = functions.map(of).max().unwrap_or_default() + BESIDES;
    let step = SAVED.into_iter().find(|&(step, from)| needed > step && needed <= from).map(|(step, _)| step);
    step.unwrap_or(needed).clamp(16, most)
}

/// The blocks with values that need no register of their own named by those that they are made of: parts of what was loaded, and
/// addresses at a constant distance from another one. And the registers of each value.
fn without_renamings(blocks: &[Block], values: u32) -> (Vec<Block>, Vec<u8>) {
    let mut of: Vec<Value> = (0..values).collect();
    let mut weights = vec![1u8; (values as usize).next_multiple_of(64)];
    let renames = |op: &Op| {
        op.uses.len() == 1 && matches!(op.kind, OpKind::Free | OpKind::Compute(Class::Int64 | Class::Address))
    };
    for op in blocks.iter().flat_map(|block| &block.ops) {
        let Some(value) = op.value else { continue };
        match op.kind {
            // What is the same for the wave is an operand from constant memory, or in a register of the wave.
            OpKind::Load { .. } if op.uniform => weights[value as usize] = 0,
            OpKind::Load { bytes } => weights[value as usize] = bytes.div_ceil(4).clamp(1, 4) as u8,
            OpKind::Compute(Class::Float64 | Class::Divide64) => weights[value as usize] = 2,
            _ if renames(op) => of[value as usize] = of[op.uses[0] as usize],
            _ => {}
        }
    }
    let named = |value: &Value| of[*value as usize];
    let blocks = blocks
        .iter()
        .map(|block| Block {
            function: block.function,
            next: block.next.clone(),
            phis: block
                .phis
                .iter()
                .map(|phi| Phi {
                    value: phi.value,
                    from: phi.from.iter().map(|(block, value)| (*block, named(value))).collect(),
                })
                .collect(),
            ops: block
                .ops
                .iter()
                .filter(|op| !(op.value.is_some() && renames(op)))
                .map(|op| Op { uses: op.uses.iter().map(named).collect(), ..op.clone() })
                .collect(),
        })
        .collect();
    (blocks, weights)
}

/// The operations of a block with loads and addresses just before their first use: a compiler that is short of registers moves
/// them there.
fn sunk(ops: &[Op]) -> Vec<usize> {
    let maker: HashMap<Value, usize> = ops.iter().enumerate().filter_map(|(at, op)| Some((op.value?, at))).collect();
    let waits = |op: &Op| {
        let movable = match op.kind {
            OpKind::Load { .. } | OpKind::Free => true,
            OpKind::Compute(class) => {
                matches!(class, Class::Address | Class::Int64 | Class::Shift64 | Class::Int32 | Class::Shift32)
            }
            _ => false,
        };
        movable && op.value.is_some()
    };
    let mut order = Vec::with_capacity(ops.len());
    let mut placed = vec![false; ops.len()];
    // What is used later only, by another block, comes last.
    for at in (0..ops.len()).filter(|&at| !waits(&ops[at])).chain((0..ops.len()).filter(|&at| waits(&ops[at]))) {
        let mut stack = vec![at];
        while let Some(&top) = stack.last() {
            let needed =
                ops[top].uses.iter().filter_map(|value| maker.get(value)).find(|&&made| made < top && !placed[made]);
            match needed {
                Some(&made) if !placed[top] => stack.push(made),
                _ => {
                    if !std::mem::replace(&mut placed[top], true) {
                        order.push(top);
                    }
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Blocks with more operations are not put into a greedy order, which takes time with their square.
const GREEDY: usize = 1500;

/// The operations in an order in which, of all that could come next, the one that ends most values does. `after` are the values that
/// are alive at the end.
fn greedy(ops: &[Op], after: &[u64]) -> Vec<usize> {
    if ops.len() > GREEDY {
        return (0..ops.len()).collect();
    }
    let maker: HashMap<Value, usize> = ops.iter().enumerate().filter_map(|(at, op)| Some((op.value?, at))).collect();
    let mut uses: HashMap<Value, u32> = HashMap::new();
    let mut missing = vec![0u32; ops.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); ops.len()];
    let mut last_effect: Option<usize> = None;
    for (at, op) in ops.iter().enumerate() {
        for value in &op.uses {
            *uses.entry(*value).or_default() += 1;
            if let Some(&made) = maker.get(value).filter(|&&made| made < at) {
                users[made].push(at);
                missing[at] += 1;
            }
        }
        // What has an effect keeps its order; loads stay between the barriers that they stand between.
        let effect = op.value.is_none();
        if (effect || matches!(op.kind, OpKind::Load { .. }))
            && let Some(effect) = last_effect
        {
            users[effect].push(at);
            missing[at] += 1;
        }
        if effect {
            last_effect = Some(at);
        }
    }
    let alive = |value: Value| after[value as usize / 64] >> (value % 64) & 1 != 0;
    let mut ready: Vec<usize> = (0..ops.len()).filter(|&at| missing[at] == 0).collect();
    let mut order = Vec::with_capacity(ops.len());
    while !ready.is_empty() {
        let gain = |at: usize| {
            let ends = ops[at].uses.iter().filter(|value| uses[*value] == 1 && !alive(**value)).count() as i32;
            ends - i32::from(ops[at].value.is_some())
        };
        let best = (0..ready.len()).min_by_key(|&place| (-gain(ready[place]), ready[place])).unwrap_or_default();
        let at = ready.swap_remove(best);
        order.push(at);
        for value in &ops[at].uses {
            uses.entry(*value).and_modify(|count| *count -= 1);
        }
        for &user in &users[at] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push(user);
            }
        }
    }
    order
}

/// The most values alive at once in a function. Values of 64 bits count as one: most are addresses that share their upper half or
/// are made anew.
fn alive(blocks: &[Block], first: u32, values: u32) -> u32 {
    let (blocks, weights) = without_renamings(blocks, values);
    let blocks = &blocks[..];
    let count = |live: &[u64]| {
        let mut sum = 0;
        for (word, &bits) in live.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                sum += u32::from(weights[word * 64 + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
            }
        }
        sum
    };
    let words = (values as usize).div_ceil(64);
    let mut live_in = vec![vec![0u64; words]; blocks.len()];
    let (set, clear) = (
        |bits: &mut [u64], value: Value| bits[value as usize / 64] |= 1 << (value % 64),
        |bits: &mut [u64], value: Value| bits[value as usize / 64] &= !(1 << (value % 64)),
    );
    let sunk: Vec<Vec<usize>> = blocks.iter().map(|block| sunk(&block.ops)).collect();
    let mut most = 0;
    // Backwards until nothing changes; twice the depth of loops is enough, and code is finite.
    for round in 0..8 {
        let mut changed = false;
        for at in (0..blocks.len()).rev() {
            let mut live = vec![0u64; words];
            for next in blocks[at].next.iter().filter_map(|next| Some(next.checked_sub(first)? as usize)) {
                if next >= blocks.len() {
                    continue;
                }
                let phis = &blocks[next].phis;
                let mut from_next = live_in[next].clone();
                for phi in phis {
                    clear(&mut from_next, phi.value);
                }
                for phi in phis {
                    for &(block, value) in &phi.from {
                        if block == first + at as u32 {
                            set(&mut from_next, value);
                        }
                    }
                }
                for (word, other) in live.iter_mut().zip(from_next) {
                    *word |= other;
                }
            }
            let ops = &blocks[at].ops;
            let orders = [(0..ops.len()).collect(), sunk[at].clone(), greedy(ops, &live)];
            let pressures = orders.map(|order: Vec<usize>| {
                let mut live = live.clone();
                let mut most = count(&live);
                for &op in order.iter().rev() {
                    if let Some(value) = ops[op].value {
                        clear(&mut live, value);
                    }
                    for &value in &ops[op].uses {
                        set(&mut live, value);
                    }
                    most = most.max(count(&live));
                }
                (most, live)
            });
            most = most.max(pressures.iter().map(|(most, _)| *most).min().unwrap_or_default());
            let [(_, mut live), ..] = pressures;
            for phi in &blocks[at].phis {
                set(&mut live, phi.value);
            }
            if live != live_in[at] {
                live_in[at] = live;
                changed = true;
            }
        }
        if !changed {
            break;
        }
        if round == 0 {
            most = 0;
        }
    }
    most
}
