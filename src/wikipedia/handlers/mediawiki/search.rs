//! Lists and searches of the Action API, the search page and articles as a browser gets them, and two corners of the REST API.

use super::pages::{
    article_page, escaped, first_characters, introduction, paragraphs, results_page, spelled, text_size, title_lookup,
};
use super::site::{members, prefix};
use super::{ApiError, Call, MAX_PAGES, Params, address_of, page_id, path_of};
use crate::net::server::Base;
use crate::wikipedia::handlers::{Answer, CorpusService, Fault, MAX_QUERY, Service};
use crate::wikipedia::{Corpus, CorpusError};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::Uri;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

const MAX_TITLES: usize = 500;
/// How far behind the first title a search may begin.
const MAX_OFFSET: usize = 9_500;
/// What is said of a hit besides its name.
const PROPERTIES: [&str; 4] = ["size", "wordcount", "timestamp", "snippet"];
/// Characters of a text that are shown below a title.
const SNIPPET: usize = 150;

/// The query of a search, which must be there and no longer than one is.
fn query_of<'p>(params: &'p Params, name: &str) -> Result<&'p str, ApiError> {
    let query = params.get(name).unwrap_or_default();
    if query.trim().is_empty() {
        return Err(ApiError::refused("missingparam", format!("The \"{name}\" parameter must be set.")));
    }
    if query.len() > MAX_QUERY {
        let info = format!("Search request is longer than the maximum allowed length. ({MAX_QUERY} bytes)");
        return Err(ApiError::refused("cirrussearch-query-too-long", info));
    }
    Ok(query)
}

#[derive(Default)]
pub(super) struct PageList {
    pub(super) numbers: Vec<u32>,
    /// The parameter to go on with, if there may be more.
    pub(super) next: Option<(String, Value)>,
    /// Of a search: how many there are up to here, those before its offset included.
    total: Option<usize>,
}

/// The list of this name, whose parameters begin with `before`, with at most `most` pages.
async fn list_pages(call: &Call<'_>, list: &str, before: &str, most: usize) -> Result<PageList, ApiError> {
    match list {
        "search" => search_pages(call, before, most).await,
        "prefixsearch" => prefix_pages(call, before, most),
        "random" => random_pages(call, before, most),
        _ => titled_pages(call, before, most),
    }
}

/// The lists as generators. Pages are read whole, so there are fewer of them than titles of a list.
pub(super) async fn generated(call: &Call<'_>) -> Result<PageList, ApiError> {
    match call.params.get("generator") {
        None => Ok(PageList::default()),
        Some(list) if members("list").contains(&list) => {
            list_pages(call, list, &format!("g{}", prefix(list)), MAX_PAGES).await
        }
        Some(other) => Err(ApiError::bad_value("generator", other)),
    }
}

/// Adds a list to the answer; returns the parameter to go on with, if there may be more.
pub(super) async fn add_list(
    call: &Call<'_>,
    list: &str,
    query: &mut Map<String, Value>,
) -> Result<Option<(String, Value)>, ApiError> {
    let Call { service, params, .. } = call;
    let PageList { numbers, next, total } = list_pages(call, list, prefix(list), MAX_TITLES).await?;
    let prop = if total.is_some() { params.list_or("srprop", &PROPERTIES) } else { Vec::new() };
    let row = |number| match list {
        "random" => Ok(json!({ "id": page_id(number), "ns": 0, "title": service.corpus.title(number)? })),
        "allpages" => Ok(json!({ "pageid": page_id(number), "ns": 0, "title": service.corpus.title(number)? })),
        _ => hit(&service.corpus, number, &prop),
    };
    query.insert(list.to_owned(), numbers.into_iter().map(row).collect::<Result<_, CorpusError>>()?);
    if let Some(total) = total {
        if params.list_or("srinfo", &["totalhits"]).contains(&"totalhits") {
            query.insert("searchinfo".to_owned(), json!({ "totalhits": total }));
        } else if params.is_on("srinfo") {
            // Clients look for suggestions in here; there are none.
            query.insert("searchinfo".to_owned(), json!({}));
        }
    }
    Ok(next)
}

