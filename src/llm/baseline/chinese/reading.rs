//! What has been read so far, in sentences of Chinese.

use crate::llm::baseline::reading::{Miss, Notes};

/// Sentences of a page that are kept; more would come from no real page.
const MOST_SENTENCES: usize = 64;

/// A page as far as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Its title without what stands in brackets behind it.
    pub(super) name: String,
    pub(super) sentences: Vec<String>,
}

/// How a page can be had.
pub(super) enum Open {
    /// It is open, or was.
    Page(Page),
    /// By a search for this.
    Search(String),
    /// Not at all.
    Nowhere,
}

/// The page that is looked for by `query`.
pub(super) fn open(notes: &Notes, query: &str, question: &str) -> Open {
    if let Some(page) = notes.page_of(query) {
        let whole: Vec<&str> = page.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
        let sentences = whole.iter().flat_map(|text| text.split_inclusive(['。', '！', '？']));
        let sentences = sentences.take(MOST_SENTENCES).map(str::to_owned).collect();
        return Open::Page(Page { name: plain(&page.name).to_owned(), sentences });
    }
    if !notes.tried(query) {
        return Open::Search(query.to_owned());
    }
    let miss = notes.misses.iter().rev().find(|miss| miss.query == query);
    match miss.and_then(|miss| similar(notes, miss, question)) {
        Some(title) => Open::Search(title.to_owned()),
        None => Open::Nowhere,
    }
}

/// The title of a list that the question speaks of most; the first, where it speaks of none.
fn similar<'a>(notes: &Notes, miss: &'a Miss, question: &str) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for title in miss.similar.iter().filter(|title| !notes.tried(title)) {
        let name = plain(title);
        let brackets = title[name.len()..].trim_matches([' ', '(', ')', '（', '）']);
        let named = question.contains(name) || miss.query.contains(name);
        let said = !brackets.is_empty() && question.contains(brackets);
        let worth = if named { name.chars().count() + 1 } else { 0 } + if said { 2 } else { 0 };
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, title));
        }
    }
    best.map(|(_, title)| title)
}

/// A title without what stands in brackets behind it, and without the marks of a work.
pub(super) fn plain(title: &str) -> &str {
    let title = title.trim_matches(['《', '》', ' ']);
    let name = title.split(['(', '（']).next().unwrap_or(title).trim_end();
    if name.is_empty() { title } else { name }
}
