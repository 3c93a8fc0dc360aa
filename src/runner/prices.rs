//! Prices of models: set, from a file, or shipped.

use super::error::RunError;
use super::model::ModelSettings;
use crate::base::bounded::text_at_most;
use crate::base::{PriceRecord, unique};
use crate::models::{PriceEntry, Prices};
use crate::runner::experiment::{Experiment, VariantSettings, price};
use std::fs::File;
use std::path::Path;

/// Largest file of prices, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct PriceList(Prices);

impl PriceList {
    /// Reads a file of prices; without one, takes the shipped prices.
    pub(crate) fn load(path: Option<&Path>) -> Result<Self, RunError> {
        path.map_or_else(|| Ok(Self(Prices::shipped())), |path| read(path).map(Self))
    }

    /// The price that was set, else that of the list; nothing where neither names the model.
    pub(crate) fn of(&self, settings: &VariantSettings) -> Option<PriceRecord> {
        if let Some(typed) = settings.price.as_deref().and_then(price) {
            return Some(typed);
        }
        let (host, name) = ModelSettings(settings).host_and_name()?;
        self.0.find(&host, &name).map(PriceEntry::record)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetPrice {
    /// `price` or `prices`.
    pub(crate) setting: &'static str,
    pub(crate) value: String,
    pub(crate) model: String,
    pub(crate) shown: String,
    /// Why a limit in dollars would not hold with it; nothing where it would.
    pub(crate) low: Option<String>,
}

/// The prices that are set for the models of an experiment, each once.
pub(crate) fn set_prices(experiment: &Experiment) -> Result<Vec<SetPrice>, RunError> {
    let (file, usual) = (experiment.limits.prices.as_deref(), PriceList(Prices::shipped()));
    let variants = experiment.datasets.iter().flat_map(|dataset| experiment.variants_on(dataset));
    let settings: Vec<&VariantSettings> = variants.map(|variant| &variant.settings).collect();
    // The file is opened only for a model whose price it may hold.
    let needs_file = settings.iter().any(|settings| settings.price.is_none());
    let list = file.filter(|_| needs_file).map(read).transpose()?.map(PriceList);
    let set = |settings: &VariantSettings| {
        let (setting, value, price) = match (&settings.price, &list, file) {
            (Some(text), ..) => ("price", text.clone(), price(text)?),
            (None, Some(list), Some(file)) => ("prices", file.display().to_string(), list.of(settings)?),
            _ => return None,
        };
        let ours = usual.of(&VariantSettings { price: None, ..settings.clone() });
        let model = settings.model.clone().unwrap_or_default();
        Some(SetPrice { setting, value, model, shown: amounts(&price), low: low(&price, ours.as_ref()) })
    };
    Ok(unique(settings.into_iter().filter_map(set)))
}

/// A price in the form of `--price`.
fn amounts(price: &PriceRecord) -> String {
    let amounts = [Some(price.prompt), Some(price.completion), price.cached];
    amounts.iter().flatten().map(f64::to_string).collect::<Vec<_>>().join("/")
}

/// Why a price is no base for a limit: it is zero, or below ours.
fn low(price: &PriceRecord, ours: Option<&PriceRecord>) -> Option<String> {
    if price.prompt == 0.0 || price.completion == 0.0 || price.cached == Some(0.0) {
        return Some("tokens would cost nothing".to_owned());
    }
    let ours = ours?;
    let cached = price.cached.is_some_and(|cached| cached < ours.cached.unwrap_or(ours.prompt));
    let is_low = price.prompt < ours.prompt || price.completion < ours.completion || cached;
    is_low.then(|| format!("below the known price {}", amounts(ours)))
}

/// Date and source of a price from a list.
pub(crate) fn price_origin(price: &PriceRecord) -> Option<String> {
    let source = price.source.as_deref().map_or_else(String::new, |source| format!(", {source}"));
    Some(format!("as of {}{source}", price.as_of.as_deref()?))
}

fn read(path: &Path) -> Result<Prices, RunError> {
    let shown = path.display();
    let text = File::open(path).and_then(|file| text_at_most(file, MAX_BYTES)).map_err(|error| {
        RunError::input(format!("cannot read --prices `{shown}`: {error}"), "--prices takes a TOML file in UTF-8")
    })?;
    Prices::parse(&text).map_err(|error| {
        RunError::input(
            format!("--prices `{shown}`: {error}"),
            "one table [[model]] a model, with name, prompt, completion, as_of and, if they matter, cached, cache_write, host and source",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{PriceList, price_origin};
    use crate::runner::experiment::VariantSettings;
    use std::path::Path;

    fn price(file: Option<&Path>, model: &str, settings: VariantSettings) -> Option<(f64, bool)> {
        let prices = PriceList::load(file).expect("sound");
        let price = prices.of(&VariantSettings { model: Some(model.to_owned()), ..settings })?;
        Some((price.prompt, price_origin(&price).is_some()))
    }

    #[test]
    fn a_set_price_wins_then_the_file_then_the_shipped_one_of_that_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prices.toml");
        let entry = "[[model]]\nname = \"gpt-4o-mini\"\nprompt = 9\ncompletion = 9\nas_of = \"2026-01-01\"\n";
        std::fs::write(&file, entry).expect("a file");
        let (model, usual) = ("openai:gpt-4o-mini", VariantSettings::default);
        let set = VariantSettings { price: Some("1/2".to_owned()), ..usual() };
        assert_eq!(price(Some(&file), model, set), Some((1.0, false)));
        assert_eq!(price(Some(&file), model, usual()), Some((9.0, true)));
        assert_eq!(price(None, model, usual()), Some((0.15, true)));
        let near = VariantSettings { base_url: Some(vec!["http://127.0.0.1:9/v1".to_owned()]), ..usual() };
        assert_eq!(price(None, model, near), None);
        assert_eq!(price(None, "baseline", usual()), None);
        std::fs::write(&file, "[[model]]\nname = 3").expect("a file");
        let error = PriceList::load(Some(&file)).expect_err("not a price");
        assert!(error.to_string().contains("prices.toml"), "{error}");
    }
}
