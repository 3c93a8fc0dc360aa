//! The strings that the tool answers with: the paper's sentences, lookup lists and messages, and the Chinese ones.

#[cfg(any(feature = "index", test))]
use crate::base::python::unrepr_list;
use crate::base::python::{repr, strip};
use crate::base::{Compat, Wording};
use memchr::memmem::Finder;
use std::ops::Range;
use std::rc::Rc;

/// How many sentences of a page, and how many similar titles, an observation shows.
const MAX_SHOWN: usize = 5;

pub const START: &str = "Interact with Wikipedia using search[], lookup[], and finish[].\n";

/// A sentence as the page has it, and what is put behind it.
pub(crate) type Part<'a> = (&'a str, &'static str);

/// The sentences of a page: its lines, stripped, split on `. `, each stripped again and given a final full stop, the last of
/// a line a second one.
fn paper_parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    sentences(text).map(|sentence| (sentence, "."))
}

/// The same, with a full stop only where the sentence has no end of its own.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    sentences(text).map(|sentence| {
        let closed = sentence.trim_end_matches(['"', '\'', '\u{201d}', '\u{2019}', ')', ']']);
        (sentence, if closed.ends_with(['.', '!', '?', '\u{2026}']) { "" } else { "." })
    })
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .map(strip)
        .filter(|line| !line.is_empty())
        .flat_map(|line| line.split(". "))
        .map(strip)
        .filter(|sentence| !sentence.is_empty())
}

fn with_end((sentence, end): Part<'_>) -> String {
    [sentence, end].concat()
}

/// Which bytes of the `blocks` an observation has of `parts`, of which it is made, in their order. It may have been cut.
pub(crate) fn part_ranges<'a>(
    blocks: &[String],
    parts: impl Iterator<Item = (usize, Part<'a>)>,
    observation: &str,
) -> Vec<(usize, Range<usize>)> {
    let mut rest = observation;
    let mut places = Vec::new();
    for (block, (sentence, end)) in parts {
        rest = rest.trim_start_matches(' ');
        let kept = sentence.bytes().zip(rest.bytes()).take_while(|(a, b)| a == b).count();
        // The part is a piece of the block.
        let start = sentence.as_ptr().addr() - blocks[block].as_ptr().addr();
        places.push((block, start..start + kept));
        rest = rest.get(kept + end.len()..).unwrap_or_default();
    }
    places
}

// Errors of the simplified Chinese script, and sentences of Chinese pages.

/// The text before the message of an error that the script catches.
pub(crate) const CHINESE_FAILED: &str = "搜索出错:";

/// The observation of a search that came back to disambiguation pages every time.
pub(crate) fn chinese_disambiguation(query: &str, retries: usize) -> String {
    format!("{CHINESE_FAILED}“{query}”加方括号重试{retries}次,得到的仍是消歧义页")
}

/// The sentences of a page: as in the paper, and also cut behind the full-width marks `。！？`, which they keep.
fn chinese_parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    text.split('\n')
        .flat_map(|line| strip(line).split(". "))
        .flat_map(marked)
        .map(strip)
        .filter(|sentence| !sentence.is_empty())
        .map(ended)
}

/// Sentences side by side: a space follows a full stop, and nothing a full-width mark.
pub(crate) fn join_chinese(sentences: impl Iterator<Item = String>) -> String {
    sentences.fold(String::new(), |mut text, sentence| {
        if text.ends_with('.') {
            text.push(' ');
        }
        text.push_str(&sentence);
        text
    })
}

/// Whether a block has three words or more, as the paper asks of it; a Chinese character is a word.
pub(crate) fn is_long_chinese(block: &str) -> bool {
    block.split(' ').nth(2).is_some() || block.chars().filter(|&c| is_ideograph(c)).nth(2).is_some()
}

/// A sentence with a mark at its end: its own, or the one that goes with its last character.
fn ended(sentence: &str) -> Part<'_> {
    match sentence.chars().next_back() {
        Some(last) if is_mark(last) || is_closing(last) => (sentence, ""),
        Some(last) if is_ideograph(last) => (sentence, "。"),
        _ => (sentence, "."),
    }
}

