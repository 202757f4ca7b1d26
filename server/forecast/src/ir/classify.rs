//! What an instruction costs: the operations that it stands for.

use std::collections::{HashMap, HashSet};

use super::IrError;
use super::call::{Call, Callee, operand, parts};
use super::divergence::Divergent;
use super::function::Function;
use super::instruction::Instruction;
use super::integers::Integers;
use super::module::Module;
use super::types::{Element, Type, end_of_name};
use crate::code::{Class, OpKind};

/// Most bytes that one access of a work-item moves; larger ones are several.
const WIDEST: u32 = 16;
/// A copy whose size is not known, or of more bytes, is one call of its name.
const MOST_COPIED: u32 = 4096;

/// One operation that an instruction stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// What it is.
    pub kind: Kind,
    /// For accesses: the address as text, and bytes from it.
    pub address: Option<(String, u32)>,
}

/// As [`OpKind`], with names still as text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// All but calls by name.
    Op(OpKind),
    /// A function that is known by name.
    Named(String),
    /// A function that is instrumented too: what follows is another block.
    Instrumented,
}

/// What the instructions of one function stand for.
pub(super) struct Classifier<'a, 'm> {
    /// The module.
    pub module: &'m Module<'a>,
    /// The function.
    pub function: &'m Function<'a>,
    /// The function's values that differ between work-items.
    pub divergent: &'m Divergent<'a>,
    products: HashMap<&'a str, bool>,
    integers: Integers<'a>,
    /// Pointers to places in structures that were passed by value.
    arguments: HashSet<&'a str>,
}

fn op(kind: OpKind) -> Vec<Piece> {
    vec![Piece { kind: Kind::Op(kind), address: None }]
}

fn compute(class: Class, count: u32) -> Vec<Piece> {
    (0..count.max(1)).flat_map(|_| op(OpKind::Compute(class))).collect()
}

fn access(kind: OpKind, address: &str, offset: u32) -> Piece {
    Piece { kind: Kind::Op(kind), address: Some((address.to_owned(), offset)) }
}

impl<'a, 'm> Classifier<'a, 'm> {
    pub fn new(module: &'m Module<'a>, function: &'m Function<'a>, divergent: &'m Divergent<'a>) -> Self {
        let products = fused_products(function);
        let arguments = places_in_arguments(function);
        Self { module, function, divergent, products, integers: Integers::of(function), arguments }
    }

    /// Empty for what is nothing at all.
    pub fn pieces(&self, instruction: &Instruction<'a>) -> Result<Vec<Piece>, IrError> {
        let opcode = instruction.opcode;
        let kind = Type::read(instruction.after_flags()).0;
        Ok(match opcode {
            "fadd" | "fsub" => arithmetic(kind),
            "fmul" => match instruction.result.and_then(|result| self.products.get(result)) {
                Some(true) => op(OpKind::Free),
                _ => arithmetic(kind),
            },
            "fdiv" => {
                compute(if kind.element == Element::Double { Class::Divide64 } else { Class::Divide32 }, kind.count)
            }
            "frem" => named(if kind.element == Element::Double { "fmod" } else { "fmodf" }, kind.count),
            "fcmp" => match kind.element {
                Element::Double => compute(Class::Float64, kind.count),
                _ => compute(Class::Compare, kind.count),
            },
            "and" | "or" | "shl" | "lshr" if self.integers.is_renaming(instruction) => op(OpKind::Free),
            "add" | "sub" | "and" | "or" | "xor" | "icmp" => integer(kind),
            "mul" if is_wide(kind) && self.integers.is_product_of_narrow(instruction) => {
                compute(Class::Multiply32, kind.count)
            }
            "mul" => compute(if is_wide(kind) { Class::Multiply64 } else { Class::Multiply32 }, kind.count),
            "shl" | "lshr" | "ashr" => shift(instruction, kind),
            "udiv" | "urem" | "sdiv" | "srem" => {
                divide(instruction.rest, kind, self.integers.divides_again(instruction))
            }
            "select" => select(instruction),
            "sitofp" | "uitofp" | "fpext" | "fptrunc" if instruction.rest.contains("double") => {
                compute(Class::Convert64, kind.count)
            }
            "sitofp" | "uitofp" | "fpext" | "fptrunc" => compute(Class::Convert, kind.count),
            "fptosi" | "fptoui" => compute(Class::ConvertToInt, kind.count),
            "getelementptr" => address_of(instruction),
            // Arguments are constants that instructions name, or registers.
            "load" if self.arguments.contains(loaded_from(instruction)) => op(OpKind::Free),
            "load" => load(instruction, kind),
            "store" => store(instruction, kind),
            "atomicrmw" | "cmpxchg" => self.atomic(instruction),
            "fence" => fence(instruction),
            "call" | "invoke" => self.call(instruction)?,
            "br" | "switch" | "ret" | "unreachable" | "resume" => branch(instruction),
            "indirectbr" | "callbr" => return Err(self.assembly(instruction)),
            // phi, casts, alloca, parts of vectors and structures, and what this does not know.
            _ => op(OpKind::Free),
        })
    }

