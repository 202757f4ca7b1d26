//! What a traced run recorded: for each launch some blocks, and for each of their work-items the code blocks that it
//! passed and the addresses that it touched.

mod read;

use serde::{Deserialize, Serialize};

use crate::code::BlockId;
pub use read::{ReadError, read};

/// A launch of a kernel; later launches of the same kernel and shape are counted, not traced again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Display name, with template arguments.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a block in x, y, z.
    pub block: [u32; 3],
    /// Shared memory: static (of this kernel's variables that were touched) and dynamic.
    pub dynamic_lds_bytes: u32,
    /// How many launches of this kernel and shape the program made, this one included.
    pub launches: u32,
    /// Whether all blocks were run, so that later launches find what this one should have written.
    pub complete: bool,
    /// Whether a work-item's trace was ended before the work-item: it was longer than there is room for.
    pub cut: bool,
    /// Sampled blocks, in the order in which they were run.
    pub blocks: Vec<TracedBlock>,
    /// Where things are in memory, sorted by address, without overlaps.
    pub regions: Vec<Region>,
}

/// One block of a grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedBlock {
    /// Its number, x fastest.
    pub number: u64,
    /// The trace of each work-item, by its number in the block.
    pub items: Vec<Vec<Event>>,
}

/// One step of a work-item: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event(pub u64);

impl Event {
    const ENTERS: u64 = 1 << 63;

    /// The work-item enters a code block.
    pub fn enter(block: BlockId) -> Self {
        Self(Self::ENTERS | u64::from(block))
    }

    /// The code block that is entered; the addresses of its accesses follow, one event for each in the order of its operations.
    pub fn block(self) -> Option<BlockId> {
        (self.0 & Self::ENTERS != 0).then_some(self.0 as u32)
    }

    /// An access at this address.
    pub fn address(self) -> u64 {
        self.0
    }
}

/// A range of addresses and what lies there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// First address.
    pub begin: u64,
    /// One past the last.
    pub end: u64,
    /// What it is.
    pub kind: RegionKind,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegionKind {
    /// An allocation of global memory, or a `__device__` variable.
    Global,
    /// `__constant__`.
    Constant,
    /// `__shared__`, static or dynamic.
    Shared,
    /// The stacks of the work-items: variables that did not become registers. `item_bytes` from one work-item to the next, beginning
    /// with work-item 0 at `begin`.
    Scratch {
        /// Bytes of one work-item's stack.
        item_bytes: u64,
    },
}
