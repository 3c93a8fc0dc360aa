//! Prompt files, exemplars and their rendering.
//!
//! A prompt is a TOML file with instructions and structured exemplars ([`PromptFile`]), or a finished text
//! ([`FinishedText`]): under a key of the paper's JSON files, or a plain one. [`load()`] reads and checks either, [`texts::load`] reads the protocol's own texts, and
//! [`render()`] turns both into the frame around the question of every request.

mod error;
mod exemplar;
mod file;
mod finished;
mod load;
mod new;
mod plain;
mod problems;
mod reader;
mod render;
mod template;
pub mod texts;

pub use error::PromptError;
pub use exemplar::{Exemplar, ExemplarStep};
pub use file::{METHODS, PromptFile, QUESTION_LABELS, Texts};
pub use finished::FinishedText;
pub use load::{BuiltIn, Checked, MAX_FILE_BYTES, PromptSource, check, file_of, load, source};
pub use new::{NewPrompt, new};
pub(crate) use problems::{Fault, quoted};
pub use problems::{Problem, Problems};
pub(crate) use reader::{Entry, Reader, Table};
pub use render::{ExemplarOrder, RenderSettings, Rendered, render};
pub use template::ToolTexts;
pub use texts::{ProtocolTexts, TextsFile};

#[cfg(test)]
mod tests;
