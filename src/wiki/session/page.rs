//! The open page.

use crate::types::Provenance;
use crate::wiki::SentenceMap;
use crate::wiki::observe::{self, ObservationFormat, Part};
use std::sync::{Arc, OnceLock};

/// As many pages are open as episodes are in flight, so a page shares the source's blocks, and has others only where it
/// must differ.
#[derive(Debug)]
pub(super) struct OpenPage {
    blocks: Arc<[String]>,
    /// Only the blocks that it takes are read; all without one.
    format: Option<ObservationFormat>,
    /// The sentences that the source gives, and where they come from; not if the text was mended.
    given: Option<(SentenceMap, Provenance)>,
    /// Length of the text in characters, counted once: the state may be asked for at every step.
    chars: OnceLock<usize>,
}

impl OpenPage {
    pub(super) fn new(blocks: Arc<[String]>, format: Option<ObservationFormat>) -> Self {
        Self { blocks, format, given: None, chars: OnceLock::new() }
    }

    /// With the sentences of the source, if it is the source's text that is read.
    pub(super) fn with_sentences(self, sentences: Option<SentenceMap>, provenance: &Provenance) -> Self {
        let sentences = sentences.filter(|_| self.format.is_some());
        Self { given: sentences.map(|sentences| (sentences, provenance.clone())), ..self }
    }

    /// Where an observation comes from that shows these `parts` of the page; `None` where the source gives no sentences.
    pub(super) fn shown<'a>(
        &self,
        parts: impl Iterator<Item = (usize, Part<'a>)>,
        observation: &str,
    ) -> Option<Provenance> {
        let (sentences, provenance) = self.given.as_ref()?;
        let places = observe::part_ranges(&self.blocks, parts, observation);
        let sentences = Some(sentences.shown(&self.blocks, &places));
        Some(Provenance { sentences, ..provenance.clone() })
    }

    /// The blocks that are read, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &str> {
        self.numbered_blocks().map(|(_, block)| block)
    }

    /// The same with their numbers among all that the source gave.
    pub(super) fn numbered_blocks(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_read = |(_, block): &(usize, &str)| self.format.is_none_or(|format| format.takes(block));
        self.blocks.iter().map(String::as_str).enumerate().filter(is_read)
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
