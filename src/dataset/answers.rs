//! Answers that another program gave, by question, with what it says of how they came about.

use super::error::Problem;
use super::fields::{Fault, Record};
use super::jsonl::answer;
use super::scores::is_nan;
use super::table::Records;
use super::{DatasetError, bytes, records};
use crate::base::{MAX_USD, Step, Tool, USD, Usage, unique};
use serde_json::{Map, Value};

/// Fields that hold the answer; a file has one of them.
const ANSWERS: [&str; 3] = ["answer", "prediction", "predicted_answer"];

/// The largest count of tokens, milliseconds or steps that is believed: sums of them stay far from the largest number there is.
const MAX_COUNT: f64 = 68_719_476_736.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerTable {
    pub rows: Vec<AnswerRow>,
    /// What a person should know of how the file was read.
    pub notes: Vec<String>,
}

/// One answer. What the file does not say of it is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerRow {
    /// Line on which it begins, from 1.
    pub line: usize,
    /// The question's id, or an empty text.
    pub id: String,
    /// The question's text, or an empty one.
    pub question: String,
    /// Which repeat of the question, from 0.
    pub repeat: u32,
    /// Absent where the cell is empty.
    pub answer: Option<String>,
    pub steps: Option<AnswerSteps>,
    pub usage: Option<Usage>,
    pub cost_usd: Option<f64>,
    pub wall_ms: Option<u64>,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    /// Why there is no measurement.
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerSteps {
    Count(u64),
    Listed(Vec<Step>),
}

/// Reads answers from a table (`.csv`, `.tsv`) or JSON Lines; the fields are those of [`AnswerRow`].
///
/// Each record needs `id` or `question`, and the file an answer. A value that is not what its field should hold is an error that
/// names file, line, field and value.
pub fn read_answers(file: &str, raw: &[u8]) -> Result<AnswerTable, DatasetError> {
    let text = bytes::text_of(file, raw)?;
    let records = split(file, &text)?;
    let field = answer_field(file, &records.list)?;
    let row = |record: &Record| row(record, field).map_err(|fault| fault.at(file, record.place));
    let rows: Vec<AnswerRow> = records.list.iter().map(row).collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Err(DatasetError::of_file(file, Problem::Empty));
    }
    Ok(AnswerTable { rows, notes: records.notes })
}

/// The records of a file whose table has a column `id`, or else `question`.
fn split(file: &str, text: &str) -> Result<Records, DatasetError> {
    let keyed = |key: &str| Records::with_key(key, |options| records::split(file, text, options));
    keyed("id").or_else(|error| match &error.problem {
        Problem::NoColumn(..) | Problem::NotJson(_) => keyed("question").map_err(|_| error),
        _ => Err(error),
    })
}

fn answer_field(file: &str, records: &[Record]) -> Result<&'static str, DatasetError> {
    let has = |field: &&str| records.iter().any(|record| record.fields.contains_key(*field));
    ANSWERS.into_iter().find(has).ok_or_else(|| {
        let found = unique(records.iter().flat_map(|record| record.fields.keys()));
        let found = found.into_iter().cloned().collect();
        DatasetError::at_line(file, 1, Problem::NoColumn(ANSWERS[0].to_owned(), found))
    })
}

fn row(record: &Record, answers: &str) -> Result<AnswerRow, Fault> {
    let (id, question) = (record.id("id")?, record.optional_string("question")?.unwrap_or_default());
    if id.trim().is_empty() && question.trim().is_empty() {
        return Err(Fault { field: "id".to_owned(), problem: "missing, and there is no `question`".to_owned() });
    }
    let given = record.get(answers).map(|value| answer(answers, value)).transpose()?;
    let confidence = number(record, "confidence", "a number from 0 to 1", 1.0)?;
    let large = |_| Fault { field: "repeat".to_owned(), problem: "too large".to_owned() };
    let cost = if record.get("cost").is_some() { "cost" } else { "cost_usd" };
    Ok(AnswerRow {
        line: record.place.line,
        id,
        question,
        repeat: count(record, "repeat")?.map(u32::try_from).transpose().map_err(large)?.unwrap_or(0),
        answer: given.filter(|answer| !answer.trim().is_empty()),
        steps: record.get("steps").map(steps).transpose()?.flatten(),
        usage: usage(record)?,
        cost_usd: number(record, cost, USD, MAX_USD)?,
        wall_ms: count(record, "wall_ms")?,
        confidence,
        error: record.optional_string("error")?.filter(|error| !error.trim().is_empty()),
    })
}

fn expected(record: &Record, field: &str, what: &str) -> Fault {
    Fault::expected(field, what, record.get(field).unwrap_or(&Value::Null))
}

