//! The open page.

use crate::wiki::observe::Voice;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub(super) struct Page {
    text: Text,
    /// Its length in characters, counted once: the state may be asked for at every step.
    chars: OnceLock<usize>,
}

/// As many pages are open as episodes are in flight, and the source mostly holds the same text; another one is made only
/// where it must differ.
#[derive(Debug)]
enum Text {
    /// The source's blocks, of which those are read that the voice takes.
    Shared(Arc<[String]>, Voice),
    /// Blocks that were changed; all of them are read.
    Own(Vec<String>),
}

impl Page {
    /// A page of those of the source's blocks that `voice` takes.
    pub(super) fn shared(blocks: Arc<[String]>, voice: Voice) -> Self {
        Self { text: Text::Shared(blocks, voice), chars: OnceLock::new() }
    }

    pub(super) fn own(blocks: Vec<String>) -> Self {
        Self { text: Text::Own(blocks), chars: OnceLock::new() }
    }

    /// The blocks that are read, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &str> {
        let (blocks, voice): (&[String], _) = match &self.text {
            Text::Shared(blocks, voice) => (blocks, Some(voice)),
            Text::Own(blocks) => (blocks, None),
        };
        blocks.iter().map(String::as_str).filter(move |block| voice.is_none_or(|voice| voice.takes(block)))
    }

    /// The text as the paper's environment keeps it: each block on a line of its own.
    pub(super) fn to_text(&self) -> String {
        self.blocks().flat_map(|block| [block, "\n"]).collect()
    }

    pub(super) fn chars(&self) -> usize {
        *self.chars.get_or_init(|| self.blocks().map(|block| block.chars().count() + 1).sum())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks().next().is_none()
    }
}
