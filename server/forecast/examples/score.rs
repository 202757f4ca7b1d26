//! Scores forecasts against measured times: of each variant of a suite, by `tests/forecast/README.md`.
//!
//! `cargo run --release -p forecast --example score -- [--on h200] [--table FILE] [--only PART] [--csv OUT] [-v] RECORDS TIMES.csv...`, where RECORDS is
//! what `cargo run -p lab --example record_suite` wrote.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forecast::code::Code;
use forecast::device::Device;
use forecast::forecast::{Forecast, Statics, forecast};
use forecast::registers;
use forecast::trace::Launch;

#[derive(Default)]
struct Arguments {
    on: String,
    only: String,
    table: Option<PathBuf>,
    csv: Option<PathBuf>,
    verbose: bool,
    records: PathBuf,
    times: Vec<PathBuf>,
}

struct Row {
    family: String,
    variant: String,
    forecast_us: f64,
    measured_us: f64,
    bound: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = read(std::env::args().skip(1))?;
    let device = match &arguments.table {
        Some(table) => Device::from_table(&arguments.on, &std::fs::read_to_string(table)?)?,
        None => Device::named(&arguments.on)?,
    };
    let mut rows = Vec::new();
    let mut modelled = Duration::ZERO;
    let mut codes: BTreeMap<String, Code> = BTreeMap::new();
    for times in &arguments.times {
        let all = measured(times)?;
        for (family, variant, measured_us) in all.clone() {
            let name = format!("{family}/{variant}");
            if !name.contains(&arguments.only) {
                continue;
            }
            let Ok(bytes) = std::fs::read(arguments.records.join(name.replace('/', "-") + ".trace")) else {
                println!("{name}: no record");
                continue;
            };
            let file = std::fs::read_to_string(arguments.records.join(name.replace('/', "-") + ".code"))?;
            if !codes.contains_key(&file) {
                let text = std::fs::read(arguments.records.join(&file))?;
                codes.insert(file.clone(), serde_json::from_slice(&text)?);
            }
            let code = &codes[&file];
            let launches = forecast::trace::read(&bytes)?;
            let mut launches: Vec<Launch> =
                launches.into_iter().filter(|launch| !launch.kernel.contains("flush")).collect();
            // The suites' filter takes all variants whose names begin alike: their launches are not this one's.
            let alike = all.iter().filter(|(other, longer, _)| {
                *other == family && *longer != variant && longer.starts_with(variant.as_str())
            });
            for (_, longer, _) in alike {
                let path = arguments.records.join(format!("{family}-{longer}.trace"));
                let others = forecast::trace::read(&std::fs::read(path).unwrap_or_default())?;
                launches.retain_mut(|launch| {
                    let same = |other: &&Launch| is_alike(other, launch);
                    launch.launches -= others.iter().find(same).map_or(0, |other| other.launches.min(launch.launches));
                    launch.launches > 0
                });
            }
            let fewest = launches.iter().map(|launch| launch.launches).min().unwrap_or(1).max(1);
            let started = Instant::now();
            let mut forecast_us = 0.0;
            let mut count = 0.0;
            let mut longest: Option<Forecast> = None;
            for launch in &launches {
                let statics = Statics {
                    registers: registers::estimate(code, launch, *device.units.registers_of_item as u32),
                    lds_bytes: 0,
                };
                match forecast(code, launch, statics, &device) {
                    Ok(one) => {
                        let times = f64::from(launch.launches) / f64::from(fewest);
                        forecast_us += (one.seconds - *device.start.launch_seconds) * 1e6 * times;
                        count += times;
                        if arguments.verbose {
                            explain(launch, statics, &one);
                        }
                        if longest.as_ref().is_none_or(|longest| longest.seconds < one.seconds) {
                            longest = Some(one);
                        }
                    }
                    Err(error) => println!("{name}: {error}"),
                }
            }
            modelled += started.elapsed();
            forecast_us += *device.start.launch_seconds * 1e6 + 2.05 * (count - 1.0);
            let bound = longest.map(|one| format!("{:?}", one.bound)).unwrap_or_default();
            rows.push(Row { family, variant, forecast_us, measured_us, bound });
        }
    }
    println!("modelled in {:.2} s", modelled.as_secs_f64());
    score(&rows);
    if let Some(out) = &arguments.csv {
        let lines: Vec<String> = rows
            .iter()
            .map(|row| format!("{},{},{:.2},{:.2}", row.family, row.variant, row.forecast_us, row.measured_us))
            .collect();
        std::fs::write(out, format!("family,variant,forecast_us,measured_us\n{}\n", lines.join("\n")))?;
    }
    Ok(())
}

