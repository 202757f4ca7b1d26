//! The figures of a device: what its units do in a cycle, how far its memories are. Data, in `devices/*.toml`, each figure with
//! its source.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::code::Class;

/// A figure and where it is from: a datasheet, a public measurement, or a micro-benchmark of ours.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// In the unit that the field's name and description say.
    pub value: f64,
    /// `datasheet: ...` for the vendor's documents and compiler, `measured publicly: ...`, `micro-benchmark NAME`, `counted: ...` in
    /// generated code, or `assumed: ...` with the reason.
    pub source: String,
}

/// Figures of which a device can have any one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Ascending.
    pub values: Vec<f64>,
    /// As [`Figure::source`].
    pub source: String,
}

impl Steps {
    /// The least that is enough for `needed`, or `needed` itself where none is.
    pub fn least(&self, needed: f64) -> f64 {
        self.values.iter().copied().find(|&value| value >= needed).unwrap_or(needed)
    }
}

impl std::ops::Deref for Figure {
    type Target = f64;
    fn deref(&self) -> &f64 {
        &self.value
    }
}

/// A device. A "unit" is a streaming multiprocessor (NVIDIA) or a compute unit (AMD); a "partition" is one of the four schedulers or
/// SIMDs in it, to which a wave belongs. Cycles are those of the units' clock.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// As on the command line: `mi300x`.
    pub name: String,
    /// As shown: `MI300X`.
    pub title: String,
    /// What a forecast for it has been compared with.
    pub validation: Validation,
    /// Work-items of a wave.
    pub wave: u32,
    /// What its code is optimised for.
    pub compiler: Compiler,
    /// How many units, how fast, what fits.
    pub units: Units,
    /// Issue and pipes.
    pub issue: Issue,
    /// What each kind of computation costs.
    pub class: BTreeMap<String, Cost>,
    /// What each named function costs.
    pub function: BTreeMap<String, Cost>,
    /// Shared memory.
    pub lds: Lds,
    /// The first-level cache and the path to it.
    pub l1: L1,
    /// The second-level cache.
    pub l2: L2,
    /// The memory-side cache, where there is one.
    pub memory_cache: Option<MemoryCache>,
    /// The memory.
    pub dram: Dram,
    /// Atomic operations on global memory.
    pub atomics: Atomics,
    /// Starting kernels and blocks.
    pub start: Start,
}

/// Whether forecasts of a device were compared with measurements.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// Against times on such a device.
    Measured,
    /// Against no device: the method is that of the measured one, the figures are this device's.
    None,
}

/// The target whose cost model the optimiser uses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compiler {
    /// `nvptx64-nvidia-cuda` or `amdgcn-amd-amdhsa`.
    pub triple: String,
    /// `sm_90`, `gfx942`.
    pub cpu: String,
}

/// Units and what their resources limit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// How many.
    pub count: Figure,
    /// Clock in Hz under load.
    pub clock_hz: Figure,
    /// Clock in Hz while all matrix cores are busy, where power does not allow [`Self::clock_hz`] then.
    pub matrix_clock_hz: Option<Figure>,
    /// Schedulers or SIMDs of a unit.
    pub partitions: Figure,
    /// Waves that can be resident on a unit.
    pub waves: Figure,
    /// Blocks that can be resident on a unit.
    pub blocks: Figure,
    /// The same for blocks of one wave, where that is more.
    pub single_wave_blocks: Option<Figure>,
    /// Registers of a partition for each lane of a wave.
    pub registers: Figure,
    /// A wave gets a multiple of this many.
    pub register_granule: Figure,
    /// Most registers of a work-item.
    pub registers_of_item: Figure,
    /// Bytes of shared memory of a unit.
    pub lds_bytes: Figure,
    /// Bytes that each block takes besides its own.
    pub lds_reserved_bytes: Figure,
    /// Rounds of blocks after which a last round that does not fill the device is spread evenly over the units, where blocks wait for
    /// memory. With fewer, units that are done a little earlier than others take as many of its blocks as they can hold.
    pub rounds_until_even: Option<Figure>,
}

