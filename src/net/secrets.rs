//! Masking secrets in answers and errors before they are recorded.

use super::{Answer, NetError, redact};
use secrecy::{ExposeSecret as _, SecretString};
use std::cmp::Reverse;

/// Shorter keys are treated as words such as `none`, which texts may contain.
const MIN_SECRET_BYTES: usize = 8;
/// Up to this length, letters alone are treated as a word or a name.
const MAX_WORD_BYTES: usize = 20;

/// Secrets to mask. None of them is part of another.
pub struct SecretSet(Vec<SecretString>);

impl SecretSet {
    /// These, except those that look like words: masking words would change what texts say.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut all: Vec<SecretString> = secrets.into_iter().collect();
        all.retain(|secret| !is_word(secret.expose_secret()));
        // The longest first: a secret within another is masked with it.
        all.sort_by_key(|secret| Reverse(secret.expose_secret().len()));
        let mut hidden: Vec<SecretString> = Vec::new();
        for secret in all {
            if !hidden.iter().any(|other| other.expose_secret().contains(secret.expose_secret())) {
                hidden.push(secret);
            }
        }
        Self(hidden)
    }

    /// Those in the user part of a URL.
    pub fn of_user(address: &str) -> Self {
        Self::new(redact::user_secrets(address))
    }

    pub fn all(&self) -> Vec<&str> {
        self.0.iter().map(SecretString::expose_secret).collect()
    }

    /// A short text without them.
    pub fn out_of(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| redact::secret(&text, secret))
    }

    /// An error without them.
    pub fn out_of_error(&self, error: NetError) -> NetError {
        self.0.iter().fold(error, NetError::without)
    }

    /// An answer without them, of any length and encoding.
    pub fn out_of_answer(&self, mut answer: Answer) -> Answer {
        for secret in self.all() {
            mask(&mut answer.body, secret);
            for text in answer.redirects.iter_mut().chain([&mut answer.url]).chain(&mut answer.content_type) {
                let mut bytes = std::mem::take(text).into_bytes();
                mask(&mut bytes, secret);
                *text = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        answer
    }
}

fn is_word(text: &str) -> bool {
    text.len() < MIN_SECRET_BYTES
        || (text.len() <= MAX_WORD_BYTES && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Masks every occurrence of a secret, ignoring ASCII case, as host names are lower case.
fn mask(bytes: &mut Vec<u8>, secret: &str) {
    let (mut masked, mut done) = (Vec::new(), 0);
    let found = |from: usize| {
        let mut windows = bytes[from..].windows(secret.len());
        windows.position(|window| window.eq_ignore_ascii_case(secret.as_bytes())).map(|at| from + at)
    };
    while let Some(at) = found(done) {
        masked.extend_from_slice(&bytes[done..at]);
        masked.extend_from_slice(redact::MASK.as_bytes());
        done = at + secret.len();
    }
    if done > 0 {
        masked.extend_from_slice(&bytes[done..]);
        *bytes = masked;
    }
}

#[cfg(test)]
mod tests {
    use super::SecretSet;
    use crate::net::Answer;

    #[test]
    fn words_are_not_secrets_and_the_longest_secret_is_masked() {
        let hidden =
            SecretSet::new(["production", "short-1", "acme-prod-1", "acme-prod-1-9f8e7d", "acme-prod"].map(Into::into));
        assert_eq!(hidden.all(), ["acme-prod-1-9f8e7d"]);
        assert_eq!(hidden.out_of("a production of acme-prod-1-9f8e7d"), "a production of ***");
        let letters = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(SecretSet::new([letters.into()]).all(), [letters]);
    }

    #[test]
    fn all_of_an_answer_is_searched() {
        let hidden = SecretSet::of_user("http://me:hidden-word@h/v1");
        assert_eq!(hidden.all(), ["bWU6aGlkZGVuLXdvcmQ=", "hidden-word"]);
        let mut body = vec![0xff; 5000];
        body.extend_from_slice(b"hidden-word, Basic bWU6aGlkZGVuLXdvcmQ=.\xff");
        let answer = Answer {
            content_type: Some("text/html; x=hidden-word".into()),
            url: "http://HIDDEN-WORD.example/é".into(),
            redirects: vec!["http://h/hidden-wordhidden-word".into()],
            body,
            ..Answer::default()
        };
        let answer = hidden.out_of_answer(answer);
        assert_eq!(answer.body[5000..], *b"***, Basic ***.\xff");
        assert_eq!(answer.content_type.as_deref(), Some("text/html; x=***"));
        assert_eq!(
            (answer.url.as_str(), answer.redirects),
            ("http://***.example/é", vec!["http://h/******".to_owned()])
        );
    }
}
