//! Comparisons of judges' verdicts, held against what people said.

use super::{Correction, JoinedMetric, JudgedRun, Source, correction_of_pair, judged_metrics};
use crate::compare::Comparison;
use crate::run::RunError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The verdicts of several runs.
#[derive(Debug, Default)]
pub(crate) struct JudgedRuns(Vec<(PathBuf, JudgedRun)>);

/// A judge's figure with what labels make of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedFigure {
    pub(crate) metric: String,
    pub(crate) means: Vec<CorrectedMean>,
    pub(crate) pairs: Vec<CorrectedPair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedMean {
    pub(crate) variant: String,
    #[serde(flatten)]
    pub(crate) correction: Correction,
}

/// `b` less `a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedPair {
    pub(crate) a: String,
    pub(crate) b: String,
    #[serde(flatten)]
    pub(crate) correction: Correction,
}

impl CorrectedFigure {
    /// Whether any of it has been held against enough labels.
    pub(crate) fn is_any(&self) -> bool {
        let means = self.means.iter().map(|mean| mean.correction);
        means.chain(self.pairs.iter().map(|pair| pair.correction)).any(|correction| correction.corrected.is_some())
    }
}

impl JudgedRuns {
    /// Reads the verdicts of these folders, as far as there are any.
    pub(crate) fn read<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self, RunError> {
        let mut runs: Vec<(PathBuf, JudgedRun)> = Vec::new();
        for path in paths {
            if runs.iter().any(|(known, _)| known == path) {
                continue;
            }
            if let Some(judged) = JudgedRun::read(path)? {
                runs.push((path.to_owned(), judged));
            }
        }
        Ok(Self(runs))
    }

    /// Lines that cannot be read, and where the judges of the runs are not the same.
    pub(crate) fn notes(&self) -> Vec<String> {
        let of_run = |(_, run): &(PathBuf, JudgedRun)| run.notes.iter().cloned().chain(run.split()).collect::<Vec<_>>();
        let mut notes: Vec<String> = self.0.iter().flat_map(of_run).collect();
        let judges = |run: &JudgedRun| run.judges.iter().map(|known| known.judge.clone()).collect::<Vec<_>>();
        if let Some((_, first)) = self.0.first()
            && self.0.iter().any(|(_, other)| judges(other) != judges(first))
        {
            notes.push("warning: these runs were judged by different judges".to_owned());
        }
        notes
    }

    /// The metrics of all judges.
    pub(crate) fn metrics(&self) -> Result<Vec<JoinedMetric>, RunError> {
        judged_metrics(self.0.iter().map(|(_, run)| run))
    }

    fn of<'a>(&'a self, source: &'a Source) -> Option<(&'a JudgedRun, &'a str)> {
        let (_, judged) = self.0.iter().find(|(path, _)| *path == source.run.path)?;
        Some((judged, source.origin.as_ref().map(|origin| origin.variant.name.as_str())?))
    }

    /// The judges' figures of a comparison; `names` are those of the sources.
    pub(crate) fn corrected(
        &self,
        comparison: &Comparison,
        sources: &[Source],
        names: &[String],
        level: f64,
    ) -> Vec<CorrectedFigure> {
        let source = |name: &str| {
            let (source, _) = sources.iter().zip(names).find(|(_, known)| *known == name)?;
            self.of(source)
        };
        let mut figures = Vec::new();
        for figure in &comparison.figures {
            let metric = &figure.figure.name;
            let mean = |variant: &String| {
                let (judged, of_run) = source(variant)?;
                let correction = judged.correction(metric, of_run, level)?;
                Some(CorrectedMean { variant: variant.clone(), correction })
            };
            let pair = |a: &String, b: &String| {
                let correction = correction_of_pair([source(a)?, source(b)?], metric, level)?;
                Some(CorrectedPair { a: a.clone(), b: b.clone(), correction })
            };
            let means: Vec<_> = figure.means.iter().filter_map(|known| mean(&known.variant)).collect();
            if !means.is_empty() {
                let pairs = figure.pairs.iter().filter_map(|known| pair(&known.a, &known.b)).collect();
                figures.push(CorrectedFigure { metric: metric.clone(), means, pairs });
            }
        }
        figures
    }
}
