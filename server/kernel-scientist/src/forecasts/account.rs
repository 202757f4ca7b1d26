//! One kernel's forecast as text: the time, what it is made of, and the lines that matter.

use lab::forecast::{AccessForecast, KernelForecast, LineForecast};

use crate::cli::figures;

/// Lines that take less than this share are left out.
const LEAST_SHARE: f64 = 0.02;
/// Lines shown at most.
pub const MOST_LINES: usize = 12;
/// Resources shown at most.
const MOST_BUSY: usize = 5;
/// Column of what is said of a line.
const INDENT: usize = 15;

/// The account of one kernel and launch shape.
pub fn text(kernel: &KernelForecast, shape: Option<&str>, source: &str) -> String {
    let shape = shape.map_or_else(String::new, |shape| format!("{shape}, "));
    let launches = match kernel.launches {
        1 => String::new(),
        count => format!(", {count} launches"),
    };
    let mut out = format!("{}  ({shape}{}{launches})\n", kernel.name, kernel.shape());
    for (name, value) in summary(kernel) {
        out.push_str(&figures::wrapped(&format!("  {name}: {value}"), 6));
    }
    let lines: Vec<&str> = source.lines().collect();
    let mut shown = kernel.lines.iter().filter(|line| line.share >= LEAST_SHARE).take(MOST_LINES).peekable();
    if shown.peek().is_some() {
        out.push_str("   line  share\n");
    }
    for line in shown {
        out.push_str(&of_line(line, &lines));
    }
    out
}

