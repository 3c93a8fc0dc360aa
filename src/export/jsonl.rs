//! JSON Lines: each stored trajectory, with its score added.

use super::scored::Numbers;
use super::{Export, ExportError, Scored};
use crate::label::Annotation;
use crate::types::{RebuiltPrompt, Trajectory};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

/// Writes one trajectory per line, as it is stored, with `run` (the run's name) and
/// `score: {em, f1, precision, recall}` (or `null`) at its end, and behind it `metrics` where files of them were joined,
/// `annotations` where people judged it, and `prompts` where they are asked for.
#[derive(Debug)]
pub struct Jsonl<W: Write> {
    out: BufWriter<W>,
    metrics: Vec<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    trajectory: &'a Trajectory,
    run: &'a str,
    score: Option<Numbers>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    annotations: &'a [&'a Annotation],
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<BTreeMap<&'a str, Option<f64>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prompts: Vec<Value>,
}

impl<W: Write> Jsonl<W> {
    /// Writes to `out`, which needs no buffer of its own, with the metrics from files that have these names.
    pub fn new(out: W, metrics: Vec<String>) -> Self {
        Self { out: BufWriter::new(out), metrics }
    }
}

impl<W: Write> Export for Jsonl<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let (run, score) = (scored.origin.run(), scored.score.map(|_| scored.numbers()));
        let metrics = scored.named_metrics(&self.metrics);
        let prompts = scored.prompts.iter().map(RebuiltPrompt::to_json).collect();
        let line =
            Line { trajectory: scored.trajectory, run, score, metrics, prompts, annotations: scored.annotations };
        serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}
