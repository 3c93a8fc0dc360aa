//! Single passages, where the articles of a corpus are made of passages.
//!
//! The index knows articles. So the passages of the best articles are ranked among themselves, by BM25 over title and passage, with
//! the frequencies of words that the index has.

use super::{Corpus, CorpusError, Extent, fold};
use std::collections::HashMap;

/// Articles whose passages are ranked, or as many as passages are asked for, if these are more.
const ARTICLES: usize = 20;
/// Parameters of BM25, as in the index.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A passage that a search of texts gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage {
    /// The number of its article.
    pub number: u32,
    /// Its place among the article's blocks, from 0.
    pub block: usize,
    /// By BM25; 0 where no word of the query is in it.
    pub score: f64,
}

impl Corpus {
    /// Whether articles are made of passages, so that a retriever gives these.
    pub fn has_passages(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.extent == Extent::Passages)
    }

    /// The best passages for the words of `query`, `most` at most, the best first.
    pub fn passages(&self, query: &str, most: usize) -> Result<Vec<Passage>, CorpusError> {
        let weights: HashMap<String, f64> = self.articles.weights(query)?.into_iter().collect();
        let (mut found, mut lengths) = (Vec::new(), Vec::new());
        for hit in self.articles.similar(query, most.max(ARTICLES))? {
            let page = self.articles.page(hit.number)?;
            let title = fold::fold_words(&page.title);
            for (block, text) in page.blocks.iter().enumerate() {
                let text = fold::fold_words(text);
                let (mut counts, mut length) = (HashMap::<&str, f64>::new(), 0.0);
                for word in title.split(' ').chain(text.split(' ')) {
                    length += 1.0;
                    if weights.contains_key(word) {
                        *counts.entry(word).or_default() += 1.0;
                    }
                }
                let mut counts: Vec<(f64, f64)> = counts.into_iter().map(|(word, n)| (n, weights[word])).collect();
                // A sum of the same numbers in another order may differ in its last digit.
                counts.sort_by(|(a, v), (b, w)| a.total_cmp(b).then(v.total_cmp(w)));
                found.push((Passage { number: hit.number, block, score: 0.0 }, counts));
                lengths.push(length);
            }
        }
        let (sum, passages) = lengths.iter().fold((0.0, 0.0), |(sum, passages), length| (sum + length, passages + 1.0));
        let mean: f64 = sum / passages;
        for ((passage, counts), length) in found.iter_mut().zip(lengths) {
            let norm = K1 * (1.0 - B + B * length / mean);
            passage.score = counts.iter().map(|(n, weight)| weight * n * (K1 + 1.0) / (n + norm)).sum();
        }
        let mut passages: Vec<Passage> = found.into_iter().map(|(passage, _)| passage).collect();
        // Equal ones stay in the order of their articles.
        passages.sort_by(|a, b| b.score.total_cmp(&a.score));
        passages.truncate(most);
        Ok(passages)
    }
}

#[cfg(test)]
mod tests {
    use crate::wiki::corpus::Corpus;

    #[test]
    fn the_passages_with_the_rarest_words_come_first() {
        let lines = r#"{"title": "Tea", "blocks": ["Tea is a drink of leaves.", "Cups of porcelain keep tea warm.", "It is grown on hills."]}
{"title": "Porcelain", "blocks": ["Porcelain is fired clay.", "It keeps nothing warm."]}
{"title": "Clay", "blocks": ["Clay is earth."]}"#;
        let corpus = Corpus::from_jsonl("c", lines.as_bytes()).expect("a corpus");
        let found = |query: &str, most: usize| -> Vec<(String, usize)> {
            let passages = corpus.passages(query, most).expect("passages");
            assert!(passages.windows(2).all(|pair| pair[0].score >= pair[1].score));
            passages.iter().map(|hit| (corpus.title(hit.number).expect("a title"), hit.block)).collect()
        };
        assert_eq!(found("what keeps tea warm in cups", 1), [("Tea".to_owned(), 1)]);
        assert_eq!(found("hills tea", 2)[0], ("Tea".to_owned(), 2));
        assert_eq!(found("porcelain", 9).len(), 5, "all passages of the articles that are found");
        assert_eq!(found("zebra", 3), []);
        assert_eq!(found("porcelain", 0), []);
    }
}
