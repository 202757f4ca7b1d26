//! Registers of a work-item, from the code: for devices whose compiler is not at hand.
//!
//! The most values that are alive at once, with what compilers need besides: addresses, the block's and the work-item's
//! numbers. Compared with `ptxas -v` (see the tests), it is right within a few registers for most kernels.

use crate::code::{Block, Code, Function, Value};
use crate::trace::Launch;

/// Registers that every kernel needs besides its values.
const BESIDES: u32 = 10;

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
    (functions.map(of).max().unwrap_or_default() + BESIDES).clamp(16, most)
}

/// The most values alive at once in a function. Values of 64 bits count as one: most are addresses that share their upper half or
/// are made anew.
fn alive(blocks: &[Block], first: u32, values: u32) -> u32 {
    let words = (values as usize).div_ceil(64);
    let mut live_in = vec![vec![0u64; words]; blocks.len()];
    let (set, clear) = (
        |bits: &mut [u64], value: Value| bits[value as usize / 64] |= 1 << (value % 64),
        |bits: &mut [u64], value: Value| bits[value as usize / 64] &= !(1 << (value % 64)),
    );
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
            let count = |live: &[u64]| live.iter().map(|word| word.count_ones()).sum::<u32>();
            most = most.max(count(&live));
            for op in blocks[at].ops.iter().rev() {
                if let Some(value) = op.value {
                    clear(&mut live, value);
                }
                for &value in &op.uses {
                    set(&mut live, value);
                }
                most = most.max(count(&live));
            }
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
