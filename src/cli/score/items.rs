//! The figures of single episodes, for `--per-item`.

use crate::score::{AnswerScore, ScoredEpisode};
use crate::types::Trajectory;
use crate::types::text::visible_line;
use serde_json::{Value, json};

/// For reading, on one line: the id first, as with files of predictions.
pub(super) fn item_line(episode: &ScoredEpisode) -> String {
    let figures = episode
        .score
        .map_or_else(|| "em –  f1 –".to_owned(), |AnswerScore { em, f1, .. }| format!("em {em:.4}  f1 {f1:.4}"));
    let failure = episode.class().map_or_else(String::new, |class| format!("  {}", class.name()));
    let Trajectory { id, variant, repeat, outcome, .. } = &episode.trajectory;
    let (id, variant) = (visible_line(id, 80), visible_line(variant, 40));
    format!("{id}  {variant}  repeat {repeat}  {figures}  {}{failure}", outcome.name())
}

pub(super) fn item_json(episode: &ScoredEpisode) -> Value {
    let ScoredEpisode { trajectory, score, assessment, .. } = episode;
    let gold = assessment.as_ref().and_then(|assessment| assessment.retrieval.gold);
    json!({
        "variant": trajectory.variant,
        "repeat": trajectory.repeat,
        "id": trajectory.id,
        "outcome": trajectory.outcome.name(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "precision": score.map(|score| score.precision),
        "recall": score.map(|score| score.recall),
        "retrieval": assessment.as_ref().map(|assessment| assessment.retrieval),
        "first_hop": gold.map(|gold| gold.first_hop()),
        "all_hops": gold.map(|gold| gold.all_hops()),
        "grounding": assessment.as_ref().and_then(|assessment| assessment.grounding),
        "failure": episode.failure(),
    })
}
