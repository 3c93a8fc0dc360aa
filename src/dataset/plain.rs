//! Datasets whose records are an id, a question and its answers under names of their own.

use super::Format;
use super::fields::{Fault, First, Record, with_aliases};
use crate::types::{AnswerKind, Question};
use serde_json::{Value, json};

/// `WebQuestions`: `qId, qText, answers []`, all of them gold.
pub(super) const WEBQUESTIONS: Format = Format::of_dataset(
    "webquestions",
    |first| first.has("qText"),
    |record| question(record, "qId", "qText", record.texts("answers")?, &["answers"]),
);

/// NQ-open: JSON Lines of `question` and `answer [text]`, all of them gold. Only the file's name distinguishes it from our
/// own form.
pub(super) const NQ_OPEN: Format = Format::of_dataset(
    "nq-open",
    |first| first.has_only(&["question", "answer"]) && first.named("nq") && first.list("answer"),
    |record| question(record, "id", "question", record.texts("answer")?, &["answer"]),
);

/// `SimpleQA`: a table with `problem` and `answer`, or records of `question, answer, aliases`, which only the file's name
/// distinguishes from other datasets.
pub(super) const SIMPLEQA: Format = Format::of_dataset(
    "simpleqa",
    |first| (first.has("problem") && first.has("answer")) || aliased(first, "simpleqa"),
    |record| {
        let text = record.first_of(&["problem", "question"]);
        question(record, "id", text, answers(record, "answer", "aliases")?, &["answer", "aliases"])
    },
);

/// `PopQA`: a table with `question` and `possible_answers` (a JSON list in a cell), or `question, answer, aliases`, which
/// only the file's name distinguishes from other datasets. The type is the relation asked for.
pub(super) const POPQA: Format = Format::of_dataset(
    "popqa",
    |first| (first.has("question") && first.has("possible_answers")) || aliased(first, "popqa"),
    |record| {
        let answers = match record.get("possible_answers") {
            Some(_) => record.packed_texts("possible_answers")?,
            None => answers(record, "answer", "aliases")?,
        };
        let known = ["possible_answers", "answer", "aliases", "prop"];
        let question = question(record, "id", "question", answers, &known)?;
        Ok(Question { kind: record.optional_string("prop")?, ..question })
    },
);

/// FRAMES: `Prompt` (in some files `Question`), `Answer`, `wiki_links`, `reasoning_types`; the last is the type.
pub(super) const FRAMES: Format = Format::of_dataset(
    "frames",
    |first| {
        let marked = first.has("wiki_links") || first.has("reasoning_types");
        first.has("Answer") && (first.has("Prompt") || (first.has("Question") && marked))
    },
    |record| {
        let text = record.first_of(&["Prompt", "Question"]);
        let answers = answers(record, "Answer", "answer")?;
        let question = question(record, "id", text, answers, &["Answer", "answer", "reasoning_types"])?;
        Ok(Question { kind: record.optional_string("reasoning_types")?, ..question })
    },
);

/// Bamboogle: `Question, Answer`, in some files with the two hops as `Q1, A1, Q2, A2`.
pub(super) const BAMBOOGLE: Format = Format::of_dataset(
    "bamboogle",
    |first| first.has("Question") && first.text("Answer"),
    |record| {
        let known = ["Answer", "Q1", "A1", "Q2", "A2"];
        let mut question = question(record, "id", "Question", record.texts("Answer")?, &known)?;
        for (q, a) in [("Q1", "A1"), ("Q2", "A2")] {
            if let Some(hop) = record.get(q) {
                question.decomposition.push(json!({"question": hop, "answer": record.get(a)}));
            }
        }
        Ok(question)
    },
);

/// `StrategyQA`: `qid, term, description, question, answer: bool, facts, decomposition, evidence`; the answer becomes `yes`
/// or `no`.
pub(super) const STRATEGYQA: Format = Format::of_dataset(
    "strategyqa",
    |first| {
        let marked = first.has("term") || first.has("facts") || first.has("description");
        first.has("question") && first.has("qid") && marked
    },
    |record| {
        let answers = match record.get("answer") {
            None => Vec::new(),
            Some(Value::Bool(truth)) => vec![if *truth { "yes" } else { "no" }.to_owned()],
            Some(other) => return Err(Fault::expected("answer", "true or false", other)),
        };
        let question = question(record, "qid", "question", answers, &["answer", "decomposition"])?;
        let decomposition = record.list("decomposition")?.to_vec();
        Ok(Question { answer_kind: AnswerKind::YesNo, decomposition, ..question })
    },
);

/// A question of these fields; those that are not `known` go to `meta`.
fn question(record: &Record, id: &str, text: &str, answers: Vec<String>, known: &[&str]) -> Result<Question, Fault> {
    let mut question = Question::new(record.id(id)?, record.question(text)?, answers);
    question.meta = record.rest(&[&[id, text], known].concat());
    Ok(question)
}

fn answers(record: &Record, answer: &str, aliases: &str) -> Result<Vec<String>, Fault> {
    Ok(with_aliases(record.texts(answer)?, record.texts(aliases)?))
}

fn aliased(first: &First<'_>, name: &str) -> bool {
    first.has_only(&["question", "answer", "aliases"]) && first.named(name)
}
