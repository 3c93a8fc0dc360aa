//! Parts of the questions: by type, level, hops, kind of answer, or any other field.

use super::comparison::{Breakdown, Group, GroupMean, GroupPair};
use super::pairing::{FigureValues, Pairing, Values};
use super::pairs::{Sample, positions, stopped_by};
use super::{NamedFigure, Settings, Variant};
use std::collections::{BTreeMap, BTreeSet};

/// The breakdowns of one figure by every field of the settings.
pub(super) fn breakdowns(
    variants: &[Variant],
    pairing: &Pairing<'_>,
    figure: &NamedFigure,
    values: &FigureValues<'_, '_>,
    settings: &Settings,
) -> Vec<Breakdown> {
    let of_field = |field: &String| {
        let (common, parts) = (values.common(), Parts::of(pairing, field));
        let group = |(value, rows): (&Option<String>, Vec<usize>)| Group {
            value: value.clone(),
            n: rows.len(),
            means: group_means(variants, figure, (&common, &rows), settings),
            pairs: Vec::new(),
        };
        let mut groups: Vec<Group> = parts.values.iter().zip(parts.rows(&common)).map(group).collect();
        for (a, b) in positions(variants, settings) {
            let of_pair = values.pair((a, b));
            for (group, rows) in groups.iter_mut().zip(parts.rows(&of_pair)) {
                group.pairs.push(group_pair([a, b].map(|at| &variants[at]), figure, (&of_pair, &rows), settings));
            }
        }
        groups.retain(|group| group.n > 0 || group.pairs.iter().any(|pair| pair.n > 0));
        Breakdown { by: field.clone(), figure: figure.name.clone(), groups }
    };
    settings.breakdowns.iter().map(of_field).collect()
}

/// The values of a field in their order, and which of them each question has.
struct Parts {
    values: Vec<Option<String>>,
    of_question: Vec<usize>,
}

impl Parts {
    fn of(pairing: &Pairing<'_>, field: &str) -> Self {
        let orders: Vec<Order> = (0..pairing.all()).map(|question| Order::of(pairing.group(question, field))).collect();
        let known: BTreeSet<&Order> = orders.iter().collect();
        let places: BTreeMap<&Order, usize> = known.into_iter().zip(0..).collect();
        Self {
            values: places.keys().map(|order| order.value.clone()).collect(),
            of_question: orders.iter().map(|order| places[order]).collect(),
        }
    }

    /// The places of each part's questions among those of `values`.
    fn rows(&self, values: &Values) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.values.len()];
        for (at, question) in values.questions.iter().enumerate() {
            rows[self.of_question[*question]].push(at);
        }
        rows
    }
}

/// The order of values: numbers by size, then other texts, then no value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    rank: u8,
    number: u64,
    value: Option<String>,
}

impl Order {
    fn of(value: Option<&str>) -> Self {
        let number = value.and_then(|value| value.parse().ok());
        let rank = if number.is_some() { 0 } else { 1 + u8::from(value.is_none()) };
        Self { rank, number: number.unwrap_or_default(), value: value.map(str::to_owned) }
    }
}

fn group_means(
    variants: &[Variant],
    figure: &NamedFigure,
    (common, rows): (&Values, &[usize]),
    settings: &Settings,
) -> Vec<GroupMean> {
    let clusters = clusters_of_rows(common, rows);
    let mean = |((variant, values), binary): ((&Variant, &Vec<f64>), &bool)| {
        let values: Vec<f64> = rows.iter().map(|row| values[*row]).collect();
        let sample = Sample { values: &values, clusters: clusters.as_deref() };
        GroupMean {
            variant: variant.name.clone(),
            mean: sample.mean().map(|mean| mean.mean),
            interval: sample.mean_interval(*binary, figure.range, settings.level),
        }
    };
    variants.iter().zip(&common.variants).zip(&common.binary).map(mean).collect()
}

fn group_pair(
    [a, b]: [&Variant; 2],
    figure: &NamedFigure,
    (values, rows): (&Values, &[usize]),
    settings: &Settings,
) -> GroupPair {
    let differences: Vec<f64> = rows.iter().map(|row| values.variants[1][*row] - values.variants[0][*row]).collect();
    let clusters = clusters_of_rows(values, rows);
    let sample = Sample { values: &differences, clusters: clusters.as_deref() };
    let estimate = sample.mean();
    GroupPair {
        a: a.name.clone(),
        b: b.name.clone(),
        n: rows.len(),
        difference: estimate.map(|estimate| estimate.mean),
        se: estimate.and_then(|estimate| estimate.se),
        interval: sample.difference_interval(figure.range_of_differences(), settings.level),
        stopped_by: stopped_by(&[&a.name, &b.name], settings),
    }
}

fn clusters_of_rows(values: &Values, rows: &[usize]) -> Option<Vec<usize>> {
    let clusters = values.clusters.as_ref()?;
    Some(rows.iter().map(|row| clusters[*row]).collect())
}
