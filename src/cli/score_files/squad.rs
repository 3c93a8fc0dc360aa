//! `SQuAD` 1.1 and 2.0, and the files of CMRC and MLQA that are laid out like them: `data[].paragraphs[].qas[]` against
//! `{id: text}`.

use super::answers::Answers;
use super::input::{self, Source, Text, line_of};
use super::report::{Named, Report, item, named};
use crate::score::{EmF1, squad11, squad20};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    data: Vec<Article<'a>>,
}

#[derive(Deserialize)]
struct Article<'a> {
    #[serde(borrow)]
    paragraphs: Vec<Paragraph<'a>>,
}

#[derive(Deserialize)]
struct Paragraph<'a> {
    #[serde(borrow)]
    qas: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawQuestion<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    answers: Vec<RawAnswer<'a>>,
}

#[derive(Deserialize)]
struct RawAnswer<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

/// A question and its gold answers.
pub(super) struct Gold<'a> {
    pub(super) id: Text<'a>,
    pub(super) answers: Vec<Text<'a>>,
}

const HINT: &str = "the gold is laid out as SQuAD's file: `data[].paragraphs[].qas[]` with `id` and `answers[].text`";

/// Whether a file is laid out as `SQuAD` is.
pub(super) fn looks_like(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Top<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    serde_json::from_str::<Top<'_>>(text).is_ok_and(|top| top.data.get().starts_with('['))
}

/// The questions of a file, in its order.
pub(super) fn golds<'a>(source: &Source, text: &'a str) -> anyhow::Result<Vec<Gold<'a>>> {
    let file: File<'_> = serde_json::from_str(text).map_err(|error| input::not_json(source, text, &error, HINT))?;
    let questions = file.data.into_iter().flat_map(|article| article.paragraphs).flat_map(|paragraph| paragraph.qas);
    let golds: Vec<Gold<'_>> =
        questions.enumerate().map(|(n, raw)| gold(source, text, n, raw)).collect::<Result<_, _>>()?;
    if golds.is_empty() {
        return Err(source.bad("no question", HINT));
    }
    Ok(golds)
}

fn gold<'a>(source: &Source, text: &str, number: usize, raw: &'a RawValue) -> anyhow::Result<Gold<'a>> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: String,
    }
    let question: RawQuestion<'_> = serde_json::from_str(raw.get()).map_err(|error| {
        let id = serde_json::from_str::<OnlyId>(raw.get()).ok().map(|question| question.id);
        let place = input::Place { line: Some(line_of(text, raw.get())), record: number + 1, id: id.as_deref() };
        let field = if id.is_some() { "answers" } else { "id" };
        source.bad_field(place, field, input::reason(&error), HINT)
    })?;
    let answers = question.answers.into_iter().map(|answer| answer.text).collect();
    Ok(Gold { id: question.id, answers })
}

/// Scores as `evaluate-v1.1.py` does: percentages over all questions, those without a prediction included.
pub(super) fn version_1(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds = golds(gold, &gold_text)?;
    let predictions = Answers::read(predicted, &predicted_text)?;
    let (mut sum, mut items, mut missing) = (EmF1::default(), Vec::new(), 0);
    for gold in &golds {
        let prediction = predictions.get(gold.id.as_str(), "");
        missing += usize::from(prediction.is_none());
        let score = prediction.map(|prediction| squad11(prediction, &gold.answers)).unwrap_or_default();
        sum.em += score.em;
        sum.f1 += score.f1;
        if per_item {
            let values = [("exact_match", score.em.into()), ("f1", score.f1.into())];
            items.push(item(gold.id.as_str().into(), values));
        }
    }
    let n = golds.len();
    Ok(Report {
        metric: "squad11",
        n,
        aggregate: named([("exact_match", hundredfold(sum.em, n)), ("f1", hundredfold(sum.f1, n))]),
        official: None,
        missing: vec![("prediction", missing)],
        items,
    })
}

/// Scores as `evaluate-v2.0.py` does: percentages over the questions with a prediction, then over those of them that have
/// an answer and those that have none.
pub(super) fn version_2(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds = golds(gold, &gold_text)?;
    let predictions = Answers::read(predicted, &predicted_text)?;
    let mut sums = [("", Sum::default()), ("HasAns_", Sum::default()), ("NoAns_", Sum::default())];
    let mut items = Vec::new();
    for gold in &golds {
        let Some(prediction) = predictions.get(gold.id.as_str(), "") else { continue };
        let score = squad20(prediction, &gold.answers);
        sums[0].1.add(score);
        sums[if gold.answers.is_empty() { 2 } else { 1 }].1.add(score);
        if per_item {
            items.push(item(gold.id.as_str().into(), [("exact", score.em.into()), ("f1", score.f1.into())]));
        }
    }
    let n = sums[0].1.n;
    if n == 0 {
        return Err(predicted.bad(format!("no prediction for a question of `{}`", gold.file), HINT));
    }
    let aggregate = sums.iter().filter(|(_, sum)| sum.n > 0).flat_map(|(prefix, sum)| sum.named(prefix)).collect();
    Ok(Report {
        metric: "squad20",
        n,
        aggregate,
        official: None,
        missing: vec![("prediction", golds.len() - n)],
        items,
    })
}

#[derive(Default)]
struct Sum {
    score: EmF1,
    n: usize,
}

impl Sum {
    fn add(&mut self, score: EmF1) {
        self.score.em += score.em;
        self.score.f1 += score.f1;
        self.n += 1;
    }

    fn named(&self, prefix: &str) -> Named {
        vec![
            (format!("{prefix}exact").into(), hundredfold(self.score.em, self.n).into()),
            (format!("{prefix}f1").into(), hundredfold(self.score.f1, self.n).into()),
            (format!("{prefix}total").into(), self.n.into()),
        ]
    }
}

/// `100.0 * sum / n` in the order in which the scripts compute it; 0 for none.
#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
pub(super) fn hundredfold(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { 100.0 * sum / n as f64 }
}

/// `sum / n`; 0 for none.
#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^53")]
pub(super) fn mean(sum: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { sum / n as f64 }
}
