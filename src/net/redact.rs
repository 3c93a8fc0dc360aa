//! Removing secrets from texts and URLs, and from answers and errors before they are recorded.

use super::redact;
use crate::base::text::{is_secret_name, looks_secret, printable};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use std::cmp::Reverse;

pub const MASK: &str = "***";
/// Shortest piece of a secret that is masked.
const PIECE_CHARS: usize = 8;
/// Longest text that is searched for secrets; the rest is cut.
const SEARCHED_CHARS: usize = 1024;

/// The URL without user part, query and fragment, for errors, logs and manifests.
pub fn url(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if !url.cannot_be_a_base() => {
            url.set_query(None);
            url.set_fragment(None);
            without_user(&mut url);
            url.into()
        }
        _ => {
            // An invalid URL may still contain a password: drop its query and everything before an `@`.
            let plain = address.split(['?', '#']).next().unwrap_or_default();
            printable(plain.rsplit('@').next().unwrap_or_default(), 200)
        }
    }
}

/// Replaces the query of a model's address in a recorded command line.
pub const LEFT_OUT: &str = "?…";

/// The secrets in the query of a URL, encoded and decoded: values that are named or look like keys. Others, such as
/// regions and versions, may also occur in texts.
pub fn query_secrets(address: &str) -> Vec<SecretString> {
    let Some((_, query)) = address.split_once('?') else { return Vec::new() };
    let query = query.split('#').next().unwrap_or_default();
    let mut values = Vec::new();
    for part in query.split('&') {
        let (name, typed) = part.split_once('=').unwrap_or(("", part));
        if !(is_secret_name(name) || looks_secret(typed)) {
            continue;
        }
        let read = Url::parse("http://h").map(|mut url| {
            url.set_query(Some(part));
            url.query_pairs().next().map(|(name, value)| if part.contains('=') { value } else { name }.into_owned())
        });
        values.push(typed.to_owned());
        values.extend(read.ok().flatten().filter(|read| read != typed));
    }
    values.into_iter().filter(|value| !value.is_empty()).map(SecretString::from).collect()
}

/// The secret in the user part of a URL, encoded, decoded and as basic authentication: the password, or without one the
/// name, which may be a token.
pub fn user_secrets(address: &str) -> Vec<SecretString> {
    let Ok(url) = Url::parse(address) else { return Vec::new() };
    let typed = url.password().unwrap_or(url.username());
    if typed.is_empty() {
        return Vec::new();
    }
    let read = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let sent =
        BASE64_STANDARD.encode(format!("{}:{}", read(url.username()), url.password().map(read).unwrap_or_default()));
    let forms = [Some(typed.to_owned()), Some(read(typed)).filter(|read| read != typed), Some(sent)];
    forms.into_iter().flatten().map(SecretString::from).collect()
}

/// The URL without user part, for recordings.
pub fn user(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if url.has_authority() => {
            without_user(&mut url);
            url.into()
        }
        // Without a host the user part cannot be identified.
        _ => self::url(address),
    }
}

