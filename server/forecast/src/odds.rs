//! What a forecast is worth: how often two forecasts were in the right order, and how far times were off.
//!
//! The answer comes from variants of kernels whose forecasts were held against times measured on a card
//! (`validation/*.csv`). The rule:
//!
//! - Pairs are formed within families: variants that do the same work in different ways.
//! - The odds that two forecasts, the larger `ratio` times the smaller, are in the right order come from the [`NEAREST`]
//!   pairs that were forecast at least this far apart and are nearest to it; where fewer are, from those forecast furthest
//!   apart. Pairs that lie far further apart say nothing of this one and are left out.
//! - With `right` of `pairs` in the right order, the share that is told is `(right + 1) / (pairs + 2)` (Laplace's rule):
//!   no number of pairs makes a certainty. The lower bound is Wilson's at 90%, one-sided.
//! - The [`Validation::resolution`] is the smallest ratio from which on the share never falls below [`ENOUGH`]. Forecasts
//!   that are nearer to each other have no order that could be relied on.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pairs that odds are taken from.
const NEAREST: usize = 40;
/// The share of pairs in the right order that a verdict needs.
const ENOUGH: f64 = 0.8;
/// Share of the validation's times that lie within [`Validation::error`] of their forecast.
pub const WITHIN: f64 = 0.9;
/// Quantile of the normal distribution for a one-sided bound at 90%.
const NORMAL_90: f64 = 1.281_552;

/// Variants with forecasts and times on one card.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The card, as shown.
    pub card: &'static str,
    /// Pairs of one family: the logarithm of the ratio of their forecasts, and whether the order is that of their times; the
    /// nearest first.
    pairs: Vec<(f64, bool)>,
    /// Measured over forecast time.
    errors: Vec<f64>,
    /// Measured over forecast ratio of the pairs.
    ratio_errors: Vec<f64>,
}

/// The odds that two forecasts are in the right order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Odds {
    /// Share of the pairs this far apart that were in the right order, by Laplace's rule.
    pub share: f64,
    /// Lower bound of that share, 90% one-sided.
    pub low: f64,
    /// Pairs in the right order.
    pub right: u32,
    /// Pairs that this is taken from.
    pub pairs: u32,
}

impl Odds {
    /// The share in whole percent, rounded down.
    pub fn percent(&self) -> u32 {
        (self.share * 100.0) as u32
    }
}

/// One line of a validation file.
#[derive(Clone, Debug, PartialEq)]
struct Row<'a> {
    family: &'a str,
    forecast: f64,
    measured: f64,
}

static H200: LazyLock<Validation> =
    LazyLock::new(|| Validation::parse("H200", include_str!("../validation/h200.csv")).unwrap_or(Validation::EMPTY));

impl Validation {
    const EMPTY: Self = Self { card: "no card", pairs: Vec::new(), errors: Vec::new(), ratio_errors: Vec::new() };

    /// What ships with the crate.
    pub fn shipped() -> &'static Self {
        &H200
    }

    /// Reads `family,variant,forecast_us,measured_us`, with a line of headings.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn parse(card: &'static str, text: &str) -> Result<Self, String> {
        let rows = text
            .lines()
            .enumerate()
            .skip(1)
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| row(line).ok_or_else(|| format!("line {}: {line}", number + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut validation = Self { card, ..Self::EMPTY };
        validation.errors = rows.iter().map(|row| (row.measured / row.forecast).ln().abs()).collect();
        for (number, one) in rows.iter().enumerate() {
            for other in rows[number + 1..].iter().filter(|other| other.family == one.family) {
                let forecast = (one.forecast / other.forecast).ln();
                let measured = (one.measured / other.measured).ln();
                validation.pairs.push((forecast.abs(), forecast * measured > 0.0));
                validation.ratio_errors.push((measured - forecast).abs());
            }
        }
        validation.pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        validation.errors.sort_by(f64::total_cmp);
        validation.ratio_errors.sort_by(f64::total_cmp);
        Ok(validation)
    }

    /// The odds of two forecasts of which one is `ratio` times the other, whichever way round.
    pub fn odds(&self, ratio: f64) -> Odds {
        let distance = ratio.ln().abs();
        let first = self.pairs.partition_point(|pair| pair.0 < distance);
        let first = first.min(self.pairs.len().saturating_sub(NEAREST));
        let last = (first + NEAREST).min(self.pairs.len());
        let chosen = &self.pairs[first..last];
        let right = chosen.iter().filter(|pair| pair.1).count();
        let (right, pairs) = (right as f64, chosen.len() as f64);
        Odds {
            share: (right + 1.0) / (pairs + 2.0),
            low: wilson(right, pairs),
            right: right as u32,
            pairs: pairs as u32,
        }
    }

    /// The smallest ratio, above 1, that an order can be told from.
    pub fn resolution(&self) -> f64 {
        let unsure = self.pairs.iter().rev().find(|pair| self.odds(pair.0.exp()).share < ENOUGH);
        // A pair this far apart is unsure itself: one part in a thousand more is not.
        unsure.map_or(1.0, |pair| pair.0.exp()).max(1.01) * 1.001
    }

    /// The factor within which [`WITHIN`] of the measured times lie of their forecast, either way.
    pub fn error(&self) -> f64 {
        quantile(&self.errors, WITHIN).exp()
    }

    /// The same for the ratio of two times of one family.
    pub fn ratio_error(&self) -> f64 {
        quantile(&self.ratio_errors, WITHIN).exp()
    }

    /// Pairs there are.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut fields = line.split(',').map(str::trim);
    let (family, _variant) = (fields.next()?, fields.next()?);
    let (forecast, measured) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let usable = |time: f64| time.is_finite() && time > 0.0;
    (usable(forecast) && usable(measured) && !family.is_empty()).then_some(Row { family, forecast, measured })
}

