//! What a person reads: the table at a run's end, progress while it runs, one trajectory, one episode as it runs.

mod assessment;
pub mod escape;
pub mod progress;
pub mod table;
pub mod trajectory;

pub use escape::visible;
pub use progress::Progress;
pub use table::{RunSummary, SummaryRow};
pub use trajectory::View;
pub use trajectory::live::Live;
