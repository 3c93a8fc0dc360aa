//! A `MediaWiki` site asked through its Action API, as programs should.
//!
//! A title near match leads to the page; otherwise the text search gives up to twenty titles, worded as the search page
//! words them. Every request carries `maxlag`, so that a struggling site can send us away.
//!
//! A query that the site refuses as such, for its length or its syntax, finds nothing: the agent wrote it, and asking
//! again would not help. All other errors say nothing about the query, and are failures of the source.

use super::cache::{PageCache, Reading};
use super::html::{Article, ArticleOptions, PageKind, lead_links};
use super::query;
use super::site_policy::{self, LiveSettings, Site, SitePolicyError, Way};
use super::source::{
    self, Found, MAX_QUERY_BYTES, Retrieval, Source, SourceError, URI_TOO_LONG, no_results, shown_url,
};
use crate::base::text::printable;
use crate::base::{Provenance, named, sha256_hex};
use crate::net::{Answer, MemoryPermit};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "api";
const PATH: &str = "/api.php";
/// How many titles a text search gives.
const TITLES: &str = "20";

/// Errors of `action=parse` that say that there is nothing to read under a title.
const NO_PAGE: [&str; 3] = ["missingtitle", "pagecannotexist", "invalidtitle"];

/// How long to wait for a site whose databases lag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LagSettings {
    /// How often a request is sent in all.
    pub attempts: u32,
    /// Shortest wait, whatever the site says.
    pub least: Duration,
    /// Longest wait, whatever the site says.
    pub longest: Duration,
}

impl Default for LagSettings {
    /// Five attempts; between them the time the site asks for, 5 s to 60 s.
    fn default() -> Self {
        Self { attempts: 5, least: Duration::from_secs(5), longest: Duration::from_mins(1) }
    }
}

/// A `MediaWiki` site, asked through its API.
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
        if !query::cannot_be_title(trimmed) && trimmed.len() <= MAX_QUERY_BYTES {
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
        if trimmed.is_empty() || trimmed.len() > MAX_QUERY_BYTES {
            // The API refuses such a search, so nothing is sent.
            let provenance = source::provenance_unsent(&format!("{}{PATH}", self.site.shown), NAME, query);
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        let (hits, answer) = self.list(trimmed, "text", TITLES).await?;
        let provenance = source::provenance_of(&answer, NAME, query);
        if hits.is_empty() {
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        Ok(Found::Titles { titles: hits.iter().map(Hit::heading).collect(), provenance })
    }

    async fn list(&self, query: &str, what: &str, limit: &str) -> Result<(Vec<Hit>, Answer), SourceError> {
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
            answer.memory = MemoryPermit::default();
            self.has_disambiguation_property(&parsed.title).await?
        };
        let Parsed { title, pageid, revid, text, .. } = parsed;
        let reading = self.reading;
        let (page, title, provenance) = self
            .cache
            .read(move |pages| {
                let provenance = Provenance { pageid, revid, ..source::provenance_of(&answer, NAME, &title) };
                let Answer { url, body, memory: _memory, .. } = answer;
                // The text is in it once more, and a page takes memory enough while it is read.
                drop(body);
                let page = pages.page(sha256_hex([text.as_bytes()]), reading, &url, &text)?;
                Ok((page, title, provenance))
            })
            .await?;
        let blocks = Arc::clone(&page.blocks);
        Ok(if self.lists_articles(&page, marked) {
            Found::Disambiguation { title, entries: Arc::clone(&page.links), blocks, provenance }
        } else {
            Found::Page { title, blocks, sentences: None, provenance }
        })
    }

    /// Whether a page is a disambiguation page, which the site may have `marked`. For the paper none is.
    fn lists_articles(&self, page: &Article, marked: bool) -> bool {
        self.reading != Reading::Paper && (marked || page.kind == PageKind::Disambiguation)
    }

    /// Asked for only where the answer to `parse` says nothing about the page's properties.
    async fn has_disambiguation_property(&self, title: &str) -> Result<bool, SourceError> {
        if self.reading == Reading::Paper {
            return Ok(false);
        }
        let parameters = [("action", "query"), ("prop", "pageprops"), ("ppprop", "disambiguation"), ("titles", title)];
        let (envelope, answer) = self.ask(&parameters).await?.content()?;
        let query = envelope.query.ok_or_else(|| out_of_shape(&answer, "no `query`"))?;
        Ok(query.pages.iter().flatten().any(Page::is_disambiguation))
    }

    /// One request, repeated while the site says that it lags.
    async fn ask(&self, parameters: &[(&str, &str)]) -> Result<Reply, SourceError> {
        let fixed = [("format", "json"), ("formatversion", "2"), ("maxlag", "5")];
        let pairs = parameters.iter().chain(&fixed).map(|(name, value)| format!("{name}={}", query::quote_form(value)));
        let path = format!("{PATH}?{}", pairs.collect::<Vec<_>>().join("&"));
        let mut attempts = 0;
        loop {
            let answer = self.site.get(&path, &[("Accept", "application/json")]).await?;
            if !self.site.is_own(&answer.url) {
                return Err(SourceError::of_another_site(&answer));
            }
            attempts += 1;
            let reply = Reply::read(answer)?;
            if attempts >= self.lag.attempts || !reply.envelope.error.as_ref().is_some_and(ErrorBody::passing) {
                return Ok(reply);
            }
            let asked = reply.answer.retry_after.unwrap_or_default();
            // The site struggles with all of our requests, so all of them wait.
            self.site.hold(asked.max(self.lag.least).min(self.lag.longest), reply.answer.status);
        }
    }
}

