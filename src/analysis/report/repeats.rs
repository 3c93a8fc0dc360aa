//! The table of what the repeats of questions say together, for people and for programs.

use super::console::{dash, percent};
use super::sheet::{headings, table};
use super::summary::shares_interval;
use crate::base::stats::{Interval, Mean};
use crate::base::text::{thousands, visible_line};
use crate::scoring::{Pass, Repeats};
use serde::Serialize;
use serde_json::{Value, json};

/// The mean of a share over questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Estimate {
    mean: Option<f64>,
    /// The padded t.
    interval: Option<Interval>,
}

impl Estimate {
    fn of(values: &[f64]) -> Self {
        Self { mean: Mean::of(values).map(|mean| mean.mean), interval: shares_interval(values, false) }
    }

    fn cell(self) -> String {
        let interval = |Interval { low, high }| format!(" [{}, {}]", percent(low), percent(high));
        self.mean.map_or_else(dash, |mean| percent(mean) + &self.interval.map(interval).unwrap_or_default())
    }
}

/// `pass@k` and `pass^k` of one `k`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct PassRow {
    k: u64,
    /// Questions with a value.
    questions: usize,
    /// Questions with a scored repeat, but with fewer than `k`.
    left_out: usize,
    pass_at: Estimate,
    pass_hat: Estimate,
}

/// A row for each `k` up to the number of repeats.
fn pass_rows(repeats: &Repeats) -> impl Iterator<Item = PassRow> {
    (1..=repeats.most()).map(|k| {
        let [any, all] = [Pass::Any(k), Pass::All(k)].map(|pass| repeats.values(pass));
        PassRow {
            k,
            questions: any.len(),
            left_out: repeats.questions() - any.len(),
            pass_at: Estimate::of(&any),
            pass_hat: Estimate::of(&all),
        }
    })
}

/// The table of these variants, ending in a line break; nothing where no question was repeated. `pass@1` is EM.
pub(crate) fn repeats_table<'a>(
    variants: impl Iterator<Item = (&'a str, Option<&'a Repeats>)>,
    width: usize,
) -> Option<String> {
    let mut rows = Vec::new();
    for (name, repeats) in variants {
        for row in repeats.into_iter().flat_map(pass_rows).filter(|row| row.k > 1) {
            rows.push(vec![
                visible_line(name, 80),
                row.k.to_string(),
                row.pass_at.cell(),
                row.pass_hat.cell(),
                thousands(row.questions),
                if row.left_out > 0 { thousands(row.left_out) } else { dash() },
            ]);
        }
    }
    let header = headings("repeats", &["k", "pass@k % [95 %]", "pass^k % [95 %]", "questions", "fewer\nthan k"]);
    (!rows.is_empty()).then(|| table(&header, &rows, width) + "\n")
}

/// The same in full precision.
pub(crate) fn repeats_json(repeats: &Repeats) -> Value {
    json!({ "questions": repeats.questions(), "passes": pass_rows(repeats).collect::<Vec<_>>() })
}
