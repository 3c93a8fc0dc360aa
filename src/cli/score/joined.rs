//! Metrics from files in `score`: means over the questions of each variant.

use crate::cli::metric_files::{Names, with_judges};
use crate::graded::{EpisodeName, GradedRun, JoinedMetric, JudgedRun, folder_name, judged_metrics};
use crate::report::JoinedRow;
use crate::report::intervals::LEVEL;
use crate::score::Unit;
use crate::stats::{Interval, Mean};
use std::collections::BTreeMap;
use std::path::Path;

/// Values of the episodes of a question, by variant and by the question's id.
type Values = BTreeMap<(String, String), Vec<f64>>;

/// A row for each variant and metric, the judges' first, after what is missing was said.
pub(super) fn rows(
    run: &Path,
    of_files: Vec<JoinedMetric>,
    judged: Option<&JudgedRun>,
) -> anyhow::Result<Vec<JoinedRow>> {
    let metrics = &with_judges(of_files, judged_metrics(judged)?)?;
    if metrics.is_empty() {
        return Ok(Vec::new());
    }
    let folder = folder_name(run);
    let graded = GradedRun::open(run)?;
    let mut values: Vec<Values> = vec![Values::new(); metrics.len()];
    let mut names = Names::default();
    let mut variants: Vec<String> = Vec::new();
    for episode in graded.episodes() {
        let trajectory = episode?.trajectory;
        names.add(&folder, &trajectory);
        if !variants.contains(&trajectory.variant) {
            variants.push(trajectory.variant.clone());
        }
        if !trajectory.measured() {
            continue;
        }
        for (metric, values) in metrics.iter().zip(&mut values) {
            if let Some(value) = metric.value(EpisodeName::of(&folder, &trajectory)) {
                values.entry((trajectory.variant.clone(), trajectory.id.clone())).or_default().push(value);
            }
        }
    }
    names.note_coverage(metrics)?;
    let row = |variant: &String, metric: &JoinedMetric, values: &Values| {
        let of_variant = || values.iter().filter(|((name, _), _)| name == variant).map(|(_, values)| values);
        // Repeats of a question are not independent: its mean counts.
        let means: Vec<f64> = of_variant().filter_map(|values| Some(Mean::of(values)?.mean)).collect();
        let mean = Mean::of(&means);
        JoinedRow {
            variant: variant.clone(),
            metric: metric.name.clone(),
            unit: metric.unit,
            episodes: of_variant().map(Vec::len).sum(),
            questions: means.len(),
            mean: mean.map(|mean| mean.mean),
            correction: judged.and_then(|judged| judged.correction(&metric.name, variant, LEVEL)),
            interval: mean.and_then(|mean| mean.t_interval(LEVEL)).map(|interval| within(metric.unit, interval)),
        }
    };
    let of_variant = |variant| metrics.iter().zip(&values).map(move |(metric, values)| row(variant, metric, values));
    Ok(variants.iter().flat_map(of_variant).collect())
}

/// A mean of shares lies between 0 and 1; an interval from the t distribution may exceed that.
fn within(unit: Unit, interval: Interval) -> Interval {
    match unit {
        Unit::Share => Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) },
        Unit::Amount => interval,
    }
}
