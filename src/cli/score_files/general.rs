//! Metrics that are not bound to a layout: the paper's reward, and characters. The gold is any dataset that we read, or
//! a file laid out as `SQuAD`'s.

use super::answers::Answers;
use super::input::Source;
use super::report::{Report, item, named};
use super::squad::{self, hundredfold, mean};
use crate::dataset::{self, ReadOptions};
use crate::score::{AnswerScore, characters, hotpot, paper_reward};
use crate::types::{AnswerKind, Question};

/// The mean of four numbers over `n`, summed in the order of the file.
#[derive(Default)]
struct Sum {
    score: AnswerScore,
    n: usize,
    missing: usize,
}

impl Sum {
    fn add(&mut self, score: Option<AnswerScore>) -> AnswerScore {
        self.n += 1;
        self.missing += usize::from(score.is_none());
        let score = score.unwrap_or(AnswerScore::ZERO);
        self.score.em += score.em;
        self.score.f1 += score.f1;
        score
    }
}

/// The questions of any dataset file. One without a gold answer cannot be scored.
fn questions(source: &Source) -> anyhow::Result<Vec<Question>> {
    let dataset = dataset::load(&source.file, &source.raw, &ReadOptions::default())?;
    if let Some(hidden) = dataset.questions.iter().find(|question| question.answers.is_empty()) {
        let place = super::input::Place { line: None, record: hidden.index + 1, id: Some(&hidden.id) };
        return Err(source.bad_field(
            place,
            "answer",
            "hidden, so there is nothing to score by",
            "name a file with golds",
        ));
    }
    Ok(dataset.questions)
}

/// The reward of the paper's harness: equality of normalised texts, 0 without a prediction. `f1` is `HotpotQA`'s for
/// questions and the reward for claims, as its wrappers have it.
pub(super) fn paper(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let questions = questions(gold)?;
    let text = predicted.text()?;
    let predictions = Answers::read(predicted, &text)?;
    let (mut sum, mut items) = (Sum::default(), Vec::new());
    for question in &questions {
        let official = question.gold().unwrap_or_default();
        let score = sum.add(predictions.get(&question.id, &question.question).map(|prediction| {
            let reward = AnswerScore::right(paper_reward(Some(prediction), official));
            let label = question.answer_kind == AnswerKind::Label;
            if label { reward } else { AnswerScore { em: reward.em, ..hotpot(prediction, official) } }
        }));
        if per_item {
            let values = [("reward", score.em.into()), ("em", score.em.into()), ("f1", score.f1.into())];
            items.push(item(question.id.as_str().into(), values));
        }
    }
    let (em, f1) = (mean(sum.score.em, sum.n), mean(sum.score.f1, sum.n));
    Ok(Report {
        metric: "paper",
        n: sum.n,
        aggregate: named([("reward", em), ("em", em), ("f1", f1)]),
        official: None,
        missing: vec![("prediction", sum.missing)],
        items,
    })
}

/// Exact match and F1 over characters, in per cent over all questions as `mlqa_evaluation_v1.py` gives them.
pub(super) fn cjk(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let predictions = Answers::read(predicted, &predicted_text)?;
    let (mut sum, mut items) = (Sum::default(), Vec::new());
    let mut add = |id: &str, prediction: Option<&str>, golds: &[&str]| {
        let score = sum.add(prediction.map(|prediction| characters(prediction, golds)));
        if per_item {
            items.push(item(id.into(), [("exact_match", score.em.into()), ("f1", score.f1.into())]));
        }
    };
    if squad::looks_like(&gold_text) {
        for gold in &squad::golds(gold, &gold_text)? {
            let golds: Vec<&str> = gold.answers.iter().map(AsRef::as_ref).collect();
            add(gold.id.as_str(), predictions.get(gold.id.as_str(), ""), &golds);
        }
    } else {
        for question in &questions(gold)? {
            let golds: Vec<&str> = question.answers.iter().map(String::as_str).collect();
            add(&question.id, predictions.get(&question.id, &question.question), &golds);
        }
    }
    let percent = |total| hundredfold(total, sum.n);
    Ok(Report {
        metric: "cjk",
        n: sum.n,
        aggregate: named([("exact_match", percent(sum.score.em)), ("f1", percent(sum.score.f1))]),
        official: None,
        missing: vec![("prediction", sum.missing)],
        items,
    })
}
