//! What a tool says, as far as it can be said in GBK.
//!
//! Since v0.2 a tool's text goes through `encode('gbk', 'ignore').decode('gbk')`. Chinese and the letters of Pinyin
//! come through; `ö`, `ñ`, `€` and the no-break space do not, so names and prices lose characters.

use encoding_rs::{EncoderResult, GBK};
use std::borrow::Cow;

/// The text without the characters that Python's `gbk` codec does not know.
pub(super) fn lossy(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_known) { text.into() } else { text.chars().filter(|c| is_known(*c)).collect() }
}

fn is_known(c: char) -> bool {
    match c {
        ..='\u{7f}' => true,
        // The WHATWG's GBK has more than Python's: what GB 18030 and the euro brought, and private characters.
        '\u{1f9}'
        | '\u{1e3f}'
        | '\u{20ac}'
        | '\u{2e80}'..='\u{2fff}'
        | '\u{303e}'
        | '\u{3400}'..='\u{4dff}'
        | '\u{9fa6}'..='\u{9fff}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fe10}'..='\u{fe19}' => false,
        _ => {
            let mut bytes = [0; 8];
            let text = c.encode_utf8(&mut [0; 4]).to_owned();
            let (result, ..) = GBK.new_encoder().encode_from_utf8_without_replacement(&text, &mut bytes, true);
            matches!(result, EncoderResult::InputEmpty)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_known, lossy};

    #[test]
    fn what_gbk_lacks_is_dropped() {
        assert_eq!(lossy("Schrödinger’s 5\u{a0}€ – café, 北京。"), "Schrdinger’s 5 – café, 北京。");
        assert_eq!(lossy("plain\n"), "plain\n");
    }

    /// As many as Python's codec knows.
    #[test]
    fn as_many_characters_as_python_knows() {
        assert_eq!(('\u{80}'..=char::MAX).filter(|c| is_known(*c)).count(), 21_791);
    }
}
