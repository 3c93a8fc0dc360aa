//! What has been read so far, and which sentence fits which words.

use super::question::{Clue, Question};
use super::text;
use super::transcript::Past;
use std::collections::HashSet;
use std::ops::Range;

/// Sentences of one page that are kept; more would come from no real page.
const MOST_SENTENCES: usize = 64;

/// A sentence with the stems of its words.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// Stems of its words and where these stand, in bytes.
    pub(super) words: Vec<(String, Range<usize>)>,
    stems: HashSet<String>,
}

/// A page as far as it was seen.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// The name under which it was opened.
    pub(super) name: String,
    /// What was searched for when it was found: its name, or what the search for missed.
    pub(super) sought: String,
    pub(super) sentences: Vec<Sentence>,
    /// Keywords that were looked up on it, folded.
    pub(super) looked_up: Vec<String>,
}

/// A search that opened no page.
#[derive(Debug, Clone)]
pub(super) struct Miss {
    pub(super) query: String,
    pub(super) similar: Vec<String>,
}

/// All that the steps so far have shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    pub(super) pages: Vec<Page>,
    pub(super) misses: Vec<Miss>,
    /// Queries so far, folded.
    tried: HashSet<String>,
    /// Whether the last action was a search that opened no page.
    pub(super) just_missed: bool,
}

impl Sentence {
    pub(super) fn new(text: &str) -> Self {
        let words = text::words(text);
        let stems = words.iter().flat_map(|word| parts(word.text)).collect();
        let words = words.into_iter().map(|word| (text::stem(word.text), word.at)).collect();
        Self { text: text.to_owned(), words, stems }
    }

    pub(super) fn has(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }
}

/// A compound counts as itself and as its parts: `German-born`, `1785–1789`.
fn parts(word: &str) -> Vec<String> {
    let mut stems = vec![text::stem(word)];
    if word.contains(['-', '–']) {
        stems.extend(word.split(['-', '–']).map(text::stem));
    }
    stems
}

impl Notes {
    pub(super) fn read(steps: &[Past]) -> Self {
        let mut notes = Self::default();
        for step in steps {
            let argument = step.action.split_once('[').map(|(_, rest)| rest.strip_suffix(']').unwrap_or(rest));
            let Some(argument) = argument.map(str::trim) else { continue };
            let verb = step.action.trim_start().to_ascii_lowercase();
            if verb.starts_with("search") {
                notes.searched(argument, &step.observation);
            } else if verb.starts_with("lookup") {
                notes.looked_up(argument, &step.observation);
            }
        }
        notes
    }

    fn searched(&mut self, query: &str, observation: &str) {
        self.tried.insert(text::fold(query));
        self.just_missed = false;
        if let Some(similar) = similar(observation) {
            self.misses.push(Miss { query: query.to_owned(), similar });
            self.just_missed = true;
        } else if !observation.is_empty() {
            let sentences = sentences(observation).take(MOST_SENTENCES).map(Sentence::new).collect();
            let name = query.to_owned();
            self.pages.push(Page { sought: self.sought(query), name, sentences, looked_up: Vec::new() });
        }
    }

    /// Follows a query back through the lists that offered it.
    fn sought(&self, query: &str) -> String {
        let mut sought = query;
        for miss in self.misses.iter().rev() {
            if miss.similar.iter().any(|title| title == sought) {
                sought = &miss.query;
            }
        }
        sought.to_owned()
    }

    /// The page that a search for `name` led to.
    pub(super) fn page_of(&self, name: &str) -> Option<&Page> {
        let name = text::fold(name);
        self.pages.iter().find(|page| text::fold(&page.sought) == name || text::fold(&page.name) == name)
    }

    fn looked_up(&mut self, keyword: &str, observation: &str) {
        let Some(page) = self.pages.last_mut() else { return };
        page.looked_up.push(text::fold(keyword));
        if let Some((_, sentence)) = observation.strip_prefix("(Result").and_then(|rest| rest.split_once(") "))
            && page.sentences.len() < MOST_SENTENCES
            && page.sentences.iter().all(|known| known.text != sentence.trim())
        {
            page.sentences.push(Sentence::new(sentence.trim()));
        }
    }

