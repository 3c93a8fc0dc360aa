//! A comparison as a report: what was made with what, means, pairs, verdicts, parts, flips.

mod flips;
mod parts;

use super::escape::visible_line;
use super::sheet::{Block, Cell, Grid, Heading, Key, Row, Sheet};
use super::table::{counted, thousands};
use crate::compare::number::{difference, p_value, value};
use crate::compare::{
    Bounds, ColumnMean, ColumnSummary, Comparison, FigureComparison, Ids, MethodInterval, NamedFigure, Pair, Unit,
};
pub use flips::{FlipList, FlippedQuestion};

/// Ids that are named where questions are left out; JSON has more of them.
const NAMED: usize = 5;

/// All that a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// The figures.
    pub comparison: &'a Comparison,
    /// Settings in which the columns differ.
    pub settings: &'a [Setting],
    /// Questions that turned over, where they were asked for.
    pub flips: &'a [FlipList],
    /// What does not fit between the columns, a sentence each.
    pub warnings: &'a [String],
    /// Whether to say what difference can be shown.
    pub mde: bool,
}

/// A setting of what was run, by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its values, in the order of the columns.
    pub values: Vec<String>,
}

/// The report.
pub fn sheet(compared: &Compared<'_>) -> Sheet {
    let Compared { comparison, settings, flips, warnings, mde } = compared;
    let names: Vec<&str> = comparison.columns.iter().map(|column| column.name.as_str()).collect();
    let mut blocks = Vec::new();
    blocks.extend(settings_table(&names, settings));
    for figure in &comparison.figures {
        blocks.push(means(figure, &comparison.columns));
        blocks.extend(overall(figure));
        blocks.push(pairs(figure));
        blocks.extend(mde.then(|| power(figure, comparison.settings.power)));
        let sentences = figure.pairs.iter().map(|pair| pair.verdict.sentence.clone()).collect();
        blocks.push(Block::Lines { title: format!("{}, in words", figure.figure.label()), lines: sentences });
    }
    for breakdown in comparison.breakdowns.iter().filter(|breakdown| !breakdown.groups.is_empty()) {
        let Some(figure) = comparison.figure(&breakdown.figure) else { continue };
        blocks.extend(parts::tables(breakdown, figure));
    }
    for list in *flips {
        blocks.extend(flips::blocks(list));
    }
    let lines = [*warnings, &comparison.notes[..], &left_out(comparison)[..]].concat();
    if !lines.is_empty() {
        blocks.push(Block::Lines { title: "notes".to_owned(), lines });
    }
    let title = format!(
        "{} on {} of {}",
        names.join(" against "),
        counted(comparison.shared, "shared question"),
        thousands(comparison.questions)
    );
    Sheet { title, blocks }
}

/// Which questions are not compared, by the first of their ids.
fn left_out(comparison: &Comparison) -> Vec<String> {
    let named = |ids: &Ids| {
        let more = if ids.count > NAMED { ", …" } else { "" };
        format!("{} ({}{more})", ids.count, ids.listed.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", "))
    };
    let mut lines = Vec::new();
    for column in comparison.columns.iter().filter(|column| column.unmatched.count > 0) {
        lines.push(format!("only some have, among them {}: {}", column.name, named(&column.unmatched)));
    }
    for column in comparison.columns.iter().filter(|column| column.unmeasured.count > 0) {
        lines.push(format!("not measured by {}: {}", column.name, named(&column.unmeasured)));
    }
    lines
}

fn settings_table(names: &[&str], settings: &[Setting]) -> Option<Block> {
    if settings.is_empty() {
        return None;
    }
    let mut header = vec![Heading::words("column")];
    header.extend(settings.iter().map(|setting| Heading::words(&setting.name)));
    let row = |(at, name): (usize, &&str)| {
        let mut cells = vec![Cell::text(*name)];
        cells.extend(settings.iter().map(|setting| Cell::text(setting.values.get(at).map_or("–", String::as_str))));
        Row { key: Key { a: (*name).to_owned(), ..Key::default() }, cells }
    };
    let rows = names.iter().enumerate().map(row).collect();
    Some(Block::Table(Grid { id: "settings", title: "what differs between the columns".to_owned(), header, rows }))
}

