//! Prompt files, exemplars and their rendering.
//!
//! A prompt comes from a file of our own form (TOML: instructions and structured exemplars, [`PromptFile`]) or
//! from a key of the paper's JSON files (a text that is used as it stands). [`load()`] reads either and checks
//! it, [`render()`] makes the few-shot prefix that every request of a variant begins with.

mod error;
mod exemplar;
mod file;
mod load;
mod paper;
mod problem;
mod reader;
mod render;
mod template;

pub use error::PromptError;
pub use exemplar::{Exemplar, ExemplarStep};
pub use file::{Instruction, METHODS, PromptFile, QUESTION_LABELS, Texts};
pub use load::{MAX_FILE_BYTES, PromptSource, load};
pub use paper::PaperText;
pub use problem::{Problem, ProblemKind, Problems};
pub use render::{ExemplarOrder, METHODS_RENDERED, PROTOCOLS_RENDERED, RenderSettings, Rendered, render};
pub use template::ToolTexts;

#[cfg(test)]
mod tests;
