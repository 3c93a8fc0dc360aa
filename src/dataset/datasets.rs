//! The formats of published datasets.

use super::Format;
use super::fields::{Fault, First, Layout, Record, array, integer, string, strings, with_aliases};
use crate::base::{AnswerKind, Evidence, Paragraph, Question, SupportingFact};
use serde_json::{Value, json};

// `HotpotQA` in its layouts: the official array (`_id`, lists of pairs), the hub's (`id`, columns of titles and
// sentences), and the paper repository's simplified files (`question`, `answer`, `type`, no id; the test file has
// `question` only).

pub(super) const HOTPOTQA: Format = Format::of_dataset("hotpotqa", is_hotpotqa, |record, _| hotpotqa_question(record));

fn is_hotpotqa(first: &First<'_>) -> bool {
    // Our own form names its golds `answers`.
    if !first.has("question") || first.has("answers") || first.has("answer_kind") {
        return false;
    }
    let full = first.has("supporting_facts") && first.has("context");
    let dev =
        first.has_only(&["question", "answer", "type"]) || first.has_only(&["question", "answer", "type", "level"]);
    let simplified = first.layout == Layout::Array && ((dev && first.text("answer")) || first.has_only(&["question"]));
    full || first.has("_id") || simplified
}

fn hotpotqa_question(record: &Record) -> Result<Question, Fault> {
    let id = if record.get("_id").is_some() { record.id("_id")? } else { record.id("id")? };
    // A test file may write the hidden answer as an empty text.
    let answer = record.optional_string("answer")?.filter(|answer| !answer.trim().is_empty());
    let mut question = Question::new(id, record.question("question")?, answer.into_iter().collect());
    if matches!(question.gold(), Some("yes" | "no")) {
        question.answer_kind = AnswerKind::YesNo;
    }
    question.kind = record.optional_string("type")?;
    question.level = record.optional_string("level")?;
    question.supporting_facts = record.get("supporting_facts").map_or(Ok(Vec::new()), supporting_facts)?;
    question.context = record.get("context").map_or(Ok(Vec::new()), context)?;
    question.meta = record.rest(&["_id", "id", "question", "answer", "type", "level", "supporting_facts", "context"]);
    Ok(question)
}

fn supporting_facts(value: &Value) -> Result<Vec<SupportingFact>, Fault> {
    const FIELD: &str = "supporting_facts";
    pairs(FIELD, value, ["title", "sent_id"], "a title and a sentence number", |title, n| {
        Ok(SupportingFact(string(FIELD, title)?.to_owned(), integer(FIELD, n)?))
    })
}

fn context(value: &Value) -> Result<Vec<Paragraph>, Fault> {
    const FIELD: &str = "context";
    pairs(FIELD, value, ["title", "sentences"], "a title and its sentences", |title, sentences| {
        Ok(Paragraph { title: string(FIELD, title)?.to_owned(), sentences: strings(FIELD, sentences)? })
    })
}

/// A list of pairs, or an object of two columns; `expected` says what a pair is.
fn pairs<T>(
    field: &str,
    value: &Value,
    columns: [&str; 2],
    expected: &str,
    read: impl Fn(&Value, &Value) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    if let Some(object) = value.as_object() {
        let (left, right) = columns_of(field, object, columns)?;
        return left.iter().zip(right).map(|(left, right)| read(left, right)).collect();
    }
    let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
        Some([left, right]) => read(left, right),
        _ => Err(Fault::expected(field, expected, pair)),
    };
    array(field, value)?.iter().map(pair).collect()
}

/// Two columns of one length.
fn columns_of<'a>(
    field: &str,
    columns: &'a serde_json::Map<String, Value>,
    [left, right]: [&str; 2],
) -> Result<(&'a Vec<Value>, &'a Vec<Value>), Fault> {
    let column = |name: &str| {
        let path = format!("{field}.{name}");
        columns.get(name).ok_or_else(|| Fault::missing(&path)).and_then(|value| array(&path, value))
    };
    let (left, right) = (column(left)?, column(right)?);
    if left.len() != right.len() {
        let problem = format!("one column has {} entries, the other {}", left.len(), right.len());
        return Err(Fault { field: field.to_owned(), problem });
    }
    Ok((left, right))
}

// `2WikiMultiHopQA`: the layout of `HotpotQA` with `evidences [[subject, relation, object]]`; `entity_ids`,
// `evidences_id` and `answer_id` stay in `meta`, where the file of aliases is looked up by the last.

pub(super) const WIKI2: Format = Format::of_dataset(
    "2wiki",
    |first| first.has("question") && ["evidences", "entity_ids", "answer_id"].iter().any(|key| first.has(key)),
    |record, _| wiki2_question(record),
);

