//! BM25 over titles and texts: one segment, in memory or in a folder, whose documents are the articles in title order.

use super::names::{Fold, Names};
use super::{Corpus, CorpusError, Extent, Hit};
use crate::base::panics::caught;
use std::collections::HashMap;
use tantivy::collector::TopDocs;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{RemoveLongFilter, TextAnalyzer, TokenizerManager, WhitespaceTokenizer};
use tantivy::{Index, IndexReader, ReloadPolicy, SingleSegmentIndexWriter, TantivyDocument, TantivyError, Term};

/// The folder of a corpus that holds the index.
pub(super) const INDEX: &str = "bm25";

/// How many different words of a query count; model text has no other bound.
const MAX_WORDS: usize = 64;
/// How many of them count where the rarest are chosen.
const MAX_RARE_WORDS: usize = 12;
/// A query of more words is no title: looking for one that has them all would only take time.
const MAX_TITLE_WORDS: usize = 10;
/// A word is common that more than one of so many articles has.
const COMMON: u64 = 20;
/// Memory for which the writer makes its first tables, in bytes.
const WRITER_BYTES: usize = 64 << 20;
/// How many similar titles the beginning of a name gives.
const LIKE: usize = 5;
/// Longest word that is indexed, in bytes.
const LONGEST_WORD: usize = 64;
/// The name of the tokenizer: words come folded, so gaps are all that is left to do.
const GAPS: &str = "gaps";

/// The index of a corpus; an article's number is its place in title order.
pub(super) struct TextIndex {
    reader: IndexReader,
    fields: Fields,
    rule: Rule,
    fold: Fold,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    /// What a word in the title weighs, against one in the text.
    title_weight: f32,
    /// What it weighs besides in a title that has all words of the query: who types a part of a title means that title.
    whole_weight: f32,
    /// Whether the rarest words count, and no common one beside two rarer ones: those decide hardly anything, and cost nearly all
    /// the time. Else all words count.
    rarest: bool,
}

impl Rule {
    /// The rule of corpora in memory.
    pub(super) const ALL_WORDS: Self = Self { title_weight: 4.0, whole_weight: 0.0, rarest: false };

    /// The rule of folders that were built with this version of the ranking.
    pub(super) fn of(rank: u32) -> Self {
        match rank {
            ..3 => Self::ALL_WORDS,
            3 => Self { rarest: true, ..Self::ALL_WORDS },
            _ => Self { title_weight: 1.0, whole_weight: 3.0, rarest: true },
        }
    }
}

#[derive(Clone, Copy)]
struct Fields {
    title: Field,
    text: Field,
}

/// An index that articles are added to, in title order, by one thread, so that equal corpora give equal indexes.
pub(super) struct IndexWriter {
    writer: SingleSegmentIndexWriter,
    fields: Fields,
}

impl IndexWriter {
    pub(super) fn in_memory() -> Result<Self, TantivyError> {
        Self::new(RamDirectory::create())
    }

    pub(super) fn new(directory: impl Into<Box<dyn Directory>>) -> Result<Self, TantivyError> {
        let (schema, fields) = schema();
        let tokenizers = TokenizerManager::new();
        let gaps = TextAnalyzer::builder(WhitespaceTokenizer::default()).filter(RemoveLongFilter::limit(LONGEST_WORD));
        tokenizers.register(GAPS, gaps.build());
        let builder = Index::builder().schema(schema).tokenizers(tokenizers);
        Ok(Self { writer: builder.single_segment_index_writer(directory, WRITER_BYTES)?, fields })
    }

    pub(super) fn add<'a>(&mut self, title: &str, blocks: impl Iterator<Item = &'a str>) -> Result<(), TantivyError> {
        let mut document = TantivyDocument::default();
        document.add_text(self.fields.title, Fold::CURRENT.words(title));
        for block in blocks {
            document.add_text(self.fields.text, Fold::CURRENT.words(block));
        }
        self.writer.add_document(document)
    }

    pub(super) fn finish(self) -> Result<Index, TantivyError> {
        self.writer.finalize()
    }
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default().set_tokenizer(GAPS).set_index_option(IndexRecordOption::WithFreqs);
    let options = TextOptions::default().set_indexing_options(words);
    let title = schema.add_text_field("title", options.clone());
    let text = schema.add_text_field("text", options);
    (schema.build(), Fields { title, text })
}

