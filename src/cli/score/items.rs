//! The figures of single episodes, for `--per-item`.

use crate::run::Item;
use crate::score::AnswerScore;
use crate::types::text::visible_line;
use serde_json::{Value, json};

/// For reading, on one line: the id first, as with files of predictions.
pub(super) fn line(item: &Item) -> String {
    let figures = item
        .score
        .map_or_else(|| "em –  f1 –".to_owned(), |AnswerScore { em, f1, .. }| format!("em {em:.4}  f1 {f1:.4}"));
    let failure = item.assessment.as_ref().and_then(|assessment| assessment.failure.as_ref());
    let failure = failure.map_or_else(String::new, |failure| format!("  {}", failure.class.name()));
    let (id, variant) = (visible_line(&item.id, 80), visible_line(&item.variant, 40));
    format!("{id}  {variant}  repeat {}  {figures}  {}{failure}", item.repeat, item.outcome.name())
}

pub(super) fn to_json(item: &Item) -> Value {
    let assessment = item.assessment.as_ref();
    let gold = assessment.and_then(|assessment| assessment.retrieval.gold);
    json!({
        "variant": item.variant,
        "repeat": item.repeat,
        "id": item.id,
        "outcome": item.outcome.name(),
        "em": item.score.map(|score| score.em),
        "f1": item.score.map(|score| score.f1),
        "precision": item.score.map(|score| score.precision),
        "recall": item.score.map(|score| score.recall),
        "retrieval": assessment.map(|assessment| assessment.retrieval),
        "first_hop": gold.map(|gold| gold.first_hop()),
        "all_hops": gold.map(|gold| gold.all_hops()),
        "grounding": assessment.and_then(|assessment| assessment.grounding),
        "failure": assessment.and_then(|assessment| assessment.failure.as_ref()),
    })
}
