//! What `--dry-run` prints: the cells, and what they take.

use super::estimate::{Estimate, Expense};
use super::folder::Target;
use super::load::Job;
use super::settings;
use crate::cli::say::say;
use crate::report::counted;
use crate::report::plan::{Bounded, Cells, Costs, cells, costs};
use serde_json::{Value, json};
use std::io::Write as _;

/// Prints the plan of all runs: tables, or JSON.
pub(super) fn print(runs: &[(Job, Target)], as_json: bool) -> anyhow::Result<()> {
    let sum = Estimate::together(runs.iter().map(|(_, target)| target.estimate()));
    sum.lines().iter().for_each(say);
    let mut out = std::io::stdout().lock();
    if as_json {
        let one = |(job, target): &(Job, Target)| to_json(job, target);
        let value = match runs {
            [run] => one(run),
            runs => json!({
                "runs": runs.iter().map(one).collect::<Vec<_>>(),
                "most_model_calls": sum.most_calls(),
                "estimate": sum.to_json(),
            }),
        };
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let Some((first, _)) = runs.first() else { return Ok(()) };
    // One variant of one run is told in a line already.
    if runs.len() == 1 && first.manifest.variants.len() == 1 {
        return Ok(());
    }
    // What a dataset has in place of the common settings makes other cells.
    let mut shown = Cells::default();
    for (job, _) in runs {
        let of_run = settings::cells(&job.manifest.variants);
        if of_run != shown {
            write!(out, "{}", cells(&of_run))?;
            shown = of_run;
        }
    }
    for (job, target) in runs {
        let mut rows: Vec<Costs> = target
            .estimate()
            .rows
            .iter()
            .map(|row| of(row.variant.clone(), row.due, row.expected(), row.most()))
            .collect();
        let estimate = target.estimate();
        rows.push(of("all".to_owned(), estimate.due(), estimate.expected(), estimate.most()));
        let title = format!(
            "{}: {}, {}",
            job.manifest.dataset.path,
            counted(job.manifest.dataset.selected, "question"),
            repeats(job.manifest.repeats)
        );
        write!(out, "{}", costs(&title, &rows))?;
    }
    Ok(())
}

fn repeats(repeats: u32) -> String {
    if repeats == 1 { "once each".to_owned() } else { format!("{repeats} times each") }
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

fn to_json(job: &Job, target: &Target) -> Value {
    let cells: Vec<Value> = target
        .estimate()
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
    let due = target.due();
    let mut value = json!({
        "run": target.path().display().to_string(),
        "dataset": job.manifest.dataset,
        "variants": job.manifest.variants,
        "keep": due.keep,
        "redo": due.redo,
        "new": due.new,
        "other": due.other,
        "most_model_calls": target.estimate().most_calls(),
        "estimate": target.estimate().to_json(),
        "cells": cells,
    });
    if let Some(experiment) = &job.manifest.experiment {
        value["experiment"] = json!(experiment);
    }
    value
}
