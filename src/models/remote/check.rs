//! Probes what a server supports, with two short requests.

use super::interface::Decoded;
use super::{ModelError, Remote, redactor};
use crate::base::named;
use crate::base::text::printable;
use crate::base::{Cause, Decoding, Ending, FinishReason, Prompt, Reasoning, Request, RequestOption, RequestOptions};
use crate::models::UNKNOWN_REASON_HINT;
use serde::Serialize;

/// Token limit of the first request, which asks for a text several times as long.
const FEW_TOKENS: u32 = 48;
/// Longest reason for the end of an answer that a warning names, in characters.
const REASON_CHARS: usize = 40;
/// A text of more characters than this must have more tokens than that.
const FEW_CHARS: usize = FEW_TOKENS as usize * 20;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        Honoured = "honoured",
        /// It accepts the setting and ignores it.
        Ignored = "ignored",
        /// It refuses requests with the setting; they are sent without it.
        Refused = "refused",
        /// The answers do not show it.
        Unclear = "unclear",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The URL that was asked, without user part and query.
    pub url: String,
    /// `chat`, `completions`, `messages`, …
    pub endpoint: &'static str,
    pub asked: String,
    /// The model that answered, as the server calls it.
    pub answered: Option<String>,
    /// Whether `stop` ends the text. The client applies stops in any case.
    pub stop: Verdict,
    pub max_tokens: Verdict,
    /// The name under which the limit is sent, such as `max_completion_tokens`.
    pub max_tokens_name: &'static str,
    /// Whether it accepts a temperature of 0. If not, requests are sent without one.
    pub temperature: Verdict,
    pub usage: bool,
    /// Where the model's reasoning was, or was counted: a field's name, or `<think>`.
    pub reasoning: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_reasoning: Option<Reasoning>,
    /// Tokens of reasoning in the first answer, as the server counts them.
    pub reasoning_tokens: u64,
    /// Options that the server refuses, or that the provider does not know: requests are sent without them.
    pub left_out: Vec<&'static str>,
    pub finish_reason: Option<String>,
    pub latency_ms: u64,
    /// Requests sent, including retries.
    pub requests: u32,
    /// What a run would suffer from, if anything.
    pub warning: Option<String>,
    /// Beginning of the first answer, at most 80 characters.
    pub sample: String,
}

impl Remote {
    /// Asks for a long text under a small limit, then for the same text with one of its own words as stop.
    /// Both ask for reasoning, and have fields added, as `asked` says.
    pub async fn check(&self, asked: &Decoding) -> Result<Check, ModelError> {
        let prompt = Prompt::text(
            "".into(),
            "Count from one to one hundred in English words, separated by commas:\none, two, three, ",
        );
        let decoding = Decoding { max_tokens: FEW_TOKENS, ..asked.clone() };
        let most = decoding.max_total_tokens();
        let mut request = Request::new(prompt, Vec::new(), decoding);
        let first = self.ask(&request, None).await?;
        let mut requests = first.attempts;
        let mut stop = Verdict::Unclear;
        if let Some(word) = later_word(&first.text) {
            request.stop = vec![word.to_owned()];
            let second = self.ask(&request, None).await?;
            requests += second.attempts;
            stop = self.judge_stop(&first, &second, word);
        }
        let refused = self.learned.refused();
        let temperature = refused.contains(RequestOption::Temperature);
        Ok(Check {
            url: self.address(),
            endpoint: self.endpoint(),
            asked: self.model.clone(),
            answered: first.model.clone(),
            stop,
            max_tokens: judge_limit(&first, most),
            max_tokens_name: self.interface.limit_name(refused),
            temperature: if temperature { Verdict::Refused } else { Verdict::Honoured },
            usage: first.usage.is_some(),
            reasoning: first.reasoning.as_ref().map(|reasoning| reasoning.place),
            asked_reasoning: asked.reasoning,
            reasoning_tokens: first.usage.and_then(|usage| usage.reasoning_tokens).unwrap_or(0),
            left_out: refused.and(RequestOptions::notable()).names(),
            finish_reason: first.finish_reason.clone(),
            latency_ms: u64::try_from(first.elapsed.as_millis()).unwrap_or(u64::MAX),
            requests,
            warning: warning(&first).into_iter().chain(self.other_model()).reduce(|one, more| format!("{one}; {more}")),
            sample: printable(&redactor::redacted(first.text.clone(), &[], &self.secrets.hidden.all()), 80),
        })
    }