fn means(figure: &FigureComparison, columns: &[ColumnSummary]) -> Block {
    let NamedFigure { name, unit, .. } = &figure.figure;
    let bounded = figure.means.iter().any(|mean| mean.bounds.is_some_and(|bounds| bounds.low < bounds.high));
    let mut header = vec![
        Heading::words("column"),
        Heading::numbers(headed(&figure.figure, figure.means.iter().find_map(|mean| mean.interval))),
        Heading::numbers("n"),
        Heading::numbers("not measured"),
    ];
    if bounded {
        header.push(Heading::numbers("with them between"));
    }
    let row = |(mean, column): (&ColumnMean, &ColumnSummary)| {
        let mut cells = vec![
            Cell::text(&mean.column),
            estimate(*unit, "mean", mean.mean, mean.se, mean.interval),
            Cell::figure("n", count(figure.n), figure.n.to_string()),
            Cell::figure("not_measured", count(column.not_measured), column.not_measured.to_string()),
        ];
        if bounded {
            cells.push(mean.bounds.map_or_else(Cell::nothing, |bounds| between(*unit, bounds)));
        }
        Row { key: Key { metric: name.clone(), a: mean.column.clone(), ..Key::default() }, cells }
    };
    let title = match figure.clusters {
        Some(clusters) => format!(
            "{} of {} in {}",
            figure.figure.label(),
            counted(figure.n, "question"),
            counted(clusters, "cluster")
        ),
        None => format!("{} of {}", figure.figure.label(), counted(figure.n, "question")),
    };
    Block::Table(Grid { id: "means", title, header, rows: figure.means.iter().zip(columns).map(row).collect() })
}

fn overall(figure: &FigureComparison) -> Option<Block> {
    let test = figure.cochran_q?;
    let cells = vec![
        Cell::text("Cochran's Q"),
        Cell::figure("cochran_q", test.q, format!("{:.3}", test.q)),
        Cell::figure("freedom", count_u64(test.freedom), test.freedom.to_string()),
        Cell::figure("p", test.p, p_value(test.p)),
    ];
    let header = vec![
        Heading::words("all columns the same?"),
        Heading::numbers("statistic"),
        Heading::numbers("df"),
        Heading::numbers("p"),
    ];
    let key = Key { metric: figure.figure.name.clone(), ..Key::default() };
    let title = format!("{} over all columns", figure.figure.label());
    Some(Block::Table(Grid { id: "overall", title, header, rows: vec![Row { key, cells }] }))
}

