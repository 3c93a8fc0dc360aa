//! A decoded answer, whatever the provider, and helpers that read its JSON.

use super::interface::{Decoded, Fault, Interface, Progress, Reasoning};
use super::redactor::StreamRedactor;
use super::refusal::Refusal;
use crate::base::{Cause, Ending, FinishReason, Usage};
use crate::models::capability::IN_TEXT;
use crate::models::{OnEvent, StreamEvent};
use crate::net::{Answer, Events, Heard, Listener};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// Larger token counts are capped, so that sums cannot overflow.
const MAX_TOKENS: u64 = 1 << 40;

pub(in crate::models) fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, String> {
    parse(&answer.body).map_err(|e| {
        if answer.body.trim_ascii().is_empty() {
            return "the body is empty".to_owned();
        }
        if is_html(answer) {
            return format!("it is a web page: {}", Refusal::read(&answer.body).message);
        }
        format!("it is not a completion in JSON: {e}")
    })
}

fn is_html(answer: &Answer) -> bool {
    answer.content_type.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().contains("html"))
        || answer.body.trim_ascii_start().starts_with(b"<")
}

/// Parses JSON; invalid characters are replaced, and a byte order mark before it is skipped.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).or_else(|error| {
        let text = String::from_utf8_lossy(body);
        let repaired = replace_unpaired_surrogates(&text);
        if repaired == text && matches!(text, std::borrow::Cow::Borrowed(_)) {
            Err(error)
        } else {
            serde_json::from_str(&repaired)
        }
    })
}

pub(in crate::models) fn parse_event<T: DeserializeOwned>(data: &[u8]) -> Result<T, String> {
    parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))
}

/// Replaces unpaired surrogates such as `\ud83d`: servers write them where a text is cut inside a character, and JSON
/// parsers refuse them.
fn replace_unpaired_surrogates(text: &str) -> String {
    let unit = |at: usize| -> Option<u16> {
        let escape = text.get(at..at + 6)?;
        u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        out.push_str(&text[at..at + found]);
        at += found;
        let (keep, length) = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => (true, 12),
            Some(0xd800..=0xdfff) => (false, 6),
            // Skip an escaped backslash as a whole, so that what follows it is not read as an escape.
            _ => (true, 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        out.push_str(if keep { &text[at..at + length] } else { "\\ufffd" });
        at += length;
    }
    out.push_str(&text[at..]);
    out
}

/// Whether the value of a field `error` says that there is one: some servers send an empty one with every answer.
pub(in crate::models) fn is_error(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) => true,
    }
}

/// An error that a body reports in its field `error`.
pub(in crate::models) fn no_error(error: &Value, body: &[u8]) -> Result<(), Fault> {
    if is_error(error) { Err(Fault::reported(body)) } else { Ok(()) }
}

pub(in crate::models) fn reason(value: &Value) -> Option<String> {
    FinishReason::recorded(&string(value)?)
}

/// A non-empty string, cut to 200 characters.
pub(in crate::models) fn string(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| text.chars().take(200).collect())
}

/// The counts in these two fields; `None` if one is there and is not a count, or neither is there. One that is absent is 0.
pub(in crate::models) fn usage(value: &Value, prompt: &str, completion: &str) -> Option<Usage> {
    if is_unreadable(value, prompt) || is_unreadable(value, completion) {
        return None;
    }
    let (prompt, completion) = (count(value, prompt), count(value, completion));
    let both = prompt.or(completion).is_some();
    both.then(|| Usage::new(prompt.unwrap_or(0), completion.unwrap_or(0)))
}

/// Whether the field is there, and holds no count.
pub(in crate::models) fn is_unreadable(value: &Value, name: &str) -> bool {
    count(value, name).is_none() && value.get(name).is_some_and(|found| !found.is_null())
}

/// A count of tokens; absent where it is none, or larger than any model's. Some servers write `10` as `10.0`.
pub(in crate::models) fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_f64()?.to_string().parse().ok().filter(|n| *n <= MAX_TOKENS)
}

// An answer as it arrives: whole, or as a stream of events.
//
// | in the stream | what happens |
// |---|---|
// | a piece of the text | reported as far as it is certain |
// | a finish reason, or the end of the stream | the completion is complete |
// | a complete stop | the connection is closed, so that the model does not generate on |
// | invalid JSON, a premature end | retried, then an error |
// | an error, even after the finish reason | as if the answer had its status: retried if that may help, then an error |
// | a refusal by the provider | an error, without a retry |
// | a reason for the end that is a failure of the server | as status 503: retried, then an error |
// | no text, no call, and no reason or one that is not known | retried once, then an error |

