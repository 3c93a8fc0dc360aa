//! Sources with a tape in front: recorded, replayed, or answered from a cache.
//!
//! A search is the same when query, kind of source and semantics are the same, whichever site or folder stands behind
//! them; a cache also tells these apart.

use super::html::ExtractError;
use super::source::{Found, NO_RESULTS, Source, SourceError};
use crate::net::redact;
use crate::tape::{Asked, Cache, Kind, Player, Recorder};
use crate::types::Compat;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which source answers, as tapes and caches know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIdentity {
    source: String,
    compat: Compat,
    origin: Option<String>,
}

/// A search as it stands on a tape.
#[derive(Serialize)]
struct OnTape<'a> {
    query: &'a str,
    source: &'a str,
    compat: Compat,
    /// Only in the keys of a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a str>,
}

/// What a search brought that the same search would bring again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Found(Found),
    /// The paper's parser dies on the page, which ends or changes the episode and is part of its measurement.
    Rejected {
        url: String,
    },
}

impl SourceIdentity {
    /// `source` is how it was named, such as `api` or `corpus:DIR`, of which the folder is left out; `origin` is the
    /// site's base URL, whose user part and query are left out, or the digest of the corpus.
    pub fn new(source: &str, compat: Compat, origin: Option<&str>) -> Self {
        let source = source.split(':').next().unwrap_or_default().to_owned();
        Self { source, compat, origin: origin.map(redact::url) }
    }

    fn asked(&self, query: &str, origin: Option<&str>) -> Asked {
        Asked::new(Kind::Wiki, &OnTape { query, source: &self.source, compat: self.compat, origin })
    }

    fn on_tape(&self, query: &str) -> Asked {
        self.asked(query, None)
    }

    fn in_cache(&self, query: &str) -> Asked {
        self.asked(query, self.origin.as_deref())
    }
}

/// A source whose findings are recorded. Those that cannot be recorded are errors: a recording with holes is none.
pub struct Recording {
    inner: Arc<dyn Source>,
    identity: SourceIdentity,
    recorder: Arc<Recorder>,
}

impl Recording {
    /// Records what `inner` finds.
    pub fn new(inner: Arc<dyn Source>, identity: SourceIdentity, recorder: Arc<Recorder>) -> Self {
        Self { inner, identity, recorder }
    }
}

impl Source for Recording {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        let place = self.recorder.place(self.identity.on_tape(query));
        async move {
            let found = self.inner.search(query).await;
            let answer = match &found {
                Ok(found) => Answer::Found(found.clone()),
                Err(SourceError::Extract { url, error: ExtractError::Rejected }) => {
                    Answer::Rejected { url: redact::user(url) }
                }
                Err(_) => return found,
            };
            self.recorder.record(place, &answer).await?;
            found
        }
        .boxed()
    }
}

/// A recorded source: every finding comes from the tape as it was, times included, and nothing is sent anywhere.
#[derive(Debug)]
pub struct Replaying {
    identity: SourceIdentity,
    player: Player,
}

impl Replaying {
    /// Finds what that source found.
    pub fn new(identity: SourceIdentity, player: Player) -> Self {
        Self { identity, player }
    }
}

impl Source for Replaying {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        let answer = self.player.answer(self.identity.on_tape(query));
        async move {
            match answer.await? {
                Answer::Found(found) => Ok(found),
                Answer::Rejected { url } => Err(SourceError::Extract { url, error: ExtractError::Rejected }),
            }
        }
        .boxed()
    }
}

/// A source that is asked only what no earlier run has asked it. Searches have one answer each, however often they are
/// made: unlike a model's, their answers are no samples.
///
/// Errors are not kept, whatever they are taken for, nor findings of nothing. What comes from the cache says when it was fetched; nothing in it
/// grows old.
pub struct Cached {
    inner: Arc<dyn Source>,
    identity: SourceIdentity,
    cache: Arc<Cache>,
}

impl Cached {
    /// Asks `inner` what is not in the cache.
    pub fn new(inner: Arc<dyn Source>, identity: SourceIdentity, cache: Arc<Cache>) -> Self {
        Self { inner, identity, cache }
    }
}

impl Source for Cached {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        async move {
            let slot = Cache::only_slot(&self.identity.in_cache(query));
            if let Some(found) = self.cache.get(slot) {
                return Ok(found);
            }
            let found = self.inner.search(query).await?;
            if is_worth_keeping(&found) {
                self.cache.put(slot, &found).await;
            }
            Ok(found)
        }
        .boxed()
    }
}

/// A search that found nothing today may find something tomorrow, and a page without text is more likely a fault. The
/// paper's way takes the pages that say so for articles, and those of a server in trouble as well.
fn is_worth_keeping(found: &Found) -> bool {
    let says_something = |blocks: &[String]| !blocks.is_empty() && !blocks.iter().any(|block| block == NO_RESULTS);
    if !matches!(found.provenance().status, 200..=299) {
        return false;
    }
    match found {
        Found::Page { blocks, .. } => says_something(blocks),
        Found::Disambiguation { entries, blocks, .. } => !entries.is_empty() || says_something(blocks),
        Found::Titles { titles, .. } => !titles.is_empty(),
        Found::Nothing { .. } => false,
    }
}

#[cfg(test)]
mod tests;
