//! The table of repair rates: what an edit makes right of each failure class, against the unedited control.

use super::layout::{headings, table as laid_out};
use super::number::{dash, percent};
use crate::compare::number::p_value;
use crate::stats::decision::{Decision, Differences, Rule};
use crate::stats::{Interval, Mean};
use serde::Serialize;

const RULE: Rule = Rule { level: 0.95, alpha: 0.05, power: 0.8, pairs: 1, resamples: 10_000, seed: 12_345 };
const WIDTH: usize = 80;

/// One class, or all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RepairRow {
    pub(crate) class: String,
    /// Questions.
    pub(crate) n: u64,
    /// Means over questions of the mean EM of their repeats.
    pub(crate) control: f64,
    pub(crate) edited: f64,
    pub(crate) difference: f64,
    /// The differences that sign flips do not reject, over questions; its ends are infinite (`null` in JSON) where these are too few.
    pub(crate) interval: Option<Interval>,
    /// Two-sided p of sign flips of the questions' differences.
    pub(crate) p: Option<f64>,
}

impl RepairRow {
    /// The row of these questions, each with the mean EM of the control and of the edited branch.
    pub(crate) fn of(class: &str, pairs: &[[f64; 2]]) -> Option<Self> {
        let column = |at: usize| pairs.iter().map(|pair| pair[at]).collect::<Vec<f64>>();
        let differences: Vec<f64> = pairs.iter().map(|[control, edited]| edited - control).collect();
        let difference = Mean::of(&differences)?;
        let order: Vec<usize> = (0..differences.len()).collect();
        let range = Some(Interval { low: -1.0, high: 1.0 });
        let differences = Differences { values: &differences, clusters: None, order: &order, binary: false, range };
        let decision = Decision::of(&differences, &RULE);
        Some(Self {
            class: class.to_owned(),
            n: difference.n,
            control: Mean::of(&column(0))?.mean,
            edited: Mean::of(&column(1))?.mean,
            difference: difference.mean,
            interval: decision.interval.map(|(_, interval)| interval),
            p: decision.permutation.map(|test| test.p),
        })
    }
}

/// The rows as a table, in per cent.
pub(crate) fn table(rows: &[RepairRow]) -> String {
    let header = headings("class", &["n", "control", "edited", "difference\n[95 %]", "p"]);
    let cells = |row: &RepairRow| {
        let difference = format!("{:+.1}", 100.0 * row.difference);
        let interval = row.interval.map(|of| {
            let bounded = of.low.is_finite() && of.high.is_finite();
            let ends = || format!(" [{:+.1}, {:+.1}]", 100.0 * of.low, 100.0 * of.high);
            if bounded { ends() } else { " unbounded".to_owned() }
        });
        vec![
            row.class.clone(),
            row.n.to_string(),
            percent(row.control),
            percent(row.edited),
            difference + &interval.unwrap_or_default(),
            row.p.map_or_else(dash, p_value),
        ]
    };
    laid_out(&header, &rows.iter().map(cells).collect::<Vec<_>>(), WIDTH)
}

#[cfg(test)]
mod tests {
    use super::{RepairRow, table};

    #[test]
    fn rates_differences_and_intervals_are_over_questions() {
        let row = RepairRow::of("search", &[[0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.5, 1.0]]).expect("a row");
        assert_eq!((row.n, row.control, row.edited, row.difference), (4, 0.125, 0.75, 0.625));
        assert_eq!(row.p, Some(0.25));
        // Four questions cannot show any difference, and neither does the interval.
        let interval = row.interval.expect("an interval");
        assert!(interval.low < 0.0 && interval.low > -1.0 && interval.high > 0.9, "{interval:?}");
        let one = RepairRow::of("label", &[[0.0, 1.0]]).expect("a row");
        assert_eq!(one.p, Some(1.0));
        assert_eq!(RepairRow::of("label", &[]), None);
        assert!(table(&[row, one]).contains("+62.5 [-40.8, +100.0]"));
    }

    #[test]
    fn a_small_p_is_not_printed_as_0() {
        let rows: Vec<RepairRow> = RepairRow::of("all", &[[0.0, 1.0]; 20]).into_iter().collect();
        assert!(table(&rows).contains(" <0.0001"), "{}", table(&rows));
    }

    #[test]
    fn the_interval_excludes_0_exactly_where_p_is_small() {
        for right in 1..=12 {
            let pairs: Vec<[f64; 2]> = (0..12).map(|at| [0.0, f64::from(u8::from(at < right))]).collect();
            let row = RepairRow::of("search", &pairs).expect("a row");
            let (interval, p) = (row.interval.expect("an interval"), row.p.expect("a p"));
            assert_eq!(interval.low > 0.0, p < 0.05, "{right}: {interval:?}, p = {p}");
        }
    }
}