/// Finish reason where the client stopped the stream.
const STOPPED: &str = "stop";

/// Listens to the answers to one request until one of them is a completion.
pub(super) struct Incoming<'a> {
    interface: &'a dyn Interface,
    on_event: Option<OnEvent<'a>>,
    redactor: StreamRedactor<'a>,
    wanted: bool,
    label: String,
    estimate: u64,
    /// Whether text was reported that a new attempt makes void.
    shown: bool,
    stripper: ReasoningStripper,
    /// Whether an empty answer for an unknown reason was asked for again.
    asked_again: bool,
    /// Tokens of answers that were no completion, where the server counted any.
    discarded: Option<Usage>,
    attempt: Attempt,
}

#[derive(Default)]
struct Attempt {
    streamed: bool,
    progress: Progress,
    fault: Option<Fault>,
    /// Whether the text reached a stop, at which it is cut on this side.
    stopped: bool,
    result: Option<Result<Decoded, Fault>>,
}

impl Attempt {
    fn heard(&self) -> Heard {
        match (self.progress.ended, self.progress.whole()) {
            (true, _) => Heard::Enough,
            (false, true) => Heard::Whole,
            (false, false) => Heard::More,
        }
    }

    fn decoded(&mut self) -> Result<Decoded, Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if !self.progress.whole() {
            return Err("the stream ended before the completion did".into());
        }
        if !self.progress.started {
            return Err("the stream has no completion".into());
        }
        Ok(std::mem::take(&mut self.progress.rest))
    }
}

impl<'a> Incoming<'a> {
    /// Nothing has arrived yet. With `on_event`, text is reported as it arrives.
    pub(super) fn new(
        interface: &'a dyn Interface,
        on_event: Option<OnEvent<'a>>,
        redactor: StreamRedactor<'a>,
    ) -> Self {
        let (stripper, attempt) = (ReasoningStripper::new(false, ""), Attempt::default());
        let (wanted, shown, asked_again, label, estimate) = (false, false, false, String::new(), 0);
        let discarded = None;
        Self {
            interface,
            on_event,
            redactor,
            wanted,
            label,
            estimate,
            shown,
            stripper,
            asked_again,
            discarded,
            attempt,
        }
    }

    /// Describes the next request: whether it asks for a stream, the label that the model continues, and how many tokens
    /// it may cost.
    pub(super) fn expect(&mut self, stream: bool, label: String, estimate: u64) {
        self.wanted = stream;
        self.label = label;
        self.estimate = estimate;
    }

    /// The result of the last answer; `None` unless its status was 2xx.
    pub(super) fn take(&mut self) -> Option<Result<Decoded, Fault>> {
        self.attempt.result.take()
    }

    pub(super) fn stopped(&self) -> bool {
        self.attempt.stopped
    }

    /// The tokens that the server counted for answers which were no completion: it charges for them as well.
    pub(super) fn discarded(&self) -> Option<Usage> {
        self.discarded
    }

    /// The tokens of an answer, if they were counted, and of those before it.
    pub(super) fn all_counted(&self, usage: Option<Usage>) -> Option<Usage> {
        usage.map(|mut usage| {
            usage += self.discarded.unwrap_or_default();
            usage
        })
    }

    /// Puts what the model wrote in the place of the text, where the server could not read it.
    pub(super) fn replaced(&mut self, written: &str) -> String {
        self.restart(ReasoningStripper::new(false, ""));
        self.push(written);
        self.finish();
        self.redactor.text().to_owned()
    }

    fn restart(&mut self, stripper: ReasoningStripper) {
        if let Some(on_event) = self.on_event
            && std::mem::take(&mut self.shown)
        {
            on_event(StreamEvent::Restarted);
        }
        self.redactor.clear();
        self.stripper = stripper;
    }

    fn ended(&mut self, decoded: Decoded) -> Result<Decoded, Fault> {
        let reason = decoded.finish_reason.as_deref().unwrap_or_default();
        let is_empty = decoded.text.trim().is_empty() && decoded.calls.is_empty();
        let fault = match FinishReason::ending(reason) {
            Some(Ending::Failed) => Fault::Reported(Refusal::of_finish(reason)),
            None | Some(Ending::Unclear) if is_empty => Fault::Unexplained(reason.to_owned()),
            _ => return Ok(decoded),
        };
        if let Some(usage) = decoded.usage.filter(|usage| usage.prompt_tokens > 0) {
            *self.discarded.get_or_insert_default() += usage.without_impossible_parts();
        }
        Err(fault)
    }

