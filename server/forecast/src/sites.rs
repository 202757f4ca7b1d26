//! Sites: the accesses of the code, each with a number, and how their addresses go on from block to block of the grid.

use crate::code::{Code, OpKind};
use crate::trace::Launch;
use crate::waves::{Access, BlockWork, Space, WaveWork};

/// Number of an access of the code.
pub type SiteId = u32;

/// The accesses of a module.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// For each code block the number of its first access.
    first: Vec<SiteId>,
    /// What each does.
    pub kinds: Vec<SiteKind>,
    /// How many there are.
    pub count: usize,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Both at once, in the second-level cache or in shared memory.
    Atomic,
}

impl Sites {
    /// Numbers the accesses of `code`.
    pub fn of(code: &Code) -> Self {
        let mut first = Vec::with_capacity(code.blocks.len());
        let mut kinds = Vec::new();
        for block in &code.blocks {
            first.push(kinds.len() as u32);
            kinds.extend(block.ops.iter().filter_map(|op| site_kind(op.kind)));
        }
        let count = kinds.len();
        Self { first, kinds, count }
    }

    /// The number of the first access of a code block; its others follow.
    pub fn first(&self, block: u32) -> SiteId {
        self.first.get(block as usize).copied().unwrap_or_default()
    }
}

/// What an operation that has an address in the trace does there.
pub fn site_kind(kind: OpKind) -> Option<SiteKind> {
    match kind {
        OpKind::Load { .. } => Some(SiteKind::Load),
        OpKind::Store { .. } => Some(SiteKind::Store),
        OpKind::Atomic { .. } => Some(SiteKind::Atomic),
        _ => None,
    }
}

/// Coordinates of a block in its grid.
pub fn coordinates(number: u64, grid: [u32; 3]) -> [i64; 3] {
    let (x, y) = (u64::from(grid[0].max(1)), u64::from(grid[1].max(1)));
    [(number % x) as i64, (number / x % y) as i64, (number / (x * y)) as i64]
}

/// The traced blocks that stand for the grid: not those that were traced only because they are next to another one. `works` are in the
/// order of their numbers.
pub fn representatives(works: &[BlockWork], grid: [u32; 3]) -> Vec<usize> {
    let blocks: u64 = grid.iter().map(|&extent| u64::from(extent)).product();
    let all = || (0..works.len()).collect();
    if works.len() as u64 >= blocks {
        return all();
    }
    let mut chosen: Vec<usize> = Vec::new();
    for (place, work) in works.iter().enumerate() {
        let at = coordinates(work.number, grid);
        let is_beside = |&other: &usize| {
            let away = distance(coordinates(works[other].number, grid), at);
            let far = [3, 1, 1];
            let differing: Vec<usize> = (0..3).filter(|&axis| away[axis] != 0).collect();
            matches!(differing[..], [axis] if away[axis].abs() <= far[axis])
        };
        if !chosen.iter().any(is_beside) {
            chosen.push(place);
        }
    }
    if chosen.len() < 3 { all() } else { chosen }
}

/// How the addresses of a site move with the block's coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// By so many bytes for each step in x, y, z. `exact` where all samples agree.
    Steps {
        /// Bytes in x, y, z.
        bytes: [i64; 3],
        /// Whether all samples agree.
        exact: bool,
    },
    /// In no way that the samples show: anywhere between these addresses.
    Scattered {
        /// Lowest address seen.
        low: u64,
        /// Highest.
        high: u64,
    },
}

/// What the samples show for each site.
pub fn motions(sites: &Sites, launch: &Launch, works: &[BlockWork]) -> Vec<Motion> {
    let samples: Vec<Sample> = works.iter().map(|work| Sample::of(sites, launch, work)).collect();
    (0..sites.count).map(|site| motion(site, &samples)).collect()
}

/// Addresses of a sampled block.
struct Sample {
    at: [i64; 3],
    /// For each site the addresses of its first executions.
    addresses: Vec<Vec<u64>>,
    extremes: Vec<(u64, u64)>,
}

/// So many executions of a site are compared.
const COMPARED: usize = 64;

impl Sample {
    fn of(sites: &Sites, launch: &Launch, work: &BlockWork) -> Self {
        let mut addresses = vec![Vec::new(); sites.count];
        let mut extremes = vec![(u64::MAX, 0); sites.count];
        for (site, access) in accesses(sites, work) {
            let site = site as usize;
            if access.space != Space::Global {
                continue;
            }
            let list: &mut Vec<u64> = &mut addresses[site];
            if list.len() < COMPARED {
                list.push(access.address);
            }
            let extreme = &mut extremes[site];
            *extreme = (extreme.0.min(access.address), extreme.1.max(access.address));
        }
        Self { at: coordinates(work.number, launch.grid), addresses, extremes }
    }
}

/// All accesses of a block with their sites, wave by wave.
pub fn accesses<'a>(sites: &'a Sites, work: &'a BlockWork) -> impl Iterator<Item = (SiteId, &'a Access)> + 'a {
    work.waves.iter().flat_map(move |wave| accesses_of_wave(sites, work, wave))
}

