//! From the traces of single work-items to what a wave does: its work-items pass the same code together and touch memory
//! in one access.
//!
//! Where they part, those at the earliest code (in reverse post-order) go first, as on the hardware: branches rejoin
//! where their ways meet, and work-items that left a loop wait for the others behind it.

use crate::code::{BlockId, Code, OpKind};
use crate::device::Device;
use crate::trace::{Event, Launch, Region, RegionKind, TracedBlock};

/// What one block of work-items does.
#[derive(Clone, Debug, Default)]
pub struct BlockWork {
    /// Its number in the grid.
    pub number: u64,
    /// Its waves.
    pub waves: Vec<WaveWork>,
    /// Sectors of the accesses: addresses divided by the sector's size, each access's ascending.
    pub sectors: Vec<u64>,
    /// Of the accesses of all waves.
    pub accesses: Vec<Access>,
    /// Addresses in global memory that were compared and swapped.
    pub swapped: Vec<u64>,
}

/// What a wave does.
#[derive(Clone, Debug, Default)]
pub struct WaveWork {
    /// Code blocks, in order.
    pub steps: Vec<Step>,
}

/// A wave passes a code block.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Which.
    pub block: BlockId,
    /// The first of its accesses in [`BlockWork::accesses`]; the others follow.
    pub access: u32,
    /// How many work-items take part.
    pub lanes: u8,
}

/// One access of a wave to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What is accessed.
    pub space: Space,
    /// Work-items that take part.
    pub lanes: u8,
    /// The first in [`BlockWork::sectors`].
    pub first: u32,
    /// How many sectors.
    pub sectors: u16,
    /// Sectors that the same bytes would need if they lay next to each other.
    pub ideal: u16,
    /// Lines of the cache.
    pub lines: u16,
    /// Passes that the banks need (those without conflicts in shared memory: `ideal`). Constants: different addresses. Atomics on global
    /// memory: the most work-items on one address. Loads and stores of it, where the device takes scattered work-items few at a time:
    /// the cycles that their addresses take.
    pub passes: u16,
    /// Pieces of [`Device::l1`]'s `store_sector_bytes` that a store to global memory touches, where the device has those. Atomics on
    /// global memory: the most work-items on one address of each sector, summed.
    pub pieces: u16,
    /// Bytes of a work-item.
    pub bytes: u8,
    /// The first work-item's address.
    pub address: u64,
    /// The highest address.
    pub last: u64,
}

/// Kinds of memory, as far as their costs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Global memory.
    Global,
    /// Constants.
    Constant,
    /// Shared memory.
    Shared,
    /// Variables that are no registers, interleaved so that work-items next to each other lie next to each other.
    Scratch,
}

/// How a device's accesses are cut.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Work-items of a wave.
    pub wave: usize,
    /// Logarithm of the bytes of a sector.
    pub sector_shift: u32,
    /// Logarithm of the sectors of a line.
    pub line_shift: u32,
    /// Banks of shared memory.
    pub banks: u32,
    /// For each work-item the group of [`crate::device::LaneGroups`] in loads of 16 bytes, and how many groups there are.
    pub load16: Option<([u8; 64], u8)>,
    /// Scattered work-items that are served in a cycle, and the banks that they share.
    pub scattered: Option<(u32, u32)>,
    /// Logarithm of the bytes that are written at once, where that is less than a sector.
    pub piece_shift: Option<u32>,
}

impl Geometry {
    /// Of a device.
    pub fn of(device: &Device) -> Self {
        let sector_shift = (*device.l1.sector_bytes as u64).ilog2();
        Self {
            wave: device.wave as usize,
            sector_shift,
            line_shift: (*device.l1.line_bytes as u64).ilog2() - sector_shift,
            banks: *device.lds.banks as u32,
            load16: device.lds.load16_groups.as_ref().map(|groups| {
                let mut of = [0; 64];
                for (group, lanes) in groups.lanes.iter().enumerate() {
                    for &lane in lanes {
                        of[usize::from(lane) % 64] = group as u8;
                    }
                }
                (of, groups.lanes.len() as u8)
            }),
            scattered: device.l1.scattered_items_per_cycle.as_ref().map(|items| {
                let banks = device.l1.scattered_banks.as_ref().map_or(1.0, |banks| **banks);
                (**items as u32, banks as u32)
            }),
            piece_shift: device.l1.store_sector_bytes.as_ref().map(|bytes| (**bytes as u64).ilog2()),
        }
    }
}

