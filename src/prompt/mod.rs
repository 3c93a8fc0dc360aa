//! Prompt files, exemplars and their rendering.
//!
//! A prompt comes from a file of our own form (TOML: instructions and structured exemplars, [`PromptFile`]) or
//! from a key of the paper's JSON files (a text that is used as it stands). [`load()`] reads either and checks
//! it, [`texts::load`] reads what the protocol's system says in its own words, and [`render()`] makes of both the
//! frame that every request of a variant has around its question.

mod error;
mod exemplar;
mod file;
mod load;
mod paper;
mod problems;
mod reader;
mod render;
mod template;
pub mod texts;

pub use error::PromptError;
pub use exemplar::{Exemplar, ExemplarStep};
pub use file::{Instruction, METHODS, PromptFile, QUESTION_LABELS, Texts};
pub use load::{BuiltIn, Checked, MAX_FILE_BYTES, PromptSource, check, load};
pub use paper::PaperText;
pub(crate) use problems::{Fault, closest, quoted};
pub use problems::{Problem, Problems};
pub(crate) use reader::{Entry, Reader, Table};
pub use render::{ExemplarOrder, RenderSettings, Rendered, render};
pub use template::ToolTexts;
pub use texts::{NamedToolTexts, ProtocolTexts, TextsFile};

#[cfg(test)]
mod tests;
