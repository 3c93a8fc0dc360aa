//! Plain data that all layers use: questions, requests, tool calls, trajectories, manifests, events; text; statistics.
//!
//! Nothing here opens a file or uses another layer. In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `question` | one question of a dataset, in the form that every format is read into |
//! | `method` | prompting methods, how a vote is held, the language of the tool |
//! | `request` | prompts, messages, completions, tokens |
//! | `decoding` | how a model chooses its words: temperature, reasoning, options of a request |
//! | `tool` | the tools, one use of them, native function calls |
//! | `finish` | why a completion or an episode ended as it did |
//! | `trajectory` | one episode with its steps and calls; branches, journal events, what was paid |
//! | `manifest` | what a run was: variants, dataset, selection, versions; pairs to compare; notes |
//! | `shard` | a part of a run for one of several processes |
//! | `stop_rule` | when a run stops by itself |
//! | `event` | what a run reports while it goes on |
//! | `named` | enums whose variants have names |
//! | `short_names` | names of variants as tables show them |
//! | `bounded`, `digest`, `json_error`, `panics`, `python`, `text` | helpers: reading with a limit, SHA-256, errors of JSON, libraries that panic, Python's strings, text for people |
//! | [`stats`] | intervals, paired tests and resampling over numbers |
//!
//! Most names are imported from here (`base::Question`), functions from their file (`base::text::counted`).

pub mod bounded;
pub mod decoding;
pub mod digest;
pub mod event;
pub mod finish;
pub(crate) mod json_error;
pub(crate) mod line_diff;
pub mod manifest;
pub mod method;
mod named;
pub(crate) mod panics;
pub mod python;
pub mod question;
pub mod request;
pub mod shard;
pub(crate) mod short_names;
pub mod stats;
pub mod stop_rule;
pub mod text;
pub mod tool;
pub mod trajectory;

pub use decoding::{Decoding, Reasoning, RequestOption, RequestOptions};
pub use digest::sha256_hex;
pub(crate) use digest::{Digester, sha256_of_files};
pub use event::{RunEvent, Wait, WaitReason};
pub use finish::{Cause, Ending, Failure, FinishReason, Service};
pub use manifest::{
    DatasetRecord, DecodingRecord, ExperimentRecord, LimitChange, LimitHistory, LogRecord, Manifest, Notes, Pairs,
    PriceRecord, Selection, Variant, WikiKind, WikiName, has_prefill,
};
pub use method::{Method, Voting, Wording};
pub(crate) use named::named;
pub use question::{AnswerKind, Evidence, Paragraph, Question, SupportingFact};
pub use request::{Completion, EpisodeState, Forwarded, Message, Prefix, Prompt, Request, Role, Usage};
pub use shard::{Shard, ShardRecord};
pub use stop_rule::{StopRule, Stopping};
pub use text::excerpt;
pub use tool::{Function, FunctionCall, Functions, Reply, Tool, ToolCall, ToolSet, Verbatim};
#[cfg(feature = "serve")]
pub use trajectory::SentBody;
pub use trajectory::{
    Branch, BranchEdit, Call, Compat, Event, Fork, Outcome, Paid, PassageHit, Provenance, RebuiltPrompt, Repair, Step,
    ToolAnswer, Trajectory, Vote,
};

use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

/// Each of them once, in their order.
pub(crate) fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut found, item| {
        if !found.contains(&item) {
            found.push(item);
        }
        found
    })
}

/// What a mutex holds, also after a panic: each holder leaves it whole at every step.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads this machine runs at once, as far as it says.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

pub(crate) fn yes() -> bool {
    true
}

/// The largest amount of money in a record, in US dollars. Sums of such amounts stay finite.
pub(crate) const MAX_USD: f64 = 1e12;
/// What is expected of an amount of money, for errors.
pub(crate) const USD: &str = "US dollars from 0 to 1e12";

/// Reads an amount of money. In a record from somebody else, one below zero would lower what counts against a budget.
pub(crate) fn deserialize_usd<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(wrong) if !(0.0..=MAX_USD).contains(&wrong) => {
            Err(D::Error::invalid_value(Unexpected::Float(wrong), &USD))
        }
        amount => Ok(amount),
    }
}

/// For fields that a record leaves out where they say nothing.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
