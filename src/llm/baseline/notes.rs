//! What was read so far.

use super::question::{Clues, Question};
use super::text;
use super::transcript::{PastStep, quoted};
use std::collections::HashSet;

/// Most sentences of a page; a tool shows five, and one for each lookup.
const MAX_SENTENCES: usize = 64;

/// The visible part of a page.
#[derive(Debug)]
pub(super) struct Page {
    /// The search that opened it, without a qualifier in brackets.
    pub(super) title: String,
    /// Clues in its title and first sentence, and on all earlier pages.
    pub(super) known: Clues,
    pub(super) sentences: Vec<(String, Clues)>,
    pub(super) looked_up: bool,
}

/// Everything that the steps so far have shown.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) pages: Vec<Page>,
    /// Titles that the last search was offered instead of a page.
    pub(super) similar: Vec<String>,
    tried: HashSet<String>,
}

impl Page {
    pub(super) fn clues(&self, question: &Question) -> Clues {
        let sentences = self.sentences.iter().flat_map(|(_, clues)| clues);
        sentences.copied().chain(question.clues_in(&self.title)).collect()
    }
}

impl Notes {
    pub(super) fn read(steps: &[PastStep], question: &Question) -> Self {
        let mut notes = Self::default();
        for step in steps {
            let Some((verb, argument)) = step.action.split_once('[') else { continue };
            let argument = argument.strip_suffix(']').unwrap_or(argument).trim();
            notes.similar.clear();
            match verb.trim().to_ascii_lowercase().as_str() {
                "search" => notes.search(argument, &step.observation, question),
                "lookup" => notes.look_up(&step.observation, question),
                _ => {}
            }
        }
        notes
    }

    fn search(&mut self, query: &str, observation: &str, question: &Question) {
        self.tried.insert(text::fold(query));
        if let Some(missed) = observation.strip_prefix("Could not find ") {
            self.similar = missed.rsplit_once("Similar: [").map_or_else(Vec::new, |(_, list)| list_items(list));
            // Titles similar to a name from a page are rarely relevant.
            if !self.pages.is_empty() && !question.mentions(query) {
                self.similar.retain(|title| text::fold(title).contains(&text::fold(query)));
            }
        } else if !observation.is_empty() {
            let sentences = observation.split(". ").take(MAX_SENTENCES).map(str::trim);
            let sentences: Vec<_> = sentences.map(|text| (text.to_owned(), question.clues_in(text))).collect();
            let title = query.split(" (").next().unwrap_or(query).to_owned();
            let mut known = question.clues_in(&title);
            known.extend(sentences.first().into_iter().flat_map(|(_, clues)| clues));
            known.extend(self.pages.iter().flat_map(|page| page.clues(question)));
            self.pages.push(Page { title, known, sentences, looked_up: false });
        }
    }

    fn look_up(&mut self, observation: &str, question: &Question) {
        let Some(page) = self.pages.last_mut() else { return };
        page.looked_up = true;
        if let Some((_, sentence)) = observation.strip_prefix("(Result").and_then(|rest| rest.split_once(") "))
            && page.sentences.len() < MAX_SENTENCES
        {
            page.sentences.push((sentence.to_owned(), question.clues_in(sentence)));
        }
    }

    /// Whether this was searched for before, cut to a line as searches are.
    pub(super) fn tried(&self, query: &str) -> bool {
        self.tried.contains(&text::fold(&text::line(query)))
    }
}

/// The items of a list in Python notation: `'a', "b's", 'c \'d\''`.
fn list_items(list: &str) -> Vec<String> {
    let mut chars = list.chars();
    std::iter::from_fn(|| Some(quoted(&mut chars)).filter(|item| !item.is_empty())).collect()
}
