//! Datasets whose records are an id, a question and its answers under names of their own.

use super::Format;
use super::fields::{Fault, First, Record, with_aliases};
use crate::base::{AnswerKind, Question};
use serde_json::{Value, json};

/// `WebQuestions`: `qId, qText, answers []`, all of them gold.
pub(super) const WEBQUESTIONS: Format = Format::of_dataset(
    "webquestions",
    |first| first.has("qText"),
    |record| plain_question(record, "qId", "qText", record.texts("answers")?, &["answers"]),
);

/// NQ-open: JSON Lines of `question` and `answer [text]`, all of them gold. Only the file's name distinguishes it from our
/// own form.
pub(super) const NQ_OPEN: Format = Format::of_dataset(
    "nq-open",
    |first| first.has_only(&["question", "answer"]) && first.named("nq") && first.list("answer"),
    |record| plain_question(record, "id", "question", record.texts("answer")?, &["answer"]),
);

/// `SimpleQA`: `metadata, problem, answer`, in its verified part `original_index, problem, answer, …`, or records of
/// `question, answer, aliases`, which only the file's name distinguishes from other datasets.
pub(super) const SIMPLEQA: Format = Format::of_dataset(
    "simpleqa",
    |first| {
        let marked = ["metadata", "original_index"].iter().any(|field| first.has(field)) || first.named("simpleqa");
        let own = first.has("problem") && first.has("answer") && !first.has_in_any_case("question");
        (own && marked) || has_aliased_form(first, "simpleqa")
    },
    |record| {
        let text = record.first_of(&[record.spelled("question"), record.spelled("problem")]);
        plain_question(record, "id", text, aliased_answers(record, "answer", "aliases")?, &["answer", "aliases"])
    },
);

/// `PopQA`: a table with `question` and `possible_answers` (a JSON list in a cell), or `question, answer, aliases`, which
/// only the file's name distinguishes from other datasets. The type is the relation asked for.
pub(super) const POPQA: Format = Format::of_dataset(
    "popqa",
    |first| (first.has("question") && first.has("possible_answers")) || has_aliased_form(first, "popqa"),
    |record| {
        let answers = match record.get("possible_answers") {
            Some(_) => record.packed_texts("possible_answers")?,
            None => aliased_answers(record, "answer", "aliases")?,
        };
        let known = ["possible_answers", "answer", "aliases", "prop"];
        let question = plain_question(record, "id", "question", answers, &known)?;
        Ok(Question { kind: record.optional_string("prop")?, ..question })
    },
);

/// FRAMES: `Prompt` (in some files `Question`), `Answer`, and `wiki_links` or `reasoning_types`; the last is the type.
pub(super) const FRAMES: Format = Format::of_dataset(
    "frames",
    |first| {
        let marked = first.has("wiki_links") || first.has("reasoning_types");
        marked && first.has("Answer") && (first.has("Prompt") || first.has("Question"))
    },
    |record| {
        let text = record.first_of(&[record.spelled("question"), record.spelled("Prompt")]);
        let answers = aliased_answers(record, "Answer", "answer")?;
        let question = plain_question(record, "id", text, answers, &["Answer", "answer", "reasoning_types"])?;
        Ok(Question { kind: record.optional_string("reasoning_types")?, ..question })
    },
);

/// Bamboogle: `Question, Answer` with the two hops as `Q1, A1, Q2, A2`. Without them only the file's name distinguishes it
/// from other files, and any other field shows that it is one of those.
pub(super) const BAMBOOGLE: Format = Format::of_dataset(
    "bamboogle",
    |first| {
        let own = first.record.fields.keys().all(|field| BAMBOOGLE_FIELDS.contains(&field.as_str()));
        own && first.has("Question") && first.text("Answer") && (first.has("Q1") || first.named("bamboogle"))
    },
    |record| {
        let answers = aliased_answers(record, record.spelled("Answer"), record.spelled("aliases"))?;
        let known = [&BAMBOOGLE_FIELDS[..], &[record.spelled("aliases"), record.spelled("Answer")]].concat();
        let mut question = plain_question(record, "id", "Question", answers, &known)?;
        for (q, a) in [("Q1", "A1"), ("Q2", "A2")] {
            if let Some(hop) = record.get(q) {
                question.decomposition.push(json!({"question": hop, "answer": record.get(a)}));
            }
        }
        Ok(question)
    },
);
const BAMBOOGLE_FIELDS: [&str; 6] = ["Question", "Answer", "Q1", "A1", "Q2", "A2"];

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
        let question = plain_question(record, "qid", "question", answers, &["answer", "decomposition"])?;
        let decomposition = record.list("decomposition")?.to_vec();
        Ok(Question { answer_kind: AnswerKind::YesNo, decomposition, ..question })
    },
);

/// A question of these fields; those that are not `known` go to `meta`.
fn plain_question(
    record: &Record,
    id: &str,
    text: &str,
    answers: Vec<String>,
    known: &[&str],
) -> Result<Question, Fault> {
    let (id, text) = (record.spelled(id), record.spelled(text));
    let mut question = Question::new(record.id(id)?, record.question(text)?, answers);
    question.meta = record.rest(&[&[id, text], known].concat());
    Ok(question)
}

fn aliased_answers(record: &Record, answer: &str, aliases: &str) -> Result<Vec<String>, Fault> {
    Ok(with_aliases(record.texts(answer)?, record.texts(aliases)?))
}

fn has_aliased_form(first: &First<'_>, name: &str) -> bool {
    first.has_only(&["question", "answer", "aliases"]) && first.named(name)
}
