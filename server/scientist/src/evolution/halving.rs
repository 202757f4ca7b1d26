//! Which of many drafts is measured for how long: successive halving.
//!
//! All drafts are measured briefly; the best third goes on with three times the sampling time, until one is left, which is
//! measured with the full time. Each round costs at most the full time of one experiment, so that a search over `n` drafts
//! costs at most `1 + log3(n)` of them, rounded up. K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification
//! and hyperparameter optimization", AISTATS 2016; that a third goes on is what L. Li et al. found best in practice
//! ("Hyperband", JMLR 18, 2018, section 2.6).
//!
//! A draft that is slower than the best of its round beyond doubt goes at once, and rounds that have nobody to tell apart
//! any more are left out. The last round is a measurement of its own, with a seed of its own: the luck that carried a draft
//! through the earlier ones is not in its figure.

use lab::SpeedRatio;

/// Of so many drafts one goes on to the next round, with so many times the sampling time.
const KEEP_ONE_OF: usize = 3;

/// One round of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// Its number from 0, whether rounds before it were left out or not.
    pub(crate) number: usize,
    /// Drafts that are measured at most.
    pub(crate) drafts: usize,
    /// Each is given this part of the full sampling time: `1 / share`.
    pub(crate) share: u32,
}

impl Round {
    /// Whether it decides.
    pub(crate) fn is_last(self) -> bool {
        self.share == 1
    }
}

/// A search under way.
#[derive(Clone, Debug)]
pub(crate) struct Halving {
    rounds: Vec<Round>,
    next: usize,
    /// The drafts that may still be the best, the most promising first.
    standing: Vec<usize>,
}

impl Halving {
    /// Over drafts 0 to `drafts` - 1, in order of promise.
    pub(crate) fn new(drafts: usize) -> Self {
        Self { rounds: rounds(drafts), next: 0, standing: (0..drafts).collect() }
    }

    /// One round over all drafts, where a second look would show the same.
    pub(crate) fn at_once(drafts: usize) -> Self {
        Self { rounds: vec![Round { number: 0, drafts, share: 1 }], next: 0, standing: (0..drafts).collect() }
    }

    /// The next round, with the drafts to measure, the most promising first. The round is full when as many as it says have
    /// been measured; those after them take the places of drafts that fail.
    pub(crate) fn round(&self) -> Option<(Round, &[usize])> {
        let round = self.rounds.get(self.next).filter(|_| !self.standing.is_empty())?;
        Some((*round, &self.standing))
    }

    /// Takes in what a round measured, in the order in which it was measured.
    pub(crate) fn close(&mut self, mut measured: Vec<(usize, SpeedRatio)>) {
        // Sorting is stable: of equally fast drafts the earlier stays ahead.
        measured.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
        let floor = measured.first().map_or(0.0, |(_, best)| best.low);
        self.standing = measured.into_iter().filter(|(_, speed)| speed.high >= floor).map(|(draft, _)| draft).collect();
        self.next += 1;
        // The round that follows is for at most so many as still stand; a wider one would tell nobody apart.
        while self.rounds.get(self.next).is_some_and(|round| !round.is_last() && round.drafts > self.standing.len()) {
            self.next += 1;
        }
    }

    /// The best so far; the most promising one before anything is measured.
    pub(crate) fn best(&self) -> Option<usize> {
        self.standing.first().copied()
    }
}

