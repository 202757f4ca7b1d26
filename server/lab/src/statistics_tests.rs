//! Known values, and simulations of what the harness meets: lognormal noise, drift, slow spells and spikes.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

/// A machine whose clock drifts, with spells of slowness and spikes.
struct Machine {
    random: StdRng,
    noise: f64,
    clock: f64,
    slow_until: f64,
}

impl Machine {
    fn new(seed: u64, noise: f64) -> Self {
        Self { random: StdRng::seed_from_u64(seed), noise, clock: 0.0, slow_until: 0.0 }
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// One run of code that takes `time` on a quiet machine.
    fn run(&mut self, time: f64) -> f64 {
        self.clock += 1.0;
        if self.random.random_bool(0.01) {
            self.slow_until = self.clock + self.random.random_range(5.0..30.0);
        }
        let spell = if self.clock < self.slow_until { 1.3 } else { 1.0 };
        let drift = 1.0 + 0.10 * (self.clock / 70.0).sin() + 0.0005 * self.clock;
        let spike = if self.random.random_bool(0.05) { self.random.random_range(1.5..6.0) } else { 1.0 };
        time * spell * drift * spike * (self.noise * self.normal()).exp()
    }

    /// Interleaved pairs in random order.
    fn pairs(&mut self, count: usize, baseline: f64, candidate: f64) -> Vec<Pair> {
        (0..count)
            .map(|_| {
                if self.random.random::<bool>() {
                    let baseline = self.run(baseline);
                    Pair { baseline, candidate: self.run(candidate) }
                } else {
                    let candidate = self.run(candidate);
                    Pair { baseline: self.run(baseline), candidate }
                }
            })
            .collect()
    }
}

/// How much the place in memory changes the speed ratio of one sitting, at a shape and in all of them.
const PLACE: [f64; 2] = [0.006, 0.01];

impl Machine {
    /// One comparison over `shapes` shapes, in sittings of so many pairs at each.
    fn comparison(&mut self, sittings: usize, shapes: usize, count: usize, candidate: f64) -> SpeedRatio {
        let logs: Vec<f64> = (0..sittings)
            .map(|_| {
                let shared = PLACE[1] * self.normal();
                let of_shape = |_| {
                    let place = (shared + PLACE[0] * self.normal()).exp();
                    sitting(&self.pairs(count, 100.0, candidate * place)).unwrap()
                };
                (0..shapes).map(of_shape).sum::<f64>() / shapes as f64
            })
            .collect();
        speed_of_logs(&logs).unwrap()
    }
}

/// Share of `seeds` in which comparing the two times in nine sittings ends in `wanted`.
fn share(seeds: u64, noise: f64, shapes: usize, count: usize, candidate: f64, wanted: &[Verdict]) -> f64 {
    let hits = (0..seeds)
        .filter(|seed| wanted.contains(&verdict(&Machine::new(*seed, noise).comparison(9, shapes, count, candidate))));
    hits.count() as f64 / seeds as f64
}

#[test]
fn equal_code_is_hardly_ever_called_faster_or_slower() {
    for (noise, shapes, count) in
        [(0.005, 1, 5), (0.02, 1, 10), (0.05, 1, 20), (0.02, 4, 5), (0.05, 3, 2), (0.4, 1, 5), (0.4, 3, 5)]
    {
        let called = share(1500, noise, shapes, count, 100.0, &[Verdict::Faster, Verdict::Slower]);
        assert!(called <= 0.013, "noise {noise}, {shapes} shapes of {count} pairs: {called} called different");
    }
}

#[test]
fn stopping_at_a_narrow_interval_does_not_pick_winners() {
    let called = (0..1000u64).filter(|seed| {
        let mut machine = Machine::new(*seed, 0.02);
        let mut logs = Vec::new();
        let ratio = loop {
            let place = (PLACE[1] * machine.normal()).exp();
            logs.push(sitting(&machine.pairs(20, 100.0, 100.0 * place)).unwrap());
            let ratio = speed_of_logs(&logs).unwrap();
            if logs.len() >= 8 && (is_narrow(&ratio, 0.005) || logs.len() >= 25) {
                break ratio;
            }
        };
        matches!(verdict(&ratio), Verdict::Faster | Verdict::Slower)
    });
    assert!(called.count() <= 10);
}

#[test]
fn a_planted_change_is_found_and_its_side_is_never_mistaken() {
    for (noise, count, candidate, wanted, other, least) in [
        (0.02, 20, 95.0, Verdict::Faster, Verdict::Slower, 0.9),
        (0.02, 20, 105.3, Verdict::Slower, Verdict::Faster, 0.9),
        (0.01, 5, 50.0, Verdict::Faster, Verdict::Slower, 0.95),
    ] {
        let found = share(150, noise, 1, count, candidate, &[wanted]);
        assert!(found >= least, "noise {noise}, {count} pairs, {candidate}: {found} {wanted}");
        assert_eq!(share(150, noise, 1, count, candidate, &[other]), 0.0);
    }
}

#[test]
fn equal_code_on_a_quiet_machine_is_called_the_same() {
    let same = (0..300u64).filter(|seed| {
        let mut machine = Machine::new(*seed, 0.005);
        let logs: Vec<f64> = (0..9).map(|_| sitting(&machine.pairs(20, 100.0, 100.0)).unwrap()).collect();
        verdict(&speed_of_logs(&logs).unwrap()) == Verdict::Same
    });
    assert!(same.count() > 270);
}

#[test]
fn the_ratio_interval_covers_the_truth() {
    let covered = (0..2000u64).filter(|seed| {
        let ratio = speed(&Machine::new(*seed, 0.03).pairs(25, 100.0, 80.0)).unwrap();
        ratio.low <= 1.25 && 1.25 <= ratio.high
    });
    let share = covered.count() as f64 / 2000.0;
    assert!((0.98..=0.998).contains(&share), "{share}");
}

#[test]
fn the_median_interval_covers_the_truth_and_widens_under_drift() {
    let covered = |count: usize| {
        let covered = (0..2000u64).filter(|seed| {
            let mut machine = Machine::new(*seed, 0.1);
            let samples = (0..count).map(|_| 100.0 * (0.1 * machine.normal()).exp()).collect();
            let figure = figure(samples).unwrap();
            figure.low_ns <= 100.0 && 100.0 <= figure.high_ns
        });
        covered.count() as f64 / 2000.0
    };
    for count in [2, 4, 6, 7, 15, 50, 201] {
        assert!(covered(count) > 0.94, "{count} samples: {}", covered(count));
    }
    let mut machine = Machine::new(1, 0.01);
    let steady: Vec<f64> = (0..400).map(|_| 100.0 * (0.05 * machine.normal()).exp()).collect();
    let drifting: Vec<f64> = (0..400).map(|step| 100.0 + 10.0 * (f64::from(step) / 60.0).sin()).collect();
    let width = |samples: Vec<f64>| figure(samples).map(|figure| figure.high_ns - figure.low_ns).unwrap();
    assert!(width(steady) < 2.5);
    assert!(width(drifting) > 8.0);
}

#[test]
fn critical_ranks_equal_the_published_tables() {
    // Wilcoxon's signed ranks, two-sided 5% (Hollander, Wolfe and Chicken, table A.4).
    for (count, critical) in [(6, 0), (8, 3), (10, 8), (15, 25), (20, 52), (30, 137), (50, 434)] {
        assert_eq!(signed_rank_critical(count, &LEVEL_95), critical, "{count}");
    }
    for (count, critical) in [(8, 0), (10, 3), (15, 15), (20, 37), (30, 109), (50, 373)] {
        assert_eq!(signed_rank_critical(count, &LEVEL_99), critical, "{count}");
    }
    // Sign test: rank of the interval's lower end.
    for (count, rank) in [(6, 1), (9, 2), (10, 2), (20, 6), (50, 18), (100, 40)] {
        assert_eq!(binomial_rank(count), rank, "{count}");
    }
}

#[test]
fn few_or_useless_samples_are_handled_honestly() {
    assert_eq!(median(&[]), None);
    assert_eq!(figure(vec![]), None);
    assert_eq!(speed(&[]), None);
    assert_eq!((speed_of_logs(&[]), sitting(&[])), (None, None));
    assert_eq!(speed(&[Pair { baseline: 1.0, candidate: 0.0 }, Pair { baseline: f64::NAN, candidate: 1.0 }]), None);

    let one = figure(vec![8.0]).unwrap();
    assert_eq!((one.low_ns, one.median_ns, one.high_ns), (0.0, 8.0, 16.0));
    let two = figure(vec![8.0, 10.0]).unwrap();
    assert!(two.low_ns < 4.0 && two.median_ns == 9.0 && two.high_ns > 20.0);

    let one = speed(&[Pair { baseline: 4.0, candidate: 1.0 }]).unwrap();
    assert_eq!(verdict(&one), Verdict::Inconclusive);
    let text = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<SpeedRatio>(&text).unwrap(), one);
}

