//! A page as a site had it at one revision: what a frozen corpus is made of.

use serde::{Deserialize, Serialize};

/// Which revision of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision<'a> {
    /// The one that the site shows now.
    Current,
    /// The newest one up to this time, RFC 3339 in UTC.
    Before(&'a str),
    /// The one of this number or, if it is gone, the one before it.
    Number(u64),
}

/// The page and the revision that a title leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its title, after redirects.
    pub title: String,
    /// Titles of the redirects that lead to it.
    pub names: Vec<String>,
    pub(super) pageid: Option<u64>,
    pub(super) revid: u64,
    pub(super) timestamp: String,
    pub(super) is_disambiguation: bool,
}

/// A page at one revision, as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SitePage {
    /// Its title.
    pub title: String,
    /// `MediaWiki`'s number of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pageid: Option<u64>,
    /// `MediaWiki`'s number of the revision.
    pub revid: u64,
    /// When the revision was made, RFC 3339 in UTC.
    pub timestamp: String,
    /// Its texts.
    pub blocks: Vec<String>,
    /// On a disambiguation page: the titles it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<String>>,
}

/// Why a title has no page in a freeze.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The site has no page of that title: it was deleted, or was never there.
    Missing,
    /// Its first revision is later than the date that was asked for.
    Later,
    /// It redirects in a circle.
    Circle,
    /// The revision is hidden, or its markup cannot be read.
    Unreadable,
    /// It has no text.
    Empty,
}

impl LeftOut {
    /// All reasons, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Missing, Self::Later, Self::Circle, Self::Unreadable, Self::Empty];

    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "missing or deleted",
            Self::Later => "first written later",
            Self::Circle => "redirects in a circle",
            Self::Unreadable => "hidden or not readable",
            Self::Empty => "without text",
        }
    }
}

/// What a site says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteFacts {
    /// What it is called, such as `Wikipedia`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Code of its language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// SPDX identifier of the license of its texts, if it names a license that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Its address of a revision, up to the number.
    pub permalink: String,
}