impl Source for ApiSource {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        async move { self.find(asked.of_site()?).await }.boxed()
    }
}

struct Reply {
    envelope: Envelope,
    answer: Answer,
}

impl Reply {
    fn read(answer: Answer) -> Result<Self, SourceError> {
        if answer.status == URI_TOO_LONG {
            return Ok(Self { envelope: Envelope::default(), answer });
        }
        if !answer.ok() {
            return Err(SourceError::of_status(&answer, String::new()));
        }
        let declared = answer.content_type.as_deref().unwrap_or("");
        if !declared.to_ascii_lowercase().contains("json") {
            return Err(SourceError::of_content_type(&answer, declared, "JSON"));
        }
        let envelope =
            serde_json::from_slice(&answer.body).map_err(|error| out_of_shape(&answer, &error.to_string()))?;
        Ok(Self { envelope, answer })
    }

    fn refuses_query(&self) -> bool {
        self.answer.status == URI_TOO_LONG || self.envelope.error.as_ref().is_some_and(ErrorBody::refuses_query)
    }

    /// The content, for requests that must not be refused.
    fn content(mut self) -> Result<(Envelope, Answer), SourceError> {
        match self.envelope.error.take() {
            Some(ErrorBody { code, info }) => {
                let (url, wait) = (shown_url(&self.answer.url), self.answer.retry_after);
                Err(SourceError::Api { url, code: printable(&code, 60), info: printable(&info, 200), wait })
            }
            None if self.answer.status == URI_TOO_LONG => Err(SourceError::of_status(&self.answer, String::new())),
            None => Ok((self.envelope, self.answer)),
        }
    }
}

fn out_of_shape(answer: &Answer, detail: &str) -> SourceError {
    SourceError::Shape { url: shown_url(&answer.url), detail: printable(detail, 200) }
}

// The parts of the Action API's answers that are read.

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    /// Set instead of everything else, at HTTP status 200.
    error: Option<ErrorBody>,
    query: Option<Query>,
    parse: Option<Parsed>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    code: String,
    #[serde(default)]
    info: String,
}

impl ErrorBody {
    /// Whether the same request may succeed later.
    fn passing(&self) -> bool {
        matches!(self.code.as_str(), "maxlag" | "ratelimited" | "readonly")
    }

    /// Whether the site refuses the query itself: too long (300 characters on Wikipedia), or a search expression that it
    /// cannot read. No other time would bring another answer.
    fn refuses_query(&self) -> bool {
        matches!(
            self.code.as_str(),
            "cirrussearch-query-too-long"
                | "cirrussearch-query-too-long-with-exemptions"
                | "cirrussearch-parse-error"
                | "cirrussearch-regex-syntax-error"
                | "cirrussearch-regex-too-complex-error"
                | "maxbytes"
                | "maxchars"
        )
    }
}

#[derive(Debug, Deserialize)]
struct Query {
    /// Hits of `list=search`.
    search: Option<Vec<Hit>>,
    /// Pages of `prop=pageprops` and `prop=revisions`.
    pages: Option<Vec<Page>>,
    /// The redirects that were followed, in order.
    #[serde(default)]
    redirects: Vec<Redirect>,
    general: Option<General>,
    rightsinfo: Option<Rights>,
}

