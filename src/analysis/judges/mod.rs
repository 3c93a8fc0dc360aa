//! What models say of a run: verdicts on its answers, readings of why its episodes failed; what they are asked, and what
//! they are still to be asked.
//!
//! ```text
//! <run>/verdicts.jsonl             one verdict a line, appended, and how the judged answers were chosen
//! <run>/classifications.jsonl      one reading a line, in the same form
//! ```
//!
//! A verdict belongs to a question, its golds and an answer, whichever variant gave it: equal answers have one verdict. A
//! reading belongs to one episode. [`JudgeTask`] is all in which the two differ.

mod judging;
mod prompt;
mod verdict;

pub(crate) use judging::{JudgeEnd, JudgePlan, JudgeSettings, Judging};
pub(crate) use prompt::{JudgePrompt, PromptFault, cut_answer};
pub(crate) use verdict::{
    Answer, Chosen, Judge, JudgeTask, Judgement, KnownJudge, Line, Read, Reading, Rule, RuleRecord, VERDICT_VERSION,
    Verdict, Verdicts, carry, due, key, normalised,
};

#[cfg(test)]
mod tests;
