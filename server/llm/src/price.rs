//! What calls cost.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::name::ModelName;
use crate::provider::Usage;

/// Prices that ship.
const SHIPPED: &str = include_str!("../prices.toml");

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Sent.
    pub input: f64,
    /// Read from the provider's cache.
    pub cached: f64,
    /// Received.
    pub output: f64,
}

impl Price {
    /// For what costs nothing: a server on this machine, a recording, the editor's subscription.
    pub const NOTHING: Self = Self { input: 0.0, cached: 0.0, output: 0.0 };

    /// US dollars of one call.
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached) as f64;
        (fresh * self.input + usage.cached as f64 * self.cached + usage.output as f64 * self.output) / 1e6
    }
}

/// One row of a table of prices, as users write it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Price")]
pub struct Row {
    /// The provider's word; any without.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model's whole name, or its beginning up to a hyphen.
    pub model: String,
    /// US dollars per million tokens sent.
    pub input: f64,
    /// The same for those read from the provider's cache; `input` without.
    #[serde(default)]
    pub cached: Option<f64>,
    /// US dollars per million tokens received.
    pub output: f64,
    /// When the figures were noted.
    #[serde(default)]
    pub as_of: Option<String>,
}

impl Row {
    /// Length of what fits of a model's name.
    fn fits(&self, name: &ModelName) -> Option<usize> {
        if self.provider.as_deref().is_some_and(|provider| provider != name.kind.word()) {
            return None;
        }
        let rest = name.model.strip_prefix(self.model.as_str())?;
        (rest.is_empty() || rest.starts_with('-')).then_some(self.model.len())
    }
}

#[derive(Deserialize)]
struct File {
    price: Vec<Row>,
}

/// Prices by model.
#[derive(Clone, Debug, Default)]
pub struct PriceTable(Vec<Row>);

impl PriceTable {
    /// The table that ships, behind the user's own rows.
    pub fn with(own: &[Row]) -> Self {
        let shipped = toml::from_str::<File>(SHIPPED).map(|file| file.price).unwrap_or_else(|error| {
            // A test makes sure that it can be read.
            tracing::error!("the table of prices cannot be read: {error}");
            Vec::new()
        });
        Self(own.iter().cloned().chain(shipped).collect())
    }

    /// The price of a model: the row that fits most of its name, of those alike the first. `None` when it is not known.
    pub fn of(&self, name: &ModelName) -> Option<Price> {
        let fitting = self.0.iter().rev().filter_map(|row| Some((row.fits(name)?, row)));
        let (_, row) = fitting.max_by_key(|(length, _)| *length)?;
        Some(Price { input: row.input, cached: row.cached.unwrap_or(row.input), output: row.output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts_and_the_users_row_before_ours() {
        let check = |own: &[Row], name: &str, expected: Option<f64>| {
            let price = PriceTable::with(own).of(&name.parse().unwrap());
            assert_eq!(price.map(|price| price.input), expected, "{name}");
        };
        check(&[], "openai:gpt-5", Some(1.25));
        check(&[], "openai:gpt-5-2025-08-07", Some(1.25));
        check(&[], "openai:gpt-5-mini-2025-08-07", Some(0.25));
        check(&[], "openai:gpt-50", None);
        check(&[], "anthropic:gpt-5", None);
        let own = |provider: Option<&str>, model: &str| Row {
            provider: provider.map(str::to_owned),
            model: model.into(),
            input: 7.0,
            cached: None,
            output: 8.0,
            as_of: None,
        };
        check(&[own(None, "gpt-5")], "openai:gpt-5", Some(7.0));
        check(&[own(Some("openai"), "my-model")], "openai:my-model", Some(7.0));
        check(&[own(Some("gemini"), "my-model")], "openai:my-model", None);
    }

    #[test]
    fn tokens_from_the_cache_have_a_price_of_their_own() {
        let price = Price { input: 1.0, cached: 0.1, output: 10.0 };
        let usage = Usage { input: 1_000_000, cached: 500_000, output: 100_000, estimated: false };
        assert!((price.of(&usage) - (0.5 + 0.05 + 1.0)).abs() < 1e-12);
    }

    #[test]
    fn every_shipped_price_is_read_and_dated() {
        let file: File = toml::from_str(SHIPPED).unwrap();
        for row in file.price {
            assert!(row.as_of.is_some() && row.provider.is_some() && row.cached.is_some(), "{row:?}");
            assert!(row.cached.unwrap() < row.input && row.input < row.output, "{row:?}");
        }
    }
}
