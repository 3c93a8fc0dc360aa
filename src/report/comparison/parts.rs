//! Figures by groups of questions.

use super::cells::{change, estimate, headed, mark_stopped};
use crate::compare::{Breakdown, FigureComparison, Group, GroupMean, GroupPair};
use crate::report::layout::headings;
use crate::report::sheet::{Block, Cell, Grid, Heading, Key, Row};

/// Means and differences by the values of a field.
pub(super) fn breakdown_tables(breakdown: &Breakdown, figure: &FigureComparison) -> [Block; 2] {
    let unit = figure.figure.unit;
    let interval = breakdown.groups.iter().flat_map(|group| &group.means).find_map(|mean| mean.interval);
    let title = format!("{} by {}", figure.figure.label(), breakdown.by);
    let mean = |mean: &GroupMean| {
        let cell = estimate(unit, "mean", mean.mean, None, mean.interval);
        (mean.variant.clone(), cell, None, [mean.variant.clone(), String::new()])
    };
    let pair = |pair: &GroupPair| {
        let mut cell = change(unit, pair.difference, pair.se, pair.interval);
        if pair.interval.is_some() && pair.stopped_by.is_some() {
            mark_stopped(&mut cell);
        }
        (format!("{} − {}", pair.b, pair.a), cell, Some(pair.n), [pair.a.clone(), pair.b.clone()])
    };
    let header = ["variant", &headed(&figure.figure, interval)];
    let means = table(breakdown, header, |group| group.means.iter().map(mean).collect());
    let pairs = table(breakdown, ["b − a", "difference"], |group| group.pairs.iter().map(pair).collect());
    [
        Block::Table(Grid { id: "part_means", title: title.clone(), ..means }),
        Block::Table(Grid { id: "part_pairs", title: format!("{title}, pairwise"), ..pairs }),
    ]
}

/// What a row is about, its figure, the questions where they are not those of the group, and the variants in its key.
type Line = (String, Cell, Option<usize>, [String; 2]);

/// The lines of each group, under the headings of what they are about and of their figure.
fn table(breakdown: &Breakdown, [about, figure]: [&str; 2], lines: impl Fn(&Group) -> Vec<Line>) -> Grid {
    let mut header = vec![Heading::words(&breakdown.by)];
    header.extend(headings(about, &[figure, "n"]));
    let rows = breakdown.groups.iter().flat_map(|group| {
        let metric = &breakdown.figure;
        let value = group.value.as_deref();
        lines(group).into_iter().map(move |(about, figure, n, [a, b])| {
            let of_group = format!("{}={}", breakdown.by, value.unwrap_or_default());
            let n = Cell::count("n", n.unwrap_or(group.n));
            let cells = vec![Cell::text(value.unwrap_or("–")), Cell::text(about), figure, n];
            Row { key: Key { metric: metric.clone(), group: of_group, a, b }, cells }
        })
    });
    Grid { id: "", title: String::new(), header, rows: rows.collect() }
}
