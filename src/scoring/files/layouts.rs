//! Layouts of files with plain answers: golds as questions, and predictions as texts by id or question.

use super::{FileError, JsonFile};
use crate::base::{Question, excerpt};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;

const PREDICTIONS: &str = "predictions are `{id: text}`, or lines of `{\"question\": text, \"prediction\": text}`";

/// Predicted answers by the question's id, or by its text.
pub(super) struct Answers(HashMap<String, Answer>);

/// A predicted answer: a text; `true` and `false` as Python writes them; or the `answer` of an object, as `StrategyQA`'s
/// predictions have it.
struct Answer(String);

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given;

        impl<'de> Visitor<'de> for Given {
            type Value = Answer;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Answer, E> {
                Ok(Answer(text.to_owned()))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<Answer, E> {
                self.visit_str(if truth { "True" } else { "False" })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer, A::Error> {
                let mut answer = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key == "answer" {
                        answer = Some(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                answer.ok_or_else(|| A::Error::missing_field("answer"))
            }
        }

        deserializer.deserialize_any(Given)
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Row {
    id: Option<String>,
    question: Option<String>,
    #[serde(alias = "predicted_answer", alias = "answer")]
    prediction: Answer,
}

impl Answers {
    /// Reads `{id: text}`, the `answer` of a `HotpotQA` prediction, or records of `id` (or `question`) and `prediction`
    /// (or `answer`).
    pub(super) fn read(file: JsonFile<'_>) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        struct Sections {
            answer: HashMap<String, Answer>,
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
        self.0.get(&question.id).or_else(|| self.0.get(&question.question)).map(|answer| answer.0.as_str())
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
pub(super) fn squad_golds(file: JsonFile<'_>) -> Result<Vec<Question>, FileError> {
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
    /// Whether only the questions and pages count that people verified.
    #[serde(default)]
    verified_eval: bool,
    data: Vec<TriviaQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaQuestion {
    question_id: String,
    #[serde(default)]
    question_part_of_verified_eval: bool,
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
    #[serde(default)]
    doc_part_of_verified_eval: bool,
}

/// Golds of an official file, one for each key of the predictions, and what a reader should know of them.
pub(super) struct Golds {
    pub(super) list: Vec<Question>,
    pub(super) notes: Vec<String>,
}

impl Golds {
    /// Golds by key as a Python `dict` keeps them: in the order of their first places, each with its last answers.
    fn keyed(golds: impl IntoIterator<Item = (String, Question)>, mut notes: Vec<String>) -> Self {
        let (mut list, mut places): (Vec<Question>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
        let (mut replaced, mut first) = (0_usize, None);
        for (key, gold) in golds {
            let Some(at) = places.get(&key) else {
                places.insert(key, list.len());
                list.push(gold);
                continue;
            };
            replaced += usize::from(list[*at].answers != gold.answers);
            list[*at] = gold;
            first.get_or_insert(key);
        }
        if let Some(key) = first {
            let differ = if replaced == 0 { "all with equal answers" } else { "with other answers" };
            notes.push(format!(
                "the gold file has `{}` more than once, {differ}; each question counts once, by its last answers, as in \
                 the official script",
                excerpt(&key)
            ));
        }
        Self { list, notes }
    }
}

/// The questions of `TriviaQA`'s official file, one for each key of the predictions; `None` for any other file.
///
/// Of a file with `VerifiedEval` the verified questions count, and of those of the Web the verified pages, as
/// `read_triviaqa_data` keeps them.
pub(super) fn trivia_golds(file: JsonFile<'_>) -> Option<Golds> {
    let Trivia { domain, verified_eval, data } = serde_json::from_str(file.text()).ok()?;
    let all = data.len();
    let counts = |verified: bool| !verified_eval || verified;
    let data: Vec<TriviaQuestion> =
        data.into_iter().filter(|question| counts(question.question_part_of_verified_eval)).collect();
    let note = format!(
        "the gold file is of the verified evaluation: {} of its {all} questions are verified and count",
        data.len()
    );
    let keyed = data.into_iter().flat_map(|question| {
        let TriviaQuestion { question_id: id, answer, entity_pages, search_results, .. } = question;
        let keys: Vec<String> = if domain == "Web" {
            let pages = entity_pages.iter().chain(&search_results);
            let pages = pages.filter(|page| counts(page.doc_part_of_verified_eval));
            pages.map(|page| format!("{id}--{}", page.filename)).collect()
        } else {
            vec![id]
        };
        let answers = [answer.normalized_aliases, answer.human_answers].concat();
        keys.into_iter().map(move |key| (key.clone(), Question::new(key, "", answers.clone())))
    });
    Some(Golds::keyed(keyed, verified_eval.then_some(note).into_iter().collect()))
}

/// The questions of NQ-open's file. One without id has its text as id.
pub(super) fn nq_open_golds(file: JsonFile<'_>) -> Result<Vec<Question>, FileError> {
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

/// The same by the question's text, as ORQA's script keys them.
pub(super) fn nq_open_golds_by_text(file: JsonFile<'_>) -> Result<Golds, FileError> {
    let keyed = nq_open_golds(file)?.into_iter().map(|gold| (gold.question.clone(), gold));
    Ok(Golds::keyed(keyed, Vec::new()))
}
