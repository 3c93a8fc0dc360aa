//! A frozen encyclopedia: titles, redirects, and a text index over everything.
//!
//! A query is looked for as `MediaWiki` does it, and a little more kindly: exact title, redirect, the near-match ladder,
//! the title without case, accents and punctuation; then the twenty best articles by BM25. Queries with brackets go
//! straight to the text search, which is how the paper's environment gets past disambiguation pages.
//!
//! A query that was frozen with the pages is answered as the site answered it, before anything else is tried.

mod build;
mod diff;
mod folder;
mod import;
mod index;
mod manifest;
mod memory;
mod names;
mod pack;
mod pages;
mod record;

pub use build::{BuildError, BuildSettings, Built, LEAST_MEMORY, OnDuplicate, Progress, build};
pub use diff::{Counts, DiffError, Difference, Side, diff};
pub use folder::verify;
pub use import::{Facts, Format, files};
use index::Passage;
pub use manifest::{Extent, FetchedLine, Freeze, Frozen, Manifest, NameCounts, SearchAnswer, title_of};
pub use pack::{PackError, notice, pack};

use super::cache::{SizedLru, text_bytes};
use super::source::{CORPUS_FORM, Found, FoundPassage, Retrieval, Source, SourceError, no_results};
use super::{SentenceMap, query};
use crate::base::{Provenance, sha256_hex};
use crate::net::recording::Inside;
use folder::Folder;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use index::TextIndex;
use manifest::FrozenSearches;
use names::Names;
use pages::Pages;
use record::{Article, Block};
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "corpus";
/// Files that make a folder a corpus, the first that is there.
const FILES: [&str; 2] = ["articles.jsonl", "articles.jsonl.gz"];

/// How many titles a search shows that finds no page.
const MAX_TITLES: usize = 20;
/// Pages of a folder that are kept as they are shown, and their bytes.
const KEPT: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();
const KEPT_BYTES: usize = 8 << 20;

fn lines_file(dir: &Path) -> Option<PathBuf> {
    FILES.map(|file| dir.join(file)).into_iter().find(|file| file.exists())
}

/// A frozen encyclopedia, in memory or in a folder. Its articles are numbered in title order.
pub struct Corpus {
    name: String,
    id: String,
    manifest: Option<Manifest>,
    names: Names,
    index: TextIndex,
    texts: Texts,
    frozen: FrozenSearches,
}

enum Texts {
    Memory(Vec<Arc<Page>>),
    Folder(Pages, SizedLru<u32, Arc<Page>>),
}