/// Pages for the words of a query.
async fn search_pages(call: &Call<'_>, before: &str, most: usize) -> Result<PageList, ApiError> {
    let Call { service, params, .. } = call;
    let name = |parameter: &str| format!("{before}{parameter}");
    let wanted = query_of(params, &name("search"))?;
    let offset = params.number(&name("offset"), 0, MAX_OFFSET);
    let end = offset + params.number(&name("limit"), 10, most);
    let found: Vec<u32> = match params.get(&name("what")).unwrap_or("text") {
        "nearmatch" => service.corpus.opens(wanted)?.into_iter().collect(),
        "text" | "title" => {
            let wanted = wanted.to_owned();
            service.search(move |corpus| by_words(corpus, &wanted, end)).await?
        }
        other => return Err(ApiError::bad_value(&name("what"), other)),
    };
    let (total, next) = (found.len(), (found.len() == end).then(|| (name("offset"), json!(end))));
    Ok(PageList { numbers: found.into_iter().take(end).skip(offset).collect(), next, total: Some(total) })
}

/// Pages whose names begin as a query.
fn prefix_pages(call: &Call<'_>, before: &str, most: usize) -> Result<PageList, ApiError> {
    let begun = query_of(&call.params, &format!("{before}search"))?;
    let limit = call.params.number(&format!("{before}limit"), 10, most);
    Ok(PageList { numbers: call.service.corpus.beginning(begun, limit)?, ..PageList::default() })
}

/// Pages in the order of their titles; `before` is the prefix of the parameters, `ap` or `gap`.
fn titled_pages(call: &Call<'_>, before: &str, most: usize) -> Result<PageList, ApiError> {
    let Call { service, params, .. } = call;
    let name = |parameter: &str| format!("{before}{parameter}");
    if let Some(other) = params.get(&name("dir")).filter(|direction| *direction != "ascending") {
        return Err(ApiError::bad_value(&name("dir"), other));
    }
    if !has_pages(params, before) {
        return Ok(PageList::default());
    }
    let title = |parameter: &str| params.get(&name(parameter)).map(spelled).unwrap_or_default();
    let (prefix, to, from) = (title("prefix"), title("to"), title("from"));
    // A title of this server, as it is.
    let next = params.get(&name("continue")).unwrap_or_default();
    let from = prefix.as_str().max(&from).max(next);
    let limit = params.number(&name("limit"), 10, most).max(1);
    let mut listed = PageList::default();
    for number in service.corpus.titled_from(from, limit + 1)? {
        let title = service.corpus.title(number)?;
        if !title.starts_with(&prefix) || !to.is_empty() && title > to {
            break;
        }
        if listed.numbers.len() == limit {
            listed.next = Some((name("continue"), json!(title)));
            break;
        }
        listed.numbers.push(number);
    }
    Ok(listed)
}

/// Pages at random, each once; `before` is the prefix of the parameters. The value of `continue` holds the order.
fn random_pages(call: &Call<'_>, before: &str, most: usize) -> Result<PageList, ApiError> {
    let Call { service, params, .. } = call;
    let name = |parameter: &str| format!("{before}{parameter}");
    if !has_pages(params, before) {
        return Ok(PageList::default());
    }
    let (order, first) = match params.get(&name("continue")) {
        // The hasher's random keys are the standard library's only source of randomness.
        None => (RandomState::new().hash_one(before), 0),
        Some(text) => text
            .split_once('|')
            .and_then(|(order, first)| Some((order.parse().ok()?, first.parse().ok()?)))
            .ok_or_else(|| {
                ApiError::refused("badcontinue", "Invalid continue param: pass the value that was given.")
            })?,
    };
    let count = service.corpus.count();
    let limit = params.number(&name("limit"), 1, most).max(1);
    let end = u32::try_from(limit).map_or(count, |limit| count.min(limit.saturating_add(first)));
    let numbers = (first..end).map(|at| shuffled(at, count, order)).collect();
    let next = (end < count).then(|| (name("continue"), json!(format!("{order}|{end}"))));
    Ok(PageList { numbers, next, total: None })
}

/// Whether the filters leave pages: all are in the main namespace, and none is a redirect.
fn has_pages(params: &Params, before: &str) -> bool {
    let namespaces = params.list(&format!("{before}namespace"));
    let is_main = namespaces.is_empty() || namespaces.iter().any(|namespace| matches!(*namespace, "0" | "*"));
    is_main && params.get(&format!("{before}filterredir")) != Some("redirects")
}

