//! What a forecast rests on and what it is worth.

use ::forecast::device::Device;
use ::forecast::odds::{Odds, Validation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_validated;

/// The device that is forecast for when none is named.
pub const DEFAULT: &str = "mi300x";

/// What a forecast rests on; kept and shown with each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Basis {
    /// The device, as on the command line: `mi300x`.
    pub device: String,
    /// The device, as shown: `MI300X`.
    pub title: String,
    /// Version of the model: that of its crate.
    pub model: String,
    /// Version of the device's table: a hash of its text.
    pub table: String,
    /// The card that forecasts were compared with.
    pub validated_on: String,
    /// Whether that is the device itself.
    pub of_this_device: bool,
    /// For a comparison: how often forecasts this far apart were in the right order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odds: Option<Odds>,
}

impl Basis {
    pub(crate) fn of(device: &Device) -> Self {
        let validation = Validation::shipped();
        let table = Device::table(&device.name).unwrap_or_default();
        Self {
            device: device.name.clone(),
            title: device.title.clone(),
            model: ::forecast::VERSION.into(),
            table: blake3::hash(table.as_bytes()).to_hex()[..12].to_owned(),
            validated_on: validation.card.into(),
            of_this_device: is_validated(device) && device.title == validation.card,
            odds: None,
        }
    }

    /// The same with the odds of two forecasts.
    pub fn with_odds(&self, ratio: f64) -> Self {
        Self { odds: Some(Validation::shipped().odds(ratio)), ..self.clone() }
    }

    /// What every time is shown with.
    pub fn note(&self) -> String {
        format!(
            "forecast, not a measurement; nine of ten validated times lay within {:.2}x ({})",
            Validation::shipped().error(),
            self.validation()
        )
    }

    /// `validated on an H200`; of another device with the reservation that belongs there.
    pub fn validation(&self) -> String {
        let card = &self.validated_on;
        if self.of_this_device {
            format!("validated on an {card}")
        } else {
            format!("validated on an {card}, not on {}", self.title)
        }
    }

    /// Model and table, as toolchains are named.
    pub fn toolchain(&self) -> String {
        format!("forecast {}, table {} {}", self.model, self.device, self.table)
    }

    /// `forecast 1.8x on MI300X, 97% of pairs this far apart were ordered right (validated on an H200)`.
    pub fn claim(&self, ratio: f64) -> String {
        if (ratio.ln()).abs() < super::compare::SAME.ln() {
            return format!("forecast the same on {}", self.title);
        }
        let odds = self.odds.unwrap_or_else(|| Validation::shipped().odds(ratio));
        format!("forecast {ratio:.2}x on {}, {}", self.title, odds_in_words(&odds, &self.validated_on))
    }

    /// The claim where it was made in full before: `forecast 1.8x (97%)`.
    pub fn short_claim(&self, ratio: f64) -> String {
        if (ratio.ln()).abs() < super::compare::SAME.ln() {
            return "forecast the same".into();
        }
        let odds = self.odds.unwrap_or_else(|| Validation::shipped().odds(ratio));
        format!("forecast {ratio:.2}x ({}%)", odds.percent())
    }
}

fn odds_in_words(odds: &Odds, card: &str) -> String {
    format!("{}% of pairs this far apart were ordered right (validated on an {card})", odds.percent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_says_where_it_comes_from() {
        let basis = Basis::of(&Device::named("h200").unwrap()).with_odds(3.0);
        let claim = basis.claim(3.0);
        assert!(claim.starts_with("forecast 3.00x on H200, 9"), "{claim}");
        assert!(claim.ends_with("% of pairs this far apart were ordered right (validated on an H200)"), "{claim}");
        assert!(basis.short_claim(3.0).starts_with("forecast 3.00x (9"), "{}", basis.short_claim(3.0));
        assert_eq!(
            (basis.claim(1.0), basis.short_claim(1.0)),
            ("forecast the same on H200".into(), "forecast the same".into())
        );
        assert_eq!(basis.validation(), "validated on an H200");
        let other = Basis { title: "MI300X".into(), of_this_device: false, ..basis };
        assert!(other.note().ends_with("(validated on an H200, not on MI300X)"), "{}", other.note());
        assert!(other.toolchain().starts_with("forecast 0."), "{}", other.toolchain());
        assert_eq!(other.table.len(), 12);
    }
}
