//! CSV with one row an episode.

use super::csv_table::{Cell, CsvOptions, CsvTable};
use super::{Export, ExportError, Scored};
use crate::score::{Assessment, Grounding, search_missed};
use crate::types::{Tool, Trajectory};
use std::borrow::Cow;
use std::io::Write;

/// The columns, in order; `docs/columns.md` explains each.
pub const COLUMNS: &[&str] = &[
    "variant",
    "repeat",
    "id",
    "question",
    "gold",
    "aliases",
    "prediction",
    "em",
    "f1",
    "precision",
    "recall",
    "outcome",
    "detail",
    "steps",
    "calls",
    "bad_calls",
    "searches",
    "lookups",
    "missed_searches",
    "repairs",
    "samples",
    "votes",
    "gold_pages_opened",
    "gold_pages",
    "first_hop",
    "all_hops",
    "sentences_seen",
    "sentences",
    "empty_lookups",
    "grounding",
    "failure_class",
    "failure_evidence",
    "prompt_tokens",
    "completion_tokens",
    "cost_usd",
    "wall_ms",
    "started_at",
    "compat",
    "key",
];

/// Writes one row an episode.
pub struct QuestionsCsv<W: Write> {
    table: CsvTable<W>,
}

impl<W: Write> QuestionsCsv<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, options: CsvOptions) -> Self {
        Self { table: CsvTable::new(out, options, COLUMNS) }
    }
}

impl<W: Write> Export for QuestionsCsv<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        self.table.row(&row(scored))
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.table.finish()
    }
}

fn row<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
    let mut cells = answer_cells(scored);
    cells.extend(step_cells(scored.trajectory));
    cells.extend(assessment_cells(scored.assessment));
    cells.extend(cost_cells(scored.trajectory));
    cells
}

/// From `variant` to `detail`.
fn answer_cells<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
    let trajectory = scored.trajectory;
    let numbers = scored.numbers();
    vec![
        Cell::text(&trajectory.variant),
        Cell::plain(trajectory.repeat),
        Cell::text(&trajectory.id),
        Cell::text(&trajectory.question),
        Cell::optional(trajectory.answers.first().map(String::as_str)),
        Cell::Text(Cow::Owned(aliases(trajectory))),
        Cell::optional(trajectory.answer.as_deref()),
        Cell::optional_plain(numbers.em),
        Cell::optional_plain(numbers.f1),
        Cell::optional_plain(numbers.precision),
        Cell::optional_plain(numbers.recall),
        Cell::plain(trajectory.outcome.name()),
        Cell::optional(trajectory.detail.as_deref()),
    ]
}

/// From `steps` to `votes`.
fn step_cells(trajectory: &Trajectory) -> [Cell<'_>; 9] {
    [
        Cell::plain(trajectory.agent_steps().count()),
        Cell::plain(trajectory.call_count()),
        Cell::plain(trajectory.repairs.iter().filter(|repair| repair.kind == "missing_action").count()),
        Cell::plain(uses(trajectory, Tool::Search)),
        Cell::plain(uses(trajectory, Tool::Lookup)),
        Cell::plain(missed(trajectory)),
        Cell::plain(trajectory.repairs.len()),
        Cell::plain(trajectory.sample_count()),
        votes(trajectory),
    ]
}

/// The votes as a JSON list of `[answer, count]`; nothing without a vote.
fn votes(trajectory: &Trajectory) -> Cell<'_> {
    if trajectory.votes.is_empty() {
        return Cell::Empty;
    }
    let votes: Vec<(&str, u32)> = trajectory.votes.iter().map(|vote| (vote.answer.as_str(), vote.count)).collect();
    // Texts and numbers always serialise.
    Cell::Text(Cow::Owned(serde_json::to_string(&votes).unwrap_or_default()))
}

/// From `gold_pages_opened` to `failure_evidence`.
fn assessment_cells(assessment: Option<&Assessment>) -> [Cell<'_>; 10] {
    let gold = assessment.and_then(|assessment| assessment.retrieval.gold);
    let failure = assessment.and_then(|assessment| assessment.failure.as_ref());
    [
        Cell::optional_plain(gold.map(|gold| gold.pages_opened)),
        Cell::optional_plain(gold.map(|gold| gold.pages)),
        Cell::optional_plain(gold.map(|gold| u8::from(gold.first_hop()))),
        Cell::optional_plain(gold.map(|gold| u8::from(gold.all_hops()))),
        Cell::optional_plain(gold.map(|gold| gold.sentences_seen)),
        Cell::optional_plain(gold.map(|gold| gold.sentences)),
        Cell::optional_plain(assessment.map(|assessment| assessment.retrieval.empty_lookups)),
        Cell::optional_plain(assessment.and_then(|assessment| assessment.grounding).map(Grounding::name)),
        Cell::optional_plain(failure.map(|failure| failure.class.name())),
        Cell::optional(failure.map(|failure| failure.evidence.as_str())),
    ]
}

/// From `prompt_tokens` to `key`.
fn cost_cells(trajectory: &Trajectory) -> [Cell<'_>; 7] {
    [
        Cell::plain(trajectory.usage.prompt_tokens),
        Cell::plain(trajectory.usage.completion_tokens),
        Cell::optional_plain(trajectory.cost_usd),
        Cell::plain(trajectory.wall_ms),
        Cell::plain(&trajectory.started_at),
        Cell::plain(trajectory.compat.name()),
        Cell::plain(&trajectory.key),
    ]
}

/// Golds after the official one, as a JSON list.
fn aliases(trajectory: &Trajectory) -> String {
    // Strings always serialise.
    serde_json::to_string(trajectory.answers.get(1..).unwrap_or_default()).unwrap_or_default()
}

fn uses(trajectory: &Trajectory, tool: Tool) -> usize {
    trajectory.steps.iter().filter(|step| step.tool == Some(tool)).count()
}

/// Searches that opened no page.
fn missed(trajectory: &Trajectory) -> usize {
    trajectory.steps.iter().filter(|step| step.tool == Some(Tool::Search) && search_missed(step)).count()
}
