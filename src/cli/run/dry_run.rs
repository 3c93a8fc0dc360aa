//! What `--dry-run` prints: the variants, and what they take.

use crate::cli::say::say;
use crate::experiment::Differing;
use crate::report::View;
use crate::report::console::stdout;
use crate::report::counted;
use crate::report::plan::{Bounded, Cells, Costs, cells, costs};
use crate::run::{Estimate, Expense, PlannedRun, Prepared, questions};
use crate::types::Variant;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

/// Prints the plan of all runs: tables, or JSON.
pub(super) fn print_plan(prepared: &Prepared, as_json: bool) -> anyhow::Result<()> {
    let runs: Vec<PlannedRun<'_>> = prepared.runs().collect();
    let sum = Estimate::together(runs.iter().map(|run| run.estimate));
    sum.lines().iter().for_each(say);
    let mut out = stdout();
    if as_json {
        let value = match runs.as_slice() {
            [run] => to_json(run),
            runs => json!({
                "runs": runs.iter().map(to_json).collect::<Vec<_>>(),
                "most_model_calls": sum.most_calls(),
                "estimate": sum.to_json(),
            }),
        };
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let Some(first) = runs.first() else { return Ok(()) };
    // One variant of one run is told in a line already.
    if runs.len() == 1 && first.manifest.variants.len() == 1 {
        return Ok(());
    }
    // A dataset's own settings make other variants.
    let mut shown = Cells::default();
    for run in &runs {
        let of_run = table(&run.manifest.variants);
        if of_run != shown {
            write!(out, "{}", cells(&of_run, View::of_stdout().width))?;
            shown = of_run;
        }
    }
    for PlannedRun { manifest, estimate, .. } in &runs {
        let mut rows: Vec<Costs> =
            estimate.rows.iter().map(|row| of(row.variant.clone(), row.due, row.expected(), row.most())).collect();
        rows.push(of("all".to_owned(), estimate.due(), estimate.expected(), estimate.most()));
        let often = if manifest.repeats == 1 { "once".to_owned() } else { format!("{} times", manifest.repeats) };
        let questions = counted(manifest.dataset.selected, "question");
        let title = format!("{}: {questions}, {often} each", questions::shown(Path::new(&manifest.dataset.path)));
        write!(out, "{}", costs(&title, &rows, View::of_stdout().width))?;
    }
    Ok(())
}

fn of(variant: String, episodes: u64, expected: Expense, most: Expense) -> Costs {
    let bounded = |of: fn(&Expense) -> u64| Bounded { expected: of(&expected), most: of(&most) };
    Costs {
        variant,
        episodes,
        calls: bounded(|expense| expense.load.calls),
        tokens: bounded(|expense| expense.load.usage.total()),
        usd: expected.usd.zip(most.usd),
    }
}

/// The variants by the settings in which they differ.
fn table(variants: &[Variant]) -> Cells {
    let Differing { settings, rows, same } = Differing::of(variants);
    Cells { settings, rows, same: same.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

fn to_json(run: &PlannedRun<'_>) -> Value {
    let cells: Vec<Value> = run
        .estimate
        .rows
        .iter()
        .map(|row| {
            json!({
                "variant": row.variant,
                "episodes": row.due,
                "expected": row.expected().to_json(),
                "at_most": row.most().to_json(),
            })
        })
        .collect();
    let mut value = json!({
        "run": run.folder.display().to_string(),
        "dataset": run.manifest.dataset,
        "variants": run.manifest.variants,
        "keep": run.keep,
        "redo": run.redo,
        "new": run.new,
        "other": run.other,
        "most_model_calls": run.estimate.most_calls(),
        "estimate": run.estimate.to_json(),
        "cells": cells,
    });
    if let Some(shard) = run.shard {
        value["shard"] = json!(shard);
    }
    if let Some(rule) = &run.manifest.stop_when {
        value["stop_when"] = json!(rule);
    }
    if let Some(experiment) = &run.manifest.experiment {
        value["experiment"] = json!(experiment);
    }
    value
}
