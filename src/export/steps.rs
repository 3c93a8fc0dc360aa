//! The table with one row per step.

use super::table::{Cell, Column};
use crate::types::{Call, Provenance, RebuiltPrompt, Step, Tool, Trajectory, Usage};
use std::borrow::Cow;

type StepContent = for<'a> fn(&'a Trajectory, &'a Step) -> Cell<'a>;

/// The columns, in order, and their cells; `docs/columns.md` explains each.
pub(super) const STEP_COLUMNS: &[(Column, StepContent)] = &[
    (Column::text("variant"), |trajectory, _| Cell::text(&trajectory.variant)),
    (Column::integer("repeat"), |trajectory, _| Cell::Integer(trajectory.repeat.into())),
    (Column::text("id"), |trajectory, _| Cell::text(&trajectory.id)),
    (Column::integer("step"), |_, step| Cell::count(step.n)),
    (Column::integer("sample"), |_, step| Cell::of(step.sample, |sample| Cell::Integer(sample.into()))),
    (Column::text("thought"), |_, step| Cell::of(step.thought.as_deref(), Cell::text)),
    (Column::text("tool"), |_, step| Cell::of(step.tool.map(Tool::name), Cell::Name)),
    (Column::text("input"), |_, step| Cell::of(step.input.as_deref(), Cell::text)),
    (Column::text("action_text"), |_, step| Cell::of(step.action_text.as_deref(), Cell::text)),
    (Column::text("observation"), |_, step| Cell::of(step.observation.as_deref(), Cell::text)),
    (Column::text("source"), |_, step| page_cell(step, |page| Cell::text(&page.source))),
    (Column::text("url"), |_, step| page_cell(step, |page| Cell::text(&page.url))),
    (Column::text("title"), |_, step| page_cell(step, |page| Cell::text(&page.title))),
    (Column::integer("pageid"), |_, step| page_cell(step, |page| Cell::of(page.pageid, Cell::Integer))),
    (Column::integer("revid"), |_, step| page_cell(step, |page| Cell::of(page.revid, Cell::Integer))),
    (Column::integer("status"), |_, step| page_cell(step, |page| Cell::Integer(page.status.into()))),
    (Column::text("fetched_at"), |_, step| page_cell(step, |page| Cell::text(&page.fetched_at))),
    (Column::text("page_sha256"), |_, step| page_cell(step, |page| Cell::text(&page.sha256))),
    (Column::text("note"), |_, step| Cell::of(step.note.as_deref(), Cell::text)),
    (Column::text("discarded"), |_, step| Cell::of(step.discarded.as_deref(), Cell::text)),
    (Column::integer("calls"), |_, step| Cell::count(step.calls.len())),
    (Column::integer("prompt_tokens"), |_, step| {
        Cell::of(step_usage(step), |usage| Cell::Integer(usage.prompt_tokens))
    }),
    (Column::integer("completion_tokens"), |_, step| {
        Cell::of(step_usage(step), |usage| Cell::Integer(usage.completion_tokens))
    }),
    (Column::integer("latency_ms"), |_, step| Cell::Integer(step.calls.iter().map(|call| call.latency_ms).sum())),
    (Column::integer("attempts"), |_, step| {
        Cell::Integer(step.calls.iter().map(|call| u64::from(call.attempts)).sum())
    }),
    (Column::text("finish_reason"), |_, step| {
        Cell::of(step.calls.last().and_then(|call| call.finish_reason.as_deref()), Cell::text)
    }),
    (Column::text("cause"), |_, step| {
        Cell::of(step.calls.last().and_then(Call::shortfall), |cause| Cell::Name(cause.name()))
    }),
    (Column::text("prompt_sha256"), |_, step| Cell::of(step.calls.first(), |call| Cell::Name(&call.prompt_sha256))),
    (Column::integer("cached_tokens"), |_, step| counted_cell(step, |usage| usage.cached_tokens)),
    (Column::integer("cache_write_tokens"), |_, step| counted_cell(step, |usage| usage.cache_write_tokens)),
    (Column::integer("reasoning_tokens"), |_, step| counted_cell(step, |usage| usage.reasoning_tokens)),
    (Column::text("sentences_shown"), |_, step| {
        let shown = step.provenance.as_ref().and_then(|page| page.sentences.as_ref());
        Cell::of(shown, |shown| Cell::Text(Cow::Owned(serde_json::to_string(shown).unwrap_or_default())))
    }),
];

/// The prompt of a step's first call: a text as it is, messages as JSON; empty where it cannot be made again.
pub(super) fn prompt_cell(first: Option<&RebuiltPrompt>) -> Cell<'static> {
    let request = first.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
    Cell::of(request, |request| Cell::Text(Cow::Owned(request.prompt.to_text())))
}

fn page_cell<'a>(step: &'a Step, cell: fn(&'a Provenance) -> Cell<'a>) -> Cell<'a> {
    Cell::of(step.provenance.as_ref(), cell)
}

/// A count that only some providers make; empty where it is 0.
fn counted_cell(step: &Step, tokens: fn(Usage) -> u64) -> Cell<'_> {
    Cell::of(step_usage(step).map(tokens).filter(|tokens| *tokens > 0), Cell::Integer)
}

/// Tokens over the step's calls; absent if no server counted any.
fn step_usage(step: &Step) -> Option<Usage> {
    step.calls.iter().filter_map(|call| call.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}
