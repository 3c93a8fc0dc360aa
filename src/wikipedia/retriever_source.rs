//! A retriever that somebody runs: a server of passages, asked as Search-R1 asks its own (`POST /retrieve`).
//!
//! A retriever knows no titles: whatever it is asked, it has some best passages. So a search opens a page, made of
//! the passages of one title among the hits in their order: of the title that the query is, or else of the best hit's. A
//! query that cannot be a title, such as the paper's way around disambiguation pages, gets the titles of the hits.

use super::query;
use super::site_policy::{self, LiveSettings, Site, SitePolicyError, Way};
use super::source::{self, Found, FoundPassage, MAX_QUERY_BYTES, Retrieval, Source, SourceError, no_results};
use crate::base::python::strip;
use crate::base::text::printable;
use crate::base::{Provenance, unique};
use crate::net::{Answer, redact};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use url::Url;

const NAME: &str = "retriever";
/// Passages that are asked for unless told otherwise, as Search-R1 does, and at most.
const DEFAULT_TOP_K: u32 = 3;
const MAX_TOP_K: u32 = 100;
/// Characters of a passage's id that are kept.
const MAX_ID: usize = 100;

/// Where a retriever is, and how many passages it is asked for. Not printable: the address may hold a password.
pub struct RetrieverAddress {
    url: Url,
    topk: u32,
}

impl RetrieverAddress {
    /// Reads `URL[?topk=K]`. A URL without a path means `/retrieve`.
    pub fn parse(text: &str) -> Result<Self, SitePolicyError> {
        let bad = || SitePolicyError::Retriever { url: redact::url(text) };
        let mut url = Url::parse(text.trim()).map_err(|_| bad())?;
        let mut topk = DEFAULT_TOP_K;
        for (name, value) in url.query_pairs() {
            let value = value.parse().ok().filter(|value| name == "topk" && (1..=MAX_TOP_K).contains(value));
            topk = value.ok_or_else(bad)?;
        }
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.fragment().is_some() {
            return Err(bad());
        }
        url.set_query(None);
        if url.path() == "/" {
            url.set_path("/retrieve");
        }
        Ok(Self { url, topk })
    }

    pub(crate) fn count(&self) -> usize {
        self.topk as usize
    }

    /// The source as it is recorded: `retriever:URL?topk=K`, without user part.
    pub fn label(&self) -> String {
        format!("{NAME}:{}?topk={}", redact::url(self.url.as_str()), self.topk)
    }

    /// What `--wiki` names, as it may be shown: a retriever without user part, everything else as it is.
    pub fn public_label(wiki: &str) -> String {
        match wiki.strip_prefix("retriever:") {
            Some(address) => {
                Self::parse(address).map_or_else(|_| format!("{NAME}:{}", redact::url(address)), |known| known.label())
            }
            None => wiki.to_owned(),
        }
    }
}

/// A server of passages.
pub struct RetrieverSource {
    site: Site,
    topk: u32,
}

impl RetrieverSource {
    /// Sends nothing yet.
    pub fn new(address: &RetrieverAddress, settings: &LiveSettings) -> Result<Self, SitePolicyError> {
        Ok(Self { site: site_policy::site(address.url.as_str(), Way::Retriever, settings)?, topk: address.topk })
    }

    /// The server's answer, if the query is sent, and its passages.
    async fn ask(&self, asked: &str, count: u32) -> Result<(Option<Answer>, Vec<FoundPassage>), SourceError> {
        if asked.is_empty() || asked.len() > MAX_QUERY_BYTES {
            return Ok((None, Vec::new()));
        }
        let body = json!({"queries": [asked], "topk": count, "return_scores": true});
        let answer = self.site.post(body.to_string().into_bytes()).await?;
        let url = || redact::url(&answer.url);
        match answer.status {
            200..=299 => {}
            status @ (403 | 429 | 500..) => {
                return Err(SourceError::Status {
                    url: url(),
                    status,
                    message: String::new(),
                    wait: answer.retry_after,
                });
            }
            status => {
                let what = format!("answered with status {status}");
                return Err(SourceError::Retriever { url: url(), status, what });
            }
        }
        let passages = passages(&answer.body, count).map_err(|what| {
            let what = format!("sent an unexpected answer: {}", printable(&what, 200));
            SourceError::Retriever { url: url(), status: answer.status, what }
        })?;
        Ok((Some(answer), passages))
    }

