//! The tree of a page, built under a bound.
//!
//! HTML has a page's unclosed formatting (`<b>`, `<a>`, ...) opened again in every later paragraph, copies of the
//! attributes included, so that a page of some kilobytes can stand for gigabytes of tree. Deep nesting and masses of
//! attributes cost the builder time that grows with their square. Each token is followed by a look at what it added,
//! and a page that exceeds what real ones need by far is refused.

use super::ExtractError;
use ego_tree::NodeId;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink as _};
use scraper::{Html, HtmlTreeSink, Node};
use std::cell::Cell;

/// The deepest nesting, in elements; browsers stop at the same.
pub(super) const DEEPEST: usize = 512;
/// Every how many nodes the depth of the newest is measured.
const SAMPLED: usize = 64;
/// A page may weigh half its length in bytes, within these bounds. Without formatting opened again, nothing outweighs
/// that: a node takes two bytes or more. Saved pages weigh a tenth to a thirtieth.
const WEIGHTS: std::ops::RangeInclusive<usize> = 10_000..=2_000_000;
/// How many bytes of an attribute's value weigh as much as a node.
const VALUE: usize = 64;
/// How many attributes `<html>` and `<body>` may gather over all their tags.
const GATHERED: usize = 4096;
/// Compared attributes of all tags together: the tokenizer holds each against all before it in its tag.
const COMPARED: usize = 1 << 30;
/// How many ends of attributes may stand in a row before a tag or a comment ends.
const PENDING: usize = 16_384;
/// How much text is fed at a time, in bytes.
const PIECE: usize = 16 << 10;

/// Builds the tree of `html`, as [`Html::parse_document`] does.
pub(super) fn parse(html: &str) -> Result<Html, ExtractError> {
    let builder = TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), TreeBuilderOpts::default());
    let limit = (html.len() / 2).clamp(*WEIGHTS.start(), *WEIGHTS.end());
    let tokenizer = Tokenizer::new(Bounded::new(builder, limit), TokenizerOpts::default());
    let input = BufferQueue::default();
    let (mut rest, mut pending) = (html, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = after;
        input.push_back(StrTendril::from_slice(piece));
        // The tokenizer pauses after scripts, for those who run them.
        while let html5ever::TokenizerResult::Script(_) = tokenizer.feed(&input) {}
        pending = if tokenizer.sink.emitted.take() { 0 } else { pending + attribute_ends(piece) };
        if pending > PENDING {
            return Err(ExtractError::TooMuchMarkup);
        }
        if let Some(fault) = tokenizer.sink.fault.get() {
            return Err(fault);
        }
    }
    tokenizer.end();
    match tokenizer.sink.fault.get() {
        Some(fault) => Err(fault),
        None => Ok(tokenizer.sink.builder.sink.finish()),
    }
}

/// How many bytes of `text` may end an attribute.
fn attribute_ends(text: &str) -> usize {
    text.bytes().filter(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'')).count()
}

/// Hands tokens on to the tree builder until the tree is too large; the tokens after that are dropped.
struct Bounded {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    limit: usize,
    /// Nodes weighed so far, and their weight.
    nodes: Cell<usize>,
    weight: Cell<usize>,
    /// How many nodes there were when the depth was measured last.
    sampled: Cell<usize>,
    gathered: Cell<usize>,
    compared: Cell<usize>,
    /// Whether a token came since somebody asked; reports of errors come in the middle of tags.
    emitted: Cell<bool>,
    fault: Cell<Option<ExtractError>>,
}

impl Bounded {
    fn new(builder: TreeBuilder<NodeId, HtmlTreeSink>, limit: usize) -> Self {
        Self {
            builder,
            limit,
            nodes: Cell::new(0),
            weight: Cell::new(0),
            sampled: Cell::new(0),
            gathered: Cell::new(0),
            compared: Cell::new(0),
            emitted: Cell::new(false),
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
        let page = self.builder.sink.0.borrow();
        let count = page.tree.values().len();
        let added = count - self.nodes.replace(count);
        if added == 0 {
            return Ok(());
        }
        let weight: usize = page.tree.values().rev().take(added).map(weight).sum();
        self.weight.set(self.weight.get() + weight);
        if self.weight.get() > self.limit {
            return Err(ExtractError::TooMuchMarkup);
        }
        // Only an element tells how deep the builder stands: it may put comments elsewhere.
        if count >= self.sampled.get() + SAMPLED
            && let Some(newest) = page.tree.nodes().next_back().filter(|node| node.value().is_element())
        {
            self.sampled.set(count);
            if newest.ancestors().take(DEEPEST + 1).count() > DEEPEST {
                return Err(ExtractError::TooDeep);
            }
        }
        Ok(())
    }
}

/// What a node costs, in nodes without attributes.
fn weight(node: &Node) -> usize {
    match node {
        Node::Element(element) => 1 + element.attrs().map(|(_, value)| 1 + value.len() / VALUE).sum::<usize>(),
        _ => 1,
    }
}

impl TokenSink for Bounded {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.emitted.set(true);
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
    use super::{DEEPEST, parse};
    use crate::wiki::html::ExtractError;
    use scraper::Html;

    mod shared {
        include!("../../../tests/common/shared.rs");
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
                assert!(page == Html::parse_document(&text), "{}", path.display());
                let depth = page.tree.nodes().map(|node| node.ancestors().count()).max().expect("a root");
                let weight: usize = page.tree.values().map(super::weight).sum();
                assert!(depth < DEEPEST / 10 && weight * 8 < text.len(), "{}: {depth} {weight}", path.display());
                pages += 1;
            }
        }
        assert!(pages >= 33, "{pages}");
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
