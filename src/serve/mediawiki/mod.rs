//! `MediaWiki`, as far as clients of Wikipedia call it: the Action API, the search page, articles, and two corners of REST.
//!
//! | file | what it holds |
//! |---|---|
//! | `api` | `/w/api.php`: actions, errors, both versions of the format |
//! | `params` | parameters of a request |
//! | `search` | `list=search`, `list=prefixsearch`, `action=opensearch` |
//! | `pages` | titles to pages, and what is said of each |
//! | `extract` | plain texts and beginnings of articles |
//! | `parse` | `action=parse` |
//! | `html` | articles and results as HTML |
//! | `index` | `/w/index.php` and `/wiki/TITLE` |
//! | `rest` | summaries and search of the REST API |

mod api;
mod extract;
mod html;
mod index;
mod pages;
mod params;
mod parse;
mod rest;
mod search;

use super::shelf::Shelf;
use axum::Router;
use axum::routing::get;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a path carries as it is.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

pub(super) fn routes() -> Router<Shelf> {
    Router::new()
        .route("/w/api.php", get(api::asked).post(api::posted))
        .route("/w/index.php", get(index::script))
        .route("/wiki/{*title}", get(index::article))
        .route("/api/rest_v1/page/summary/{*title}", get(rest::summary))
        .route("/w/rest.php/v1/search/page", get(rest::search))
        .route("/w/rest.php/v1/search/title", get(rest::search_titles))
}

/// The number of a page for clients: its place in the corpus, from 1. Every page has one, whatever it came from.
fn page_id(number: u32) -> u64 {
    u64::from(number) + 1
}

/// The page of such a number.
fn number_of(page_id: &str, shelf: &Shelf) -> Option<u32> {
    let number: u32 = page_id.trim().parse::<u32>().ok()?.checked_sub(1)?;
    (number < shelf.corpus.count()).then_some(number)
}

/// The path of an article. Titles that a client would take for a step up the path go by another.
fn path_of(title: &str) -> String {
    let name = utf8_percent_encode(&title.replace(' ', "_"), PATH).to_string();
    if title.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return format!("/w/index.php?title={}", name.replace('/', "%2F"));
    }
    format!("/wiki/{name}")
}
