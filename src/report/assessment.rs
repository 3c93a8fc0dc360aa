//! The trajectory metrics of a run as tables: what was retrieved, how answers are grounded, why they are wrong.

use super::table::{SummaryRow, dash, empty, right_aligned, thousands, variant_cell};
use crate::score::{RunAssessment, Share};
use comfy_table::ColumnConstraint;
use std::fmt::Write as _;

/// The tables, each ending in a line break; the second only where an answer is wrong.
pub(super) fn render(rows: &[SummaryRow]) -> String {
    let mut text = format!("{}\n", shares(rows));
    if let Some(failures) = failures(rows) {
        let _ = writeln!(text, "{failures}");
    }
    text
}

/// Shares in per cent; a dash where there is nothing to take a share of.
fn shares(rows: &[SummaryRow]) -> String {
    let header = [
        "% of",
        "gold\npages",
        "all\nhops",
        "facts\nseen",
        "missed\nsearch",
        "empty\nlookup",
        "grounded",
        "lucky",
        "un-\ngrounded",
    ];
    let mut table = empty(&header);
    for SummaryRow { variant, assessment, .. } in rows {
        let RunAssessment {
            gold_pages,
            all_hops,
            sentences,
            missed_searches,
            empty_lookups,
            grounded,
            lucky,
            ungrounded,
            ..
        } = *assessment;
        let cells = [gold_pages, all_hops, sentences, missed_searches, empty_lookups, grounded, lucky, ungrounded];
        table.add_row([variant_cell(variant)].into_iter().chain(cells.map(percent)));
    }
    // The names of variants give way, not the words above the numbers.
    for column in table.column_iter_mut().skip(1) {
        column.set_constraint(ColumnConstraint::ContentWidth).set_padding((1, 0));
    }
    right_aligned(table, 1..header.len()).trim_fmt()
}

fn failures(rows: &[SummaryRow]) -> Option<String> {
    let mut table = empty(&["variant", "wrong", "failure classes"]);
    for SummaryRow { variant, assessment, .. } in rows.iter().filter(|row| row.assessment.wrong > 0) {
        let classes = assessment.failures.iter().filter(|(_, count)| *count > 0);
        let classes: Vec<String> =
            classes.map(|(class, count)| format!("{} {}", thousands(count), class.name())).collect();
        table.add_row([variant_cell(variant), thousands(assessment.wrong), classes.join(", ")]);
    }
    (table.row_count() > 0).then(|| right_aligned(table, 1..2).trim_fmt())
}

fn percent(share: Share) -> String {
    share.value().map_or_else(dash, |share| format!("{:.1}", 100.0 * share))
}
