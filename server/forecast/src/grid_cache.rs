//! What the whole grid reads from and writes to the memory, through the second-level cache.
//!
//! The requests of the sampled blocks stand for those of all others, moved as [`crate::sites`] says. All blocks are passed through
//! a model of the cache in the order in which they run: those that are on the device together are interleaved. So that this is
//! quick, only a part of the lines is followed, chosen by a hash, with the cache smaller by as much.

use crate::device::Device;
use crate::machine::own_scratch;
use crate::sites::{Motion, SiteId, SiteKind, Sites, accesses_of_wave, coordinates};
use crate::trace::{Launch, RegionKind};
use crate::waves::{Access, BlockWork, Geometry, Space};

/// A site's way through the caches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Sectors asked of the second-level cache.
    pub requests: f64,
    /// Those that it did not have.
    pub misses: f64,
    /// Those that the memory-side cache did not have either.
    pub memory_misses: f64,
    /// Those that another block had just asked for: they move nothing, and wait as long as a miss.
    pub late: f64,
}

/// What the grid moves.
#[derive(Clone, Debug, Default)]
pub struct GridTraffic {
    /// By site.
    pub sites: Vec<Traffic>,
    /// The part of it that belongs to the blocks that start with the grid: they find nothing in the caches that others asked for before.
    pub first: Vec<Traffic>,
    /// How many blocks those are.
    pub first_blocks: u64,
    /// Bytes read from the memory.
    pub read_bytes: f64,
    /// What they count as: what is moved at once is paid for as a whole, and more where nothing near is wanted.
    pub read_cost: f64,
    /// Bytes written to it while the grid ran.
    pub written_bytes: f64,
    /// What they count as, with completing sectors that were written in part.
    pub written_cost: f64,
}

/// A request of a sampled block.
#[derive(Clone, Copy)]
struct Request {
    site: SiteId,
    sector: u64,
    /// Words written; 0 for reads.
    words: u8,
    /// Whether the sector is of variables that are no registers: each block on the device has its own.
    scratch: bool,
}

/// At most so many requests are looked at.
const LOOKED_AT: f64 = 3e6;
/// At most so many are followed.
const FOLLOWED: f64 = 2.5e5;
const WAYS: usize = 16;
/// Neighbours of which one comes before this share of the cache is new leave together as well, and the memory does both at once.
const NEAR: f64 = 0.25;
/// Logarithm of the bytes that stay together where a block's addresses are scattered.
const NEIGHBOURHOOD: u32 = 12;

