//! Rules for questions in Chinese. As those for English they are about the language and about encyclopedias in
//! general, none about a particular question.
//!
//! | file | what it holds |
//! |---|---|
//! | `lexicon` | surnames, nouns, words alike, places |
//! | `names` | where names begin and end in a text without spaces |
//! | `clue` | what a part of a question says, and which sentence says it too |
//! | `question` | a question as a way from a name over nouns to what is asked |
//! | `reading` | pages as far as they were seen, and how to come by others |
//! | `extract` | from a sentence to a short answer |
//! | `compare` | questions about two things |

mod clue;
mod compare;
mod extract;
mod lexicon;
mod names;
mod question;
mod reading;

use super::reading::Notes;
use super::transcript::{Action, Decision};
use compare::Pair;
use lexicon::Sort;
use question::{Chain, Kind};
use reading::{Open, Page, open};

/// As much of a question as is read, in characters.
const MOST_QUESTION: usize = 300;

/// Whether a question is for these rules: most of it is written in Chinese characters.
pub(super) fn is_chinese(question: &str) -> bool {
    let letters = question.chars().filter(|c| c.is_alphabetic());
    let (chinese, all) =
        letters.fold((0, 0), |(chinese, all), c| (chinese + usize::from(names::is_ideograph(c)), all + 1));
    chinese * 2 > all
}

/// What to do next, with `left` steps to go, this one included; an answer in any case if this is the last.
pub(super) fn decide(question: &str, notes: &Notes, left: usize) -> Decision {
    let end = question.char_indices().nth(MOST_QUESTION).map_or(question.len(), |(at, _)| at);
    let reader = Reader { question: &question[..end], notes, left };
    if let Some(pair) = Pair::read(reader.question) {
        return reader.compare(&pair);
    }
    match Chain::read(reader.question) {
        Some(chain) => reader.follow(&chain),
        None => reader.judge(),
    }
}

/// A question with what was read for it.
struct Reader<'a> {
    question: &'a str,
    notes: &'a Notes,
    left: usize,
}

impl Reader<'_> {
    fn compare(&self, pair: &Pair) -> Decision {
        let mut pages = Vec::new();
        for name in [&pair.left, &pair.right] {
            match open(self.notes, name, self.question) {
                Open::Page(page) => pages.push(page),
                Open::Search(query) if self.left > 1 => return search(query),
                Open::Search(_) | Open::Nowhere => {}
            }
        }
        match pages.as_slice() {
            [left, right] => done(&pair.answer(left, right, self.question)),
            _ if self.question.contains('吗') => done("否"),
            _ => done(&pair.left),
        }
    }

    /// Goes from page to page as the question says.
    fn follow(&self, chain: &Chain) -> Decision {
        let mut name = chain.anchor.clone();
        let mut last: Option<Page> = None;
        for hop in chain.hops.iter().map(Some).chain([None]) {
            let page = match open(self.notes, &name, self.question) {
                Open::Page(page) => page,
                Open::Search(query) if self.left > 1 => return search(query),
                Open::Search(_) | Open::Nowhere => return self.guess(chain, last.as_ref(), &name),
            };
            let Some(hop) = hop else { return self.ask(chain, &page) };
            let Some(next) = extract::name(hop.sort, &hop.clue, &page, self.question) else {
                let lookup = hop.clue.keyword().and_then(|keyword| self.look_up(keyword));
                return lookup.unwrap_or_else(|| self.ask(chain, &page));
            };
            name = next;
            last = Some(page);
        }
        self.guess(chain, last.as_ref(), &name)
    }

    /// Answers from the page at the end of the way, or from one that speaks of it.
    fn ask(&self, chain: &Chain, page: &Page) -> Decision {
        if let Some(answer) = extract::answer(&chain.ask, page, self.question) {
            return done(&answer);
        }
        if let Some(lookup) = chain.ask.clue.keyword().and_then(|keyword| self.look_up(keyword)) {
            return lookup;
        }
        if chain.ask.kind == Kind::Named(Sort::Work)
            && let Some(decision) = self.work_of(page, &chain.ask.noun)
        {
            return decision;
        }
        self.guess(chain, Some(page), &page.name)
    }

    /// A work whose page speaks of that person, where the person's own page speaks of no work.
    fn work_of(&self, person: &Page, noun: &str) -> Option<Decision> {
        let speaks = |page: &&super::reading::Page| {
            let title = reading::plain(&page.name);
            let new = title != person.name && !self.question.contains(title);
            new && page.sentences.iter().any(|sentence| sentence.text.contains(&person.name))
        };
        if let Some(work) = self.notes.pages.iter().find(speaks) {
            return Some(done(reading::plain(&work.name)));
        }
        let query = format!("{} {noun}", person.name);
        match open(self.notes, &query, self.question) {
            Open::Search(query) if self.left > 1 => Some(search(query)),
            Open::Page(_) | Open::Search(_) | Open::Nowhere => None,
        }
    }

    fn guess(&self, chain: &Chain, page: Option<&Page>, name: &str) -> Decision {
        let answer = page.and_then(|page| extract::answer(&chain.ask, page, self.question));
        done(&answer.unwrap_or_else(|| name.to_owned()))
    }

    /// A lookup on the open page, unless it was made, or there is no page or no time.
    fn look_up(&self, keyword: &str) -> Option<Decision> {
        let page = self.notes.pages.last().filter(|_| self.left > 1 && !self.notes.just_missed)?;
        let fresh = page.looked_up.len() < 2 && !page.looked_up.iter().any(|done| done == keyword);
        fresh.then(|| Decision {
            thought: format!("这一页里也许还有关于“{keyword}”的内容。"),
            action: Action::Lookup(keyword.to_owned()),
        })
    }

    /// Whether a statement is said by the page of what it begins with.
    fn judge(&self) -> Decision {
        let text = question::bare(self.question);
        let clue = clue::Clue::of(text);
        let name = question::subject(text);
        match open(self.notes, &name, self.question) {
            Open::Search(query) if self.left > 1 => search(query),
            Open::Page(page) => {
                let most = page.sentences.iter().map(|sentence| clue.hits(sentence)).max().unwrap_or(0);
                done(if most * 3 >= clue.most() * 2 { "是" } else { "否" })
            }
            Open::Search(_) | Open::Nowhere => done("否"),
        }
    }
}

fn search(query: String) -> Decision {
    Decision { thought: format!("我需要搜索{query}。"), action: Action::Search(query) }
}

fn done(answer: &str) -> Decision {
    let answer = if answer.is_empty() { "不知道" } else { answer };
    Decision { thought: format!("答案是{answer}。"), action: Action::Finish(answer.to_owned()) }
}

#[cfg(test)]
mod tests;
