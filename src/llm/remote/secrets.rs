//! What is masked in everything a server says: the key, secrets in headers, and those in user parts and queries of URLs.

use crate::net::{SecretSet, redact};
use secrecy::{ExposeSecret as _, SecretString};

/// Shorter keys may be part of any word.
const LEAST: usize = 8;

/// The key, for sending, and everything that must not appear in a completion or a record.
pub(super) struct Secrets {
    pub(super) key: Option<SecretString>,
    pub(super) hidden: SecretSet,
    /// The words of headers with secrets, without the one before them, such as `Bearer`.
    in_headers: Vec<SecretString>,
}

impl Secrets {
    pub(super) fn new(key: Option<SecretString>, headers: &[(String, SecretString)], addresses: &[String]) -> Self {
        let of = |address: &String| [redact::user_secrets(address), redact::query_secrets(address)].concat();
        let words = headers.iter().flat_map(|(_, value)| value.expose_secret().split_whitespace());
        let in_headers: Vec<SecretString> = words.map(SecretString::from).collect();
        let hidden = SecretSet::new(key.iter().chain(&in_headers).cloned().chain(addresses.iter().flat_map(of)));
        let in_headers = in_headers.into_iter().filter(|word| !word.expose_secret().eq_ignore_ascii_case("bearer"));
        Self { key, hidden, in_headers: in_headers.collect() }
    }

    /// A text masked for an error; here, keys too short to mask elsewhere are masked where they are whole words.
    pub(super) fn out_of(&self, text: &str) -> String {
        self.key.iter().chain(&self.in_headers).fold(self.hidden.out_of(text), |text, key| {
            let secret = key.expose_secret();
            if secret.len() < LEAST { without_word(&text, secret) } else { redact::secret(&text, key) }
        })
    }
}

/// The text with a word masked; a part of a longer word stays, as a key of one letter is in most words.
fn without_word(text: &str, word: &str) -> String {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in text.match_indices(word).filter(|(_, found)| !found.is_empty()) {
        let end = at + found.len();
        if !is_part(text[..at].chars().next_back()) && !is_part(text[end..].chars().next()) {
            out.push_str(&text[done..at]);
            out.push_str(redact::MASK);
            done = end;
        }
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn the_key_and_secrets_of_queries_are_hidden() {
        let addresses = ["http://h/v1?key=ab%2F0123456&v=1&api-version=2024-06-01", "http://h/v1?env=production"];
        let secrets = Secrets::new(Some("sk-0123456789".into()), &[], &addresses.map(str::to_owned));
        assert_eq!(secrets.hidden.all(), ["sk-0123456789", "ab%2F0123456", "ab/0123456"]);
        assert_eq!(
            secrets.hidden.out_of("ab/0123456 ab%2F0123456 sk-0123456789 1 production"),
            "*** *** *** 1 production"
        );
        let short = Secrets::new(Some("none".into()), &[], &[]);
        assert_eq!((short.hidden.out_of("none"), short.out_of("none")), ("none".to_owned(), "***".to_owned()));
    }

    #[test]
    fn a_key_of_one_letter_is_in_no_word() {
        let secrets = Secrets::new(Some("x".into()), &[], &[]);
        assert_eq!(secrets.out_of("the maximum context: x, `x`, xx"), "the maximum context: ***, `***`, xx");
        let secrets = Secrets::new(Some("é".into()), &[], &[]);
        assert_eq!(secrets.out_of("é été é"), "*** été ***");
    }

    #[test]
    fn secrets_in_headers_are_hidden_with_and_without_what_stands_before_them() {
        let header = |value: &str| ("authorization".to_owned(), value.into());
        let secrets = Secrets::new(None, &[header("Bearer tok-0123456789"), header("short")], &[]);
        assert_eq!(secrets.hidden.out_of("Bearer tok-0123456789, short"), "Bearer ***, short");
        assert_eq!(secrets.out_of("the bearer of tok-0123456789 is short"), "the bearer of *** is ***");
    }

    #[test]
    fn passwords_in_addresses_are_hidden() {
        let secrets = Secrets::new(None, &[], &["http://me:pass%2Fword@h/v1".to_owned()]);
        assert_eq!(
            secrets.hidden.out_of("me, pass/word, pass%2Fword, Basic bWU6cGFzcy93b3Jk"),
            "me, ***, ***, Basic ***"
        );
    }
}
