//! Errors of the simplified Chinese script, and sentences of Chinese pages.

use super::{Part, strip};

/// The text before the message of an error that the script catches.
pub(crate) const CHINESE_FAILED: &str = "搜索出错:";

/// The observation of a search that came back to disambiguation pages every time.
pub(crate) fn chinese_disambiguation(query: &str, retries: usize) -> String {
    format!("{CHINESE_FAILED}“{query}”加方括号重试{retries}次,得到的仍是消歧义页")
}

/// The sentences of a page: as in the paper, and also cut behind the full-width marks `。！？`, which they keep.
pub(super) fn chinese_parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    text.split('\n')
        .flat_map(|line| strip(line).split(". "))
        .flat_map(Marked)
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
struct Marked<'a>(&'a str);

impl<'a> Iterator for Marked<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let marked = self.0.find(is_mark);
        let end = marked.map_or(self.0.len(), |at| {
            let rest = &self.0[at..];
            at + rest.find(|c| !is_mark(c) && !is_closing(c)).unwrap_or(rest.len())
        });
        let (part, rest) = self.0.split_at(end);
        self.0 = rest;
        (!part.is_empty()).then_some(part)
    }
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

#[cfg(test)]
mod tests {
    use super::super::{self as observe, with_end};
    use super::{chinese_parts, is_long_chinese, join_chinese};

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
            let sentences: Vec<String> = observe::paper_parts(text).map(with_end).collect();
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
}
