//! What an element's attributes say about its place in an article.

use html5ever::{Attribute, LocalName, local_name};

/// Classes of elements that are no part of the article's text, sorted.
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

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks(u16);

impl Marks {
    /// No part of the article's text.
    pub(super) const LEFT_OUT: Self = Self(1);
    /// A footnote mark, wherever it stands.
    pub(super) const FOOTNOTE: Self = Self(1 << 1);
    /// A footnote mark or an inline note where it stands above the line.
    pub(super) const NOTE: Self = Self(1 << 2);
    /// The heading of a result.
    pub(super) const RESULT: Self = Self(1 << 3);
    /// The page's main heading.
    pub(super) const TITLE: Self = Self(1 << 4);
    /// What the page is about, on pages with a skin.
    pub(super) const CONTENT: Self = Self(1 << 5);
    /// What the parser of wiki text has made.
    pub(super) const OUTPUT: Self = Self(1 << 6);
    /// The page's body.
    pub(super) const BODY: Self = Self(1 << 7);
    /// The page is a list of articles with the same name.
    pub(super) const DISAMBIGUATION: Self = Self(1 << 8);
    /// The page is a list of search results.
    pub(super) const RESULTS: Self = Self(1 << 9);

    /// Whether all marks of `other` are in this set.
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The marks of an element.
    pub(super) fn of(name: &LocalName, attributes: &[Attribute]) -> Self {
        let mut marks = Self::default();
        match *name {
            local_name!("body") => marks.add(Self::BODY),
            local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("noscript")
            | local_name!("rt")
            | local_name!("rp")
            | local_name!("annotation") => marks.add(Self::LEFT_OUT),
            _ => {}
        }
        for attribute in attributes {
            match attribute.name.local {
                local_name!("role") if &*attribute.value == "navigation" => marks.add(Self::LEFT_OUT),
                local_name!("id") => marks.add(Self::of_id(&attribute.value)),
                local_name!("class") => {
                    for class in attribute.value.split_ascii_whitespace() {
                        marks.add(Self::of_class(class, name));
                    }
                }
                _ => {}
            }
        }
        marks
    }

    fn of_id(id: &str) -> Self {
        match id {
            "mw-content-text" => Self::CONTENT,
            "disambigbox" => Self::DISAMBIGUATION,
            "firstHeading" => Self::TITLE,
            "coordinates" => Self::LEFT_OUT,
            _ => Self::default(),
        }
    }

    fn of_class(class: &str, name: &LocalName) -> Self {
        let mut marks = match class {
            "mw-parser-output" => Self::OUTPUT,
            "disambigbox" | "dmbox-disambig" => Self::DISAMBIGUATION,
            "mw-search-nonefound" | "searchresults" | "mw-special-Search" => Self::RESULTS,
            "mw-ref" => Self(Self::FOOTNOTE.0 | Self::NOTE.0),
            "reference" | "Inline-Template" | "noprint" => Self::NOTE,
            super::paper::HEADING => Self::RESULT,
            _ => Self::default(),
        };
        if *name != local_name!("sup") && LEFT_OUT.binary_search(&class).is_ok() {
            marks.add(Self::LEFT_OUT);
        }
        marks
    }
}
