//! Runs read back with their scores: what `compare`, `show`, `report` and `export` look at.
//!
//! | file | what it holds |
//! |---|---|
//! | `run.rs` | [`RunRef`], a run as it is named on the command line; [`GradedRun`], its episodes with their scores, one at a time |
//! | `source.rs` | [`Source`], one variant with the figures of its episodes: what is compared; also from tables of figures |
//! | `joined.rs` | [`Results`], several runs grouped by shared questions, compared and ranked |
//! | `question_fields.rs` | [`Field`]s of questions by which results are broken down; questions shared by runs |
//! | `metric.rs` | [`JoinedMetric`], a metric of a file or of a program that is asked about episodes, joined to these |
//! | `judged.rs` | verdicts of judges as metrics, and their correction by what people said |
//! | `differences.rs` | settings in which variants differ, and warnings |
//! | `holdout.rs` | [`Looks`] at the holdout of a split, and the development runs of its variants |
//! | `follow.rs` | a run that is still going |

pub(crate) mod differences;
#[cfg(feature = "serve")]
pub(crate) mod follow;
mod holdout;
mod joined;
mod judged;
mod metric;
mod question_fields;
mod run;
mod source;

pub(crate) use differences::Setting;
pub(crate) use holdout::{ExportedRun, Holdout, Looks};
pub(crate) use joined::{Group, Results};
pub(crate) use judged::{
    CorrectedFigure, Correction, Drawn, JUDGE, JudgeFigures, JudgedRun, JudgedRuns, answers, judged_metrics,
};
pub(crate) use metric::{
    EpisodeName, EpisodeNames, JoinedMetric, add_metric, explain_metric, program_output, with_judges, with_recorded,
};
pub(crate) use question_fields::{Field, QuestionCache};
pub(crate) use run::{
    GradedRun, NamedRun, RunRef, check_one, failed_episodes, folder_name, judgements_of, named_runs, runs, runs_at,
    runs_in,
};
pub(crate) use source::{
    Episode, Origin, Source, Wanted, bound, load, name_accuracy, names, planned, planned_of, short_names, stopped,
    table_sources,
};
