//! Two corners of the REST API: summaries of pages, and search.

use super::index::title_in;
use super::params::Params;
use super::{extract, html, page_id, pages, path_of, search};
use crate::serve::guard::Base;
use crate::serve::reply::{self, Fault, Refusal};
use crate::serve::shelf::{LONGEST_QUERY, Shelf};
use crate::wiki::{Corpus, CorpusError};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// Pages that a search gives, if no number is asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 100;
/// Characters of a text that are shown with a title.
const EXCERPT: usize = 150;

pub(super) async fn summary(State(shelf): State<Shelf>, base: Extension<Base>, uri: Uri) -> Response {
    let title = title_in(&uri, "/api/rest_v1/page/summary/");
    summed_up(&shelf, &base.0, &title).unwrap_or_else(Fault::into_response)
}

fn summed_up(shelf: &Shelf, base: &Base, title: &str) -> Result<Response, Fault> {
    let Some(number) = pages::named(&shelf.corpus, title)?.number else {
        let problem = json!({ "status": 404, "type": "Internal error", "title": "Not found.", "method": "get" });
        return Ok(reply::typed(StatusCode::NOT_FOUND, "application/problem+json", problem.to_string()));
    };
    let page = shelf.corpus.page(number)?;
    let introduction = extract::introduction(&page, shelf.has_leads());
    let display = html::escaped(&page.title);
    let address = format!("{}{}", base.0, path_of(&page.title));
    let mut summary = json!({
        "type": if page.entries.is_some() { "disambiguation" } else { "standard" },
        "title": page.title, "displaytitle": display, "namespace": { "id": 0, "text": "" },
        "titles": { "canonical": page.title.replace(' ', "_"), "normalized": page.title, "display": display },
        "pageid": page_id(number), "lang": shelf.language(), "dir": "ltr",
        "content_urls": { "desktop": { "page": address }, "mobile": { "page": address } },
        "extract": extract::text(introduction), "extract_html": html::paragraphs(introduction),
    });
    if let Some(revid) = page.revid {
        summary["revision"] = Value::from(revid.to_string());
    }
    if let Some(timestamp) = &page.timestamp {
        summary["timestamp"] = json!(timestamp);
    }
    Ok(reply::json(&summary))
}

pub(super) async fn search(State(shelf): State<Shelf>, RawQuery(query): RawQuery) -> Response {
    let (query, limit) = match asked(query.as_deref()) {
        Ok(asked) => asked,
        Err(refusal) => return refusal.into_response(),
    };
    let found = shelf.search(move |corpus| listed(corpus, search::by_words(corpus, &query, limit)?));
    found.await.map_or_else(Fault::into_response, |pages| reply::json(&pages))
}

pub(super) async fn search_titles(State(shelf): State<Shelf>, RawQuery(query): RawQuery) -> Response {
    let (query, limit) = match asked(query.as_deref()) {
        Ok(asked) => asked,
        Err(refusal) => return refusal.into_response(),
    };
    let found = shelf.corpus.beginning(&query, limit).and_then(|numbers| listed(&shelf.corpus, numbers));
    found.map_or_else(|error| Fault::from(error).into_response(), |pages| reply::json(&pages))
}

fn asked(query: Option<&str>) -> Result<(String, usize), Refusal> {
    let params = Params::of(query, &[]);
    let query = params.get("q").unwrap_or_default().to_owned();
    if query.trim().is_empty() || query.len() > LONGEST_QUERY {
        let sentence = format!("`q` is a query of 1 to {LONGEST_QUERY} bytes");
        return Err(Refusal(StatusCode::BAD_REQUEST, sentence));
    }
    Ok((query, params.number("limit", USUAL, MOST)))
}

fn listed(corpus: &Corpus, numbers: Vec<u32>) -> Result<Value, CorpusError> {
    let mut pages = Vec::with_capacity(numbers.len());
    for number in numbers {
        let page = corpus.page(number)?;
        pages.push(json!({
            "id": page_id(number), "key": page.title.replace(' ', "_"), "title": page.title,
            "excerpt": html::escaped(extract::beginning(&page, EXCERPT)), "matched_title": null, "description": null,
            "thumbnail": null,
        }));
    }
    Ok(json!({ "pages": pages }))
}
