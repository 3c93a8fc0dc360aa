//! BM25 over titles and texts, in memory.

use super::fold;
use super::record::Article;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{RemoveLongFilter, TextAnalyzer, WhitespaceTokenizer};
use tantivy::{Index, IndexReader, TantivyDocument, TantivyError, Term};

/// How many articles a search gives.
const SHOWN: usize = 20;
/// How many are taken from the index, so that equal scores at the end of the list are ordered by title, not by chance.
const TAKEN: usize = 200;
/// How many different words of a query count; model text has no other bound.
const WORDS: usize = 64;
/// What a word in the title weighs, against one in the text.
const TITLE_WEIGHT: f32 = 4.0;
/// Memory of the writer in bytes.
const WRITER_BYTES: usize = 64 << 20;
/// Longest word that is indexed, in bytes.
const LONGEST_WORD: usize = 64;
/// The name of the tokenizer: words come folded, so gaps are all that is left to do.
const GAPS: &str = "gaps";

/// The index of a corpus.
pub(super) struct TextIndex {
    reader: IndexReader,
    title: Field,
    text: Field,
    /// Articles in title order; a document's number is its place here.
    order: Vec<usize>,
}

impl TextIndex {
    /// Builds the index. One thread writes, so that equal corpora give equal indexes.
    pub(super) fn build(articles: &[Article]) -> Result<Self, String> {
        let mut order: Vec<usize> = (0..articles.len()).collect();
        order.sort_by(|&a, &b| articles[a].title.cmp(&articles[b].title));
        Self::write(articles, order).map_err(|error| error.to_string())
    }

    fn write(articles: &[Article], order: Vec<usize>) -> Result<Self, TantivyError> {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default().set_tokenizer(GAPS).set_index_option(IndexRecordOption::WithFreqs);
        let options = TextOptions::default().set_indexing_options(words);
        let title = schema.add_text_field("title", options.clone());
        let text = schema.add_text_field("text", options);
        let place = schema.add_u64_field("place", FAST);
        let index = Index::create_in_ram(schema.build());
        let gaps = TextAnalyzer::builder(WhitespaceTokenizer::default()).filter(RemoveLongFilter::limit(LONGEST_WORD));
        index.tokenizers().register(GAPS, gaps.build());
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, WRITER_BYTES)?;
        for (rank, &at) in order.iter().enumerate() {
            let mut document = TantivyDocument::default();
            document.add_text(title, fold::words(&articles[at].title));
            for block in articles[at].blocks.iter() {
                document.add_text(text, fold::words(block));
            }
            document.add_u64(place, rank as u64);
            writer.add_document(document)?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let reader = index.reader()?;
        Ok(Self { reader, title, text, order })
    }

    /// The best articles for the words of `query`, by score, then by title.
    pub(super) fn search(&self, query: &str) -> Result<Vec<usize>, String> {
        let folded = fold::words(query);
        let mut words: Vec<&str> = Vec::new();
        for word in folded.split(' ').filter(|word| !word.is_empty() && word.len() < LONGEST_WORD) {
            if words.len() < WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
        let hits = self.ranked(&words).map_err(|error| error.to_string())?;
        Ok(hits.into_iter().take(SHOWN).filter_map(|rank| self.order.get(rank).copied()).collect())
    }

    fn ranked(&self, words: &[&str]) -> Result<Vec<usize>, TantivyError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let term = |field: Field, word: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
        };
        let clauses = words.iter().flat_map(|word| {
            let title: Box<dyn Query> = Box::new(BoostQuery::new(term(self.title, word), TITLE_WEIGHT));
            [(Occur::Should, title), (Occur::Should, term(self.text, word))]
        });
        let query = BooleanQuery::new(clauses.collect());
        let searcher = self.reader.searcher();
        let mut hits = Vec::new();
        for (score, address) in searcher.search(&query, &TopDocs::with_limit(TAKEN).order_by_score())? {
            let places = searcher.segment_reader(address.segment_ord).fast_fields().u64("place")?;
            let rank = places.first(address.doc_id).and_then(|rank| usize::try_from(rank).ok());
            hits.extend(rank.map(|rank| (score, rank)));
        }
        hits.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(left.cmp(right)));
        Ok(hits.into_iter().map(|(_, rank)| rank).collect())
    }
}
