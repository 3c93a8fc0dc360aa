//! Figures by groups of questions.

use super::cells::{change, count, estimate, headed};
use crate::compare::{Breakdown, FigureComparison, Group};
use crate::report::sheet::{Block, Cell, Grid, Heading, Key, Row};

/// Means and differences by the values of a field.
pub(super) fn tables(breakdown: &Breakdown, figure: &FigureComparison) -> [Block; 2] {
    [means(breakdown, figure), pairs(breakdown, figure)]
}

fn named(group: &Group) -> &str {
    group.value.as_deref().unwrap_or("–")
}

fn key(breakdown: &Breakdown, group: &Group, a: &str, b: &str) -> Key {
    Key {
        metric: breakdown.figure.clone(),
        group: format!("{}={}", breakdown.by, group.value.as_deref().unwrap_or_default()),
        a: a.to_owned(),
        b: b.to_owned(),
    }
}

fn means(breakdown: &Breakdown, figure: &FigureComparison) -> Block {
    let interval = breakdown.groups.iter().flat_map(|group| &group.means).find_map(|mean| mean.interval);
    let header = vec![
        Heading::words(&breakdown.by),
        Heading::words("variant"),
        Heading::numbers(headed(&figure.figure, interval)),
        Heading::numbers("n"),
    ];
    let mut rows = Vec::new();
    for group in &breakdown.groups {
        for mean in &group.means {
            let cells = vec![
                Cell::text(named(group)),
                Cell::text(&mean.variant),
                estimate(figure.figure.unit, "mean", mean.mean, None, mean.interval),
                Cell::figure("n", count(group.n), group.n.to_string()),
            ];
            rows.push(Row { key: key(breakdown, group, &mean.variant, ""), cells });
        }
    }
    let title = format!("{} by {}", figure.figure.label(), breakdown.by);
    Block::Table(Grid { id: "part_means", title, header, rows })
}

fn pairs(breakdown: &Breakdown, figure: &FigureComparison) -> Block {
    let header = vec![
        Heading::words(&breakdown.by),
        Heading::words("b − a"),
        Heading::numbers("difference"),
        Heading::numbers("n"),
    ];
    let mut rows = Vec::new();
    for group in &breakdown.groups {
        for pair in &group.pairs {
            let cells = vec![
                Cell::text(named(group)),
                Cell::text(format!("{} − {}", pair.b, pair.a)),
                change(figure.figure.unit, pair.difference, pair.se, pair.interval),
                Cell::figure("n", count(group.n), group.n.to_string()),
            ];
            rows.push(Row { key: key(breakdown, group, &pair.a, &pair.b), cells });
        }
    }
    let title = format!("{} by {}, pairwise", figure.figure.label(), breakdown.by);
    Block::Table(Grid { id: "part_pairs", title, header, rows })
}
