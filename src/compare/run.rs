//! The comparison itself.

use super::breakdown::breakdowns;
use super::comparison::{Bounds, ColumnMean, ColumnSummary, Comparison, FigureComparison};
use super::pairing::{Extremes, Pairing, Values};
use super::pairs::pairs;
use super::sample::{mean, mean_interval, mean_intervals};
use super::{Column, CompareError, NamedFigure, Settings, Unit, Verdict};
use crate::stats::cochran_q;
use std::collections::HashSet;

/// Holds columns against each other on the questions that all of them measured.
///
/// Figure by figure: a question counts where every column has a value for it; repeats are averaged within a question
/// before anything else. Equal input gives equal output to the last bit.
pub fn compare(columns: &[Column], settings: &Settings) -> Result<Comparison, CompareError> {
    settings.check()?;
    check(columns, settings)?;
    let pairing = Pairing::of(columns)?;
    let shared = pairing.shared().count();
    if shared == 0 {
        return Err(CompareError::NothingShared(listed(columns.iter().map(|column| column.name.as_str()))));
    }
    let (mut figures, mut parts) = (Vec::new(), Vec::new());
    for figure in &settings.figures {
        let values = pairing.values(&figure.name)?;
        let extremes = if figure.unit == Unit::Share { pairing.extremes(&figure.name)? } else { None };
        parts.extend(breakdowns(columns, &pairing, figure, &values, settings));
        figures.push(compare_figure(columns, figure, values, extremes.as_ref(), settings));
    }
    let summaries = pairing.summaries();
    let notes = notes(&summaries, &figures, pairing.all(), shared, !parts.is_empty());
    Ok(Comparison {
        settings: settings.clone(),
        questions: pairing.all(),
        shared,
        columns: summaries,
        figures,
        breakdowns: parts,
        notes,
    })
}

fn check(columns: &[Column], settings: &Settings) -> Result<(), CompareError> {
    if columns.len() < 2 {
        return Err(CompareError::TooFew(columns.len()));
    }
    let mut names = HashSet::new();
    if let Some(column) = columns.iter().find(|column| !names.insert(column.name.as_str())) {
        return Err(CompareError::SameName(column.name.clone()));
    }
    if let Some(wanted) = settings.baseline.as_ref().filter(|wanted| !names.contains(wanted.as_str())) {
        let known = listed(columns.iter().map(|column| column.name.as_str()));
        return Err(CompareError::NoBaseline { wanted: wanted.clone(), known });
    }
    for field in &settings.breakdowns {
        if columns.iter().all(|column| column.grouping(field).is_none()) {
            let mut known: Vec<&str> = Vec::new();
            for name in columns.iter().flat_map(|column| &column.groupings) {
                if !known.contains(&name.as_str()) {
                    known.push(name);
                }
            }
            return Err(CompareError::UnknownGrouping { field: field.clone(), known: listed(known.into_iter()) });
        }
    }
    Ok(())
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn compare_figure(
    columns: &[Column],
    figure: &NamedFigure,
    values: Values<'_>,
    extremes: Option<&Extremes>,
    settings: &Settings,
) -> FigureComparison {
    let mut pairs = pairs(columns, &values, extremes, settings);
    let corrected = pairs.iter().filter(|pair| pair.p.is_some()).count();
    for pair in &mut pairs {
        pair.verdict = Verdict::of(pair, figure, corrected, settings.alpha);
    }
    let clusters = values.clusters.as_deref();
    let means = columns.iter().enumerate().map(|(at, column)| {
        let of_column = &values.columns[at];
        let estimate = mean(of_column, clusters);
        ColumnMean {
            column: column.name.clone(),
            mean: estimate.map(|estimate| estimate.mean),
            se: estimate.and_then(|estimate| estimate.se),
            interval: mean_interval(of_column, clusters, values.binary, figure.unit, settings.level),
            intervals: mean_intervals(of_column, clusters, values.binary, settings.level),
            bounds: extremes.and_then(|extremes| bounds(&extremes.columns[at])),
        }
    });
    let right = |column: &Vec<f64>| column.iter().map(|value| *value > 0.0).collect();
    let several = values.binary && columns.len() > 2 && !values.questions.is_empty();
    FigureComparison {
        figure: figure.clone(),
        n: values.questions.len(),
        binary: values.binary && !values.questions.is_empty(),
        clusters: clusters.map(|clusters| clusters.iter().collect::<HashSet<_>>().len()),
        means: means.collect(),
        cochran_q: several.then(|| cochran_q(&values.columns.iter().map(right).collect::<Vec<Vec<bool>>>())).flatten(),
        pairs,
        excluded: values.excluded,
    }
}

fn bounds(extremes: &[(f64, f64)]) -> Option<Bounds> {
    #[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
    let n = extremes.len() as f64;
    let (low, high) = extremes.iter().fold((0.0, 0.0), |sum, ends| (sum.0 + ends.0, sum.1 + ends.1));
    (low < high).then(|| Bounds { low: low / n, high: high / n, n: extremes.len() })
}

fn notes(
    columns: &[ColumnSummary],
    figures: &[FigureComparison],
    all: usize,
    shared: usize,
    in_parts: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    if shared < all {
        notes.push(format!("{} of {all} questions are not in all columns, and are left out", all - shared));
    }
    if columns.iter().any(|column| column.not_measured > 0) {
        notes.push(
            "what was not measured (model or Wikipedia failed, or the budget was spent) is in no mean; the bounds say what it could change"
                .to_owned(),
        );
    }
    for figure in figures.iter().filter(|figure| figure.excluded.count > 0) {
        let (label, count) = (figure.figure.label(), figure.excluded.count);
        notes.push(format!(
            "{label}: {count} of {shared} shared questions have no value in some column, and are left out"
        ));
    }
    if let Some(repeats) = columns.iter().map(|column| column.repeats).max().filter(|repeats| *repeats > 1) {
        notes.push(format!(
            "questions were asked up to {repeats} times: repeats are averaged within a question before anything is \
             compared. An average is neither right nor wrong, so McNemar's test and Cochran's Q are left out"
        ));
    }
    if let Some(figure) = figures.iter().find(|figure| figure.clusters.is_some()) {
        let clusters = figure.clusters.unwrap_or_default();
        notes.push(format!(
            "{} questions are in {clusters} clusters: standard errors, intervals and the permutation test are by \
             cluster. McNemar's test, Wilcoxon's and Cochran's Q take questions for independent, and decide nothing",
            figure.n
        ));
    }
    if let Some(figure) = figures.iter().find(|figure| figure.pairs.len() > 1) {
        notes.push(format!(
            "Holm's correction is over the {} pairs of a figure, not over several figures",
            figure.pairs.len()
        ));
    }
    if in_parts {
        notes
            .push("parts are not corrected for their number: they suggest where to look, and prove nothing".to_owned());
    }
    notes
}
