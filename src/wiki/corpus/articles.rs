//! What the tool needs of a corpus, in memory or in a folder. Articles are numbered in title order.

use super::CorpusError;
use super::record::{Article, Block};
use crate::wiki::SentenceMap;
use std::sync::Arc;

/// A page as it is shown.
#[derive(Debug)]
pub struct Page {
    pub title: String,
    pub blocks: Arc<[String]>,
    pub sentences: Option<SentenceMap>,
    /// On a disambiguation page: the titles it lists.
    pub entries: Option<Arc<[String]>>,
    /// `MediaWiki`'s number of the page where it comes from.
    pub pageid: Option<u64>,
    /// `MediaWiki`'s number of its revision.
    pub revid: Option<u64>,
    /// When that was made, as the source writes it.
    pub timestamp: Option<String>,
}

/// An article that a search of texts gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub number: u32,
    /// By BM25; 0 for one that is only named like the query.
    pub score: f32,
}

impl From<Article> for Page {
    fn from(article: Article) -> Self {
        let Article { title, pageid, revid, timestamp, blocks, entries, .. } = article;
        let sentences = SentenceMap::of(blocks.iter().map(Block::ends).collect());
        let blocks = blocks.into_iter().map(Block::into_text).collect();
        Self { title, blocks, sentences, entries: entries.map(Arc::from), pageid, revid, timestamp }
    }
}

/// Articles by name, by number and by words.
pub(super) trait Articles: Send + Sync {
    /// The article of that title or redirect, as written.
    fn exact(&self, name: &str) -> Result<Option<u32>, CorpusError>;

    /// The article of a folded title or redirect.
    fn folded(&self, key: &str) -> Result<Option<u32>, CorpusError>;

    /// The article of a name that no other article has.
    fn instead(&self, _name: &str) -> Result<Option<u32>, CorpusError> {
        Ok(None)
    }

    /// The best articles for the words of a query, `most` at most.
    fn similar(&self, query: &str, most: usize) -> Result<Vec<Hit>, CorpusError>;

    /// The words of a query, folded, each with the weight that BM25 gives it: the fewer articles have it, the more.
    fn weights(&self, query: &str) -> Result<Vec<(String, f64)>, CorpusError>;

    /// Articles with a name whose folded form begins so, in the order of the names, each once, `most` at most.
    fn beginning(&self, key: &str, most: usize) -> Result<Vec<u32>, CorpusError>;

    fn count(&self) -> u32;

    fn title(&self, number: u32) -> Result<String, CorpusError>;

    fn page(&self, number: u32) -> Result<Arc<Page>, CorpusError>;
}
