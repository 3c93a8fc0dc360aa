//! Claims: does what was read support them, refute them, or say too little?

use super::bridge::{done, lookup_of, root, search};
use super::question::Question;
use super::reading::{Cover, Notes, Sentence, weight};
use super::text;
use super::transcript::Decision;

/// Share of a claim's weight that must be found for it to be supported.
const SUPPORTED: f64 = 0.7;
/// Share below which nothing is known about it.
const UNKNOWN: f64 = 0.45;

/// What to do next, with `left` steps to go, this one included.
pub(super) fn decide(claim: &Question, notes: &Notes, left: usize) -> Decision {
    let cover = read(claim, notes);
    let share = cover.share(claim);
    if left <= 1 || share >= SUPPORTED {
        return done(judge(claim, notes));
    }
    if let Some(next) = next_search(claim, notes) {
        return search(next);
    }
    let page = notes.pages.last().filter(|page| page.looked_up.len() < 2 && !notes.just_missed);
    let missing = page.and_then(|page| {
        let open = claim.clues.iter().enumerate().filter(|(i, _)| !cover.has(*i));
        let keywords = open.map(|(_, clue)| (root(&clue.word), weight(clue, claim)));
        keywords
            .filter(|(word, _)| !page.looked_up.contains(&text::fold(word)))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    });
    match missing {
        Some((keyword, _)) => lookup_of(keyword),
        None => done(judge(claim, notes)),
    }
}

/// All that the pages cover together.
fn read(claim: &Question, notes: &Notes) -> Cover {
    let mut cover = Cover::default();
    for page in &notes.pages {
        cover.add(&Sentence::new(&page.name), claim);
        page.sentences.iter().for_each(|sentence| cover.add(sentence, claim));
    }
    cover
}

fn next_search(claim: &Question, notes: &Notes) -> Option<String> {
    if let Some(miss) = notes.misses.last().filter(|_| notes.just_missed && notes.misses.len() < 3)
        && let Some(title) = miss.similar.iter().find(|title| !notes.tried(title))
    {
        return Some(title.clone());
    }
    claim.names.iter().take(2).map(|name| &name.text).find(|name| !notes.tried(name)).cloned()
}

/// The verdict by what was read of the claim. It is supported where the names and numbers were found with the rest;
/// refuted where the rest was found with other names and numbers; where the rest was not found, nothing is known.
fn judge(claim: &Question, notes: &Notes) -> &'static str {
    let cover = read(claim, notes);
    let share = cover.share(claim);
    let exact = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let missing = |hard: bool| {
        let clues = claim
            .clues
            .iter()
            .enumerate()
            .filter(|(i, clue)| (clue.named || exact(&clue.word)) == hard && !cover.has(*i));
        clues.count()
    };
    let plain = claim.clues.iter().filter(|clue| !clue.named).count();
    let denied = text::words(&claim.text).iter().any(|word| matches!(word.text, "not" | "never" | "no"));
    if share < UNKNOWN || plain > 0 && missing(false) * 2 > plain {
        return "NOT ENOUGH INFO";
    }
    if missing(true) > 0 || denied || share < SUPPORTED { "REFUTES" } else { "SUPPORTS" }
}
