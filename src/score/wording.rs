//! Texts made comparable: page titles, sentences and answers against what the tool showed.
//!
//! The tool cuts pages at `. `, doubles full stops and leaves footnote marks in; datasets have other quotes and
//! dashes. So texts are compared word by word, and nothing but letters and digits counts.

use super::normalize::normalize;
use crate::types::python::is_python_space;
use crate::types::text::cut;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Pieces with fewer words are the remains of an abbreviation (`Dr.`, `St.`) and need not be found by themselves.
const PIECE_WORDS: usize = 3;

/// Longest footnote mark, brackets not counted, in bytes.
const MARK_BYTES: usize = 24;

/// Whether two titles name one page, however a dataset spells them.
pub fn is_same_page(a: &str, b: &str) -> bool {
    page_key(a) == page_key(b)
}

/// A title as `MediaWiki` spells it, of one that a dataset spells: underscores are spaces, FEVER's escapes are undone.
pub fn page_title(title: &str) -> String {
    let title = unescaped(title);
    let words = title.split(|c| c == '_' || is_python_space(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A title without FEVER's escapes.
fn unescaped(title: &str) -> Cow<'_, str> {
    let mut title = Cow::Borrowed(title);
    if title.contains('-') {
        for (escape, character) in [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-COLON-", ":")] {
            title = title.replace(escape, character).into();
        }
    }
    title
}

/// A page title as it is compared: no case, underscores are spaces, runs of spaces are one, FEVER's escapes
/// (`-LRB-`, `-RRB-`, `-LSB-`, `-RSB-`, `-COLON-`) undone, composed characters (NFC).
pub(super) fn page_key(title: &str) -> String {
    let title = unescaped(title);
    let lowered = if title.is_ascii() {
        title.to_ascii_lowercase()
    } else {
        composed(&title).chars().flat_map(char::to_lowercase).collect()
    };
    let mut key = String::with_capacity(lowered.len());
    for word in lowered.split(|c| c == '_' || is_python_space(c)).filter(|word| !word.is_empty()) {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(word);
    }
    key
}

/// The words of a text, each between single spaces: `" ray charles "`, or one space for a text without words.
///
/// Letters and digits in lower case are words; everything else separates. Footnote marks and the articles a, an and
/// the are left out. Characters of scripts that are written without spaces are a word each, so that a name is found
/// inside a sentence.
pub(super) fn words(text: &str) -> String {
    let mut words = Words { out: String::with_capacity(text.len() + 2), start: 1 };
    words.out.push(' ');
    for c in composed(&without_marks(text)).chars() {
        if c.is_ascii_alphanumeric() {
            words.out.push(c.to_ascii_lowercase());
        } else if c.is_ascii() {
            words.end();
        } else {
            c.to_lowercase().for_each(|c| words.add(c));
        }
    }
    words.end();
    words.out
}

/// Words being collected.
struct Words {
    out: String,
    /// Where the last one begins.
    start: usize,
}

impl Words {
    fn add(&mut self, c: char) {
        if !c.is_alphanumeric() {
            self.end();
        } else if is_unspaced(c) {
            self.end();
            self.out.push(c);
            self.end();
        } else {
            self.out.push(c);
        }
    }

    fn end(&mut self) {
        if self.out.len() == self.start {
            return;
        }
        if matches!(&self.out[self.start..], "a" | "an" | "the") {
            self.out.truncate(self.start);
            return;
        }
        self.out.push(' ');
        self.start = self.out.len();
    }
}

/// The text in composed characters (NFC).
fn composed(text: &str) -> Cow<'_, str> {
    // Most texts are composed already and need no copy.
    let is_composed = text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes;
    if is_composed { Cow::Borrowed(text) } else { text.nfc().collect() }
}

/// [`words`] after the official normalisation, which deletes ASCII punctuation: `U.S.` is `us`.
pub(super) fn official_words(text: &str) -> String {
    words(&normalize(&without_marks(text)))
}

/// Whether `needle` has words and they are in `haystack` side by side. Both come from [`words`].
pub(super) fn is_in(needle: &str, haystack: &str) -> bool {
    needle.len() > 1 && haystack.contains(needle)
}

/// Whether a text has the words of another one side by side, read as they are or after the official normalisation.
pub fn has_words(text: &str, wanted: &str) -> bool {
    is_in(&words(wanted), &words(text)) || is_in(&official_words(wanted), &official_words(text))
}

/// The pieces into which the tool cuts a sentence that has `. ` inside, as [`words`]; those too short to mean anything
/// are left out, unless all are.
pub(super) fn pieces(sentence: &str) -> Vec<String> {
    let all: Vec<String> = sentence.split(". ").map(words).filter(|piece| piece.len() > 1).collect();
    let long = |piece: &&String| piece.split_ascii_whitespace().count() >= PIECE_WORDS;
    if all.iter().any(|piece| long(&piece)) { all.iter().filter(long).cloned().collect() } else { all }
}

/// The text without `[2]`, `[a]`, `[note 3]`, `[citation needed]`.
fn without_marks(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    if memchr::memchr(b'[', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    while let Some(at) = memchr::memchr(b'[', rest.as_bytes()) {
        let (before, bracket) = rest.split_at(at);
        out.push_str(before);
        let window = &bracket.as_bytes()[1..bracket.len().min(MARK_BYTES + 2)];
        let inside = memchr::memchr(b']', window).and_then(|end| std::str::from_utf8(&window[..end]).ok());
        if let Some(mark) = inside.filter(|mark| is_mark(mark)) {
            rest = &bracket[mark.len() + 2..];
        } else {
            out.push('[');
            rest = &bracket[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_mark(inside: &str) -> bool {
    let numbered = |text: &str| !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    let lettered = |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_lowercase());
    numbered(inside)
        || lettered(inside)
        || inside.ends_with(" needed")
        || ["note ", "nb ", "n "].iter().any(|kind| inside.strip_prefix(kind).is_some_and(numbered))
}

/// Scripts without spaces between words, and Korean, whose particles cling to names.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// A text for an explanation: one line, between backticks, at most 80 characters.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let shown = cut(text.trim(), SHOWN).replace(|c: char| c.is_control() || c == '`', " ");
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::{is_in, official_words, page_key, pieces, quoted, words};

    #[test]
    fn titles_are_the_same_page_in_any_spelling() {
        assert_eq!(page_key("The_Leopard_-LRB-1963_film-RRB-"), page_key(" the leopard  (1963 Film)"));
        assert_eq!(page_key("Rene\u{301}e"), page_key("Ren\u{e9}e"));
        assert_eq!(page_key("Mission-COLON-Impossible"), "mission:impossible");
        assert_ne!(page_key("The Leopard"), page_key("Leopard"));
    }

    #[test]
    fn words_are_letters_and_digits_alone() {
        assert_eq!(
            words("The Palme d’Or.. was given[2] [note 1]to\nAda[citation needed]!"),
            " palme d or was given to ada "
        );
        assert_eq!(words("1990–1992 [1943] ['a']"), " 1990 1992 1943 ");
        assert_eq!(words("他生于北京市。"), " 他 生 于 北 京 市 ");
        assert_eq!([words(""), words("the ..."), words("[")], [" ", " ", " "]);
        assert_eq!(official_words("The U.S.[3] Navy"), " us navy ");
        assert_eq!(words("[é".repeat(3).as_str()), " é é é ");
    }

    #[test]
    fn only_whole_words_are_found() {
        assert!(is_in(&words("Ada"), &words("It was Ada.")));
        assert!(!is_in(&words("Ada"), &words("It was Adam.")));
        assert!(!is_in(&words("the"), &words("It was the end.")));
        assert!(is_in(&words("北京"), &words("他生于北京市。")));
    }

    #[test]
    fn pieces_are_cut_as_the_tool_cuts() {
        assert_eq!(
            pieces(" He met Dr. Ito in St. Louis once or twice."),
            [" he met dr ", " ito in st ", " louis once or twice "]
        );
        assert_eq!(pieces("J. R. R. Tolkien wrote it down."), [" tolkien wrote it down "]);
        assert_eq!(pieces("No. 5."), [" no ", " 5 "]);
        assert!(pieces(" . ").is_empty());
    }

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quoted(" a\nb`c\u{1b}d "), "`a b c d`");
        assert_eq!(quoted(&"é".repeat(81)), format!("`{}…`", "é".repeat(80)));
    }
}