fn wiki2_question(record: &Record) -> Result<Question, Fault> {
    let mut question = hotpotqa_question(record)?;
    question.evidence_triples = record.list("evidences")?.iter().map(evidence_triple).collect::<Result<_, _>>()?;
    question.meta.shift_remove("evidences");
    Ok(question)
}

fn evidence_triple(value: &Value) -> Result<[String; 3], Fault> {
    match value.as_array().map(Vec::as_slice) {
        Some([subject, relation, object]) => {
            let text = |part| string("evidences", part).map(str::to_owned);
            Ok([text(subject)?, text(relation)?, text(object)?])
        }
        _ => Err(Fault::expected("evidences", "a subject, a relation and an object", value)),
    }
}

// `MuSiQue`: `paragraphs [{idx, title, paragraph_text, is_supporting}]`, `question_decomposition`, `answer`,
// `answer_aliases`, `answerable`. The "full" files have two records an id, of which one is not answerable.

pub(super) const MUSIQUE: Format =
    Format { twins: true, ..Format::of_dataset("musique", is_musique, |record, _| musique_question(record)) };

fn is_musique(first: &First<'_>) -> bool {
    first.has("question") && first.has("paragraphs") && (first.has("question_decomposition") || first.has("answerable"))
}

/// The type is the shape of the hops that the id begins with, such as `2hop` or `3hop1`; twins are one cluster.
fn musique_question(record: &Record) -> Result<Question, Fault> {
    let answers = with_aliases(record.texts("answer")?, record.texts("answer_aliases")?);
    let mut question = Question::new(record.id("id")?, record.question("question")?, answers);
    question.answerable = record.get("answerable").map_or(Ok(true), |value| truth("answerable", value))?;
    if let Some((shape, _)) = question.id.split_once("__") {
        question.kind = Some(shape.to_owned());
    }
    question.cluster = Some(question.id.clone()).filter(|id| !id.is_empty());
    question.decomposition = record.list("question_decomposition")?.to_vec();
    for paragraph in record.list("paragraphs")? {
        let title = paragraph_member(paragraph, "title")?;
        let supports = non_null(paragraph, "is_supporting");
        if supports.map_or(Ok(false), |value| truth("paragraphs.is_supporting", value))? {
            question.supporting_facts.push(SupportingFact(title.clone(), 0));
        }
        question.context.push(Paragraph { title, sentences: vec![paragraph_member(paragraph, "paragraph_text")?] });
    }
    let known = ["id", "question", "answer", "answer_aliases", "answerable", "question_decomposition", "paragraphs"];
    question.meta = record.rest(&known);
    Ok(question)
}

fn paragraph_member(paragraph: &Value, name: &str) -> Result<String, Fault> {
    let path = format!("paragraphs.{name}");
    let value = paragraph.get(name).ok_or_else(|| Fault::missing(&path))?;
    string(&path, value).map(str::to_owned)
}

fn truth(field: &str, value: &Value) -> Result<bool, Fault> {
    value.as_bool().ok_or_else(|| Fault::expected(field, "true or false", value))
}

// FEVER: JSON Lines with `id`, `verifiable`, `label`, `claim` and
// `evidence [[[annotation, evidence, page | null, line | null]]]`; the outer lists are alternatives, all of an
// inner list is needed. Files without `label` hide it.

pub(super) const FEVER: Format = Format::of_dataset(
    "fever",
    |first| first.has("claim") && !first.has("question"),
    |record, _| fever_question(record),
);

fn fever_question(record: &Record) -> Result<Question, Fault> {
    let label = record.optional_string("label")?;
    let mut question = Question::new(record.id("id")?, record.question("claim")?, label.into_iter().collect());
    question.answer_kind = AnswerKind::Label;
    let set = |set| array("evidence", set)?.iter().map(evidence_piece).collect();
    question.evidence_sets = record.list("evidence")?.iter().map(set).collect::<Result<_, _>>()?;
    question.meta = record.rest(&["id", "claim", "label", "evidence"]);
    Ok(question)
}

fn evidence_piece(value: &Value) -> Result<Evidence, Fault> {
    let parts = array("evidence", value)?;
    let [_, _, page, line] = &parts[..] else {
        return Err(Fault::expected("evidence", "four parts: annotation, evidence, page, line", value));
    };
    let page = (!page.is_null()).then(|| string("evidence", page).map(str::to_owned)).transpose()?;
    let line = (!line.is_null()).then(|| integer("evidence", line)).transpose()?;
    Ok(Evidence(page, line))
}

// KILT: JSON Lines with `id`, `input` and `output [{answer, provenance [{wikipedia_id, title, …}]}]`. Each output is an alternative:
// its answer is gold, and its pages are enough evidence. Files without answers hide them.

/// The dataset is called as its file is: KILT is eleven of them.
pub(super) const KILT: Format = Format {
    looks_like: |first| {
        first.text("input") && first.has("id") && !first.has("question") && (first.list("output") || first.has("meta"))
    },
    ..Format::general("kilt", Layout::Lines, |record, _| kilt_question(record))
};

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

