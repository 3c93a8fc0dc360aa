//! Which words and which sentences a session uses.

use super::keyword::Keyword;
use super::{MAX_SHOWN, Part, chinese, paper_parts, parts, with_end};
use crate::types::python::{repr, unrepr_list};
use crate::types::{Compat, Wording};
use std::rc::Rc;

/// A session's way to speak, by its language and by how close it keeps to the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservationFormat {
    compat: Compat,
    wording: Wording,
}

impl ObservationFormat {
    pub const fn new(compat: Compat, wording: Wording) -> Self {
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
        if self.reads_chinese() { chinese::is_long_chinese(block) } else { block.split(' ').nth(2).is_some() }
    }

    /// The observation of a page of these blocks: its first five sentences.
    pub fn page<'a>(self, blocks: impl Iterator<Item = &'a str>) -> String {
        let sentences = self.first_parts(blocks.enumerate()).map(|(_, part)| with_end(part));
        if self.reads_chinese() { chinese::join_chinese(sentences) } else { sentences.collect::<Vec<_>>().join(" ") }
    }

    /// The sentences of that observation, each with the number of its block.
    pub(crate) fn first_parts<'a>(
        self,
        blocks: impl Iterator<Item = (usize, &'a str)>,
    ) -> impl Iterator<Item = (usize, Part<'a>)> {
        blocks.flat_map(move |(number, block)| self.parts(block).map(move |part| (number, part))).take(MAX_SHOWN)
    }

    /// The sentences of a block, as the tool cuts it.
    fn parts<'a>(self, block: &'a str) -> Box<dyn Iterator<Item = Part<'a>> + 'a> {
        match (self.compat, self.wording) {
            (Compat::Fixed, Wording::Chinese) => Box::new(chinese::chinese_parts(block)),
            (Compat::Fixed, Wording::English) => Box::new(parts(block)),
            (Compat::Paper, _) => Box::new(paper_parts(block)),
        }
    }

    /// The sentences of a page of these blocks that contain `keyword`, in any case.
    pub fn lookup_list<'a>(self, blocks: impl Iterator<Item = &'a str>, keyword: &str) -> Vec<String> {
        self.matching_parts(blocks.enumerate(), keyword).map(|(_, part)| with_end(part)).collect()
    }

    /// The same, each with the number of its block. A page has thousands, most do not match, and no string is made for
    /// those.
    pub(crate) fn matching_parts<'a>(
        self,
        blocks: impl Iterator<Item = (usize, &'a str)>,
        keyword: &str,
    ) -> impl Iterator<Item = (usize, Part<'a>)> {
        let keyword = Rc::new(Keyword::new(keyword));
        let mut buffer = String::new();
        let sentences = Rc::clone(&keyword);
        let blocks = blocks.filter(move |(_, block)| keyword.may_stand_in(block));
        let parts = blocks.flat_map(move |(number, block)| self.parts(block).map(move |part| (number, part)));
        parts.filter(move |(_, part)| sentences.stands_in(part, &mut buffer))
    }

    /// The text in the language of the session.
    fn say<T>(self, english: T, chinese: T) -> T {
        match self.wording {
            Wording::English => english,
            Wording::Chinese => chinese,
        }
    }

    /// The observation of a lookup's result `number` (from 1) of `count`.
    pub fn lookup_result(self, number: usize, count: usize, sentence: &str) -> String {
        format!("({} {number} / {count}) {sentence}", self.say("Result", "结果"))
    }

    /// The observation of a lookup past its last result; for the paper, also of one without a page.
    pub fn no_more(self) -> &'static str {
        self.say("No more results.\n", "没有更多结果。")
    }

    /// The observation of a lookup without a page, where it is another than that of one without results.
    pub fn no_page(self) -> Option<&'static str> {
        self.say(None, Some("没有页面内容可以查找。"))
    }

    /// The observation of a search without a page: the query as it was sent, and the first five of `titles` as a Python
    /// list prints them.
    pub fn not_found<T: AsRef<str>>(self, query: &str, titles: &[T]) -> String {
        let shown: Vec<String> = titles.iter().take(MAX_SHOWN).map(|title| repr(title.as_ref())).collect();
        let shown = shown.join(", ");
        match self.wording {
            Wording::English => format!("Could not find {query}. Similar: [{shown}]."),
            Wording::Chinese => format!("找不到[{query}]。相似结果:[{shown}]。"),
        }
    }

    /// The titles in an observation of a search for `query` without a page; nothing if it is another one, or was cut.
    pub fn titles_shown(self, query: &str, observation: &str) -> Option<Vec<String>> {
        // What stands before and after the titles.
        let none = self.not_found::<&str>(query, &[]);
        let (before, after) = none.split_at(none.rfind(']')?);
        unrepr_list(observation.strip_prefix(before)?.strip_suffix(after)?)
    }

    /// The observation of `think[...]`, which the script does not know.
    pub fn thought(self, input: &str) -> String {
        if self.is_script() {
            return self.invalid(&format!("Think[{input}]"));
        }
        self.say("Nice thought.", "想法不错。").to_owned()
    }

    /// The observation of `finish[...]`. The paper's environment always gives a reward of 0, and its wrapper another one.
    pub fn finished(self) -> &'static str {
        match self.compat {
            Compat::Paper => self.say("Episode finished, reward = 0\n", "任务完成。"),
            Compat::Fixed => self.say("Episode finished.\n", "任务完成。"),
        }
    }

    /// The observation of an action that names no tool.
    pub fn invalid(self, action: &str) -> String {
        format!("{}{action}", self.say("Invalid action: ", "无效动作:"))
    }
}

#[cfg(test)]
mod tests {
    use super::ObservationFormat;
    use crate::types::{Compat, Wording};

    #[test]
    fn titles_are_read_as_they_were_shown() {
        for wording in [Wording::English, Wording::Chinese] {
            let format = ObservationFormat::new(Compat::Fixed, wording);
            for titles in [&[][..], &["A"], &["it's", "\"x\"", "a\\b, 'c'", "\u{a0}é\u{200b}\u{e0001}\n"]] {
                let shown = format.not_found("q]. Similar: ['x", titles);
                assert_eq!(format.titles_shown("q]. Similar: ['x", &shown).expect("read"), titles);
                assert_eq!(format.titles_shown("another", &shown), None);
                let cut: String = shown.chars().take(shown.chars().count() - 3).chain(['…']).collect();
                assert_eq!(format.titles_shown("q]. Similar: ['x", &cut), None);
            }
        }
    }
}
