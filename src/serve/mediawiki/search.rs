//! Searches of the Action API: by name, by words, by the beginning of a name.

use super::api::ApiError;
use super::params::Params;
use super::{extract, page_id, path_of};
use crate::serve::guard::Base;
use crate::serve::shelf::{LONGEST_QUERY, Shelf};
use crate::wiki::{Corpus, CorpusError};
use serde_json::{Map, Value, json};

/// Titles that a search gives at most.
const MOST: usize = 500;
/// How far behind the first title a search may begin.
const FARTHEST: usize = 9_500;
/// What is said of a hit besides its name.
const PROPERTIES: [&str; 4] = ["size", "wordcount", "timestamp", "snippet"];
/// Characters of a text that are shown below a title.
const SNIPPET: usize = 150;

/// The query of a search, which must be there and no longer than one is.
fn wanted<'p>(params: &'p Params, name: &str) -> Result<&'p str, ApiError> {
    let query = params.get(name).unwrap_or_default();
    if query.trim().is_empty() {
        return Err(ApiError::said("missingparam", format!("The \"{name}\" parameter must be set.")));
    }
    if query.len() > LONGEST_QUERY {
        let info = format!("Search request is longer than the maximum allowed length. ({LONGEST_QUERY} bytes)");
        return Err(ApiError::said("cirrussearch-query-too-long", info));
    }
    Ok(query)
}

/// `list=search`; returns where to go on, if there may be more.
pub(super) async fn search(
    shelf: &Shelf,
    params: &Params,
    query: &mut Map<String, Value>,
) -> Result<Option<usize>, ApiError> {
    let wanted = wanted(params, "srsearch")?;
    let offset = params.number("sroffset", 0, FARTHEST);
    let end = offset + params.number("srlimit", 10, MOST);
    let found: Vec<u32> = match params.get("srwhat").unwrap_or("text") {
        "nearmatch" => shelf.corpus.opens(wanted)?.into_iter().collect(),
        "text" | "title" => {
            let wanted = wanted.to_owned();
            shelf.search(move |corpus| by_words(corpus, &wanted, end)).await?
        }
        other => return Err(ApiError::bad_value("srwhat", other)),
    };
    let next = (found.len() == end).then_some(end);
    let total = found.len();
    let prop = params.list_or("srprop", &PROPERTIES);
    let hits = found.into_iter().take(end).skip(offset).map(|number| hit(&shelf.corpus, number, &prop));
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
    if let Some(listed) = corpus.listed(query)? {
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
            "size" => json!(extract::size(&page)),
            "wordcount" => {
                json!(page.blocks.iter().map(|block| block.split_whitespace().count()).sum::<usize>())
            }
            "timestamp" if page.timestamp.is_some() => json!(page.timestamp),
            "snippet" => json!(super::html::escaped(extract::beginning(&page, SNIPPET))),
            _ => continue,
        };
    }
    Ok(hit)
}

/// `list=prefixsearch`.
pub(super) fn prefix_search(shelf: &Shelf, params: &Params, query: &mut Map<String, Value>) -> Result<(), ApiError> {
    let begun = wanted(params, "pssearch")?;
    let found = shelf.corpus.beginning(begun, params.number("pslimit", 10, MOST))?;
    let found = found.into_iter().map(|number| hit(&shelf.corpus, number, &[]));
    query.insert("prefixsearch".to_owned(), found.collect::<Result<_, _>>()?);
    Ok(())
}

/// `action=opensearch`: the query, titles that begin so, nothing said of them, and their addresses.
pub(super) fn open_search(shelf: &Shelf, base: &Base, params: &Params) -> Result<Value, ApiError> {
    let begun = wanted(params, "search")?;
    let found = shelf.corpus.beginning(begun, params.number("limit", 10, MOST))?;
    let titles = found.into_iter().map(|number| shelf.corpus.title(number)).collect::<Result<Vec<_>, _>>()?;
    let addresses: Vec<String> = titles.iter().map(|title| format!("{}{}", base.0, path_of(title))).collect();
    Ok(json!([begun, titles, vec![""; titles.len()], addresses]))
}
