//! The `fixed` reading of a page: the article's own paragraphs and lists, in document order.
//!
//! Left out: the skin around the article, boxes beside it, navigation, references, edit links. Lists are one block
//! each with a line per item, not repeated for nested ones.

use super::{ExtractError, paper, tree};
use scraper::node::{Element, Node};
use scraper::{ElementRef, Html, Selector};
use std::sync::{Arc, LazyLock};

/// What `MediaWiki` adds to the title of a link whose page does not exist.
pub(super) const MISSING: &str = "(page does not exist)";

/// What of an article is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArticleOptions {
    /// Drop footnote marks such as `[3]` and inline notes such as `[by whom?]`.
    pub drop_footnote_marks: bool,
}

impl Default for ArticleOptions {
    fn default() -> Self {
        Self { drop_footnote_marks: true }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageKind {
    #[default]
    Article,
    /// A list of articles with the same name.
    Disambiguation,
    /// A list of search results, possibly empty.
    Results,
}

/// A page in the `fixed` reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Article {
    /// Text of the page's main heading, if it has one.
    pub title: Option<String>,
    /// What kind of page it is.
    pub kind: PageKind,
    /// Stripped texts of paragraphs and lists, in document order; the lines of a list are its items.
    pub blocks: Arc<[String]>,
    /// Titles that the items of its lists lead to, in order: the entries of a disambiguation page.
    pub links: Arc<[String]>,
    /// The headings of a list of results.
    pub titles: Arc<[String]>,
    /// Whether the whole page is what `MediaWiki` sends: it has one of its marks, and a title or a list of results.
    pub from_mediawiki: bool,
}

/// Classes of elements that are not part of the article's text.
static LEFT_OUT: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "ambox authority-control catlinks dablink dmbox hatnote infobox metadata mw-editsection mw-empty-elt mw-jump-link \
     mw-references-wrap navbox navbox-styles navigation-not-searchable noprint portalbox printfooter refbegin references \
     reflist rellink shortdescription side-box sidebar sistersitebox toc vertical-navbox"
        .split(' ')
        .collect()
});

/// Where the article is; the first selector that finds something counts.
pub(super) static ROOTS: LazyLock<[Selector; 3]> =
    LazyLock::new(|| ["#mw-content-text", ".mw-parser-output", "body"].map(selector));
static HEADING: LazyLock<Selector> = LazyLock::new(|| selector("#firstHeading"));

pub(super) fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("the selector is valid CSS")
}

/// Reads a page. One whose markup exceeds the limits is refused.
pub fn article(html: &str, options: ArticleOptions) -> Result<Article, ExtractError> {
    article_among(html, options, |_| None)
}

/// The same where `title_of` knows the titles of pages by the addresses of links.
pub fn article_among(
    html: &str,
    options: ArticleOptions,
    title_of: impl Fn(&str) -> Option<String>,
) -> Result<Article, ExtractError> {
    let page = tree::parse(html)?;
    let mut walk = Walk { options, ..Walk::default() };
    if let Some(root) = ROOTS.iter().find_map(|selector| page.select(selector).next()) {
        walk.element(root)?;
    }
    let kind = match marked_kind(&page) {
        _ if !walk.headings.is_empty() => PageKind::Results,
        PageKind::Article if walk.says_disambiguation() => PageKind::Disambiguation,
        marked => marked,
    };
    if kind == PageKind::Disambiguation {
        for (at, address) in &walk.untitled {
            if let Some(title) = title_of(address) {
                walk.links[*at] = title;
            }
        }
    }
    let (blocks, links, titles) = (walk.blocks.into(), walk.links.into(), walk.headings.into());
    let title = text_of(&page, &HEADING);
    let named = kind == PageKind::Results || title.is_some() || text_of(&page, &HEAD_TITLE).is_some();
    let from_mediawiki = named && page.tree.values().filter_map(Node::as_element).any(is_mediawiki);
    Ok(Article { title, kind, blocks, links, titles, from_mediawiki })
}

fn marked_kind(page: &Html) -> PageKind {
    let mut kind = PageKind::Article;
    for element in page.tree.values().filter_map(Node::as_element) {
        if has_class(element, &["mw-search-nonefound", "searchresults", "mw-special-Search"]) {
            return PageKind::Results;
        }
        if has(element, "id", "disambigbox") || has_class(element, &["disambigbox", "dmbox-disambig"]) {
            kind = PageKind::Disambiguation;
        }
    }
    kind
}

/// The text of the first element that a selector finds, unless it is empty.
fn text_of(page: &Html, selector: &Selector) -> Option<String> {
    let mut words = String::new();
    page.select(selector).next()?.text().for_each(|text| push_collapsed(&mut words, text));
    Some(words.trim().to_owned()).filter(|words| !words.is_empty())
}

