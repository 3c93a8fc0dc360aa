//! The figures that `--fail-if` may name.

use super::expression::{Argument, Fault};
use super::gate::Figures;
use super::metrics::canonical;
use crate::compare::{Comparison, MetricComparison, Pair};
use crate::types::text::visible_line;

impl Figures for Comparison {
    fn figure(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault> {
        match (name, arguments) {
            ("missing", [column]) => missing(self, column).map(Some),
            ("n", [metric]) => Ok(Some(count(find_metric(self, &metric.text, metric.at)?.n))),
            ("missing" | "n", _) => Err(Fault::new(at, format_args!("`{name}` takes one argument"))),
            ("diff" | "low" | "high" | "p" | "p_holm", [metric, a, b]) => of_pair(self, name, [metric, a, b]),
            ("diff" | "low" | "high" | "p" | "p_holm", _) => {
                Err(Fault::new(at, format_args!("`{name}` takes a metric and two columns: {name}(em, a, b)")))
            }
            (_, [column]) => {
                let metric = find_metric(self, name, at)?;
                column_named(self, column)?;
                Ok(metric.mean(&column.text).and_then(|mean| mean.mean))
            }
            _ => {
                find_metric(self, name, at)?;
                Err(Fault::new(at, format_args!("`{name}` takes one column: {name}(NAME)")))
            }
        }
    }
}

fn missing(comparison: &Comparison, column: &Argument) -> Result<f64, Fault> {
    column_named(comparison, column)?;
    let found = comparison.columns.iter().find(|summary| summary.name == column.text);
    Ok(found.map_or(0.0, |summary| count(summary.not_measured)))
}

/// A figure of two columns. Differences are `b − a`, whichever of them the comparison has first.
fn of_pair(comparison: &Comparison, name: &str, [metric, a, b]: [&Argument; 3]) -> Result<Option<f64>, Fault> {
    let metric = find_metric(comparison, &metric.text, metric.at)?;
    column_named(comparison, a)?;
    column_named(comparison, b)?;
    let Some(pair) = metric.pair(&a.text, &b.text) else {
        let reason = if a.text == b.text { "this is the same column" } else { "these two are not compared" };
        return Err(Fault::new(b.at, format_args!("{reason}; with --baseline every pair holds the baseline")));
    };
    Ok(figure(pair, name, pair.a == a.text))
}

/// The figure as it is, or seen from the other side.
fn figure(pair: &Pair, name: &str, as_is: bool) -> Option<f64> {
    let ends = pair.interval.map(|interval| (interval.low, interval.high));
    match name {
        "diff" => pair.difference.map(|difference| if as_is { difference } else { -difference }),
        "low" => ends.map(|(low, high)| if as_is { low } else { -high }),
        "high" => ends.map(|(low, high)| if as_is { high } else { -low }),
        "p" => pair.p.map(|p| p.value),
        _ => pair.p_holm,
    }
}

fn find_metric<'a>(comparison: &'a Comparison, name: &str, at: usize) -> Result<&'a MetricComparison, Fault> {
    comparison.metric(&canonical(name)).ok_or_else(|| {
        let known: Vec<&str> = comparison.metrics.iter().map(|metric| metric.metric.name.as_str()).collect();
        let (name, known) = (visible_line(name, 60), known.join(", "));
        Fault::new(at, format_args!("`{name}` is no figure here; the metrics compared are {known} (see --metric)"))
    })
}

fn column_named(comparison: &Comparison, argument: &Argument) -> Result<(), Fault> {
    if comparison.columns.iter().any(|column| column.name == argument.text) {
        return Ok(());
    }
    let known: Vec<String> = comparison.columns.iter().map(|column| visible_line(&column.name, 60)).collect();
    let name = visible_line(&argument.text, 60);
    Err(Fault::new(argument.at, format_args!("there is no column `{name}`; the columns are {}", known.join(", "))))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(n: usize) -> f64 {
    n as f64
}
