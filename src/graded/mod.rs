//! Runs read back with their scores: what `compare`, `show`, `report` and `export` look at.
//!
//! [`RunRef`] is a run as it is named, [`GradedRun`] its episodes with their scores, and a [`Source`] one variant with
//! the figures that are compared.

mod classified;
mod corrected;
mod development;
pub(crate) mod differences;
mod field;
mod find;
#[cfg(feature = "serve")]
pub(crate) mod follow;
mod holdout;
mod judged;
mod metric;
mod results;
mod run;
mod run_ref;
mod shelf;
mod source;
mod standing;
mod stopped;

pub(crate) use classified::{failed_episodes, judgements_of};
pub(crate) use corrected::{CorrectedFigure, CorrectedMean, CorrectedPair, JudgedRuns};
pub(crate) use development::counterparts;
pub(crate) use differences::Setting;
pub(crate) use field::Field;
pub(crate) use find::{check_one, runs, runs_at, runs_in};
pub(crate) use holdout::{Exported, Holdout, Looks};
pub(crate) use judged::{
    Correction, Drawn, JUDGE, JudgeFigures, JudgedRun, TwoJudges, answers, correction_of_pair, judged_metrics,
};
pub(crate) use metric::{EpisodeName, JoinedMetric, folder_name};
pub(crate) use results::{Group, Results};
pub(crate) use run::{Graded, GradedRun};
pub(crate) use run_ref::RunRef;
pub(crate) use shelf::Shelf;
pub(crate) use source::{Episode, Origin, Source, Wanted, bound, load, names, planned};
pub(crate) use standing::Standing;
pub(crate) use stopped::stopped;
