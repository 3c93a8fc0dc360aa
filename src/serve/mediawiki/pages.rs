//! From titles and numbers to pages, and what is said of each.

use super::api::ApiError;
use super::params::Params;
use super::{extract, html, number_of, page_id, path_of};
use crate::serve::guard::Base;
use crate::serve::shelf::Shelf;
use crate::wiki::corpus::Page;
use crate::wiki::{Corpus, CorpusError};
use serde_json::{Map, Value, json};

/// What can be asked of a page.
const PROPS: [&str; 5] = ["extracts", "info", "links", "pageprops", "revisions"];

/// A title as it was asked for, and the page that it leads to.
pub(super) struct Named {
    /// The title as the site writes it.
    pub(super) normal: String,
    pub(super) number: Option<u32>,
}

/// Looks a title up as `MediaWiki` does: underscores are spaces, and the first letter is a capital; redirects are followed.
pub(super) fn named(corpus: &Corpus, asked: &str) -> Result<Named, CorpusError> {
    let spaced = asked.split(['_', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = spaced.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    // A corpus may have titles that the site would write in another way.
    for name in [asked, &spaced, &capital] {
        if let Some(number) = corpus.exact(name)? {
            return Ok(Named { normal: name.to_owned(), number: Some(number) });
        }
    }
    Ok(Named { normal: capital, number: None })
}

/// The pages of `titles` and `pageids` with what `prop` asks for.
pub(super) fn query(
    shelf: &Shelf,
    base: &Base,
    params: &Params,
    query: &mut Map<String, Value>,
) -> Result<(), ApiError> {
    let props = params.list("prop");
    if let Some(unknown) = props.iter().find(|prop| !PROPS.contains(prop)) {
        return Err(ApiError::bad_value("prop", unknown));
    }
    let (titles, ids) = (params.list("titles"), params.list("pageids"));
    if titles.is_empty() && ids.is_empty() {
        return Ok(());
    }
    let (mut normalized, mut redirects) = (Vec::new(), Vec::new());
    let (mut numbers, mut missing): (Vec<u32>, Vec<Value>) = (Vec::new(), Vec::new());
    for asked in titles {
        let Named { normal, number } = named(&shelf.corpus, asked)?;
        if normal != asked {
            normalized.push(json!({ "fromencoded": false, "from": asked, "to": normal }));
        }
        match number {
            None => missing.push(json!({ "ns": 0, "title": normal, "missing": true })),
            Some(number) => {
                let title = shelf.corpus.title(number)?;
                if title != normal {
                    redirects.push(json!({ "from": normal, "to": title }));
                }
                numbers.push(number);
            }
        }
    }
    for id in ids {
        match number_of(id, shelf) {
            Some(number) => numbers.push(number),
            None => missing.push(json!({ "pageid": id.trim().parse::<u64>().unwrap_or(0), "missing": true })),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    for (name, list) in [("normalized", normalized), ("redirects", redirects)] {
        if !list.is_empty() {
            query.insert(name.to_owned(), Value::Array(list));
        }
    }
    let described = numbers.into_iter().map(|number| described(shelf, base, params, &props, number));
    let pages = missing.into_iter().map(Ok).chain(described).collect::<Result<_, CorpusError>>()?;
    query.insert("pages".to_owned(), Value::Array(pages));
    Ok(())
}

fn described(shelf: &Shelf, base: &Base, params: &Params, props: &[&str], number: u32) -> Result<Value, CorpusError> {
    let page = shelf.corpus.page(number)?;
    let mut about = json!({ "pageid": page_id(number), "ns": 0, "title": page.title });
    for prop in props {
        match *prop {
            "extracts" => about["extract"] = json!(extract::extract(&page, shelf.has_leads(), params)),
            "info" => info(shelf, base, params, &page, &mut about),
            "links" => {
                if let Some(entries) = &page.entries {
                    about["links"] = entries.iter().map(|title| json!({ "ns": 0, "title": title })).collect();
                }
            }
            "pageprops" => {
                let asked = params.list_or("ppprop", &["disambiguation"]);
                if page.entries.is_some() && asked.contains(&"disambiguation") {
                    about["pageprops"] = json!({ "disambiguation": "" });
                }
            }
            _ => about["revisions"] = json!([revision(params, &page)]),
        }
    }
    Ok(about)
}

fn info(shelf: &Shelf, base: &Base, params: &Params, page: &Page, about: &mut Value) {
    about["contentmodel"] = json!("wikitext");
    for key in ["pagelanguage", "pagelanguagehtmlcode"] {
        about[key] = json!(shelf.language());
    }
    about["pagelanguagedir"] = json!("ltr");
    if let Some(timestamp) = &page.timestamp {
        about["touched"] = json!(timestamp);
    }
    about["lastrevid"] = json!(page.revid.unwrap_or(0));
    about["length"] = json!(extract::size(page));
    let asked = params.list("inprop");
    if asked.contains(&"url") {
        let address = format!("{}{}", base.0, path_of(&page.title));
        for key in ["fullurl", "editurl", "canonicalurl"] {
            about[key] = json!(address);
        }
    }
    if asked.contains(&"displaytitle") {
        about["displaytitle"] = json!(html::escaped(&page.title));
    }
}

/// The one revision that there is; 0 where its number is not known.
fn revision(params: &Params, page: &Page) -> Value {
    let mut revision = json!({});
    for part in params.list_or("rvprop", &["ids", "timestamp"]) {
        match part {
            "ids" => {
                revision["revid"] = json!(page.revid.unwrap_or(0));
                revision["parentid"] = json!(0);
            }
            "timestamp" if page.timestamp.is_some() => revision["timestamp"] = json!(page.timestamp),
            "content" if params.is_on("rvparse") => revision["content"] = json!(html::body(page)),
            // There is no wikitext.
            "content" => revision["textmissing"] = json!(true),
            _ => {}
        }
    }
    revision
}