/// Passes the grid through the caches. `together` blocks are on the device at once; each does its work in `turns`, of which one takes
/// about as long as the memory needs to answer. `may` are the traced blocks that may stand for others.
pub fn pass(
    device: &Device,
    sites: &Sites,
    launch: &Launch,
    works: &[BlockWork],
    motions: &[Motion],
    may: &[usize],
    (together, turns): (u64, usize),
) -> GridTraffic {
    let geometry = Geometry::of(device);
    let l1_lines = first_level_lines(device, together);
    let samples: Vec<(u64, Vec<Request>)> =
        works.iter().map(|work| (work.number, requests(sites, work, geometry, l1_lines))).collect();
    let numbers: Vec<u64> = works.iter().map(|work| work.number).collect();
    let mean = may.iter().map(|&place| samples[place].1.len() as f64).sum::<f64>() / may.len().max(1) as f64;
    let none = vec![Traffic::default(); sites.count];
    let mut traffic = GridTraffic { sites: none.clone(), first: none, ..GridTraffic::default() };
    let grid: u64 = launch.grid.iter().map(|&extent| u64::from(extent)).product();
    if mean == 0.0 || grid == 0 {
        return traffic;
    }
    let passed = ((LOOKED_AT / mean) as u64).clamp(together.min(grid), grid);
    let parts = (*device.l2.parts as u64).max(1);
    let line_bytes = *device.l1.line_bytes;
    let lines_of = |bytes: f64| bytes / line_bytes;
    let mut shift = 0;
    while passed as f64 * mean / f64::from(1u32 << shift) > FOLLOWED
        && lines_of(*device.l2.bytes / parts as f64) / f64::from(2u32 << shift) >= 64.0 * WAYS as f64
    {
        shift += 1;
    }
    let scale = f64::from(1u32 << shift);
    let mut caches: Vec<Cache> =
        (0..parts).map(|_| Cache::new(lines_of(*device.l2.bytes / parts as f64) / scale)).collect();
    let mut memory_cache = device.memory_cache.as_ref().map(|cache| Cache::new(lines_of(*cache.bytes) / scale));
    let model = Model { device, movement: Movement { geometry, motions, launch }, scale, kept: scale as u64 - 1 };

    let mut deltas: Vec<Vec<i64>> = Vec::new();
    let mut start = 0;
    // Rates of the second half stand for what is not passed.
    let (mut half, mut at_half) = (0u64, GridTraffic { sites: traffic.sites.clone(), ..GridTraffic::default() });
    while start < passed {
        let end = (start + together).min(passed);
        if half == 0 && start * 2 >= passed && passed < grid {
            half = start;
            at_half = traffic.clone();
            at_half.add(&model.resident(last_caches(&caches, memory_cache.as_ref())));
        }
        deltas.clear();
        let chosen: Vec<usize> = (start..end).map(|block| choose(block, &numbers, may)).collect();
        for (block, &sample) in (start..end).zip(&chosen) {
            deltas.push(model.movement.deltas(samples[sample].0, block));
        }
        for turn in 0..turns {
            for (place, &sample) in chosen.iter().enumerate() {
                let block = start + place as u64;
                let list = &samples[sample].1;
                let part = list.len() * turn / turns..list.len() * (turn + 1) / turns;
                let cache = &mut caches[(block % parts) as usize];
                let now = (start / together) as u32 * turns as u32 + turn as u32;
                for request in &list[part] {
                    // Blocks that take each other's place have the same scratch memory.
                    let sector = if request.scratch {
                        own_scratch(request.sector, place)
                    } else {
                        model.movement.sector(request.site, request.sector, block, deltas[place][request.site as usize])
                    };
                    model.look_up(request, sector, (block, now), cache, memory_cache.as_mut(), &mut traffic);
                }
            }
        }
        if start == 0 {
            (traffic.first, traffic.first_blocks) = (traffic.sites.clone(), end);
        }
        start = end;
    }
    // What is still there was read too, and what was written is written back at some time.
    let last = last_caches(&caches, memory_cache.as_ref());
    let resident = model.resident(last);
    traffic.add(&resident);
    let more = (grid - passed) as f64 / (passed - half) as f64;
    traffic.extend(&at_half, more);
    // But not in the grid's time, as far as the cache holds it when the grid ends.
    let full = last.iter().map(Cache::filled).sum::<f64>() / last.len().max(1) as f64;
    let grown = (grid as f64 / passed as f64).min(1.0 / full.max(f64::MIN_POSITIVE)).max(1.0);
    traffic.written_bytes = (traffic.written_bytes - resident.written_bytes * grown).max(0.0);
    traffic.written_cost = (traffic.written_cost - resident.written_cost * grown).max(0.0);
    traffic
}

/// The caches in front of the memory.
fn last_caches<'a>(caches: &'a [Cache], memory_cache: Option<&'a Cache>) -> &'a [Cache] {
    memory_cache.map_or(caches, std::slice::from_ref)
}

impl GridTraffic {
    /// The way of `block`'s requests at a site.
    pub fn of(&self, site: SiteId, block: u64) -> Traffic {
        let (all, first) = (self.sites[site as usize], self.first[site as usize]);
        if block < self.first_blocks {
            return first;
        }
        Traffic {
            requests: all.requests - first.requests,
            misses: all.misses - first.misses,
            memory_misses: all.memory_misses - first.memory_misses,
            late: all.late - first.late,
        }
    }

    /// Adds the bytes of `other`.
    fn add(&mut self, other: &Self) {
        self.read_bytes += other.read_bytes;
        self.read_cost += other.read_cost;
        self.written_bytes += other.written_bytes;
        self.written_cost += other.written_cost;
    }

    /// Adds what came since `before`, `more` times.
    fn extend(&mut self, before: &Self, more: f64) {
        let add = |now: &mut f64, then: f64| *now += (*now - then) * more;
        for (site, then) in self.sites.iter_mut().zip(&before.sites) {
            add(&mut site.requests, then.requests);
            add(&mut site.misses, then.misses);
            add(&mut site.memory_misses, then.memory_misses);
            add(&mut site.late, then.late);
        }
        add(&mut self.read_bytes, before.read_bytes);
        add(&mut self.read_cost, before.read_cost);
        add(&mut self.written_bytes, before.written_bytes);
        add(&mut self.written_cost, before.written_cost);
    }
}

/// Lines of the first-level cache for each block of a unit.
fn first_level_lines(device: &Device, together: u64) -> usize {
    let of_unit = (together as f64 / *device.units.count).max(1.0);
    ((*device.l1.bytes / *device.l1.line_bytes / of_unit) as usize).max(8)
}

