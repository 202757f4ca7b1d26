//! What a forecast says of a kernel, as it is shown, kept and handed on.

use forecast::account::{Line, LineAccess};
use forecast::device::Device;
use forecast::forecast::{Forecast, Limit, Statics};
use forecast::machine::Resource;
use forecast::sites::SiteKind;
use forecast::trace::Launch;
use forecast::waves::Space;
use serde::{Deserialize, Serialize};

/// Resources that are busy for less than this share are not told.
const LEAST_BUSY: f64 = 0.005;

/// One kernel at one launch shape: how long a launch takes, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelForecast {
    /// Kernel with its template arguments.
    pub name: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a block in x, y, z.
    pub block: [u32; 3],
    /// Launches of this kernel with this shape and these numbers as arguments.
    pub launches: u32,
    /// Time of one launch in microseconds.
    pub us: f64,
    /// Lower end of what nine of ten validated times lay within.
    pub low_us: f64,
    /// Upper end.
    pub high_us: f64,
    /// What limits it, in words.
    pub bound: String,
    /// Share of the time that each resource is busy, the busiest first.
    pub busy: Vec<Busy>,
    /// What fits on a unit.
    pub occupancy: Occupancy,
    /// What it moves, against what the device can.
    pub roofline: Roofline,
    /// The user's lines, the most expensive first.
    pub lines: Vec<LineForecast>,
}

impl KernelForecast {
    /// Nanoseconds of all its launches.
    pub fn total_ns(&self) -> f64 {
        self.us * 1e3 * f64::from(self.launches.max(1))
    }

    /// `grid 64x1x1 block 256x1x1`, as program mode names shapes.
    pub fn shape(&self) -> String {
        let extents = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
        format!("grid {} block {}", extents(self.grid), extents(self.block))
    }
}

/// A resource and for how much of the time it is busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Its name, in words.
    pub resource: String,
    /// From 0 to 1.
    pub share: f64,
}

/// What fits on a unit (a compute unit or streaming multiprocessor) at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks of this kernel.
    pub blocks: u64,
    /// Waves of those.
    pub waves: u64,
    /// Waves that the unit could hold.
    pub most_waves: u64,
    /// Why not more.
    pub limited_by: String,
    /// Registers of a work-item.
    pub registers: u32,
    /// Whether the registers are those of real code generation, and not estimated.
    pub registers_from_code: bool,
    /// Shared memory of a block, in bytes.
    pub lds_bytes: u32,
}

/// What a launch moves and computes, against what the device can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Bytes read from and written to the memory.
    pub memory_bytes: f64,
    /// The same in bytes a second.
    pub bytes_per_second: f64,
    /// Share of what the memory can deliver.
    pub memory_share: f64,
    /// Share of what the busiest arithmetic pipe can do.
    pub arithmetic_share: f64,
    /// Which pipe that is, in words.
    pub arithmetic: String,
}

/// A line of the user's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineForecast {
    /// From 1; 0 for code whose line is not known.
    pub line: u32,
    /// Share of the kernel's time, 0 to 1.
    pub share: f64,
    /// Sectors that an access to global memory touches, on average; 0 where there is none.
    pub sectors: f64,
    /// Sectors that the same bytes need where they lie next to each other.
    pub ideal_sectors: f64,
    /// Passes through the banks of shared memory over those without conflicts; 1 is none.
    pub conflict_degree: f64,
    /// Share of all instructions.
    pub instructions: f64,
    /// Share of a wave's work-items that take part, 0 to 1.
    pub lanes: f64,
    /// Its accesses, those of one kind together.
    pub accesses: Vec<AccessForecast>,
}

/// The accesses of one kind on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessForecast {
    /// `global`, `constant`, `shared` or `scratch`.
    pub memory: String,
    /// `load`, `store` or `atomic`.
    pub kind: String,
    /// Accesses of waves, for each block.
    pub per_block: f64,
    /// As in [`LineForecast::sectors`].
    pub sectors: f64,
    /// As in [`LineForecast::ideal_sectors`].
    pub ideal_sectors: f64,
    /// As in [`LineForecast::conflict_degree`].
    pub conflict_degree: f64,
    /// Share of its sectors that the first-level cache has (loads).
    pub l1_hits: f64,
    /// Share of what goes on that the second-level cache has (loads).
    pub l2_hits: f64,
    /// Atomics: work-items of a wave on one address, on average.
    pub same_address: f64,
    /// Atomics: a compare-and-swap. What is tried again where another comes first is not in the time.
    #[serde(default)]
    pub retries: bool,
}

