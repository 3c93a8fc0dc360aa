//! Question answering agents over Wikipedia: run over dataset files, recorded, scored and compared.
//!
//! The library offers what the program does, without its command line. Its modules have the names of the program's commands:
//!
//! | module | what it does |
//! |---|---|
//! | [`run`] | runs agents over the questions of a dataset, or one agent over one question |
//! | [`score`] | scores answers as the official scripts do |
//! | [`wiki`] | the tool: searches and looks up in a Wikipedia |
//! | [`compare`] | compares the variants of a run; the statistics behind it |
//!
//! # Inside
//!
//! A question goes through the layers once, front to back:
//!
//! ```text
//! dataset file ─▶ Question ─▶ agent(dialogue ⇄ model, dialogue ⇄ Wikipedia session) ─▶ Trajectory ─▶ run folder ─▶ results ─▶ compare / report / export
//! ```
//!
//! Each folder is a layer, and `facade.rs` is one. A layer may use the layers that are named beside it, and no others (`tests/it/repository/layering.rs` checks it):
//!
//! | layer | what it holds | uses |
//! |---|---|---|
//! | `base` | plain data, text, statistics | nothing |
//! | `dataset` | files to questions: formats, selection, splits | base |
//! | `scoring` | normalisation, official metrics and their files, figures of an episode, failure classes | base |
//! | `prompting` | prompts, exemplars, protocols: dialogues without I/O | base |
//! | `net` | HTTP: timeouts, retries, limits, size caps, redaction; recordings and the cache on disk; the servers' listener | base |
//! | `models` | from request to completion: a file or folder for each provider, budgets, the baseline | base, prompting, net |
//! | `wikipedia` | the tool: session, live sources, HTML, the frozen corpus | base, net |
//! | `runner` | settings, experiment files, agents, run folders, imports, resume, plan, shards, events | base, dataset, scoring, prompting, net, models, wikipedia |
//! | `analysis` | runs read back: scored episodes, judgements, comparisons, branches, exports, reports | base, dataset, scoring, prompting, net, models, wikipedia, runner |
//! | `facade` | what the library offers | base, dataset, prompting, net, wikipedia, runner, scoring, analysis |
//! | `cli` | one file for each command; the only user of clap and anyhow | everything |

mod analysis;
mod base;
mod cli;
mod dataset;
mod facade;
mod models;
mod net;
mod prompting;
mod runner;
mod scoring;
mod wikipedia;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use cli::main;
pub use facade::{compare, run, score, wiki};
