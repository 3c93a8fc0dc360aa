//! Running an experiment: preparing, output folder, resume, estimate, budget, pace, events, figures.
//!
//! | file | what it holds |
//! |---|---|
//! | [`experiment`] | what to run: the table of settings, and experiment files |
//! | [`agent`] | one question to one trajectory, by method |
//! | `store` | a run's folder on disk: append, read, lock |
//! | `prepare` | the way from an experiment to its figures |
//! | `job` | one run, ready to start: questions, variants, manifest, plan |
//! | `questions` | the dataset's file, and which of its questions a run asks |
//! | `variant`, `provider`, `model`, `wiki`, `pool` | from settings to agents, and what they share: models, sources, recordings |
//! | `program` | the same for agents that are other programs |
//! | `prompt_forms` | notes where prompts differ in form, or a model does not write what the protocol reads |
//! | `prices`, `costs` | prices of models, and what a run will take |
//! | `plan` | which episodes there are, and which are due |
//! | `folder` | the run's folder, and how a run is resumed |
//! | `execute` | doing what is due: one writer, clean stops, rescue of what a full disk does not take |
//! | `admission`, `breaker`, `pace` | which episodes may begin: budgets, failing servers, limits of servers |
//! | `stopping` | stopping when it is decided which of two variants is better |
//! | `branch` | episodes that branch off recorded ones, with their placebos |
//! | `import` | a folder of episodes that other programs recorded |
//! | `one_agent` | one agent, for single questions |
//! | `error`, `hints` | errors with a kind and a hint, and what to do about what failed in an episode |
//! | `named_files` | the files, servers, keys and recordings that an experiment uses |
//! | `command_line`, `user_config`, `confirm` | what was typed, what settings files say, and what a person confirms first |
//! | `corpus_inputs` | the inputs of a corpus that is built |
//! | `freeze` | the pages of a dataset, a run or a list, from a site into a corpus |
//! | `summary`, `stored`, `revision` | reading a run |

mod admission;
pub mod agent;
pub(crate) mod branch;
mod breaker;
mod command_line;
mod confirm;
#[cfg(feature = "index")]
pub(crate) mod corpus_inputs;
mod costs;
pub(crate) mod error;
pub(crate) mod execute;
pub mod experiment;
pub(crate) mod folder;
#[cfg(feature = "index")]
mod freeze;
pub(crate) mod hints;
pub(crate) mod import;
mod job;
pub(crate) mod model;
mod named_files;
pub(crate) mod one_agent;
mod pace;
pub(crate) mod plan;
pub(crate) mod pool;
mod prepare;
mod prices;
#[cfg(feature = "serve")]
pub(crate) mod program;
mod prompt_forms;
mod provider;
pub(crate) mod questions;
mod revision;
pub(crate) mod stopping;
pub(crate) mod store;
pub(crate) mod stored;
pub(crate) mod summary;
mod user_config;
mod variant;
mod wiki;

pub(crate) use command_line::{Argument, ExplicitArgs, without_secrets, words_again};
pub(crate) use confirm::{Confirm, Confirmation};
#[cfg(test)]
pub(crate) use costs::Expense;
pub(crate) use costs::{Estimate, EstimateRow};
pub use error::{ErrorKind, RunError};
pub(crate) use error::{chain, classify};
pub(crate) use execute::End;
pub use execute::{Interrupts, Listener};
pub(crate) use folder::fresh;
#[cfg(feature = "index")]
pub(crate) use freeze::{FreezeEnd, FreezePlan, FreezeProgress, FreezeSettings, explain_freeze};
pub(crate) use hints::shortfalls;
pub(crate) use import::{AnswerFrom, Import, Imported, import_answers, import_inspect, import_notebook};
#[cfg(test)]
pub(crate) use named_files::FLAGS_OF_FILES;
pub(crate) use named_files::{ReadScope, TrustedInputs};
pub use one_agent::OneAgent;
pub use prepare::{Finished, Prepared, load_experiment, prepare};
pub(crate) use prepare::{PlannedRun, check_files};
pub(crate) use prices::set_prices;
pub(crate) use prompt_forms::{format_note, layout_notes};
pub(crate) use provider::key_variable;

pub use summary::Summary;
pub(crate) use summary::{Spending, UnfinishedShard, VariantScore, left_out};
pub(crate) use user_config::UserConfig;
#[cfg(feature = "serve")]
pub(crate) use user_config::state_folder;
pub(crate) use variant::{find_protocol, usual_protocol};
#[cfg(feature = "serve")]
pub(crate) use wiki::open_corpus;

#[cfg(test)]
mod tests;
