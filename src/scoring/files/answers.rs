//! Metrics of plain answers: one text per question against its golds.

use super::{FileError, Files, JsonFile, Report, named};
use crate::base::{AnswerKind, Question, excerpt};
use crate::scoring::overlap::{NamedNumber, ratio_of_sum};
use crate::scoring::{self, AnswerScore, characters, fid_em, orqa_em, paper_reward};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The numbers that a metric shows of an answer, under its own names.
type Columns = &'static [NamedNumber];

const SQUAD11: Columns = &[("exact_match", |score| score.em), ("f1", |score| score.f1)];
const SQUAD20: Columns = &[("exact", |score| score.em), ("f1", |score| score.f1)];
const ROUGE: Columns = &[
    ("rougel", |score| score.f1),
    ("precision", |score| score.precision),
    ("recall", |score| score.recall),
    ("em", |score| score.em),
];
const ALIASES: Columns = &AnswerScore::NUMBERS;
const PAPER: Columns = &[("reward", |score| score.em), ("em", |score| score.em), ("f1", |score| score.f1)];
const ACCURACY: Columns = &[("accuracy", |score| score.em)];
const EXACT: Columns = &[("exact_match", |score| score.em)];

#[derive(Default)]
struct Sum {
    score: AnswerScore,
    right: usize,
    n: usize,
}

impl Sum {
    fn add(&mut self, score: AnswerScore) {
        self.score.add(score);
        self.right += usize::from(score.em > 0.0);
        self.n += 1;
    }

    /// `scale * sum / n`, computed in the order in which the scripts compute it.
    fn means(&self, columns: Columns, scale: f64) -> Map<String, Value> {
        named(columns.iter().map(|(name, of)| (*name, ratio_of_sum(scale * of(self.score), self.n))))
    }
}

/// Scores every gold, one without a prediction as 0, and reports the means times `scale`.
fn all(
    metric: &'static str,
    files: &Files<'_>,
    golds: &[Question],
    (columns, scale): (Columns, f64),
    score: impl Fn(&str, &Question) -> AnswerScore,
) -> Result<(Report, Sum, Answers), FileError> {
    let predictions = Answers::read(files.predictions)?;
    let (mut sum, mut missing, mut report) = (Sum::default(), 0_usize, Report::new(metric, files));
    for gold in golds {
        let prediction = predictions.get(gold);
        missing += usize::from(prediction.is_none());
        let score = prediction.map(|prediction| score(prediction, gold)).unwrap_or_default();
        sum.add(score);
        report.add(gold.id.as_str(), columns.iter().map(|(name, of)| (*name, of(score))));
    }
    report.aggregate = sum.means(columns, scale);
    report.missing = named([("prediction", missing)]);
    Ok((report, sum, predictions))
}

/// The metrics that score each answer by itself, and report means over all questions.
pub(super) fn plain(metric: &'static str, files: &Files<'_>) -> Result<Report, FileError> {
    type Scoring = (Columns, f64, fn(&str, &Question) -> AnswerScore);
    let own = |read: fn(JsonFile<'_>) -> Result<Vec<Question>, FileError>| {
        files.own_golds()?.map_or_else(|| read(files.gold), Ok)
    };
    let (golds, (columns, scale, score)): (_, Scoring) = match metric {
        // As `evaluate-v1.1.py` does.
        "squad11" => (own(squad_golds)?, (SQUAD11, 100.0, |text, gold| scoring::squad11(text, &gold.answers))),
        // As `mlqa_evaluation_v1.py` gives exact match and F1 over characters.
        "cjk" if is_squad(files.gold) => {
            (squad_golds(files.gold)?, (SQUAD11, 100.0, |text, gold| characters(text, &gold.answers)))
        }
        "cjk" => (any_dataset(files)?, (SQUAD11, 100.0, |text, gold| characters(text, &gold.answers))),
        // `FiD`'s exact match.
        "fid" => (own(nq_open_golds)?, (EXACT, 1.0, |text, gold| AnswerScore::right(fid_em(text, &gold.answers)))),
        // Answers are booleans.
        "strategyqa" => (
            any_dataset(files)?,
            (ACCURACY, 1.0, |text, gold| {
                AnswerScore::right(scoring::strategy_qa(text, gold.gold().unwrap_or_default()))
            }),
        ),
        // Long answers: ROUGE-L's F as KILT's script computes it, the best of all golds, and exact match.
        "rougel" => (any_dataset(files)?, (ROUGE, 1.0, |text, gold| scoring::rouge_l_max(text, &gold.answers))),
        // `HotpotQA`'s figures against every gold: the metric of runs over datasets that list aliases.
        _ => (any_dataset(files)?, (ALIASES, 1.0, |text, gold| scoring::hotpot_max(text, &gold.answers))),
    };
    Ok(all(metric, files, &golds, (columns, scale), score)?.0)
}