    fn push(&mut self, piece: &str) -> bool {
        let Self { on_event, redactor, shown, stripper, .. } = self;
        redactor.push(&stripper.push(piece), &mut |text| show(*on_event, shown, text))
    }

    fn finish(&mut self) {
        let Self { on_event, redactor, shown, stripper, .. } = self;
        let mut show = |text: &str| show(*on_event, shown, text);
        redactor.push(&stripper.finish(), &mut show);
        redactor.finish(&mut show);
    }

    fn complete(&mut self, mut decoded: Decoded) -> Decoded {
        self.finish();
        self.redactor.text().clone_into(&mut decoded.text);
        if let Some(thought) = self.stripper.thought() {
            decoded.reasoned(IN_TEXT, thought);
        }
        decoded
    }

    fn piece(&mut self, data: &[u8]) -> Result<Heard, Fault> {
        let piece = self.interface.decode_event(data, &mut self.attempt.progress)?;
        if self.push(&piece) {
            self.attempt.progress.rest.finish_reason = Some(STOPPED.to_owned());
            self.attempt.stopped = true;
            return Ok(Heard::Enough);
        }
        Ok(self.attempt.heard())
    }

    /// Reads a stream that was not announced or not requested, all at once.
    fn replay(&mut self, body: &[u8]) -> Result<Decoded, Fault> {
        let mut events = Events::default();
        let mut enough = false;
        let mut each = |data: &[u8]| {
            enough = self.event(data) == Heard::Enough;
            !enough
        };
        events.push(body, &mut each);
        if !enough {
            events.finish(&mut |data| self.event(data) != Heard::Enough);
        }
        self.attempt.decoded()
    }
}

fn show(on_event: Option<OnEvent<'_>>, shown: &mut bool, text: &str) {
    if let Some(on_event) = on_event {
        *shown = true;
        on_event(StreamEvent::Text(text));
    }
}

pub(super) fn is_stream(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    // A stream may start with a comment.
    [&b"data:"[..], b"event:", b":"].iter().any(|start| body.starts_with(start))
}

/// The first event of a body that is a stream, which errors may be in too; else the body.
pub(super) fn first_event(body: &[u8]) -> Cow<'_, [u8]> {
    let mut first = None;
    if is_stream(body) {
        let mut events = Events::default();
        let mut take = |data: &[u8]| {
            first.get_or_insert_with(|| data.to_vec());
            false
        };
        events.push(body, &mut take);
        events.finish(&mut take);
    }
    first.map_or(Cow::Borrowed(body), Cow::Owned)
}

impl Listener for Incoming<'_> {
    fn begin(&mut self, head: &Answer) -> bool {
        self.restart(ReasoningStripper::new(self.interface.thinks_in_text(), &self.label));
        let kind = head.content_type.as_deref().unwrap_or_default().trim_start().to_ascii_lowercase();
        let streamed = self.wanted && head.ok() && kind.starts_with("text/event-stream");
        self.attempt = Attempt { streamed, ..Attempt::default() };
        streamed
    }

    fn event(&mut self, data: &[u8]) -> Heard {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.attempt.progress.ended |= self.interface.ends_with_done(&self.attempt.progress);
            return Heard::Enough;
        }
        match self.piece(data) {
            Ok(heard) => heard,
            // After a complete completion, only an error that the server reports invalidates it.
            Err(Fault::Broken(_) | Fault::Withheld(_)) if self.attempt.progress.whole() => Heard::Whole,
            Err(fault) => {
                self.attempt.fault = Some(fault);
                Heard::Enough
            }
        }
    }

    fn end(&mut self, answer: &Answer) -> bool {
        if !answer.ok() {
            return true;
        }
        let result = if self.attempt.streamed {
            self.attempt.decoded()
        } else if is_stream(&answer.body) {
            self.replay(&answer.body)
        } else {
            let mut decoded = self.interface.decode(answer);
            if let Ok(decoded) = &mut decoded
                && self.push(&decoded.text)
            {
                decoded.finish_reason = Some(STOPPED.to_owned());
                self.attempt.stopped = true;
            }
            decoded
        };
        let result = result.map(|decoded| self.complete(decoded)).and_then(|decoded| self.ended(decoded));
        let usable = match &result {
            Ok(_) | Err(Fault::Withheld(_)) => true,
            Err(Fault::Broken(_)) => false,
            Err(Fault::Unexplained(_)) => std::mem::replace(&mut self.asked_again, true),
            Err(Fault::Reported(refusal)) => {
                refusal.malformed(answer.status).is_some() || !refusal.cause(refusal.status()).is_passing()
            }
        };
        self.attempt.result = Some(result);
        usable
    }

    fn is_final(&self, answer: &Answer) -> bool {
        let body = first_event(&answer.body);
        let refusal = Refusal::read(&body);
        // Servers report a spent account and a full context like a failure that passes. A call that cannot be read is the
        // model's answer.
        refusal.malformed(answer.status).is_some()
            || matches!(refusal.cause(answer.status), Cause::Quota | Cause::ContextOverflow)
    }

    fn reported(&self) -> Option<(u16, &str)> {
        let Some(Err(Fault::Reported(refusal))) = &self.attempt.result else { return None };
        Some((refusal.status(), &refusal.message))
    }

    fn estimate(&self) -> u64 {
        self.estimate
    }

    fn tokens(&self) -> Option<u64> {
        let Some(Ok(decoded)) = &self.attempt.result else { return None };
        decoded.usage.filter(|usage| usage.prompt_tokens > 0).map(Usage::total)
    }
}

