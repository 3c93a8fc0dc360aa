//! The `fixed` reading of a page: the article's own paragraphs and lists, in document order.
//!
//! Left out: the skin around the article, boxes beside it, navigation, references, edit links. Lists are one block
//! each with a line per item, not repeated for nested ones.

use super::paper::HEADING;
use super::{ExtractError, tree};
use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{Html, Node};

/// What `MediaWiki` adds to the title of a link whose page does not exist.
const MISSING: &str = "(page does not exist)";

/// How an article is read.
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

/// What sort of page was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageKind {
    /// An article.
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
    /// What sort of page it is.
    pub kind: PageKind,
    /// Stripped texts of paragraphs and lists, in document order; the lines of a list are its items.
    pub blocks: Vec<String>,
    /// Titles that the items of its lists lead to, in order: the entries of a disambiguation page.
    pub links: Vec<String>,
    /// The headings of a list of results.
    pub titles: Vec<String>,
}

/// Classes of elements that are no part of the article's text.
const LEFT_OUT: [&str; 28] = [
    "ambox",
    "authority-control",
    "catlinks",
    "dablink",
    "dmbox",
    "hatnote",
    "infobox",
    "metadata",
    "mw-editsection",
    "mw-empty-elt",
    "mw-jump-link",
    "mw-references-wrap",
    "navbox",
    "navbox-styles",
    "navigation-not-searchable",
    "noprint",
    "portalbox",
    "printfooter",
    "refbegin",
    "references",
    "reflist",
    "rellink",
    "shortdescription",
    "side-box",
    "sidebar",
    "sistersitebox",
    "toc",
    "vertical-navbox",
];

/// Reads a page. One whose markup unfolds beyond all measure is refused.
pub fn article(html: &str, options: ArticleOptions) -> Result<Article, ExtractError> {
    let page = tree::parse(html)?;
    let survey = Survey::of(&page);
    let mut article = Article { title: survey.title(&page), ..Article::default() };
    let mut walk = Walk { options, ..Walk::default() };
    if let Some(root) = survey.root.and_then(|id| page.tree.get(id)) {
        for edge in root.traverse() {
            match edge {
                Edge::Open(node) if walk.left_out.is_none() => walk.open(node),
                Edge::Open(_) => {}
                Edge::Close(node) => walk.close(node.id(), node.value()),
            }
        }
    }
    let says_so = walk.blocks.iter().any(|block| block.contains("may refer to:")) && !walk.links.is_empty();
    if survey.results || !walk.headings.is_empty() {
        article.kind = PageKind::Results;
        article.titles = walk.headings;
    } else if survey.disambiguation || says_so {
        article.kind = PageKind::Disambiguation;
    }
    article.links = walk.links;
    article.blocks = walk.blocks;
    Ok(article)
}

/// What a first look over all elements finds.
#[derive(Default)]
struct Survey {
    /// The element that holds the article.
    root: Option<NodeId>,
    heading: Option<NodeId>,
    disambiguation: bool,
    results: bool,
}

impl Survey {
    fn of(page: &Html) -> Self {
        let (mut content, mut output, mut body) = (None, None, None);
        let mut survey = Self::default();
        for node in page.tree.nodes() {
            let Node::Element(element) = node.value() else { continue };
            match element.id() {
                Some("mw-content-text") => content = content.or(Some(node.id())),
                Some("disambigbox") => survey.disambiguation = true,
                Some("firstHeading") => survey.heading = survey.heading.or(Some(node.id())),
                _ => {}
            }
            for class in element.classes() {
                match class {
                    "mw-parser-output" => output = output.or(Some(node.id())),
                    "disambigbox" | "dmbox-disambig" => survey.disambiguation = true,
                    "mw-search-nonefound" | "searchresults" | "mw-special-Search" => survey.results = true,
                    _ => {}
                }
            }
            if element.name() == "body" {
                body = body.or(Some(node.id()));
            }
        }
        survey.root = content.or(output).or(body);
        survey
    }

    fn title(&self, page: &Html) -> Option<String> {
        let heading = page.tree.get(self.heading?)?;
        let text: String =
            heading.descendants().filter_map(|node| node.value().as_text().map(|text| &**text)).collect();
        let mut title = String::new();
        push_collapsed(&mut title, &text);
        Some(title.trim().to_owned()).filter(|title| !title.is_empty())
    }
}

