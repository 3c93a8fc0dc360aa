//! An answer as it arrives: whole, or as a stream of events.
//!
//! | in the stream | what happens |
//! |---|---|
//! | a piece of the text | reported as far as it is certain |
//! | a finish reason, or the end of the stream | the completion is complete |
//! | a complete stop | the connection is closed, so that the model does not generate on |
//! | invalid JSON, a premature end | retried, then an error |
//! | an error, even after the finish reason | as if the answer had its status: retried if that may help, then an error |
//! | a refusal by the provider | an error, without a retry |
//! | a reason for the end that is a failure of the server | as status 503: retried, then an error |
//! | no text, no call, and no reason or one that is not known | retried once, then an error |

use super::answer::{Decoded, Fault, Progress};
use super::interface::Interface;
use super::reasoning::ReasoningStripper;
use super::redactor::StreamRedactor;
use super::refusal::Refusal;
use crate::llm::capability::IN_TEXT;
use crate::llm::{OnEvent, StreamEvent};
use crate::net::{Answer, Events, Heard, Listener};
use crate::types::{Cause, Ending, FinishReason, Usage};
use std::borrow::Cow;

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
    attempt: Attempt,
}

#[derive(Default)]
struct Attempt {
    /// Whether it is read event by event.
    streamed: bool,
    progress: Progress,
    /// Why the stream is not a completion.
    fault: Option<Fault>,
    /// Whether the text reached a stop, at which it is cut on this side.
    stopped: bool,
    /// The result, if the status was 2xx.
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

    /// The streamed completion, without its text.
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
        Self { interface, on_event, redactor, wanted, label, estimate, shown, stripper, asked_again, attempt }
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

    /// Whether the text of the last answer was cut at a stop on this side.
    pub(super) fn stopped(&self) -> bool {
        self.attempt.stopped
    }

    /// Puts what the model wrote in the place of the text, where the server could not read it.
    pub(super) fn replaced(&mut self, written: &str) -> String {
        if let Some(on_event) = self.on_event
            && std::mem::take(&mut self.shown)
        {
            on_event(StreamEvent::Restarted);
        }
        self.redactor.clear();
        self.stripper = ReasoningStripper::new(false, "");
        self.push(written);
        self.finish();
        self.redactor.text().to_owned()
    }

    /// The completion, unless its reason for the end says that it is none.
    fn ended(decoded: Decoded) -> Result<Decoded, Fault> {
        let reason = decoded.finish_reason.as_deref().unwrap_or_default();
        let is_empty = decoded.text.trim().is_empty() && decoded.calls.is_empty();
        match FinishReason::ending(reason) {
            Some(Ending::Failed) => Err(Fault::Reported(Refusal::of_finish(reason))),
            None | Some(Ending::Unclear) if is_empty => Err(Fault::Unexplained(reason.to_owned())),
            _ => Ok(decoded),
        }
    }

    /// Adds a piece to the text. Returns whether the text has ended.
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

    /// Puts the final text into the completion.
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

/// Whether a body is a stream, whatever its content type.
fn is_stream(body: &[u8]) -> bool {
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
            first = Some(data.to_vec());
            false
        };
        events.push(body, &mut take);
        if first.is_none() {
            events.finish(&mut |data| {
                first = Some(data.to_vec());
                false
            });
        }
    }
    first.map_or(Cow::Borrowed(body), Cow::Owned)
}

impl Listener for Incoming<'_> {
    fn begin(&mut self, head: &Answer) -> bool {
        if let Some(on_event) = self.on_event
            && std::mem::take(&mut self.shown)
        {
            on_event(StreamEvent::Restarted);
        }
        self.redactor.clear();
        self.stripper = ReasoningStripper::new(self.interface.thinks_in_text(), &self.label);
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
        let result = result.map(|decoded| self.complete(decoded)).and_then(Self::ended);
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

#[cfg(test)]
mod tests {
    use super::first_event;

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
}
