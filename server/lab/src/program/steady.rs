//! What another program's turn on the processor adds to a few launches, taken out.
//!
//! Of a hundred launches that do the same work, most take the same time to a few thousandths, and some take a tenth more or
//! twice as long: an interrupt, a page of memory, another process. In a sum over a run's launches those few are nearly all
//! of the noise. Since a program launches the same in each of its runs, each launch has a usual time, and what lies far
//! from it is drawn in. The same is done to both versions, so neither gains by it; and a kernel that is slow in every run
//! has that for its usual time.

use crate::statistics;

/// Fewer runs than this do not tell what is usual.
const ENOUGH_RUNS: usize = 8;
/// How far from its median a launch may lie, in deviations as a normal distribution has them.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of a normal distribution whose median absolute deviation is 1.
const NORMAL: f64 = 1.4826;
/// With more launches than this a single one is lost in the sum.
const MOST_LAUNCHES: usize = 1000;

/// The time of all launches in each run, from the times of the launches in each run. Where runs differ in how often they
/// launch, it is not known which launches correspond, and sums are left as they are.
pub(super) fn steadied(mut runs: Vec<Vec<f64>>) -> Vec<f64> {
    let launches = runs.first().map_or(0, Vec::len);
    let alike = runs.iter().all(|run| run.len() == launches);
    if alike && runs.len() >= ENOUGH_RUNS && launches <= MOST_LAUNCHES {
        for launch in 0..launches {
            let times: Vec<f64> = runs.iter().map(|run| run[launch]).collect();
            if let Some((low, high)) = usual(&times) {
                runs.iter_mut().for_each(|run| run[launch] = run[launch].clamp(low, high));
            }
        }
    }
    runs.iter().map(|run| run.iter().sum()).collect()
}

/// The range that times of one launch are drawn into; `None` when there are none.
fn usual(times: &[f64]) -> Option<(f64, f64)> {
    let median = statistics::median(times)?;
    let distances: Vec<f64> = times.iter().map(|time| (time - median).abs()).collect();
    let reach = DEVIATIONS * NORMAL * statistics::median(&distances)?;
    Some((median - reach, median + reach))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::Verdict;
    use crate::statistics::Pair;

    #[test]
    fn a_launch_far_from_its_usual_time_is_drawn_in() {
        let run = |run: u32| vec![400.0 + f64::from(run % 3), 100.0 + f64::from(run % 3)];
        let mut runs: Vec<Vec<f64>> = (0..9).map(run).collect();
        let honest: Vec<f64> = steadied(runs.clone());
        assert_eq!(honest, runs.iter().map(|run| run.iter().sum::<f64>()).collect::<Vec<_>>());
        runs[4][1] = 900.0;
        let drawn_in = steadied(runs.clone())[4];
        assert!((500.0..507.0).contains(&drawn_in), "{drawn_in}");
        // One run more that launches less often: nothing corresponds.
        runs.push(vec![400.0]);
        assert_eq!(steadied(runs)[4], 1301.0);
        // Too few to tell what is usual.
        assert_eq!(steadied(vec![vec![1.0], vec![1.0], vec![50.0]]), [1.0, 1.0, 50.0]);
    }

    /// Runs of eight launches whose first is slow and uneven, each launch interrupted now and then.
    fn runs(random: &mut StdRng, count: usize, speed: f64) -> Vec<Vec<f64>> {
        let launch = |random: &mut StdRng, number: usize| {
            let spread = if number == 0 { 0.05 } else { 0.002 };
            let interruption = if random.random_bool(0.1) { random.random_range(0.05..0.6) } else { 0.0 };
            let usual = if number == 0 { 2.0 } else { 1.0 };
            usual * speed * (1.0 + spread * random.random_range(-1.0..1.0) + interruption)
        };
        (0..count).map(|_| (0..8).map(|number| launch(random, number)).collect()).collect()
    }

    fn verdict(random: &mut StdRng, count: usize, speed: f64, make: impl Fn(Vec<Vec<f64>>) -> Vec<f64>) -> Verdict {
        let [baseline, candidate] = [1.0, speed].map(|speed| make(runs(random, count, speed)));
        let pairs: Vec<Pair> =
            baseline.iter().zip(&candidate).map(|(&baseline, &candidate)| Pair { baseline, candidate }).collect();
        // Without the band that counts as the same, so that the interval alone is looked at.
        statistics::verdict_with_band(&statistics::speed(&pairs).unwrap(), 0.0)
    }

    #[test]
    fn equal_programs_are_still_called_different_in_no_more_than_one_of_a_hundred() {
        for count in [8, 12, 30] {
            let mut random = StdRng::seed_from_u64(7);
            let called = (0..1000)
                .filter(|_| matches!(verdict(&mut random, count, 1.0, steadied), Verdict::Faster | Verdict::Slower));
            let called = called.count();
            assert!(called <= 20, "{called} of 1000 comparisons from {count} pairs");
        }
    }

    #[test]
    fn a_small_difference_is_found_from_fewer_runs() {
        let found = |make: fn(Vec<Vec<f64>>) -> Vec<f64>| {
            let mut random = StdRng::seed_from_u64(11);
            (0..100).filter(|_| verdict(&mut random, 16, 1.02, make) == Verdict::Slower).count()
        };
        let sums = |runs: Vec<Vec<f64>>| runs.iter().map(|run| run.iter().sum()).collect();
        let (steady, raw) = (found(steadied), found(sums));
        assert!(steady >= 90 && raw < 30, "steadied {steady}, sums as they are {raw}");
    }
}
