//! Medians with a 95% interval, speed ratios with a 99% interval, and the verdicts that follow from these.
//!
//! Everything here is a pure function of the samples. Intervals come from ranks, so they assume no shape of the noise:
//! - A **time** is the median with the order-statistic interval, widened where neighbouring samples resemble each other
//!   (a drifting clock makes a thousand samples worth fewer).
//! - A **ratio** comes from interleaved pairs. Within a pair the order is random and the two runs are neighbours in
//!   time, so drift and slow spells cancel, and under equal speed each log-ratio is as likely positive as negative:
//!   the setting of Wilcoxon's signed-rank test. The estimate is that of Hodges and Lehmann (*Estimates of location based
//!   on rank tests*, 1963), and it stands up to more than a quarter of the pairs being spoiled.
//! - Where code and data lie in memory makes equal code differ by up to a few percent, for as long as its process lives
//!   (Mytkowicz and others, *Producing wrong data without doing anything obviously wrong!*, 2009). So pairs of one process,
//!   a **sitting**, give one estimate, and the interval comes from the estimates of several sittings, in the same way. For
//!   several shapes a sitting's estimate is their geometric mean: they share what is particular to the sitting.
//!
//! The interval of a time is there to be read. That of a ratio decides, so it is the wider one: on a machine so noisy that
//! the band of [`SAME_BAND`] is no help, equal code is still called different in no more than one comparison in a hundred.
//!
//! Fewer than six samples cannot give a 95% interval from ranks alone, nor fewer than eight pairs a 99% one: there Student's
//! t on the logarithms is used, which is wide, and one sample alone says nothing about the spread.

use crate::measurement::{Figure, SpeedRatio};
use crate::verdict::Verdict;

/// Ratios within 1% of one, either way, count as the same speed.
pub const SAME_BAND: f64 = 0.01;

/// A level of confidence, with the points of the distributions at half of what it leaves out.
struct Level {
    /// The probability on each side of the interval.
    tail: f64,
    /// Samples from which ranks alone give an interval: the first n with 2^-n below the tail.
    fewest_for_ranks: usize,
    /// The normal distribution's point.
    normal: f64,
    /// Student's t for 1, 2, ... degrees of freedom, up to the fewest samples for ranks.
    student: &'static [f64],
}

/// For times.
const LEVEL_95: Level =
    Level { tail: 0.025, fewest_for_ranks: 6, normal: 1.959_964, student: &[12.706, 4.303, 3.182, 2.776] };

/// For ratios.
const LEVEL_99: Level = Level {
    tail: 0.005,
    fewest_for_ranks: 8,
    normal: 2.575_829,
    student: &[63.657, 9.925, 5.841, 4.604, 4.032, 3.707],
};

/// More pairs than this are first joined to medians of neighbours: the Walsh averages grow with the square.
const MOST_PAIRS: usize = 512;

/// Two runs that were neighbours in time, in nanoseconds (or any one unit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Time of the baseline.
    pub baseline: f64,
    /// Time of the candidate.
    pub candidate: f64,
}

/// Median of `values`; `None` when there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(0.5 * (sorted[middle - 1] + sorted[middle])),
    }
}

/// The median of `samples` (nanoseconds, in the order they were taken) with its 95% interval; `None` when there are none.
///
/// A single sample gets an interval of ±100%, by convention: its spread is unknown.
pub fn figure(samples: Vec<f64>) -> Option<Figure> {
    let median_ns = median(&samples)?;
    let (low_ns, high_ns) = if samples.len() < LEVEL_95.fewest_for_ranks {
        few_samples_interval(&samples, median_ns)
    } else {
        order_statistic_interval(&samples)
    };
    Some(Figure { median_ns, low_ns, high_ns, samples })
}