impl TextIndex {
    /// An index that does not change any more.
    pub(super) fn over(index: &Index, rule: Rule, fold: Fold) -> Result<Self, TantivyError> {
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(TantivyError::SchemaError("it has other fields than this version writes".to_owned()));
        }
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { reader, fields, rule, fold })
    }

    /// How many articles it has, if they are one behind the other.
    pub(super) fn articles(&self) -> Option<u32> {
        match self.reader.searcher().segment_readers() {
            [segment] if !segment.has_deletes() => Some(segment.max_doc()),
            _ => None,
        }
    }

    /// The `taken` best articles for the words of `query`, by score, then by title.
    pub(super) fn search(&self, query: &str, taken: usize) -> Result<Vec<Hit>, CorpusError> {
        guarded(|| self.hits(query, taken))
    }

    /// The same or, if no article has any of the words, some of those whose names begin like the query.
    pub(super) fn search_or_like(&self, names: &Names, query: &str, most: usize) -> Result<Vec<Hit>, CorpusError> {
        let found = self.search(query, most)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let like = names.like(&self.fold.name(query), LIKE.min(most))?;
        Ok(like.into_iter().map(|number| Hit { number, score: 0.0 }).collect())
    }

    fn hits(&self, query: &str, taken: usize) -> Result<Vec<Hit>, TantivyError> {
        let folded = self.fold.words(query);
        let all = different_words(&folded);
        let words = if self.rule.rarest { self.rarest(all.clone())? } else { all.clone() };
        if words.is_empty() || taken == 0 {
            return Ok(Vec::new());
        }
        let term = |field: Field, word: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
        };
        let weighed =
            |query: Box<dyn Query>, weight: f32| -> Box<dyn Query> { Box::new(BoostQuery::new(query, weight)) };
        let mut clauses = Vec::with_capacity(2 * words.len() + 1);
        for word in &words {
            clauses.push((Occur::Should, weighed(term(self.fields.title, word), self.rule.title_weight)));
            clauses.push((Occur::Should, term(self.fields.text, word)));
        }
        if self.rule.whole_weight > 0.0 && all.len() <= MAX_TITLE_WORDS {
            let whole = all.iter().map(|word| (Occur::Must, term(self.fields.title, word))).collect();
            clauses.push((Occur::Should, weighed(Box::new(BooleanQuery::new(whole)), self.rule.whole_weight)));
        }
        let query = BooleanQuery::new(clauses);
        let mut hits = self.reader.searcher().search(&query, &TopDocs::with_limit(taken).order_by_score())?;
        hits.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(left.doc_id.cmp(&right.doc_id)));
        Ok(hits.into_iter().map(|(score, hit)| Hit { number: hit.doc_id, score }).collect())
    }

    /// The words of `query` that count, folded, each with its inverse document frequency, which BM25 weighs it by.
    fn weights(&self, query: &str) -> Result<HashMap<String, f64>, TantivyError> {
        let folded = self.fold.words(query);
        // Articles are numbered with 32 bits.
        let number = |articles: u64| f64::from(u32::try_from(articles).unwrap_or(u32::MAX));
        let articles = number(self.reader.searcher().num_docs());
        let weigh = |word: &str| {
            let having = number(self.document_frequency(word)?);
            Ok((word.to_owned(), (1.0 + (articles - having + 0.5) / (having + 0.5)).ln()))
        };
        let all = different_words(&folded);
        let words = if self.rule.rarest { self.rarest(all)? } else { all };
        words.into_iter().map(weigh).collect()
    }

    /// How many articles have the word in their text, or in their title, whichever are more.
    fn document_frequency(&self, word: &str) -> Result<u64, TantivyError> {
        let searcher = self.reader.searcher();
        let count = |field| searcher.doc_freq(&Term::from_field_text(field, word));
        Ok(count(self.fields.text)?.max(count(self.fields.title)?))
    }

    /// The rarest of `words`, in their order. Words that no article has find nothing, so they
    /// are not among those that others give way to.
    fn rarest<'a>(&self, words: Vec<&'a str>) -> Result<Vec<&'a str>, TantivyError> {
        let mut counted = Vec::new();
        for (at, word) in words.into_iter().enumerate() {
            let count = self.document_frequency(word)?;
            if count > 0 {
                counted.push((count, at, word));
            }
        }
        counted.sort_unstable();
        let second = counted.get(1).map_or(u64::MAX, |&(count, ..)| count);
        let most = second.max(self.reader.searcher().num_docs() / COMMON);
        counted.retain(|&(count, ..)| count <= most);
        counted.truncate(MAX_RARE_WORDS);
        counted.sort_unstable_by_key(|&(_, at, _)| at);
        Ok(counted.into_iter().map(|(.., word)| word).collect())
    }
}

/// The library panics on files that were damaged since they were written.
pub(super) fn guarded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, CorpusError> {
    caught(work)
        .ok_or_else(|| CorpusError::damaged(INDEX, "an entry leads out of it"))?
        .map_err(CorpusError::in_file(INDEX))
}

/// The different words of a folded query, in their order.
fn different_words(folded: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for word in folded.split(' ').filter(|word| !word.is_empty() && word.len() < LONGEST_WORD) {
        if words.len() < MAX_WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

// Single passages, where the articles of a corpus are made of passages.
//
// The index knows articles. So the passages of the best articles are ranked among themselves, by BM25 over title and passage, with
// the frequencies of words that the index has.

/// Articles whose passages are ranked, or as many as passages are asked for, if these are more.
const ARTICLES: usize = 20;
/// Parameters of BM25, as in the index.
const K1: f64 = 1.2;
const B: f64 = 0.75;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage {
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
        let weights = guarded(|| self.index.weights(query))?;
        let fold = self.names.fold;
        let (mut found, mut lengths) = (Vec::new(), Vec::new());
        for hit in self.similar(query, most.max(ARTICLES))? {
            let page = self.page(hit.number)?;
            let title = fold.words(&page.title);
            for (block, text) in page.blocks.iter().enumerate() {
                let text = fold.words(text);
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
            // The sum of nothing is -0, which would be recorded.
            passage.score = counts.iter().map(|(n, weight)| weight * n * (K1 + 1.0) / (n + norm)).sum::<f64>() + 0.0;
        }
        let mut passages: Vec<Passage> = found.into_iter().map(|(passage, _)| passage).collect();
        // Equal ones stay in the order of their articles.
        passages.sort_by(|a, b| b.score.total_cmp(&a.score));
        passages.truncate(most);
        Ok(passages)
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod unit_tests {
    use super::Corpus;

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
