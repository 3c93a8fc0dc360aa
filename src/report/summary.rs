//! The tables at the end of a run: scores with intervals, outcomes, costs, retrieval and grounding.

mod assessment;
mod joined;

pub(crate) use joined::JoinedRow;

use super::intervals::{caption, em_interval, f1_interval};
use super::layout::{headings, table};
use super::number::{dash, duration, percent};
use super::sheet::Heading;
use crate::score::{RunAssessment, RunScore};
use crate::stats::Interval;
use crate::types::text::{counted, thousands, visible_line};
use crate::types::{Outcome, Usage};
use unicode_width::UnicodeWidthStr as _;

/// A longer variant name is cut after this many characters.
const NAME: usize = 80;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunSummary {
    /// Line above the table, such as the run's folder.
    pub title: String,
    /// Whether EM is an accuracy and F1 says the same.
    pub accuracy: bool,
    pub rows: Vec<SummaryRow>,
    /// Metrics from files.
    pub joined: Vec<JoinedRow>,
    /// Time of the run's parts together, in milliseconds, where it is known.
    pub wall_ms: Option<u64>,
    /// Other remarks, one a line below the tables.
    pub notes: Vec<String>,
    /// Further tables below the remarks; empty, or ending in a line break.
    pub below: String,
    /// Commands to try next, one a line at the end.
    pub next: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryRow {
    pub variant: String,
    pub score: RunScore,
    pub assessment: RunAssessment,
    /// Mean time of an episode, in milliseconds; variants share the time of the run.
    pub episode_ms: Option<u64>,
}

impl RunSummary {
    /// The summary as text for a terminal of that width, ending in a line break.
    ///
    /// EM and F1 come with their 95 % intervals and a line that names the method. Episodes that were not measured count
    /// in neither; a note below the tables gives the bounds they leave.
    pub(crate) fn render(&self, width: usize) -> String {
        let names: Vec<String> = self.rows.iter().map(|row| visible_line(&row.variant, NAME)).collect();
        let mut text = format!(
            "{}\n{}\n{}\n{}\n{}\n",
            visible_line(&self.title, 200),
            self.scores(&names, width),
            caption(self.rows.iter().map(|row| &row.score), self.accuracy),
            self.costs(&names, width),
            self.times(),
        );
        let assessments = self.rows.iter().map(|row| &row.assessment);
        text += &assessment::assessment_tables(
            &names.iter().map(String::as_str).zip(assessments).collect::<Vec<_>>(),
            width,
        );
        text += &joined::joined_table(&self.joined, width).unwrap_or_default();
        for note in self.rows.iter().flat_map(|row| [missing(row), details_of(row)].concat()) {
            text = text + &note + "\n";
        }
        for note in &self.notes {
            text = text + &visible_line(note, 500) + "\n";
        }
        text.push_str(&self.below);
        if !self.next.is_empty() {
            text.push_str("next:\n");
        }
        for command in &self.next {
            text = text + "  " + &visible_line(command, 500) + "\n";
        }
        text
    }

    fn scores(&self, names: &[String], width: usize) -> String {
        let figures: &[&str] =
            if self.accuracy { &["n", "accuracy % [95 %]"] } else { &["n", "EM % [95 %]", "F1 % [95 %]"] };
        let mut header = headings("variant", figures);
        header.push(Heading::words("outcomes"));
        let row = |(name, SummaryRow { score, .. }): (&String, &SummaryRow)| {
            let mut cells = vec![name.clone(), thousands(score.scored), estimate(score.em, em_interval(score))];
            cells.extend((!self.accuracy).then(|| estimate(score.f1, f1_interval(score))));
            cells.push(outcomes(score));
            cells
        };
        table(&header, &names.iter().zip(&self.rows).map(row).collect::<Vec<_>>(), width)
    }

    /// A line for each variant: `react  EM 65.0 [52.4, 75.8]  F1 65.5  n 60`.
    pub(crate) fn lines(&self) -> String {
        let name = |row: &SummaryRow| visible_line(&row.variant, NAME);
        let longest = self.rows.iter().map(|row| name(row).width()).max().unwrap_or_default();
        let line = |row: &SummaryRow| {
            let (name, score) = (name(row), &row.score);
            let space = " ".repeat(longest - name.width());
            let em = estimate(score.em, em_interval(score));
            let joined = self.joined.iter().filter(|joined| joined.variant == row.variant).map(joined::joined_line);
            let joined: String = joined.collect();
            let figures = if self.accuracy {
                format!("accuracy {em}")
            } else {
                format!("EM {em}  F1 {}", score.f1.map_or_else(dash, percent))
            };
            format!("{name}{space}  {figures}{joined}  n {}\n", thousands(score.scored))
        };
        self.rows.iter().map(line).collect()
    }

    /// What a reader of [`Self::lines`] should know.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|note| visible_line(note, 500));
        self.rows.iter().flat_map(missing).chain(notes)
    }

    /// What the column of times is: variants run side by side, so that the time of the run does not belong to any of them.
    fn times(&self) -> String {
        let whole = self.wall_ms.map_or_else(String::new, |ms| format!("; the run took {}", duration(ms)));
        format!("time: the mean of an episode{whole}")
    }

    fn costs(&self, names: &[String], width: usize) -> String {
        let header = headings("variant", &["steps", "calls", "bad calls", "tokens in", "tokens out", "USD", "time"]);
        let row = |(name, SummaryRow { score, episode_ms, .. }): (&String, &SummaryRow)| {
            vec![
                name.clone(),
                score.mean_steps().map_or_else(dash, |steps| format!("{steps:.2}")),
                score.calls.map_or_else(dash, thousands),
                score.bad_calls.map_or_else(dash, thousands),
                score.counted_usage().map_or_else(dash, |usage| thousands(usage.prompt_tokens)),
                score.counted_usage().map_or_else(dash, |usage| thousands(usage.completion_tokens)),
                score.cost_usd.map_or_else(dash, |cost| format!("{cost:.4}")),
                episode_ms.map_or_else(dash, duration),
            ]
        };
        table(&header, &names.iter().zip(&self.rows).map(row).collect::<Vec<_>>(), width)
    }
}

