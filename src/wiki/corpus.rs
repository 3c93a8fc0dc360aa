//! A frozen encyclopedia: titles, redirects, and a text index over everything.
//!
//! A query is looked for as `MediaWiki` does it, and a little more kindly: exact title, redirect, the near-match ladder,
//! the title without case, accents and punctuation; then the twenty best articles by BM25. Queries with brackets go
//! straight to the text search, which is how the paper's environment gets past disambiguation pages.
//!
//! A query that was frozen with the pages is answered as the site answered it, before anything else is tried.

mod about;
mod articles;
mod attribution;
mod build;
mod diff;
mod directory;
mod error;
mod fold;
mod folder;
mod frame;
mod frozen;
mod import;
mod index;
mod manifest;
mod names;
mod pack;
mod pages;
mod passages;
mod plain;
mod queries;
mod read;
mod record;
mod verify;

pub use articles::{Hit, Page};
pub use attribution::notice;
pub use build::{BuildError, BuildSettings, Built, LEAST_MEMORY, OnDuplicate, Progress, build};
pub use diff::{Counts, DiffError, Difference, Side, diff};
pub use error::CorpusError;
pub use frozen::{FetchedLine, Frozen};
pub use import::{FORMATS, Format, files};
pub use manifest::{Build, Digest, Extent, Freeze, License, Manifest, NameCounts, Sentences, Skipped, SourceFile};
pub use pack::{PackError, Packing, pack};
pub use passages::Passage;
pub use queries::{SearchAnswer, title_of};
pub use verify::verify;

use super::source::{Found, Source, SourceError, no_results};
use super::{near_match, quote};
use crate::tape::Inside;
use crate::types::{Provenance, sha256_hex};
use articles::Articles;
use folder::Folder;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use plain::InMemory;
use queries::FrozenSearches;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name under which this source is recorded.
const NAME: &str = "corpus";
/// Files that make a folder a corpus, the first that is there.
const FILES: [&str; 2] = ["articles.jsonl", "articles.jsonl.gz"];

/// How many titles a search shows that finds no page.
const MAX_TITLES: usize = 20;

/// The lines in a folder.
fn lines_file(dir: &Path) -> Option<PathBuf> {
    FILES.map(|file| dir.join(file)).into_iter().find(|file| file.exists())
}

pub struct Corpus {
    name: String,
    id: String,
    manifest: Option<Manifest>,
    articles: Box<dyn Articles>,
    frozen: FrozenSearches,
}

impl Corpus {
    /// Opens a folder that was built, or reads a file of lines, the lines in a folder, or the texts in it.
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let name = path.display().to_string();
        if path.join(manifest::FILE).is_file() {
            let manifest = Manifest::read(path)?;
            let articles = Box::new(Folder::open(path, &manifest)?);
            let frozen = queries::read_searches(path, &manifest)?;
            return Ok(Self { name, id: manifest.id.clone(), manifest: Some(manifest), articles, frozen });
        }
        let lines = match lines_file(path) {
            _ if path.is_file() => path.to_owned(),
            Some(file) => file,
            None if path.is_dir() => {
                let lines =
                    plain::text_files_as_lines(path)?.ok_or_else(|| CorpusError::Nothing { path: name.clone() })?;
                return Self::read(&name, &name, &lines);
            }
            None => path.to_owned(),
        };
        // What was named is opened whatever it is, also through a link.
        let opened = if lines == path { File::open(path) } else { Inside::of(path).and_then(|dir| dir.open(&lines)) };
        let bytes = opened
            .and_then(|file| {
                let size = file.metadata()?.len();
                plain::read_text(file, size)
            })
            .map_err(|error| CorpusError::Read { path: lines.display().to_string(), reason: error.to_string() })?;
        Self::read(&name, &lines.display().to_string(), &bytes)
    }

    /// Reads the articles from `bytes`, gzip or plain; `name` is what provenance and messages call the corpus.
    pub fn from_jsonl(name: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        Self::read(name, name, bytes)
    }

    fn read(name: &str, file: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        let bytes = plain::unpacked(file, bytes)?;
        let articles = Box::new(InMemory::read(file, &bytes)?);
        let frozen = plain::packed_searches(&bytes);
        Ok(Self { name: name.to_owned(), id: sha256_hex([&*bytes]), manifest: None, articles, frozen })
    }

    /// The article that a query names, if it names one.
    fn named(&self, query: &str) -> Result<Option<u32>, CorpusError> {
        let query = query.trim();
        if let Some(found) = self.articles.exact(query)? {
            return Ok(Some(found));
        }
        for candidate in near_match::candidate_titles(query) {
            if let Some(found) = self.articles.exact(&candidate)? {
                return Ok(Some(found));
            }
        }
        match self.articles.folded(&fold::fold_name(query))? {
            Some(found) => Ok(Some(found)),
            None => self.articles.instead(query),
        }
    }

    fn find(&self, query: &str) -> Result<Found, CorpusError> {
        if let Some(number) = self.opens(query)? {
            return Ok(self.found(&*self.articles.page(number)?));
        }
        // What a search finds or does not find has no page of its own.
        let mut url = format!("corpus:{}", self.name);
        let titles: Arc<[String]> = if let Some(SearchAnswer::Titles(titles)) = self.frozen.get(query.trim()) {
            url.extend(["?query=", &quote::quote_form(query)]);
            titles.as_slice().into()
        } else {
            let hits = self.articles.similar(query, MAX_TITLES)?.into_iter();
            hits.map(|hit| self.articles.title(hit.number)).collect::<Result<_, _>>()?
        };
        let provenance = Provenance { url, ..self.provenance(query, self.id.clone()) };
        if titles.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Titles { titles, provenance })
    }

    fn found(&self, page: &Page) -> Found {
        let Page { title, blocks, sentences, entries, pageid, revid, .. } = page;
        let parts = blocks.iter().flat_map(|block| [block.as_bytes(), b"\n"]);
        let provenance = Provenance { pageid: *pageid, revid: *revid, ..self.provenance(title, sha256_hex(parts)) };
        let (title, blocks) = (title.clone(), Arc::clone(blocks));
        match entries {
            Some(entries) => Found::Disambiguation { title, entries: Arc::clone(entries), blocks, provenance },
            None => Found::Page { title, blocks, sentences: sentences.clone(), provenance },
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
        let found = self.find(query).map_err(|error| SourceError::Internal(error.to_string()));
        std::future::ready(found).boxed()
    }
}

#[cfg(test)]
mod tests;
