//! Extracted pages by the digest of their bytes, so that a page asked twice is parsed once.

use super::html::{Article, ArticleOptions, ExtractError, PageKind, PaperPage, article, paper_page};
use super::source::{Found, Retrieval, SentenceMap, Source, SourceError};
use crate::base::{Compat, locked, processors};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lru::LruCache;
use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit};

const MAX_PAGES: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// How many bytes of text they may hold together.
const MAX_PAGE_BYTES: usize = 64 << 20;

/// How many pages may wait, for a reader or for another try, beside those that are on their way. Without a bound, a site
/// that answers faster than pages are read would fill the memory with pages.
const MAX_WAITING: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    Paper,
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

/// A bounded store of pages that were read, and the threads that read others; shared by all sessions of a source.
pub(super) struct PageCache {
    pages: Arc<Pages>,
    /// One a processor: more pages read at once would take no less time, and each takes many times its length in memory.
    readers: Arc<Semaphore>,
    /// Pages that may be on their way or wait for a reader.
    under_way: Semaphore,
}

/// The pages that were read. Their texts are shared with whatever was found in them.
pub(super) type Pages = SizedLru<(String, Reading), Arc<Article>>;

impl PageCache {
    /// An empty store for a source that makes so many requests at once.
    pub(super) fn new(concurrent: usize) -> Self {
        let readers = Arc::new(Semaphore::new(processors()));
        let under_way = Semaphore::new(concurrent.saturating_add(MAX_WAITING).min(Semaphore::MAX_PERMITS));
        Self { pages: Arc::new(Pages::new(MAX_PAGES, MAX_PAGE_BYTES)), readers, under_way }
    }

    /// Waits until another page may be asked for. Drop the permit after [`PageCache::read`].
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
    ) -> Result<Arc<Article>, SourceError> {
        self.get_or_make((digest, reading), || {
            let page = extract(text, reading).map_err(|error| SourceError::Extract { url: url.to_owned(), error })?;
            let size = text_bytes(&page.blocks) + text_bytes(&page.links) + text_bytes(&page.titles);
            Ok((Arc::new(page), size))
        })
    }
}

fn extract(text: &str, reading: Reading) -> Result<Article, ExtractError> {
    match reading {
        Reading::Paper => {
            let PaperPage { headings, blocks } = paper_page(text)?;
            let kind = if headings.is_empty() { PageKind::Article } else { PageKind::Results };
            // The paper's environment takes any page for one of the site.
            Ok(Article { kind, blocks, titles: headings, from_mediawiki: true, ..Article::default() })
        }
        Reading::Article(options) => article(text, options),
    }
}

// A store of what was used last, bounded in number and in bytes of text.

/// Values with their sizes in bytes, and the sum of these.
type Kept<K, V> = (LruCache<K, (V, usize)>, usize);

pub(super) struct SizedLru<K: Hash + Eq, V> {
    kept: Mutex<Kept<K, V>>,
    max_bytes: usize,
}

impl<K: Hash + Eq, V: Clone> SizedLru<K, V> {
    pub(super) fn new(max_values: NonZeroUsize, max_bytes: usize) -> Self {
        Self { kept: Mutex::new((LruCache::new(max_values), 0)), max_bytes }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        locked(&self.kept).0.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value of `size` bytes, unless that is more than a quarter of the store. The oldest make room.
    pub(super) fn put(&self, key: K, value: V, size: usize) {
        if size > self.max_bytes / 4 {
            return;
        }
        let (values, bytes) = &mut *locked(&self.kept);
        *bytes += size;
        if let Some((_, (_, gone))) = values.push(key, (value, size)) {
            *bytes -= gone;
        }
        while *bytes > self.max_bytes
            && let Some((_, (_, gone))) = values.pop_lru()
        {
            *bytes -= gone;
        }
    }

    /// The value of `key`, made with its size if it is not kept.
    pub(super) fn get_or_make<E>(&self, key: K, make: impl FnOnce() -> Result<(V, usize), E>) -> Result<V, E> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let (value, size) = make()?;
        self.put(key, value.clone(), size);
        Ok(value)
    }
}

pub(super) fn text_bytes(texts: &[String]) -> usize {
    texts.iter().map(|text| text.len() + size_of::<String>()).sum()
}

// What a source said in this run, by the words that it was asked: a search is not made again while its answer is at hand
// or on its way.

const MAX_FINDINGS: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// How many bytes of text they may hold together. Pages that the source itself keeps are shared with it.
const MAX_FINDING_BYTES: usize = 32 << 20;

