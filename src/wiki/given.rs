//! Sentences as a source gives them, and which of them an observation shows.

use crate::types::python::is_python_space;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Where the given sentences of each block end, in bytes, empty ones included; a block that is one text has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceMap(Arc<[Vec<usize>]>);

impl SentenceMap {
    /// From the ends of each block's sentences; `None` if no block has any.
    pub fn of(ends: Vec<Vec<usize>>) -> Option<Self> {
        ends.iter().any(|ends| !ends.is_empty()).then(|| Self(ends.into()))
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|ends| size_of_val(&**ends) + size_of::<Vec<usize>>()).sum()
    }

    /// Which sentences are whole in these `shown` parts of the blocks, as `[block, from, to]`, in the order of the page.
    ///
    /// The tool drops white space between sentences and full stops before it, so these count for nothing; a sentence of
    /// nothing else is never shown.
    pub(super) fn shown(&self, blocks: &[String], shown: &[(usize, Range<usize>)]) -> Vec<[usize; 3]> {
        let mut runs: Vec<[usize; 3]> = Vec::new();
        for (block, (text, ends)) in blocks.iter().zip(&*self.0).enumerate() {
            let parts: Vec<_> = shown.iter().filter(|(at, _)| *at == block).map(|(_, range)| range).collect();
            let mut start = 0;
            for (number, &end) in ends.iter().enumerate().take_while(|_| !parts.is_empty()) {
                let from = std::mem::replace(&mut start, end);
                let sentence = text.get(from..end).unwrap_or_default();
                let letters = sentence.char_indices().filter(|&(_, c)| !is_python_space(c) && c != '.');
                let mut letters = letters.map(|(at, _)| from + at).peekable();
                if letters.peek().is_none() || !letters.all(|at| parts.iter().any(|part| part.contains(&at))) {
                    continue;
                }
                match runs.last_mut() {
                    Some([of, _, to]) if (*of, *to) == (block, number) => *to += 1,
                    _ => runs.push([block, number, number + 1]),
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::SentenceMap;

    #[test]
    fn a_sentence_is_shown_when_all_of_its_letters_are() {
        let blocks = ["A b. C d. ", "no sentences", " .E. f.G"].map(str::to_owned);
        let given = SentenceMap::of(vec![vec![4, 4, 9, 10], vec![], vec![2, 7, 8]]).expect("sentences");
        let shown = |parts: &[(usize, std::ops::Range<usize>)]| given.shown(&blocks, parts);
        assert_eq!(shown(&[(0, 0..3), (0, 5..8)]), [[0, 0, 1], [0, 2, 3]], "the empty one has its number");
        assert_eq!(shown(&[(0, 1..3), (1, 0..12), (2, 2..3), (2, 5..8)]), [[2, 1, 3]]);
        assert_eq!(shown(&[(0, 0..2)]), [[0; 3]; 0]);
        assert_eq!(SentenceMap::of(vec![vec![], vec![]]), None);
    }

    #[test]
    fn ends_of_a_damaged_recording_are_no_sentences() {
        let given = SentenceMap::of(vec![vec![9, 1, usize::MAX, 2], vec![1]]).expect("sentences");
        assert_eq!(given.shown(&["\u{e9}ab".to_owned()], &[(0, 0..4), (7, 0..1)]), [[0; 3]; 0]);
    }
}
