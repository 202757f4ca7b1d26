//! From a traced launch to a time and what it is made of.

use std::collections::BTreeMap;

use crate::account::{self, Line};
use crate::code::Code;
use crate::device::Device;
use crate::grid_cache::{self, GridTraffic, Movement};
use crate::machine::{Outcome, RESOURCES, Replay, Resource};
use crate::schedule::{self, Program, Uncosted};
use crate::sites::{self, Motion, Sites};
use crate::trace::{Launch, Region, RegionKind};
use crate::waves::{self, BlockWork, Geometry, Space};

/// What code generation says about a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statics {
    /// Registers of a work-item, vector and accumulation registers together.
    pub registers: u32,
    /// Bytes of static shared memory.
    pub lds_bytes: u32,
}

/// A launch's forecast.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Seconds of one launch.
    pub seconds: f64,
    /// What limits it; none where waiting does.
    pub bound: Option<Resource>,
    /// Share of the time that each resource is busy.
    pub busy: Vec<(Resource, f64)>,
    /// Blocks on a unit at once.
    pub resident: u64,
    /// What limits those.
    pub limit: Limit,
    /// Bytes read from and written to the memory.
    pub memory_bytes: f64,
    /// By the user's lines, most expensive first.
    pub lines: Vec<Line>,
    /// What the grid moves.
    pub traffic: GridTraffic,
    /// How addresses go on from block to block, by site.
    pub motions: Vec<Motion>,
    /// The replay.
    pub outcome: Outcome,
}

/// What limits the blocks on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Waves.
    Waves,
    /// Blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    Lds,
    /// The grid has no more.
    Grid,
}

/// Operations that are replayed at most.
const BUDGET: u64 = 1_500_000;

/// Forecasts a launch.
pub fn forecast(code: &Code, launch: &Launch, statics: Statics, device: &Device) -> Result<Forecast, Uncosted> {
    let geometry = Geometry::of(device);
    let mut works: Vec<BlockWork> =
        launch.blocks.iter().map(|block| waves::of_block(code, launch, block, geometry)).collect();
    works.sort_by_key(|work| work.number);
    let sites = Sites::of(code);
    let motions = sites::motions(&sites, launch, &works);
    let mut shared = vec![false; sites.count];
    let mut runs = vec![false; code.blocks.len()];
    for work in &works {
        for (site, access) in sites::accesses(&sites, work) {
            shared[site as usize] |= access.space == Space::Shared;
        }
        for step in work.waves.iter().flat_map(|wave| &wave.steps) {
            runs[step.block as usize] = true;
        }
    }
    let program = schedule::plan(code, device, &sites, &|site| shared[site as usize], &|block| runs[block as usize])?;
    let grid: u64 = launch.grid.iter().map(|&extent| u64::from(extent)).product();
    let lds = (statics.lds_bytes + launch.dynamic_lds_bytes).max(touched_lds(launch, &works));
    let (resident, limit) = occupancy(device, launch, statics, lds, grid);
    let together = resident * *device.units.count as u64;
    let may = sites::representatives(&works, launch.grid);
    let turns = turns(device, &program, &works, resident);
    let traffic = grid_cache::pass(device, &sites, launch, &works, &motions, &may, (together, turns));
    let l1_bytes = if device.l1.shared_with_lds {
        let lds = if lds > 0 { f64::from(lds) + *device.units.lds_reserved_bytes } else { 0.0 };
        let taken = lds * resident as f64;
        let taken = device.l1.lds_steps.as_ref().map_or(taken, |steps| steps.least(taken));
        (*device.l1.bytes - taken).max(16384.0)
    } else {
        *device.l1.bytes
    };
    let replay = Replay {
        device,
        program: &program,
        sites: &sites,
        works: &works,
        may: &may,
        movement: Movement { geometry, motions: &motions, launch },
        traffic: &traffic,
        grid,
        resident,
        l1_bytes,
        contenders: contenders(launch, &works, together.min(grid)),
        budget: BUDGET,
    };
    let outcome = replay.run();
    let seconds = outcome.cycles / clock(device, outcome.dense) + *device.start.launch_seconds;
    let busy: Vec<(Resource, f64)> = RESOURCES.into_iter().zip(outcome.busy).collect();
    let most = busy.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
    let bound = most.filter(|(_, share)| *share >= 0.6).map(|(resource, _)| resource);
    let memory_bytes = traffic.read_bytes + traffic.written_bytes;
    let lines = account::by_line(code, &sites, &works, &traffic, &outcome, &program.lines, device.wave);
    Ok(Forecast { seconds, bound, busy, resident, limit, memory_bytes, lines, traffic, motions, outcome })
}