// Removes from the start of an answer what is not part of it.
//
// | at the start | what happens |
// |---|---|
// | `<think>` … `</think>` and the white space after it | removed and kept apart: some servers send reasoning this way |
// | `<think>` without an end | all of the text is reasoning: nothing is left |
// | the label that the model continues | removed: some servers and models repeat it |
//
// The text arrives in pieces that end anywhere; what may still become one of these is held back.

const CLOSE: &str = "</think>";

#[derive(Debug)]
pub(super) struct ReasoningStripper {
    state: State,
    label: String,
    thought: Option<Reasoning>,
}

#[derive(Debug)]
enum State {
    /// Reasoning may begin; holds the text so far.
    Before(String),
    /// Inside the reasoning; holds what may be the start of `</think>`.
    Thinking(String),
    After,
    /// The label may follow; holds the text so far.
    Label(String),
    Text,
}

impl ReasoningStripper {
    /// Before the first piece. `thinks`: whether there may be reasoning; `label`: what the model continues, or empty.
    pub(super) fn new(thinks: bool, label: &str) -> Self {
        let state = if thinks { State::Before(String::new()) } else { State::Label(String::new()) };
        Self { state, label: label.trim().to_owned(), thought: None }
    }

    pub(super) fn thought(&self) -> Option<&str> {
        self.thought.as_ref().map(|thought| thought.text.trim())
    }

    /// Takes the next piece, and returns what is certainly text.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut piece = piece.to_owned();
        loop {
            let (state, rest) = match std::mem::replace(&mut self.state, State::Text) {
                State::Before(held) => before(held + &piece),
                State::Thinking(held) => self.thinking(&(held + &piece)),
                State::After => match piece.trim_start() {
                    "" => (State::After, None),
                    text => (State::Label(String::new()), Some(text.to_owned())),
                },
                State::Label(held) => self.after_label(held + &piece),
                State::Text => return piece,
            };
            self.state = state;
            match rest {
                Some(rest) => piece = rest,
                None => return String::new(),
            }
        }
    }

    /// After the last piece: returns the text that was held back.
    pub(super) fn finish(&mut self) -> String {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Before(held) | State::Label(held) => held,
            State::Thinking(held) => self.think(&held),
            State::After | State::Text => String::new(),
        }
    }

    fn think(&mut self, piece: &str) -> String {
        self.thought.get_or_insert_with(|| Reasoning { place: IN_TEXT, text: String::new() }).push(piece);
        String::new()
    }

    fn thinking(&mut self, held: &str) -> (State, Option<String>) {
        if let Some((thought, rest)) = held.split_once(CLOSE) {
            self.think(thought);
            return (State::After, Some(rest.to_owned()));
        }
        let end = held.rfind('<').filter(|at| CLOSE.starts_with(&held[*at..])).unwrap_or(held.len());
        self.think(&held[..end]);
        (State::Thinking(held[end..].to_owned()), None)
    }

    fn after_label(&self, held: String) -> (State, Option<String>) {
        let text = held.trim_start();
        if self.label.is_empty() {
            return (State::Text, Some(held));
        }
        if let Some(rest) = text.strip_prefix(self.label.as_str()) {
            return (State::Text, Some(rest.to_owned()));
        }
        if self.label.starts_with(text) { (State::Label(held), None) } else { (State::Text, Some(held)) }
    }
}

