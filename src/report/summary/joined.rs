//! Metrics from files as a table.

use crate::graded::Correction;
use crate::report::layout::table;
use crate::report::number::{dash, percent};
use crate::report::sheet::Heading;
use crate::score::Unit;
use crate::stats::Interval;
use crate::types::text::{counted, thousands, visible_line};
use serde::Serialize;

/// A metric from a file over the episodes of a variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JoinedRow {
    pub variant: String,
    pub metric: String,
    pub unit: Unit,
    /// Episodes with a value.
    pub episodes: usize,
    /// Questions with a value; the mean is over their means.
    pub questions: usize,
    pub mean: Option<f64>,
    /// Over the questions: Wilson's or the padded t of shares, Student's of amounts.
    pub interval: Option<Interval>,
    /// Of a judge: the same held against what people said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
}

/// The table, ending in a line break; shares are in per cent. Nothing without rows.
pub(super) fn joined_table(rows: &[JoinedRow], width: usize) -> Option<String> {
    let mut header = vec![
        Heading::words("variant"),
        Heading::words("metric"),
        Heading::numbers("episodes"),
        Heading::numbers("mean [95 %]"),
    ];
    let judged = rows.iter().any(|row| row.correction.is_some());
    if judged {
        header.push(Heading::numbers("corrected [95 %]"));
    }
    let cells = |row: &JoinedRow| {
        let sign = if row.unit == Unit::Share { " %" } else { "" };
        let mut cells = vec![
            visible_line(&row.variant, 80),
            visible_line(&row.metric, 60) + sign,
            thousands(row.episodes),
            joined_estimate(row),
        ];
        if judged {
            cells.push(row.correction.as_ref().map_or_else(dash, corrected));
        }
        cells
    };
    (!rows.is_empty()).then(|| table(&header, &rows.iter().map(cells).collect::<Vec<_>>(), width) + "\n")
}

/// The metric for a line of figures.
pub(super) fn joined_line(row: &JoinedRow) -> String {
    let corrected = row.correction.as_ref().map(|correction| match correction.corrected {
        Some(_) => format!(" corrected {}", corrected(correction)),
        None => " (uncorrected)".to_owned(),
    });
    format!("  {} {}{}", visible_line(&row.metric, 60), joined_estimate(row), corrected.unwrap_or_default())
}

/// The corrected share, or that there is none.
pub(crate) fn corrected(correction: &Correction) -> String {
    match (correction.corrected, correction.interval) {
        (Some(found), Some(Interval { low, high })) => {
            format!("{} [{}, {}]", percent(found.mean), percent(low), percent(high))
        }
        _ if correction.labels > 0 => format!("uncorrected ({})", counted(correction.labels, "label")),
        _ => "uncorrected".to_owned(),
    }
}

fn joined_estimate(row: &JoinedRow) -> String {
    let number = if row.unit == Unit::Share { percent } else { amount };
    let interval = row.interval.map(|Interval { low, high }| format!(" [{}, {}]", number(low), number(high)));
    row.mean.map_or_else(dash, |mean| number(mean) + &interval.unwrap_or_default())
}

fn amount(value: f64) -> String {
    format!("{value:.2}")
}
