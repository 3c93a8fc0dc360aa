//! What a comparison over a holdout says beside its tables: how often it was looked at, and the development part.

use super::{Args, Format};
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::compare::{Comparison, Optimism, Settings, Variant, compare, optimism};
use crate::graded::{self, Holdout, JoinedMetric, Looks, Source, counterparts};
use crate::report::console::stdout_is_terminal;
use crate::types::text::visible_line;
use serde_json::{Value, json};

/// A comparison over a holdout.
#[derive(Debug, Default)]
pub(super) struct OverHoldout {
    looks: Option<Looks>,
    /// The same pairs on the development part.
    optimism: Vec<Optimism>,
}

impl OverHoldout {
    pub(super) fn of(
        args: &Args,
        joined: &[JoinedMetric],
        sources: &[Source],
        comparison: &Comparison,
        warnings: &mut Vec<String>,
    ) -> anyhow::Result<Self> {
        let Some(holdout) = Holdout::of(sources, args.holdout.as_deref())? else {
            if args.dev.is_empty() {
                warnings.extend(Holdout::unusable(sources));
                return Ok(Self::default());
            }
            return Err(Failure::bad_input(
                "--dev: these runs are not over a holdout that their records lead to",
                "name the list of the split with --holdout FILE, such as lists/holdout.ids",
            ));
        };
        let optimism = if args.dev.is_empty() {
            Vec::new()
        } else {
            beside_development(args, joined, sources, comparison, &holdout)?
        };
        let looks = holdout.look(sources, args.figures(joined));
        warnings.extend(looks.warnings.iter().cloned());
        Ok(Self { looks: Some(looks), optimism })
    }

    /// Notes the look in the ledger, once somebody can see the figures, and says what the written comparison does not show on
    /// the terminal.
    pub(super) fn finish(&mut self, args: &Args, format: Format) {
        let shown = match format {
            Format::Table => true,
            Format::Markdown | Format::Latex => stdout_is_terminal(),
            Format::Csv | Format::Json => false,
        };
        if args.out.is_some() || !shown {
            self.lines().iter().for_each(|line| say(visible_line(line, 500)));
        }
        if let Some(warning) = self.looks.as_mut().and_then(Looks::note) {
            say(format_args!("warning: {}", visible_line(&warning, 500)));
        }
    }

    /// For a person, a sentence each.
    pub(super) fn lines(&self) -> Vec<String> {
        let pairs = self.optimism.iter().map(|pair| pair.sentence.clone());
        self.looks.iter().map(Looks::sentence).chain(pairs).collect()
    }

    /// The same for programs.
    pub(super) fn to_json(&self) -> Option<Value> {
        let mut value = json!(self.looks.as_ref()?);
        value["sentence"] = json!(self.looks.as_ref().map(Looks::sentence));
        if !self.optimism.is_empty() {
            value["pairs"] = json!(self.optimism);
        }
        Some(value)
    }
}

/// The pairs on the holdout, and what they were on the development part. The two are never one comparison.
fn beside_development(
    args: &Args,
    joined: &[JoinedMetric],
    sources: &[Source],
    comparison: &Comparison,
    holdout: &Holdout,
) -> anyhow::Result<Vec<Optimism>> {
    if holdout.others() > 0 {
        return Err(Failure::bad_input(
            format!("--dev: {} of the compared questions are not in the holdout", holdout.others()),
            "name runs over the holdout alone; those of the development part belong behind --dev",
        ));
    }
    let (development, figures) = super::loaded(args, &args.dev, joined)?;
    let names: Vec<String> = comparison.variants.iter().map(|variant| variant.name.clone()).collect();
    let same = counterparts(sources, &development, holdout)?;
    let columns: Vec<Variant> =
        same.iter().zip(&names).map(|(source, name)| source.column(name, &figures, &args.fields())).collect();
    // A rule that could stop a run on one part says nothing about the other.
    let stopped = graded::stopped(&same, &names)?;
    let settings = Settings { breakdowns: Vec::new(), stopped, ..comparison.settings.clone() };
    let development = compare(&columns, &settings).map_err(|error| super::explain(error, &same))?;
    Ok(optimism(comparison, &development))
}
