//! `TriviaQA`: `Data[].{QuestionId, Question, Answer {Value, Aliases, NormalizedAliases}}`, the hub's form of it in small
//! letters, and flat records of `qid, question, gold_answer, aliases`. All spellings of an answer are gold.

use super::Format;
use super::fields::{Fault, First, Record, strings, with_aliases};
use crate::base::Question;
use serde_json::Value;

pub(super) const TRIVIAQA: Format = Format::of_dataset("triviaqa", is_triviaqa, triviaqa_question);

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
            answers.push(super::fields::string(&format!("{name}.{part}"), value)?.to_owned());
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
