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
//! A question goes through the floors once, front to back:
//!
//! ```text
//! dataset file ─▶ Question ─▶ agent(dialogue ⇄ model, dialogue ⇄ wiki session) ─▶ Trajectory ─▶ store ─▶ score ─▶ compare / report / export
//! ```
//!
//! Each module is a floor, and may use the floors named beside it and no others (`tests/it/repository/layering.rs` checks it):
//!
//! | floor | what it holds | uses |
//! |---|---|---|
//! | `types` | questions, requests, tool calls, trajectories, manifests, events, text for people: plain data | nothing |
//! | `stats` | intervals, paired tests and resampling over numbers | nothing |
//! | `net` | the only user of HTTP: timeouts, retries, limits, size caps, redaction | types |
//! | `tape` | recordings of requests and answers, and the cache on disk | types |
//! | `dataset` | one file for each format, from bytes to questions; selection and shuffles | types, stats |
//! | `store` | a run's folder: manifest, append, read, lock | types, tape |
//! | `protocol` | dialogues without I/O: model text to tool calls and back | types |
//! | `prompt` | prompt files, exemplars, rendering, digests | types, protocol |
//! | `experiment` | what to run: every setting, the model that flags and files produce, experiment files | types, protocol, prompt |
//! | `llm` | from request to completion: one folder for each provider, the baseline policy, budgets | types, net, tape, protocol |
//! | `wiki` | search and lookup: session, HTML extraction, sources, frozen corpus | types, net, tape |
//! | `score` | normalisation, official metrics, figures of an episode, failure classes | types |
//! | `label` | judgements of people on episodes: their file, samples, agreement | types, stats, tape, store, score |
//! | `judge` | what models say of answers and of failed episodes: prompts, their files, what is to be asked | types, store, score, label |
//! | `agent` | one question to one trajectory, by method; replay | types, protocol, llm, wiki, score |
//! | `run` | prepare, folder, resume, plan, runner, events, summary | types, stats, net, tape, dataset, store, protocol, prompt, experiment, llm, wiki, score, label, judge, agent |
//! | `export` | one file for each format | types, score, label |
//! | `compare` | variants on the same questions: pairs, tests, verdicts, flipped answers | types, score, stats |
//! | `graded` | runs read back with their scores, and what differs between them | types, stats, dataset, store, experiment, score, label, judge, run, compare |
//! | `report` | terminal tables, progress, episodes for reading | types, score, stats, label, judge, run, compare, graded |
//! | `serve` | a frozen corpus for other programs: `MediaWiki`, `/retrieve`, MCP; runs in a browser; the only HTTP server | types, store, wiki, run, graded, label, report |
//! | `facade` | what the library offers | types, experiment, run, score, compare, graded |
//! | `cli` | one file for each command; the only user of clap and anyhow | everything |

#[doc(hidden)]
pub mod agent;
mod cli;
mod compare;
#[doc(hidden)]
pub mod dataset;
#[doc(hidden)]
pub mod experiment;
#[doc(hidden)]
pub mod export;
mod facade;
mod graded;
mod judge;
#[doc(hidden)]
pub mod label;
#[doc(hidden)]
pub mod llm;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod prompt;
#[doc(hidden)]
pub mod protocol;
mod report;
mod run;
#[doc(hidden)]
pub mod score;
#[cfg(feature = "serve")]
mod serve;
#[doc(hidden)]
pub mod stats;
mod store;
#[doc(hidden)]
pub mod tape;
#[doc(hidden)]
pub mod types;
#[doc(hidden)]
pub mod wiki;

#[doc(hidden)]
pub use cli::main;
pub use facade::*;
