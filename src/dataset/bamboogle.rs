//! Bamboogle: `Question, Answer`, in some files with the two hops as `Q1, A1, Q2, A2`.

use super::Format;
use super::fields::{Fault, First, Record};
use crate::types::Question;
use serde_json::json;

pub(super) const FORMAT: Format = Format::of_dataset("bamboogle", "Bamboogle", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    first.has("Question") && first.text("Answer")
}

fn question(record: &Record) -> Result<Question, Fault> {
    let mut question = Question::new(record.id("id")?, record.question("Question")?, record.texts("Answer")?);
    for (q, a) in [("Q1", "A1"), ("Q2", "A2")] {
        if let Some(hop) = record.get(q) {
            question.decomposition.push(json!({"question": hop, "answer": record.get(a)}));
        }
    }
    question.meta = record.rest(&["id", "Question", "Answer", "Q1", "A1", "Q2", "A2"]);
    Ok(question)
}
