//! NQ-open: JSON Lines of `question` and `answer [text]`, all of them gold.
//!
//! Nothing in such a line says what it is, so that only the file's name tells it from our own form.

use super::Format;
use super::fields::{Fault, First, Record};
use crate::types::Question;

pub(super) const FORMAT: Format = Format::of_dataset("nq-open", "NQ-open", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    first.has_only(&["question", "answer"]) && first.named("nq") && first.list("answer")
}

fn question(record: &Record) -> Result<Question, Fault> {
    let mut question = Question::new(record.id("id")?, record.question("question")?, record.texts("answer")?);
    question.meta = record.rest(&["id", "question", "answer"]);
    Ok(question)
}
