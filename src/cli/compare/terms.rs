//! The terms of a `--fail-if` condition, such as `em(new)` or `diff(em, a, b)`.

use super::canonical;
use super::expression::{Argument, Fault};
use super::gate::Terms;
use crate::compare::{Comparison, FigureComparison, Pair};
use crate::types::text::visible_line;

impl Terms for Comparison {
    fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault> {
        match (name, arguments) {
            ("missing", [column]) => missing_rows(self, column).map(Some),
            ("missing", [figure, column]) => {
                column_named(self, column)?;
                let mean = figure_named(self, &figure.text, figure.at)?.mean(&column.text);
                Ok(mean.map(|mean| as_number(mean.not_measured)))
            }
            ("n", [figure]) => Ok(Some(as_number(figure_named(self, &figure.text, figure.at)?.n))),
            ("missing", _) => Err(Fault::new(at, "`missing` takes a variant, or a figure and a variant")),
            ("n" | "diff" | "low" | "high" | "p" | "p_holm", [figure, a, b]) => of_pair(self, name, [figure, a, b]),
            ("n", _) => Err(Fault::new(at, "`n` takes a figure, or a figure and two variants")),
            ("diff" | "low" | "high" | "p" | "p_holm", _) => {
                Err(Fault::new(at, format_args!("`{name}` takes a figure and two variants: {name}(em, a, b)")))
            }
            (_, [column]) => {
                let figure = figure_named(self, name, at)?;
                column_named(self, column)?;
                Ok(figure.mean(&column.text).and_then(|mean| mean.mean))
            }
            _ => {
                figure_named(self, name, at)?;
                Err(Fault::new(at, format_args!("`{name}` takes one variant: {name}(NAME)")))
            }
        }
    }
}

fn missing_rows(comparison: &Comparison, column: &Argument) -> Result<f64, Fault> {
    column_named(comparison, column)?;
    let found = comparison.variants.iter().find(|summary| summary.name == column.text);
    Ok(found.map_or(0.0, |summary| as_number(summary.not_measured)))
}

/// A term of two variants. Differences are `b − a` in either order of the comparison.
fn of_pair(comparison: &Comparison, name: &str, [figure, a, b]: [&Argument; 3]) -> Result<Option<f64>, Fault> {
    let figure = figure_named(comparison, &figure.text, figure.at)?;
    column_named(comparison, a)?;
    column_named(comparison, b)?;
    let Some(pair) = figure.pair(&a.text, &b.text) else {
        let reason = if a.text == b.text { "this is the same variant" } else { "these two are not compared" };
        return Err(Fault::new(b.at, format_args!("{reason}; see --baseline and --contrast")));
    };
    if pair.stopping.is_some() && name.starts_with('p') {
        let reason = "the rule of the run decides about these two, and has no p; low and high are the ends of its confidence sequence";
        return Err(Fault::new(a.at, format_args!("{reason}")));
    }
    Ok(seen_from(pair, name, pair.a == a.text))
}

/// The value for `b − a` or, unless `as_is`, for `a − b`.
fn seen_from(pair: &Pair, name: &str, as_is: bool) -> Option<f64> {
    let ends = pair.interval.map(|interval| (interval.low, interval.high));
    match name {
        "diff" => pair.difference.map(|difference| if as_is { difference } else { -difference }),
        "low" => ends.map(|(low, high)| if as_is { low } else { -high }),
        "high" => ends.map(|(low, high)| if as_is { high } else { -low }),
        "n" => Some(as_number(pair.n)),
        "p" => pair.p.map(|p| p.value),
        _ => pair.p_holm,
    }
}

fn figure_named<'a>(comparison: &'a Comparison, name: &str, at: usize) -> Result<&'a FigureComparison, Fault> {
    comparison.figure(&canonical(name)).ok_or_else(|| {
        let known: Vec<&str> = comparison.figures.iter().map(|figure| figure.figure.name.as_str()).collect();
        let (name, known) = (visible_line(name, 60), known.join(", "));
        Fault::new(at, format_args!("`{name}` is not compared; the figures compared are {known} (see --metric)"))
    })
}

fn column_named(comparison: &Comparison, argument: &Argument) -> Result<(), Fault> {
    if comparison.variants.iter().any(|column| column.name == argument.text) {
        return Ok(());
    }
    let known: Vec<String> = comparison.variants.iter().map(|column| visible_line(&column.name, 60)).collect();
    let name = visible_line(&argument.text, 60);
    Err(Fault::new(argument.at, format_args!("there is no variant `{name}`; the variants are {}", known.join(", "))))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn as_number(n: usize) -> f64 {
    n as f64
}
