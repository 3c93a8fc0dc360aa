//! Searches of the Action API, the search page and articles as a browser gets them, and two corners of the REST API.

use super::listing::{Batch, at_random, in_order};
use super::pages::{
    article_page, escaped, first_characters, introduction, joined_text, paragraphs, results_page, text_size,
    title_lookup,
};
use super::{ApiError, Call, MAX_PAGES, Params, address_of, page_id, path_of};
use crate::wikipedia::handlers::{Answer, CorpusService, Fault, MAX_QUERY};
use crate::wikipedia::{Corpus, CorpusError};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

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

/// What a search found, from the offset on.
struct Found {
    numbers: Vec<u32>,
    /// How many there are up to here, those before the offset included.
    total: usize,
    /// The offset to go on with, if there may be more.
    next: Option<usize>,
}

/// The search of `list=search`, whose parameters begin with `before`, with at most `most` titles.
async fn found_by_words(call: &Call<'_>, before: &str, most: usize) -> Result<Found, ApiError> {
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
    let (total, next) = (found.len(), (found.len() == end).then_some(end));
    Ok(Found { numbers: found.into_iter().take(end).skip(offset).collect(), total, next })
}

/// The titles that begin as the query, with parameters that begin with `before`.
fn found_by_beginning(call: &Call<'_>, before: &str, most: usize) -> Result<Vec<u32>, ApiError> {
    let begun = query_of(&call.params, &format!("{before}search"))?;
    let limit = call.params.number(&format!("{before}limit"), 10, most);
    Ok(call.service.corpus.beginning(begun, limit)?)
}