/// How instructions leave.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// Cycles between two instructions of one partition.
    pub cycles: Figure,
    /// Cycles between two instructions of one wave, at least.
    pub wave_cycles: Figure,
    /// Whether there is a scalar unit that uniform integer work goes to.
    pub scalar_unit: bool,
    /// Whether instructions of different kinds (vector, scalar, memory, shared memory, branch) leave at once, from
    /// different waves of a partition.
    #[serde(default)]
    pub kinds_together: bool,
    /// Whether all pipes but the matrix cores are one: an instruction keeps the others' from starting.
    #[serde(default)]
    pub one_vector_pipe: bool,
    /// Cycles after which a barrier's waves go on, once the last has arrived.
    pub barrier_cycles: Figure,
    /// Cycles of the exchange pipe for one shuffle of a wave.
    pub shuffle_cycles: Figure,
    /// Cycles until a shuffled value is there.
    pub shuffle_latency: Figure,
    /// Cycles of a conditional branch that all work-items provably take or not.
    pub branch_latency: Figure,
    /// Cycles of one that they may take differently.
    pub divergent_branch_latency: Figure,
    /// Instructions that the compiler looks ahead for what can be issued while results are awaited, loads of memory apart;
    /// without it, all of a block.
    pub lookahead: Option<Figure>,
}

/// Where a computation goes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    /// fp32.
    Fp,
    /// Integers.
    Int,
    /// Reciprocals, roots, exponentials.
    Special,
    /// fp64.
    Fp64,
    /// fp16.
    Fp16,
    /// Matrix instructions.
    Matrix,
}

/// What an operation costs a wave.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The pipe that limits it.
    pub pipe: Pipe,
    /// Cycles that it keeps the pipe of its partition.
    pub cycles: f64,
    /// Instructions that it issues.
    pub instructions: f64,
    /// Cycles until the result can be used.
    pub latency: f64,
    /// Whether the partition computes nothing else meanwhile (matrix instructions).
    #[serde(default)]
    pub alone: bool,
    /// Where the figures are from.
    pub source: String,
}

/// Shared memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lds {
    /// Banks of 4 bytes.
    pub banks: Figure,
    /// Cycles until a value is there, without conflicts.
    pub latency: Figure,
    /// Cycles that one access without conflicts keeps the unit's pipe, for each 128 bytes.
    pub cycles: Figure,
    /// Cycles more for each further way of a conflict.
    pub conflict_cycles: Figure,
    /// Cycles more that a wave's store takes, where its addresses go the way of its data.
    pub store_cycles: Option<Figure>,
    /// Bytes that one pair of partitions reads in a cycle, where that is less than the banks give.
    pub pair_bytes_per_cycle: Option<Figure>,
    /// Work-items that are served together in loads of 16 bytes, where they are not next to each other.
    pub load16_groups: Option<LaneGroups>,
    /// Cycles of an atomic for each lane on the same address.
    pub atomic_same_cycles: Figure,
    /// Cycles of an atomic without conflicts.
    pub atomic_cycles: Figure,
    /// The same two for floating point.
    pub atomic_float_same_cycles: Figure,
    /// Without conflicts.
    pub atomic_float_cycles: Figure,
    /// Cycles until the old value is there.
    pub atomic_latency: Figure,
    /// What those cost that are loops of compare-and-swap.
    pub retried: Option<RetriedShared>,
}

/// Sums of floating-point numbers in shared memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetriedSum {
    /// Cycles of the unit's pipe for each pass of the banks.
    pub cycles: Figure,
    /// Cycles from one sum at an address to the next one there.
    pub window_cycles: Figure,
}

/// Atomics of shared memory that are tried until no other has changed the value meanwhile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetriedShared {
    /// Of sums of floating-point numbers, where those are such loops.
    pub sum: Option<RetriedSum>,
    /// Cycles of the unit's pipe for each pass of the banks, of a compare-and-swap.
    pub swap_cycles: Figure,
    /// Cycles from one successful compare-and-swap at an address to the next one there.
    pub swap_window_cycles: Figure,
    /// Cycles that a wave's turn of the loop takes.
    pub turn_cycles: Figure,
}

/// Which work-items of a wave are served together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneGroups {
    /// Each work-item is in one group.
    pub lanes: Vec<Vec<u8>>,
    /// Where this is from.
    pub source: String,
}