/// The number at this place of `count` numbers in one of their orders: a Feistel network over a power of four, repeated until it
/// leads to one of them.
fn shuffled(at: u32, count: u32, order: u64) -> u32 {
    let half = (u32::BITS - count.leading_zeros()).div_ceil(2);
    let mask = (1 << half) - 1;
    let mut at = u64::from(at);
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4 {
            let mut hasher = DefaultHasher::new();
            (order, round, right).hash(&mut hasher);
            (left, right) = (right, left ^ (hasher.finish() & mask));
        }
        at = (left << half) | right;
        if let Ok(number) = u32::try_from(at)
            && number < count
        {
            return number;
        }
    }
}

/// The articles for the words of a query, first the one that it names.
pub(super) fn by_words(corpus: &Corpus, query: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
    if let Some(listed) = corpus.frozen_titles(query)? {
        return Ok(listed.into_iter().take(most).collect());
    }
    let named = corpus.opens(query)?;
    let others = corpus.similar(query, most)?.into_iter().map(|hit| hit.number).filter(|number| Some(*number) != named);
    Ok(named.into_iter().chain(others).take(most).collect())
}

fn hit(corpus: &Corpus, number: u32, prop: &[&str]) -> Result<Value, CorpusError> {
    let mut hit = json!({ "ns": 0, "title": corpus.title(number)?, "pageid": page_id(number) });
    if !prop.iter().any(|part| PROPERTIES.contains(part)) {
        return Ok(hit);
    }
    let page = corpus.page(number)?;
    for part in prop {
        hit[*part] = match *part {
            "size" => json!(text_size(&page)),
            "wordcount" => {
                json!(page.blocks.iter().map(|block| block.split_whitespace().count()).sum::<usize>())
            }
            "timestamp" if page.timestamp.is_some() => json!(page.timestamp),
            "snippet" => json!(escaped(first_characters(&page, SNIPPET))),
            _ => continue,
        };
    }
    Ok(hit)
}

/// `action=opensearch`: the query, titles that begin so, nothing said of them, and their addresses.
pub(super) fn open_search(call: &Call<'_>) -> Result<Value, ApiError> {
    let Call { service, params, .. } = call;
    let begun = query_of(params, "search")?;
    let found = service.corpus.beginning(begun, params.number("limit", 10, MAX_TITLES))?;
    let titles = service.corpus.titles(found)?;
    let addresses: Vec<String> = titles.iter().map(|title| address_of(call.base, title)).collect();
    Ok(json!([begun, titles, vec![""; titles.len()], addresses]))
}

const MAX_LISTED: usize = 20;

/// `/w/index.php`.
pub(crate) async fn index(State(service): Service, RawQuery(query): RawQuery) -> Result<Answer, Fault> {
    let params = Params::of(query.as_deref(), &[]);
    match (params.get("search"), params.get("title")) {
        (Some(query), _) => search_page(&service, query).await,
        (None, Some(title)) => article_named(&service, title),
        (None, None) => Ok(Answer::text(404, "give `search` or `title`")),
    }
}

/// What a search leads to: the page that it names, or a page of results.
async fn search_page(service: &CorpusService, query: &str) -> Result<Answer, Fault> {
    if query.len() > MAX_QUERY {
        let sentence = format!("a query has at most {MAX_QUERY} bytes");
        return Ok(Answer::text(414, &sentence));
    }
    if let Some(number) = service.corpus.opens(query)? {
        return Ok(Answer::moved(&path_of(&service.corpus.title(number)?)));
    }
    let query = query.to_owned();
    let titles = service.search(move |corpus| corpus.titles(by_words(corpus, &query, MAX_LISTED)?));
    Ok(Answer::html(results_page(service, &titles.await?)))
}

/// `/wiki/TITLE`, by its whole path.
pub(crate) async fn article(State(service): Service, uri: Uri) -> Result<Answer, Fault> {
    article_named(&service, &title_in(uri.path(), "/wiki/"))
}