/// Scores as `evaluate-v2.0.py` does: percentages over the questions with a prediction, then over those of them that have
/// an answer and those that have none.
pub(super) fn squad20(files: &Files<'_>) -> Result<Report, FileError> {
    let mut golds = files.own_questions()?.map_or_else(|| squad_golds(files.gold), Ok)?;
    golds.iter_mut().filter(|gold| !gold.answerable).for_each(|gold| gold.answers.clear());
    let predictions = Answers::read(files.predictions)?;
    let mut sums = [("", Sum::default()), ("HasAns_", Sum::default()), ("NoAns_", Sum::default())];
    let mut report = Report::new("squad20", files);
    for gold in &golds {
        let Some(prediction) = predictions.get(gold) else { continue };
        let score = scoring::squad20(prediction, &gold.answers);
        sums[0].1.add(score);
        sums[if gold.answers.is_empty() { 2 } else { 1 }].1.add(score);
        report.add(gold.id.as_str(), SQUAD20.iter().map(|(name, of)| (*name, of(score))));
    }
    if report.n == 0 {
        let what = format!("no prediction for a question of `{}`", files.gold.name);
        return Err(files.predictions.error(what, SQUAD));
    }
    for (prefix, sum) in sums.iter().filter(|(_, sum)| sum.n > 0) {
        let means = sum.means(SQUAD20, 100.0).into_iter();
        let total = std::iter::once(("total".to_owned(), sum.n.into()));
        report.aggregate.extend(means.chain(total).map(|(name, value)| (format!("{prefix}{name}"), value)));
    }
    report.missing = named([("prediction", golds.len() - report.n)]);
    Ok(report)
}

/// Scores as `evaluation/triviaqa_evaluation.py` does: percentages over all questions.
pub(super) fn trivia(files: &Files<'_>) -> Result<Report, FileError> {
    let Golds { list: golds, notes } = if let Some(golds) = trivia_golds(files.gold) {
        golds
    } else {
        // Predictions name questions by id only.
        let by_id = |gold: Question| Question::new(gold.id, "", gold.answers);
        Golds { list: (files.questions)()?.into_iter().map(by_id).collect(), notes: Vec::new() }
    };
    if golds.is_empty() {
        let hint = "name a file with questions; of one with `VerifiedEval: true`, those with `QuestionPartOfVerifiedEval` count";
        return Err(files.gold.error("no question counts", hint));
    }
    let score = |prediction: &str, gold: &Question| scoring::trivia(prediction, &gold.answers);
    let (mut report, sum, predictions) = all("trivia", files, &golds, (SQUAD11, 100.0), score)?;
    let common = golds.iter().filter(|gold| predictions.get(gold).is_some()).count();
    let counts =
        [("common", common), ("denominator", sum.n), ("predicted_len", predictions.len()), ("gold_len", sum.n)];
    report.aggregate.extend(named(counts));
    Ok(Report { notes, ..report })
}

/// Scores as ORQA's evaluation of predictions does, under the names that it prints.
pub(super) fn orqa(files: &Files<'_>) -> Result<Report, FileError> {
    let Golds { list: golds, notes } = match files.own_golds()? {
        Some(list) => Golds { list, notes: Vec::new() },
        // ORQA's script keys them by their texts.
        None => {
            Golds::keyed(nq_open_golds(files.gold)?.into_iter().map(|gold| (gold.question.clone(), gold)), Vec::new())
        }
    };
    let score = |prediction: &str, gold: &Question| AnswerScore::right(orqa_em(prediction, &gold.answers));
    let (mut report, sum, _) = all("nq-open", files, &golds, (EXACT, 1.0), score)?;
    let missing = report.missing["prediction"].clone();
    let counts = [("missing_predictions", missing), ("num_correct", sum.right.into()), ("num_total", sum.n.into())];
    report.aggregate = named(counts);
    report.aggregate.extend(named([("accuracy", ratio_of_sum(sum.score.em, sum.n))]));
    Ok(Report { notes, ..report })
}

