//! The log of Inspect (`inspect_ai`), version 2, as JSON: one variant of one run.

mod sample;

use super::turns::instant;
use super::{Export, ExportError, Origin, Scored};
use crate::score::AnswerScore;
use crate::types::{Trajectory, Usage, Variant};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};

const VERSION: u32 = 2;

type Figure = fn(AnswerScore) -> f64;

/// The figures of the score, as scorers of these names.
const FIGURES: [(&str, Figure); 4] = [
    ("em", |score| score.em),
    ("f1", |score| score.f1),
    ("precision", |score| score.precision),
    ("recall", |score| score.recall),
];

/// What a log says of its episodes together.
#[derive(Debug, Clone, Copy)]
pub struct LogHeader<'a> {
    /// The run and the variant.
    pub origin: Origin<'a>,
    /// Episodes that the variant is to have; absent where only some of them are exported.
    pub planned: Option<usize>,
}

/// What is counted over the episodes of a log. A log says it before them, since readers of its head stop at the first sample.
#[derive(Debug)]
pub struct LogTotals {
    scorers: Vec<Scorer>,
    samples: usize,
    measured: usize,
    usage: Usage,
}

/// A scorer, and what its values add up to.
#[derive(Debug)]
struct Scorer {
    name: String,
    sum: f64,
    scored: usize,
}

impl LogTotals {
    /// Nothing yet, with the metrics from files that have these names.
    pub fn new(metrics: Vec<String>) -> Self {
        let figures = FIGURES.iter().map(|(name, _)| (*name).to_owned());
        let scorers = figures.chain(metrics).map(|name| Scorer { name, sum: 0.0, scored: 0 }).collect();
        Self { scorers, samples: 0, measured: 0, usage: Usage::default() }
    }

    /// Counts an episode with its score and its metrics from files.
    pub fn add(&mut self, trajectory: &Trajectory, score: Option<AnswerScore>, metrics: &[Option<f64>]) {
        for (scorer, value) in self.scorers.iter_mut().zip(values(score, metrics)) {
            scorer.sum += value.unwrap_or_default();
            scorer.scored += usize::from(value.is_some());
        }
        self.samples += 1;
        self.measured += usize::from(trajectory.measured());
        self.usage += trajectory.usage;
    }

    fn results(&self, planned: Option<usize>) -> Value {
        // The mean of chosen episodes, such as the wrong ones, would look like that of the run.
        let measured = self.scorers.iter().filter(|scorer| planned.is_some() && scorer.scored > 0);
        let scores: Vec<Value> = measured.map(|scorer| scorer.result(self.samples)).collect();
        json!({
            "total_samples": planned.unwrap_or(self.samples), "completed_samples": self.measured,
            "logged_samples": self.samples, "scores": scores,
        })
    }
}

/// The value of each scorer for an episode, where it has one.
fn values(score: Option<AnswerScore>, metrics: &[Option<f64>]) -> Vec<Option<f64>> {
    let figures = FIGURES.iter().map(|(_, of)| score.map(of));
    figures.chain(metrics.iter().copied()).map(|value| value.filter(|value| value.is_finite())).collect()
}

/// Writes one log: an object with its head, and then its samples as they come.
///
/// Source: the models in `inspect_ai.log` of the package `inspect_ai`.
#[derive(Debug)]
pub struct Inspect<'a, W: Write> {
    out: BufWriter<W>,
    header: LogHeader<'a>,
    totals: LogTotals,
    written: usize,
}

impl<'a, W: Write> Inspect<'a, W> {
    /// Writes to `out`, which needs no buffer of its own, with what was counted over the same episodes.
    pub fn new(out: W, header: LogHeader<'a>, totals: LogTotals) -> Result<Self, ExportError> {
        let mut log = Self { out: BufWriter::new(out), header, totals, written: 0 };
        let Value::Object(head) = log.head() else { return Ok(log) };
        log.out.write_all(b"{")?;
        for (name, value) in head {
            write!(log.out, "\"{name}\":")?;
            log.json(&value)?;
            log.out.write_all(b",")?;
        }
        log.out.write_all(b"\"samples\":[")?;
        Ok(log)
    }

