//! Texts of articles, whole or from their beginning.

use super::html;
use super::params::Params;
use crate::wiki::corpus::Page;

/// What `prop=extracts` gives: as text or as HTML, whole, its introduction, or its first characters or sentences.
pub(super) fn extract(page: &Page, is_lead: bool, params: &Params) -> String {
    let blocks = if params.is_on("exintro") { introduction(page, is_lead) } else { &page.blocks[..] };
    let length = |name| params.get(name).and_then(|value| value.trim().parse::<usize>().ok()).filter(|&n| n > 0);
    let (characters, sentences) = (length("exchars"), length("exsentences"));
    if characters.is_none() && sentences.is_none() {
        return if params.is_on("explaintext") { text(blocks) } else { html::paragraphs(blocks) };
    }
    let whole = text(blocks);
    let cut = match (characters, sentences) {
        (Some(count), _) => match whole.char_indices().nth(count) {
            Some((end, _)) => format!("{}…", whole[..end].trim_end()),
            None => whole,
        },
        (None, count) => first_sentences(&whole, count.unwrap_or(1)).to_owned(),
    };
    if params.is_on("explaintext") { cut } else { html::paragraphs(&[cut]) }
}

/// What stands before the first heading. Corpora have no headings, so it is all of a lead, and of a page the first
/// paragraph.
pub(super) fn introduction(page: &Page, is_lead: bool) -> &[String] {
    if is_lead { &page.blocks } else { &page.blocks[..page.blocks.len().min(1)] }
}

pub(super) fn text(blocks: &[String]) -> String {
    blocks.join("\n")
}

/// Up to so many characters from the beginning of a page's first paragraph.
pub(super) fn beginning(page: &Page, characters: usize) -> &str {
    let text = page.blocks.first().map_or("", String::as_str);
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// Bytes of a page's text.
pub(super) fn size(page: &Page) -> usize {
    page.blocks.iter().map(String::len).sum()
}

/// The beginning of a text up to the end of so many sentences.
fn first_sentences(text: &str, count: usize) -> &str {
    let mut left = count;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if c == '\n' || c == ' ' && matches!(last, '.' | '!' | '?') {
            left -= 1;
            if left == 0 {
                return &text[..at];
            }
        }
        last = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::first_sentences;

    #[test]
    fn sentences_end_at_marks_and_lines() {
        let text = "One. Two? 3.5 is Three!\nFour";
        for (count, cut) in [(1, "One."), (2, "One. Two?"), (3, "One. Two? 3.5 is Three!"), (4, text), (9, text)] {
            assert_eq!(first_sentences(text, count), cut);
        }
    }
}
