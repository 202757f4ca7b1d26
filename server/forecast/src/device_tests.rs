//! The tables: that each figure has a source, and that the peaks which vendors publish follow from the figures.

use super::*;

/// How a source may begin.
const SOURCES: [&str; 5] = ["datasheet: ", "measured publicly: ", "micro-benchmark ", "counted: ", "assumed: "];

fn device(name: &str) -> Device {
    Device::named(name).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_peak(what: &str, value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.002, "{what}: {value:.4e}, published {expected:.4e}");
}

/// Operations a second if every partition does nothing else; an instruction of a wave does so many.
fn peak(device: &Device, cost: &Cost, operations: f64) -> f64 {
    let units = &device.units;
    *units.count * *units.clock_hz * *units.partitions * operations / cost.cycles
}

fn vector_peak(device: &Device, class: &str, operations_of_item: f64) -> f64 {
    peak(device, &device.class[class], f64::from(device.wave) * operations_of_item)
}

/// `blocks` products of a `size` x `depth` and a `depth` x `size` matrix.
fn matrix_peak(device: &Device, instruction: &str, size: f64, depth: f64, blocks: f64) -> f64 {
    let cost = &device.function[&format!("__builtin_amdgcn_{instruction}")];
    assert_eq!(cost.pipe, Pipe::Matrix);
    peak(device, cost, 2.0 * size * size * depth * blocks)
}

#[test]
fn every_table_is_well_formed() {
    for name in known() {
        assert_eq!(device(name).name, name);
    }
}

#[test]
fn every_figure_has_a_source() {
    for (name, text) in TABLES {
        let table: toml::Table = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut figures = 0;
        check_sources(name, &toml::Value::Table(table), &mut figures);
        assert!(figures > 100, "{name}: {figures}");
    }
}

fn check_sources(place: &str, value: &toml::Value, figures: &mut usize) {
    let Some(table) = value.as_table() else { return };
    let bare = table.values().any(|value| value.is_integer() || value.is_float());
    let source = table.get("source").and_then(toml::Value::as_str);
    // `wave` is the one figure that needs none.
    let top = table.contains_key("title");
    assert!(!bare || top || source.is_some(), "{place}: no source");
    if let Some(source) = source {
        *figures += 1;
        let rest = SOURCES.iter().find_map(|prefix| source.strip_prefix(prefix));
        assert!(rest.is_some_and(|rest| !rest.trim().is_empty()), "{place}: \"{source}\"");
    }
    for (key, value) in table {
        check_sources(&format!("{place}.{key}"), value, figures);
    }
}

#[test]
fn figures_are_plausible() {
    for name in known() {
        let device = device(name);
        for (key, cost) in device.class.iter().chain(&device.function) {
            assert!(cost.cycles > 0.0 && cost.instructions > 0.0 && cost.latency > 0.0, "{name}: {key}");
            assert!(
                cost.latency >= cost.cycles || *device.issue.cycles == 1.0,
                "{name}: {key} is there before it is made"
            );
        }
        let (l1, l2, dram) = (*device.l1.latency, *device.l2.latency, *device.dram.latency);
        assert!(*device.lds.latency < l1 && l1 < l2 && l2 < dram, "{name}: latencies");
        if let Some(cache) = &device.memory_cache {
            assert!(l2 < *cache.latency && *cache.latency < dram, "{name}: latencies");
            assert!(*cache.bytes_per_second > *device.dram.read_bytes_per_second, "{name}: memory-side cache");
        }
        if let (Some(channels), Some(bytes)) = (&device.l2.channels, &device.l2.channel_bytes_per_cycle) {
            let peak = **channels * **bytes;
            let measured = *device.l2.bytes_per_cycle;
            assert!(measured <= peak && measured > 0.6 * peak, "{name}: L2 {measured} of {peak}");
        }
        if let Some(groups) = &device.lds.load16_groups {
            let mut lanes = groups.lanes.concat();
            lanes.sort_unstable();
            assert_eq!(lanes, (0..device.wave as u8).collect::<Vec<u8>>(), "{name}");
            let bytes = groups.lanes[0].len() as f64 * 16.0;
            assert_eq!(bytes, *device.lds.banks * 4.0, "{name}: a group fills the banks");
        }
    }
}

#[test]
fn what_has_a_cost_on_one_device_has_one_on_all() {
    let h200 = device("h200");
    for name in known() {
        let device = device(name);
        for class in h200.class.keys() {
            assert!(device.class.contains_key(class), "{name}: {class}");
        }
        for function in h200.function.keys() {
            assert!(device.function.contains_key(function), "{name}: {function}");
        }
    }
}

