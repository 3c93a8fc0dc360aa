//! The strings that the tool answers with: the paper's sentences, lookup lists and messages, and the Chinese ones.

pub mod chinese;
mod keyword;
mod voice;

pub use voice::Voice;

use crate::types::python::{is_python_space, repr};
use keyword::Keyword;

/// How many sentences of a page, and how many similar titles, an observation shows.
const SHOWN: usize = 5;

/// The observation before the first step.
pub const START: &str = "Interact with Wikipedia using search[], lookup[], and finish[].\n";
/// The observation of a lookup past its last result, or without a page.
pub const NO_MORE: &str = "No more results.\n";
/// The observation of `think[...]`.
pub const THOUGHT: &str = "Nice thought.";
/// The observation of `finish[...]`; the environment itself gives no reward.
pub const FINISHED: &str = "Episode finished, reward = 0\n";

/// The observation of a page: its first five sentences.
pub fn page(text: &str) -> String {
    shown(parts(text))
}

/// The sentences of a page: its lines, stripped, split on `. `, each stripped again and given a final full stop.
pub fn sentences(text: &str) -> impl Iterator<Item = String> + '_ {
    parts(text).map(whole)
}

/// The sentences of a page that contain `keyword`, in any case.
pub fn lookup_list(text: &str, keyword: &str) -> Vec<String> {
    matching(std::iter::once(text), parts, keyword)
}

/// A sentence as the page has it, and what is put behind it.
type Part<'a> = (&'a str, &'static str);

fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    text.split('\n')
        .map(strip)
        .filter(|line| !line.is_empty())
        .flat_map(|line| line.split(". "))
        .map(strip)
        .filter(|sentence| !sentence.is_empty())
        .map(|sentence| (sentence, "."))
}

fn whole((sentence, end): Part<'_>) -> String {
    [sentence, end].concat()
}

fn shown<'a>(parts: impl Iterator<Item = Part<'a>>) -> String {
    parts.take(SHOWN).map(whole).collect::<Vec<_>>().join(" ")
}

/// The sentences that contain `keyword`, of texts that `parts` cuts. A page has thousands, most do not match, and no
/// string is made for those.
fn matching<'a, P: Iterator<Item = Part<'a>>>(
    texts: impl Iterator<Item = &'a str>,
    parts: impl Fn(&'a str) -> P,
    keyword: &str,
) -> Vec<String> {
    let keyword = Keyword::new(keyword);
    let mut buffer = String::new();
    let candidates = texts.filter(|text| keyword.may_stand_in(text)).flat_map(parts);
    candidates.filter(|part| keyword.stands_in(part, &mut buffer)).map(whole).collect()
}

/// The observation of a lookup's result `number` (from 1) of `count`.
pub fn lookup_result(number: usize, count: usize, sentence: &str) -> String {
    format!("(Result {number} / {count}) {sentence}")
}

/// The observation of a search without a page: the query as it was sent, and the first five of `titles`.
pub fn not_found<T: AsRef<str>>(query: &str, titles: &[T]) -> String {
    format!("Could not find {query}. Similar: [{}].", listed(titles))
}

/// The first five titles as a Python list prints them, brackets not included.
fn listed<T: AsRef<str>>(titles: &[T]) -> String {
    let shown: Vec<String> = titles.iter().take(SHOWN).map(|title| repr(title.as_ref())).collect();
    shown.join(", ")
}

/// The observation of an action that names no tool.
pub fn invalid(action: &str) -> String {
    format!("Invalid action: {action}")
}

/// `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

#[cfg(test)]
mod tests {
    use super::{lookup_list, not_found, page};

    #[test]
    fn sentences_end_in_one_stop_more_than_they_had() {
        assert_eq!(page("P one. P two.\nQ one. Q two.\n"), "P one. P two.. Q one. Q two..");
        assert_eq!(page(". . ."), "..");
        assert_eq!(page("a. b. c. d. e. f. g"), "a. b. c. d. e.");
        assert_eq!(page(" \n\u{1f}\n"), "");
    }

    #[test]
    fn lookup_ignores_case_and_an_empty_keyword_matches_all() {
        assert_eq!(lookup_list("Σίσυφος here. The ΣΊΣΥΦΟΣ. x", "σίσυφος"), ["Σίσυφος here.", "The ΣΊΣΥΦΟΣ."]);
        assert_eq!(lookup_list("a. b", ""), ["a.", "b."]);
        assert_eq!(lookup_list("a. b", "b."), ["b."]);
    }

    #[test]
    fn titles_print_as_a_python_list() {
        assert_eq!(not_found::<&str>("x", &[]), "Could not find x. Similar: [].");
        assert_eq!(
            not_found("[x]", &["It's", "\"q\"", "a'b\"c", "é", "\u{a0}", "sixth"]),
            "Could not find [x]. Similar: [\"It's\", '\"q\"', 'a\\'b\"c', 'é', '\\xa0']."
        );
    }
}
