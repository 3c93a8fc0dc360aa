//! Open-domain answers: `TriviaQA` by id, NQ-open by question.

use super::answers::Answers;
use super::input::{self, Kind, Source, Text};
use super::report::{Report, item, named};
use super::squad::hundredfold;
use crate::dataset::{self, ReadOptions};
use crate::score::{EmF1, fid_em, orqa_em, trivia};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashSet;

/// The official file; `Domain` decides what an answer's key is.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaFile {
    #[serde(default)]
    domain: String,
    data: Vec<TriviaRecord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaRecord {
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

/// Key and gold answers of one question.
struct Gold {
    key: String,
    question: String,
    answers: Vec<String>,
}

/// The golds of an official file, or of any other layout that our reader of `TriviaQA` knows.
fn trivia_golds(source: &Source, text: &str) -> anyhow::Result<Vec<Gold>> {
    let Ok(file) = serde_json::from_str::<TriviaFile>(text) else {
        let dataset = dataset::load(&source.file, &source.raw, &ReadOptions::default())?;
        let gold = |question: crate::types::Question| Gold {
            key: question.id,
            question: String::new(),
            answers: question.answers,
        };
        return Ok(dataset.questions.into_iter().map(gold).collect());
    };
    let by_document = file.domain == "Web";
    let mut golds = Vec::with_capacity(file.data.len());
    let mut known = HashSet::new();
    for record in file.data {
        let TriviaRecord { question_id, answer, entity_pages, search_results } = record;
        let answers = [answer.normalized_aliases, answer.human_answers].concat();
        let keys: Vec<String> = if by_document {
            entity_pages.iter().chain(&search_results).map(|page| format!("{question_id}--{}", page.filename)).collect()
        } else {
            vec![question_id]
        };
        let fresh = keys.into_iter().filter(|key| known.insert(key.clone()));
        golds.extend(fresh.map(|key| Gold { key, question: String::new(), answers: answers.clone() }));
    }
    Ok(golds)
}

/// Scores as `evaluation/triviaqa_evaluation.py` does: percentages over all questions.
pub(super) fn triviaqa(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds = trivia_golds(gold, &gold_text)?;
    let predictions = Answers::read(predicted, &predicted_text)?;
    let (mut sum, mut items, mut common) = (EmF1::default(), Vec::new(), 0_usize);
    for gold in &golds {
        let prediction = predictions.get(&gold.key, &gold.question);
        common += usize::from(prediction.is_some());
        let score = prediction.map(|prediction| trivia(prediction, &gold.answers)).unwrap_or_default();
        sum.em += score.em;
        sum.f1 += score.f1;
        if per_item {
            items.push(item(gold.key.as_str().into(), [("exact_match", score.em.into()), ("f1", score.f1.into())]));
        }
    }
    let n = golds.len();
    let mut aggregate = named([("exact_match", hundredfold(sum.em, n)), ("f1", hundredfold(sum.f1, n))]);
    for (name, count) in [("common", common), ("denominator", n), ("predicted_len", predictions.len()), ("gold_len", n)]
    {
        aggregate.push((Cow::Borrowed(name), json!(count)));
    }
    let missing = vec![("prediction", n - common)];
    Ok(Report { metric: "trivia", n, aggregate, official: None, missing, items })
}

#[derive(Deserialize)]
struct OpenRecord<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    question: Text<'a>,
    #[serde(borrow)]
    answer: Vec<Text<'a>>,
}

const OPEN: Kind = Kind {
    ids: &["id", "question"],
    check: |text| serde_json::from_str::<OpenRecord<'_>>(text).map(drop),
    hint: "the gold is NQ-open's own file: `question` and the list `answer` a line",
};

/// Which exact match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenMetric {
    /// ORQA's, under the names that its script prints.
    Orqa,
    /// `FiD`'s.
    Fid,
}

/// Scores as ORQA's evaluation of predictions does, or with `FiD`'s exact match: the share of all questions.
pub(super) fn nq_open(gold: &Source, predicted: &Source, metric: OpenMetric, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds: Vec<OpenRecord<'_>> = input::records(gold, &gold_text, OPEN)?;
    let predictions = Answers::read(predicted, &predicted_text)?;
    let (mut right, mut missing, mut items) = (0_usize, 0_usize, Vec::new());
    for gold in &golds {
        let question = gold.question.as_str();
        let id = gold.id.as_ref().map_or(question, Text::as_str);
        let prediction = predictions.get(id, question);
        missing += usize::from(prediction.is_none());
        let correct = prediction.is_some_and(|prediction| match metric {
            OpenMetric::Orqa => orqa_em(prediction, &gold.answer),
            OpenMetric::Fid => fid_em(prediction, &gold.answer),
        });
        right += usize::from(correct);
        if per_item {
            items.push(item(id.into(), [("exact_match", json!(f64::from(u8::from(correct))))]));
        }
    }
    let n = golds.len();
    let share = share(right, n);
    let (name, aggregate) = match metric {
        OpenMetric::Fid => ("fid", named([("exact_match", share)])),
        OpenMetric::Orqa => {
            let counts = [("missing_predictions", missing), ("num_correct", right), ("num_total", n)];
            let mut aggregate: Vec<_> =
                counts.into_iter().map(|(name, count)| (Cow::Borrowed(name), json!(count))).collect();
            aggregate.push((Cow::Borrowed("accuracy"), json!(share)));
            ("nq-open", aggregate)
        }
    };
    Ok(Report { metric: name, n, aggregate, official: None, missing: vec![("prediction", missing)], items })
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
pub(super) fn share(part: usize, n: usize) -> f64 {
    if n == 0 { 0.0 } else { part as f64 / n as f64 }
}