/// Speed of the candidate relative to the baseline from interleaved pairs, with its 99% interval; pairs with a time that is not positive and
/// finite are left out. `None` when no pair is left.
///
/// With one pair the interval is `0 ..= f64::MAX`: nothing is known.
pub fn speed(pairs: &[Pair]) -> Option<SpeedRatio> {
    speed_of_logs(&logs(pairs))
}

/// The same from logarithms of ratios that are independent: of pairs, or of sittings by [`sitting`].
pub fn speed_of_logs(logs: &[f64]) -> Option<SpeedRatio> {
    let logs = join_neighbours(logs);
    let (low, estimate, high) = match logs.len() {
        0 => return None,
        1 => return Some(SpeedRatio { ratio: logs[0].exp(), low: 0.0, high: f64::MAX }),
        n if n < LEVEL_99.fewest_for_ranks => student_interval(&logs, &LEVEL_99),
        _ => signed_rank_interval(&logs),
    };
    Some(SpeedRatio { ratio: estimate.exp(), low: low.exp(), high: high.exp().min(f64::MAX) })
}

/// The logarithm of the speed ratio in one sitting, by its pairs.
pub fn sitting(pairs: &[Pair]) -> Option<f64> {
    let logs = join_neighbours(&logs(pairs));
    let mut averages = walsh_averages(&logs);
    (!averages.is_empty()).then(|| middle(&mut averages))
}

/// Whether an interval is narrow enough to stop at: half of it is below `half_width` as a share of the ratio, or below a
/// twentieth of a difference that is far larger.
pub fn is_narrow(speed: &SpeedRatio, half_width: f64) -> bool {
    if speed.low <= 0.0 {
        return false;
    }
    let half = 0.5 * (speed.high / speed.low).ln();
    half <= half_width.max(0.05 * speed.ratio.ln().abs())
}

/// The verdict of a ratio's interval against the band of [`SAME_BAND`].
pub fn verdict(speed: &SpeedRatio) -> Verdict {
    verdict_with_band(speed, SAME_BAND)
}

/// The verdict where ratios from `1 / (1 + band)` to `1 + band` count as the same.
pub fn verdict_with_band(speed: &SpeedRatio, band: f64) -> Verdict {
    let (slow_edge, fast_edge) = (1.0 / (1.0 + band), 1.0 + band);
    if speed.low > fast_edge {
        Verdict::Faster
    } else if speed.high < slow_edge {
        Verdict::Slower
    } else if speed.low >= slow_edge && speed.high <= fast_edge {
        Verdict::Same
    } else {
        Verdict::Inconclusive
    }
}

/// Interval for two to five samples: Student's t on the logarithms, never narrower than the samples themselves.
fn few_samples_interval(samples: &[f64], median: f64) -> (f64, f64) {
    let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if samples.len() == 1 {
        return (0.0, 2.0 * median);
    }
    if least <= 0.0 {
        return (least, most);
    }
    let logs: Vec<f64> = samples.iter().map(|sample| sample.ln()).collect();
    let (low, _, high) = student_interval(&logs, &LEVEL_95);
    (low.exp().min(least), high.exp().max(most))
}

/// Mean with Student's t interval, for two values or more.
fn student_interval(values: &[f64], level: &Level) -> (f64, f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = level.student[(values.len() - 2).min(level.student.len() - 1)] * (variance / count).sqrt();
    (mean - half, mean, mean + half)
}

/// The distribution-free interval of the median, its distance from the middle stretched for correlated samples.
fn order_statistic_interval(samples: &[f64]) -> (f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let middle = count as f64 / 2.0;
    let distance = (middle - binomial_rank(count) as f64) * correlation_time(samples).sqrt();
    let rank = (middle - distance).floor().max(1.0) as usize;
    (sorted[rank - 1], sorted[count - rank])
}