/// The accesses of one of a block's waves with their sites, in order.
pub fn accesses_of_wave<'a>(
    sites: &'a Sites,
    work: &'a BlockWork,
    wave: &'a WaveWork,
) -> impl Iterator<Item = (SiteId, &'a Access)> + 'a {
    let ends = wave.steps.iter().skip(1).map(|step| step.access);
    // A wave's accesses end where the next wave's begin; the last step's number is bounded by its code block.
    wave.steps.iter().zip(ends.map(Some).chain([None])).flat_map(move |(step, end)| {
        let first = sites.first(step.block);
        let next = sites.first.get(step.block as usize + 1).copied().unwrap_or(sites.count as u32);
        let count = end.map_or(next - first, |end| end - step.access);
        (0..count).filter_map(move |number| Some((first + number, work.accesses.get((step.access + number) as usize)?)))
    })
}

fn motion(site: usize, samples: &[Sample]) -> Motion {
    let seen: Vec<&Sample> = samples.iter().filter(|sample| !sample.addresses[site].is_empty()).collect();
    let low = seen.iter().map(|sample| sample.extremes[site].0).min().unwrap_or_default();
    let high = seen.iter().map(|sample| sample.extremes[site].1).max().unwrap_or_default();
    if seen.is_empty() {
        return Motion::Scattered { low: 0, high: 0 };
    }
    let Some((bytes, base)) = steps(site, &seen) else { return rough(site, &seen, low, high) };
    let agrees = |sample: &&&Sample| {
        let away = distance(base.at, sample.at);
        let expected: i64 = (0..3).map(|axis| bytes[axis] * away[axis]).sum();
        step(&base.addresses[site], &sample.addresses[site]) == Some(expected)
    };
    // Blocks at the grid's edge often leave something out. Where only neighbours agree, an index wraps, or is put together from
    // parts of the block's number.
    let agreeing = seen.iter().filter(agrees).count();
    Motion::Steps { bytes, exact: agreeing == seen.len() || agreeing > 2 && agreeing * 2 > seen.len() }
}

/// The steps that pairs of blocks next to each other show, and a block of such a pair. None where such pairs do not agree.
fn steps<'a>(site: usize, seen: &[&'a Sample]) -> Option<([i64; 3], &'a Sample)> {
    let mut bytes = [0i64; 3];
    let mut base = None;
    for axis in 0..3 {
        let mut found: Vec<(i64, i64, &Sample)> = Vec::new();
        for (place, &one) in seen.iter().enumerate() {
            for &other in &seen[place + 1..] {
                let away = distance(one.at, other.at);
                if away[axis] == 0 || (0..3).any(|other| other != axis && away[other] != 0) {
                    continue;
                }
                let each = step(&one.addresses[site], &other.addresses[site]).filter(|moved| moved % away[axis] == 0);
                found.push((away[axis].abs(), each.map_or(i64::MIN, |moved| moved / away[axis]), one));
            }
        }
        // The nearest pairs count.
        let Some(nearest) = found.iter().map(|(away, _, _)| *away).min() else { continue };
        found.retain(|(away, _, _)| *away <= nearest.max(2));
        let mut values: Vec<i64> = found.iter().map(|(_, each, _)| *each).collect();
        values.sort_unstable();
        let most = values.chunk_by(|one, other| one == other).max_by_key(|equal| equal.len())?;
        if most[0] == i64::MIN || most.len() * 3 < values.len() * 2 {
            return None;
        }
        bytes[axis] = most[0];
        base = base.or_else(|| found.iter().find(|(_, each, _)| *each == most[0]).map(|(_, _, one)| *one));
    }
    Some((bytes, base.or_else(|| seen.first().copied())?))
}

fn distance(from: [i64; 3], to: [i64; 3]) -> [i64; 3] {
    [to[0] - from[0], to[1] - from[1], to[2] - from[2]]
}

/// By how many bytes nearly all executions moved.
fn step(from: &[u64], to: &[u64]) -> Option<i64> {
    let moved = |at: usize| to[at].wrapping_sub(from[at]) as i64;
    let compared = from.len().min(to.len());
    let first = moved(compared / 2);
    let same = (0..compared).filter(|&at| moved(at) == first).count();
    (same * 10 >= compared * 9).then_some(first)
}

/// A motion that holds on average: rows of different lengths, one after another.
fn rough(site: usize, seen: &[&Sample], low: u64, high: u64) -> Motion {
    let scattered = Motion::Scattered { low, high };
    // Along x (or the block's only axis with more than one sample) by least squares.
    let points: Vec<(f64, f64)> =
        seen.iter().map(|sample| (sample.at[0] as f64, sample.addresses[site][0] as f64 - low as f64)).collect();
    let count = points.len() as f64;
    let same_row = seen.iter().all(|sample| sample.at[1..] == seen[0].at[1..]);
    if !same_row || points.len() < 4 {
        return scattered;
    }
    let (mean_x, mean_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mean_x) * (x - mean_x);
        xy += (x - mean_x) * (y - mean_y);
        yy += (y - mean_y) * (y - mean_y);
    }
    if xx == 0.0 || yy == 0.0 {
        return scattered;
    }
    if xy * xy / (xx * yy) > 0.98 {
        Motion::Steps { bytes: [(xy / xx).round() as i64, 0, 0], exact: false }
    } else {
        scattered
    }
}