/// What there is to say of a kernel as a whole: the name of each thing, and it.
pub fn summary(kernel: &KernelForecast) -> Vec<(&'static str, String)> {
    let rows = [
        ("time", time(kernel)),
        ("busy", busy(kernel)),
        ("roofline", roofline(kernel)),
        ("occupancy", occupancy(kernel)),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn time(kernel: &KernelForecast) -> String {
    let range = format!("{} .. {}", figures::time(kernel.low_us * 1e3), figures::time(kernel.high_us * 1e3));
    format!("{} (nine of ten within {range}), bound by {}", figures::time(kernel.us * 1e3), kernel.bound)
}

fn busy(kernel: &KernelForecast) -> String {
    let shares: Vec<String> =
        kernel.busy.iter().take(MOST_BUSY).map(|busy| format!("{} {}", busy.resource, percent(busy.share))).collect();
    shares.join(" · ")
}

fn roofline(kernel: &KernelForecast) -> String {
    let roofline = &kernel.roofline;
    format!(
        "{}/s of memory traffic, {} of what the memory can; {} at {} of its peak",
        bytes(roofline.bytes_per_second),
        percent(roofline.memory_share),
        roofline.arithmetic,
        percent(roofline.arithmetic_share)
    )
}

fn occupancy(kernel: &KernelForecast) -> String {
    let occupancy = &kernel.occupancy;
    let estimated = if occupancy.registers_from_code { "" } else { " (estimated)" };
    format!(
        "{} of {} waves on a unit ({} blocks), limited by {}; {} registers{estimated}, {} B of LDS a block",
        occupancy.waves,
        occupancy.most_waves,
        occupancy.blocks,
        occupancy.limited_by,
        occupancy.registers,
        occupancy.lds_bytes
    )
}

fn of_line(line: &LineForecast, lines: &[&str]) -> String {
    let text = match (line.line as usize).checked_sub(1).and_then(|number| lines.get(number)) {
        Some(text) => text.trim(),
        None => "(code whose line is not known)",
    };
    let number = if line.line == 0 { "-".to_owned() } else { line.line.to_string() };
    let mut out = format!("  {number:>5}  {:>5}  {text}\n", percent(line.share));
    for said in notes(line) {
        out.push_str(&figures::wrapped(&format!("{:INDENT$}{said}", ""), INDENT + 2));
    }
    out
}

/// What there is to say of a line, each on a line of its own.
pub fn notes(line: &LineForecast) -> Vec<String> {
    let mut notes: Vec<String> = line.accesses.iter().map(of_access).collect();
    if line.lanes < 0.95 {
        notes.push(format!("{} of a wave's work-items take part", percent(line.lanes)));
    }
    notes
}

fn of_access(access: &AccessForecast) -> String {
    let mut said = format!("{} {}", access.memory, access.kind);
    let mut add = |text: String| {
        said.push_str(", ");
        said.push_str(&text);
    };
    match access.memory.as_str() {
        "shared" if access.conflict_degree >= 1.05 => {
            add(format!("{:.1}-way bank conflicts  <--", access.conflict_degree));
        }
        "shared" => add("no bank conflicts".into()),
        _ => {
            let mark = if access.sectors > 1.25 * access.ideal_sectors { "  <--" } else { "" };
            add(format!("{:.1} sectors an access (ideal {:.1}){mark}", access.sectors, access.ideal_sectors));
        }
    }
    if access.memory == "scratch" {
        add("a variable that is no register  <--".into());
    }
    if access.kind == "load" && access.memory != "shared" {
        add(format!("L1 hits {}, L2 hits {}", percent(access.l1_hits), percent(access.l2_hits)));
    }
    if access.kind == "atomic" && access.same_address > 1.5 {
        add(format!("{:.0} work-items of a wave on one address  <--", access.same_address));
    }
    if access.retries {
        add("compare-and-swap: what is tried again where others come first is not in this time  <--".into());
    }
    said
}

/// `37%`, and one decimal below 10.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

fn bytes(count: f64) -> String {
    match count {
        count if count < 1e6 => format!("{:.1} kB", count / 1e3),
        count if count < 1e9 => format!("{:.1} MB", count / 1e6),
        count if count < 1e12 => format!("{:.1} GB", count / 1e9),
        _ => format!("{:.2} TB", count / 1e12),
    }
}

#[cfg(test)]
pub mod tests {
    use lab::forecast::Basis;
    use lab::forecast::account::{Busy, Occupancy, Roofline};

    use super::*;

    /// What forecasts for MI300X rest on.
    pub fn basis() -> Basis {
        Basis {
            device: "mi300x".into(),
            title: "MI300X".into(),
            model: "0.1.0".into(),
            table: "0123456789ab".into(),
            validated_on: "H200".into(),
            of_this_device: false,
            odds: None,
        }
    }

    /// An access.
    pub fn access(memory: &str, kind: &str, sectors: f64, conflict_degree: f64) -> AccessForecast {
        AccessForecast {
            memory: memory.into(),
            kind: kind.into(),
            per_block: 32.0,
            sectors,
            ideal_sectors: 4.0,
            conflict_degree,
            l1_hits: 0.25,
            l2_hits: 0.5,
            same_address: if kind == "atomic" { 64.0 } else { 1.0 },
            retries: false,
        }
    }

    /// A line with its share and accesses.
    pub fn line(number: u32, share: f64, accesses: Vec<AccessForecast>) -> LineForecast {
        LineForecast {
            line: number,
            share,
            sectors: accesses.iter().filter(|a| a.memory == "global").map(|a| a.sectors).fold(0.0, f64::max),
            ideal_sectors: 4.0,
            conflict_degree: accesses.iter().map(|a| a.conflict_degree).fold(1.0, f64::max),
            instructions: share,
            lanes: if number == 2 { 0.5 } else { 1.0 },
            accesses,
        }
    }

    /// A kernel with these lines.
    pub fn kernel(us: f64, lines: Vec<LineForecast>) -> KernelForecast {
        KernelForecast {
            name: "transpose<float>".into(),
            grid: [64, 64, 1],
            block: [32, 8, 1],
            launches: 3,
            us,
            low_us: us / 1.5,
            high_us: us * 1.5,
            bound: "LDS".into(),
            busy: vec![Busy { resource: "LDS".into(), share: 0.871 }, Busy { resource: "memory".into(), share: 0.05 }],
            occupancy: Occupancy {
                blocks: 8,
                waves: 32,
                most_waves: 32,
                limited_by: "waves".into(),
                registers: 14,
                registers_from_code: true,
                lds_bytes: 4096,
            },
            roofline: Roofline {
                memory_bytes: 33.5e6,
                bytes_per_second: 1.31e12,
                memory_share: 0.247,
                arithmetic_share: 0.012,
                arithmetic: "integer".into(),
            },
            lines,
        }
    }

    #[test]
    fn the_account_names_what_is_wrong_with_each_line() {
        let lines = vec![
            line(3, 0.6, vec![access("shared", "load", 0.0, 32.0), access("global", "store", 4.0, 1.0)]),
            line(2, 0.25, vec![access("global", "load", 32.0, 1.0)]),
            line(1, 0.1, vec![access("global", "atomic", 4.0, 1.0), access("scratch", "load", 4.0, 1.0)]),
            line(0, 0.05, vec![AccessForecast { retries: true, ..access("global", "atomic", 4.0, 1.0) }]),
            line(4, 0.001, Vec::new()),
        ];
        let source = "atomicAdd(bins, x[i]);\n  tile[y][x] = in[x * n + y];\n\tout[i] = tile[x][y];\nreturn;\n";
        insta::assert_snapshot!(text(&kernel(25.6, lines), Some("n=2048"), source), @r"
        transpose<float>  (n=2048, grid 64x64x1 block 32x8x1, 3 launches)
          time: 25.6 us (nine of ten within 17.1 us .. 38.4 us), bound by LDS
          busy: LDS 87% · memory 5.0%
          roofline: 1.31 TB/s of memory traffic, 25% of what the memory can; integer at
              1.2% of its peak
          occupancy: 32 of 32 waves on a unit (8 blocks), limited by waves; 14
              registers, 4096 B of LDS a block
           line  share
              3    60%  out[i] = tile[x][y];
                       shared load, 32.0-way bank conflicts <--
                       global store, 4.0 sectors an access (ideal 4.0)
              2    25%  tile[y][x] = in[x * n + y];
                       global load, 32.0 sectors an access (ideal 4.0) <--, L1 hits 25%,
                         L2 hits 50%
                       50% of a wave's work-items take part
              1    10%  atomicAdd(bins, x[i]);
                       global atomic, 4.0 sectors an access (ideal 4.0), 64 work-items
                         of a wave on one address <--
                       scratch load, 4.0 sectors an access (ideal 4.0), a variable that
                         is no register <--, L1 hits 25%, L2 hits 50%
              -   5.0%  (code whose line is not known)
                       global atomic, 4.0 sectors an access (ideal 4.0), 64 work-items
                         of a wave on one address <--, compare-and-swap: what is tried
                         again where others come first is not in this time <--
        ");
    }
}
