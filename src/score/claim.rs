//! A claim or a question against what was read: which of its words a page has shown.
//!
//! Only words are compared, to within an ending (`owns`, `owner`), so this says what was never shown better than what was.

use super::observed::Observed;
use super::wording::words;
use std::collections::BTreeSet;

/// Words that say nothing about which sentence is meant.
const FUNCTION: [&str; 46] = [
    "of", "and", "in", "on", "to", "is", "was", "were", "are", "be", "been", "for", "by", "it", "its", "he", "she",
    "his", "her", "or", "at", "with", "as", "from", "that", "this", "which", "who", "whom", "has", "had", "have",
    "did", "does", "not", "but", "their", "they", "there", "than", "into", "until", "both", "only", "s", "also",
];

/// Letters in which two forms of a word may differ at their ends.
const ENDING: usize = 3;

/// Letters that two forms of a word have in common at least.
const STEM: usize = 3;

/// Whether one text that was read has the words of a claim that tell something, all but `spare` of them: false claims are
/// often true ones with a word changed.
pub(super) fn is_shown(claim: &str, spare: usize, seen: &Observed<'_>) -> bool {
    let claim = words(claim);
    let telling = telling(&claim);
    let shown = |text: &String| missing(&telling, text) <= spare;
    telling.len() > spare && seen.read_words().iter().any(shown)
}

/// Whether a text that was read has any word of a claim that tells something.
pub(super) fn is_touched(claim: &str, seen: &Observed<'_>) -> bool {
    let claim = words(claim);
    let telling: BTreeSet<&str> = telling(&claim).into_iter().filter(|word| word.chars().nth(1).is_some()).collect();
    telling.is_empty() || seen.read_words().iter().any(|text| missing(&telling, text) < telling.len())
}

/// How much was read of what a claim says that something is: a page says first what its subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of it, in one text that has the subject too.
    Same,
    /// The text says something else, though some of the words.
    Partly,
    /// Nothing of it: the page may be that of another subject of this name.
    Other,
}

/// For a claim of the form `X is a Y` and a text that was read about X.
pub(super) fn kind_read(claim: &str, seen: &Observed<'_>) -> Option<Kind> {
    let claim = format!(" {} ", claim.trim());
    let (subject, kind) = [" is a ", " is an ", " was a ", " was an "].iter().find_map(|is| claim.split_once(is))?;
    let (subject, kind) = (words(subject), words(kind));
    let (subject, kind) = (telling(&subject), telling(&kind));
    let about = seen.read_words().iter().filter(|text| missing(&subject, text) == 0);
    let least = about.map(|text| missing(&kind, text)).min()?;
    Some(match least {
        0 => Kind::Same,
        _ if least < kind.len() => Kind::Partly,
        _ => Kind::Other,
    })
}

fn telling(words: &str) -> BTreeSet<&str> {
    words.split_ascii_whitespace().filter(|word| !FUNCTION.contains(word)).collect()
}

/// How many of these words a text lacks.
fn missing(telling: &BTreeSet<&str>, text: &str) -> usize {
    let text: BTreeSet<&str> = text.split_ascii_whitespace().collect();
    telling.iter().filter(|word| !text.iter().any(|other| is_form(word, other))).count()
}

/// The first name or number of a claim that no text of a page has shown. The first word is capitalised in any case.
pub(super) fn missing_name<'a>(claim: &'a str, seen: &Observed<'_>) -> Option<&'a str> {
    let telling = |word: &&str| word.starts_with(char::is_uppercase) || word.contains(|c: char| c.is_ascii_digit());
    let unseen = |word: &&str| {
        let word = words(word);
        let word = word.trim();
        let shown = |text: &String| text.split_ascii_whitespace().any(|other| is_form(word, other));
        !word.is_empty() && !FUNCTION.contains(&word) && !seen.read_words().iter().any(shown)
    };
    let names = claim.split_whitespace().skip(1).filter(telling);
    names.map(|name| name.trim_end_matches(['.', ',', '?', ';', ':', '!'])).find(unseen)
}

/// Whether two words are one, or forms of one.
fn is_form(a: &str, b: &str) -> bool {
    let longest = a.chars().count().max(b.chars().count());
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || (common >= STEM && common + ENDING >= longest)
}

#[cfg(test)]
mod tests {
    use super::{Kind, is_form, is_shown, is_touched, kind_read, missing_name};
    use crate::score::fixtures::{episode, step};
    use crate::score::observed::Observed;
    use crate::types::{Outcome, Tool};

    #[test]
    fn forms_of_a_word_are_one_word() {
        assert!(is_form("owner", "owns") && is_form("computers", "computer") && is_form("30", "30"));
        assert!(!is_form("cats", "category") && !is_form("1901", "1812") && !is_form("in", "inn"));
    }

    #[test]
    fn a_claim_is_shown_by_its_words_in_one_text() {
        let steps = vec![
            step(Tool::Search, "Otto Pell", "Otto Pell was a Portuguese engineer, who owned two bridges."),
            step(Tool::Lookup, "Porto", "(Result 1 / 1) He died in Porto."),
        ];
        let read = episode(steps, None, &[], Outcome::Finished);
        let seen = Observed::of(&read);
        assert!(is_shown("Otto Pell was an engineer and the owner of a bridge.", 0, &seen));
        assert!(!is_shown("Otto Pell, an engineer, died in Porto after an owner sold bridges.", 0, &seen), "two texts");
        assert!(!is_shown("Otto Pell was a Spanish engineer.", 0, &seen));
        assert!(is_shown("Otto Pell was a Spanish engineer.", 1, &seen), "one word was changed");
        assert!(!is_shown("Otto Pell burned a library.", 1, &seen));
        assert!(is_touched("Pell was a dancer.", &seen) && !is_touched("A&E was a root beer brand.", &seen));
        assert_eq!(kind_read("Otto Pell was a Portuguese engineer.", &seen), Some(Kind::Same));
        assert_eq!(kind_read("Otto Pell was a Spanish engineer.", &seen), Some(Kind::Partly));
        assert_eq!(kind_read("Otto Pell is an album.", &seen), Some(Kind::Other));
        assert_eq!([kind_read("Ada is an album.", &seen), kind_read("Otto Pell owned two.", &seen)], [None, None]);
        assert_eq!(missing_name("Otto Pell died in Porto.", &seen), None);
        assert_eq!(missing_name("Otto Pell died in Lisbon.", &seen), Some("Lisbon"));
        assert_eq!(missing_name("Pell was born in 1901.", &seen), Some("1901"));
    }
}
