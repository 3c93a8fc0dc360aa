//! What a command line or an experiment file asks for: runs, each a dataset with its cells.

use super::args::{Args, QuestionArgs};
use crate::cli::failure::{self, Failure};
use crate::cli::model_args::ModelArgs;
use crate::cli::prices::PriceArgs;
use crate::cli::variant::{VariantArgs, parse_price};
use crate::cli::wiki_args::WikiArgs;
use crate::llm::Price;
use crate::types::{ExperimentRecord, PriceRecord};
use std::path::PathBuf;

/// Cells that a message names.
const NAMED: usize = 3;

/// One run: a dataset, and how its questions are answered.
pub(super) struct Part {
    pub(super) questions: QuestionArgs,
    pub(super) repeats: u32,
    pub(super) cells: Vec<CellArgs>,
    /// Its folder, where one was named.
    pub(super) out: Option<PathBuf>,
    pub(super) experiment: Option<PartOf>,
}

/// The experiment that a run is a part of.
#[derive(Clone)]
pub(super) struct PartOf {
    pub(super) record: ExperimentRecord,
    /// The file's text.
    pub(super) text: String,
}

/// The flags of one cell. Those of a plain run may make several variants, which name themselves.
#[derive(Clone)]
pub(super) struct CellArgs {
    /// Name of the one variant that it makes, and its place in the file.
    pub(super) named: Option<(String, String)>,
    pub(super) flags: CellFlags,
}

/// What a cell sets, as the flags of `run`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct CellFlags {
    #[command(flatten)]
    pub(super) variant: VariantArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) wiki: WikiArgs,
    #[arg(long, value_name = "IN/OUT", value_parser = parse_price)]
    pub(super) price: Option<Price>,
}

impl Part {
    /// The run that the flags ask for.
    pub(super) fn of_flags(args: &Args) -> Self {
        let flags = CellFlags {
            variant: args.variant.clone(),
            model: args.model.clone(),
            wiki: args.wiki.clone(),
            price: args.limits.price.price,
        };
        Self {
            questions: args.questions.clone(),
            repeats: args.repeats,
            cells: vec![CellArgs { named: None, flags }],
            out: args.out.clone(),
            experiment: None,
        }
    }
}

impl CellArgs {
    /// What tokens of its model cost, where that is known.
    pub(super) fn priced(&self, args: &PriceArgs) -> anyhow::Result<Option<PriceRecord>> {
        PriceArgs { price: self.flags.price, prices: args.prices.clone() }.price_of(&self.flags.model)
    }
}

/// What is wrong with cells as one error, each fault with the cells that have it; nothing where nothing is wrong.
pub(super) fn together(faults: Vec<(&CellArgs, anyhow::Error)>) -> Option<anyhow::Error> {
    let mut groups: Vec<(String, anyhow::Error, Vec<&CellArgs>)> = Vec::new();
    for (cell, error) in faults {
        let (_, said) = failure::explain(&error);
        match groups.iter_mut().find(|(known, ..)| *known == said) {
            Some((.., cells)) => cells.push(cell),
            None => groups.push((said, error, vec![cell])),
        }
    }
    failure::together(groups.into_iter().map(|(_, error, cells)| at(&cells, error)).collect())
}

/// An error with the place of its cells in front.
fn at(cells: &[&CellArgs], error: anyhow::Error) -> anyhow::Error {
    let names: Vec<&(String, String)> = cells.iter().filter_map(|cell| cell.named.as_ref()).collect();
    let Some((_, place)) = names.first() else { return error };
    let first: Vec<String> = names.iter().take(NAMED).map(|(name, _)| format!("`{name}`")).collect();
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    let noun = if names.len() == 1 { "cell" } else { "cells" };
    error.context(format!("{place}: {noun} {}{more}", first.join(", ")))
}

/// A budget in dollars needs a price for every model that costs something.
pub(super) fn refuse_unpriced(args: &Args, cells: &[CellArgs]) -> anyhow::Result<()> {
    if args.limits.budget_usd.is_none() {
        return Ok(());
    }
    let (mut priced, mut unpriced) = (false, Vec::new());
    for cell in cells {
        if cell.priced(&args.limits.price)?.is_some() {
            priced = true;
        } else {
            unpriced.push(cell.flags.model.model.as_str());
        }
    }
    // The rules cost nothing; a run of nothing else has nothing to limit.
    let free = |model: &&&str| **model == "baseline" && priced;
    match unpriced.iter().find(|model| !free(model)) {
        None => Ok(()),
        Some(model) => Err(Failure::usage(
            format!("--budget-usd needs a price, and none is known for `{model}`"),
            "give the price with --price IN/OUT or --prices FILE, or limit tokens with --budget-tokens",
        )),
    }
}