    fn line(&self, instruction: &Instruction<'_>) -> u32 {
        instruction.location.map_or(0, |location| self.module.debug.line(location))
    }

    fn assembly(&self, instruction: &Instruction<'_>) -> IrError {
        IrError::Assembly { line: self.line(instruction), function: self.function.name[1..].to_owned() }
    }

    fn atomic(&self, instruction: &Instruction<'a>) -> Vec<Piece> {
        let rest = instruction.after_flags();
        let compares = instruction.opcode == "cmpxchg";
        let rest = if compares { rest } else { rest.split_once(' ').map_or(rest, |(_, rest)| rest) };
        let parts = parts(rest);
        let address = address(parts.first().copied().unwrap_or_default());
        let kind = Type::read(parts.get(1).copied().unwrap_or_default()).0;
        let float = matches!(kind.element, Element::Float | Element::Double | Element::Half);
        let returns = instruction.result.is_some_and(|result| self.is_used(result));
        let same_value = parts.iter().skip(1).all(|part| !self.divergent.contains(operand(part)));
        vec![access(OpKind::Atomic { bytes: kind.bytes, returns, float, compares, same_value }, address, 0)]
    }

    fn is_used(&self, result: &str) -> bool {
        let all = self.function.blocks.iter().flat_map(|block| &block.instructions);
        all.into_iter().any(|placed| placed.instruction.operands().any(|operand| operand == result))
    }

    fn call(&self, instruction: &Instruction<'a>) -> Result<Vec<Piece>, IrError> {
        let call = Call::read(instruction);
        let name = match call.callee {
            Callee::Named(name) => name,
            // What only keeps the compiler from moving things.
            Callee::Assembly("") => return Ok(Vec::new()),
            Callee::Assembly(_) => return Err(self.assembly(instruction)),
            Callee::Pointer => {
                let function = self.function.name[1..].to_owned();
                return Err(IrError::Pointer { line: self.line(instruction), function });
            }
        };
        if self.module.by_name.contains_key(name) {
            return Ok(vec![Piece { kind: Kind::Instrumented, address: None }]);
        }
        let name = name[1..].trim_matches('"');
        Ok(match name.strip_prefix("llvm.") {
            Some(intrinsic) => self::intrinsic(intrinsic, &call),
            None => match name.strip_prefix("ks_trace_") {
                Some(hook) => self::hook(hook, &call),
                None => operation(name.strip_prefix("ks_op_").unwrap_or(name)),
            },
        })
    }
}

