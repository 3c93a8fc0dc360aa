//! FEVER: JSON Lines with `id`, `verifiable`, `label`, `claim` and
//! `evidence [[[annotation, evidence, page | null, line | null]]]`; the outer lists are alternatives, all of an
//! inner list is needed. Files without `label` hide it.

use super::Format;
use super::fields::{Fault, First, Record, array, integer, string};
use crate::base::{AnswerKind, Evidence, Question};
use serde_json::Value;

pub(super) const FEVER: Format = Format::of_dataset("fever", is_fever, fever_question);

fn is_fever(first: &First<'_>) -> bool {
    first.has("claim") && !first.has("question")
}

fn fever_question(record: &Record) -> Result<Question, Fault> {
    let label = record.optional_string("label")?;
    let mut question = Question::new(record.id("id")?, record.question("claim")?, label.into_iter().collect());
    question.answer_kind = AnswerKind::Label;
    if let Some(evidence) = record.get("evidence") {
        question.evidence_sets = array("evidence", evidence)?.iter().map(evidence_set).collect::<Result<_, _>>()?;
    }
    question.meta = record.rest(&["id", "claim", "label", "evidence"]);
    Ok(question)
}

fn evidence_set(value: &Value) -> Result<Vec<Evidence>, Fault> {
    array("evidence", value)?.iter().map(evidence_piece).collect()
}

fn evidence_piece(value: &Value) -> Result<Evidence, Fault> {
    let parts = array("evidence", value)?;
    let [_, _, page, line] = &parts[..] else {
        return Err(Fault::expected("evidence", "four parts: annotation, evidence, page, line", value));
    };
    let page = (!page.is_null()).then(|| string("evidence", page).map(str::to_owned)).transpose()?;
    let line = (!line.is_null()).then(|| integer("evidence", line)).transpose()?;
    Ok(Evidence(page, line))
}
