//! What a person reads: the plan of a run, its progress, its summary, comparisons, and single episodes.

pub(crate) mod agreement;
pub(crate) mod comparison;
pub(crate) mod console;
pub(crate) mod episodes;
pub(crate) mod leaderboard;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod repair;
pub(crate) mod reproduction;
pub(crate) mod sheet;
pub(crate) mod summary;
pub(crate) mod trajectory;

pub(crate) use crate::types::text::{counted, thousands, visible};
#[cfg(feature = "index")]
pub(crate) use console::duration;
#[cfg(feature = "index")]
pub(crate) use console::yellow;
pub(crate) use console::{View, labelled, wrapped};
pub(crate) use episodes::EpisodeRow;
pub(crate) use progress::Progress;
pub(crate) use summary::{JoinedRow, RunSummary, SummaryRow};
pub(crate) use trajectory::Live;
