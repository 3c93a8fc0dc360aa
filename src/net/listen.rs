//! Who takes an answer: whole at its end, or event by event as it comes.

use super::client::{Accept, Answer};

/// What a listener makes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Go on.
    More,
    /// All that matters has come; what may follow is read if it follows soon. The same is said of what follows.
    Whole,
    /// The rest is not wanted: the connection is closed.
    Enough,
}

/// Takes the answer to one logical request. An attempt that fails is repeated, so the calls may come several times:
/// each attempt that is answered begins with [`Listener::begin`].
pub trait Listener: Send {
    /// The head of an answer, its body still empty. Whether the body, a stream of events, is to be heard event by event;
    /// otherwise it is kept whole.
    fn begin(&mut self, head: &Answer) -> bool;
    /// The data of the next event.
    fn event(&mut self, data: &[u8]) -> Heard;
    /// The answer is complete; its body is empty if it was heard event by event. Whether the caller can use it: if not,
    /// it is retried like a broken one.
    fn end(&mut self, answer: &Answer) -> bool;
    /// Tokens that the request may cost, prompt and answer together; asked before each attempt. 0 where nothing counts
    /// tokens.
    fn estimate(&self) -> u64 {
        0
    }
    /// Tokens that the last answer says it cost, after [`Listener::end`].
    fn tokens(&self) -> Option<u64> {
        None
    }
}

/// Keeps every answer whole.
pub(super) struct Keep<'a>(pub(super) Accept<'a>);

impl Listener for Keep<'_> {
    fn begin(&mut self, _head: &Answer) -> bool {
        false
    }

    fn event(&mut self, _data: &[u8]) -> Heard {
        Heard::More
    }

    fn end(&mut self, answer: &Answer) -> bool {
        (self.0)(answer)
    }
}