/// Which of the traced blocks stands for `block`: itself, or any of those that may.
pub fn choose(block: u64, numbers: &[u64], may: &[usize]) -> usize {
    numbers.binary_search(&block).unwrap_or_else(|_| may[(hash(block) % may.len() as u64) as usize])
}

fn hash(value: u64) -> u64 {
    let mixed = (value ^ (value >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 32)
}

/// What a block asks of the second-level cache: its waves in turns, through its share of the first-level cache.
fn requests(sites: &Sites, work: &BlockWork, geometry: Geometry, l1_lines: usize) -> Vec<Request> {
    // By the number of the wave's access, so that waves advance together.
    let of_wave = |wave| accesses_of_wave(sites, work, wave).enumerate();
    let mut order: Vec<(usize, (SiteId, &Access))> = work.waves.iter().flat_map(of_wave).collect();
    order.sort_by_key(|(turn, _)| *turn);
    let mut l1 = SmallCache::new(l1_lines);
    let mut list = Vec::new();
    let words = (1u64 << geometry.sector_shift) / 4;
    for (_, (site, access)) in order {
        if !matches!(access.space, Space::Global | Space::Scratch) {
            continue;
        }
        let kind = sites.kinds[site as usize];
        let sectors = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        let scratch = access.space == Space::Scratch;
        let written = (u64::from(access.lanes) * words / u64::from(access.sectors.max(1)))
            .min(words * u64::from(access.ideal) / u64::from(access.sectors.max(1)))
            .clamp(1, words) as u8;
        for &sector in sectors {
            if kind == SiteKind::Store {
                list.push(Request { site, sector, words: written, scratch });
            } else if kind == SiteKind::Atomic || !l1.has(sector, geometry.line_shift) {
                list.push(Request { site, sector, words: 0, scratch });
            }
        }
    }
    list
}

/// How blocks that were not traced touch memory: as a traced one, moved.
pub struct Movement<'a> {
    /// Sectors and lines.
    pub geometry: Geometry,
    /// Of each site.
    pub motions: &'a [Motion],
    /// The grid and where its arrays lie.
    pub launch: &'a Launch,
}

struct Model<'a> {
    device: &'a Device,
    movement: Movement<'a>,
    scale: f64,
    kept: u64,
}

impl Movement<'_> {
    /// By how many bytes each site moves from one block to another.
    pub fn deltas(&self, from: u64, to: u64) -> Vec<i64> {
        let (a, b) = (coordinates(from, self.launch.grid), coordinates(to, self.launch.grid));
        self.motions
            .iter()
            .map(|motion| match motion {
                Motion::Steps { bytes, .. } => (0..3).map(|axis| bytes[axis] * (b[axis] - a[axis])).sum(),
                Motion::Scattered { .. } => i64::from(from != to),
            })
            .collect()
    }

    /// The sector that `block` touches where the traced one touched `sector`; `delta` is the site's.
    pub fn sector(&self, site: SiteId, sector: u64, block: u64, delta: i64) -> u64 {
        if delta == 0 {
            return sector;
        }
        let shift = self.geometry.sector_shift;
        match self.motions[site as usize] {
            Motion::Steps { exact, .. } => {
                let moved = ((sector << shift) as i64).wrapping_add(delta) as u64;
                if exact { moved >> shift } else { self.wrapped(sector << shift, moved) >> shift }
            }
            Motion::Scattered { low, high } => {
                // What lies near each other stays together: blocks that read here and there differ in where, not in how near.
                let kept = NEIGHBOURHOOD - shift;
                let (first, last) = (low >> NEIGHBOURHOOD, high >> NEIGHBOURHOOD);
                let anywhere = first + hash((sector >> kept) ^ hash(block)) % (last.saturating_sub(first) + 1);
                anywhere << kept | sector & ((1 << kept) - 1)
            }
        }
    }

    /// Keeps an address in the allocation that it came from.
    fn wrapped(&self, original: u64, moved: u64) -> u64 {
        let place = self.launch.regions.partition_point(|region| region.end <= original);
        match self.launch.regions.get(place) {
            Some(region) if region.begin <= original && region.kind == RegionKind::Global => {
                let length = (region.end - region.begin) as i64;
                region.begin + (moved as i64).wrapping_sub(region.begin as i64).rem_euclid(length) as u64
            }
            _ => moved,
        }
    }
}