/// The value that this share of the sorted values does not exceed; unknown without any.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1).min(last)).copied().unwrap_or(f64::MAX.ln())
}

/// Wilson's lower bound of a share.
fn wilson(right: f64, pairs: f64) -> f64 {
    if pairs == 0.0 {
        return 0.0;
    }
    let (share, z) = (right / pairs, NORMAL_90);
    let middle = share + z * z / (2.0 * pairs);
    let half = z * (share * (1.0 - share) / pairs + z * z / (4.0 * pairs * pairs)).sqrt();
    (middle - half) / (1.0 + z * z / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "family,variant,forecast_us,measured_us\n";

    fn parse(rows: &str) -> Validation {
        Validation::parse("X", &format!("{HEAD}{rows}")).unwrap()
    }

    /// 60 pairs far apart and right, in families of two; of 60 near ones every second is wrong.
    fn mixed() -> Validation {
        let far = (0..60).map(|n| format!("far{n},a,10,10\nfar{n},b,{},30\n", 20 + n));
        let near = (0..60).map(|n| {
            let measured = if n % 2 == 0 { 11 } else { 9 };
            format!("near{n},a,10,10\nnear{n},b,10.{},{measured}\n", 100 + n)
        });
        parse(&far.chain(near).collect::<String>())
    }

    #[test]
    fn what_ships_can_be_read_and_is_better_than_a_coin() {
        let validation = Validation::parse("H200", include_str!("../validation/h200.csv")).unwrap();
        assert!(validation.pairs() > 100);
        assert!(validation.odds(3.0).share > 0.9, "{:?}", validation.odds(3.0));
        let resolution = validation.resolution();
        assert!((1.01..1.5).contains(&resolution), "{resolution}");
        assert!((1.05..4.0).contains(&validation.error()), "{}", validation.error());
    }

    #[test]
    fn pairs_this_far_apart_count_and_those_much_further_do_not() {
        let validation = mixed();
        let (near, far) = (validation.odds(1.01), validation.odds(2.5));
        assert_eq!((near.right, near.pairs), (20, 40), "{near:?}");
        assert_eq!((far.right, far.pairs), (40, 40), "{far:?}");
        // Further apart than any pair: those furthest apart stand in.
        assert_eq!(validation.odds(1e6).pairs, 40);
        assert_eq!(validation.odds(0.4), validation.odds(2.5));
    }

    #[test]
    fn no_number_of_pairs_makes_a_certainty() {
        let odds = mixed().odds(2.5);
        assert!(odds.share < 1.0 && odds.low < odds.share && odds.low > 0.9, "{odds:?}");
        assert_eq!(odds.percent(), 97);
        let nothing = Validation::EMPTY.odds(2.0);
        assert_eq!((nothing.share, nothing.low, nothing.pairs), (0.5, 0.0, 0));
    }

    #[test]
    fn the_resolution_lies_beyond_the_pairs_that_are_unsure() {
        let resolution = mixed().resolution();
        assert!((1.015..2.0).contains(&resolution), "{resolution}");
        assert!(mixed().odds(resolution).share >= ENOUGH);
        assert!(Validation::EMPTY.resolution() > 1.0);
    }

    #[test]
    fn errors_are_factors_that_hold_for_nine_of_ten() {
        let rows: String = (0..10).map(|n| format!("f,v{n},10,{}\n", if n == 9 { 100 } else { 20 })).collect();
        let validation = parse(&rows);
        assert!((validation.error() - 2.0).abs() < 1e-9, "{}", validation.error());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for line in ["a,b,1", "a,b,x,2", "a,b,0,2", ",b,1,2", "a,b,1,inf"] {
            let error = Validation::parse("X", &format!("{HEAD}{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }
}
