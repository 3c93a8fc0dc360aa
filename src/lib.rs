//! Question answering agents over Wikipedia: run over dataset files, recorded, scored and compared.
//!
//! The library is the program without its command line. Describe what to run ([`Experiment`]), [`prepare`] it (writes
//! nothing), [`Prepared::execute`] it into a folder with a [`Listener`], read the [`Summary`], and compare the variants
//! ([`compare_run`]). [`OneAgent`] answers single questions.
//!
//! ```no_run
//! use wikitrail::{ComparisonSettings, Experiment, Interrupts, RunEvent, VariantSettings, compare_run, prepare};
//!
//! # async fn run() -> Result<(), wikitrail::RunError> {
//! let method = |name: &str| VariantSettings { method: Some(name.to_owned()), ..Default::default() };
//! let experiment = Experiment::over("datasets/sample.jsonl")
//!     .variant("react", method("react"))
//!     .variant("cot", method("cot"))
//!     .output("results/two");
//! let mut listener = |event: &RunEvent| eprintln!("{event:?}");
//! prepare(&experiment)?.execute(&mut listener, Interrupts::none()).await?;
//! let comparison = compare_run("results/two".as_ref(), &ComparisonSettings::default())?;
//! println!("{}", comparison.figures[0].pairs[0].verdict.sentence);
//! # Ok(())
//! # }
//! ```
//!
//! # Inside
//!
//! A question goes through the layers once, front to back:
//!
//! ```text
//! dataset file ─▶ Question ─▶ agent(dialogue ⇄ model, dialogue ⇄ Wikipedia session) ─▶ Trajectory ─▶ run folder ─▶ results ─▶ compare / report / export
//! ```
//!
//! Each folder is a layer. It may use the layers that are named beside it, and no others (`tests/it/repository/layering.rs` checks it):
//!
//! | layer | what it holds | uses |
//! |---|---|---|
//! | `base` | plain data, text, statistics | nothing |
//! | `dataset` | files to questions: formats, selection, splits | base |
//! | `scoring` | normalisation, official metrics and their files, figures of an episode, failure classes | base |
//! | `prompting` | prompts, exemplars, protocols: dialogues without I/O | base |
//! | `net` | HTTP: timeouts, retries, limits, size caps, redaction; recordings and the cache on disk; the servers' listener | base |
//! | `models` | from request to completion: one folder for each provider, budgets, the baseline | base, prompting, net |
//! | `wikipedia` | the tool: session, live sources, HTML, the frozen corpus | base, net |
//! | `runner` | settings, experiment files, agents, run folders, resume, plan, shards, events | base, dataset, scoring, prompting, net, models, wikipedia |
//! | `analysis` | runs read back: scored episodes, judgements, comparisons, branches, imports, exports, reports | base, dataset, scoring, prompting, net, models, wikipedia, runner |
//! | `facade` | what the library offers | base, runner, scoring, analysis |
//! | `cli` | one file for each command; the only user of clap and anyhow | everything |

#[doc(hidden)]
pub mod analysis;
#[doc(hidden)]
pub mod base;
mod cli;
#[doc(hidden)]
pub mod dataset;
mod facade;
#[doc(hidden)]
pub mod models;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod prompting;
#[doc(hidden)]
pub mod runner;
#[doc(hidden)]
pub mod scoring;
#[doc(hidden)]
pub mod wikipedia;

#[doc(hidden)]
pub use cli::main;
pub use facade::*;
