//! Metrics of plain answers: one text per question against its golds.

use super::layouts::{self, Answers, Golds};
use super::{FileError, Files, Report, named};
use crate::base::{AnswerKind, Question, excerpt};
use crate::scoring::overlap::ratio_of_sum;
use crate::scoring::{self, AnswerScore, characters, fid_em, orqa_em, paper_reward};
use serde_json::{Map, Value};

/// The numbers that a metric shows of an answer, under its own names.
type Columns = &'static [(&'static str, fn(AnswerScore) -> f64)];

const SQUAD11: Columns = &[("exact_match", |score| score.em), ("f1", |score| score.f1)];
const SQUAD20: Columns = &[("exact", |score| score.em), ("f1", |score| score.f1)];
const ROUGE: Columns = &[
    ("rougel", |score| score.f1),
    ("precision", |score| score.precision),
    ("recall", |score| score.recall),
    ("em", |score| score.em),
];
const PAPER: Columns = &[("reward", |score| score.em), ("em", |score| score.em), ("f1", |score| score.f1)];
const ACCURACY: Columns = &[("accuracy", |score| score.em)];
const EXACT: Columns = &[("exact_match", |score| score.em)];

/// Sums over questions, in the order of the gold file.
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

/// Scores as `evaluate-v1.1.py` does: percentages over all questions.
pub(super) fn squad11(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = layouts::squad_golds(files.gold)?;
    let score = |prediction: &str, gold: &Question| scoring::squad11(prediction, &gold.answers);
    Ok(all("squad11", files, &golds, (SQUAD11, 100.0), score)?.0)
}

/// Scores as `evaluate-v2.0.py` does: percentages over the questions with a prediction, then over those of them that have
/// an answer and those that have none.
pub(super) fn squad20(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = layouts::squad_golds(files.gold)?;
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
        let what = format!("no prediction for a question of `{}`", files.gold.name());
        return Err(files.predictions.error(what, layouts::SQUAD));
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
    let Golds { list: golds, notes } = if let Some(golds) = layouts::trivia_golds(files.gold) {
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
    let Golds { list: golds, notes } = layouts::nq_open_golds_by_text(files.gold)?;
    let score = |prediction: &str, gold: &Question| AnswerScore::right(orqa_em(prediction, &gold.answers));
    let (mut report, sum, _) = all("nq-open", files, &golds, (EXACT, 1.0), score)?;
    let missing = report.missing["prediction"].clone();
    let counts = [("missing_predictions", missing), ("num_correct", sum.right.into()), ("num_total", sum.n.into())];
    report.aggregate = named(counts);
    report.aggregate.extend(named([("accuracy", ratio_of_sum(sum.score.em, sum.n))]));
    Ok(Report { notes, ..report })
}

/// Scores with `FiD`'s exact match: the share of all questions.
pub(super) fn fid(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = layouts::nq_open_golds(files.gold)?;
    let score = |prediction: &str, gold: &Question| AnswerScore::right(fid_em(prediction, &gold.answers));
    Ok(all("fid", files, &golds, (EXACT, 1.0), score)?.0)
}

/// `StrategyQA`'s accuracy: the share of all questions, whose answers are booleans.
pub(super) fn strategy_qa(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = any_dataset(files)?;
    let score = |prediction: &str, gold: &Question| {
        AnswerScore::right(scoring::strategy_qa(prediction, gold.gold().unwrap_or_default()))
    };
    Ok(all("strategyqa", files, &golds, (ACCURACY, 1.0), score)?.0)
}

/// Long answers: ROUGE-L's F as KILT's script computes it, the best of all golds, and exact match.
pub(super) fn rouge_l(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = any_dataset(files)?;
    let score = |prediction: &str, gold: &Question| scoring::rouge_l_max(prediction, &gold.answers);
    Ok(all("rougel", files, &golds, (ROUGE, 1.0), score)?.0)
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

/// Exact match and F1 over characters, in per cent over all questions as `mlqa_evaluation_v1.py` gives them.
pub(super) fn cjk(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = if layouts::is_squad(files.gold) { layouts::squad_golds(files.gold)? } else { any_dataset(files)? };
    let score = |prediction: &str, gold: &Question| characters(prediction, &gold.answers);
    Ok(all("cjk", files, &golds, (SQUAD11, 100.0), score)?.0)
}

/// The questions of any dataset file. One without a gold answer cannot be scored.
fn any_dataset(files: &Files<'_>) -> Result<Vec<Question>, FileError> {
    let questions = (files.questions)()?;
    match questions.iter().find(|question| question.answers.is_empty()) {
        None => Ok(questions),
        Some(hidden) => {
            let what = format!("record {} (id `{}`) has no gold answer", hidden.index + 1, excerpt(&hidden.id));
            Err(files.gold.error(what, "name a gold file in which every question has an answer"))
        }
    }
}
