//! Text without what people get wrong when they type it: case, accents, punctuation.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// The words of `text`, folded and joined by single spaces: compatibility forms decomposed, accents dropped, lower
/// case, everything but letters, digits, `+` and `#` a gap. Between two Chinese or Japanese characters a mark leaves no
/// gap, so that `列夫·托尔斯泰` is `列夫托尔斯泰`.
pub(super) fn fold_name(text: &str) -> String {
    folded(text, false)
}

/// [`fold_name`] with each Chinese or Japanese character as a word, because nothing else marks words there.
pub(super) fn fold_words(text: &str) -> String {
    folded(text, true)
}

fn folded(text: &str, split_ideographs: bool) -> String {
    if text.is_ascii() {
        return folded_ascii(text);
    }
    let mut key = String::with_capacity(text.len());
    let mut gap = false;
    let mut after_ideograph = false;
    for c in text.nfkd().filter(|&c| canonical_combining_class(c) == 0) {
        if matches!(c, '\'' | '\u{2019}') {
            // `Bein' Green` and `Beins Green` differ in a mark that many leave out.
            continue;
        }
        let ideograph = is_ideograph(c);
        let alone = split_ideographs && ideograph;
        let kept = is_kept(c);
        gap |= alone || !kept;
        if kept {
            let closed = !split_ideographs && ideograph && after_ideograph;
            if gap && !closed && !key.is_empty() {
                key.push(' ');
            }
            key.extend(c.to_lowercase());
            gap = alone;
            after_ideograph = ideograph;
        }
    }
    key
}

/// The same where there is nothing to decompose and no ideograph, which is most of English.
fn folded_ascii(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().filter(|c| *c != '\'') {
        let kept = is_kept(c);
        if kept {
            if gap && !key.is_empty() {
                key.push(' ');
            }
            key.push(c.to_ascii_lowercase());
        }
        gap = !kept;
    }
    key
}

/// Letters, digits, and the two signs that tell titles apart (`C`, `C++`, `C#`).
fn is_kept(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '+' | '#')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::{fold_name, fold_words};

    #[test]
    fn case_accents_and_punctuation_fold_away() {
        for (text, folded) in [
            ("Beyoncé", "beyonce"),
            ("AC/DC (band)", "ac dc band"),
            ("  Ｆｕｌｌ—width ﬁ ", "full width fi"),
            ("Bein' Green", "bein green"),
            ("رِياضيات", "رياضيات"),
            ("!?", ""),
        ] {
            assert_eq!(fold_name(text), folded, "{text:?}");
        }
        for text in ["", " a'B--C# ", "\u{0}x\ty+\n", "It's 7_8.", "'", "?a", "~"] {
            // A mark that is neither a gap nor a character goes through the other rule.
            assert_eq!(fold_name(text), fold_name(&format!("{text}\u{301}")), "{text:?}");
        }
        assert_eq!(fold_words("東京 is 2東京x"), "東 京 is 2 東 京 x");
        assert_eq!(fold_name("東京"), "東京");
        assert_eq!(fold_name("《列夫·托尔斯泰》（1） a"), "列夫托尔斯泰 1 a");
        assert_eq!(fold_words("列夫·托"), "列 夫 托");
    }
}
