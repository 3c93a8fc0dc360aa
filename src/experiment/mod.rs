//! What to run: the settings that there are, the model that flags and experiment files produce, and experiment files.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings` | every setting, declared once |
//! | `setting` | what a declaration says, and what follows from it |
//! | `model` | the experiment as plain data |
//! | `expand` | from settings and dimensions to variants |
//! | `naming` | what prompts and models are called in the names of variants |
//! | `product` | variants from what flags list |
//! | `file` | an experiment file, from its text to the model |
//! | `reader` | the TOML tree with its lines |
//! | `datasets` | the datasets of a file |
//! | `matrix`, `variants` | dimensions, inclusions and exclusions of a file |
//! | `defaults` | settings files and environment variables: what holds where no flag says it |
//! | `differing` | the settings by which variants differ |
//! | `published` | figures that others have published for the same variants |
//! | `extra` | what may be added to the bodies and headers of requests |
//! | `problem` | what can be wrong with a file |
//! | `shipped` | files that are part of the program |

mod datasets;
pub mod defaults;
mod differing;
mod expand;
pub mod extra;
mod file;
mod matrix;
mod model;
mod naming;
mod planned;
mod problem;
mod product;
mod published;
mod reader;
mod setting;
mod settings;
pub mod shipped;
mod variants;

pub use differing::{Differing, FACTS, OfVariant};
pub use expand::{DatasetDraft, Draft, prompt_name};
pub use file::{ExperimentError, ExperimentFile, Overrides};
pub use model::{Concurrency, DatasetSpec, Experiment, FileText, Limits, Output, Pace, Recording, VariantSpec};
pub use product::{Listed, ProductError};
pub use published::{Published, PublishedFigure, PublishedMetric};
pub use setting::{Applies, Assignment, Effect, Kind, Setting, price, shown};
pub use settings::{DATASET_SETTINGS, DatasetSettings, VARIANT_SETTINGS, VariantSettings, variant_setting};

/// Maximum number of variants of an experiment.
pub const MAX_VARIANTS: usize = 1000;

#[cfg(test)]
mod tests;
