//! Kernels whose time follows from the device's figures.

use crate::code::{Block, Class, Code, Function, Op, OpKind};
use crate::device::Device;
use crate::forecast::{Forecast, Limit, Statics, forecast};
use crate::machine::Resource;
use crate::trace::{Event, Launch, Region, RegionKind, TracedBlock};

const GLOBAL: u64 = 1 << 40;
const SHARED: u64 = 1 << 20;
const SCRATCH: u64 = 1 << 50;
/// From one work-item's variables to the next one's.
const ITEM_BYTES: u64 = 1 << 16;
const MIB: u64 = 1 << 20;

fn op(kind: OpKind, value: Option<u32>, uses: &[u32]) -> Op {
    Op { kind, value, uses: uses.to_vec(), line: 7, uniform: false }
}

/// A kernel of one code block, which each work-item passes `turns` times.
struct Kernel {
    ops: Vec<Op>,
    turns: u64,
    /// Address of an access: block, work-item, turn, number of the access.
    address: fn(u64, u64, u64, u64) -> u64,
    grid: u32,
    items: u32,
    registers: u32,
}

impl Kernel {
    fn code(&self) -> Code {
        let values = self.ops.iter().filter_map(|op| op.value).max().map_or(0, |value| value + 1);
        let function = Function { symbol: "k".into(), first: 0, blocks: 1, values };
        let block = Block { ops: self.ops.clone(), ..Block::default() };
        Code { functions: vec![function], blocks: vec![block], names: vec!["expf".into()] }
    }

    fn launch(&self) -> Launch {
        let accesses = self.ops.iter().filter(|op| crate::sites::site_kind(op.kind).is_some()).count() as u64;
        let grid = u64::from(self.grid);
        let numbers = [0, 1, grid / 2, grid / 2 + 1, grid - 1];
        let traced = |number: u64| TracedBlock {
            number,
            items: (0..u64::from(self.items))
                .map(|item| {
                    (0..self.turns)
                        .flat_map(|turn| {
                            std::iter::once(Event::enter(0)).chain(
                                (0..accesses).map(move |access| Event((self.address)(number, item, turn, access))),
                            )
                        })
                        .collect()
                })
                .collect(),
        };
        let region = |begin, kind| Region { begin, end: begin + 4096 * MIB, kind };
        Launch {
            kernel: "k".into(),
            grid: [self.grid, 1, 1],
            block: [self.items, 1, 1],
            blocks: numbers.into_iter().map(traced).collect(),
            regions: vec![
                Region { begin: SHARED, end: 2 * SHARED, kind: RegionKind::Shared },
                region(GLOBAL, RegionKind::Global),
                region(SCRATCH, RegionKind::Scratch { item_bytes: ITEM_BYTES }),
            ],
            ..Launch::default()
        }
    }

