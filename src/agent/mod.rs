//! One question to one trajectory: the loop that connects a dialogue, a model and the Wikipedia tool, the methods built
//! from such loops, and the replay of recorded episodes.

mod answer;
pub mod approach;
pub mod conversation;
mod copied;
mod drive;
mod episode;
mod forecast;
mod journal;
mod log;
pub mod notebook;
mod observer;
pub mod replay;
pub mod vote;

pub use answer::Agent;
pub use approach::{Acting, Answering, Approach, StoredPrompt};
pub use episode::Episode;
pub use forecast::{Forecast, Load};
pub use journal::Journal;
pub use observer::EpisodeObserver;

#[cfg(test)]
mod tests;