/// Products that are part of a fused multiply-add: used once, by a sum that may be contracted.
fn fused_products<'a>(function: &Function<'a>) -> HashMap<&'a str, bool> {
    let mut products = HashMap::new();
    for placed in function.blocks.iter().flat_map(|block| &block.instructions) {
        let instruction = &placed.instruction;
        if instruction.opcode == "fmul" && instruction.has_flag("contract") {
            products.extend(instruction.result.map(|result| (result, (0, false))));
        }
    }
    let mut used: HashMap<&str, (u32, bool)> = products;
    for placed in function.blocks.iter().flat_map(|block| &block.instructions) {
        let instruction = &placed.instruction;
        let sums = matches!(instruction.opcode, "fadd" | "fsub") && instruction.has_flag("contract");
        let mut taken = false;
        for operand in instruction.operands() {
            if let Some((uses, fused)) = used.get_mut(operand) {
                *uses += 1;
                // One of two products stays.
                *fused = sums && !taken;
                taken |= *fused;
            }
        }
    }
    used.into_iter().map(|(name, (uses, fused))| (name, uses == 1 && fused)).collect()
}

fn is_wide(kind: Type) -> bool {
    matches!(kind.element, Element::Pointer) || matches!(kind.element, Element::Int(bits) if bits > 32)
}

fn arithmetic(kind: Type) -> Vec<Piece> {
    match kind.element {
        Element::Double => compute(Class::Float64, kind.count),
        Element::Half if kind.count > 1 => compute(Class::Float16x2, kind.count.div_ceil(2)),
        Element::Half => compute(Class::Float16, 1),
        _ => compute(Class::Float32, kind.count),
    }
}

fn integer(kind: Type) -> Vec<Piece> {
    compute(if is_wide(kind) { Class::Int64 } else { Class::Int32 }, kind.count)
}

/// A shift of 64 bits by half of them or more takes the upper half as it is, and shifts that.
fn shift(instruction: &Instruction<'_>, kind: Type) -> Vec<Piece> {
    let by = || parts(instruction.after_flags()).get(1).and_then(|by| by.parse::<u32>().ok());
    if is_wide(kind) && instruction.opcode != "shl" && by().is_some_and(|by| by >= 32) {
        return compute(Class::Shift32, kind.count);
    }
    shift_by(kind)
}

fn shift_by(kind: Type) -> Vec<Piece> {
    compute(if is_wide(kind) { Class::Shift64 } else { Class::Shift32 }, kind.count)
}

/// By a constant it is a multiplication with what is above it, by a power of two a shift or a mask.
fn divide(rest: &str, kind: Type, again: bool) -> Vec<Piece> {
    let divisor = rest.rsplit(", ").next().and_then(|divisor| divisor.parse::<i64>().ok());
    let wide = is_wide(kind);
    match divisor {
        Some(divisor) if divisor.unsigned_abs().is_power_of_two() => integer(kind),
        Some(_) => {
            let mut pieces = compute(if wide { Class::Multiply64 } else { Class::Multiply32 }, kind.count);
            pieces.extend(compute(if wide { Class::Int64 } else { Class::Int32 }, 2 * kind.count));
            pieces
        }
        None if wide => compute(Class::IntDivide64, kind.count),
        None => compute(if again { Class::IntDivideAgain32 } else { Class::IntDivide32 }, kind.count),
    }
}

/// `select i1 %c, double %a, double %b`: values of eight bytes take two.
fn select(instruction: &Instruction<'_>) -> Vec<Piece> {
    let kind = Type::read(parts(instruction.after_flags()).get(1).copied().unwrap_or_default()).0;
    let two = is_wide(kind) || kind.element == Element::Double;
    compute(Class::Select, kind.count * if two { 2 } else { 1 })
}

/// An index that is not constant has to be scaled and added; constant offsets are part of the access.
fn address_of(instruction: &Instruction<'_>) -> Vec<Piece> {
    if has_computed_index(&parts(instruction.after_flags())) { compute(Class::Address, 1) } else { op(OpKind::Free) }
}

/// Whether an index of a `getelementptr` is a value: after the type that is stepped through and the pointer.
fn has_computed_index(parts: &[&str]) -> bool {
    parts.iter().skip(2).any(|index| operand(index).contains('%'))
}

