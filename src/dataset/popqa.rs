//! `PopQA`: a table with `question` and `possible_answers` (a JSON list in a cell), or `question, answer, aliases`,
//! which only the file's name tells from other datasets. The type is the relation asked for.

use super::Format;
use super::fields::{Fault, First, Record, with_aliases};
use crate::types::Question;

pub(super) const FORMAT: Format = Format::of_dataset("popqa", "PopQA", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    let table = first.has("question") && first.has("possible_answers");
    table || (first.has_only(&["question", "answer", "aliases"]) && first.named("popqa"))
}

fn question(record: &Record) -> Result<Question, Fault> {
    let answers = match record.get("possible_answers") {
        Some(_) => record.packed_texts("possible_answers")?,
        None => with_aliases(record.texts("answer")?, record.texts("aliases")?),
    };
    let mut question = Question::new(record.id("id")?, record.question("question")?, answers);
    question.kind = record.optional_string("prop")?;
    question.meta = record.rest(&["id", "question", "possible_answers", "answer", "aliases", "prop"]);
    Ok(question)
}
