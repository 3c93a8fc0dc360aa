//! The figures of an episode that can be compared, under the names that the CSV export has for them.

use crate::cli::failure::Failure;
use crate::cli::graded::Graded;
use crate::score::search_missed;
use crate::types::text::visible_line;
use crate::types::{Repair, Tool};

/// A figure of an episode.
pub(super) struct Metric {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value; absent where there is none for this episode.
    value: fn(&Graded) -> Option<f64>,
}

/// All figures of a run's episodes.
pub(super) const METRICS: [Metric; 21] = [
    Metric { name: "em", value: |graded| Some(graded.score?.em) },
    Metric { name: "f1", value: |graded| Some(graded.score?.f1) },
    Metric { name: "precision", value: |graded| Some(graded.score?.precision) },
    Metric { name: "recall", value: |graded| Some(graded.score?.recall) },
    Metric { name: "steps", value: |graded| count(graded.trajectory.agent_steps().count()) },
    Metric { name: "calls", value: |graded| count(graded.trajectory.call_count()) },
    Metric { name: "bad_calls", value: bad_calls },
    Metric { name: "repairs", value: |graded| count(graded.trajectory.repairs.len()) },
    Metric { name: "searches", value: |graded| count(uses(graded, Tool::Search)) },
    Metric { name: "lookups", value: |graded| count(uses(graded, Tool::Lookup)) },
    Metric { name: "missed_searches", value: missed_searches },
    Metric { name: "empty_lookups", value: |graded| float(graded.assessment.as_ref()?.retrieval.empty_lookups) },
    Metric { name: "gold_pages_opened", value: |graded| float(gold(graded)?.pages_opened) },
    Metric { name: "sentences_seen", value: |graded| float(gold(graded)?.sentences_seen) },
    Metric { name: "first_hop", value: |graded| Some(f64::from(u8::from(gold(graded)?.first_hop()))) },
    Metric { name: "all_hops", value: |graded| Some(f64::from(u8::from(gold(graded)?.all_hops()))) },
    Metric { name: "prompt_tokens", value: |graded| float(graded.trajectory.usage.prompt_tokens) },
    Metric { name: "completion_tokens", value: |graded| float(graded.trajectory.usage.completion_tokens) },
    Metric { name: "tokens", value: |graded| float(graded.trajectory.usage.total()) },
    Metric { name: "cost_usd", value: |graded| graded.trajectory.cost_usd },
    Metric { name: "wall_ms", value: |graded| float(graded.trajectory.wall_ms) },
];

/// The name of a metric as it is kept, for the name as it is typed.
pub(super) fn canonical(typed: &str) -> String {
    let name = typed.trim().to_ascii_lowercase();
    if name == "cost" { "cost_usd".to_owned() } else { name }
}

/// The figure of that name, of a run.
pub(super) fn of_runs(name: &str) -> anyhow::Result<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| {
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        Failure::usage(
            format!("unknown metric `{}`", visible_line(name, 60)),
            format!("metrics of a run are {}", known.join(", ")),
        )
    })
}

impl Metric {
    /// Its value of an episode; absent where the episode was not measured.
    pub(super) fn of(&self, graded: &Graded) -> Option<f64> {
        graded.trajectory.measured().then(|| (self.value)(graded)).flatten()
    }
}

fn bad_calls(graded: &Graded) -> Option<f64> {
    count(graded.trajectory.repairs.iter().filter(|repair| repair.kind == Repair::MISSING_ACTION).count())
}

fn missed_searches(graded: &Graded) -> Option<f64> {
    let steps = graded.trajectory.steps.iter();
    count(steps.filter(|step| step.tool == Some(Tool::Search) && search_missed(step)).count())
}

fn uses(graded: &Graded, tool: Tool) -> usize {
    graded.trajectory.steps.iter().filter(|step| step.tool == Some(tool)).count()
}

fn gold(graded: &Graded) -> Option<crate::score::GoldRetrieval> {
    graded.assessment.as_ref()?.retrieval.gold
}

fn count(n: usize) -> Option<f64> {
    float(u64::try_from(n).ok()?)
}

#[expect(clippy::cast_precision_loss, clippy::unnecessary_wraps, reason = "counts are far below 2^53")]
fn float(n: u64) -> Option<f64> {
    Some(n as f64)
}
