//! `action=parse`: an article as HTML.

use super::api::ApiError;
use super::pages::named;
use super::params::Params;
use super::{html, number_of, page_id};
use crate::serve::shelf::Shelf;
use serde_json::{Value, json};

pub(super) fn parse(shelf: &Shelf, params: &Params) -> Result<Value, ApiError> {
    let (asked, number) = match (params.get("page"), params.get("pageid")) {
        (Some(title), _) => {
            let named = named(&shelf.corpus, title)?;
            (Some(named.normal), named.number)
        }
        (None, Some(id)) => (None, number_of(id, shelf)),
        (None, None) => {
            let info = "The \"page\" or \"pageid\" parameter must be set; nothing else is parsed here.";
            return Err(ApiError::said("missingparam", info));
        }
    };
    let Some(number) = number else {
        return Err(match asked {
            Some(_) => ApiError::said("missingtitle", "The page you specified doesn't exist."),
            None => ApiError::said("nosuchpageid", "No page has that ID."),
        });
    };
    let page = shelf.corpus.page(number)?;
    let mut parse = json!({ "title": page.title, "pageid": page_id(number) });
    if let Some(from) = asked.filter(|asked| *asked != page.title) {
        parse["redirects"] = json!([{ "from": from, "to": page.title }]);
    }
    let mut unknown = Vec::new();
    for part in params.list_or("prop", &["text", "displaytitle", "properties", "revid", "sections"]) {
        match part {
            "text" => parse["text"] = json!(html::parsed(&page, shelf.language())),
            "displaytitle" => parse["displaytitle"] = json!(html::escaped(&page.title)),
            "properties" if page.entries.is_some() => parse["properties"] = json!({ "disambiguation": "" }),
            "properties" => parse["properties"] = json!({}),
            "revid" => {
                if let Some(revid) = page.revid {
                    parse["revid"] = json!(revid);
                }
            }
            "sections" | "links" | "categories" | "langlinks" | "images" | "externallinks" | "templates" => {
                parse[part] = json!([]);
            }
            other => unknown.push(crate::types::text::printable(other, 60)),
        }
    }
    let mut answer = json!({ "parse": parse });
    if !unknown.is_empty() {
        let warning = format!("Unrecognized value for parameter \"prop\": {}.", unknown.join(", "));
        answer["warnings"] = json!({ "parse": { "warnings": warning } });
    }
    Ok(answer)
}
