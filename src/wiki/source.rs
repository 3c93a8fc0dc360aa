//! Where pages come from: what a source is, what it finds, why it fails.

use super::given::SentenceMap;
use super::html::ExtractError;
use crate::net::NetError;
use crate::tape::TapeError;
use crate::types::{Cause, Provenance};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where pages come from. Answers one question: what does a search for this query find?
pub trait Source: Send + Sync {
    /// Searches for `query`, exactly as the model wrote it.
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>>;
}

impl<S: Source + ?Sized> Source for Arc<S> {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        (**self).search(query)
    }
}

/// What a search found. Identical findings give identical observations, whichever source they came from.
///
/// Blocks are stripped texts, and titles come best first. Texts are shared with the source's store of pages, so that a
/// page asked for by many episodes is in memory once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Found {
    /// A page; `sentences` where the source gives them.
    Page {
        title: String,
        blocks: Arc<[String]>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sentences: Option<SentenceMap>,
        provenance: Provenance,
    },
    /// A page that lists the articles of one name; `entries` are their titles, in order.
    Disambiguation { title: String, entries: Arc<[String]>, blocks: Arc<[String]>, provenance: Provenance },
    /// No page of that title, but a list of others.
    Titles { titles: Arc<[String]>, provenance: Provenance },
    /// Neither page nor list.
    Nothing { blocks: Arc<[String]>, provenance: Provenance },
}

/// The status for addresses that are too long, which only the query can make them.
pub(crate) const URI_TOO_LONG: u16 = 414;

/// Queries longer than this, in bytes, are not sent: no title and no search comes near it, and sites and proxies differ in
/// what they do with addresses beyond 8 KiB.
pub(crate) const LONGEST_QUERY: usize = 2048;

/// What the site says when a search finds nothing; sources without such a page say it in its place, because the paper's
/// environment treats it as an article.
pub(crate) const NO_RESULTS: &str = "There were no results matching the query.";

/// The blocks of a page that says [`NO_RESULTS`] and nothing else.
pub(crate) fn no_results() -> Arc<[String]> {
    Arc::new([NO_RESULTS.to_owned()])
}

/// What a corpus is, for those who named something else.
#[cfg(feature = "index")]
pub(crate) const CORPUS_FORM: &str = "a corpus is a folder written by `corpus build`, a folder with articles.jsonl, a .jsonl file, or a folder of .txt files; \
     a line is {\"title\": \"Ada Lovelace\", \"text\": \"One paragraph.\\n\\nAnother.\"}";

/// The kind of a source by how it was named (`api`, `corpus:DIR`, `retriever:URL?topk=3`): without folder and address,
/// and with the number of passages, which decides what is found.
pub fn kind_of(source: &str) -> String {
    let (kind, place) = source.split_once(':').unwrap_or((source, ""));
    let count = place.rsplit_once("?topk=").filter(|_| kind == "retriever");
    count.map_or_else(|| kind.to_owned(), |(_, count)| format!("{kind}?topk={count}"))
}

impl Found {
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Page { provenance, .. }
            | Self::Disambiguation { provenance, .. }
            | Self::Titles { provenance, .. }
            | Self::Nothing { provenance, .. } => provenance,
        }
    }
}