    /// Whether this was searched for before.
    pub(super) fn tried(&self, query: &str) -> bool {
        self.tried.contains(&text::fold(query))
    }
}

/// The titles of an observation that names similar ones; `None` for a page.
fn similar(observation: &str) -> Option<Vec<String>> {
    let rest = observation.strip_prefix("Could not find ")?;
    let list = rest.rsplit_once("Similar: [").map_or("", |(_, list)| list);
    let mut titles = Vec::new();
    let mut chars = list.chars();
    while let Some(quote) = chars.find(|c| matches!(c, '\'' | '"' | ']')) {
        if quote == ']' {
            break;
        }
        let mut title = String::new();
        while let Some(c) = chars.next() {
            match c {
                '\\' => title.extend(chars.next()),
                c if c == quote => break,
                c => title.push(c),
            }
        }
        titles.push(title);
    }
    Some(titles)
}

/// Sentences as the tool splits them.
fn sentences(observation: &str) -> impl Iterator<Item = &str> {
    observation.split(". ").map(str::trim).filter(|sentence| sentence.len() > 1)
}

/// How much a clue says.
pub(super) fn weight(clue: &Clue, question: &Question) -> f64 {
    const VAGUE: &[&str] = &[
        "man", "woman", "person", "known", "work", "part", "place", "thing", "people", "become", "became", "take",
        "took", "give", "gave",
    ];
    if question.head.contains(&clue.stem) || VAGUE.contains(&clue.word.to_lowercase().as_str()) {
        return 0.35;
    }
    let number = clue.word.starts_with(|c: char| c.is_ascii_digit());
    if clue.named || number { 1.2 } else { 1.0 }
}

/// Which clues of a question are covered by some text, by their index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cover(HashSet<usize>);

impl Cover {
    /// The clues that `sentence` holds.
    pub(super) fn add(&mut self, sentence: &Sentence, question: &Question) {
        self.0.extend(question.clues.iter().enumerate().filter(|(_, clue)| sentence.has(&clue.stem)).map(|(i, _)| i));
    }

    pub(super) fn has(&self, clue: usize) -> bool {
        self.0.contains(&clue)
    }

    /// The share of the question's weight that is covered, 0 to 1.
    pub(super) fn share(&self, question: &Question) -> f64 {
        let total: f64 = question.clues.iter().map(|clue| weight(clue, question)).sum();
        let mut indices: Vec<&usize> = self.0.iter().collect();
        // Floating sums depend on their order; a set has none.
        indices.sort_unstable();
        let covered: f64 = indices.into_iter().map(|i| weight(&question.clues[*i], question)).sum();
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Notes, similar};
    use crate::llm::baseline::transcript::Past;

    fn past(action: &str, observation: &str) -> Past {
        Past { action: action.into(), observation: observation.into() }
    }

    #[test]
    fn similar_titles_are_read_as_python_writes_them() {
        let list = r#"Could not find [x]. Similar: ['a', "b's", 'c \'d\'', 'e, f']."#;
        assert_eq!(similar(list).expect("a list"), ["a", "b's", "c 'd'", "e, f"]);
        assert_eq!(similar("Could not find x. Similar: [].").expect("a list"), Vec::<String>::new());
        assert_eq!(similar("X is a town."), None);
    }

    #[test]
    fn pages_grow_by_lookups() {
        let notes = Notes::read(&[
            past("Search[Y]", "Could not find Y. Similar: ['X']."),
            past("Search[X]", "X is a town. It lies on a river.."),
            past("Lookup[mayor]", "(Result 1 / 2) The mayor is Z."),
            past("Lookup[mayor]", "No more results."),
            past("Dance[x]", "Invalid action: Dance[x]"),
        ]);
        let page = &notes.pages[0];
        let texts: Vec<&str> = page.sentences.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, ["X is a town", "It lies on a river..", "The mayor is Z."]);
        assert_eq!(page.looked_up, ["mayor", "mayor"]);
        assert!(notes.tried("x") && notes.tried("Y") && !notes.just_missed);
    }
}