/// The reward of the paper's harness: equality of normalised texts, 0 without a prediction. `f1` is `HotpotQA`'s for
/// questions and the reward for claims, as its wrappers have it.
pub(super) fn paper(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = any_dataset(files)?;
    let booleans = std::cell::Cell::new(0_usize);
    let score = |prediction: &str, gold: &Question| {
        let official = gold.gold().unwrap_or_default();
        if gold.answer_kind == AnswerKind::YesNo && matches!(scoring::normalize(prediction).as_str(), "true" | "false")
        {
            booleans.set(booleans.get() + 1);
        }
        let reward = AnswerScore::right(paper_reward(Some(prediction), official));
        if gold.answer_kind == AnswerKind::Label {
            return reward;
        }
        AnswerScore { f1: scoring::hotpot(prediction, official).f1, ..reward }
    };
    let mut report = all("paper", files, &golds, (PAPER, 1.0), score)?.0;
    if booleans.get() > 0 {
        let count = booleans.get();
        report.notes.push(format!("{count} predictions are true or false, which this metric does not read as yes or no; --metric strategyqa does"));
    }
    Ok(report)
}

/// The questions of any dataset file. One without a gold answer cannot be scored.
fn any_dataset(files: &Files<'_>) -> Result<Vec<Question>, FileError> {
    files.with_answers((files.questions)()?)
}

const PREDICTIONS: &str = "predictions are `{id: text}`, or lines of `{\"id\": text, \"prediction\": text}`";

/// Predicted answers by the question's id, or by its text.
#[derive(Default)]
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
    id: Option<Value>,
    question: Option<String>,
    #[serde(alias = "predicted_answer", alias = "answer")]
    prediction: Option<Answer>,
}

impl Answers {
    /// Reads `{id: text}`, the `answer` of a `HotpotQA` prediction, or records of `id` (or `question`) and `prediction`
    /// (or `answer`).
    pub(super) fn read(file: JsonFile<'_>) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        struct Sections {
            answer: HashMap<String, Answer>,
        }
        let Ok(entries) = serde_json::from_str::<HashMap<String, &RawValue>>(file.text) else {
            return Self::rows(file);
        };
        let has = |names: &[&str]| names.iter().any(|name| entries.contains_key(*name));
        // A file of one record is an object too.
        let sections = entries.get("answer").is_some_and(|answer| answer.get().starts_with('{'));
        if (has(&["prediction", "predicted_answer"]) || has(&["answer"]) && !sections) && has(&["id", "question"]) {
            return Self::rows(file);
        }
        if sections {
            return Ok(Self(file.whole::<Sections>(1, PREDICTIONS)?.answer));
        }
        file.whole(0, PREDICTIONS).map(Self)
    }

    fn rows(file: JsonFile<'_>) -> Result<Self, FileError> {
        let mut rows = file.records::<Row>(PREDICTIONS)?;
        let mut answers = HashMap::with_capacity(rows.list.len());
        let mut records = HashMap::with_capacity(rows.list.len());
        for (index, row) in std::mem::take(&mut rows.list).into_iter().enumerate() {
            let (field, key) = match row.id {
                Some(Value::String(id)) => ("id", Some(id)),
                Some(Value::Number(id)) => ("id", Some(id.to_string())),
                None => ("question", row.question),
                Some(other) => {
                    let what = format!("expected a text or a number, found `{}`", excerpt(&other.to_string()));
                    return Err(rows.error(index, "id", what));
                }
            };
            let key = key.ok_or_else(|| rows.error(index, "id", "missing, and there is no `question`"))?;
            if let Some(first) = records.insert(key.clone(), index) {
                return Err(rows.error(index, field, format!("predicted twice: record {} has it too", first + 1)));
            }
            // Without an answer there is no prediction.
            answers.extend(row.prediction.map(|prediction| (key, prediction)));
        }
        Ok(Self(answers))
    }

    pub(super) fn get(&self, question: &Question) -> Option<&str> {
        self.of(&question.id).or_else(|| self.of(&question.question))
    }

    /// The answer under an id or a question's text.
    pub(super) fn of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|answer| answer.0.as_str())
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
    serde_json::from_str::<Top>(file.text).is_ok()
}

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
    let Trivia { domain, verified_eval, data } = serde_json::from_str(file.text).ok()?;
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
