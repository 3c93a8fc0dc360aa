//! Articles for clients of `MediaWiki`: titles to pages, what is said of each, `action=parse`, plain texts, HTML.
//!
//! Readers of Wikipedia's pages, ours and the paper's, find the article's blocks in the HTML and nothing else: each is a
//! paragraph, and the page around them has neither paragraphs nor lists.

use super::site::members;
use super::{ApiError, Call, Params, address_of, number_of, page_id, path_of};
use crate::wikipedia::corpus::Page;
use crate::wikipedia::handlers::CorpusService;
use crate::wikipedia::{Corpus, CorpusError, NO_RESULTS, query};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What can be asked of a parsed page.
const PARSE_PROPS: [&str; 5] = ["displaytitle", "properties", "revid", "sections", "text"];
/// What can be asked besides, and is empty.
const EMPTY_PARSE_PROPS: [&str; 6] = ["categories", "externallinks", "images", "langlinks", "links", "templates"];

/// Looks a title up as `MediaWiki` does: underscores are spaces, and the first letter is a capital; redirects are followed. Returns
/// it as the site writes it, and the page that it leads to.
pub(super) fn title_lookup(corpus: &Corpus, asked: &str) -> Result<(String, Option<u32>), CorpusError> {
    let (spaced, capital) = (query::spaced(asked), spelled(asked));
    // A corpus may have titles that the site would write in another way.
    for name in [asked, &asked.replace('_', " "), &spaced, &capital] {
        if let Some(number) = corpus.exact(name)? {
            return Ok((name.to_owned(), Some(number)));
        }
    }
    Ok((capital, None))
}

/// A title as the site writes it.
pub(super) fn spelled(asked: &str) -> String {
    query::capitalised(&query::spaced(asked))
}

/// The pages of `titles`, `pageids` and a generator, with what `prop` asks for.
pub(super) fn query_pages(call: &Call<'_>, generated: &[u32], query: &mut Map<String, Value>) -> Result<(), ApiError> {
    let Call { service, params, .. } = call;
    let props = call.known("query", "prop", params.list("prop"), &members("prop"));
    let (titles, ids) = (params.list("titles"), params.list("pageids"));
    if titles.is_empty() && ids.is_empty() && generated.is_empty() {
        return Ok(());
    }
    let (mut normalized, mut redirects) = (Vec::new(), Vec::new());
    let (mut numbers, mut missing): (Vec<u32>, Vec<Value>) = (Vec::new(), Vec::new());
    for asked in titles {
        let (normal, number) = title_lookup(&service.corpus, asked)?;
        if normal != asked {
            normalized.push(json!({ "fromencoded": false, "from": asked, "to": normal }));
        }
        match number {
            None => missing.push(json!({ "ns": 0, "title": normal, "missing": true })),
            Some(number) => {
                let title = service.corpus.title(number)?;
                if title != normal {
                    redirects.push(json!({ "from": normal, "to": title }));
                }
                numbers.push(number);
            }
        }
    }
    for id in ids {
        match number_of(id, service) {
            Some(number) => numbers.push(number),
            None => missing.push(json!({ "pageid": id.trim().parse::<u64>().unwrap_or(0), "missing": true })),
        }
    }
    numbers.extend(generated);
    numbers.sort_unstable();
    numbers.dedup();
    for (name, list) in [("normalized", normalized), ("redirects", redirects)] {
        if !list.is_empty() {
            query.insert(name.to_owned(), Value::Array(list));
        }
    }
    let described = numbers.into_iter().map(|number| {
        let mut about = describe(call, &props, number)?;
        // The place that the generator found it in.
        if let Some(at) = generated.iter().position(|found| *found == number) {
            about["index"] = json!(at + 1);
        }
        Ok(about)
    });
    let pages = missing.into_iter().map(Ok).chain(described).collect::<Result<_, CorpusError>>()?;
    query.insert("pages".to_owned(), Value::Array(pages));
    Ok(())
}

fn describe(call: &Call<'_>, props: &[&str], number: u32) -> Result<Value, CorpusError> {
    let Call { service, params, .. } = call;
    let page = service.corpus.page(number)?;
    let mut about = json!({ "pageid": page_id(number), "ns": 0, "title": page.title });
    for prop in props {
        match *prop {
            "extracts" => about["extract"] = json!(extract_of(&page, service.has_leads(), params)),
            "info" => add_info(call, &page, &mut about),
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
            "revisions" => about["revisions"] = json!([revision(params, &page)]),
            _ => {}
        }
    }
    Ok(about)
}

