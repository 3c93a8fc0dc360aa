//! What the tool needs of a corpus, in memory or in a folder. Articles are numbered in title order.

use super::CorpusError;
use super::record::{Article, Block};
use crate::wiki::GivenSentences;
use std::sync::Arc;

/// A page as it is shown.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) blocks: Arc<[String]>,
    pub(super) sentences: Option<GivenSentences>,
    /// On a disambiguation page: the titles it lists.
    pub(super) entries: Option<Arc<[String]>>,
    pub(super) pageid: Option<u64>,
    pub(super) revid: Option<u64>,
}

impl From<Article> for Page {
    fn from(article: Article) -> Self {
        let Article { title, pageid, revid, blocks, entries, .. } = article;
        let sentences = GivenSentences::of(blocks.iter().map(Block::ends).collect());
        let blocks = blocks.into_iter().map(Block::into_text).collect();
        Self { title, blocks, sentences, entries: entries.map(Arc::from), pageid, revid }
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

    /// The best articles for the words of a query.
    fn similar(&self, query: &str) -> Result<Vec<u32>, CorpusError>;

    fn title(&self, number: u32) -> Result<String, CorpusError>;

    fn page(&self, number: u32) -> Result<Arc<Page>, CorpusError>;
}