/// The first-level cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1 {
    /// Bytes.
    pub bytes: Figure,
    /// Whether shared memory is taken out of it.
    pub shared_with_lds: bool,
    /// Bytes of a line, which has one tag.
    pub line_bytes: Figure,
    /// Bytes that are fetched at once.
    pub sector_bytes: Figure,
    /// Bytes that are written at once, where that is less.
    pub store_sector_bytes: Option<Figure>,
    /// Cycles until a hit's value is there.
    pub latency: Figure,
    /// Cycles that an access keeps the pipe at least.
    pub access_cycles: Figure,
    /// Cycles for each line that a load touches.
    pub line_cycles: Figure,
    /// Bytes that go to the registers in a cycle.
    pub bytes_per_cycle: Figure,
    /// The same for loads of 8 bytes, where that is less.
    pub eight_byte_bytes_per_cycle: Option<Figure>,
    /// Work-items that are served in a cycle where neighbours do not read next to each other.
    pub scattered_items_per_cycle: Option<Figure>,
    /// Banks of 4 bytes that those work-items share: of equal ones each takes a cycle.
    pub scattered_banks: Option<Figure>,
    /// Cycles for each line that a store touches.
    pub store_line_cycles: Figure,
    /// Cycles for each sector that a store touches.
    pub store_sector_cycles: Figure,
    /// The same two where sectors are written in part.
    pub partial_store_line_cycles: Figure,
    /// For each sector.
    pub partial_store_sector_cycles: Figure,
    /// Whether its data lie in the banks of shared memory, with the same conflicts.
    pub banked: bool,
    /// Cycles that a load keeps the pipe at least when it misses.
    pub miss_cycles: Figure,
    /// Cycles for each line that is missing.
    pub miss_line_cycles: Figure,
    /// Bytes of it that shared memory can get, where it is taken out of it: the least of these that holds what the resident blocks need.
    pub lds_steps: Option<Steps>,
    /// The part of its lines that can be on their way at once, where a line has its place before it comes.
    pub lines_on_their_way: Option<Figure>,
    /// Whether shared memory and the cache share one pipe.
    pub one_pipe_with_lds: bool,
    /// Cycles of a constant's load for each different address; uniform ones count as computation's operands.
    pub constant_cycles: Figure,
    /// Cycles until a constant is there.
    pub constant_latency: Figure,
    /// Caches of their own that constants have, where they do: the nearer and the farther.
    pub constant_caches: Option<ConstantCaches>,
    /// Stores that go on together, where there are such.
    pub combined_stores: Option<CombinedStores>,
}

/// A wave's store right behind one of its own to the same lines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinedStores {
    /// Lines that they touch at most.
    pub lines: Figure,
    /// Cycles from one to the other at most.
    pub window_cycles: Figure,
    /// Cycles that the second keeps the pipe.
    pub cycles: Figure,
}

/// Caches of constants. What neither has comes from the second-level cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCaches {
    /// Bytes of a line of both.
    pub line_bytes: Figure,
    /// Bytes of the nearer.
    pub near_bytes: Figure,
    /// Bytes of the farther.
    pub far_bytes: Figure,
    /// Cycles that the port is taken for a line that the nearer does not have, where all work-items want one place.
    pub miss_cycles: Figure,
    /// The same for each line, where work-items want different places.
    pub scattered_miss_cycles: Figure,
    /// Cycles until a constant is there that only the farther has.
    pub far_latency: Figure,
}

/// The second-level cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Bytes of all, that one address can use.
    pub bytes: Figure,
    /// Separate caches: blocks are dealt out to them in turn.
    pub parts: Figure,
    /// Channels of all parts, where they are known.
    pub channels: Option<Figure>,
    /// Bytes that a channel can read in a cycle.
    pub channel_bytes_per_cycle: Option<Figure>,
    /// Cycles until a hit's value is there.
    pub latency: Figure,
    /// Bytes that one unit gets in a cycle, at most.
    pub unit_bytes_per_cycle: Figure,
    /// Bytes that one unit can write in a cycle, at most.
    pub unit_write_bytes_per_cycle: Figure,
    /// Bytes that all units together read in a cycle.
    pub bytes_per_cycle: Figure,
    /// Bytes that all units together write in a cycle, in whole sectors.
    pub write_bytes_per_cycle: Figure,
    /// Bytes that a request for sectors of one line counts as at least.
    pub request_bytes: Figure,
    /// Bytes that each line of a write counts as, besides those of its sectors.
    pub write_line_bytes: Figure,
    /// The same where sectors are written in part.
    pub partial_write_line_bytes: Figure,
}

/// A cache in front of the memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryCache {
    /// Bytes.
    pub bytes: Figure,
    /// Cycles until a hit's value is there.
    pub latency: Figure,
    /// Bytes a second.
    pub bytes_per_second: Figure,
}

/// The memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Cycles until a value is there.
    pub latency: Figure,
    /// Bytes a second of reads.
    pub read_bytes_per_second: Figure,
    /// Bytes a second of writes.
    pub write_bytes_per_second: Figure,
    /// Bytes that are moved at once: less costs as much.
    pub access_bytes: Figure,
    /// Cycles more until a value is there, times u²/(1-u) where u is the share of the memory's time that is used.
    pub crowding_cycles: Figure,
    /// How many times more that is where reads and writes are mixed half and half.
    pub turning: Figure,
    /// Bytes that such an access counts as where nothing near it is read meanwhile.
    pub isolated_read_bytes: Figure,
    /// The same for writes.
    pub isolated_write_bytes: Figure,
    /// Bytes that completing a sector counts as that was written in part.
    pub fill_bytes: Figure,
    /// The same where nothing near it is written meanwhile.
    pub isolated_fill_bytes: Figure,
}