/// The pages that a generator names, and the parameter to go on with.
#[derive(Default)]
pub(super) struct Generated {
    pub(super) numbers: Vec<u32>,
    pub(super) next: Option<(&'static str, Value)>,
}

/// The lists as generators. Pages are read whole, so there are fewer of them than titles of a list.
pub(super) async fn generated(call: &Call<'_>) -> Result<Generated, ApiError> {
    match call.params.get("generator") {
        None => Ok(Generated::default()),
        Some("search") => {
            let Found { numbers, next, .. } = found_by_words(call, "gsr", MAX_PAGES).await?;
            Ok(Generated { numbers, next: next.map(|next| ("gsroffset", json!(next))) })
        }
        Some("allpages") => {
            let Batch { numbers, next } = in_order(call, "gap", MAX_PAGES)?;
            Ok(Generated { numbers, next: next.map(|next| ("gapcontinue", json!(next))) })
        }
        Some("random") => {
            let Batch { numbers, next } = at_random(call, "grn", MAX_PAGES)?;
            Ok(Generated { numbers, next: next.map(|next| ("grncontinue", json!(next))) })
        }
        Some("prefixsearch") => Ok(Generated { numbers: found_by_beginning(call, "gps", MAX_PAGES)?, next: None }),
        Some(other) => Err(ApiError::bad_value("generator", other)),
    }
}

/// `list=search`; returns where to go on, if there may be more.
pub(super) async fn list_search(call: &Call<'_>, query: &mut Map<String, Value>) -> Result<Option<usize>, ApiError> {
    let Call { service, params, .. } = call;
    let Found { numbers, total, next } = found_by_words(call, "sr", MAX_TITLES).await?;
    let prop = params.list_or("srprop", &PROPERTIES);
    let hits = numbers.into_iter().map(|number| hit(&service.corpus, number, &prop));
    query.insert("search".to_owned(), hits.collect::<Result<_, _>>()?);
    if params.list_or("srinfo", &["totalhits"]).contains(&"totalhits") {
        query.insert("searchinfo".to_owned(), json!({ "totalhits": total }));
    } else if params.is_on("srinfo") {
        // Clients look for suggestions in here; there are none.
        query.insert("searchinfo".to_owned(), json!({}));
    }
    Ok(next)
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

pub(super) fn prefix_search(call: &Call<'_>, query: &mut Map<String, Value>) -> Result<(), ApiError> {
    let found = found_by_beginning(call, "ps", MAX_TITLES)?;
    let found = found.into_iter().map(|number| hit(&call.service.corpus, number, &[]));
    query.insert("prefixsearch".to_owned(), found.collect::<Result<_, _>>()?);
    Ok(())
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
pub(crate) async fn index(service: &CorpusService, query: Option<&str>) -> Answer {
    let params = Params::of(query, &[]);
    let answer = match (params.get("search"), params.get("title")) {
        (Some(query), _) => found_by(service, query).await,
        (None, Some(title)) => article_named(service, title),
        (None, None) => Ok(Answer::text(404, "give `search` or `title`")),
    };
    answer.unwrap_or_else(Answer::from)
}

/// What a search leads to: the page that it names, or a page of results.
async fn found_by(service: &CorpusService, query: &str) -> Result<Answer, Fault> {
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
pub(crate) fn article(service: &CorpusService, path: &str) -> Answer {
    let title = title_in(path, "/wiki/");
    article_named(service, &title).unwrap_or_else(Answer::from)
}

fn title_in(path: &str, before: &str) -> String {
    let name = path.strip_prefix(before).unwrap_or_default();
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn article_named(service: &CorpusService, title: &str) -> Result<Answer, Fault> {
    match title_lookup(&service.corpus, title)?.number {
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
pub(crate) fn summary(service: &CorpusService, base: &str, path: &str) -> Answer {
    let title = title_in(path, "/api/rest_v1/page/summary/");
    summary_of(service, base, &title).unwrap_or_else(Answer::from)
}

fn summary_of(service: &CorpusService, base: &str, title: &str) -> Result<Answer, Fault> {
    let Some(number) = title_lookup(&service.corpus, title)?.number else {
        let problem = json!({ "status": 404, "type": "Internal error", "title": "Not found.", "method": "get" });
        return Ok(Answer::new(404, "application/problem+json", problem.to_string()));
    };
    let page = service.corpus.page(number)?;
    let introduction = introduction(&page, service.has_leads());
    let display = escaped(&page.title);
    let address = address_of(base, &page.title);
    let mut summary = json!({
        "type": if page.entries.is_some() { "disambiguation" } else { "standard" },
        "title": page.title, "displaytitle": display, "namespace": { "id": 0, "text": "" },
        "titles": { "canonical": page.title.replace(' ', "_"), "normalized": page.title, "display": display },
        "pageid": page_id(number), "lang": service.language(), "dir": "ltr",
        "content_urls": { "desktop": { "page": address }, "mobile": { "page": address } },
        "extract": joined_text(introduction), "extract_html": paragraphs(introduction),
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
pub(crate) async fn rest_search(service: &CorpusService, query: Option<&str>) -> Answer {
    let (query, limit) = match rest_query(query) {
        Ok(asked) => asked,
        Err(sentence) => return Answer::text(400, &sentence),
    };
    let found = service.search(move |corpus| rest_pages(corpus, by_words(corpus, &query, limit)?));
    found.await.map_or_else(Answer::from, |pages| Answer::json(&pages))
}

/// `/w/rest.php/v1/search/title`.
pub(crate) fn rest_search_titles(service: &CorpusService, query: Option<&str>) -> Answer {
    let (query, limit) = match rest_query(query) {
        Ok(asked) => asked,
        Err(sentence) => return Answer::text(400, &sentence),
    };
    let found = service.corpus.beginning(&query, limit).and_then(|numbers| rest_pages(&service.corpus, numbers));
    found.map_or_else(|error| Fault::from(error).into(), |pages| Answer::json(&pages))
}

fn rest_query(query: Option<&str>) -> Result<(String, usize), String> {
    let params = Params::of(query, &[]);
    let query = params.get("q").unwrap_or_default().to_owned();
    if query.trim().is_empty() || query.len() > MAX_QUERY {
        return Err(format!("`q` is a query of 1 to {MAX_QUERY} bytes"));
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