/// Puts the waves of a traced block together.
pub fn of_block(code: &Code, launch: &Launch, traced: &TracedBlock, geometry: Geometry) -> BlockWork {
    let mut maker = Maker {
        code,
        regions: &launch.regions,
        last_region: 0,
        geometry,
        work: BlockWork { number: traced.number, ..BlockWork::default() },
        scratch: Vec::new(),
    };
    for (number, items) in traced.items.chunks(geometry.wave).enumerate() {
        maker.wave(items, number);
    }
    maker.work
}

/// What an access does to what it finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Adds the same to each address: equal addresses are one.
    Counts,
    /// Any other atomic operation: equal addresses one after another.
    Updates,
    /// A sum of floating-point numbers.
    Sums,
    /// Compares and swaps: the part of a loop that is gone through until no other has changed the value meanwhile.
    Swaps,
}

impl Does {
    fn is_atomic(self) -> bool {
        !matches!(self, Self::Reads | Self::Writes)
    }
}

struct Maker<'a> {
    code: &'a Code,
    regions: &'a [Region],
    last_region: usize,
    geometry: Geometry,
    work: BlockWork,
    scratch: Vec<u64>,
}

/// A work-item on its way: its number in the wave, and how far it is in its events.
struct Lane<'a> {
    events: &'a [Event],
    at: usize,
}

impl Lane<'_> {
    fn next(&self) -> Option<BlockId> {
        // Addresses that no operation claims can only be the end of a trace that was cut.
        self.events.get(self.at).and_then(|event| event.block())
    }
}

