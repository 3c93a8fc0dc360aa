//! Extracted pages by the digest of their bytes, so that a page asked twice is parsed once.

use super::html::{Article, ArticleOptions, ExtractError, PageKind, PaperPage, article, paper_page};
use super::source::SourceError;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many pages are kept.
const PAGES: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// How many bytes of text they may hold together.
const BYTES: usize = 64 << 20;

/// How many pages may wait, for a reader or for another try, beside those that are on their way. Without a bound, a site
/// that answers faster than pages are read would fill the memory with pages.
const WAITING: usize = 16;

/// Which reading of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// The paper's.
    Paper,
    /// The article only.
    Article(ArticleOptions),
}

/// A page that was read. Its texts are shared with whatever was found in it.
#[derive(Debug)]
pub(super) enum Extracted {
    /// The paper's reading.
    Paper {
        /// Headings of results.
        headings: Arc<[String]>,
        /// Texts of blocks.
        blocks: Arc<[String]>,
    },
    /// The article only.
    Article {
        /// The page's main heading.
        title: Option<String>,
        /// What sort of page it is.
        kind: PageKind,
        /// Texts of blocks.
        blocks: Arc<[String]>,
        /// Where its lists lead.
        links: Arc<[String]>,
        /// Headings of results.
        titles: Arc<[String]>,
    },
}

type Key = (String, Reading);

/// Where pages are read: a bounded store of those that were, and the threads that read others. Shared by all sessions of
/// a source.
pub(super) struct PageCache {
    pages: Arc<Pages>,
    /// One a processor: more pages read at once would take no less time, and each takes many times its length in memory.
    readers: Arc<Semaphore>,
    /// Pages that may be on their way or wait for a reader.
    under_way: Semaphore,
}

/// The pages that were read.
pub(super) struct Pages(Mutex<Kept>);

/// The pages with their sizes in bytes, and the sum of these.
struct Kept {
    pages: LruCache<Key, (Arc<Extracted>, usize)>,
    bytes: usize,
}

impl PageCache {
    /// An empty store for a source that makes so many requests at once.
    pub(super) fn new(concurrent: usize) -> Self {
        let readers = Arc::new(Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)));
        let under_way = Semaphore::new(concurrent.saturating_add(WAITING).min(Semaphore::MAX_PERMITS));
        let kept = Kept { pages: LruCache::new(PAGES), bytes: 0 };
        Self { pages: Arc::new(Pages(Mutex::new(kept))), readers, under_way }
    }

    /// Waits until another page may be asked for. It counts until the permit is dropped, which is to be after
    /// [`PageCache::read`].
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes the semaphore; were it closed, pages would merely be unlimited.
        self.under_way.acquire().await.ok()
    }

    /// Does the work of reading an answer, its digest included, on a thread for that.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Pages) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let reader = Arc::clone(&self.readers).acquire_owned().await;
        let pages = Arc::clone(&self.pages);
        let done = tokio::task::spawn_blocking(move || {
            let _reader = reader;
            work(&pages)
        });
        done.await.map_err(|_| SourceError::Internal("the page reader stopped".to_owned()))?
    }
}

impl Pages {
    /// The page with this digest, read from `text` unless it is kept.
    pub(super) fn page(
        &self,
        digest: String,
        reading: Reading,
        url: &str,
        text: &str,
    ) -> Result<Arc<Extracted>, SourceError> {
        let key = (digest, reading);
        if let Some(page) = self.get(&key) {
            return Ok(page);
        }
        let page = extract(text, reading).map_err(|error| SourceError::Extract { url: url.to_owned(), error })?;
        let page = Arc::new(page);
        self.put(key, &page);
        Ok(page)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere cannot leave the store half-changed in a way that matters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &Key) -> Option<Arc<Extracted>> {
        self.kept().pages.get(key).map(|(page, _)| Arc::clone(page))
    }

    fn put(&self, key: Key, page: &Arc<Extracted>) {
        let size = size(page);
        if size > BYTES / 4 {
            return;
        }
        let mut kept = self.kept();
        kept.bytes += size;
        if let Some((_, (_, gone))) = kept.pages.push(key, (Arc::clone(page), size)) {
            kept.bytes -= gone;
        }
        while kept.bytes > BYTES
            && let Some((_, (_, gone))) = kept.pages.pop_lru()
        {
            kept.bytes -= gone;
        }
    }
}

fn extract(text: &str, reading: Reading) -> Result<Extracted, ExtractError> {
    Ok(match reading {
        Reading::Paper => {
            let PaperPage { headings, blocks } = paper_page(text)?;
            Extracted::Paper { headings: headings.into(), blocks: blocks.into() }
        }
        Reading::Article(options) => {
            let Article { title, kind, blocks, links, titles } = article(text, options)?;
            Extracted::Article { title, kind, blocks: blocks.into(), links: links.into(), titles: titles.into() }
        }
    })
}

fn size(page: &Extracted) -> usize {
    let of = |texts: &[String]| texts.iter().map(|text| text.len() + size_of::<String>()).sum::<usize>();
    match page {
        Extracted::Paper { headings, blocks } => of(headings) + of(blocks),
        Extracted::Article { blocks, links, titles, .. } => of(blocks) + of(links) + of(titles),
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES, Extracted, PageCache, Reading};
    use std::sync::Arc;

    #[tokio::test]
    async fn a_page_is_read_once_and_old_ones_make_room() {
        let cache = PageCache::new(1);
        let read = |digest: &str, text: String| {
            let digest = digest.to_owned();
            cache.read(move |pages| pages.page(digest, Reading::Paper, "http://h/", &text))
        };
        let first = read("a", "<p>one".to_owned()).await.expect("reads");
        let again = read("a", "<p>other".to_owned()).await.expect("reads");
        assert!(Arc::ptr_eq(&first, &again));
        let Extracted::Paper { blocks, .. } = &*again else { panic!("the paper's reading") };
        assert_eq!(**blocks, ["one"]);
        let large = "x".repeat(BYTES / 5);
        for digest in ["b", "c", "d", "e", "f"] {
            read(digest, format!("<p>{large}")).await.expect("reads");
        }
        let later = read("a", "<p>other".to_owned()).await.expect("reads");
        assert!(!Arc::ptr_eq(&first, &later));
        assert!(cache.pages.kept().bytes <= BYTES);
    }

    #[tokio::test]
    async fn a_panic_costs_one_page() {
        let cache = PageCache::new(1);
        let died = cache.read::<()>(|_| panic!("a fault")).await.expect_err("no page");
        assert_eq!(died.to_string(), "the wikipedia source failed inside: the page reader stopped");
        assert_eq!(cache.read(|_| Ok(1)).await.expect("goes on"), 1);
    }
}
