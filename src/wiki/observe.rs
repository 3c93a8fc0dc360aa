//! The strings that the tool answers with: the paper's sentences, lookup lists and messages, and the Chinese ones.

pub(super) mod chinese;
mod keyword;
mod voice;

pub use voice::ObservationFormat;

use crate::types::python::is_python_space;
use std::ops::Range;

/// How many sentences of a page, and how many similar titles, an observation shows.
const MAX_SHOWN: usize = 5;

/// The observation before the first step.
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

/// `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

#[cfg(test)]
mod tests {
    use super::ObservationFormat;
    use crate::types::{Compat, Wording};

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
}
