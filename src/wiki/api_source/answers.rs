//! The parts of the Action API's answers that are read.

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope {
    /// Set instead of everything else, at HTTP status 200.
    pub(super) error: Option<ErrorBody>,
    /// The answer to `action=query`.
    pub(super) query: Option<Query>,
    /// The answer to `action=parse`.
    pub(super) parse: Option<Parsed>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ErrorBody {
    /// Its name, such as `maxlag`.
    pub(super) code: String,
    #[serde(default)]
    pub(super) info: String,
}

impl ErrorBody {
    /// Whether the same request may succeed later.
    pub(super) fn passing(&self) -> bool {
        matches!(self.code.as_str(), "maxlag" | "ratelimited" | "readonly")
    }

    /// Whether the site refuses the query itself: too long (300 characters on Wikipedia), or a search expression that it
    /// cannot read. No other time would bring another answer.
    pub(super) fn refuses_query(&self) -> bool {
        matches!(
            self.code.as_str(),
            "cirrussearch-query-too-long"
                | "cirrussearch-query-too-long-with-exemptions"
                | "cirrussearch-parse-error"
                | "cirrussearch-regex-syntax-error"
                | "cirrussearch-regex-too-complex-error"
                | "maxbytes"
                | "maxchars"
        )
    }
}

/// The answer to `action=query`.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    /// Hits of `list=search`.
    pub(super) search: Option<Vec<Hit>>,
    /// Pages of `prop=pageprops` and `prop=revisions`.
    pub(super) pages: Option<Vec<Page>>,
    /// The redirects that were followed, in order.
    #[serde(default)]
    pub(super) redirects: Vec<Redirect>,
    /// What the site is.
    pub(super) general: Option<General>,
    /// Under which terms its texts may be used.
    pub(super) rightsinfo: Option<Rights>,
}

/// A redirect that was followed.
#[derive(Debug, Deserialize)]
pub(super) struct Redirect {
    pub(super) from: String,
}

/// What `meta=siteinfo` says of a site.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct General {
    pub(super) sitename: Option<String>,
    pub(super) lang: Option<String>,
    /// Its host, also without a scheme.
    pub(super) server: Option<String>,
    /// The path of `index.php`.
    pub(super) script: Option<String>,
}

/// The terms of a site.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rights {
    pub(super) url: String,
}

/// The SPDX identifier of a license of Creative Commons by its address.
pub(super) fn spdx(url: &str) -> Option<String> {
    let (_, path) = url.split_once("creativecommons.org/")?;
    match path.trim_matches('/').split('/').collect::<Vec<_>>()[..] {
        ["licenses", kind, version, ..] => Some(format!("CC-{}-{version}", kind.to_uppercase())),
        ["publicdomain", "zero", version, ..] => Some(format!("CC0-{version}")),
        _ => None,
    }
    .filter(|id| id.len() < 40 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)))
}

/// A page of `prop=pageprops` and `prop=revisions`.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    pub(super) title: String,
    pub(super) pageid: Option<u64>,
    #[serde(default)]
    pageprops: Map<String, Value>,
    /// The newest that was asked for.
    #[serde(default)]
    pub(super) revisions: Vec<PageRevision>,
    #[serde(default)]
    missing: bool,
    #[serde(default)]
    invalid: bool,
    #[serde(default)]
    special: bool,
}

/// A revision, without its text.
#[derive(Debug, Deserialize)]
pub(super) struct PageRevision {
    pub(super) revid: u64,
    /// Absent where it is hidden.
    #[serde(default)]
    pub(super) timestamp: String,
}

impl Page {
    /// Whether the site has such a page.
    pub(super) fn is_there(&self) -> bool {
        !(self.missing || self.invalid || self.special)
    }

    /// Whether the page is marked as a disambiguation page.
    pub(super) fn is_disambiguation(&self) -> bool {
        self.pageprops.contains_key("disambiguation")
    }
}

/// A hit of `list=search`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hit {
    pub(super) title: String,
    redirecttitle: Option<String>,
    sectiontitle: Option<String>,
    categorysnippet: Option<String>,
}

impl Hit {
    /// The text of the hit's heading on the site's search page, spaces included: title, redirect, category, section,
    /// with one space after each whether it is there or not.
    pub(super) fn heading(&self) -> String {
        let part = |words: &str, text: &Option<String>| match text.as_deref().map(without_tags) {
            Some(text) if !text.is_empty() => format!("({words} {text})"),
            _ => String::new(),
        };
        let redirect = part("redirect from", &self.redirecttitle);
        let category = part("category", &self.categorysnippet);
        let section = part("section", &self.sectiontitle);
        format!("{} {redirect} {category} {section}", self.title).trim_end().to_owned()
    }
}

/// A snippet without the tags that mark the matched words.
fn without_tags(snippet: &str) -> String {
    let mut text = String::with_capacity(snippet.len());
    let mut rest = snippet;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text + rest
}

/// The answer to `action=parse`.
#[derive(Debug, Deserialize)]
pub(super) struct Parsed {
    /// Title after redirects.
    pub(super) title: String,
    pub(super) pageid: Option<u64>,
    pub(super) revid: Option<u64>,
    pub(super) text: String,
    /// Properties of the page, as an object, or an empty list where there are none.
    properties: Option<Value>,
}

impl Parsed {
    /// Whether the page is marked as a disambiguation page; nothing where the answer has no properties.
    pub(super) fn is_disambiguation(&self) -> Option<bool> {
        self.properties.as_ref().map(|properties| properties.get("disambiguation").is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{Hit, spdx};

    #[test]
    fn a_license_is_known_by_its_address() {
        for (url, id) in [
            ("https://creativecommons.org/licenses/by-sa/4.0/deed.en", Some("CC-BY-SA-4.0")),
            ("//creativecommons.org/licenses/by-sa/3.0/", Some("CC-BY-SA-3.0")),
            ("https://creativecommons.org/publicdomain/zero/1.0/", Some("CC0-1.0")),
            ("https://creativecommons.org/licenses/by-sa/\u{1b}[2J/", None),
            ("https://example.org/terms", None),
            ("", None),
        ] {
            assert_eq!(spdx(url).as_deref(), id, "{url}");
        }
    }

    #[test]
    fn headings_are_worded_as_on_the_search_page() {
        let hit = |json: &str| serde_json::from_str::<Hit>(json).expect("a hit").heading();
        assert_eq!(hit(r#"{"title": "Go"}"#), "Go");
        assert_eq!(hit(r#"{"title": "Go", "redirecttitle": "Golang"}"#), "Go (redirect from Golang)");
        assert_eq!(hit(r#"{"title": "Go", "categorysnippet": "<b>Games</b> of old"}"#), "Go  (category Games of old)");
        assert_eq!(hit(r#"{"title": "Go", "sectiontitle": "Rules"}"#), "Go   (section Rules)");
    }
}
