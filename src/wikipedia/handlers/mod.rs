//! A corpus for other programs: routes, without a listener, so that a server or a run may host them.
//!
//! | file | what it holds |
//! |---|---|
//! | this one | the corpus with a limit of searches at once, and answers |
//! | `mediawiki` | the Action API, search page, articles and REST, as clients of Wikipedia call them |
//! | `retriever` | the best documents, as agents ask their retrievers for them |
//! | `routes` | what is served where over HTTP |
//! | `mcp` | the tool over the Model Context Protocol, the only user of its SDK |
//! | `batch` | several messages in one, which one version of that protocol has |
//! | `tools` | the tool for agents of other programs, which MCP carries, and `POST /tool/NAME` |

#[cfg(feature = "mcp")]
mod batch;
#[cfg(feature = "mcp")]
mod mcp;
mod mediawiki;
pub(crate) mod retriever;
mod routes;
pub(crate) mod tools;

#[cfg(feature = "mcp")]
pub(crate) use mcp::{over_http, over_stdio};
pub(crate) use routes::{Part, known_path, router};

use super::corpus::{Extent, Manifest};
use super::{Corpus, CorpusError};
use crate::base::Compat;
use crate::net::server::Refusal;
use axum::extract::State;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Why there is no answer to a request that is understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// More searches than it makes at once.
    #[error("too many searches at once; try again")]
    Busy,
    #[error("the corpus: {0}")]
    Corpus(#[from] CorpusError),
    /// A search ended without an answer.
    #[error("the search failed inside")]
    Lost,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn new(status: u16, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, headers: Vec::new(), body }
    }

    /// One sentence for the client.
    pub(crate) fn text(status: u16, sentence: &str) -> Self {
        Self::new(status, "text/plain; charset=UTF-8", format!("{sentence}\n"))
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::new(200, "application/json; charset=UTF-8", value.to_string())
    }

    fn html(page: String) -> Self {
        Self::new(200, "text/html; charset=UTF-8", page)
    }

    /// A redirect within this server; `path` has nothing but what an address may have.
    fn moved(path: &str) -> Self {
        Self::text(302, path).with_header("location", path)
    }

    fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::text(503, &fault.to_string()).with_header("retry-after", "1"),
            _ => Self::text(500, &fault.to_string()),
        }
    }
}

impl From<Refusal> for Answer {
    fn from(Refusal(status, sentence): Refusal) -> Self {
        Self::text(status.as_u16(), &sentence)
    }
}

/// Searches that are made or wait for their turn; more are sent away.
const MAX_IN_FLIGHT: usize = 64;
/// The longest query, in bytes; those of sites are the same.
pub(crate) const MAX_QUERY: usize = super::MAX_QUERY_BYTES;

/// What a handler is given.
type Service = State<CorpusService>;

#[derive(Clone)]
pub(crate) struct CorpusService {
    pub(crate) corpus: Arc<Corpus>,
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only the tool of MCP has it"))]
    pub(crate) compat: Compat,
    in_flight: Arc<Semaphore>,
    /// A text search keeps a processor busy, so there are as many as processors.
    turns: Arc<Semaphore>,
}

impl CorpusService {
    pub(crate) fn new(corpus: Arc<Corpus>, compat: Compat) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (in_flight, turns) = (Arc::new(Semaphore::new(MAX_IN_FLIGHT)), Arc::new(Semaphore::new(processors)));
        Self { corpus, compat, in_flight, turns }
    }

    /// Searches texts on a thread that may be kept busy. Holds the place until the search ends, even if no one waits.
    pub(crate) async fn search<T: Send + 'static>(
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
    pub(crate) fn name(&self) -> &str {
        let folder = || Path::new(self.corpus.name()).file_name().and_then(|name| name.to_str());
        self.corpus.manifest().map(|manifest| manifest.name.as_str()).or_else(folder).unwrap_or("corpus")
    }

    pub(crate) fn language(&self) -> &str {
        self.corpus.manifest().and_then(|manifest| manifest.language.as_deref()).unwrap_or("en")
    }

    /// Whether articles are leads, so that all of one is its introduction.
    pub(crate) fn has_leads(&self) -> bool {
        self.corpus.manifest().is_some_and(|Manifest { extent, .. }| *extent == Extent::Lead)
    }

    /// The corpus in one sentence, for the foot of pages.
    pub(crate) fn notice(&self) -> String {
        let license = self.corpus.manifest().map_or("unknown", |manifest| manifest.license.id.as_str());
        format!("From the frozen corpus {} ({}), license {license}.", self.name(), self.corpus.id())
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, CorpusService, Fault, MAX_IN_FLIGHT};
    use crate::base::Compat;
    use crate::wikipedia::Corpus;
    use std::sync::Arc;

    #[tokio::test]
    async fn more_searches_than_are_made_at_once_are_sent_away() {
        let corpus = Corpus::from_jsonl("mine", br#"{"title": "Ada", "text": "She wrote."}"#).expect("a corpus");
        let service = CorpusService::new(Arc::new(corpus), Compat::Fixed);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let searches: Vec<_> = (0..MAX_IN_FLIGHT)
            .map(|_| {
                let (service, gate) = (service.clone(), Arc::clone(&gate));
                tokio::spawn(async move {
                    let waits = move |corpus: &Corpus| {
                        let _ = gate.lock().map(|gate| gate.recv());
                        corpus.similar("wrote", 1)
                    };
                    service.search(waits).await.map(|hits| hits.len()).ok()
                })
            })
            .collect();
        while service.in_flight.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = service.search(|corpus| corpus.similar("wrote", 1)).await.expect_err("there is no place");
        assert!(matches!(refused, Fault::Busy));
        let refused = Answer::from(refused);
        assert_eq!(refused.status, 503);
        assert!(refused.headers.iter().any(|(name, _)| *name == "retry-after"));
        // Whoever waits at the gate goes through.
        drop(go);
        for search in searches {
            assert_eq!(search.await.expect("it ends"), Some(1));
        }
        assert!(service.search(|corpus| corpus.similar("wrote", 1)).await.is_ok());
    }
}
