//! A page's tree as `scraper` builds it, within bounds.
//!
//! HTML reopens unclosed formatting (`<b>`, `<a>`, ...) in every later paragraph and copies its attributes, so a page of
//! some kilobytes can expand to gigabytes of tree. Deep nesting and masses of attributes take time that grows with
//! their square. So each token's additions to the tree are counted, and a page far beyond what real ones need is
//! refused.

use super::ExtractError;
use ego_tree::Tree;
use html5ever::TokenizerResult;
use html5ever::tokenizer::{BufferQueue, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use scraper::node::Node;
use scraper::{ElementRef, Html, HtmlTreeSink};
use std::cell::{Cell, RefCell};

/// The deepest nesting, in elements; browsers stop at the same depth.
pub(super) const MAX_DEPTH: usize = 512;
/// The depth of the newest element is measured once per this many nodes.
const DEPTH_INTERVAL: usize = 64;
/// A page may weigh half its length in bytes, within these limits. Without reopened formatting no page weighs more,
/// because a node or an attribute takes at least two bytes. Saved articles weigh an eighth or less.
const MAX_WEIGHT: std::ops::RangeInclusive<usize> = 10_000..=2_000_000;
/// This many bytes of an attribute's value weigh as much as a node.
const BYTES_PER_WEIGHT: usize = 64;
const MAX_ATTRIBUTES: usize = 1 << 15;
/// How many pairs of attributes may be compared: the tokenizer compares each with all before it in the tag.
const MAX_COMPARED: usize = MAX_ATTRIBUTES * MAX_ATTRIBUTES;
/// How many attributes all `<html>` and `<body>` tags may have together; they end up in one element each.
const MAX_ROOT_ATTRIBUTES: usize = 4096;
/// About how many bytes of a saved article make a node.
const BYTES_PER_NODE: usize = 16;
/// For how many nodes room is made in advance, at most.
const MAX_RESERVED: usize = 1 << 14;
/// How many bytes the tokenizer is given at once.
const CHUNK: usize = 4096;

pub(super) fn parse(html: &str) -> Result<Html, ExtractError> {
    let max_weight = (html.len() / 2).clamp(*MAX_WEIGHT.start(), *MAX_WEIGHT.end());
    // The tokenizer would drop a byte order mark from the start of every chunk.
    let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
    let nodes = (html.len() / BYTES_PER_NODE).min(MAX_RESERVED);
    let tokenizer = Tokenizer::new(BoundedSink::new(max_weight, nodes), options);
    let (input, mut rest) = (BufferQueue::default(), html.strip_prefix('\u{feff}').unwrap_or(html));
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK));
        input.push_back(chunk.into());
        // The tokenizer also pauses at scripts and encoding declarations.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.sink.end_chunk(chunk)?;
        rest = after;
    }
    tokenizer.end();
    tokenizer.sink.finish()
}

/// Passes tokens to the tree builder until a limit is exceeded, and drops those after that.
struct BoundedSink {
    builder: TreeBuilder<<HtmlTreeSink as TreeSink>::Handle, HtmlTreeSink>,
    cost: RefCell<Cost>,
    error: Cell<Option<ExtractError>>,
}

impl BoundedSink {
    fn new(max_weight: usize, nodes: usize) -> Self {
        let mut page = Html::new_document();
        page.tree = Tree::with_capacity(Node::Document, nodes);
        let sink = HtmlTreeSink::new(page);
        let cost = RefCell::new(Cost { max_weight, ..Cost::default() });
        Self { builder: TreeBuilder::new(sink, TreeBuilderOpts::default()), cost, error: Cell::new(None) }
    }

    fn end_chunk(&self, chunk: &str) -> Result<(), ExtractError> {
        self.error.get().map_or_else(|| self.cost.borrow_mut().end_chunk(chunk), Err)
    }

    fn finish(self) -> Result<Html, ExtractError> {
        self.error.get().map_or(Ok(()), Err)?;
        Ok(self.builder.sink.finish())
    }

