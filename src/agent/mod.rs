//! One question to one trajectory: the loop that connects a dialogue, a model and the Wikipedia tool; and the
//! same loop on a record instead of model and tool.

mod episode;
pub mod notebook;
mod react;
pub mod replay;

pub use episode::{Episode, Price};
pub use react::Agent;
