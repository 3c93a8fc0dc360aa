//! What was read so far.

use super::text;
use super::transcript::PastStep;
use crate::base::Tool;
use std::collections::{BTreeSet, HashSet};

/// Most sentences of a page; a tool shows five, and one for each lookup.
const MAX_SENTENCES: usize = 64;

#[derive(Debug)]
pub(super) struct Page {
    /// The search that opened it, without a qualifier in brackets.
    pub(super) title: String,
    /// Clues in its title and first sentence, and on all earlier pages.
    pub(super) known: Clues,
    pub(super) sentences: Vec<(String, Clues)>,
    pub(super) looked_up: bool,
}

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
            notes.similar.clear();
            match step.action.tool {
                Tool::Search => notes.search(&step.action.input, &step.observation, question),
                Tool::Lookup => notes.look_up(&step.observation, question),
                Tool::Passages => notes.passages(&step.action.input, &step.observation, question),
                Tool::Document | Tool::Think | Tool::Finish | Tool::Invalid | Tool::Other => {}
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
            self.read_page(query, observation, question);
        }
    }

    /// Each passage is a page of its own: `[1] Title (id 7)` and its text below.
    fn passages(&mut self, query: &str, observation: &str, question: &Question) {
        self.tried.insert(text::fold(query));
        for passage in observation.split("\n\n[") {
            let Some((heading, text)) = passage.split_once('\n') else { continue };
            let title = heading.split_once("] ").map_or(heading, |(_, title)| title);
            self.read_page(title, text, question);
        }
    }

    fn read_page(&mut self, name: &str, text: &str, question: &Question) {
        let sentences = text.split(". ").take(MAX_SENTENCES).map(str::trim);
        let sentences: Vec<_> = sentences.map(|text| (text.to_owned(), question.clues_in(text))).collect();
        let title = name.split(" (").next().unwrap_or(name).to_owned();
        let mut known = question.clues_in(&title);
        known.extend(sentences.first().into_iter().flat_map(|(_, clues)| clues));
        known.extend(self.pages.iter().flat_map(|page| page.clues(question)));
        self.pages.push(Page { title, known, sentences, looked_up: false });
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

pub(super) fn quoted(chars: &mut std::str::Chars<'_>) -> String {
    let mut text = String::new();
    let Some(quote) = chars.find(|c| matches!(c, '\'' | '"')) else { return text };
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(escaped(chars)),
            c if c == quote => break,
            c => text.push(c),
        }
    }
    text
}

fn escaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => return Some(c),
    };
    let code: String = chars.by_ref().take(digits).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
}

// The titles in a question, and the type of its answer.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `SUPPORTS`, `REFUTES` or `NOT ENOUGH INFO`.
    Verdict,
    YesNo,
    /// The title in the question with the highest number or latest year.
    Most,
    /// The title in the question with the lowest number or earliest year.
    Least,
    /// What something is: `Who was X?`
    Description,
    Year,
    Date,
    Number,
    Name,
}

/// Clues of a question, by their index.
pub(super) type Clues = BTreeSet<usize>;

#[derive(Debug)]
pub(super) struct Question {
    pub(super) kind: Kind,
    /// Title-like spans without duplicates, quoted ones first.
    pub(super) titles: Vec<String>,
    /// Its words except small ones, in lower case, one per stem.
    pub(super) clues: Vec<String>,
    folded: String,
}

const AUXILIARIES: &str = "is are was were do does did has have had can";
const ASKING: &str = "who whom whose what which when where how";
const LEAST: &str = "first earlier earliest older oldest before smaller shorter fewer";

impl Question {
    pub(super) fn read(text: &str, is_claim: bool) -> Self {
        let folded = text::fold(text).replace("'s ", " ");
        let mut stems = HashSet::new();
        // The word after `which` is a type, not a clue.
        let words = std::iter::once("").chain(folded.split(' ')).zip(folded.split(' '));
        let clues = words.filter(|(before, word)| !matches!(*before, "which" | "what") && !text::is_small(word));
        let clues = clues.map(|(_, word)| word.to_owned()).filter(|word| stems.insert(text::stem(word))).collect();
        let titles = titles(text);
        let kind = if is_claim { Kind::Verdict } else { kind(&folded, &titles) };
        Self { kind, titles, clues, folded: format!(" {folded} ") }
    }

    /// Whether the question contains these words in a row.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.folded.contains(&format!(" {} ", text::fold(name)))
    }

    /// The clues in a text, including parts of compounds (`German-born`).
    pub(super) fn clues_in(&self, text: &str) -> Clues {
        let words = text::words(text);
        let parts = words.iter().flat_map(|word| std::iter::once(word.text).chain(word.text.split('-')));
        let stems: HashSet<String> = parts.map(text::stem).collect();
        (0..self.clues.len()).filter(|i| stems.contains(&text::stem(&self.clues[*i]))).collect()
    }

    /// The share of the question that these clues cover, from 0 to 1.
    pub(super) fn share(&self, clues: &Clues) -> f64 {
        let total: f64 = self.clues.iter().map(|clue| weight(clue)).sum();
        clues.iter().map(|i| weight(&self.clues[*i])).sum::<f64>() / total.max(1.0)
    }
}

/// Rarity of a word, from 1 to 8: long words are rare.
pub(super) fn weight(word: &str) -> f64 {
    f64::from(u8::try_from(word.chars().count()).unwrap_or(8).clamp(1, 8))
}

fn kind(folded: &str, titles: &[String]) -> Kind {
    let words: Vec<&str> = folded.split(' ').collect();
    let choice = titles.len() > 1 && (words.contains(&"or") || matches!(words[0], "of" | "between"));
    let asks = |word: &&&str| text::is_one_of(ASKING, word);
    // The question word is the first except small words, or the last that does not start a relative clause.
    let early = words.iter().take_while(|word| text::is_small(word)).find(asks);
    let asked = early.or_else(|| words.iter().rev().filter(asks).find(|word| !word.starts_with("who")));
    // `Who was X?`: only a title.
    let is = words.get(1).is_some_and(|verb| text::is_one_of(AUXILIARIES, verb));
    let name = words.get(2..).unwrap_or_default().join(" ");
    let bare = || is && titles.iter().any(|title| text::fold(title) == name.trim_start_matches("the "));
    match asked.copied().unwrap_or_default() {
        _ if choice && words.iter().any(|word| text::is_one_of(LEAST, word)) => Kind::Least,
        _ if choice => Kind::Most,
        _ if text::is_one_of(AUXILIARIES, words[0]) => Kind::YesNo,
        "who" | "what" if bare() => Kind::Description,
        "what" | "which" if words.contains(&"year") => Kind::Year,
        "when" => Kind::Date,
        "how" => Kind::Number,
        _ => Kind::Name,
    }
}

/// Quoted spans, then capitalised ones; adjectives only if there are no others.
fn titles(text: &str) -> Vec<String> {
    let mut titles: Vec<String> = text.split(['"', '“', '”']).skip(1).step_by(2).map(str::to_owned).collect();
    let (adjectives, names): (Vec<_>, Vec<_>) =
        text::titles(text).into_iter().partition(|title| text::is_adjective(text, title));
    let names = if names.is_empty() { adjectives } else { names };
    let quoted = titles.join(" ");
    titles.extend(names.into_iter().map(|name| name.text.to_owned()).filter(|name| !quoted.contains(name)));
    let mut seen = HashSet::from([String::new()]);
    titles.retain(|title| seen.insert(text::fold(title)));
    titles
}