/// From the model's answer to what is told.
pub(super) fn of(
    launch: &Launch,
    statics: Statics,
    from_code: bool,
    forecast: &Forecast,
    device: &Device,
    error: f64,
) -> KernelForecast {
    let us = forecast.seconds * 1e6;
    let mut busy: Vec<Busy> = forecast
        .busy
        .iter()
        .filter(|(_, share)| *share >= LEAST_BUSY)
        .map(|(resource, share)| Busy { resource: resource_name(*resource).into(), share: *share })
        .collect();
    busy.sort_by(|one, other| other.share.total_cmp(&one.share));
    let lds_bytes = statics.lds_bytes + launch.dynamic_lds_bytes;
    KernelForecast {
        name: launch.kernel.clone(),
        grid: launch.grid,
        block: launch.block,
        launches: launch.launches.max(1),
        us,
        low_us: us / error,
        high_us: us * error,
        bound: forecast.bound.map_or("latency", resource_name).into(),
        busy,
        occupancy: occupancy(launch, statics, from_code, lds_bytes, forecast, device),
        roofline: roofline(forecast, device),
        lines: forecast.lines.iter().map(line).collect(),
    }
}

fn occupancy(
    launch: &Launch,
    statics: Statics,
    registers_from_code: bool,
    lds_bytes: u32,
    forecast: &Forecast,
    device: &Device,
) -> Occupancy {
    let items: u64 = launch.block.iter().map(|&extent| u64::from(extent)).product();
    Occupancy {
        blocks: forecast.resident,
        waves: forecast.resident * items.div_ceil(u64::from(device.wave.max(1))),
        most_waves: *device.units.waves as u64,
        limited_by: limit_name(forecast.limit).into(),
        registers: statics.registers,
        registers_from_code,
        lds_bytes,
    }
}

fn roofline(forecast: &Forecast, device: &Device) -> Roofline {
    let pipes =
        [Resource::Fp32, Resource::Fp64, Resource::Fp16, Resource::Matrix, Resource::Integer, Resource::Special];
    let arithmetic = forecast.busy.iter().filter(|(resource, _)| pipes.contains(resource));
    let (pipe, share) =
        arithmetic.copied().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((Resource::Fp32, 0.0));
    let bytes_per_second = forecast.memory_bytes / forecast.seconds.max(f64::MIN_POSITIVE);
    Roofline {
        memory_bytes: forecast.memory_bytes,
        bytes_per_second,
        memory_share: bytes_per_second / *device.dram.read_bytes_per_second,
        arithmetic_share: share,
        arithmetic: resource_name(pipe).into(),
    }
}

fn line(line: &Line) -> LineForecast {
    let of_space = |wanted: Space| line.accesses.iter().filter(move |access| access.space == wanted);
    let mean = |of: fn(&LineAccess) -> f64| {
        let count: f64 = of_space(Space::Global).map(|access| access.per_block).sum();
        let sum: f64 = of_space(Space::Global).map(|access| access.per_block * of(access)).sum();
        if count > 0.0 { sum / count } else { 0.0 }
    };
    LineForecast {
        line: line.line,
        share: line.share,
        sectors: mean(|access| access.sectors),
        ideal_sectors: mean(|access| access.ideal_sectors),
        conflict_degree: of_space(Space::Shared).map(|access| access.conflict_degree).fold(1.0, f64::max),
        instructions: line.instructions,
        lanes: line.lanes,
        accesses: line.accesses.iter().map(access).collect(),
    }
}

fn access(access: &LineAccess) -> AccessForecast {
    AccessForecast {
        memory: space_name(access.space).into(),
        kind: match access.kind {
            SiteKind::Load => "load",
            SiteKind::Store => "store",
            SiteKind::Atomic => "atomic",
        }
        .into(),
        per_block: access.per_block,
        sectors: access.sectors,
        ideal_sectors: access.ideal_sectors,
        conflict_degree: access.conflict_degree,
        l1_hits: access.l1_hits,
        l2_hits: access.l2_hits,
        same_address: access.same_address,
        retries: access.retries,
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Constant => "constant",
        Space::Shared => "shared",
        Space::Scratch => "scratch",
    }
}

/// A resource in words.
pub fn resource_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Issue => "issue slots",
        Resource::Fp32 => "fp32",
        Resource::Integer => "integer",
        Resource::Special => "special functions",
        Resource::Fp64 => "fp64",
        Resource::Fp16 => "fp16",
        Resource::Matrix => "matrix cores",
        Resource::Scalar => "scalar unit",
        Resource::Lds => "LDS",
        Resource::L1 => "L1",
        Resource::L2 => "L2",
        Resource::MemoryCache => "memory-side cache",
        Resource::Dram => "memory",
        Resource::Atomics => "atomics",
    }
}

fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Waves => "waves",
        Limit::Blocks => "blocks",
        Limit::Registers => "registers",
        Limit::Lds => "LDS",
        Limit::Grid => "the grid, which has no more blocks",
    }
}