/// The parts of a text, each up to a full-width mark and the marks and closing quotes that follow it.
fn marked(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mark = text.find(is_mark).unwrap_or(text.len());
        let end = text[mark..].find(|c| !is_mark(c) && !is_closing(c)).map_or(text.len(), |length| mark + length);
        let (part, rest) = text.split_at(end);
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

fn is_mark(c: char) -> bool {
    matches!(c, '。' | '！' | '？')
}

fn is_closing(c: char) -> bool {
    matches!(c, '”' | '’' | '」' | '』' | '）' | '》' | '】')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

// What a lookup looks for.

/// A keyword to be found in any case, as Python's `keyword.lower() in sentence.lower()` finds it.
struct Keyword {
    lowered: Finder<'static>,
    /// What every sentence with the keyword contains in any case of ASCII, sentences with one of [`FOLDED`] aside. Absent
    /// where there is no such text.
    sign: Option<Finder<'static>>,
}

/// The characters beyond ASCII whose lower case has a letter of ASCII.
const FOLDED: [char; 2] = ['\u{130}', '\u{212a}'];

impl Keyword {
    fn new(keyword: &str) -> Self {
        let lowered = keyword.to_lowercase();
        // A sentence is given a full stop, which the page need not have.
        let sign = lowered.strip_suffix('.').unwrap_or(&lowered);
        let sign = (!sign.is_empty() && sign.is_ascii()).then(|| Finder::new(sign).into_owned());
        Self { lowered: Finder::new(&lowered).into_owned(), sign }
    }

    /// Whether a sentence of `text` may contain the keyword. Most texts are ruled out here, before they are cut.
    fn may_stand_in(&self, text: &str) -> bool {
        let Some(sign) = &self.sign else { return true };
        sign.find(text.to_ascii_lowercase().as_bytes()).is_some() || (!text.is_ascii() && text.contains(FOLDED))
    }

    /// Whether a sentence contains the keyword. `buffer` spares a string for each.
    fn stands_in(&self, (sentence, end): &Part<'_>, buffer: &mut String) -> bool {
        buffer.clear();
        buffer.push_str(sentence);
        buffer.push_str(end);
        if buffer.is_ascii() {
            buffer.make_ascii_lowercase();
            self.lowered.find(buffer.as_bytes()).is_some()
        } else {
            self.lowered.find(buffer.to_lowercase().as_bytes()).is_some()
        }
    }
}

// Which words and which sentences a session uses.

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

    /// A block as the tool reads it, stripped; nothing if it has fewer than three words.
    pub fn read(self, block: &str) -> Option<&str> {
        let block = strip(block);
        let is_long = if self.reads_chinese() { is_long_chinese(block) } else { block.split(' ').nth(2).is_some() };
        is_long.then_some(block)
    }

    /// The observation of a page of these blocks: its first five sentences.
    pub fn page<'a>(self, blocks: impl Iterator<Item = &'a str>) -> String {
        let sentences = self.first_parts(blocks.enumerate()).map(|(_, part)| with_end(part));
        if self.reads_chinese() { join_chinese(sentences) } else { sentences.collect::<Vec<_>>().join(" ") }
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
            (Compat::Fixed, Wording::Chinese) => Box::new(chinese_parts(block)),
            (Compat::Fixed, Wording::English) => Box::new(parts(block)),
            (Compat::Paper, _) => Box::new(paper_parts(block)),
        }
    }

    /// The sentences of a page of these blocks that contain `keyword`, in any case.
    pub fn lookup_list<'a>(self, blocks: impl Iterator<Item = &'a str>, keyword: &str) -> Vec<String> {
        self.matching_parts(blocks.enumerate(), keyword).map(|(_, part)| with_end(part)).collect()
    }

    /// The same, each with the number of its block. Most of a page's thousands do not match, and cost no string.
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

    /// The observation of a search without a page: the query as sent, and the first five `titles` as a Python list.
    pub fn not_found<T: AsRef<str>>(self, query: &str, titles: &[T]) -> String {
        let shown: Vec<String> = titles.iter().take(MAX_SHOWN).map(|title| repr(title.as_ref())).collect();
        let shown = shown.join(", ");
        match self.wording {
            Wording::English => format!("Could not find {query}. Similar: [{shown}]."),
            Wording::Chinese => format!("找不到[{query}]。相似结果:[{shown}]。"),
        }
    }

    /// The titles in an observation of a search for `query` without a page; nothing if it is another one, or was cut.
    #[cfg(any(feature = "index", test))]
    pub fn titles_shown(self, query: &str, observation: &str) -> Option<Vec<String>> {
        // What stands before and after the titles.
        let none = self.not_found::<&str>(query, &[]);
        let (before, after) = none.split_at(none.rfind(']')?);
        unrepr_list(observation.strip_prefix(before)?.strip_suffix(after)?)
    }

    /// The observation of a query that no passage fits.
    pub fn no_passages(self) -> &'static str {
        self.say("No passages found.", "没有找到段落。")
    }

    /// The observation of an id that no document has.
    pub fn no_document(self, id: &str) -> String {
        match self.wording {
            Wording::English => format!("There is no document with the id {id}."),
            Wording::Chinese => format!("没有编号为{id}的文档。"),
        }
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

    pub fn invalid(self, action: &str) -> String {
        format!("{}{action}", self.say("Invalid action: ", "无效动作:"))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        FOLDED, Keyword, ObservationFormat, chinese_parts, is_long_chinese, join_chinese, paper_parts, with_end,
    };
    use crate::base::{Compat, Wording};
    use proptest::prelude::*;

    const PAPER: ObservationFormat = ObservationFormat::new(Compat::Paper, Wording::English);

    fn page(text: &str) -> String {
        PAPER.page(std::iter::once(text))
    }

    fn lookup_list(text: &str, keyword: &str) -> Vec<String> {
        PAPER.lookup_list(std::iter::once(text), keyword)
    }

    #[test]
    fn sentences_end_in_one_stop_more_than_they_had() {
        assert_eq!(page("P one. P two.\nQ one. Q two.\n"), "P one. P two.. Q one. Q two..");
        assert_eq!(page(". . ."), "..");
        assert_eq!(page("a. b. c. d. e. f. g"), "a. b. c. d. e.");
        assert_eq!(page(" \n\u{1f}\n"), "");
    }

    #[test]
    fn fixed_sentences_end_in_one_stop() {
        let page = |text: &str| ObservationFormat::new(Compat::Fixed, Wording::English).page(std::iter::once(text));
        assert_eq!(page("P one. P two.\nQ one. Q two\n"), "P one. P two. Q one. Q two.");
        assert_eq!(page("Why? He said \"no.\"\nYes!\n(So.)"), "Why? He said \"no.\" Yes! (So.)");
        assert_eq!(page(". . ."), ".", "a line without words");
    }

    #[test]
    fn lookup_ignores_case_and_an_empty_keyword_matches_all() {
        assert_eq!(lookup_list("Σίσυφος here. The ΣΊΣΥΦΟΣ. x", "σίσυφος"), ["Σίσυφος here.", "The ΣΊΣΥΦΟΣ."]);
        assert_eq!(lookup_list("a. b", ""), ["a.", "b."]);
        assert_eq!(lookup_list("a. b", "b."), ["b."]);
    }

    #[test]
    fn titles_print_as_a_python_list() {
        assert_eq!(PAPER.not_found::<&str>("x", &[]), "Could not find x. Similar: [].");
        assert_eq!(
            PAPER.not_found("[x]", &["It's", "\"q\"", "a'b\"c", "é", "\u{a0}", "sixth"]),
            "Could not find [x]. Similar: [\"It's\", '\"q\"', 'a\\'b\"c', 'é', '\\xa0']."
        );
    }

    fn cut(text: &str) -> Vec<String> {
        chinese_parts(text).map(with_end).collect()
    }

    #[test]
    fn chinese_sentences_keep_their_marks_and_their_closing_quotes() {
        assert_eq!(cut("他说:“好！”然后走了。真的吗？！是"), ["他说:“好！”", "然后走了。", "真的吗？！", "是。"]);
        assert_eq!(cut(" \n。\n  "), ["。"]);
        assert_eq!(cut("面积为9.5平方千米。人口 3. 5 万(2020)"), ["面积为9.5平方千米。", "人口 3.", "5 万(2020)."]);
    }

    #[test]
    fn english_sentences_are_the_papers() {
        for text in ["P one. P two.\nQ one. Q two!\n", "J. R. R. Tolkien wrote it?", ". . .", "a “b” (c", ""] {
            let sentences: Vec<String> = paper_parts(text).map(with_end).collect();
            assert_eq!(
                (cut(text), join_chinese(cut(text).into_iter())),
                (sentences.clone(), sentences.join(" ")),
                "{text:?}"
            );
        }
    }

    #[test]
    fn no_space_stands_behind_a_full_width_mark() {
        assert_eq!(join_chinese(cut("一。二？\nOne. Two\n三").into_iter()), "一。二？One. Two. 三。");
    }

    #[test]
    fn short_blocks_are_those_with_fewer_than_three_words() {
        for (block, long) in [("参见", false), ("北京市", true), ("two words", false), ("a b c", true), ("", false)]
        {
            assert_eq!(is_long_chinese(block), long, "{block:?}");
        }
    }

    #[test]
    fn spaces_around_a_block_are_no_words() {
        for wording in [Wording::English, Wording::Chinese] {
            let format = ObservationFormat::new(Compat::Fixed, wording);
            assert_eq!(
                [" two words ", "\u{1f} three words here\n"].map(|block| format.read(block)),
                [None, Some("three words here")]
            );
        }
        assert_eq!(PAPER.read("a  b"), Some("a  b"), "between words the paper counts each space");
    }

    #[test]
    fn folded_are_all_whose_lower_case_has_ascii() {
        let folded = ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().any(|lower| lower.is_ascii()));
        assert_eq!(folded.collect::<Vec<_>>(), FOLDED);
    }

    #[test]
    fn a_sign_is_no_more_than_every_match_has() {
        let may = |keyword: &str, text: &str| Keyword::new(keyword).may_stand_in(text);
        assert!(may("Ada.", "born ADA") && may(".", "x") && may("", "") && may("kelvin", "\u{212a}elvin"));
        assert!(may("é", "x"), "only ASCII has a sign");
        assert!(!may("Ada", "Ad a") && !may("Ada", "é"));
    }

    proptest! {
        #[test]
        fn nothing_is_ruled_out_that_matches(keyword in "[aAkKiI\u{212a}\u{130}é. ]{0,3}", text in "[aAkKiI\u{212a}\u{130}éÉ. \n]{0,12}") {
            let keyword = Keyword::new(&keyword);
            let found = paper_parts(&text).any(|part| keyword.stands_in(&part, &mut String::new()));
            prop_assert!(!found || keyword.may_stand_in(&text));
        }
    }

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