/// How many others of `blocks` blocks want the address that one of their work-items compares and swaps: of its own block as the traced
/// blocks show it, of each other block as pairs of traced blocks do.
fn contenders(launch: &Launch, works: &[BlockWork], blocks: u64) -> f64 {
    let mut by_block: Vec<BTreeMap<u64, f64>> = Vec::new();
    for work in works.iter().filter(|work| !work.swapped.is_empty()) {
        let mut counts = BTreeMap::new();
        for &address in &work.swapped {
            *counts.entry(address).or_default() += 1.0;
        }
        by_block.push(counts);
    }
    if by_block.is_empty() {
        return 0.0;
    }
    let all: f64 = by_block.iter().flat_map(BTreeMap::values).sum();
    let within: f64 = by_block.iter().flat_map(BTreeMap::values).map(|many| many * (many - 1.0)).sum::<f64>() / all;
    let mut everywhere: BTreeMap<u64, f64> = BTreeMap::new();
    for (address, many) in by_block.iter().flatten() {
        *everywhere.entry(*address).or_default() += many;
    }
    let meetings: f64 = everywhere.values().map(|many| many * many).sum();
    let own: f64 = by_block.iter().flat_map(BTreeMap::values).map(|many| many * many).sum();
    let pairs = (by_block.len() as f64 - 1.0).max(1.0);
    let of_one_other = (meetings - own) / all / pairs;
    // A work-item that does so many times wants one at a time.
    let items: u64 = launch.block.iter().map(|&extent| u64::from(extent)).product();
    let each = all / by_block.len() as f64 / items as f64;
    (within + of_one_other * (blocks as f64 - 1.0)) / each.max(1.0)
}

/// The clock in Hz while matrix cores are busy for that share of the time.
fn clock(device: &Device, dense: f64) -> f64 {
    let clock = *device.units.clock_hz;
    let slowed = device.units.matrix_clock_hz.as_ref().map_or(clock, |slowed| **slowed);
    1.0 / ((1.0 - dense) / clock + dense / slowed)
}

/// How often the memory could answer while a block runs, roughly: a unit that issues at half its rate, and one wait.
fn turns(device: &Device, program: &Program, works: &[BlockWork], resident: u64) -> usize {
    let instructions = program.mean_instructions(works, &(0..works.len()).collect::<Vec<_>>()) * *device.issue.cycles;
    let cycles = instructions * resident as f64 / (*device.units.partitions * 0.5) + 2.0 * *device.dram.latency;
    ((cycles / *device.dram.latency) as usize).clamp(3, 256)
}

/// Bytes of shared memory that the traced blocks touched: at least so many a block has.
fn touched_lds(launch: &Launch, works: &[BlockWork]) -> u32 {
    let regions = launch.regions.iter().filter(|region| region.kind == RegionKind::Shared);
    let touched = |region: &Region| {
        let accesses = works.iter().flat_map(|work| &work.accesses).filter(|access| {
            access.space == Space::Shared && region.begin <= access.address && access.address < region.end
        });
        let (low, high) =
            accesses.fold((u64::MAX, 0), |(low, high), access| (low.min(access.address), high.max(access.last)));
        (high + 4).saturating_sub(low) as u32
    };
    regions.map(touched).sum()
}

/// Blocks that a unit holds at once, and why not more.
fn occupancy(device: &Device, launch: &Launch, statics: Statics, lds: u32, grid: u64) -> (u64, Limit) {
    let units = &device.units;
    let items: u64 = launch.block.iter().map(|&extent| u64::from(extent)).product();
    let waves = items.div_ceil(u64::from(device.wave)).max(1);
    let granule = *units.register_granule as u64;
    let registers = u64::from(statics.registers.max(1)).div_ceil(granule) * granule;
    let per_partition = (*units.registers as u64 / registers).max(1);
    let by_registers = per_partition * *units.partitions as u64 / waves;
    let lds = u64::from(lds);
    let blocks = units.single_wave_blocks.as_ref().filter(|_| waves == 1).unwrap_or(&units.blocks);
    let mut limits = vec![
        (*units.waves as u64 / waves, Limit::Waves),
        (**blocks as u64, Limit::Blocks),
        (by_registers, Limit::Registers),
        (grid.div_ceil(*units.count as u64), Limit::Grid),
    ];
    if lds > 0 {
        limits.push((*units.lds_bytes as u64 / (lds + *units.lds_reserved_bytes as u64), Limit::Lds));
    }
    let (blocks, limit) = limits.into_iter().min_by_key(|(blocks, _)| *blocks).unwrap_or((1, Limit::Blocks));
    (blocks.max(1), limit)
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