fn add_info(call: &Call<'_>, page: &Page, about: &mut Value) {
    about["contentmodel"] = json!(CONTENT_MODEL);
    for key in ["pagelanguage", "pagelanguagehtmlcode"] {
        about[key] = json!(call.service.language());
    }
    about["pagelanguagedir"] = json!("ltr");
    if let Some(timestamp) = &page.timestamp {
        about["touched"] = json!(timestamp);
    }
    about["lastrevid"] = json!(page.revid.unwrap_or(0));
    about["length"] = json!(text_size(page));
    let asked = call.params.list("inprop");
    if asked.contains(&"url") {
        let address = address_of(call.base, &page.title);
        for key in ["fullurl", "editurl", "canonicalurl"] {
            about[key] = json!(address);
        }
    }
    if asked.contains(&"displaytitle") {
        about["displaytitle"] = json!(escaped(&page.title));
    }
    if asked.contains(&"protection") {
        about["protection"] = json!([]);
        about["restrictiontypes"] = json!([]);
    }
}

/// A corpus has texts, and no wikitext: `MediaWiki` has this model for them.
const CONTENT_MODEL: &str = "text";

/// When a revision was made of which that is not known, as clients need a time.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

/// The one revision that there is; 0 where its number is not known.
fn revision(params: &Params, page: &Page) -> Value {
    let mut revision = json!({});
    for part in params.list_or("rvprop", &["ids", "timestamp"]) {
        match part {
            "ids" => {
                revision["revid"] = json!(page.revid.unwrap_or(0));
                revision["parentid"] = json!(0);
            }
            "timestamp" => revision["timestamp"] = json!(page.timestamp.as_deref().unwrap_or(UNKNOWN_TIME)),
            "flags" => revision["minor"] = json!(false),
            "comment" => revision["comment"] = json!(""),
            "size" => revision["size"] = json!(text_size(page)),
            "contentmodel" => revision["contentmodel"] = json!(CONTENT_MODEL),
            "content" if params.is_on("rvparse") => revision["content"] = json!(article_body(page)),
            "content" if params.is_on("rvslots") => revision["slots"] = json!({ "main": content(page) }),
            "content" => {
                let content = content(page);
                for (name, value) in content.as_object().into_iter().flatten() {
                    revision[name] = value.clone();
                }
            }
            _ => {}
        }
    }
    revision
}

/// A page's text, with empty lines between its paragraphs, as wikitext has them.
fn content(page: &Page) -> Value {
    json!({ "contentmodel": CONTENT_MODEL, "contentformat": "text/plain", "content": page.blocks.join("\n\n") })
}

pub(super) fn parse(call: &Call<'_>) -> Result<Value, ApiError> {
    let Call { service, params, .. } = call;
    let (asked, number) = match (params.get("page"), params.get("pageid")) {
        (Some(title), _) => {
            let (normal, number) = title_lookup(&service.corpus, title)?;
            (Some(normal), number)
        }
        (None, Some(id)) => (None, number_of(id, service)),
        (None, None) => {
            let info = "The \"page\" or \"pageid\" parameter must be set; nothing else is parsed here.";
            return Err(ApiError::refused("missingparam", info));
        }
    };
    let Some(number) = number else {
        return Err(match asked {
            Some(_) => ApiError::refused("missingtitle", "The page you specified doesn't exist."),
            None => ApiError::refused("nosuchpageid", "No page has that ID."),
        });
    };
    let page = service.corpus.page(number)?;
    let mut parse = json!({ "title": page.title, "pageid": page_id(number) });
    if let Some(from) = asked.filter(|asked| *asked != page.title) {
        parse["redirects"] = json!([{ "from": from, "to": page.title }]);
    }
    let known: Vec<&str> = PARSE_PROPS.into_iter().chain(EMPTY_PARSE_PROPS).collect();
    for part in call.known("parse", "prop", params.list_or("prop", &PARSE_PROPS), &known) {
        match part {
            "text" => parse["text"] = json!(parsed_article(&page, service.language())),
            "displaytitle" => parse["displaytitle"] = json!(escaped(&page.title)),
            "properties" if page.entries.is_some() => parse["properties"] = json!({ "disambiguation": "" }),
            "properties" => parse["properties"] = json!({}),
            "revid" => {
                if let Some(revid) = page.revid {
                    parse["revid"] = json!(revid);
                }
            }
            _ => parse[part] = json!([]),
        }
    }
    Ok(json!({ "parse": parse }))
}

/// What `prop=extracts` gives: as text or as HTML, whole, its introduction, or its first characters or sentences.
pub(super) fn extract_of(page: &Page, is_lead: bool, params: &Params) -> String {
    let blocks = if params.is_on("exintro") { introduction(page, is_lead) } else { &page.blocks[..] };
    let length = |name| params.get(name).and_then(|value| value.trim().parse::<usize>().ok()).filter(|&n| n > 0);
    let (characters, sentences) = (length("exchars"), length("exsentences"));
    if characters.is_none() && sentences.is_none() {
        return if params.is_on("explaintext") { blocks.join("\n") } else { paragraphs(blocks) };
    }
    let whole = blocks.join("\n");
    let cut = match (characters, sentences) {
        (Some(count), _) => match whole.char_indices().nth(count) {
            Some((end, _)) => format!("{}…", whole[..end].trim_end()),
            None => whole,
        },
        (None, count) => first_sentences(&whole, count.unwrap_or(1)).to_owned(),
    };
    if params.is_on("explaintext") { cut } else { paragraphs(&[cut]) }
}

