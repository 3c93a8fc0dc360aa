//! Parameters of a request, from its query and its form.

use url::form_urlencoded;

/// How many titles or numbers of pages one request may name.
pub(super) const MOST_PAGES: usize = 50;

pub(super) struct Params(Vec<(String, String)>);

impl Params {
    pub(super) fn of(query: Option<&str>, form: &[u8]) -> Self {
        let parts = [query.unwrap_or_default().as_bytes(), form];
        Self(
            parts.into_iter().flat_map(form_urlencoded::parse).map(|(k, v)| (k.into_owned(), v.into_owned())).collect(),
        )
    }

    /// The last value counts, as in PHP.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Whether a switch is on: it is there, with whatever value.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Several values, between bars, or, behind U+001F, between those.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        let value = self.get(name).unwrap_or_default();
        let split: Vec<&str> = match value.strip_prefix('\u{1f}') {
            Some(value) => value.split('\u{1f}').collect(),
            None => value.split('|').collect(),
        };
        split.into_iter().filter(|value| !value.is_empty()).collect()
    }

    /// Several values, or those that hold where none is named.
    pub(super) fn list_or<'a>(&'a self, name: &str, usual: &[&'a str]) -> Vec<&'a str> {
        if self.is_on(name) { self.list(name) } else { usual.to_vec() }
    }

    /// A number, at most `most`, which is also what `max` means.
    pub(super) fn number(&self, name: &str, usual: usize, most: usize) -> usize {
        match self.get(name) {
            Some("max") => most,
            Some(value) => value.trim().parse().unwrap_or(usual).min(most),
            None => usual,
        }
    }
}
