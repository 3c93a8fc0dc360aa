//! CSV with one row a step.

use super::csv_table::{Cell, CsvOptions, CsvTable};
use super::{Export, ExportError, Scored};
use crate::types::{Provenance, Step, Tool, Trajectory, Usage};
use std::io::Write;

/// The columns, in order; `docs/columns.md` explains each.
pub const COLUMNS: &[&str] = &[
    "variant",
    "repeat",
    "id",
    "step",
    "sample",
    "thought",
    "tool",
    "input",
    "action_text",
    "observation",
    "source",
    "url",
    "title",
    "pageid",
    "revid",
    "status",
    "fetched_at",
    "page_sha256",
    "note",
    "discarded",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "attempts",
    "finish_reason",
    "prompt_sha256",
];

/// Writes one row a step; an episode without steps has none.
pub struct StepsCsv<W: Write> {
    table: CsvTable<W>,
}

impl<W: Write> StepsCsv<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, options: CsvOptions) -> Self {
        Self { table: CsvTable::new(out, options, COLUMNS) }
    }
}

impl<W: Write> Export for StepsCsv<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        scored.trajectory.steps.iter().try_for_each(|step| self.table.row(&row(scored.trajectory, step)))
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.table.finish()
    }
}

fn row<'a>(trajectory: &'a Trajectory, step: &'a Step) -> Vec<Cell<'a>> {
    let usage = usage(step);
    let mut cells = vec![
        Cell::text(&trajectory.variant),
        Cell::plain(trajectory.repeat),
        Cell::text(&trajectory.id),
        Cell::plain(step.n),
        Cell::optional_plain(step.sample),
        Cell::optional(step.thought.as_deref()),
        Cell::optional_plain(step.tool.map(Tool::name)),
        Cell::optional(step.input.as_deref()),
        Cell::optional(step.action_text.as_deref()),
        Cell::optional(step.observation.as_deref()),
    ];
    cells.extend(provenance(step.provenance.as_ref()));
    cells.extend([
        Cell::optional(step.note.as_deref()),
        Cell::optional(step.discarded.as_deref()),
        Cell::plain(step.calls.len()),
        Cell::optional_plain(usage.map(|usage| usage.prompt_tokens)),
        Cell::optional_plain(usage.map(|usage| usage.completion_tokens)),
        Cell::plain(step.calls.iter().map(|call| call.latency_ms).sum::<u64>()),
        Cell::plain(step.calls.iter().map(|call| u64::from(call.attempts)).sum::<u64>()),
        Cell::optional(step.calls.last().and_then(|call| call.finish_reason.as_deref())),
        Cell::optional_plain(step.calls.first().map(|call| &call.prompt_sha256)),
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
        Cell::optional_plain(*pageid),
        Cell::optional_plain(*revid),
        Cell::plain(status),
        Cell::text(fetched_at),
        Cell::text(sha256),
    ]
}

/// Tokens over the step's calls; absent where no server counted any.
fn usage(step: &Step) -> Option<Usage> {
    step.calls.iter().filter_map(|call| call.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}