fn before(held: String) -> (State, Option<String>) {
    let text = held.trim_start();
    if let Some(rest) = text.strip_prefix(IN_TEXT) {
        return (State::Thinking(String::new()), Some(rest.to_owned()));
    }
    if IN_TEXT.starts_with(text) { (State::Before(held), None) } else { (State::Label(String::new()), Some(held)) }
}

#[cfg(test)]
mod tests {
    use super::{ReasoningStripper, count, first_event, parse};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_mark_before_json_is_skipped() {
        assert_eq!(parse(b"\xef\xbb\xbf[1]").ok(), Some(json!([1])));
    }

    #[test]
    fn counts_are_whole_numbers_however_they_are_written() {
        for (written, counted) in [
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!(0.0), Some(0)),
            (json!(7.5), None),
            (json!(-1.0), None),
            (json!(1e300), None),
            (json!("7"), None),
        ] {
            assert_eq!(count(&json!({ "n": written }), "n"), counted, "{written}");
        }
    }

    #[test]
    fn an_error_may_come_as_an_event() {
        for (body, first) in [
            ("data: {\"error\": 1}\n\ndata: [DONE]\n\n", "{\"error\": 1}"),
            (": hello\n\ndata: {\"error\": 2}", "{\"error\": 2}"),
            ("{\"error\": 3}", "{\"error\": 3}"),
            ("data", "data"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&first_event(body.as_bytes())), first, "{body}");
        }
    }

    fn text(pieces: &[&str], label: &str) -> String {
        let mut stripper = ReasoningStripper::new(true, label);
        let text: String = pieces.iter().map(|piece| stripper.push(piece)).collect();
        text + &stripper.finish()
    }

    #[test]
    fn thinking_and_an_echo_are_taken_from_the_beginning_only() {
        for (sent, label, left) in [
            ("<think>a < b</think>\n\nIt is.", "", "It is."),
            (" \n<think>\n</think> Thought 1: It is.", "Thought 1:", " It is."),
            ("<think>never ends, Thought 1: x", "Thought 1:", ""),
            ("<think>a</thin</think>b", "", "b"),
            ("Thought 1: It is. Thought 1: x", "Thought 1: ", " It is. Thought 1: x"),
            (" It is. <think>a</think>", "Thought 1:", " It is. <think>a</think>"),
            ("<thinking> is hard", "", "<thinking> is hard"),
            ("<thi", "", "<thi"),
            ("Thou", "Thought 1:", "Thou"),
            ("\u{3000}é", "Thought 1:", "\u{3000}é"),
            (" ", "Thought 1:", " "),
            ("", "", ""),
            ("</think>x", "", "</think>x"),
        ] {
            assert_eq!(text(&[sent], label), left, "{sent:?}");
            let single: Vec<String> = sent.chars().map(String::from).collect();
            assert_eq!(
                text(&single.iter().map(String::as_str).collect::<Vec<_>>(), label),
                left,
                "{sent:?} by character"
            );
        }
        let mut stripper = ReasoningStripper::new(false, "");
        assert_eq!((stripper.push("<think>a</think>b"), stripper.thought()), ("<think>a</think>b".to_owned(), None));
    }

    #[test]
    fn what_was_thought_is_kept_up_to_a_limit() {
        for (pieces, thought) in [
            (&["<think>\na < b</th", "in</think>", "\nIt"][..], Some("a < b</thin")),
            (&["<think>never", " ends</thi"], Some("never ends</thi")),
            (&["<think>", "</think>x"], Some("")),
            (&["<thi"], None),
        ] {
            let mut stripper = ReasoningStripper::new(true, "");
            for piece in pieces {
                stripper.push(piece);
            }
            stripper.finish();
            assert_eq!(stripper.thought(), thought, "{pieces:?}");
        }
        let mut stripper = ReasoningStripper::new(true, "");
        stripper.push("<think>");
        for _ in 0..3 {
            stripper.push(&"\u{6771}".repeat(10_000));
        }
        assert_eq!(stripper.thought().map(str::len), Some(65_535));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_pieces_end(
            pieces in prop::collection::vec("(<think>|</think>|<|/t|T:|[ ab\u{e9}\n]){0,3}", 0..8),
        ) {
            let parts: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(text(&parts, "T:"), text(&[&pieces.concat()], "T:"));
        }
    }
}
