//! Agents that are programs: started for each question, with their model calls and their use of tools recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `definition` | what is known of a program before an episode: its command or address, its limits, its models; asking a server |
//! | `request` | a program's requests to its episode, and their answers |
//! | `tools` | the tools of one episode, for MCP and plain HTTP |
//! | `host` | the server on this machine that programs ask for models and tools |
//! | `addresses` | where a program finds all that: its environment, and the line that it reads |
//! | `process` | the process of an episode: its start and its output |
//! | `cleanup` | the end of an episode's processes and the removal of its folder |
//! | `clock` | the time that a program takes itself |
//! | `episode` | one episode: what is asked, answered and recorded, until the program ends |

mod addresses;
mod cleanup;
mod clock;
mod definition;
mod episode;
mod host;
mod process;
mod request;
mod tools;

pub(crate) use cleanup::clean_up_all;
pub use definition::{FindModel, Program, ProgramModel, Start};
pub(super) use episode::run;
