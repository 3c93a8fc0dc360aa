//! Where pages come from: what a source is, what it finds, why it fails.

use super::html::{ExtractError, describe};
use crate::base::python::is_python_space;
use crate::base::text::{printable, wait_in_words};
use crate::base::{Cause, Provenance, sha256_hex};
use crate::net::recording::TapeError;
use crate::net::{Answer, NetError, redact};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Where pages come from.
pub trait Source: Send + Sync {
    /// Finds a page, passages or a document.
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>>;

    /// Searches for `query`, exactly as the model wrote it.
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.retrieve(Retrieval::Search { query })
    }
}

/// What a source is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retrieval<'a> {
    /// The page of that name, or titles.
    Search {
        /// The query, as the model wrote it.
        query: &'a str,
    },
    /// The best passages for a query, `count` at most: [`Found::Passages`], or [`Found::Nothing`].
    Passages {
        /// The query, as the model wrote it.
        query: &'a str,
        /// How many passages at most.
        count: usize,
    },
    /// The whole document of a passage's id: a page, or [`Found::Nothing`].
    Document {
        /// The id that the passage came with.
        id: &'a str,
    },
}

impl<'a> Retrieval<'a> {
    /// What was asked besides a search, in words, and the query or the id, for the keys of recordings and caches.
    pub(super) fn kind_and_text(self) -> (Option<String>, &'a str) {
        match self {
            Self::Search { query } => (None, query),
            Self::Passages { query, count } => (Some(format!("passages {count}")), query),
            Self::Document { id } => (Some("document".to_owned()), id),
        }
    }

    /// The query of a search. Sites have neither passages nor documents; a run over one is refused before it begins.
    pub(super) fn of_site(self) -> Result<&'a str, SourceError> {
        match self {
            Self::Search { query } => Ok(query),
            _ => Err(SourceError::Internal("this source has no passages".to_owned())),
        }
    }
}

impl<S: Source + ?Sized> Source for Arc<S> {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        (**self).retrieve(asked)
    }
}

/// What a search found. Identical findings give identical observations, whichever source they came from.
///
/// Blocks are stripped texts, and titles come best first. Texts are shared with the source's store of pages, so that a
/// page asked for by many episodes is in memory once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Found {
    /// A page.
    Page {
        /// Its title, after redirects.
        title: String,
        /// Its paragraphs and lists.
        blocks: Arc<[String]>,
        /// Where its sentences end, if the source says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sentences: Option<SentenceMap>,
        /// Where it comes from.
        provenance: Provenance,
    },
    /// A page that lists the articles of one name.
    Disambiguation {
        /// Its title.
        title: String,
        /// The titles that it lists, in order.
        entries: Arc<[String]>,
        /// Its paragraphs and lists.
        blocks: Arc<[String]>,
        /// Where it comes from.
        provenance: Provenance,
    },
    /// Passages, the best first.
    Passages {
        /// The passages.
        passages: Arc<[FoundPassage]>,
        /// Where the list comes from.
        provenance: Provenance,
    },
    /// No page of that title, but a list of others.
    Titles {
        /// The others, best first.
        titles: Arc<[String]>,
        /// Where the list comes from.
        provenance: Provenance,
    },
    /// Neither page nor list.
    Nothing {
        /// What the source says instead.
        blocks: Arc<[String]>,
        /// Where that comes from.
        provenance: Provenance,
    },
}

/// A passage as a retriever gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundPassage {
    /// Its id; empty where the retriever gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Title of the page that it is from; empty where the retriever gives none.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The retriever's score, if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its place among the blocks of its page, from 0, and where the given sentences of it end, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentences: Option<(usize, Vec<usize>)>,
}

impl FoundPassage {
    /// Which given sentences its first `shown` bytes hold whole, as `[block, from, to]`; `None` where it has none.
    pub(super) fn sentence_ranges(&self, shown: usize) -> Option<Vec<[usize; 3]>> {
        let (block, ends) = self.sentences.as_ref()?;
        let map = SentenceMap::of(vec![ends.clone()])?;
        let ranges = map.sentence_ranges(std::slice::from_ref(&self.text), &[(0, 0..shown)]);
        Some(ranges.into_iter().map(|[_, from, to]| [*block, from, to]).collect())
    }
}

