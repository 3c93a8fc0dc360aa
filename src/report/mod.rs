//! What a person reads: the plan of a run, its progress, its summary, comparisons, and single episodes.

pub mod comparison;
pub mod episodes;
pub mod intervals;
mod layout;
mod number;
pub mod plan;
pub mod progress;
pub mod reproduction;
pub mod sheet;
pub mod summary;
pub mod trajectory;
mod view;

pub use episodes::EpisodeRow;
pub use progress::Progress;
pub use summary::{RunSummary, SummaryRow};
pub use trajectory::Verdict;
pub use trajectory::live::Live;
pub use view::View;

pub use crate::types::text::{counted, thousands, visible};
