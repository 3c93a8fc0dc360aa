//! One question to one trajectory: the loop that connects a dialogue, a model and the Wikipedia tool; the methods made
//! of such loops; and the same loops on a record instead of model and tool.

mod answer;
pub mod approach;
pub mod conversation;
mod drive;
mod episode;
mod forecast;
mod log;
pub mod notebook;
pub mod replay;
pub mod vote;
mod watch;

pub use answer::Agent;
pub use approach::{Acting, Answering, Approach, StoredPrompt};
pub use episode::Episode;
pub use forecast::{Forecast, Load};
pub use watch::Watch;

#[cfg(test)]
mod tests;