/// A source that asks the one behind it once for each query, as long as the finding is kept. What the record says of it,
/// the time when it was fetched included, is that of the first time.
///
/// Errors are not kept, nor is an answer with another status than 200, which the paper's environment takes for a page. Of
/// all who wait for such an answer, one asks again, for all of them.
pub struct SearchCache<S> {
    source: S,
    kept: SizedLru<String, Found>,
    /// The searches under way, each held by the caller that asks, and then by those that wait for it, in turn.
    under_way: Mutex<HashMap<String, Weak<AsyncMutex<SearchEnd>>>>,
}

#[derive(Default)]
enum SearchEnd {
    /// It is under way, or the caller gave up.
    #[default]
    Open,
    /// What it said cannot be kept; one of those who wait asks again.
    NotKept,
    /// That one asked again. What it was told holds for all who waited: a site in trouble is not asked by each of them.
    Again(Box<Result<Found, SourceError>>),
}

impl<S: Source> SearchCache<S> {
    pub fn new(source: S) -> Self {
        Self { source, kept: SizedLru::new(MAX_FINDINGS, MAX_FINDING_BYTES), under_way: Mutex::default() }
    }

    /// What is kept of what is `asked`, or what the source answers.
    async fn find(&self, asked: Retrieval<'_>) -> Result<Found, SourceError> {
        let (kind, text) = asked.kind_and_text();
        // No search has such a character, which sites refuse.
        let key = kind.map_or_else(|| text.to_owned(), |kind| format!("{kind}\0{text}"));
        if let Some(found) = self.kept.get(&key) {
            return Ok(found);
        }
        let search = self.search_under_way(&key);
        let mut end = search.lock().await;
        if let Some(found) = self.kept.get(&key) {
            return Ok(found);
        }
        if let SearchEnd::Again(result) = &*end {
            return (**result).clone();
        }
        let result = self.source.retrieve(asked).await;
        let is_again = matches!(*end, SearchEnd::NotKept);
        *end = if is_again { SearchEnd::Again(Box::new(result.clone())) } else { SearchEnd::NotKept };
        if let Ok(found) = &result
            && found.provenance().status == 200
        {
            let size = finding_size(found) + key.len();
            self.kept.put(key, found.clone(), size);
        }
        result
    }

    /// The search that another caller makes already, or a new one.
    fn search_under_way(&self, key: &str) -> Arc<AsyncMutex<SearchEnd>> {
        let mut searches = locked(&self.under_way);
        searches.retain(|_, search| search.strong_count() > 0);
        searches.get(key).and_then(Weak::upgrade).unwrap_or_else(|| {
            let search = Arc::default();
            searches.insert(key.to_owned(), Arc::downgrade(&search));
            search
        })
    }
}

impl<S: Source> Source for SearchCache<S> {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.find(asked).boxed()
    }
}