// `TriviaQA`: `Data[].{QuestionId, Question, Answer {Value, Aliases, NormalizedAliases}}`, the hub's form of it in small
// letters, and flat records of `qid, question, gold_answer, aliases`. All spellings of an answer are gold.

pub(super) const TRIVIAQA: Format = Format::of_dataset("triviaqa", is_triviaqa, |record, _| triviaqa_question(record));

fn is_triviaqa(first: &First<'_>) -> bool {
    let nested = first.has("Question") && first.object("Answer");
    let valued = first.record.get("answer").is_some_and(|answer| answer.get("value").is_some());
    let hub = first.has("question") && (valued || first.has("question_id"));
    let flat = first.has("question") && first.has("gold_answer") && first.has("aliases");
    nested || hub || flat
}

fn triviaqa_question(record: &Record) -> Result<Question, Fault> {
    let id = record.first_of(&["QuestionId", "question_id", "qid", "id"]);
    let text = record.first_of(&["Question", "question"]);
    let answer = record.first_of(&["Answer", "answer", "gold_answer"]);
    let answers = if record.get(answer).is_some() { triviaqa_answers(record, answer)? } else { Vec::new() };
    let mut question = Question::new(record.id(id)?, record.question(text)?, answers);
    question.meta = record.rest(&[id, text, "Answer", "answer", "gold_answer", "aliases", "dataset"]);
    Ok(question)
}

fn triviaqa_answers(record: &Record, name: &str) -> Result<Vec<String>, Fault> {
    let Some(Value::Object(answer)) = record.get(name) else {
        return Ok(with_aliases(record.texts(name)?, record.texts("aliases")?));
    };
    let mut answers = Vec::new();
    for part in ["Value", "value"] {
        if let Some(value) = answer.get(part).filter(|value| !value.is_null()) {
            answers.push(string(&format!("{name}.{part}"), value)?.to_owned());
        }
    }
    for part in ["Aliases", "aliases", "HumanAnswers", "NormalizedAliases", "normalized_aliases"] {
        if let Some(list) = answer.get(part).filter(|value| !value.is_null()) {
            answers = with_aliases(answers, strings(&format!("{name}.{part}"), list)?);
        }
    }
    if answers.is_empty() {
        return Err(Fault::expected(name, "an object with `Value` or `Aliases`", &Value::Object(answer.clone())));
    }
    Ok(answers)
}

// Datasets whose records are an id, a question and its answers under names of their own.

/// `WebQuestions`: `qId, qText, answers []`, all of them gold.
pub(super) const WEBQUESTIONS: Format = Format::of_dataset(
    "webquestions",
    |first| first.has("qText"),
    |record, _| plain_question(record, "qId", "qText", record.texts("answers")?, &["answers"]),
);

/// NQ-open: JSON Lines of `question` and `answer [text]`, all of them gold. Only the file's name distinguishes it from our
/// own form.
pub(super) const NQ_OPEN: Format = Format::of_dataset(
    "nq-open",
    |first| first.has_only(&["question", "answer"]) && first.named("nq") && first.list("answer"),
    |record, _| plain_question(record, "id", "question", record.texts("answer")?, &["answer"]),
);

/// `SimpleQA`: `metadata, problem, answer`, in its verified part `original_index, problem, answer, …`, or records of
/// `question, answer, aliases`, which only the file's name distinguishes from other datasets.
pub(super) const SIMPLEQA: Format = Format::of_dataset(
    "simpleqa",
    |first| {
        let marked = ["metadata", "original_index"].iter().any(|field| first.has(field)) || first.named("simpleqa");
        let has_question = first.record.fields.keys().any(|name| name.eq_ignore_ascii_case("question"));
        let own = first.has("problem") && first.has("answer") && !has_question;
        (own && marked) || has_aliased_form(first, "simpleqa")
    },
    |record, _| {
        let text = record.first_of(&[record.spelled("question"), record.spelled("problem")]);
        plain_question(record, "id", text, aliased_answers(record, "answer", "aliases")?, &["answer", "aliases"])
    },
);

/// `PopQA`: a table with `question` and `possible_answers` (a JSON list in a cell), or `question, answer, aliases`, which
/// only the file's name distinguishes from other datasets. The type is the relation asked for.
pub(super) const POPQA: Format = Format::of_dataset(
    "popqa",
    |first| (first.has("question") && first.has("possible_answers")) || has_aliased_form(first, "popqa"),
    |record, _| {
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
    |record, _| {
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
    |record, _| {
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
    |record, _| {
        let answer = record.get("answer").map(|value| truth("answer", value)).transpose()?;
        let answers = answer.map(|truth| if truth { "yes" } else { "no" }.to_owned()).into_iter().collect();
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
