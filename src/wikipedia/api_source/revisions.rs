//! Pages at revisions that stay: one title a request, as `MediaWiki` gives the revision of a date for one title only.

use super::{ApiSource, NAME, Page, out_of_shape};
use crate::base::sha256_hex;
use crate::wikipedia::cache::Extracted;
use crate::wikipedia::html::{Article, PageKind, PaperPage, lead_links};
use crate::wikipedia::source::{self, SourceError};
use crate::wikipedia::{api_source, query};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How many redirects are followed that the site did not follow itself.
const HOPS: usize = 8;
/// The longest title of `MediaWiki`, in bytes.
const LONGEST_TITLE: usize = 255;
/// Errors of `action=parse` that say that a revision cannot be read.
const NOT_READABLE: [&str; 6] =
    ["nosuchrevid", "missingtitle", "missingcontent", "permissiondenied", "pagecannotexist", "nosuchpageid"];

impl ApiSource {
    #[cfg(any(feature = "index", test))]
    pub(crate) fn concurrent(&self) -> usize {
        self.site.concurrent
    }

    /// Sends no further request; those on their way are answered.
    #[cfg(any(feature = "index", test))]
    pub(crate) fn ask_no_more(&self) {
        self.site.hold(std::time::Duration::MAX, 0);
    }

    /// How many requests it makes in any minute at most; nothing if it has no limit.
    pub fn per_minute(&self) -> Option<NonZeroU32> {
        self.site.per_minute
    }

    /// The page and the revision that a title leads to, or why there is none. Follows redirects.
    pub async fn pin(&self, title: &str, revision: Revision<'_>) -> Result<Result<Pin, LeftOut>, SourceError> {
        let (mut names, mut asked) = (Vec::new(), title.to_owned());
        for _ in 0..HOPS {
            if query::cannot_be_title(&asked) || asked.len() > LONGEST_TITLE {
                return Ok(Err(LeftOut::Invalid));
            }
            let (redirects, page) = self.revision_of(&asked, revision).await?;
            names.extend(redirects);
            let Some(page) = page else {
                return Ok(Err(if names.is_empty() { LeftOut::Missing } else { LeftOut::Circle }));
            };
            if names.contains(&page.title) {
                return Ok(Err(LeftOut::Circle));
            }
            // A site that follows one redirect only leads to a title that is another redirect.
            if !page.is_there() && page.title != asked && !names.is_empty() {
                asked = page.title;
                continue;
            }
            return Ok(pin_of(page, names, revision));
        }
        Ok(Err(LeftOut::Circle))
    }

    /// The titles of the redirects that were followed, and the page at their end.
    async fn revision_of(
        &self,
        title: &str,
        revision: Revision<'_>,
    ) -> Result<(Vec<String>, Option<Page>), SourceError> {
        let number = if let Revision::Number(number) = revision { number.to_string() } else { String::new() };
        let mut parameters = vec![
            ("action", "query"),
            ("prop", "revisions|info|pageprops"),
            ("ppprop", "disambiguation"),
            ("redirects", "1"),
            ("rvlimit", "1"),
            ("rvprop", "ids|timestamp|sha1"),
            ("titles", title),
        ];
        match revision {
            Revision::Current => {}
            Revision::Before(time) => parameters.extend([("rvstart", time), ("rvdir", "older")]),
            Revision::Number(_) => parameters.extend([("rvstartid", number.as_str()), ("rvdir", "older")]),
        }
        let (envelope, answer) = self.ask(&parameters).await?.content()?;
        let query = envelope.query.ok_or_else(|| out_of_shape(&answer, "no `query`"))?;
        let redirects = query.redirects.into_iter().map(|redirect| redirect.from).collect();
        Ok((redirects, query.pages.into_iter().flatten().next()))
    }

