//! The tables at a run's end: scores with intervals, outcomes, what it cost, and what was read on the way.

use super::escape::visible_line;
use super::fitted::{RULED, WIDTH, fitted};
use super::intervals::{caption, em_interval, f1_interval};
use super::sheet::Heading;
use crate::score::{RunAssessment, RunScore};
use crate::stats::Interval;
use crate::types::Outcome;
pub use crate::types::text::{counted, thousands};
use std::fmt::Write as _;

/// Characters of a variant's name that are shown.
const NAME: usize = 80;

/// A run summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Line above the table, such as the run's folder.
    pub title: String,
    /// One row a variant.
    pub rows: Vec<SummaryRow>,
    /// What else has to be said of the run, one a line below the table.
    pub notes: Vec<String>,
    /// Commands that may come next, one a line below that.
    pub next: Vec<String>,
}

/// One variant summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    /// Name of the variant.
    pub variant: String,
    /// Its score.
    pub score: RunScore,
    /// Its trajectory metrics.
    pub assessment: RunAssessment,
    /// Time from the first start to the last end, in milliseconds, where it is known.
    pub wall_ms: Option<u64>,
}

impl RunSummary {
    /// The summary as text for an 80-column terminal, ending in a line break.
    ///
    /// EM and F1 come with their intervals at 95 %, and a line that says which these are. Episodes without a measurement
    /// are in neither; what they allow is said below the table.
    pub fn render(&self) -> String {
        let mut text = format!(
            "{}\n{}\n{}\n{}\n",
            visible_line(&self.title, 200),
            self.scores(),
            caption(self.rows.iter().map(|row| &row.score)),
            self.costs()
        );
        text.push_str(&super::assessment::render(&self.rows));
        for row in &self.rows {
            for note in notes(row) {
                let _ = writeln!(text, "{note}");
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "{}", visible_line(note, 500));
        }
        if !self.next.is_empty() {
            text.push_str("next:\n");
            for command in &self.next {
                let _ = writeln!(text, "  {}", visible_line(command, 500));
            }
        }
        text
    }

    fn scores(&self) -> String {
        let header = columns("variant", &["n", "EM % [95 %]", "F1 % [95 %]"]).chain([Heading::words("outcomes")]);
        let row = |SummaryRow { variant, score, .. }: &SummaryRow| {
            vec![
                variant_cell(variant),
                thousands(score.scored),
                estimate(score.em, em_interval(score)),
                estimate(score.f1, f1_interval(score)),
                outcomes(score),
            ]
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        fitted(RULED, &header.collect::<Vec<_>>(), &rows, WIDTH)
    }

    fn costs(&self) -> String {
        let figures = ["steps", "calls", "bad calls", "tokens in", "tokens out", "US $", "time"];
        let row = |SummaryRow { variant, score, wall_ms, .. }: &SummaryRow| {
            vec![
                variant_cell(variant),
                score.mean_steps().map_or_else(dash, |steps| format!("{steps:.2}")),
                thousands(score.calls),
                thousands(score.bad_calls),
                thousands(score.usage.prompt_tokens),
                thousands(score.usage.completion_tokens),
                score.cost_usd.map_or_else(dash, |cost| format!("{cost:.4}")),
                wall_ms.map_or_else(dash, duration),
            ]
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        fitted(RULED, &columns("variant", &figures).collect::<Vec<_>>(), &rows, WIDTH)
    }
}

/// What the numbers alone would not say.
fn notes(row: &SummaryRow) -> Vec<String> {
    let (variant, score) = (visible_line(&row.variant, 40), &row.score);
    let mut notes = Vec::new();
    if score.not_measured > 0 {
        let bounds = score.em_bounds.map_or_else(String::new, |[low, high]| {
            format!("; with them EM lies between {:.1} and {:.1} %", 100.0 * low, 100.0 * high)
        });
        notes.push(format!("{variant}: {} not measured, in no mean{bounds}", counted(score.not_measured, "episode")));
    }
    if score.budget > 0 {
        notes.push(format!(
            "{variant}: {} cut short by the run's budget, in no mean; --resume does them again",
            counted(score.budget, "episode")
        ));
    }
    if score.hidden > 0 {
        notes.push(format!("{variant}: {} without a gold answer, not scored", counted(score.hidden, "episode")));
    }
    notes.extend(prices(&variant, score));
    notes
}

/// What a question and a correct answer cost; nothing where nobody counted tokens.
fn prices(variant: &str, score: &RunScore) -> Option<String> {
    let said = |tokens: Option<f64>, cost: Option<f64>| {
        let tokens = tokens.map_or_else(dash, |tokens| format!("{tokens:.0}"));
        cost.map_or_else(|| format!("{tokens} tokens"), |cost| format!("{tokens} tokens, {cost:.6} US $"))
    };
    (score.usage.total() > 0).then(|| {
        let question = said(score.tokens_per_question(), score.cost_per_question());
        let correct = said(score.tokens_per_correct(), score.cost_per_correct());
        let unpriced = if score.cost_usd.is_none() { " (no price is known)" } else { "" };
        format!("{variant}: a question took {question}; a correct answer {correct}{unpriced}")
    })
}

fn outcomes(score: &RunScore) -> String {
    let parts: Vec<String> = Outcome::ALL
        .iter()
        .filter_map(|outcome| {
            let count = score.outcomes.get(outcome.name()).copied().filter(|count| *count > 0)?;
            Some(format!("{} {}", thousands(count), outcome.name()))
        })
        .collect();
    if parts.is_empty() { dash() } else { parts.join(", ") }
}

/// A share in per cent with its interval.
fn estimate(value: Option<f64>, interval: Option<Interval>) -> String {
    let Some(value) = value else { return dash() };
    match interval {
        Some(Interval { low, high }) => format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high),
        None => format!("{:.1}", 100.0 * value),
    }
}

/// A column of names, and the columns of figures after it.
pub(super) fn columns<'a>(first: &'a str, figures: &'a [&'a str]) -> impl Iterator<Item = Heading> + 'a {
    std::iter::once(Heading::words(first)).chain(figures.iter().copied().map(Heading::numbers))
}

pub(super) fn variant_cell(name: &str) -> String {
    visible_line(name, NAME)
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// A time in milliseconds as a person says it: `25 ms`, `1.8 s`, `12 s`, `3 min 5 s`, `2 h 7 min`.
pub(super) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests;
