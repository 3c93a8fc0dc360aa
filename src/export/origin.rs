//! The run and the settings of the variant of a row: the last columns of every table.

use super::table::{Cell, Column};
use crate::types::{Manifest, Variant, Wording};
use std::borrow::Cow;

type SettingContent = for<'a> fn(&'a Variant) -> Cell<'a>;

/// The columns of the run, which precede those of the settings.
pub(super) const RUN_COLUMNS: [Column; 2] = [Column::text("run"), Column::text("dataset")];

/// The columns of the settings, in order, and their cells; `docs/columns.md` explains each.
pub(super) const SETTING_COLUMNS: &[(Column, SettingContent)] = &[
    (Column::text("protocol"), |variant| Cell::text(&variant.protocol)),
    (Column::text("options"), options_cell),
    (Column::text("method"), |variant| Cell::text(&variant.method)),
    (Column::text("model"), |variant| Cell::text(&variant.model)),
    (Column::text("endpoint"), |variant| Cell::text(&variant.endpoint)),
    (Column::text("prompt"), |variant| Cell::text(&variant.prompt)),
    (Column::text("rendered_prompt_sha256"), |variant| Cell::Name(&variant.prompt_sha256)),
    (Column::text("question_label"), |variant| Cell::text(&variant.question_label)),
    (Column::integer("max_steps"), |variant| Cell::of(variant.max_steps, Cell::count)),
    (Column::real("temperature"), |variant| Cell::of(variant.decoding.temperature, Cell::Real)),
    (Column::real("top_p"), |variant| Cell::of(variant.decoding.top_p, Cell::Real)),
    (Column::integer("max_tokens"), |variant| {
        Cell::of(variant.decoding.max_tokens, |tokens| Cell::Integer(tokens.into()))
    }),
    // A text, because a signed column of 64 bits does not hold every seed.
    (Column::text("seed"), |variant| Cell::of(variant.decoding.seed, |seed| Cell::Text(Cow::Owned(seed.to_string())))),
    (Column::text("wiki"), |variant| Cell::text(&variant.wiki)),
    (Column::text("wiki_origin"), |variant| Cell::of(variant.wiki_origin.as_deref(), Cell::text)),
    (Column::text("wording"), |variant| {
        Cell::of(variant.compat, |_| {
            Cell::Name(if variant.wording == Wording::English { "english" } else { "chinese" })
        })
    }),
];

/// The run that an episode is of.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    run: &'a str,
    manifest: &'a Manifest,
    variant: Option<&'a Variant>,
}

impl<'a> Origin<'a> {
    /// The origin of an episode: the run's name, its manifest, and the name of the episode's variant, whose settings
    /// stay unknown where the manifest does not have it.
    pub fn new(run: &'a str, manifest: &'a Manifest, variant: &str) -> Self {
        let variant = manifest.known_variants().find(|known| known.name == variant);
        Self { run, manifest, variant }
    }

    pub(super) fn run(&self) -> &'a str {
        self.run
    }

    pub(super) fn manifest(&self) -> &'a Manifest {
        self.manifest
    }

    /// The settings, where the manifest has them.
    pub(super) fn variant(&self) -> Option<&'a Variant> {
        self.variant
    }

    pub(super) fn cells(&self) -> Vec<Cell<'a>> {
        let settings = SETTING_COLUMNS.iter().map(|(_, cell)| Cell::of(self.variant, cell));
        [self.run, &self.manifest.dataset.name].map(Cell::text).into_iter().chain(settings).collect()
    }
}

/// The protocol's options as a JSON object; empty without any.
fn options_cell(variant: &Variant) -> Cell<'_> {
    let given = (!variant.options.is_empty()).then_some(&variant.options);
    // Strings always serialise.
    Cell::of(given, |options| Cell::Text(Cow::Owned(serde_json::to_string(options).unwrap_or_default())))
}