    /// The text of a revision, and the first `links` titles that its lead links to; or why it has none.
    pub async fn page_at(
        &self,
        pin: &Pin,
        links: usize,
    ) -> Result<Result<(SitePage, Vec<String>), LeftOut>, SourceError> {
        let _turn = self.cache.turn().await;
        let revid = pin.revid.to_string();
        let parameters = [
            ("action", "parse"),
            ("prop", "text|displaytitle|properties"),
            ("disableeditsection", "1"),
            ("oldid", revid.as_str()),
        ];
        let (envelope, answer) = match self.ask(&parameters).await?.content() {
            Err(SourceError::Api { code, .. }) if NOT_READABLE.contains(&code.as_str()) => {
                return Ok(Err(LeftOut::Unreadable));
            }
            content => content?,
        };
        let parsed = envelope.parse.ok_or_else(|| out_of_shape(&answer, "no `parse`"))?;
        if parsed.revid.is_some_and(|revid| revid != pin.revid) {
            return Err(out_of_shape(&answer, &format!("`parse` is of another revision than {}", pin.revid)));
        }
        let marked = parsed.is_disambiguation().unwrap_or(pin.is_disambiguation);
        let (reading, text, url) = (self.reading, parsed.text, answer.url.clone());
        drop(answer);
        let read = self.cache.read(move |pages| {
            let page = pages.page(sha256_hex([text.as_bytes()]), reading, &url, &text)?;
            let links = if links > 0 { lead_links(&text, links) } else { Ok(Vec::new()) };
            let links = links.map_err(|error| SourceError::Extract { url, error })?;
            Ok((page, links))
        });
        let (page, links) = match read.await {
            Err(SourceError::Extract { .. }) => return Ok(Err(LeftOut::Unreadable)),
            read => read?,
        };
        let (blocks, entries) = match &*page {
            Extracted::Paper(PaperPage { blocks, .. }) => (blocks, None),
            Extracted::Article(Article { kind, blocks, links, .. }) => {
                let entries = marked || *kind == PageKind::Disambiguation;
                (blocks, entries.then(|| links.to_vec()))
            }
        };
        if blocks.iter().all(|block| block.trim().is_empty()) {
            return Ok(Err(LeftOut::Empty));
        }
        let Pin { title, pageid, revid, timestamp, .. } = pin.clone();
        Ok(Ok((SitePage { title, pageid, revid, timestamp, blocks: blocks.to_vec(), entries }, links)))
    }

    /// What the site says of itself; a site that says nothing has no license that is known.
    pub async fn facts(&self) -> Result<SiteFacts, SourceError> {
        let parameters = [("action", "query"), ("meta", "siteinfo"), ("siprop", "general|rightsinfo")];
        let query = match self.ask(&parameters).await?.content() {
            Err(SourceError::Api { .. }) => None,
            content => content?.0.query,
        };
        let (general, rights) = query.map(|query| (query.general, query.rightsinfo)).unwrap_or_default();
        let general = general.unwrap_or_default();
        let script = general.server.zip(general.script).and_then(|(server, script)| {
            let server = if server.starts_with("//") { format!("https:{server}") } else { server };
            server.starts_with("http").then(|| format!("{server}{script}"))
        });
        let script = script.unwrap_or_else(|| format!("{}/index.php", self.site.shown));
        let license = rights.and_then(|rights| api_source::spdx(&rights.url));
        // The address passes through the same place as those of findings.
        let permalink = source::provenance_unsent(&format!("{script}?oldid="), NAME, "").url;
        Ok(SiteFacts { name: general.sitename, language: general.lang, license, permalink })
    }
}

/// The revision that was given, if it is one that was asked for.
fn pin_of(page: Page, names: Vec<String>, asked: Revision<'_>) -> Result<Pin, LeftOut> {
    if !page.is_there() {
        return Err(if page.invalid { LeftOut::Invalid } else { LeftOut::Missing });
    }
    let is_disambiguation = page.is_disambiguation();
    let Some(revision) = page.revisions.into_iter().next() else { return Err(LeftOut::Later) };
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (time(&revision.timestamp), asked) {
        // That of a hidden revision is absent.
        (None, _) if !revision.timestamp.is_empty() => return Err(LeftOut::Unreadable),
        (Some(made), Revision::Before(limit)) if time(limit).is_some_and(|limit| made > limit) => {
            return Err(LeftOut::Later);
        }
        _ => {}
    }
    Ok(Pin {
        title: page.title,
        names,
        pageid: page.pageid,
        revid: revision.revid,
        timestamp: revision.timestamp,
        is_disambiguation,
    })
}

// A page as a site had it at one revision: what a frozen corpus is made of.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision<'a> {
    /// The one that the site shows now.
    Current,
    /// The newest one up to this time, RFC 3339 in UTC.
    Before(&'a str),
    /// The one of this number or, if it is gone, the one before it.
    Number(u64),
}

/// Where a title leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
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
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pageid: Option<u64>,
    pub revid: u64,
    /// When the revision was made, RFC 3339 in UTC.
    pub timestamp: String,
    pub blocks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<String>>,
}

/// Why a title has no page in a freeze.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The site has no page of that title: it was deleted, or was never there.
    Missing,
    /// No page can have it as its title.
    Invalid,
    /// Its first revision is later than the date that was asked for.
    Later,
    Circle,
    /// The revision is hidden, or its markup cannot be read.
    Unreadable,
    Empty,
}

impl LeftOut {
    /// All reasons, in the order in which they are shown.
    pub const ALL: [Self; 6] = [Self::Missing, Self::Invalid, Self::Later, Self::Circle, Self::Unreadable, Self::Empty];

    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "missing or deleted",
            Self::Invalid => "not a title",
            Self::Later => "first written later",
            Self::Circle => "redirects in a circle",
            Self::Unreadable => "hidden or not readable",
            Self::Empty => "without text",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteFacts {
    /// What it is called, such as `Wikipedia`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// SPDX identifier of the license of its texts, if it names a license that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Its address of a revision, up to the number.
    pub permalink: String,
}
