//! The `fixed` reading of a page: the article's own paragraphs and lists, in document order.
//!
//! Left out: the skin around the article, boxes beside it, navigation, references, edit links. Lists are one block
//! each with a line per item, not repeated for nested ones.

use super::{ExtractError, origin, paper, tree};
use scraper::node::{Element, Node};
use scraper::{ElementRef, Html, Selector};
use std::sync::{Arc, LazyLock};

/// What `MediaWiki` adds to the title of a link whose page does not exist.
pub(super) const MISSING: &str = "(page does not exist)";

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
    let (blocks, links, titles) = (walk.blocks.into(), walk.links.into(), walk.headings.into());
    let title = heading_title(&page);
    let named = kind == PageKind::Results || title.is_some() || origin::head_title(&page).is_some();
    let from_mediawiki = named && origin::is_made_by_mediawiki(&page);
    Ok(Article { title, kind, blocks, links, titles, from_mediawiki })
}

/// The kind of a page by its classes.
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

fn heading_title(page: &Html) -> Option<String> {
    let mut title = String::new();
    page.select(&HEADING).next()?.text().for_each(|text| push_collapsed(&mut title, text));
    Some(title.trim().to_owned()).filter(|title| !title.is_empty())
}

/// Collects the texts of an article.
#[derive(Default)]
struct Walk {
    options: ArticleOptions,
    depth: usize,
    blocks: Vec<String>,
    links: Vec<String>,
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
                        finish(&mut self.link, &mut self.links);
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

/// Whether an element is not part of the article's text.
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
    let text = crate::wiki::observe::strip(&text);
    if !text.is_empty() {
        finished.push(text.to_owned());
    }
}
