//! Metrics from files, and KILT's where the dataset is KILT's, in `score`: means over the questions of each variant.

use crate::cli::metric_files::{Names, with_judges};
use crate::graded::{EpisodeName, GradedRun, JoinedMetric, JudgedRun, folder_name, judged_metrics};
use crate::report::JoinedRow;
use crate::report::summary::{LEVEL, shares_interval};
use crate::score::{Figure, Unit, figure};
use crate::stats::Mean;
use std::collections::BTreeMap;
use std::path::Path;

/// The figures that KILT asks for.
const OF_KILT: [&Figure; 4] = [&figure::R_PRECISION, &figure::RECALL_AT_5, &figure::KILT_EM, &figure::KILT_F1];

/// Values of the episodes of a question, by variant and by the question's id.
type Values = BTreeMap<(String, String), Vec<f64>>;

/// A row for each variant and metric, the judges' first, after what is missing was said.
pub(super) fn joined_rows(
    run: &Path,
    is_kilt: bool,
    of_files: Vec<JoinedMetric>,
    judged: Option<&JudgedRun>,
) -> anyhow::Result<Vec<JoinedRow>> {
    let metrics = &with_judges(of_files, judged_metrics(judged)?)?;
    let figures: &[&Figure] = if is_kilt { &OF_KILT } else { &[] };
    if metrics.is_empty() && figures.is_empty() {
        return Ok(Vec::new());
    }
    let (folder, graded) = (folder_name(run), GradedRun::open(run)?);
    let mut values: Vec<Values> = vec![Values::new(); metrics.len() + figures.len()];
    let mut names = Names::default();
    let mut variants: Vec<String> = Vec::new();
    for (_, episode) in graded.counted_episodes() {
        let graded = episode?;
        let trajectory = &graded.trajectory;
        names.add(&folder, trajectory);
        if !variants.contains(&trajectory.variant) {
            variants.push(trajectory.variant.clone());
        }
        if !trajectory.measured() {
            continue;
        }
        let of_files = metrics.iter().map(|metric| metric.value(EpisodeName::of(&folder, trajectory)));
        let of_episode = figures.iter().map(|figure| figure.value(&graded));
        for (value, values) in of_files.chain(of_episode).zip(&mut values) {
            if let Some(value) = value {
                values.entry((trajectory.variant.clone(), trajectory.id.clone())).or_default().push(value);
            }
        }
    }
    names.note_coverage(metrics)?;
    let of_files = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit));
    let columns: Vec<(&str, Unit)> =
        of_files.chain(figures.iter().map(|figure| (figure.name, figure.unit()))).collect();
    let row = |variant: &String, (name, unit): (&str, Unit), values: &Values| {
        let of_variant = || values.iter().filter(|((of, _), _)| of == variant).map(|(_, values)| values);
        // Repeats of a question are not independent: its mean counts.
        let means: Vec<f64> = of_variant().filter_map(|values| Some(Mean::of(values)?.mean)).collect();
        let mean = Mean::of(&means);
        JoinedRow {
            variant: variant.clone(),
            metric: name.to_owned(),
            unit,
            episodes: of_variant().map(Vec::len).sum(),
            questions: means.len(),
            mean: mean.map(|mean| mean.mean),
            correction: judged.and_then(|judged| judged.correction(name, variant, LEVEL)),
            interval: match unit {
                Unit::Share => shares_interval(&means, of_variant().all(|values| values.len() == 1)),
                Unit::Amount => mean.and_then(|mean| mean.t_interval(LEVEL)),
            },
        }
    };
    let of_variant = |variant| columns.iter().zip(&values).map(move |(name, values)| row(variant, *name, values));
    Ok(variants.iter().flat_map(of_variant).collect())
}
