//! What a live site said in this run, by the words that it was asked: a search is not sent again while its answer is at
//! hand.

use super::source::{Found, Source, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// How many findings are kept.
const FINDINGS: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// How many bytes of text they may hold together. Pages that the source itself keeps are shared with it.
const BYTES: usize = 32 << 20;

/// A source that asks the one behind it once for each query, as long as the finding is kept. What the record says of it,
/// the time when it was fetched included, is that of the first time.
///
/// Errors are not kept, nor is an answer with another status than 200, which the paper's environment takes for a page.
pub struct AtHand<S> {
    source: S,
    kept: Mutex<Kept>,
}

/// The findings with their sizes in bytes, and the sum of these.
struct Kept {
    findings: LruCache<String, (Found, usize)>,
    bytes: usize,
}

impl<S: Source> AtHand<S> {
    /// Nothing is at hand yet.
    pub fn new(source: S) -> Self {
        Self { source, kept: Mutex::new(Kept { findings: LruCache::new(FINDINGS), bytes: 0 }) }
    }

    async fn find(&self, query: &str) -> Result<Found, SourceError> {
        if let Some(found) = self.get(query) {
            return Ok(found);
        }
        let found = self.source.search(query).await?;
        self.put(query, &found);
        Ok(found)
    }

    fn get(&self, query: &str) -> Option<Found> {
        // A panic elsewhere cannot leave the store half-changed in a way that matters.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.findings.get(query).map(|(found, _)| found.clone())
    }

    fn put(&self, query: &str, found: &Found) {
        let size = size(found) + query.len();
        if found.provenance().status != 200 || size > BYTES / 4 {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += size;
        if let Some((_, (_, gone))) = kept.findings.push(query.to_owned(), (found.clone(), size)) {
            kept.bytes -= gone;
        }
        while kept.bytes > BYTES
            && let Some((_, (_, gone))) = kept.findings.pop_lru()
        {
            kept.bytes -= gone;
        }
    }
}

impl<S: Source> Source for AtHand<S> {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.find(query).boxed()
    }
}

fn size(found: &Found) -> usize {
    let of = |texts: &[String]| texts.iter().map(|text| text.len() + size_of::<String>()).sum::<usize>();
    match found {
        Found::Page { blocks, .. } | Found::Nothing { blocks, .. } => of(blocks),
        Found::Disambiguation { entries, blocks, .. } => of(entries) + of(blocks),
        Found::Titles { titles, .. } => of(titles),
    }
}

#[cfg(test)]
mod tests {
    use super::{AtHand, BYTES, FINDINGS};
    use crate::types::Provenance;
    use crate::wiki::{Found, Source, SourceError};
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use std::sync::Mutex;

    /// Answers with a page of as many bytes as the query says after its status, and counts.
    #[derive(Default)]
    struct Counting(Mutex<Vec<String>>);

    impl Source for Counting {
        fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
            self.0.lock().expect("no panic").push(query.to_owned());
            let asked = self.0.lock().expect("no panic").len();
            let mut words = query.split(' ');
            let status = words.next().and_then(|word| word.parse().ok()).unwrap_or(200);
            let bytes = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
            let result = if status == 0 {
                Err(SourceError::Internal("down".to_owned()))
            } else {
                let provenance = Provenance {
                    source: "test".to_owned(),
                    url: String::new(),
                    title: query.to_owned(),
                    pageid: None,
                    revid: None,
                    status,
                    fetched_at: asked.to_string(),
                    sha256: String::new(),
                };
                Ok(Found::Page { title: query.to_owned(), blocks: ["x".repeat(bytes)].into(), provenance })
            };
            std::future::ready(result).boxed()
        }
    }

    async fn asked(source: &AtHand<Counting>, queries: &[&str]) -> usize {
        let before = source.source.0.lock().expect("no panic").len();
        for query in queries {
            let _ = source.search(query).await;
        }
        source.source.0.lock().expect("no panic").len() - before
    }

    #[tokio::test]
    async fn a_query_is_asked_once_and_its_record_is_that_of_the_first_time() {
        let source = AtHand::new(Counting::default());
        assert_eq!(asked(&source, &["Rome", "Rome", "rome", "Rome "]).await, 3, "other words are another query");
        let again = source.search("Rome").await.expect("found");
        assert_eq!(again.provenance().fetched_at, "1");
        assert_eq!(asked(&source, &["503 9", "503 9", "0 9", "0 9"]).await, 4, "failures are asked again");
    }

    #[tokio::test]
    async fn the_oldest_make_room() {
        let source = AtHand::new(Counting::default());
        let large = format!("200 {}", BYTES / 4 + 1);
        assert_eq!(asked(&source, &[&large, &large]).await, 2, "too large to be kept");
        let quarter = |n: usize| format!("200 {} {n}", BYTES / 4 - 1000);
        for n in 0..5 {
            assert_eq!(asked(&source, &[&quarter(n)]).await, 1);
        }
        assert_eq!(asked(&source, &[&quarter(4), &quarter(0)]).await, 1, "the first had to go");
        for n in 0..FINDINGS.get() + 9 {
            asked(&source, &[&format!("200 1 {n}")]).await;
        }
        let kept = source.kept.lock().expect("no panic");
        assert_eq!(kept.findings.len(), FINDINGS.get());
        assert_eq!(kept.bytes, kept.findings.iter().map(|(_, (_, size))| size).sum::<usize>());
    }
}