fn title_in(path: &str, before: &str) -> String {
    let name = path.strip_prefix(before).unwrap_or_default();
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn article_named(service: &CorpusService, title: &str) -> Result<Answer, Fault> {
    match title_lookup(&service.corpus, title)?.1 {
        Some(number) => Ok(Answer::html(article_page(service, &*service.corpus.page(number)?))),
        None => Ok(Answer::text(404, "the corpus has no article of that title")),
    }
}

/// Pages that a search gives, if no number is asked for, and at most.
const DEFAULT_REST_PAGES: usize = 50;
const MAX_REST_PAGES: usize = 100;
/// Characters of a text that are shown with a title.
const EXCERPT: usize = 150;

/// `/api/rest_v1/page/summary/TITLE`, by its whole path.
pub(crate) async fn summary(State(service): Service, base: Extension<Base>, uri: Uri) -> Result<Answer, Fault> {
    let title = title_in(uri.path(), "/api/rest_v1/page/summary/");
    let Some(number) = title_lookup(&service.corpus, &title)?.1 else {
        let problem = json!({ "status": 404, "type": "Internal error", "title": "Not found.", "method": "get" });
        return Ok(Answer::new(404, "application/problem+json", problem.to_string()));
    };
    let page = service.corpus.page(number)?;
    let introduction = introduction(&page, service.has_leads());
    let display = escaped(&page.title);
    let address = address_of(&base.0.0, &page.title);
    let mut summary = json!({
        "type": if page.entries.is_some() { "disambiguation" } else { "standard" },
        "title": page.title, "displaytitle": display, "namespace": { "id": 0, "text": "" },
        "titles": { "canonical": page.title.replace(' ', "_"), "normalized": page.title, "display": display },
        "pageid": page_id(number), "lang": service.language(), "dir": "ltr",
        "content_urls": { "desktop": { "page": address }, "mobile": { "page": address } },
        "extract": introduction.join("\n"), "extract_html": paragraphs(introduction),
    });
    if let Some(revid) = page.revid {
        summary["revision"] = Value::from(revid.to_string());
    }
    if let Some(timestamp) = &page.timestamp {
        summary["timestamp"] = json!(timestamp);
    }
    Ok(Answer::json(&summary))
}

/// `/w/rest.php/v1/search/page`.
pub(crate) async fn rest_search(State(service): Service, RawQuery(query): RawQuery) -> Result<Answer, Answer> {
    let (query, limit) = rest_query(query.as_deref())?;
    let found = service.search(move |corpus| rest_pages(corpus, by_words(corpus, &query, limit)?));
    Ok(Answer::json(&found.await?))
}

/// `/w/rest.php/v1/search/title`.
pub(crate) async fn rest_search_titles(State(service): Service, RawQuery(query): RawQuery) -> Result<Answer, Answer> {
    let (query, limit) = rest_query(query.as_deref())?;
    let found = service.corpus.beginning(&query, limit).and_then(|numbers| rest_pages(&service.corpus, numbers));
    Ok(Answer::json(&found.map_err(Fault::from)?))
}

fn rest_query(query: Option<&str>) -> Result<(String, usize), Answer> {
    let params = Params::of(query, &[]);
    let query = params.get("q").unwrap_or_default().to_owned();
    if query.trim().is_empty() || query.len() > MAX_QUERY {
        return Err(Answer::text(400, &format!("`q` is a query of 1 to {MAX_QUERY} bytes")));
    }
    Ok((query, params.number("limit", DEFAULT_REST_PAGES, MAX_REST_PAGES)))
}

fn rest_pages(corpus: &Corpus, numbers: Vec<u32>) -> Result<Value, CorpusError> {
    let mut pages = Vec::with_capacity(numbers.len());
    for number in numbers {
        let page = corpus.page(number)?;
        pages.push(json!({
            "id": page_id(number), "key": page.title.replace(' ', "_"), "title": page.title,
            "excerpt": escaped(first_characters(&page, EXCERPT)), "matched_title": null, "description": null,
            "thumbnail": null,
        }));
    }
    Ok(json!({ "pages": pages }))
}

#[cfg(test)]
mod tests {
    use super::shuffled;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_has_each_number_once() {
        for count in [1, 2, 3, 4, 63, 64, 65, 1_000] {
            for order in [0, 7, u64::MAX] {
                let all: BTreeSet<u32> = (0..count).map(|at| shuffled(at, count, order)).collect();
                assert!(all.iter().copied().eq(0..count), "{count} {order}");
            }
        }
        let begins: BTreeSet<u32> = (0..200).map(|order| shuffled(0, 1_000, order)).collect();
        assert!(begins.len() > 150, "{}", begins.len());
        assert!(shuffled(u32::MAX - 1, u32::MAX, 1) < u32::MAX);
    }
}
