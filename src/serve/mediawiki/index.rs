//! `/w/index.php` and `/wiki/TITLE`: search and articles as a browser gets them.

use super::params::Params;
use super::{html, pages, path_of, search};
use crate::serve::reply::{self, Fault};
use crate::serve::shelf::{LONGEST_QUERY, Shelf};
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use percent_encoding::percent_decode_str;

/// How many titles the page of results lists.
const LISTED: usize = 20;

pub(super) async fn script(State(shelf): State<Shelf>, RawQuery(query): RawQuery) -> Response {
    let params = Params::of(query.as_deref(), &[]);
    let answer = match (params.get("search"), params.get("title")) {
        (Some(query), _) => found(&shelf, query).await,
        (None, Some(title)) => shown(&shelf, title),
        (None, None) => Ok(reply::refused(StatusCode::NOT_FOUND, "give `search` or `title`")),
    };
    answer.unwrap_or_else(Fault::into_response)
}

/// What a search leads to: the page that it names, or a page of results.
async fn found(shelf: &Shelf, query: &str) -> Result<Response, Fault> {
    if query.len() > LONGEST_QUERY {
        let sentence = format!("a query has at most {LONGEST_QUERY} bytes");
        return Ok(reply::refused(StatusCode::URI_TOO_LONG, &sentence));
    }
    if let Some(number) = shelf.corpus.opens(query)? {
        return Ok(reply::moved(&path_of(&shelf.corpus.title(number)?)));
    }
    let query = query.to_owned();
    let titles = shelf.search(move |corpus| {
        let found = search::by_words(corpus, &query, LISTED)?;
        found.into_iter().map(|number| corpus.title(number)).collect::<Result<Vec<_>, _>>()
    });
    Ok(reply::html(html::results(shelf, &titles.await?)))
}

pub(super) async fn article(State(shelf): State<Shelf>, uri: Uri) -> Response {
    let title = title_in(&uri, "/wiki/");
    shown(&shelf, &title).unwrap_or_else(Fault::into_response)
}

/// The title at the end of a path.
pub(super) fn title_in(uri: &Uri, before: &str) -> String {
    let name = uri.path().strip_prefix(before).unwrap_or_default();
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn shown(shelf: &Shelf, title: &str) -> Result<Response, Fault> {
    match pages::named(&shelf.corpus, title)?.number {
        Some(number) => Ok(reply::html(html::article(shelf, &*shelf.corpus.page(number)?))),
        None => Ok(reply::refused(StatusCode::NOT_FOUND, "the corpus has no article of that title")),
    }
}