fn is_alike(one: &Launch, other: &Launch) -> bool {
    (&one.kernel, one.grid, one.block) == (&other.kernel, other.grid, other.block)
}

fn explain(launch: &Launch, statics: Statics, one: &Forecast) {
    println!(
        "  {} {:?} {:?}: {:.1} us, {} registers, {} B shared, {} resident ({:?}), replayed {:.2}, {:.1} MB",
        launch.kernel,
        launch.grid,
        launch.block,
        one.seconds * 1e6,
        statics.registers,
        statics.lds_bytes,
        one.resident,
        one.limit,
        one.outcome.replayed,
        one.memory_bytes / 1e6
    );
    let busy: Vec<String> = one
        .busy
        .iter()
        .filter(|(_, share)| *share > 0.02)
        .map(|(resource, share)| format!("{resource:?} {:.0}%", share * 100.0))
        .collect();
    println!("    {}, {:.3e} instructions", busy.join(", "), one.outcome.instructions);
    let traffic = &one.traffic;
    println!(
        "    read {:.1} MB counted {:.1}, written {:.1} MB counted {:.1}",
        traffic.read_bytes / 1e6,
        traffic.read_cost / 1e6,
        traffic.written_bytes / 1e6,
        traffic.written_cost / 1e6
    );
    for (site, (motion, traffic)) in one.motions.iter().zip(&traffic.sites).enumerate() {
        if traffic.requests > 0.0 {
            println!("      site {site}: {motion:?} requests {:.3e} misses {:.3e}", traffic.requests, traffic.misses);
        }
    }
    for line in one.lines.iter().take(12) {
        println!(
            "    line {:4} {:5.1}% issue {:5.1}% lanes {:.2}",
            line.line,
            line.share * 100.0,
            line.instructions * 100.0,
            line.lanes
        );
        for access in &line.accesses {
            println!(
                "         {:?} {:?} {:.0}/block sectors {:.1} (ideal {:.1}) conflicts {:.2} L1 {:.2} L2 {:.2}",
                access.space,
                access.kind,
                access.per_block,
                access.sectors,
                access.ideal_sectors,
                access.conflict_degree,
                access.l1_hits,
                access.l2_hits
            );
        }
    }
}

