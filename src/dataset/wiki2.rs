//! `2WikiMultiHopQA`: the layout of `HotpotQA` with `evidences [[subject, relation, object]]`; `entity_ids`,
//! `evidences_id` and `answer_id` stay in `meta`, where the file of aliases is looked up by the last.

use super::Format;
use super::fields::{Fault, First, Record, array, string};
use super::hotpotqa;
use crate::base::Question;
use serde_json::Value;

pub(super) const WIKI2: Format = Format::of_dataset("2wiki", is_wiki2, wiki2_question);

fn is_wiki2(first: &First<'_>) -> bool {
    first.has("question") && ["evidences", "entity_ids", "answer_id"].iter().any(|key| first.has(key))
}

fn wiki2_question(record: &Record) -> Result<Question, Fault> {
    let mut question = hotpotqa::hotpotqa_question(record)?;
    if let Some(evidences) = record.get("evidences") {
        question.evidence_triples =
            array("evidences", evidences)?.iter().map(evidence_triple).collect::<Result<_, _>>()?;
    }
    question.meta.shift_remove("evidences");
    Ok(question)
}

fn evidence_triple(value: &Value) -> Result<[String; 3], Fault> {
    match value.as_array().map(Vec::as_slice) {
        Some([subject, relation, object]) => {
            let text = |part| string("evidences", part).map(str::to_owned);
            Ok([text(subject)?, text(relation)?, text(object)?])
        }
        _ => Err(Fault::expected("evidences", "a subject, a relation and an object", value)),
    }
}
