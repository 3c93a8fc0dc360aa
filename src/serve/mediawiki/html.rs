//! Articles and results as HTML. Readers of Wikipedia's pages, ours and the paper's, find the article's blocks in it and
//! nothing else: each is a paragraph, and the page around them has neither paragraphs nor lists.

use super::path_of;
use crate::serve::shelf::Shelf;
use crate::wiki::NO_RESULTS;
use crate::wiki::corpus::Page;
use std::fmt::Write as _;

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

/// What an article has below its title.
pub(super) fn body(page: &Page) -> String {
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
pub(super) fn parsed(page: &Page, language: &str) -> String {
    let language = escaped(language);
    format!("<div class=\"mw-content-ltr mw-parser-output\" lang=\"{language}\" dir=\"ltr\">{}</div>", body(page))
}

pub(super) fn article(shelf: &Shelf, page: &Page) -> String {
    document(shelf, &page.title, "ns-0", &parsed(page, shelf.language()))
}

/// The page of a search that opens no article.
pub(super) fn results(shelf: &Shelf, titles: &[String]) -> String {
    if titles.is_empty() {
        let nothing = format!("<div class=\"searchresults\"><p class=\"mw-search-nonefound\">{NO_RESULTS}</p></div>");
        return document(shelf, "Search results", "mw-special-Search", &nothing);
    }
    let mut list =
        "<div class=\"searchresults mw-searchresults-has-iw\"><div class=\"mw-search-results\">\n".to_owned();
    for title in titles {
        let (path, title) = (escaped(&path_of(title)), escaped(title));
        let link = format!("<a href=\"{path}\" title=\"{title}\">{title}</a>");
        let _ = writeln!(list, "<div class=\"mw-search-result-heading\">{link}</div>");
    }
    list.push_str("</div></div>");
    document(shelf, "Search results", "mw-special-Search", &list)
}

fn document(shelf: &Shelf, title: &str, kind: &str, content: &str) -> String {
    let (title, language) = (escaped(title), escaped(shelf.language()));
    format!(
        "<!DOCTYPE html>\n<html class=\"client-nojs\" lang=\"{language}\" dir=\"ltr\">\n<head>\n<meta charset=\"UTF-8\">\n\
         <title>{title} - {name}</title>\n<meta name=\"generator\" content=\"wikitrail {version}\">\n</head>\n\
         <body class=\"mediawiki ltr {kind}\">\n<div id=\"content\" class=\"mw-body\" role=\"main\">\n\
         <h1 id=\"firstHeading\" class=\"firstHeading mw-first-heading\">{title}</h1>\n\
         <div id=\"mw-content-text\" class=\"mw-body-content\">{content}</div>\n\
         <div class=\"printfooter\">{notice}</div>\n</div>\n</body>\n</html>\n",
        name = escaped(shelf.name()),
        version = env!("CARGO_PKG_VERSION"),
        notice = escaped(&shelf.notice()),
    )
}
