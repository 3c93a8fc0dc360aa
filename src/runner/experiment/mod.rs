//! What to run: the settings that there are, the model that flags and experiment files produce, and experiment files.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings` | every setting, declared once; how a declaration reads, and by which settings variants differ |
//! | `model` | the experiment as plain data |
//! | `file` | an experiment file, from its text to the model: datasets, comparisons, published figures |
//! | `variants` | from flags, or dimensions, inclusions and exclusions of a file, to named variants |
//! | `reader` | the TOML tree with its lines, and what can be wrong with it |
//! | `defaults` | settings files and environment variables: what holds where no flag says it |
//! | `extra` | what may be added to the bodies and headers of requests |
//! | `shipped` | files that are part of the program |

pub mod defaults;
pub mod extra;
mod file;
mod model;
mod reader;
mod settings;
pub mod shipped;
mod variants;

pub use file::{ExperimentFile, Overrides, Published, PublishedMetric};
pub use model::{Concurrency, DatasetSpec, Experiment, Limits, Output, Pace, Recording, VariantSpec};
#[cfg(feature = "serve")]
pub use settings::AGENT_FILES;
pub use settings::{
    Applies, Assignment, DATASET_SETTINGS, DatasetSettings, Differing, Effect, FACTS, Kind, OfVariant, Setting,
    VARIANT_SETTINGS, VariantSettings, price, value_text, variant_setting,
};
#[cfg(feature = "serve")]
pub(super) use variants::refused_for_programs;
pub use variants::{DatasetDraft, Draft, FlagLists, LISTS};

/// Maximum number of variants of an experiment.
pub const MAX_VARIANTS: usize = 1000;

#[cfg(test)]
mod tests;
