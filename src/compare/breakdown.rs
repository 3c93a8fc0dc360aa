//! Parts of the questions: by type, level, hops, kind of answer, or any other field.

use super::pairing::{Pairing, Values};
use super::pairs::positions;
use super::sample::Sample;
use super::stopped::stopped_by;
use super::{MethodInterval, NamedFigure, Settings, Variant};
use serde::Serialize;
use std::collections::BTreeMap;

/// One figure by one field.
///
/// Parts are many and small, and nothing corrects for that: differences in a part suggest where to look and prove
/// nothing, so there is no verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakdown {
    pub by: String,
    #[serde(rename = "metric")]
    pub figure: String,
    /// The parts, by the values of the field; questions without a value come last.
    pub groups: Vec<Group>,
}

/// The questions with one value of a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The value; absent for questions without one.
    pub value: Option<String>,
    /// Questions that all variants measured.
    pub n: usize,
    pub means: Vec<GroupMean>,
    /// The same pairs as for all questions.
    pub pairs: Vec<GroupPair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMean {
    #[serde(rename = "column")]
    pub variant: String,
    pub mean: Option<f64>,
    /// Interval of the mean, as in [`VariantMean`](super::VariantMean).
    pub interval: Option<MethodInterval>,
}

/// Two variants in a part; the difference is `b − a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupPair {
    /// The baseline, or the variant named first.
    pub a: String,
    pub b: String,
    pub difference: Option<f64>,
    /// Its standard error, clustered where there are clusters.
    pub se: Option<f64>,
    /// Its t interval, clustered where there are clusters.
    pub interval: Option<MethodInterval>,
    /// The rule that could stop a run of the two: the interval is not valid at its nominal level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// The breakdowns of one figure by every field of the settings.
pub(super) fn breakdowns(
    variants: &[Variant],
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
            ..group(variants, figure, values, &rows, settings)
        };
        let groups = parts.into_iter().map(part).collect();
        Breakdown { by: field.clone(), figure: figure.name.clone(), groups }
    };
    settings.breakdowns.iter().map(of_field).collect()
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

/// One part, without its value.
fn group(
    variants: &[Variant],
    figure: &NamedFigure,
    values: &Values<'_>,
    rows: &[usize],
    settings: &Settings,
) -> Group {
    let part: Vec<Vec<f64>> =
        values.variants.iter().map(|variant| rows.iter().map(|row| variant[*row]).collect()).collect();
    let clusters: Option<Vec<usize>> =
        values.clusters.as_ref().map(|clusters| rows.iter().map(|row| clusters[*row]).collect());
    let clusters = clusters.as_deref();
    let means = variants.iter().zip(&part).map(|(variant, of_variant)| {
        let sample = Sample { values: of_variant, clusters };
        GroupMean {
            variant: variant.name.clone(),
            mean: sample.mean().map(|mean| mean.mean),
            interval: sample.mean_interval(values.binary, figure.unit, settings.level),
        }
    });
    let pairs = positions(variants, settings).into_iter().map(|(a, b)| {
        let differences: Vec<f64> = part[a].iter().zip(&part[b]).map(|(a, b)| b - a).collect();
        let sample = Sample { values: &differences, clusters };
        let estimate = sample.mean();
        GroupPair {
            a: variants[a].name.clone(),
            b: variants[b].name.clone(),
            difference: estimate.map(|estimate| estimate.mean),
            se: estimate.and_then(|estimate| estimate.se),
            interval: sample.t_interval(settings.level),
            stopped_by: stopped_by(&[a, b].map(|at| variants[at].name.as_str()), settings),
        }
    });
    Group { value: None, n: rows.len(), means: means.collect(), pairs: pairs.collect() }
}
