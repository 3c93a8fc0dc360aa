//! Agents that are programs: started for each question, with their model calls and their use of tools recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `definition` | what is known of a program before an episode, where it finds models and tools; asking a server |
//! | `request` | a program's requests to its episode, and their answers |
//! | `host` | the server on this machine that programs ask for models and tools; the tools of one episode |
//! | `process` | the process of an episode: its start, its output, its end, and the removal of its folder |
//! | `episode` | one episode: what is asked, answered and recorded, until the program ends or has no time left |

mod definition;
mod episode;
mod host;
mod process;
mod request;

pub use definition::{FindModel, Opened, Program, ProgramModel, Start};
pub(super) use episode::{ProgramResult, run};
pub(crate) use process::clean_up_all;