/// A number from 0 to `most`; absent if the cell is empty or `nan`.
fn number(record: &Record, field: &str, what: &str, most: f64) -> Result<Option<f64>, Fault> {
    let number = match record.get(field) {
        None => return Ok(None),
        Some(Value::String(cell)) if cell.trim().is_empty() || is_nan(cell) => return Ok(None),
        Some(Value::String(cell)) => cell.trim().parse().ok(),
        Some(value) => value.as_f64(),
    };
    let number = number.filter(|number: &f64| (0.0..=most).contains(number));
    number.map(Some).ok_or_else(|| expected(record, field, what))
}

/// The same for a whole number; spreadsheets and pandas write `12.0` for 12.
fn count(record: &Record, field: &str) -> Result<Option<u64>, Fault> {
    const WHAT: &str = "a whole number from 0";
    let Some(number) = number(record, field, WHAT, MAX_COUNT)? else { return Ok(None) };
    whole(number).map(Some).ok_or_else(|| expected(record, field, WHAT))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number that is in the bounds")]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=MAX_COUNT).contains(&number)).then_some(number as u64)
}

/// Tokens of prompts and completions, or only their sum.
fn usage(record: &Record) -> Result<Option<Usage>, Fault> {
    let [prompt, completion, all] = ["prompt_tokens", "completion_tokens", "tokens"].map(|field| count(record, field));
    Ok(match (prompt?, completion?, all?) {
        (Some(prompt), Some(completion), _) => Some(Usage::new(prompt, completion)),
        (None, None, Some(all)) => Some(Usage { unsplit_tokens: all, ..Usage::default() }),
        (None, None, None) => None,
        _ => {
            let problem = "`prompt_tokens` and `completion_tokens` need each other; `tokens` is their sum".to_owned();
            return Err(Fault { field: "prompt_tokens".to_owned(), problem });
        }
    })
}

/// A list of steps, also as JSON in a cell, or their number.
fn steps(value: &Value) -> Result<Option<AnswerSteps>, Fault> {
    let fault = || {
        Fault::expected("steps", "a number of steps, or a list of objects with `tool`, `input`, `observation`", value)
    };
    match value {
        Value::Array(list) => {
            let listed = list.iter().enumerate().map(|(at, step)| listed(at, step));
            Ok(Some(AnswerSteps::Listed(listed.collect::<Result<_, _>>()?)))
        }
        Value::String(cell) if cell.trim().is_empty() || is_nan(cell) => Ok(None),
        Value::String(cell) => match serde_json::from_str(cell.trim()) {
            Ok(inside @ (Value::Array(_) | Value::Number(_))) => steps(&inside),
            _ => Err(fault()),
        },
        value => Ok(Some(AnswerSteps::Count(value.as_f64().and_then(whole).ok_or_else(fault)?))),
    }
}

fn listed(at: usize, value: &Value) -> Result<Step, Fault> {
    let field = |name: &str| format!("steps[{at}]{name}");
    let step = value.as_object().ok_or_else(|| Fault::expected(&field(""), "an object", value))?;
    let text = |name: &str| match step.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(Fault::expected(&field(&format!(".{name}")), "a text", other)),
    };
    let tool = text("tool")?;
    let input = step.get("input").or_else(|| step.get("arguments")).filter(|input| !input.is_null());
    let input = input.map(argument);
    let known = tool.as_deref().map(Tool::of_function);
    let action = tool.map(|tool| format!("{tool}[{}]", input.as_deref().unwrap_or_default()));
    Ok(Step {
        n: at + 1,
        thought: text("thought")?,
        tool: known,
        input,
        action_text: text("action_text")?.or(action),
        observation: text("observation")?,
        ..Step::default()
    })
}

