//! Which words and which sentences a session uses.

use super::chinese;
use crate::types::{Compat, Wording};

/// A session's way to speak, by its language and by how close it keeps to the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Voice {
    compat: Compat,
    wording: Wording,
}

impl Voice {
    /// The voice of sessions with these settings.
    pub fn new(compat: Compat, wording: Wording) -> Self {
        Self { compat, wording }
    }

    /// Whether the session follows the simplified Chinese script in its state too, faults included.
    pub fn is_script(self) -> bool {
        (self.compat, self.wording) == (Compat::Paper, Wording::Chinese)
    }

    /// Whether Chinese pages are read as such. Neither original does: both cut at full stop and space only.
    fn reads_chinese(self) -> bool {
        (self.compat, self.wording) == (Compat::Fixed, Wording::Chinese)
    }

    /// Whether a block is long enough to be read.
    pub fn takes(self, block: &str) -> bool {
        if self.reads_chinese() { chinese::is_long(block) } else { block.split(' ').nth(2).is_some() }
    }

    /// The observation of a page of these blocks: its first five sentences.
    pub fn page<'a>(self, blocks: impl Iterator<Item = &'a str>) -> String {
        if self.reads_chinese() {
            chinese::joined(blocks.flat_map(chinese::sentences).take(super::SHOWN))
        } else {
            super::shown(blocks.flat_map(super::parts))
        }
    }

    /// The sentences of a page of these blocks that contain `keyword`, in any case.
    pub fn lookup_list<'a>(self, blocks: impl Iterator<Item = &'a str>, keyword: &str) -> Vec<String> {
        if self.reads_chinese() {
            super::matching(blocks, chinese::parts, keyword)
        } else {
            super::matching(blocks, super::parts, keyword)
        }
    }

    /// The observation of a lookup's result `number` (from 1) of `count`.
    pub fn lookup_result(self, number: usize, count: usize, sentence: &str) -> String {
        match self.wording {
            Wording::English => super::lookup_result(number, count, sentence),
            Wording::Chinese => chinese::lookup_result(number, count, sentence),
        }
    }

    /// The observation of a lookup past its last result.
    pub fn no_more(self) -> &'static str {
        match self.wording {
            Wording::English => super::NO_MORE,
            Wording::Chinese => chinese::NO_MORE,
        }
    }

    /// The observation of a lookup without a page, where it is another than that of one without results.
    pub fn no_page(self) -> Option<&'static str> {
        (self.wording == Wording::Chinese).then_some(chinese::NO_PAGE)
    }

    /// The observation of a search without a page.
    pub fn not_found<T: AsRef<str>>(self, query: &str, titles: &[T]) -> String {
        match self.wording {
            Wording::English => super::not_found(query, titles),
            Wording::Chinese => chinese::not_found(query, titles),
        }
    }

    /// The observation of `think[...]`.
    pub fn thought(self, input: &str) -> String {
        match self.wording {
            Wording::English => super::THOUGHT.to_owned(),
            Wording::Chinese if self.is_script() => chinese::invalid(&format!("Think[{input}]")),
            Wording::Chinese => chinese::THOUGHT.to_owned(),
        }
    }

    /// The observation of `finish[...]`.
    pub fn finished(self) -> &'static str {
        match self.wording {
            Wording::English => super::FINISHED,
            Wording::Chinese => chinese::FINISHED,
        }
    }

    /// The observation of an action that names no tool.
    pub fn invalid(self, action: &str) -> String {
        match self.wording {
            Wording::English => super::invalid(action),
            Wording::Chinese => chinese::invalid(action),
        }
    }
}
