//! The Wikipedia tool: one [`Session`] per question over a shared [`Source`].
//!
//! A source says what a search found; the session alone turns findings into observations, so the same finding reads
//! the same wherever it came from.
//!
//! | file | what it holds |
//! |---|---|
//! | `session` | the open page, the lookup and its cursor, the answer |
//! | [`observe`] | the strings that the tool answers with |
//! | [`clean_str()`] | the paper's mending of page text, faults included |
//! | [`html`] | text out of pages, the paper's way and the article only |
//! | `given` | sentences as a source gives them, and which of them were shown |
//! | `site_page` | a page as a site had it at one revision |
//! | `source` | what a source is, what it finds, why it fails |
//! | `html_source` | a `MediaWiki` site read as a browser would, the paper's way |
//! | `api_source` | a `MediaWiki` site asked as a program should |
//! | `retriever_source` | a server of passages, asked as Search-R1 asks its own |
//! | [`corpus`] | a frozen encyclopedia, in memory or in a folder, and how it is built |
//! | [`near_match`] | which titles `MediaWiki` tries for a query |
//! | [`site_policy`] | who may be asked, how often, and under which name |
//! | [`recorded_source`] | wrappers that record the answers of a source, replay them, or answer from a cache |
//! | `search_cache` | what a site or a cache said in this run, by query |
//! | `cache` | where pages are read, and those that were, by digest |
//! | `sized_lru` | a store of what was used last, bounded in bytes |
//! | `quote` | queries inside URLs |

mod api_source;
mod cache;
mod clean_str;
#[cfg(feature = "index")]
pub mod corpus;
mod given;
pub mod html;
mod html_source;
pub mod near_match;
pub mod observe;
mod provenance;
mod quote;
pub mod recorded_source;
mod retriever_source;
mod search_cache;
mod session;
mod site_page;
pub mod site_policy;
mod sized_lru;
mod source;

pub use api_source::{ApiSource, LagSettings};
pub use clean_str::{PythonError, clean_str, clean_str_or_keep};
#[cfg(feature = "index")]
pub use corpus::{Corpus, CorpusError};
pub use given::SentenceMap;
pub use html_source::HtmlSource;
pub use recorded_source::SourceIdentity;
pub use retriever_source::{RetrieverAddress, RetrieverSource};
pub use search_cache::SearchCache;
pub use session::{Observation, PageError, Session, SessionError, SessionOptions, SessionState};
pub use site_page::{LeftOut, Pin, Revision, SiteFacts, SitePage};
pub use site_policy::{LiveSettings, SitePolicyError};
pub use source::{Found, Source, SourceError, kind_of};
#[cfg(feature = "serve")]
pub(crate) use source::{LONGEST_QUERY, NO_RESULTS};
