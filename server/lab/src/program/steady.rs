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
/// The share of a launch's times that may lie beyond that.
const MOST_BEYOND: f64 = 0.3;
/// With more launches than this a single one is lost in the sum.
const MOST_LAUNCHES: usize = 1000;

/// The times of one version's launches of a kernel, run by run.
type Runs = Vec<Vec<f64>>;

/// The time of all launches in each run of either version, from the times of the launches in each run. Where runs differ in
/// how often they launch, it is not known which launches correspond, and sums are left as they are.
///
/// A launch is drawn in for both versions or for neither, and equally far: else chance would make equal versions different.
pub(super) fn steadied(mut versions: [Runs; 2]) -> [Vec<f64>; 2] {
    if versions.iter().all(is_regular) {
        let most = versions.iter().map(|runs| runs[0].len()).max().unwrap_or(0);
        for launch in 0..most {
            draw_in(&mut versions, launch);
        }
    }
    versions.map(|runs| runs.iter().map(|run| run.iter().sum()).collect())
}

/// Whether all runs launch as often, and there are enough to tell what is usual.
fn is_regular(runs: &Runs) -> bool {
    let count = runs.first().map_or(0, Vec::len);
    runs.len() >= ENOUGH_RUNS && count <= MOST_LAUNCHES && runs.iter().all(|run| run.len() == count)
}

/// Draws in one launch of those versions that have it, unless too many of its times lie beyond the usual range: then it has
/// no usual time, but two of them, say, and the median is one or the other by chance.
fn draw_in(versions: &mut [Runs; 2], launch: usize) {
    let mut with_it: Vec<(f64, &mut Runs)> = versions
        .iter_mut()
        .filter_map(|runs| Some((median_of(runs, launch)?, runs)))
        .filter(|(median, _)| *median > 0.0)
        .collect();
    let distance = |median: f64, run: &Vec<f64>| (run[launch] / median - 1.0).abs();
    let all: Vec<f64> =
        with_it.iter().flat_map(|(median, runs)| runs.iter().map(|run| distance(*median, run))).collect();
    let Some(usual) = statistics::median(&all) else { return };
    let reach = DEVIATIONS * NORMAL * usual;
    let few_beyond = |(median, runs): &(f64, &mut Runs)| {
        let beyond = runs.iter().filter(|run| distance(*median, run) > reach).count();
        beyond as f64 <= MOST_BEYOND * runs.len() as f64
    };
    if with_it.iter().all(few_beyond) {
        for (median, runs) in &mut with_it {
            let (low, high) = (*median * (1.0 - reach), *median * (1.0 + reach));
            runs.iter_mut().for_each(|run| run[launch] = run[launch].clamp(low, high));
        }
    }
}

/// The usual time of a launch; `None` when the version has no such launch.
fn median_of(runs: &Runs, launch: usize) -> Option<f64> {
    let times: Vec<f64> = runs.iter().map(|run| run.get(launch).copied()).collect::<Option<_>>()?;
    statistics::median(&times)
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
        let runs: Runs = (0..9).map(run).collect();
        let sums = |runs: &Runs| runs.iter().map(|run| run.iter().sum::<f64>()).collect::<Vec<_>>();
        assert_eq!(steadied([runs.clone(), runs.clone()]), [sums(&runs), sums(&runs)]);
        let mut late = runs.clone();
        late[4][1] = 900.0;
        let [drawn_in, other] = steadied([late.clone(), runs.clone()]);
        assert!((500.0..507.0).contains(&drawn_in[4]), "{drawn_in:?}");
        assert_eq!(other, sums(&runs));
        // A version that launches once more has that launch for itself.
        let more: Runs = runs.iter().map(|run| [&run[..], &[50.0]].concat()).collect();
        assert!(steadied([late.clone(), more])[0][4] < 507.0);
        // One run more that launches less often: nothing corresponds.
        late.push(vec![400.0]);
        assert_eq!(steadied([late, runs])[0][4], 1301.0);
        // Too few to tell what is usual.
        let few = vec![vec![1.0], vec![1.0], vec![50.0]];
        assert_eq!(steadied([few.clone(), few])[0], [1.0, 1.0, 50.0]);
    }

    #[test]
    fn a_launch_with_two_usual_times_is_left_as_it_is_in_both_versions() {
        let slow_every = |every: usize| -> Runs {
            (0..12).map(|run| vec![if run % every == 0 { 9.0 } else { 6.0 } + 0.01 * run as f64]).collect()
        };
        let sums = |runs: &Runs| runs.iter().map(|run| run[0]).collect::<Vec<_>>();
        let (often, seldom) = (slow_every(3), slow_every(6));
        assert_eq!(steadied([often.clone(), seldom.clone()]), [sums(&often), sums(&seldom)]);
        let [drawn_in, _] = steadied([seldom.clone(), seldom]);
        assert!(drawn_in.iter().all(|time| *time < 6.5), "{drawn_in:?}");
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

    fn verdict(
        random: &mut StdRng,
        speed: f64,
        make: impl Fn([Runs; 2]) -> [Vec<f64>; 2],
        runs: impl Fn(&mut StdRng, f64) -> Runs,
    ) -> Verdict {
        let [baseline, candidate] = make([1.0, speed].map(|speed| runs(random, speed)));
        let pairs: Vec<Pair> =
            baseline.iter().zip(&candidate).map(|(&baseline, &candidate)| Pair { baseline, candidate }).collect();
        // Without the band that counts as the same, so that the interval alone is looked at.
        statistics::verdict_with_band(&statistics::speed(&pairs).unwrap(), 0.0)
    }

    fn called_different(count: usize, make: impl Fn(&mut StdRng, f64) -> Runs) -> usize {
        let mut random = StdRng::seed_from_u64(7);
        let mut different =
            |_: &usize| matches!(verdict(&mut random, 1.0, steadied, &make), Verdict::Faster | Verdict::Slower);
        (0..count).filter(&mut different).count()
    }

    #[test]
    fn equal_programs_are_still_called_different_in_no_more_than_one_of_a_hundred() {
        for count in [8, 12, 30] {
            let called = called_different(1000, |random, speed| runs(random, count, speed));
            assert!(called <= 20, "{called} of 1000 comparisons from {count} pairs");
        }
    }

    #[test]
    fn so_are_equal_programs_whose_launches_have_two_usual_times() {
        for share in [0.5, 0.4, 0.25] {
            let two_times = |random: &mut StdRng, speed: f64| -> Runs {
                let launch = |random: &mut StdRng| {
                    let usual = if random.random_bool(share) { 9.0 } else { 6.0 };
                    usual * speed * (1.0 + 0.02 * random.random_range(-1.0..1.0))
                };
                (0..60).map(|_| vec![launch(random)]).collect()
            };
            let called = called_different(1000, two_times);
            assert!(called <= 20, "{called} of 1000 comparisons, {share} of the launches slow");
        }
    }

    #[test]
    fn a_small_difference_is_found_from_fewer_runs() {
        let found = |make: fn([Runs; 2]) -> [Vec<f64>; 2]| {
            let mut random = StdRng::seed_from_u64(11);
            let slower =
                |_: &i32| verdict(&mut random, 1.02, make, |random, speed| runs(random, 16, speed)) == Verdict::Slower;
            (0..100).filter(slower).count()
        };
        let sums = |versions: [Runs; 2]| versions.map(|runs| runs.iter().map(|run| run.iter().sum()).collect());
        let (steady, raw) = (found(steadied), found(sums));
        assert!(steady >= 90 && raw < 30, "steadied {steady}, sums as they are {raw}");
    }
}
