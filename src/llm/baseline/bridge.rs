//! Questions whose answer stands on a page that another page leads to.
//!
//! Every name that was read is a way on. A way is good if the sentences along it, taken together, hold much of what
//! the question says; an answer is good if they hold nearly all of it and the last one adds something new.

use super::extract::{Found, extract, opens};
use super::question::{Kind, Question};
use super::reading::{Cover, Miss, Notes, Page, Sentence, weight};
use super::text;
use super::transcript::{Action, Decision};
use std::collections::HashSet;

/// Share of the question that must be covered before an answer is given early.
const ENOUGH: f64 = 0.8;
/// How well an early answer must look like the kind that is asked for.
const FITS: f64 = 0.5;
/// Longest chain of pages.
const MOST_HOPS: usize = 6;

/// An answer with its score and the share of the question that its way covers.
#[derive(Debug, Clone)]
struct Candidate {
    answer: String,
    score: f64,
    share: f64,
    /// How well it looks like the kind that is asked for.
    fit: f64,
}

/// What to do next, with `left` steps to go, this one included; an answer in any case if this is the last.
pub(super) fn decide(question: &Question, notes: &Notes, left: usize) -> Decision {
    let ways = ways(question, notes);
    let answer = best_answer(question, notes, &ways);
    if left <= 1 {
        return finish(question, notes, answer);
    }
    if let Some(found) = answer.as_ref().filter(|found| found.share >= ENOUGH && found.fit >= FITS) {
        return done(&found.answer);
    }
    let next = next_search(question, notes, &ways);
    let lookup = next_lookup(question, notes, &ways);
    match (next, lookup) {
        (Some((query, score)), Some((_, worth))) if score >= worth => search(query),
        (_, Some((keyword, _))) => lookup_of(keyword),
        (Some((query, _)), None) => search(query),
        (None, None) => finish(question, notes, answer),
    }
}

pub(super) fn search(query: String) -> Decision {
    Decision { thought: format!("I need to search {query}."), action: Action::Search(query) }
}

pub(super) fn lookup_of(keyword: String) -> Decision {
    Decision { thought: format!("This page may say more about {keyword}."), action: Action::Lookup(keyword) }
}

pub(super) fn done(answer: &str) -> Decision {
    Decision { thought: format!("The answer is {answer}."), action: Action::Finish(answer.to_owned()) }
}

fn finish(question: &Question, notes: &Notes, answer: Option<Candidate>) -> Decision {
    let guess = answer.map(|found| found.answer).or_else(|| notes.pages.last().map(|page| page.name.clone()));
    let guess = guess.or_else(|| question.names.first().map(|name| name.text.clone()));
    done(&guess.unwrap_or_else(|| "unknown".to_owned()))
}

/// For each page, what the way to it covers, the page's own name and first sentence included.
fn ways(question: &Question, notes: &Notes) -> Vec<Cover> {
    let mut ways: Vec<Cover> = Vec::with_capacity(notes.pages.len());
    for page in &notes.pages {
        let mut best = Cover::default();
        for (before, way) in notes.pages.iter().zip(&ways).take(MOST_HOPS) {
            for sentence in &before.sentences {
                if names(&sentence.text, &page.name) {
                    let mut longer = way.clone();
                    longer.add(sentence, question);
                    if longer.share(question) > best.share(question) {
                        best = longer;
                    }
                }
            }
        }
        best.add(&Sentence::new(&page.name), question);
        if let Some(first) = page.sentences.first() {
            best.add(first, question);
        }
        ways.push(best);
    }
    ways
}

/// Whether a sentence names a page; what stands in brackets behind a title is left out.
fn names(sentence: &str, title: &str) -> bool {
    let plain = title.split(" (").next().unwrap_or(title);
    sentence.contains(plain)
}

fn best_answer(question: &Question, notes: &Notes, ways: &[Cover]) -> Option<Candidate> {
    let mut best: Option<Candidate> = None;
    for (page, way) in notes.pages.iter().zip(ways) {
        let asked = question.mentions(page.name.split(" (").next().unwrap_or_default());
        for (i, sentence) in page.sentences.iter().enumerate() {
            for found in answers(question, page, way, i, sentence, asked) {
                if best.as_ref().is_none_or(|b| found.score > b.score) {
                    best = Some(found);
                }
            }
        }
    }
    best
}

fn answers(
    question: &Question,
    page: &Page,
    way: &Cover,
    i: usize,
    sentence: &Sentence,
    asked: bool,
) -> Vec<Candidate> {
    let fresh = |clue: usize| !way.has(clue);
    let mut cover = way.clone();
    cover.add(sentence, question);
    let share = cover.share(question);
    let new = share - way.share(question);
    // A sentence that adds nothing to the way answers nothing.
    let stale = if new > 0.0 { 0.0 } else { -0.3 };
    let mut found = Vec::new();
    if let Some(Found { answer, fit }) = extract(sentence, &page.name, question, &fresh) {
        let unnamed = if asked { 0.0 } else { 0.1 };
        found.push(Candidate {
            answer,
            score: 1.5 * share + 0.5 * new.min(0.3) + stale + 0.4 * fit + unnamed,
            share,
            fit,
        });
    }
    // The page itself is the answer where its first sentence calls it what is asked for.
    if i == 0 && !asked && matches!(question.kind, Kind::Person | Kind::Thing | Kind::Place) {
        let called = question.head.iter().any(|head| sentence.has(head));
        if called {
            let title = page.name.split(" (").next().unwrap_or(&page.name).to_owned();
            found.push(Candidate { answer: title, score: 1.5 * share + 0.25, share, fit: 1.0 });
        }
    }
    found
}

