//! Headings and cells of a comparison's tables.

use crate::compare::number::{self, percent, signed, value};
use crate::compare::{Bounds, MethodInterval, NamedFigure, Unit};
use crate::report::sheet::{Cell, float};
use crate::types::text::visible_line;

/// `EM % [95 %]`
pub(super) fn headed(figure: &NamedFigure, interval: Option<MethodInterval>) -> String {
    let unit = if figure.unit == Unit::Share { " %" } else { "" };
    let level = interval.map(|interval| format!(" [{} %]", percent(interval.level))).unwrap_or_default();
    format!("{}{unit}{level}", visible_line(figure.label(), 40))
}

/// A mean with its interval.
pub(super) fn estimate(
    unit: Unit,
    name: &'static str,
    mean: Option<f64>,
    se: Option<f64>,
    interval: Option<MethodInterval>,
) -> Cell {
    with_interval(mean.map(|mean| (name, mean, value(unit, mean))), se, interval, &|end| value(unit, end))
}

/// A difference with its interval.
pub(super) fn change(unit: Unit, mean: Option<f64>, se: Option<f64>, interval: Option<MethodInterval>) -> Cell {
    let shown = mean.map(|mean| ("difference", mean, signed(unit, mean)));
    let end = |end: f64| signed(unit, number::end(unit, end));
    with_interval(shown, se, interval, &end)
}

fn with_interval(
    shown: Option<(&'static str, f64, String)>,
    se: Option<f64>,
    interval: Option<MethodInterval>,
    end: &dyn Fn(f64) -> String,
) -> Cell {
    let Some((name, mean, text)) = shown else { return Cell::nothing() };
    let mut cell = Cell::figure(name, mean, text);
    if let Some(interval) = interval {
        let MethodInterval { low, high, .. } = interval;
        let ends = if interval.is_bounded() { format!("{}, {}", end(low), end(high)) } else { "unbounded".to_owned() };
        cell.text = format!("{} [{ends}]", cell.text);
        cell.figures.extend([("low", low), ("high", high)]);
    }
    cell.figures.extend(se.map(|se| ("se", se)));
    cell
}

pub(super) fn bounds(bounds: Bounds, shown: &dyn Fn(f64) -> String) -> Cell {
    Cell {
        text: format!("{} to {}", shown(bounds.low), shown(bounds.high)),
        figures: vec![("lowest", bounds.low), ("highest", bounds.high), ("bounds_n", float(bounds.n as u64))],
    }
}

/// A rule could stop the run, so that this p or interval is not valid at its nominal level.
pub(super) fn mark_stopped(cell: &mut Cell) {
    cell.text += " (stopped)";
    cell.figures.push(("stopped_by_rule", 1.0));
}
