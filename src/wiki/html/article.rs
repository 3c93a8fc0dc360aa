//! The `fixed` reading of a page: the article's own paragraphs and lists, in document order.
//!
//! Left out: the skin around the article, boxes beside it, navigation, references, edit links. Lists are one block
//! each with a line per item, not repeated for nested ones.

use super::marks::Marks;
use super::page::{Content, Edge, NodeId, Page};
use super::{ExtractError, tree};
use html5ever::{QualName, local_name};

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

/// Reads a page. One whose markup unfolds beyond all measure is refused.
pub fn article(html: &str, options: ArticleOptions) -> Result<Article, ExtractError> {
    let page = tree::parse(html)?;
    let survey = Survey::of(&page);
    let mut article = Article { title: survey.title(&page), ..Article::default() };
    let mut walk = Walk { options, ..Walk::default() };
    if let Some(root) = survey.root {
        walk.over(&page, root);
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
    fn of(page: &Page) -> Self {
        let (mut content, mut output, mut body) = (None, None, None);
        let mut survey = Self::default();
        for (id, node) in page.nodes() {
            let Content::Element { marks, .. } = node else { continue };
            let first = |found: &mut Option<NodeId>, mark| {
                if marks.has(mark) {
                    found.get_or_insert(id);
                }
            };
            first(&mut content, Marks::CONTENT);
            first(&mut output, Marks::OUTPUT);
            first(&mut body, Marks::BODY);
            first(&mut survey.heading, Marks::TITLE);
            survey.disambiguation |= marks.has(Marks::DISAMBIGUATION);
            survey.results |= marks.has(Marks::RESULTS);
        }
        survey.root = content.or(output).or(body);
        survey
    }

    fn title(&self, page: &Page) -> Option<String> {
        let mut title = String::new();
        for id in page.descendants(self.heading?) {
            if let Content::Text(text) = page.content(id) {
                push_collapsed(&mut title, text);
            }
        }
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
    /// The block being read: its element, and its text.
    block: Option<(NodeId, String)>,
    /// The result heading being read.
    heading: Option<(NodeId, String)>,
    /// Whether the current list item still waits for its first link, and that link while it is read.
    item_waits: bool,
    link: Option<(NodeId, String)>,
}

impl Walk {
    fn over(&mut self, page: &Page, root: NodeId) {
        let mut next = Some(Edge::Open(root));
        while let Some(edge) = next {
            next = match edge {
                Edge::Open(id) if self.open(page, id) => match page.first_child(id) {
                    Some(child) => Some(Edge::Open(child)),
                    None => Some(Edge::Close(id)),
                },
                Edge::Open(id) => page.after(id, root),
                Edge::Close(id) => {
                    self.close(id);
                    page.after(id, root)
                }
            };
        }
    }

    /// Takes the beginning of a node. Whether its inside and its end matter.
    fn open(&mut self, page: &Page, id: NodeId) -> bool {
        match page.content(id) {
            Content::Text(text) => {
                self.text(text);
                false
            }
            Content::Element { name, marks, title } => {
                let left_out =
                    marks.has(Marks::LEFT_OUT) || self.options.drop_footnote_marks && is_mark(page, id, name, *marks);
                if !left_out {
                    self.open_element(id, name, *marks, title);
                }
                !left_out
            }
            Content::Other => true,
        }
    }

    fn open_element(&mut self, id: NodeId, name: &QualName, marks: Marks, title: &str) {
        match name.local {
            local_name!("p") | local_name!("ul") | local_name!("ol") | local_name!("dl") if self.block.is_none() => {
                self.block = Some((id, String::new()));
            }
            local_name!("p")
            | local_name!("ul")
            | local_name!("ol")
            | local_name!("dl")
            | local_name!("li")
            | local_name!("dt")
            | local_name!("dd")
            | local_name!("br") => self.new_line(),
            local_name!("a") if self.item_waits => {
                self.item_waits = false;
                if title.is_empty() || title.ends_with(MISSING) {
                    self.link = Some((id, String::new()));
                } else {
                    self.links.push(title.to_owned());
                }
            }
            local_name!("div") if marks.has(Marks::RESULT) => self.heading = Some((id, String::new())),
            _ => {}
        }
        if name.local == local_name!("li") {
            self.item_waits = true;
        }
    }

    fn close(&mut self, id: NodeId) {
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

/// Whether an element is a footnote mark or an inline note. Skins and copies of pages drop the classes of these marks,
/// but keep the brackets.
fn is_mark(page: &Page, id: NodeId, name: &QualName, marks: Marks) -> bool {
    /// How many nodes a mark has at most.
    const NODES: usize = 64;
    /// Longest text in brackets that is taken for a mark, in bytes.
    const LONGEST: usize = 60;
    if name.local != local_name!("sup") {
        return marks.has(Marks::FOOTNOTE);
    }
    if marks.has(Marks::NOTE) {
        return true;
    }
    let mut text = String::new();
    for id in page.descendants(id).take(NODES) {
        if let Content::Text(piece) = page.content(id) {
            text.push_str(piece);
        }
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
