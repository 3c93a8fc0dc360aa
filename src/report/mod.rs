//! What a person reads: a plan, the table at a run's end, progress while it runs, one trajectory, one episode as it runs.

mod assessment;
pub mod comparison;
pub mod episodes;
pub mod escape;
mod fitted;
pub mod intervals;
pub mod plan;
pub mod progress;
pub mod reproduction;
pub mod sheet;
pub mod table;
pub mod trajectory;

pub use episodes::EpisodeRow;
pub use escape::visible;
pub use progress::Progress;
pub use table::{RunSummary, SummaryRow, counted, thousands};
pub use trajectory::live::Live;
pub use trajectory::{Verdict, View};
