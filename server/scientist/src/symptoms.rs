//! What a forecast shows on a kernel's lines, and which hypotheses cure it.
//!
//! A change that cures something cannot gain more than what that costs (Amdahl's law): with a share `s` of the time that
//! would go, at most `1 / (1 - s)`. Where the forecast does not show the symptom, nothing is to be gained, whatever the
//! pattern in the text looks like.

use lab::forecast::{AccessForecast, KernelForecast, LineForecast};

use crate::stages::{GainRange, Hypothesis};

/// What a change may cure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// Work-items of a wave that meet in one bank of LDS.
    BankConflicts,
    /// Accesses to global memory that touch more sectors than their bytes need.
    ScatteredAccesses,
    /// Work-items that add to one address.
    Contention,
}

/// A line with a symptom.
#[derive(Clone, Debug, PartialEq)]
pub struct Sick<'a> {
    /// The line.
    pub line: &'a LineForecast,
    /// In words: `32-way bank conflicts`.
    pub what: String,
    /// Share of the kernel's time that would go, 0 to 1.
    pub share: f64,
}

/// Below this share a symptom is not worth a word.
const LEAST: f64 = 0.005;
/// A cure is expected to bring at least this part of what it can.
const LOW_END: f64 = 0.25;
/// Expected where the forecast sees nothing to cure, in percent.
const NOTHING: GainRange = GainRange { min_percent: -2.0, max_percent: 1.0 };

/// What a hypothesis of the catalog cures, by its name; `None` for one whose gain has other sources.
pub fn cured_by(name: &str) -> Option<Symptom> {
    match name {
        "lds-padding" | "lds-swizzle" => Some(Symptom::BankConflicts),
        "swap-axes" | "lds-transpose" => Some(Symptom::ScatteredAccesses),
        "private-histogram" | "wave-atomics" => Some(Symptom::Contention),
        _ => None,
    }
}

/// The lines of a kernel that have a symptom, the most expensive first.
pub fn sick(kernel: &KernelForecast, symptom: Symptom) -> Vec<Sick<'_>> {
    let mut sick: Vec<Sick<'_>> = kernel.lines.iter().filter_map(|line| examine(line, symptom)).collect();
    sick.sort_by(|one, other| other.share.total_cmp(&one.share));
    sick
}

/// All that is worth a word on a line, whatever it is.
pub fn of_line(line: &LineForecast) -> Vec<Sick<'_>> {
    [Symptom::BankConflicts, Symptom::ScatteredAccesses, Symptom::Contention]
        .into_iter()
        .filter_map(|symptom| examine(line, symptom))
        .collect()
}

fn examine(line: &LineForecast, symptom: Symptom) -> Option<Sick<'_>> {
    let (excess, what) = match symptom {
        Symptom::BankConflicts => {
            let degree = line.conflict_degree;
            (1.0 - 1.0 / degree.max(1.0), format!("{degree:.0}-way bank conflicts"))
        }
        Symptom::ScatteredAccesses => {
            let (sectors, ideal) = (line.sectors, line.ideal_sectors);
            let excess = if sectors > 0.0 { 1.0 - (ideal / sectors).min(1.0) } else { 0.0 };
            let mut global = line.accesses.iter().filter(|access| access.memory == "global");
            let differ = global.any(|access| (access.sectors - sectors).abs() > 0.05);
            // The account of the line has each access by itself.
            let counted = if differ { "an access on average, " } else { "an access " };
            (excess, format!("{sectors:.1} sectors {counted}where {ideal:.1} would do"))
        }
        Symptom::Contention => {
            let atomics = line.accesses.iter().filter(|access| access.kind == "atomic" && access.memory == "global");
            let together = atomics.map(|access: &AccessForecast| access.same_address).fold(1.0, f64::max);
            (1.0 - 1.0 / together, format!("{together:.0} work-items of a wave on one address"))
        }
    };
    let share = excess * line.share;
    (share >= LEAST).then_some(Sick { line, what, share })
}

/// A hypothesis with the gain that the forecast of its kernel leaves it, and the line that it cures in its reason.
/// Unchanged where there is no forecast, or where its gain has other sources.
pub fn judged(mut hypothesis: Hypothesis, forecast: &[KernelForecast]) -> Hypothesis {
    let name = hypothesis.key.split(':').next().unwrap_or_default();
    let Some(symptom) = cured_by(name) else { return hypothesis };
    let kernels = forecast.iter().filter(|kernel| is_named(&kernel.name, &hypothesis.kernel));
    // The shape where there is most to gain.
    let looked: Vec<Vec<Sick<'_>>> = kernels.map(|kernel| sick(kernel, symptom)).collect();
    let total = |sick: &Vec<Sick<'_>>| sick.iter().map(|sick| sick.share).sum::<f64>().min(0.98);
    let Some(most) = looked.iter().max_by(|one, other| total(one).total_cmp(&total(other))) else {
        return hypothesis;
    };
    let Some(worst) = most.first() else {
        hypothesis.gain = NOTHING;
        hypothesis.reason.push_str(" The forecast shows nothing of the kind here.");
        return hypothesis;
    };
    let max_percent = (1.0 / (1.0 - total(most)) - 1.0) * 100.0;
    hypothesis.gain = GainRange { min_percent: LOW_END * max_percent, max_percent };
    hypothesis.reason.push_str(&format!(
        " Forecast: line {} takes {:.0}% of the time, with {}.",
        worst.line.line,
        worst.line.share * 100.0,
        worst.what
    ));
    hypothesis
}