impl Maker<'_> {
    fn wave(&mut self, items: &[Vec<Event>], number: usize) {
        let mut lanes: Vec<Lane> = items.iter().map(|events| Lane { events, at: 0 }).collect();
        let mut wave = WaveWork::default();
        let mut group: Vec<u8> = Vec::with_capacity(lanes.len());
        let mut addresses: Vec<u64> = Vec::with_capacity(lanes.len());
        loop {
            group.clear();
            let mut earliest = BlockId::MAX;
            for (lane, state) in lanes.iter().enumerate() {
                let Some(block) = state.next() else { continue };
                if block < earliest {
                    earliest = block;
                    group.clear();
                }
                if block == earliest {
                    group.push(lane as u8);
                }
            }
            if group.is_empty() {
                break;
            }
            let step = Step { block: earliest, access: self.work.accesses.len() as u32, lanes: group.len() as u8 };
            wave.steps.push(step);
            for &lane in &group {
                lanes[usize::from(lane)].at += 1;
            }
            let Some(block) = self.code.blocks.get(earliest as usize) else { continue };
            for op in &block.ops {
                let (bytes, does) = match op.kind {
                    OpKind::Load { bytes } => (bytes, Does::Reads),
                    OpKind::Store { bytes } => (bytes, Does::Writes),
                    OpKind::Atomic { bytes, compares: true, .. } => (bytes, Does::Swaps),
                    OpKind::Atomic { bytes, float: true, .. } => (bytes, Does::Sums),
                    OpKind::Atomic { bytes, same_value, .. } => {
                        (bytes, if same_value { Does::Counts } else { Does::Updates })
                    }
                    _ => continue,
                };
                addresses.clear();
                for &lane in &group {
                    let state = &mut lanes[usize::from(lane)];
                    if let Some(event) = state.events.get(state.at)
                        && event.block().is_none()
                    {
                        addresses.push(event.address());
                        state.at += 1;
                    }
                }
                self.access(&addresses, &group, bytes, does, number);
            }
        }
        self.work.waves.push(wave);
    }

    fn region(&mut self, address: u64) -> Option<&Region> {
        let holds = |region: &Region| region.begin <= address && address < region.end;
        if !self.regions.get(self.last_region).is_some_and(holds) {
            let next = self.regions.partition_point(|region| region.end <= address);
            self.last_region = next;
        }
        self.regions.get(self.last_region).filter(|region| holds(region))
    }

    fn access(&mut self, addresses: &[u64], group: &[u8], bytes: u32, does: Does, wave: usize) {
        let first = self.work.sectors.len() as u32;
        let mut access = Access {
            space: Space::Global,
            lanes: addresses.len() as u8,
            first,
            sectors: 0,
            ideal: 0,
            lines: 0,
            passes: 0,
            pieces: 0,
            bytes: bytes as u8,
            address: addresses.first().copied().unwrap_or_default(),
            last: addresses.iter().copied().max().unwrap_or_default(),
        };
        if addresses.is_empty() {
            self.work.accesses.push(access);
            return;
        }
        let kind = self.region(addresses[0]).map(|region| (region.kind, region.begin));
        match kind {
            Some((RegionKind::Shared, _)) => {
                access.space = Space::Shared;
                (access.passes, access.ideal) = match self.geometry.load16 {
                    Some((groups, count)) if bytes == 16 && does == Does::Reads => {
                        self.grouped_passes(addresses, group, &groups, count)
                    }
                    _ => self.bank_passes(addresses, bytes, does.is_atomic() && does != Does::Counts),
                };
                access.sectors = 0;
                if matches!(does, Does::Sums | Does::Swaps) {
                    self.work.sectors.extend(addresses);
                    access.pieces = addresses.len() as u16;
                }
            }
            Some((RegionKind::Constant, _)) => {
                access.space = Space::Constant;
                let words = distinct(&mut self.scratch, addresses.iter().copied());
                access.passes = words as u16;
                access.ideal = 1;
            }
            Some((RegionKind::Scratch { item_bytes }, begin)) => {
                access.space = Space::Scratch;
                // Word by word, work-items next to each other.
                let wave_items = self.geometry.wave as u64;
                let base = (1 << 46) + wave as u64 * item_bytes * wave_items;
                let interleaved: Vec<u64> = addresses
                    .iter()
                    .zip(group)
                    .map(|(address, &lane)| {
                        let offset = (address - begin) % item_bytes.max(1);
                        base + offset / 4 * 4 * wave_items + u64::from(lane) * 4
                    })
                    .collect();
                let words = u64::from(bytes.div_ceil(4).max(1));
                for address in interleaved {
                    for word in 0..words {
                        self.work.sectors.push((address + word * 4 * wave_items) >> self.geometry.sector_shift);
                    }
                }
                self.finish_sectors(&mut access, addresses.len() as u64 * words * 4);
            }
            Some((RegionKind::Global, _)) | None => {
                let shift = self.geometry.sector_shift;
                for &address in addresses {
                    let last = (address + u64::from(bytes) - 1) >> shift;
                    let mut sector = address >> shift;
                    while sector <= last {
                        if self.work.sectors.len() == first as usize || self.work.sectors.last() != Some(&sector) {
                            self.work.sectors.push(sector);
                        }
                        sector += 1;
                    }
                }
                self.finish_sectors(&mut access, addresses.len() as u64 * u64::from(bytes));
                access.passes = match (does, self.geometry.scattered) {
                    (does, _) if does.is_atomic() => most_equal(&mut self.scratch, addresses) as u16,
                    (_, Some((items, banks))) => address_cycles(addresses, group, u64::from(bytes), items, banks),
                    (_, None) => self.bank_passes(addresses, bytes, false).0,
                };
                if does == Does::Swaps {
                    self.work.swapped.extend(addresses);
                }
                if does.is_atomic() {
                    access.pieces = most_equal_of_sectors(&mut self.scratch, addresses, shift) as u16;
                }
                if let Some(shift) = self.geometry.piece_shift
                    && does == Does::Writes
                {
                    let ends = addresses.iter().flat_map(|address| [*address, address + u64::from(bytes) - 1]);
                    access.pieces = distinct(&mut self.scratch, ends.map(|end| end >> shift)) as u16;
                }
            }
        }
        self.work.accesses.push(access);
    }

    /// Sorts the sectors that were added and counts them.
    fn finish_sectors(&mut self, access: &mut Access, bytes: u64) {
        let first = access.first as usize;
        let added = &mut self.work.sectors[first..];
        if !added.is_sorted() {
            added.sort_unstable();
        }
        let mut kept = first;
        for at in first..self.work.sectors.len() {
            if at == first || self.work.sectors[at] != self.work.sectors[kept - 1] {
                self.work.sectors[kept] = self.work.sectors[at];
                kept += 1;
            }
        }
        self.work.sectors.truncate(kept);
        let line_shift = self.geometry.line_shift;
        let sectors = &self.work.sectors[first..];
        access.sectors = sectors.len() as u16;
        access.lines = sectors.chunk_by(|one, other| one >> line_shift == other >> line_shift).count() as u16;
        let ideal = bytes.div_ceil(1 << self.geometry.sector_shift);
        access.ideal = (ideal as u16).clamp(1, access.sectors.max(1));
    }

    /// Passes that the banks need for these addresses, and those that they would need without conflicts. Work-items are
    /// served in groups that could fill all banks once; equal words of one group are served together, except by atomics.
    fn bank_passes(&mut self, addresses: &[u64], bytes: u32, atomic: bool) -> (u16, u16) {
        let banks = self.geometry.banks;
        let words = bytes.div_ceil(4).max(1);
        let wave = self.geometry.wave;
        if wave == 32 && words > 1 {
            // Halves of the wave one after another, quarters for 16 bytes; two of those at once where work-items next to each other,
            // or next but one, want the same (measured on an H200).
            let equal = |apart: usize| {
                (0..addresses.len())
                    .all(|lane| addresses.get(lane ^ apart).is_none_or(|other| *other == addresses[lane]))
            };
            let alone = (wave / words as usize).max(8);
            let together = if equal(1) || equal(2) { 2 * alone } else { alone };
            let passes =
                addresses.chunks(together).map(|part| self.passes_of(part.iter().copied(), words, atomic)).sum::<u16>();
            let ideal = (addresses.len() as u32 * words).div_ceil(banks) as u16;
            return (passes, ideal.min(passes));
        }
        let together = ((banks / words).max(1) as usize).min(wave);
        let (mut passes, mut ideal) = (0u16, 0u16);
        for group in addresses.chunks(together) {
            passes += self.passes_of(group.iter().copied(), words, atomic);
            ideal += 1;
        }
        (passes, ideal)
    }

    /// The same for loads of 16 bytes, of which work-items are served together that are not next to each other.
    fn grouped_passes(&mut self, addresses: &[u64], lanes: &[u8], groups: &[u8; 64], count: u8) -> (u16, u16) {
        let (mut passes, mut ideal) = (0u16, 0u16);
        for group in 0..count {
            let members = addresses.iter().zip(lanes).filter(|(_, lane)| groups[usize::from(**lane) % 64] == group);
            let most = self.passes_of(members.map(|(address, _)| *address), 4, false);
            passes += most;
            ideal += u16::from(most > 0);
        }
        (passes, ideal)
    }

    /// The most words in one bank, of work-items that are served together.
    fn passes_of(&mut self, group: impl Iterator<Item = u64>, words: u32, atomic: bool) -> u16 {
        let banks = u64::from(self.geometry.banks);
        self.scratch.clear();
        self.scratch.extend(group.flat_map(|address| (0..u64::from(words)).map(move |word| (address >> 2) + word)));
        if !atomic {
            self.scratch.sort_unstable();
            self.scratch.dedup();
        }
        let mut counts = [0u16; 64];
        for word in &self.scratch {
            counts[(word % banks) as usize] += 1;
        }
        counts.into_iter().max().unwrap_or_default()
    }
}

