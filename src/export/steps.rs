//! The table with one row per step.

use super::table::{Cell, Column};
use crate::types::{Provenance, Step, Tool, Trajectory, Usage};

/// The columns, in order; `docs/columns.md` explains each.
pub(super) const COLUMNS: &[Column] = &[
    Column::text("variant"),
    Column::integer("repeat"),
    Column::text("id"),
    Column::integer("step"),
    Column::integer("sample"),
    Column::text("thought"),
    Column::text("tool"),
    Column::text("input"),
    Column::text("action_text"),
    Column::text("observation"),
    Column::text("source"),
    Column::text("url"),
    Column::text("title"),
    Column::integer("pageid"),
    Column::integer("revid"),
    Column::integer("status"),
    Column::text("fetched_at"),
    Column::text("page_sha256"),
    Column::text("note"),
    Column::text("discarded"),
    Column::integer("calls"),
    Column::integer("prompt_tokens"),
    Column::integer("completion_tokens"),
    Column::integer("latency_ms"),
    Column::integer("attempts"),
    Column::text("finish_reason"),
    Column::text("prompt_sha256"),
];

/// One cell for each of [`COLUMNS`].
pub(super) fn row<'a>(trajectory: &'a Trajectory, step: &'a Step) -> Vec<Cell<'a>> {
    let usage = usage(step);
    let mut cells = vec![
        Cell::text(&trajectory.variant),
        Cell::Integer(trajectory.repeat.into()),
        Cell::text(&trajectory.id),
        Cell::count(step.n),
        Cell::of(step.sample, |sample| Cell::Integer(sample.into())),
        Cell::of(step.thought.as_deref(), Cell::text),
        Cell::of(step.tool.map(Tool::name), Cell::Name),
        Cell::of(step.input.as_deref(), Cell::text),
        Cell::of(step.action_text.as_deref(), Cell::text),
        Cell::of(step.observation.as_deref(), Cell::text),
    ];
    cells.extend(provenance(step.provenance.as_ref()));
    cells.extend([
        Cell::of(step.note.as_deref(), Cell::text),
        Cell::of(step.discarded.as_deref(), Cell::text),
        Cell::count(step.calls.len()),
        Cell::of(usage.map(|usage| usage.prompt_tokens), Cell::Integer),
        Cell::of(usage.map(|usage| usage.completion_tokens), Cell::Integer),
        Cell::Integer(step.calls.iter().map(|call| call.latency_ms).sum()),
        Cell::Integer(step.calls.iter().map(|call| u64::from(call.attempts)).sum()),
        Cell::of(step.calls.last().and_then(|call| call.finish_reason.as_deref()), Cell::text),
        Cell::of(step.calls.first(), |call| Cell::Name(&call.prompt_sha256)),
    ]);
    cells
}

fn provenance(provenance: Option<&Provenance>) -> [Cell<'_>; 8] {
    let Some(Provenance { source, url, title, pageid, revid, status, fetched_at, sha256 }) = provenance else {
        return std::array::from_fn(|_| Cell::Empty);
    };
    [
        Cell::text(source),
        Cell::text(url),
        Cell::text(title),
        Cell::of(*pageid, Cell::Integer),
        Cell::of(*revid, Cell::Integer),
        Cell::Integer((*status).into()),
        Cell::text(fetched_at),
        Cell::text(sha256),
    ]
}

/// Tokens over the step's calls; absent if no server counted any.
fn usage(step: &Step) -> Option<Usage> {
    step.calls.iter().filter_map(|call| call.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}
