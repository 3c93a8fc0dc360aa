//! Page text as in the paper's environment: `get_text` of all `<p>`, then of all `<ul>`.
//!
//! Beautiful Soup with `html.parser` keeps a simple stack of open tags: it never closes a misplaced tag, and a closing
//! tag closes everything down to the one it names. So the text of each element is a contiguous range of the page's
//! text, and one pass over the tokens is enough; no tree is built. An HTML5 tree, which the `fixed` mode uses, would
//! give different paragraphs wherever a page leaves a `<p>` open.

mod python_parser;

use super::ExtractError;
use crate::base::python::is_python_space;
use python_parser::StartTag;
use std::collections::HashMap;
use std::sync::Arc;

/// A page as the paper's environment reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaperPage {
    /// Stripped texts of the result headings. A page that has any is a list of search results.
    pub headings: Arc<[String]>,
    /// Stripped texts of all `<p>`, then of all `<ul>`. The text of a nested list is repeated.
    pub blocks: Arc<[String]>,
}

/// The class of a search result's heading.
pub(super) const HEADING: &str = "mw-search-result-heading";

/// The text of all blocks together may be this many times longer than the page, within the limits below: lists nested
/// thousands deep would otherwise repeat into gigabytes.
const REPEATS: usize = 64;
/// Limits of the text, in bytes. Several pages are read at once, so the upper one holds for any page.
const TEXT: std::ops::RangeInclusive<usize> = 1_000_000..=64 << 20;

/// Reads a page as the paper's environment does. One whose markup exceeds the limits is refused.
pub fn paper_page(html: &str) -> Result<PaperPage, ExtractError> {
    let mut walk = Walk::default();
    python_parser::read_tokens(html, &mut walk)?;
    walk.finish(html.len())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    List,
    Heading,
}

struct Open {
    name: usize,
    /// Its index among the collected elements.
    element: Option<usize>,
    hides: bool,
    keeps_space: bool,
}

struct Element {
    kind: Kind,
    start: usize,
    end: Option<usize>,
}

/// A walk over the tokens of a page.
#[derive(Default)]
pub(super) struct Walk {
    /// The page's text without what is hidden.
    text: String,
    /// Where the current text node starts in it.
    node: usize,
    elements: Vec<Element>,
    stack: Vec<Open>,
    /// The index of each tag name, and how many tags of each name are open.
    names: HashMap<Box<str>, usize>,
    open: Vec<usize>,
    /// How many void elements of each name were closed at once, without a closing tag.
    already_closed: HashMap<usize, usize>,
    hiding: usize,
    keeping_space: usize,
}

impl Walk {
    /// Ends the current text node, also at a comment, declaration or processing instruction. One that is only ASCII white space shrinks to a newline or a space.
    fn flush(&mut self) {
        let node = &self.text[self.node..];
        if self.keeping_space == 0
            && !node.is_empty()
            && node.bytes().all(|byte| matches!(byte, b' ' | b'\n' | b'\t' | 0x0c | b'\r'))
        {
            let shrunk = if node.contains('\n') { '\n' } else { ' ' };
            self.text.truncate(self.node);
            self.text.push(shrunk);
        }
        self.node = self.text.len();
    }

    fn name_number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.open.len();
        self.names.insert(name.into(), number);
        self.open.push(0);
        number
    }

    fn push(&mut self, name: &str, number: usize, tag: &StartTag<'_>) {
        let kind = match name {
            "p" => Some(Kind::Paragraph),
            "ul" => Some(Kind::List),
            "div" if is_heading(tag) => Some(Kind::Heading),
            _ => None,
        };
        let element = kind.map(|kind| {
            self.elements.push(Element { kind, start: self.text.len(), end: None });
            self.elements.len() - 1
        });
        let hides = matches!(name, "script" | "style" | "template" | "rt" | "rp");
        let keeps_space = matches!(name, "pre" | "textarea");
        self.hiding += usize::from(hides);
        self.keeping_space += usize::from(keeps_space);
        self.open[number] += 1;
        self.stack.push(Open { name: number, element, hides, keeps_space });
    }

    /// Closes everything down to the innermost open tag of this name, if one is open.
    fn pop_to(&mut self, number: usize) {
        while self.open[number] > 0
            && let Some(top) = self.stack.pop()
        {
            self.open[top.name] -= 1;
            self.hiding -= usize::from(top.hides);
            self.keeping_space -= usize::from(top.keeps_space);
            if let Some(element) = top.element {
                self.elements[element].end = Some(self.text.len());
            }
            if top.name == number {
                break;
            }
        }
    }

    fn finish(mut self, page_length: usize) -> Result<PaperPage, ExtractError> {
        self.flush();
        let mut left = page_length.saturating_mul(REPEATS).clamp(*TEXT.start(), *TEXT.end());
        let (mut blocks, mut lists, mut headings) = (Vec::new(), Vec::new(), Vec::new());
        for element in &self.elements {
            let text = self.text[element.start..element.end.unwrap_or(self.text.len())].trim_matches(is_python_space);
            left = left.checked_sub(text.len()).ok_or(ExtractError::TooMuchText)?;
            let texts = match element.kind {
                Kind::Paragraph => &mut blocks,
                Kind::List => &mut lists,
                Kind::Heading => &mut headings,
            };
            texts.push(text.to_owned());
        }
        blocks.append(&mut lists);
        Ok(PaperPage { headings: headings.into(), blocks: blocks.into() })
    }

    /// Text between tags, in parts of any size.
    fn data(&mut self, text: &str) {
        if self.hiding == 0 {
            self.text.push_str(text);
        }
    }

    /// A start tag, its name in lower case; `closed` if it is written `<tag/>`.
    fn start(&mut self, name: &str, tag: &StartTag<'_>, closed: bool) {
        self.flush();
        let number = self.name_number(name);
        self.push(name, number, tag);
        if closed {
            self.pop_to(number);
        } else if is_void(name) {
            self.pop_to(number);
            *self.already_closed.entry(number).or_default() += 1;
        }
    }

    /// An end tag, its name in lower case.
    fn end(&mut self, name: &str) {
        let number = self.name_number(name);
        if let Some(count) = self.already_closed.get_mut(&number).filter(|count| **count > 0) {
            // Beautiful Soup ignores `</br>` after `<br>`: it does not even end the text node.
            *count -= 1;
            return;
        }
        self.flush();
        self.pop_to(number);
    }

    /// The text of a `<![CDATA[...]]>` section, which is a separate node.
    fn section(&mut self, text: &str) {
        self.flush();
        // Not hidden inside `<script>` and the like, because the section is a node of a different type.
        self.text.push_str(text);
        self.flush();
    }
}

fn is_heading(tag: &StartTag<'_>) -> bool {
    tag.attribute("class").is_some_and(|class| class.split(is_python_space).any(|token| token == HEADING))
}

/// Whether Beautiful Soup closes an element at once.
fn is_void(name: &str) -> bool {
    const VOID: [&str; 24] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "menuitem", "meta", "param",
        "source", "track", "wbr", "basefont", "bgsound", "command", "frame", "image", "isindex", "nextid", "spacer",
    ];
    VOID.contains(&name)
}