impl Model<'_> {
    fn look_up(
        &self,
        request: &Request,
        sector: u64,
        (block, turn): (u64, u32),
        cache: &mut Cache,
        memory_cache: Option<&mut Cache>,
        traffic: &mut GridTraffic,
    ) {
        let geometry = self.movement.geometry;
        let line = sector >> geometry.line_shift;
        // Lines next to each other are followed together.
        let mixed = hash(line >> 2);
        if mixed & self.kept != 0 {
            return;
        }
        let in_line = (sector & ((1 << geometry.line_shift) - 1)) as u8;
        let words = ((1u32 << geometry.sector_shift) / 4) as u8;
        let site = &mut traffic.sites[request.site as usize];
        site.requests += self.scale;
        cache.turn = (turn, block as u32);
        let (hit, left) = cache.access(line, mixed >> 20, in_line, request.words, words);
        if !hit {
            site.misses += self.scale;
        } else if cache.late {
            site.late += self.scale;
        }
        let Some(memory_cache) = memory_cache else {
            if !hit {
                site.memory_misses += self.scale;
            }
            self.leave(left, words, traffic);
            return;
        };
        if !hit {
            let (hit, left) = memory_cache.access(line, mixed >> 20, in_line, 0, words);
            if !hit {
                traffic.sites[request.site as usize].memory_misses += self.scale;
            }
            self.leave(left, words, traffic);
        }
        if let Some(left) = left {
            for sector in 0..4 {
                if left.words[usize::from(sector)] > 0 {
                    let written = left.words[usize::from(sector)];
                    let (_, left) = memory_cache.access(left.line, mixed >> 20, sector, written, words);
                    self.leave(left, words, traffic);
                }
            }
        }
    }

    /// What the lines in the last caches have cost, and will cost when they are written back.
    fn resident(&self, last: &[Cache]) -> GridTraffic {
        let words = ((1u32 << self.movement.geometry.sector_shift) / 4) as u8;
        let mut traffic = GridTraffic::default();
        for line in last.iter().flat_map(|cache| &cache.entries).filter(|entry| entry.line != u64::MAX) {
            self.leave(Some(*line), words, &mut traffic);
        }
        traffic
    }

    /// A line leaves the last cache: what it cost the memory to bring it, and to write it back.
    fn leave(&self, left: Option<Entry>, whole: u8, traffic: &mut GridTraffic) {
        let Some(left) = left else { return };
        self.count_reads(&left, traffic);
        let sector_bytes = f64::from(whole) * 4.0;
        let dram = &self.device.dram;
        let dirty = (0..4).filter(|&sector| left.words[sector] > 0).fold(0u8, |bits, sector| bits | 1 << sector);
        if dirty == 0 {
            return;
        }
        let accesses = self.accesses(dirty);
        let partial = (0..4)
            .filter(|&sector| left.words[sector] > 0 && left.words[sector] < whole && left.read >> sector & 1 == 0)
            .count() as f64;
        traffic.written_bytes += f64::from(dirty.count_ones()) * sector_bytes * self.scale;
        let (write, fill) = if left.near {
            (*dram.access_bytes, *dram.fill_bytes)
        } else {
            (*dram.isolated_write_bytes, *dram.isolated_fill_bytes)
        };
        let filled = if partial > 0.0 { accesses * fill } else { 0.0 };
        traffic.written_cost += (accesses * write + filled) * self.scale;
    }

    fn count_reads(&self, line: &Entry, traffic: &mut GridTraffic) {
        if line.read == 0 {
            return;
        }
        let dram = &self.device.dram;
        let sector_bytes = f64::from(1u32 << self.movement.geometry.sector_shift);
        traffic.read_bytes += f64::from(line.read.count_ones()) * sector_bytes * self.scale;
        let each = if line.near { *dram.access_bytes } else { *dram.isolated_read_bytes };
        traffic.read_cost += self.accesses(line.read) * each * self.scale;
    }

    /// Accesses of the memory for these sectors of a line.
    fn accesses(&self, sectors: u8) -> f64 {
        let sector_bytes = f64::from(1u32 << self.movement.geometry.sector_shift);
        let together = (*self.device.dram.access_bytes / sector_bytes).max(1.0) as u32;
        let mut count = 0;
        let mut at = 0;
        while at < 4 {
            let mask = ((1u8 << together.min(4)) - 1) << at;
            count += u32::from(sectors & mask != 0);
            at += together;
        }
        f64::from(count)
    }
}