fn finding_size(found: &Found) -> usize {
    match found {
        Found::Page { blocks, sentences, .. } => text_bytes(blocks) + sentences.as_ref().map_or(0, SentenceMap::bytes),
        Found::Nothing { blocks, .. } => text_bytes(blocks),
        Found::Disambiguation { entries, blocks, .. } => text_bytes(entries) + text_bytes(blocks),
        Found::Titles { titles, .. } => text_bytes(titles),
        Found::Passages { passages, .. } => {
            passages.iter().map(|passage| passage.id.len() + passage.title.len() + passage.text.len()).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Found, MAX_FINDING_BYTES, MAX_FINDINGS, MAX_PAGE_BYTES, PageCache, Reading, Retrieval, SearchCache, Source,
        SourceError,
    };
    use crate::base::Provenance;
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use std::sync::{Arc, Mutex};
    use std::task::Poll;

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
        assert_eq!(*again.blocks, ["one"]);
        let large = "x".repeat(MAX_PAGE_BYTES / 5);
        for digest in ["b", "c", "d", "e", "f"] {
            read(digest, format!("<p>{large}")).await.expect("reads");
        }
        let later = read("a", "<p>other".to_owned()).await.expect("reads");
        assert!(!Arc::ptr_eq(&first, &later));
        assert!(cache.pages.kept.lock().expect("no panic").1 <= MAX_PAGE_BYTES);
    }

    #[tokio::test]
    async fn a_panic_costs_one_page() {
        let cache = PageCache::new(1);
        let died = cache.read::<()>(|_| panic!("a fault")).await.expect_err("no page");
        assert_eq!(died.to_string(), "the wikipedia source failed inside: the page reader stopped");
        assert_eq!(cache.read(|_| Ok(1)).await.expect("goes on"), 1);
    }

    /// Answers with a page of as many bytes as the query says after its status, and counts.
    #[derive(Default)]
    struct Counting(Mutex<Vec<String>>);

    impl Source for Counting {
        fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
            let (_, query) = asked.kind_and_text();
            self.0.lock().expect("no panic").push(query.to_owned());
            let asked = self.0.lock().expect("no panic").len();
            let mut words = query.split(' ');
            let status = words.next().and_then(|word| word.parse().ok()).unwrap_or(200);
            let bytes = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
            let result = if status == 0 {
                Err(SourceError::Internal("down".to_owned()))
            } else {
                let provenance = Provenance {
                    title: query.to_owned(),
                    status,
                    fetched_at: asked.to_string(),
                    ..Provenance::default()
                };
                Ok(Found::Page {
                    title: query.to_owned(),
                    blocks: ["x".repeat(bytes)].into(),
                    sentences: None,
                    provenance,
                })
            };
            std::future::ready(result).boxed()
        }
    }

    async fn asked(source: &SearchCache<Counting>, queries: &[&str]) -> usize {
        let before = source.source.0.lock().expect("no panic").len();
        for query in queries {
            let _ = source.search(query).await;
        }
        source.source.0.lock().expect("no panic").len() - before
    }

    #[tokio::test]
    async fn a_query_is_asked_once_and_its_record_is_that_of_the_first_time() {
        let source = SearchCache::new(Counting::default());
        assert_eq!(asked(&source, &["Rome", "Rome", "rome", "Rome "]).await, 3, "other words are another query");
        let again = source.search("Rome").await.expect("found");
        assert_eq!(again.provenance().fetched_at, "1");
        assert_eq!(asked(&source, &["503 9", "503 9", "0 9", "0 9"]).await, 4, "failures are asked again");
    }

    /// Answers when it is told to.
    #[derive(Default)]
    struct Slow {
        counting: Counting,
        go: tokio::sync::Notify,
    }

    impl Source for Slow {
        fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
            async move {
                let found = self.counting.retrieve(asked);
                self.go.notified().await;
                found.await
            }
            .boxed()
        }
    }

    #[tokio::test]
    async fn a_query_that_is_on_its_way_is_waited_for_and_asked_again_by_one_if_it_fails() {
        let asked = |source: &SearchCache<Slow>| source.source.counting.0.lock().expect("no panic").len();
        for (query, sent, found) in [("200 9", 1, 5), ("0 9", 2, 0), ("503 9", 2, 5)] {
            let source = SearchCache::new(Slow::default());
            let searches: Vec<_> = (0..5).map(|_| source.search(query)).collect();
            let all = futures_util::future::join_all(searches);
            tokio::pin!(all);
            // Each time that all wait, the one that asks is answered.
            let ended = loop {
                match futures_util::poll!(&mut all) {
                    Poll::Ready(ended) => break ended,
                    Poll::Pending => source.source.go.notify_one(),
                }
            };
            assert_eq!((asked(&source), ended.iter().filter(|one| one.is_ok()).count()), (sent, found), "{query}");
        }
    }

    #[tokio::test]
    async fn who_gives_up_leaves_the_search_to_the_others() {
        let source = SearchCache::new(Slow::default());
        let mut first = source.search("200 9");
        assert!(futures_util::poll!(&mut first).is_pending());
        let second = source.search("200 9");
        drop(first);
        source.source.go.notify_one();
        second.await.expect("found");
        assert!(source.under_way.lock().expect("no panic").values().all(|search| search.strong_count() == 0));
    }

    #[tokio::test]
    async fn the_oldest_make_room() {
        let source = SearchCache::new(Counting::default());
        let large = format!("200 {}", MAX_FINDING_BYTES / 4 + 1);
        assert_eq!(asked(&source, &[&large, &large]).await, 2, "too large to be kept");
        let quarter = |n: usize| format!("200 {} {n}", MAX_FINDING_BYTES / 4 - 1000);
        for n in 0..5 {
            assert_eq!(asked(&source, &[&quarter(n)]).await, 1);
        }
        assert_eq!(asked(&source, &[&quarter(4), &quarter(0)]).await, 1, "the first had to go");
        for n in 0..MAX_FINDINGS.get() + 9 {
            asked(&source, &[&format!("200 1 {n}")]).await;
        }
        let (values, bytes) = &*source.kept.kept.lock().expect("no panic");
        assert_eq!(values.len(), MAX_FINDINGS.get());
        assert_eq!(*bytes, values.iter().map(|(_, (_, size))| size).sum::<usize>());
    }
}