    async fn find(&self, query: &str) -> Result<Found, SourceError> {
        let asked = query.trim();
        let (answer, passages) = self.ask(asked, self.topk).await?;
        let Some(best) = passages.first() else { return Ok(self.nothing(query, answer.as_ref())) };
        if query::cannot_be_title(asked) {
            let titles = unique(passages.iter().map(|passage| &passage.title).filter(|title| !title.is_empty()));
            let titles = titles.into_iter().cloned().collect();
            return Ok(Found::Titles { titles, provenance: self.provenance(answer.as_ref(), query) });
        }
        let lower = asked.to_lowercase();
        let named = passages.iter().find(|passage| passage.title.to_lowercase() == lower);
        let of = &named.unwrap_or(best).title;
        let blocks = passages.iter().filter(|passage| passage.title == *of).map(|passage| passage.text.clone());
        let title = if of.is_empty() { asked } else { of }.to_owned();
        let provenance = self.provenance(answer.as_ref(), &title);
        Ok(Found::Page { blocks: blocks.collect(), title, sentences: None, provenance })
    }

    async fn passages(&self, query: &str, count: usize) -> Result<Found, SourceError> {
        let count = u32::try_from(count).unwrap_or(MAX_TOP_K).min(MAX_TOP_K);
        let (answer, passages) = self.ask(query.trim(), count).await?;
        if passages.is_empty() {
            return Ok(self.nothing(query, answer.as_ref()));
        }
        Ok(Found::Passages { passages: passages.into(), provenance: self.provenance(answer.as_ref(), query) })
    }

    fn nothing(&self, query: &str, answer: Option<&Answer>) -> Found {
        Found::Nothing { blocks: no_results(), provenance: self.provenance(answer, query) }
    }

    fn provenance(&self, answer: Option<&Answer>, title: &str) -> Provenance {
        let unsent = || source::provenance_unsent(&self.site.shown, NAME, title);
        answer.map_or_else(unsent, |answer| source::provenance_of(answer, NAME, title))
    }
}

/// The passages of `{"result": [[HIT, …]]}`: one list for the one query, of at most `topk`. A hit is `{"document": {"contents"}, "score"}`, or the document alone.
fn passages(body: &[u8], topk: u32) -> Result<Vec<FoundPassage>, String> {
    let answer: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let lists = answer["result"].as_array().ok_or("it has no list of passages in `result`")?;
    let [hits] = lists.as_slice() else {
        return Err(format!("it has {} lists in `result` for one query", lists.len()));
    };
    let hits = hits.as_array().ok_or("it has no list of passages in `result`")?;
    if hits.len() > topk as usize {
        return Err(format!("it has {} passages, and `topk` is {topk}", hits.len()));
    }
    let read: Option<Vec<FoundPassage>> = hits.iter().map(passage).collect();
    read.ok_or_else(|| "a passage has no `contents`".to_owned())
}

/// A hit; the first line of its contents is the title, in quotes of its own, and a single line is a text alone.
fn passage(hit: &Value) -> Option<FoundPassage> {
    let document = hit.get("document").unwrap_or(hit);
    let contents = document.as_str().or_else(|| document["contents"].as_str())?;
    let (title, text) = contents.split_once('\n').unwrap_or(("", contents));
    let title = title.trim();
    let title = title.strip_prefix('"').and_then(|title| title.strip_suffix('"')).unwrap_or(title);
    let id = match &document["id"] {
        Value::String(id) => printable(id, MAX_ID),
        Value::Number(id) => id.to_string(),
        _ => String::new(),
    };
    let (title, text) = (title.to_owned(), strip(text).to_owned());
    Some(FoundPassage { id, title, text, score: hit["score"].as_f64(), sentences: None })
}

impl Source for RetrieverSource {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        match asked {
            Retrieval::Search { query } => self.find(query).boxed(),
            Retrieval::Passages { query, count } => self.passages(query, count).boxed(),
            // A retriever of this kind has no address for documents; a run that wants them is refused before it begins.
            Retrieval::Document { id } => std::future::ready(Ok(self.nothing(id, None))).boxed(),
        }
    }
}

#[cfg(test)]
mod tests;
