//! Layouts of files with plain answers: golds as questions, and predictions as texts by id or question.

use super::json_file::{FileError, JsonFile};
use crate::types::Question;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

const PREDICTIONS: &str = "predictions are `{id: text}`, or lines of `{\"question\": text, \"prediction\": text}`";

/// Predicted answers by the question's id, or by its text.
pub(super) struct Answers(HashMap<String, String>);

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Row {
    id: Option<String>,
    question: Option<String>,
    #[serde(alias = "predicted_answer", alias = "answer")]
    prediction: String,
}

impl Answers {
    /// Reads `{id: text}`, the `answer` of a `HotpotQA` prediction, or records of `id` (or `question`) and `prediction`
    /// (or `answer`).
    pub(super) fn read(file: JsonFile<'_>) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        struct Sections {
            answer: HashMap<String, String>,
        }
        let Ok(entries) = serde_json::from_str::<HashMap<String, &RawValue>>(file.text()) else {
            return Self::rows(file);
        };
        let has = |names: &[&str]| names.iter().any(|name| entries.contains_key(*name));
        // A file of one record is an object too.
        if has(&["prediction", "predicted_answer"]) && has(&["id", "question"]) {
            return Self::rows(file);
        }
        if entries.get("answer").is_some_and(|answer| answer.get().starts_with('{')) {
            return Ok(Self(file.whole::<Sections>(1, PREDICTIONS)?.answer));
        }
        file.whole(0, PREDICTIONS).map(Self)
    }

    fn rows(file: JsonFile<'_>) -> Result<Self, FileError> {
        let mut rows = file.records::<Row>(PREDICTIONS)?;
        let mut answers = HashMap::with_capacity(rows.list.len());
        for (index, row) in std::mem::take(&mut rows.list).into_iter().enumerate() {
            let key = row.id.or(row.question);
            let key = key.ok_or_else(|| rows.error(index, "id", "missing, and there is no `question`"))?;
            answers.insert(key, row.prediction);
        }
        Ok(Self(answers))
    }

    pub(super) fn get(&self, question: &Question) -> Option<&str> {
        self.0.get(&question.id).or_else(|| self.0.get(&question.question)).map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Squad {
    data: Vec<Article>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Article {
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Paragraph {
    qas: Vec<SquadQuestion>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SquadQuestion {
    id: String,
    answers: Vec<SquadAnswer>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SquadAnswer {
    text: String,
}

pub(super) const SQUAD: &str =
    "the gold has the layout of SQuAD's file: `data[].paragraphs[].qas[]` with `id` and `answers[].text`";

/// Whether a file has the layout of `SQuAD`, as CMRC's and MLQA's have.
pub(super) fn is_squad(file: JsonFile<'_>) -> bool {
    #[derive(Deserialize)]
    struct Top {
        #[serde(rename = "data")]
        _data: Vec<IgnoredAny>,
    }
    serde_json::from_str::<Top>(file.text()).is_ok()
}

/// The questions of a file with the layout of `SQuAD`.
pub(super) fn squad(file: JsonFile<'_>) -> Result<Vec<Question>, FileError> {
    let squad: Squad = file.whole(usize::MAX, SQUAD)?;
    let questions = squad.data.into_iter().flat_map(|article| article.paragraphs).flat_map(|paragraph| paragraph.qas);
    let texts = |answers: Vec<SquadAnswer>| answers.into_iter().map(|answer| answer.text).collect();
    let golds: Vec<Question> = questions.map(|gold| Question::new(gold.id, "", texts(gold.answers))).collect();
    if golds.is_empty() { Err(file.error("no questions", SQUAD)) } else { Ok(golds) }
}

/// `TriviaQA`'s official file; `Domain` decides what an answer's key is.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Trivia {
    #[serde(default)]
    domain: String,
    data: Vec<TriviaQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaQuestion {
    question_id: String,
    answer: TriviaAnswer,
    #[serde(default)]
    entity_pages: Vec<TriviaPage>,
    #[serde(default)]
    search_results: Vec<TriviaPage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaAnswer {
    normalized_aliases: Vec<String>,
    #[serde(default)]
    human_answers: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaPage {
    filename: String,
}

/// The questions of `TriviaQA`'s official file, one for each key of the predictions; `None` for any other file.
pub(super) fn trivia(file: JsonFile<'_>) -> Option<Vec<Question>> {
    let trivia: Trivia = serde_json::from_str(file.text()).ok()?;
    let mut known = HashSet::new();
    let mut golds = Vec::with_capacity(trivia.data.len());
    for TriviaQuestion { question_id: id, answer, entity_pages, search_results } in trivia.data {
        let keys = if trivia.domain == "Web" {
            entity_pages.iter().chain(&search_results).map(|page| format!("{id}--{}", page.filename)).collect()
        } else {
            vec![id]
        };
        let answers = [answer.normalized_aliases, answer.human_answers].concat();
        let fresh = keys.into_iter().filter(|key| known.insert(key.clone()));
        golds.extend(fresh.map(|key| Question::new(key, "", answers.clone())));
    }
    Some(golds)
}

/// The questions of NQ-open's file. One without id has its text as id.
pub(super) fn nq_open(file: JsonFile<'_>) -> Result<Vec<Question>, FileError> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Record {
        id: Option<String>,
        question: String,
        answer: Vec<String>,
    }
    let records = file.records("the gold is NQ-open's own file: `question` and the list `answer` on each line")?;
    let gold =
        |Record { id, question, answer }| Question::new(id.unwrap_or_else(|| question.clone()), question, answer);
    Ok(records.list.into_iter().map(gold).collect())
}
