//! The state of a session, in the hands of the client: the open page, and how far its last lookup came. It says all that
//! there is, grants nothing, and any server of the same corpus understands it.

use crate::types::sha256_hex;
use crate::wiki::Corpus;
use std::fmt;

/// The form of handles, which their first letters name.
const FORM: &str = "w1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handle {
    /// The beginning of the corpus's digest: numbers of pages are another corpus's otherwise.
    corpus: String,
    /// The open page.
    pub(super) page: u32,
    /// The digest of the keyword, and how many of its results were shown.
    lookup: Option<(String, usize)>,
}

impl Handle {
    pub(super) fn of(corpus: &Corpus, page: u32) -> Self {
        Self { corpus: short(corpus.id().trim_start_matches("wt1:")), page, lookup: None }
    }

    /// Reads a handle of this corpus.
    pub(super) fn read(corpus: &Corpus, text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        let (form, digest, page) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        let lookup = match (parts.next(), parts.next()) {
            (None, None) => None,
            (keyword, shown) => Some((keyword?.to_owned(), shown?.parse().ok()?)),
        };
        let handle = Self { lookup, ..Self::of(corpus, page) };
        let whole = form == FORM && digest == handle.corpus && page < corpus.count() && parts.next().is_none();
        whole.then_some(handle)
    }

    /// How many results of this keyword were shown, if it is the one that was looked up last.
    pub(super) fn shown(&self, keyword: &str) -> Option<usize> {
        self.lookup.as_ref().filter(|(digest, _)| *digest == digest_of(keyword)).map(|(_, shown)| *shown)
    }

    pub(super) fn with_lookup(self, keyword: &str, shown: usize) -> Self {
        Self { lookup: Some((digest_of(keyword), shown)), ..self }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}.{}", self.corpus, self.page)?;
        self.lookup.as_ref().map_or(Ok(()), |(keyword, shown)| write!(f, ".{keyword}.{shown}"))
    }
}

fn digest_of(keyword: &str) -> String {
    short(&sha256_hex([keyword.as_bytes()]))
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::Handle;
    use crate::wiki::Corpus;

    fn corpus(title: &str) -> Corpus {
        let line = format!("{{\"title\": \"{title}\", \"text\": \"Words.\"}}");
        Corpus::from_jsonl("mine", line.as_bytes()).expect("a corpus")
    }

    #[test]
    fn a_handle_says_all_that_there_is() {
        let ada = corpus("Ada");
        let handle = Handle::of(&ada, 0);
        assert_eq!(Handle::read(&ada, &handle.to_string()), Some(handle.clone()));
        let looked = handle.with_lookup("born", 2);
        let read = Handle::read(&ada, &looked.to_string()).expect("a handle");
        assert_eq!((read.shown("born"), read.shown("died")), (Some(2), None));
        let text = looked.to_string();
        for wrong in ["", "w1", "w1.x.0", &text.replace("w1", "w2"), &text.replace(".0.", ".1."), &format!("{text}.1")]
        {
            assert_eq!(Handle::read(&ada, wrong), None, "{wrong}");
        }
        assert_eq!(Handle::read(&corpus("Bob"), &text), None, "another corpus");
    }
}