    fn process(
        &self,
        mut token: Token,
        line: u64,
    ) -> Result<TokenSinkResult<<Self as TokenSink>::Handle>, ExtractError> {
        let mut cost = self.cost.borrow_mut();
        cost.token_seen = true;
        if let Token::TagToken(tag) = &mut token {
            cost.add_tag(tag)?;
            // Most attributes are never read; their memory is used for the next tag's.
            tag.attrs.retain(|attribute| is_read(&tag.name, &attribute.name.local));
        }
        let result = self.builder.process_token(token, line);
        cost.add_nodes(&self.builder.sink.0.borrow())?;
        Ok(result)
    }
}

impl TokenSink for BoundedSink {
    type Handle = <HtmlTreeSink as TreeSink>::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Self::Handle> {
        if self.error.get().is_some() || matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.process(token, line).unwrap_or_else(|error| {
            self.error.set(Some(error));
            TokenSinkResult::Continue
        })
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[derive(Default)]
struct Cost {
    max_weight: usize,
    /// Nodes, attributes and long values together.
    weight: usize,
    nodes: usize,
    /// How many nodes there were when the depth was last measured.
    depth_measured: usize,
    compared: usize,
    root_attributes: usize,
    /// Whether the current chunk gave a token.
    token_seen: bool,
    /// At most how many attributes the tag has that the tokenizer is reading.
    unfinished: usize,
}

impl Cost {
    fn add_tag(&mut self, tag: &Tag) -> Result<(), ExtractError> {
        let count = tag.attrs.len();
        self.compared = self.compared.saturating_add(count.saturating_mul(count));
        if matches!(&*tag.name, "html" | "body") {
            self.root_attributes += count;
        }
        let fits = self.compared <= MAX_COMPARED && self.root_attributes <= MAX_ROOT_ATTRIBUTES;
        if fits { Ok(()) } else { Err(ExtractError::TooMuchMarkup) }
    }

    /// Adds the nodes that a token has added to the tree.
    fn add_nodes(&mut self, html: &Html) -> Result<(), ExtractError> {
        let nodes = html.tree.values();
        let count = nodes.len();
        self.weight += nodes.rev().take(count - self.nodes).map(weight).sum::<usize>();
        self.nodes = count;
        if self.weight > self.max_weight {
            return Err(ExtractError::TooMuchMarkup);
        }
        // Only elements show how deep the builder is: it may put comments and texts elsewhere.
        if count >= self.depth_measured + DEPTH_INTERVAL
            && let Some(newest) = html.tree.nodes().next_back().and_then(ElementRef::wrap)
        {
            self.depth_measured = count;
            if newest.ancestors().nth(MAX_DEPTH).is_some() {
                return Err(ExtractError::TooDeep);
            }
        }
        Ok(())
    }

    /// Adds a chunk that the tokenizer has read. It says nothing of a tag before the tag's end, so the attributes of an
    /// unfinished one are estimated from above: white space, a slash or a quote comes before each.
    fn end_chunk(&mut self, chunk: &str) -> Result<(), ExtractError> {
        let separators = chunk.bytes().filter(|byte| matches!(byte, b'\t'..=b'\r' | b' ' | b'/' | b'"' | b'\''));
        self.unfinished = if std::mem::take(&mut self.token_seen) { 0 } else { self.unfinished + separators.count() };
        if self.unfinished > MAX_ATTRIBUTES { Err(ExtractError::TooMuchMarkup) } else { Ok(()) }
    }
}

/// Whether the tree builder or the extraction may read an attribute. The tree builder compares formatting elements by
/// all of theirs, merges those of repeated `<html>` and `<body>` tags, and knows some of templates.
fn is_read(tag: &str, attribute: &str) -> bool {
    matches!(attribute, "class" | "id" | "role" | "title" | "type" | "encoding")
        || matches!(
            tag,
            "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
        )
        || matches!(tag, "body" | "html" | "meta" | "template")
        || matches!((tag, attribute), ("a", ADDRESS))
}

/// What a link leads to. It takes no more memory than the page has bytes.
const ADDRESS: &str = "href";

fn weight(node: &Node) -> usize {
    let attributes = node.as_element().map_or(&[][..], |element| &element.attrs);
    let attributes = attributes.iter().filter(|(name, _)| &*name.local != ADDRESS);
    1 + attributes.map(|(_, value)| 1 + value.len() / BYTES_PER_WEIGHT).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, DEPTH_INTERVAL, MAX_DEPTH, is_read, parse};
    use crate::tests::shared;
    use crate::wikipedia::html::ExtractError;
    use proptest::prelude::*;
    use scraper::{Html, Node};

    /// The tree that the library builds, without the attributes that are not read.
    fn library_tree(html: &str) -> Html {
        let mut page = Html::parse_document(html);
        for node in page.tree.values_mut() {
            if let Node::Element(element) = node {
                let tag = element.name.local.clone();
                element.attrs.retain(|(name, _)| is_read(&tag, &name.local));
            }
        }
        page
    }

    #[test]
    #[cfg_attr(not(shared), ignore = "needs ../shared")]
    fn real_pages_give_the_librarys_tree_and_stay_far_from_the_limits() {
        let shared = shared::folder();
        let mut pages = 0;
        for folder in ["html", "html_recon"] {
            for file in std::fs::read_dir(shared.join("data/wiki-site").join(folder)).expect("a folder") {
                let path = file.expect("an entry").path();
                let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a page")).into_owned();
                let page = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(page == library_tree(&text), "{}", path.display());
                let depth = page.tree.nodes().map(|node| node.ancestors().count()).max().expect("a root");
                let weight: usize = page.tree.values().map(super::weight).sum();
                assert!(depth < MAX_DEPTH / 10 && weight * 8 < text.len(), "{}: {depth} {weight}", path.display());
                pages += 1;
            }
        }
        assert!(pages >= 33, "{pages}");
    }

    /// Tags with rules of their own, and what may be between them.
    const PIECES: &str = "<a title=x>|<a href=1>|<a href=2>|</a>|<b x=1>|<b x=2>|<b class=c>|</b>|<P>|</p>|<div>|</div>|<ul>|<li>|</ul>|<table>|<tr>|<td>|</table>|\
        <caption>|<select>|<option>|<button>|<h1>|<pre>|<sup>[|</sup>|<template>|</template>|<html id=h>|<body id=b>|</body>|<head>|\
        <frameset>|<form>|<title>|</title>|<textarea>|<style>|</style>|<xmp>|<noscript>|<script>|</script>|<!--|-->|<svg>|</svg>|<math>|<mi>|\
        <annotation-xml encoding=text/html>|<foreignObject>|<br>|<image>|<input type=hidden>|<plaintext>|<x a=1 a=2/>|<y 'z|\
        <![CDATA[|]]>|<!doctype html>|<?|</|<|>|&amp;|&notit;|&#0;|x| |\r\n|\0|é";

    proptest! {
        #[test]
        fn any_markup_gives_the_librarys_tree(
            pieces in prop::collection::vec(prop::sample::select(PIECES.split('|').collect::<Vec<_>>()), 0..DEPTH_INTERVAL)
        ) {
            let html = pieces.concat();
            prop_assert!(parse(&html).expect("small") == library_tree(&html), "{:?}", html);
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped_only_where_the_page_begins() {
        let text = |page: &str| parse(page).expect("small").root_element().text().collect::<String>();
        assert_eq!(text("\u{feff}\u{feff}<p>x\u{feff}"), "\u{feff}x\u{feff}");
        let long = format!("<p>{}\u{feff}y", "x".repeat(CHUNK - 3));
        assert!(text(&long).ends_with("x\u{feff}y"));
        assert_eq!(text("\u{feff}"), "");
    }

    #[test]
    fn reopened_formatting_is_bounded() {
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
        assert!(parse(&"<div>".repeat(MAX_DEPTH - DEPTH_INTERVAL - 2)).is_ok());
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
