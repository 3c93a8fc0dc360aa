//! What a lookup looks for.

use super::Part;
use memchr::memchr2_iter;
use memchr::memmem::Finder;

/// A keyword to be found in any case, as Python's `keyword.lower() in sentence.lower()` finds it.
pub(super) struct Keyword {
    lowered: Finder<'static>,
    sign: Option<Sign>,
}

/// What every sentence with the keyword contains in any case of ASCII, sentences with one of [`FOLDED`] aside. Absent
/// where there is no such text.
struct Sign {
    /// In lower case; not empty.
    text: Vec<u8>,
    /// Where its rarest character is.
    at: usize,
}

/// The characters beyond ASCII whose lower case has a letter of ASCII.
const FOLDED: [char; 2] = ['\u{130}', '\u{212a}'];

/// What running text is mostly made of, the most frequent first.
const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";

impl Keyword {
    pub(super) fn new(keyword: &str) -> Self {
        let lowered = keyword.to_lowercase();
        Self { sign: Sign::of(&lowered), lowered: Finder::new(&lowered).into_owned() }
    }

    /// Whether a sentence of `text` may contain the keyword. Most texts are ruled out here, before they are cut.
    pub(super) fn may_stand_in(&self, text: &str) -> bool {
        let Some(sign) = &self.sign else { return true };
        sign.stands_in(text.as_bytes()) || (!text.is_ascii() && text.contains(FOLDED))
    }

    /// Whether a sentence contains the keyword. `buffer` spares a string for each.
    pub(super) fn stands_in(&self, (sentence, end): &Part<'_>, buffer: &mut String) -> bool {
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

impl Sign {
    fn of(lowered: &str) -> Option<Self> {
        // A sentence is given a full stop, which the page need not have.
        let text = lowered.strip_suffix('.').unwrap_or(lowered);
        let rarity = |byte: u8| FREQUENT.iter().position(|&frequent| frequent == byte).unwrap_or(FREQUENT.len());
        let (at, _) = text.bytes().enumerate().max_by_key(|&(_, byte)| rarity(byte))?;
        text.is_ascii().then(|| Self { text: text.as_bytes().to_vec(), at })
    }

    /// Looks at where the rarest character stands, which is seldom.
    fn stands_in(&self, text: &[u8]) -> bool {
        let rarest = self.text[self.at];
        memchr2_iter(rarest, rarest.to_ascii_uppercase(), text).any(|found| {
            let start = found.checked_sub(self.at);
            let here = start.and_then(|start| text.get(start..start + self.text.len()));
            here.is_some_and(|here| here.eq_ignore_ascii_case(&self.text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FOLDED, Keyword};
    use crate::wiki::observe::paper_parts;
    use proptest::prelude::*;

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
}
