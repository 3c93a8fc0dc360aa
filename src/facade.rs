//! The front door of the library: what to run, running it, its figures, and a comparison of its variants.

pub use crate::compare::{Comparison, Settings as ComparisonSettings};
pub use crate::experiment::{DatasetSettings, DatasetSpec, Experiment, Overrides, VariantSettings, VariantSpec};
pub use crate::run::{
    ErrorKind, Finished, Interrupts, Listener, OneAgent, Prepared, RunError, Summary, load_experiment, prepare,
};
pub use crate::types::{Question, RunEvent, Shard, StopRule, Stopping, Trajectory, Wait, WaitReason};

use crate::compare::{Item, NamedFigure, StoppedRun, Variant, compare};
use crate::score::AnswerScore;
use std::path::Path;

/// Compares the variants of a run question by question: EM and F1 with intervals, paired tests and verdicts.
///
/// The errors are those of reading a run, and of comparing fewer than two variants.
///
/// ```
/// # fn show(folder: &std::path::Path) -> Result<(), wikitrail::RunError> {
/// let comparison = wikitrail::compare_run(folder, &wikitrail::ComparisonSettings::default())?;
/// for pair in comparison.figures.iter().flat_map(|figure| &figure.pairs) {
///     println!("{}", pair.verdict.sentence);
/// }
/// # Ok(())
/// # }
/// ```
pub fn compare_run(folder: &Path, settings: &ComparisonSettings) -> Result<Comparison, RunError> {
    let settings = ComparisonSettings { figures: ["em", "f1"].map(NamedFigure::new).to_vec(), ..settings.clone() };
    let summary = Summary::of(folder, None, true)?;
    let names: Vec<String> = summary.variants.iter().map(|variant| variant.name.clone()).collect();
    let stopped = summary.manifest.stop_when.clone().map(|rule| StoppedRun {
        variants: names,
        pair: Some([rule.a.clone(), rule.b.clone()]),
        found: summary.stopping.clone(),
        rule,
    });
    let settings = ComparisonSettings { stopped: stopped.into_iter().collect(), ..settings };
    let figures: Vec<String> = settings.figures.iter().map(|figure| figure.name.clone()).collect();
    let resume = summary.manifest.resume_command(folder);
    let compared = |name: &str| Variant { resume: resume.clone(), ..Variant::new(name, figures.clone(), Vec::new()) };
    let mut variants: Vec<Variant> = summary.variants.iter().map(|variant| compared(&variant.name)).collect();
    for item in summary.items.into_iter().flatten() {
        let Some(compared) = variants.iter_mut().find(|compared| compared.name == item.variant) else { continue };
        let figure = |of: fn(AnswerScore) -> f64| item.score.map(of);
        compared.items.push(Item {
            question: item.id,
            repeat: item.repeat,
            measured: item.assessment.is_some(),
            values: vec![figure(|score| score.em), figure(|score| score.f1)],
            ..Item::default()
        });
    }
    compare(&variants, &settings).map_err(|error| RunError::input(error, "compare a run of several variants"))
}
