//! The figures of a run as JSON, in full precision.

use crate::report::summary::{LEVEL, em_interval, f1_interval};
use crate::run::{Summary, VariantScore};
use crate::stats::Interval;
use serde_json::{Value, json};

/// The whole summary.
pub(super) fn summary_json(summary: &Summary) -> Value {
    let variants: Vec<Value> = summary.variants.iter().map(variant_json).collect();
    let mut value = json!({
        "run": summary.run.display().to_string(),
        "dataset": summary.manifest.dataset.name,
        "selected": summary.manifest.dataset.selected,
        "planned": summary.planned(),
        "missing": summary.missing(),
        "unfinished_shards": summary.unfinished_shards,
        "not_measured_reasons": summary.reasons,
        "observations_not_200": summary.other_statuses,
        "level": LEVEL,
        "wall_ms": super::wall_ms(summary),
        "spending": Some(&summary.spending).filter(|_| !summary.manifest.is_imported()),
        "supporting_facts": {"questions": summary.evidence.len(), "missing": summary.evidence.missing},
        "variants": variants,
    });
    if let Some(stopping) = &summary.stopping {
        value["stopping"] = json!(stopping);
    }
    if let Some(shard) = summary.shard {
        value["shard"] = json!(shard);
    }
    value
}

fn variant_json(variant: &VariantScore) -> Value {
    let pair = |interval: Option<Interval>| interval.map(|interval| [interval.low, interval.high]);
    let score = &variant.score;
    // The name says which interval it is: with repeats there is no Wilson interval.
    let em = pair(em_interval(score));
    let (em_wilson, em_t) = if score.questions.is_none() { (em, None) } else { (None, em) };
    json!({
        "name": variant.name,
        "metric": variant.metric,
        "episodes": score.episodes,
        "measured": score.measured,
        "scored": score.scored,
        "hidden": score.hidden,
        "em": score.em,
        "em_wilson": em_wilson,
        "em_t": em_t,
        "em_bounds": score.em_bounds,
        "f1": score.f1,
        "f1_t": pair(f1_interval(score)),
        "intervals_over": if score.questions.is_none() { "episodes" } else { "questions" },
        "questions": score.questions.map_or(score.scored, |questions| questions.n),
        "outcomes": score.outcomes,
        "steps": score.steps,
        "calls": score.calls,
        "bad_calls": score.bad_calls,
        "shortfalls": score.steps.map(|_| &variant.shortfalls),
        "usage": score.counted_usage(),
        "cost_usd": score.cost_usd,
        "tokens_per_question": score.tokens_per_question(),
        "tokens_per_correct": score.tokens_per_correct(),
        "cost_per_question_usd": score.cost_per_question(),
        "cost_per_correct_usd": score.cost_per_correct(),
        "episode_ms": variant.episode_ms,
        "trajectory": score.steps.map(|_| &variant.assessment),
    })
}