/// Why a source has no answer. It makes an episode `not_measured`; it never becomes an observation in `fixed` mode. URLs
/// are those after redirects.
///
/// A site's refusal of the query itself (too long, not readable as a search) is not an error: such a query finds nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SourceError {
    /// The request itself failed, after all retries.
    #[error("wikipedia did not answer: {0}")]
    Net(#[from] NetError),
    /// The site answered with something other than success, after all retries.
    /// `said` is what a page says of itself, with a space in front, or empty.
    #[error("`{url}` answered with status {status}{said}")]
    Status { url: String, status: u16, said: String },
    /// What answered is not the wiki: another site, or a page that `MediaWiki` did not make.
    #[error("`{host}` answered with status {status} {what}{said}")]
    NotTheWiki { host: String, status: u16, what: &'static str, said: String },
    #[error("`{url}` answered with content type `{content_type}` instead of {expected}")]
    ContentType { url: String, content_type: String, expected: &'static str },
    /// What answered is not a retriever. `what` is what it did.
    #[error("the retriever at `{url}` {what}")]
    Retriever { url: String, status: u16, what: String },
    #[error("the answer of `{url}` is not valid {encoding}")]
    Encoding { url: String, encoding: String },
    #[error("`{url}`: {error}")]
    Extract { url: String, error: ExtractError },
    #[error("the API at `{url}` reported `{code}`: {info}")]
    Api { url: String, code: String, info: String },
    #[error("the API at `{url}` answered out of shape: {detail}")]
    Shape { url: String, detail: String },
    /// A replay has no such answer, or a recording cannot be written.
    #[error("{0}")]
    Tape(TapeError),
    /// The source's own worker failed.
    #[error("the wikipedia source failed inside: {0}")]
    Internal(String),
}

// Not `#[from]`: that would name the same failure twice where a chain of causes is printed.
impl From<TapeError> for SourceError {
    fn from(error: TapeError) -> Self {
        Self::Tape(error)
    }
}

impl SourceError {
    /// A short name of the kind of error, for records and programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Net(_) => "net",
            Self::Status { .. } => "status",
            Self::NotTheWiki { .. } => "not_the_wiki",
            Self::ContentType { .. } => "content_type",
            Self::Retriever { .. } => "retriever",
            Self::Encoding { .. } => "encoding",
            Self::Extract { .. } => "extract",
            Self::Api { .. } => "api",
            Self::Shape { .. } => "shape",
            Self::Tape(_) => "tape",
            Self::Internal(_) => "internal",
        }
    }

    /// What went wrong, for programs.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Net(error) => error.cause(),
            Self::Encoding { .. }
            | Self::Extract { .. }
            | Self::Shape { .. }
            | Self::Retriever { status: 200..=299, .. } => Cause::BadAnswer,
            Self::Status { status, .. } | Self::Retriever { status, .. } => Cause::of_status(*status),
            Self::NotTheWiki { .. } | Self::ContentType { .. } => Cause::NotTheWiki,
            Self::Api { .. } => Cause::ServerError,
            Self::Tape(_) => Cause::Recording,
            Self::Internal(_) => Cause::Other,
        }
    }

    /// Whether the failure says nothing about the agent: another time or another machine may do better. Only pages that
    /// the paper's own parser dies on are not failures of infrastructure.
    pub fn is_infrastructure(&self) -> bool {
        !matches!(self, Self::Extract { error: ExtractError::Rejected, .. })
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Net(error) => error.hint().map(str::to_owned),
            Self::Status { status: 429, .. } => {
                Some("the site limits requests; lower `--wiki-per-minute` and give `--contact`".to_owned())
            }
            Self::Status { status: 403, .. } => {
                Some("the site refuses this client; give a `--contact` that its operators can reach".to_owned())
            }
            Self::Status { status: 500.., .. } => Some("the site has trouble of its own; try again later".to_owned()),
            Self::NotTheWiki { .. } => Some(
                "open the site in a browser: does the network want a login, does a proxy answer in its place, and does \
                 `--wiki-url` name a MediaWiki site?"
                    .to_owned(),
            ),
            Self::ContentType { .. } | Self::Shape { .. } => {
                Some("check that `--wiki-url` names a MediaWiki site, or its api.php".to_owned())
            }
            Self::Retriever { .. } => Some(
                "name the whole address, such as `--wiki retriever:http://127.0.0.1:8000/retrieve`; it has to answer \
                 {\"result\": [[{\"document\": {\"contents\": \"\\\"Title\\\"\\ntext\"}}]]}"
                    .to_owned(),
            ),
            Self::Tape(error) => Some(error.hint().to_owned()),
            Self::Extract { error, .. } => error.hint().map(str::to_owned),
            _ => None,
        }
    }
}
