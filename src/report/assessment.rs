//! The trajectory metrics of a run as tables: what was retrieved, how answers are grounded, why they are wrong.

use super::fitted::{RULED, WIDTH, fitted};
use super::sheet::Heading;
use super::table::{SummaryRow, columns, dash, thousands, variant_cell};
use crate::score::{RunAssessment, Share};
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
    let figures = [
        "gold\npages",
        "all\nhops",
        "facts\nseen",
        "missed\nsearch",
        "empty\nlookup",
        "grounded",
        "lucky",
        "un-\ngrounded",
    ];
    let row = |SummaryRow { variant, assessment, .. }: &SummaryRow| {
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
        [variant_cell(variant)].into_iter().chain(cells.map(percent)).collect()
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    fitted(RULED, &columns("% of", &figures).collect::<Vec<_>>(), &rows, WIDTH)
}

fn failures(rows: &[SummaryRow]) -> Option<String> {
    let row = |SummaryRow { variant, assessment, .. }: &SummaryRow| {
        let classes = assessment.failures.iter().filter(|(_, count)| *count > 0);
        let classes: Vec<String> =
            classes.map(|(class, count)| format!("{} {}", thousands(count), class.name())).collect();
        vec![variant_cell(variant), thousands(assessment.wrong), classes.join(", ")]
    };
    let rows: Vec<_> = rows.iter().filter(|row| row.assessment.wrong > 0).map(row).collect();
    let header = columns("variant", &["wrong"]).chain([Heading::words("failure classes")]);
    (!rows.is_empty()).then(|| fitted(RULED, &header.collect::<Vec<_>>(), &rows, WIDTH))
}

fn percent(share: Share) -> String {
    share.value().map_or_else(dash, |share| format!("{:.1}", 100.0 * share))
}