fn score(rows: &[Row]) {
    let mut families: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        families.entry(&row.family).or_default().push(row);
    }
    let forecasts: Vec<f64> = rows.iter().map(|row| row.forecast_us).collect();
    let times: Vec<f64> = rows.iter().map(|row| row.measured_us).collect();
    let errors: Vec<f64> = rows.iter().map(|row| (row.forecast_us / row.measured_us).ln()).collect();
    let geometric = (errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64).exp();
    let bias = (errors.iter().sum::<f64>() / errors.len() as f64).exp();
    let mut pairs: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut picks = Vec::new();
    for (family, rows) in &families {
        let ours: Vec<f64> = rows.iter().map(|row| row.forecast_us).collect();
        let theirs: Vec<f64> = rows.iter().map(|row| row.measured_us).collect();
        let pick = rows.iter().min_by(|one, other| one.forecast_us.total_cmp(&other.forecast_us));
        let best = theirs.iter().copied().fold(f64::INFINITY, f64::min);
        let Some(pick) = pick else { continue };
        picks.push(pick.measured_us / best);
        println!(
            "{family:16} n={:2} Spearman {:6.3}  pick {} at {:.2}x of the best",
            rows.len(),
            spearman(&ours, &theirs),
            pick.variant,
            pick.measured_us / best
        );
        for (at, one) in rows.iter().enumerate() {
            for other in &rows[..at] {
                let apart = (one.forecast_us / other.forecast_us).ln().abs().exp();
                let real = (one.measured_us / other.measured_us).ln().abs().exp();
                if real < 1.02 {
                    continue;
                }
                let right = (one.forecast_us < other.forecast_us) == (one.measured_us < other.measured_us);
                let kind = if apart >= 2.0 {
                    "2x"
                } else if apart >= 1.5 {
                    "1.5-2x"
                } else if apart >= 1.15 {
                    "1.15-1.5x"
                } else if apart >= 1.1 {
                    "1.1-1.15x"
                } else if apart >= 1.05 {
                    "1.05-1.1x"
                } else {
                    "<1.05x"
                };
                let count = pairs.entry(kind).or_default();
                count.0 += u32::from(right);
                count.1 += 1;
            }
        }
    }
    println!(
        "{} variants: Spearman {:.3}, geometric-mean error x{geometric:.3} (bias x{bias:.3}), picks {:.3}x of the best",
        rows.len(),
        spearman(&forecasts, &times),
        picks.iter().sum::<f64>() / picks.len() as f64
    );
    for (kind, (right, all)) in pairs {
        println!("  pairs {kind:10} {right} of {all} right");
    }
    let mut worst: Vec<&Row> = rows.iter().collect();
    worst.sort_by(|one, other| {
        (other.forecast_us / other.measured_us).ln().abs().total_cmp(&(one.forecast_us / one.measured_us).ln().abs())
    });
    for row in worst.iter().take(40) {
        println!(
            "  {:16} {:28} {:10.1} measured {:10.1}  x{:.2}  {}",
            row.family,
            row.variant,
            row.forecast_us,
            row.measured_us,
            row.forecast_us / row.measured_us,
            row.bound
        );
    }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| *other == value).count() as f64;
            below + (equal - 1.0) / 2.0
        })
        .collect()
}

fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product: f64 = one.iter().zip(&other).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let square = |ranks: &[f64]| ranks.iter().map(|rank| (rank - mean) * (rank - mean)).sum::<f64>();
    product / (square(&one) * square(&other)).sqrt()
}

fn measured(path: &Path) -> Result<Vec<(String, String, f64)>, std::io::Error> {
    let text = std::fs::read_to_string(path)?;
    Ok(text
        .lines()
        .filter_map(|line| {
            let mut parts = line.split([',', ' ']);
            Some((parts.next()?.to_owned(), parts.next()?.to_owned(), parts.next()?.parse().ok()?))
        })
        .collect())
}

fn read(mut all: impl Iterator<Item = String>) -> Result<Arguments, &'static str> {
    const USAGE: &str = "usage: score [--on DEVICE] [--table FILE] [--only PART] [--csv OUT] [-v] RECORDS TIMES.csv...";
    let mut read = Arguments { on: "h200".into(), ..Arguments::default() };
    while let Some(argument) = all.next() {
        let mut value = || all.next().ok_or(USAGE);
        match argument.as_str() {
            "--on" => read.on = value()?,
            "--only" => read.only = value()?,
            "--table" => read.table = Some(value()?.into()),
            "--csv" => read.csv = Some(value()?.into()),
            "-v" => read.verbose = true,
            folder if read.records.as_os_str().is_empty() => read.records = folder.into(),
            file => read.times.push(file.into()),
        }
    }
    if read.times.is_empty() { Err(USAGE) } else { Ok(read) }
}
