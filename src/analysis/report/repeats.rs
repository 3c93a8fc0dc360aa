//! The tables of what the repeats of questions say together, for people and for programs.

use super::console::{dash, percent};
use super::sheet::{headings, table};
use super::summary::shares_interval;
use crate::base::stats::{Interval, Mean};
use crate::base::text::{thousands, visible_line};
use crate::scoring::{Pass, Repeats};
use serde::Serialize;
use serde_json::{Value, json};

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

/// The tables of these variants, each ending in a line break; nothing where no question was repeated.
pub(crate) fn repeats_tables<'a>(
    variants: impl Iterator<Item = (&'a str, Option<&'a Repeats>)>,
    width: usize,
) -> Option<String> {
    let repeated: Vec<(&str, &Repeats)> = variants.filter_map(|(name, repeats)| Some((name, repeats?))).collect();
    (!repeated.is_empty()).then(|| stability(&repeated, width) + &passes(&repeated, width).unwrap_or_default())
}

fn stability(variants: &[(&str, &Repeats)], width: usize) -> String {
    let header = headings("repeats", &["questions", "unstable", "same answer\n% [95 %]", "SD of\nsteps", "SD of\nUSD"]);
    let row = |(name, repeats): &(&str, &Repeats)| {
        vec![
            visible_line(name, 80),
            thousands(repeats.questions()),
            thousands(repeats.unstable().count()),
            Estimate::of(&repeats.agreement()).cell(),
            repeats.steps_deviation().map_or_else(dash, |steps| format!("{steps:.2}")),
            repeats.cost_deviation().map_or_else(dash, |cost| format!("{cost:.4}")),
        ]
    };
    table(&header, &variants.iter().map(row).collect::<Vec<_>>(), width) + "\n"
}

/// A row for each variant and `k`. `pass@1` is EM.
fn passes(variants: &[(&str, &Repeats)], width: usize) -> Option<String> {
    let mut rows = Vec::new();
    for (name, repeats) in variants {
        for row in pass_rows(repeats).filter(|row| row.k > 1) {
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
    let header = headings("variant", &["k", "pass@k % [95 %]", "pass^k % [95 %]", "questions", "fewer\nthan k"]);
    (!rows.is_empty()).then(|| table(&header, &rows, width) + "\n")
}

/// The same in full precision.
pub(crate) fn repeats_json(repeats: &Repeats) -> Value {
    let unstable = repeats.unstable().map(|(id, right)| json!({ "id": id, "right": right }));
    json!({
        "questions": repeats.questions(),
        "unstable": unstable.collect::<Vec<_>>(),
        "agreement": Estimate::of(&repeats.agreement()),
        "steps_sd": repeats.steps_deviation(),
        "cost_sd_usd": repeats.cost_deviation(),
        "passes": pass_rows(repeats).collect::<Vec<_>>(),
    })
}