#[derive(Default)]
struct Walk {
    options: ArticleOptions,
    depth: usize,
    blocks: Vec<String>,
    links: Vec<String>,
    /// Those of the links that have no title of their own, with their addresses.
    untitled: Vec<(usize, String)>,
    headings: Vec<String>,
    /// Text of the block being read.
    block: Option<String>,
    /// Text of the result heading being read.
    heading: Option<String>,
    /// Text of the link being read, and whether the current list item's first link is still to come.
    link: Option<String>,
    item_waits: bool,
}

impl Walk {
    fn element(&mut self, element: ElementRef<'_>) -> Result<(), ExtractError> {
        if is_left_out(element.value()) || self.options.drop_footnote_marks && is_footnote_mark(element) {
            return Ok(());
        }
        let name = element.value().name();
        match name {
            "p" | "ul" | "ol" | "dl" if self.block.is_none() => {
                self.block = Some(String::new());
                self.children(element)?;
                finish(&mut self.block, &mut self.blocks);
                return Ok(());
            }
            "p" | "ul" | "ol" | "dl" | "li" | "dt" | "dd" | "br" => self.new_line(),
            "a" if self.item_waits => {
                self.item_waits = false;
                match element.attr("title") {
                    Some(title) if !title.is_empty() && !title.ends_with(MISSING) => self.links.push(title.to_owned()),
                    _ => {
                        self.link = Some(String::new());
                        self.children(element)?;
                        let at = self.links.len();
                        finish(&mut self.link, &mut self.links);
                        if at < self.links.len() {
                            self.untitled.extend(element.attr("href").map(|address| (at, address.to_owned())));
                        }
                        return Ok(());
                    }
                }
            }
            "div" if has_class(element.value(), &[paper::HEADING]) => {
                self.heading = Some(String::new());
                self.children(element)?;
                finish(&mut self.heading, &mut self.headings);
                return Ok(());
            }
            _ => {}
        }
        self.item_waits |= name == "li";
        self.children(element)
    }

