//! An answer as it comes: whole, or as a stream of events that are shown one by one.
//!
//! | in the stream | what becomes of it |
//! |---|---|
//! | a piece of the text | shown as far as it is certain |
//! | why the model ended, or that the stream is over | the completion is whole |
//! | a stop that is complete | the connection is closed: the model need not go on |
//! | no JSON, an error, an end before the completion's | no completion: tried again, then an error |
//! | that the provider will not answer | no completion, and no other attempt |

use super::answer::{Decoded, Fault, Progress};
use super::interface::Interface;
use super::reasoning::ReasoningStripper;
use super::redactor::StreamRedactor;
use crate::llm::{OnEvent, StreamEvent};
use crate::net::{Answer, Events, Heard, Listener};
use crate::types::Usage;

/// Why the server stopped, where we stopped it.
const STOPPED: &str = "stop";
/// Where reasoning was, if it stood in the text.
const THINK: &str = "<think>";

/// Hears the answers to one request until one of them is a completion.
pub(super) struct Incoming<'a> {
    interface: &'a dyn Interface,
    on_event: Option<OnEvent<'a>>,
    redactor: StreamRedactor<'a>,
    /// Whether a stream was asked for.
    wanted: bool,
    /// What the model was given to continue.
    label: String,
    /// Tokens that the request may cost.
    estimate: u64,
    /// Whether anything is shown that a new attempt makes void.
    shown: bool,
    stripper: ReasoningStripper,
    attempt: Attempt,
}

/// What is known of one attempt's answer.
#[derive(Default)]
struct Attempt {
    /// Whether it is heard event by event.
    streamed: bool,
    progress: Progress,
    /// Why the stream is no completion.
    fault: Option<Fault>,
    /// What it came to, if its status was one of the 2xx.
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

    /// The completion that the events make, without its text.
    fn decoded(&mut self) -> Result<Decoded, Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if !self.progress.whole() {
            return Err("the stream ended before the completion did".into());
        }
        if !self.progress.started {
            return Err("the stream holds no completion".into());
        }
        Ok(std::mem::take(&mut self.progress.rest))
    }
}

impl<'a> Incoming<'a> {
    /// Nothing has come yet. With `on_event`, text is shown as it comes.
    pub(super) fn new(
        interface: &'a dyn Interface,
        on_event: Option<OnEvent<'a>>,
        redactor: StreamRedactor<'a>,
    ) -> Self {
        let stripper = ReasoningStripper::new(false, "");
        let attempt = Attempt::default();
        Self {
            interface,
            on_event,
            redactor,
            wanted: false,
            label: String::new(),
            estimate: 0,
            shown: false,
            stripper,
            attempt,
        }
    }

    /// Says what the next answers are to: whether a stream was asked for, and what the model was given to continue.
    /// And how many tokens the request may cost.
    pub(super) fn expect(&mut self, stream: bool, label: String, estimate: u64) {
        self.wanted = stream;
        self.label = label;
        self.estimate = estimate;
    }

    /// What the last answer holds; nothing unless its status was one of the 2xx.
    pub(super) fn take(&mut self) -> Option<Result<Decoded, Fault>> {
        self.attempt.result.take()
    }

    /// Adds a piece to the text; whether the text is at its end.
    fn push(&mut self, piece: &str) -> bool {
        let Self { on_event, redactor, shown, stripper, .. } = self;
        redactor.push(&stripper.push(piece), &mut |text| show(*on_event, shown, text))
    }

    /// Shows what is left of the text.
    fn finish(&mut self) {
        let Self { on_event, redactor, shown, stripper, .. } = self;
        let mut show = |text: &str| show(*on_event, shown, text);
        redactor.push(&stripper.finish(), &mut show);
        redactor.finish(&mut show);
    }

    /// Puts the text, which is in its final form here only, into the completion.
    fn complete(&mut self, mut decoded: Decoded) -> Decoded {
        self.finish();
        self.redactor.text().clone_into(&mut decoded.text);
        if self.stripper.thought() {
            decoded.reasoning = Some(THINK);
        }
        decoded
    }

    fn piece(&mut self, data: &[u8]) -> Result<Heard, Fault> {
        let piece = self.interface.decode_event(data, &mut self.attempt.progress)?;
        if self.push(&piece) {
            self.attempt.progress.rest.finish_reason = Some(STOPPED.to_owned());
            return Ok(Heard::Enough);
        }
        Ok(self.attempt.heard())
    }

    /// A stream that was not announced as one, or not asked for, all at once.
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

/// Whether a body is a stream, whatever its head says.
fn is_stream(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    body.starts_with(b"data:") || body.starts_with(b"event:")
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
            self.attempt.progress.ended = true;
            return Heard::Enough;
        }
        match self.piece(data) {
            Ok(heard) => heard,
            // What comes after a whole completion cannot take it back.
            Err(_) if self.attempt.progress.whole() => Heard::Whole,
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
            let decoded = self.interface.decode(answer);
            if let Ok(decoded) = &decoded {
                self.push(&decoded.text);
            }
            decoded
        };
        let result = result.map(|decoded| self.complete(decoded));
        let usable = !matches!(result, Err(Fault::Broken(_)));
        self.attempt.result = Some(result);
        usable
    }

    fn estimate(&self) -> u64 {
        self.estimate
    }

    fn tokens(&self) -> Option<u64> {
        let Some(Ok(decoded)) = &self.attempt.result else { return None };
        decoded.usage.map(Usage::total)
    }
}

#[cfg(test)]
mod tests;
