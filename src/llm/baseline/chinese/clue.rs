//! What a part of a question says, and how much of it a sentence says too.

use super::lexicon::{ALIKE, SMALL};
use super::names::is_ideograph;
use std::ops::Range;

/// How many pairs of characters count; questions have no other bound.
const MOST_PAIRS: usize = 48;

/// Words of a text: those of the lexicon, and pairs of neighbouring characters of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clue {
    groups: Vec<&'static [&'static str]>,
    pairs: Vec<String>,
}

impl Clue {
    pub(super) fn of(text: &str) -> Self {
        let mut clue = Self::default();
        let mut rest = text.to_owned();
        for group in ALIKE {
            if let Some(word) = group.iter().find(|word| rest.contains(**word)) {
                clue.groups.push(group);
                rest = rest.replace(word, "，");
            }
        }
        let mut before = None;
        for c in rest.chars() {
            let inner = is_ideograph(c) && !SMALL.contains(c) || c.is_ascii_alphanumeric();
            if let Some(first) = before.filter(|_| inner && clue.pairs.len() < MOST_PAIRS) {
                let pair = String::from_iter([first, c]);
                if !clue.pairs.contains(&pair) {
                    clue.pairs.push(pair);
                }
            }
            before = inner.then_some(c);
        }
        clue
    }

    /// What it says besides a name.
    pub(super) fn without(&self, name: &str) -> Self {
        let pairs = self.pairs.iter().filter(|pair| !name.contains(pair.as_str())).cloned().collect();
        Self { groups: self.groups.clone(), pairs }
    }

    /// How much of it a sentence says: a word of the lexicon counts as two pairs.
    pub(super) fn hits(&self, sentence: &str) -> usize {
        let groups = self.groups.iter().filter(|group| group.iter().any(|word| sentence.contains(word))).count();
        2 * groups + self.pairs.iter().filter(|pair| sentence.contains(pair.as_str())).count()
    }

    /// The most that [`hits`](Self::hits) can give.
    pub(super) fn most(&self) -> usize {
        2 * self.groups.len() + self.pairs.len()
    }

    /// Where its words stand in a sentence, those of the lexicon if there are any.
    pub(super) fn places(&self, sentence: &str) -> Vec<Range<usize>> {
        let find = |word: &str| sentence.find(word).map(|at| at..at + word.len());
        let words: Vec<_> = self.groups.iter().flat_map(|group| group.iter()).filter_map(|word| find(word)).collect();
        if words.is_empty() { self.pairs.iter().filter_map(|pair| find(pair)).collect() } else { words }
    }

    /// Words at which a run before them ends.
    pub(super) fn words(&self) -> Vec<&str> {
        let groups = self.groups.iter().flat_map(|group| group.iter().copied());
        groups.chain(self.pairs.iter().map(String::as_str)).collect()
    }

    /// The word to look up: one of the lexicon, else the first pair.
    pub(super) fn keyword(&self) -> Option<&str> {
        self.groups.first().and_then(|group| group.first().copied()).or(self.pairs.first().map(String::as_str))
    }
}

/// Bytes between a name and the nearest of some places.
pub(super) fn distance(name: &Range<usize>, places: &[Range<usize>]) -> usize {
    let gap = |place: &Range<usize>| name.start.saturating_sub(place.end).max(place.start.saturating_sub(name.end));
    places.iter().map(gap).min().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Clue, distance};

    #[test]
    fn words_alike_and_pairs_are_found_again() {
        let clue = Clue::of("晚年隐居在");
        assert_eq!((clue.hits("他晚年隐居于此"), clue.most()), (3, 3));
        assert_eq!(Clue::of("前八十回的作者").hits("小说由他写成"), 2);
        assert_eq!(Clue::of("的了").keyword(), None);
        assert!(Clue::of(&"甲乙丙丁戊己庚辛".repeat(1000)).most() <= 8);
        assert_eq!(distance(&(3..6), &[9..12, 20..23]), 3);
    }
}
