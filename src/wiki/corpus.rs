//! A frozen encyclopedia in memory: titles, redirects, and a text index over everything.
//!
//! A query is looked for as `MediaWiki` does it, and a little more kindly: exact title, redirect, the near-match ladder,
//! the title without case, accents and punctuation; then the twenty best articles by BM25. Queries with brackets go
//! straight to the text search, which is how the paper's environment gets past disambiguation pages.

mod error;
mod fold;
mod index;
mod record;

pub use error::CorpusError;

use super::near_match;
use super::source::{Found, Source, SourceError, no_results};
use crate::types::{Provenance, sha256_hex};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use index::TextIndex;
use record::Article;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The name under which this source is recorded.
const NAME: &str = "corpus";

pub struct Corpus {
    name: String,
    sha256: String,
    articles: Vec<Article>,
    /// Articles by title and by redirect, as written.
    titles: HashMap<String, usize>,
    redirects: HashMap<String, usize>,
    /// Articles by folded title or redirect; titles win, then the first in the file.
    folded: HashMap<String, usize>,
    index: TextIndex,
}

impl Corpus {
    /// Reads `DIR/articles.jsonl`, or `articles.jsonl.gz` where there is no other.
    pub fn from_dir(dir: &Path) -> Result<Self, CorpusError> {
        let plain = dir.join("articles.jsonl");
        let packed = dir.join("articles.jsonl.gz");
        let path = if plain.is_file() || !packed.is_file() { plain } else { packed };
        let bytes = File::open(&path)
            .and_then(|file| {
                let size = file.metadata()?.len();
                record::read_text(file, size)
            })
            .map_err(|error| CorpusError::Read { path: path.display().to_string(), reason: error.to_string() })?;
        Self::read(&dir.display().to_string(), &path.display().to_string(), &bytes)
    }

    /// Reads the articles from `bytes`, gzip or plain; `name` is what provenance and messages call the corpus.
    pub fn from_jsonl(name: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        Self::read(name, name, bytes)
    }

    fn read(name: &str, file: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        let bytes = record::unpacked(file, bytes)?;
        let records = record::read(file, &bytes)?;
        let (titles, redirects) = record::names(file, &records)?;
        let articles: Vec<Article> = records.into_iter().map(|(article, _)| article).collect();
        let mut folded = HashMap::new();
        let by_place = |names: &HashMap<String, usize>| {
            let mut names: Vec<(usize, String)> = names.iter().map(|(name, &at)| (at, fold::key(name))).collect();
            names.sort_unstable();
            names
        };
        for (at, key) in by_place(&titles).into_iter().chain(by_place(&redirects)) {
            if !key.is_empty() {
                folded.entry(key).or_insert(at);
            }
        }
        let index = TextIndex::build(&articles).map_err(|reason| CorpusError::Index { reason })?;
        let sha256 = sha256_hex([&*bytes]);
        Ok(Self { name: name.to_owned(), sha256, articles, titles, redirects, folded, index })
    }

    /// SHA-256 of the articles' JSON Lines, unpacked: the identity of the corpus.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The article that a query names, if it names one.
    fn named(&self, query: &str) -> Option<&Article> {
        let at = |name: &str| self.titles.get(name).or_else(|| self.redirects.get(name));
        let query = query.trim();
        let found = at(query)
            .or_else(|| near_match::candidates(query).iter().find_map(|candidate| at(candidate)))
            .or_else(|| self.folded.get(&fold::key(query)));
        found.and_then(|&at| self.articles.get(at))
    }

    fn find(&self, query: &str) -> Result<Found, SourceError> {
        let straight = query.trim_start().starts_with('#') || query.contains(['[', ']', '{', '}', '|', '<', '>']);
        if !straight && let Some(article) = self.named(query) {
            return Ok(self.page(article));
        }
        let hits = self.index.search(query).map_err(|reason| SourceError::Internal(format!("text index: {reason}")))?;
        let titles: Arc<[String]> =
            hits.iter().filter_map(|&at| self.articles.get(at)).map(|article| article.title.clone()).collect();
        let provenance = self.provenance(query, self.sha256.clone());
        if titles.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Titles { titles, provenance })
    }

    fn page(&self, article: &Article) -> Found {
        let Article { title, blocks, entries } = article;
        let parts = blocks.iter().flat_map(|block| [block.as_bytes(), b"\n"]);
        let provenance = self.provenance(title, sha256_hex(parts));
        let (title, blocks) = (title.clone(), Arc::clone(blocks));
        match entries {
            Some(entries) => Found::Disambiguation { title, entries: Arc::clone(entries), blocks, provenance },
            None => Found::Page { title, blocks, provenance },
        }
    }

    fn provenance(&self, title: &str, sha256: String) -> Provenance {
        Provenance {
            source: NAME.to_owned(),
            url: format!("corpus:{}#{}", self.name, title.replace(' ', "_")),
            title: title.to_owned(),
            status: 200,
            sha256,
            ..Provenance::default()
        }
    }
}

impl Source for Corpus {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        std::future::ready(self.find(query)).boxed()
    }
}

#[cfg(test)]
mod tests;
