//! KILT: JSON Lines with `id`, `input` and `output [{answer, provenance [{wikipedia_id, title, …}]}]`. Each output is an alternative:
//! its answer is gold, and its pages are enough evidence. Files without answers hide them.

use super::Format;
use super::fields::{Fault, Layout, Record, array, string, with_aliases};
use crate::base::{AnswerKind, Evidence, Question};
use serde_json::Value;

/// The dataset is called as its file is: KILT is eleven of them.
pub(super) const KILT: Format = Format::general("kilt", Layout::Lines, |record, _| kilt_question(record))
    .recognized_by(|first| {
        first.text("input") && first.has("id") && !first.has("question") && (first.list("output") || first.has("meta"))
    });

fn kilt_question(record: &Record) -> Result<Question, Fault> {
    let mut question = Question::new(record.id("id")?, record.question("input")?, Vec::new());
    for output in record.list("output")? {
        if let Some(answer) = non_null(output, "answer") {
            let answer = string("output.answer", answer)?.trim();
            let answer = (!answer.is_empty()).then(|| answer.to_owned());
            question.answers = with_aliases(question.answers, answer.into_iter().collect());
        }
        if let Some(provenance) = non_null(output, "provenance") {
            let pages: Vec<Evidence> =
                array("output.provenance", provenance)?.iter().map(provenance_page).collect::<Result<_, _>>()?;
            if !pages.is_empty() {
                question.evidence_sets.push(pages);
            }
        }
    }
    // FEVER's claims, of which KILT keeps those that can be judged.
    if !question.answers.is_empty()
        && question.answers.iter().all(|answer| matches!(&answer[..], "SUPPORTS" | "REFUTES"))
    {
        question.answer_kind = AnswerKind::Label;
    }
    question.meta = record.rest(&["id", "input", "output"]);
    Ok(question)
}

/// A page as evidence: its number of a paragraph is not one of a sentence.
fn provenance_page(entry: &Value) -> Result<Evidence, Fault> {
    let title = non_null(entry, "title").map(|title| string("output.provenance.title", title)).transpose()?;
    Ok(Evidence(title.map(str::to_owned), None))
}

fn non_null<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| !value.is_null())
}
