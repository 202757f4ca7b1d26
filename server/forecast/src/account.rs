//! The account of a forecast by the user's lines: what each line costs, and what about its accesses could be better.

use std::collections::BTreeMap;

use crate::code::{Code, OpKind};
use crate::grid_cache::GridTraffic;
use crate::machine::Outcome;
use crate::sites::{SiteId, SiteKind, Sites, accesses};
use crate::waves::{BlockWork, Space};

/// A line of the user's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// From 1.
    pub line: u32,
    /// Share of the time that the kernel's waves spend on it: issuing, waiting for its pipes, or for its values. All lines
    /// together are 1.
    pub share: f64,
    /// Share of all instructions.
    pub instructions: f64,
    /// Share of a wave's work-items that take part, 0 to 1.
    pub lanes: f64,
    /// Its accesses, those of one kind together.
    pub accesses: Vec<LineAccess>,
}

/// The accesses of one kind on a line; means over the traced blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct LineAccess {
    /// Which memory.
    pub space: Space,
    /// Reads, writes, or both.
    pub kind: SiteKind,
    /// Accesses of waves, for each block.
    pub per_block: f64,
    /// Sectors that an access touches (global and scratch memory).
    pub sectors: f64,
    /// Sectors that the same bytes need next to each other.
    pub ideal_sectors: f64,
    /// Shared memory: passes through the banks over those without conflicts; 1 is none. Else 1.
    pub conflict_degree: f64,
    /// Share of its sectors that the first-level cache has (loads).
    pub l1_hits: f64,
    /// Share of what goes on that the second-level cache has (loads).
    pub l2_hits: f64,
    /// Atomics: most work-items of a wave on one address, on average. Constants: different addresses.
    pub same_address: f64,
    /// A compare-and-swap: one that comes second is tried again by most code, which a trace does not show.
    pub retries: bool,
}

#[derive(Default)]
struct Sum {
    count: f64,
    sectors: f64,
    ideal: f64,
    passes: f64,
    l1: (f64, f64),
    l2: (f64, f64),
    seen: Vec<SiteId>,
}

/// The account of what was replayed, most expensive line first. Line 0 stands for code whose line is not known.
pub fn by_line(
    code: &Code,
    sites: &Sites,
    works: &[BlockWork],
    traffic: &GridTraffic,
    outcome: &Outcome,
    lines: &[u32],
    wave: u32,
) -> Vec<Line> {
    let total: f64 = outcome.lines.iter().map(|line| line.waited).sum::<f64>().max(f64::MIN_POSITIVE);
    let issued: f64 = outcome.lines.iter().map(|line| line.instructions).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut account: BTreeMap<u32, Line> = BTreeMap::new();
    for (&line, cost) in lines.iter().zip(&outcome.lines) {
        if cost.instructions == 0.0 && cost.waited == 0.0 {
            continue;
        }
        let lanes = if cost.instructions > 0.0 { cost.lanes / cost.instructions / f64::from(wave) } else { 1.0 };
        account.insert(
            line,
            Line {
                line,
                share: cost.waited / total,
                instructions: cost.instructions / issued,
                lanes: lanes.min(1.0),
                accesses: Vec::new(),
            },
        );
    }
    for ((line, space, kind, retries), sum) in sums(code, sites, works, traffic, outcome) {
        let ratio = |part: f64, whole: f64, otherwise: f64| if whole > 0.0 { part / whole } else { otherwise };
        let shared = space == Space::Shared;
        let entry = account.entry(line).or_insert_with(|| Line { line, lanes: 1.0, ..Line::default() });
        entry.accesses.push(LineAccess {
            space,
            kind,
            per_block: sum.count / works.len().max(1) as f64,
            sectors: if shared { 0.0 } else { ratio(sum.sectors, sum.count, 0.0) },
            ideal_sectors: if shared { 0.0 } else { ratio(sum.ideal, sum.count, 0.0) },
            conflict_degree: if shared { ratio(sum.passes, sum.ideal, 1.0) } else { 1.0 },
            l1_hits: ratio(sum.l1.1, sum.l1.0, 0.0),
            l2_hits: 1.0 - ratio(sum.l2.1, sum.l2.0, 0.0),
            same_address: if shared { 0.0 } else { ratio(sum.passes, sum.count, 0.0) },
            retries,
        });
    }
    let mut account: Vec<Line> = account.into_values().collect();
    account.sort_by(|one, other| other.share.total_cmp(&one.share));
    account
}

/// Line, memory, kind, whether it is a compare-and-swap.
type Place = (u32, Space, SiteKind, bool);

fn sums(
    code: &Code,
    sites: &Sites,
    works: &[BlockWork],
    traffic: &GridTraffic,
    outcome: &Outcome,
) -> Vec<(Place, Sum)> {
    let sites_of_code: Vec<(u32, bool)> = code
        .blocks
        .iter()
        .flat_map(|block| block.ops.iter().filter(|op| crate::sites::site_kind(op.kind).is_some()))
        .map(|op| (op.line, matches!(op.kind, OpKind::Atomic { compares: true, .. })))
        .collect();
    let mut sums: Vec<(Place, Sum)> = Vec::new();
    for work in works {
        for (site, access) in accesses(sites, work) {
            let (line, retries) = sites_of_code[site as usize];
            let place = (line, access.space, sites.kinds[site as usize], retries);
            let at = sums.iter().position(|(other, _)| *other == place).unwrap_or_else(|| {
                sums.push((place, Sum::default()));
                sums.len() - 1
            });
            let sum = &mut sums[at].1;
            sum.count += 1.0;
            sum.sectors += f64::from(access.sectors);
            sum.ideal += f64::from(access.ideal);
            sum.passes += f64::from(access.passes);
            if !sum.seen.contains(&site) {
                sum.seen.push(site);
                let (asked, had) = outcome.site_l1[site as usize];
                sum.l1 = (sum.l1.0 + asked, sum.l1.1 + had);
                let of_site = traffic.sites[site as usize];
                sum.l2 = (sum.l2.0 + of_site.requests, sum.l2.1 + of_site.misses);
            }
        }
    }
    sums
}
