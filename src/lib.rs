//! `wikitrail`: question answering agents over Wikipedia, run over dataset files, recorded, scored and compared.
//!
//! A question walks through the house once, front to back; nothing calls back up:
//!
//! ```text
//! dataset file ─▶ Question ─▶ agent(dialogue ⇄ model, dialogue ⇄ wiki session) ─▶ Trajectory ─▶ store ─▶ score ─▶ compare / report / export
//! ```
//!
//! Each module is a floor, and may use the floors named beside it and nothing else (`tests/it/layering.rs` proves it):
//!
//! | floor | what it holds | uses |
//! |---|---|---|
//! | [`types`] | questions, requests, tool calls, trajectories, manifests, events: plain data | nothing |
//! | [`stats`] | intervals, paired tests and resampling over counts and numbers | nothing |
//! | [`net`] | the one user of HTTP: timeouts, retry, rate limit, size caps, redaction | nothing |
//! | [`tape`] | record and replay of request and answer pairs in a file; a cache on disk | nothing |
//! | [`dataset`] | one file a format, from bytes to questions; selection and shuffles | types |
//! | [`store`] | a run's folder: manifest, append, read, lock, what is left to do | types |
//! | [`protocol`] | dialogues without I/O: model text to tool calls and back | types |
//! | [`prompt`] | prompt files, exemplars, rendering, the paper's JSON, digests | types, protocol |
//! | [`experiment`] | what to run: the settings, the model that flags and files produce, experiment files | types, protocol, prompt |
//! | [`llm`] | request to completion: OpenAI-compatible servers, the baseline policy | types, net, tape, protocol |
//! | [`wiki`] | search and lookup: session, HTML extraction, sources, frozen corpus | types, net, tape |
//! | [`score`] | normalisation, official metrics, trajectory metrics | types |
//! | [`agent`] | one question to one trajectory, by method | types, protocol, llm, wiki, score |
//! | [`run`] | preparing, folder, resume, plan, runner, events, figures | types, stats, net, tape, dataset, store, protocol, prompt, experiment, llm, wiki, score, agent |
//! | [`export`] | one file a format | types, score |
//! | [`compare`] | variants on the same questions: pairs, tests, verdicts, flipped answers | types, score, stats |
//! | [`report`] | tables, progress, one trajectory for reading | types, score, stats, compare |
//! | `facade` | what the library offers: experiments, runs, figures, comparisons | types, experiment, run, score, compare |
//! | `cli` | one file a command; the only user of clap and anyhow | everything |

pub mod agent;
pub mod cli;
pub mod compare;
pub mod dataset;
pub mod experiment;
pub mod export;
mod facade;
pub mod llm;
pub mod net;
pub mod prompt;
pub mod protocol;
pub mod report;
pub mod run;
pub mod score;
pub mod stats;
pub mod store;
pub mod tape;
pub mod types;
pub mod wiki;

pub use facade::*;