impl Corpus {
    /// Opens a folder that was built, or reads a file of lines, the lines in a folder, or the texts in it.
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let name = path.display().to_string();
        if path.join(manifest::FILE).is_file() {
            let manifest = Manifest::read(path)?;
            let Folder { names, index, pages } = Folder::open(path, &manifest)?;
            let texts = Texts::Folder(pages, SizedLru::new(KEPT, KEPT_BYTES));
            let frozen = manifest::read_searches(path, &manifest)?;
            let id = manifest.id.clone();
            return Ok(Self { name, id, manifest: Some(manifest), names, index, texts, frozen });
        }
        let lines = match lines_file(path) {
            _ if path.is_file() => path.to_owned(),
            Some(file) => file,
            None if path.is_dir() => {
                let lines =
                    memory::text_files_as_lines(path)?.ok_or_else(|| CorpusError::Nothing { path: name.clone() })?;
                return Self::read(&name, &name, &lines);
            }
            None => path.to_owned(),
        };
        // What was named is opened whatever it is, also through a link.
        let opened = if lines == path { File::open(path) } else { Inside::of(path).and_then(|dir| dir.open(&lines)) };
        let bytes = opened
            .and_then(|file| {
                let size = file.metadata()?.len();
                memory::read_text(file, size)
            })
            .map_err(|error| CorpusError::Read { path: lines.display().to_string(), reason: error.to_string() })?;
        Self::read(&name, &lines.display().to_string(), &bytes)
    }

    /// Reads the articles from `bytes`, packed or plain; `name` is what provenance and messages call the corpus.
    pub fn from_jsonl(name: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        Self::read(name, name, bytes)
    }

    fn read(name: &str, file: &str, bytes: &[u8]) -> Result<Self, CorpusError> {
        let bytes = memory::unpacked(file, bytes)?;
        let (names, index, pages) = memory::read(file, &bytes)?;
        let (name, id, frozen) = (name.to_owned(), sha256_hex([&*bytes]), memory::packed_searches(&bytes));
        Ok(Self { name, id, manifest: None, names, index, texts: Texts::Memory(pages), frozen })
    }

    fn number_of_name(&self, query: &str) -> Result<Option<u32>, CorpusError> {
        let query = query.trim();
        for candidate in std::iter::once(query.to_owned()).chain(query::candidate_titles(query)) {
            if let Some(found) = self.names.exact(&candidate)? {
                return Ok(Some(found));
            }
        }
        match self.names.named_like(query)? {
            None if self.manifest.is_some() => self.names.named_like(&format!("{query} (disambiguation)")),
            found => Ok(found),
        }
    }

    fn find(&self, query: &str) -> Result<Found, CorpusError> {
        if let Some(number) = self.opens(query)? {
            return Ok(self.page_found(&*self.page(number)?));
        }
        // What a search finds or does not find has no page of its own.
        let mut url = format!("corpus:{}", self.name);
        let titles: Arc<[String]> = if let Some(SearchAnswer::Titles(titles)) = self.frozen.get(query.trim()) {
            url.extend(["?query=", &query::quote_form(query)]);
            titles.as_slice().into()
        } else {
            self.titles(self.similar(query, MAX_TITLES)?.iter().map(|hit| hit.number))?.into()
        };
        let provenance = Provenance { url, ..self.provenance(query, self.id.clone()) };
        if titles.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Titles { titles, provenance })
    }

    /// The best passages for a query: paragraphs of articles, or the passages that the corpus was built of.
    fn passages_found(&self, query: &str, count: usize) -> Result<Found, CorpusError> {
        let provenance = Provenance {
            url: format!("corpus:{}?passages={}", self.name, query::quote_form(query)),
            ..self.provenance(query, self.id.clone())
        };
        let passages: Arc<[FoundPassage]> =
            self.passages(query, count)?.into_iter().map(|hit| self.passage(hit)).collect::<Result<_, _>>()?;
        if passages.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Passages { passages, provenance })
    }

    pub(crate) fn passage(&self, Passage { number, block, score }: Passage) -> Result<FoundPassage, CorpusError> {
        let page = self.page(number)?;
        let sentences = page.sentences.as_ref().and_then(|map| Some((block, map.ends(block)?.to_vec())));
        let (title, text) = (page.title.clone(), page.blocks[block].clone());
        Ok(FoundPassage { id: format!("{number}.{block}"), title, text, score: Some(score), sentences })
    }

    /// The article of a passage, whose id is the article's number and the passage's place in it: `17.2`, also as it is
    /// shown, `(id 17.2)`.
    fn document_found(&self, id: &str) -> Result<Found, CorpusError> {
        let written = id.trim().trim_matches(['(', ')']).trim();
        let parts = written.strip_prefix("id ").unwrap_or(written).split_once('.');
        let number = |digits: &str| digits.parse::<u32>().ok().filter(|number| number.to_string() == digits);
        let place = parts.and_then(|(article, block)| Some((number(article)?, number(block)?)));
        if let Some((article, block)) = place.filter(|(article, _)| *article < self.count()) {
            let page = self.page(article)?;
            if (block as usize) < page.blocks.len() {
                return Ok(self.page_found(&page));
            }
        }
        Ok(Found::Nothing { blocks: no_results(), provenance: self.provenance(id, self.id.clone()) })
    }

    fn page_found(&self, page: &Page) -> Found {
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
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let found = match asked {
            Retrieval::Search { query } => self.find(query),
            Retrieval::Passages { query, count } => self.passages_found(query, count),
            Retrieval::Document { id } => self.document_found(id),
        };
        std::future::ready(found.map_err(|error| SourceError::Internal(error.to_string()))).boxed()
    }
}

// A corpus as a server reads it: by number, by name, by the beginning of a name and by words.

impl Corpus {
    /// The identity: `wt1:…` of a folder that was built, SHA-256 of the lines, unpacked, of others.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What a run over it depends on: its identity and, if searches were frozen with it, the beginning of their digest.
    pub(crate) fn identity(&self) -> String {
        self.manifest.as_ref().map_or_else(|| self.id.clone(), Manifest::identity)
    }

    /// The path by which it was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a folder is that was built.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// How many articles it has. They are numbered from 0, in the order of their titles' bytes.
    pub fn count(&self) -> u32 {
        u32::try_from(self.names.counts().0).unwrap_or(u32::MAX)
    }

    pub(crate) fn title(&self, number: u32) -> Result<String, CorpusError> {
        self.names.title(number)
    }

    pub(crate) fn titles(&self, numbers: impl IntoIterator<Item = u32>) -> Result<Vec<String>, CorpusError> {
        numbers.into_iter().map(|number| self.title(number)).collect()
    }

    pub(crate) fn page(&self, number: u32) -> Result<Arc<Page>, CorpusError> {
        match &self.texts {
            Texts::Memory(pages) => {
                let page = pages.get(number as usize).map(Arc::clone);
                page.ok_or_else(|| CorpusError::Index { reason: format!("there is no article {number}") })
            }
            Texts::Folder(pages, kept) => kept.get_or_make(number, || {
                let page = Page::from(pages.article(number)?);
                let sentences = page.sentences.as_ref().map_or(0, SentenceMap::bytes);
                let size = page.title.len() + text_bytes(&page.blocks) + sentences;
                Ok((Arc::new(page), size))
            }),
        }
    }

