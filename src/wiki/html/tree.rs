//! The tree of a page, built under a bound.
//!
//! HTML has a page's unclosed formatting (`<b>`, `<a>`, ...) opened again in every later paragraph, copies of the
//! attributes included, so that a page of some kilobytes can stand for gigabytes of tree. Deep nesting and masses of
//! attributes cost the builder time that grows with their square. Each token is followed by a look at what it added,
//! and a page that exceeds what real ones need by far is refused.

use super::ExtractError;
use super::html5::{self, Tokenizer};
use super::page::{Builder, NodeId, Page};
use html5ever::tokenizer::{TagToken, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink as _};
use std::cell::Cell;

/// The deepest nesting, in elements; browsers stop at the same.
pub(super) const DEEPEST: usize = 512;
/// Every how many nodes the depth of the newest is measured.
const SAMPLED: usize = 64;
/// A page may weigh half its length in bytes, within these bounds. Without formatting opened again, nothing outweighs
/// that: a node takes two bytes or more. Saved pages weigh a tenth to a thirtieth.
const WEIGHTS: std::ops::RangeInclusive<usize> = 10_000..=2_000_000;
/// How many attributes `<html>` and `<body>` may gather over all their tags.
const GATHERED: usize = 4096;
/// Compared attributes of all tags together: the tokenizer holds each against all before it in its tag.
const COMPARED: usize = 1 << 30;

/// Builds the tree of `html`.
pub(super) fn parse(html: &str) -> Result<Page, ExtractError> {
    let builder = TreeBuilder::new(Builder::new(html.len()), TreeBuilderOpts::default());
    let limit = (html.len() / 2).clamp(*WEIGHTS.start(), *WEIGHTS.end());
    let bounded = Bounded::new(builder, limit);
    let input = html5::input(html);
    let mut tokenizer = Tokenizer::new(&input, &bounded);
    while tokenizer.step().ok_or(ExtractError::TooMuchMarkup)? {
        if let Some(fault) = bounded.fault.get() {
            return Err(fault);
        }
    }
    tokenizer.end();
    match bounded.fault.get() {
        Some(fault) => Err(fault),
        None => Ok(bounded.builder.sink.finish()),
    }
}

/// Hands tokens on to the tree builder until the tree is too large; the tokens after that are dropped.
struct Bounded {
    builder: TreeBuilder<NodeId, Builder>,
    limit: usize,
    /// How many nodes there were when the depth was measured last.
    sampled: Cell<usize>,
    gathered: Cell<usize>,
    compared: Cell<usize>,
    fault: Cell<Option<ExtractError>>,
}

impl Bounded {
    fn new(builder: TreeBuilder<NodeId, Builder>, limit: usize) -> Self {
        Self {
            builder,
            limit,
            sampled: Cell::new(0),
            gathered: Cell::new(0),
            compared: Cell::new(0),
            fault: Cell::new(None),
        }
    }

    /// What the attributes of a tag cost, before anything is built from it.
    fn before(&self, token: &Token) -> Result<(), ExtractError> {
        let TagToken(tag) = token else { return Ok(()) };
        let count = tag.attrs.len();
        self.compared.set(self.compared.get().saturating_add(count.saturating_mul(count)));
        if matches!(&*tag.name, "html" | "body") {
            self.gathered.set(self.gathered.get() + count);
        }
        if self.compared.get() > COMPARED || self.gathered.get() > GATHERED {
            return Err(ExtractError::TooMuchMarkup);
        }
        Ok(())
    }

    /// What a token has added to the tree.
    fn after(&self) -> Result<(), ExtractError> {
        let sink = &self.builder.sink;
        if sink.weight() > self.limit {
            return Err(ExtractError::TooMuchMarkup);
        }
        // Only an element tells how deep the builder stands: it may put comments elsewhere.
        let count = sink.count();
        if count >= self.sampled.get() + SAMPLED
            && let Some(deeper) = sink.newest_is_deeper(DEEPEST)
        {
            self.sampled.set(count);
            if deeper {
                return Err(ExtractError::TooDeep);
            }
        }
        Ok(())
    }
}

impl TokenSink for Bounded {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if self.fault.get().is_some() {
            return TokenSinkResult::Continue;
        }
        if let Err(fault) = self.before(&token) {
            self.fault.set(Some(fault));
            return TokenSinkResult::Continue;
        }
        let result = self.builder.process_token(token, line);
        self.fault.set(self.after().err());
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::{Content, Edge, NodeId, Page};
    use super::{DEEPEST, SAMPLED, parse};
    use crate::wiki::html::ExtractError;
    use proptest::prelude::*;
    use scraper::{Html, Node};

    mod shared {
        include!("../../../tests/it/common/shared.rs");
    }