/// The most promising thing to search for, with its score.
fn next_search(question: &Question, notes: &Notes, ways: &[Cover]) -> Option<(String, f64)> {
    let mut options: Vec<(String, f64)> = Vec::new();
    let start = if notes.pages.is_empty() { 1.0 } else { 0.35 };
    for (i, name) in question.names.iter().enumerate() {
        let several = if name.text.contains(' ') { 0.15 } else { 0.0 };
        let rank = f64::from(u32::try_from(i).unwrap_or(u32::MAX)) * 0.01;
        options.push((name.text.clone(), start + several - rank));
    }
    if let Some(miss) = notes.misses.last().filter(|_| notes.just_missed) {
        for (rank, title) in miss.similar.iter().enumerate() {
            let mut cover = Cover::default();
            cover.add(&Sentence::new(title), question);
            let rank = f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
            let close = strsim::jaro_winkler(&text::fold(title), &text::fold(&miss.query));
            let own = trust(question, miss, title) + cover.share(question);
            options.push((title.clone(), own + 0.3 * close - 0.08 * rank));
        }
    }
    options.push((description(question), if notes.pages.is_empty() { 0.5 } else { 0.25 }));
    for (page, way) in notes.pages.iter().zip(ways) {
        links(question, page, way, &mut options);
    }
    options.retain(|(query, _)| !query.is_empty() && !notes.tried(query));
    options.into_iter().fold(None, |best, option| match best {
        Some((_, most)) if most >= option.1 => best,
        _ => Some(option),
    })
}

/// How far a title of a list is to be trusted: fully if one name holds the other, well if the search was made of the
/// question's own words, little if a name from a page led to a list that does not know it.
fn trust(question: &Question, miss: &Miss, title: &str) -> f64 {
    let query = format!(" {} ", text::fold(&miss.query));
    let title = format!(" {} ", text::fold(title.split(" (").next().unwrap_or(title)));
    if query.contains(&title) || title.contains(&query) {
        return 1.5;
    }
    let own = question.mentions(&miss.query) || miss.query == description(question);
    let shared =
        title.split(' ').any(|word| !word.is_empty() && !text::is_stop(word) && query.contains(&format!(" {word} ")));
    if own || shared { 0.9 } else { 0.3 }
}

/// The names on a page, each as good as the way to it.
fn links(question: &Question, page: &Page, way: &Cover, options: &mut Vec<(String, f64)>) {
    for sentence in &page.sentences {
        let mut cover = way.clone();
        cover.add(sentence, question);
        let share = cover.share(question);
        let new = share - way.share(question);
        for span in text::spans(&sentence.text) {
            let known = question.mentions(&span.text) || names(&page.name, &span.text);
            if known || opens(&span) || text::is_month(&span.text) || text::is_demonym(&span.text) {
                continue;
            }
            let several = if span.text.contains(' ') { 0.08 } else { 0.0 };
            options.push((
                span.text.clone(),
                0.8 * share + new + several + 0.1 * beside(question, sentence, span.at.start),
            ));
        }
    }
}

/// How near a name stands behind a word that the question uses too, 0 to 1.
fn beside(question: &Question, sentence: &Sentence, at: usize) -> f64 {
    let clues: HashSet<&str> =
        question.clues.iter().filter(|clue| !clue.named).map(|clue| clue.stem.as_str()).collect();
    let hits = sentence.words.iter().filter(|(stem, _)| clues.contains(stem.as_str())).map(|(_, word)| word);
    let gap = hits.map(|word| if word.end <= at { at - word.end } else { 15 + word.start.saturating_sub(at) }).min();
    gap.map_or(0.0, |gap| 15.0 / (15.0 + f64::from(u32::try_from(gap).unwrap_or(u32::MAX))))
}

/// The question's own words, for a search by what is said about a thing.
fn description(question: &Question) -> String {
    let words: Vec<&str> = question
        .clues
        .iter()
        .filter(|clue| !question.head.contains(&clue.stem))
        .map(|clue| clue.word.as_str())
        .take(16)
        .collect();
    words.join(" ")
}

/// A word of the question that the open page has not shown yet, with its worth.
fn next_lookup(question: &Question, notes: &Notes, ways: &[Cover]) -> Option<(String, f64)> {
    let (page, way) = (notes.pages.last()?, ways.last()?);
    if notes.just_missed || page.looked_up.len() >= 2 {
        return None;
    }
    let mut cover = way.clone();
    for sentence in &page.sentences {
        cover.add(sentence, question);
    }
    let open = question
        .clues
        .iter()
        .enumerate()
        .filter(|(i, clue)| !cover.has(*i) && !clue.named && !question.head.contains(&clue.stem));
    let mut best: Option<(String, f64)> = None;
    for (_, clue) in open {
        let keyword = root(&clue.word);
        if page.looked_up.contains(&text::fold(&keyword)) {
            continue;
        }
        let worth = 0.35 * weight(clue, question) * clue.near + 0.3 * way.share(question);
        if best.as_ref().is_none_or(|(_, most)| worth > *most) {
            best = Some((keyword, worth));
        }
    }
    best
}

/// The part of a word that its other forms share, so that `commanded` finds `command`.
pub(super) fn root(word: &str) -> String {
    let lower = word.to_lowercase();
    for suffix in ["ing", "ed", "s"] {
        if let Some(root) = lower.strip_suffix(suffix).filter(|root| root.chars().count() >= 4) {
            return root.to_owned();
        }
    }
    lower
}