/// Largest rank r (from 1) such that at most 2.5% of the draws of a fair coin show fewer than r heads in `count` throws.
fn binomial_rank(count: usize) -> usize {
    if count > 1000 {
        let half = LEVEL_95.normal * (count as f64).sqrt() / 2.0;
        return ((count as f64 / 2.0 - half).floor() as usize).max(1);
    }
    let mut term = 0.5_f64.powi(count as i32);
    let mut cumulative = term;
    let mut rank = 0;
    while cumulative <= LEVEL_95.tail {
        rank += 1;
        term *= (count - rank + 1) as f64 / rank as f64;
        cumulative += term;
    }
    rank.max(1)
}

/// How many neighbouring samples are worth one: 1 for independent samples, more under drift.
///
/// The integrated autocorrelation of "above or below the median", summed while it stands out from the noise of its own
/// estimate.
fn correlation_time(samples: &[f64]) -> f64 {
    let Some(middle) = median(samples) else { return 1.0 };
    let signs: Vec<f64> = samples
        .iter()
        .map(|sample| match sample.total_cmp(&middle) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => 1.0,
        })
        .collect();
    let power: f64 = signs.iter().map(|sign| sign * sign).sum();
    if power == 0.0 {
        return 1.0;
    }
    let noise = 1.0 / (samples.len() as f64).sqrt();
    let mut time = 1.0;
    for lag in 1..samples.len() / 2 {
        let products: f64 = signs.iter().zip(&signs[lag..]).map(|(first, second)| first * second).sum();
        let correlation = products / power;
        if correlation < noise {
            break;
        }
        time += 2.0 * correlation;
    }
    time
}

/// Medians of neighbours where there are more than [`MOST_PAIRS`] values, else the values.
fn join_neighbours(logs: &[f64]) -> Vec<f64> {
    if logs.len() <= MOST_PAIRS {
        return logs.to_vec();
    }
    let group = logs.len().div_ceil(MOST_PAIRS);
    logs.chunks(group).filter_map(median).collect()
}

/// Hodges and Lehmann's estimate (median of all means of two) with the interval of the signed-rank test.
fn signed_rank_interval(values: &[f64]) -> (f64, f64, f64) {
    let mut averages = walsh_averages(values);
    let last = averages.len() - 1;
    let rank = signed_rank_critical(values.len(), &LEVEL_99);
    let mut at = |index: usize| *averages.select_nth_unstable_by(index, f64::total_cmp).1;
    let (low, high) = (at(rank), at(last - rank));
    (low, middle(&mut averages), high)
}

/// All means of two of the values, each with itself included.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, first) in values.iter().enumerate() {
        averages.extend(values[index..].iter().map(|second| 0.5 * (first + second)));
    }
    averages
}

/// The median of values that are not empty; changes their order.
fn middle(values: &mut [f64]) -> f64 {
    let last = values.len() - 1;
    let mut at = |index: usize| *values.select_nth_unstable_by(index, f64::total_cmp).1;
    0.5 * (at(last / 2) + at(last.div_ceil(2)))
}

/// Logarithms of the pairs' ratios, where there is one.
fn logs(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().map(|pair| (pair.baseline / pair.candidate).ln()).filter(|log| log.is_finite()).collect()
}

/// Largest w such that the signed-rank statistic of `count` symmetric values is at most w with no more than the tail's
/// probability.
fn signed_rank_critical(count: usize, level: &Level) -> usize {
    let most = count * (count + 1) / 2;
    if count > 64 {
        let n = count as f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        return (most as f64 / 2.0 - level.normal * deviation - 0.5).floor().max(0.0) as usize;
    }
    // share[w]: probability that the signed ranks counted so far sum to w.
    let mut share = vec![0.0; most + 1];
    share[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { share[sum - rank] } else { 0.0 };
            share[sum] = 0.5 * (share[sum] + with);
        }
    }
    let mut cumulative = 0.0;
    let within = share.iter().take_while(|probability| {
        cumulative += **probability;
        cumulative <= level.tail
    });
    within.count().saturating_sub(1)
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
