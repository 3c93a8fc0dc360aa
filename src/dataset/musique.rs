//! `MuSiQue`: `paragraphs [{idx, title, paragraph_text, is_supporting}]`, `question_decomposition`, `answer`,
//! `answer_aliases`, `answerable`. The "full" files have two records an id, of which one is not answerable.

use super::Format;
use super::fields::{Fault, First, Record, array, string, with_aliases};
use crate::base::{Paragraph, Question, SupportingFact};
use serde_json::Value;

pub(super) const MUSIQUE: Format = Format::of_dataset("musique", is_musique, musique_question).with_twins();

fn is_musique(first: &First<'_>) -> bool {
    first.has("question") && first.has("paragraphs") && (first.has("question_decomposition") || first.has("answerable"))
}

/// The type is the shape of the hops that the id begins with, such as `2hop` or `3hop1`; twins are one cluster.
fn musique_question(record: &Record) -> Result<Question, Fault> {
    let answers = with_aliases(record.texts("answer")?, record.texts("answer_aliases")?);
    let mut question = Question::new(record.id("id")?, record.question("question")?, answers);
    if let Some(answerable) = record.get("answerable") {
        question.answerable =
            answerable.as_bool().ok_or_else(|| Fault::expected("answerable", "true or false", answerable))?;
    }
    if let Some((shape, _)) = question.id.split_once("__") {
        question.kind = Some(shape.to_owned());
    }
    question.cluster = Some(question.id.clone()).filter(|id| !id.is_empty());
    if let Some(parts) = record.get("question_decomposition") {
        question.decomposition.clone_from(array("question_decomposition", parts)?);
    }
    for paragraph in record.list("paragraphs")? {
        let title = paragraph_member(paragraph, "title")?;
        if is_supporting(paragraph)? {
            question.supporting_facts.push(SupportingFact(title.clone(), 0));
        }
        question.context.push(Paragraph { title, sentences: vec![paragraph_member(paragraph, "paragraph_text")?] });
    }
    question.meta = record.rest(&[
        "id",
        "question",
        "answer",
        "answer_aliases",
        "answerable",
        "question_decomposition",
        "paragraphs",
    ]);
    Ok(question)
}

fn paragraph_member(paragraph: &Value, name: &str) -> Result<String, Fault> {
    let path = format!("paragraphs.{name}");
    let value = paragraph.get(name).ok_or_else(|| Fault::missing(&path))?;
    string(&path, value).map(str::to_owned)
}

fn is_supporting(paragraph: &Value) -> Result<bool, Fault> {
    match paragraph.get("is_supporting") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(supports)) => Ok(*supports),
        Some(other) => Err(Fault::expected("paragraphs.is_supporting", "true or false", other)),
    }
}