/// Atomics on global memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atomics {
    /// Cycles of the whole device for a wave's operation of integers on one address, where the compiler or the hardware sums first.
    pub uniform_cycles: Figure,
    /// Cycles of the whole device from one lane's operation on an address to the next one's on the same.
    pub same_address_cycles: Figure,
    /// The same for floating point.
    pub float_same_address_cycles: Figure,
    /// Parts of the cache that serve an aligned KiB, by turns of 256 bytes.
    pub parts_of_kib: Figure,
    /// Cycles of the whole device from one sector's operation to the next one's in the same part, on different addresses.
    pub same_part_cycles: Figure,
    /// Sectors' operations that the whole device does in a cycle.
    pub sectors_per_cycle: Figure,
    /// Cycles that a wave's atomic keeps its unit's pipe, for each sector.
    pub sector_cycles: Figure,
    /// The same for each lane, where each has a sector of its own.
    pub lane_cycles: Figure,
    /// Cycles until the old value is there.
    pub latency: Figure,
    /// What loops of compare-and-swap cost.
    pub retried: Option<RetriedGlobal>,
}

/// Loops of compare-and-swap on global memory, as far as others want the same address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetriedGlobal {
    /// Tries for each success, for each work-item on the device that wants the same address.
    pub attempts: Figure,
    /// The same where a part of the cache has more to do than it can: more than one succeeds while all have one try.
    pub part_attempts: Figure,
    /// Cycles from one success at an address to the next one there.
    pub window_cycles: Figure,
}

/// Starting.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Seconds between two events around an empty kernel.
    pub launch_seconds: Figure,
    /// Cycles from a block's dispatch to its first instruction.
    pub block_cycles: Figure,
    /// Instructions that a wave issues before its kernel's own: where it stands, the arguments.
    pub prologue_instructions: Figure,
    /// Cycles that these take.
    pub prologue_cycles: Figure,
    /// Cycles from a block's end until the one in its place runs.
    pub turnaround_cycles: Figure,
    /// The same where the block that ended has written to memory.
    pub turnaround_after_store_cycles: Figure,
    /// Cycles between two blocks' starts on one unit, for each wave.
    pub wave_cycles: Figure,
    /// Blocks that the device starts in a cycle.
    pub blocks_per_cycle: Figure,
}

/// The tables that ship with the crate.
const TABLES: [(&str, &str); 5] = [
    ("h200", include_str!("../devices/h200.toml")),
    ("mi300x", include_str!("../devices/mi300x.toml")),
    ("mi325x", include_str!("../devices/mi325x.toml")),
    ("mi300a", include_str!("../devices/mi300a.toml")),
    ("mi250x", include_str!("../devices/mi250x.toml")),
];

/// A device that is not there, or a table that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// No such table.
    #[error("no forecast for \"{name}\": the devices are {}", known().join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A table is not well formed.
    #[error("the table of {name}: {message}")]
    Table {
        /// The device.
        name: String,
        /// What is wrong, with its line.
        message: String,
    },
}

/// Names of the devices.
pub fn known() -> Vec<&'static str> {
    TABLES.iter().map(|(name, _)| *name).collect()
}

impl Device {
    /// The table of `name`, in any case of letters.
    pub fn named(name: &str) -> Result<Self, DeviceError> {
        let wanted = name.to_lowercase();
        let (name, text) = TABLES
            .iter()
            .find(|(known, _)| *known == wanted)
            .ok_or_else(|| DeviceError::Unknown { name: name.to_owned() })?;
        Self::from_table(name, text)
    }

    /// The table of `name` as it ships, of which a version can be told.
    pub fn table(name: &str) -> Option<&'static str> {
        let wanted = name.to_lowercase();
        TABLES.iter().find(|(known, _)| *known == wanted).map(|(_, text)| *text)
    }

    /// Reads a table.
    pub fn from_table(name: &str, text: &str) -> Result<Self, DeviceError> {
        toml::from_str(text).map_err(|error| DeviceError::Table { name: name.to_owned(), message: error.to_string() })
    }

    /// What a kind of computation costs.
    pub fn cost(&self, class: Class) -> Option<&Cost> {
        self.class.get(&format!("{class:?}"))
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
