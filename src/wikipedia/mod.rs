//! The Wikipedia tool: one [`Session`] per question over a shared [`Source`].
//!
//! A source says what a search found; the session alone turns findings into observations, so the same finding reads
//! the same wherever it came from.
//!
//! | file | what it holds |
//! |---|---|
//! | `session` | the open page, the lookup and its cursor, the answer |
//! | [`observe`] | the strings that the tool answers with, English and Chinese |
//! | [`clean_str()`] | the paper's mending of page text, faults included |
//! | `source` | what a source is, what it finds, why it fails; provenance of live answers |
//! | `html_source` | a `MediaWiki` site read as a browser would, the paper's way |
//! | `api_source` | a `MediaWiki` site asked as a program should, also for revisions that stay |
//! | `retriever_source` | a server of passages, asked as Search-R1 asks its own |
//! | [`corpus`] | a frozen encyclopedia, in memory or in a folder, and how it is built |
//! | `handlers` | a corpus for other programs: requests to answers, without a listener |
//! | `freeze` | pages of a site, fetched and built into a corpus |
//! | [`recorded_source`] | wrappers that record the answers of a source, replay them, or answer from a cache on disk |
//! | `cache` | findings of this run by query, and pages that were read, by digest; both bounded in bytes |
//! | [`query`] | which titles `MediaWiki` tries for a query, and a query inside of an URL |
//! | [`site_policy`] | who may be asked, how often, and under which name |
//! | [`html`] | text out of pages, the paper's way and the article only |
//!
//! Other layers open a [`Corpus`] or another [`Source`], and hold a [`Session`] over it for each episode.

mod api_source;
mod cache;
pub(crate) mod clean_str;
#[cfg(feature = "index")]
pub mod corpus;
#[cfg(feature = "index")]
pub(crate) mod freeze;
#[cfg(feature = "serve")]
pub(crate) mod handlers;
pub mod html;
mod html_source;
pub mod observe;
pub mod query;
pub mod recorded_source;
mod retriever_source;
mod session;
pub mod site_policy;
mod source;

pub use api_source::{ApiSource, LagSettings};
#[cfg(feature = "index")]
pub(crate) use api_source::{LeftOut, Pin, Revision, SiteFacts};
pub use cache::SearchCache;
pub use clean_str::clean_str;
#[cfg(feature = "index")]
pub use corpus::{Corpus, CorpusError};
pub use html_source::HtmlSource;
pub use recorded_source::SourceIdentity;
pub use retriever_source::{RetrieverAddress, RetrieverSource};
pub use session::{Observation, Session, SessionError, SessionOptions, SessionState};
pub use site_policy::{LiveSettings, SitePolicyError};
#[cfg(feature = "index")]
pub(crate) use source::SentenceMap;
pub use source::{Found, FoundPassage, Retrieval, Source, SourceError, kind_of};
#[cfg(feature = "serve")]
pub(crate) use source::{MAX_QUERY_BYTES, NO_RESULTS};
