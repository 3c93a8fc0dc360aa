//! Whether `MediaWiki` made a page, and what a page says that it did not make.
//!
//! Skins, versions and copies of pages differ in their marks, so any one of them will do. Login pages of networks, error
//! pages of proxies and empty answers have none.

use super::article::{has, has_class, push_collapsed, selector};
use super::tree;
use scraper::node::{Element, Node};
use scraper::{Html, Selector};
use std::sync::LazyLock;

/// How much text of a page is collected, in bytes.
const MAX_WORDS_BYTES: usize = 400;

static HEAD_TITLE: LazyLock<Selector> = LazyLock::new(|| selector("title"));

/// What a page says of itself, for a message; not escaped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The beginning of its text.
    pub words: String,
}

/// Describes a page; one whose markup exceeds the limits has no description.
pub fn describe(html: &str) -> Description {
    tree::parse(html).map_or_else(
        |_| Description::default(),
        |page| Description { title: head_title(&page), words: first_words(&page) },
    )
}

/// Text of the first `<title>`, if there is any.
pub(super) fn head_title(page: &Html) -> Option<String> {
    let mut title = String::new();
    page.select(&HEAD_TITLE).next()?.text().for_each(|text| push_collapsed(&mut title, text));
    Some(title.trim().to_owned()).filter(|title| !title.is_empty())
}

/// Whether any element of a page is one that `MediaWiki` writes.
pub(super) fn is_made_by_mediawiki(page: &Html) -> bool {
    page.tree.values().filter_map(Node::as_element).any(is_mediawiki)
}

/// Whether an element is one that `MediaWiki` writes.
fn is_mediawiki(element: &Element) -> bool {
    match element.name() {
        "meta" => {
            let made_by = element.attrs().find(|(name, _)| *name == "content").map_or("", |(_, value)| value);
            has(element, "name", "generator") && made_by.starts_with("MediaWiki")
        }
        "body" if has_class(element, &["mediawiki"]) => true,
        _ => element.attrs().any(|(name, value)| {
            matches!(name, "class" | "id") && value.split_ascii_whitespace().any(|word| word.starts_with("mw-"))
        }),
    }
}

/// The beginning of what a reader would see.
fn first_words(page: &Html) -> String {
    let mut words = String::new();
    for node in page.tree.root().descendants() {
        let Some(text) = node.value().as_text() else { continue };
        let parent = node.parent().and_then(|parent| parent.value().as_element().map(Element::name));
        if parent.is_some_and(|name| matches!(name, "title" | "script" | "style" | "template" | "noscript")) {
            continue;
        }
        push_collapsed(&mut words, text);
        // Words of two elements are not one word.
        push_collapsed(&mut words, " ");
        if words.len() > MAX_WORDS_BYTES {
            break;
        }
    }
    words.trim().to_owned()
}
