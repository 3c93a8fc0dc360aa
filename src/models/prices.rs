//! What models cost: the built-in table, and files in the same format.

use crate::base::{PriceRecord, Usage};
use serde::Deserialize;

const SHIPPED: &str = include_str!("prices.toml");
/// Higher prices, in US dollars per million tokens, are rejected as a wrong unit.
const MAX_PRICE: f64 = 1e6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub prompt: f64,
    /// Reasoning included.
    pub completion: f64,
    /// Tokens of the prompt that the provider had kept from earlier requests; as other tokens of it where absent.
    pub cached: Option<f64>,
    /// Tokens of the prompt that the provider keeps for later requests; as other tokens of it where absent.
    pub cache_write: Option<f64>,
}

impl Price {
    pub const fn new(prompt: f64, completion: f64) -> Self {
        Self { prompt, completion, cached: None, cache_write: None }
    }

    pub fn of(self, usage: Usage) -> f64 {
        let Usage { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, .. } = usage;
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let cost = |tokens: u64, price: f64| tokens as f64 * price;
        // Servers that count more tokens as kept than there are do not make a prompt cheaper than nothing.
        let cached = cached_tokens.unwrap_or(0).min(prompt_tokens);
        let written = cache_write_tokens.unwrap_or(0).min(prompt_tokens - cached);
        let prompt = cost(prompt_tokens - cached - written, self.prompt)
            + cost(cached, self.cached.unwrap_or(self.prompt))
            + cost(written, self.cache_write.unwrap_or(self.prompt));
        (prompt + cost(completion_tokens, self.completion)) / 1e6
    }
}

impl From<&PriceRecord> for Price {
    fn from(record: &PriceRecord) -> Self {
        let PriceRecord { prompt, completion, cached, cache_write, .. } = *record;
        Self { prompt, completion, cached, cache_write }
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
    /// Tokens of the prompt from the provider's cache, and into it; absent where they cost what others cost, or where
    /// nothing is known.
    #[serde(default)]
    pub cached: Option<f64>,
    #[serde(default)]
    pub cache_write: Option<f64>,
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
            let amounts = [Some(entry.prompt), Some(entry.completion), entry.cached, entry.cache_write];
            if !amounts.iter().flatten().all(|amount| (0.0..=MAX_PRICE).contains(amount)) {
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
        let Self { prompt, completion, cached, cache_write, .. } = *self;
        let (as_of, source) = (Some(self.as_of.clone()), self.source.clone());
        PriceRecord { prompt, completion, cached, cache_write, as_of, source }
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
    use crate::base::Usage;

    #[test]
    fn the_shipped_table_is_sound_and_every_price_names_its_source() {
        let prices = Prices::parse(super::SHIPPED).expect("the shipped table");
        assert!(prices.entries.len() >= 50);
        for entry in &prices.entries {
            // A file of a list at a commit: what it said cannot change.
            let commit = entry
                .source
                .as_deref()
                .and_then(|source| source.strip_prefix("https://github.com/")?.split('/').nth(3));
            assert!(
                commit.is_some_and(|commit| commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit())),
                "{entry:?}"
            );
            assert!(entry.host.is_some() && entry.completion >= entry.prompt, "{entry:?}");
            assert!(entry.cached.is_none_or(|cached| cached < entry.prompt), "{entry:?}");
            assert!(entry.cache_write.is_none_or(|write| write > entry.prompt), "{entry:?}");
        }
        assert_eq!(Prices::shipped(), prices);
    }

    #[test]
    fn a_model_is_found_by_name_or_as_a_dated_snapshot_and_only_on_its_server() {
        let prices = Prices::shipped();
        let name = |host, model| prices.find(host, model).map(|entry| entry.name.as_str());
        assert_eq!(name("api.openai.com", "gpt-4o-mini"), Some("gpt-4o-mini"));
        assert_eq!(name("API.OpenAI.com", "gpt-4o-mini-2024-07-18"), Some("gpt-4o-mini"));
        assert_eq!(name("api.openai.com", "gpt-5-mini-2025-08-07"), Some("gpt-5-mini"));
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
    fn cached_tokens_have_a_price_of_their_own_where_one_is_known() {
        let plain = Price::new(3.0, 15.0);
        let usage = Usage { cached_tokens: Some(900), reasoning_tokens: Some(80), ..Usage::new(1_000, 100) };
        let written = Usage { cached_tokens: Some(0), cache_write_tokens: Some(900), ..usage };
        let wrong = Usage { cached_tokens: Some(5_000), cache_write_tokens: Some(5_000), ..usage };
        let cheap = Price { cached: Some(0.3), ..plain };
        for (price, usage, micros) in [
            // Without a price for them, they cost what they did before; reasoning is part of the completion.
            (plain, usage, 1_000.0 * 3.0 + 100.0 * 15.0),
            (cheap, usage, 100.0 * 3.0 + 900.0 * 0.3 + 100.0 * 15.0),
            (cheap, written, 1_000.0 * 3.0 + 100.0 * 15.0),
            (Price { cache_write: Some(3.75), ..cheap }, written, 100.0 * 3.0 + 900.0 * 3.75 + 100.0 * 15.0),
            (cheap, wrong, 1_000.0 * 0.3 + 100.0 * 15.0),
        ] {
            assert!((price.of(usage) - micros / 1e6).abs() < 1e-12, "{price:?} {usage:?}");
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
        assert_eq!(price, Price::new(1.5, 2.0));
        let usage = Usage::new(2_000_000, 500_000);
        assert!((price.of(usage) - 4.0).abs() < 1e-12);
        assert_eq!(entry("1\ncached = -1", "2026-01-31"), Err(PricesError::Amount("m".to_owned())));
        assert_eq!(entry("-1", "2026-01-31"), Err(PricesError::Amount("m".to_owned())));
        assert_eq!(entry("nan", "2026-01-31"), Err(PricesError::Amount("m".to_owned())));
        assert_eq!(entry("1", "January"), Err(PricesError::Date("m".to_owned())));
        assert_eq!(entry("1", "2026-02-31"), Err(PricesError::Date("m".to_owned())));
        assert!(matches!(Prices::parse("[[model]]\nname = 1"), Err(PricesError::Form(_))));
        assert!(matches!(Prices::parse("models = []"), Err(PricesError::Form(_))));
    }
}