    fn forecast(&self, device: &Device) -> Forecast {
        let statics = Statics { registers: self.registers, lds_bytes: 0 };
        forecast(&self.code(), &self.launch(), statics, device).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn device() -> Device {
    Device::named("h200").unwrap_or_else(|error| panic!("{error}"))
}

fn assert_near(what: &str, value: f64, expected: f64, factor: f64) {
    assert!(
        value < expected * factor && value > expected / factor,
        "{what}: {value:.3e}, expected {expected:.3e} within a factor of {factor}"
    );
}

fn copy(bytes: u32, stride: u64) -> Kernel {
    // 64 Mi floats are read and written in any case.
    let grid = (64 * MIB / 4 / (256 * u64::from(bytes / 4))) as u32;
    let address: fn(u64, u64, u64, u64) -> u64 = match (bytes, stride) {
        (4, 1) => |block, item, _, access| GLOBAL + access * 1024 * MIB + (block * 256 + item) * 4,
        (16, 1) => |block, item, _, access| GLOBAL + access * 1024 * MIB + (block * 256 + item) * 16,
        _ => |block, item, _, access| GLOBAL + access * 2048 * MIB + (block * 256 + item) * 128,
    };
    let ops = vec![op(OpKind::Load { bytes }, Some(0), &[]), op(OpKind::Store { bytes }, None, &[0])];
    Kernel { ops, turns: 1, address, grid, items: 256, registers: 16 }
}

#[test]
fn a_copy_takes_what_the_memory_takes() {
    let device = device();
    let forecast = copy(16, 1).forecast(&device);
    let expected = 64.0 * MIB as f64 / *device.dram.read_bytes_per_second
        + 64.0 * MIB as f64 / *device.dram.write_bytes_per_second * 0.55
        + *device.start.launch_seconds;
    assert_near("seconds", forecast.seconds, expected, 1.35);
    assert_eq!(forecast.bound, Some(Resource::Dram));
    assert_near("bytes", forecast.memory_bytes, 100.0 * MIB as f64, 1.35);
}

#[test]
fn a_strided_copy_moves_whole_sectors() {
    let device = device();
    let (near, far) = (copy(4, 1).forecast(&device), copy(4, 32).forecast(&device));
    assert!(far.seconds > 4.0 * near.seconds, "{} against {}", far.seconds, near.seconds);
    let access = &far.lines[0].accesses[0];
    assert_eq!((access.sectors, access.ideal_sectors), (32.0, 4.0));
}

#[test]
fn arithmetic_runs_at_its_pipes_rate() {
    let device = device();
    let ops = (0..64).map(|value| op(OpKind::Compute(Class::Float32), Some(value), &[])).collect();
    let kernel = Kernel { ops, turns: 64, address: |_, _, _, _| 0, grid: 132 * 16, items: 256, registers: 16 };
    let forecast = kernel.forecast(&device);
    // 4096 operations of 8 waves, 16 blocks a unit, on 4 partitions of 32 lanes.
    let cycles = 4096.0 * 8.0 * 16.0 / 4.0 * device.cost(Class::Float32).map_or(0.0, |cost| cost.cycles);
    assert_near("seconds", forecast.seconds, cycles / *device.units.clock_hz + *device.start.launch_seconds, 1.1);
    assert_eq!(forecast.bound.map(|bound| matches!(bound, Resource::Issue | Resource::Fp32)), Some(true));
}

#[test]
fn one_dependent_chain_takes_its_latency() {
    let device = device();
    let ops: Vec<Op> = (0..64)
        .map(|value: u32| {
            op(OpKind::Compute(Class::Float32), Some(value), &value.checked_sub(1).map_or(vec![], |v| vec![v]))
        })
        .collect();
    let kernel = Kernel { ops, turns: 256, address: |_, _, _, _| 0, grid: 132, items: 32, registers: 16 };
    let forecast = kernel.forecast(&device);
    let latency = device.cost(Class::Float32).map_or(0.0, |cost| cost.latency);
    let cycles = 64.0 * 256.0 * latency;
    assert_near("seconds", forecast.seconds, cycles / *device.units.clock_hz, 1.25);
    assert_eq!(forecast.bound, None, "waiting, not a resource");
}

#[test]
fn bank_conflicts_multiply_the_time() {
    let device = device();
    let kernel = |address| Kernel {
        ops: (0..8).map(|value| op(OpKind::Load { bytes: 4 }, Some(value), &[])).collect(),
        turns: 64,
        address,
        grid: 132 * 8,
        items: 256,
        registers: 16,
    };
    let straight = kernel(|_, item, _, _| SHARED + item * 4).forecast(&device);
    let crossed = kernel(|_, item, _, _| SHARED + item % 32 * 128).forecast(&device);
    assert_eq!(crossed.lines[0].accesses[0].conflict_degree, 32.0);
    assert_eq!(crossed.bound.map(|bound| matches!(bound, Resource::Lds | Resource::L1)), Some(true));
    assert!(crossed.seconds > 12.0 * straight.seconds, "{} against {}", crossed.seconds, straight.seconds);
}

#[test]
fn a_compare_and_swap_is_told_from_other_atomics() {
    let atomic = |compares| OpKind::Atomic { bytes: 4, returns: true, float: false, compares, same_value: false };
    let kernel = Kernel {
        ops: vec![op(atomic(true), Some(0), &[]), op(atomic(false), Some(1), &[])],
        turns: 1,
        address: |_, item, _, access| GLOBAL + access * 1024 * MIB + item / 8 * 4,
        grid: 132,
        items: 32,
        registers: 16,
    };
    let forecast = kernel.forecast(&device());
    let told: Vec<(bool, f64)> =
        forecast.lines[0].accesses.iter().map(|access| (access.retries, access.same_address)).collect();
    assert_eq!(told, [(true, 8.0), (false, 8.0)]);
}

#[test]
fn shared_memory_with_a_pipe_of_its_own_takes_its_time() {
    let device = Device::named("mi300x").unwrap_or_else(|error| panic!("{error}"));
    let kernel = |address| Kernel {
        ops: (0..8).map(|value| op(OpKind::Load { bytes: 4 }, Some(value), &[])).collect(),
        turns: 64,
        address,
        grid: 304 * 8,
        items: 256,
        registers: 16,
    };
    // Of each unit: 512 loads of the 4 waves of 8 blocks, 256 bytes each at 128 a cycle; or one work-item a cycle.
    let loads = 512.0 * 4.0 * 8.0;
    let straight = kernel(|_, item, _, _| SHARED + item * 4).forecast(&device);
    let crossed = kernel(|_, item, _, _| SHARED + item * 128).forecast(&device);
    for (forecast, cycles) in [(straight, 2.0), (crossed, 64.0)] {
        let expected = loads * cycles / *device.units.clock_hz + *device.start.launch_seconds;
        assert_near("seconds", forecast.seconds, expected, 1.1);
        assert_eq!(forecast.bound, Some(Resource::Lds));
    }
}

#[test]
fn arithmetic_of_mi300x_reaches_the_published_peaks() {
    let device = Device::named("mi300x").unwrap_or_else(|error| panic!("{error}"));
    // Four chains in each of four waves of a unit; operations of a wave's instruction, and the peak in AMD's documentation.
    for (what, kind, operations, peak) in [
        ("matrix fp16", OpKind::Call(0), 2.0 * 32.0 * 32.0 * 8.0, 1307.4e12),
        ("vector fp64", OpKind::Compute(Class::Float64), 2.0 * 64.0, 81.7e12),
    ] {
        let ops =
            (0..64).map(|value: u32| op(kind, Some(value), &value.checked_sub(4).map_or(vec![], |from| vec![from])));
        let kernel =
            Kernel { ops: ops.collect(), turns: 256, address: |_, _, _, _| 0, grid: 304, items: 256, registers: 64 };
        let mut code = kernel.code();
        code.names = vec!["__builtin_amdgcn_mfma_f32_32x32x8f16".into()];
        let statics = Statics { registers: 64, lds_bytes: 0 };
        let forecast = forecast(&code, &kernel.launch(), statics, &device).unwrap_or_else(|error| panic!("{error}"));
        // At the clock that power allows for a short while.
        let seconds = forecast.outcome.cycles / *device.units.clock_hz;
        assert_near(what, 304.0 * 4.0 * 64.0 * 256.0 * operations / seconds, peak, 1.05);
    }
}

#[test]
fn fp32_operations_of_a_tile_go_in_pairs_and_those_of_chains_do_not() {
    let device = Device::named("mi300x").unwrap_or_else(|error| panic!("{error}"));
    // "AMD Instinct MI300 series microarchitecture": 163.4 TFLOP/s, which v_pk_fma_f32 is needed for, else half of it.
    for (what, is_tile, peak) in [("tile", true, 163.4e12), ("chains", false, 81.7e12)] {
        let uses = |value: u32| {
            let from = if is_tile { (value > 0).then_some(0) } else { value.checked_sub(4) };
            from.into_iter().collect::<Vec<u32>>()
        };
        let ops = (0..64).map(|value| op(OpKind::Compute(Class::Float32), Some(value), &uses(value))).collect();
        let kernel = Kernel { ops, turns: 256, address: |_, _, _, _| 0, grid: 304, items: 256, registers: 64 };
        let seconds = kernel.forecast(&device).outcome.cycles / *device.units.clock_hz;
        assert_near(what, 304.0 * 4.0 * 64.0 * 256.0 * 2.0 * 64.0 / seconds, peak, 1.06);
    }
}

/// Bytes a second of a kernel that reads one double with each work-item, two blocks on a unit.
fn read_stream<const ITEMS: u64>(device: &Device) -> f64 {
    let count = 64 * MIB;
    let kernel = Kernel {
        ops: vec![
            op(OpKind::Load { bytes: 8 }, Some(0), &[]),
            op(OpKind::Compute(Class::Float64), Some(1), &[0]),
            op(OpKind::Branch { conditional: true }, None, &[1]),
        ],
        turns: 1,
        address: |block, item, _, _| GLOBAL + (block * ITEMS + item) * 8,
        grid: (count / ITEMS) as u32,
        items: ITEMS as u32,
        registers: 16,
    };
    let statics = Statics { registers: 16, lds_bytes: 32 << 10 };
    let forecast =
        forecast(&kernel.code(), &kernel.launch(), statics, device).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(forecast.resident, 2);
    count as f64 * 8.0 / forecast.seconds
}

#[test]
fn reads_of_mi300x_and_mi210s_die_take_what_others_measured() {
    // RRZE gpu-benches, gpu-stream/mi300x.txt and mi210.txt: from a wait for the memory to its bandwidth.
    let mi300x = Device::named("mi300x").unwrap_or_else(|error| panic!("{error}"));
    assert_near("64", read_stream::<64>(&mi300x), 554e9, 1.2);
    assert_near("256", read_stream::<256>(&mi300x), 1959e9, 1.2);
    assert_near("1024", read_stream::<1024>(&mi300x), 4199e9, 1.2);
    // MI210 has 104 units of MI250X's 110.
    let mi250x = Device::named("mi250x").unwrap_or_else(|error| panic!("{error}"));
    assert_near("64", read_stream::<64>(&mi250x), 185e9 * 110.0 / 104.0, 1.2);
    assert_near("1024", read_stream::<1024>(&mi250x), 1370e9, 1.2);
}

/// AMD's documents: blocks of several waves are at most 16 on a unit, those of one wave 32; LDS of 64 KiB lets one block in; 122 registers
/// leave half of the waves.
#[test]
fn what_fits_on_a_unit_is_what_the_documents_say() {
    for name in ["mi300x", "mi250x"] {
        let device = Device::named(name).unwrap_or_else(|error| panic!("{error}"));
        for (items, registers, lds_bytes, blocks, limit) in [
            (64, 32, 0, 32, Limit::Waves),
            (128, 32, 0, 16, Limit::Waves),
            (256, 122, 0, 4, Limit::Registers),
            (256, 32, 65_536, 1, Limit::Lds),
            (1024, 32, 32_768, 2, Limit::Waves),
            (1024, 128, 0, 1, Limit::Registers),
        ] {
            let kernel = Kernel { items, registers, ..copy(4, 1) };
            let statics = Statics { registers, lds_bytes };
            let made = forecast(&kernel.code(), &kernel.launch(), statics, &device);
            let made = made.unwrap_or_else(|error| panic!("{error}"));
            let what = format!("{name}: {items} work-items, {registers} registers, {lds_bytes} bytes");
            assert_eq!((made.resident, made.limit), (blocks, limit), "{what}");
        }
    }
}

/// A histogram's counters in one aligned KiB are served by two parts of an H200's cache, in two by four; a wave that adds to neighbours
/// takes the rate of a part for each sector.
#[test]
fn atomics_take_the_rate_of_the_parts_that_their_addresses_meet() {
    let device = device();
    let adds = |begin: fn(u64, u64, u64, u64) -> u64| {
        let kind = OpKind::Atomic { bytes: 4, returns: false, float: false, compares: false, same_value: true };
        let kernel = Kernel {
            ops: vec![op(kind, None, &[])],
            turns: 8,
            address: begin,
            grid: 132 * 16,
            items: 256,
            registers: 16,
        };
        kernel.forecast(&device).outcome.cycles
    };
    // 132 x 16 blocks of 8 waves, 8 times: each adds to a line of 4 sectors.
    let sectors = 132.0 * 16.0 * 8.0 * 8.0 * 4.0 * *device.atomics.same_part_cycles;
    assert_near("one KiB", adds(|_, item, _, _| GLOBAL + item * 4), sectors / 2.0, 1.15);
    assert_near("two KiB", adds(|_, item, _, _| GLOBAL + 512 + item * 4), sectors / 4.0, 1.15);
    // All work-items of a wave bring one value to one address: the wave sums them first.
    let waves = 132.0 * 16.0 * 8.0 * 8.0 * *device.atomics.uniform_cycles;
    assert_near("one address", adds(|_, _, _, _| GLOBAL), waves, 1.15);
}

/// What a grid reads is what it reads, also where only some of its blocks are passed through the caches.
#[test]
fn a_large_grid_reads_and_writes_its_bytes_once() {
    for name in ["h200", "mi300x"] {
        let device = Device::named(name).unwrap_or_else(|error| panic!("{error}"));
        // 512 MiB each way: 12 times the requests that are looked at.
        let kernel = Kernel { grid: 512 * 1024, ..copy(4, 1) };
        let address: fn(u64, u64, u64, u64) -> u64 =
            |block, item, _, access| GLOBAL + access * 2048 * MIB + (block * 256 + item) * 4;
        let traffic = Kernel { address, ..kernel }.forecast(&device).traffic;
        let bytes = 512.0 * MIB as f64;
        let held = device.memory_cache.as_ref().map_or(*device.l2.bytes, |cache| *cache.bytes);
        assert_near("read", traffic.read_bytes, bytes, 1.1);
        assert!(traffic.written_bytes <= bytes * 1.02 && traffic.written_bytes >= bytes - held, "{name}: {traffic:?}");
    }
}

#[test]
fn a_larger_sample_gives_the_same_time() {
    let device = device();
    let kernel = copy(4, 1);
    let few = kernel.forecast(&device).seconds;
    let mut launch = kernel.launch();
    let one = launch.blocks[0].clone();
    launch.blocks = (0..64)
        .map(|number| {
            let shift = number * 256 * 4 * 37;
            let items = one.items.iter().map(|events| {
                events.iter().map(|event| event.block().map_or(Event(event.0 + shift), |_| *event)).collect()
            });
            TracedBlock { number: number * 37, items: items.collect() }
        })
        .collect();
    let many = forecast(&kernel.code(), &launch, Statics { registers: 16, lds_bytes: 0 }, &device)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_near("seconds", many.seconds, few, 1.03);
}

#[test]
#[ignore = "prints what phases take"]
fn timing() {
    let device = device();
    for kernel in [copy(4, 1), copy(4, 32), copy(16, 1)] {
        let (code, launch) = (kernel.code(), kernel.launch());
        let started = std::time::Instant::now();
        let one = forecast(&code, &launch, Statics { registers: 16, lds_bytes: 0 }, &device);
        println!("{:?} {:?}", started.elapsed(), one.map(|one| (one.seconds * 1e6, one.memory_bytes / 1e6, one.busy)));
    }
}

#[test]
fn a_last_round_of_blocks_that_wait_for_memory_falls_to_few_units() {
    let device = device();
    // Eight blocks of 256 fill a unit; of a second round there is a tenth.
    let full = 132 * 8;
    // Each wave reads a line anywhere in 2 MiB, and uses it before it reads the next.
    let anywhere: fn(u64, u64, u64, u64) -> u64 = |block, item, turn, _| {
        let line = ((block * 8 + item / 32) * 512 + turn).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
        GLOBAL + line * 128 + item % 32 * 4
    };
    let waits = vec![op(OpKind::Load { bytes: 4 }, Some(0), &[]), op(OpKind::Compute(Class::Float32), Some(1), &[0])];
    let computes: Vec<Op> = (0..64).map(|value| op(OpKind::Compute(Class::Float32), Some(value), &[])).collect();
    for (what, ops, turns, address, least, most) in [
        ("waits for the second-level cache", waits, 128, anywhere, 1.5, 2.1),
        ("computes", computes, 64, |_: u64, _: u64, _: u64, _: u64| 0, 1.0, 1.3),
    ] {
        let of = |grid| Kernel { ops: ops.clone(), turns, address, grid, items: 256, registers: 16 }.forecast(&device);
        let (one, more) = (of(full), of(full + full / 10));
        let ratio = more.outcome.cycles / one.outcome.cycles;
        assert!((least..most).contains(&ratio), "{what}: {ratio:.2} of one round, bound by {:?}", more.bound);
    }
}

#[test]
fn shared_memory_takes_the_first_levels_place_in_steps() {
    let steps = device().l1.lds_steps.unwrap();
    assert_eq!(
        [0.0, 1.0, 196.0 * 1024.0, 197.0 * 1024.0].map(|needed| steps.least(needed) / 1024.0),
        [0.0, 8.0, 196.0, 228.0]
    );
}

/// Variables that are no registers: what all resident work-items have of them stays in the second-level cache, or does not.
#[test]
fn scratch_that_the_caches_do_not_hold_goes_to_memory() {
    let device = device();
    let walk = |turns, address| {
        let ops = vec![op(OpKind::Load { bytes: 4 }, Some(0), &[]), op(OpKind::Store { bytes: 4 }, None, &[0])];
        Kernel { ops, turns, address, grid: 132 * 16, items: 256, registers: 16 }.forecast(&device)
    };
    // 16 words of each of 270,336 work-items are 17 MB, 128 words 138 MB.
    let small = walk(128, |_, item, turn, _| SCRATCH + item * ITEM_BYTES + turn % 16 * 4);
    let large = walk(128, |_, item, turn, _| SCRATCH + item * ITEM_BYTES + turn * 4);
    assert!(small.memory_bytes < 40e6, "{}", small.memory_bytes);
    assert!(large.memory_bytes > 400e6, "{}", large.memory_bytes);
    // Each store is written through: 128 bytes of a wave, at what the second-level cache takes.
    let written = 132.0 * 16.0 * 256.0 * 128.0 * 4.0 / *device.l2.write_bytes_per_cycle;
    assert!(small.outcome.cycles > written, "{} of {written}", small.outcome.cycles);
}

/// A loop of compare-and-swap is gone through as often as others change the value meanwhile.
#[test]
fn compare_and_swap_costs_by_how_many_want_the_same() {
    let device = device();
    let swap = |address| {
        let kind = OpKind::Atomic { bytes: 4, returns: true, float: false, compares: true, same_value: false };
        let ops = vec![op(kind, Some(0), &[]), op(OpKind::Compute(Class::Int32), Some(1), &[0])];
        Kernel { ops, turns: 4, address, grid: 132 * 8, items: 256, registers: 16 }.forecast(&device).outcome.cycles
    };
    // Measured (global_swap_until_done_per_second): 1.77e9 a second of 4096 places, 2.7e10 of a million.
    fn place(block: u64, item: u64, turn: u64, places: u64) -> u64 {
        let mixed = ((block * 256 + item) * 4 + turn + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        GLOBAL + ((mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20) % places * 32
    }
    let few = swap(|block, item, turn, _| place(block, item, turn, 4096));
    let many = swap(|block, item, turn, _| place(block, item, turn, 1 << 20));
    let updates = 132.0 * 8.0 * 256.0 * 4.0;
    assert_near("4096 places", few, updates / 1.77e9 * *device.units.clock_hz, 1.6);
    assert!(few > 8.0 * many, "{few} and {many} cycles");
}

/// Measured (shared_atomic_random_cycles_per_wave_access, 32 waves, without the 4 cycles that choose the bin): 102 cycles for a wave's
/// sums of floating-point numbers in 16 bins, 39 in 64, 16 in 1024.
#[test]
fn sums_in_shared_memory_wait_for_each_other_at_one_address() {
    let device = device();
    let sums = |address| {
        let kind = OpKind::Atomic { bytes: 4, returns: false, float: true, compares: false, same_value: false };
        let kernel =
            Kernel { ops: vec![op(kind, None, &[])], turns: 64, address, grid: 132, items: 1024, registers: 16 };
        kernel.forecast(&device).outcome.cycles / (64.0 * 32.0)
    };
    fn bin(item: u64, turn: u64, bins: u64) -> u64 {
        let mixed = (item * 64 + turn + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        SHARED + ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) % bins * 4
    }
    assert_near("16 bins", sums(|_, item, turn, _| bin(item, turn, 16)), 102.0, 1.3);
    assert_near("64 bins", sums(|_, item, turn, _| bin(item, turn, 64)), 39.0, 1.3);
    assert_near("1024 bins", sums(|_, item, turn, _| bin(item, turn, 1024)), 16.0, 1.3);
}

/// Measured (combined_store_cycles_per_wave): four stores to words next to each other take 52 cycles of a processor, not 135.
#[test]
fn stores_to_neighbouring_words_go_on_together() {
    let mut device = device();
    let ops = vec![op(OpKind::Store { bytes: 4 }, None, &[]); 4];
    let address: fn(u64, u64, u64, u64) -> u64 =
        |block, item, _, access| GLOBAL + (block * 256 + item) % (1 << 20) * 16 + access * 4;
    let kernel = Kernel { ops, turns: 1, address, grid: 132 * 64, items: 256, registers: 16 };
    let waves = 64.0 * 8.0;
    assert_near("together", kernel.forecast(&device).outcome.cycles / waves, 52.0, 1.3);
    device.l1.combined_stores = None;
    assert_near("each for itself", kernel.forecast(&device).outcome.cycles / waves, 135.0, 1.4);
}

/// Measured (random_write_chunks_per_second): 1.8e10 words a second at random in 128 MiB, 1.6e10 in 1 GiB.
#[test]
fn words_at_random_places_are_completed_in_memory_one_by_one() {
    let device = device();
    fn place(block: u64, item: u64, turn: u64, words: u64) -> u64 {
        let mixed = ((block * 256 + item) * 8 + turn + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        GLOBAL + ((mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20) % words * 4
    }
    let words = |address| {
        let ops = vec![op(OpKind::Store { bytes: 4 }, None, &[])];
        let kernel = Kernel { ops, turns: 8, address, grid: 16384, items: 256, registers: 16 };
        16384.0 * 256.0 * 8.0 / kernel.forecast(&device).seconds
    };
    assert_near("128 MiB", words(|block, item, turn, _| place(block, item, turn, 32 << 20)), 1.8e10, 1.35);
    assert_near("1 GiB", words(|block, item, turn, _| place(block, item, turn, 256 << 20)), 1.6e10, 1.35);
}

/// Measured (`float4` and `float2` that a wave reads, by which work-items want the same): wide reads take halves or quarters of a wave
/// at once.
#[test]
fn wide_reads_of_shared_memory_take_part_of_a_wave_at_once() {
    let device = device();
    let read = |bytes, address| {
        let ops = vec![op(OpKind::Load { bytes }, Some(0), &[]); 8];
        let kernel = Kernel { ops, turns: 64, address, grid: 132, items: 1024, registers: 16 };
        kernel.forecast(&device).outcome.cycles / (64.0 * 8.0 * 32.0)
    };
    type Address = fn(u64, u64, u64, u64) -> u64;
    let cases: [(&str, u32, Address, f64); 6] = [
        ("one place, 16 bytes", 16, |_, _, _, _| SHARED, 2.3),
        ("one by one, 16 bytes", 16, |_, item, _, _| SHARED + item % 32 * 16, 4.0),
        ("neighbours alike, 16 bytes", 16, |_, item, _, _| SHARED + item % 32 / 2 * 16, 2.3),
        ("every fourth alike, 16 bytes", 16, |_, item, _, _| SHARED + item % 4 * 16, 4.0),
        ("neighbours alike, 8 bytes", 8, |_, item, _, _| SHARED + item % 32 / 2 * 8, 1.3),
        ("one by one, 8 bytes", 8, |_, item, _, _| SHARED + item % 32 * 8, 2.0),
    ];
    for (what, bytes, address, cycles) in cases {
        assert_near(what, read(bytes, address), cycles, 1.35);
    }
}

/// Eight chains of arithmetic that know nothing of each other, one behind the other in the text: a compiler that looks 32
/// instructions ahead has two of them under way, and their loads all the same at once.
#[test]
fn a_compiler_interleaves_what_it_sees_and_moves_loads_from_anywhere() {
    const CHAIN: u32 = 32;
    let looks = device();
    let mut sees_all = device();
    sees_all.issue.lookahead = None;
    let chain = |first: u32, uses: Option<u32>| {
        let link = move |at: u32| {
            let before = if at == first { uses } else { Some(at - 1) };
            op(OpKind::Compute(Class::Float32), Some(at), &before.map_or(vec![], |value| vec![value]))
        };
        (first..first + CHAIN).map(link)
    };
    let cycles = |ops: Vec<Op>, device: &Device| {
        let address: fn(u64, u64, u64, u64) -> u64 =
            |block, item, turn, access| GLOBAL + ((turn * 8 + access) * 132 + block) * 128 + item * 4;
        let kernel = Kernel { ops, turns: 64, address, grid: 132, items: 32, registers: 16 };
        kernel.forecast(device).outcome.cycles / 64.0
    };
    let chains = || (0..8).flat_map(|number| chain(number * CHAIN, None)).collect::<Vec<_>>();
    let latency = looks.cost(Class::Float32).map_or(0.0, |cost| cost.latency);
    let alone = 8.0 * f64::from(CHAIN) * latency;
    let (some, all) = (cycles(chains(), &looks), cycles(chains(), &sees_all));
    assert_near("two at a time", some, alone / 2.0, 1.2);
    assert_near("all at once", all, alone / 4.0, 1.2);
    let load = |number: u32| op(OpKind::Load { bytes: 4 }, Some(8 * CHAIN + number), &[]);
    let loading =
        (0..8).flat_map(|number| std::iter::once(load(number)).chain(chain(number * CHAIN, load(number).value)));
    let loads = cycles(loading.collect(), &looks) - some;
    assert!(loads < 1.5 * *looks.dram.latency, "{loads}");
}
