//! How callers take an answer: whole, or event by event as it arrives.

use super::client::Answer;

/// What a listener wants after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    More,
    /// Everything that matters has arrived; further events are read if they follow soon.
    Whole,
    /// No more events: the connection is closed.
    Enough,
}

/// Takes the answer to one logical request. After a retry the calls start again with [`Listener::begin`].
pub trait Listener: Send {
    /// Gets the head of an answer, without body. Returns whether to pass the body to [`Listener::event`] rather than keep
    /// it whole.
    fn begin(&mut self, _head: &Answer) -> bool {
        false
    }
    /// Gets the data of the next event.
    fn event(&mut self, _data: &[u8]) -> Heard {
        Heard::More
    }
    /// Gets the complete answer, without body if that was passed as events. Returns whether to accept it rather than
    /// retry.
    fn end(&mut self, answer: &Answer) -> bool;
    /// Whether a failure with this answer will last, although its status is one of those that pass.
    fn is_final(&self, _answer: &Answer) -> bool {
        false
    }
    /// The status and the words of an error that stands in place of an answer, after [`Listener::end`].
    fn reported(&self) -> Option<(u16, &str)> {
        None
    }
    /// Estimated tokens of prompt and answer, before each attempt; 0 if tokens are not limited.
    fn estimate(&self) -> u64 {
        0
    }
    /// Actual tokens of the last answer, if it says so, after [`Listener::end`].
    fn tokens(&self) -> Option<u64> {
        None
    }
}

/// Takes every answer whole.
#[derive(Debug)]
pub struct Keep;

impl Listener for Keep {
    fn end(&mut self, _answer: &Answer) -> bool {
        true
    }
}
