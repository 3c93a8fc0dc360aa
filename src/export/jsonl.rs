//! JSON Lines: each stored trajectory, with its score added.

use super::scored::Numbers;
use super::{Export, ExportError, Scored};
use crate::label::Annotation;
use crate::types::Trajectory;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// Writes one trajectory per line, as it is stored, with `run` (the run's name) and
/// `score: {em, f1, precision, recall}` (or `null`) at its end, and `annotations` where people judged it.
#[derive(Debug)]
pub struct Jsonl<W: Write> {
    out: BufWriter<W>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    trajectory: &'a Trajectory,
    run: &'a str,
    score: Option<Numbers>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    annotations: &'a [&'a Annotation],
}

impl<W: Write> Jsonl<W> {
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::new(out) }
    }
}

impl<W: Write> Export for Jsonl<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let (run, score) = (scored.origin.run(), scored.score.map(|_| scored.numbers()));
        let line = Line { trajectory: scored.trajectory, run, score, annotations: scored.annotations };
        serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}