/// Splits `bytes` into accesses of at most [`WIDEST`].
fn split(bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..bytes.max(1)).step_by(WIDEST as usize).map(move |offset| (offset, (bytes - offset).min(WIDEST)))
}

/// The address of a load, as text.
fn loaded_from<'a>(instruction: &Instruction<'a>) -> &'a str {
    address(parts(instruction.after_flags()).get(1).copied().unwrap_or_default())
}

/// Pointers that are a structure passed by value, or some way into it that is known.
fn places_in_arguments<'a>(function: &Function<'a>) -> HashSet<&'a str> {
    let mut places: HashSet<&str> = function.by_value.iter().copied().collect();
    if places.is_empty() {
        return places;
    }
    for placed in function.blocks.iter().flat_map(|block| &block.instructions) {
        let instruction = &placed.instruction;
        let Some(result) = instruction.result.filter(|_| instruction.opcode == "getelementptr") else { continue };
        let parts = parts(instruction.after_flags());
        if !has_computed_index(&parts) && parts.get(1).is_some_and(|base| places.contains(address(base))) {
            places.insert(result);
        }
    }
    places
}

fn load(instruction: &Instruction<'_>, kind: Type) -> Vec<Piece> {
    let address = loaded_from(instruction);
    split(kind.bytes).map(|(offset, bytes)| access(OpKind::Load { bytes }, address, offset)).collect()
}

fn store(instruction: &Instruction<'_>, kind: Type) -> Vec<Piece> {
    let parts = parts(instruction.after_flags());
    let address = address(parts.get(1).copied().unwrap_or_default());
    split(kind.bytes).map(|(offset, bytes)| access(OpKind::Store { bytes }, address, offset)).collect()
}

/// The operand of `ptr %5, align 4`, `ptr getelementptr (i8, ptr @x, i64 4) monotonic, align 4`.
fn address(text: &str) -> &str {
    let text = operand(text);
    if text.starts_with(['%', '@']) {
        return &text[..end_of_name(text)];
    }
    let Some(open) = text.find('(') else { return text.split([',', ' ']).next().unwrap_or(text) };
    let mut depth = 0;
    for (at, letter) in text.char_indices().skip(open) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && at >= open {
            return &text[..=at];
        }
    }
    text
}

fn fence(instruction: &Instruction<'_>) -> Vec<Piece> {
    // Of one thread: nothing but a hint for the compiler.
    if instruction.rest.contains("singlethread") { Vec::new() } else { op(OpKind::Fence) }
}

fn branch(instruction: &Instruction<'_>) -> Vec<Piece> {
    let conditional =
        instruction.opcode == "switch" || instruction.opcode == "br" && instruction.rest.starts_with("i1");
    op(OpKind::Branch { conditional })
}

fn named(name: &str, count: u32) -> Vec<Piece> {
    (0..count.max(1)).map(|_| Piece { kind: Kind::Named(name.to_owned()), address: None }).collect()
}

/// A function that is not instrumented. Some are one instruction of a kind that there is a class for.
fn operation(name: &str) -> Vec<Piece> {
    let class = match name.strip_prefix("__builtin_amdgcn_") {
        Some("perm" | "lerp" | "sad_u8" | "sad_u16" | "msad_u8") => Class::Int32,
        Some("ubfe" | "sbfe") => Class::Shift32,
        Some("sdot2" | "udot2" | "sdot4" | "udot4" | "sdot8" | "udot8") => Class::Multiply32,
        Some("fdot2" | "fmed3f" | "fractf") => Class::Float32,
        None if name.starts_with("ks_dot2_") => Class::Multiply32,
        None if name == "__saturatef" => Class::Float32,
        None if name == "fma_f16" => Class::Float16,
        None if name.starts_with("pk_") && name.ends_with("_f16") => Class::Float16x2,
        _ => return named(name, 1),
    };
    compute(class, 1)
}

