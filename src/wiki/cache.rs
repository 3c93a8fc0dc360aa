//! Extracted pages by the digest of their bytes, so that a page asked twice is parsed once.

use super::html::{Article, ArticleOptions, ExtractError, PaperPage, article, paper_page};
use super::sized_lru::{SizedLru, text_bytes};
use super::source::SourceError;
use crate::types::Compat;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many pages are kept.
const MAX_PAGES: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// How many bytes of text they may hold together.
const MAX_PAGE_BYTES: usize = 64 << 20;

/// How many pages may wait, for a reader or for another try, beside those that are on their way. Without a bound, a site
/// that answers faster than pages are read would fill the memory with pages.
const MAX_WAITING: usize = 16;

/// Which reading of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// The paper's.
    Paper,
    /// The article only.
    Article(ArticleOptions),
}

impl Reading {
    pub(super) fn of(compat: Compat, options: ArticleOptions) -> Self {
        match compat {
            Compat::Paper => Self::Paper,
            Compat::Fixed => Self::Article(options),
        }
    }
}

/// A page that was read. Its texts are shared with whatever was found in it.
#[derive(Debug)]
pub(super) enum Extracted {
    Paper(PaperPage),
    Article(Article),
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
pub(super) struct Pages(Mutex<SizedLru<Key, Arc<Extracted>>>);

impl PageCache {
    /// An empty store for a source that makes so many requests at once.
    pub(super) fn new(concurrent: usize) -> Self {
        let readers = Arc::new(Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get)));
        let under_way = Semaphore::new(concurrent.saturating_add(MAX_WAITING).min(Semaphore::MAX_PERMITS));
        let pages = Pages(Mutex::new(SizedLru::new(MAX_PAGES, MAX_PAGE_BYTES)));
        Self { pages: Arc::new(pages), readers, under_way }
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
        if let Some(page) = self.kept().get(&key) {
            return Ok(page);
        }
        let page = extract(text, reading).map_err(|error| SourceError::Extract { url: url.to_owned(), error })?;
        let page = Arc::new(page);
        self.kept().put(key, Arc::clone(&page), page_size(&page));
        Ok(page)
    }

    fn kept(&self) -> MutexGuard<'_, SizedLru<Key, Arc<Extracted>>> {
        // A panic elsewhere cannot leave the store half-changed in a way that matters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn extract(text: &str, reading: Reading) -> Result<Extracted, ExtractError> {
    match reading {
        Reading::Paper => paper_page(text).map(Extracted::Paper),
        Reading::Article(options) => article(text, options).map(Extracted::Article),
    }
}

fn page_size(page: &Extracted) -> usize {
    match page {
        Extracted::Paper(page) => text_bytes(&page.headings) + text_bytes(&page.blocks),
        Extracted::Article(page) => text_bytes(&page.blocks) + text_bytes(&page.links) + text_bytes(&page.titles),
    }
}

#[cfg(test)]
mod tests {
    use super::{Extracted, MAX_PAGE_BYTES, PageCache, Reading};
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
        let Extracted::Paper(page) = &*again else { panic!("the paper's reading") };
        assert_eq!(*page.blocks, ["one"]);
        let large = "x".repeat(MAX_PAGE_BYTES / 5);
        for digest in ["b", "c", "d", "e", "f"] {
            read(digest, format!("<p>{large}")).await.expect("reads");
        }
        let later = read("a", "<p>other".to_owned()).await.expect("reads");
        assert!(!Arc::ptr_eq(&first, &later));
        assert!(cache.pages.kept().bytes <= MAX_PAGE_BYTES);
    }

    #[tokio::test]
    async fn a_panic_costs_one_page() {
        let cache = PageCache::new(1);
        let died = cache.read::<()>(|_| panic!("a fault")).await.expect_err("no page");
        assert_eq!(died.to_string(), "the wikipedia source failed inside: the page reader stopped");
        assert_eq!(cache.read(|_| Ok(1)).await.expect("goes on"), 1);
    }
}
