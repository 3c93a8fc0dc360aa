//! A corpus as a server reads it: by number, by name, by the beginning of a name and by words.

use super::articles::{Hit, Page};
use super::{Corpus, CorpusError, Manifest, SearchAnswer, fold, title_of};
use std::sync::Arc;

impl Corpus {
    /// The identity: `wt1:…` of a folder that was built, SHA-256 of the lines, unpacked, of others.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What a run over it depends on: its identity and, if searches were frozen with it, the beginning of their digest.
    pub fn identity(&self) -> String {
        self.manifest.as_ref().map_or_else(|| self.id.clone(), Manifest::identity)
    }

    /// The path by which it was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a folder is that was built.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// How many articles it has. They are numbered from 0, in the order of their titles' bytes.
    pub fn count(&self) -> u32 {
        self.articles.count()
    }

    pub fn title(&self, number: u32) -> Result<String, CorpusError> {
        self.articles.title(number)
    }

    pub fn page(&self, number: u32) -> Result<Arc<Page>, CorpusError> {
        self.articles.page(number)
    }

    /// The article of that title or redirect, as written.
    pub fn exact(&self, name: &str) -> Result<Option<u32>, CorpusError> {
        self.articles.exact(name)
    }

    /// The page that a search for `query` opens, if it opens one.
    pub fn opens(&self, query: &str) -> Result<Option<u32>, CorpusError> {
        match self.frozen.get(query.trim()) {
            Some(SearchAnswer::Titles(_)) => return Ok(None),
            Some(SearchAnswer::Page(title)) => {
                if let Some(number) = self.articles.exact(title)? {
                    return Ok(Some(number));
                }
            }
            None => {}
        }
        let straight = query.trim_start().starts_with('#') || query.contains(['[', ']', '{', '}', '|', '<', '>']);
        if straight { Ok(None) } else { self.named(query) }
    }

    /// The articles that the site listed for `query`, if that search was frozen and opened no page. Titles without an article
    /// are not among them.
    pub fn listed(&self, query: &str) -> Result<Option<Vec<u32>>, CorpusError> {
        let Some(SearchAnswer::Titles(titles)) = self.frozen.get(query.trim()) else { return Ok(None) };
        let numbers = titles.iter().map(|heading| self.articles.exact(title_of(heading)));
        Ok(Some(numbers.filter_map(Result::transpose).collect::<Result<_, _>>()?))
    }

    /// The best articles for the words of `query`, `most` at most.
    pub fn similar(&self, query: &str, most: usize) -> Result<Vec<Hit>, CorpusError> {
        self.articles.similar(query, most)
    }

    /// Articles with a title or redirect that begins so, but for case, accents and punctuation; `most` at most.
    pub fn beginning(&self, name: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        match fold::fold_name(name) {
            key if key.is_empty() => Ok(Vec::new()),
            key => self.articles.beginning(&key, most),
        }
    }
}
