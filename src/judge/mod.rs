//! Verdicts of models on answers: what a judge is asked, what it said, and what it is still to be asked.
//!
//! ```text
//! <run>/verdicts.jsonl      one verdict a line, appended, and how the judged answers were chosen
//! ```
//!
//! A verdict belongs to a question, its golds and an answer, whichever variant gave it: equal answers have one verdict.

mod due;
mod file;
mod prompt;
mod verdict;

pub(crate) use due::{Answer, due};
pub(crate) use file::{KnownJudge, Verdicts, append, carry};
pub(crate) use prompt::{JudgePrompt, PromptFault, shown};
pub(crate) use verdict::{Chosen, Judge, Judgement, Line, Rule, RuleRecord, VERDICT_VERSION, Verdict, key, normalised};

#[cfg(test)]
mod tests;
