//! A `MediaWiki` site asked through its Action API, as programs should.
//!
//! A title near match leads to the page; otherwise the text search gives up to twenty titles, worded as the search page
//! words them. Every request carries `maxlag`, so that a struggling site can send us away.
//!
//! A query that the site refuses as such, for its length or its syntax, finds nothing: the agent wrote it, and asking
//! again would not help. All other errors say nothing about the query, and are failures of the source.

mod answers;
mod pinned;

use super::cache::{Extracted, PageCache, Reading};
use super::html::{Article, ArticleOptions, PageKind, PaperPage};
use super::html_source::shown_url;
use super::near_match;
use super::provenance;
use super::site_policy::{self, LiveSettings, Site, SitePolicyError, Way};
use super::source::{Found, LONGEST_QUERY, Source, SourceError, URI_TOO_LONG, no_results};
use crate::net::{Answer, Place};
use crate::types::text::printable;
use crate::types::{Provenance, sha256_hex};
use answers::{Envelope, ErrorBody, Parsed};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;

/// The name under which this source is recorded.
const NAME: &str = "api";
/// The script of the API.
const PATH: &str = "/api.php";
/// How many titles a text search gives.
const TITLES: &str = "20";

/// Errors of `action=parse` that say that there is nothing to read under a title.
const NO_PAGE: [&str; 3] = ["missingtitle", "pagecannotexist", "invalidtitle"];

/// How a site that lags behind is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LagSettings {
    /// How often a request is sent in all.
    pub attempts: u32,
    /// Shortest wait, whatever the site says.
    pub least: Duration,
    pub longest: Duration,
}

impl Default for LagSettings {
    /// Five attempts; between them the time the site asks for, 5 s to 60 s.
    fn default() -> Self {
        Self { attempts: 5, least: Duration::from_secs(5), longest: Duration::from_mins(1) }
    }
}

pub struct ApiSource {
    site: Site,
    reading: Reading,
    lag: LagSettings,
    cache: PageCache,
}

impl ApiSource {
    /// A source over the site at `base`, such as `https://en.wikipedia.org`. Sends nothing yet.
    pub fn new(
        base: &str,
        settings: &LiveSettings,
        options: ArticleOptions,
        lag: LagSettings,
    ) -> Result<Self, SitePolicyError> {
        let reading = Reading::of(settings.compat, options);
        let site = site_policy::site(base, Way::Api, settings)?;
        let cache = PageCache::new(site.concurrent);
        Ok(Self { site, reading, lag, cache })
    }

    async fn find(&self, query: &str) -> Result<Found, SourceError> {
        let trimmed = query.trim();
        if !near_match::cannot_be_title(trimmed) && trimmed.len() <= LONGEST_QUERY {
            let (found, _) = self.list(trimmed, "nearmatch", "1").await?;
            if let Some(hit) = found.into_iter().next() {
                match self.page(&hit.title).await {
                    // Special pages and pages deleted in this moment match, but cannot be read.
                    Err(SourceError::Api { code, .. }) if NO_PAGE.contains(&code.as_str()) => {}
                    answer => return answer,
                }
            }
        }
        self.titles(query, trimmed).await
    }

    async fn titles(&self, query: &str, trimmed: &str) -> Result<Found, SourceError> {
        if trimmed.is_empty() || trimmed.len() > LONGEST_QUERY {
            // The API refuses such a search, so nothing is sent.
            let provenance = provenance::provenance_unsent(&format!("{}{PATH}", self.site.shown), NAME, query);
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        let (hits, answer) = self.list(trimmed, "text", TITLES).await?;
        let provenance = provenance::provenance_of(&answer, NAME, query);
        if hits.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Titles { titles: hits.iter().map(answers::Hit::heading).collect(), provenance })
    }

    async fn list(&self, query: &str, what: &str, limit: &str) -> Result<(Vec<answers::Hit>, Answer), SourceError> {
        let parameters = [
            ("action", "query"),
            ("list", "search"),
            ("srwhat", what),
            ("srlimit", limit),
            ("srprop", "redirecttitle|sectiontitle|categorysnippet"),
            ("srsearch", query),
        ];
        let reply = self.ask(&parameters).await?;
        if reply.refuses_query() {
            return Ok((Vec::new(), reply.answer));
        }
        let (envelope, answer) = reply.content()?;
        let query = envelope.query.ok_or_else(|| out_of_shape(&answer, "no `query`"))?;
        let hits = query.search.ok_or_else(|| out_of_shape(&answer, "no `query.search`"))?;
        Ok((hits, answer))
    }