/// Episodes that are in no figure.
fn missing(row: &SummaryRow) -> Vec<String> {
    let (variant, score) = (visible_line(&row.variant, 40), &row.score);
    let mut notes = Vec::new();
    if score.not_measured > 0 {
        let bounds = score.em_bounds.map_or_else(String::new, |[low, high]| {
            format!("; counting them, EM is between {} and {} %", percent(low), percent(high))
        });
        notes.push(format!(
            "{variant}: {} not measured, left out of all means{bounds}",
            counted(score.not_measured, "episode")
        ));
    }
    if score.budget > 0 {
        notes.push(format!(
            "{variant}: {} stopped by the budget, left out of all means; --resume runs them again",
            counted(score.budget, "episode")
        ));
    }
    if score.hidden > 0 {
        notes.push(format!("{variant}: {} without a gold answer, not scored", counted(score.hidden, "episode")));
    }
    notes
}

/// What the tables leave out.
fn details_of(row: &SummaryRow) -> Vec<String> {
    let (variant, score) = (visible_line(&row.variant, 40), &row.score);
    prices(&variant, score).into_iter().chain(details(&variant, score.usage)).collect()
}

/// What only some providers count, a sentence each.
fn details(variant: &str, usage: Usage) -> Vec<String> {
    [
        (usage.cached_tokens, "prompt tokens came from the provider's cache"),
        (usage.cache_write_tokens, "prompt tokens were written to the provider's cache"),
        (usage.reasoning_tokens, "completion tokens were reasoning"),
    ]
    .into_iter()
    .filter(|(tokens, _)| *tokens > 0)
    .map(|(tokens, what)| format!("{variant}: {} {what}", thousands(tokens)))
    .collect()
}

/// What a question and a correct answer cost; nothing if no tokens were counted.
fn prices(variant: &str, score: &RunScore) -> Option<String> {
    let amount = |tokens: Option<f64>, cost: Option<f64>, of: &str| {
        let cost = cost.map_or_else(String::new, |cost| format!(" ({cost:.6} USD)"));
        tokens.map(|tokens| format!("{} tokens{cost} per {of}", grouped(tokens)))
    };
    let question = amount(score.tokens_per_question(), score.cost_per_question(), "question")?;
    let correct = amount(score.tokens_per_correct(), score.cost_per_correct(), "correct answer");
    let correct = correct.unwrap_or_else(|| "no correct answer".to_owned());
    let unpriced = if score.cost_usd.is_none() { "; price unknown" } else { "" };
    (score.usage.total() > 0).then(|| format!("{variant}: {question}; {correct}{unpriced}"))
}

/// A whole number with a comma between thousands.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of counts, which is 0 or more")]
fn grouped(number: f64) -> String {
    thousands(number.round() as u64)
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
        Some(Interval { low, high }) => format!("{} [{}, {}]", percent(value), percent(low), percent(high)),
        None => percent(value),
    }
}

#[cfg(test)]
mod tests;