pub(crate) fn without_user(url: &mut Url) {
    // Both fail only for URLs that cannot have a user part.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or("unknown host");
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// `text` with `secret` masked, and every piece of it with 8 or more characters, as servers echo shortened keys.
///
/// Ignores ASCII case, as host names are lower case. Text beyond 1,024 characters is cut.
pub fn secret(text: &str, secret: &SecretString) -> String {
    let key: Vec<char> = secret.expose_secret().chars().take(SEARCHED_CHARS).collect();
    let text: Vec<char> = text.chars().take(SEARCHED_CHARS).collect();
    if key.is_empty() {
        return text.into_iter().collect();
    }
    let least = key.len().min(PIECE_CHARS);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        let length = longest_common_piece(&text[at..], &key, least);
        if length >= least {
            out.push_str(MASK);
            at += length;
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// Length of the longest piece of `key` at the start of `text`, or 0 if it is shorter than `least`.
fn longest_common_piece(text: &[char], key: &[char], least: usize) -> usize {
    let Some(head) = text.get(..least) else { return 0 };
    let same = |(a, b): &(&char, &char)| a.eq_ignore_ascii_case(b);
    let common = |start: usize| key[start..].iter().zip(text).take_while(same).count();
    let starts = key.windows(least).enumerate().filter(|(_, piece)| piece.iter().zip(head).all(|pair| same(&pair)));
    starts.map(|(start, _)| common(start)).max().unwrap_or(0)
}

/// Shorter keys are treated as words such as `none`, which texts may contain.
const MIN_SECRET_BYTES: usize = 8;
/// Up to this length, letters alone are treated as a word or a name.
const MAX_WORD_BYTES: usize = 20;

/// Secrets to mask. None of them is part of another.
pub struct SecretSet(pub(super) Vec<SecretString>);

impl SecretSet {
    /// These, except those that look like words: masking words would change what texts say.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self::of_longest(secrets.into_iter().filter(|secret| !is_word(secret.expose_secret())).collect())
    }

    /// Adds credentials, which are masked even if they consist of letters only.
    pub fn with_credentials(self, credentials: impl IntoIterator<Item = SecretString>) -> Self {
        let long = credentials.into_iter().filter(|secret| secret.expose_secret().len() >= MIN_SECRET_BYTES);
        Self::of_longest(self.0.into_iter().chain(long).collect())
    }

    fn of_longest(mut all: Vec<SecretString>) -> Self {
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

    pub fn all(&self) -> Vec<&str> {
        self.0.iter().map(SecretString::expose_secret).collect()
    }

    pub fn out_of(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| redact::secret(&text, secret))
    }
}

fn is_word(text: &str) -> bool {
    text.len() < MIN_SECRET_BYTES
        || (text.len() <= MAX_WORD_BYTES && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Masks every occurrence of a secret, ignoring ASCII case, as host names are lower case.
pub(super) fn mask(bytes: &mut Vec<u8>, secret: &str) {
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
    use super::{SecretSet, query_secrets, secret, url, user_secrets};
    use crate::net::Answer;
    use secrecy::{ExposeSecret as _, SecretString};

    #[test]
    fn addresses_lose_user_query_and_fragment() {
        for (address, shown) in [
            ("http://u:p@h:1/v1?key=k#f", "http://h:1/v1"),
            ("https://example.org", "https://example.org/"),
            ("u:p@h/v1?key=k", "h/v1"),
            ("http://u:p@[bad/v1?key=k", "[bad/v1"),
            ("", ""),
        ] {
            assert_eq!(url(address), shown, "{address}");
        }
    }

    fn exposed(secrets: &[SecretString]) -> Vec<&str> {
        secrets.iter().map(SecretString::expose_secret).collect()
    }

    #[test]
    fn secrets_of_a_query_are_found_by_name_and_by_look_and_those_of_a_user_part_in_all_encodings() {
        for (address, query, user) in [
            ("http://h/v1?key=b%20c+d&api-version=2024-06-01&e&Sig=#g=h", &["b%20c+d", "b c d"][..], &[][..]),
            ("h:1/v1?API_KEY=k?l&x=0123456789abcdef", &["k?l", "0123456789abcdef"], &[]),
            ("http://h/v1?sk0123456789abcdef", &["sk0123456789abcdef"], &[]),
            ("http://h?env=production&deployment=gpt-4o-mini-2024-07-18&region=us-east-1", &[], &[]),
            ("http://me:pass%2Fword@h/v1?q@r", &[], &["pass%2Fword", "pass/word", "bWU6cGFzcy93b3Jk"]),
            ("https://token@h", &[], &["token", "dG9rZW46"]),
            ("http://h/v1", &[], &[]),
            ("me:word@h", &[], &[]),
            ("", &[], &[]),
        ] {
            assert_eq!(exposed(&query_secrets(address)), query, "{address}");
            assert_eq!(exposed(&user_secrets(address)), user, "{address}");
        }
    }

    #[test]
    fn secrets_and_their_pieces_are_masked() {
        for (key, text, masked) in [
            ("sk-0123456789abcdefXYZ", "wrong key sk-0123456789abcdefXYZ.", "wrong key ***."),
            ("sk-0123456789abcdefXYZ", "wrong key sk-01234****89abcdefXYZ", "wrong key **********"),
            ("sk-0123456789abcdefXYZ", "x sk-0123456789abcdefXYZsk-0123456789abcdefXYZ y", "x ****** y"),
            ("sk-0123456789abcdefXYZ", "at sk-0123456789ABCDEFxyz.example", "at ***.example"),
            ("test", "the test of tests", "the *** of ***s"),
            ("", "nothing", "nothing"),
        ] {
            assert_eq!(secret(text, &key.into()), masked);
        }
        // A hostile text is cut before it is searched.
        assert!(secret(&"a".repeat(1_000_000), &"a".repeat(5000).into()).len() < 5000);
    }

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
        let hidden = SecretSet::new(super::user_secrets("http://me:hidden-word@h/v1"));
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