/// A function of the tracing runtime, without `ks_trace_`.
fn hook(name: &str, call: &Call<'_>) -> Vec<Piece> {
    match name {
        "atomic_4" | "atomic_8" => {
            let bytes = if name == "atomic_4" { 4 } else { 8 };
            let kind = OpKind::Atomic { bytes, returns: false, float: false, compares: false, same_value: false };
            vec![access(kind, call.operand(0).unwrap_or_default(), 0)]
        }
        "printf" => named("printf", 1),
        "barrier" | "barrier_count" => op(OpKind::Barrier),
        "wave_barrier" | "vote" => op(OpKind::Vote),
        "exchange" | "gather" | "gathered" => op(OpKind::Shuffle),
        // Where the work-item is: a register.
        _ => op(OpKind::Free),
    }
}

/// An intrinsic of LLVM, without `llvm.`.
fn intrinsic(name: &str, call: &Call<'_>) -> Vec<Piece> {
    let kind = call.result;
    let base = name.split('.').next().unwrap_or(name);
    match base {
        "fma" | "fmuladd" | "maxnum" | "minnum" | "maximum" | "minimum" => arithmetic(kind),
        "fabs" => op(OpKind::Free),
        "smax" | "smin" | "umax" | "umin" | "abs" | "sadd" | "uadd" | "ssub" | "usub" | "copysign" | "bswap"
        | "scmp" | "ucmp" => integer(kind),
        "smul" | "umul" => compute(if is_wide(kind) { Class::Multiply64 } else { Class::Multiply32 }, 1),
        "fshl" | "fshr" => shift_by(kind),
        "ctpop" | "ctlz" | "cttz" | "bitreverse" => compute(Class::BitCount, kind.count),
        "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "round" | "roundeven" | "lrint" | "llrint" | "lround"
        | "llround" | "fptosi" | "fptoui" => compute(Class::ConvertToInt, kind.count),
        "is" => compute(Class::Compare, 1),
        "canonicalize" => arithmetic(kind),
        "memcpy" | "memmove" => copy(call),
        "memset" => fill(call),
        "vector" => compute(Class::Int32, 1),
        "exp" | "exp2" | "exp10" | "log" | "log2" | "log10" | "sin" | "cos" | "tan" | "sqrt" | "pow" | "powi"
        | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "ldexp" | "frexp" => {
            let suffix = match kind.element {
                Element::Float => "f",
                Element::Half => "_f16",
                _ => "",
            };
            named(&format!("{base}{suffix}"), kind.count)
        }
        "readcyclecounter" | "readsteadycounter" => named("clock", 1),
        // Remarks to the compiler.
        "assume" | "lifetime" | "dbg" | "invariant" | "experimental" | "donothing" | "sideeffect" | "pseudoprobe"
        | "prefetch" | "var" => Vec::new(),
        // Casts and the like: `expect`, `launder`, `threadlocal`, `stacksave`, `objectsize`, `x86`, `trap`.
        _ => op(OpKind::Free),
    }
}

/// How many bytes a copy or fill has, where that is known and not too many.
fn size(call: &Call<'_>) -> Option<u32> {
    call.operand(2)?.parse().ok().filter(|bytes| *bytes <= MOST_COPIED)
}

fn copy(call: &Call<'_>) -> Vec<Piece> {
    let (Some(to), Some(from), Some(bytes)) = (call.operand(0), call.operand(1), size(call)) else {
        return named("memcpy", 1);
    };
    if bytes == 0 {
        return Vec::new();
    }
    let moves = split(bytes).flat_map(|(offset, bytes)| {
        [access(OpKind::Load { bytes }, from, offset), access(OpKind::Store { bytes }, to, offset)]
    });
    moves.collect()
}

fn fill(call: &Call<'_>) -> Vec<Piece> {
    let (Some(to), Some(bytes)) = (call.operand(0), size(call)) else { return named("memset", 1) };
    if bytes == 0 {
        return Vec::new();
    }
    split(bytes).map(|(offset, bytes)| access(OpKind::Store { bytes }, to, offset)).collect()
}
