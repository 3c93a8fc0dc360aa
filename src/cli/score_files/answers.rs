//! Files of plain answers: `{id: text}`, the `answer` of a `HotpotQA` prediction, or records of `id` (or `question`) and
//! `prediction` (or `answer`), one a line.

use super::input::{self, Kind, Source, Text};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    question: Option<Text<'a>>,
    #[serde(borrow, alias = "predicted_answer", alias = "answer")]
    prediction: Text<'a>,
}

const HINT: &str = "predictions are `{id: text}`, or lines of `{\"question\": text, \"prediction\": text}`";
const ROWS: Kind =
    Kind { ids: &["id", "question"], check: |text| serde_json::from_str::<Row<'_>>(text).map(drop), hint: HINT };

/// Predicted answers by the question's id, or by its text.
pub(super) struct Answers<'a> {
    by_key: HashMap<Text<'a>, Text<'a>>,
}

impl<'a> Answers<'a> {
    /// Reads either layout.
    pub(super) fn read(source: &Source, text: &'a str) -> anyhow::Result<Self> {
        let by_key = match object(text) {
            Some((object, section)) => {
                let check = |value: &str| serde_json::from_str::<String>(value).map(drop);
                input::map(source, text, object, section, (check, HINT))?
            }
            None => rows(source, text)?,
        };
        Ok(Self { by_key })
    }

    /// The answer to a question.
    pub(super) fn get(&self, id: &str, question: &str) -> Option<&str> {
        self.by_key.get(id).or_else(|| self.by_key.get(question)).map(Text::as_str)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }
}

/// The object from ids to answers, where the file is one.
fn object(text: &str) -> Option<(&RawValue, &'static str)> {
    let entries: HashMap<Text<'_>, &RawValue> = serde_json::from_str(text).ok()?;
    let has = |names: &[&str]| names.iter().any(|name| entries.contains_key(*name));
    // A file of one line looks like an object too.
    if has(&["prediction", "predicted_answer"]) && has(&["id", "question"]) {
        return None;
    }
    match entries.get("answer") {
        Some(answer) if answer.get().starts_with('{') => Some((answer, "`answer`")),
        _ => Some((serde_json::from_str(text).ok()?, "the predictions")),
    }
}

fn rows<'a>(source: &Source, text: &'a str) -> anyhow::Result<HashMap<Text<'a>, Text<'a>>> {
    let rows: Vec<Row<'_>> = input::records(source, text, ROWS)?;
    let mut by_key = HashMap::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let Some(key) = row.id.or(row.question) else {
            return Err(source.bad_field(input::place(text, index, ""), "id", "missing, and no `question`", HINT));
        };
        by_key.insert(key, row.prediction);
    }
    Ok(by_key)
}
