//! `WebQuestions`: `qId, qText, answers []`, all of them gold.

use super::Format;
use super::fields::{Fault, First, Record};
use crate::types::Question;

pub(super) const FORMAT: Format = Format::of_dataset("webquestions", "WebQuestions", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    first.has("qText")
}

fn question(record: &Record) -> Result<Question, Fault> {
    let mut question = Question::new(record.id("qId")?, record.question("qText")?, record.texts("answers")?);
    question.meta = record.rest(&["qId", "qText", "answers"]);
    Ok(question)
}