#[test]
fn equal_samples_give_a_point() {
    let flat = figure(vec![5.0; 20]).unwrap();
    assert_eq!((flat.low_ns, flat.high_ns), (5.0, 5.0));
    let ratio = speed(&[Pair { baseline: 6.0, candidate: 3.0 }; 2000]).unwrap();
    assert!((ratio.low - 2.0).abs() < 1e-12 && (ratio.high - 2.0).abs() < 1e-12);
}

#[test]
fn the_verdict_needs_the_whole_interval_on_one_side() {
    for (low, high, expected) in [
        (1.011, 1.5, Verdict::Faster),
        (1.009, 1.5, Verdict::Inconclusive),
        (0.5, 0.98, Verdict::Slower),
        (0.5, 0.995, Verdict::Inconclusive),
        (0.995, 1.005, Verdict::Same),
        (0.9, 1.1, Verdict::Inconclusive),
        (0.0, f64::MAX, Verdict::Inconclusive),
    ] {
        assert_eq!(verdict(&SpeedRatio { ratio: 1.0, low, high }), expected, "{low}..{high}");
    }
}

#[test]
fn large_differences_need_no_narrow_interval() {
    let about = |ratio: f64, half: f64| SpeedRatio { ratio, low: ratio * (1.0 - half), high: ratio * (1.0 + half) };
    for (speed, expected) in [
        (about(1.0, 0.004), true),
        (about(1.0, 0.006), false),
        (about(1.03, 0.006), false),
        (about(2.0, 0.03), true),
        (about(0.5, 0.03), true),
        (about(2.0, 0.05), false),
        (SpeedRatio { ratio: 2.0, low: 0.0, high: f64::MAX }, false),
    ] {
        assert_eq!(is_narrow(&speed, 0.005), expected, "{speed:?}");
    }
}
