//! What no text of a server's may bring into a record: the key, and what stands in the queries of addresses.

use crate::net::{NetError, redact};
use secrecy::{ExposeSecret, SecretString};

/// Shorter keys than this are words such as `none`, which texts may hold.
const LEAST: usize = 8;

/// The key and the values in queries, some of which may be keys.
pub(super) struct Secrets {
    key: Option<SecretString>,
    /// What texts are searched for. None of them stands in another.
    hidden: Vec<SecretString>,
}

impl Secrets {
    pub(super) fn new(key: Option<SecretString>, addresses: &[String]) -> Self {
        let values = addresses.iter().flat_map(|address| redact::query_values(address));
        let mut all: Vec<SecretString> = key.iter().cloned().chain(values).collect();
        all.retain(|secret| secret.expose_secret().len() >= LEAST);
        all.sort_by_key(|secret| secret.expose_secret().len());
        let mut hidden: Vec<SecretString> = Vec::new();
        for secret in all {
            // What holds another is not whole any more where the other is masked.
            if !hidden.iter().any(|other| secret.expose_secret().contains(other.expose_secret())) {
                hidden.push(secret);
            }
        }
        Self { key, hidden }
    }

    /// The key, to be sent.
    pub(super) fn key(&self) -> Option<&SecretString> {
        self.key.as_ref()
    }

    /// What must not get into a completion.
    pub(super) fn hidden(&self) -> Vec<&str> {
        self.hidden.iter().map(ExposeSecret::expose_secret).collect()
    }

    /// A short text of the server's that is kept, without them.
    pub(super) fn masked(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, secret| redact::secret(&text, secret))
    }

    /// A text for an error, without them; a key of any length is none of an error's words.
    pub(super) fn out_of(&self, text: &str) -> String {
        self.key.iter().fold(self.masked(text), |text, key| redact::secret(&text, key))
    }

    /// An error without them.
    pub(super) fn out_of_error(&self, error: NetError) -> NetError {
        self.hidden.iter().fold(error, NetError::without)
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn the_key_and_long_values_of_queries_are_hidden() {
        let addresses = ["http://h/v1?key=ab%2F0123456&v=1&api-version=2024-06-01", "http://h/v1", "h?0123456789"];
        let secrets = Secrets::new(Some("sk-0123456789".into()), &addresses.map(str::to_owned));
        assert_eq!(secrets.hidden(), ["ab/0123456", "0123456789", "ab%2F0123456"]);
        assert_eq!(secrets.masked("ab/0123456 ab%2F0123456 sk-0123456789 1"), "*** *** sk-*** 1");
        let short = Secrets::new(Some("none".into()), &[]);
        assert_eq!((short.masked("none"), short.out_of("none")), ("none".to_owned(), "***".to_owned()));
    }
}