    async fn page(&self, title: &str) -> Result<Found, SourceError> {
        let _turn = self.cache.turn().await;
        let parameters = [
            ("action", "parse"),
            ("redirects", "1"),
            ("prop", "text|revid|properties"),
            ("disableeditsection", "1"),
            ("page", title),
        ];
        let (envelope, mut answer) = self.ask(&parameters).await?.content()?;
        let parsed = envelope.parse.ok_or_else(|| out_of_shape(&answer, "no `parse`"))?;
        let marked = if let Some(marked) = parsed.is_disambiguation() {
            marked
        } else {
            // Nobody who holds a place waits for another.
            answer.place = Place::default();
            self.has_disambiguation_property(&parsed.title).await?
        };
        let Parsed { title, pageid, revid, text, .. } = parsed;
        let reading = self.reading;
        let (page, title, provenance) = self
            .cache
            .read(move |pages| {
                let provenance = Provenance { pageid, revid, ..provenance::provenance_of(&answer, NAME, &title) };
                let Answer { url, body, place: _place, .. } = answer;
                // The text is in it once more, and a page takes memory enough while it is read.
                drop(body);
                let page = pages.page(sha256_hex([text.as_bytes()]), reading, &url, &text)?;
                Ok((page, title, provenance))
            })
            .await?;
        Ok(match &*page {
            Extracted::Article(Article { kind, blocks, links, .. }) if marked || *kind == PageKind::Disambiguation => {
                Found::Disambiguation { title, entries: Arc::clone(links), blocks: Arc::clone(blocks), provenance }
            }
            Extracted::Paper(PaperPage { blocks, .. }) | Extracted::Article(Article { blocks, .. }) => {
                Found::Page { title, blocks: Arc::clone(blocks), sentences: None, provenance }
            }
        })
    }

    /// Asked for only where the answer to `parse` says nothing about the page's properties.
    async fn has_disambiguation_property(&self, title: &str) -> Result<bool, SourceError> {
        if self.reading == Reading::Paper {
            return Ok(false);
        }
        let parameters = [("action", "query"), ("prop", "pageprops"), ("ppprop", "disambiguation"), ("titles", title)];
        let (envelope, answer) = self.ask(&parameters).await?.content()?;
        let query = envelope.query.ok_or_else(|| out_of_shape(&answer, "no `query`"))?;
        Ok(query.pages.iter().flatten().any(answers::Page::is_disambiguation))
    }

    /// One request, repeated while the site says that it lags.
    async fn ask(&self, parameters: &[(&str, &str)]) -> Result<Reply, SourceError> {
        let path = path(parameters);
        let mut attempts = 0;
        loop {
            let answer = self.site.get(&path, &[("Accept", "application/json")]).await?;
            attempts += 1;
            let reply = Reply::read(answer)?;
            if attempts >= self.lag.attempts || !reply.error.as_ref().is_some_and(ErrorBody::passing) {
                return Ok(reply);
            }
            let asked = reply.answer.retry_after.unwrap_or_default();
            // The site struggles with all of our requests, so all of them wait.
            self.site.hold(asked.max(self.lag.least).min(self.lag.longest), reply.answer.status);
        }
    }
}

/// What a site is asked for, from `/` on.
fn path(parameters: &[(&str, &str)]) -> String {
    let fixed = [("format", "json"), ("formatversion", "2"), ("maxlag", "5")];
    let pairs: Vec<String> = parameters
        .iter()
        .chain(&fixed)
        .map(|(name, value)| format!("{name}={}", super::quote::quote_form(value)))
        .collect();
    format!("{PATH}?{}", pairs.join("&"))
}

impl Source for ApiSource {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.find(query).boxed()
    }
}

/// What the site said to one request.
struct Reply {
    envelope: Envelope,
    error: Option<ErrorBody>,
    answer: Answer,
}

impl Reply {
    fn read(answer: Answer) -> Result<Self, SourceError> {
        if answer.status == URI_TOO_LONG {
            return Ok(Self { envelope: Envelope::default(), error: None, answer });
        }
        if !answer.ok() {
            return Err(SourceError::Status {
                url: shown_url(&answer.url),
                status: answer.status,
                said: String::new(),
            });
        }
        let declared = answer.content_type.as_deref().unwrap_or("");
        if !declared.to_ascii_lowercase().contains("json") {
            return Err(SourceError::ContentType {
                url: shown_url(&answer.url),
                content_type: printable(declared, 80),
                expected: "JSON",
            });
        }
        let mut envelope: Envelope =
            serde_json::from_slice(&answer.body).map_err(|error| out_of_shape(&answer, &error.to_string()))?;
        let error = envelope.error.take();
        Ok(Self { envelope, error, answer })
    }

    fn refuses_query(&self) -> bool {
        self.answer.status == URI_TOO_LONG || self.error.as_ref().is_some_and(ErrorBody::refuses_query)
    }

    /// The content, for requests that must not be refused.
    fn content(self) -> Result<(Envelope, Answer), SourceError> {
        let url = shown_url(&self.answer.url);
        match self.error {
            Some(error) => {
                Err(SourceError::Api { url, code: printable(&error.code, 60), info: printable(&error.info, 200) })
            }
            None if self.answer.status == URI_TOO_LONG => {
                Err(SourceError::Status { url, status: URI_TOO_LONG, said: String::new() })
            }
            None => Ok((self.envelope, self.answer)),
        }
    }
}

fn out_of_shape(answer: &Answer, detail: &str) -> SourceError {
    SourceError::Shape { url: shown_url(&answer.url), detail: printable(detail, 200) }
}
