//! Names of page sources and endpoints as settings and records hold them, taken apart in one place.

use std::fmt;

/// What a source of pages that keeps footnote marks is recorded with.
const FOOTNOTES: &str = "+footnotes";
/// What an endpoint is recorded with whose model continues the label that a prompt ends in.
const PREFILL: &str = "+prefill";

/// Where pages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WikiKind {
    /// A folder: `corpus:DIR`.
    Corpus,
    /// A site's API.
    Api,
    /// A site's pages.
    Html,
    /// A server of passages: `retriever:URL`.
    Retriever,
    /// Something else, which is refused as a setting.
    Unknown,
}

/// A source of pages as a setting or a record names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WikiName<'a> {
    /// The source as a setting names it.
    pub name: &'a str,
    /// What it is.
    pub kind: WikiKind,
    /// Whether it keeps footnote marks. Only sites do.
    pub footnotes: bool,
}

impl<'a> WikiName<'a> {
    /// Takes a name apart.
    pub fn of(text: &'a str) -> Self {
        let plain = |name| match name {
            "api" => Some(WikiKind::Api),
            "html" => Some(WikiKind::Html),
            _ => None,
        };
        let (name, footnotes) = match text.strip_suffix(FOOTNOTES) {
            Some(name) if plain(name).is_some() => (name, true),
            _ => (text, false),
        };
        let kind = plain(name).unwrap_or_else(|| match name.split_once(':').map_or(name, |(kind, _)| kind) {
            "corpus" => WikiKind::Corpus,
            "retriever" => WikiKind::Retriever,
            _ => WikiKind::Unknown,
        });
        Self { name, kind, footnotes }
    }

    /// Whether pages come from a site.
    pub fn is_site(self) -> bool {
        matches!(self.kind, WikiKind::Api | WikiKind::Html)
    }
}

impl fmt::Display for WikiName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.footnotes { FOOTNOTES } else { "" })
    }
}

/// Whether an endpoint, as a record names it, has the model continue the label that a prompt ends in.
pub fn has_prefill(endpoint: &str) -> bool {
    endpoint.ends_with(PREFILL)
}

#[cfg(test)]
mod tests {
    use super::{WikiKind, WikiName};

    #[test]
    fn only_a_site_keeps_footnote_marks() {
        let parts = |text| {
            let name = WikiName::of(text);
            assert_eq!(name.to_string(), text);
            (name.name, name.kind, name.footnotes, name.is_site())
        };
        assert_eq!(parts("api+footnotes"), ("api", WikiKind::Api, true, true));
        assert_eq!(parts("html"), ("html", WikiKind::Html, false, true));
        let folder = "corpus:my+footnotes";
        assert_eq!(parts(folder), (folder, WikiKind::Corpus, false, false), "a folder may have any name");
        let server = "retriever:http://127.0.0.1:9/api+footnotes";
        assert_eq!(parts(server), (server, WikiKind::Retriever, false, false));
        assert_eq!(parts("corpora:x"), ("corpora:x", WikiKind::Unknown, false, false));
    }
}
