//! Wrappers that record the answers of a source, replay them, or answer from a cache.
//!
//! Two searches are the same when query, kind of source and compatibility mode are the same, whichever site or folder
//! answers; a cache also distinguishes those.

use super::html::ExtractError;
use super::source::{Found, NO_RESULTS, Retrieval, Source, SourceError, kind_of};
use crate::base::Compat;
use crate::net::recording::{Cache, CanonicalRequest, Kind, Recorder, Replayed, Wrapped};
use crate::net::redact;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIdentity {
    source: String,
    compat: Compat,
    origin: Option<String>,
}

#[derive(Serialize)]
struct RecordedSearch<'a> {
    query: &'a str,
    source: &'a str,
    compat: Compat,
    /// Of passages and documents: which of the two, and how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    retrieval: Option<String>,
    /// Only in the keys of a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a str>,
}

/// The result of a search, if the same search would have it again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    /// What was found.
    Found(Box<Found>),
    /// The paper's parser fails on the page, which ends or changes the episode and is part of its measurement.
    Rejected { url: String },
}

impl SourceIdentity {
    /// `source` is how it was named, such as `api`, `corpus:DIR` or `retriever:URL?topk=3`, of which folder and address are
    /// left out; `origin` is the site's base URL, whose user part and query are left out, or the digest of the corpus.
    pub fn new(source: &str, compat: Compat, origin: Option<&str>) -> Self {
        Self { source: kind_of(source), compat, origin: origin.map(redact::url) }
    }

    fn request(&self, asked: Retrieval<'_>, origin: Option<&str>) -> CanonicalRequest {
        let (retrieval, query) = asked.kind_and_text();
        let (source, compat) = (self.source.as_str(), self.compat);
        CanonicalRequest::new(Kind::Wiki, &RecordedSearch { query, source, compat, retrieval, origin })
    }
}

/// A source whose answers are recorded. An answer that cannot be recorded is an error, so that a recording has no gaps.
pub type Recording = Wrapped<dyn Source, SourceIdentity, Recorder>;

impl Source for Recording {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let place = self.tape.place(self.identity.request(asked, None));
        let answer = self.inner.retrieve(asked);
        async move {
            self.tape.check()?;
            let found = answer.await;
            let answer = match &found {
                Ok(found) => Answer::Found(Box::new(found.clone())),
                Err(SourceError::Extract { url, error: ExtractError::Rejected }) => {
                    Answer::Rejected { url: redact::user(url) }
                }
                Err(_) => return found,
            };
            self.tape.record(place, &answer).await?;
            found
        }
        .boxed()
    }
}

/// A recorded source: every answer is as it was recorded, times included, and no request is sent.
pub type Replaying = Replayed<SourceIdentity>;

impl Source for Replaying {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let answer = self.player.answer(self.identity.request(asked, None));
        async move {
            match answer.await? {
                Answer::Found(found) => Ok(*found),
                Answer::Rejected { url } => Err(SourceError::Extract { url, error: ExtractError::Rejected }),
            }
        }
        .boxed()
    }
}

/// A source that is only asked what no earlier run asked it. Unlike a request to a model, a search has one answer,
/// however often it is made.
///
/// Errors and answers without content are not cached. A cached answer says when it was fetched, and never expires.
pub type Cached = Wrapped<dyn Source, SourceIdentity, Cache>;

impl Source for Cached {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        async move {
            let slot = Cache::only_slot(&self.identity.request(asked, self.identity.origin.as_deref()));
            if let Some(found) = self.tape.get(slot) {
                return Ok(found);
            }
            let found = self.inner.retrieve(asked).await?;
            if is_worth_keeping(&found) {
                self.tape.put(slot, &found).await;
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
        Found::Passages { passages, .. } => !passages.is_empty(),
        Found::Nothing { .. } => false,
    }
}

#[cfg(test)]
mod tests;
