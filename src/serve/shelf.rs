//! The corpus that is served, and how many searches it makes at once.

use super::reply::Fault;
use crate::types::Compat;
use crate::wiki::corpus::{Extent, Manifest};
use crate::wiki::{Corpus, CorpusError};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Searches that are made or wait for their turn; more are sent away.
const IN_FLIGHT: usize = 64;
/// The longest query, in bytes; those of sites are the same.
pub(super) const LONGEST_QUERY: usize = crate::wiki::LONGEST_QUERY;

/// What all requests share.
#[derive(Clone)]
pub(super) struct Shelf {
    pub(super) corpus: Arc<Corpus>,
    /// What the tool answers with.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only the tool of MCP has it"))]
    pub(super) compat: Compat,
    in_flight: Arc<Semaphore>,
    /// A text search keeps a processor busy, so there are as many as processors.
    turns: Arc<Semaphore>,
}

impl Shelf {
    pub(super) fn new(corpus: Arc<Corpus>, compat: Compat) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (in_flight, turns) = (Arc::new(Semaphore::new(IN_FLIGHT)), Arc::new(Semaphore::new(processors)));
        Self { corpus, compat, in_flight, turns }
    }

    /// Searches texts on a thread that may be kept busy. The place is held until the search has ended, also if nobody waits
    /// for it any more.
    pub(super) async fn search<T: Send + 'static>(
        &self,
        search: impl FnOnce(&Corpus) -> Result<T, CorpusError> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.in_flight).try_acquire_owned().map_err(|_| Fault::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Fault::Busy)?;
        let corpus = Arc::clone(&self.corpus);
        let searched = tokio::task::spawn_blocking(move || {
            let _held = (place, turn);
            search(&corpus)
        });
        Ok(searched.await.map_err(|_| Fault::Lost)??)
    }

    /// What people call the corpus: its own name, or that of its folder.
    pub(super) fn name(&self) -> &str {
        let folder = || Path::new(self.corpus.name()).file_name().and_then(|name| name.to_str());
        self.corpus.manifest().map(|manifest| manifest.name.as_str()).or_else(folder).unwrap_or("corpus")
    }

    pub(super) fn language(&self) -> &str {
        self.corpus.manifest().and_then(|manifest| manifest.language.as_deref()).unwrap_or("en")
    }

    /// Whether articles are leads, so that all of one is its introduction.
    pub(super) fn has_leads(&self) -> bool {
        self.corpus.manifest().is_some_and(|Manifest { extent, .. }| *extent == Extent::Lead)
    }

    /// The corpus in one sentence, for the foot of pages.
    pub(super) fn notice(&self) -> String {
        let license = self.corpus.manifest().map_or("unknown", |manifest| manifest.license.id.as_str());
        format!("From the frozen corpus {} ({}), license {license}.", self.name(), self.corpus.id())
    }
}

#[cfg(test)]
mod tests {
    use super::{IN_FLIGHT, Shelf};
    use crate::serve::reply::Fault;
    use crate::types::Compat;
    use crate::wiki::Corpus;
    use axum::http::{StatusCode, header};
    use axum::response::IntoResponse as _;
    use std::sync::Arc;

    #[tokio::test]
    async fn more_searches_than_are_made_at_once_are_sent_away() {
        let corpus = Corpus::from_jsonl("mine", br#"{"title": "Ada", "text": "She wrote."}"#).expect("a corpus");
        let shelf = Shelf::new(Arc::new(corpus), Compat::Fixed);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let searches: Vec<_> = (0..IN_FLIGHT)
            .map(|_| {
                let (shelf, gate) = (shelf.clone(), Arc::clone(&gate));
                tokio::spawn(async move {
                    let waits = move |corpus: &Corpus| {
                        let _ = gate.lock().map(|gate| gate.recv());
                        corpus.similar("wrote", 1)
                    };
                    shelf.search(waits).await.map(|hits| hits.len()).ok()
                })
            })
            .collect();
        while shelf.in_flight.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = shelf.search(|corpus| corpus.similar("wrote", 1)).await.expect_err("there is no place");
        assert!(matches!(refused, Fault::Busy));
        let refused = refused.into_response();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.headers().contains_key(header::RETRY_AFTER));
        // Whoever waits at the gate goes through.
        drop(go);
        for search in searches {
            assert_eq!(search.await.expect("it ends"), Some(1));
        }
        assert!(shelf.search(|corpus| corpus.similar("wrote", 1)).await.is_ok());
    }
}