/// The rounds for a number of drafts; the last has one draft and the full time.
fn rounds(drafts: usize) -> Vec<Round> {
    let mut widths = vec![drafts];
    while let Some(width) = widths.last().copied().filter(|width| *width > 1) {
        widths.push(width.div_ceil(KEEP_ONE_OF));
    }
    let last = widths.len() - 1;
    let share = |number: usize| (KEEP_ONE_OF as u32).pow((last - number) as u32);
    widths.iter().enumerate().map(|(number, drafts)| Round { number, drafts: *drafts, share: share(number) }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_search_ends_with_one_draft_and_the_full_time() {
        let check = |drafts, expected: &[(usize, u32)]| {
            let found: Vec<_> = rounds(drafts).into_iter().map(|round| (round.drafts, round.share)).collect();
            assert_eq!(found, expected, "{drafts} drafts");
        };
        check(1, &[(1, 1)]);
        check(2, &[(2, 3), (1, 1)]);
        check(3, &[(3, 3), (1, 1)]);
        check(4, &[(4, 9), (2, 3), (1, 1)]);
        check(9, &[(9, 9), (3, 3), (1, 1)]);
        check(27, &[(27, 27), (9, 9), (3, 3), (1, 1)]);
    }

    #[test]
    fn drafts_that_are_forecast_are_looked_at_once() {
        let mut halving = Halving::at_once(3);
        let (round, drafts) = halving.round().unwrap();
        assert_eq!((round.drafts, round.is_last(), drafts), (3, true, &[0, 1, 2][..]));
        let speed = |ratio: f64| SpeedRatio { ratio, low: ratio / 1.3, high: ratio * 1.3 };
        halving.close(vec![(0, speed(1.1)), (1, speed(1.4)), (2, speed(0.5))]);
        assert_eq!((halving.best(), halving.round().is_none()), (Some(1), true));
    }

    /// Random numbers that follow from a seed (SplitMix64).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }

        /// About normal: the sum of twelve uniform numbers, less their mean.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
        }
    }

    /// What a search came to: its choice, and the sampling time it used in units of one experiment.
    struct Outcome {
        choice: Option<usize>,
        spent: f64,
        measured: usize,
    }

    /// A search over drafts of these speeds (`None` fails), each measured with noise that falls with the square root of the
    /// time: `noise` is its deviation at the full time.
    fn search(speeds: &[Option<f64>], noise: f64, random: &mut Random) -> Outcome {
        let (mut halving, mut spent, mut count) = (Halving::new(speeds.len()), 0.0, 0);
        let mut choice = None;
        while let Some((round, drafts)) = halving.round() {
            let mut measured = Vec::new();
            for draft in drafts.iter().copied() {
                if measured.len() == round.drafts {
                    break;
                }
                count += 1;
                let Some(speed) = speeds[draft] else { continue };
                spent += 1.0 / f64::from(round.share);
                let deviation = noise * f64::from(round.share).sqrt();
                let ratio = speed * (1.0 + deviation * random.normal());
                let speed = SpeedRatio { ratio, low: ratio - 2.58 * deviation, high: ratio + 2.58 * deviation };
                measured.push((draft, speed));
            }
            halving.close(measured);
            choice = halving.best();
        }
        Outcome { choice, spent, measured: count }
    }

    proptest! {
        #[test]
        fn it_ends_within_its_budget_and_chooses_what_runs(
            speeds in prop::collection::vec(prop::option::weighted(0.8, 0.3..3.0_f64), 0..30),
            noise in 0.0..0.3_f64,
            seed: u64,
        ) {
            let outcome = search(&speeds, noise, &mut Random(seed));
            let most = rounds(speeds.len()).len() as f64;
            prop_assert!(outcome.spent <= most + 1e-9, "{} of {most}", outcome.spent);
            prop_assert!(outcome.measured <= speeds.len() * 2 + 4);
            match outcome.choice {
                Some(draft) => prop_assert!(speeds[draft].is_some()),
                None => prop_assert!(speeds.iter().all(Option::is_none)),
            }
        }

        #[test]
        fn without_noise_it_chooses_the_best(speeds in prop::collection::vec(prop::option::weighted(0.9, 0.3..3.0_f64), 1..30)) {
            let outcome = search(&speeds, 0.0, &mut Random(1));
            let best = speeds.iter().flatten().copied().fold(0.0, f64::max);
            prop_assert_eq!(outcome.choice.and_then(|draft| speeds[draft]).unwrap_or(0.0), best);
        }

        #[test]
        fn the_same_measurements_give_the_same_choice(
            speeds in prop::collection::vec(prop::option::weighted(0.9, 0.3..3.0_f64), 1..30),
            seed: u64,
        ) {
            let choice = || search(&speeds, 0.05, &mut Random(seed)).choice;
            prop_assert_eq!(choice(), choice());
        }
    }

    /// The best of nine drafts is 10% faster than the others, and the noise of a full measurement is 1%, so 3% of a brief
    /// one: it is found in at least 19 of 20 searches. Where it is 2% faster, less than the noise of the brief one, it is found in one of three,
    /// and what is chosen in its place loses those 2%.
    #[test]
    fn it_finds_the_best_of_noisy_drafts_with_the_probability_stated() {
        let found = |gain: f64| {
            let searches = (0..1000).filter(|number| {
                let mut speeds = vec![Some(1.0); 9];
                let best = *number as usize % 9;
                speeds[best] = Some(gain);
                search(&speeds, 0.01, &mut Random(*number)).choice == Some(best)
            });
            searches.count()
        };
        let (large, small) = (found(1.10), found(1.02));
        assert!(large >= 950, "{large} of 1000");
        assert!(small >= 333, "{small} of 1000");
    }

    /// What is measured last tells nothing of the luck before: among drafts that are all alike, the last measurement is
    /// no higher on average than the truth.
    #[test]
    fn the_last_measurement_is_not_inflated_by_the_selection() {
        let mut sum = 0.0;
        for number in 0..2000 {
            let mut random = Random(number);
            let mut halving = Halving::new(9);
            while let Some((round, drafts)) = halving.round() {
                let deviation = 0.02 * f64::from(round.share).sqrt();
                let measure = |draft: &usize| {
                    let ratio = 1.0 + deviation * random.normal();
                    (*draft, SpeedRatio { ratio, low: 0.0, high: 9.0 })
                };
                let measured: Vec<_> = drafts.iter().take(round.drafts).map(measure).collect();
                if round.is_last() {
                    sum += measured[0].1.ratio - 1.0;
                }
                halving.close(measured);
            }
        }
        let mean = sum / 2000.0;
        assert!(mean.abs() < 0.002, "{mean}");
    }
}
