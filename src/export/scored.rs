//! A trajectory with its score and its trajectory metrics.

use super::Origin;
use crate::label::Annotation;
use crate::score::{AnswerScore, AssessedEpisode, Assessment};
use crate::types::{RebuiltPrompt, Trajectory};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A trajectory, what its answer scored, and how it came about.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    pub trajectory: &'a Trajectory,
    /// Its score, each number in `0.0..=1.0`; absent if it was not measured or its gold is hidden.
    pub score: Option<AnswerScore>,
    /// Its trajectory metrics; absent if it was not measured.
    pub assessment: Option<&'a Assessment>,
    /// What the dataset says of its question: the fields of the table of questions, in the order of its columns.
    pub fields: &'a [Option<String>],
    /// Its metrics from files, in the order of their columns.
    pub metrics: &'a [Option<f64>],
    /// The prompts of its calls, in the order of the record, where they are exported.
    pub prompts: &'a [RebuiltPrompt],
    pub origin: Origin<'a>,
    /// What people said of it: the latest of each person, by name.
    pub annotations: &'a [&'a Annotation],
}

/// The four numbers as the formats show them; all absent without a score.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Numbers {
    #[serde(serialize_with = "number")]
    pub(super) em: Option<f64>,
    #[serde(serialize_with = "number")]
    pub(super) f1: Option<f64>,
    #[serde(serialize_with = "number")]
    pub(super) precision: Option<f64>,
    #[serde(serialize_with = "number")]
    pub(super) recall: Option<f64>,
}

impl<'a> Scored<'a> {
    /// The episode without its run.
    pub(super) fn episode(&self) -> AssessedEpisode<'a> {
        AssessedEpisode { trajectory: self.trajectory, score: self.score, assessment: self.assessment }
    }

    /// Its metrics from files by their names; none where no files were joined.
    pub(super) fn named_metrics<'n>(&self, names: &'n [String]) -> Option<BTreeMap<&'n str, Option<f64>>> {
        let values = names.iter().map(String::as_str).zip(self.metrics.iter().copied());
        (!names.is_empty()).then(|| values.collect())
    }

    pub(super) fn numbers(&self) -> Numbers {
        let of = |value: fn(AnswerScore) -> f64| self.score.map(value);
        Numbers {
            em: of(|score| score.em),
            f1: of(|score| score.f1),
            precision: of(|score| score.precision),
            recall: of(|score| score.recall),
        }
    }
}

/// Zero and one are written `0` and `1`, as the official scripts print EM.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
#[expect(clippy::float_cmp, reason = "only the exact values are meant")]
fn number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(value) if *value == 0.0 => serializer.serialize_u8(0),
        Some(value) if *value == 1.0 => serializer.serialize_u8(1),
        Some(value) => serializer.serialize_f64(*value),
    }
}
