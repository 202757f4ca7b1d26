//! Where arithmetic of integers costs less than its types say: numbers of 32 bits in 64, and divisions by one number again and again.

use std::collections::{HashMap, HashSet};

use super::call::{operand, parts};
use super::function::Function;
use super::instruction::Instruction;
use super::types::{Element, Type};

/// What is known of a function's integers, by the names of values.
pub(super) struct Integers<'a> {
    /// Values of 64 bits that were made of 32.
    narrow: HashSet<&'a str>,
    /// Quotients and remainders by a number whose reciprocal is there already.
    again: HashSet<&'a str>,
}

impl<'a> Integers<'a> {
    pub fn of(function: &Function<'a>) -> Self {
        let mut found = Self { narrow: HashSet::new(), again: HashSet::new() };
        let made_in = made_in(function);
        let mut divided_by = HashSet::new();
        for (number, block) in function.blocks.iter().enumerate() {
            for placed in &block.instructions {
                let instruction = &placed.instruction;
                let Some(result) = instruction.result else { continue };
                match instruction.opcode {
                    "zext" | "sext" if is_narrow(Type::read(instruction.after_flags()).0) => {
                        found.narrow.insert(result);
                    }
                    "udiv" | "urem" | "sdiv" | "srem" => {
                        let divisor = operand(parts(instruction.after_flags()).get(1).copied().unwrap_or_default());
                        let first = divided_by.insert(divisor);
                        if !first || is_made_outside(function, made_in.get(divisor).copied(), number) {
                            found.again.insert(result);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Whether a product of 64 bits is one of two numbers of 32.
    pub fn is_product_of_narrow(&self, instruction: &Instruction<'a>) -> bool {
        let operands = parts(instruction.after_flags());
        let is_narrow = |text: &&str| {
            let text = operand(text);
            self.narrow.contains(text) || text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() < 1 << 32)
        };
        operands.len() == 2 && operands.iter().all(is_narrow)
    }

    /// Whether the reciprocal of what is divided by is there already.
    pub fn divides_again(&self, instruction: &Instruction<'a>) -> bool {
        instruction.result.is_some_and(|result| self.again.contains(result))
    }
}

/// The block that makes each value.
fn made_in<'a>(function: &Function<'a>) -> HashMap<&'a str, usize> {
    let of_block = |(number, block): (usize, &super::function::BasicBlock<'a>)| {
        let results = block.instructions.iter().filter_map(|placed| placed.instruction.result);
        results.map(|result| (result, number)).collect::<Vec<_>>()
    };
    function.blocks.iter().enumerate().flat_map(of_block).collect()
}

/// Whether `block` is in a loop, and the value, of a block or a parameter, comes from outside of it.
fn is_made_outside(function: &Function<'_>, made_in: Option<usize>, block: usize) -> bool {
    let after = reached(function, block);
    after.contains(&block) && made_in.is_none_or(|made_in| !after.contains(&made_in))
}

/// The blocks that come after `block`, itself where it is in a loop.
fn reached(function: &Function<'_>, block: usize) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut waiting = function.blocks[block].successors.clone();
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(&function.blocks[next].successors);
        }
    }
    found
}

fn is_narrow(kind: Type) -> bool {
    kind.count <= 1 && matches!(kind.element, Element::Int(bits) if bits <= 32)
}