    fn head(&self) -> Value {
        let LogHeader { origin, planned } = self.header;
        let manifest = origin.manifest();
        json!({
            "version": VERSION, "status": self.status(), "eval": eval(origin, planned.is_none()),
            "plan": { "name": "plan", "steps": [], "config": config(origin.variant()) },
            "results": self.totals.results(planned),
            "stats": {
                "started_at": instant(&manifest.started_at, 0).unwrap_or_default(),
                "completed_at": manifest.ended_at.as_deref().and_then(|end| instant(end, 0)).unwrap_or_default(),
                "model_usage": { (model(origin.variant())): usage(self.totals.usage) },
            },
        })
    }

    fn json(&mut self, value: &Value) -> Result<(), ExportError> {
        Ok(serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?)
    }

    /// A run that is still going, or was killed, has no end; one that was stopped lacks episodes.
    fn status(&self) -> &'static str {
        match self.header.planned {
            _ if !self.header.origin.manifest().has_ended() => "started",
            Some(planned) if self.totals.samples < planned => "cancelled",
            _ => "success",
        }
    }
}

impl<W: Write> Export for Inspect<'_, W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        if self.written > 0 {
            self.out.write_all(b",\n")?;
        }
        self.written += 1;
        let names = self.totals.scorers.iter().map(|scorer| scorer.name.as_str());
        let values = names.zip(values(scored.score, scored.metrics));
        let figures: Vec<(&str, f64)> = values.filter_map(|(name, value)| Some((name, value?))).collect();
        let sample = sample::sample(scored, &figures);
        self.json(&sample)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.out.write_all(b"]}\n")?;
        Ok(self.out.flush()?)
    }
}

impl Scorer {
    /// The mean over the episodes that have a value.
    fn result(&self, samples: usize) -> Value {
        #[expect(clippy::cast_precision_loss, reason = "no run has that many episodes")]
        let mean = self.sum / self.scored as f64;
        json!({
            "name": self.name, "scorer": self.name, "scored_samples": self.scored,
            "unscored_samples": samples - self.scored, "metrics": { "mean": { "name": "mean", "value": mean } },
        })
    }
}

/// What was evaluated; `part` if only some of the episodes are in the log.
fn eval(origin: Origin<'_>, part: bool) -> Value {
    let (manifest, variant) = (origin.manifest(), origin.variant());
    let name = variant.map(|variant| variant.name.as_str()).unwrap_or_default();
    let dataset = &manifest.dataset;
    let is_shuffled = dataset.selection.shuffle.or(dataset.selection.shuffle_like_paper).is_some();
    json!({
        "created": instant(&manifest.started_at, 0).unwrap_or_default(),
        "task": format!("wikitrail/{name}"), "task_id": format!("{}-{name}", origin.run()), "run_id": origin.run(),
        "task_display_name": name,
        "dataset": {
            "name": dataset.name, "location": dataset.path, "samples": dataset.selected, "shuffled": is_shuffled,
        },
        "model": model(variant), "model_generate_config": config(variant),
        "model_base_url": variant.and_then(|variant| variant.base_url.as_ref()),
        "config": { "epochs": manifest.repeats, "limit": dataset.selection.limit },
        "packages": { "wikitrail": manifest.wikitrail },
        "metadata": { "run": origin.run(), "dataset_sha256": dataset.sha256, "variant": variant, "part": part },
    })
}

fn model(variant: Option<&Variant>) -> String {
    variant.map_or_else(|| "unknown".to_owned(), |variant| variant.model.clone())
}

fn config(variant: Option<&Variant>) -> Value {
    let Some(Variant { decoding, not_sent, .. }) = variant else { return json!({}) };
    let sent = |name: &str| !not_sent.iter().any(|other| other == name);
    json!({
        "temperature": decoding.temperature.filter(|_| sent("temperature")), "top_p": decoding.top_p.filter(|_| sent("top_p")),
        "max_tokens": decoding.max_tokens, "seed": decoding.seed.filter(|_| sent("seed")),
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens, "total_tokens": usage.total(),
        "input_tokens_cache_read": usage.cached_tokens, "input_tokens_cache_write": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    })
}
