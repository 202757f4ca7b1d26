//! The few words that an editor shows at the end of a line: its share of the kernel's time and what is wrong with it.

use lab::forecast::{AccessForecast, LineForecast};

use super::account::percent;

/// A line that takes this share of its kernel's time is worth a word, whatever it does.
const MUCH: f64 = 0.1;
/// Below this share nothing is worth a word.
const LEAST: f64 = 0.02;
/// Sectors beyond the ideal, as a ratio, from which an access counts as uncoalesced.
const UNCOALESCED: f64 = 1.25;
/// Degree from which accesses to LDS count as in conflict.
const CONFLICTS: f64 = 1.5;
/// Share of a wave's work-items below which a line counts as divergent.
const DIVERGENT: f64 = 0.75;
/// Work-items of a wave on one address from which atomics count as contended.
const CONTENDED: f64 = 1.5;

/// `37% · 16 sectors, ideal 4 · 32-way LDS conflicts`; `None` for a line that does not matter.
pub fn of_line(line: &LineForecast) -> Option<String> {
    if line.line == 0 || line.share < LEAST {
        return None;
    }
    let symptoms: Vec<String> = [uncoalesced(line), conflicts(line), scratch(line), contention(line), divergence(line)]
        .into_iter()
        .flatten()
        .collect();
    if symptoms.is_empty() && line.share < MUCH {
        return None;
    }
    Some(std::iter::once(percent(line.share)).chain(symptoms).collect::<Vec<_>>().join(" · "))
}

/// Accesses of one kind of memory.
fn of<'a>(line: &'a LineForecast, memory: &'a str) -> impl Iterator<Item = &'a AccessForecast> {
    line.accesses.iter().filter(move |access| access.memory == memory)
}

/// The access to global memory that wastes most.
fn uncoalesced(line: &LineForecast) -> Option<String> {
    let waste = |access: &AccessForecast| access.per_block * (access.sectors - access.ideal_sectors);
    let is_one = |access: &&AccessForecast| access.sectors > UNCOALESCED * access.ideal_sectors;
    let worst = of(line, "global").filter(is_one).max_by(|one, other| waste(one).total_cmp(&waste(other)))?;
    // Where the line has others, which are as good as they can be or not, this is said of one of them.
    let kind = if of(line, "global").any(|other| other != worst) { format!("{}: ", worst.kind) } else { String::new() };
    Some(format!("{kind}{} sectors, ideal {}", count(worst.sectors), count(worst.ideal_sectors)))
}

fn conflicts(line: &LineForecast) -> Option<String> {
    let degree = of(line, "shared").map(|access| access.conflict_degree).fold(1.0, f64::max);
    (degree >= CONFLICTS).then(|| format!("{}-way LDS conflicts", count(degree)))
}

/// Variables that are no registers: arrays that are indexed at run time, and what was spilt.
fn scratch(line: &LineForecast) -> Option<String> {
    of(line, "scratch").next().map(|_| "scratch memory".to_owned())
}

fn contention(line: &LineForecast) -> Option<String> {
    let atomics = line.accesses.iter().filter(|access| access.kind == "atomic");
    let together = atomics.map(|access| access.same_address).fold(1.0, f64::max);
    (together >= CONTENDED).then(|| format!("atomics: {} of a wave on one address", count(together)))
}

fn divergence(line: &LineForecast) -> Option<String> {
    (line.lanes < DIVERGENT).then(|| format!("{} of the lanes", percent(line.lanes)))
}

/// A count that need not be whole: `16`, `2.5`.
fn count(value: f64) -> String {
    if value >= 9.95 || (value - value.round()).abs() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::super::account::tests::{access, line};
    use super::*;

    #[test]
    fn only_what_matters_is_worth_a_word() {
        let scattered = access("global", "load", 16.0, 1.0);
        let fine = access("global", "store", 4.0, 1.0);
        let banks = access("shared", "load", 0.0, 32.0);
        let scratch = access("scratch", "load", 4.0, 1.0);
        let atomic = access("global", "atomic", 4.0, 1.0);
        for (line, expected) in [
            (
                line(3, 0.374, vec![scattered.clone(), fine.clone(), banks]),
                Some("37% · load: 16 sectors, ideal 4 · 32-way LDS conflicts"),
            ),
            (line(3, 0.374, vec![scattered.clone()]), Some("37% · 16 sectors, ideal 4")),
            (line(3, 0.03, vec![scratch]), Some("3.0% · scratch memory")),
            (line(3, 0.05, vec![atomic]), Some("5.0% · atomics: 64 of a wave on one address")),
            // Line 2 of the samples has half of its lanes.
            (line(2, 0.2, vec![fine.clone()]), Some("20% · 50% of the lanes")),
            (line(3, 0.6, Vec::new()), Some("60%")),
            (line(3, 0.09, vec![fine]), None),
            (line(3, 0.01, vec![scattered]), None),
            (line(0, 0.9, Vec::new()), None),
        ] {
            assert_eq!(of_line(&line).as_deref(), expected);
        }
    }

    #[test]
    fn counts_have_a_decimal_only_where_it_says_something() {
        assert_eq!([2.0, 2.04, 2.5, 31.96].map(count), ["2", "2", "2.5", "32"]);
    }
}