/// What the walk over the article has gathered.
#[derive(Default)]
struct Walk {
    options: ArticleOptions,
    blocks: Vec<String>,
    links: Vec<String>,
    headings: Vec<String>,
    /// The element whose inside is being passed over.
    left_out: Option<NodeId>,
    /// The block being read: its element, and its text.
    block: Option<(NodeId, String)>,
    /// The result heading being read.
    heading: Option<(NodeId, String)>,
    /// Whether the current list item still waits for its first link, and that link while it is read.
    item_waits: bool,
    link: Option<(NodeId, String)>,
}

impl Walk {
    fn open(&mut self, node: NodeRef<'_, Node>) {
        match node.value() {
            Node::Text(text) => self.text(text),
            Node::Element(element) if is_left_out(element) => self.left_out = Some(node.id()),
            Node::Element(element) if self.options.drop_footnote_marks && is_mark(node, element) => {
                self.left_out = Some(node.id());
            }
            Node::Element(element) => self.open_element(node.id(), element),
            _ => {}
        }
    }

    fn open_element(&mut self, id: NodeId, element: &Element) {
        let name = element.name();
        match name {
            "p" | "ul" | "ol" | "dl" if self.block.is_none() => self.block = Some((id, String::new())),
            "p" | "ul" | "ol" | "dl" | "li" | "dt" | "dd" | "br" => self.new_line(),
            "a" if self.item_waits => {
                self.item_waits = false;
                let title = element.attr("title").filter(|title| !title.is_empty() && !title.ends_with(MISSING));
                match title {
                    Some(title) => self.links.push(title.to_owned()),
                    None => self.link = Some((id, String::new())),
                }
            }
            "div" if element.classes().any(|class| class == HEADING) => self.heading = Some((id, String::new())),
            _ => {}
        }
        if name == "li" {
            self.item_waits = true;
        }
    }

    fn close(&mut self, id: NodeId, node: &Node) {
        if let Some(left_out) = self.left_out {
            if left_out == id {
                self.left_out = None;
            }
            return;
        }
        let Node::Element(_) = node else { return };
        if let Some((_, text)) = self.link.take_if(|(open, _)| *open == id) {
            push_stripped(&mut self.links, &text);
        }
        if let Some((_, text)) = self.heading.take_if(|(open, _)| *open == id) {
            push_stripped(&mut self.headings, &text);
        }
        if let Some((_, text)) = self.block.take_if(|(open, _)| *open == id) {
            push_stripped(&mut self.blocks, &text);
        }
    }

    fn text(&mut self, text: &str) {
        for (_, collected) in [&mut self.block, &mut self.link].into_iter().flatten() {
            push_collapsed(collected, text);
        }
        // A result heading is shown as the page has it, like the paper does.
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(text);
        }
    }

    fn new_line(&mut self) {
        if let Some((_, block)) = &mut self.block {
            block.truncate(block.trim_end_matches(' ').len());
            if !block.is_empty() && !block.ends_with('\n') {
                block.push('\n');
            }
        }
    }
}

/// Whether an element is no part of the article's text.
fn is_left_out(element: &Element) -> bool {
    matches!(element.name(), "script" | "style" | "template" | "noscript" | "rt" | "rp" | "annotation")
        || element.attr("role") == Some("navigation")
        || element.id() == Some("coordinates")
        || (element.name() != "sup" && element.classes().any(|class| LEFT_OUT.binary_search(&class).is_ok()))
}

/// Whether an element is a footnote mark or an inline note. Skins and copies of pages drop the classes of these marks,
/// but keep the brackets.
fn is_mark(node: NodeRef<'_, Node>, element: &Element) -> bool {
    /// How many nodes a mark has at most.
    const NODES: usize = 64;
    /// Longest text in brackets that is taken for a mark, in bytes.
    const LONGEST: usize = 60;
    let named = |class: &str| matches!(class, "reference" | "mw-ref" | "Inline-Template" | "noprint");
    if element.name() != "sup" {
        return element.classes().any(|class| class == "mw-ref");
    }
    if element.classes().any(named) {
        return true;
    }
    let mut text = String::new();
    for piece in node.descendants().take(NODES).filter_map(|node| node.value().as_text()) {
        text.push_str(piece);
        if text.len() > LONGEST {
            return false;
        }
    }
    let text = text.trim();
    text.starts_with('[') && text.ends_with(']')
}

/// Adds `text` with each run of ASCII white space as one space, and none at the start of a line.
fn push_collapsed(into: &mut String, text: &str) {
    for c in text.chars() {
        if !c.is_ascii_whitespace() {
            into.push(c);
        } else if !into.is_empty() && !into.ends_with([' ', '\n']) {
            into.push(' ');
        }
    }
}

fn push_stripped(into: &mut Vec<String>, text: &str) {
    let text = crate::wiki::observe::strip(text);
    if !text.is_empty() {
        into.push(text.to_owned());
    }
}
