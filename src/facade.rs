//! The front door of the library: what to run, running it, its figures, and a comparison of its variants.

pub use crate::analysis::compare::{Comparison, Settings as ComparisonSettings};
pub use crate::base::{Question, RunEvent, Shard, StopRule, Stopping, Trajectory, Wait, WaitReason};
pub use crate::runner::experiment::{
    DatasetSettings, DatasetSpec, Experiment, Overrides, VariantSettings, VariantSpec,
};
pub use crate::runner::{
    ErrorKind, Finished, Interrupts, Listener, OneAgent, Prepared, RunError, Summary, load_experiment, prepare,
};

use crate::analysis::compare::{NamedFigure, compare};
use crate::analysis::results::{RunRef, Wanted, load, names, stopped};
use crate::scoring::{Figure, figure};
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
    let figures = [&figure::EM, &figure::F1];
    let compared = |figure: &Figure| NamedFigure::new(figure.name);
    let run = RunRef { path: folder.to_owned(), variant: None };
    let (sources, _) = load(&[run], &Wanted { figures: &figures, ..Wanted::default() })?;
    let names = names(&sources);
    let (stopped, figures) = (stopped(&sources, &names)?, figures.map(compared).to_vec());
    let settings = ComparisonSettings { figures, stopped, ..settings.clone() };
    let figures: Vec<String> = settings.figures.iter().map(|figure| figure.name.clone()).collect();
    let columns = sources.iter().zip(&names).map(|(source, name)| source.column(name, &figures, &[]));
    compare(&columns.collect::<Vec<_>>(), &settings)
        .map_err(|error| RunError::input(error, "compare a run of several variants"))
}
