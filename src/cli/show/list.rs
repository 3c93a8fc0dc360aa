//! `show RUN`: the list of its episodes.

use super::{Args, name, noted};
use crate::cli::failure;
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::graded::{Field, GradedRun, RunRef};
use crate::report::console::stdout;
use crate::report::{EpisodeRow, View, episodes};
use crate::score::ScoredEpisode;
use crate::types::text::{shell_word, visible_line};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Write as _;

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sort {
    /// As the run has them: by variant, repeat and dataset.
    Dataset,
    /// Most steps first.
    Steps,
    /// Lowest F1 first.
    F1,
    /// Highest cost first, or most tokens where no price is known.
    Cost,
    /// By id.
    Id,
}

/// An episode of the list, as far as it is needed.
struct Listed {
    row: EpisodeRow,
    /// As `show` takes it.
    typed: String,
    cost: f64,
    tokens: u64,
    /// What `--json` prints.
    item: Option<Value>,
}

pub(super) fn list_episodes(args: &Args, run: &RunRef, view: &View) -> anyhow::Result<u8> {
    let mut fields = HashMap::new();
    let source = noted(GradedRun::open_with(&run.path, |question| {
        if args.json {
            fields.insert(question.id.clone(), Field::json(question));
        }
    })?);
    source.check_variant(run)?;
    let mut found: Vec<Listed> = Vec::new();
    for graded in source.episodes() {
        let graded = graded?;
        if !args.filter.wants(run, &graded) {
            continue;
        }
        let item = args.json.then(|| item_json(&graded, fields.get(&graded.trajectory.id)));
        found.push(Listed::of(run, graded, item));
    }
    found.sort_by(|a, b| args.sort.order(a, b));
    let matched = found.len();
    found.truncate(args.limit.unwrap_or(matched));
    let mut out = stdout().styled();
    for item in found.iter().filter_map(|listed| listed.item.as_ref()) {
        json_line(&mut out, item)?;
    }
    if !args.json && !found.is_empty() {
        let failed = found.iter().find(|listed| listed.row.score.is_some_and(|score| score.em == 0.0));
        let next = failed.unwrap_or(&found[0]).typed.clone();
        let rows: Vec<EpisodeRow> = found.into_iter().map(|listed| listed.row).collect();
        out.write_all(episodes::render(&rows, view).as_bytes())?;
        writeln!(out, "next:\n  wikitrail show {}", shell_word(&visible_line(&next, 500)))?;
    }
    match (matched, args.limit) {
        (0, _) => say(format_args!("note: no episode of `{}` matches", run.typed())),
        (_, Some(limit)) if matched > limit => say(format_args!("note: {limit} of {matched} episodes listed")),
        _ => {}
    }
    Ok(failure::OK)
}

impl Listed {
    fn of(run: &RunRef, graded: ScoredEpisode, item: Option<Value>) -> Self {
        let typed = name(run, &graded);
        let class = graded.class();
        let trajectory = graded.trajectory;
        let row = EpisodeRow {
            steps: trajectory.has_steps().then(|| trajectory.agent_steps().count()),
            id: trajectory.id,
            variant: trajectory.variant,
            repeat: trajectory.repeat,
            outcome: trajectory.outcome,
            score: graded.score,
            class,
            answer: trajectory.answer,
            gold: trajectory.answers.into_iter().next(),
            question: trajectory.question,
        };
        Self { row, typed, cost: trajectory.cost_usd.unwrap_or_default(), tokens: trajectory.usage.total(), item }
    }
}

impl Sort {
    /// Episodes that are equal in it stay in the run's order.
    fn order(self, a: &Listed, b: &Listed) -> Ordering {
        let f1 = |listed: &Listed| listed.row.score.map_or(f64::INFINITY, |score| score.f1);
        match self {
            Self::Dataset => Ordering::Equal,
            Self::Steps => b.row.steps.cmp(&a.row.steps),
            Self::F1 => f1(a).total_cmp(&f1(b)),
            Self::Cost => b.cost.total_cmp(&a.cost).then(b.tokens.cmp(&a.tokens)),
            Self::Id => a.row.id.cmp(&b.row.id),
        }
    }
}

fn item_json(graded: &ScoredEpisode, fields: Option<&serde_json::Map<String, Value>>) -> Value {
    let ScoredEpisode { trajectory, score, assessment, metric, .. } = graded;
    let mut item = json!({
        "id": trajectory.id,
        "variant": trajectory.variant,
        "repeat": trajectory.repeat,
        "outcome": trajectory.outcome.name(),
        "metric": metric.name(),
        "right": graded.is_right(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "failure": graded.failure(),
        "grounding": assessment.as_ref().and_then(|assessment| assessment.grounding),
        "question": trajectory.question,
        "gold": trajectory.answers.first(),
        "answer": trajectory.answer,
    });
    if let (Value::Object(item), Some(fields)) = (&mut item, fields) {
        item.extend(fields.clone());
    }
    item
}
