//! What models cost: the built-in table, and files in the same format.

use crate::types::{PriceRecord, Usage};
use serde::{Deserialize, Serialize};

const SHIPPED: &str = include_str!("prices.toml");
/// Higher prices, in US dollars per million tokens, are rejected as a wrong unit.
const MAX_PRICE: f64 = 1e6;

/// What a model's tokens cost, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub prompt: f64,
    pub completion: f64,
}

impl Price {
    /// Cost of `usage` in US dollars.
    pub fn of(self, usage: Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let (prompt, completion) = (usage.prompt_tokens as f64, usage.completion_tokens as f64);
        (prompt * self.prompt + completion * self.completion) / 1e6
    }
}

impl From<&PriceRecord> for Price {
    fn from(record: &PriceRecord) -> Self {
        Self { prompt: record.prompt, completion: record.completion }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(rename = "model", default)]
    entries: Vec<PriceEntry>,
}

/// The price of one model in US dollars per million tokens, with its date and a page that states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceEntry {
    /// The server with this price; any server if absent.
    #[serde(default)]
    pub host: Option<String>,
    /// The model's name as the server knows it, without a snapshot's date.
    pub name: String,
    pub prompt: f64,
    pub completion: f64,
    /// The day of the price, or on which the source was read, as `YYYY-MM-DD`.
    pub as_of: String,
    #[serde(default)]
    pub source: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PricesError {
    #[error("{0}")]
    Form(String),
    #[error("the price of `{0}` is not between 0 and 1,000,000 US dollars per million tokens")]
    Amount(String),
    #[error("`as_of` of `{0}` is not a date such as 2026-11-21")]
    Date(String),
}

impl Prices {
    pub fn shipped() -> Self {
        // A test checks the table; without it, no price is known.
        Self::parse(SHIPPED).unwrap_or(Self { entries: Vec::new() })
    }

    pub fn parse(text: &str) -> Result<Self, PricesError> {
        let prices: Self = toml::from_str(text).map_err(|error| PricesError::Form(error.to_string()))?;
        for entry in &prices.entries {
            if ![entry.prompt, entry.completion].iter().all(|amount| (0.0..=MAX_PRICE).contains(amount)) {
                return Err(PricesError::Amount(entry.name.clone()));
            }
            if !is_day(&entry.as_of) {
                return Err(PricesError::Date(entry.name.clone()));
            }
        }
        Ok(prices)
    }

    /// The entry of the model of that name on that server: under its own name, else without the date of a snapshot.
    pub fn find(&self, host: &str, model: &str) -> Option<&PriceEntry> {
        let here = |entry: &&PriceEntry| entry.host.as_deref().is_none_or(|its| its.eq_ignore_ascii_case(host));
        let named = |name: &str| self.entries.iter().filter(here).find(|entry| entry.name == name);
        named(model).or_else(|| named(without_date(model)?))
    }
}

impl PriceEntry {
    pub fn record(&self) -> PriceRecord {
        let (as_of, source) = (Some(self.as_of.clone()), self.source.clone());
        PriceRecord { prompt: self.prompt, completion: self.completion, as_of, source }
    }
}

/// `gpt-4o-mini` of `gpt-4o-mini-2024-07-18` or `gpt-4o-mini-20240718`.
fn without_date(model: &str) -> Option<&str> {
    [11, 9].into_iter().find_map(|length| {
        let (name, date) = model.split_at_checked(model.len().checked_sub(length)?)?;
        let date = date.strip_prefix('-')?;
        (is_day(date) || (date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()))).then_some(name)
    })
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices, PricesError};
    use crate::types::Usage;

    #[test]
    fn the_shipped_table_is_sound_and_every_price_names_its_source() {
        let prices = Prices::parse(super::SHIPPED).expect("the shipped table");
        assert!(prices.entries.len() >= 5);
        for entry in &prices.entries {
            assert!(entry.source.as_ref().is_some_and(|source| source.starts_with("https://")), "{entry:?}");
            assert!(entry.host.is_some() && entry.completion >= entry.prompt, "{entry:?}");
        }
        assert_eq!(Prices::shipped(), prices);
    }

    #[test]
    fn a_model_is_found_by_name_or_as_a_dated_snapshot_and_only_on_its_server() {
        let prices = Prices::shipped();
        let name = |host, model| prices.find(host, model).map(|entry| entry.name.as_str());
        assert_eq!(name("api.openai.com", "gpt-4o-mini"), Some("gpt-4o-mini"));
        assert_eq!(name("API.OpenAI.com", "gpt-4o-mini-2024-07-18"), Some("gpt-4o-mini"));
        assert_eq!(name("api.anthropic.com", "claude-haiku-4-5-20251001"), Some("claude-haiku-4-5"));
        assert_eq!(name("generativelanguage.googleapis.com", "gemini-2.5-flash"), Some("gemini-2.5-flash"));
        for (host, model) in [
            ("localhost", "gpt-4o-mini"),
            ("api.openai.com", "gpt-4o-audio-preview"),
            ("api.openai.com", "gpt-4o-mini-high"),
            ("api.openai.com", "-2024-07-18"),
            ("api.openai.com", "é-2024-07-1"),
            ("api.openai.com", ""),
        ] {
            assert_eq!(name(host, model), None, "{model} on {host}");
        }
    }

    #[test]
    fn a_file_without_hosts_holds_for_every_server() {
        let entry = |prompt: &str, as_of: &str| {
            Prices::parse(&format!("[[model]]\nname = \"m\"\nprompt = {prompt}\ncompletion = 2\nas_of = \"{as_of}\""))
        };
        let prices = entry("1.5", "2026-01-31").expect("a sound file");
        let record = prices.find("127.0.0.1", "m").expect("an entry").record();
        assert_eq!((record.as_of.as_deref(), record.source.as_deref()), (Some("2026-01-31"), None));
        let price = Price::from(&record);
        assert_eq!(price, Price { prompt: 1.5, completion: 2.0 });
        let usage = Usage::new(2_000_000, 500_000);
        assert!((price.of(usage) - 4.0).abs() < 1e-12);
        assert_eq!(entry("-1", "2026-01-31"), Err(PricesError::Amount("m".to_owned())));
        assert_eq!(entry("nan", "2026-01-31"), Err(PricesError::Amount("m".to_owned())));
        assert_eq!(entry("1", "January"), Err(PricesError::Date("m".to_owned())));
        assert_eq!(entry("1", "2026-02-31"), Err(PricesError::Date("m".to_owned())));
        assert!(matches!(Prices::parse("[[model]]\nname = 1"), Err(PricesError::Form(_))));
        assert!(matches!(Prices::parse("models = []"), Err(PricesError::Form(_))));
    }
}
