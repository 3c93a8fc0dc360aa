//! Normalised answers: the one step that every official answer metric shares.
//!
//! Python's original, which `HotpotQA`, `SQuAD`, `2WikiMultiHopQA` and `MuSiQue` share letter for letter, lower-cases, deletes
//! the 32 characters of `string.punctuation`, replaces `\b(a|an|the)\b` by a space and joins the words that
//! `str.split` finds by single spaces. Here all of it is one pass over the lower-cased text.

use crate::base::python::{is_newer_than_python, is_python_space, is_regex_word, is_word, lower};
use unicode_general_category::get_general_category;
use unicode_normalization::UnicodeNormalization as _;

enum Fate {
    Keep,
    Delete,
    Space,
}

/// The normalised answer of `HotpotQA`, `SQuAD` 1.1 and 2.0, `2WikiMultiHopQA` and `MuSiQue`.
///
/// ```
/// assert_eq!(wikitrail::score::normalize("The  U.S.A., an example"), "usa example");
/// ```
pub fn normalize(text: &str) -> String {
    normalize_by(text, delete_punctuation, is_word)
}

/// The normalised answer of `FiD` for NQ-open, whose script takes `\w` from the `regex` package instead of `re`: there
/// a combining mark belongs to the word, and `²` does not.
pub fn normalize_fid(text: &str) -> String {
    normalize_by(text, delete_punctuation, is_regex_word)
}

/// The normalised answer of `TriviaQA`: `_`, punctuation and the quotes `‘’´` become spaces.
pub fn normalize_trivia(text: &str) -> String {
    let fate = |c: char| match c {
        '‘' | '’' | '´' => Fate::Space,
        c if c.is_ascii_punctuation() => Fate::Space,
        _ => Fate::Keep,
    };
    normalize_by(text, fate, is_word)
}

/// The normalised answer of `ORQA` and of the NQ-open evaluation: canonical decomposition (NFD) first.
pub fn normalize_orqa(text: &str) -> String {
    if text.is_ascii() {
        return normalize(text);
    }
    // Python 3.11 decomposes by Unicode 14, in which a newer character is a starter that nothing reorders across.
    let mut decomposed = String::with_capacity(text.len());
    for run in text.split_inclusive(is_newer_than_python) {
        let newer = run.chars().next_back().filter(|&c| is_newer_than_python(c));
        let known = &run[..run.len() - newer.map_or(0, char::len_utf8)];
        decomposed.extend(known.nfd());
        decomposed.extend(newer);
    }
    normalize(&decomposed)
}

/// The normalised evidence of `2WikiMultiHopQA`: as [`normalize`], but articles stay.
pub(crate) fn normalize_evidence(text: &str) -> String {
    // Without word characters no run of them is an article.
    normalize_by(text, delete_punctuation, |_| false)
}

fn delete_punctuation(c: char) -> Fate {
    if c.is_ascii_punctuation() { Fate::Delete } else { Fate::Keep }
}

fn normalize_by(text: &str, fate: impl Fn(char) -> Fate, word: impl Fn(char) -> bool) -> String {
    if text.is_ascii() {
        // Lower-casing byte by byte spares a copy; most answers come this way.
        return squeeze(text.bytes().map(|b| char::from(b.to_ascii_lowercase())), text.len(), fate, word);
    }
    let lowered = lower(text);
    squeeze(lowered.chars(), lowered.len(), fate, word)
}

/// Deletes punctuation, articles and surplus white space from lower-cased characters, in one pass.
fn squeeze(
    characters: impl Iterator<Item = char>,
    capacity: usize,
    fate: impl Fn(char) -> Fate,
    word: impl Fn(char) -> bool,
) -> String {
    let mut out = Squeezed { text: String::with_capacity(capacity), word_start: None, gap: false };
    for c in characters {
        match fate(c) {
            Fate::Delete => {}
            Fate::Space => out.space(),
            Fate::Keep if is_python_space(c) => out.space(),
            Fate::Keep => out.push(c, word(c)),
        }
    }
    out.end_word();
    out.text
}

/// Output of [`squeeze`]: words joined by single spaces so far.
struct Squeezed {
    text: String,
    /// Where the run of word characters at the end of `text` starts, while one is open.
    word_start: Option<usize>,
    /// Whether a space is due before the next character.
    gap: bool,
}

pub(super) fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
}

impl Squeezed {
    fn push(&mut self, c: char, word: bool) {
        if !word {
            self.end_word();
        }
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
        if word && self.word_start.is_none() {
            self.word_start = Some(self.text.len());
        }
        self.text.push(c);
    }

    fn space(&mut self) {
        self.end_word();
        self.gap = true;
    }

    /// Closes a run of word characters. An article goes, and leaves a space: `\b` holds at both ends of a run
    /// and nowhere within, so `\b(a|an|the)\b` matches exactly the runs that are an article.
    fn end_word(&mut self) {
        let Some(start) = self.word_start.take() else { return };
        if is_article(&self.text[start..]) {
            self.text.truncate(start);
            // The space that stood before the article is due again, once.
            if self.text.ends_with(' ') {
                self.text.pop();
            }
            self.gap = true;
        }
    }
}