fn pairs(figure: &FigureComparison) -> Block {
    let unit = figure.figure.unit;
    let points = if unit == Unit::Share { "points" } else { "difference" };
    let level = figure.pairs.iter().find_map(|pair| pair.interval).map_or(0.95, |interval| interval.level);
    let mut header = vec![
        Heading::words("b − a"),
        Heading::numbers(format!("{points} [{} %]", percent(level))),
        Heading::numbers("p"),
        Heading::numbers("p Holm"),
    ];
    if figure.binary {
        header.extend([Heading::numbers("only a"), Heading::numbers("only b")]);
    }
    let row = |pair: &Pair| {
        let mut cells = vec![
            Cell::text(format!("{} − {}", pair.b, pair.a)),
            change(unit, pair.difference, pair.se, pair.interval),
            pair.p.map_or_else(Cell::nothing, |p| Cell::figure("p", p.value, p_value(p.value))),
            pair.p_holm.map_or_else(Cell::nothing, |p| Cell::figure("p_holm", p, p_value(p))),
        ];
        if figure.binary {
            let counts = pair.tests.mcnemar.map(|test| [("only_a", test.only_a), ("only_b", test.only_b)]);
            let cell = |(name, n): (&'static str, u64)| Cell::figure(name, count_u64(n), n.to_string());
            cells.extend(counts.map_or_else(|| [Cell::nothing(), Cell::nothing()], |counts| counts.map(cell)));
        }
        Row { key: key(figure, pair), cells }
    };
    let title = format!("{}, two by two", figure.figure.label());
    Block::Table(Grid { id: "pairs", title, header, rows: figure.pairs.iter().map(row).collect() })
}

/// What difference so many questions can show, and how many the difference that was found takes.
fn power(figure: &FigureComparison, power: f64) -> Block {
    let unit = figure.figure.unit;
    let header = vec![
        Heading::words("b − a"),
        Heading::numbers("difference found"),
        Heading::numbers(format!("{} can show", counted(figure.n, "question"))),
        Heading::numbers("questions to show the one found"),
    ];
    let row = |pair: &Pair| {
        let least = pair.mde.map(|least| Cell::figure("mde", least, value(unit, least)));
        let needed = pair.questions_needed.filter(|needed| needed.is_finite());
        let needed = needed.map(|n| Cell::figure("questions_needed", n, format!("{:.0}", n.ceil())));
        let cells = vec![
            Cell::text(format!("{} − {}", pair.b, pair.a)),
            change(unit, pair.difference, None, None),
            least.unwrap_or_else(Cell::nothing),
            needed.unwrap_or_else(Cell::nothing),
        ];
        Row { key: key(figure, pair), cells }
    };
    let title = format!("{}, smallest difference at {} % power", figure.figure.label(), percent(power));
    Block::Table(Grid { id: "power", title, header, rows: figure.pairs.iter().map(row).collect() })
}

fn key(figure: &FigureComparison, pair: &Pair) -> Key {
    Key { metric: figure.figure.name.clone(), a: pair.a.clone(), b: pair.b.clone(), ..Key::default() }
}

/// `EM % [95 %]`
fn headed(figure: &NamedFigure, interval: Option<MethodInterval>) -> String {
    let unit = if figure.unit == Unit::Share { " %" } else { "" };
    let level = interval.map(|interval| format!(" [{} %]", percent(interval.level))).unwrap_or_default();
    format!("{}{unit}{level}", visible_line(figure.label(), 40))
}

fn percent(level: f64) -> String {
    // 95 rather than 95.0, and 99.9 as it is.
    let text = format!("{:.3}", 100.0 * level);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A mean with its interval.
fn estimate(
    unit: Unit,
    name: &'static str,
    mean: Option<f64>,
    se: Option<f64>,
    interval: Option<MethodInterval>,
) -> Cell {
    with_interval(mean.map(|mean| (name, mean, value(unit, mean))), se, interval, &|end| value(unit, end))
}

/// A difference with its interval.
fn change(unit: Unit, mean: Option<f64>, se: Option<f64>, interval: Option<MethodInterval>) -> Cell {
    let shown = mean.map(|mean| ("difference", mean, difference(unit, mean)));
    // No difference of shares is larger than 100 points, whatever the t distribution allows.
    let end = |end: f64| difference(unit, if unit == Unit::Share { end.clamp(-1.0, 1.0) } else { end });
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
    if let Some(MethodInterval { low, high, .. }) = interval {
        cell.text = format!("{} [{}, {}]", cell.text, end(low), end(high));
        cell.figures.extend([("low", low), ("high", high)]);
    }
    cell.figures.extend(se.map(|se| ("se", se)));
    cell
}

fn between(unit: Unit, bounds: Bounds) -> Cell {
    Cell {
        text: format!("{} and {}", value(unit, bounds.low), value(unit, bounds.high)),
        figures: vec![("lowest", bounds.low), ("highest", bounds.high), ("bounds_n", count(bounds.n))],
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(n: usize) -> f64 {
    n as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count_u64(n: u64) -> f64 {
    n as f64
}