#[derive(Debug, Deserialize)]
struct Redirect {
    from: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct General {
    sitename: Option<String>,
    lang: Option<String>,
    /// Its host, also without a scheme.
    server: Option<String>,
    /// The path of `index.php`.
    script: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rights {
    url: String,
}

/// The SPDX identifier of a license of Creative Commons by its address.
fn spdx(url: &str) -> Option<String> {
    let (_, path) = url.split_once("creativecommons.org/")?;
    match path.trim_matches('/').split('/').collect::<Vec<_>>()[..] {
        ["licenses", kind, version, ..] => Some(format!("CC-{}-{version}", kind.to_uppercase())),
        ["publicdomain", "zero", version, ..] => Some(format!("CC0-{version}")),
        _ => None,
    }
    .filter(|id| id.len() < 40 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)))
}

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    pageid: Option<u64>,
    #[serde(default)]
    pageprops: Map<String, Value>,
    /// The newest that was asked for.
    #[serde(default)]
    revisions: Vec<PageRevision>,
    #[serde(default)]
    missing: bool,
    #[serde(default)]
    invalid: bool,
    #[serde(default)]
    special: bool,
}

#[derive(Debug, Deserialize)]
struct PageRevision {
    revid: u64,
    /// Absent where it is hidden.
    #[serde(default)]
    timestamp: String,
}

impl Page {
    fn is_there(&self) -> bool {
        !(self.missing || self.invalid || self.special)
    }