/// The status for addresses that are too long, which only the query can make them.
pub(crate) const URI_TOO_LONG: u16 = 414;

/// Queries longer than this, in bytes, are not sent: no title and no search comes near it, and sites and proxies differ in
/// what they do with addresses beyond 8 KiB.
pub(crate) const MAX_QUERY_BYTES: usize = 2048;

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
    /// Where the finding comes from.
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Page { provenance, .. }
            | Self::Disambiguation { provenance, .. }
            | Self::Passages { provenance, .. }
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
#[expect(missing_docs, reason = "the message says what each means")]
pub enum SourceError {
    #[error("asking the site failed: {0}")]
    Net(#[from] NetError),
    /// The site answered with something other than success, after all retries.
    /// `message` is what a page says of itself, with a space in front, or empty; `wait` is how long it asks to wait.
    #[error("`{url}` answered with status {status}{message}")]
    Status { url: String, status: u16, message: String, wait: Option<Duration> },
    /// What answered is not the wiki: another site, or a page that `MediaWiki` did not make.
    #[error("`{host}` answered with status {status} {what}{message}")]
    NotTheWiki { host: String, status: u16, what: &'static str, message: String },
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
    Api { url: String, code: String, info: String, wait: Option<Duration> },
    #[error("the API at `{url}` sent an unexpected answer: {detail}")]
    Shape { url: String, detail: String },
    /// A replay has no such answer, or a recording cannot be written.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The source's own worker failed.
    #[error("the wikipedia source failed inside: {0}")]
    Internal(String),
}

impl SourceError {
    /// An answer that is no success; `message` is what it says of itself.
    pub(super) fn of_status(answer: &Answer, message: String) -> Self {
        Self::Status { url: shown_url(&answer.url), status: answer.status, message, wait: answer.retry_after }
    }

    /// An answer of another site than the one that was asked.
    pub(super) fn of_another_site(answer: &Answer) -> Self {
        let page = String::from_utf8_lossy(&answer.body);
        Self::not_the_wiki(&answer.url, answer.status, &page, "in place of the site that was asked")
    }

    /// A page that does not come from the wiki.
    pub(super) fn not_the_wiki(url: &str, status: u16, page: &str, what: &'static str) -> Self {
        Self::NotTheWiki { host: host_of(url), status, what, message: self_description(page) }
    }

    /// An answer that is not of the content type `declared` by it.
    pub(super) fn of_content_type(answer: &Answer, declared: &str, expected: &'static str) -> Self {
        Self::ContentType { url: shown_url(&answer.url), content_type: printable(declared, 80), expected }
    }

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

    pub(crate) fn cause(&self) -> Cause {
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

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let (asked, remedy) = (self.asked_wait(), self.remedy());
        let Some(wait) = asked else { return remedy.map(str::to_owned) };
        let remedy = remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
        Some(format!("the site asks to wait {}{remedy}", wait_in_words(wait)))
    }

    /// How long the site asks to wait before another request.
    fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Net(error) => match error.last() {
                NetError::HeldOff { left, .. } => Some(*left),
                _ => None,
            },
            Self::Status { wait, .. } | Self::Api { wait, .. } => wait.filter(|wait| !wait.is_zero()),
            _ => None,
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Net(error) => error.hint(),
            Self::Status { status: 429, .. } => {
                Some("the site limits requests; lower `--wiki-per-minute` and give `--contact`")
            }
            Self::Status { status: 403, .. } => {
                Some("the site refuses this client; give a `--contact` that its operators can reach")
            }
            Self::Status { status: 500.., .. } => Some("the site has trouble of its own; try again later"),
            Self::Status { status: 404 | 410, .. } => {
                Some("the server has nothing at this address; check that `--wiki-url` names a MediaWiki site")
            }
            Self::Api { code, .. } if may_pass(code) => Some("the site has trouble of its own; try again later"),
            Self::Api { .. } => Some(
                "the site refuses the request itself, and would again; check that `--wiki-url` names the right wiki",
            ),
            Self::NotTheWiki { .. } => Some(
                "open the site in a browser: does the network want a login, does a proxy answer in its place, and does \
                 `--wiki-url` name a MediaWiki site?",
            ),
            Self::ContentType { .. } | Self::Shape { .. } => {
                Some("check that `--wiki-url` names a MediaWiki site, or its api.php")
            }
            Self::Retriever { .. } => Some(
                "name the whole address, such as `--wiki retriever:http://127.0.0.1:8000/retrieve`; it has to answer \
                 {\"result\": [[{\"document\": {\"contents\": \"\\\"Title\\\"\\ntext\"}}]]}",
            ),
            Self::Tape(error) => Some(error.hint()),
            Self::Extract { error, .. } => error.hint(),
            Self::Internal(_) => Some("a damaged corpus has to be built again; anything else is a fault in wikitrail"),
            _ => None,
        }
    }
}