/// A cache with the lines that were used longest ago leaving first.
struct Cache {
    sets: usize,
    entries: Vec<Entry>,
    now: u32,
    /// Lines that have come.
    came: u32,
    /// The turn of the blocks and the block that asks.
    turn: (u32, u32),
    /// Whether what was found had just been asked for by another block.
    late: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    line: u64,
    used: u32,
    valid: u8,
    /// Sectors that were read from beyond.
    read: u8,
    /// Words written of each sector.
    words: [u8; 4],
    /// Whether the line's neighbour came at about the same time.
    near: bool,
    /// How many lines had come before it.
    born: u32,
    /// When sectors were last read from beyond, and by which block.
    fetched: (u32, u32),
}

const EMPTY: Entry =
    Entry { line: u64::MAX, used: 0, valid: 0, read: 0, words: [0; 4], near: false, born: 0, fetched: (u32::MAX, 0) };

impl Cache {
    fn new(lines: f64) -> Self {
        let sets = ((lines / WAYS as f64) as usize).max(1);
        Self { sets, entries: vec![EMPTY; sets * WAYS], now: 0, came: 0, turn: (0, 0), late: false }
    }

    /// Share of the places that are taken.
    fn filled(&self) -> f64 {
        self.entries.iter().filter(|entry| entry.line != u64::MAX).count() as f64 / self.entries.len() as f64
    }

    fn set(&self, line: u64, mixed: u64) -> usize {
        ((mixed + (line & 3) * 0x9e37_79b9) % self.sets as u64) as usize * WAYS
    }

    /// Whether a sector was there, and the line that left for it. `words` are written of the sector's `whole`; 0 is a read.
    fn access(&mut self, line: u64, mixed: u64, sector: u8, words: u8, whole: u8) -> (bool, Option<Entry>) {
        self.now += 1;
        let set = self.set(line, mixed);
        let mut left = None;
        let found = self.entries[set..set + WAYS].iter().position(|entry| entry.line == line);
        let place = set
            + match found {
                Some(place) => place,
                None => {
                    let ways = &self.entries[set..set + WAYS];
                    let oldest = ways.iter().enumerate().min_by_key(|(_, entry)| entry.used).map_or(0, |(at, _)| at);
                    if ways[oldest].line != u64::MAX {
                        left = Some(ways[oldest]);
                    }
                    let other = self.set(line ^ 1, mixed);
                    let together = (self.entries.len() as f64 * NEAR) as u32;
                    let neighbour = self.entries[other..other + WAYS].iter_mut().find(|entry| entry.line == line ^ 1);
                    let neighbour = neighbour.filter(|entry| self.came - entry.born < together);
                    let near = neighbour.is_some();
                    if let Some(neighbour) = neighbour {
                        neighbour.near = true;
                    }
                    self.entries[set + oldest] = Entry { line, near, born: self.came, ..EMPTY };
                    self.came += 1;
                    oldest
                }
            };
        let entry = &mut self.entries[place];
        entry.used = self.now;
        let bit = 1u8 << (sector & 3);
        if words > 0 {
            let count = &mut entry.words[usize::from(sector & 3)];
            *count = count.saturating_add(words).min(whole);
            if *count >= whole {
                entry.valid |= bit;
            }
            self.late = false;
            return (true, left);
        }
        let hit = entry.valid & bit != 0;
        self.late = entry.fetched.0 == self.turn.0 && entry.fetched.1 != self.turn.1;
        if !hit {
            entry.read |= bit;
            entry.valid |= bit;
            entry.fetched = self.turn;
        }
        (hit, left)
    }
}

/// A first-level cache's share: whole lines by age, few of them.
struct SmallCache {
    sets: usize,
    lines: Vec<(u64, u8, u32)>,
    now: u32,
}

const SMALL_WAYS: usize = 8;

impl SmallCache {
    fn new(lines: usize) -> Self {
        let sets = (lines / SMALL_WAYS).max(1);
        Self { sets, lines: vec![(u64::MAX, 0, 0); sets * SMALL_WAYS], now: 0 }
    }

    fn has(&mut self, sector: u64, line_shift: u32) -> bool {
        self.now += 1;
        let line = sector >> line_shift;
        let bit = 1u8 << (sector & ((1 << line_shift) - 1));
        let set = (hash(line) % self.sets as u64) as usize * SMALL_WAYS;
        let ways = &mut self.lines[set..set + SMALL_WAYS];
        if let Some(entry) = ways.iter_mut().find(|entry| entry.0 == line) {
            entry.2 = self.now;
            let hit = entry.1 & bit != 0;
            entry.1 |= bit;
            return hit;
        }
        if let Some(oldest) = ways.iter_mut().min_by_key(|entry| entry.2) {
            *oldest = (line, bit, self.now);
        }
        false
    }
}
