//! Prompt files, exemplars, their rendering, and the protocols that agents speak.
//!
//! A prompt is a TOML file with instructions and structured exemplars (`PromptFile`), or a finished text
//! (`FinishedText`): under a key of the paper's JSON files, or a plain one. [`load()`] reads and checks either, [`texts::load`] reads the protocol's own texts, and
//! [`render()`] turns both into the frame around the question of every request.
//!
//! | file | what it holds |
//! |---|---|
//! | `load` | from the name of a prompt to its checked source; finished texts: plain files, and keys of the paper's JSON files |
//! | `bytes` | the bytes of its file, and what can be wrong with a prompt |
//! | `file` | a prompt file in TOML, and its exemplars |
//! | `texts` | a protocol's own texts, and their slots |
//! | `render` | the frame of every layout: instruction, tools, exemplars |
//! | [`protocol`] | dialogues without I/O: model text to tool calls and back; a file for each protocol |
//! | `new` | a copy of a prompt to edit, or a text with numbered steps as a prompt file |
//! | `reader` | a TOML tree with lines, read with all problems at once; also for experiment and settings files |

mod bytes;
mod file;
mod load;
mod new;
pub mod protocol;
mod reader;
mod render;
pub mod texts;

pub use bytes::PromptError;
pub use file::{Exemplar, PromptFile, QUESTION_LABELS, parse_action};
pub use load::{Checked, PromptSource, check, file_of, load, source};
pub use new::new;
pub(crate) use reader::{Entry, Fault, Reader, Table, quoted};
pub use reader::{Problem, Problems};
pub use render::{ExemplarOrder, RenderSettings, Rendered, render};
pub use texts::ProtocolTexts;

#[cfg(test)]
mod tests;