/// Whether the same request may succeed after an error of the API.
fn may_pass(code: &str) -> bool {
    matches!(code, "maxlag" | "ratelimited" | "readonly") || code.starts_with("internal_api_error")
}

// What another server than the wiki says.

/// What a page says of itself, for a message: escaped, cut, with a space in front.
pub(super) fn self_description(html: &str) -> String {
    let page = describe(html);
    let title = page.title.map(|title| format!("titled `{}`", printable(&title, 80)));
    let words = (!page.words.is_empty()).then(|| format!("\"{}\"", printable(&page.words, 120)));
    match [title, words].into_iter().flatten().collect::<Vec<_>>().as_slice() {
        [] if html.trim().is_empty() => " (nothing)".to_owned(),
        [] => String::new(),
        parts => format!(" ({})", parts.join(": ")),
    }
}

/// Scheme, host and port of an address, for a message.
fn host_of(url: &str) -> String {
    url::Url::parse(url).map_or_else(|_| shown_url(url), |url| shown_url(&url.origin().ascii_serialization()))
}

// Sentences as a source gives them, and which of them an observation shows.

/// Where the given sentences of each block end, in bytes, empty ones included; a block that is one text has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceMap(Arc<[Vec<usize>]>);

impl SentenceMap {
    /// From the ends of each block's sentences; `None` if no block has any.
    pub fn of(ends: Vec<Vec<usize>>) -> Option<Self> {
        ends.iter().any(|ends| !ends.is_empty()).then(|| Self(ends.into()))
    }

    /// Where the sentences of a block end; nothing for a block without given sentences.
    #[cfg(feature = "index")]
    pub(super) fn ends(&self, block: usize) -> Option<&[usize]> {
        self.0.get(block).map(Vec::as_slice).filter(|ends| !ends.is_empty())
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|ends| size_of_val(&**ends) + size_of::<Vec<usize>>()).sum()
    }

    /// Which sentences are whole in these `shown` parts of the blocks, as `[block, from, to]`, in the order of the page.
    ///
    /// The tool drops white space between sentences and full stops before it, so these count for nothing; a sentence of
    /// nothing else is never shown.
    pub(super) fn sentence_ranges(&self, blocks: &[String], shown: &[(usize, Range<usize>)]) -> Vec<[usize; 3]> {
        let mut runs: Vec<[usize; 3]> = Vec::new();
        for (block, (text, ends)) in blocks.iter().zip(&*self.0).enumerate() {
            let parts: Vec<_> = shown.iter().filter(|(at, _)| *at == block).map(|(_, range)| range).collect();
            let mut start = 0;
            for (number, &end) in ends.iter().enumerate().take_while(|_| !parts.is_empty()) {
                let from = std::mem::replace(&mut start, end);
                let sentence = text.get(from..end).unwrap_or_default();
                let letters = sentence.char_indices().filter(|&(_, c)| !is_python_space(c) && c != '.');
                let mut letters = letters.map(|(at, _)| from + at).peekable();
                if letters.peek().is_none() || !letters.all(|at| parts.iter().any(|part| part.contains(&at))) {
                    continue;
                }
                match runs.last_mut() {
                    Some([of, _, to]) if (*of, *to) == (block, number) => *to += 1,
                    _ => runs.push([block, number, number + 1]),
                }
            }
        }
        runs
    }
}

// Provenance of live answers.