/// The argument of a call: a text, the only text of an object, or the object as it is.
pub fn argument(value: &Value) -> String {
    let only = |fields: &Map<String, Value>| match fields.values().next() {
        Some(Value::String(text)) if fields.len() == 1 => Some(text.clone()),
        _ => None,
    };
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => only(fields).unwrap_or_else(|| value.to_string()),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerRow, AnswerSteps, read_answers};
    use crate::base::{Tool, Usage};

    fn read(file: &str, text: &str) -> Vec<AnswerRow> {
        read_answers(file, text.as_bytes()).expect(text).rows
    }

    #[test]
    fn a_table_has_ids_or_questions_and_what_is_known_of_the_answers() {
        let text =
            "\u{feff}ID,Answer,steps,tokens,cost,confidence,repeat\r\nq1,\"a, b\",3,120,0.01,0.5,\r\n7,,,,nan,,2.0\r\n";
        let rows = read("a.csv", text);
        assert_eq!((rows[0].id.as_str(), rows[0].answer.as_deref(), rows[0].line), ("q1", Some("a, b"), 2));
        assert_eq!((rows[0].steps.clone(), rows[0].confidence), (Some(AnswerSteps::Count(3)), Some(0.5)));
        let usage = rows[0].usage.expect("tokens");
        assert_eq!((usage.total(), usage.split(), rows[0].cost_usd), (120, None, Some(0.01)));
        let bare = AnswerRow { line: 3, id: "7".to_owned(), repeat: 2, ..AnswerRow::default() };
        assert_eq!(rows[1], bare);
        let rows = read("a.csv", "question;prediction\nWho?;Me\n");
        assert_eq!(
            (rows[0].id.as_str(), rows[0].question.as_str(), rows[0].answer.as_deref()),
            ("", "Who?", Some("Me"))
        );
        // What an export puts before a formula is no part of the answer; an id may be written so.
        let rows = read("a.csv", "id,question,answer\n'-a1,'=Q?,'=1+1\n");
        assert_eq!(
            (rows[0].id.as_str(), rows[0].question.as_str(), rows[0].answer.as_deref()),
            ("'-a1", "=Q?", Some("=1+1"))
        );
        let rows = read("a.tsv", "id\tanswer\tsteps\nq\tx\t[{\"tool\": \"search\"}]\n");
        assert!(matches!(&rows[0].steps, Some(AnswerSteps::Listed(steps)) if steps[0].tool == Some(Tool::Search)));
    }

    #[test]
    fn a_line_has_steps_with_tools_of_any_name() {
        let steps = r#"[{"tool":"web_search","input":{"query":"Rome"},"observation":"o"},{"tool":"calc","arguments":{"a":1,"b":2}},{"thought":"t"}]"#;
        let line = format!(
            r#"{{"id":7,"answer":true,"steps":{steps},"prompt_tokens":5,"completion_tokens":2,"wall_ms":"9"}}"#
        );
        let row = read("a.jsonl", &line).remove(0);
        assert_eq!((row.id.as_str(), row.answer.as_deref(), row.usage), ("7", Some("yes"), Some(Usage::new(5, 2))));
        let Some(AnswerSteps::Listed(steps)) = row.steps else { panic!("no steps") };
        let parts: Vec<_> =
            steps.iter().map(|step| (step.n, step.tool, step.input.as_deref(), step.action_text.as_deref())).collect();
        assert_eq!(
            parts,
            [
                (1, Some(Tool::Other), Some("Rome"), Some("web_search[Rome]")),
                (2, Some(Tool::Other), Some(r#"{"a":1,"b":2}"#), Some(r#"calc[{"a":1,"b":2}]"#)),
                (3, None, None, None),
            ]
        );
    }

    #[test]
    fn what_a_field_should_not_hold_is_named_with_file_line_field_and_value() {
        for (text, parts) in [
            ("id,answer\n,x\n", &["`a.csv`", "line 2", "`id`", "no `question`"][..]),
            ("id,answer,confidence\na,x,0.5\nb,x,high\n", &["line 3", "`confidence`", "`\"high\"`", "0 to 1"]),
            ("id,answer,confidence\na,x,95\n", &["line 2", "`confidence`", "95"]),
            ("id,answer,cost\na,x,-1\n", &["`cost`", "-1", "from 0 to 1e12"]),
            ("id,answer,tokens\na,x,1.5\n", &["`tokens`", "1.5", "whole number"]),
            ("id,answer,prompt_tokens\na,x,1\n", &["`prompt_tokens`", "need each other"]),
            ("id,answer,steps\na,x,three\n", &["`steps`", "three", "a list"]),
            ("id,answer,repeat\na,x,99999999999\n", &["`repeat`"]),
            ("id,text\na,x\n", &["no column `answer`", "`id`, `text`"]),
            ("name,answer\na,x\n", &["no column `id`"]),
            ("id,answer\n", &["no column `answer`"]),
            ("{\"id\": \"a\", \"answer\": [1]}\n", &["`answer`", "[1]"]),
            ("{\"id\": \"a\", \"answer\": \"x\", \"steps\": [7]}\n", &["`steps[0]`", "an object", "7"]),
            ("{\"id\": \"a\", \"answer\": \"x\"}\n{\"id\"\n", &["line 2"]),
            ("", &["a.csv"]),
        ] {
            let error = read_answers("a.csv", text.as_bytes()).expect_err(text).to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text:?}: {error}");
        }
    }
}
