//! A judge's figures beside what labels by people make of them.

use super::Compared;
use crate::compare::Unit;
use crate::compare::number::{percent, signed, value};
use crate::graded::{CorrectedFigure, Correction};
use crate::report::judged::of_labels;
use crate::report::layout::headings;
use crate::report::sheet::{Block, Cell, Grid, Key, Row, float};
use crate::stats::Interval;

/// The tables of a figure and what is known of the labels; lines where there are too few of them.
pub(super) fn corrected_blocks(compared: &Compared<'_>, metric: &str) -> Vec<Block> {
    let Some(figure) = compared.corrected.iter().find(|figure| figure.metric == metric) else { return Vec::new() };
    let of_means: Vec<_> = figure.means.iter().map(|mean| (mean.variant.clone(), &mean.correction)).collect();
    let lines = of_labels(&of_means);
    if !figure.is_any() {
        let line = "uncorrected: the judge's own errors are in these figures; 20 or more labelled questions of each \
                    variant correct them (wikitrail annotate)";
        return vec![Block::Lines { title: String::new(), lines: [vec![line.to_owned()], lines].concat() }];
    }
    let level = percent(compared.comparison.settings.level);
    let title = format!("{metric}, labels");
    vec![corrected_means(figure, &level), corrected_pairs(figure, &level), Block::Lines { title, lines }]
}

fn corrected_means(figure: &CorrectedFigure, level: &str) -> Block {
    let header = headings("variant", &["labels", &format!("corrected % [{level} %]"), "λ"]);
    let row = |mean: &crate::graded::CorrectedMean| Row {
        key: Key { metric: figure.metric.clone(), a: mean.variant.clone(), ..Key::default() },
        cells: corrected_cells(&mean.variant, &mean.correction, &|share| value(Unit::Share, share)),
    };
    let title = format!("{}, corrected by labels", figure.metric);
    Block::Table(Grid { id: "corrected_means", title, header, rows: figure.means.iter().map(row).collect() })
}

fn corrected_pairs(figure: &CorrectedFigure, level: &str) -> Block {
    let header = headings("b − a", &["labels", &format!("corrected points [{level} %]"), "λ"]);
    let row = |pair: &crate::graded::CorrectedPair| Row {
        key: Key { metric: figure.metric.clone(), a: pair.a.clone(), b: pair.b.clone(), ..Key::default() },
        cells: corrected_cells(&format!("{} − {}", pair.b, pair.a), &pair.correction, &|points| {
            signed(Unit::Share, points)
        }),
    };
    let title = format!("{}, pairwise, corrected by labels", figure.metric);
    Block::Table(Grid { id: "corrected_pairs", title, header, rows: figure.pairs.iter().map(row).collect() })
}

fn corrected_cells(name: &str, correction: &Correction, shown: &dyn Fn(f64) -> String) -> Vec<Cell> {
    let labels = Cell::count("labels", correction.labels as u64);
    let (Some(found), Some(Interval { low, high })) = (correction.corrected, correction.interval) else {
        return vec![Cell::text(name), labels, Cell::text("uncorrected"), Cell::nothing()];
    };
    let text = format!("{} [{}, {}]", shown(found.mean), shown(low), shown(high));
    let mut estimate = Cell::figure("corrected", found.mean, text);
    estimate.figures.extend([("low", low), ("high", high), ("se", found.se), ("freedom", float(found.freedom))]);
    vec![Cell::text(name), labels, estimate, Cell::figure("lambda", found.lambda, format!("{:.2}", found.lambda))]
}
