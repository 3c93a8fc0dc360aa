//! FRAMES: `Prompt` (in some files `Question`), `Answer`, `wiki_links`, `reasoning_types`; the last is the type.

use super::Format;
use super::fields::{Fault, First, Record, with_aliases};
use crate::types::Question;

pub(super) const FORMAT: Format = Format::of_dataset("frames", "FRAMES", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    let told = first.has("wiki_links") || first.has("reasoning_types");
    first.has("Answer") && (first.has("Prompt") || (first.has("Question") && told))
}

fn question(record: &Record) -> Result<Question, Fault> {
    let text = if record.get("Prompt").is_some() { "Prompt" } else { "Question" };
    let answers = with_aliases(record.texts("Answer")?, record.texts("answer")?);
    let mut question = Question::new(record.id("id")?, record.question(text)?, answers);
    question.kind = record.optional_string("reasoning_types")?;
    question.meta = record.rest(&["id", text, "Answer", "answer", "reasoning_types"]);
    Ok(question)
}
