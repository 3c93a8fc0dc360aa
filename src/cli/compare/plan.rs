//! Checks a comparison before its run: of a run that is only planned, the names of its variants are known already.

use super::expression::{Argument, Fault};
use super::gate::{self, Terms};
use super::{Args, explain};
use crate::cli::failure::{self, Failure};
use crate::compare::{Comparison, Item, Variant, compare};
use crate::graded::{self, RunRef, Source};
use crate::types::text::visible_line;
use crate::types::{ExperimentRecord, Pairs};
use serde::Deserialize;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No plan is longer.
const MAX_PLAN_BYTES: u64 = 256 << 20;

/// What `run --dry-run --json` prints, as far as it is needed here.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Plan {
    Several { runs: Vec<PlannedRun> },
    One(PlannedRun),
}

#[derive(Debug, Deserialize)]
struct PlannedRun {
    run: PathBuf,
    variants: Vec<Named>,
    experiment: Option<ExperimentRecord>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

/// Refuses what the comparison of a planned run with these other runs would refuse. Nothing is compared.
pub(super) fn check_plan(args: &Args, plan: &Path) -> anyhow::Result<u8> {
    let mut pairs = args.pairs()?;
    let (mut sources, planned) = planned_sources(plan)?;
    let (_, joined) = super::judges::judges_and_metrics(args)?;
    let (others, figures) = super::loaded(args, &args.runs, &joined)?;
    let of_others = others.iter().map(Source::pairs);
    let of_all: Vec<Option<Pairs>> = planned.into_iter().map(Some).chain(of_others).collect();
    sources.extend(others);
    let mut names = graded::names(&sources);
    if pairs.is_all() {
        (pairs, _) = graded::planned(&of_all, &names);
    }
    if pairs.all_among(&names) {
        names.retain(|name| pairs.contrasts.iter().flatten().any(|other| other == name));
    }
    let settings = args.settings(pairs, &joined)?;
    let comparison = compare(&planned_columns(&names, &figures, &settings.breakdowns), &settings);
    let planned = Planned(comparison.map_err(|error| explain(error, &sources))?);
    for condition in &args.fail_if {
        gate::evaluate(condition, &planned)?;
    }
    Ok(failure::OK)
}

/// A comparison whose names are known and whose values are not, its counts of questions included.
struct Planned(Comparison);

impl Terms for Planned {
    fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault> {
        self.0.term(name, arguments, at).map(|_| None)
    }
}

/// The variants, each with one and the same question that has no value in any.
fn planned_columns(names: &[String], figures: &[String], fields: &[String]) -> Vec<Variant> {
    let item = Item { values: vec![None; figures.len()], groups: vec![None; fields.len()], ..Item::default() };
    let column =
        |name: &String| Variant { items: vec![item.clone()], ..Variant::new(name, figures.to_vec(), fields.to_vec()) };
    names.iter().map(column).collect()
}

/// The variants of a plan, and the pairs that the experiment of each compares.
fn planned_sources(plan: &Path) -> anyhow::Result<(Vec<Source>, Vec<Pairs>)> {
    let refused = |error: &dyn std::fmt::Display| {
        let path = visible_line(&plan.display().to_string(), 300);
        let hint = "`wikitrail run … --dry-run --json` prints a plan";
        Failure::bad_input(format!("--plan: cannot read `{path}`: {error}"), hint)
    };
    let mut text = String::new();
    let file = std::fs::File::open(plan).map_err(|error| refused(&error))?;
    file.take(MAX_PLAN_BYTES).read_to_string(&mut text).map_err(|error| refused(&error))?;
    let plan = serde_json::from_str(&text).map_err(|_| refused(&"it is not the JSON of a plan"))?;
    let runs = match plan {
        Plan::Several { runs } => runs,
        Plan::One(run) => vec![run],
    };
    let (mut sources, mut pairs) = (Vec::new(), Vec::new());
    for PlannedRun { run, variants, experiment } in runs {
        let of_run = experiment.map(|experiment| experiment.pairs).unwrap_or_default();
        for Named { name } in variants {
            let run = RunRef { path: run.clone(), variant: Some(name) };
            sources.push(Source { run, origin: None, episodes: [].into() });
            pairs.push(of_run.clone());
        }
    }
    Ok((sources, pairs))
}