/// What stands before the first heading: corpora have none, so all of a lead, or the first paragraph of a page.
pub(super) fn introduction(page: &Page, is_lead: bool) -> &[String] {
    if is_lead { &page.blocks } else { &page.blocks[..page.blocks.len().min(1)] }
}

/// Up to so many characters from the beginning of a page's first paragraph.
pub(super) fn first_characters(page: &Page, characters: usize) -> &str {
    let text = page.blocks.first().map_or("", String::as_str);
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

pub(super) fn text_size(page: &Page) -> usize {
    page.blocks.iter().map(String::len).sum()
}

/// The beginning of a text up to the end of so many sentences.
fn first_sentences(text: &str, count: usize) -> &str {
    let mut left = count;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if c == '\n' || c == ' ' && matches!(last, '.' | '!' | '?') {
            left -= 1;
            if left == 0 {
                return &text[..at];
            }
        }
        last = c;
    }
    text
}

// Writing to a `String` cannot fail.

/// Text inside elements and attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#039;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Blocks as paragraphs; lines inside a block stay lines.
pub(super) fn paragraphs(blocks: &[String]) -> String {
    let mut html = String::new();
    for block in blocks {
        let _ = writeln!(html, "<p>{}\n</p>", escaped(block).replace('\n', "<br>\n"));
    }
    html
}

pub(super) fn article_body(page: &Page) -> String {
    let mut body = paragraphs(&page.blocks);
    if let Some(entries) = &page.entries {
        body.push_str("<div id=\"disambigbox\" class=\"dmbox dmbox-disambig\" role=\"note\"></div>\n");
        // A `<ul>` would be one more block, and the texts of these are among the blocks already.
        body.push_str("<menu>\n");
        for entry in entries.iter() {
            let (path, title) = (escaped(&path_of(entry)), escaped(entry));
            let _ = writeln!(body, "<li><a href=\"{path}\" title=\"{title}\">{title}</a></li>");
        }
        body.push_str("</menu>\n");
    }
    body
}

/// The same in the element that `MediaWiki`'s parser puts around it.
pub(super) fn parsed_article(page: &Page, language: &str) -> String {
    let language = escaped(language);
    format!(
        "<div class=\"mw-content-ltr mw-parser-output\" lang=\"{language}\" dir=\"ltr\">{}</div>",
        article_body(page)
    )
}

pub(super) fn article_page(service: &CorpusService, page: &Page) -> String {
    document(service, &page.title, "ns-0", &parsed_article(page, service.language()))
}

/// The page of a search that opens no article.
pub(super) fn results_page(service: &CorpusService, titles: &[String]) -> String {
    if titles.is_empty() {
        let nothing = format!("<div class=\"searchresults\"><p class=\"mw-search-nonefound\">{NO_RESULTS}</p></div>");
        return document(service, "Search results", "mw-special-Search", &nothing);
    }
    let mut list =
        "<div class=\"searchresults mw-searchresults-has-iw\"><div class=\"mw-search-results\">\n".to_owned();
    for title in titles {
        let (path, title) = (escaped(&path_of(title)), escaped(title));
        let link = format!("<a href=\"{path}\" title=\"{title}\">{title}</a>");
        let _ = writeln!(list, "<div class=\"mw-search-result-heading\">{link}</div>");
    }
    list.push_str("</div></div>");
    document(service, "Search results", "mw-special-Search", &list)
}

fn document(service: &CorpusService, title: &str, kind: &str, content: &str) -> String {
    let (title, language) = (escaped(title), escaped(service.language()));
    format!(
        "<!DOCTYPE html>\n<html class=\"client-nojs\" lang=\"{language}\" dir=\"ltr\">\n<head>\n<meta charset=\"UTF-8\">\n\
         <title>{title} - {name}</title>\n<meta name=\"generator\" content=\"wikitrail {version}\">\n</head>\n\
         <body class=\"mediawiki ltr {kind}\">\n<div id=\"content\" class=\"mw-body\" role=\"main\">\n\
         <h1 id=\"firstHeading\" class=\"firstHeading mw-first-heading\">{title}</h1>\n\
         <div id=\"mw-content-text\" class=\"mw-body-content\">{content}</div>\n\
         <div class=\"printfooter\">{notice}</div>\n</div>\n</body>\n</html>\n",
        name = escaped(service.name()),
        version = env!("CARGO_PKG_VERSION"),
        notice = escaped(&service.notice()),
    )
}

#[cfg(test)]
mod tests {
    use super::first_sentences;

    #[test]
    fn sentences_end_at_marks_and_lines() {
        let text = "One. Two? 3.5 is Three!\nFour";
        for (count, cut) in [(1, "One."), (2, "One. Two?"), (3, "One. Two? 3.5 is Three!"), (4, text), (9, text)] {
            assert_eq!(first_sentences(text, count), cut);
        }
    }
}
