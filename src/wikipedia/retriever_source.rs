//! A retriever that somebody runs: a server of passages, asked as Search-R1 asks its own (`POST /retrieve`).
//!
//! A retriever knows no titles: whatever it is asked, it has some best passages. So a search opens a page, made of
//! the passages of one title among the hits in their order: of the title that the query is, or else of the best hit's. A
//! query that cannot be a title, such as the paper's way around disambiguation pages, gets the titles of the hits.

use super::site_policy::{self, LiveSettings, Site, SitePolicyError, Way};
use super::source::{self, Found, MAX_QUERY_BYTES, Source, SourceError, no_results};
use super::{observe, query};
use crate::base::text::printable;
use crate::net::redact;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use url::Url;

const NAME: &str = "retriever";
/// Passages that are asked for unless told otherwise, as Search-R1 does, and at most.
const DEFAULT_TOP_K: u32 = 3;
const MAX_TOP_K: u32 = 100;

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

struct Passage {
    /// Absent where the passage is a text alone.
    title: Option<String>,
    text: String,
}

impl RetrieverSource {
    /// Sends nothing yet.
    pub fn new(address: &RetrieverAddress, settings: &LiveSettings) -> Result<Self, SitePolicyError> {
        Ok(Self { site: site_policy::site(address.url.as_str(), Way::Retriever, settings)?, topk: address.topk })
    }

    async fn find(&self, query: &str) -> Result<Found, SourceError> {
        let asked = query.trim();
        if asked.is_empty() || asked.len() > MAX_QUERY_BYTES {
            let provenance = source::provenance_unsent(&self.site.shown, NAME, query);
            return Ok(Found::Nothing { blocks: no_results(), provenance });
        }
        let body = json!({"queries": [asked], "topk": self.topk, "return_scores": true});
        let answer = self.site.post(body.to_string().into_bytes()).await?;
        let url = || redact::url(&answer.url);
        match answer.status {
            200..=299 => {}
            status @ (403 | 429 | 500..) => {
                return Err(SourceError::Status { url: url(), status, said: String::new() });
            }
            status => {
                let what = format!("answered with status {status}");
                return Err(SourceError::Retriever { url: url(), status, what });
            }
        }
        let passages = passages(&answer.body, self.topk).map_err(|what| {
            let what = format!("answered out of shape: {}", printable(&what, 200));
            SourceError::Retriever { url: url(), status: answer.status, what }
        })?;
        let Some(best) = passages.first() else {
            return Ok(Found::Nothing {
                blocks: no_results(),
                provenance: source::provenance_of(&answer, NAME, query),
            });
        };
        if query::cannot_be_title(asked) {
            let mut titles: Vec<String> = Vec::new();
            for title in passages.iter().filter_map(|passage| passage.title.as_ref()) {
                if !titles.contains(title) {
                    titles.push(title.clone());
                }
            }
            return Ok(Found::Titles {
                titles: titles.into(),
                provenance: source::provenance_of(&answer, NAME, query),
            });
        }
        let lower = asked.to_lowercase();
        let is_named = |passage: &&Passage| passage.title.as_ref().is_some_and(|title| title.to_lowercase() == lower);
        let of = &passages.iter().find(is_named).unwrap_or(best).title;
        let blocks = passages.iter().filter(|passage| passage.title == *of).map(|passage| passage.text.clone());
        let title = of.clone().unwrap_or_else(|| asked.to_owned());
        let provenance = source::provenance_of(&answer, NAME, &title);
        Ok(Found::Page { blocks: blocks.collect(), title, sentences: None, provenance })
    }
}

/// The passages of `{"result": [[HIT, …]]}`: one list for the one query, of at most `topk`. A hit is `{"document": {"contents"}, "score"}`, or the document alone.
fn passages(body: &[u8], topk: u32) -> Result<Vec<Passage>, String> {
    let answer: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let lists = answer["result"].as_array().ok_or("it has no list of passages in `result`")?;
    let [hits] = lists.as_slice() else {
        return Err(format!("it has {} lists in `result` for one query", lists.len()));
    };
    let hits = hits.as_array().ok_or("it has no list of passages in `result`")?;
    if hits.len() > topk as usize {
        return Err(format!("it has {} passages, and `topk` is {topk}", hits.len()));
    }
    let passage = |hit: &Value| {
        let document = hit.get("document").unwrap_or(hit);
        let contents = document.as_str().or_else(|| document["contents"].as_str())?;
        // The first line is the title, in quotes of its own.
        let Some((title, text)) = contents.split_once('\n') else {
            return Some(Passage { title: None, text: observe::strip(contents).to_owned() });
        };
        let title = title.trim();
        let title = title.strip_prefix('"').and_then(|title| title.strip_suffix('"')).unwrap_or(title);
        Some(Passage { title: Some(title.to_owned()), text: observe::strip(text).to_owned() })
    };
    let read: Option<Vec<Passage>> = hits.iter().map(passage).collect();
    read.ok_or_else(|| "a passage has no `contents`".to_owned())
}

impl Source for RetrieverSource {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.find(query).boxed()
    }
}

#[cfg(test)]
mod tests;