/// The normalised answer of MLQA: its characters and words, joined by single spaces. Lower-case, without punctuation (Unicode's
/// categories P and the 32 ASCII characters), each Chinese character a word, and the rest split at white space.
///
/// MLQA knows U+4E00 to U+9FA5 only. Here the other ideographs and the scripts of Japanese, Thai, Lao, Burmese and
/// Khmer are unspaced too; an answer without them scores as there.
///
/// ```
/// assert_eq!(wikitrail::score::normalize_characters("在 iPhone 4S上，2011年"), "在 iphone 4s 上 2011 年");
/// ```
pub fn normalize_characters(text: &str) -> String {
    let lowered = lower(text);
    let mut out = String::with_capacity(2 * lowered.len());
    // Whether the next character begins a word of its own.
    let mut apart = true;
    for c in lowered.chars().filter(|&c| !is_punctuation(c)) {
        let single = is_unspaced(c);
        if is_python_space(c) {
            apart = true;
            continue;
        }
        if (apart || single) && !out.is_empty() {
            out.push(' ');
        }
        out.push(c);
        apart = single;
    }
    out
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { get_general_category(c).abbreviation().starts_with('P') }
}

/// Whether a character belongs to a script that is written without spaces.
pub fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        // Ideographs: the basic block, its extensions, those for compatibility; 々 〆 〇.
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x3FFFF | 0xF900..=0xFAFF | 0x3005..=0x3007
        // Hiragana, Katakana, Bopomofo; Katakana of half width.
        | 0x3041..=0x312F | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1AFF0..=0x1B16F
        // Thai and Lao; Burmese; Khmer.
        | 0x0E01..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF
    )
}

#[cfg(test)]
mod tests {
    use super::{normalize, normalize_characters, normalize_orqa};
    use proptest::prelude::*;

    #[test]
    fn articles_go_only_as_whole_words() {
        for (text, expected) in [
            ("", ""),
            ("The", ""),
            ("the a an", ""),
            ("theatre", "theatre"),
            ("the_atre", "theatre"),
            ("a-n apple", "apple"),
            ("t.h.e end", "end"),
            ("\u{1}the\u{2}", "\u{1} \u{2}"),
            ("x the\u{301} y", "x \u{301} y"),
            ("x the y", "x y"),
            ("thé a\u{1f}x", "thé x"),
            ("²a a²", "²a a²"),
            ("  b  the  c ", "b c"),
            ("\u{200b}a\u{200b}", "\u{200b} \u{200b}"),
            ("的a的", "的a的"),
        ] {
            assert_eq!(normalize(text), expected, "{text:?}");
        }
    }

    #[test]
    fn orqa_decomposes_but_not_what_python_does_not_know() {
        assert_eq!(normalize_orqa("Café"), "cafe\u{301}");
        // U+105C9 decomposes since Unicode 16, and U+0897 is a mark since then.
        assert_eq!(normalize_orqa("\u{105C9}"), "\u{105C9}");
        assert_eq!(normalize_orqa("x\u{301}\u{897}\u{327}"), "x\u{301}\u{897}\u{327}");
    }

    #[test]
    fn each_chinese_character_is_a_word_and_other_runs_are_words() {
        // The first seven, and the last, are what MLQA's script gives for `zh`.
        for (text, expected) in [
            ("", ""),
            ("北京", "北 京"),
            ("  北京 大学 ", "北 京 大 学"),
            ("The IBM公司", "the ibm 公 司"),
            ("1949年10月1日", "1949 年 10 月 1 日"),
            ("《三国演义》（罗贯中）", "三 国 演 义 罗 贯 中"),
            ("a-b c_d，e", "ab cde"),
            ("東京タワー", "東 京 タ ワ ー"),
            ("서울 특별시", "서울 특별시"),
            ("𠮷野家", "𠮷 野 家"),
            ("……", ""),
        ] {
            assert_eq!(normalize_characters(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn normalised_text_is_words_joined_by_single_spaces(text in "(?s).{0,60}") {
            let norm = normalize(&text);
            let words: Vec<&str> = norm.split(crate::base::python::is_python_space).collect();
            prop_assert_eq!(words.join(" "), norm.clone());
            prop_assert!(norm.is_empty() || words.iter().all(|word| !word.is_empty()));
        }

        #[test]
        fn ascii_and_general_paths_agree(text in "[ -~\t\n\u{1c}]{0,60}") {
            // A trailing letter that is kept as it is forces the general path.
            let general = normalize(&format!("{text} é"));
            prop_assert_eq!(general.trim_end_matches('é').trim_end_matches(' '), normalize(&text));
        }

        #[test]
        fn articles_and_case_do_not_matter(words in prop::collection::vec("[b-z]{4,8}", 1..6)) {
            let plain = words.join(" ");
            let dressed = format!("The {}!", words.join(" AN ").to_uppercase());
            prop_assert_eq!(normalize(&dressed), plain);
        }

        #[test]
        fn normalising_characters_twice_changes_nothing(text in "[a-zA-Z0-9 一-龥，。ー\\-]{0,30}") {
            let once = normalize_characters(&text);
            prop_assert_eq!(normalize_characters(&once), once.clone());
            prop_assert!(!once.contains("  ") && once.trim() == once);
        }
    }
}
