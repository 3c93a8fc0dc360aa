//! Plain data that flows through the house: questions, requests, tool calls, trajectories, manifests, events.
//!
//! Nothing here opens a file or knows another floor; everything but `bounded` and `text` can be stored as JSON.

pub mod bounded;
pub mod branch;
pub mod call_id;
pub mod cause;
pub mod digest;
pub mod event;
pub mod finish;
pub mod function;
pub mod journal;
pub(crate) mod json_error;
pub mod manifest;
pub mod method;
pub mod named;
pub mod notes;
pub mod pairs;
mod prefix;
pub mod python;
pub mod question;
pub mod reasoning;
pub mod rebuilt;
pub mod request;
pub mod request_option;
pub mod secrecy;
pub mod shard;
pub mod stop_rule;
pub mod text;
pub mod tool;
pub mod trajectory;

pub use branch::{Branch, BranchEdit, Fork};
pub use cause::{Cause, Failure, Service};
pub(crate) use digest::Digester;
pub use digest::sha256_hex;
pub use event::{RunEvent, Wait, WaitReason};
pub use finish::{Ending, FinishReason};
pub use function::{Function, FunctionCall, Functions, Verbatim};
pub use journal::{Event, Paid, ToolAnswer};
pub use manifest::{
    DatasetRecord, DecodingRecord, ExperimentRecord, LimitChange, LimitHistory, LogRecord, Manifest, PriceRecord,
    Selection, Variant,
};
pub use method::{Method, Voting, Wording};
pub use named::{WikiKind, WikiName, has_prefill};
pub use notes::Notes;
pub use pairs::Pairs;
pub use prefix::Prefix;
pub use question::{AnswerKind, Evidence, Paragraph, Question, SupportingFact};
pub use reasoning::Reasoning;
pub use rebuilt::RebuiltPrompt;
pub use request::{Completion, Decoding, Message, Prompt, Request, Role, Usage};
pub use request_option::{RequestOption, RequestOptions};
pub use shard::{Shard, ShardRecord};
pub use stop_rule::{StopRule, Stopping};
pub use text::excerpt;
pub use tool::{Reply, Tool, ToolCall};
pub use trajectory::{Call, Compat, Outcome, Provenance, Repair, Step, Trajectory, Vote};
