//! One question to one trajectory: the loop that connects a dialogue, a model and the Wikipedia tool, the methods built
//! from such loops, and the replay of recorded episodes.
//!
//! | file | what it holds |
//! |---|---|
//! | `approach` | the methods as data: which dialogues and votes an episode consists of |
//! | `answer` | `Agent::answer`: one episode by its method |
//! | `drive` | an episode; the loop of one dialogue: its log, its journal for going on after a crash, what it copies |
//! | `replay` | a recorded episode again, without model and tool |
//! | `conversation` | a recorded episode as turns of user and assistant |
//! | `program` | agents that are programs, whose calls are recorded |
//! | `forecast` | how many calls and tokens an episode may take |

mod answer;
pub mod approach;
pub mod conversation;
mod drive;
mod forecast;
#[cfg(feature = "serve")]
pub mod program;
pub mod replay;

pub use answer::Agent;
pub use approach::{Acting, Answering, Approach, Stage, StoredPrompt};
pub use drive::{Episode, EpisodeEvent, EpisodeObserver};
pub use forecast::Forecast;

#[cfg(test)]
mod tests;
