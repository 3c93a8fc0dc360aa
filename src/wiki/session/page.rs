//! The open page.

use crate::wiki::observe::Voice;
use std::sync::{Arc, OnceLock};

/// As many pages are open as episodes are in flight, so a page shares the source's blocks, and has others only where it
/// must differ.
#[derive(Debug)]
pub(super) struct Page {
    blocks: Arc<[String]>,
    /// Only the blocks that it takes are read; all without one.
    voice: Option<Voice>,
    /// Length of the text in characters, counted once: the state may be asked for at every step.
    chars: OnceLock<usize>,
}

impl Page {
    pub(super) fn new(blocks: Arc<[String]>, voice: Option<Voice>) -> Self {
        Self { blocks, voice, chars: OnceLock::new() }
    }

    /// The blocks that are read, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &str> {
        let is_read = |block: &&str| self.voice.is_none_or(|voice| voice.takes(block));
        self.blocks.iter().map(String::as_str).filter(is_read)
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
