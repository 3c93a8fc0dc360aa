//! `StrategyQA`: `qid, term, description, question, answer: bool, facts, decomposition, evidence`; the answer becomes
//! `yes` or `no`.

use super::Format;
use super::fields::{Fault, First, Record};
use crate::types::{AnswerKind, Question};
use serde_json::Value;

pub(super) const FORMAT: Format = Format::of_dataset("strategyqa", "StrategyQA", looks_like, question);

fn looks_like(first: &First<'_>) -> bool {
    let told = first.has("term") || first.has("facts") || first.has("description");
    first.has("question") && first.has("qid") && told
}

fn question(record: &Record) -> Result<Question, Fault> {
    let answers = match record.get("answer") {
        None => Vec::new(),
        Some(Value::Bool(truth)) => vec![if *truth { "yes" } else { "no" }.to_owned()],
        Some(other) => return Err(Fault::expected("answer", "true or false", other)),
    };
    let mut question = Question::new(record.id("qid")?, record.question("question")?, answers);
    question.answer_kind = AnswerKind::YesNo;
    question.decomposition = record.list("decomposition")?.to_vec();
    question.meta = record.rest(&["qid", "question", "answer", "decomposition"]);
    Ok(question)
}