/// Cycles that the addresses of an access to global memory take: a row of work-items (four times `items`) whose bytes lie together
/// takes one; of others each half whose bytes do; of what remains `items` at a time, once for each word of theirs in the same bank.
fn address_cycles(addresses: &[u64], lanes: &[u8], bytes: u64, items: u32, banks: u32) -> u16 {
    let together = |part: &[u64]| {
        let low = part.iter().min().copied().unwrap_or_default();
        let high = part.iter().max().copied().unwrap_or_default();
        high + bytes - low <= bytes * part.len() as u64
    };
    let mut rest = addresses;
    let mut cycles = 0;
    for row in lanes.chunk_by(|one, other| u32::from(*one) / (4 * items) == u32::from(*other) / (4 * items)) {
        let (row, after) = rest.split_at(row.len().min(rest.len()));
        rest = after;
        if together(row) {
            cycles += 1;
            continue;
        }
        for half in row.chunks(2 * items as usize) {
            if together(half) {
                cycles += 1;
                continue;
            }
            for few in half.chunks(items as usize) {
                cycles += if bytes <= 4 { most_in_a_bank(few, u64::from(banks)) } else { 1 };
            }
        }
    }
    cycles
}

/// The most different words of `few` work-items that lie in one of the banks.
fn most_in_a_bank(few: &[u64], banks: u64) -> u16 {
    let word = |at: usize| few[at] >> 2;
    let first = |at: &usize| (0..*at).all(|before| word(before) != word(*at));
    let of_bank = |bank| (0..few.len()).filter(first).filter(|at| word(*at) % banks == bank).count();
    (0..banks).map(of_bank).max().unwrap_or_default().max(1) as u16
}

fn distinct(scratch: &mut Vec<u64>, values: impl Iterator<Item = u64>) -> usize {
    scratch.clear();
    scratch.extend(values);
    scratch.sort_unstable();
    scratch.dedup();
    scratch.len()
}

fn most_equal(scratch: &mut Vec<u64>, values: &[u64]) -> usize {
    scratch.clear();
    scratch.extend_from_slice(values);
    scratch.sort_unstable();
    scratch.chunk_by(|one, other| one == other).map(<[u64]>::len).max().unwrap_or_default()
}

/// The same within each sector, summed.
fn most_equal_of_sectors(scratch: &mut Vec<u64>, values: &[u64], shift: u32) -> usize {
    scratch.clear();
    scratch.extend_from_slice(values);
    scratch.sort_unstable();
    let most = |sector: &[u64]| sector.chunk_by(|one, other| one == other).map(<[u64]>::len).max().unwrap_or_default();
    scratch.chunk_by(|one, other| one >> shift == other >> shift).map(most).sum()
}
