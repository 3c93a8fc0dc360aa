//! The table with one row an episode.

use super::Scored;
use super::table::{Cell, Column};
use crate::score::{Assessment, Grounding, search_missed};
use crate::types::{Repair, Tool, Trajectory};
use std::borrow::Cow;

/// The columns, in order; `docs/columns.md` explains each.
pub(super) const COLUMNS: &[Column] = &[
    Column::text("variant"),
    Column::integer("repeat"),
    Column::text("id"),
    Column::text("question"),
    Column::text("gold"),
    Column::text("aliases"),
    Column::text("prediction"),
    Column::real("em"),
    Column::real("f1"),
    Column::real("precision"),
    Column::real("recall"),
    Column::text("outcome"),
    Column::text("detail"),
    Column::integer("steps"),
    Column::integer("calls"),
    Column::integer("bad_calls"),
    Column::integer("searches"),
    Column::integer("lookups"),
    Column::integer("missed_searches"),
    Column::integer("repairs"),
    Column::integer("samples"),
    Column::text("votes"),
    Column::integer("gold_pages_opened"),
    Column::integer("gold_pages"),
    Column::flag("first_hop"),
    Column::flag("all_hops"),
    Column::integer("sentences_seen"),
    Column::integer("sentences"),
    Column::integer("empty_lookups"),
    Column::text("grounding"),
    Column::text("failure_class"),
    Column::text("failure_evidence"),
    Column::integer("prompt_tokens"),
    Column::integer("completion_tokens"),
    Column::real("cost_usd"),
    Column::integer("wall_ms"),
    Column::text("started_at"),
    Column::text("compat"),
    Column::text("key"),
];

/// One cell for each of [`COLUMNS`].
pub(super) fn row<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
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
        Cell::Integer(trajectory.repeat.into()),
        Cell::text(&trajectory.id),
        Cell::text(&trajectory.question),
        Cell::of(trajectory.answers.first(), |gold| Cell::text(gold)),
        Cell::Text(Cow::Owned(aliases(trajectory))),
        Cell::of(trajectory.answer.as_deref(), Cell::text),
        Cell::of(numbers.em, Cell::Real),
        Cell::of(numbers.f1, Cell::Real),
        Cell::of(numbers.precision, Cell::Real),
        Cell::of(numbers.recall, Cell::Real),
        Cell::Name(trajectory.outcome.name()),
        Cell::of(trajectory.detail.as_deref(), Cell::text),
    ]
}

/// From `steps` to `votes`.
fn step_cells(trajectory: &Trajectory) -> [Cell<'_>; 9] {
    let bad_calls = trajectory.repairs.iter().filter(|repair| repair.kind == Repair::MISSING_ACTION);
    [
        Cell::count(trajectory.agent_steps().count()),
        Cell::count(trajectory.call_count()),
        Cell::count(bad_calls.count()),
        Cell::count(uses(trajectory, Tool::Search)),
        Cell::count(uses(trajectory, Tool::Lookup)),
        Cell::count(missed(trajectory)),
        Cell::count(trajectory.repairs.len()),
        Cell::count(trajectory.sample_count()),
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
        Cell::of(gold.map(|gold| gold.pages_opened), Cell::Integer),
        Cell::of(gold.map(|gold| gold.pages), Cell::Integer),
        Cell::of(gold.map(|gold| gold.first_hop()), Cell::Flag),
        Cell::of(gold.map(|gold| gold.all_hops()), Cell::Flag),
        Cell::of(gold.map(|gold| gold.sentences_seen), Cell::Integer),
        Cell::of(gold.map(|gold| gold.sentences), Cell::Integer),
        Cell::of(assessment.map(|assessment| assessment.retrieval.empty_lookups), Cell::Integer),
        Cell::of(assessment.and_then(|assessment| assessment.grounding).map(Grounding::name), Cell::Name),
        Cell::of(failure.map(|failure| failure.class.name()), Cell::Name),
        Cell::of(failure.map(|failure| failure.evidence.as_str()), Cell::text),
    ]
}

/// From `prompt_tokens` to `key`.
fn cost_cells(trajectory: &Trajectory) -> [Cell<'_>; 7] {
    [
        Cell::Integer(trajectory.usage.prompt_tokens),
        Cell::Integer(trajectory.usage.completion_tokens),
        Cell::of(trajectory.cost_usd, Cell::Real),
        Cell::Integer(trajectory.wall_ms),
        Cell::Name(&trajectory.started_at),
        Cell::Name(trajectory.compat.name()),
        Cell::Name(&trajectory.key),
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
