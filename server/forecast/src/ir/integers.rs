//! Where arithmetic of integers costs less than its types say: numbers of 32 bits in 64, pairs of them that are put together and taken
//! apart, and divisions by one number again and again.

use std::collections::{HashMap, HashSet};

use super::function::Function;
use super::instruction::Instruction;
use super::types::{Element, Type};

/// What is known of a function's integers, by the names of values.
#[derive(Default)]
pub(super) struct Integers<'a> {
    /// Values of 64 bits that were made of 32.
    narrow: HashSet<&'a str>,
    /// Of those, values whose upper half is zero.
    lower: HashSet<&'a str>,
    /// Values whose lower half is zero.
    upper: HashSet<&'a str>,
    /// Quotients and remainders by a number whose reciprocal is there already.
    again: HashSet<&'a str>,
}

impl<'a> Integers<'a> {
    pub fn of(function: &Function<'a>) -> Self {
        let mut found = Self::default();
        let made_in = made_in(function);
        let mut divided_by = HashSet::new();
        for (number, block) in function.blocks.iter().enumerate() {
            for placed in &block.instructions {
                let instruction = &placed.instruction;
                let Some(result) = instruction.result else { continue };
                match instruction.opcode {
                    "zext" | "sext" if is_narrow(Type::read(instruction.after_flags()).0) => {
                        found.narrow.insert(result);
                        if instruction.opcode == "zext" {
                            found.lower.insert(result);
                        }
                    }
                    "shl" | "lshr" | "and" => match half_of(instruction) {
                        Some(Half::Upper) => drop(found.upper.insert(result)),
                        Some(Half::Lower) => drop(found.lower.insert(result)),
                        None => {}
                    },
                    "udiv" | "urem" | "sdiv" | "srem" => {
                        let divisor = operands(instruction)[1];
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
        let is_narrow = |text: &str| {
            self.narrow.contains(text) || text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() < 1 << 32)
        };
        operands(instruction).into_iter().all(is_narrow)
    }

    /// Whether it only puts two registers together to one of 64 bits, or takes one out: that is a renaming.
    pub fn is_renaming(&self, instruction: &Instruction<'a>) -> bool {
        let [one, other] = operands(instruction);
        let joins = |one, other| self.upper.contains(one) && self.lower.contains(other);
        half_of(instruction).is_some() || instruction.opcode == "or" && (joins(one, other) || joins(other, one))
    }

    /// Whether the reciprocal of what is divided by is there already.
    pub fn divides_again(&self, instruction: &Instruction<'a>) -> bool {
        instruction.result.is_some_and(|result| self.again.contains(result))
    }
}

/// The two operands of `i64 %a, %b`.
fn operands<'a>(instruction: &Instruction<'a>) -> [&'a str; 2] {
    let (one, other) = instruction.rest.split_once(", ").unwrap_or_default();
    [one.rsplit(' ').next().unwrap_or_default(), other]
}

/// Half of a number of 64 bits.
enum Half {
    Upper,
    Lower,
}

/// The half that an operation of 64 bits leaves, by a shift of 32 or a mask.
fn half_of(instruction: &Instruction<'_>) -> Option<Half> {
    if Type::read(instruction.after_flags()).0.element != Element::Int(64) {
        return None;
    }
    let by: i64 = operands(instruction)[1].parse().ok()?;
    match (instruction.opcode, by) {
        ("shl", 32) | ("and", -4_294_967_296) => Some(Half::Upper),
        ("lshr", 32) | ("and", 4_294_967_295) => Some(Half::Lower),
        _ => None,
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