/// Where `answer` came from; `title` is that of the page, or the query of a list.
pub(super) fn provenance_of(answer: &Answer, source: &str, title: &str) -> Provenance {
    stamped(&answer.url, source, title, answer.status, &answer.body)
}

/// Where an empty finding comes from that needed no request.
pub(super) fn provenance_unsent(url: &str, source: &str, title: &str) -> Provenance {
    stamped(url, source, title, 200, &[])
}

/// An address for a message: capped, one line.
pub(super) fn shown_url(url: &str) -> String {
    printable(url, 200)
}

/// All addresses of live findings pass through here, and lose their user part if they still have one.
fn stamped(url: &str, source: &str, title: &str, status: u16, body: &[u8]) -> Provenance {
    Provenance {
        source: source.to_owned(),
        url: redact::user(url),
        title: title.to_owned(),
        status,
        fetched_at: jiff::Timestamp::now().to_string(),
        sha256: sha256_hex([body]),
        ..Provenance::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{SentenceMap, SourceError, provenance_unsent};
    use std::time::Duration;

    #[test]
    fn a_sentence_is_shown_when_all_of_its_letters_are() {
        let blocks = ["A b. C d. ", "no sentences", " .E. f.G"].map(str::to_owned);
        let given = SentenceMap::of(vec![vec![4, 4, 9, 10], vec![], vec![2, 7, 8]]).expect("sentences");
        let shown = |parts: &[(usize, std::ops::Range<usize>)]| given.sentence_ranges(&blocks, parts);
        assert_eq!(shown(&[(0, 0..3), (0, 5..8)]), [[0, 0, 1], [0, 2, 3]], "the empty one has its number");
        assert_eq!(shown(&[(0, 1..3), (1, 0..12), (2, 2..3), (2, 5..8)]), [[2, 1, 3]]);
        assert_eq!(shown(&[(0, 0..2)]), [[0; 3]; 0]);
        assert_eq!(SentenceMap::of(vec![vec![], vec![]]), None);
    }

    #[test]
    fn a_hint_says_how_long_the_site_asks_to_wait() {
        let status = |status, wait: Option<u64>| {
            let wait = wait.map(Duration::from_secs);
            SourceError::Status { url: "http://h/".to_owned(), status, message: String::new(), wait }.hint()
        };
        let limits = "the site limits requests; lower `--wiki-per-minute` and give `--contact`";
        assert_eq!(status(429, None).as_deref(), Some(limits));
        assert_eq!(status(429, Some(0)).as_deref(), Some(limits));
        assert_eq!(status(429, Some(600)), Some(format!("the site asks to wait 10 minutes; {limits}")));
        assert_eq!(status(400, Some(1)).as_deref(), Some("the site asks to wait 1 second"));
        assert_eq!(status(400, None), None);
        assert!(status(404, None).is_some_and(|hint| hint.contains("--wiki-url")));
        let api = |code: &str| {
            let (url, code, info) = ("http://h/".to_owned(), code.to_owned(), String::new());
            SourceError::Api { url, code, info, wait: None }.hint().expect("a hint")
        };
        assert!(api("missingparam").contains("would again"));
        assert!(
            ["maxlag", "internal_api_error_DBQueryError"].iter().all(|code| api(code).ends_with("try again later"))
        );
    }

    #[test]
    fn ends_of_a_damaged_recording_are_no_sentences() {
        let given = SentenceMap::of(vec![vec![9, 1, usize::MAX, 2], vec![1]]).expect("sentences");
        assert_eq!(given.sentence_ranges(&["\u{e9}ab".to_owned()], &[(0, 0..4), (7, 0..1)]), [[0; 3]; 0]);
    }

    #[test]
    fn records_never_hold_the_user_part_of_an_address() {
        let stamped = provenance_unsent("https://user:SECRET@h/w/api.php?a='b'#c", "api", "T");
        assert_eq!((stamped.url.as_str(), stamped.status), ("https://h/w/api.php?a=%27b%27#c", 200));
        assert_eq!(stamped.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            provenance_unsent("http://h/w/index.php?search=a@b", "html", "T").url,
            "http://h/w/index.php?search=a@b"
        );
    }
}