    fn is_disambiguation(&self) -> bool {
        self.pageprops.contains_key("disambiguation")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Hit {
    title: String,
    redirecttitle: Option<String>,
    sectiontitle: Option<String>,
    categorysnippet: Option<String>,
}

impl Hit {
    /// The text of the hit's heading on the site's search page, spaces included: title, redirect, category, section,
    /// with one space after each whether it is there or not.
    fn heading(&self) -> String {
        let part = |words: &str, text: &Option<String>| match text.as_deref().map(without_tags) {
            Some(text) if !text.is_empty() => format!("({words} {text})"),
            _ => String::new(),
        };
        let redirect = part("redirect from", &self.redirecttitle);
        let category = part("category", &self.categorysnippet);
        let section = part("section", &self.sectiontitle);
        format!("{} {redirect} {category} {section}", self.title).trim_end().to_owned()
    }
}

/// A snippet without the tags that mark the matched words.
fn without_tags(snippet: &str) -> String {
    let mut text = String::with_capacity(snippet.len());
    let mut rest = snippet;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text + rest
}

#[derive(Debug, Deserialize)]
struct Parsed {
    /// Title after redirects.
    title: String,
    pageid: Option<u64>,
    revid: Option<u64>,
    text: String,
    /// Properties of the page, as an object, or an empty list where there are none.
    properties: Option<Value>,
}

impl Parsed {
    /// Whether the page is marked as a disambiguation page; nothing where the answer has no properties.
    fn is_disambiguation(&self) -> Option<bool> {
        self.properties.as_ref().map(|properties| properties.get("disambiguation").is_some())
    }
}

// Pages at revisions that stay: one title a request, as `MediaWiki` gives the revision of a date for one title only.

/// How many redirects are followed that the site did not follow itself.
const HOPS: usize = 8;
/// The longest title of `MediaWiki`, in bytes.
const LONGEST_TITLE: usize = 255;
/// Errors of `action=parse` that say that a revision cannot be read.
const NOT_READABLE: [&str; 6] =
    ["nosuchrevid", "missingtitle", "missingcontent", "permissiondenied", "pagecannotexist", "nosuchpageid"];

impl ApiSource {
    #[cfg(any(feature = "index", test))]
    pub(crate) fn concurrent(&self) -> usize {
        self.site.concurrent
    }

    /// Sends no further request; those on their way are answered.
    #[cfg(any(feature = "index", test))]
    pub(crate) fn ask_no_more(&self) {
        self.site.hold(Duration::MAX, 0);
    }

    /// How many requests it makes in any minute at most; nothing if it has no limit.
    pub fn per_minute(&self) -> Option<NonZeroU32> {
        self.site.per_minute
    }

    /// The page and the revision that a title leads to, or why there is none. Follows redirects.
    pub async fn pin(&self, title: &str, revision: Revision<'_>) -> Result<Result<Pin, LeftOut>, SourceError> {
        let (mut names, mut asked) = (Vec::new(), title.to_owned());
        for _ in 0..HOPS {
            if query::cannot_be_title(&asked) || asked.len() > LONGEST_TITLE {
                return Ok(Err(LeftOut::Invalid));
            }
            let (redirects, page) = self.revision_of(&asked, revision).await?;
            names.extend(redirects);
            let Some(page) = page else {
                return Ok(Err(if names.is_empty() { LeftOut::Missing } else { LeftOut::Circle }));
            };
            if names.contains(&page.title) {
                return Ok(Err(LeftOut::Circle));
            }
            // A site that follows one redirect only leads to a title that is another redirect.
            if !page.is_there() && page.title != asked && !names.is_empty() {
                asked = page.title;
                continue;
            }
            return Ok(pin_of(page, names, revision));
        }
        Ok(Err(LeftOut::Circle))
    }

    /// The titles of the redirects that were followed, and the page at their end.
    async fn revision_of(
        &self,
        title: &str,
        revision: Revision<'_>,
    ) -> Result<(Vec<String>, Option<Page>), SourceError> {
        let number = if let Revision::Number(number) = revision { number.to_string() } else { String::new() };
        let mut parameters = vec![
            ("action", "query"),
            ("prop", "revisions|info|pageprops"),
            ("ppprop", "disambiguation"),
            ("redirects", "1"),
            ("rvlimit", "1"),
            ("rvprop", "ids|timestamp|sha1"),
            ("titles", title),
        ];
        match revision {
            Revision::Current => {}
            Revision::Before(time) => parameters.extend([("rvstart", time), ("rvdir", "older")]),
            Revision::Number(_) => parameters.extend([("rvstartid", number.as_str()), ("rvdir", "older")]),
        }
        let (envelope, answer) = self.ask(&parameters).await?.content()?;
        let query = envelope.query.ok_or_else(|| out_of_shape(&answer, "no `query`"))?;
        let redirects = query.redirects.into_iter().map(|redirect| redirect.from).collect();
        Ok((redirects, query.pages.into_iter().flatten().next()))
    }

    /// The text of a revision, and the first `links` titles that its lead links to; or why it has none.
    pub async fn page_at(
        &self,
        pin: &Pin,
        links: usize,
    ) -> Result<Result<(SitePage, Vec<String>), LeftOut>, SourceError> {
        let _turn = self.cache.turn().await;
        let revid = pin.revid.to_string();
        let parameters = [
            ("action", "parse"),
            ("prop", "text|displaytitle|properties"),
            ("disableeditsection", "1"),
            ("oldid", revid.as_str()),
        ];
        let (envelope, answer) = match self.ask(&parameters).await?.content() {
            Err(SourceError::Api { code, .. }) if NOT_READABLE.contains(&code.as_str()) => {
                return Ok(Err(LeftOut::Unreadable));
            }
            content => content?,
        };
        let parsed = envelope.parse.ok_or_else(|| out_of_shape(&answer, "no `parse`"))?;
        if parsed.revid.is_some_and(|revid| revid != pin.revid) {
            return Err(out_of_shape(&answer, &format!("`parse` is of another revision than {}", pin.revid)));
        }
        let marked = parsed.is_disambiguation().unwrap_or(pin.is_disambiguation);
        let (reading, text, url) = (self.reading, parsed.text, answer.url.clone());
        drop(answer);
        let read = self.cache.read(move |pages| {
            let page = pages.page(sha256_hex([text.as_bytes()]), reading, &url, &text)?;
            let links = if links > 0 { lead_links(&text, links) } else { Ok(Vec::new()) };
            let links = links.map_err(|error| SourceError::Extract { url, error })?;
            Ok((page, links))
        });
        let (page, links) = match read.await {
            Err(SourceError::Extract { .. }) => return Ok(Err(LeftOut::Unreadable)),
            read => read?,
        };
        let entries = self.lists_articles(&page, marked).then(|| page.links.to_vec());
        let blocks = page.blocks.to_vec();
        if blocks.iter().all(|block| block.trim().is_empty()) {
            return Ok(Err(LeftOut::Empty));
        }
        let Pin { title, pageid, revid, timestamp, .. } = pin.clone();
        Ok(Ok((SitePage { title, pageid, revid, timestamp, blocks, entries }, links)))
    }

    /// What the site says of itself; a site that says nothing has no license that is known.
    pub async fn facts(&self) -> Result<SiteFacts, SourceError> {
        let parameters = [("action", "query"), ("meta", "siteinfo"), ("siprop", "general|rightsinfo")];
        let query = match self.ask(&parameters).await?.content() {
            Err(SourceError::Api { .. }) => None,
            content => content?.0.query,
        };
        let (general, rights) = query.map(|query| (query.general, query.rightsinfo)).unwrap_or_default();
        let general = general.unwrap_or_default();
        let script = general.server.zip(general.script).and_then(|(server, script)| {
            let server = if server.starts_with("//") { format!("https:{server}") } else { server };
            server.starts_with("http").then(|| format!("{server}{script}"))
        });
        let script = script.unwrap_or_else(|| format!("{}/index.php", self.site.shown));
        let license = rights.and_then(|rights| spdx(&rights.url));
        // The address passes through the same place as those of findings.
        let permalink = source::provenance_unsent(&format!("{script}?oldid="), NAME, "").url;
        Ok(SiteFacts { name: general.sitename, language: general.lang, license, permalink })
    }
}

/// The revision that was given, if it is one that was asked for.
fn pin_of(page: Page, names: Vec<String>, asked: Revision<'_>) -> Result<Pin, LeftOut> {
    if !page.is_there() {
        return Err(if page.invalid { LeftOut::Invalid } else { LeftOut::Missing });
    }
    let is_disambiguation = page.is_disambiguation();
    let Some(revision) = page.revisions.into_iter().next() else { return Err(LeftOut::Later) };
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (time(&revision.timestamp), asked) {
        // That of a hidden revision is absent.
        (None, _) if !revision.timestamp.is_empty() => return Err(LeftOut::Unreadable),
        (Some(made), Revision::Before(limit)) if time(limit).is_some_and(|limit| made > limit) => {
            return Err(LeftOut::Later);
        }
        _ => {}
    }
    Ok(Pin {
        title: page.title,
        names,
        pageid: page.pageid,
        revid: revision.revid,
        timestamp: revision.timestamp,
        is_disambiguation,
    })
}

// A page as a site had it at one revision: what a frozen corpus is made of.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision<'a> {
    /// The one that the site shows now.
    Current,
    /// The newest one up to this time, RFC 3339 in UTC.
    Before(&'a str),
    /// The one of this number or, if it is gone, the one before it.
    Number(u64),
}

/// Where a title leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub title: String,
    /// Titles of the redirects that lead to it.
    pub names: Vec<String>,
    pub(super) pageid: Option<u64>,
    pub(super) revid: u64,
    pub(super) timestamp: String,
    pub(super) is_disambiguation: bool,
}

/// A page at one revision, as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SitePage {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pageid: Option<u64>,
    pub revid: u64,
    /// When the revision was made, RFC 3339 in UTC.
    pub timestamp: String,
    pub blocks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<String>>,
}