    fn children(&mut self, element: ElementRef<'_>) -> Result<(), ExtractError> {
        // Misnested formatting can push elements further down than they were when the tree's bounds saw them.
        if self.depth == tree::MAX_DEPTH {
            return Err(ExtractError::TooDeep);
        }
        self.depth += 1;
        for child in element.children() {
            match child.value() {
                Node::Text(text) => self.text(text),
                _ => ElementRef::wrap(child).map_or(Ok(()), |child| self.element(child))?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn text(&mut self, text: &str) {
        for collected in [&mut self.block, &mut self.link].into_iter().flatten() {
            push_collapsed(collected, text);
        }
        // A result heading is shown as the page has it, as in the paper.
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
    }

    fn says_disambiguation(&self) -> bool {
        !self.links.is_empty() && self.blocks.iter().any(|block| block.contains("may refer to:"))
    }

    fn new_line(&mut self) {
        if let Some(block) = &mut self.block {
            block.truncate(block.trim_end_matches(' ').len());
            if !block.is_empty() && !block.ends_with('\n') {
                block.push('\n');
            }
        }
    }
}

pub(super) fn is_left_out(element: &Element) -> bool {
    matches!(element.name(), "script" | "style" | "template" | "noscript" | "rt" | "rp" | "annotation")
        || has(element, "role", "navigation")
        || has(element, "id", "coordinates")
        || element.name() != "sup" && has_class(element, &LEFT_OUT)
}

pub(super) fn has(element: &Element, attribute: &str, wanted: &str) -> bool {
    element.attrs().any(|(name, value)| name == attribute && value == wanted)
}

/// Whether an element has one of `classes`. Unlike `Element::classes`, this does not intern the page's class names.
pub(super) fn has_class(element: &Element, classes: &[&str]) -> bool {
    let mut lists = element.attrs().filter(|(name, _)| *name == "class").map(|(_, value)| value);
    lists.any(|list| list.split_ascii_whitespace().any(|class| classes.contains(&class)))
}

/// Whether an element is a footnote mark or an inline note. Some skins and copies of pages drop the classes of these
/// marks, but keep the brackets.
fn is_footnote_mark(element: ElementRef<'_>) -> bool {
    /// How many nodes a mark has at most.
    const MAX_NODES: usize = 64;
    /// How many bytes of text a mark has at most.
    const MAX_BYTES: usize = 60;
    if element.value().name() != "sup" {
        return has_class(element.value(), &["mw-ref"]);
    }
    if has_class(element.value(), &["mw-ref", "reference", "Inline-Template", "noprint"]) {
        return true;
    }
    let mut text = String::new();
    for piece in element.descendants().take(MAX_NODES).filter_map(|node| node.value().as_text()) {
        text.push_str(piece);
        if text.len() > MAX_BYTES {
            return false;
        }
    }
    let text = text.trim();
    text.starts_with('[') && text.ends_with(']')
}

/// Adds `text` with each run of ASCII white space as one space, and none at the start of a line.
pub(super) fn push_collapsed(into: &mut String, text: &str) {
    for (i, run) in text.split([' ', '\n', '\t', '\r', '\u{c}']).enumerate() {
        if i > 0 && !into.is_empty() && !into.ends_with([' ', '\n']) {
            into.push(' ');
        }
        into.push_str(run);
    }
}

/// Moves a collected text to the finished ones, stripped, unless it is empty.
fn finish(collected: &mut Option<String>, finished: &mut Vec<String>) {
    let text = collected.take().unwrap_or_default();
    let text = crate::base::python::strip(&text);
    if !text.is_empty() {
        finished.push(text.to_owned());
    }
}

// The titles that the lead of an article links to.

/// Namespaces without articles, by their English names.
const OTHER_NAMESPACES: [&str; 9] =
    ["Category", "Draft", "File", "Help", "Module", "Portal", "Special", "Template", "Wikipedia"];
/// Links that lead out of the wiki or to no page.
const NO_PAGE_CLASSES: [&str; 4] = ["external", "extiw", "mw-selflink", "new"];

/// The titles that paragraphs before the first heading link to, in order, each once, `most` at most.
pub fn lead_links(html: &str, most: usize) -> Result<Vec<String>, ExtractError> {
    let page = tree::parse(html)?;
    let mut links = Vec::new();
    if let Some(root) = ROOTS.iter().find_map(|selector| page.select(selector).next()) {
        collect_links(root, false, most, &mut links, 0);
    }
    Ok(links)
}

/// Returns whether the lead goes on.
fn collect_links(
    element: ElementRef<'_>,
    in_paragraph: bool,
    most: usize,
    links: &mut Vec<String>,
    depth: usize,
) -> bool {
    let node = element.value();
    if is_left_out(node) || depth > tree::MAX_DEPTH {
        return true;
    }
    if node.name() == "h2" || links.len() >= most {
        return false;
    }
    let in_paragraph = in_paragraph || node.name() == "p";
    if in_paragraph
        && node.name() == "a"
        && let Some(title) = link_target(element)
        && !links.contains(&title)
    {
        links.push(title);
    }
    let mut children = element.children().filter(|child| matches!(child.value(), Node::Element(_)));
    children.all(|child| {
        ElementRef::wrap(child).is_none_or(|child| collect_links(child, in_paragraph, most, links, depth + 1))
    })
}

/// The title of the article that a link leads to.
fn link_target(link: ElementRef<'_>) -> Option<String> {
    let title = link.attr("title").filter(|title| !title.is_empty() && !title.ends_with(MISSING))?;
    let leads_on = !has_class(link.value(), &NO_PAGE_CLASSES);
    let other =
        title.split_once(':').is_some_and(|(space, _)| OTHER_NAMESPACES.contains(&space) || space.ends_with("talk"));
    (leads_on && !other).then(|| title.to_owned())
}

// Whether `MediaWiki` made a page, and what a page says that it did not make.
//
// Skins, versions and copies of pages differ in their marks, so any one of them will do. Login pages of networks, error
// pages of proxies and empty answers have none.

/// How much text of a page is collected, in bytes.
const MAX_WORDS_BYTES: usize = 400;

static HEAD_TITLE: LazyLock<Selector> = LazyLock::new(|| selector("title"));

/// What a page says of itself, for a message; not escaped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    pub title: Option<String>,
    pub words: String,
}

pub fn describe(html: &str) -> Description {
    tree::parse(html).map_or_else(
        |_| Description::default(),
        |page| Description { title: text_of(&page, &HEAD_TITLE), words: first_words(&page) },
    )
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

#[cfg(test)]
mod tests {
    use super::lead_links;

    #[test]
    fn the_lead_links_to_articles_in_order_and_once() {
        let html = "<div class=mw-parser-output><div class=hatnote><p><a href=/wiki/H title=H>h</a></div>\
        <table><tr><td><a href=/wiki/T title=T>t</a></table>\
        <p>A <a href=/wiki/B title=B>b</a> <b><a href=./C title=C>c</a></b> <a href=/wiki/B title=B>b</a>\
        <a href=/w/index.php?title=D title='D (page does not exist)' class=new>d</a><a href=/wiki/File:E title=File:E>e</a>\
        <sup class=reference><a href=#cite>[1]</a></sup><a href=//de.wikipedia.org title=de:F class=extiw>f</a>\
        <p><a href=/wiki/G title='Star: G'>g</a><div class=mw-heading><h2>More</h2></div><p><a href=/wiki/I title=I>i</a></div>";
        assert_eq!(lead_links(html, 9).expect("readable"), ["B", "C", "Star: G"]);
        assert_eq!(lead_links(html, 2).expect("readable"), ["B", "C"]);
    }
}
