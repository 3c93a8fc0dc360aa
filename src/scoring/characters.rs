//! Answers in scripts that put no space between words: exact match and F1 over characters.
//!
//! The rule is that of `mlqa_evaluation_v1.py` for Chinese (Lewis et al., *MLQA*, 2020), which took its mixed
//! segmentation from the evaluation of CMRC 2018 (Cui et al., 2019): lower-case, delete punctuation (Unicode's
//! categories P and the 32 ASCII characters), take each Chinese character for a word and split the rest at white
//! space. Words are counted as in `SQuAD`; CMRC itself scores the longest common run instead.
//!
//! MLQA knows U+4E00 to U+9FA5 only. Here the other ideographs and the scripts of Japanese, Thai, Lao, Burmese and
//! Khmer are unspaced too; an answer without them scores as there.

use super::overlap::{AnswerScore, overlap};
use crate::base::python::is_python_space;
use crate::base::python::lower;
use unicode_general_category::get_general_category;

/// Exact match and overlap of characters (of words, where a script has spaces): the best of all golds, each number
/// for itself. Two texts that are nothing but punctuation give EM 1 and F1 0.
///
/// ```
/// let score = wikitrail::score::characters("《红楼梦》作者", &["红楼梦"]);
/// assert_eq!((score.em, score.recall, score.precision), (0.0, 1.0, 0.6));
/// ```
pub fn characters<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize_characters(prediction);
    golds
        .iter()
        .map(|gold| overlap(&prediction, &normalize_characters(gold.as_ref())))
        .fold(AnswerScore::ZERO, AnswerScore::max)
}

/// The normalised answer: its characters and words, joined by single spaces.
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
    use super::{characters, normalize_characters};
    use crate::scoring::AnswerScore;
    use proptest::prelude::*;

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

    #[test]
    fn characters_overlap_as_words_do() {
        assert_eq!(characters("北京。", &["北京"]), AnswerScore::right(true));
        let f1 = 2.0 * 0.5 * (2.0 / 3.0) / (0.5 + 2.0 / 3.0);
        let expected = AnswerScore { em: 0.0, f1, precision: 0.5, recall: 2.0 / 3.0 };
        assert_eq!(characters("北京大学", &["北京市"]), expected);
        // A character counts as often as both sides have it, whatever their order.
        let expected = AnswerScore { em: 0.0, f1: 2.0 * 0.5 / 1.5, precision: 0.5, recall: 1.0 };
        assert_eq!(characters("天天", &["天"]), expected);
        assert_eq!(characters("京北", &["北京"]), AnswerScore { em: 0.0, ..AnswerScore::right(true) });
        // The best gold for each number.
        assert_eq!(characters("上海", &["北京", "上海市", "上海"]), AnswerScore::right(true));
        assert_eq!(characters("，", &["。"]), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
        assert_eq!(characters("上海", &[] as &[&str]), AnswerScore::ZERO);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "[a-zA-Z0-9 一-龥，。ー\\-]{0,30}") {
            let once = normalize_characters(&text);
            prop_assert_eq!(normalize_characters(&once), once.clone());
            prop_assert!(!once.contains("  ") && once.trim() == once);
        }
    }
}