named! {
    /// Why a title has no page in a freeze, in words, in the order in which they are shown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LeftOut {
        /// The site has no page of that title: it was deleted, or was never there.
        Missing = "missing or deleted",
        /// No page can have it as its title.
        Invalid = "not a title",
        /// Its first revision is later than the date that was asked for.
        Later = "first written later",
        Circle = "redirects in a circle",
        /// The revision is hidden, or its markup cannot be read.
        Unreadable = "hidden or not readable",
        Empty = "without text",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteFacts {
    /// What it is called, such as `Wikipedia`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// SPDX identifier of the license of its texts, if it names a license that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Its address of a revision, up to the number.
    pub permalink: String,
}

#[cfg(test)]
mod tests {
    use super::{Hit, spdx};

    #[test]
    fn a_license_is_known_by_its_address() {
        for (url, id) in [
            ("https://creativecommons.org/licenses/by-sa/4.0/deed.en", Some("CC-BY-SA-4.0")),
            ("//creativecommons.org/licenses/by-sa/3.0/", Some("CC-BY-SA-3.0")),
            ("https://creativecommons.org/publicdomain/zero/1.0/", Some("CC0-1.0")),
            ("https://creativecommons.org/licenses/by-sa/\u{1b}[2J/", None),
            ("https://example.org/terms", None),
            ("", None),
        ] {
            assert_eq!(spdx(url).as_deref(), id, "{url}");
        }
    }

    #[test]
    fn headings_are_worded_as_on_the_search_page() {
        let hit = |json: &str| serde_json::from_str::<Hit>(json).expect("a hit").heading();
        assert_eq!(hit(r#"{"title": "Go"}"#), "Go");
        assert_eq!(hit(r#"{"title": "Go", "redirecttitle": "Golang"}"#), "Go (redirect from Golang)");
        assert_eq!(hit(r#"{"title": "Go", "categorysnippet": "<b>Games</b> of old"}"#), "Go  (category Games of old)");
        assert_eq!(hit(r#"{"title": "Go", "sectiontitle": "Rules"}"#), "Go   (section Rules)");
    }
}
