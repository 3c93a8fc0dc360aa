//! Which price holds for the model that was named, and where it comes from.

use super::failure::Failure;
use super::model_args::ModelArgs;
use crate::llm::{Price, PriceEntry, Prices};
use crate::types::PriceRecord;
use std::path::{Path, PathBuf};

/// What tokens cost.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Budget")]
pub(super) struct PriceArgs {
    /// Price in US dollars of a million prompt tokens and of a million completion tokens, such as 0.15/0.60 [default: the
    /// model's, where it is known].
    #[arg(long, value_name = "IN/OUT", value_parser = super::variant::parse_price)]
    pub(super) price: Option<Price>,
    /// File of models' prices, in the form of src/llm/prices.toml [default: the shipped one].
    #[arg(long, value_name = "FILE", conflicts_with = "price")]
    pub(super) prices: Option<PathBuf>,
}

impl PriceArgs {
    /// The price as typed, else that of the file, else the shipped one; nothing where none of them knows the model.
    pub(super) fn price_of(&self, model: &ModelArgs) -> anyhow::Result<Option<PriceRecord>> {
        if let Some(Price { prompt, completion }) = self.price {
            return Ok(Some(PriceRecord { prompt, completion, as_of: None, source: None }));
        }
        let prices = match &self.prices {
            Some(path) => read(path)?,
            None => Prices::shipped(),
        };
        let Some((host, name)) = model.host_and_name() else { return Ok(None) };
        Ok(prices.find(&host, &name).map(PriceEntry::record))
    }
}

/// Date and source of a price that nobody typed.
pub(super) fn origin(price: &PriceRecord) -> Option<String> {
    let source = price.source.as_deref().map_or_else(String::new, |source| format!(", {source}"));
    Some(format!("as of {}{source}", price.as_of.as_deref()?))
}

fn read(path: &Path) -> anyhow::Result<Prices> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::bad_input(format!("cannot read --prices `{shown}`: {error}"), "--prices takes a TOML file in UTF-8")
    })?;
    Prices::parse(&text).map_err(|error| {
        Failure::bad_input(
            format!("--prices `{shown}`: {error}"),
            "one table [[model]] a model, with name, prompt, completion, as_of and, if they matter, host and source",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{PriceArgs, origin};
    use crate::cli::model_args::ModelArgs;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        model: ModelArgs,
        #[command(flatten)]
        prices: PriceArgs,
    }

    fn price(line: &str) -> anyhow::Result<Option<(f64, bool)>> {
        let Program { model, prices } = Program::try_parse_from(line.split_whitespace())?;
        Ok(prices.price_of(&model)?.map(|price| (price.prompt, origin(&price).is_some())))
    }

    #[test]
    fn a_typed_price_wins_then_the_file_then_the_shipped_one_of_that_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prices.toml");
        let entry = "[[model]]\nname = \"gpt-4o-mini\"\nprompt = 9\ncompletion = 9\nas_of = \"2026-01-01\"\n";
        std::fs::write(&file, entry).expect("a file");
        let model = "x --model openai:gpt-4o-mini";
        assert_eq!(price(&format!("{model} --price 1/2")).expect("sound"), Some((1.0, false)));
        assert_eq!(price(&format!("{model} --prices {}", file.display())).expect("sound"), Some((9.0, true)));
        assert_eq!(price(model).expect("sound"), Some((0.15, true)));
        assert_eq!(price(&format!("{model} --base-url http://127.0.0.1:9/v1")).expect("sound"), None);
        assert_eq!(price("x").expect("sound"), None);
        std::fs::write(&file, "[[model]]\nname = 3").expect("a file");
        let error = price(&format!("{model} --prices {}", file.display())).expect_err("no such form");
        assert!(error.to_string().contains("prices.toml"), "{error}");
    }
}
