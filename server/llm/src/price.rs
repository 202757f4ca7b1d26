//! What calls cost.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

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
    #[serde(deserialize_with = "amount")]
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// The same for those read from the provider's cache; `input` without.
    #[serde(default, deserialize_with = "optional_amount")]
    #[schemars(range(min = 0.0))]
    pub cached: Option<f64>,
    /// US dollars per million tokens received.
    #[serde(deserialize_with = "amount")]
    #[schemars(range(min = 0.0))]
    pub output: f64,
    /// When the figures were noted.
    #[serde(default)]
    pub as_of: Option<String>,
}

/// An amount of money. With one that is no number no sum would ever come up to a limit.
fn amount<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(input)?;
    match (0.0..f64::INFINITY).contains(&amount) {
        true => Ok(amount),
        false => Err(D::Error::custom(format!("{amount} is no price; expected an amount of dollars, from 0 up"))),
    }
}

fn optional_amount<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    amount(input).map(Some)
}

impl Row {
    fn price(&self) -> Price {
        Price { input: self.input, cached: self.cached.unwrap_or(self.input), output: self.output }
    }

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
pub struct PriceTable {
    own: Vec<Row>,
    folder: Vec<Row>,
    shipped: Vec<Row>,
}

impl PriceTable {
    /// The table that ships, behind the user's `own` rows. The rows of a `folder`, which may be anyone's, make nothing cheaper
    /// and nothing free: the user's limit in dollars would not be kept.
    pub fn with(own: &[Row], folder: &[Row]) -> Self {
        let shipped = toml::from_str::<File>(SHIPPED).map(|file| file.price).unwrap_or_else(|error| {
            // A test makes sure that it can be read.
            tracing::error!("the table of prices cannot be read: {error}");
            Vec::new()
        });
        Self { own: own.to_vec(), folder: folder.to_vec(), shipped }
    }

    /// The price of a model: the row that fits most of its name, of those alike the user's. `None` when it is not known.
    pub fn of(&self, name: &ModelName) -> Option<Price> {
        let trusted = match (best(&self.own, name), best(&self.shipped, name)) {
            (Some((own, price)), Some((shipped, _))) if own >= shipped => Some(price),
            (own, shipped) => shipped.or(own).map(|(_, price)| price),
        };
        match (best(&self.folder, name), trusted) {
            (Some((_, folder)), Some(trusted)) => Some(Price {
                input: folder.input.max(trusted.input),
                cached: folder.cached.max(trusted.cached),
                output: folder.output.max(trusted.output),
            }),
            (Some((_, folder)), None) => (folder.input > 0.0 && folder.output > 0.0).then_some(folder),
            (None, trusted) => trusted,
        }
    }

    /// The price that the settings themselves give a model.
    pub fn set(&self, name: &ModelName) -> Option<Price> {
        best(&self.own, name).or(best(&self.folder, name)).map(|(_, price)| price)
    }
}

/// The price in the row that fits most of a name, of those alike the first, and how much fits.
fn best(rows: &[Row], name: &ModelName) -> Option<(usize, Price)> {
    let fitting = rows.iter().rev().filter_map(|row| Some((row.fits(name)?, row.price())));
    fitting.max_by_key(|(length, _)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts_and_the_users_row_before_ours() {
        let check = |own: &[Row], name: &str, expected: Option<f64>| {
            let price = PriceTable::with(own, &[]).of(&name.parse().unwrap());
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
    fn a_folders_rows_make_nothing_cheaper() {
        let check = |input: f64, output: f64, name: &str, expected: Option<(f64, f64)>| {
            let row = Row {
                provider: None,
                model: name.split_once(':').unwrap().1.into(),
                input,
                cached: None,
                output,
                as_of: None,
            };
            let price = PriceTable::with(&[], &[row]).of(&name.parse().unwrap());
            assert_eq!(price.map(|price| (price.input, price.output)), expected, "{name}");
        };
        check(0.0, 0.0, "openai:gpt-5", Some((1.25, 10.0)));
        check(2.0, 4.0, "openai:gpt-5", Some((2.0, 10.0)));
        check(2.0, 4.0, "openai:new", Some((2.0, 4.0)));
        check(0.0, 4.0, "openai:new", None);
        check(0.0, 0.0, "openai:new", None);
    }

    #[test]
    fn a_price_is_an_amount_of_money() {
        let check = |row: &str, expected: Result<(), &str>| {
            let found = toml::from_str::<Row>(&format!("model = \"m\"\n{row}")).map_err(|error| error.to_string());
            match (found, expected) {
                (Ok(_), Ok(())) => {}
                (Err(error), Err(part)) => assert!(error.contains(part), "{row}: {error}"),
                (found, _) => panic!("{row}: {found:?}"),
            }
        };
        check("input = 0\noutput = 2", Ok(()));
        check("input = 0.5\ncached = 0.25\noutput = 2.0", Ok(()));
        for wrong in ["nan", "inf", "-inf", "-0.1", "-1"] {
            check(&format!("input = {wrong}\noutput = 2.0"), Err("is no price"));
            check(&format!("input = 1.0\noutput = {wrong}"), Err("from 0 up"));
            check(&format!("input = 1.0\ncached = {wrong}\noutput = 1.0"), Err("is no price"));
        }
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