    fn other_model(&self) -> Option<String> {
        let other = printable(self.learned.other_model()?, 80);
        Some(format!(
            "`{}` was asked and `{other}` answers: the server may have one model for every name",
            printable(&self.model, 80)
        ))
    }

    fn judge_stop(&self, first: &Decoded, second: &Decoded, word: &str) -> Verdict {
        if self.learned.refused().contains(RequestOption::Stop) {
            return Verdict::Refused;
        }
        let text = &second.text;
        if text.contains(word) {
            return Verdict::Ignored;
        }
        let cut = first.text.split(word).next().unwrap_or_default();
        let ended = second.finish_reason.as_deref() == Some("stop");
        if cut.trim_end() == text.trim_end() || ended { Verdict::Honoured } else { Verdict::Unclear }
    }
}

fn warning(first: &Decoded) -> Option<String> {
    let Decoded { text, reasoning, finish_reason, .. } = first;
    let reason = finish_reason.as_deref();
    let cause = reason.and_then(Cause::of_finish);
    let is_empty = text.trim().is_empty();
    let warning = match (cause, reason.map(FinishReason::ending)) {
        (Some(Cause::Refusal), _) => "the model declined to answer, and the server says so",
        (Some(Cause::ContentFilter), _) => "a filter of the provider withheld the answer",
        (Some(Cause::MalformedCall), _) => "the model wrote a function call that the provider could not read",
        (Some(Cause::ContextOverflow), _) => "the answer was cut where the model's context is full",
        (_, Some(None | Some(Ending::Unclear))) => {
            let reason = printable(reason.unwrap_or_default(), REASON_CHARS);
            return Some(format!("the answer ended with `{reason}`, which is not known: {UNKNOWN_REASON_HINT}"));
        }
        (_, Some(Some(Ending::Paused))) => "the provider paused the answer before it ended",
        (None, Some(Some(Ending::Answer))) if is_empty && reasoning.is_some() => {
            "the answer is reasoning alone, and the server says that it ended by itself: runs may need a larger --max-tokens"
        }
        _ if is_empty && reasoning.is_some() => {
            "the answer ended inside reasoning, which counts against the limit of tokens: runs need a larger --max-tokens \
             than the usual, which is 100 to 512"
        }
        _ if is_empty => "the answer is empty",
        _ if first.at_limit => {
            "the answer has as many tokens as the limit, and the server says that it ended by itself: a run cannot tell cut \
             answers from whole ones, and counts them as possibly cut"
        }
        _ if reasoning.is_some() => {
            "reasoning counts against the limit of tokens: runs need a larger --max-tokens than without it"
        }
        _ => return None,
    };
    Some(warning.to_owned())
}

/// A word that first occurs after the first third of `text`.
fn later_word(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.chars().count() >= 3).collect();
    let middle = text.len() / 3;
    words.into_iter().take(200).find(|word| text.find(word).is_some_and(|at| at >= middle))
}

fn judge_limit(decoded: &Decoded, most: u32) -> Verdict {
    if let Some(usage) = decoded.usage.filter(|usage| usage.completion_tokens > 0) {
        return if usage.completion_tokens <= u64::from(most) { Verdict::Honoured } else { Verdict::Ignored };
    }
    if decoded.text.chars().count() > FEW_CHARS {
        return Verdict::Ignored;
    }
    if decoded.finish_reason.as_deref() == Some("length") { Verdict::Honoured } else { Verdict::Unclear }
}
