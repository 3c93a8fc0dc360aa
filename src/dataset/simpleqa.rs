//! `SimpleQA`: a table with `problem` and `answer`, or records of `question, answer, aliases`, which only the file's
//! name tells from other datasets.

use super::Format;
use super::fields::{Fault, First, Record, with_aliases};
use crate::types::Question;

pub(super) const FORMAT: Format = Format::of_dataset("simpleqa", "SimpleQA", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    let official = first.has("problem") && first.has("answer");
    official || (first.has_only(&["question", "answer", "aliases"]) && first.named("simpleqa"))
}

fn question(record: &Record) -> Result<Question, Fault> {
    let text = if record.get("problem").is_some() { "problem" } else { "question" };
    let answers = with_aliases(record.texts("answer")?, record.texts("aliases")?);
    let mut question = Question::new(record.id("id")?, record.question(text)?, answers);
    question.meta = record.rest(&["id", text, "answer", "aliases"]);
    Ok(question)
}
