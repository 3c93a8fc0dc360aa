//! Judgements of people on episodes: their file, where they come from, and how they agree with the rules and each other.
//!
//! ```text
//! <run>/annotations.jsonl      one judgement a line, appended; the latest of each person on each episode counts
//! ```

mod agreement;
mod annotation;
mod answer;
mod import;

pub(crate) use agreement::{Clusters, Disagreement, Judged, Judgements, Person, Table, Two};
pub(crate) use annotation::{ANNOTATION_VERSION, Annotations, append, bad_name, carry, is_model};
pub use annotation::{Annotation, AnnotationClass};
pub(crate) use answer::{Answer, HELP, Judgement, class_keys, key_line, parse_answer};
pub(crate) use import::{EpisodeIndex, Imported, import};

#[cfg(test)]
mod tests;