#[test]
fn the_peaks_of_mi300x_follow_from_its_figures() {
    // AMD ROCm documentation, "AMD Instinct MI300 series microarchitecture", table of peak performance.
    let device = device("mi300x");
    assert_peak("vector fp32", vector_peak(&device, "Float32x2", 4.0), 163.4e12);
    assert_peak("vector fp32, not packed", vector_peak(&device, "Float32", 2.0), 81.7e12);
    assert_peak("vector fp64", vector_peak(&device, "Float64", 2.0), 81.7e12);
    for (instruction, size, depth, blocks, expected) in [
        ("mfma_f64_16x16x4f64", 16.0, 4.0, 1.0, 163.4e12),
        ("mfma_f32_32x32x2f32", 32.0, 2.0, 1.0, 163.4e12),
        ("mfma_f32_16x16x4f32", 16.0, 4.0, 1.0, 163.4e12),
        ("mfma_f32_32x32x1f32", 32.0, 1.0, 2.0, 163.4e12),
        ("mfma_f32_32x32x4_xf32", 32.0, 4.0, 1.0, 653.7e12),
        ("mfma_f32_32x32x8f16", 32.0, 8.0, 1.0, 1307.4e12),
        ("mfma_f32_16x16x16f16", 16.0, 16.0, 1.0, 1307.4e12),
        ("mfma_f32_32x32x8bf16_1k", 32.0, 8.0, 1.0, 1307.4e12),
        ("mfma_f32_32x32x16_fp8_fp8", 32.0, 16.0, 1.0, 2614.9e12),
        ("mfma_i32_16x16x32_i8", 16.0, 32.0, 1.0, 2614.9e12),
        // Of two operands in four the sparse ones leave two out: twice the operations of the dense ones.
        ("smfmac_f32_32x32x16_f16", 32.0, 16.0, 1.0, 2614.9e12),
        ("smfmac_i32_16x16x64_i8", 16.0, 64.0, 1.0, 5229.8e12),
    ] {
        assert_peak(instruction, matrix_peak(&device, instruction, size, depth, blocks), expected);
    }
}

#[test]
fn the_bandwidths_of_mi300x_stay_below_its_peaks() {
    let device = device("mi300x");
    let clock = *device.units.clock_hz;
    // 5.3 TB/s of HBM3, 17.2 TB/s of the Infinity Cache.
    for measured in [*device.dram.read_bytes_per_second, *device.dram.write_bytes_per_second] {
        let share = measured / 5.3e12;
        assert!((0.7..0.9).contains(&share), "{share}");
    }
    let cache = device.memory_cache.as_ref().map_or(0.0, |cache| *cache.bytes_per_second);
    assert!(cache < 17.2e12, "{cache}");
    // 128 bytes a cycle in each of 16 channels of each of 8 XCDs; 4 MB in each.
    let l2 = &device.l2;
    assert_eq!(l2.channels.as_ref().map(|figure| figure.value), Some(128.0));
    let channel = l2.channel_bytes_per_cycle.as_ref().map_or(0.0, |figure| figure.value);
    assert_peak("L2", 128.0 * channel * clock, 34.4e12);
    assert_eq!((*l2.bytes, *l2.parts), (32.0 * 1024.0 * 1024.0, 8.0));
    // 128 bytes a cycle of the LDS.
    assert_eq!(*device.lds.banks * 4.0 / *device.lds.cycles, 128.0);
    assert!(*device.l1.bytes_per_cycle <= 64.0);
}

#[test]
fn the_peaks_of_the_others_follow_from_their_figures() {
    // 228 units at 2.1 GHz: AMD Instinct MI300A data sheet.
    let mi300a = device("mi300a");
    assert_peak("MI300A fp64", vector_peak(&mi300a, "Float64", 2.0), 61.3e12);
    assert_peak("MI300A fp16", matrix_peak(&mi300a, "mfma_f32_32x32x8f16", 32.0, 8.0, 1.0), 980.6e12);
    let (mi300x, mi325x) = (device("mi300x"), device("mi325x"));
    assert_eq!(vector_peak(&mi300x, "Float32x2", 4.0), vector_peak(&mi325x, "Float32x2", 4.0));
    assert!(*mi325x.dram.read_bytes_per_second > *mi300x.dram.read_bytes_per_second);
    // Half of AMD Instinct MI250X: 47.9, 95.7 and 383 TFLOP/s of two dies.
    let mi250x = device("mi250x");
    assert_peak("MI250X fp64", vector_peak(&mi250x, "Float64", 2.0), 47.9e12 / 2.0);
    assert_peak("MI250X packed fp32", vector_peak(&mi250x, "Float32x2", 4.0), 95.7e12 / 2.0);
    assert_peak("MI250X fp64 matrix", matrix_peak(&mi250x, "mfma_f64_16x16x4f64", 16.0, 4.0, 1.0), 95.7e12 / 2.0);
    assert_peak("MI250X fp16", matrix_peak(&mi250x, "mfma_f32_32x32x8f16", 32.0, 8.0, 1.0), 383.0e12 / 2.0);
    assert!(mi250x.memory_cache.is_none());
    assert!(!mi250x.function.contains_key("__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8"));
}

#[test]
fn waves_of_cdna_follow_the_register_file_in_granules_of_eight() {
    for name in ["mi300x", "mi325x", "mi300a", "mi250x"] {
        let units = device(name).units;
        let of_partition = |registers: f64| {
            let granule = *units.register_granule;
            let taken = (registers / granule).ceil() * granule;
            (*units.registers / taken).floor().min(*units.waves / *units.partitions)
        };
        let steps = [64, 65, 72, 73, 80, 81, 96, 97, 128, 129, 168, 169, 256, 257, 512].map(f64::from);
        let waves = [8.0, 7.0, 7.0, 6.0, 6.0, 5.0, 5.0, 4.0, 4.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0];
        assert_eq!(steps.map(of_partition), waves, "{name}");
    }
}