    /// The article of that title or redirect, as written.
    pub(crate) fn exact(&self, name: &str) -> Result<Option<u32>, CorpusError> {
        self.names.exact(name)
    }

    /// The page that a search for `query` opens, if it opens one.
    pub(crate) fn opens(&self, query: &str) -> Result<Option<u32>, CorpusError> {
        match self.frozen.get(query.trim()) {
            Some(SearchAnswer::Titles(_)) => return Ok(None),
            Some(SearchAnswer::Page(title)) => {
                if let Some(number) = self.names.exact(title)? {
                    return Ok(Some(number));
                }
            }
            None => {}
        }
        let straight = query.trim_start().starts_with('#') || query.contains(['[', ']', '{', '}', '|', '<', '>']);
        if straight { Ok(None) } else { self.number_of_name(query) }
    }

    /// The articles of the corpus that the site listed for `query`, if that search was frozen and opened no page.
    pub(crate) fn frozen_titles(&self, query: &str) -> Result<Option<Vec<u32>>, CorpusError> {
        let Some(SearchAnswer::Titles(titles)) = self.frozen.get(query.trim()) else { return Ok(None) };
        let numbers = titles.iter().map(|heading| self.names.exact(title_of(heading)));
        Ok(Some(numbers.filter_map(Result::transpose).collect::<Result<_, _>>()?))
    }

    /// The best articles for the words of `query`, `most` at most.
    pub(crate) fn similar(&self, query: &str, most: usize) -> Result<Vec<Hit>, CorpusError> {
        match self.texts {
            Texts::Folder(..) => self.index.search_or_like(&self.names, query, most),
            Texts::Memory(_) => {
                let mut found = self.index.search(query, memory::TAKEN.max(most))?;
                found.truncate(most);
                Ok(found)
            }
        }
    }

    /// Articles with a title or redirect that begins so, but for case, accents and punctuation; `most` at most.
    pub(crate) fn beginning(&self, name: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        match self.names.fold.name(name) {
            key if key.is_empty() => Ok(Vec::new()),
            key => self.names.beginning(&key, most),
        }
    }

    /// Up to `most` articles whose titles are not before `title`, in byte order of titles.
    #[cfg(feature = "serve")]
    pub(crate) fn titled_from(&self, title: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        self.names.titled_from(title, most)
    }
}

// What can be wrong with a corpus.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message says what each means")]
pub enum CorpusError {
    #[error("cannot read `{path}`: {reason}")]
    Read { path: String, reason: String },
    /// The packed file is damaged, or unpacks to more than any corpus for memory.
    #[error("cannot unpack `{file}`: {reason}")]
    Unpack { file: String, reason: String },
    #[error("`{file}`, line {line}: {reason}")]
    Line { file: String, line: usize, reason: String },
    #[error("`{file}`, line {line}: {what} `{name}` is already {taken} in line {first}")]
    Taken { file: String, line: usize, what: &'static str, name: String, taken: &'static str, first: usize },
    #[error("there are no articles in `{path}`")]
    Nothing { path: String },
    /// A file of a folder that was built is not what was written.
    #[error("`{file}` is damaged: {reason}")]
    Damaged { file: String, reason: String },
    /// A folder that was built by another version.
    #[error("`{file}` {what}")]
    Other { file: String, what: String },
    #[error("text index: {reason}")]
    Index { reason: String },
}

impl CorpusError {
    #[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
    fn damaged(file: &str, reason: impl ToString) -> Self {
        Self::Damaged { file: file.to_owned(), reason: reason.to_string() }
    }

    fn in_file<E: ToString>(file: &str) -> impl Fn(E) -> Self {
        move |error| Self::damaged(file, error)
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Read { .. } | Self::Nothing { .. } => CORPUS_FORM,
            Self::Unpack { .. } => "unpack the file by hand to see where it breaks",
            Self::Line { .. } => {
                "each line is one JSON object: {\"title\": str, \"text\": str}, or {\"title\": str, \"blocks\": [str], \"redirects\": \
                 [str]} with \"entries\": [[title, description], …] on disambiguation pages"
            }
            Self::Taken { .. } => "every title and redirect stands for one article; remove or rename one of the two",
            Self::Damaged { .. } => {
                "`wikitrail corpus verify DIR` lists what is wrong; copy the folder again, or build it again"
            }
            Self::Other { .. } => "build it again with `wikitrail corpus build`; its identity stays the same",
            Self::Index { .. } => return None,
        })
    }
}

// What the tool needs of an article.

#[derive(Debug)]
pub struct Page {
    pub title: String,
    pub blocks: Arc<[String]>,
    pub sentences: Option<SentenceMap>,
    /// On a disambiguation page: the titles it lists.
    pub entries: Option<Arc<[String]>>,
    pub pageid: Option<u64>,
    pub revid: Option<u64>,
    /// When that was made, as the source writes it.
    pub timestamp: Option<String>,
}

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

#[cfg(test)]
mod tests;
