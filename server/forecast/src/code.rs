//! What a kernel does between two memory accesses: its optimised code as basic blocks of operations.
//!
//! Made from LLVM's text by `ir` while that is instrumented; a trace names blocks by their number here.

use serde::{Deserialize, Serialize};

/// Number of a [`Block`] in [`Code::blocks`].
pub type BlockId = u32;
/// Number of a value of one function: what an operation computes, dense from 0.
pub type Value = u32;

/// The functions of one module that were instrumented: kernels and what they call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// In the order of the text.
    pub functions: Vec<Function>,
    /// Of all functions, those of one function next to each other, in reverse post-order: a block that comes later can be
    /// waited for by work-items that are ahead.
    pub blocks: Vec<Block>,
    /// Named functions that operations call without being instrumented themselves: mathematics, matrix instructions.
    pub names: Vec<String>,
}

/// A function whose blocks are traced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// As the linker knows it.
    pub symbol: String,
    /// Its first block.
    pub first: BlockId,
    /// How many blocks it has.
    pub blocks: u32,
    /// How many values it has.
    pub values: u32,
}

/// A stretch of code that is run from its beginning to its end: a basic block, or what is left of one after a call of
/// another instrumented function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The function, in [`Code::functions`].
    pub function: u32,
    /// Values that depend on where control comes from: they are moved, not computed.
    pub phis: Vec<Phi>,
    /// In the order of the text.
    pub ops: Vec<Op>,
    /// Blocks of the same function that control can go to from here.
    pub next: Vec<BlockId>,
}

/// A value that takes another value's place when its block is entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phi {
    /// The value.
    pub value: Value,
    /// By the block that control comes from; constants are left out.
    pub from: Vec<(BlockId, Value)>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Op {
    /// What it is.
    pub kind: OpKind,
    /// What it computes.
    pub value: Option<Value>,
    /// What it needs; constants and arguments are left out.
    pub uses: Vec<Value>,
    /// The user's line, from 1; 0 where none is known. Code that was inlined from the runtime's headers has the line of the
    /// user's call.
    pub line: u32,
    /// Whether all work-items of a wave compute the same value: work for a scalar unit.
    pub uniform: bool,
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpKind {
    /// Costs nothing: a renaming, an address that the access computes by itself, a product that is fused into a sum.
    Free,
    /// Computes.
    Compute(Class),
    /// A function of [`Code::names`]: `expf`, `__sinf`, `v_mfma_f32_32x32x8_f16`. With the number of elements at once (1 for scalars).
    Call(u32),
    /// Reads memory; one address is in the trace for each execution.
    Load {
        /// Bytes of each work-item.
        bytes: u32,
    },
    /// Writes memory; one address is in the trace.
    Store {
        /// Bytes of each work-item.
        bytes: u32,
    },
    /// Reads, changes and writes memory at once; one address is in the trace.
    Atomic {
        /// Bytes of each work-item.
        bytes: u32,
        /// Whether the old value is used.
        returns: bool,
        /// Whether it adds, compares, ... floating point.
        float: bool,
        /// Whether it is a compare-and-swap.
        compares: bool,
        /// Whether all work-items bring the same value (`atomicAdd(p, 1)`), so that those on one address can be counted
        /// together.
        same_value: bool,
    },
    /// Waits for the block (`__syncthreads`).
    Barrier,
    /// Orders memory without waiting for others (`__threadfence`).
    Fence,
    /// Exchanges values in a wave (`__shfl*`, `ds_bpermute`, DPP).
    Shuffle,
    /// A predicate of the wave (`__ballot`, `__any`, `__syncwarp`).
    Vote,
    /// Ends the block: a branch or return. `conditional` where it depends on a value.
    Branch {
        /// Whether there is more than one way to go.
        conditional: bool,
    },
}

/// Kinds of computations that devices have different rates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Class {
    /// fp32 add, multiply, fused multiply-add, minimum, maximum.
    Float32,
    /// fp32 division, correctly rounded.
    Divide32,
    /// fp64 add, multiply, fused multiply-add.
    Float64,
    /// fp64 division.
    Divide64,
    /// fp16 or bf16 arithmetic, one element.
    Float16,
    /// Two fp16 elements in one instruction.
    Float16x2,
    /// 32-bit (and narrower) integer add, logic, compare, select, minimum; predicates.
    Int32,
    /// 32-bit integer multiply (and multiply-add).
    Multiply32,
    /// 64-bit integer add, compare, logic.
    Int64,
    /// 64-bit integer multiply.
    Multiply64,
    /// 32-bit shift, bit-field operations, population count's kin.
    Shift32,
    /// 64-bit shift.
    Shift64,
    /// 32-bit integer division or remainder by a value that is not constant.
    IntDivide32,
    /// The same by a value whose reciprocal is there already: divided by before, or outside of the loop.
    IntDivideAgain32,
    /// 64-bit integer division or remainder.
    IntDivide64,
    /// Conversion from integers to floating point, or between widths of floating point.
    Convert,
    /// The same from or to fp64.
    Convert64,
    /// Conversion from floating point to integers; rounding to whole numbers.
    ConvertToInt,
    /// Population count, find first bit, bit reversal.
    BitCount,
    /// The address of an access whose index is computed.
    Address,
    /// Comparison of fp32.
    Compare,
    /// Choice between two values.
    Select,
}
