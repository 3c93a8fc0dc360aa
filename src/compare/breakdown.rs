//! Parts of the questions: by type, level, hops, kind of answer, or any other field.

use super::pairing::{Pairing, Values};
use super::pairs::positions;
use super::sample::{mean, mean_interval, t_interval};
use super::{Column, MethodInterval, NamedFigure, Settings};
use serde::Serialize;
use std::collections::BTreeMap;

/// One figure by one field.
///
/// Parts are many and small, and nothing here is corrected for that: differences in a part suggest where to look, and
/// prove nothing. There is therefore no verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakdown {
    /// Name of the field, such as `type`.
    pub by: String,
    /// Name of the figure.
    #[serde(rename = "metric")]
    pub figure: String,
    /// The parts, by the values of the field; questions without a value come last.
    pub groups: Vec<Group>,
}

/// The questions with one value of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The value; absent for the questions that have none.
    pub value: Option<String>,
    /// Questions that all columns measured.
    pub n: usize,
    /// The mean of each column.
    pub means: Vec<GroupMean>,
    /// The same pairs as those of the whole.
    pub pairs: Vec<GroupPair>,
}

/// The mean of one column in a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMean {
    /// Name of the column.
    pub column: String,
    /// Its mean.
    pub mean: Option<f64>,
    /// Interval of the mean, as in [`ColumnMean`](super::ColumnMean).
    pub interval: Option<MethodInterval>,
}

/// Two columns in a part; the difference is `b − a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupPair {
    /// The baseline, or the column named first.
    pub a: String,
    /// The other.
    pub b: String,
    /// Mean of the differences.
    pub difference: Option<f64>,
    /// Its standard error, clustered where there are clusters.
    pub se: Option<f64>,
    /// Its t interval, clustered where there are clusters.
    pub interval: Option<MethodInterval>,
}

/// The breakdowns of one figure by every field of the settings.
pub(super) fn breakdowns(
    columns: &[Column],
    pairing: &Pairing<'_>,
    figure: &NamedFigure,
    values: &Values<'_>,
    settings: &Settings,
) -> Vec<Breakdown> {
    let of_field = |field: &String| {
        let mut parts: BTreeMap<Order, Vec<usize>> = BTreeMap::new();
        for (at, question) in values.questions.iter().enumerate() {
            parts.entry(Order::of(pairing.group(question, field))).or_default().push(at);
        }
        let part = |(order, rows): (Order, Vec<usize>)| Group {
            value: order.value,
            ..group(columns, figure, values, &rows, settings)
        };
        let groups = parts.into_iter().map(part).collect();
        Breakdown { by: field.clone(), figure: figure.name.clone(), groups }
    };
    settings.breakdowns.iter().map(of_field).collect()
}

/// The order of values: numbers by size, other texts by letter, and what has none at the end.
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

/// One part; its value is the caller's to say.
fn group(columns: &[Column], figure: &NamedFigure, values: &Values<'_>, rows: &[usize], settings: &Settings) -> Group {
    let part: Vec<Vec<f64>> =
        values.columns.iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
    let clusters: Option<Vec<usize>> =
        values.clusters.as_ref().map(|clusters| rows.iter().map(|row| clusters[*row]).collect());
    let clusters = clusters.as_deref();
    let means = columns.iter().zip(&part).map(|(column, values_of)| GroupMean {
        column: column.name.clone(),
        mean: mean(values_of, clusters).map(|mean| mean.mean),
        interval: mean_interval(values_of, clusters, values.binary, figure.unit, settings.level),
    });
    let pairs = positions(columns, settings.baseline.as_deref()).map(|(a, b)| {
        let differences: Vec<f64> = part[a].iter().zip(&part[b]).map(|(a, b)| b - a).collect();
        let estimate = mean(&differences, clusters);
        GroupPair {
            a: columns[a].name.clone(),
            b: columns[b].name.clone(),
            difference: estimate.map(|estimate| estimate.mean),
            se: estimate.and_then(|estimate| estimate.se),
            interval: t_interval(&differences, clusters, settings.level),
        }
    });
    Group { value: None, n: rows.len(), means: means.collect(), pairs: pairs.collect() }
}
