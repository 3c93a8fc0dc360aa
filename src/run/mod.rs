//! Running an experiment: preparing, output folder, resume, estimate, budget, pace, events, figures.
//!
//! | file | what it holds |
//! |---|---|
//! | `prepare` | the way from an experiment to its figures |
//! | `job` | one run, ready to start: questions, variants, manifest, plan |
//! | `variant`, `model`, `wiki`, `recording`, `prices`, `pool` | from settings to agents, and what they share |
//! | `questions`, `inputs` | the files that a run reads |
//! | `places` | servers, keys and recordings that an experiment uses |
//! | `named_files` | the files that settings name, and which of them need a confirmation |
//! | `plan` | which episodes there are, and which are due |
//! | `folder` | the run's folder, and how a run is resumed |
//! | `freeze` | the pages of a dataset, a run or a list, from a site into a corpus |
//! | `merge` | one folder from several of the same run |
//! | `judging` | asking judges about the answers of a run |
//! | `inspect_log` | a folder of the answers in logs of Inspect |
//! | `notebook` | a folder of episodes that the paper's notebooks recorded |
//! | `estimate` | what a run will take |
//! | `execute`, `runner`, `rescue`, `guard`, `breaker`, `interrupts`, `pace` | doing what is due |
//! | `stopping` | stopping when it is decided which of two variants is better |
//! | `unsent` | what servers do not take |
//! | `summary`, `evidence`, `hint`, `stored` | reading a run |
//! | `agent` | one agent, for single questions |
//! | `branch` | episodes that branch off recorded ones |
//! | `error` | errors with a kind and a hint |

mod admission;
pub(crate) mod agent;
mod asked;
pub(crate) mod branch;
mod breaker;
mod error;
mod estimate;
pub(crate) mod evidence;
mod execute;
mod folder;
#[cfg(feature = "index")]
mod freeze;
mod guard;
mod hint;
mod imported;
mod inputs;
mod inspect_log;
mod interrupts;
mod job;
mod journal;
mod judging;
mod merge;
mod model;
mod named_files;
mod notebook;
mod pace;
mod places;
mod plan;
mod pool;
mod prepare;
mod prices;
pub(crate) mod questions;
mod recording;
mod rescue;
mod revision;
mod runner;
pub(crate) mod stopping;
pub(crate) mod stored;
mod summary;
mod unsent;
mod variant;
mod wiki;

pub use agent::OneAgent;
pub use error::{ErrorKind, RunError};
pub(crate) use error::{chain, classify};
pub(crate) use estimate::{Estimate, Expense};
pub(crate) use execute::End;
pub(crate) use folder::fresh;
#[cfg(feature = "index")]
pub(crate) use freeze::{FreezeEnd, FreezePlan, FreezeProgress, FreezeSettings};
pub(crate) use hint::shortfalls;
pub(crate) use inspect_log::{AnswerFrom, Import as InspectImport, import as import_inspect};
pub use interrupts::Interrupts;
pub(crate) use judging::{JudgeEnd, JudgePlan, JudgeSettings, Judging};
pub(crate) use merge::{Merged, merge};
pub(crate) use model::key_variable;
pub(crate) use named_files::{Known, NamedFile, Namer, named_files};
pub(crate) use notebook::{Recorded, import as import_notebook};
#[cfg(test)]
pub(crate) use places::FLAGS_OF_FILES;
pub(crate) use places::{Place, places};
pub(crate) use prepare::PlannedRun;
pub(crate) use prepare::check_files;
pub use prepare::{Finished, Listener, Prepared, load_experiment, prepare};
pub(crate) use prices::{SetPrice, set_prices};
pub use summary::Summary;
pub(crate) use summary::{Spending, UnfinishedShard, VariantScore, left_out};
pub(crate) use variant::find_protocol;
#[cfg(feature = "serve")]
pub(crate) use wiki::open_corpus;

#[cfg(test)]
mod tests;
