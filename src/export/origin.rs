//! The run and the settings of the variant of a row: the last columns of every table.

use super::table::{Cell, Column};
use crate::types::{Manifest, Variant, Wording};
use std::borrow::Cow;

/// The columns, in order; `docs/columns.md` explains each.
pub(super) const COLUMNS: &[Column] = &[
    Column::text("run"),
    Column::text("dataset"),
    Column::text("protocol"),
    Column::text("options"),
    Column::text("method"),
    Column::text("model"),
    Column::text("endpoint"),
    Column::text("prompt"),
    Column::text("rendered_prompt_sha256"),
    Column::text("question_label"),
    Column::integer("max_steps"),
    Column::real("temperature"),
    Column::real("top_p"),
    Column::integer("max_tokens"),
    Column::text("seed"),
    Column::text("wiki"),
    Column::text("wiki_origin"),
    Column::text("wording"),
];

/// The run that an episode is of.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    run: &'a str,
    dataset: &'a str,
    variant: Option<&'a Variant>,
}

impl<'a> Origin<'a> {
    /// The origin of an episode: the run's name, its manifest, and the name of the episode's variant, whose settings
    /// stay unknown where the manifest does not have it.
    pub fn new(run: &'a str, manifest: &'a Manifest, variant: &str) -> Self {
        let variant = manifest.known_variants().find(|known| known.name == variant);
        Self { run, dataset: &manifest.dataset.name, variant }
    }

    pub(super) fn run(&self) -> &'a str {
        self.run
    }

    pub(super) fn cells(&self) -> Vec<Cell<'a>> {
        let mut cells = vec![Cell::text(self.run), Cell::text(self.dataset)];
        match self.variant {
            Some(variant) => cells.extend(settings(variant)),
            None => cells.resize(COLUMNS.len(), Cell::Empty),
        }
        cells
    }
}

/// From `protocol` to `wording`.
fn settings(variant: &Variant) -> [Cell<'_>; 16] {
    let Variant { decoding, .. } = variant;
    [
        Cell::text(&variant.protocol),
        options(variant),
        Cell::text(&variant.method),
        Cell::text(&variant.model),
        Cell::text(&variant.endpoint),
        Cell::text(&variant.prompt),
        Cell::Name(&variant.prompt_sha256),
        Cell::text(&variant.question_label),
        Cell::count(variant.max_steps),
        Cell::Real(decoding.temperature),
        Cell::Real(decoding.top_p),
        Cell::Integer(decoding.max_tokens.into()),
        // A text, because a signed column of 64 bits does not hold every seed.
        Cell::of(decoding.seed, |seed| Cell::Text(Cow::Owned(seed.to_string()))),
        Cell::text(&variant.wiki),
        Cell::of(variant.wiki_origin.as_deref(), Cell::text),
        Cell::Name(match variant.wording {
            Wording::English => "english",
            Wording::Chinese => "chinese",
        }),
    ]
}

/// The protocol's options as a JSON object; empty without any.
fn options(variant: &Variant) -> Cell<'_> {
    let given = (!variant.options.is_empty()).then_some(&variant.options);
    // Strings always serialise.
    Cell::of(given, |options| Cell::Text(Cow::Owned(serde_json::to_string(options).unwrap_or_default())))
}