    /// The tree as lines: depth, and the element's name or the text.
    fn outline(page: &Page) -> Vec<(usize, String)> {
        let root = page.nodes().next().expect("a page").0;
        let (mut lines, mut depth, mut next) = (Vec::new(), 0, Some(Edge::Open(root)));
        while let Some(edge) = next {
            next = match edge {
                Edge::Open(id) => {
                    let shown = match page.content(id) {
                        Content::Element { name, .. } => format!("{} {}", &*name.ns, &*name.local),
                        Content::Text(text) => format!("{:?}", &**text),
                        Content::Other => String::new(),
                    };
                    lines.push((depth, shown));
                    depth += 1;
                    Some(page.first_child(id).map_or(Edge::Close(id), Edge::Open))
                }
                Edge::Close(id) => {
                    depth -= 1;
                    page.after(id, root)
                }
            };
        }
        lines
    }

    /// The same of the tree that the library builds.
    fn library_outline(html: &str) -> Vec<(usize, String)> {
        let line = |node: ego_tree::NodeRef<'_, Node>| {
            let shown = match node.value() {
                Node::Element(element) => format!("{} {}", &*element.name.ns, &*element.name.local),
                Node::Text(text) => format!("{:?}", &**text),
                _ => String::new(),
            };
            (node.ancestors().count(), shown)
        };
        let page = Html::parse_document(html);
        page.tree.root().descendants().map(line).collect()
    }

    fn nodes(page: &Page) -> Vec<NodeId> {
        page.nodes().map(|(id, _)| id).collect()
    }

    #[test]
    fn real_pages_give_the_librarys_tree_and_stay_far_from_the_limits() {
        let Some(shared) = shared::folder() else { return };
        let mut pages = 0;
        for folder in ["html", "html_recon"] {
            for file in std::fs::read_dir(shared.join("data/wiki-site").join(folder)).expect("a folder") {
                let path = file.expect("an entry").path();
                let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a page")).into_owned();
                let page = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let lines = outline(&page);
                assert!(lines == library_outline(&text), "{}", path.display());
                let depth = lines.iter().map(|(depth, _)| *depth).max().expect("a root");
                let nodes = nodes(&page).len();
                assert!(depth < DEEPEST / 10 && nodes * 8 < text.len(), "{}: {depth} {nodes}", path.display());
                pages += 1;
            }
        }
        assert!(pages >= 33, "{pages}");
    }

    proptest! {
        #[test]
        fn any_markup_gives_the_librarys_tree(
            pieces in prop::collection::vec(super::super::html5::markup(), 0..SAMPLED)
        ) {
            let html = pieces.concat();
            prop_assert_eq!(outline(&parse(&html).expect("small")), library_outline(&html));
        }
    }

    #[test]
    fn formatting_opened_again_and_again_is_bounded() {
        let piece = |i: usize, attribute: &str| format!("<p><b a{i}{attribute}>");
        let nested: String = (0..7000).map(|i| piece(i, "")).collect();
        assert_eq!((nested.len(), parse(&nested).err()), (82_890, Some(ExtractError::TooMuchMarkup)));
        let shallow: String = (0..400).map(|i| piece(i, "")).collect::<String>() + &"<p>x".repeat(20_000);
        assert_eq!(parse(&shallow).err(), Some(ExtractError::TooMuchMarkup));
        let long = format!("<p><b a='{}'>", "x".repeat(64 << 10)) + &"<p>x".repeat(20_000);
        assert_eq!(parse(&long).err(), Some(ExtractError::TooMuchMarkup));
        let fits = "<p><b>".repeat(3) + &"<p>x".repeat(100);
        assert!(parse(&fits).is_ok());
    }

    #[test]
    fn nesting_ends_where_browsers_end_it() {
        for piece in ["<div>", "<x>", "<x></y>", "<table><td>", "<x><!-- -->", "</body><!-- --><x>"] {
            assert_eq!(parse(&piece.repeat(200_000)).err(), Some(ExtractError::TooDeep), "{piece}");
        }
        assert!(parse(&"<div>".repeat(DEEPEST - 70)).is_ok());
    }

    #[test]
    fn masses_of_attributes_are_refused() {
        let many = (0..1_000_000).map(|i| format!(" a{i:x}")).collect::<Vec<_>>().concat();
        for page in [
            format!("<b{many}>"),
            format!("</b{many}>"),
            many.split(' ').take(300_000).map(|name| format!("<body {name}>")).collect::<Vec<_>>().concat(),
            "<b".to_owned() + &" a='>' b".repeat(500_000),
        ] {
            assert_eq!(parse(&page).err(), Some(ExtractError::TooMuchMarkup), "{}", &page[..20]);
        }
        let picture = format!("<p><img src='data:{}'>x", "0123456789abcdef/".repeat(15_000));
        assert!(parse(&picture).is_ok());
    }
}