/// Whether a launch's name, which may come with namespaces and template arguments, is that of a kernel.
fn is_named(launched: &str, kernel: &str) -> bool {
    let bare = |name: &str| {
        let head = name.split('<').next().unwrap_or(name);
        head.rsplit("::").next().unwrap_or(head).trim().to_owned()
    };
    bare(launched) == bare(kernel)
}

#[cfg(test)]
mod tests {
    use lab::forecast::{Occupancy, Roofline};

    use super::*;

    fn line(number: u32, share: f64, degree: f64, sectors: (f64, f64), same_address: f64) -> LineForecast {
        let atomic = AccessForecast {
            memory: "global".into(),
            kind: "atomic".into(),
            per_block: 1.0,
            sectors: sectors.0,
            ideal_sectors: sectors.1,
            conflict_degree: 1.0,
            l1_hits: 0.0,
            l2_hits: 0.0,
            same_address,
            retries: false,
        };
        LineForecast {
            line: number,
            share,
            sectors: sectors.0,
            ideal_sectors: sectors.1,
            conflict_degree: degree,
            instructions: 0.1,
            lanes: 1.0,
            accesses: vec![atomic],
        }
    }

    fn kernel(lines: Vec<LineForecast>) -> KernelForecast {
        KernelForecast {
            name: "ns::transpose<float>".into(),
            grid: [1; 3],
            block: [64, 1, 1],
            launches: 1,
            us: 10.0,
            low_us: 8.0,
            high_us: 12.0,
            bound: "LDS".into(),
            busy: Vec::new(),
            occupancy: Occupancy {
                blocks: 1,
                waves: 1,
                most_waves: 32,
                limited_by: "waves".into(),
                registers: 16,
                registers_from_code: true,
                lds_bytes: 0,
            },
            roofline: Roofline {
                memory_bytes: 0.0,
                bytes_per_second: 0.0,
                memory_share: 0.0,
                arithmetic_share: 0.0,
                arithmetic: "fp32".into(),
            },
            lines,
        }
    }

    fn plan(key: &str) -> Hypothesis {
        Hypothesis {
            key: key.into(),
            kernel: "transpose".into(),
            title: String::new(),
            reason: "Because.".into(),
            source: String::new(),
            rubric: String::new(),
            line: 1,
            gain: GainRange { min_percent: 5.0, max_percent: 20.0 },
            innovation: 10,
            author: None,
            present: Vec::new(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn a_cure_gains_at_most_what_its_symptom_costs() {
        let forecast = [kernel(vec![line(7, 0.6, 32.0, (4.0, 4.0), 1.0), line(8, 0.4, 1.0, (4.0, 4.0), 1.0)])];
        let judged = judged(plan("lds-padding:tile"), &forecast);
        let gone = 0.6 * (1.0 - 1.0 / 32.0);
        assert!((judged.gain.max_percent - (1.0 / (1.0 - gone) - 1.0) * 100.0).abs() < 1e-9, "{:?}", judged.gain);
        assert_eq!(judged.reason, "Because. Forecast: line 7 takes 60% of the time, with 32-way bank conflicts.");
    }

    #[test]
    fn what_the_forecast_does_not_show_is_not_expected_to_gain() {
        let healthy = [kernel(vec![line(7, 1.0, 1.0, (4.0, 4.0), 1.0)])];
        assert_eq!(judged(plan("lds-padding:tile"), &healthy).gain, NOTHING);
        // Without a forecast, of another kernel, or for what cures nothing in particular, the catalog's word stands.
        for (key, kernel, forecast) in [
            ("lds-padding:tile", "transpose", &[][..]),
            ("lds-padding:t", "other", &healthy),
            ("unroll:k", "transpose", &healthy),
        ] {
            let plan = Hypothesis { kernel: kernel.into(), ..plan(key) };
            assert_eq!(judged(plan.clone(), forecast), plan);
        }
    }

    /// The account of such a line names 32 and 2, its hint 32; this is neither.
    #[test]
    fn the_mean_of_accesses_that_differ_is_called_one() {
        let mut sick = line(3, 0.5, 1.0, (32.0, 4.0), 1.0);
        sick.accesses.push(AccessForecast { sectors: 2.0, ..sick.accesses[0].clone() });
        sick.sectors = 17.0;
        assert_eq!(of_line(&sick)[0].what, "17.0 sectors an access on average, where 4.0 would do");
    }

    #[test]
    fn each_symptom_is_seen_in_its_figures() {
        for (symptom, sick_line, what) in [
            (Symptom::BankConflicts, line(3, 0.5, 2.0, (4.0, 4.0), 1.0), "2-way bank conflicts"),
            (
                Symptom::ScatteredAccesses,
                line(3, 0.5, 1.0, (32.0, 4.0), 1.0),
                "32.0 sectors an access where 4.0 would do",
            ),
            (Symptom::Contention, line(3, 0.5, 1.0, (0.0, 0.0), 64.0), "64 work-items of a wave on one address"),
        ] {
            let kernel = kernel(vec![sick_line, line(4, 0.5, 1.0, (4.0, 4.0), 1.0)]);
            let found = sick(&kernel, symptom);
            assert_eq!((found.len(), found[0].what.as_str()), (1, what), "{symptom:?}");
            assert_eq!(of_line(&kernel.lines[0]), found);
        }
    }
}
